//! One call of a function over a window: its result for one row of a partition after the other.

use super::super::Result;
use super::frame::Frames;
use super::rows::PartitionRows;
use crate::plan::window::WindowPlan;
use crate::spill::TuplePosition;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{
    Accumulator, Aggregate, EvalContext, Expr, ExprType, WindowFunction, cast, convert,
};
use inia_parser::ast::WindowFunc;
use std::ops::Range;

/// A call at work in one partition.
pub(super) enum WindowCall<'p> {
    /// ROW_NUMBER, RANK and the like, with how many peers there were so far.
    Rank(WindowFunc, u64),
    /// NTILE; without a number all results are NULL.
    Buckets(Option<u64>),
    /// LAG and LEAD.
    Neighbour(Neighbour<'p>),
    /// FIRST_VALUE, LAST_VALUE and NTH_VALUE.
    Picked(Picked<'p>),
    /// An aggregate.
    Aggregate(Box<Sliding<'p>>),
}

pub(super) struct Neighbour<'p> {
    lag: bool,
    args: &'p [Expr],
    ty: &'p ExprType,
    distance: u64,
    other: TuplePosition,
    own: TuplePosition,
}

pub(super) struct Picked<'p> {
    last: bool,
    /// Counted from 0.
    nth: u64,
    value: &'p Expr,
    ty: &'p ExprType,
    frames: Frames<'p>,
    place: TuplePosition,
}

/// An aggregate over a frame that moves.
pub(super) struct Sliding<'p> {
    call: &'p Aggregate,
    frames: Frames<'p>,
    /// The rows that the state has taken in.
    done: Range<u64>,
    state: Accumulator,
    /// The result over these rows.
    result: Option<Value>,
    entering: TuplePosition,
    leaving: TuplePosition,
}

impl<'p> WindowCall<'p> {
    pub(super) fn new(
        plan: &'p WindowPlan,
        rows: &PartitionRows<'_>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<WindowCall<'p>> {
        let (func, args, ty) = match &plan.call {
            WindowFunction::Aggregate(call) => {
                return Ok(WindowCall::Aggregate(Box::new(Sliding {
                    call,
                    frames: Frames::new(plan, ctx)?,
                    done: 0..0,
                    state: call.start(),
                    result: None,
                    entering: TuplePosition::default(),
                    leaving: TuplePosition::default(),
                })));
            }
            WindowFunction::Ranked { func, args, ty } => (*func, &args[..], ty),
        };
        // Numbers among the arguments are the same for all rows, so row 0 gives them.
        let place = &mut TuplePosition::default();
        Ok(match func {
            WindowFunc::Lag | WindowFunc::Lead => {
                let distance = match args.get(1) {
                    Some(arg) => match number(arg, rows, place, ctx)? {
                        Some(distance) => {
                            u64::try_from(distance).map_err(|_| wrong_arguments(func))?
                        }
                        None => return Err(wrong_arguments(func)),
                    },
                    None => 1,
                };
                let (lag, other, own) =
                    (func == WindowFunc::Lag, TuplePosition::default(), TuplePosition::default());
                WindowCall::Neighbour(Neighbour { lag, args, ty, distance, other, own })
            }
            WindowFunc::FirstValue | WindowFunc::LastValue | WindowFunc::NthValue => {
                let nth = match args.get(1) {
                    Some(arg) => {
                        let nth = number(arg, rows, place, ctx)?.unwrap_or(0);
                        let nth = u64::try_from(nth).ok().and_then(|nth| nth.checked_sub(1));
                        nth.ok_or_else(|| wrong_arguments(func))?
                    }
                    None => 0,
                };
                let frames = Frames::new(plan, ctx)?;
                let (last, value) = (func == WindowFunc::LastValue, &args[0]);
                WindowCall::Picked(Picked {
                    last,
                    nth,
                    value,
                    ty,
                    frames,
                    place: TuplePosition::default(),
                })
            }
            // NULL is an error for the functions above and makes all results of this one NULL.
            WindowFunc::Ntile => match number(&args[0], rows, place, ctx)? {
                Some(buckets) => {
                    let buckets = u64::try_from(buckets).ok().filter(|buckets| *buckets > 0);
                    WindowCall::Buckets(Some(buckets.ok_or_else(|| wrong_arguments(func))?))
                }
                None => WindowCall::Buckets(None),
            },
            _ => WindowCall::Rank(func, 0),
        })
    }

    /// The result for row `at`; rows are asked for in their order.
    pub(super) fn result(
        &mut self,
        at: u64,
        peers: &Range<u64>,
        rows: &PartitionRows<'_>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value> {
        match self {
            WindowCall::Rank(func, different) => {
                *different += u64::from(peers.start == at);
                Ok(rank(*func, at, *different, peers, rows.len()))
            }
            WindowCall::Buckets(None) => Ok(Value::Null),
            WindowCall::Buckets(Some(buckets)) => {
                Ok(Value::UInt(bucket(at, *buckets, rows.len()) + 1))
            }
            WindowCall::Neighbour(call) => call.result(at, rows, ctx),
            WindowCall::Picked(call) => {
                let frame = call.frames.of(at, peers, rows, ctx)?;
                let chosen = match call.last {
                    true => frame.end.checked_sub(1).filter(|last| *last >= frame.start),
                    false => frame.start.checked_add(call.nth).filter(|nth| *nth < frame.end),
                };
                match chosen {
                    Some(at) => rows.eval_as(at, (call.value, call.ty), &mut call.place, ctx),
                    None => Ok(Value::Null),
                }
            }
            WindowCall::Aggregate(call) => call.result(at, peers, rows, ctx),
        }
    }
}

fn rank(func: WindowFunc, at: u64, different: u64, peers: &Range<u64>, rows: u64) -> Value {
    match func {
        WindowFunc::Rank => Value::UInt(peers.start + 1),
        WindowFunc::DenseRank => Value::UInt(different),
        WindowFunc::PercentRank if rows == 1 => Value::Double(0.0),
        WindowFunc::PercentRank => Value::Double(peers.start as f64 / (rows - 1) as f64),
        WindowFunc::CumeDist => Value::Double(peers.end as f64 / rows as f64),
        _ => Value::UInt(at + 1),
    }
}

/// NTILE: buckets of equal size, the first ones with one row more where rows are left over.
fn bucket(at: u64, buckets: u64, rows: u64) -> u64 {
    let (size, left_over) = (rows / buckets, rows % buckets);
    let longer = left_over * (size + 1);
    match at < longer {
        true => at / (size + 1),
        false => left_over + (at - longer) / size.max(1),
    }
}

impl Neighbour<'_> {
    fn result(
        &mut self,
        at: u64,
        rows: &PartitionRows<'_>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value> {
        let other = match self.lag {
            true => at.checked_sub(self.distance),
            false => at.checked_add(self.distance).filter(|other| *other < rows.len()),
        };
        match (other, self.args.get(2)) {
            (Some(other), _) => rows.eval_as(other, (&self.args[0], self.ty), &mut self.other, ctx),
            (None, Some(default)) => rows.eval_as(at, (default, self.ty), &mut self.own, ctx),
            (None, None) => Ok(Value::Null),
        }
    }
}

impl Sliding<'_> {
    /// The aggregate over the row's frame. Rows that are new to it are taken in; those that left
    /// are taken back where the aggregate can do that, else the whole frame is read again.
    fn result(
        &mut self,
        at: u64,
        peers: &Range<u64>,
        rows: &PartitionRows<'_>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value> {
        let frame = self.frames.of(at, peers, rows, ctx)?;
        if let Some(result) = self.result.as_ref().filter(|_| frame == self.done) {
            return Ok(result.clone());
        }
        if !self.take_back(&frame, rows, ctx)? {
            (self.done, self.state) = (frame.start..frame.start, self.call.start());
        }
        for entering in self.done.end..frame.end {
            let (call, state) = (self.call, &mut self.state);
            rows.with(entering, &mut self.entering, ctx, |ctx, row| state.add(call, ctx, row))?;
        }
        self.done = frame;
        // The result is kept with its row, so it has the digits of its type.
        let result = cast::rounded(self.state.clone().finish(self.call, ctx)?, &self.call.ty);
        self.result = Some(result.clone());
        Ok(result)
    }

    /// Makes the state one of rows from the frame's start; false where it cannot be.
    fn take_back(
        &mut self,
        frame: &Range<u64>,
        rows: &PartitionRows<'_>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<bool> {
        if frame.start < self.done.start || frame.end < self.done.end {
            return Ok(false);
        }
        if frame.start > self.done.end {
            return Ok(false);
        }
        for leaving in self.done.start..frame.start {
            let (call, state) = (self.call, &mut self.state);
            let taken = rows.with(leaving, &mut self.leaving, ctx, |ctx, row| {
                state.take_back(call, ctx, row)
            })?;
            if !taken {
                return Ok(false);
            }
        }
        self.done.start = frame.start;
        Ok(true)
    }
}

/// The argument's number, which is the same for all rows; `None` for NULL.
fn number(
    arg: &Expr,
    rows: &PartitionRows<'_>,
    place: &mut TuplePosition,
    ctx: &mut EvalContext<'_>,
) -> Result<Option<i128>> {
    let value = rows.eval(0, arg, place, ctx)?;
    match value {
        Value::Null => Ok(None),
        value => convert::to_wide(&value, &arg.ty, ctx).map(Some),
    }
}

fn wrong_arguments(func: WindowFunc) -> SqlError {
    let name = func.name();
    SqlError::new(ErrorCode::WrongArguments, &[&name])
}
