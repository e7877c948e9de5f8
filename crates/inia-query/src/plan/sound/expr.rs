//! What holds for the expressions of a plan.

use crate::plan::StatementPlan;
use inia_expr::tree::SubqueryKind;
use inia_expr::{Expr, ExprKind, SlotSet};

/// What an expression may read where it is evaluated.
#[derive(Clone)]
pub(super) struct Readable<'p> {
    /// The plan, for what it has by number.
    pub(super) plan: &'p StatementPlan,
    /// Slots of the row.
    pub(super) slots: SlotSet,
    /// How many aggregates the group has.
    pub(super) calls: usize,
    /// How many functions over windows are computed.
    pub(super) windows: usize,
}

impl<'p> Readable<'p> {
    /// These slots, before grouping.
    pub(super) fn of(plan: &'p StatementPlan, slots: SlotSet) -> Readable<'p> {
        Readable { plan, slots, calls: 0, windows: 0 }
    }

    /// Checks an expression with all that is below it.
    pub(super) fn check(&self, expr: &Expr) {
        expr.debug_check();
        expr.walk(&mut |node| self.check_node(node));
    }

    fn check_node(&self, node: &Expr) {
        match &node.kind {
            ExprKind::Column { index, name } => {
                debug_assert!(self.slots.contains(*index), "{name} is filled where it is read");
            }
            ExprKind::OuterColumn { depth, .. } => {
                debug_assert!(*depth > 0, "an outer column is an enclosing query's");
            }
            ExprKind::Aggregate(number) => {
                debug_assert!(*number < self.calls, "an aggregate is read above its group");
            }
            ExprKind::Window(number) => {
                debug_assert!(*number < self.windows, "a window's result is read behind its pass");
            }
            ExprKind::Subquery(sub) => {
                debug_assert!(sub.id < self.plan.subplans.len(), "a subquery has a number");
                let subplan = &self.plan.subplans[sub.id];
                debug_assert!(sub.correlated || !subplan.correlated, "both say what it reads");
                let columns = subplan.query.columns.len();
                match &sub.kind {
                    SubqueryKind::Scalar => debug_assert_eq!(columns, 1, "a scalar is one value"),
                    SubqueryKind::Row(types) | SubqueryKind::Quantified { types, .. } => {
                        debug_assert_eq!(
                            columns,
                            types.len(),
                            "the query has the columns compared"
                        );
                    }
                    SubqueryKind::Exists { .. } => {}
                }
            }
            _ => {}
        }
    }
}
