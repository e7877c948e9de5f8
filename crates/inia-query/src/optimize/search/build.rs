//! Makes a plan of the joins that the search has found.
//!
//! Each condition is checked as soon as its slots are filled: by an access path, as a hash key, by
//! the filter of a member, or by a join.

use super::enumerate::Method;
use super::equal::Equal;
use super::group::{Group, Member, Source};
use super::members::Members;
use super::relation::{Nested, request};
use super::{Solution, Tree, TreeDedup, TreeJoin, TreeKey};
use crate::access::{self, AccessPath, Choice, Planned};
use crate::optimize::cells::cell_checks;
use crate::optimize::rewrite::drop_implied;
use crate::optimize::size::is_small;
use crate::optimize::{Leaf, LeafKind, QueryBlock, of_source};
use crate::plan::dedup::{DedupKey, DedupSource};
use crate::plan::json_table::JsonTableSource;
use crate::plan::{
    HashKey, JoinMethod, JoinPlan, JoinType, ReadOrder, RowSource, TableSource, VirtualSource,
};
use inia_expr::compare::hashable;
use inia_expr::{CmpOp, Expr, ExprKind, Needs, SlotSet, slots_of, take_ready};
use std::ops::Range;

/// The plan of a group that is read while the `filled` slots hold values, and the conditions that
/// are left to be checked behind it.
pub(super) fn build(
    group: Group,
    solution: Solution,
    filled: &SlotSet,
    block: &QueryBlock<'_>,
) -> (RowSource, Vec<Expr>) {
    let Solution { tree, conditions, classes, nested, as_mysql, planned, fixed, .. } = solution;
    let slots = group.members.iter().map(|member| member.slots.clone()).collect();
    let ranges = group.members.iter().map(|member| member.range.clone()).collect();
    let members = group.members.into_iter().map(Some).collect();
    let around = filled.clone();
    let (before, path, placed) = (Members::default(), None, Vec::new());
    let mut builder = Builder {
        members,
        slots,
        ranges,
        nested,
        conditions,
        classes,
        around,
        before,
        placed,
        as_mysql,
        planned,
        fixed,
        path,
        block,
    };
    let (source, _) = builder.tree(tree, true);
    (source, builder.conditions)
}

/// What a plan is made of.
///
/// Wide: one field for each part of a group and of its solution.
struct Builder<'b> {
    members: Vec<Option<Member>>,
    /// The slots of each member.
    slots: Vec<SlotSet>,
    ranges: Vec<Range<usize>>,
    nested: Vec<Option<Nested>>,
    /// The conditions that have no place yet.
    conditions: Vec<Expr>,
    classes: Vec<Equal>,
    /// The slots that are filled before the group is read.
    around: SlotSet,
    /// The members whose rows are there while the right side of a semi join is read.
    before: Members,
    /// The members, in the order in which they were placed.
    placed: Vec<usize>,
    /// Small tables are looked up as MySQL looks them up.
    as_mysql: bool,
    /// How members are read; others as it costs least.
    planned: Vec<Planned>,
    /// The slots that hold the same values for all rows.
    fixed: SlotSet,
    /// How a member is read that has no choice.
    path: Option<(usize, AccessPath)>,
    block: &'b QueryBlock<'b>,
}

/// A right side with what a join must check.
struct Right {
    source: RowSource,
    method: JoinMethod,
    on: Vec<Expr>,
}

impl Builder<'_> {
    /// The plan of a tree, and its members; `last` where it is the whole group.
    fn tree(&mut self, tree: Tree, last: bool) -> (RowSource, Members) {
        match tree {
            Tree::Member(number) => (self.first(number, last), Members::one(number)),
            Tree::Dedup(dedup) => self.dedup(*dedup, last),
            Tree::Join(join) => self.join(*join, last),
        }
    }

    /// A tree whose rows come once each.
    fn dedup(&mut self, dedup: TreeDedup, last: bool) -> (RowSource, Members) {
        let TreeDedup { tree, by, strategy, rows, path } = dedup;
        self.path = path;
        let (mut source, members) = self.tree(tree, last);
        let by = match by {
            TreeKey::Values(values) => DedupKey::Values(values),
            TreeKey::RowIds(ids) => {
                let mut slots = Vec::new();
                for member in ids.iter() {
                    let next = self.block.spare.get();
                    let slot = give_row_id(&mut source, self.ranges[member].start, next);
                    self.block.spare.set(next.max(slot + 1));
                    slots.push(slot);
                }
                DedupKey::RowIds(slots)
            }
        };
        (RowSource::Dedup(Box::new(DedupSource { source, by, strategy, rows })), members)
    }

    /// The slots that are filled behind some members.
    fn filled_by(&self, members: Members) -> SlotSet {
        let members = members.union(self.before);
        members.iter().fold(self.around.clone(), |all, member| all.union(&self.slots[member]))
    }

    fn slots_of(&self, members: Members) -> SlotSet {
        let all = members.iter().map(|member| &self.slots[member]);
        all.fold(SlotSet::default(), |all, slots| all.union(slots))
    }

    /// The smallest range that holds the slots of some members.
    fn range_of(&self, members: Members) -> Range<usize> {
        let ranges = members.iter().map(|member| self.ranges[member].clone());
        ranges.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or_default()
    }

    fn take(&mut self, number: usize) -> Member {
        self.placed.push(number);
        self.members[number].take().expect("each member is planned once")
    }

    /// The rows that a derived table which is a side of a join is expected to have.
    fn computed_rows(&self, side: &Tree) -> Option<f64> {
        let Tree::Member(number) = side else { return None };
        match &self.members[*number].as_ref()?.source {
            Source::Leaf(Leaf { kind: LeafKind::Subplan { rows, .. }, .. }) => Some(*rows),
            _ => None,
        }
    }

    /// A member that is read before all others.
    fn first(&mut self, number: usize, last: bool) -> RowSource {
        if !self.before.is_empty() {
            return self.member(number, self.before, (Method::Loop, last)).source;
        }
        let filled = self.filled_by(Members::one(number));
        let mut ready = take_ready(&mut self.conditions, &filled, last);
        drop_implied(&mut ready);
        let member = self.take(number);
        debug_assert_eq!(member.kind, JoinType::Inner, "a left side stands for itself");
        match member.source {
            Source::Leaf(leaf) => {
                let mut choice = self.choice(number, &leaf, &ready, &self.around);
                if let Some((_, path)) = self.path.take_if(|(member, _)| *member == number) {
                    choice = choice.map(|choice| by_path(choice, &leaf, path));
                }
                let (bounds, filter) = bounded(choice.as_ref(), ready);
                leaf_source(leaf, choice, (bounds, filter), self.block)
            }
            Source::Group(group) => {
                let nested = self.solved(number);
                let (source, mut rest) = build(group, nested.looped, &self.around, self.block);
                let inside = |c: &Expr| is_inside(c, &member.slots, &self.around);
                rest.extend(ready.into_iter().filter(|condition| !inside(condition)));
                checked(source, rest)
            }
        }
    }

    fn solved(&mut self, number: usize) -> Nested {
        self.nested[number].take().expect("a group in a group is solved with it")
    }

    fn join(&mut self, join: TreeJoin, last: bool) -> (RowSource, Members) {
        let TreeJoin { left, right, method, rows, nest, fixed, keyed } = join;
        let is_member = matches!(right, Tree::Member(_));
        let computed = [self.computed_rows(&left), self.computed_rows(&right)];
        let (left, lefts) = self.tree(left, false);
        let follows = match right {
            Tree::Member(number) => self.members[number].as_ref().is_some_and(Member::follows),
            Tree::Join(_) | Tree::Dedup(_) => false,
        };
        let (right, rights, kind) = match right {
            Tree::Member(number) => {
                let kind = self.members[number].as_ref().map_or(JoinType::Inner, |m| m.kind);
                (self.member(number, lefts, (method, last)), Members::one(number), kind)
            }
            tree if nest.is_some() && method == Method::Loop => {
                let before = self.before;
                self.before = before.union(lefts);
                let (source, rights) = self.tree(tree, last);
                self.before = before;
                let (method, on) = (JoinMethod::NestedLoop, Vec::new());
                (Right { source, method, on }, rights, JoinType::Inner)
            }
            tree => {
                let before = std::mem::take(&mut self.before);
                let (source, rights) = self.tree(tree, false);
                self.before = before;
                let conditions = self.ready(lefts, rights, last);
                let (method, on) = match method {
                    Method::Loop => (JoinMethod::NestedLoop, conditions),
                    Method::Hash => {
                        let (keys, on) = hash_keys(conditions, &self.slots_of(rights));
                        (JoinMethod::Hash(keys), on)
                    }
                };
                (Right { source, method, on }, rights, JoinType::Inner)
            }
        };
        let kind = nest.map_or(kind, |nest| nest.kind);
        let right_slots = self.range_of(rights);
        let mut joined = JoinPlan {
            kind,
            left,
            right: right.source,
            right_slots,
            on: right.on,
            method: right.method,
            ordered: false,
            right_first: false,
            rows,
            nest: nest.map(|nest| nest.shown),
            keyed,
        };
        if (is_member || fixed) && !keyed {
            let fixed = fixed || follows || lefts.len() > 1;
            build_as_mysql(&mut joined, (self.range_of(lefts), fixed), computed);
        }
        let joined = RowSource::Join(Box::new(joined));
        // What a semi join has read is not there behind it.
        let is_semi = nest.is_some_and(|nest| nest.kind == JoinType::Semi);
        let both = if is_semi { lefts } else { lefts.union(rights) };
        // A subquery's conditions are checked with it.
        if kind == JoinType::Inner || (last && !self.as_mysql) {
            return (joined, both);
        }
        // Conditions on rows that an outer join has completed.
        let filled = self.filled_by(both);
        let ready = take_ready(&mut self.conditions, &filled, false);
        (checked(joined, ready), both)
    }

    /// The conditions that can be checked once both sides are there, with an equality of each class
    /// that has columns on both sides.
    fn ready(&mut self, lefts: Members, rights: Members, last: bool) -> Vec<Expr> {
        let lefts = lefts.union(self.before);
        let filled = self.filled_by(lefts.union(rights));
        let mut ready = take_ready(&mut self.conditions, &filled, last);
        drop_implied(&mut ready);
        for equal in &self.classes {
            // As in MySQL, the column stands for its class whose table is read first.
            let place = |member: usize| self.placed.iter().position(|placed| *placed == member);
            let of = |side: Members| {
                let columns = equal.columns.iter().filter(|column| side.contains(column.member));
                columns.min_by_key(|column| place(column.member))
            };
            let (Some(a), Some(b)) = (of(lefts), of(rights)) else { continue };
            let sides = (self.slots_of(lefts), self.slots_of(rights));
            settle(&mut ready, (equal, equal.between(a, b)), &sides);
        }
        ready
    }

    /// A member as the right side of a join with the members of `lefts`.
    fn member(&mut self, number: usize, lefts: Members, (method, last): (Method, bool)) -> Right {
        let one = Members::one(number);
        let inner = self.members[number].as_ref().is_some_and(|m| m.kind == JoinType::Inner);
        let mut conditions = if inner { self.ready(lefts, one, last) } else { Vec::new() };
        let member = self.take(number);
        conditions.extend(member.on);
        drop_implied(&mut conditions);
        let (before, slots) = (self.filled_by(lefts), member.slots);
        let leaf = match member.source {
            Source::Leaf(leaf) => leaf,
            Source::Group(group) => {
                let nested = self.solved(number);
                let crossing = inner.then(|| {
                    conditions.retain(|c| !is_inside(c, &slots, &self.around));
                    conditions
                });
                return self.nested_group(group, nested, (method, crossing), (&before, &slots));
            }
        };
        if method == Method::Loop {
            // What is read anew for each left row checks all conditions itself.
            let mut choice = self.choice(number, &leaf, &conditions, &before);
            if self.as_mysql {
                choice = choice.map(|choice| by_equal(choice, &leaf, &conditions, &self.around));
            }
            let parts = bounded(choice.as_ref(), conditions);
            let source = leaf_source(leaf, choice, parts, self.block);
            return Right { source, method: JoinMethod::NestedLoop, on: Vec::new() };
        }
        let choice = self.choice(number, &leaf, &conditions, &self.around);
        let (bounds, mut conditions) = bounded(choice.as_ref(), conditions);
        let filter = conditions.extract_if(.., |c| is_inside(c, &slots, &self.around)).collect();
        let source = leaf_source(leaf, choice, (bounds, filter), self.block);
        let (keys, on) = hash_keys(conditions, &slots);
        Right { source, method: JoinMethod::Hash(keys), on }
    }

    /// The access path of a table.
    fn choice(
        &self,
        number: usize,
        leaf: &Leaf,
        conditions: &[Expr],
        filled: &SlotSet,
    ) -> Option<Choice> {
        let LeafKind::Table { table, hinted, .. } = &leaf.kind else { return None };
        let request = request(table, leaf, hinted.as_deref(), self.block);
        let planned = self.planned.get(number).copied().unwrap_or_default();
        let fixed = self.fixed.minus(&self.fixed.minus(filled));
        let fixed = fixed.union(&self.around);
        Some(access::choose_as(&request, planned, conditions, (filled, &fixed)))
    }

    /// A group as the right side of a join. `crossing` are conditions that it has no part in; a
    /// join that is not inner has its own.
    fn nested_group(
        &self,
        group: Group,
        nested: Nested,
        (method, crossing): (Method, Option<Vec<Expr>>),
        (before, slots): (&SlotSet, &SlotSet),
    ) -> Right {
        if let (Method::Hash, Some((once, own))) = (method, nested.once) {
            let (source, rest) = build(group, once, &self.around, self.block);
            let (keys, on) = hash_keys(crossing.unwrap_or(own), slots);
            return Right { source: checked(source, rest), method: JoinMethod::Hash(keys), on };
        }
        let (source, mut rest) = build(group, nested.looped, before, self.block);
        rest.extend(crossing.into_iter().flatten());
        let source = checked(source, rest);
        Right { source, method: JoinMethod::NestedLoop, on: Vec::new() }
    }
}

/// A path without the ranges whose ends are columns of tables before it, which MySQL looks for no
/// rows in.
fn by_equal(choice: Choice, leaf: &Leaf, conditions: &[Expr], around: &SlotSet) -> Choice {
    let LeafKind::Table { table, .. } = &leaf.kind else { return choice };
    let ends = choice.path.intervals.iter().flat_map(|interval| {
        interval.lower.iter().chain(&interval.upper).map(|end| slots_of(&end.value))
    });
    let mut ends = ends.filter(|read| !read.slots.is_subset(around));
    let (false, Some(index), Some(_)) =
        (choice.path.equal.is_empty(), choice.path.index, ends.next())
    else {
        return choice;
    };
    let parts = choice.path.equal.len();
    let rows = table.stats().rows_per_key(index, parts).unwrap_or(choice.rows);
    let states_value = |condition: &Expr| match &condition.kind {
        ExprKind::Compare(compare) => matches!(compare.op, CmpOp::Eq | CmpOp::NullSafeEq),
        ExprKind::In(_) | ExprKind::IsNull(..) => true,
        _ => false,
    };
    let covered = choice.covered.iter().zip(conditions);
    let covered = covered.map(|(covered, condition)| *covered && states_value(condition)).collect();
    let path = AccessPath { intervals: Vec::new(), ..choice.path };
    Choice { path, rows, covered }
}

/// A choice of a path that was made already.
fn by_path(choice: Choice, leaf: &Leaf, path: AccessPath) -> Choice {
    let LeafKind::Table { table, .. } = &leaf.kind else { return choice };
    let covered = vec![false; choice.covered.len()];
    Choice { path, rows: table.rows() as f64, covered }
}

/// Makes the table whose columns begin at a slot give the ids of its rows in another slot, unless
/// it has one for them already; returns the slot.
fn give_row_id(source: &mut RowSource, base: usize, slot: usize) -> usize {
    match source {
        RowSource::Table(table) if table.base == base => *table.row_id.get_or_insert(slot),
        RowSource::Join(join) => {
            let right = give_row_id(&mut join.right, base, slot);
            give_row_id(&mut join.left, base, right)
        }
        RowSource::Dedup(dedup) => give_row_id(&mut dedup.source, base, slot),
        _ => slot,
    }
}

/// Makes a hash join of small tables keep in the hash table what MySQL keeps there: of two
/// members those of the smaller one, unless their order is `fixed`, else those that are joined
/// already. Rows come out in the order of the other side. For so few it costs the same. What MySQL
/// does not join, the rows of a subquery, never gives the order. `computed` has the rows of sides
/// that are derived tables.
fn build_as_mysql(
    join: &mut JoinPlan,
    (left_slots, fixed): (Range<usize>, bool),
    computed: [Option<f64>; 2],
) {
    let JoinMethod::Hash(keys) = &mut join.method else { return };
    let left = computed[0].unwrap_or_else(|| of_source(&join.left));
    let right = computed[1].unwrap_or_else(|| of_source(&join.right));
    if join.kind != JoinType::Inner || !is_small(&join.left) || !is_small(&join.right) {
        return;
    }
    let earlier = left_slots.start < join.right_slots.start;
    let subqueries = (is_unnested(&join.left), is_unnested(&join.right));
    let swaps = match subqueries {
        (true, false) => true,
        (false, true) => false,
        _ => fixed || left < right || (left == right && earlier),
    };
    if swaps {
        keys.iter_mut().for_each(|key| std::mem::swap(&mut key.left, &mut key.right));
        std::mem::swap(&mut join.left, &mut join.right);
        join.right_slots = left_slots;
    }
    join.right_first = subqueries.0 == subqueries.1;
}

/// Whether these are the rows of a subquery in an expression.
fn is_unnested(source: &RowSource) -> bool {
    matches!(source, RowSource::Subplan { unnested: true, .. })
}

/// Leaves one equality of a class between the two sides of a join: all columns of the class are
/// equal on each side. Where they equal a constant none is left.
fn settle(ready: &mut Vec<Expr>, (equal, made): (&Equal, Expr), sides: &(SlotSet, SlotSet)) {
    let (left, right) = sides;
    let wanted = equal.slots_in(&made);
    let mut met = false;
    ready.retain(|condition| {
        let Some((a, b)) = equal.slots_in(condition) else { return true };
        let crosses =
            left.contains(a) && right.contains(b) || left.contains(b) && right.contains(a);
        let is_wanted = wanted == Some((a, b)) || wanted == Some((b, a));
        let needed = !equal.constant && ((is_wanted && !met) || !equal.is_apart());
        met |= crosses && needed;
        !crosses || needed
    });
    if !met && !equal.constant {
        ready.push(made);
    }
}

/// Whether a condition reads one side of a join only, with what is filled around the group.
pub(super) fn is_inside(condition: &Expr, own: &SlotSet, around: &SlotSet) -> bool {
    let needs = slots_of(condition);
    needs.slots.is_subset(&own.union(around)) && needs.slots.intersects(own) && !needs.whole_row
}

/// The rows of a source for which the conditions hold.
fn checked(source: RowSource, on: Vec<Expr>) -> RowSource {
    if on.is_empty() {
        return source;
    }
    RowSource::Join(Box::new(JoinPlan {
        kind: JoinType::Inner,
        left: source,
        right: RowSource::One,
        right_slots: 0..0,
        on,
        method: JoinMethod::NestedLoop,
        ordered: false,
        right_first: false,
        rows: 0.0,
        nest: None,
        keyed: false,
    }))
}

/// The conditions that exact bounds make true, which are evaluated only where the bounds turn out
/// not to be exact, and the others.
fn bounded(choice: Option<&Choice>, conditions: Vec<Expr>) -> (Vec<Expr>, Vec<Expr>) {
    let covered = choice.map_or(&[][..], |choice| &choice.covered);
    let mut covered = covered.iter().copied().chain(std::iter::repeat(false));
    conditions.into_iter().partition(|_| covered.next() == Some(true))
}

/// The equalities that are keys of a hash table over `own` slots, and the other conditions.
fn hash_keys(conditions: Vec<Expr>, own: &SlotSet) -> (Vec<HashKey>, Vec<Expr>) {
    let (mut keys, mut on) = (Vec::new(), Vec::new());
    for condition in conditions {
        match hash_key(condition, own) {
            Ok(key) => keys.push(key),
            Err(condition) => on.push(condition),
        }
    }
    (keys, on)
}

/// An equality between an expression over `own` slots and one over others, as a hash join's key.
fn hash_key(condition: Expr, own: &SlotSet) -> Result<HashKey, Expr> {
    let ExprKind::Compare(compare) = &condition.kind else { return Err(condition) };
    if compare.op != CmpOp::Eq || !hashable(&compare.class, &compare.left.ty, &compare.right.ty) {
        return Err(condition);
    }
    let (left, right) = (slots_of(&compare.left), slots_of(&compare.right));
    if left.whole_row || right.whole_row {
        return Err(condition);
    }
    let is_own = |slots: &SlotSet| slots.is_subset(own) && slots.intersects(own);
    let (l, r) = (left.slots, right.slots);
    let swapped = match (is_own(&l), is_own(&r)) {
        (false, true) if !l.intersects(own) => false,
        (true, false) if !r.intersects(own) => true,
        _ => return Err(condition),
    };
    let ExprKind::Compare(compare) = condition.kind else { return Err(condition) };
    let compare = *compare;
    let (left, right) =
        if swapped { (compare.right, compare.left) } else { (compare.left, compare.right) };
    Ok(HashKey { class: compare.class, left, right })
}

fn leaf_source(
    leaf: Leaf,
    choice: Option<Choice>,
    (bound_filter, filter): (Vec<Expr>, Vec<Expr>),
    block: &QueryBlock<'_>,
) -> RowSource {
    let base = leaf.slots.start;
    let needed: Vec<bool> = leaf.slots.clone().map(|slot| block.needed.contains(slot)).collect();
    match (leaf.kind, choice) {
        (LeafKind::Table { table, lock, hinted }, Some(choice)) => {
            let checks = cell_checks(&filter, &table.def, base);
            let read_order = read_order(&filter, &needed, base, choice.path.point);
            RowSource::Table(Box::new(TableSource {
                table,
                alias: leaf.alias,
                base,
                needed,
                read_order,
                access: choice.path,
                rows: choice.rows,
                filter,
                checks,
                bound_filter,
                lock,
                hinted,
                row_id: None,
                sorted: None,
            }))
        }
        (LeafKind::Subplan { id, level, unnested, .. }, _) => {
            let (width, alias) = (leaf.slots.len(), leaf.alias);
            RowSource::Subplan { id, base, width, level, alias, unnested, filter }
        }
        (LeafKind::Virtual(table), _) => {
            RowSource::Virtual(Box::new(VirtualSource { alias: leaf.alias, base, table, filter }))
        }
        (LeafKind::JsonTable { document, rows }, _) => {
            let alias = leaf.alias;
            RowSource::JsonTable(Box::new(JsonTableSource { alias, base, document, rows, filter }))
        }
        (LeafKind::Table { .. }, None) => RowSource::Nothing,
    }
}

/// The columns that the conditions read come first, except at a single row.
pub(in crate::optimize) fn read_order(
    filter: &[Expr],
    needed: &[bool],
    base: usize,
    point: bool,
) -> ReadOrder {
    let needed = (0..needed.len()).filter(|&column| needed[column]);
    if filter.is_empty() || point {
        return ReadOrder { tested: Vec::new(), rest: needed.collect() };
    }
    let needs: Vec<Needs> = filter.iter().map(slots_of).collect();
    let reads = |slot| needs.iter().any(|needs| needs.whole_row || needs.slots.contains(slot));
    let (tested, rest) = needed.partition(|column| reads(base + column));
    ReadOrder { tested, rest }
}
