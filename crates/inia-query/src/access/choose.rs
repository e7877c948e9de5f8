//! Picks an access path from the conditions on a table.

use super::bounds::{self, KeyRange};
use super::elements::Sought;
use super::merge::{self, MergeRules};
use super::partitions::{self, leaves_of_constants};
use super::search::FOUND_SHARE;
use super::selectivity::interval_share;
use super::small;
use super::spatial;
use super::tuples::index_path;
use super::{AccessPath, End, EqualPart, HintedIndexes, IndexScope, KeyInterval};
use crate::catalog::{IndexDef, IndexKind, IndexPart, SMALL_TABLE, Table};
use inia_base::datatype::DataType;
use inia_base::value::Value;
use inia_expr::compare::{CmpClass, natural_class};
use inia_expr::tree::{Between, Compare, Like};
use inia_expr::{CmpOp, EvalContext, Expr, ExprKind, ExprType, NoSubqueries, TypeClass};
use inia_expr::{Environment, SessionHost};
use inia_expr::{SlotSet, slots_of};
use std::sync::Arc;

/// The part of the rows that an equality on a key part keeps, where nothing is known of the keys.
const EQUAL_SHARE: f64 = 0.01;
/// The part that an interval with one or two ends keeps.
const HALF_OPEN_SHARE: f64 = 0.33;
const CLOSED_SHARE: f64 = 0.05;
/// Reading a row by a secondary index costs this many sequential rows.
pub(super) const LOOKUP_COST: f64 = 8.0;

/// A row by a secondary index whose page is on the disk costs so many sequential rows in memory,
/// and a sequential one.
const LOOKUP_ON_DISK: f64 = 1_000.0;
const ROW_ON_DISK: f64 = 2.0;

/// Reading an entry of a secondary index that has all that is read.
pub(super) const ENTRY_COST: f64 = 0.9;

/// The most keys that are made of the columns of a list of rows, and the most values of one column
/// that are compared with one another.
const MAX_ROW_KEYS: usize = 256;

/// A path with bounds may cost so much more than a scan of the whole table.
const SLACK: f64 = 1.0;

/// More ranges than this are not measured one by one.
const MAX_MEASURED: usize = 16;

/// What constants are evaluated with while a plan is made.
#[derive(Clone, Copy)]
pub(crate) struct EvalSettings<'c> {
    /// The session's settings.
    pub(crate) env: &'c Environment,
    /// The session's variables.
    pub(crate) host: &'c dyn SessionHost,
}

/// The table that a path is chosen for, and what is read of it.
pub(crate) struct Request<'r> {
    /// The table.
    pub(crate) table: &'r Arc<Table>,
    /// Its first slot.
    pub(crate) base: usize,
    /// Which columns are read.
    pub(crate) needed: Vec<bool>,
    /// Indexes that hints leave; `None` for all.
    pub(crate) allowed: Option<&'r IndexScope>,
    /// What hints say.
    pub(crate) hinted: Option<&'r HintedIndexes>,
    /// Where ranges of constants can be measured.
    pub(crate) measure: Option<EvalSettings<'r>>,
    /// What a row costs in a scan of the whole table, beside one that is read from its leaf.
    pub(crate) scan_cost: f64,
    /// MIN and MAX are wanted, which the ends of a range give.
    pub(crate) extremes: bool,
    /// Whether several indexes may be merged.
    pub(crate) merging: MergeRules<'r>,
}

/// A path with what it is expected to cost.
pub(crate) struct Choice {
    /// The path.
    pub(crate) path: AccessPath,
    /// Rows it is expected to yield.
    pub(crate) rows: f64,
    /// For each condition, whether the path alone makes it true, where its bounds turn out exact.
    pub(crate) covered: Vec<bool>,
}

/// A path and the conditions it stands for.
pub(super) struct Candidate {
    pub(super) path: AccessPath,
    pub(super) covered: Vec<usize>,
}

/// The rows of the partitions that a path reads; of the whole table where constants leave none out.
fn rows_of_partitions(request: &Request<'_>, path: &AccessPath) -> f64 {
    let table = request.table;
    let total = table.rows() as f64;
    let (Some(partitions), Some(settings)) = (&table.partitions, request.measure) else {
        return total;
    };
    let all = partitions.leaves().len().max(1);
    let read = leaves_of_constants(table, path, settings.env, settings.host).len();
    (total * read as f64 / all as f64).max(1.0)
}

impl Request<'_> {
    /// Whether an index may find rows: invisible ones serve no query, as in MySQL; hints leave
    /// only some of the others.
    pub(super) fn serves(&self, position: usize) -> bool {
        let index = &self.table.def.indexes[position];
        let orders = match index.kind {
            IndexKind::FullText => false,
            IndexKind::Spatial => spatial::is_usable(self.table, position),
            _ => true,
        };
        HintedIndexes::shows(self.hinted, index)
            && orders
            && self.allowed.is_none_or(|allowed| allowed.usable.contains(&position))
    }
}

/// The path of the whole table, and the rows of the partitions that are read.
pub(super) fn whole_path(
    request: &Request<'_>,
    conditions: &[Expr],
    filled: &SlotSet,
) -> (AccessPath, f64) {
    let table = request.table;
    let mut path = AccessPath::all(table.def.clustered_index().is_some());
    path.partitions = partitions::paths_for(request, conditions, filled);
    let total = rows_of_partitions(request, &path);
    let positions = (0..table.def.indexes.len()).filter(|position| request.serves(*position));
    if request.scan_cost >= ENTRY_COST
        && let Some(index) = shortest_entries(request, positions)
    {
        (path.index, path.covering) = (Some(index), true);
    }
    (path, total)
}

/// The cheapest path for the conditions, of which those that read only this table's slots and the
/// `filled` ones can be used.
pub(crate) fn choose(request: &Request<'_>, conditions: &[Expr], filled: &SlotSet) -> Choice {
    let table = request.table;
    let (path, total) = whole_path(request, conditions, filled);
    let paths = path.partitions.clone();
    let positions = || (0..table.def.indexes.len()).filter(|at| request.serves(*at));
    let on_disk = table.share_on_disk();
    let each = match path.covering {
        true => ENTRY_COST,
        false => request.scan_cost + on_disk * ROW_ON_DISK,
    };
    let mut best = Candidate { path, covered: Vec::new() };
    let (mut best_cost, mut best_rows) = (total * each, total);
    let forced = request.allowed.is_some_and(|allowed| allowed.forced);
    for position in positions() {
        let mut candidate = index_path(request, position, conditions, filled);
        candidate.path.partitions.clone_from(&paths);
        let path = &candidate.path;
        if path.is_unbounded() || is_refused_by_hash(table, path, position) {
            continue;
        }
        // Nothing is better than one row by a unique key; it is taken without a look at statistics.
        if best.path.point && !path.point && request.allowed.is_none() {
            continue;
        }
        // Ranges of constants are measured in the index; the others are estimated. Entries of
        // deleted rows count until they are purged, but a range has no more rows than the table.
        let guessed = || expected_rows(path, table, position, total);
        let rows = measured_rows(path, request, position).unwrap_or_else(guessed).min(total);
        let each = row_cost(path, &table.def.indexes[position], (total, on_disk));
        // Between a scan and a path with bounds the latter wins ties. Where hints force an index,
        // it is taken whatever it costs.
        let cost = if path.point { 1.0 } else { rows * each };
        let scans = best.path.is_unbounded();
        let beats_scan = scans && (forced || cost <= best_cost + SLACK);
        if beats_scan || cost < best_cost {
            (best, best_cost, best_rows) = (candidate, cost, rows);
        }
    }
    if let Some(candidate) = super::search::search_path(request, conditions)
        && !best.path.point
    {
        (best, best_rows) = (candidate, (total * FOUND_SHARE).max(1.0));
    }
    if best.path.found_by.is_none()
        && !best.path.point
        && let Some((candidate, rows, cost)) = small::best(request, conditions, filled)
    {
        (best, best_rows, best_cost) = (candidate, rows, cost);
    }
    let found = (best, best_rows);
    Choice::of(merge::or_merged(request, (conditions, filled), found, best_cost), conditions)
}

/// What a row that an index finds costs, in sequential rows in memory, of so many rows, where such
/// a share of the table is on the disk.
fn row_cost(path: &AccessPath, index: &IndexDef, (total, on_disk): (f64, f64)) -> f64 {
    match (index.clustered, path.covering) {
        (true, _) => 1.0 + on_disk * ROW_ON_DISK,
        (false, true) => ENTRY_COST,
        // A scan of a small table would lock, and show to others, more than the statement is about.
        (false, false) if total < SMALL_TABLE as f64 => 1.0,
        (false, false) => LOOKUP_COST + on_disk * LOOKUP_ON_DISK,
    }
}

impl Choice {
    pub(super) fn of((best, rows): (Candidate, f64), conditions: &[Expr]) -> Choice {
        let covered = (0..conditions.len()).map(|index| best.covered.contains(&index)).collect();
        Choice { path: best.path, rows, covered }
    }
}

/// The index, of those at `positions`, whose entries have all that is read and are the shortest.
/// MySQL reads that one in place of the table's rows, so that rows come in its order; not one that
/// has all columns of a table with a clustered index, and none of a MEMORY table.
fn shortest_entries(
    request: &Request<'_>,
    positions: impl Iterator<Item = usize>,
) -> Option<usize> {
    let def = &request.table.def;
    if def.is_volatile() {
        return None;
    }
    let copies = |index: &IndexDef| {
        def.clustered_index().is_some() && index.parts.len() >= def.columns.len()
    };
    let has_all = |position: &usize| {
        let index = &def.indexes[*position];
        (index.kind.has_keys() && index.has_entries())
            && !copies(index)
            && is_covering(request.table, &request.needed, *position)
    };
    let length = |at: &usize| {
        let index = &def.indexes[*at];
        def.key_length(index, index.parts.len())
    };
    positions.filter(has_all).min_by_key(length)
}

/// Whether MySQL's hash index cannot serve the path, for which a small MEMORY table is then scanned
/// here, too, so that rows come in MySQL's order.
pub(super) fn is_refused_by_hash(table: &Table, path: &AccessPath, position: usize) -> bool {
    let index = &table.def.indexes[position];
    let hashed = table.def.is_volatile() && index.using.as_deref() != Some("BTREE");
    hashed && table.is_small() && path.equal.len() < index.parts.len()
}

/// Whether the entries of a secondary index have all columns that are read.
pub(crate) fn is_covering(table: &Table, needed: &[bool], position: usize) -> bool {
    let codec = &table.indexes[position].codec;
    let mut read = needed.iter().enumerate();
    !table.def.indexes[position].clustered
        && read.all(|(column, need)| !need || codec.covers(column))
}

/// Looks the rows of a path up in its index, where all bounds are constants; long lists of ranges
/// are not worth it.
pub(super) fn measured_rows(
    path: &AccessPath,
    request: &Request<'_>,
    position: usize,
) -> Option<f64> {
    dived_rows(path, request, position, request.measure?)
}

/// As [`measured_rows`], whatever the request says.
pub(super) fn dived_rows(
    path: &AccessPath,
    request: &Request<'_>,
    position: usize,
    context: EvalSettings<'_>,
) -> Option<f64> {
    let table = request.table;
    let bounded = !path.is_unbounded();
    let constant = path.own_exprs().all(|expr| expr.as_literal().is_some());
    if path.point || !bounded || !constant {
        return None;
    }
    let mut scratch = EvalContext::new(context.env, context.host, &NoSubqueries, &[]);
    let bounds = bounds::compute(table, path, &mut scratch, &[]).ok()?;
    let ranges = bounds.keys.into_ranges()?;
    // A value that the column cannot hold bounds nothing.
    let is_all = |range: &KeyRange| range.start.is_empty() && range.end.is_none();
    if !bounds.exact && ranges.iter().any(is_all) {
        return None;
    }
    let spatial = table.def.indexes[position].kind == IndexKind::Spatial;
    if ranges.len() > MAX_MEASURED && !spatial {
        return None;
    }
    let leaves = match &table.partitions {
        None => vec![table],
        Some(partitions) => {
            let read = leaves_of_constants(table, path, context.env, context.host);
            read.into_iter().map(|leaf| partitions.leaf(leaf)).collect()
        }
    };
    // As in MySQL, each key of a list of them is taken to be there.
    let least = u64::from(path.ranges().is_some() || table.is_small());
    // So is one in each child of a merged table.
    let least_of_leaf = u64::from(table.united().is_some());
    let mut rows = 0;
    for range in ranges {
        let (upper, mut found) = (range.end.as_deref(), 0);
        for leaf in &leaves {
            let tree = &leaf.indexes[position].tree;
            let rows = table.store.estimate_range(tree, Some(&range.start), upper).ok()?;
            found += rows.max(least_of_leaf);
        }
        rows += found.max(least);
    }
    Some((rows as f64).max(1.0))
}

/// Estimates the rows of a path by the statistics of its index.
pub(super) fn expected_rows(path: &AccessPath, table: &Table, position: usize, total: f64) -> f64 {
    if path.point {
        return 1.0;
    }
    if let Some(paths) = path.ranges() {
        let each = paths.iter().map(|path| expected_rows(path, table, position, total));
        return each.sum::<f64>().min(total);
    }
    let index = &table.def.indexes[position];
    let mut rows = equal_rows(path, table, position, total);
    if !path.intervals.is_empty() {
        let part = path.equal.len();
        let column = table.def.key_part(index, part).map(|part| part.column);
        debug_assert!(column.is_some(), "the intervals are of the next part");
        let spatial = index.kind == IndexKind::Spatial;
        let share = |interval: &KeyInterval| match interval.is_point() {
            _ if spatial => spatial::WINDOW_SHARE,
            true => {
                let each = table.stats().rows_per_key(position, part + 1);
                each.map_or(EQUAL_SHARE, |each| each / rows)
            }
            false => column.map_or(CLOSED_SHARE, |column| range_share(interval, table, column)),
        };
        rows *= path.intervals.iter().map(share).sum::<f64>().min(1.0);
    }
    rows.max(1.0)
}

/// The share of the rows whose column is in an interval.
fn range_share(interval: &KeyInterval, table: &Table, column: usize) -> f64 {
    fn end(end: &Option<End>) -> Option<(&Expr, bool)> {
        end.as_ref().map(|end| (&end.value, end.inclusive))
    }
    let closed = interval.lower.is_some() && interval.upper.is_some();
    let guess = if closed { CLOSED_SHARE } else { HALF_OPEN_SHARE };
    let (lower, upper) = (end(&interval.lower), end(&interval.upper));
    interval_share(table, column, lower, upper).unwrap_or(guess)
}

/// How many values an equal part has.
fn keys_of(part: &EqualPart) -> usize {
    match part {
        EqualPart::AnyOf(items) => items.len(),
        EqualPart::Value(_) | EqualPart::NullSafe(_) => 1,
    }
}

/// The rows that the equal parts of a path find.
fn equal_rows(path: &AccessPath, table: &Table, position: usize, total: f64) -> f64 {
    if path.equal.is_empty() {
        return total;
    }
    // Each combination of the parts' values is one key.
    let keys: f64 = path.equal.iter().map(|part| keys_of(part) as f64).product();
    let parts = path.equal.len();
    let guess = || total * EQUAL_SHARE.powi(i32::try_from(parts).unwrap_or(i32::MAX));
    let each = rows_of_key(table, position, parts).unwrap_or_else(guess);
    (each * keys).min(total)
}

/// How many rows agree in so many parts of an index's keys ([`key_parts`]).
pub(super) fn rows_of_key(table: &Table, position: usize, parts: usize) -> Option<f64> {
    let declared = table.def.indexes[position].parts.len();
    let known = |position: usize, parts: usize| table.stats().rows_per_key(position, parts);
    let Some(more) = parts.checked_sub(declared).filter(|more| *more > 0) else {
        return known(position, parts);
    };
    // Values of the primary key are taken to be independent of those before them.
    let clustered = table.def.indexes.iter().position(|index| index.clustered)?;
    let (own, primary) = known(position, declared).zip(known(clustered, more))?;
    Some((own * primary / (table.rows() as f64).max(1.0)).max(1.0))
}

/// The parts of an index's keys: its own, and those of the primary key that entries of a plain
/// index are ordered by behind them, as far as `optimizer_switch` lets these be used.
pub(super) fn key_parts<'r>(
    request: &'r Request<'_>,
    index: &'r IndexDef,
) -> impl Iterator<Item = &'r IndexPart> {
    let def = &request.table.def;
    let settings = request.measure.or(request.merging.settings);
    let off = move |settings| merge::is_switched_off(settings, "use_index_extensions");
    let extends = move |part: &&IndexPart| {
        let known = index.parts.iter().any(|own| own.column == part.column);
        !known && def.array_part(index).is_none() && !settings.is_some_and(off)
    };
    let behind = (index.parts.len()..).map_while(|at| def.key_part(index, at));
    index.parts.iter().chain(behind.take_while(extends))
}

pub(super) fn path_for(
    request: &Request<'_>,
    position: usize,
    conditions: &[Expr],
    filled: &SlotSet,
) -> Candidate {
    let table = request.table;
    let index = &table.def.indexes[position];
    if index.kind == IndexKind::Spatial {
        return spatial::path(request, position, conditions, filled);
    }
    let finder = Finder { request, conditions, filled };
    let mut path = AccessPath::all(true);
    path.index = Some(position);
    let (mut single, mut covered) = (true, Vec::new());
    let array = table.def.array_part(index);
    let ranges = HintedIndexes::reads_ranges(request.hinted, position);
    for (at, part) in key_parts(request, index).enumerate() {
        let whole = part.prefix.is_none();
        if array.is_some_and(|(array, _)| array == at) {
            match finder.sought(index, part.column) {
                Some(Sought::One(element)) => path.equal.push(element),
                Some(Sought::Any(elements)) => {
                    path.intervals = elements;
                    break;
                }
                None => break,
            }
            continue;
        }
        let equal = finder.equal(part.column);
        let Some((condition, equal)) = equal.filter(|(_, equal)| ranges || equal.is_single())
        else {
            if !ranges {
                break;
            }
            let used;
            (path.intervals, used) = finder.intervals(part.column, !whole);
            if whole {
                covered.extend(used);
            }
            break;
        };
        if whole {
            covered.extend(condition);
        }
        // Values that rows have beside one another make more keys than there are rows.
        let keys = || path.equal.iter().chain([&equal]).map(keys_of).product::<usize>();
        if condition.is_none() && !path.equal.is_empty() && keys() > MAX_ROW_KEYS {
            break;
        }
        single &= matches!(equal, EqualPart::Value(_)) && whole;
        path.equal.push(equal);
    }
    if let Some((array, _)) = array {
        // Rows with empty arrays have no entries, others several: one element is to be known.
        let bounded = path.equal.len() + usize::from(!path.intervals.is_empty());
        if bounded <= array {
            (path.equal, path.intervals) = (Vec::new(), Vec::new());
        }
        return Candidate { path, covered: Vec::new() };
    }
    path.point = single && index.unique() && path.equal.len() == index.parts.len();
    path.covering = is_covering(table, &request.needed, position);
    Candidate { path, covered }
}

/// The values of a column that a condition admits.
struct Union {
    /// The column is in one of these, or the condition is not true.
    intervals: Vec<KeyInterval>,
    /// The condition is true wherever the column is in one of them.
    exact: bool,
}

impl Union {
    /// The conjunction of two conditions. Of two unions the one of fewer intervals is kept, which
    /// may admit more values than both do.
    fn and(mut self, mut other: Union) -> Union {
        if let ([ours], [theirs]) = (self.intervals.as_mut_slice(), other.intervals.as_mut_slice())
            && are_apart(ours, theirs)
        {
            ours.lower = ours.lower.take().or(theirs.lower.take());
            ours.upper = ours.upper.take().or(theirs.upper.take());
            self.exact &= other.exact;
            return self;
        }
        let fewer = if other.intervals.len() < self.intervals.len() { other } else { self };
        Union { exact: false, ..fewer }
    }
}

/// Whether no end of one interval meets the same end of the other.
fn are_apart(a: &KeyInterval, b: &KeyInterval) -> bool {
    let free = |ours: &Option<End>, new: &Option<End>| ours.is_none() || new.is_none();
    !a.null && !b.null && free(&a.lower, &b.lower) && free(&a.upper, &b.upper)
}

/// Looks for conditions on a column.
pub(super) struct Finder<'f> {
    pub(super) request: &'f Request<'f>,
    pub(super) conditions: &'f [Expr],
    pub(super) filled: &'f SlotSet,
}

impl Finder<'_> {
    pub(super) fn is_column(&self, expr: &Expr, column: usize) -> bool {
        matches!(expr.kind, ExprKind::Column { index, .. } if index == self.request.base + column)
    }

    /// The elements that the column, an array of the index, must have.
    fn sought(&self, index: &IndexDef, column: usize) -> Option<Sought> {
        let (element, columns) = (index.element.as_ref()?, &self.request.table.def.columns);
        // A condition reads one of several columns that hold the same array.
        let is_array = |expr: &Expr| match expr.kind {
            ExprKind::Column { index, .. } => {
                let read = index.checked_sub(self.request.base).and_then(|at| columns.get(at));
                read.is_some_and(|read| {
                    read.is_hidden() && read.generated == columns[column].generated
                })
            }
            _ => false,
        };
        super::elements::sought(self.conditions, element, is_array)
    }

    /// Whether the operand has one value for each row of the tables read before.
    fn is_known(&self, expr: &Expr) -> bool {
        let needs = slots_of(expr);
        !needs.whole_row && needs.slots.is_subset(self.filled) && is_stable(expr)
    }

    /// Whether an index on the column orders values as a comparison of `class` does.
    fn fits(&self, column: usize, class: &CmpClass) -> bool {
        let def = &self.request.table.def.columns[column];
        if matches!(def.data_type, DataType::Enum { .. } | DataType::Set { .. } | DataType::Json) {
            return false;
        }
        let ty = ExprType::of_column(def.data_type.clone(), def.nullable);
        let natural = natural_class(&ty);
        *class == natural
            || matches!(
                (ty.class(), class),
                (TypeClass::Int | TypeClass::Decimal, CmpClass::Decimal | CmpClass::Real)
            )
    }

    /// `(op, other operand)` where the condition compares the column with something known.
    fn comparison<'e>(&self, condition: &'e Expr, column: usize) -> Option<(CmpOp, &'e Expr)> {
        match &condition.kind {
            ExprKind::Compare(compare) => self.compared(compare, column),
            _ => None,
        }
    }

    pub(super) fn compared<'e>(
        &self,
        compare: &'e Compare,
        column: usize,
    ) -> Option<(CmpOp, &'e Expr)> {
        if !self.fits(column, &compare.class) {
            return None;
        }
        if self.is_column(&compare.left, column) && self.is_known(&compare.right) {
            return Some((compare.op, &compare.right));
        }
        if self.is_column(&compare.right, column) && self.is_known(&compare.left) {
            return Some((compare.op.swapped(), &compare.left));
        }
        None
    }

    /// An equality with the column, and which condition it is, where it is no more than that.
    pub(super) fn equal(&self, column: usize) -> Option<(Option<usize>, EqualPart)> {
        let mut any_of = None;
        for (number, condition) in self.conditions.iter().enumerate() {
            match self.comparison(condition, column) {
                Some((CmpOp::Eq, value)) => {
                    return Some((Some(number), EqualPart::Value(value.clone())));
                }
                Some((CmpOp::NullSafeEq, value)) => {
                    return Some((Some(number), EqualPart::NullSafe(value.clone())));
                }
                _ => {}
            }
            if let ExprKind::IsNull(inner, false) = &condition.kind
                && self.is_column(inner, column)
            {
                return Some((Some(number), EqualPart::NullSafe(Expr::null())));
            }
            if let Some(values) = self.values(condition, column) {
                any_of = Some((Some(number), EqualPart::AnyOf(values)));
            } else if let Some(values) = self.values_of_rows(condition, column)
                && any_of.is_none()
            {
                any_of = Some((None, EqualPart::AnyOf(values)));
            }
        }
        any_of
    }

    /// The values of the column in the rows of a list: 1 and 2 for `b` in `(a, b) IN ((5, 1),
    /// (6, 2), (7, 1))`. Only long lists have some of them twice, which finds no row twice.
    fn values_of_rows(&self, condition: &Expr, column: usize) -> Option<Vec<Expr>> {
        let ExprKind::In(list) = &condition.kind else { return None };
        if list.negated || list.items.is_empty() {
            return None;
        }
        let mut values: Vec<Expr> = Vec::new();
        for (_, item) in &list.items {
            let ExprKind::CompareRows(CmpOp::Eq, parts) = &item.kind else { return None };
            let (_, value) = parts.iter().find_map(|part| self.compared(part, column))?;
            let few = values.len() <= MAX_ROW_KEYS;
            if !few || !values.iter().any(|known| known.same(value)) {
                values.push(value.clone());
            }
        }
        Some(values)
    }

    /// All values of the column that a condition admits: of `=`, IN, and OR over them.
    fn values(&self, condition: &Expr, column: usize) -> Option<Vec<Expr>> {
        match &condition.kind {
            ExprKind::In(list) => {
                let fits = |(class, item): &(CmpClass, Expr)| {
                    self.fits(column, class) && self.is_known(item)
                };
                let usable = !list.negated
                    && self.is_column(&list.value, column)
                    && list.items.iter().all(fits);
                usable.then(|| list.items.iter().map(|(_, item)| item.clone()).collect())
            }
            ExprKind::Or(items) => {
                let mut all = Vec::new();
                for item in items {
                    all.extend(self.values(item, column)?);
                }
                Some(all)
            }
            _ => match self.comparison(condition, column)? {
                (CmpOp::Eq, value) => Some(vec![value.clone()]),
                _ => None,
            },
        }
    }

    /// The intervals that conditions put the column into, and the conditions they stand for.
    pub(super) fn intervals(&self, column: usize, prefix: bool) -> (Vec<KeyInterval>, Vec<usize>) {
        let mut both = KeyInterval::default();
        let (mut union, mut union_of) = (Vec::new(), Vec::new());
        let mut used = Vec::new();
        for (number, condition) in self.conditions.iter().enumerate() {
            if let Some(interval) = self.interval(condition, column) {
                let like = matches!(condition.kind, ExprKind::Like(_));
                if !like && are_apart(&both, &interval) {
                    used.push(number);
                }
                both.lower = both.lower.or(interval.lower);
                both.upper = both.upper.or(interval.upper);
            } else if (matches!(condition.kind, ExprKind::Or(_)) || self.leaves_out(condition))
                && union.is_empty()
                && let Some(found) = self.union(condition, column)
            {
                union = found.intervals;
                union_of.extend(found.exact.then_some(number));
            }
        }
        let mut found = match (&both.lower, &both.upper) {
            (None, None) => {
                used = union_of;
                union
            }
            _ => vec![both],
        };
        if prefix {
            let ends = found.iter_mut().flat_map(|i| i.lower.iter_mut().chain(&mut i.upper));
            ends.for_each(|end| end.inclusive = true);
        }
        (found, used)
    }

    /// Whether a condition leaves values out (`<>`, NOT IN, IS NOT NULL), which MySQL takes for
    /// ranges. Of larger tables, and where rows are locked, they are none here.
    fn leaves_out(&self, condition: &Expr) -> bool {
        let negates = match &condition.kind {
            ExprKind::Compare(compare) => compare.op == CmpOp::Ne,
            ExprKind::In(list) => list.negated,
            ExprKind::IsNull(inner, negated) => *negated && inner.ty.nullable,
            _ => false,
        };
        negates && self.request.table.is_small() && !self.request.merging.locks
    }

    /// The intervals between values that a condition leaves out.
    fn between_values(&self, condition: &Expr, column: usize) -> Option<Union> {
        let known = |value: &Expr| value.as_literal().is_some_and(|value| *value != Value::Null);
        let mut values: Vec<&Expr> = match &condition.kind {
            ExprKind::IsNull(inner, true) if self.is_column(inner, column) => Vec::new(),
            ExprKind::Compare(_) => match self.comparison(condition, column)? {
                (CmpOp::Ne, value) => vec![value],
                _ => return None,
            },
            ExprKind::In(list) if list.negated && self.is_column(&list.value, column) => {
                let fits =
                    |(class, item): &(CmpClass, Expr)| self.fits(column, class) && known(item);
                if !list.items.iter().all(fits) || list.items.len() > MAX_MEASURED {
                    return None;
                }
                list.items.iter().map(|(_, item)| item).collect()
            }
            _ => return None,
        };
        if !values.iter().all(|value| known(value)) {
            return None;
        }
        let number = |value: &Expr| match value.as_literal() {
            Some(Value::Int(number)) => Some(*number),
            _ => None,
        };
        if values.len() > 1 {
            values.iter().map(|value| number(value)).collect::<Option<Vec<i64>>>()?;
            values.sort_by_key(|value| number(value));
            values.dedup_by_key(|value| number(value));
        }
        let end = |value: Option<&&Expr>| {
            value.map(|value| End { value: (*value).clone(), inclusive: false })
        };
        let gaps = (0..=values.len()).map(|at| {
            let lower = end(at.checked_sub(1).and_then(|before| values.get(before)));
            KeyInterval { lower, upper: end(values.get(at)), null: false }
        });
        Some(Union { intervals: gaps.collect(), exact: true })
    }

    /// The intervals outside of which a condition is not true.
    fn union(&self, condition: &Expr, column: usize) -> Option<Union> {
        if let Some(interval) = self.interval(condition, column) {
            let exact = !matches!(condition.kind, ExprKind::Like(_));
            return Some(Union { intervals: vec![interval], exact });
        }
        if self.leaves_out(condition) {
            return self.between_values(condition, column);
        }
        match &condition.kind {
            ExprKind::IsNull(inner, false) if self.is_column(inner, column) => {
                let null = KeyInterval { null: true, ..KeyInterval::default() };
                Some(Union { intervals: vec![null], exact: true })
            }
            ExprKind::Or(items) => {
                let mut all = Union { intervals: Vec::new(), exact: true };
                for item in items {
                    let part = self.union(item, column)?;
                    all.exact &= part.exact;
                    all.intervals.extend(part.intervals);
                }
                Some(all)
            }
            ExprKind::And(items) => {
                let parts: Vec<Union> =
                    items.iter().filter_map(|item| self.union(item, column)).collect();
                let whole = parts.len() == items.len();
                parts.into_iter().reduce(Union::and).map(|mut all| {
                    all.exact &= whole;
                    all
                })
            }
            _ => {
                let values = self.values(condition, column)?;
                let intervals = values.iter().map(KeyInterval::point).collect();
                Some(Union { intervals, exact: true })
            }
        }
    }

    fn interval(&self, condition: &Expr, column: usize) -> Option<KeyInterval> {
        if let Some((op, value)) = self.comparison(condition, column) {
            let end = |inclusive| Some(End { value: value.clone(), inclusive });
            return match op {
                CmpOp::Gt | CmpOp::Ge => {
                    Some(KeyInterval { lower: end(op == CmpOp::Ge), ..KeyInterval::default() })
                }
                CmpOp::Lt | CmpOp::Le => {
                    Some(KeyInterval { upper: end(op == CmpOp::Le), ..KeyInterval::default() })
                }
                _ => None,
            };
        }
        match &condition.kind {
            ExprKind::Between(between) if !between.negated => self.between(between, column),
            ExprKind::Like(like) if !like.negated && self.is_column(&like.value, column) => {
                like_interval(like)
            }
            _ => None,
        }
    }

    fn between(&self, between: &Between, column: usize) -> Option<KeyInterval> {
        let usable = self.is_column(&between.value, column)
            && self.fits(column, &between.classes.0)
            && self.fits(column, &between.classes.1)
            && self.is_known(&between.low)
            && self.is_known(&between.high);
        let end = |value: &Expr| Some(End { value: value.clone(), inclusive: true });
        let ends =
            || KeyInterval { lower: end(&between.low), upper: end(&between.high), null: false };
        usable.then(ends)
    }
}

/// The longest text, in characters, that a bound is filled up to.
const MAX_FILLED: usize = 512;

/// The interval of the texts that begin as a pattern does.
fn like_interval(like: &Like) -> Option<KeyInterval> {
    let ty = &like.value.ty;
    let collation = ty.collation();
    let prefix = collation.range_prefix(like.compiled.as_ref()?.prefix());
    if prefix.is_empty() || like.collation != collation || !ty.is_text() {
        return None;
    }
    let longest = match ty.data_type {
        DataType::Char { chars, .. } | DataType::VarChar { chars, .. } => Some(chars as usize),
        _ => None,
    };
    let begun = prefix.chars().count();
    let mut lower = prefix.to_owned();
    if collation.pads_space() {
        let filled = longest.filter(|longest| *longest <= MAX_FILLED)?.checked_sub(begun)?;
        lower.extend(std::iter::repeat_n('\0', filled));
    }
    let filled = longest.map_or(MAX_FILLED, |longest| longest.min(MAX_FILLED));
    let mut upper = prefix.to_owned();
    let last = collation.last_character();
    upper.extend(std::iter::repeat_n(last, filled.saturating_sub(begun).max(1)));
    let end = |text: String| {
        let value = Expr::literal(Value::Text(text), ty.clone());
        Some(End { value, inclusive: true })
    };
    Some(KeyInterval { lower: end(lower), upper: end(upper), null: false })
}

/// Whether evaluating twice gives the same value and changes nothing.
pub(crate) fn is_stable(expr: &Expr) -> bool {
    let mut stable = true;
    expr.walk(&mut |node| match &node.kind {
        ExprKind::AssignUserVar(..)
        | ExprKind::UserVar(_)
        | ExprKind::Aggregate(_)
        | ExprKind::Window(_) => {
            stable = false;
        }
        ExprKind::Call(call) => {
            stable &= call.deterministic || Expr::is_constant_in_statement(node);
        }
        _ => {}
    });
    stable
}
