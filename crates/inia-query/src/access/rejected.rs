//! Why a table is not read by its other indexes, for EXPLAIN.

use super::choose::{Request, expected_rows, measured_rows};
use super::spatial::is_usable;
use super::tuples::index_path;
use super::{AccessPath, HintedIndexes};
use crate::catalog::IndexKind;
use inia_expr::{Expr, SlotSet};

/// An index that a table is not read by.
pub(crate) struct RejectedIndex {
    /// Its name.
    pub(crate) key: String,
    /// Why: `invisible`, `hint`, `not_applicable` (no condition bounds it, and it has not all
    /// columns), `unique` (another finds one row at most) or `cost`.
    pub(crate) cause: &'static str,
    /// How it would be used, and the rows expected of it.
    pub(crate) path: Option<(AccessPath, f64)>,
}

/// The indexes of a table that is read by `chosen` while the `filled` slots hold values.
pub(crate) fn rejected_indexes(
    request: &Request<'_>,
    conditions: &[Expr],
    filled: &SlotSet,
    chosen: &AccessPath,
) -> Vec<RejectedIndex> {
    let indexes = &request.table.def.indexes;
    let merged = chosen.merge().map_or(&[][..], |merge| &merge.parts);
    let read_by = |position| match merged {
        [] => chosen.index == Some(position),
        parts => parts.iter().any(|part| part.index == Some(position)),
    };
    let others = (0..indexes.len()).filter(|position| !read_by(*position));
    let reject = |position: usize| {
        let index = &indexes[position];
        let allowed = request.allowed.is_none_or(|allowed| allowed.usable.contains(&position));
        let (cause, path) = if !HintedIndexes::shows(request.hinted, index) {
            ("invisible", None)
        } else if index.kind == IndexKind::FullText
            || index.kind == IndexKind::Spatial && !is_usable(request.table, position)
        {
            ("not_applicable", None)
        } else if !allowed {
            ("hint", None)
        } else {
            let path = index_path(request, position, conditions, filled).path;
            let guess = || {
                let total = request.table.rows() as f64;
                expected_rows(&path, request.table, position, total)
            };
            let rows = measured_rows(&path, request, position).unwrap_or_else(guess);
            match path.is_unbounded() {
                // The rows themselves are read where no index serves better.
                true if !path.covering && !index.clustered => ("not_applicable", None),
                _ if chosen.point => ("unique", Some((path, rows))),
                _ => ("cost", Some((path, rows))),
            }
        };
        RejectedIndex { key: index.name.clone(), cause, path }
    };
    others.map(reject).collect()
}
