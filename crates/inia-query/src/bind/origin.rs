//! Where the values of a select item come from.

use crate::plan::Origin;
use inia_expr::{Expr, ExprKind};

/// Functions of strings whose results have no fixed length.
const VARYING: [&str; 6] = ["any_value", "addtime", "subtime", "timestampadd", "nullif", "elt"];

/// The origin of what an expression computes.
pub(super) fn of(expr: &Expr) -> Origin {
    match &expr.kind {
        ExprKind::Column { .. } | ExprKind::OuterColumn { .. } => Origin::Column,
        ExprKind::Literal(_) | ExprKind::HexLiteral(_) => Origin::Literal,
        ExprKind::Aggregate(_) => Origin::Aggregate,
        ExprKind::Window(_) => Origin::Window,
        ExprKind::Subquery(_) => Origin::Subquery,
        ExprKind::AssignUserVar(..) => Origin::Variable,
        ExprKind::Call(call) if call.name == "ifnull" => Origin::IfNull,
        ExprKind::Call(call) if VARYING.contains(&call.name) => Origin::Varying,
        ExprKind::DateArith(_) => Origin::Varying,
        // NULLIF is a CASE that yields its first operand or NULL.
        ExprKind::Case(case) if case.is_nullif() => Origin::Varying,
        _ => Origin::Function,
    }
}
