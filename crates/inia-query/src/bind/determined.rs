//! Which columns of a derived table determine others, as ONLY_FULL_GROUP_BY asks.
//!
//! Example: in `SELECT d.u, d.total FROM (SELECT u, SUM(x) AS total FROM o GROUP BY u) d
//! GROUP BY d.u` the derived table has one row for each `u`, so that `d.u` fixes `d.total`.

use super::dependent::Dependencies;
use super::from::BoundFrom;
use super::select::Clauses;
use super::{Level, QueryBinder};
use crate::access::is_stable;
use inia_expr::{Expr, ExprKind, SlotSet, slots_of};
use inia_parser::ast;
use std::sync::Arc;

/// What a derived table's SELECT says of its columns.
pub(super) struct DerivedColumns {
    /// What each column is, over the slots of the SELECT's own FROM.
    items: Vec<Expr>,
    rows: Rows,
    within: Dependencies,
}

/// What a row of a SELECT stands for.
enum Rows {
    /// A row of FROM.
    Plain,
    /// A group of them; there is one where there are no expressions.
    Groups(Vec<Expr>),
}

impl DerivedColumns {
    /// `None` for a SELECT whose expressions do not determine its rows.
    fn of(
        select: &ast::Select,
        from: &BoundFrom,
        clauses: &Clauses,
        level: &Level,
    ) -> Option<DerivedColumns> {
        if select.rollup || level.recurs {
            return None;
        }
        let grouped = !clauses.group.is_empty() || !clauses.aggregates.is_empty();
        let within = match &from.tree {
            Some(tree) => Dependencies::of(tree, &clauses.conditions),
            None => Dependencies::default(),
        };
        Some(DerivedColumns {
            items: clauses.items.iter().map(|item| item.expr.clone()).collect(),
            rows: if grouped { Rows::Groups(clauses.group.clone()) } else { Rows::Plain },
            within,
        })
    }

    /// The columns that have one value where the `fixed` ones have one, themselves not included.
    /// MySQL infers nothing, not even of a single row, where no column is fixed.
    pub(super) fn determined_by(&self, fixed: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let given: Vec<&Expr> =
            self.items.iter().enumerate().filter(|(at, _)| fixed(*at)).map(|(_, e)| e).collect();
        if given.is_empty() {
            return Vec::new();
        }
        let slots = || {
            given.iter().filter_map(|item| match item.kind {
                ExprKind::Column { index, .. } => Some(index),
                _ => None,
            })
        };
        let known = self.within.determined_by(slots());
        let is_known = |expr: &Expr| reads_only(expr, &known);
        let (mut group, mut row) = (false, false);
        match &self.rows {
            Rows::Plain => row = self.within.determine_rows(slots()),
            Rows::Groups(keys) => {
                let is_fixed = |key: &Expr| given.iter().any(|item| item.same(key));
                group = keys.iter().all(|key| is_known(key) || is_fixed(key));
            }
        }
        let determined = |item: &Expr| group || (row && is_stable(item)) || is_known(item);
        let items = self.items.iter().enumerate();
        items.filter(|(at, item)| !fixed(*at) && determined(item)).map(|(at, _)| at).collect()
    }
}

/// Whether an expression computes the same of the same slots, and reads no others.
fn reads_only(expr: &Expr, known: &SlotSet) -> bool {
    let needs = slots_of(expr);
    let mut of_the_row = true;
    expr.walk(&mut |node| {
        of_the_row &= !matches!(
            node.kind,
            ExprKind::Aggregate(_)
                | ExprKind::Window(_)
                | ExprKind::Subquery(_)
                | ExprKind::OuterColumn { .. }
        );
    });
    of_the_row && is_stable(expr) && needs.slots.is_subset(known)
}

impl QueryBinder<'_> {
    /// Keeps what a SELECT says of its columns, for the query around it.
    pub(super) fn keep_determined(
        &mut self,
        select: &ast::Select,
        from: &BoundFrom,
        clauses: &Clauses,
    ) {
        let level = self.levels.last().expect("a SELECT is being bound");
        self.determined = DerivedColumns::of(select, from, clauses, level).map(Arc::new);
    }

    /// Gives the query that was bound last as subplan `id` what its columns determine.
    pub(super) fn keep_determined_of(&mut self, id: usize) {
        let alone = self.subplans[id].as_ref().is_some_and(|subplan| !subplan.correlated);
        if let Some(columns) = self.determined.take().filter(|_| alone) {
            self.determined_of.insert(id, columns);
        }
    }
}
