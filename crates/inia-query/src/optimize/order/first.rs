//! ORDER BY by the first table of a join: its rows are sorted before they are joined, as MySQL does
//! with small tables. So rows that are equal come in MySQL's order, and a LIMIT ends the join.

use crate::access::is_stable;
use crate::optimize::size::is_small;
use crate::plan::{
    Body, FirstSort, JoinMethod, JoinPlan, JoinType, QueryPlan, RowKey, RowSource, SelectPlan,
    SortKey, TableSource,
};
use inia_expr::{Expr, ExprKind, SlotSet, slots_of};

/// Sorts the first table of the query's join where the order is that of its columns.
pub(super) fn sort_first(query: &mut QueryPlan) {
    let Body::Select(select) = &mut query.body else { return };
    let whole = select.aggregation.is_some() || select.distinct || !select.windows.is_empty();
    if whole || !matches!(select.source, RowSource::Join(_)) || !is_small(&select.source) {
        return;
    }
    let Some(keys) = keys_of_first(select, &query.order) else { return };
    let all_come_out = select.filter.is_empty() && keeps_all(&select.source);
    let limit = query.limit.as_ref().filter(|_| all_come_out && !query.count_found_rows);
    let Some(first) = first_of(&mut select.source) else { return };
    first.sorted = Some(Box::new(FirstSort { keys, limit: limit.cloned() }));
    select.batches = None;
    super::keep_order(&mut select.source);
    query.presorted = true;
}

fn keys_of_first(select: &mut SelectPlan, order: &[SortKey]) -> Option<Vec<RowKey>> {
    let single = select.source.single_slots();
    let first = first_of(&mut select.source)?;
    if first.access.point {
        return None;
    }
    let own = SlotSet::of_range(first.base..first.base + first.needed.len()).union(&single);
    let is_own = |expr: &Expr| {
        let read = slots_of(expr);
        let mut plain = is_stable(expr) && !read.whole_row;
        expr.walk(&mut |node| {
            plain &= !matches!(node.kind, ExprKind::Subquery(_) | ExprKind::Match(_));
        });
        plain && read.slots.minus(&own) == SlotSet::default()
    };
    let key = |key: &SortKey| {
        let expr = select.output[key.index].clone();
        let (ty, descending) = (key.ty.clone(), key.descending);
        is_own(&expr).then_some(RowKey { expr, ty, descending })
    };
    order.iter().map(key).collect()
}

/// The table in whose order the rows of a join come.
fn first_of(source: &mut RowSource) -> Option<&mut TableSource> {
    match source {
        RowSource::Table(table) => Some(table),
        RowSource::Join(join) if looks_up(join) => match join.left.is_single() {
            true => first_of(&mut join.right),
            false => first_of(&mut join.left),
        },
        _ => None,
    }
}

/// Whether every row of the first table comes out.
fn keeps_all(source: &RowSource) -> bool {
    match source {
        RowSource::Join(join) => join.kind == JoinType::Left && keeps_all(&join.left),
        _ => true,
    }
}

/// Whether each row of the left side looks rows of the right side up. MySQL makes an index for the
/// rows of a derived table.
fn looks_up(join: &JoinPlan) -> bool {
    match &join.method {
        JoinMethod::NestedLoop => true,
        JoinMethod::Hash(keys) => {
            !keys.is_empty() && matches!(join.right, RowSource::Subplan { .. })
        }
    }
}
