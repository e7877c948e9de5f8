//! OVER: windows are resolved by name, checked, and bound with the functions over them.

use super::scope::BlockScope;
use super::{QueryBinder, Result};
use crate::access::is_stable;
use crate::catalog::same_name;
use crate::plan::window::{Distance, Frame, FrameEnd, WindowPlan};
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::bind::{Binder, sort_key};
use inia_expr::derive::{ParamType, ParamUse};
use inia_expr::{Expr, ExprKind, TypeClass, WindowFunction};
use inia_parser::ast::{
    self, FrameBound, FrameOffset, FrameUnit, OrderItem, Over, WindowFrame, WindowSpec,
};

const UNNAMED: &str = "<unnamed window>";

/// A window with what it inherits.
struct Resolved<'w> {
    name: &'w str,
    partition: &'w [ast::Expr],
    order: &'w [OrderItem],
    frame: Option<&'w WindowFrame>,
}

/// Whether the expression calls a function over a window.
pub(super) fn has_window(expr: &Expr) -> bool {
    inner_window(expr).is_some()
}

/// Checks the windows that the WINDOW clause names.
pub(super) fn check_named(named: &[(String, WindowSpec)]) -> Result<()> {
    for (index, (name, spec)) in named.iter().enumerate() {
        if named[..index].iter().any(|(other, _)| same_name(other, name)) {
            return Err(SqlError::new(ErrorCode::WindowDuplicateName, &[name]));
        }
        resolve(name, spec, named, named.len())?;
    }
    Ok(())
}

fn find<'w>(name: &str, named: &'w [(String, WindowSpec)]) -> Result<&'w (String, WindowSpec)> {
    let found = named.iter().find(|(other, _)| same_name(other, name));
    found.ok_or_else(|| SqlError::new(ErrorCode::WindowNoSuchWindow, &[&name]))
}

/// Adds what a window inherits; `steps` is how many windows it can inherit from.
fn resolve<'w>(
    name: &'w str,
    spec: &'w WindowSpec,
    named: &'w [(String, WindowSpec)],
    steps: usize,
) -> Result<Resolved<'w>> {
    let frame = spec.frame.as_ref();
    let Some(base) = &spec.base else {
        let (partition, order) = (&spec.partition_by[..], &spec.order_by[..]);
        return Ok(Resolved { name, partition, order, frame });
    };
    let (base_name, base) = find(base, named)?;
    if steps == 0 {
        return Err(SqlError::new(ErrorCode::WindowCircularityInWindowGraph, &[]));
    }
    let base = resolve(base_name, base, named, steps - 1)?;
    if !spec.partition_by.is_empty() {
        return Err(SqlError::new(ErrorCode::WindowNoChildPartitioning, &[]));
    }
    if base.frame.is_some() {
        return Err(SqlError::new(ErrorCode::WindowNoInheritFrame, &[base_name]));
    }
    let order = match (base.order.is_empty(), spec.order_by.is_empty()) {
        (false, false) => {
            let code = ErrorCode::WindowNoRedefineOrderBy;
            return Err(SqlError::new(code, &[&name, base_name]));
        }
        (false, true) => base.order,
        (true, _) => &spec.order_by[..],
    };
    Ok(Resolved { name, partition: base.partition, order, frame })
}

/// Error 3593: a function over a window where none may stand.
fn misplaced(call: &WindowFunction) -> SqlError {
    SqlError::new(ErrorCode::WindowInvalidWindowFuncUse, &[&call.name()])
}

/// The number of a function over a window inside the expression.
fn inner_window(expr: &Expr) -> Option<usize> {
    let mut found = None;
    expr.walk(&mut |node| {
        if let ExprKind::Window(number) = node.kind {
            found = Some(number);
        }
    });
    found
}

impl BlockScope<'_, '_> {
    /// Binds a call with its window; its result is found by number.
    pub(super) fn bind_window(&mut self, call: WindowFunction, over: &Over) -> Result<Expr> {
        // A window function may stand in the select list and in ORDER BY, but neither in an
        // aggregate nor in another window function.
        if !self.clause.allows_windows() || self.in_aggregates > 0 {
            return Err(misplaced(&call));
        }
        let level = self.binder.levels.last().expect("a SELECT is being bound");
        if let Some(number) = call.args().iter().find_map(inner_window) {
            return Err(misplaced(&level.windows[number].call));
        }
        let named = level.named_windows.clone();
        let window = match over {
            Over::Name(name) => {
                let (name, spec) = find(name, &named)?;
                resolve(name, spec, &named, named.len())?
            }
            Over::Spec(spec) => resolve(UNNAMED, spec, &named, named.len())?,
        };
        let name = window.name.to_owned();
        let mut partition = Vec::with_capacity(window.partition.len());
        for expr in window.partition {
            partition.push(self.window_key(expr, &name)?);
        }
        let mut order = Vec::with_capacity(window.order.len());
        for item in window.order {
            order.push((self.window_key(&item.expr, &name)?, item.desc));
        }
        // Without ORDER BY all rows of a partition are peers, so the default frame is all of it.
        // With ORDER BY it ends at the row's last peer.
        let frame = match window.frame {
            Some(frame) => self.frame(frame, &order, &name)?,
            None if order.is_empty() => {
                Frame { range: false, start: FrameEnd::Unbounded, end: FrameEnd::Unbounded }
            }
            None => Frame { range: true, start: FrameEnd::Unbounded, end: FrameEnd::Current },
        };
        let ty = call.ty().clone();
        let mut plan = WindowPlan { call, name, partition, order, ordered: false, frame };
        plan.for_each_expr_mut(&mut |expr| self.binder.prepare(expr, false));
        // Consecutive calls that need the same order share one sort.
        let windows = &mut self.binder.levels.last_mut().expect("as above").windows;
        plan.ordered = windows.last().is_some_and(|last| same_order(last, &plan));
        windows.push(plan);
        Ok(Expr { kind: ExprKind::Window(windows.len() - 1), ty })
    }

    /// Binds an expression of PARTITION BY or ORDER BY.
    fn window_key(&mut self, expr: &ast::Expr, window: &str) -> Result<Expr> {
        if matches!(expr, ast::Expr::Literal(ast::Literal::Int(_))) {
            return Err(SqlError::new(ErrorCode::WindowIllegalOrderBy, &[&window]));
        }
        let (env, host) = (self.binder.context.env, self.binder.context.host);
        let bound = Binder { scope: self, env, host }.scalar(expr)?;
        if has_window(&bound) {
            let code = ErrorCode::WindowNestedWindowFuncUseInWindowSpec;
            return Err(SqlError::new(code, &[&window]));
        }
        Ok(sort_key(bound))
    }

    fn frame(
        &mut self,
        frame: &WindowFrame,
        order: &[(Expr, bool)],
        window: &str,
    ) -> Result<Frame> {
        let wrong = |code: ErrorCode| Err(SqlError::new(code, &[&window]));
        if frame.excludes {
            return Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"EXCLUDE"]));
        }
        if frame.unit == FrameUnit::Groups {
            return Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"GROUPS"]));
        }
        if frame.start == FrameBound::UnboundedFollowing {
            return wrong(ErrorCode::WindowFrameStartIllegal);
        }
        if frame.end == FrameBound::UnboundedPreceding {
            return wrong(ErrorCode::WindowFrameEndIllegal);
        }
        let rank = |bound: &FrameBound| match bound {
            FrameBound::UnboundedPreceding => 0,
            FrameBound::Preceding(_) => 1,
            FrameBound::CurrentRow => 2,
            FrameBound::Following(_) => 3,
            FrameBound::UnboundedFollowing => 4,
        };
        if rank(&frame.start) > rank(&frame.end) {
            return wrong(ErrorCode::WindowFrameIllegal);
        }
        let range = frame.unit == FrameUnit::Range;
        let start = self.frame_bound(&frame.start, range, order, window)?;
        let end = self.frame_bound(&frame.end, range, order, window)?;
        Ok(Frame { range, start, end })
    }

    fn frame_bound(
        &mut self,
        bound: &FrameBound,
        range: bool,
        order: &[(Expr, bool)],
        window: &str,
    ) -> Result<FrameEnd> {
        let wrong = |code: ErrorCode| Err(SqlError::new(code, &[&window]));
        let offset = match bound {
            FrameBound::UnboundedPreceding | FrameBound::UnboundedFollowing => {
                return Ok(FrameEnd::Unbounded);
            }
            FrameBound::CurrentRow => return Ok(FrameEnd::Current),
            FrameBound::Preceding(offset) | FrameBound::Following(offset) => offset,
        };
        // ROWS counts rows, so its distance is a number.
        let interval = matches!(offset, FrameOffset::Interval(..));
        if !range && interval {
            return wrong(ErrorCode::WindowRowsIntervalUse);
        }
        // RANGE adds the distance to a value of ORDER BY: there must be one key, and the distance
        // must be of its kind.
        if range {
            let class = match order {
                [(only, _)] => only.ty.class(),
                _ => return wrong(ErrorCode::WindowRangeFrameOrderType),
            };
            match class {
                TypeClass::Dated | TypeClass::Time if !interval => {
                    return wrong(ErrorCode::WindowRangeFrameTemporalType);
                }
                TypeClass::Int | TypeClass::Decimal | TypeClass::Real if interval => {
                    return wrong(ErrorCode::WindowRangeFrameNumericType);
                }
                TypeClass::String | TypeClass::Json | TypeClass::Null => {
                    return wrong(ErrorCode::WindowRangeFrameOrderType);
                }
                _ => {}
            }
        }
        let (env, host) = (self.binder.context.env, self.binder.context.host);
        let mut binder = Binder { scope: self, env, host };
        let distance = match offset {
            FrameOffset::Expr(expr) => {
                binder.demand(expr, ParamType::Int, ParamUse::Converted);
                Distance::Number(binder.scalar(expr)?)
            }
            FrameOffset::Interval(expr, unit) => Distance::Interval(binder.scalar(expr)?, *unit),
        };
        let (Distance::Number(expr) | Distance::Interval(expr, _)) = &distance;
        // The executor evaluates the distance without a row, and relies on both ends of a frame
        // only moving forward.
        if !expr.is_constant_in_statement() {
            return wrong(ErrorCode::WindowRangeBoundNotConstant);
        }
        Ok(match bound {
            FrameBound::Preceding(_) => FrameEnd::Preceding(distance),
            _ => FrameEnd::Following(distance),
        })
    }
}

/// Whether rows sorted for `a` are sorted for `b`.
fn same_order(a: &WindowPlan, b: &WindowPlan) -> bool {
    a.partition.len() == b.partition.len()
        && a.order.len() == b.order.len()
        && a.partition.iter().zip(&b.partition).all(|(a, b)| a.same(b) && is_stable(a))
        && a.order
            .iter()
            .zip(&b.order)
            .all(|((a, descends), (b, other))| descends == other && a.same(b) && is_stable(a))
}

impl QueryBinder<'_> {
    /// Takes the windows of the SELECT that is being bound.
    pub(super) fn take_windows(&mut self) -> Vec<WindowPlan> {
        self.levels.last_mut().map(|level| std::mem::take(&mut level.windows)).unwrap_or_default()
    }
}
