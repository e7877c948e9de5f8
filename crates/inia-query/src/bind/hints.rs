//! What optimizer hints and `optimizer_switch` say of the query block that is being bound.
//!
//! Hints are sorted by query blocks when the statement is parsed; here their names meet those of
//! FROM. A name that nothing goes by brings warning 3128, and its hint has no effect.
//!
//! Example: in `SELECT /*+ NO_MERGE(d) BNL(x) */ * FROM (SELECT …) AS d JOIN t` the derived table
//! is not merged, and `x` is unknown.

use super::QueryBinder;
use crate::catalog::Table;
use crate::optimize::{FromTree, JoinOrder, LeafHints, Strategies};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{Level as WarningLevel, VarScope, Warning};
use inia_parser::ast::{self, BlockHints, GivenHint, HintKind, SubqueryStrategy, TableHints};

/// The hints of a SELECT.
pub(super) fn hints_of(select: &ast::Select) -> Option<&BlockHints> {
    select.hints.as_ref().and_then(ast::HintedBlock::hints)
}

/// Whether the order of FROM holds in a SELECT.
pub(super) fn keeps_order(select: &ast::Select) -> bool {
    let fixed = |hints: &BlockHints| hints.switch(HintKind::JoinFixedOrder) == Some(true);
    select.options.straight_join || hints_of(select).is_some_and(fixed)
}

/// The first slot of a member that a hint of a block names.
fn hinted(tree: &FromTree, table: &ast::HintedTable, hints: &BlockHints) -> Option<usize> {
    tree.hinted(&table.name, table.block.as_ref().unwrap_or(&hints.name))
}

/// What hints say of a member of FROM.
pub(super) fn leaf_hints(hints: Option<&BlockHints>, alias: &str) -> LeafHints {
    let Some(hints) = hints else { return LeafHints::default() };
    let said = [HintKind::HashJoin, HintKind::Bnl].map(|kind| hints.table_switch(alias, kind));
    let hash = match said.contains(&Some(false)) {
        true => Some(false),
        false => said.contains(&Some(true)).then_some(true),
    };
    let push_down = hints.table_switch(alias, HintKind::DerivedConditionPushdown);
    LeafHints { block: Some(hints.name.clone()), hash, push_down }
}

impl QueryBinder<'_> {
    /// Whether a switch of `optimizer_switch` is on.
    pub(super) fn switched_on(&self, name: &str) -> bool {
        let now = self.switches.get_or_init(|| {
            match self.context.host.sysvar(VarScope::Session, "optimizer_switch") {
                Ok((Value::Text(text), _)) => text,
                _ => String::new(),
            }
        });
        !now.split(',').any(|switch| switch.strip_suffix("=off") == Some(name))
    }

    /// Whether the tree has joins, and hash joins may be used where no hint says anything.
    pub(super) fn hash_joins(&self, tree: Option<&FromTree>) -> bool {
        let joins = matches!(tree, Some(FromTree::Join(_)));
        joins && self.switched_on("block_nested_loop") && self.switched_on("hash_join")
    }

    /// Whether a derived table may be merged into the SELECT around it.
    pub(super) fn may_merge(&self, hints: Option<&BlockHints>, alias: &str) -> bool {
        let said = hints.and_then(|hints| hints.table_switch(alias, HintKind::Merge));
        said.unwrap_or_else(|| self.switched_on("derived_merge"))
    }

    /// The strategies by which a subquery may become a join; `None` where it may not.
    pub(super) fn may_unnest(&self, select: &ast::Select) -> Option<Strategies> {
        let hints = hints_of(select);
        if hints.is_some_and(|hints| hints.subquery.is_some()) {
            return None;
        }
        let switched = Strategies {
            first_match: self.switched_on("firstmatch"),
            loose_scan: self.switched_on("loosescan"),
            materialization: self.switched_on("materialization"),
            weedout: self.switched_on("duplicateweedout"),
        };
        let said = hints.and_then(|hints| Some((hints.switch(HintKind::Semijoin)?, hints)));
        let Some((on, hints)) = said else {
            return self.switched_on("semijoin").then_some(switched);
        };
        if hints.semijoins.is_empty() {
            return on.then_some(switched);
        }
        let named = |name: &str| hints.semijoins.iter().any(|one| one.eq_ignore_ascii_case(name));
        let named = Strategies {
            first_match: named("FIRSTMATCH"),
            loose_scan: named("LOOSESCAN"),
            materialization: named("MATERIALIZATION"),
            weedout: named("DUPSWEEDOUT"),
        };
        Some(match on {
            true => named,
            // NO_SEMIJOIN with strategies leaves the others.
            false => Strategies {
                first_match: switched.first_match && !named.first_match,
                loose_scan: switched.loose_scan && !named.loose_scan,
                materialization: switched.materialization && !named.materialization,
                weedout: switched.weedout && !named.weedout,
            },
        })
    }

    /// Whether the rows of a subquery are compared one by one, instead of being put into a table.
    pub(super) fn compares_rows(&self, query: &ast::Query) -> bool {
        let ast::QueryBody::Select(select) = &query.body else { return false };
        match hints_of(select).and_then(|hints| hints.subquery) {
            Some(strategy) => strategy == SubqueryStrategy::IntoExists,
            None => !self.switched_on("materialization") && self.may_unnest(select).is_none(),
        }
    }

    /// The orders that hints demand of the members of a tree.
    pub(super) fn join_orders(&self, select: &ast::Select, tree: &FromTree) -> Vec<JoinOrder> {
        let Some(hints) = hints_of(select) else { return Vec::new() };
        let order = |hint: &ast::OrderHint| {
            let member = |table| hinted(tree, table, hints);
            let members = hint.tables.iter().filter_map(member).collect();
            JoinOrder { kind: hint.kind, members }
        };
        hints.orders.iter().map(order).collect()
    }

    /// Warns of tables that hints for an order name and the tree has not.
    pub(super) fn check_orders(&mut self, select: &ast::Select, tree: Option<&FromTree>) {
        let (Some(hints), Some(tree)) = (hints_of(select), tree) else { return };
        for hint in &hints.orders {
            let unknown = |table: &&ast::HintedTable| hinted(tree, table, hints).is_none();
            for table in hint.tables.iter().filter(unknown) {
                let name = full_name(&table.name, table.block.as_deref());
                self.warn_unresolved(&name, GivenHint { kind: hint.kind, on: true });
            }
        }
    }

    /// Warns of tables and indexes that hints name and FROM, which has just been bound, has not.
    pub(super) fn check_hints(&mut self, hints: Option<&BlockHints>) {
        let Some(hints) = hints else { return };
        for table in &hints.tables {
            let name = full_name(&table.name, Some(&hints.name));
            let names = &self.levels.last().expect("a SELECT is being bound").namespace;
            let member = names.tables.iter().find(|member| member.alias == table.name);
            let stored = member.and_then(|member| {
                let table = &member.columns.first().filter(|_| member.stored)?.result.org_table;
                self.catalog().schemas.get(&member.schema)?.tables.get(table).cloned()
            });
            let known = member.is_some();
            for (name, hint) in unresolved(table, &name, known, stored.as_deref()) {
                self.warn_unresolved(&name, hint);
            }
        }
    }

    /// Warning 1681 for VALUES(column) where there is no row to insert.
    pub(super) fn warn_of_values(&mut self) {
        let text = "'VALUES function' is deprecated and will be removed in a future release.";
        let code = ErrorCode::WarnDeprecatedSyntaxNoReplacement;
        self.warnings.push(Warning::of(WarningLevel::Warning, SqlError::with_message(code, text)));
    }

    fn warn_unresolved(&mut self, name: &str, hint: GivenHint) {
        let code = ErrorCode::UnresolvedHintName;
        let error = SqlError::new(code, &[&name, &hint]);
        self.warnings.push(Warning::of(WarningLevel::Warning, error));
    }
}

/// The names in a table's hints that mean nothing, each with its hints in MySQL's order. All hints
/// of a table that is not `known` are.
pub(crate) fn unresolved(
    hints: &TableHints,
    name: &str,
    known: bool,
    stored: Option<&Table>,
) -> Vec<(String, GivenHint)> {
    let mut found = Vec::new();
    let mut add = |name: &str, mut given: Vec<GivenHint>| {
        given.sort_by_key(|hint| hint.kind);
        found.extend(given.into_iter().map(|hint| (name.to_owned(), hint)));
    };
    let given = |hint: &ast::IndexesHint| GivenHint { kind: hint.kind, on: hint.on };
    if !known {
        let sets = hints.indexes.iter().map(given);
        add(name, hints.given.iter().copied().chain(sets).collect());
    }
    let mut keys: Vec<(&str, Vec<GivenHint>)> =
        hints.keys.iter().map(|(key, given)| (key.as_str(), given.clone())).collect();
    for hint in &hints.indexes {
        for key in &hint.names {
            match keys.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(key)) {
                Some((_, all)) => all.push(given(hint)),
                None => keys.push((key, vec![given(hint)])),
            }
        }
    }
    for (key, given) in keys {
        if stored.is_none_or(|table| table.def.index(key).is_none()) {
            add(&format!("{name} {}", quoted(key)), given);
        }
    }
    found
}

/// A table's name as warnings show it.
pub(crate) fn full_name(table: &str, block: Option<&str>) -> String {
    match block {
        Some(block) => format!("{}@{}", quoted(table), quoted(block)),
        None => quoted(table),
    }
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
