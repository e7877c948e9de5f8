//! Functions over windows, as they are executed.

use inia_base::temporal::IntervalUnit;
use inia_expr::{Expr, WindowFunction};

/// One call of a function over a window.
#[derive(Clone, Debug)]
pub struct WindowPlan {
    /// The function.
    pub call: WindowFunction,
    /// The window's name in error texts.
    pub name: String,
    /// PARTITION BY.
    pub partition: Vec<Expr>,
    /// ORDER BY; the flag means DESC.
    pub order: Vec<(Expr, bool)>,
    /// Rows come in the order of the call before.
    pub ordered: bool,
    /// Which rows of the partition the function sees.
    pub frame: Frame,
}

/// The rows of a partition that belong to a row.
#[derive(Clone, Debug)]
pub struct Frame {
    /// RANGE: bounds count in values of ORDER BY, else in rows.
    pub range: bool,
    /// First row.
    pub start: FrameEnd,
    /// Last row.
    pub end: FrameEnd,
}

/// One end of a frame.
#[derive(Clone, Debug)]
pub enum FrameEnd {
    /// The partition's end.
    Unbounded,
    /// The row itself; in a RANGE all rows that ORDER BY holds equal to it.
    Current,
    /// So far before it.
    Preceding(Distance),
    /// So far behind it.
    Following(Distance),
}

/// How far a frame reaches.
#[derive(Clone, Debug)]
pub enum Distance {
    /// Rows, or a difference of numbers.
    Number(Expr),
    /// A difference of times.
    Interval(Expr, IntervalUnit),
}

impl FrameEnd {
    /// The distance's expression.
    pub(crate) fn distance(&self) -> Option<&Expr> {
        match self {
            FrameEnd::Preceding(distance) | FrameEnd::Following(distance) => match distance {
                Distance::Number(expr) | Distance::Interval(expr, _) => Some(expr),
            },
            FrameEnd::Unbounded | FrameEnd::Current => None,
        }
    }
}

impl WindowPlan {
    /// Every expression that it evaluates for a row.
    pub(crate) fn for_each_expr(&self, visit: &mut dyn FnMut(&Expr)) {
        self.call.args().iter().for_each(&mut *visit);
        self.partition.iter().for_each(&mut *visit);
        self.order.iter().for_each(|(expr, _)| visit(expr));
    }

    /// As [`WindowPlan::for_each_expr`], to be changed in place.
    pub(crate) fn for_each_expr_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.call.args_mut().iter_mut().for_each(&mut *visit);
        self.partition.iter_mut().for_each(&mut *visit);
        self.order.iter_mut().for_each(|(expr, _)| visit(expr));
    }
}
