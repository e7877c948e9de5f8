//! Which work is done on stored cells, without values in between.

use crate::catalog::TableDef;
use crate::plan::{
    Aggregation, CellCheck, CellKind, CellTotal, Factor, GroupStrategy, IntColumn, IntGroups,
    JoinMethod, JoinPlan, JoinTotals, JoinType, Ordered, RowSource, SelectPlan, TableSource,
};
use inia_base::datatype::DataType;
use inia_expr::compare::CmpClass;
use inia_expr::slots_of;
use inia_expr::tree::{CmpOp, Compare};
use inia_expr::{Aggregate, Expr, ExprKind, TypeClass};
use inia_parser::ast::AggregateFunc;

/// How the groups of a SELECT are made; `None` where that is decided, or there are none.
pub(crate) fn group_strategy(select: &SelectPlan) -> Option<GroupStrategy> {
    let aggregation = select.aggregation.as_ref()?;
    if matches!(aggregation.strategy, GroupStrategy::InOrder) {
        return None;
    }
    if let Some(extrema) = super::order::index_extrema(select) {
        return Some(GroupStrategy::Extrema(extrema));
    }
    let vectors = || {
        let groups = super::vector::vector_groups(select, aggregation)?;
        Some(GroupStrategy::Vectors(Box::new(groups)))
    };
    let cells = || by_cells(select, aggregation);
    // Cells are read by one thread.
    let chosen = match select.batches.as_ref().is_some_and(|batches| batches.source.threads > 1) {
        true => vectors().or_else(cells),
        false => cells().or_else(vectors),
    };
    Some(chosen.unwrap_or_else(|| {
        let grows = aggregation.calls.iter().any(Aggregate::grows);
        match !aggregation.group.is_empty() && grows {
            true if super::order::reads_groups_together(select) => GroupStrategy::InOrder,
            true => GroupStrategy::Sort,
            false => GroupStrategy::Hash,
        }
    }))
}

/// Grouping from stored cells, of a SELECT whose shape allows it.
fn by_cells(select: &SelectPlan, aggregation: &Aggregation) -> Option<GroupStrategy> {
    let plain = !aggregation.rollup && aggregation.shown.is_empty();
    if !plain || !select.filter.is_empty() || !select.windows.is_empty() {
        return None;
    }
    match (&select.source, aggregation.group.as_slice()) {
        (RowSource::Table(source), [group]) if is_plain(source) => {
            let by = int_column(group, source)?;
            let totals = totals(&aggregation.calls, source)?;
            let grows = totals.iter().any(|total| matches!(total, CellTotal::Other(_)));
            let fits = !grows && reads_only(select, Some(source.base + by.column));
            fits.then_some(GroupStrategy::IntGroups(IntGroups { by, totals }))
        }
        (RowSource::Join(join), []) if reads_only(select, None) => {
            join_totals(join, &aggregation.calls).map(GroupStrategy::JoinTotals)
        }
        _ => None,
    }
}

fn join_totals(join: &JoinPlan, calls: &[Aggregate]) -> Option<JoinTotals> {
    let (RowSource::Table(left), RowSource::Table(right)) = (&join.left, &join.right) else {
        return None;
    };
    let JoinMethod::Hash(keys) = &join.method else { return None };
    let [key] = keys.as_slice() else { return None };
    let plain = join.kind == JoinType::Inner && join.on.is_empty();
    if !plain || !is_plain(left) || !is_plain(right) {
        return None;
    }
    let (left_key, right_key) = (int_column(&key.left, left)?, int_column(&key.right, right)?);
    let factors = factors(calls, left, right)?;
    let alike = left_key.unsigned == right_key.unsigned;
    alike.then_some(JoinTotals { left_key, right_key, factors })
}

/// What the aggregates of a join add up, where all are COUNT of something or SUM of integers.
fn factors(calls: &[Aggregate], left: &TableSource, right: &TableSource) -> Option<Vec<Factor>> {
    let mut of_right = 0;
    let mut factor = |call: &Aggregate| {
        if call.func == AggregateFunc::CountStar {
            return Some(Factor::Rows);
        }
        let [arg] = call.args.as_slice() else { return None };
        let counts = matches!(call.func, AggregateFunc::Count | AggregateFunc::Sum);
        if call.distinct || !counts {
            return None;
        }
        if let Some(column) = int_column(arg, left) {
            return Some(Factor::Left(column.column));
        }
        let column = int_column(arg, right)?;
        of_right += 1;
        Some(Factor::Right(column.column, of_right - 1))
    };
    calls.iter().map(&mut factor).collect()
}

/// What each aggregate adds up of a table's cells; `None` where one needs more than a column's.
pub(super) fn totals(calls: &[Aggregate], source: &TableSource) -> Option<Vec<CellTotal>> {
    calls.iter().map(|call| total(call, source)).collect()
}

fn total(call: &Aggregate, source: &TableSource) -> Option<CellTotal> {
    if call.func == AggregateFunc::CountStar {
        return Some(CellTotal::Rows);
    }
    let [arg] = call.args.as_slice() else { return None };
    let ExprKind::Column { index, .. } = arg.kind else { return None };
    let column = index.checked_sub(source.base)?;
    let integer = matches!(arg.ty.data_type, DataType::Int { .. });
    debug_assert!(!integer || arg.ty.class() == TypeClass::Int);
    let ordered = Ordered::of(&arg.ty);
    Some(match call.func {
        AggregateFunc::Count if !call.distinct && !source.table.def.columns[column].nullable => {
            CellTotal::Rows
        }
        AggregateFunc::Count if !call.distinct => CellTotal::Values(column),
        AggregateFunc::Sum if integer && !call.distinct => CellTotal::Sum(column),
        AggregateFunc::Min | AggregateFunc::Max if ordered.is_some() => {
            let greatest = call.func == AggregateFunc::Max;
            CellTotal::MinMax { column, greatest, kind: ordered? }
        }
        // What DISTINCT has seen may be too much for memory.
        _ if call.distinct => return None,
        AggregateFunc::GroupConcat if !call.order_by.is_empty() => return None,
        _ => CellTotal::Other(column),
    })
}

/// The first conditions of a table that stored cells answer: `column op constant`, both of them
/// integers, or both strings of one collation. What comes after the first other condition is left
/// to the general way, so that no condition is evaluated for a row which one before it refuses:
///
/// ```text
///   WHERE a > 3 AND b = 'x' AND f(c) = 1 AND d < 5      here: a > 3 AND b = 'x'
/// ```
pub(super) fn cell_checks(filter: &[Expr], def: &TableDef, base: usize) -> Vec<CellCheck> {
    filter.iter().map_while(|condition| cell_check(condition, def, base)).collect()
}

fn cell_check(condition: &Expr, def: &TableDef, base: usize) -> Option<CellCheck> {
    let position = |expr: &Expr| {
        let ExprKind::Column { index, .. } = expr.kind else { return None };
        let column = index.checked_sub(base)?;
        (column < def.columns.len()).then_some(column)
    };
    let ExprKind::Compare(compare) = &condition.kind else { return None };
    let Compare { op, class, left, right } = &**compare;
    let (column, op, constant) = match (position(left), position(right)) {
        (Some(column), None) => (column, *op, right),
        (None, Some(column)) => (column, mirrored(*op), left),
        _ => return None,
    };
    let is_constant = matches!(constant.kind, ExprKind::Literal(_) | ExprKind::Param(_));
    if !is_constant || op == CmpOp::NullSafeEq {
        return None;
    }
    let kind = match (&def.columns[column].data_type, class) {
        (DataType::Int { unsigned, .. }, CmpClass::Int) => CellKind::Int { unsigned: *unsigned },
        (
            DataType::Char { .. } | DataType::VarChar { .. } | DataType::Text { .. },
            CmpClass::Text(collation),
        ) => CellKind::Text(*collation),
        _ => return None,
    };
    Some(CellCheck { column, op, constant: constant.clone(), kind })
}

/// The operator with its sides changed.
fn mirrored(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Lt => CmpOp::Gt,
        CmpOp::Le => CmpOp::Ge,
        CmpOp::Gt => CmpOp::Lt,
        CmpOp::Ge => CmpOp::Le,
        same => same,
    }
}

fn int_column(expr: &Expr, source: &TableSource) -> Option<IntColumn> {
    let ExprKind::Column { index, .. } = expr.kind else { return None };
    let column = index.checked_sub(source.base)?;
    match source.table.def.columns.get(column)?.data_type {
        DataType::Int { unsigned, .. } => Some(IntColumn { column, unsigned }),
        _ => None,
    }
}

/// Whether the table is read without locks and conditions other than its path's.
fn is_plain(source: &TableSource) -> bool {
    source.lock.is_none() && source.filter.is_empty()
}

/// Whether what is evaluated for a group reads no slot but this one.
fn reads_only(select: &SelectPlan, slot: Option<usize>) -> bool {
    let mut all = select.output.iter().chain(&select.having);
    all.all(|expr| {
        let needs = slots_of(expr);
        !needs.whole_row && (0..select.width).all(|i| Some(i) == slot || !needs.slots.contains(i))
    })
}
