//! Constants that are computed while the statement is rewritten.

use super::Rewriter;
use super::condition::{is_constant, truth};
use inia_base::value::Value;
use inia_expr::{EmptyScope, EvalContext, NoSubqueries, bind};
use inia_parser::ast::{Expr, Literal};

impl Rewriter<'_> {
    /// The value of a constant; `None` where it is none, or fails.
    pub(super) fn value(&self, expr: &Expr) -> Option<Value> {
        if !is_constant(expr) {
            return None;
        }
        let (env, host) = (&self.session.env, self.session);
        let bound = bind(expr, &mut EmptyScope, env, host).ok()?;
        let mut context = EvalContext::new(env, host, &NoSubqueries, &[]);
        bound.eval(&mut context, &[]).ok()
    }

    /// Whether a constant condition holds.
    pub(super) fn holds(&self, condition: &Expr) -> Option<bool> {
        if let Expr::Literal(Literal::Bool(value)) = condition {
            return Some(*value);
        }
        if !is_constant(condition) {
            return None;
        }
        let (env, host) = (&self.session.env, self.session);
        let bound = bind(condition, &mut EmptyScope, env, host).ok()?;
        let mut context = EvalContext::new(env, host, &NoSubqueries, &[]);
        Some(bound.eval_bool(&mut context, &[]).ok()? == Some(true))
    }

    /// The condition without constant operands of AND and OR; `true` or `false` where nothing else
    /// decides.
    pub(super) fn decided(&self, condition: Expr) -> Expr {
        match condition {
            Expr::And(list) => {
                let list: Vec<Expr> =
                    list.into_iter().map(|operand| self.decided(operand)).collect();
                if list.iter().any(|operand| self.holds(operand) == Some(false)) {
                    return truth(false);
                }
                let open = list.into_iter().filter(|operand| self.holds(operand).is_none());
                super::condition::all_of(open.collect()).unwrap_or_else(|| truth(true))
            }
            Expr::Or(list) => {
                let list: Vec<Expr> =
                    list.into_iter().map(|operand| self.decided(operand)).collect();
                if list.iter().any(|operand| self.holds(operand) == Some(true)) {
                    return truth(true);
                }
                let mut open: Vec<Expr> =
                    list.into_iter().filter(|operand| self.holds(operand).is_none()).collect();
                match open.len() {
                    0 => truth(false),
                    1 => open.remove(0),
                    _ => Expr::Or(open),
                }
            }
            other => match self.holds(&other) {
                Some(value) => truth(value),
                None => other,
            },
        }
    }
}
