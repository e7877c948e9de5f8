//! Lists of rows as ranges of an index: `(a, b) IN ((1, 1), (2, 2))` reads, and locks, the entries
//! of these two keys of an index on `(a, b)`, where one list of values for each column would find
//! four.

use super::choose::{Candidate, Finder, Request, path_for};
use super::{AccessPath, EqualPart, FoundBy, HintedIndexes};
use inia_expr::tree::Compare;
use inia_expr::{CmpOp, Expr, ExprKind, SlotSet};

/// Longer lists are read by the values of their first column.
const MAX_ROWS: usize = 16_384;

/// Where a part of the key comes from.
enum Source {
    /// From this column of the list's rows.
    Listed(usize),
    /// Another condition says what it equals.
    Fixed(EqualPart),
}

/// The best path by an index, which may read ranges for the rows of a list.
pub(super) fn index_path(
    request: &Request<'_>,
    position: usize,
    conditions: &[Expr],
    filled: &SlotSet,
) -> Candidate {
    let plain = || path_for(request, position, conditions, filled);
    let is_list = |condition: &Expr| rows_of(condition).is_some();
    match conditions.iter().position(is_list) {
        Some(at) if HintedIndexes::reads_ranges(request.hinted, position) => {
            listed(request, position, (conditions, at), filled).unwrap_or_else(plain)
        }
        _ => plain(),
    }
}

/// The rows of a list, as comparisons of their columns.
fn rows_of(condition: &Expr) -> Option<Vec<&[Compare]>> {
    let ExprKind::In(list) = &condition.kind else { return None };
    let several = !list.negated && (2..=MAX_ROWS).contains(&list.items.len());
    let rows = list.items.iter().take_while(|_| several).map(|(_, item)| match &item.kind {
        ExprKind::CompareRows(CmpOp::Eq, parts) => Some(&parts[..]),
        _ => None,
    });
    rows.collect::<Option<Vec<&[Compare]>>>().filter(|rows| !rows.is_empty())
}

/// The path for the rows of the list at a place; `None` where the index begins with less than two
/// of their columns.
fn listed(
    request: &Request<'_>,
    position: usize,
    (conditions, at): (&[Expr], usize),
    filled: &SlotSet,
) -> Option<Candidate> {
    let table = request.table;
    let index = &table.def.indexes[position];
    if !index.kind.has_keys() || table.def.array_part(index).is_some() {
        return None;
    }
    let finder = Finder { request, conditions, filled };
    let rows = rows_of(&conditions[at])?;
    let first = *rows.first()?;
    let (mut sources, mut covered, mut used) = (Vec::new(), Vec::new(), Vec::new());
    let mut whole = true;
    for part in &index.parts {
        let is_part = |compare: &Compare| finder.compared(compare, part.column).is_some();
        if let Some(column) = first.iter().position(is_part) {
            whole &= part.prefix.is_none();
            sources.push((part.column, Source::Listed(column)));
            used.push(column);
        } else if let Some((number, equal)) = finder.equal(part.column)
            && equal.is_single()
        {
            covered.extend(number.filter(|_| part.prefix.is_none()));
            sources.push((part.column, Source::Fixed(equal)));
        } else {
            break;
        }
    }
    if used.len() < 2 {
        return None;
    }
    let next = index.parts.get(sources.len());
    let (intervals, within) = next
        .map_or_else(Default::default, |part| finder.intervals(part.column, part.prefix.is_some()));
    covered.extend(within.into_iter().filter(|_| next.is_some_and(|p| p.prefix.is_none())));
    covered.extend((whole && (0..first.len()).all(|column| used.contains(&column))).then_some(at));
    let path = |row: &[Compare]| {
        let value = |(column, source): &(usize, Source)| match source {
            Source::Fixed(equal) => Some(equal.clone()),
            Source::Listed(at) => {
                let (_, value) = finder.compared(row.get(*at)?, *column)?;
                Some(EqualPart::Value(value.clone()))
            }
        };
        let equal = sources.iter().map(value).collect::<Option<Vec<EqualPart>>>()?;
        let intervals = intervals.clone();
        Some(AccessPath { index: Some(position), equal, intervals, ..AccessPath::all(true) })
    };
    let paths = rows.into_iter().map(path).collect::<Option<Vec<AccessPath>>>()?;
    let mut path = AccessPath::all(true);
    (path.index, path.found_by) = (Some(position), Some(Box::new(FoundBy::Ranges(paths))));
    path.covering = super::is_covering(table, &request.needed, position);
    Some(Candidate { path, covered })
}
