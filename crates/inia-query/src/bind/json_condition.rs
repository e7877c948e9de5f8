//! JSON documents that stand for true or false: each is compared with the JSON number 0, of which
//! MySQL warns where the statement is bound.

use super::QueryBinder;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::{Expr, ExprKind, Level, Warning};

impl QueryBinder<'_> {
    /// Warning 3986 for each document that is true or false in an expression.
    pub(super) fn warn_of_documents(&mut self, expr: &Expr, is_condition: bool) {
        let mut count = usize::from(is_condition && is_json(expr));
        expr.walk(&mut |node| count += tested(node));
        for _ in 0..count {
            let error = SqlError::new(ErrorCode::ImplicitComparisonForJson, &[]);
            self.warnings.push(Warning::of(Level::Warning, error));
        }
    }
}

/// How many operands of a node are documents that it takes for true or false.
fn tested(node: &Expr) -> usize {
    let all = |operands: &[Expr]| operands.iter().filter(|operand| is_json(operand)).count();
    match &node.kind {
        ExprKind::And(operands) | ExprKind::Or(operands) => all(operands),
        ExprKind::Xor(left, right) => usize::from(is_json(left)) + usize::from(is_json(right)),
        ExprKind::Not(operand) | ExprKind::IsTruth(operand, ..) => usize::from(is_json(operand)),
        ExprKind::Call(call) if call.name == "if" => all(&call.args[..1]),
        _ => 0,
    }
}

fn is_json(expr: &Expr) -> bool {
    expr.ty.data_type == DataType::Json
}
