//! `sql_auto_is_null`: `WHERE id IS NULL` means the row that was inserted last, as clients of old
//! ask for it. Only a whole condition means that, and only on an AUTO_INCREMENT column.
//!
//! Example: after an INSERT that made the number 7, `SELECT * FROM t WHERE id IS NULL` is run as
//! `SELECT * FROM t WHERE id = LAST_INSERT_ID()`. Prepared statements keep their meaning.

use crate::expr::Environment;
use inia_parser::ast::{BinaryOp, ColumnName, Expr, FunctionCall, UnaryOp};

/// The column that a condition asks to be NULL.
fn asked(condition: &Expr) -> Option<&ColumnName> {
    let operand = match condition {
        Expr::IsNull { expr, negated: false } => expr,
        Expr::Unary { op: UnaryOp::Not, expr } => match &**expr {
            Expr::IsNull { expr, negated: true } => expr,
            _ => return None,
        },
        Expr::Function(call) if call.db.is_none() && call.name.eq_ignore_ascii_case("isnull") => {
            call.args.first()?
        }
        _ => return None,
    };
    match operand {
        Expr::Column(name) => Some(name),
        _ => None,
    }
}

/// The condition that one on a column that `is_numbered` stands for, where it stands for another.
pub(crate) fn last_inserted(
    condition: &Expr,
    env: &Environment,
    is_numbered: impl Fn(&ColumnName) -> bool,
) -> Option<Expr> {
    if !env.auto_is_null || env.is_prepared || env.last_insert_id == 0 {
        return None;
    }
    let name = asked(condition).filter(|name| is_numbered(name))?;
    let number = Expr::Function(FunctionCall::native("last_insert_id", Vec::new()));
    let (left, right) = (Box::new(Expr::Column(name.clone())), Box::new(number));
    Some(Expr::Binary { op: BinaryOp::Eq, left, right })
}
