//! What is known of each member before any order is chosen: how many rows it has, what reading it
//! once costs, and by which lookups its rows are found from those of other members.

use super::build::is_inside;
use super::cost::{self, LOOKUP};
use super::group::{Group, Member, Source};
use super::members::Members;
use super::{Solution, solve_nested};
use crate::access::{self, AccessPath, Choice};
use crate::catalog::{IndexKind, Table};
use crate::optimize::{Leaf, LeafKind, QueryBlock, UNKNOWN_ROWS};
use crate::plan::JoinType;
use inia_expr::{Expr, SlotSet, slots_of};
use std::sync::Arc;

/// A member as the search sees it.
pub(super) struct Relation {
    /// Rows before its own conditions.
    pub(super) base: f64,
    /// Rows after them.
    pub(super) rows: f64,
    /// What reading it once costs.
    pub(super) scan: f64,
    /// It must be read anew for each row before it.
    pub(super) lateral: bool,
    /// Its rows are locked as they are read.
    pub(super) locked: bool,
    /// How a member that is a group is read.
    pub(super) nested: Option<Nested>,
    /// The members that a condition of an access path may read.
    pub(super) adjacent: Members,
}

/// How a member that is a group is read.
pub(super) struct Nested {
    /// For each row of the members before it.
    pub(super) looped: Solution,
    /// Once, where that can be; and the conditions that are left for the join.
    pub(super) once: Option<(Solution, Vec<Expr>)>,
}

/// What the members of a group are planned with.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) group: &'a Group,
    /// Slots that hold values before the group is read.
    pub(super) filled: &'a SlotSet,
    pub(super) block: &'a QueryBlock<'a>,
}

/// The conditions that bound how a member is read: an inner member's are the group's.
pub(super) fn bounding<'c>(member: &'c Member, conditions: &'c [Expr]) -> &'c [Expr] {
    match member.kind {
        JoinType::Inner => conditions,
        JoinType::Left | JoinType::Semi | JoinType::Anti => &member.on,
    }
}

impl Relation {
    pub(super) fn of(around: Around<'_>, number: usize, conditions: &[Expr]) -> Relation {
        let member = &around.group.members[number];
        let conditions = bounding(member, conditions);
        match &member.source {
            Source::Leaf(leaf) => of_leaf(around, leaf, conditions),
            Source::Group(inner) => of_group(around, (member, inner), conditions),
        }
    }
}

fn of_leaf(around: Around<'_>, leaf: &Leaf, conditions: &[Expr]) -> Relation {
    let own = SlotSet::of_range(leaf.slots.clone());
    let known = own.union(around.filled);
    let mut adjacent = Members::default();
    let mut local = Vec::new();
    for (number, condition) in conditions.iter().enumerate() {
        let needs = slots_of(condition);
        if !needs.slots.intersects(&own) || needs.whole_row {
            continue;
        }
        match needs.slots.is_subset(&known) {
            true => local.push(number),
            false => adjacent = adjacent.union(around.group.members_of(&needs.slots)),
        }
    }
    let (mut base, mut kept, mut scan) = (UNKNOWN_ROWS, UNKNOWN_ROWS, cost::computed(UNKNOWN_ROWS));
    if let LeafKind::Table { table, allowed, .. } = &leaf.kind {
        let request = request(table, leaf, allowed.as_deref(), around.block);
        let choice = access::choose(&request, conditions, around.filled);
        let filters = local.into_iter().filter(|number| !choice.covered[*number]);
        let filters = filters.map(|number| &conditions[number]);
        base = table.rows() as f64;
        kept = choice.rows * access::kept_by_all(filters, table, leaf.slots.start);
        scan = read_cost(table, &choice);
    } else if let LeafKind::Subplan { rows, .. } = &leaf.kind {
        let share: f64 = local.iter().map(|number| guessed_share(&conditions[*number])).product();
        (base, kept, scan) = (*rows, rows * share, cost::computed(*rows));
    }
    Relation {
        base,
        rows: kept,
        scan,
        lateral: leaf.kind.is_lateral(),
        locked: matches!(leaf.kind, LeafKind::Table { lock: Some(_), .. }),
        nested: None,
        adjacent,
    }
}

fn of_group(
    around: Around<'_>,
    (member, inner): (&Member, &Group),
    conditions: &[Expr],
) -> Relation {
    let before = around.filled.union(&around.group.slots_of(member.needs));
    let inside = |condition: &Expr| is_inside(condition, &member.slots, around.filled);
    let (depends, deep) = (member.is_lateral(), inner.depth() > 2);
    let outside = inner.reads_outside(&member.slots.union(around.filled));
    // Conditions of inner joins are those of the outer group; it keeps what is not inside.
    let all: Vec<Expr> = match member.kind {
        JoinType::Inner => conditions.iter().filter(|c| inside(c)).cloned().collect(),
        _ => conditions.to_vec(),
    };
    let once = (!depends && !deep && !outside).then(|| {
        let (own, rest) = all.iter().cloned().partition(&inside);
        (solve_nested(inner, own, around.filled, around.block), rest)
    });
    let looped = solve_nested(inner, all, &before, around.block);
    let (rows, scan) = match &once {
        Some((once, _)) => (once.rows, once.cost),
        None => (looped.rows, looped.cost),
    };
    let adjacent = Members::default();
    let nested = Some(Nested { looped, once });
    Relation { base: rows, rows, scan, lateral: depends, locked: false, nested, adjacent }
}

/// The path by which rows of a table are found while the `filled` slots hold values, and what each
/// use of it costs; `None` where it does not read those slots.
pub(super) fn lookup(
    around: Around<'_>,
    leaf: &Leaf,
    conditions: &[Expr],
    filled: &SlotSet,
) -> Option<f64> {
    let LeafKind::Table { table, allowed, .. } = &leaf.kind else { return None };
    let request = request(table, leaf, allowed.as_deref(), around.block);
    let choice = access::choose(&request, conditions, filled);
    let mut reads = false;
    let own = |slot: &SlotSet| !slot.is_subset(around.filled);
    choice.path.exprs().for_each(|expr| reads |= own(&slots_of(expr).slots));
    reads.then(|| read_cost(table, &choice))
}

/// What it costs to read the rows of a path.
fn read_cost(table: &Table, choice: &Choice) -> f64 {
    path_cost(table, &choice.path, choice.rows)
}

/// What it costs to read so many rows by a path.
pub(in crate::optimize) fn path_cost(table: &Table, path: &AccessPath, rows: f64) -> f64 {
    let kind = path.index.map(|index| table.def.indexes[index].kind);
    let clustered = kind.is_none_or(|kind| kind == IndexKind::Primary);
    LOOKUP + rows * cost::per_row(clustered, path.covering)
}

/// What `choose` is asked for a table.
pub(super) fn request<'r>(
    table: &'r Arc<Table>,
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

/// The share of rows that a condition keeps of columns of which nothing is known.
fn guessed_share(condition: &Expr) -> f64 {
    use inia_expr::{CmpOp, ExprKind};
    match &condition.kind {
        ExprKind::Compare(compare) if compare.op == CmpOp::Eq => 0.1,
        ExprKind::Compare(compare) if compare.op == CmpOp::Ne => 0.9,
        ExprKind::Between(_) | ExprKind::Like(_) => 0.11,
        ExprKind::IsNull(_, true) => 0.9,
        ExprKind::IsNull(_, false) => 0.1,
        _ => 0.33,
    }
}
