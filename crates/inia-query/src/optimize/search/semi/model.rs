//! What MySQL takes reading small tables to cost.
//!
//! A page in memory costs 0.25, looking at a row 0.1. Rows of tables that conditions connect are
//! estimated from statistics of indexes where there are some, and guessed otherwise ([`Guess`]).
//! Costs are those of MySQL's documented cost model for tables whose pages are in memory
//! ([`cost model`](https://dev.mysql.com/doc/refman/8.0/en/cost-model.html)).

use super::super::equal::{Equal, is_natural, plain};
use super::super::group::{Nest, Source};
use super::super::members::Members;
use super::super::relation::{Around, Relation, bounding, request};
use crate::access::{
    self, AccessPath, ByIndex, EqualPart, Guess, Planned, Request, entries, is_covering,
    is_switched_off, pages,
};
use crate::catalog::{IndexDef, Table};
use crate::optimize::{Leaf, LeafKind};
use crate::plan::JoinType;
use inia_expr::{CmpOp, Expr, ExprKind, SlotSet, slots_of};
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
/// What reading a derived table costs besides its rows.
const DERIVED: f64 = 2.5;
/// The share of a derived table's rows that have one key, and the fewest and the most of them.
const DERIVED_KEY: (f64, f64, f64) = (0.1, 2.0, 10.0);

/// How a table is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By an index, for each row before it.
    Lookup,
    /// As a whole, for each row before it.
    Scan,
    /// As a whole, once for a buffer of rows before it.
    Buffer,
    /// By an index that is made of a derived table's rows.
    Key,
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
    /// What is read of the table.
    pub(super) planned: Planned,
}

/// What is known of a table.
struct Facts<'m> {
    leaf: Option<(&'m Leaf, &'m Arc<Table>)>,
    records: f64,
    /// What reading all of it costs, without its rows.
    scan: f64,
    /// What its own conditions leave of the rows.
    kept: f64,
    /// How ranges of constants are read.
    range: Option<Range>,
    /// An index has all that is read.
    covered: bool,
    /// Columns that constants bound in an index, and the rows that were counted there.
    counted: Vec<(Vec<usize>, f64)>,
}

impl Facts<'_> {
    /// The share of the rows that constants were counted to leave in indexes without `sought`
    /// columns; their columns are added to these.
    fn counted_share(&self, sought: &mut Vec<usize>) -> f64 {
        let mut share = 1.0;
        for (columns, rows) in &self.counted {
            if !columns.iter().any(|column| sought.contains(column)) {
                share *= (rows / self.records).min(1.0);
                sought.extend(columns);
            }
        }
        share
    }
}

/// Ranges of constants.
#[derive(Clone, Copy)]
struct Range {
    cost: f64,
    rows: f64,
    planned: Planned,
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
    /// The index, and how many parts of it.
    index: (usize, usize),
}

/// What indexes find of a table by those before it.
#[derive(Clone, Default)]
struct Found {
    look: Option<Look>,
    /// Ranges could be looked for with each row.
    ranges: bool,
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
    /// Tables that a key finds one row of, in the order in which they are read.
    pub(super) single: Vec<usize>,
    /// The slots that are constants.
    pub(super) fixed: SlotSet,
    filters: bool,
    looks: RefCell<HashMap<(usize, Members), Found>>,
}

impl<'m> Costs<'m> {
    pub(super) fn new(
        around: Around<'m>,
        relations: &'m [Relation],
        (conditions, given): (&'m [Expr], usize),
        (classes, nests): (&'m [Equal], &[Nest]),
    ) -> Costs<'m> {
        let filters = !is_switched_off(around.block.settings, "condition_fanout_filter");
        let (facts, single, looks) = (Vec::new(), Vec::new(), RefCell::default());
        let fixed = SlotSet::default();
        let mut costs = Costs {
            around,
            relations,
            conditions,
            given,
            classes,
            facts,
            single,
            fixed,
            filters,
            looks,
        };
        costs.find_single(nests);
        let all = 0..around.group.members.len();
        costs.facts = all.map(|member| costs.facts_of(member)).collect();
        costs
    }

    /// Finds the tables of which constants find one row, and those that are found by these.
    fn find_single(&mut self, nests: &[Nest]) {
        let members = &self.around.group.members;
        let inside = |number: usize| nests.iter().any(|nest| nest.members.contains(number));
        loop {
            let before = self.single.len();
            for (number, member) in members.iter().enumerate() {
                let known = self
                    .single
                    .iter()
                    .fold(Members::default(), |all, one| all.union(Members::one(*one)));
                let open = !known.contains(number) && !inside(number);
                let kind = matches!(member.kind, JoinType::Inner | JoinType::Left);
                if open && kind && member.needs.is_subset(known) && self.finds_one(number) {
                    self.single.push(number);
                    self.fixed = self.fixed.union(&member.slots);
                }
            }
            if self.single.len() == before {
                return;
            }
        }
    }

    /// Whether constants find one row of a table at most.
    fn finds_one(&self, number: usize) -> bool {
        let member = &self.around.group.members[number];
        let Source::Leaf(leaf) = &member.source else { return false };
        if let LeafKind::Subplan { rows, lateral: false, .. } = leaf.kind {
            return rows <= 1.0 && member.kind == JoinType::Inner;
        }
        let LeafKind::Table { table, hinted, .. } = &leaf.kind else { return false };
        if !table.def.indexes.iter().any(IndexDef::unique) {
            return false;
        }
        let request = request(table, leaf, hinted.as_deref(), self.around.block);
        let conditions = bounding(member, self.conditions);
        let found = access::by_indexes(&request, conditions, &self.fixed);
        // What enclosing queries read is none of them.
        let known = |value: &Expr| {
            value.is_constant_in_statement() || slots_of(value).slots != SlotSet::default()
        };
        found.iter().any(|by| by.path.point && by.path.own_exprs().all(known))
    }

    fn facts_of(&self, number: usize) -> Facts<'m> {
        let around = self.around;
        let member = &around.group.members[number];
        let relation = &self.relations[number];
        let table = match &member.source {
            Source::Leaf(leaf) => match &leaf.kind {
                LeafKind::Table { table, hinted, .. } => Some((leaf, table, hinted)),
                _ => None,
            },
            Source::Group(_) => None,
        };
        let Some((leaf, table, hinted)) = table else {
            let records = relation.base.max(1.0);
            let scan = DERIVED + records * ROW / 8.0;
            let kept = if relation.base > 0.0 { relation.rows / relation.base } else { 1.0 };
            let (range, counted) = (None, Vec::new());
            return Facts { leaf: None, records, scan, kept, range, covered: false, counted };
        };
        // Counting the pages corrects the number of rows.
        let scan = pages(table) * PAGE;
        let records = (table.rows() as f64).max(1.0);
        let conditions = bounding(member, self.conditions);
        let request = request(table, leaf, hinted.as_deref(), around.block);
        let found = access::by_indexes(&request, conditions, &self.fixed);
        let range = match member.kind {
            JoinType::Inner => self.range(&request, conditions, &found, (records, scan)),
            _ => None,
        };
        let covered = (0..table.def.indexes.len()).any(|at| {
            table.def.indexes[at].kind.has_keys() && is_covering(table, &request.needed, at)
        });
        let counted = found.iter().filter(|by| by.counted || by.path.point);
        let counted = counted.map(|by| (bounded_columns(table, by), by.rows)).collect();
        let leaf = Some((leaf, table));
        let facts = Facts { leaf, records, scan, kept: 1.0, range, covered, counted };
        let kept = self.own_share(number, &facts);
        Facts { kept, ..facts }
    }

    /// The cheapest ranges of constants, where they cost less than a scan of the table.
    fn range(
        &self,
        request: &Request<'_>,
        conditions: &[Expr],
        found: &[ByIndex],
        (records, scan): (f64, f64),
    ) -> Option<Range> {
        let is_or = |condition: &Expr| matches!(condition.kind, ExprKind::Or(_));
        if conditions.iter().any(is_or) || request.merging.hinted.is_some() {
            let merged = access::choose(request, conditions, &self.fixed);
            if merged.path.merge().is_some() {
                let (rows, planned) = (merged.rows, Planned::Free);
                let cost = PAGE + rows * (ROW + PAGE);
                return Some(Range { cost, rows, planned });
            }
        }
        let range = access::range_of_small(request, found, (records, scan))?;
        Some(Range { cost: range.cost, rows: range.rows, planned: range.planned })
    }

    fn guess<'t>(&self, facts: &Facts<'t>, sought: &[usize]) -> Option<Guess<'t>> {
        let (leaf, table) = facts.leaf?;
        Some(Guess { table, base: leaf.slots.start, sought: sought.to_vec() })
    }

    /// The share of a table's rows that conditions with constants leave.
    fn own_share(&self, number: usize, facts: &Facts<'m>) -> f64 {
        let (mut sought, member) = (Vec::new(), &self.around.group.members[number]);
        let counted = facts.counted_share(&mut sought);
        let Some(guess) = self.guess(facts, &sought).filter(|_| self.filters) else { return 1.0 };
        // What ON says counts for nothing.
        if member.kind != JoinType::Inner {
            return 1.0;
        }
        let known = member.slots.union(&self.fixed);
        let own = |condition: &&Expr| {
            let needs = slots_of(condition);
            !needs.whole_row
                && needs.slots.intersects(&member.slots)
                && needs.slots.is_subset(&known)
        };
        let conditions = bounding(member, self.conditions).iter().filter(own);
        let share = counted * conditions.map(|condition| guess.kept(condition)).product::<f64>();
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
        let filled = filled.minus(&self.fixed);
        let known = filled.union(&member.slots).union(&self.fixed);
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
    fn look(&self, number: usize, before: Members) -> Found {
        let given = before.and(self.relations[number].adjacent);
        if let Some(known) = self.looks.borrow().get(&(number, given)) {
            return known.clone();
        }
        let found = self.find_look(number, given);
        self.looks.borrow_mut().insert((number, given), found.clone());
        found
    }

    fn find_look(&self, number: usize, before: Members) -> Found {
        let facts = &self.facts[number];
        let Some((leaf, table)) = facts.leaf else {
            return Found { look: self.derived_look(number, before), ranges: false };
        };
        let LeafKind::Table { hinted, .. } = &leaf.kind else { return Found::default() };
        let group = self.around.group;
        let request = request(table, leaf, hinted.as_deref(), self.around.block);
        let conditions = bounding(&group.members[number], self.conditions);
        let filled = self.fixed.union(&group.slots_of(before)).union(self.around.filled);
        let found = access::by_indexes(&request, conditions, &filled);
        let looks = found.iter().filter(|by| by.parts() > 0 && by.path.merge().is_none());
        let looks = looks.map(|by| self.look_by(by, (table, facts), &request, conditions));
        let cost = |look: &Look| look.each + ROW * look.rows;
        let look = looks.min_by(|a, b| {
            let unique = b.unique.cmp(&a.unique);
            unique.then(cost(a).total_cmp(&cost(b)))
        });
        let known = |value: &Expr| slots_of(value).slots.is_subset(&self.fixed);
        let ranges = found.iter().any(|by| {
            let ends = by.path.intervals.iter().flat_map(|one| one.lower.iter().chain(&one.upper));
            let mut ends = ends.map(|end| &end.value);
            by.path.equal.is_empty() && ends.any(|end| !known(end))
        });
        Found { look, ranges }
    }

    /// How rows of a derived table are found by an index that is made of them: on the columns that
    /// equal values of tables before it.
    fn derived_look(&self, number: usize, before: Members) -> Option<Look> {
        let (group, member) = (self.around.group, &self.around.group.members[number]);
        let Source::Leaf(leaf) = &member.source else { return None };
        let LeafKind::Subplan { unnested: false, lateral: false, .. } = leaf.kind else {
            return None;
        };
        let known = self.fixed.union(&group.slots_of(before)).union(self.around.filled);
        let (mut columns, mut by) = (Vec::new(), Members::default());
        for condition in bounding(member, self.conditions) {
            let ExprKind::Compare(compare) = &condition.kind else { continue };
            if compare.op != CmpOp::Eq || !is_natural(&compare.left, &compare.class) {
                continue;
            }
            let sides = [(&compare.left, &compare.right), (&compare.right, &compare.left)];
            for (own, other) in sides {
                let read = slots_of(other);
                let slot = plain(own).filter(|slot| member.slots.contains(*slot));
                let apart = !read.whole_row
                    && read.slots != SlotSet::default()
                    && read.slots.is_subset(&known)
                    && is_natural(own, &compare.class);
                if let Some(slot) = slot.filter(|_| apart) {
                    columns.push(slot - leaf.slots.start);
                    by = by.union(group.members_of(&read.slots));
                }
            }
        }
        columns.sort_unstable();
        columns.dedup();
        if columns.is_empty() {
            return None;
        }
        let records = self.facts[number].records;
        let rows = (records * DERIVED_KEY.0).clamp(DERIVED_KEY.1, DERIVED_KEY.2);
        let index = (usize::MAX, columns.len());
        Some(Look { rows, each: PAGE * rows, unique: false, by, columns, index })
    }

    /// What an index finds by the parts of its key that equal something.
    fn look_by(
        &self,
        by: &ByIndex,
        (table, facts): (&Arc<Table>, &Facts<'m>),
        request: &Request<'_>,
        conditions: &[Expr],
    ) -> Look {
        let (path, index) = (&by.path, &table.def.indexes[by.index]);
        let group = self.around.group;
        let parts = by.parts();
        let mut read = Members::default();
        let values = path.equal.iter().take(parts).filter_map(|part| match part {
            EqualPart::Value(value) | EqualPart::NullSafe(value) => Some(value),
            EqualPart::AnyOf(_) => None,
        });
        let mut constant = true;
        for value in values {
            let slots = slots_of(value).slots;
            constant &= slots.is_subset(&self.fixed);
            read = read.union(group.members_of(&slots));
        }
        let by_single =
            self.single.iter().fold(Members::default(), |all, one| all.union(Members::one(*one)));
        let counted = table.stats().rows_per_group(by.index, parts);
        let rows = match (path.point, constant) {
            (true, _) => 1.0,
            (_, true) => {
                let planned = Planned::Equal(by.index, parts);
                let known = (&self.fixed, &self.fixed);
                access::choose_as(request, planned, conditions, known).rows
            }
            _ => counted.unwrap_or(by.rows),
        };
        let each = match (path.point, path.covering, index.clustered) {
            (true, ..) => PAGE,
            (_, true, _) => entries(table, by.index, rows),
            (_, _, true) if rows <= 2.0 => PAGE * rows.max(1.0),
            (_, _, true) => PAGE + facts.scan * rows / bound_of_rows(table),
            _ => PAGE * rows.min(worst_seeks(facts.records, facts.scan)),
        };
        let columns = (0..parts).map_while(|at| table.def.key_part(index, at));
        let columns = columns.map(|part| part.column).collect();
        let by_tables = read.minus(by_single);
        Look { rows, each, unique: path.point, by: by_tables, columns, index: (by.index, parts) }
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
        let Found { look, ranges } = self.look(number, members);
        let found = look.map(|look| {
            let times = if look.unique { read_before(before, look.by).min(rows) } else { rows };
            let (cost, by) = (times * look.each, look.by);
            let filter = self.share(number, members, (look.rows, &look.columns));
            let filter = filter * self.own_beside(number, &look);
            let planned = Planned::Equal(look.index.0, look.index.1);
            let way = if look.index.0 == usize::MAX { Way::Key } else { Way::Lookup };
            Access { way, cost, rows: look.rows, filter, by, kept: false, planned }
        });
        let covered = facts.covered && facts.range.is_none();
        if let Some(found) = found.filter(|_| covered) {
            return self.of_kind(number, found);
        }
        let (records, read) = match facts.range {
            Some(range) => (range.rows, range.cost),
            None => (facts.records, facts.scan),
        };
        let kept = match facts.range {
            Some(_) => (facts.kept * facts.records / records.max(1.0)).min(1.0),
            None => facts.kept,
        };
        let fetched = records * kept;
        let others = before.iter().any(|(member, ..)| !self.single.contains(member));
        let buffers = buffered && others && self.relations[number].hashes;
        let checked = ranges && facts.range.is_none();
        let times = if buffers && facts.range.is_none() { 1.0 } else { rows };
        let cost = times * (read + ROW * (records - fetched));
        let scan = Access {
            way: if buffers && !checked { Way::Buffer } else { Way::Scan },
            cost,
            rows: fetched,
            filter: self.share(number, members, (fetched, &[])),
            by: Members::default(),
            kept: false,
            planned: match facts.range {
                Some(range) => range.planned,
                None if checked => Planned::Free,
                None => Planned::Scan,
            },
        };
        if let Source::Group(_) = self.around.group.members[number].source {
            return self.of_kind(number, self.of_group(number, rows, scan));
        }
        let whole = |access: &Access| access.cost + ROW * rows * access.rows;
        // Ranges of the same index that bound more of it are read instead.
        let ranged = |found: &Access| match (found.planned, scan.planned) {
            (Planned::Equal(index, _), Planned::Range(other)) => {
                index == other && found.by.is_empty()
            }
            _ => false,
        };
        let best = match found {
            Some(found) if whole(&found) <= whole(&scan) && !ranged(&found) => found,
            _ => scan,
        };
        self.of_kind(number, best)
    }

    /// The right side of a join of several tables: read for each row before it, unless its first
    /// table is kept in a buffer.
    fn of_group(&self, number: usize, rows: f64, scan: Access) -> Access {
        let Some(nested) = &self.relations[number].nested else { return scan };
        let looped = &nested.looped;
        let way = if nested.once.is_some() && !looped.finds { scan.way } else { Way::Lookup };
        let cost = rows * (looped.cost - ROW * looped.rows).max(0.0);
        Access { way, cost, rows: looped.rows.max(1.0), planned: Planned::Free, ..scan }
    }

    /// What conditions with constants leave of the rows that a lookup finds.
    fn own_beside(&self, number: usize, look: &Look) -> f64 {
        let facts = &self.facts[number];
        let mut known = look.columns.clone();
        let mut share = facts.counted_share(&mut known);
        let Some(guess) = self.guess(facts, &known).filter(|_| self.filters) else { return 1.0 };
        let member = &self.around.group.members[number];
        let known = member.slots.union(&self.fixed);
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
            Some(range) => (range.rows, range.cost),
            None => (facts.records, facts.scan),
        };
        let (rows, by) = (records * facts.kept, Members::default());
        let cost = read + ROW * (records - rows);
        let planned = facts.range.map_or(Planned::Scan, |range| range.planned);
        Access { way: Way::Scan, cost, rows, filter: 1.0, by, kept: false, planned }
    }

    /// Records of a member.
    pub(super) fn records(&self, number: usize) -> f64 {
        self.facts[number].records
    }

    /// The rows that a member has by itself.
    pub(super) fn found(&self, number: usize) -> f64 {
        self.facts[number].range.map_or(self.facts[number].records, |range| range.rows)
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
        self.look(number, Members::one(other)).look.is_some_and(|look| look.by.contains(other))
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

/// The columns that a path bounds.
fn bounded_columns(table: &Table, by: &ByIndex) -> Vec<usize> {
    let index = &table.def.indexes[by.index];
    let parts = match by.path.ranges() {
        Some(paths) => paths.iter().map(|path| path.equal.len()).max().unwrap_or(0),
        None => by.path.equal.len() + usize::from(!by.path.intervals.is_empty()),
    };
    let parts = (0..parts).map_while(|at| table.def.key_part(index, at));
    parts.map(|part| part.column).collect()
}

/// The most rows that a table may have in the pages of its rows.
fn bound_of_rows(table: &Table) -> f64 {
    2.0 * pages(table) * PAGE_BYTES / (table.def.row_length() as f64 + 20.0)
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

/// The most pages that looking rows up is taken to read.
fn worst_seeks(records: f64, scan: f64) -> f64 {
    (records / 10.0).min(scan / PAGE * 3.0).max(2.0)
}
