//! Orders the members of a group of inner joins and joins them.
//!
//! Semi and anti joins at the top of a group filter it: each is joined as soon as the slots that it
//! reads are filled, whatever members come after it.

use super::cells::cell_checks;
use super::rewrite::drop_implied;
use super::{FromTree, Leaf, LeafKind, QueryBlock};
use crate::access::{self, Choice};
use crate::plan::json_table::JsonTableSource;
use crate::plan::{
    HashKey, JoinMethod, JoinPlan, JoinType, ReadOrder, RowSource, TableSource, VirtualSource,
};
use inia_expr::compare::hashable;
use inia_expr::take_ready;
use inia_expr::{CmpOp, Expr, ExprKind};
use inia_expr::{Needs, SlotSet, slots_of};

/// Rows that a subplan or a computed table is taken to have.
const UNKNOWN_ROWS: f64 = 100.0;
/// Fewer lookups than this are always made one by one.
pub(super) const MANY_LOOKUPS: f64 = 1000.0;
/// A lookup costs as much as reading this many rows in sequence into a hash table.
pub(super) const ROWS_FOR_LOOKUP: f64 = 2.0;
/// The share of rows that a semi or an anti join is taken to keep.
const MATCHED: f64 = 0.5;

/// Plans a tree whose rows are read while the `filled` slots hold values. Takes the conditions it
/// has placed out of `conditions`.
pub(super) fn plan(
    tree: FromTree,
    conditions: &mut Vec<Expr>,
    filled: &SlotSet,
    block: &QueryBlock<'_>,
) -> RowSource {
    let mut group = Group { members: Vec::new(), filters: Vec::new(), straight: block.straight };
    flatten(tree, &mut group, conditions);
    let mut filled = filled.clone();
    let mut source: Option<RowSource> = None;
    while !group.members.is_empty() {
        let next = group.pick(conditions, &filled, block);
        let member = group.members.remove(next);
        let slots = member.slots();
        let left_filled = filled.clone();
        filled = filled.union(&slots);
        let last = group.members.is_empty();
        let mut ready = take_ready(conditions, &filled, last);
        drop_implied(&mut ready);
        let right = Right { tree: member, conditions: ready };
        let mut joined = attach(source, JoinType::Inner, right, &left_filled, block);
        for filter in group.ready_filters(&filled) {
            let right = Right { tree: filter.right, conditions: filter.on };
            joined = attach(Some(joined), filter.kind, right, &filled, block);
        }
        source = Some(joined);
    }
    debug_assert!(group.filters.is_empty(), "each join reads slots of the group");
    source.unwrap_or(RowSource::One)
}

/// The members of a group, in the order of FROM.
struct Group {
    members: Vec<FromTree>,
    /// Semi and anti joins with the joined members.
    filters: Vec<FromFilter>,
    straight: bool,
}

/// The right side of a semi or an anti join with the members of a group.
struct FromFilter {
    kind: JoinType,
    right: FromTree,
    on: Vec<Expr>,
}

impl FromFilter {
    /// Whether what it reads of the group is in `filled`; all that it reads is where no member is
    /// `left`.
    fn is_ready(&self, filled: &SlotSet, left: bool) -> bool {
        let known = filled.union(&SlotSet::of_range(self.right.slot_range()));
        let mut ready = true;
        let mut check = |condition: &Expr| {
            let needs = slots_of(condition);
            ready &= !left || (!needs.whole_row && needs.slots.is_subset(&known));
        };
        self.on.iter().for_each(&mut check);
        self.right.for_each_expr(&mut check);
        ready
    }
}

fn flatten(tree: FromTree, group: &mut Group, conditions: &mut Vec<Expr>) {
    match tree {
        FromTree::Join(join) if join.kind == JoinType::Inner => {
            group.straight |= join.straight;
            flatten(join.left, group, conditions);
            flatten(join.right, group, conditions);
            conditions.extend(join.on);
        }
        FromTree::Join(join) if !join.kind.gives_right() => {
            flatten(join.left, group, conditions);
            group.filters.push(FromFilter { kind: join.kind, right: join.right, on: join.on });
        }
        member => group.members.push(member),
    }
}

impl Group {
    /// Takes the filters out that can be joined while the `filled` slots hold values.
    fn ready_filters(&mut self, filled: &SlotSet) -> Vec<FromFilter> {
        let left = !self.members.is_empty();
        self.filters.extract_if(.., |filter| filter.is_ready(filled, left)).collect()
    }

    /// The member to read next: the one that is expected to be least work, the earlier on a tie.
    fn pick(&self, conditions: &[Expr], filled: &SlotSet, block: &QueryBlock<'_>) -> usize {
        // What is left alone is not compared with anything, so nothing is asked about it.
        if self.straight || self.members.len() == 1 {
            return 0;
        }
        let mut best = (0, f64::INFINITY);
        for (index, member) in self.members.iter().enumerate() {
            if index > 0 && reads_earlier_members(member) {
                continue;
            }
            let work = expected_work(member, conditions, filled, block);
            if work < best.1 {
                best = (index, work);
            }
        }
        best.0
    }
}

/// Whether a member is LATERAL, so that all members before it must be read first.
fn reads_earlier_members(tree: &FromTree) -> bool {
    match tree {
        FromTree::Leaf(leaf) => leaf.kind.is_lateral(),
        FromTree::Join(join) => {
            reads_earlier_members(&join.left) || reads_earlier_members(&join.right)
        }
    }
}

/// The rows that are expected to be read of a member, with the `filled` slots known, and those of
/// them that are left for the members after it, as one sum.
fn expected_work(
    tree: &FromTree,
    conditions: &[Expr],
    filled: &SlotSet,
    block: &QueryBlock<'_>,
) -> f64 {
    let leaf = match tree {
        FromTree::Leaf(leaf) => leaf,
        FromTree::Join(join) => return expected_work(&join.left, conditions, filled, block),
    };
    let LeafKind::Table { table, allowed, .. } = &leaf.kind else { return 2.0 * UNKNOWN_ROWS };
    let request = request(table, leaf, allowed.as_deref(), block);
    let choice = access::choose(&request, conditions, filled);
    let own = SlotSet::of_range(leaf.slots.clone());
    let known = filled.union(&own);
    let mut covered = choice.covered.iter().copied().chain(std::iter::repeat(false));
    let checked = conditions.iter().filter(|condition| {
        let needs = slots_of(condition);
        let checked = needs.slots.intersects(&own) && needs.slots.is_subset(&known);
        covered.next() == Some(false) && checked && !needs.whole_row
    });
    choice.rows * (1.0 + access::kept_by_all(checked, table, leaf.slots.start))
}

fn request<'r>(
    table: &'r std::sync::Arc<crate::catalog::Table>,
    leaf: &Leaf,
    allowed: Option<&'r [usize]>,
    block: &'r QueryBlock<'r>,
) -> access::Request<'r> {
    access::Request {
        table,
        base: leaf.slots.start,
        needed: leaf.slots.clone().map(|slot| block.needed.contains(slot)).collect(),
        allowed,
        measure: Some(block.settings),
    }
}

/// The right side of a join with the conditions that can be checked once it is read.
struct Right {
    tree: FromTree,
    conditions: Vec<Expr>,
}

/// Joins `right` to what has been planned so far.
fn attach(
    left: Option<RowSource>,
    kind: JoinType,
    right: Right,
    filled: &SlotSet,
    block: &QueryBlock<'_>,
) -> RowSource {
    let right_slots = right.tree.slot_range();
    let (source, on, method) = match right.tree {
        FromTree::Leaf(leaf) => {
            let left = left.as_ref().map(|left| (left, kind));
            attach_leaf(leaf, right.conditions, filled, block, left)
        }
        tree if !kind.gives_right() => {
            super::semi::right_side(tree, right.conditions, filled, block, left.as_ref())
        }
        FromTree::Join(join) if join.kind == JoinType::Left => {
            let mut conditions = right.conditions;
            let source = plan_outer(*join, &mut conditions, filled, block);
            (source, conditions, JoinMethod::NestedLoop)
        }
        tree => {
            let mut conditions = right.conditions;
            let source = plan(tree, &mut conditions, filled, block);
            (source, conditions, JoinMethod::NestedLoop)
        }
    };
    let left = match left {
        None if on.is_empty() => return source,
        None => RowSource::One,
        Some(left) => left,
    };
    let right = source;
    let ordered = false;
    RowSource::Join(Box::new(JoinPlan { kind, left, right, right_slots, on, method, ordered }))
}

/// A left join as a member of a group.
fn plan_outer(
    join: super::FromJoin,
    conditions: &mut Vec<Expr>,
    filled: &SlotSet,
    block: &QueryBlock<'_>,
) -> RowSource {
    let left_filled = filled.union(&join.left.slots());
    let mut left_conditions = take_ready(conditions, &left_filled, false);
    let left = plan(join.left, &mut left_conditions, filled, block);
    conditions.extend(left_conditions);
    let mut on = join.on;
    drop_implied(&mut on);
    let right = Right { tree: join.right, conditions: on };
    attach(Some(left), JoinType::Left, right, &left_filled, block)
}

/// Plans one member: its source, what the join must check, and the join's method.
fn attach_leaf(
    leaf: Leaf,
    conditions: Vec<Expr>,
    filled: &SlotSet,
    block: &QueryBlock<'_>,
    left: Option<(&RowSource, JoinType)>,
) -> (RowSource, Vec<Expr>, JoinMethod) {
    let own = SlotSet::of_range(leaf.slots.clone());
    let mut choice = match &leaf.kind {
        LeafKind::Table { table, allowed, .. } => Some(access::choose(
            &request(table, &leaf, allowed.as_deref(), block),
            &conditions,
            filled,
        )),
        LeafKind::Subplan { .. } | LeafKind::Virtual(_) | LeafKind::JsonTable { .. } => None,
    };
    // Many lookups may cost more than reading the member once for a hash join.
    if let Some(left) = left
        && let Some(whole) = read_once(&leaf, &conditions, choice.as_ref(), left, block)
    {
        choice = Some(whole);
    }
    let looks_up = choice.as_ref().is_some_and(|choice| choice.reads_row) || leaf.kind.is_lateral();
    // Conditions that exact bounds make true are kept apart: they are evaluated only where the
    // bounds turn out not to be exact.
    let covered = choice.as_ref().map_or(Vec::new(), |choice| choice.covered.clone());
    let mut covered = covered.into_iter().chain(std::iter::repeat(false));
    let (bound_filter, conditions): (Vec<Expr>, Vec<Expr>) =
        conditions.into_iter().partition(|_| covered.next() == Some(true));
    // A member that is read anew for each left row checks all conditions itself.
    if looks_up || left.is_none() {
        let source = leaf_source(leaf, choice, bound_filter, conditions, block);
        return (source, Vec::new(), JoinMethod::NestedLoop);
    }
    // Any other member has the same rows for every left row. Its own conditions filter them,
    // equalities with members before it become hash keys, and the join checks the rest.
    let mut keys = Vec::new();
    let (mut filter, mut on) = (Vec::new(), Vec::new());
    for condition in conditions {
        let needs = slots_of(&condition);
        if needs.slots.is_subset(&own) && !needs.whole_row {
            filter.push(condition);
        } else {
            match hash_key(condition, &own) {
                Ok(key) => keys.push(key),
                Err(condition) => on.push(condition),
            }
        }
    }
    let method = if keys.is_empty() { JoinMethod::NestedLoop } else { JoinMethod::Hash(keys) };
    (leaf_source(leaf, choice, bound_filter, filter, block), on, method)
}

/// The path that reads a table once for a hash join, where that is less work than to look its rows
/// up for each row of `left`. Locking reads look up: they lock no more than they must.
fn read_once(
    leaf: &Leaf,
    conditions: &[Expr],
    lookups: Option<&Choice>,
    (left, kind): (&RowSource, JoinType),
    block: &QueryBlock<'_>,
) -> Option<Choice> {
    let LeafKind::Table { table, lock: None, allowed } = &leaf.kind else { return None };
    let left_rows = rows_of(left);
    let many = left_rows >= MANY_LOOKUPS && lookups.is_some_and(|choice| choice.reads_row);
    // A semi join is taken to be asked for all its rows: the query that it stands for was.
    if (!block.reads_all && kind.gives_right()) || !many {
        return None;
    }
    let own = SlotSet::of_range(leaf.slots.clone());
    if !conditions.iter().any(|condition| hash_key(condition.clone(), &own).is_ok()) {
        return None;
    }
    let request = request(table, leaf, allowed.as_deref(), block);
    let whole = access::choose(&request, conditions, &SlotSet::default());
    (whole.rows <= left_rows * ROWS_FOR_LOOKUP).then_some(whole)
}

/// The rows that a source is expected to yield.
pub(super) fn rows_of(source: &RowSource) -> f64 {
    match source {
        RowSource::One => 1.0,
        RowSource::Nothing => 0.0,
        RowSource::Table(source) => {
            source.rows * access::kept_by_all(&source.filter, &source.table, source.base)
        }
        RowSource::Subplan { .. } | RowSource::Virtual(_) | RowSource::JsonTable(_) => UNKNOWN_ROWS,
        RowSource::Join(join) => match (&join.method, &join.right) {
            _ if !join.kind.gives_right() => rows_of(&join.left) * MATCHED,
            (JoinMethod::NestedLoop, right) => rows_of(&join.left) * rows_of(right),
            (JoinMethod::Hash(_), _) => rows_of(&join.left),
        },
    }
}

/// An equality between an expression over `own` slots and one over others, as a hash join's key.
pub(super) fn hash_key(condition: Expr, own: &SlotSet) -> Result<HashKey, Expr> {
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
    bound_filter: Vec<Expr>,
    filter: Vec<Expr>,
    block: &QueryBlock<'_>,
) -> RowSource {
    let base = leaf.slots.start;
    let needed: Vec<bool> = leaf.slots.clone().map(|slot| block.needed.contains(slot)).collect();
    match (leaf.kind, choice) {
        (LeafKind::Table { table, lock, .. }, Some(choice)) => {
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
            }))
        }
        (LeafKind::Subplan { id, level, .. }, _) => {
            RowSource::Subplan { id, base, level, alias: leaf.alias, filter }
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
fn read_order(filter: &[Expr], needed: &[bool], base: usize, point: bool) -> ReadOrder {
    let needed = (0..needed.len()).filter(|&column| needed[column]);
    if filter.is_empty() || point {
        return ReadOrder { tested: Vec::new(), rest: needed.collect() };
    }
    let needs: Vec<Needs> = filter.iter().map(slots_of).collect();
    let reads = |slot| needs.iter().any(|needs| needs.whole_row || needs.slots.contains(slot));
    let (tested, rest) = needed.partition(|column| reads(base + column));
    ReadOrder { tested, rest }
}
