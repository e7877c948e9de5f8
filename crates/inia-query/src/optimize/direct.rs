//! Which queries' rows go from stored bytes to the client without values in between.

use super::cells::totals;
use crate::plan::{
    Body, Direct, DirectShape, GroupStrategy, QueryPlan, RowSource, SelectPlan, TableSource,
};
use inia_expr::{Expr, ExprKind};
use inia_expr::{SlotSet, slots_of};

/// The direct way of a query, where it is of a shape that has one.
pub(crate) fn direct(query: &QueryPlan) -> Option<Direct> {
    let Body::Select(select) = &query.body else { return None };
    let RowSource::Table(source) = &select.source else { return None };
    if query.count_found_rows || select.having.is_some() {
        return None;
    }
    if select.extrema().is_some() || !select.windows.is_empty() {
        return None;
    }
    let shape = shape(query, select, source)?;
    // A subquery in a condition may read the row, in columns that are not known here.
    let own = slots_read(source.filter.iter().chain(&select.filter))?;
    let bounds = slots_read(&source.bound_filter)?;
    let columns = 0..source.needed.len();
    let tested = columns.clone().filter(|column| own.contains(source.base + column)).collect();
    let only_bounds = |slot| bounds.contains(slot) && !own.contains(slot);
    let bounded = columns.filter(|column| only_bounds(source.base + column)).collect();
    let untested = source.filter.is_empty() && select.filter.is_empty();
    Some(Direct { shape, whole_runs: untested && source.lock.is_none(), tested, bounded })
}

/// What is made of the rows, where stored cells are enough for it.
fn shape(query: &QueryPlan, select: &SelectPlan, source: &TableSource) -> Option<DirectShape> {
    if let Some(aggregation) = &select.aggregation {
        let one_row = aggregation.group.is_empty() && aggregation.shown.is_empty();
        let divided = select.batches.as_ref().is_some_and(|batches| batches.source.threads > 1);
        let on_threads = divided && matches!(aggregation.strategy, GroupStrategy::Vectors(_));
        if !one_row || on_threads || !select.output.iter().all(reads_no_column) {
            return None;
        }
        return totals(&aggregation.calls, source).map(DirectShape::Totals);
    }
    // Vectors look for few rows of many.
    if select.batches.is_some() {
        return None;
    }
    let columns = plain_columns(select, source)?;
    if query.order.is_empty() {
        return (!select.distinct).then_some(DirectShape::Rows(columns));
    }
    (!select.distinct || order_covers(query, select)).then_some(DirectShape::Sorted(columns))
}

fn reads_no_column(expr: &Expr) -> bool {
    let needs = slots_of(expr);
    needs.slots == SlotSet::default() && !needs.whole_row
}

/// The slots that conditions read; `None` where one may read the whole row.
fn slots_read<'e>(conditions: impl IntoIterator<Item = &'e Expr>) -> Option<SlotSet> {
    let mut slots = SlotSet::default();
    for condition in conditions {
        let needs = slots_of(condition);
        if needs.whole_row {
            return None;
        }
        slots = slots.union(&needs.slots);
    }
    Some(slots)
}

/// The table's columns that the tuple consists of, where it has nothing else.
fn plain_columns(select: &SelectPlan, source: &TableSource) -> Option<Vec<usize>> {
    let column = |expr: &Expr| match expr.kind {
        ExprKind::Column { index, .. } => index.checked_sub(source.base),
        _ => None,
    };
    select.output.iter().map(column).collect()
}

/// Whether ORDER BY names every visible column, so that equal keys are equal rows.
fn order_covers(query: &QueryPlan, select: &SelectPlan) -> bool {
    (0..select.visible).all(|index| query.order.iter().any(|key| key.index == index))
        && query.order.iter().all(|key| key.index < select.visible)
}
