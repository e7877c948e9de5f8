//! Aggregates over all rows that one table's access path finds.

use crate::exec::emit::emit;
use crate::exec::{Result, Runner, window};
use crate::expr::aggregate::{Accumulator, Aggregate};
use crate::expr::{EvalContext, Expr, ExprKind, TypeClass};
use crate::optimize::{SlotSet, slots_of};
use crate::plan::{Aggregation, QueryPlan, SelectPlan, TableSource};
use crate::row::Cell;
use inia_base::column::RowSink;
use inia_base::datatype::DataType;
use inia_base::decimal::Decimal;
use inia_base::value::Value;
use inia_parser::ast::AggregateFunc;

/// The aggregates of one query.
pub(super) struct Totals<'p> {
    source: &'p TableSource,
    calls: Vec<Total<'p>>,
}

/// One aggregate's running state.
enum Total<'p> {
    Rows(i64),
    /// COUNT(column).
    Values(usize, i64),
    /// SUM of an integer column.
    Sum {
        column: usize,
        sum: i128,
        any: bool,
        call: &'p Aggregate,
    },
    /// MIN or MAX of an integer column.
    Least {
        column: usize,
        best: Option<i128>,
        greatest: bool,
        unsigned: bool,
    },
    /// Anything else of one column.
    Other(usize, Accumulator, &'p Aggregate),
}

/// The totals of a query without GROUP BY whose select list reads nothing else.
pub(super) fn plan<'p>(
    select: &SelectPlan,
    source: &'p TableSource,
    aggregation: &'p Aggregation,
) -> Option<Totals<'p>> {
    let nothing_else = |expr: &Expr| {
        let needs = slots_of(expr);
        needs.slots == SlotSet::default() && !needs.whole_row
    };
    if !aggregation.group.is_empty() || !select.output.iter().all(nothing_else) {
        return None;
    }
    let calls = aggregation.calls.iter().map(|call| total(call, source)).collect::<Option<_>>()?;
    Some(Totals { source, calls })
}

fn total<'p>(call: &'p Aggregate, source: &TableSource) -> Option<Total<'p>> {
    let arg = match call.args.as_slice() {
        [] if call.func == AggregateFunc::CountStar => return Some(Total::Rows(0)),
        [arg] => arg,
        _ => return None,
    };
    if call.func == AggregateFunc::CountStar {
        return Some(Total::Rows(0));
    }
    let ExprKind::Column { index, .. } = arg.kind else { return None };
    let column = index.checked_sub(source.base)?;
    let integer = matches!(arg.ty.data_type, DataType::Int { .. });
    debug_assert!(!integer || arg.ty.class() == TypeClass::Int);
    Some(match call.func {
        AggregateFunc::Count if !call.distinct => Total::Values(column, 0),
        AggregateFunc::Sum if integer && !call.distinct => {
            Total::Sum { column, sum: 0, any: false, call }
        }
        AggregateFunc::Min | AggregateFunc::Max if integer => Total::Least {
            column,
            best: None,
            greatest: call.func == AggregateFunc::Max,
            unsigned: arg.ty.is_unsigned(),
        },
        // What DISTINCT has seen may be too much for memory.
        _ if call.distinct => return None,
        AggregateFunc::GroupConcat if !call.order_by.is_empty() => return None,
        _ => Total::Other(column, call.start(), call),
    })
}

/// Whether the function counts NULL as a value.
fn takes_null(call: &Aggregate) -> bool {
    matches!(call.func, AggregateFunc::JsonArrayAgg | AggregateFunc::JsonObjectAgg)
}

fn integer(cell: &Cell<'_>) -> Option<i128> {
    match cell {
        Cell::Int(value) => Some(i128::from(*value)),
        Cell::UInt(value) => Some(i128::from(*value)),
        _ => None,
    }
}

impl Total<'_> {
    fn finish(self, ctx: &mut EvalContext<'_>) -> Result<Value> {
        Ok(match self {
            Total::Rows(count) | Total::Values(_, count) => Value::Int(count),
            Total::Sum { any: false, .. } | Total::Least { best: None, .. } => Value::Null,
            Total::Sum { sum, call, .. } => {
                let sum = Decimal::from_i128(sum, 0);
                Value::Decimal(match call.ty.data_type {
                    DataType::Decimal { precision, scale, .. } => {
                        sum.rescale(precision, scale).value
                    }
                    _ => sum,
                })
            }
            Total::Least { best: Some(best), unsigned: true, .. } => Value::UInt(best as u64),
            Total::Least { best: Some(best), .. } => Value::Int(best as i64),
            Total::Other(_, accumulator, call) => accumulator.finish(call, ctx)?,
        })
    }
}

impl Runner<'_> {
    pub(super) fn send_totals(
        &self,
        query: &QueryPlan,
        select: &SelectPlan,
        mut totals: Totals<'_>,
        ctx: &mut EvalContext<'_>,
        sink: &mut dyn RowSink,
    ) -> Result<Option<u64>> {
        let (skip, take) = window(query.limit.as_ref(), ctx)?;
        self.add_up(select, &mut totals, ctx)?;
        let enclosing = std::mem::take(&mut ctx.aggregates);
        for total in totals.calls {
            let value = total.finish(ctx)?;
            ctx.aggregates.push(value);
        }
        if skip > 0 || take == 0 {
            ctx.aggregates = enclosing;
            return Ok(Some(0));
        }
        sink.begin_row();
        for expr in &select.output[..select.visible] {
            let value = expr.eval(ctx, &[])?;
            emit(&value, &expr.ty, sink);
        }
        ctx.aggregates = enclosing;
        sink.end_row()?;
        Ok(Some(1))
    }

    fn add_up(
        &self,
        select: &SelectPlan,
        totals: &mut Totals<'_>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<()> {
        let Totals { source, calls } = totals;
        self.each_found(select, source, ctx, &mut |ctx, found| {
            for total in calls.iter_mut() {
                match total {
                    Total::Rows(count) => *count += 1,
                    Total::Values(column, count) => {
                        let cell = found.cell(&source.table, *column)?;
                        *count += i64::from(cell != Cell::Null);
                    }
                    Total::Sum { column, sum, any, .. } => {
                        if let Some(value) = integer(&found.cell(&source.table, *column)?) {
                            *sum += value;
                            *any = true;
                        }
                    }
                    Total::Least { column, best, greatest, .. } => {
                        let value = integer(&found.cell(&source.table, *column)?);
                        let better = match (value, *best) {
                            (Some(value), Some(best)) => (value > best) == *greatest,
                            (value, _) => value.is_some(),
                        };
                        if better {
                            *best = value;
                        }
                    }
                    Total::Other(column, accumulator, call) => {
                        let value = found.value(&source.table, *column, &ctx.env.time_zone)?;
                        if value != Value::Null || takes_null(call) {
                            accumulator.add_values(call, vec![value], ctx, &[])?;
                        }
                    }
                }
            }
            Ok(true)
        })?;
        Ok(())
    }
}
