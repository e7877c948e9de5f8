//! ONLY_FULL_GROUP_BY in subqueries of conditions.
//!
//! MySQL checks the groups of a subquery after it has dropped what a constant decides:
//! `WHERE 1 = 2 AND a IN (SELECT b FROM t GROUP BY c HAVING COUNT(*) > 1)` is no error, though `b`
//! differs in the groups. So the error of a subquery waits until the condition around it is bound.

use crate::bind::scope::Clause;
use crate::bind::{QueryBinder, Result};
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::{Expr, ExprKind};

/// Errors of subqueries that wait.
#[derive(Default)]
pub(in crate::bind) struct Ungrouped {
    /// How many subqueries of expressions are being bound, one in the other.
    inside: usize,
    /// The error of the subquery that is being bound.
    open: Option<SqlError>,
    /// Errors of the subqueries that are bound, by their numbers.
    bound: Vec<(usize, SqlError)>,
}

impl Ungrouped {
    /// How many errors wait.
    pub(super) fn deferred(&self) -> usize {
        self.bound.len()
    }
}

impl QueryBinder<'_> {
    /// Binds a subquery of an expression by `bind`, which gives its number first.
    pub(in crate::bind) fn with_deferred_checks<T>(
        &mut self,
        bind: impl FnOnce(&mut Self) -> Result<(usize, T)>,
    ) -> Result<(usize, T)> {
        self.ungrouped.inside += 1;
        let bound = bind(self);
        self.ungrouped.inside -= 1;
        let error = self.ungrouped.open.take();
        let (id, rest) = bound?;
        self.ungrouped.bound.extend(error.map(|error| (id, error)));
        Ok((id, rest))
    }

    /// Keeps the error of a check for later, in a subquery of an expression.
    pub(super) fn defer(&mut self, checked: Result<()>) -> Result<()> {
        let Err(error) = checked else { return Ok(()) };
        if self.ungrouped.inside == 0 {
            return Err(error);
        }
        self.ungrouped.open.get_or_insert(error);
        Ok(())
    }

    /// Decides on the errors from `first` on, once the expression around their subqueries is bound.
    pub(super) fn settle(&mut self, first: usize, bound: &Expr, clause: Clause) -> Result<()> {
        if self.ungrouped.bound.len() <= first {
            return Ok(());
        }
        let mut dropped = Vec::new();
        if matches!(clause, Clause::Where | Clause::On | Clause::Having) {
            decided(bound, &mut dropped);
        }
        let mut wrong = self.ungrouped.bound.split_off(first).into_iter();
        match wrong.find(|(id, _)| !dropped.contains(id)) {
            Some((_, error)) => self.defer(Err(error)),
            None => Ok(()),
        }
    }
}

/// Adds the subqueries of AND and OR whose truth one constant decides.
fn decided(condition: &Expr, dropped: &mut Vec<usize>) {
    let is = |item: &Expr, truth: bool| match item.as_literal() {
        Some(Value::Int(number)) => (*number != 0) == truth,
        Some(Value::Null) => !truth,
        _ => false,
    };
    let (items, decides) = match &condition.kind {
        ExprKind::And(items) => (items, false),
        ExprKind::Or(items) => (items, true),
        ExprKind::Not(inner) => return decided(inner, dropped),
        _ => return,
    };
    if !items.iter().any(|item| is(item, decides)) {
        items.iter().for_each(|item| decided(item, dropped));
        return;
    }
    condition.walk(&mut |node| {
        if let ExprKind::Subquery(subquery) = &node.kind {
            dropped.push(subquery.id);
        }
    });
}
