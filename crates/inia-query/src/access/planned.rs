//! Paths of small tables whose index the search of joins has chosen.
//!
//! The search weighs what each index finds ([`by_indexes`]) as MySQL does, and says how a table is
//! read before its conditions have their places. The path is made of the conditions that are ready
//! there ([`choose_as`]).

use super::choose::{Request, dived_rows, expected_rows, is_refused_by_hash, whole_path};
use super::tuples::index_path;
use super::{AccessPath, Choice, EqualPart, choose};
use inia_expr::{CmpOp, Expr, ExprKind, SlotSet, slots_of};

/// How a table is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Planned {
    /// By the path of least cost.
    #[default]
    Free,
    /// As a whole.
    Scan,
    /// By ranges of an index.
    Range(usize),
    /// By so many parts of an index that equal something.
    Equal(usize, usize),
}

/// What an index finds.
pub(crate) struct ByIndex {
    /// The index.
    pub(crate) index: usize,
    /// The path of the conditions.
    pub(crate) path: AccessPath,
    /// The rows it is expected to find.
    pub(crate) rows: f64,
    /// They were counted in the index.
    pub(crate) counted: bool,
}

impl ByIndex {
    /// How many parts of the index equal one value each, before others are bounded.
    pub(crate) fn parts(&self) -> usize {
        let parts = self.path.equal.iter();
        parts.take_while(|part| !matches!(part, EqualPart::AnyOf(_))).count()
    }

    /// Whether it reads ranges, not the rows of one key.
    pub(crate) fn is_range(&self) -> bool {
        let path = &self.path;
        !path.intervals.is_empty() || path.ranges().is_some() || self.parts() < path.equal.len()
    }

    /// How many ranges it reads.
    pub(crate) fn ranges(&self) -> f64 {
        if let Some(paths) = self.path.ranges() {
            return paths.len() as f64;
        }
        let keys = self.path.equal.iter().map(|part| match part {
            EqualPart::AnyOf(items) => items.len() as f64,
            _ => 1.0,
        });
        keys.product::<f64>() * self.path.intervals.len().max(1) as f64
    }
}

/// What each index finds by the conditions that read only the table's slots and `filled` ones, in
/// the order of the definition.
pub(crate) fn by_indexes(
    request: &Request<'_>,
    conditions: &[Expr],
    filled: &SlotSet,
) -> Vec<ByIndex> {
    let table = request.table;
    let total = table.rows() as f64;
    let mut found = Vec::new();
    for index in (0..table.def.indexes.len()).filter(|at| request.serves(*at)) {
        let path = index_path(request, index, conditions, filled).path;
        if path.is_unbounded() || is_refused_by_hash(table, &path, index) {
            continue;
        }
        let dived =
            request.measure.and_then(|settings| dived_rows(&path, request, index, settings));
        let rows = dived.unwrap_or_else(|| expected_rows(&path, table, index, total));
        found.push(ByIndex { index, path, rows, counted: dived.is_some() });
    }
    found
}

/// The rows that a path of constants finds, by a look into its index.
pub(crate) fn count_rows(request: &Request<'_>, path: &AccessPath) -> Option<f64> {
    dived_rows(path, request, path.index?, request.measure?)
}

/// The path of a table that is to be read so, where the conditions allow that.
pub(crate) fn choose_as(
    request: &Request<'_>,
    planned: Planned,
    conditions: &[Expr],
    (filled, fixed): (&SlotSet, &SlotSet),
) -> Choice {
    let table = request.table;
    match planned {
        Planned::Free => choose(request, conditions, filled),
        Planned::Scan => {
            let (path, rows) = whole_path(request, conditions, filled);
            Choice { path, rows, covered: vec![false; conditions.len()] }
        }
        Planned::Range(index) | Planned::Equal(index, _) => {
            let known = if matches!(planned, Planned::Range(_)) { fixed } else { filled };
            let candidate = index_path(request, index, conditions, known);
            if candidate.path.is_unbounded() {
                return choose(request, conditions, filled);
            }
            let paths = whole_path(request, conditions, filled).0.partitions;
            let covered = (0..conditions.len()).map(|at| candidate.covered.contains(&at)).collect();
            let settings = request.measure;
            let path = AccessPath { partitions: paths, ..candidate.path };
            let mut choice = Choice { path, rows: 1.0, covered };
            if let Planned::Equal(_, parts) = planned {
                keep_equal(&mut choice, request, conditions, parts);
            }
            let dived = settings.and_then(|own| dived_rows(&choice.path, request, index, own));
            let counted = table.stats().rows_per_group(index, choice.path.equal.len());
            let by_key = counted.filter(|_| choice.path.intervals.is_empty());
            let total = table.rows() as f64;
            choice.rows = match (choice.path.point, dived, by_key, planned) {
                (true, ..) => 1.0,
                (_, Some(rows), ..) => rows,
                (_, _, Some(rows), Planned::Equal(..)) => rows,
                _ => expected_rows(&choice.path, table, index, total),
            };
            choice
        }
    }
}

/// Leaves a path the first parts of its key alone.
fn keep_equal(choice: &mut Choice, request: &Request<'_>, conditions: &[Expr], parts: usize) {
    let path = &mut choice.path;
    let Some(index) = path.index else { return };
    let whole = path.equal.len() <= parts && path.intervals.is_empty() && path.found_by.is_none();
    if whole {
        return;
    }
    path.equal.truncate(parts);
    path.intervals.clear();
    path.found_by = None;
    path.point &= path.equal.len() == request.table.def.indexes[index].parts.len();
    let def = &request.table.def;
    let sought = |slot: usize| {
        let mut columns = (0..parts).map_while(|at| def.key_part(&def.indexes[index], at));
        columns.any(|part| Some(part.column) == slot.checked_sub(request.base))
    };
    let own = request.base..request.base + def.columns.len();
    for (covered, condition) in choice.covered.iter_mut().zip(conditions) {
        let states_value = match &condition.kind {
            ExprKind::Compare(compare) => matches!(compare.op, CmpOp::Eq | CmpOp::NullSafeEq),
            ExprKind::IsNull(..) => true,
            _ => false,
        };
        let read = slots_of(condition).slots;
        *covered &= states_value && read.iter().filter(|slot| own.contains(slot)).all(sought);
    }
}
