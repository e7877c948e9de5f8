//! What is known of each member before any order is chosen: how many rows it has, what reading it
//! once costs, and by which lookups its rows are found from those of other members.

use super::build::is_inside;
use super::cost::{self, LOOKUP};
use super::group::{Group, Member, Source};
use super::members::Members;
use super::{Solution, solve_nested};
use crate::access::{self, AccessPath, Choice, HintedIndexes, MergeRules};
use crate::catalog::{SMALL_TABLE, Table};
use crate::optimize::skip::price;
use crate::optimize::{Leaf, LeafKind, QueryBlock, UNKNOWN_ROWS};
use crate::plan::JoinType;
use inia_base::value::Value;
use inia_expr::{Expr, SlotSet, VarScope, slots_of};
use std::sync::Arc;

/// What a row costs whose columns are all in the column cache, beside one that is read.
const KEPT: f64 = 0.15;
/// What it is taken to cost where a scan will keep them for the next report.
const KEEPING: f64 = 0.3;
/// Plans for smaller tables do not depend on what is in memory.
const LARGE: f64 = 100_000.0;

/// A scan of a table whose hints force an index costs as many times more.
const UNWANTED_SCAN: f64 = 10.0;

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
    /// Where an index finds its rows, they are not read otherwise: they are locked as they are
    /// read, or a hint forces the index.
    pub(super) by_index: bool,
    /// Its rows may go into a hash table.
    pub(super) hashes: bool,
    /// How a member that is a group is read.
    pub(super) nested: Option<Nested>,
    /// The members that a condition of an access path may read.
    pub(super) adjacent: Members,
}

impl Relation {
    /// Whether it is read like a small table.
    pub(super) fn is_small(&self) -> bool {
        self.base < SMALL_TABLE as f64
    }
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
    /// Its tables are small, and read as MySQL reads them.
    pub(super) as_mysql: bool,
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
    if let LeafKind::Table { table, hinted, .. } = &leaf.kind {
        let request = request(table, leaf, hinted.as_deref(), around.block);
        let choice = access::choose(&request, conditions, around.filled);
        let filters = local.into_iter().filter(|number| !choice.covered[*number]);
        let filters = filters.map(|number| &conditions[number]);
        base = table.rows() as f64;
        kept = choice.rows * access::kept_by_all(filters, table, leaf.slots.start);
        scan = read_cost(&request, &choice);
        if choice.path.is_unbounded() && request.allowed.is_some_and(|allowed| allowed.forced) {
            scan *= UNWANTED_SCAN;
        }
    } else if let LeafKind::Subplan { rows, .. } = &leaf.kind {
        let share: f64 = local.iter().map(|number| guessed_share(&conditions[*number])).product();
        (base, kept, scan) = (*rows, rows * share, cost::computed(*rows));
    }
    Relation {
        base,
        rows: kept,
        scan,
        lateral: leaf.kind.is_lateral(),
        by_index: is_by_index(&leaf.kind),
        hashes: leaf.hints.hash.unwrap_or(around.block.hash_joins),
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
        (solve_nested(inner, own, around.filled, around), rest)
    });
    let looped = solve_nested(inner, all, &before, around);
    let (rows, scan) = match &once {
        Some((once, _)) => (once.rows, once.cost),
        None => (looped.rows, looped.cost),
    };
    let adjacent = Members::default();
    let nested = Some(Nested { looped, once });
    let (lateral, hashes) = (depends, hashes(inner, around.block));
    Relation { base: rows, rows, scan, lateral, by_index: false, hashes, nested, adjacent }
}

fn is_by_index(kind: &LeafKind) -> bool {
    let LeafKind::Table { lock, hinted, .. } = kind else { return false };
    let lookup = hinted.as_ref().and_then(|hinted| hinted.lookup.as_ref());
    lock.is_some() || lookup.is_some_and(|lookup| lookup.forced)
}

/// Whether the rows of all members of a group may go into hash tables.
fn hashes(group: &Group, block: &QueryBlock<'_>) -> bool {
    group.members.iter().all(|member| match &member.source {
        Source::Leaf(leaf) => leaf.hints.hash.unwrap_or(block.hash_joins),
        Source::Group(inner) => hashes(inner, block),
    })
}

/// The path by which rows of a table are found while the `filled` slots hold values, and what each
/// use of it costs; `None` where it does not read those slots.
pub(super) fn lookup(
    around: Around<'_>,
    leaf: &Leaf,
    conditions: &[Expr],
    filled: &SlotSet,
) -> Option<f64> {
    let LeafKind::Table { table, hinted, .. } = &leaf.kind else { return None };
    let request = request(table, leaf, hinted.as_deref(), around.block);
    let choice = access::choose(&request, conditions, filled);
    let mut reads = false;
    let own = |slot: &SlotSet| !slot.is_subset(around.filled);
    choice.path.exprs().for_each(|expr| reads |= own(&slots_of(expr).slots));
    reads.then(|| read_cost(&request, &choice))
}

/// What it costs to read the rows of a path.
fn read_cost(request: &access::Request<'_>, choice: &Choice) -> f64 {
    let cost = path_cost(request.table, &choice.path, choice.rows);
    if choice.path.is_unbounded() { cost * request.scan_cost } else { cost }
}

/// What it costs to read so many rows by a path.
pub(crate) fn path_cost(table: &Table, path: &AccessPath, rows: f64) -> f64 {
    if let Some(merge) = path.merge() {
        let entries = merge.entries.iter().sum();
        let begun = LOOKUP * merge.parts.len() as f64;
        return begun
            + cost::read(entries, false, true)
            + cost::read(rows, table.is_small(), false);
    }
    if let Some(skip) = path.skip() {
        return LOOKUP + price(skip, rows);
    }
    let index = path.index.map(|index| &table.def.indexes[index]);
    // Rows of a small table are found by any index as soon as by the clustered one.
    let clustered = table.is_small() || index.is_none_or(|index| index.clustered);
    let disk = match table.share_on_disk() {
        0.0 => 0.0,
        _ if path.covering => 0.0,
        share if path.is_unbounded() => cost::from_disk(share, 0.0, rows),
        share if clustered => cost::from_disk(share, 1.0, rows),
        share => cost::from_disk(share, rows, 0.0),
    };
    LOOKUP + cost::read(rows, clustered, path.covering) + disk
}

/// What `choose` is asked for a table.
pub(super) fn request<'r>(
    table: &'r Arc<Table>,
    leaf: &Leaf,
    hinted: Option<&'r HintedIndexes>,
    block: &'r QueryBlock<'r>,
) -> access::Request<'r> {
    let needed: Vec<bool> = leaf.slots.clone().map(|slot| block.needed.contains(slot)).collect();
    let scan_cost = scan_cost(table, leaf, &needed, block);
    access::Request {
        table,
        base: leaf.slots.start,
        needed,
        allowed: hinted.and_then(|hinted| hinted.lookup.as_ref()),
        hinted,
        measure: Some(block.settings),
        scan_cost,
        extremes: block.extremes,
        merging: MergeRules {
            settings: Some(block.settings),
            hinted: hinted.and_then(|hinted| hinted.merge.as_ref()),
            locks: matches!(leaf.kind, LeafKind::Table { lock: Some(_), .. }),
            limit: limit_of(leaf, block),
        },
    }
}

/// How many rows a LIMIT asks for, where they are those of one table and in no order.
fn limit_of(leaf: &Leaf, block: &QueryBlock<'_>) -> Option<f64> {
    let alone = || block.needed.is_subset(&SlotSet::of_range(leaf.slots.clone()));
    block.limit.filter(|_| !block.sorts && !block.reads_all && alone())
}

/// What a row costs in a scan of the whole table, beside one that is read from its leaf: less
/// where a report finds all columns in the column cache.
fn scan_cost(table: &Table, leaf: &Leaf, needed: &[bool], block: &QueryBlock<'_>) -> f64 {
    let reads = matches!(leaf.kind, LeafKind::Table { lock: None, .. });
    let is_large = table.rows() as f64 >= LARGE;
    if !(reads && is_large && block.reads_all && table.columns.has_any()) {
        return 1.0;
    }
    let columns = needed.iter().enumerate().filter(|(_, needed)| **needed);
    let columns: Vec<usize> = columns.map(|(column, _)| column).collect();
    let rows = table.rows().max(1);
    let share = (table.columns.kept_rows(&columns) as f64 / rows as f64).min(1.0);
    let rest = if table.columns.would_keep(columns.len(), rows) { KEEPING } else { 1.0 };
    let is_off = matches!(
        block.settings.host.sysvar(VarScope::Session, "inia_column_cache"),
        Ok((Value::Text(word), _)) if word == "OFF"
    );
    if is_off { 1.0 } else { share * KEPT + (1.0 - share) * rest }
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
