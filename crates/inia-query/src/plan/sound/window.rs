//! What holds for functions over windows.

use super::expr::Readable;
use crate::plan::window::{Distance, Frame, FrameEnd, WindowPlan};
use inia_expr::{SlotSet, WindowFunction};
use inia_parser::ast::WindowFunc;

/// Checks the functions over windows of one SELECT, whose rows are `groups`.
pub(super) fn check_all(windows: &[WindowPlan], groups: &Readable<'_>) {
    let mut before: Option<&WindowPlan> = None;
    for window in windows {
        window.for_each_expr(&mut |expr| groups.check(expr));
        check_arguments(&window.call);
        check_frame(window, groups);
        if window.ordered {
            let same = before.is_some_and(|before| {
                before.partition.len() == window.partition.len()
                    && before.order.len() == window.order.len()
            });
            debug_assert!(same, "a pass has one order");
        }
        before = Some(window);
    }
}

fn check_arguments(call: &WindowFunction) {
    let args = call.args().len();
    match call {
        WindowFunction::Aggregate(call) => {
            debug_assert!(!call.distinct, "an aggregate over a window takes every row");
            debug_assert!(call.order_by.is_empty(), "its window orders the rows");
        }
        WindowFunction::Ranked { func, .. } => {
            let known = match func {
                WindowFunc::Lag | WindowFunc::Lead => (1..=3).contains(&args),
                WindowFunc::FirstValue | WindowFunc::LastValue | WindowFunc::Ntile => args == 1,
                WindowFunc::NthValue => args == 2,
                _ => args == 0,
            };
            debug_assert!(known, "a function over a window has its arguments");
        }
    }
}

fn check_frame(window: &WindowPlan, groups: &Readable<'_>) {
    let Frame { range, start, end } = &window.frame;
    let constants = Readable { slots: SlotSet::default(), ..groups.clone() };
    for bound in [start, end] {
        bound.distance().into_iter().for_each(|distance| constants.check(distance));
        let measured = *range && bound.distance().is_some();
        debug_assert!(!measured || window.order.len() == 1, "a distance is in one order's values");
        let rows = !matches!(
            bound,
            FrameEnd::Preceding(Distance::Interval(..))
                | FrameEnd::Following(Distance::Interval(..))
        );
        debug_assert!(*range || rows, "rows are not counted in intervals");
    }
    let ends_first = matches!(
        (start, end),
        (FrameEnd::Following(_), FrameEnd::Current | FrameEnd::Preceding(_))
            | (FrameEnd::Current, FrameEnd::Preceding(_))
    );
    debug_assert!(!ends_first, "a frame starts before it ends");
}
