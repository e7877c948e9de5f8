//! What MySQL takes reading small tables to cost.
//!
//! A page in memory costs 0.25, looking at a row 0.1. Rows of tables that conditions connect are
//! estimated from statistics of indexes where there are some, and guessed otherwise ([`Guess`]).
//! Costs are those of MySQL's documented cost model for tables whose pages are in memory
//! ([`cost model`](https://dev.mysql.com/doc/refman/8.0/en/cost-model.html)).

use super::super::equal::{Equal, plain};
use super::super::group::Source;
use super::super::members::Members;
use super::super::relation::{Around, Relation, bounding, request};
use crate::access::{self, AccessPath, Guess, is_covering, is_switched_off};
use crate::catalog::Table;
use crate::optimize::{Leaf, LeafKind};
use crate::plan::JoinType;
use inia_expr::{Expr, SlotSet, slots_of};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Reading a page in memory.
const PAGE: f64 = 0.25;
/// Looking at a row.
pub(super) const ROW: f64 = 0.1;
/// Bytes of a page.
const PAGE_BYTES: f64 = 16_384.0;
/// The fewest rows that conditions are taken to leave.
const MIN_ROWS: f64 = 0.05;
/// What a range costs before its first row, and each of its rows.
const RANGE: (f64, f64) = (0.26, 0.2);
/// What looking up the row of an entry of a range costs besides.
const RANGE_LOOKUP: f64 = 0.25;
/// What reading a derived table costs besides its rows.
const DERIVED: f64 = 2.5;

/// How a table is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By an index, for each row before it.
    Lookup,
    /// As a whole, for each row before it.
    Scan,
    /// As a whole, once for a buffer of rows before it.
    Buffer,
}

/// How a table is read behind others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) way: Way,
    /// What reading costs, for all rows before it.
    pub(super) cost: f64,
    /// Rows for each row before it.
    pub(super) rows: f64,
    /// The share of them that conditions leave.
    pub(super) filter: f64,
    /// The tables whose columns it is looked up by.
    pub(super) by: Members,
    /// Of an anti join: its rows are kept in a table, where they are looked up.
    pub(super) kept: bool,
}

/// What is known of a table.
struct Facts<'m> {
    leaf: Option<(&'m Leaf, &'m Arc<Table>)>,
    records: f64,
    /// What reading all of it costs, without its rows.
    scan: f64,
    /// What its own conditions leave of the rows.
    kept: f64,
    /// What a range of constants costs, and its rows.
    range: Option<(f64, f64)>,
    /// An index has all that is read.
    covered: bool,
}

/// A lookup by the tables before.
#[derive(Clone)]
struct Look {
    rows: f64,
    /// What each costs.
    each: f64,
    /// It finds one row at most.
    unique: bool,
    by: Members,
    /// The columns that it is looked up by.
    columns: Vec<usize>,
}

/// The tables that come before one, in order, with what each fetches and what it is looked up by.
pub(super) type Before = [(usize, f64, Members)];

/// Costs of one group.
pub(super) struct Costs<'m> {
    pub(super) around: Around<'m>,
    pub(super) relations: &'m [Relation],
    /// The group's conditions; the first `given` are stated, the others follow from them.
    conditions: &'m [Expr],
    given: usize,
    classes: &'m [Equal],
    facts: Vec<Facts<'m>>,
    filters: bool,
    looks: RefCell<HashMap<(usize, Members), Option<Look>>>,
}

impl<'m> Costs<'m> {
    pub(super) fn new(
        around: Around<'m>,
        relations: &'m [Relation],
        (conditions, given): (&'m [Expr], usize),
        classes: &'m [Equal],
    ) -> Costs<'m> {
        let filters = !is_switched_off(around.block.settings, "condition_fanout_filter");
        let (facts, looks) = (Vec::new(), RefCell::default());
        let mut costs =
            Costs { around, relations, conditions, given, classes, facts, filters, looks };
        let all = 0..around.group.members.len();
        costs.facts = all.map(|member| costs.facts_of(member)).collect();
        costs
    }

    fn facts_of(&self, number: usize) -> Facts<'m> {
        let around = self.around;
        let member = &around.group.members[number];
        let relation = &self.relations[number];
        let table = match &member.source {
            Source::Leaf(leaf) => match &leaf.kind {
                LeafKind::Table { table, .. } => Some((leaf, table)),
                _ => None,
            },
            Source::Group(_) => None,
        };
        let Some((leaf, table)) = table else {
            let records = relation.base.max(1.0);
            let scan = DERIVED + records * ROW / 8.0;
            let kept = if relation.base > 0.0 { relation.rows / relation.base } else { 1.0 };
            return Facts { leaf: None, records, scan, kept, range: None, covered: false };
        };
        let records = (table.rows() as f64).max(1.0);
        let scan = pages(table) * PAGE;
        let conditions = bounding(member, self.conditions);
        let request = request(table, leaf, None, around.block);
        let choice = access::choose(&request, conditions, around.filled);
        let bounded = !choice.path.is_unbounded() && choice.path.equal.is_empty();
        let range = (bounded && member.kind == JoinType::Inner).then(|| {
            let clustered = choice.path.index.is_some_and(|at| table.def.indexes[at].clustered);
            let fetch = if clustered || choice.path.covering { 0.0 } else { RANGE_LOOKUP };
            (RANGE.0 + choice.rows * (RANGE.1 + fetch), choice.rows)
        });
        let covered = (0..table.def.indexes.len()).any(|at| {
            table.def.indexes[at].kind.has_keys() && is_covering(table, &request.needed, at)
        });
        let leaf = Some((leaf, table));
        let facts = Facts { leaf, records, scan, kept: 1.0, range, covered };
        let kept = self.own_share(number, &facts);
        Facts { kept, ..facts }
    }

    fn guess<'t>(&self, facts: &Facts<'t>, sought: &[usize]) -> Option<Guess<'t>> {
        let (leaf, table) = facts.leaf?;
        Some(Guess { table, base: leaf.slots.start, sought: sought.to_vec() })
    }

    /// The share of a table's rows that conditions with constants leave.
    fn own_share(&self, number: usize, facts: &Facts<'m>) -> f64 {
        let Some(guess) = self.guess(facts, &[]).filter(|_| self.filters) else { return 1.0 };
        let member = &self.around.group.members[number];
        // What ON says counts for nothing.
        if member.kind != JoinType::Inner {
            return 1.0;
        }
        let known = member.slots.union(self.around.filled);
        let own = |condition: &&Expr| {
            let needs = slots_of(condition);
            !needs.whole_row
                && needs.slots.intersects(&member.slots)
                && needs.slots.is_subset(&known)
        };
        let conditions = bounding(member, self.conditions).iter().filter(own);
        let share = conditions.map(|condition| guess.kept(condition)).product::<f64>();
        share.clamp((MIN_ROWS / facts.records).min(1.0), 1.0).max(guess.least())
    }

    /// The share of the fetched rows that conditions with the tables before leave.
    fn share(&self, number: usize, before: Members, (rows, sought): (f64, &[usize])) -> f64 {
        let facts = &self.facts[number];
        let Some(guess) = self.guess(facts, sought).filter(|_| self.filters) else { return 1.0 };
        let member = &self.around.group.members[number];
        let stated = match member.kind {
            JoinType::Inner => &self.conditions[..self.given],
            _ => &member.on,
        };
        let filled = self.around.group.slots_of(before).union(self.around.filled);
        let known = filled.union(&member.slots);
        let mut share = 1.0;
        for condition in stated {
            let needs = slots_of(condition);
            let meets = needs.slots.intersects(&member.slots)
                && needs.slots.intersects(&filled)
                && needs.slots.is_subset(&known);
            let of_class = |equal: &Equal| equal.slots_in(condition).is_some();
            if meets && !needs.whole_row && !self.classes.iter().any(of_class) {
                share *= guess.kept(condition);
            }
        }
        for equal in self.classes.iter().filter(|equal| !equal.constant) {
            let met = equal.columns.iter().any(|column| before.contains(column.member));
            let own = equal.columns.iter().filter(|column| column.member == number);
            for column in own.filter(|_| met) {
                let column = column.slot - guess.base;
                if !sought.contains(&column) {
                    share *= guess.equal(column);
                }
            }
        }
        share.max((MIN_ROWS / rows.max(MIN_ROWS)).min(1.0)).min(1.0)
    }

    /// How a table is looked up by those before it.
    fn look(&self, number: usize, before: Members) -> Option<Look> {
        let given = before.and(self.relations[number].adjacent);
        if let Some(known) = self.looks.borrow().get(&(number, given)) {
            return known.clone();
        }
        let found = self.find_look(number, given);
        self.looks.borrow_mut().insert((number, given), found.clone());
        found
    }

    fn find_look(&self, number: usize, before: Members) -> Option<Look> {
        let facts = &self.facts[number];
        let (leaf, table) = facts.leaf?;
        let LeafKind::Table { hinted, .. } = &leaf.kind else { return None };
        let group = self.around.group;
        let request = request(table, leaf, hinted.as_deref(), self.around.block);
        let conditions = bounding(&group.members[number], self.conditions);
        let filled = self.around.filled.union(&group.slots_of(before));
        let choice = access::choose(&request, conditions, &filled);
        let path = &choice.path;
        if path.equal.is_empty() || path.found_by.is_some() {
            return None;
        }
        let position = path.index?;
        let index = &table.def.indexes[position];
        let single = path.equal.iter().all(|part| part.is_single());
        let counted = table.stats().rows_per_group(position, path.equal.len());
        let rows = match path.point {
            true => 1.0,
            false => counted.filter(|_| single).unwrap_or(choice.rows),
        };
        let mut by = Members::default();
        path.exprs().for_each(|expr| by = by.union(group.members_of(&slots_of(expr).slots)));
        let fetched = match (path.point, path.covering, index.clustered) {
            (true, ..) => PAGE,
            (_, true, _) => entries(table, position, rows),
            (_, _, true) => PAGE * rows.max(1.0),
            _ => PAGE * rows.min(worst_seeks(facts.records, facts.scan)),
        };
        let columns = (0..path.equal.len()).map_while(|at| table.def.key_part(index, at));
        let columns = columns.map(|part| part.column).collect();
        Some(Look { rows, each: fetched, unique: path.point, by, columns })
    }

    /// How a table is read best behind those of `before`, which have so many rows; `buffered` where
    /// their rows may be kept in a buffer.
    pub(super) fn access(
        &self,
        number: usize,
        (before, rows): (&Before, f64),
        buffered: bool,
    ) -> Access {
        let members =
            before.iter().fold(Members::default(), |all, one| all.union(Members::one(one.0)));
        let facts = &self.facts[number];
        let look = self.look(number, members);
        let found = look.map(|look| {
            let times = if look.unique { read_before(before, look.by).min(rows) } else { rows };
            let (cost, by) = (times * look.each, look.by);
            let filter = self.share(number, members, (look.rows, &look.columns));
            let filter = filter * self.own_beside(number, &look);
            Access { way: Way::Lookup, cost, rows: look.rows, filter, by, kept: false }
        });
        let covered = facts.covered && facts.range.is_none();
        if let Some(found) = found.filter(|_| covered) {
            return self.of_kind(number, found);
        }
        let (records, read) = match facts.range {
            Some((cost, rows)) => (rows, cost),
            None => (facts.records, facts.scan),
        };
        let kept = match facts.range {
            Some(_) => (facts.kept * facts.records / records.max(1.0)).min(1.0),
            None => facts.kept,
        };
        let fetched = records * kept;
        let buffers = buffered && !before.is_empty() && self.relations[number].hashes;
        let times = if buffers && facts.range.is_none() { 1.0 } else { rows };
        let cost = times * (read + ROW * (records - fetched));
        let scan = Access {
            way: if buffers { Way::Buffer } else { Way::Scan },
            cost,
            rows: fetched,
            filter: self.share(number, members, (fetched, &[])),
            by: Members::default(),
            kept: false,
        };
        let whole = |access: &Access| access.cost + ROW * rows * access.rows;
        let best = match found {
            Some(found) if whole(&found) <= whole(&scan) => found,
            _ => scan,
        };
        self.of_kind(number, best)
    }

    /// What conditions with constants leave of the rows that a lookup finds.
    fn own_beside(&self, number: usize, look: &Look) -> f64 {
        let facts = &self.facts[number];
        let Some(guess) = self.guess(facts, &[]).filter(|_| self.filters) else { return 1.0 };
        let member = &self.around.group.members[number];
        let known = member.slots.union(self.around.filled);
        let mut share = 1.0;
        for condition in bounding(member, self.conditions) {
            let needs = slots_of(condition);
            let own = !needs.whole_row
                && needs.slots.intersects(&member.slots)
                && needs.slots.is_subset(&known);
            let sought = |slot: usize| {
                slot.checked_sub(guess.base).is_some_and(|at| look.columns.contains(&at))
            };
            if own && !needs.slots.iter().all(sought) {
                share *= guess.kept(condition);
            }
        }
        share.max((MIN_ROWS / look.rows.max(MIN_ROWS)).min(1.0))
    }

    /// A table of an outer or an anti join leaves each row before it.
    fn of_kind(&self, number: usize, access: Access) -> Access {
        match self.around.group.members[number].kind {
            JoinType::Inner => access,
            JoinType::Left => Access { filter: 1.0, rows: access.rows.max(1.0), ..access },
            JoinType::Semi | JoinType::Anti => {
                Access { filter: 1.0 / access.rows.max(MIN_ROWS), ..access }
            }
        }
    }

    /// How a member is read by itself.
    pub(super) fn alone(&self, number: usize) -> Access {
        let facts = &self.facts[number];
        let (records, read) = match facts.range {
            Some((cost, rows)) => (rows, cost),
            None => (facts.records, facts.scan),
        };
        let (rows, by) = (records * facts.kept, Members::default());
        let cost = read + ROW * (records - rows);
        Access { way: Way::Scan, cost, rows, filter: 1.0, by, kept: false }
    }

    /// Records of a member.
    pub(super) fn records(&self, number: usize) -> f64 {
        self.facts[number].records
    }

    /// The rows that a member has by itself.
    pub(super) fn found(&self, number: usize) -> f64 {
        self.facts[number].range.map_or(self.facts[number].records, |(_, rows)| rows)
    }

    /// The best way to read a table by an index that begins with these columns, one row of each
    /// group: the index, what it costs, and the groups.
    pub(super) fn loose(&self, number: usize, columns: &[usize]) -> Option<(AccessPath, f64, f64)> {
        let facts = &self.facts[number];
        let (leaf, table) = facts.leaf?;
        let request = request(table, leaf, None, self.around.block);
        let mut best: Option<(AccessPath, f64, f64)> = None;
        for (at, index) in table.def.indexes.iter().enumerate() {
            let parts = index.parts.iter().take(columns.len());
            let begins = index.parts.len() >= columns.len()
                && parts
                    .clone()
                    .all(|part| part.prefix.is_none() && columns.contains(&part.column));
            let covering = is_covering(table, &request.needed, at);
            if !index.kind.has_keys() || !begins || !covering {
                continue;
            }
            let cost = entries(table, at, facts.records);
            if best.as_ref().is_some_and(|(_, least, _)| *least <= cost) {
                continue;
            }
            let each = table.stats().rows_per_group(at, columns.len()).unwrap_or(1.0);
            let mut path = AccessPath::all(true);
            (path.index, path.covering) = (Some(at), true);
            best = Some((path, cost, (facts.records / each.max(1.0)).max(1.0)));
        }
        best
    }

    /// What conditions with constants leave of a table's rows.
    pub(super) fn kept(&self, number: usize) -> f64 {
        self.facts[number].kept
    }

    /// The column of a member that an expression is.
    pub(super) fn column(&self, number: usize, expr: &Expr) -> Option<usize> {
        let (leaf, _) = self.facts[number].leaf?;
        let slot = plain(expr).filter(|slot| leaf.slots.contains(slot))?;
        Some(slot - leaf.slots.start)
    }

    /// Whether an index of a table is looked up by columns of another one.
    pub(super) fn depends(&self, number: usize, other: usize) -> bool {
        self.look(number, Members::one(other)).is_some_and(|look| look.by.contains(other))
    }

    /// Whether each row of a member has an id.
    pub(super) fn has_row_id(&self, number: usize) -> bool {
        let inner = self.around.group.members[number].kind == JoinType::Inner;
        inner && self.facts[number].leaf.is_some()
    }

    /// The slots of some members.
    pub(super) fn slots(&self, members: Members) -> SlotSet {
        self.around.group.slots_of(members)
    }
}

/// How many combinations of rows a lookup by these tables is made with.
fn read_before(before: &Before, by: Members) -> f64 {
    let (mut needed, mut found) = (by, 1.0);
    for (member, rows, depends) in before.iter().rev() {
        if needed.contains(*member) {
            needed = needed.union(*depends);
            if *rows > f64::EPSILON {
                found *= rows;
            }
        }
    }
    found
}

/// Pages of a table's rows.
fn pages(table: &Table) -> f64 {
    let bytes = table.rows() as f64 * (table.def.row_length() as f64 + 20.0);
    (bytes / (PAGE_BYTES * 0.9)).ceil().max(1.0)
}

/// The most that looking rows up is taken to cost.
fn worst_seeks(records: f64, scan: f64) -> f64 {
    (records / 10.0).min(scan * 3.0).max(2.0)
}

/// What so many entries of an index cost.
fn entries(table: &Table, at: usize, rows: f64) -> f64 {
    let index = &table.def.indexes[at];
    let bytes = f64::from(table.def.key_length(index, index.parts.len()));
    let primary = table
        .def
        .clustered_index()
        .map(|index| f64::from(table.def.key_length(index, index.parts.len())));
    let each = (PAGE_BYTES / 2.0 / (bytes + primary.unwrap_or(6.0))).floor() + 1.0;
    (rows + each - 1.0) / each * PAGE
}
