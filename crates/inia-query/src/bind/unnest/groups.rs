//! IN and EXISTS over groups of rows that belong to the row around become joins with all groups.
//!
//! `EXISTS (SELECT l.s FROM l WHERE l.k = o.k GROUP BY l.s HAVING COUNT(*) > 1)` makes the groups
//! of one `k` for each row of `o`. With `k` as one more key all groups are made once, and the
//! condition is a semi join; its negation is an anti join:
//!
//! ```text
//!   o SEMI JOIN (SELECT l.k, l.s FROM l GROUP BY l.k, l.s HAVING COUNT(*) > 1) g ON g.k = o.k
//! ```
//! The rows of a group have one value of `k` in both: the equality holds values equal exactly where
//! the grouping does.

use super::super::QueryBinder;
use super::super::from::BoundFrom;
use super::super::nesting::MAX_TABLES;
use super::super::select::Clauses;
use super::scalar::{Ties, reads_around};
use super::{BoundNested, Tested, add_comparisons, is_movable};
use crate::plan::JoinType;
use inia_expr::tree::SubqueryKind;
use inia_expr::{Expr, ExprKind};

impl BoundNested {
    /// Whether its rows are groups that belong to a row around, of so many slots, by equalities.
    fn is_of_groups(&self, width: usize) -> bool {
        let grouped = self.groups.as_ref().is_some_and(|groups| !groups.keys.is_empty());
        let tied = |nested: &BoundNested| nested.ties(width).is_some_and(|t| !t.ties.is_empty());
        grouped && !self.output.iter().any(reads_around) && tied(self)
    }
}

/// Whether a condition is about this subquery.
fn is_about(condition: &Expr, id: usize) -> bool {
    Tested::of(condition).is_some_and(|tested| tested.sub.id == id)
}

impl QueryBinder<'_> {
    /// The subqueries of conditions that are about groups of the row around.
    pub(super) fn tests_of_groups(&self, conditions: &[Expr], width: usize) -> Vec<usize> {
        let of_groups = |condition: &Expr| {
            let tested = Tested::of(condition)?;
            if let SubqueryKind::Quantified { left, .. } = &tested.sub.kind
                && !left.iter().all(is_movable)
            {
                return None;
            }
            let nested = self.nested.get(&tested.sub.id)?;
            (nested.joins.is_some() && nested.is_of_groups(width)).then_some(tested.sub.id)
        };
        conditions.iter().filter_map(of_groups).collect()
    }

    /// Joins the groups that a condition is about.
    pub(super) fn join_groups(
        &mut self,
        id: usize,
        from: &mut BoundFrom,
        clauses: &mut Clauses,
    ) -> bool {
        let around = from.width;
        let at = clauses.conditions.iter().position(|condition| is_about(condition, id));
        let nested = self.nested.get(&id).filter(|_| from.tables < MAX_TABLES);
        let (Some(at), Some(nested)) = (at, nested) else { return false };
        let (Some(Ties { ties, rest }), Some(groups)) = (nested.ties(around), &nested.groups)
        else {
            return false;
        };
        let mut inner = Clauses::of_conditions(rest);
        for tie in &ties {
            inner.group.push(tie.own.clone());
            inner.push_unnamed(tie.own.clone());
        }
        inner.group.extend(groups.keys.iter().cloned());
        inner.aggregates.clone_from(&groups.calls);
        inner.having.clone_from(&groups.having);
        nested.output.iter().for_each(|expr| inner.push_unnamed(expr.clone()));
        let first = around + ties.len();
        let output = nested.output.iter().zip(first..);
        let column = |(expr, slot): (&Expr, usize)| {
            Expr::column(slot, expr.ty.clone(), format!("<group {slot}>"))
        };
        let output: Vec<Expr> = output.map(column).collect();
        let own = nested.from();
        let condition = clauses.conditions.remove(at);
        let Some(tested) = Tested::of(&condition) else { return false };
        let mut on = Vec::new();
        add_comparisons(&tested, output, &mut on);
        let kind = if tested.negated { JoinType::Anti } else { JoinType::Semi };
        let leaf = self.derived_leaf(own, inner, from);
        on.extend(ties.into_iter().zip(around..).map(|(tie, slot)| tie.with_slot(slot)));
        debug_assert!(on.iter().all(|c| !matches!(c.kind, ExprKind::Subquery(_))), "a join's own");
        from.join(kind, leaf, on);
        true
    }
}
