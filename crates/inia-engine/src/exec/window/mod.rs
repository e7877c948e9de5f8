//! Functions over windows: the rows of a SELECT wait here, are sorted for each window, cut into
//! partitions, and go on with the functions' results beside them.
//!
//! Example: `SUM(x) OVER (PARTITION BY a ORDER BY b)` over the rows (a, b, x) = (2, 1, 5),
//! (1, 2, 3), (1, 1, 4): sorted by (a, b) they are (1, 1, 4), (1, 2, 3), (2, 1, 5); the partition
//! of `a = 1` has the first two; each row's frame reaches from its partition's start to the row,
//! so the sums are 4, 7 and 5.

mod frame;

use super::Result;
use super::keys::encode_key;
use crate::expr::{Aggregate, EvalContext, Expr, ExprType, WindowFunction, cast, convert};
use crate::plan::window::WindowPlan;
use frame::Frames;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::ast::WindowFunc;
use std::ops::Range;

/// A row that waits.
struct Waiting {
    row: Vec<Value>,
    /// The aggregates of its group.
    aggregates: Vec<Value>,
    /// One for each call so far.
    results: Vec<Value>,
}

/// The rows of one SELECT.
pub(super) struct Windows<'p> {
    plan: &'p [WindowPlan],
    rows: Vec<Waiting>,
    /// ORDER BY's key of each row, for the window at hand.
    keys: Vec<(Vec<u8>, Vec<u8>)>,
}

impl<'p> Windows<'p> {
    pub(super) fn new(plan: &'p [WindowPlan]) -> Windows<'p> {
        Windows { plan, rows: Vec::new(), keys: Vec::new() }
    }

    /// Takes a row with the aggregates that belong to it.
    pub(super) fn add(&mut self, ctx: &EvalContext<'_>, row: &[Value]) {
        let (row, aggregates) = (row.to_vec(), ctx.aggregates.clone());
        self.rows.push(Waiting { row, aggregates, results: Vec::new() });
    }

    /// Computes all calls and gives each row, with their results in the context, to `project`.
    pub(super) fn finish(
        mut self,
        ctx: &mut EvalContext<'_>,
        project: &mut dyn FnMut(&mut EvalContext<'_>, &[Value]) -> Result<bool>,
    ) -> Result<()> {
        for plan in self.plan {
            if !plan.ordered {
                self.sort(plan, ctx)?;
            }
            let mut start = 0;
            while start < self.rows.len() {
                let partition = &self.keys[start].0;
                let same = self.keys[start..].iter().take_while(|(key, _)| key == partition);
                let end = start + same.count();
                let keys = self.keys[start..end].iter().map(|(_, key)| key.as_slice()).collect();
                let rows = &mut self.rows[start..end];
                Partition { plan, rows, keys }.compute(ctx)?;
                start = end;
            }
        }
        for waiting in self.rows {
            ctx.aggregates = waiting.aggregates;
            ctx.windows = waiting.results;
            if !project(ctx, &waiting.row)? {
                break;
            }
        }
        Ok(())
    }

    /// Sorts the rows by PARTITION BY and ORDER BY; rows that are equal keep their order.
    fn sort(&mut self, plan: &WindowPlan, ctx: &mut EvalContext<'_>) -> Result<()> {
        let mut sorted = Vec::with_capacity(self.rows.len());
        for mut waiting in self.rows.drain(..) {
            let (mut partition, mut order) = (Vec::new(), Vec::new());
            for expr in &plan.partition {
                encode_key(&waiting.eval(expr, ctx)?, &expr.ty, false, &mut partition);
            }
            for (expr, descending) in &plan.order {
                encode_key(&waiting.eval(expr, ctx)?, &expr.ty, *descending, &mut order);
            }
            sorted.push(((partition, order), waiting));
        }
        sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
        (self.keys, self.rows) = sorted.into_iter().unzip();
        Ok(())
    }
}

impl Waiting {
    /// Runs `f` with the row's aggregates in the context.
    fn with<T>(
        &mut self,
        ctx: &mut EvalContext<'_>,
        f: impl FnOnce(&mut EvalContext<'_>, &[Value]) -> Result<T>,
    ) -> Result<T> {
        std::mem::swap(&mut ctx.aggregates, &mut self.aggregates);
        let result = f(ctx, &self.row);
        std::mem::swap(&mut ctx.aggregates, &mut self.aggregates);
        result
    }

    fn eval(&mut self, expr: &Expr, ctx: &mut EvalContext<'_>) -> Result<Value> {
        self.with(ctx, |ctx, row| expr.eval(ctx, row))
    }

    /// The value of `expr` as one of type `ty`.
    fn eval_as(&mut self, expr: &Expr, ty: &ExprType, ctx: &mut EvalContext<'_>) -> Result<Value> {
        let value = self.eval(expr, ctx)?;
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

/// The rows of one partition, sorted.
struct Partition<'w> {
    plan: &'w WindowPlan,
    rows: &'w mut [Waiting],
    /// ORDER BY's keys.
    keys: Vec<&'w [u8]>,
}

impl Partition<'_> {
    fn compute(mut self, ctx: &mut EvalContext<'_>) -> Result<()> {
        let plan = self.plan;
        let results = match &plan.call {
            WindowFunction::Aggregate(call) => self.aggregate(call, ctx)?,
            WindowFunction::Ranked { func, args, ty } => match func {
                WindowFunc::Lag | WindowFunc::Lead => self.neighbours(*func, args, ty, ctx)?,
                WindowFunc::FirstValue | WindowFunc::LastValue | WindowFunc::NthValue => {
                    self.picked(*func, args, ty, ctx)?
                }
                WindowFunc::Ntile => self.buckets(&args[0], ctx)?,
                _ => self.ranks(*func),
            },
        };
        for (waiting, result) in self.rows.iter_mut().zip(results) {
            waiting.results.push(result);
        }
        Ok(())
    }

    /// The rows that ORDER BY holds equal, for each row.
    fn peers(&self) -> Vec<Range<usize>> {
        let mut peers: Vec<Range<usize>> = Vec::with_capacity(self.rows.len());
        while peers.len() < self.rows.len() {
            let start = peers.len();
            let same = self.keys[start..].iter().take_while(|key| **key == self.keys[start]);
            let end = start + same.count();
            peers.resize(end, start..end);
        }
        peers
    }

    fn ranks(&self, func: WindowFunc) -> Vec<Value> {
        let rows = self.rows.len();
        let (mut dense, mut last) = (0, usize::MAX);
        let peers = self.peers().into_iter().enumerate();
        peers
            .map(|(at, peers)| {
                dense += u64::from(peers.start != last);
                last = peers.start;
                match func {
                    WindowFunc::Rank => Value::UInt(peers.start as u64 + 1),
                    WindowFunc::DenseRank => Value::UInt(dense),
                    WindowFunc::PercentRank if rows == 1 => Value::Double(0.0),
                    WindowFunc::PercentRank => {
                        Value::Double(peers.start as f64 / (rows - 1) as f64)
                    }
                    WindowFunc::CumeDist => Value::Double(peers.end as f64 / rows as f64),
                    _ => Value::UInt(at as u64 + 1),
                }
            })
            .collect()
    }

    /// NTILE: buckets of equal size, the first ones with one row more where rows are left over.
    fn buckets(&mut self, number: &Expr, ctx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let rows = self.rows.len();
        let value = self.rows[0].eval(number, ctx)?;
        if value == Value::Null {
            return Ok(vec![Value::Null; rows]);
        }
        let buckets = usize::try_from(convert::to_wide(&value, &number.ty, ctx)?).unwrap_or(0);
        if buckets == 0 {
            return Err(SqlError::new(ErrorCode::WrongArguments, &[&"ntile"]));
        }
        let (size, left_over) = (rows / buckets, rows % buckets);
        let longer = left_over * (size + 1);
        let bucket = |at: usize| match at < longer {
            true => at / (size + 1),
            false => left_over + (at - longer) / size.max(1),
        };
        Ok((0..rows).map(|at| Value::UInt(bucket(at) as u64 + 1)).collect())
    }

    /// LAG and LEAD.
    fn neighbours(
        &mut self,
        func: WindowFunc,
        args: &[Expr],
        ty: &ExprType,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Vec<Value>> {
        let distance = match args.get(1) {
            Some(arg) => {
                let value = self.rows[0].eval(arg, ctx)?;
                match convert::to_wide(&value, &arg.ty, ctx)? {
                    _ if value == Value::Null => {
                        return Err(wrong_arguments(func));
                    }
                    distance => usize::try_from(distance).map_err(|_| wrong_arguments(func))?,
                }
            }
            None => 1,
        };
        let rows = self.rows.len();
        let mut results = Vec::with_capacity(rows);
        for at in 0..rows {
            let other = match func {
                WindowFunc::Lag => at.checked_sub(distance),
                _ => at.checked_add(distance).filter(|other| *other < rows),
            };
            results.push(match (other, args.get(2)) {
                (Some(other), _) => self.rows[other].eval_as(&args[0], ty, ctx)?,
                (None, Some(default)) => self.rows[at].eval_as(default, ty, ctx)?,
                (None, None) => Value::Null,
            });
        }
        Ok(results)
    }

    /// FIRST_VALUE, LAST_VALUE and NTH_VALUE.
    fn picked(
        &mut self,
        func: WindowFunc,
        args: &[Expr],
        ty: &ExprType,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Vec<Value>> {
        let nth = match args.get(1) {
            Some(arg) => {
                let value = self.rows[0].eval(arg, ctx)?;
                let number = convert::to_wide(&value, &arg.ty, ctx)?;
                let number = usize::try_from(number).ok().filter(|number| *number > 0);
                number.ok_or_else(|| wrong_arguments(func))?
            }
            None => 1,
        };
        let frames = Frames::new(self, ctx)?;
        let mut results = Vec::with_capacity(self.rows.len());
        for at in 0..self.rows.len() {
            let frame = frames.of(at)?;
            let chosen = match func {
                WindowFunc::LastValue => frame.clone().next_back(),
                _ => frame.clone().nth(nth - 1),
            };
            results.push(match chosen {
                Some(chosen) => self.rows[chosen].eval_as(&args[0], ty, ctx)?,
                None => Value::Null,
            });
        }
        Ok(results)
    }

    /// An aggregate over each row's frame. A frame that only grows from row to row takes in only
    /// what is new.
    fn aggregate(&mut self, call: &Aggregate, ctx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let frames = Frames::new(self, ctx)?;
        let mut results: Vec<Value> = Vec::with_capacity(self.rows.len());
        let (mut done, mut state) = (0..0, call.start());
        for at in 0..self.rows.len() {
            let frame = frames.of(at)?;
            if at > 0 && frame == done {
                results.push(results[at - 1].clone());
                continue;
            }
            if frame.start != done.start || frame.end < done.end {
                (done, state) = (frame.start..frame.start, call.start());
            }
            for row in &mut self.rows[done.end..frame.end.max(done.end)] {
                row.with(ctx, |ctx, row| state.add(call, ctx, row))?;
            }
            done = frame;
            let value = state.clone().finish(call, ctx)?;
            results.push(value);
        }
        Ok(results)
    }
}

fn wrong_arguments(func: WindowFunc) -> SqlError {
    let name = func.name();
    SqlError::new(ErrorCode::WrongArguments, &[&name])
}
