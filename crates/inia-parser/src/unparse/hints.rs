//! Optimizer hints, as EXPLAIN shows those of a whole statement behind its first word.

use super::{Printer, quote_name};
use crate::ast::{
    BlockHints, GivenHint, HintKind, HintedBlock, HintedTable, OrderHint, SubqueryStrategy,
    TableHints,
};

impl Printer {
    /// `/*+ … */ ` with the hints of the session and of all blocks, where they were not shown yet;
    /// else the name of the block. Nothing where there are none.
    pub(super) fn statement_hints(&mut self, hints: Option<&HintedBlock>) {
        let named = |block: &&BlockHints| !block.name.starts_with("select#");
        let name = hints.and_then(HintedBlock::hints).filter(named);
        let mut all: Vec<String> = Vec::new();
        all.extend(name.map(|block| format!("QB_NAME({})", quote_name(&block.name))));
        if let Some(session) = self.hints.take() {
            all.extend(session);
            let blocks = hints.map_or(&[][..], HintedBlock::of_statement);
            blocks.iter().for_each(|block| block_hints(block, &mut all));
        }
        if !all.is_empty() {
            self.put("/*+ ");
            self.put(&all.join(" "));
            self.put(" */ ");
        }
    }

    /// Whether the first block is joined in the order of its FROM.
    pub(super) fn is_fixed(hints: Option<&HintedBlock>) -> bool {
        let own = hints.and_then(HintedBlock::hints);
        own.is_some_and(|block| block.switch(HintKind::JoinFixedOrder) == Some(true))
    }
}

fn block_hints(block: &BlockHints, all: &mut Vec<String>) {
    let name = quote_name(&block.name);
    let mut given: Vec<GivenHint> = block.given.clone();
    given.sort_by_key(|hint| hint.kind);
    for hint in &given {
        let mut strategies = Vec::new();
        match hint.kind {
            HintKind::QbName
            | HintKind::JoinPrefix
            | HintKind::JoinOrder
            | HintKind::JoinSuffix => {
                continue;
            }
            HintKind::Semijoin => strategies.clone_from(&block.semijoins),
            HintKind::Subquery => strategies.extend(block.subquery.map(|strategy| {
                let word = match strategy {
                    SubqueryStrategy::IntoExists => "INTOEXISTS",
                    SubqueryStrategy::Materialization => "MATERIALIZATION",
                };
                word.to_owned()
            })),
            _ => {}
        }
        match strategies.is_empty() {
            true => all.push(format!("{hint}(@{name})")),
            false => all.push(format!("{hint}(@{name} {})", strategies.join(", "))),
        }
    }
    block.orders.iter().for_each(|order| all.push(order_hint(order, &name)));
    block.tables.iter().for_each(|table| table_hints(table, &name, all));
}

fn order_hint(order: &OrderHint, block: &str) -> String {
    let table = |table: &HintedTable| match &table.block {
        Some(block) => format!("{}@{}", quote_name(&table.name), quote_name(block)),
        None => quote_name(&table.name),
    };
    let tables: Vec<String> = order.tables.iter().map(table).collect();
    format!("{}(@{block} {})", order.kind.name(), tables.join(","))
}

fn table_hints(table: &TableHints, block: &str, all: &mut Vec<String>) {
    let name = format!("{}@{block}", quote_name(&table.name));
    let mut given = table.given.clone();
    given.sort_by_key(|hint| hint.kind);
    given.iter().for_each(|hint| all.push(format!("{hint}({name})")));
    let mut keys: Vec<(GivenHint, &String)> = table
        .keys
        .iter()
        .flat_map(|(key, given)| given.iter().map(move |hint| (*hint, key)))
        .collect();
    keys.sort_by_key(|(hint, _)| hint.kind);
    for (hint, key) in keys {
        all.push(format!("{hint}({name} {})", quote_name(key)));
    }
    for hint in &table.indexes {
        let given = GivenHint { kind: hint.kind, on: hint.on };
        let names: Vec<String> = hint.names.iter().map(|index| quote_name(index)).collect();
        match names.is_empty() {
            true => all.push(format!("{given}({name})")),
            false => all.push(format!("{given}({name} {})", names.join(", "))),
        }
    }
}
