//! Values of subqueries that the statement's own thread has run, for the threads that help it.

use crate::exec::Result;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{EvalContext, Expr, ExprKind, RowVisitor, SubqueryRunner};

/// The values of subqueries that read no row around them, by the numbers of the subqueries.
#[derive(Default)]
pub(super) struct ScalarValues(Vec<(usize, Value)>);

impl ScalarValues {
    /// Runs the subqueries in an expression. False where one fails, as the statement's own thread
    /// will see where it needs the value.
    pub(super) fn add(&mut self, expr: &Expr, ctx: &mut EvalContext<'_>) -> bool {
        let mut known = true;
        expr.walk(&mut |node| match &node.kind {
            ExprKind::Subquery(sub)
                if sub.is_run_once_value() && !self.0.iter().any(|(id, _)| *id == sub.id) =>
            {
                match node.eval(ctx, &[]) {
                    Ok(value) => self.0.push((sub.id, value)),
                    Err(_) => known = false,
                }
            }
            _ => {}
        });
        known
    }
}

impl SubqueryRunner for ScalarValues {
    fn rows(&self, id: usize, ctx: &mut EvalContext<'_>, visit: &mut RowVisitor<'_>) -> Result<()> {
        match self.0.iter().find(|(known, _)| *known == id) {
            Some((_, value)) => visit(ctx, std::slice::from_ref(value)).map(drop),
            None => Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"a subquery in a worker"])),
        }
    }
}
