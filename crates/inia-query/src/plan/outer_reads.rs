//! What a correlated subquery reads of the rows around it, where nothing else decides over its
//! rows.
//!
//! Example: in `SELECT … FROM part WHERE x < (SELECT AVG(q) FROM item WHERE item.part = part.id)`
//! the subquery reads `part.id` alone, so rows of `part` with one id have one average.

use super::{RowSource, StatementPlan};
use inia_expr::{Expr, ExprKind};

/// A value of a row around a subquery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OuterCell {
    /// How many queries outwards the row is; 1 for the next.
    pub(crate) depth: usize,
    /// The slot of that row.
    pub(crate) slot: usize,
}

impl StatementPlan {
    /// The cells that decide over the rows of a subplan; `None` where something else may: the
    /// session's state, chance, what the statement has locked, or rows that are computed anew.
    pub(crate) fn outer_reads(&self, id: usize) -> Option<Vec<OuterCell>> {
        let mut reads = OuterReads { plan: self, cells: Vec::new(), alone: true };
        reads.subplan(id, 0);
        reads.alone.then_some(reads.cells)
    }

    /// Whether it calls stored functions, which may change what it reads.
    pub(crate) fn calls_functions(&self) -> bool {
        let mut calls = false;
        let mut visit = |expr: &Expr| {
            expr.walk(&mut |node| calls |= matches!(node.kind, ExprKind::Stored(_)));
        };
        self.root.for_each_expr(&mut visit);
        for subplan in &self.subplans {
            subplan.query.for_each_expr(&mut visit);
            if let Some(recursive) = &subplan.recursive {
                recursive.step.for_each_expr(&mut visit);
            }
        }
        calls
    }
}

struct OuterReads<'p> {
    plan: &'p StatementPlan,
    cells: Vec<OuterCell>,
    /// Nothing else decides.
    alone: bool,
}

impl OuterReads<'_> {
    /// Adds what a subplan reads that is so many queries further in.
    fn subplan(&mut self, id: usize, further: usize) {
        let subplan = &self.plan.subplans[id];
        self.alone &= subplan.recursive.is_none();
        let plan = self.plan;
        plan.subplans[id].query.for_each_source(&mut |source| {
            self.alone &= match source {
                RowSource::Table(table) => table.lock.is_none(),
                // A derived table that reads no row is made once for the statement.
                RowSource::Subplan { id, .. } => !plan.subplans[*id].correlated,
                RowSource::Virtual(_) => false,
                RowSource::One
                | RowSource::Nothing
                | RowSource::JsonTable(_)
                | RowSource::Dedup(_)
                | RowSource::Join(_) => true,
            };
        });
        plan.subplans[id].query.for_each_expr(&mut |expr| {
            expr.walk(&mut |node| self.node(node, further));
        });
    }

    fn node(&mut self, node: &Expr, further: usize) {
        match &node.kind {
            ExprKind::OuterColumn { depth, index, .. } if *depth > further => {
                let cell = OuterCell { depth: depth - further, slot: *index };
                if !self.cells.contains(&cell) {
                    self.cells.push(cell);
                }
            }
            ExprKind::Subquery(sub) if sub.correlated && self.alone => {
                self.subplan(sub.id, further + 1);
            }
            ExprKind::UserVar(_)
            | ExprKind::AssignUserVar(..)
            | ExprKind::SysVar(..)
            | ExprKind::InsertValue(_)
            | ExprKind::Match(_)
            | ExprKind::Stored(_) => self.alone = false,
            ExprKind::Call(call) => self.alone &= call.deterministic,
            _ => {}
        }
    }
}
