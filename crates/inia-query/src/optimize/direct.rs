//! Which queries' rows go from stored bytes to the client without values in between.

use super::cells::totals;
use crate::plan::{Body, Direct, QueryPlan, RowSource, SelectPlan, TableSource};
use inia_expr::{Expr, ExprKind};
use inia_expr::{SlotSet, slots_of};

/// The direct way of a query, where it is of a shape that has one.
pub(crate) fn direct(query: &QueryPlan) -> Option<Direct> {
    let Body::Select(select) = &query.body else { return None };
    let RowSource::Table(source) = &select.source else { return None };
    let plain = !query.count_found_rows && select.having.is_none();
    if !plain || reads_row_in_parts(select, source) {
        return None;
    }
    if select.extrema().is_some() || !select.windows.is_empty() {
        return None;
    }
    if let Some(aggregation) = &select.aggregation {
        let one_row = aggregation.group.is_empty() && aggregation.shown.is_empty();
        if !one_row || !select.output.iter().all(reads_no_column) {
            return None;
        }
        return totals(&aggregation.calls, source).map(Direct::Totals);
    }
    let columns = plain_columns(select, source)?;
    if query.order.is_empty() {
        return (!select.distinct).then_some(Direct::Rows(columns));
    }
    (!select.distinct || order_covers(query, select)).then_some(Direct::Sorted(columns))
}

fn reads_no_column(expr: &Expr) -> bool {
    let needs = slots_of(expr);
    needs.slots == SlotSet::default() && !needs.whole_row
}

/// Whether a condition runs a subquery that reads the row, in columns that are not known here.
fn reads_row_in_parts(select: &SelectPlan, source: &TableSource) -> bool {
    let conditions = source.filter.iter().chain(&source.bound_filter).chain(&select.filter);
    conditions.into_iter().any(|condition| slots_of(condition).whole_row)
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
