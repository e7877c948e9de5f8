//! Aggregates over all rows that one table's access path finds.

use super::DirectQuery;
use crate::access::{FoundRow, FoundRun, TableScan};
use crate::exec::emit::emit;
use crate::exec::select::holds;
use crate::exec::{Result, Runner, window};
use crate::plan::{CellTotal, Ordered, TableSource};
use crate::row::{Cell, pack_date, unpack_date};
use inia_base::column::RowSink;
use inia_base::datatype::DataType;
use inia_base::decimal::{Decimal, MAX_PRECISION};
use inia_base::temporal::Time;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_expr::aggregate::{Accumulator, Aggregate};
use inia_parser::ast::AggregateFunc;

/// One aggregate's running state.
pub(in crate::exec) enum Total<'p> {
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
    /// MIN or MAX of a column whose values are numbers in their order.
    MinMax {
        column: usize,
        best: Option<i64>,
        greatest: bool,
        kind: Ordered,
    },
    /// Anything else of one column.
    Other(usize, Accumulator, &'p Aggregate),
}

impl Ordered {
    #[inline]
    fn number(self, cell: &Cell<'_>) -> Option<i64> {
        match (self, cell) {
            (Ordered::Int, Cell::Int(value)) => Some(*value),
            (Ordered::UInt, Cell::UInt(value)) => Some(*value as i64 ^ i64::MIN),
            (Ordered::Date, Cell::Date(value)) => Some(i64::from(pack_date(*value))),
            (Ordered::Time, Cell::Time(value)) => Some(value.micros),
            _ => None,
        }
    }

    fn value(self, number: i64) -> Value {
        match self {
            Ordered::Int => Value::Int(number),
            Ordered::UInt => Value::UInt((number ^ i64::MIN) as u64),
            Ordered::Date => Value::Date(unpack_date(number as u32)),
            Ordered::Time => Value::Time(Time { micros: number }),
        }
    }
}

/// Whether the function counts NULL as a value.
fn takes_null(call: &Aggregate) -> bool {
    matches!(call.func, AggregateFunc::JsonArrayAgg | AggregateFunc::JsonObjectAgg)
}

fn is_unsigned(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Int { unsigned: true, .. })
}

/// The number in an integer's cell.
#[inline]
pub(in crate::exec) fn integer(cell: &Cell<'_>) -> Option<i128> {
    match cell {
        Cell::Int(value) => Some(i128::from(*value)),
        Cell::UInt(value) => Some(i128::from(*value)),
        _ => None,
    }
}

impl<'p> Total<'p> {
    /// An aggregate's state before the first row.
    pub(in crate::exec) fn start(total: CellTotal, call: &'p Aggregate) -> Total<'p> {
        match total {
            CellTotal::Rows => Total::Rows(0),
            CellTotal::Values(column) => Total::Values(column, 0),
            CellTotal::Sum(column) => Total::Sum { column, sum: 0, any: false, call },
            CellTotal::MinMax { column, greatest, kind } => {
                Total::MinMax { column, best: None, greatest, kind }
            }
            CellTotal::Other(column) => Total::Other(column, call.start(), call),
        }
    }

    /// The column that is read, where one is.
    fn column(&self) -> Option<usize> {
        match self {
            Total::Rows(_) => None,
            Total::Values(column, _)
            | Total::Sum { column, .. }
            | Total::MinMax { column, .. }
            | Total::Other(column, ..) => Some(*column),
        }
    }

    /// Adds one row.
    #[inline]
    pub(in crate::exec) fn add(
        &mut self,
        found: &FoundRow<'_>,
        source: &TableSource,
        ctx: &mut EvalContext<'_>,
    ) -> Result<()> {
        match self {
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
            Total::MinMax { column, best, greatest, kind } => {
                let value = kind.number(&found.cell(&source.table, *column)?);
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
        Ok(())
    }

    /// Adds the rows of a run; false, with nothing added, where they must be added one by one.
    pub(in crate::exec) fn add_run(
        &mut self,
        run: &FoundRun<'_>,
        source: &TableSource,
    ) -> Result<bool> {
        let (table, all) = (&source.table, 0..run.len());
        match self {
            Total::Rows(count) => {
                *count += run.len() as i64;
                Ok(true)
            }
            Total::Values(column, count) => {
                run.numbers(table, *column, all, |value| *count += i64::from(value.is_some()))
            }
            Total::Sum { column, sum, any, .. } => {
                let unsigned = is_unsigned(table.layout.data_type(*column));
                run.numbers(table, *column, all, |value| {
                    let Some(bits) = value else { return };
                    *sum += if unsigned { i128::from(bits) } else { i128::from(bits as i64) };
                    *any = true;
                })
            }
            Total::MinMax { column, best, greatest, kind } => {
                let flip = match kind {
                    Ordered::UInt => i64::MIN,
                    Ordered::Int | Ordered::Date => 0,
                    Ordered::Time => return Ok(false),
                };
                let (mut any, greatest) = (best.is_some(), *greatest);
                let mut end = best.unwrap_or_default();
                let given = run.numbers(table, *column, all, |value| {
                    let Some(bits) = value else { return };
                    let value = bits as i64 ^ flip;
                    if !any || (value > end) == greatest {
                        (any, end) = (true, value);
                    }
                })?;
                *best = any.then_some(end);
                Ok(given)
            }
            Total::Other(..) => Ok(false),
        }
    }

    /// The aggregate's value.
    pub(in crate::exec) fn finish(self, ctx: &mut EvalContext<'_>) -> Result<Value> {
        Ok(match self {
            Total::Rows(count) | Total::Values(_, count) => Value::Int(count),
            Total::Sum { any: false, .. } | Total::MinMax { best: None, .. } => Value::Null,
            Total::Sum { sum, call, .. } => {
                let sum = Decimal::from_i128(sum, 0);
                Value::Decimal(match call.ty.data_type {
                    DataType::Decimal { scale, .. } => sum.rescale(MAX_PRECISION, scale).value,
                    _ => sum,
                })
            }
            Total::MinMax { best: Some(best), kind, .. } => kind.value(best),
            Total::Other(_, accumulator, call) => accumulator.finish(call, ctx)?,
        })
    }
}

impl Runner<'_> {
    pub(super) fn send_totals(
        &self,
        direct: DirectQuery<'_>,
        mut totals: Vec<Total<'_>>,
        ctx: &mut EvalContext<'_>,
        sink: &mut dyn RowSink,
    ) -> Result<u64> {
        let DirectQuery { query, select, .. } = direct;
        let (skip, take) = window(query.limit.as_ref(), ctx)?;
        self.add_up(direct, &mut totals, ctx)?;
        let enclosing = std::mem::take(&mut ctx.aggregates);
        for total in totals {
            let value = total.finish(ctx)?;
            ctx.aggregates.push(value);
        }
        if skip > 0 || take == 0 {
            ctx.aggregates = enclosing;
            return Ok(0);
        }
        sink.begin_row();
        for expr in &select.output[..select.visible] {
            let value = expr.eval(ctx, &[])?;
            emit(&value, &expr.ty, sink);
        }
        ctx.aggregates = enclosing;
        sink.end_row()?;
        Ok(1)
    }

    fn add_up(
        &self,
        direct: DirectQuery<'_>,
        totals: &mut [Total<'_>],
        ctx: &mut EvalContext<'_>,
    ) -> Result<()> {
        let DirectQuery { select, source, .. } = direct;
        if !holds(&select.once, ctx, &[])? {
            return Ok(());
        }
        if let Some(scan) = self.whole_runs(direct, ctx)? {
            return self.add_runs(scan, source, totals, ctx);
        }
        self.each_found(direct, ctx, &mut |ctx, found| {
            for total in totals.iter_mut() {
                total.add(found, source, ctx)?;
            }
            Ok(true)
        })
    }

    /// Adds all rows of a snapshot scan that need no test, many at a time.
    fn add_runs(
        &self,
        mut scan: TableScan,
        source: &TableSource,
        totals: &mut [Total<'_>],
        ctx: &mut EvalContext<'_>,
    ) -> Result<()> {
        scan.narrow_to(totals.iter().filter_map(Total::column));
        // No aggregate depends on another, so each takes a whole run where it can, or else its rows
        // one by one.
        let mut txn = self.txn_of(&source.table).borrow_mut();
        loop {
            while let Some(mut run) = scan.run(&mut txn)? {
                self.check_killed()?;
                for total in totals.iter_mut() {
                    if total.add_run(&run, source)? {
                        continue;
                    }
                    for i in 0..run.len() {
                        let found = FoundRow { clustered_key: &[], data: run.data(i) };
                        total.add(&found, source, ctx)?;
                    }
                }
            }
            let Some(found) = scan.next(&mut txn)? else { return Ok(()) };
            for total in totals.iter_mut() {
                total.add(&found, source, ctx)?;
            }
        }
    }
}
