//! The hints of a statement, sorted by the query blocks that they are about.
//!
//! As in MySQL, the hints of a SELECT take effect once the SELECT has been read, so that they can
//! name the blocks inside it and those before it. Of hints that contradict or repeat one another
//! the first counts; the others bring warning 3126. A block that is not known brings warning 3127.
//!
//! Example: `SELECT /*+ NO_BNL(t@q) */ … FROM (SELECT /*+ QB_NAME(q) BNL() */ …)` has two blocks;
//! the inner one is read first, and NO_BNL(`t`@`q` ) is ignored, since BNL is given for all of `q`.

use super::super::Parser;
use super::WrittenHint;
use crate::ast::{
    BlockHints, GivenHint, HintKind, HintedBlock, IndexesHint, OrderHint, Statement,
    SubqueryStrategy, TableHints,
};
use std::fmt::Write;
use std::sync::{Arc, OnceLock};

const CONFLICTING_HINT: u16 = 3126;
const UNKNOWN_BLOCK: u16 = 3127;
const WRONG_ARGUMENT_COUNT: u16 = 3614;

/// Query blocks with hints.
#[derive(Default)]
pub(in super::super) struct Blocks {
    statement: Arc<OnceLock<Vec<BlockHints>>>,
    blocks: Vec<BlockHints>,
    /// The number of each block, by which it goes where it has no name.
    numbers: Vec<u32>,
    remarks: Vec<(u16, String)>,
}

impl Blocks {
    fn place(&mut self, number: u32) -> usize {
        if let Some(place) = self.numbers.iter().position(|known| *known == number) {
            return place;
        }
        let name = default_name(number);
        self.blocks.push(BlockHints { name, ..BlockHints::default() });
        self.numbers.push(number);
        self.blocks.len() - 1
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.blocks.iter().position(|block| same(&block.name, name))
    }

    /// The block that is named, else the hint's own.
    fn named(&mut self, name: Option<&String>, own: usize, hint: GivenHint) -> Option<usize> {
        let Some(name) = name else { return Some(own) };
        let found = self.find(name);
        if found.is_none() {
            let text = format!("Query block name {} is not found for {hint} hint", quoted(name));
            self.remarks.push((UNKNOWN_BLOCK, text));
        }
        found
    }

    /// Notes that a hint conflicts with one before it; `about` is what it is about.
    fn conflicts(&mut self, written: &WrittenHint, about: &str) {
        let text = format!("Hint {} is ignored as conflicting/duplicated", text(written, about));
        self.remarks.push((CONFLICTING_HINT, text));
    }

    fn take(&mut self, own: usize, written: WrittenHint) {
        let hint = written.hint;
        match hint.kind {
            HintKind::QbName => self.rename(own, &written),
            HintKind::Semijoin
            | HintKind::Subquery
            | HintKind::JoinPrefix
            | HintKind::JoinSuffix
            | HintKind::JoinOrder
            | HintKind::JoinFixedOrder => {
                if let Some(place) = self.named(written.block.as_ref(), own, hint) {
                    self.take_of_block(place, written);
                }
            }
            _ if written.tables.is_empty() => {
                if let Some(place) = self.named(written.block.as_ref(), own, hint) {
                    let block = &mut self.blocks[place];
                    if !add(&mut block.given, hint) {
                        self.conflicts(&written, &at(written.block.as_ref()));
                    }
                }
            }
            _ => self.take_of_tables(own, &written),
        }
    }

    fn rename(&mut self, own: usize, written: &WrittenHint) {
        let name = &written.words[0];
        let named = self.blocks[own].name != default_name(self.numbers[own]);
        if named || self.find(name).is_some_and(|other| other != own) {
            let text =
                format!("Hint QB_NAME({}) is ignored as conflicting/duplicated", quoted(name));
            self.remarks.push((CONFLICTING_HINT, text));
        } else {
            self.blocks[own].name.clone_from(name);
        }
    }

    /// A hint about a block as a whole.
    fn take_of_block(&mut self, place: usize, written: WrittenHint) {
        let (block, hint) = (&mut self.blocks[place], written.hint);
        let has = |kind| block.given.iter().any(|given| given.kind == kind);
        let is_ordered = |kind| block.orders.iter().any(|order| order.kind == kind);
        let conflict = match hint.kind {
            HintKind::Semijoin | HintKind::Subquery => {
                has(HintKind::Semijoin) || has(HintKind::Subquery)
            }
            HintKind::JoinFixedOrder => has(HintKind::JoinFixedOrder) || !block.orders.is_empty(),
            HintKind::JoinOrder => has(HintKind::JoinFixedOrder),
            kind => has(HintKind::JoinFixedOrder) || is_ordered(kind),
        };
        if conflict {
            return self.conflicts(&written, &at(written.block.as_ref()));
        }
        match hint.kind {
            HintKind::JoinPrefix | HintKind::JoinSuffix | HintKind::JoinOrder => {
                let mut tables = written.tables;
                for table in &mut tables {
                    table.block = table.block.take().or_else(|| written.block.clone());
                }
                block.orders.push(OrderHint { kind: hint.kind, tables });
                return;
            }
            HintKind::Semijoin => block.semijoins = written.words,
            HintKind::Subquery if written.words == ["INTOEXISTS"] => {
                block.subquery = Some(SubqueryStrategy::IntoExists);
            }
            HintKind::Subquery => block.subquery = Some(SubqueryStrategy::Materialization),
            _ => {}
        }
        block.given.push(hint);
    }

    /// A hint about tables, or about indexes of one table.
    fn take_of_tables(&mut self, own: usize, written: &WrittenHint) {
        for table in &written.tables {
            let name = written.block.as_ref().or(table.block.as_ref());
            let Some(place) = self.named(name, own, written.hint) else { return };
            let about = format!("{}{}", quoted(&table.name), at(table.block.as_ref()));
            let block = &mut self.blocks[place];
            let known = block.tables.iter().position(|known| known.name == table.name);
            let number = known.unwrap_or_else(|| {
                let name = table.name.clone();
                block.tables.push(TableHints { name, ..TableHints::default() });
                block.tables.len() - 1
            });
            let is_given =
                |given: &[GivenHint]| given.iter().any(|it| it.kind == written.hint.kind);
            let of_block = is_given(&block.given);
            let hints = &mut block.tables[number];
            if is_of_sets(written.hint.kind) {
                match of_indexes(hints, written) {
                    Ok(()) => {}
                    Err(CONFLICTING_HINT) => self.conflicts(written, &about),
                    Err(code) => {
                        let hint = text(written, &about);
                        let message = format!("Invalid number of arguments for hint {hint}");
                        self.remarks.push((code, message));
                    }
                }
            } else if written.words.is_empty() {
                if of_block || !add(&mut hints.given, written.hint) {
                    self.conflicts(written, &about);
                }
            } else {
                self.take_of_keys((place, number), written, &about);
            }
        }
    }

    /// A hint about single indexes of a table.
    fn take_of_keys(&mut self, (place, table): (usize, usize), written: &WrittenHint, about: &str) {
        for key in &written.words {
            let hints = &mut self.blocks[place].tables[table];
            let of_table = hints.given.iter().any(|given| given.kind == written.hint.kind);
            let known = hints.keys.iter().position(|(name, _)| same(name, key));
            let number = known.unwrap_or_else(|| {
                hints.keys.push((key.clone(), Vec::new()));
                hints.keys.len() - 1
            });
            if of_table || !add(&mut hints.keys[number].1, written.hint) {
                let hint = format!("{}({about} {} )", written.hint, quoted(key));
                let text = format!("Hint {hint} is ignored as conflicting/duplicated");
                self.remarks.push((CONFLICTING_HINT, text));
            }
        }
    }
}

/// Whether a hint of this kind is about a set of indexes.
fn is_of_sets(kind: HintKind) -> bool {
    matches!(
        kind,
        HintKind::Index
            | HintKind::JoinIndex
            | HintKind::GroupIndex
            | HintKind::OrderIndex
            | HintKind::IndexMerge
            | HintKind::SkipScan
    )
}

/// A hint about a set of indexes; the number of what is wrong with it.
fn of_indexes(hints: &mut TableHints, written: &WrittenHint) -> Result<(), u16> {
    let (hint, names) = (written.hint, &written.words);
    if hint.kind == HintKind::IndexMerge && hint.on && names.len() == 1 {
        return Err(WRONG_ARGUMENT_COUNT);
    }
    let scoped = [HintKind::JoinIndex, HintKind::GroupIndex, HintKind::OrderIndex];
    let meets = |other: HintKind| {
        other == hint.kind
            || other == HintKind::Index && scoped.contains(&hint.kind)
            || hint.kind == HintKind::Index && scoped.contains(&other)
    };
    let shares = |other: &IndexesHint| {
        other.kind == hint.kind
            || names.is_empty() && other.names.is_empty()
            || names.iter().any(|name| other.names.iter().any(|known| same(known, name)))
    };
    if hints.indexes.iter().any(|other| meets(other.kind) && shares(other)) {
        return Err(CONFLICTING_HINT);
    }
    hints.indexes.push(IndexesHint { kind: hint.kind, on: hint.on, names: names.clone() });
    Ok(())
}

/// Adds a hint unless one of its kind is there.
fn add(given: &mut Vec<GivenHint>, hint: GivenHint) -> bool {
    let new = given.iter().all(|known| known.kind != hint.kind);
    if new {
        given.push(hint);
    }
    new
}

fn default_name(number: u32) -> String {
    format!("select#{number}")
}

fn same(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn at(block: Option<&String>) -> String {
    block.map(|name| format!("@{}", quoted(name))).unwrap_or_default()
}

/// A hint as MySQL writes it in warnings.
fn text(written: &WrittenHint, about: &str) -> String {
    let mut text = format!("{}({about} ", written.hint);
    let strategies = matches!(written.hint.kind, HintKind::Semijoin | HintKind::Subquery);
    if is_of_sets(written.hint.kind) || strategies {
        let name = |word: &String| if strategies { word.clone() } else { quoted(word) };
        let words: Vec<String> = written.words.iter().map(name).collect();
        if !words.is_empty() {
            let _ = write!(text, " {}", words.join(", "));
        }
    } else if about.is_empty() || about.starts_with('@') {
        let table = |table: &crate::ast::HintedTable| {
            format!("{}{}", quoted(&table.name), at(table.block.as_ref()))
        };
        let tables: Vec<String> = written.tables.iter().map(table).collect();
        text.push_str(&tables.join(","));
    }
    text.push(')');
    text
}

impl Parser<'_> {
    /// The number of a query block that begins here.
    #[inline]
    pub(in super::super) fn block_number(&mut self) -> u32 {
        self.next_block.take().unwrap_or_else(|| {
            self.block_count += 1;
            self.block_count
        })
    }

    /// Makes a block known before it has been read.
    #[cold]
    pub(in super::super) fn open_block(&mut self, number: u32) {
        self.blocks.get_or_insert_default().place(number);
    }

    /// Gives the hints of a block that has been read to the blocks that they are about.
    #[inline]
    pub(in super::super) fn block_hints(
        &mut self,
        number: u32,
        hints: Option<Vec<WrittenHint>>,
    ) -> Option<HintedBlock> {
        match hints.is_none() && self.blocks.is_none() {
            true => None,
            false => self.sort_hints(number, hints),
        }
    }

    #[cold]
    fn sort_hints(&mut self, number: u32, hints: Option<Vec<WrittenHint>>) -> Option<HintedBlock> {
        let blocks = self.blocks.get_or_insert_default();
        if hints.is_none() && !blocks.numbers.contains(&number) {
            return None;
        }
        let place = blocks.place(number);
        hints.into_iter().flatten().for_each(|hint| blocks.take(place, hint));
        Some(HintedBlock { statement: blocks.statement.clone(), place })
    }

    /// Makes the hints of a statement that has been read known to its blocks. CREATE VIEW takes
    /// none.
    #[cold]
    pub(in super::super) fn close_blocks(&mut self, statement: &Statement) {
        let Some(blocks) = self.blocks.take() else { return };
        if matches!(statement, Statement::CreateView(_)) {
            return;
        }
        let filled = blocks.statement.set(blocks.blocks);
        debug_assert!(filled.is_ok(), "the hints of a statement are known once");
        for (code, message) in blocks.remarks {
            self.remark(code, message);
        }
    }
}
