//! The frame of each row of a partition.
//!
//! Rows are asked for one after the other, and both ends of the frame only move forward: an end
//! that a distance of RANGE decides stays where the row before had it and goes on from there until
//! a row's value reaches the bound. So a whole partition costs two passes over its values.
//!
//! A date bound beyond what dates can be stands behind all values, whichever way it lies: for
//! `ORDER BY d RANGE INTERVAL 5000 YEAR PRECEDING` the frame of 2020 is empty, and so are those of
//! the rows behind it, from which the end cannot come back. That is what MySQL answers.

use super::super::Result;
use super::rows::PartitionRows;
use crate::plan::window::{Distance, FrameEnd, WindowPlan};
use crate::spill::TuplePosition;
use inia_base::decimal::Decimal;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::{DateTime, Interval, Time};
use inia_base::value::Value;
use inia_expr::print::print;
use inia_expr::{EvalContext, ExprType, TypeClass, convert, interval};
use std::cmp::Ordering;
use std::ops::Range;

/// Where a row stands in the order, as RANGE measures it.
#[derive(Clone, Copy, Debug)]
enum Point {
    Null,
    Whole(i128),
    Exact(Decimal),
    Real(f64),
    Moment(DateTime),
    Time(Time),
    /// A bound before all values.
    First,
    /// A bound behind all values.
    Last,
}

/// A distance with its value.
#[derive(Clone, Copy, Debug)]
enum Step {
    Rows(u64),
    /// Between integers; the flag means that they are unsigned.
    Whole(i128, bool),
    Exact(Decimal),
    Real(f64),
    Interval(Interval),
}

/// An end of the frame with its distance.
#[derive(Clone, Copy, Debug)]
enum End {
    Unbounded,
    Current,
    Preceding(Step),
    Following(Step),
}

/// How far an end has come.
#[derive(Default)]
struct Edge {
    at: u64,
    place: TuplePosition,
    /// The value at `at`, where it was read.
    point: Option<Point>,
}

/// Finds the frames of a partition's rows.
pub(super) struct Frames<'p> {
    plan: &'p WindowPlan,
    measured: bool,
    start: End,
    end: End,
    descending: bool,
    own: TuplePosition,
    first: Edge,
    last: Edge,
}

impl<'p> Frames<'p> {
    pub(super) fn new(plan: &'p WindowPlan, ctx: &mut EvalContext<'_>) -> Result<Frames<'p>> {
        let frame = &plan.frame;
        let distances = frame.start.distance().is_some() || frame.end.distance().is_some();
        Ok(Frames {
            plan,
            measured: frame.range && distances,
            start: end(&frame.start, plan, ctx)?,
            end: end(&frame.end, plan, ctx)?,
            descending: plan.order.first().is_some_and(|(_, descending)| *descending),
            own: TuplePosition::default(),
            first: Edge::default(),
            last: Edge::default(),
        })
    }

    /// The rows of the frame of row `at`, whose peers are given.
    pub(super) fn of(
        &mut self,
        at: u64,
        peers: &Range<u64>,
        rows: &PartitionRows<'_>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Range<u64>> {
        let own = match self.measured {
            true => point_of(self.plan, rows, at, &mut self.own, ctx)?,
            false => Point::Null,
        };
        let range = self.plan.frame.range;
        let all = rows.len();
        let start = match self.start {
            End::Unbounded => 0,
            End::Current if range => peers.start,
            End::Current => at,
            End::Preceding(Step::Rows(rows)) => at.saturating_sub(rows),
            End::Following(Step::Rows(rows)) => at.saturating_add(rows).min(all),
            End::Preceding(_) | End::Following(_) if matches!(own, Point::Null) => peers.start,
            End::Preceding(step) => self.reached(own, (step, true), false, rows, ctx)?,
            End::Following(step) => self.reached(own, (step, false), false, rows, ctx)?,
        };
        let end = match self.end {
            End::Unbounded => all,
            End::Current if range => peers.end,
            End::Current => at + 1,
            End::Preceding(Step::Rows(rows)) => (at + 1).saturating_sub(rows),
            End::Following(Step::Rows(rows)) => (at + 1).saturating_add(rows).min(all),
            End::Preceding(_) | End::Following(_) if matches!(own, Point::Null) => peers.end,
            End::Preceding(step) => self.reached(own, (step, true), true, rows, ctx)?,
            End::Following(step) => self.reached(own, (step, false), true, rows, ctx)?,
        };
        debug_assert!(start <= all && end <= all, "a frame is within its partition");
        debug_assert!(at < all && peers.contains(&at), "a frame is one of a row");
        Ok(start..end.max(start))
    }

    /// The first row at (or with `past` behind) the point that is a step away from `own`.
    fn reached(
        &mut self,
        own: Point,
        (step, preceding): (Step, bool),
        past: bool,
        rows: &PartitionRows<'_>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<u64> {
        let (plan, descending) = (self.plan, self.descending);
        let back = preceding != descending;
        let bound = match own.moved(step, back) {
            Ok(bound) => bound,
            Err(kind) => return Err(out_of_range(kind, plan, past, back)),
        };
        let overflown = matches!((own, bound), (Point::Moment(_), Point::Last));
        let edge = if past { &mut self.last } else { &mut self.first };
        debug_assert!(edge.at <= rows.len(), "an edge stays within the partition");
        while edge.at < rows.len() {
            if overflown {
                ctx.warn(ErrorCode::DatetimeFunctionOverflow, &[&"datetime"])?;
            }
            let point = match edge.point {
                Some(point) => point,
                None => point_of(plan, rows, edge.at, &mut edge.place, ctx)?,
            };
            let order = match descending {
                false => point.order(&bound),
                true => bound.order(&point),
            };
            let before = order == Ordering::Less || past && order == Ordering::Equal;
            edge.point = (!before).then_some(point);
            if !before {
                break;
            }
            edge.at += 1;
        }
        Ok(edge.at)
    }
}

impl Point {
    /// The point `step` away; where an expression of that type cannot have the value, the type.
    fn moved(self, step: Step, back: bool) -> std::result::Result<Point, &'static str> {
        let beyond = if back { Point::First } else { Point::Last };
        Ok(match (self, step) {
            (Point::Whole(at), Step::Whole(step, unsigned)) => {
                let moved = if back { at - step } else { at + step };
                let (values, kind) = match unsigned {
                    true => (0..=i128::from(u64::MAX), "BIGINT UNSIGNED"),
                    false => (i128::from(i64::MIN)..=i128::from(i64::MAX), "BIGINT"),
                };
                match values.contains(&moved) {
                    true => Point::Whole(moved),
                    false => return Err(kind),
                }
            }
            (Point::Exact(at), Step::Exact(step)) => {
                let moved = if back { at.sub(step) } else { at.add(step) };
                moved.map_or(beyond, Point::Exact)
            }
            (Point::Real(at), Step::Real(step)) => {
                let moved = if back { at - step } else { at + step };
                match moved.is_finite() {
                    true => Point::Real(moved),
                    false => return Err("DOUBLE"),
                }
            }
            (Point::Moment(at), Step::Interval(step)) => {
                let moved = at.add_interval(if back { step.neg() } else { step });
                moved.map_or(Point::Last, Point::Moment)
            }
            (Point::Time(at), Step::Interval(step)) => {
                let moved = at.add_interval(if back { step.neg() } else { step });
                moved.map_or(beyond, Point::Time)
            }
            _ => beyond,
        })
    }

    /// The order of two points of one kind; NULL comes first.
    fn order(&self, other: &Point) -> Ordering {
        match (self, other) {
            (Point::Whole(a), Point::Whole(b)) => a.cmp(b),
            (Point::Exact(a), Point::Exact(b)) => a.cmp(b),
            (Point::Real(a), Point::Real(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Point::Moment(a), Point::Moment(b)) => a.cmp(b),
            (Point::Time(a), Point::Time(b)) => a.micros.cmp(&b.micros),
            (Point::Null, Point::Null) => Ordering::Equal,
            (Point::Null, _) | (_, Point::Last) => Ordering::Less,
            (_, Point::Null) | (Point::Last, _) => Ordering::Greater,
            (Point::First, _) => Ordering::Less,
            _ => Ordering::Greater,
        }
    }
}

/// Error 1690 for the bound of a row.
fn out_of_range(kind: &str, plan: &WindowPlan, past: bool, back: bool) -> SqlError {
    let bound = if past { &plan.frame.end } else { &plan.frame.start };
    let value = plan.order.first().map(|(expr, _)| print(expr)).unwrap_or_default();
    let distance = bound.distance().map(print).unwrap_or_default();
    let sign = if back { '-' } else { '+' };
    let text = format!("(<cache>({value}) {sign} {distance})");
    SqlError::new(ErrorCode::DataOutOfRange, &[&kind, &text])
}

/// Where row `at` stands in the order.
fn point_of(
    plan: &WindowPlan,
    rows: &PartitionRows<'_>,
    at: u64,
    place: &mut TuplePosition,
    ctx: &mut EvalContext<'_>,
) -> Result<Point> {
    let Some((expr, _)) = plan.order.first() else { return Ok(Point::Null) };
    let value = rows.eval(at, expr, place, ctx)?;
    match value != Value::Null && is_whole(plan) {
        true => Ok(Point::Whole(convert::to_wide(&value, &expr.ty, ctx)?)),
        false => point(&value, &expr.ty, ctx),
    }
}

/// Whether RANGE measures integers by integers.
fn is_whole(plan: &WindowPlan) -> bool {
    let integer = |ty: &ExprType| ty.class() == TypeClass::Int;
    let bounds = [&plan.frame.start, &plan.frame.end];
    plan.order.first().is_some_and(|(expr, _)| integer(&expr.ty))
        && bounds.iter().all(|bound| bound.distance().is_none_or(|distance| integer(&distance.ty)))
}

fn point(value: &Value, ty: &ExprType, ctx: &mut EvalContext<'_>) -> Result<Point> {
    if *value == Value::Null {
        return Ok(Point::Null);
    }
    Ok(match ty.class() {
        TypeClass::Dated => {
            convert::to_datetime(value, ty, ctx)?.map_or(Point::Null, Point::Moment)
        }
        TypeClass::Time => convert::to_time(value, ty, ctx)?.map_or(Point::Null, Point::Time),
        TypeClass::Real => Point::Real(convert::to_real(value, ty, ctx)?),
        _ => Point::Exact(convert::to_decimal(value, ty, ctx)?),
    })
}

fn end(bound: &FrameEnd, plan: &WindowPlan, ctx: &mut EvalContext<'_>) -> Result<End> {
    Ok(match bound {
        FrameEnd::Unbounded => End::Unbounded,
        FrameEnd::Current => End::Current,
        FrameEnd::Preceding(distance) => End::Preceding(step(distance, plan, ctx)?),
        FrameEnd::Following(distance) => End::Following(step(distance, plan, ctx)?),
    })
}

fn step(distance: &Distance, plan: &WindowPlan, ctx: &mut EvalContext<'_>) -> Result<Step> {
    // A distance that is NULL or negative is an error in every unit.
    let wrong = || SqlError::new(ErrorCode::WindowFrameIllegal, &[&plan.name]);
    match distance {
        Distance::Interval(expr, unit) => {
            let value = expr.eval(ctx, &[])?;
            let span = interval::span(&value, &expr.ty, *unit, ctx)?.ok_or_else(wrong)?;
            if span.micros < 0 || span.months < 0 {
                return Err(wrong());
            }
            Ok(Step::Interval(span))
        }
        Distance::Number(expr) => {
            let value = expr.eval(ctx, &[])?;
            if plan.frame.range {
                if value == Value::Null {
                    return Err(wrong());
                }
                // The distance is of the kind in which `point_of` measures rows, since two kinds
                // cannot be added. Integers are unsigned where either of them is.
                let real = plan.order.first().is_some_and(|(e, _)| e.ty.class() == TypeClass::Real);
                let exact = convert::to_decimal(&value, &expr.ty, ctx)?;
                return match (exact.is_negative(), real) {
                    (true, _) => Err(wrong()),
                    (false, true) => Ok(Step::Real(convert::to_real(&value, &expr.ty, ctx)?)),
                    (false, false) if is_whole(plan) => {
                        let unsigned = |ty: &ExprType| ty.is_unsigned();
                        let either = plan.order.iter().any(|(expr, _)| unsigned(&expr.ty))
                            || unsigned(&expr.ty);
                        Ok(Step::Whole(convert::to_wide(&value, &expr.ty, ctx)?, either))
                    }
                    (false, false) => Ok(Step::Exact(exact)),
                };
            }
            // ROWS takes integers only, as in MySQL.
            let rows = match value {
                Value::Int(rows) => u64::try_from(rows).ok(),
                Value::UInt(rows) => Some(rows),
                _ => None,
            };
            rows.map(Step::Rows).ok_or_else(wrong)
        }
    }
}
