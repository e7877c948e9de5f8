//! Which columns of a derived table determine others, as ONLY_FULL_GROUP_BY asks.
//!
//! Example: in `SELECT d.u, d.total FROM (SELECT u, SUM(x) AS total FROM o GROUP BY u) d
//! GROUP BY d.u` the derived table has one row for each `u`, so that `d.u` fixes `d.total`.

use super::QueryBinder;
use super::fixed_columns::Members;
use super::from::BoundFrom;
use super::select::Clauses;
use crate::access::is_stable;
use crate::optimize::strict_slots;
use inia_expr::{Expr, ExprKind, SlotSet, slots_of};
use inia_parser::ast;
use std::sync::Arc;

/// What a derived table's SELECT says of its columns.
#[derive(Clone)]
pub(super) struct DerivedColumns {
    items: Vec<Item>,
    rows: Rows,
    within: Members,
    /// MySQL writes it out in the query around it.
    merges: bool,
}

/// What a column is, over the slots of the SELECT's own FROM.
#[derive(Clone)]
struct Item {
    expr: Expr,
    /// The slots that make its value; `None` where there is more to it.
    reads: Option<SlotSet>,
    /// The same row always makes the same value.
    stable: bool,
}

/// What a row of a SELECT stands for.
#[derive(Clone)]
enum Rows {
    /// A row of FROM.
    Plain,
    /// A group of them; there is one where there are no expressions.
    Groups(Vec<Expr>),
}

impl Item {
    /// Whether it is NULL where the row of the derived table is.
    fn is_null_with_row(&self) -> bool {
        self.expr.is_constant() || strict_slots(&self.expr) != SlotSet::default()
    }
}

impl DerivedColumns {
    /// The columns that have one value where the `fixed` ones have one, themselves not included.
    /// `nullable`: on the inner side of an outer join, where a row of NULLs may stand for none.
    ///
    /// MySQL infers nothing, not even of a single row, where no column is fixed.
    pub(super) fn determined_by(
        &self,
        fixed: &dyn Fn(usize) -> bool,
        nullable: bool,
    ) -> Vec<usize> {
        let items = || self.items.iter().enumerate();
        let given: Vec<&Expr> =
            items().filter(|(at, _)| fixed(*at)).map(|(_, item)| &item.expr).collect();
        let is_row = |expr: &&Expr| !expr.ty.nullable;
        if !self.merges && (given.is_empty() || nullable && !given.iter().any(is_row)) {
            return Vec::new();
        }
        let slots = given.iter().filter_map(|item| match item.kind {
            ExprKind::Column { index, .. } => Some(index),
            _ => None,
        });
        let mut known = SlotSet::default();
        slots.for_each(|slot| known.insert(slot));
        self.within.close(&mut known);
        let is_known = |item: &Item| item.reads.as_ref().is_some_and(|r| r.is_subset(&known));
        let (mut group, mut row) = (false, false);
        match &self.rows {
            Rows::Plain => row = self.within.are_fixed(&known),
            Rows::Groups(keys) => {
                let of_known = |key: &Expr| {
                    let needs = slots_of(key);
                    is_stable(key) && needs.slots.is_subset(&known)
                };
                let is_given = |key: &Expr| given.iter().any(|item| item.same(key));
                group = keys.iter().all(|key| of_known(key) || is_given(key));
            }
        }
        let determined = |item: &Item| {
            let value = group || (row && item.stable) || is_known(item);
            value && !(self.merges && nullable && !item.is_null_with_row())
        };
        items().filter(|(at, item)| !fixed(*at) && determined(item)).map(|(at, _)| at).collect()
    }
}

impl QueryBinder<'_> {
    /// An item with the slots that make its value, those of subqueries and windows in it too.
    fn item(&self, expr: &Expr, clauses: &Clauses) -> Item {
        let mut reads = slots_of(expr).slots;
        let (mut of_the_row, mut stable) = (true, true);
        expr.walk(&mut |node| match &node.kind {
            ExprKind::Aggregate(_) | ExprKind::OuterColumn { .. } => of_the_row = false,
            ExprKind::Subquery(subquery) => {
                let read = self.loose_reads.get(&subquery.id);
                read.into_iter().flatten().for_each(|slot| reads.insert(*slot));
            }
            ExprKind::Window(number) => {
                // As in MySQL the order of the rows counts for nothing.
                let args = clauses.windows[*number].call.args();
                args.iter().for_each(|arg| reads = reads.union(&slots_of(arg).slots));
            }
            // MySQL takes what this computes for a function of the row.
            ExprKind::Call(call) if call.name == "uuid" => {}
            ExprKind::Call(call) => {
                stable &= call.deterministic || node.is_constant_in_statement();
            }
            ExprKind::AssignUserVar(..) | ExprKind::UserVar(_) => stable = false,
            _ => {}
        });
        let reads = (of_the_row && stable).then_some(reads);
        Item { expr: expr.clone(), reads, stable }
    }

    /// Keeps what a SELECT says of its columns, for the query around it.
    pub(super) fn keep_determined(
        &mut self,
        select: &ast::Select,
        from: &BoundFrom,
        clauses: &Clauses,
    ) {
        self.determined = None;
        if select.rollup || self.levels.last().is_none_or(|level| level.recurs) {
            return;
        }
        let grouped = !clauses.group.is_empty() || !clauses.aggregates.is_empty();
        self.determined = Some(Arc::new(DerivedColumns {
            items: clauses.items.iter().map(|item| self.item(&item.expr, clauses)).collect(),
            rows: if grouped { Rows::Groups(clauses.group.clone()) } else { Rows::Plain },
            within: self.members(from.tree.as_ref(), &clauses.conditions),
            merges: false,
        }));
    }

    /// Gives the query that was bound last as subplan `id` what its columns determine. Where it
    /// `merges`, MySQL has no derived table for it.
    pub(super) fn keep_determined_of(&mut self, id: usize, merges: bool) {
        let alone = self.subplans[id].as_ref().is_some_and(|subplan| !subplan.correlated);
        if let Some(mut columns) = self.determined.take().filter(|_| alone) {
            if merges {
                columns = Arc::new(DerivedColumns { merges, ..(*columns).clone() });
            }
            self.determined_of.insert(id, columns);
        }
    }
}
