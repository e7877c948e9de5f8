//! WITH ROLLUP: expressions above the grouping read the group's values from slots of their own.
//!
//! Example: `SELECT a + 1, GROUPING(a), COUNT(*) FROM t GROUP BY a WITH ROLLUP` over a row of width
//! 3: the group's `a` is slot 3, whether it is rolled up slot 4; the select list becomes
//! `slot 3 + 1`, `GROUPING(slot 4)`.

use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::tree::Call;
use inia_expr::{Args, FnResult};
use inia_expr::{Expr, ExprKind, ExprType};

/// The function's name as its call carries it.
const GROUPING: &str = "grouping";

/// `GROUPING(args)`, its arguments still the group expressions themselves.
pub(super) fn grouping_call(args: Vec<Expr>) -> Expr {
    let call = Call { name: GROUPING, eval: grouping_bits, args, tag: 0, deterministic: false };
    Expr { kind: ExprKind::Call(Box::new(call)), ty: ExprType::int(21, true) }
}

/// The arguments as bits, the last one lowest.
fn grouping_bits(args: &mut Args<'_, '_>) -> FnResult {
    let mut bits = 0;
    for arg in &args.call.args {
        let value = arg.eval(args.ctx, args.row)?;
        bits = bits << 1 | i64::from(value == Value::Int(1));
    }
    Ok(Value::Int(bits))
}

/// Whether the expression calls GROUPING.
pub(super) fn asks_grouping(expr: &Expr) -> bool {
    let mut asks = false;
    expr.walk(&mut |node| asks |= matches!(&node.kind, ExprKind::Call(c) if c.name == GROUPING));
    asks
}

/// Whether an expression reads one of the group's values, `groups` from slot `width` on.
pub(super) fn reads_rolled_up(expr: &Expr, width: usize, groups: usize) -> bool {
    let mut reads = false;
    expr.walk(&mut |node| {
        reads |= matches!(node.kind, ExprKind::Column { index, .. }
            if (width..width + groups).contains(&index));
    });
    reads
}

/// Makes `expr` read the group's values: from slot `width` on, flags behind them.
pub(super) fn above_rollup(expr: &mut Expr, group: &[Expr], width: usize) -> Result<(), SqlError> {
    if let ExprKind::Call(call) = &mut expr.kind
        && call.name == GROUPING
    {
        for (number, arg) in call.args.iter_mut().enumerate() {
            let Some(at) = group.iter().position(|group| group.same(arg)) else {
                let code = ErrorCode::FieldInGroupingNotGroupBy;
                return Err(SqlError::new(code, &[&(number + 1)]));
            };
            let name = inia_expr::print::print(arg);
            *arg = Expr::column(width + group.len() + at, ExprType::int(1, false), name);
        }
        return Ok(());
    }
    if let Some(at) = group.iter().position(|group| group.same(expr)) {
        let name = inia_expr::print::print(expr);
        *expr = Expr::column(width + at, expr.ty.clone().with_nullable(true), name);
        return Ok(());
    }
    let mut outcome = Ok(());
    expr.children_mut(&mut |child| {
        if outcome.is_ok() {
            outcome = above_rollup(child, group, width);
        }
    });
    outcome
}
