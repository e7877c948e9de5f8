//! The rows of one partition, in their order, to be read by number.

use super::super::Result;
use crate::spill::{TupleList, TuplePosition, Workspace};
use inia_base::value::Value;
use inia_expr::{EvalContext, Expr, ExprType, cast};
use std::ops::Range;

/// How many values of a row come from where: slots, aggregates of its group, results so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowShape {
    pub(super) slots: usize,
    pub(super) aggregates: usize,
}

/// A partition's rows. Each stands behind the number of the first row that ORDER BY holds equal
/// to it.
pub(super) struct PartitionRows<'w> {
    list: TupleList<'w>,
    shape: WindowShape,
}

impl<'w> PartitionRows<'w> {
    pub(super) fn new(workspace: Workspace<'w>, shape: WindowShape) -> PartitionRows<'w> {
        PartitionRows { list: TupleList::new(workspace), shape }
    }

    pub(super) fn len(&self) -> u64 {
        self.list.len()
    }

    /// Appends a row as [`Peers`] and [`PartitionRows::with`] read it.
    pub(super) fn push(&mut self, tuple: &[Value]) -> Result<()> {
        let peers_from = matches!(tuple.first(), Some(Value::UInt(first)) if *first <= self.len());
        debug_assert!(peers_from, "a row stands behind the number of its first peer");
        debug_assert!(tuple.len() > self.shape.slots + self.shape.aggregates, "a row is whole");
        self.list.push(tuple)
    }

    /// The values of row `at`.
    pub(super) fn values<'r>(
        &'r self,
        at: u64,
        place: &'r mut TuplePosition,
    ) -> Result<&'r [Value]> {
        Ok(self.list.get(at, place)?.get(1..).unwrap_or_default())
    }

    /// Runs `f` with the slots of row `at`, its aggregates in the context.
    pub(super) fn with<T>(
        &self,
        at: u64,
        place: &mut TuplePosition,
        ctx: &mut EvalContext<'_>,
        f: impl FnOnce(&mut EvalContext<'_>, &[Value]) -> Result<T>,
    ) -> Result<T> {
        let values = self.values(at, place)?;
        let (slots, rest) = self.shape.split(values);
        ctx.aggregates.clear();
        ctx.aggregates.extend_from_slice(&rest[..self.shape.aggregates.min(rest.len())]);
        f(ctx, slots)
    }

    /// The value of `expr` for row `at`.
    pub(super) fn eval(
        &self,
        at: u64,
        expr: &Expr,
        place: &mut TuplePosition,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value> {
        self.with(at, place, ctx, |ctx, row| expr.eval(ctx, row))
    }

    /// The value of `expr` as one of type `ty`.
    pub(super) fn eval_as(
        &self,
        at: u64,
        (expr, ty): (&Expr, &ExprType),
        place: &mut TuplePosition,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value> {
        let value = self.eval(at, expr, place, ctx)?;
        if expr.ty.data_type == ty.data_type {
            return Ok(value);
        }
        Ok(match cast::unify(value, &expr.ty, ty, ctx)? {
            Value::Decimal(v) if v.scale() < ty.decimals => {
                Value::Decimal(v.with_scale(ty.decimals).unwrap_or(v))
            }
            unified => unified,
        })
    }
}

impl WindowShape {
    /// The slots, and what stands behind them.
    pub(super) fn split(self, values: &[Value]) -> (&[Value], &[Value]) {
        values.split_at(self.slots.min(values.len()))
    }
}

/// Finds the rows that ORDER BY holds equal to one row after the other.
#[derive(Default)]
pub(super) struct Peers {
    found: Range<u64>,
    place: TuplePosition,
}

impl Peers {
    /// The peers of row `at`, which is not before the one asked for last.
    pub(super) fn of(&mut self, at: u64, rows: &PartitionRows<'_>) -> Result<Range<u64>> {
        debug_assert!(at >= self.found.start, "rows are asked for in their order");
        if !self.found.contains(&at) {
            let mut end = at + 1;
            while end < rows.len()
                && rows.list.get(end, &mut self.place)?.first() == Some(&Value::UInt(at))
            {
                end += 1;
            }
            self.found = at..end;
            debug_assert!(self.found.start < self.found.end, "a row is its own peer");
        }
        Ok(self.found.clone())
    }
}
