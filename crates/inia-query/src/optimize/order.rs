//! ORDER BY from an index instead of a sort, MIN and MAX from an index's ends, and COUNT from what
//! a table keeps.
//!
//! A join keeps the order of its leftmost table, so only that table is read in order. A hash join
//! or DISTINCT that spills would lose the order; `ordered` in their plans forbids it. Key parts
//! that equal one value do not affect the order: with an index on `(a, b)` the path `a = 3` yields
//! rows in the order of `b`, then of the primary key, since every entry ends with it.

use super::size;
use crate::access::{
    AccessPath, EqualPart, HintedIndexes, KeyInterval, MergeKind, MergePath, is_covering,
};
use crate::catalog::{IndexDef, IndexKind, IndexPart, Table, TableDef};
use crate::plan::{
    Body, GroupStrategy, IndexExtremum, JoinMethod, JoinType, LimitPlan, QueryPlan, RowSource,
    SelectPlan, SortKey, TableSource,
};
use inia_base::datatype::DataType;
use inia_base::value::Value;
use inia_expr::{Aggregate, Expr, ExprKind};
use inia_parser::ast::AggregateFunc;
use std::sync::Arc;

mod first;
mod limited;

/// Rows that a condition without an index is taken to keep, as one in so many.
const FILTER_KEEPS: u64 = 10;
/// A lookup by a secondary index costs this many rows of a scan.
const LOOKUP_COST: u64 = 3;
/// What a LIMIT that is not known yet is taken to be.
pub(crate) const UNKNOWN_LIMIT: u64 = 100;

/// A column to order by, and whether descending.
pub(crate) type Key = (usize, bool);

/// Drops the query's ORDER BY where an index yields its order. With a LIMIT an index is preferred
/// only for that order where `prefers` says so.
pub(crate) fn order_by_index(query: &mut QueryPlan, prefers: impl FnOnce() -> bool) {
    read_in_order(query, prefers);
    if !query.order.is_empty() {
        first::sort_first(query);
    }
}

fn read_in_order(query: &mut QueryPlan, prefers: impl FnOnce() -> bool) {
    let Body::Select(select) = &mut query.body else { return };
    if select.aggregation.is_some() && select.windows.is_empty() {
        return order_by_groups(query);
    }
    if query.order.is_empty() || !select.windows.is_empty() {
        return;
    }
    if is_ranked(query) {
        return keep_rank(query);
    }
    let Body::Select(select) = &mut query.body else { return };
    let mut keys = Vec::with_capacity(query.order.len());
    for key in &query.order {
        match select.output[key.index].kind {
            ExprKind::Column { index, .. } => keys.push((index, key.descending)),
            _ => return,
        }
    }
    let limit = (!select.distinct && !query.count_found_rows)
        .then(|| rows_wanted(query.limit.as_ref()))
        .flatten()
        .filter(|_| prefers());
    let joined = matches!(select.source, RowSource::Join(_));
    let filtered = !select.filter.is_empty();
    let single = select.source.single_slots();
    if joined {
        keys.retain(|(slot, _)| !single.contains(*slot));
    }
    let fanout = if joined { fanout(&select.source) } else { 1.0 };
    let Some(source) = leftmost(&mut select.source) else { return };
    let Some(keys) = own_columns(&keys, source.base, source.needed.len()) else { return };
    let few = |limit: u64| (limit as f64 / fanout.max(f64::MIN_POSITIVE)).max(1.0) as u64;
    let limit = if source.table.is_small() { limit.map(few) } else { limit };
    let filtered = filtered || !source.filter.is_empty() || joined && !source.table.is_small();
    let hinted = source.hinted.as_deref();
    let wanted = Wanted { keys: &keys, limit, filtered, hinted };
    let (table, needed) = (&source.table, &source.needed);
    if let Some(path) = path_in_order(table, needed, &source.access, wanted) {
        source.access = path;
    } else {
        return;
    }
    query.order.clear();
    select.ordered = true;
    keep_order(&mut select.source);
}

/// Drops the query's ORDER BY where groups of one table come in its order, or can be made to: those
/// of small tables, as MySQL does, and of others where not all groups are wanted.
fn order_by_groups(query: &mut QueryPlan) {
    let all = query.count_found_rows || query.limit.is_none();
    if all && query.order.is_empty() {
        return;
    }
    let Body::Select(select) = &mut query.body else { return };
    let Some((path, come)) = path_of_groups(select, &query.order, all) else { return };
    query.order.clear();
    select.ordered = true;
    if come {
        return;
    }
    select.batches = None;
    if let Some(groups) = &mut select.aggregation {
        groups.strategy = GroupStrategy::InOrder;
    }
    if let Some(source) = first_of_loops(&mut select.source) {
        source.access = path;
    }
    if matches!(select.source, RowSource::Join(_)) {
        keep_order(&mut select.source);
    }
}

/// The path by which groups come in an order, by default that of their columns, and whether they do
/// so already.
fn path_of_groups(select: &SelectPlan, order: &[SortKey], all: bool) -> Option<(AccessPath, bool)> {
    let source = match &select.source {
        RowSource::Table(source) => source,
        joined if size::is_small(joined) => first_of_joins(joined)?,
        _ => return None,
    };
    let groups = select.aggregation.as_ref()?;
    let columns = plain_keys(groups.group.iter().map(|key| (key, false)), source)?;
    let keys = match order {
        [] => columns.clone(),
        order => plain_keys(order.iter().map(|k| (&select.output[k.index], k.descending)), source)?,
    };
    let def = &source.table.def;
    let now = direction(&source.access, def, &keys);
    match &groups.strategy {
        GroupStrategy::InOrder if now == Some(false) => {
            return Some((source.access.clone(), true));
        }
        GroupStrategy::InOrder if source.access.skip().is_some() => return None,
        GroupStrategy::Vectors(vectors) if vectors.in_order && order.is_empty() => return None,
        _ => {}
    }
    let tested = select.having.is_some() || !source.filter.is_empty() || !select.filter.is_empty();
    let few = source.table.is_small() || !all && !tested;
    let apart = source.access.found_by.is_none();
    if groups.rollup || !few || !apart || groups.group.is_empty() {
        return None;
    }
    let mut path = match now {
        Some(backward) => merged(AccessPath { backward, ..source.access.clone() }),
        None if all || matches!(select.source, RowSource::Join(_)) => return None,
        None => {
            let hinted = source.hinted.as_deref();
            let wanted = Wanted { keys: &keys, limit: None, filtered: false, hinted };
            path_in_order(&source.table, &source.needed, &source.access, wanted)?
        }
    };
    // Without ORDER BY groups come as the index has them.
    path.backward &= !order.is_empty();
    let columns: Vec<usize> = columns.into_iter().map(|(column, _)| column).collect();
    let hinted = source.hinted.as_deref();
    let allowed = path.index.is_none_or(|index| HintedIndexes::groups_by(hinted, index));
    (allowed && keeps_together(&path, def, &columns)).then_some((path, false))
}

/// Expressions as columns of a table, where they all are.
fn plain_keys<'e>(
    exprs: impl Iterator<Item = (&'e Expr, bool)>,
    source: &TableSource,
) -> Option<Vec<Key>> {
    let key = |(expr, descending): (&Expr, bool)| match expr.kind {
        ExprKind::Column { index, .. } => Some((index, descending)),
        _ => None,
    };
    let keys = exprs.map(key).collect::<Option<Vec<Key>>>()?;
    own_columns(&keys, source.base, source.needed.len())
}

/// Reads the rows of a small table by the index that has the keys of GROUP BY or DISTINCT in order,
/// as MySQL does: groups come in that order then. In larger tables lookups cost more than groups.
pub(super) fn read_groups_in_order(select: &mut SelectPlan) {
    let keys: Vec<&Expr> = match &select.aggregation {
        Some(aggregation) => aggregation.group.iter().collect(),
        None if select.distinct => select.output.iter().collect(),
        None => return,
    };
    // Different rows of a join are kept in a table.
    if select.aggregation.is_none() && matches!(select.source, RowSource::Join(_)) {
        return;
    }
    let Some(source) = first_of_loops(&mut select.source) else { return };
    if !source.table.is_small() || source.lock.is_some() {
        return;
    }
    let column = |key: &&Expr| match key.kind {
        ExprKind::Column { index, .. } => Some((index, false)),
        _ => None,
    };
    let Some(keys) = keys.iter().map(column).collect::<Option<Vec<Key>>>() else { return };
    let Some(keys) = own_columns(&keys, source.base, source.needed.len()) else { return };
    // So few rows as a LIMIT would ask for, whatever the table has.
    let wanted =
        Wanted { keys: &keys, limit: Some(0), filtered: false, hinted: source.hinted.as_deref() };
    if !keys.is_empty()
        && source.access.is_unbounded()
        && let Some(path) = path_in_order(&source.table, &source.needed, &source.access, wanted)
    {
        source.access = path;
    }
}

/// Whether the path of the only table yields the rows of each group one after the other.
pub(super) fn reads_groups_together(select: &SelectPlan) -> bool {
    let (RowSource::Table(source), Some(groups)) = (&select.source, &select.aggregation) else {
        return false;
    };
    let keys = plain_keys(groups.group.iter().map(|key| (key, false)), source);
    keys.filter(|_| !groups.rollup && !source.access.point).is_some_and(|keys| {
        let columns: Vec<usize> = keys.into_iter().map(|(column, _)| column).collect();
        keeps_together(&source.access, &source.table.def, &columns)
    })
}

/// Whether ORDER BY asks for the relevance of the search by which the leftmost table is read, the
/// greatest first.
fn is_ranked(query: &mut QueryPlan) -> bool {
    let Body::Select(select) = &mut query.body else { return false };
    let [key] = &query.order[..] else { return false };
    let ExprKind::Match(wanted) = &select.output[key.index].kind else { return false };
    let (wanted, descending) = (wanted.id, key.descending);
    let path = leftmost(&mut select.source).and_then(|source| source.access.search());
    descending && path.is_some_and(|path| path.search.id == wanted)
}

/// Drops an ORDER BY by the relevance in whose order the leftmost table is read.
fn keep_rank(query: &mut QueryPlan) {
    query.order.clear();
    if let Body::Select(select) = &mut query.body {
        select.ordered = true;
        keep_order(&mut select.source);
    }
}

/// Makes the joins above the leftmost table keep its order.
fn keep_order(source: &mut RowSource) {
    if let RowSource::Join(join) = source {
        join.ordered = true;
        keep_order(&mut join.left);
    }
}

/// How many rows a LIMIT asks for.
fn rows_wanted(limit: Option<&LimitPlan>) -> Option<u64> {
    let number = |expr: &Expr| match expr.as_literal() {
        Some(Value::Int(n)) => u64::try_from(*n).unwrap_or(UNKNOWN_LIMIT),
        Some(Value::UInt(n)) => *n,
        _ => UNKNOWN_LIMIT,
    };
    let limit = limit?;
    let skipped = limit.offset.as_ref().map_or(0, number);
    Some(number(&limit.count).saturating_add(skipped))
}

/// The first table of nested loops, in whose order their rows come; one of a single row aside.
fn first_of_loops(source: &mut RowSource) -> Option<&mut TableSource> {
    match source {
        RowSource::Table(table) => Some(table),
        RowSource::Join(join) if matches!(join.method, JoinMethod::NestedLoop) => {
            match join.left.is_single() {
                true => first_of_loops(&mut join.right),
                false => first_of_loops(&mut join.left),
            }
        }
        _ => None,
    }
}

/// As [`first_of_loops`].
fn first_of_joins(source: &RowSource) -> Option<&TableSource> {
    match source {
        RowSource::Table(table) => Some(table),
        RowSource::Join(join) if matches!(join.method, JoinMethod::NestedLoop) => {
            match join.left.is_single() {
                true => first_of_joins(&join.right),
                false => first_of_joins(&join.left),
            }
        }
        _ => None,
    }
}

fn leftmost(source: &mut RowSource) -> Option<&mut TableSource> {
    match source {
        RowSource::Table(table) => Some(table),
        RowSource::Join(join) => {
            let loops = matches!(join.method, JoinMethod::NestedLoop) && join.kind.gives_right();
            match loops && join.left.is_single() && !matches!(join.right, RowSource::One) {
                true => leftmost(&mut join.right),
                false => leftmost(&mut join.left),
            }
        }
        _ => None,
    }
}

/// How many rows each row of the first table of a join becomes.
fn fanout(source: &RowSource) -> f64 {
    match source {
        RowSource::Join(join) if join.kind.gives_right() && !join.left.is_single() => {
            let rows = match &join.right {
                RowSource::Table(table) => table.rows,
                _ => 1.0,
            };
            fanout(&join.left) * rows
        }
        RowSource::Join(join) if join.left.is_single() => fanout(&join.right),
        RowSource::Join(join) => fanout(&join.left),
        _ => 1.0,
    }
}

/// The keys as columns of a table with so many of them from slot `base`, where they all are.
pub(super) fn own_columns(keys: &[Key], base: usize, count: usize) -> Option<Vec<Key>> {
    let column = |&(slot, descending): &Key| {
        let column = slot.checked_sub(base)?;
        (column < count).then_some((column, descending))
    };
    keys.iter().map(column).collect()
}

/// The columns that equal one value for all rows of a path.
fn fixed_columns(path: &AccessPath, index: &IndexDef, def: &TableDef) -> Vec<usize> {
    let single = |equal: &EqualPart| !matches!(equal, EqualPart::AnyOf(_));
    let equal = path.skip().map_or(&path.equal, |skip| &skip.groups.equal);
    let parts = (0..).map_while(|at| def.key_part(index, at)).zip(equal);
    let fixed = parts.filter(|(part, equal)| single(equal) && part.prefix.is_none());
    fixed.map(|(part, _)| part.column).collect()
}

/// What entries of an index are ordered by, but for the columns that are fixed.
fn free_parts<'d>(
    index: &'d IndexDef,
    def: &'d TableDef,
    fixed: &[usize],
) -> impl Iterator<Item = &'d IndexPart> {
    let suffix = match (index.kind, def.clustered_index()) {
        (IndexKind::Plain, Some(clustered)) => clustered.parts.as_slice(),
        _ => &[],
    };
    index.parts.iter().chain(suffix).filter(|part| !fixed.contains(&part.column))
}

/// Whether rows of the path that agree on all these columns come one after the other.
pub(crate) fn keeps_together(path: &AccessPath, def: &TableDef, columns: &[usize]) -> bool {
    if path.point {
        return true;
    }
    let Some(index) = path.index.map(|index| &def.indexes[index]) else { return false };
    if def.partitioning.is_some() || path.merge().is_some() {
        return false;
    }
    let fixed = fixed_columns(path, index, def);
    let mut left: Vec<usize> =
        columns.iter().copied().filter(|column| !fixed.contains(column)).collect();
    for part in free_parts(index, def, &fixed) {
        if left.is_empty() {
            return true;
        }
        if part.prefix.is_some() || !left.contains(&part.column) {
            return false;
        }
        left.retain(|column| *column != part.column);
    }
    left.is_empty() || ends_with_one_row(index, def)
}

/// Whether the path yields rows in the order of `keys`: read forward (`false`) or backward.
fn direction(path: &AccessPath, def: &TableDef, keys: &[Key]) -> Option<bool> {
    if path.point {
        return Some(false);
    }
    if path.search().is_some() || path.merge().is_some_and(|m| m.kind == MergeKind::SortUnion) {
        return None;
    }
    let index = &def.indexes[path.index?];
    if !index.kind.has_keys() {
        return None;
    }
    let fixed = fixed_columns(path, index, def);
    let is_fixed = |column: usize| fixed.contains(&column);
    let mut parts = free_parts(index, def, &fixed);
    let mut backward = None;
    let mut read = Vec::new();
    for &(column, descending) in keys {
        if is_fixed(column) || read.contains(&column) {
            continue;
        }
        let Some(part) = parts.next() else {
            return ends_with_one_row(index, def).then(|| backward.unwrap_or(false));
        };
        let against = descending != part.descending;
        if part.column != column
            || part.prefix.is_some()
            || *backward.get_or_insert(against) != against
        {
            return None;
        }
        read.push(column);
    }
    Some(backward.unwrap_or(false))
}

/// Whether rows that agree on all parts of the index are one row; children of a merged table may
/// each have one.
fn ends_with_one_row(index: &IndexDef, def: &TableDef) -> bool {
    let no_nulls = index.parts.iter().all(|part| !def.columns[part.column].nullable);
    (index.unique() && no_nulls && !def.is_merged())
        || (index.kind == IndexKind::Plain && def.clustered_index().is_some())
}

/// In which order rows are wanted, and how many.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'k> {
    /// The columns to order by.
    pub(crate) keys: &'k [Key],
    /// What LIMIT asks for.
    pub(crate) limit: Option<u64>,
    /// Conditions will drop some of the rows.
    pub(crate) filtered: bool,
    /// What hints leave of the table's indexes.
    pub(crate) hinted: Option<&'k HintedIndexes>,
}

/// A path that yields rows in the wanted order: the present one where it does, else one over a
/// whole index that costs less than sorting, where the present one reads everything anyway.
pub(crate) fn path_in_order(
    table: &Table,
    needed: &[bool],
    present: &AccessPath,
    wanted: Wanted<'_>,
) -> Option<AccessPath> {
    let def = &table.def;
    let may = |index| HintedIndexes::orders_by(wanted.hinted, index);
    if (present.point || present.index.is_none_or(may))
        && let Some(backward) = direction(present, def, wanted.keys)
        && !(backward && (present.merge().is_some() || present.skip().is_some()))
    {
        return Some(merged(AccessPath { backward, ..present.clone() }));
    }
    let few = |merge| looks_few_up(table, merge, wanted.limit);
    if !present.is_unbounded() && present.merge().is_none_or(few) {
        return equal_in_order(table, needed, present, wanted);
    }
    let keeps = if wanted.filtered { FILTER_KEEPS } else { 1 };
    let scope = wanted.hinted.and_then(|hinted| hinted.order.as_ref());
    let forced = scope.is_some_and(|scope| scope.forced);
    let read = wanted.limit.map(|limit| limit.saturating_mul(keeps).saturating_mul(LOOKUP_COST));
    for (position, index) in def.indexes.iter().enumerate() {
        let kept_in_order = index.kind.has_keys();
        if !HintedIndexes::shows(wanted.hinted, index) || !kept_in_order || !may(position) {
            continue;
        }
        let primary = index.clustered;
        let covering = is_covering(table, needed, position);
        let mut path = AccessPath::all(true);
        path.index = Some(position);
        path.covering = covering;
        let pays = match table.is_small() {
            true => wanted.limit.is_some_and(|limit| limited::pays(table, position, limit, wanted)),
            false => read.is_some_and(|rows| rows < table.rows()),
        };
        let worth = primary || covering || forced || pays;
        if worth && let Some(backward) = direction(&path, def, wanted.keys) {
            path.backward = backward;
            path.partitions.clone_from(&present.partitions);
            return Some(merged(path));
        }
    }
    None
}

/// Whether a merge looks fewer rows up than are read in order until a LIMIT is reached.
fn looks_few_up(table: &Table, merge: &MergePath, limit: Option<u64>) -> bool {
    let share = merge.rows / (table.rows() as f64).max(1.0);
    limit.is_none_or(|limit| merge.rows * LOOKUP_COST as f64 <= limit as f64 / share)
}

/// A path by another index whose first parts are the columns that the present path has values for,
/// and whose next parts yield the wanted order: `KEY (user, created)` beside `KEY (user)`.
fn equal_in_order(
    table: &Table,
    needed: &[bool],
    present: &AccessPath,
    wanted: Wanted<'_>,
) -> Option<AccessPath> {
    let def = &table.def;
    let own = &def.indexes[present.index?];
    let single = |part: &EqualPart| !matches!(part, EqualPart::AnyOf(_));
    let whole = own.parts.iter().take(present.equal.len()).all(|part| part.prefix.is_none());
    if !present.intervals.is_empty() || present.found_by.is_some() || !whole {
        return None;
    }
    let value = |column: usize| {
        let mut parts = own.parts.iter().zip(&present.equal);
        parts.find(|(part, equal)| part.column == column && single(equal)).map(|(_, equal)| equal)
    };
    let serves = |position: usize| {
        let index = &def.indexes[position];
        let orders = matches!(index.kind, IndexKind::Unique | IndexKind::Plain);
        let scope = wanted.hinted.and_then(|hinted| hinted.lookup.as_ref());
        HintedIndexes::shows(wanted.hinted, index)
            && orders
            && HintedIndexes::orders_by(wanted.hinted, position)
            && scope.is_none_or(|scope| scope.usable.contains(&position))
    };
    (0..def.indexes.len()).filter(|position| serves(*position)).find_map(|position| {
        let parts = def.indexes[position].parts.get(..present.equal.len())?;
        let equal = parts.iter().map(|part| match part.prefix {
            None => value(part.column).cloned(),
            Some(_) => None,
        });
        let equal = equal.collect::<Option<Vec<EqualPart>>>()?;
        let covering = is_covering(table, needed, position);
        if present.covering && !covering {
            return None;
        }
        let path = AccessPath { index: Some(position), equal, covering, ..present.clone() };
        let backward = direction(&path, def, wanted.keys)?;
        Some(merged(AccessPath { backward, ..path }))
    })
}

/// A path whose partitions, where there are some, are read together in the index's order.
fn merged(mut path: AccessPath) -> AccessPath {
    if let Some(partitions) = &mut path.partitions {
        partitions.ordered = true;
    }
    path
}

/// Where each MIN and MAX of a SELECT without GROUP BY is found at an end of an index, and each
/// COUNT is a number of rows that tables keep.
pub(super) fn index_extrema(select: &SelectPlan) -> Option<Vec<IndexExtremum>> {
    let aggregation = select.aggregation.as_ref()?;
    if !aggregation.group.is_empty() || !select.filter.is_empty() {
        return None;
    }
    let lookup = |call: &Aggregate| {
        let greatest = match call.func {
            AggregateFunc::Min => false,
            AggregateFunc::Max => true,
            AggregateFunc::Count | AggregateFunc::CountStar => {
                let mut tables = Vec::new();
                let kept = counts_rows(call) && select.having.is_none();
                return (kept && all_rows(&select.source, &mut tables))
                    .then_some(IndexExtremum::Rows(tables));
            }
            _ => return None,
        };
        let RowSource::Table(source) = &select.source else { return None };
        if !source.filter.is_empty() || source.lock.is_some() {
            return None;
        }
        let ExprKind::Column { index: slot, .. } = call.args.first()?.kind else { return None };
        index_extremum(source, slot.checked_sub(source.base)?, greatest)
    };
    let lookups: Vec<_> = aggregation.calls.iter().map(lookup).collect::<Option<_>>()?;
    (!lookups.is_empty()).then_some(lookups)
}

/// Whether the call is the number of rows.
fn counts_rows(call: &Aggregate) -> bool {
    let there = |arg: &Expr| {
        let plain = matches!(arg.kind, ExprKind::Column { .. } | ExprKind::Literal(_));
        plain && !arg.ty.nullable
    };
    !call.distinct && call.args.iter().all(there)
}

/// Whether the source is all rows of tables that keep their number; which ones.
fn all_rows(source: &RowSource, tables: &mut Vec<Arc<Table>>) -> bool {
    match source {
        RowSource::Table(source) => {
            tables.push(source.table.clone());
            let bounded = !source.access.is_unbounded();
            let whole = source.filter.is_empty() && source.bound_filter.is_empty() && !bounded;
            whole && source.lock.is_none() && !source.table.def.is_transactional()
        }
        RowSource::Join(join) => {
            let pairs = match &join.method {
                JoinMethod::NestedLoop => true,
                JoinMethod::Hash(keys) => keys.is_empty(),
            };
            let all = pairs && join.on.is_empty() && join.kind == JoinType::Inner;
            all && all_rows(&join.left, tables) && all_rows(&join.right, tables)
        }
        _ => false,
    }
}

fn index_extremum(source: &TableSource, column: usize, greatest: bool) -> Option<IndexExtremum> {
    use DataType::{Enum, Json, Set};
    let def = &source.table.def;
    if matches!(def.columns[column].data_type, Enum { .. } | Set { .. } | Json) {
        return None;
    }
    let present = &source.access;
    if present.found_by.is_some() {
        return None;
    }
    let bounded = !present.equal.is_empty() || !present.intervals.is_empty();
    let candidates = match present.index.filter(|_| bounded) {
        Some(index) => index..index + 1,
        None => 0..def.indexes.len(),
    };
    for position in candidates {
        let index = &def.indexes[position];
        let single = present.equal.iter().all(|part| !matches!(part, EqualPart::AnyOf(_)));
        let leads = def.key_part(index, present.equal.len());
        let Some(part) = leads.filter(|part| part.column == column && part.prefix.is_none()) else {
            continue;
        };
        if !single
            || !HintedIndexes::shows(source.hinted.as_deref(), index)
            || !HintedIndexes::finds_by(source.hinted.as_deref(), position)
            || !index.kind.has_keys()
        {
            continue;
        }
        let mut path = present.clone();
        path.intervals.retain(|interval| !interval.null);
        if path.intervals.is_empty() && !present.intervals.is_empty() {
            continue;
        }
        path.index = Some(position);
        path.covering = !index.clustered;
        path.backward = greatest != part.descending;
        if path.intervals.is_empty() {
            // Any value but NULL.
            path.intervals.push(KeyInterval::default());
        }
        return Some(IndexExtremum::First { path: merged(path), column });
    }
    None
}
