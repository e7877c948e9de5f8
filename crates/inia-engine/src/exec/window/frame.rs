//! The frame of each row of a partition.

use super::super::Result;
use super::Partition;
use crate::expr::{EvalContext, ExprType, TypeClass, convert, interval};
use crate::plan::window::{Bound, Distance, WindowPlan};
use inia_base::decimal::Decimal;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::{DateTime, Interval, Time};
use inia_base::value::Value;
use std::cmp::Ordering;
use std::ops::Range;

/// Where a row stands in the order, as RANGE measures it.
#[derive(Clone, Copy, Debug)]
enum Point {
    Null,
    Exact(Decimal),
    Real(f64),
    Moment(DateTime),
    Time(Time),
}

/// A distance with its value.
#[derive(Clone, Copy, Debug)]
enum Step {
    Rows(usize),
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

/// Finds frames.
pub(super) struct Frames {
    rows: usize,
    range: bool,
    start: End,
    end: End,
    peers: Vec<Range<usize>>,
    points: Vec<Point>,
    descending: bool,
}

impl Frames {
    pub(super) fn new(partition: &mut Partition<'_>, ctx: &mut EvalContext<'_>) -> Result<Frames> {
        let plan = partition.plan;
        let frame = &plan.frame;
        let measured =
            frame.range && (frame.start.distance().is_some() || frame.end.distance().is_some());
        let mut points = Vec::new();
        if measured {
            let (expr, _) = &plan.order[0];
            for row in partition.rows.iter_mut() {
                let value = row.eval(expr, ctx)?;
                points.push(point(&value, &expr.ty, ctx)?);
            }
        }
        Ok(Frames {
            rows: partition.rows.len(),
            range: frame.range,
            start: end(&frame.start, plan, ctx)?,
            end: end(&frame.end, plan, ctx)?,
            peers: partition.peers(),
            points,
            descending: plan.order.first().is_some_and(|(_, descending)| *descending),
        })
    }

    /// The rows of the frame of row `at`.
    pub(super) fn of(&self, at: usize) -> Result<Range<usize>> {
        let start = match self.start {
            End::Unbounded => 0,
            End::Current if self.range => self.peers[at].start,
            End::Current => at,
            End::Preceding(Step::Rows(rows)) => at.saturating_sub(rows),
            End::Following(Step::Rows(rows)) => at.saturating_add(rows).min(self.rows),
            End::Preceding(step) => self.reached(at, step, true, false),
            End::Following(step) => self.reached(at, step, false, false),
        };
        let end = match self.end {
            End::Unbounded => self.rows,
            End::Current if self.range => self.peers[at].end,
            End::Current => at + 1,
            End::Preceding(Step::Rows(rows)) => (at + 1).saturating_sub(rows),
            End::Following(Step::Rows(rows)) => (at + 1).saturating_add(rows).min(self.rows),
            End::Preceding(step) => self.reached(at, step, true, true),
            End::Following(step) => self.reached(at, step, false, true),
        };
        Ok(start..end.max(start))
    }

    /// The first row at (or with `past` behind) the point that is `step` away from row `at`'s.
    fn reached(&self, at: usize, step: Step, preceding: bool, past: bool) -> usize {
        let own = self.points[at];
        if matches!(own, Point::Null) {
            let peers = &self.peers[at];
            return if past { peers.end } else { peers.start };
        }
        let Some(bound) = own.moved(step, preceding != self.descending) else {
            return if preceding { 0 } else { self.rows };
        };
        self.points.partition_point(|point| {
            let order = match self.descending {
                false => point.order(&bound),
                true => bound.order(point),
            };
            order == Ordering::Less || past && order == Ordering::Equal
        })
    }
}

impl Point {
    /// The point `step` away; `None` where that is out of range.
    fn moved(self, step: Step, back: bool) -> Option<Point> {
        Some(match (self, step) {
            (Point::Exact(at), Step::Exact(step)) if back => Point::Exact(at.sub(step).ok()?),
            (Point::Exact(at), Step::Exact(step)) => Point::Exact(at.add(step).ok()?),
            (Point::Real(at), Step::Real(step)) => {
                Point::Real(if back { at - step } else { at + step })
            }
            (Point::Moment(at), Step::Interval(step)) => {
                Point::Moment(at.add_interval(if back { step.neg() } else { step })?)
            }
            (Point::Time(at), Step::Interval(step)) => {
                Point::Time(at.add_interval(if back { step.neg() } else { step })?)
            }
            _ => return None,
        })
    }

    /// The order of two points of one kind; NULL comes first.
    fn order(&self, other: &Point) -> Ordering {
        match (self, other) {
            (Point::Exact(a), Point::Exact(b)) => a.cmp(b),
            (Point::Real(a), Point::Real(b)) => a.total_cmp(b),
            (Point::Moment(a), Point::Moment(b)) => a.cmp(b),
            (Point::Time(a), Point::Time(b)) => a.micros.cmp(&b.micros),
            (Point::Null, Point::Null) => Ordering::Equal,
            (Point::Null, _) => Ordering::Less,
            _ => Ordering::Greater,
        }
    }
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

fn end(bound: &Bound, plan: &WindowPlan, ctx: &mut EvalContext<'_>) -> Result<End> {
    Ok(match bound {
        Bound::Unbounded => End::Unbounded,
        Bound::Current => End::Current,
        Bound::Preceding(distance) => End::Preceding(step(distance, plan, ctx)?),
        Bound::Following(distance) => End::Following(step(distance, plan, ctx)?),
    })
}

fn step(distance: &Distance, plan: &WindowPlan, ctx: &mut EvalContext<'_>) -> Result<Step> {
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
                let real = plan.order.first().is_some_and(|(e, _)| e.ty.class() == TypeClass::Real);
                let exact = convert::to_decimal(&value, &expr.ty, ctx)?;
                return match (exact.is_negative(), real) {
                    (true, _) => Err(wrong()),
                    (false, true) => Ok(Step::Real(convert::to_real(&value, &expr.ty, ctx)?)),
                    (false, false) => Ok(Step::Exact(exact)),
                };
            }
            let rows = match value {
                Value::Int(rows) => usize::try_from(rows).ok(),
                Value::UInt(rows) => usize::try_from(rows).ok(),
                _ => None,
            };
            rows.map(Step::Rows).ok_or_else(wrong)
        }
    }
}
