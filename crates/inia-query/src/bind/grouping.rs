//! ONLY_FULL_GROUP_BY: what a grouped SELECT may read outside its aggregates.
//!
//! A column is allowed where its value is the same in all rows of a group: it is a group
//! expression, or the group fixes a key of its table, or WHERE makes it equal to a constant or to a
//! column that is allowed.

use super::fixed_columns::Members;
use super::namespace::{FromColumn, FromTable};
use super::scope::ScopeItem;
use super::{Namespace, Result};
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::tree::CastKind;
use inia_expr::{Expr, ExprKind};
use inia_expr::{SlotSet, slots_of};
use std::collections::HashMap;
use std::sync::Arc;

/// Checks a grouped SELECT's list.
pub(super) struct GroupCheck<'g> {
    pub(super) group: &'g [Expr],
    pub(super) grouped: bool,
    pub(super) fixed: SlotSet,
    /// Group expressions and constant ones that a merged view or derived table calls a column.
    columns: Vec<&'g Expr>,
    loose_reads: &'g HashMap<usize, Vec<usize>>,
}

impl<'g> GroupCheck<'g> {
    /// Works out which slots each group fixes. `loose_reads` are what subqueries read, by number.
    pub(super) fn new(
        (group, grouped, rollup): (&'g [Expr], bool, bool),
        members: &'g Members,
        loose_reads: &'g HashMap<usize, Vec<usize>>,
        names: &Namespace,
    ) -> GroupCheck<'g> {
        let mut fixed = SlotSet::default();
        for expr in group {
            if let ExprKind::Column { index, .. } = expr.kind {
                fixed.insert(index);
            }
        }
        // WITH ROLLUP gives NULL for a key and not for what the key fixes.
        if !rollup {
            members.close(&mut fixed);
        }
        let constant = if rollup { &[] } else { members.constant_exprs() };
        let columns = group.iter().chain(constant).filter(|expr| is_column(expr, names)).collect();
        GroupCheck { group, grouped, fixed, columns, loose_reads }
    }

    /// Error 1055 or 1140 where a select item reads a column that its group does not fix.
    pub(super) fn check(&self, items: &[ScopeItem], names: &Namespace) -> Result<()> {
        for (number, item) in items.iter().enumerate() {
            if self.is_group_expression(&item.expr) {
                continue;
            }
            if let Some(slot) = self.loose_column(&item.expr) {
                let found = item.column.map(|at| (&names.tables[at.0], names.column(at)));
                let column = found.or_else(|| self.column_of(slot, names));
                return Err(self.error(number + 1, "SELECT list", column));
            }
        }
        Ok(())
    }

    /// The same for one expression of ORDER BY or HAVING.
    pub(super) fn check_one(
        &self,
        expr: &Expr,
        number: usize,
        clause: &str,
        names: &Namespace,
    ) -> Result<()> {
        match self.loose_column(expr).filter(|_| !self.is_group_expression(expr)) {
            Some(slot) => Err(self.error(number, clause, self.column_of(slot, names))),
            None => Ok(()),
        }
    }

    /// The column of a slot. A slot without a name is read by a column that a merged view or
    /// derived table computes.
    fn column_of<'n>(
        &self,
        slot: usize,
        names: &'n Namespace,
    ) -> Option<(&'n FromTable, &'n FromColumn)> {
        let reads = |merged: &Arc<Expr>| slots_of(merged).slots.contains(slot);
        let mut columns = names
            .tables
            .iter()
            .flat_map(|table| table.columns.iter().map(move |column| (table, column)));
        columns
            .clone()
            .find(|(_, column)| column.slot == slot)
            .or_else(|| columns.find(|(_, column)| column.merged.as_ref().is_some_and(reads)))
    }

    fn error(
        &self,
        number: usize,
        clause: &str,
        column: Option<(&FromTable, &FromColumn)>,
    ) -> SqlError {
        let column = column.map(|(table, column)| table.full_name(column));
        let column = column.unwrap_or_default();
        if self.grouped {
            SqlError::new(ErrorCode::WrongFieldWithGroup, &[&number, &clause, &column])
        } else {
            SqlError::new(ErrorCode::MixOfGroupFuncAndFields, &[&number, &clause, &column])
        }
    }

    /// Whether the whole expression is one of GROUP BY's; MySQL does not look for them inside.
    fn is_group_expression(&self, expr: &Expr) -> bool {
        self.group.iter().any(|group| same_written(group, expr))
    }

    /// A column outside aggregates and group expressions that the group does not fix.
    fn loose_column(&self, expr: &Expr) -> Option<usize> {
        match &expr.kind {
            ExprKind::Column { index, .. } => (!self.fixed.contains(*index)).then_some(*index),
            _ if self.columns.iter().any(|column| same_written(column, expr)) => None,
            ExprKind::Call(call) if matches!(call.name, "any_value" | "grouping") => None,
            _ => {
                let mut loose = self.loose_inside(expr);
                expr.children(&mut |child| {
                    if loose.is_none() {
                        loose = self.loose_column(child);
                    }
                });
                loose
            }
        }
    }
}

impl GroupCheck<'_> {
    /// A column that a subquery reads and the group does not fix. What the subquery computes of it
    /// is not looked at, so nothing is said where GROUP BY has more than columns.
    fn loose_inside(&self, expr: &Expr) -> Option<usize> {
        let ExprKind::Subquery(subquery) = &expr.kind else { return None };
        let columns = |group: &Expr| matches!(group.kind, ExprKind::Column { .. });
        let read = self.loose_reads.get(&subquery.id)?;
        if !self.group.iter().all(columns) {
            return None;
        }
        read.iter().copied().find(|slot| !self.fixed.contains(*slot))
    }
}

/// Whether an expression is what a column of a merged view or derived table stands for.
fn is_column(expr: &Expr, names: &Namespace) -> bool {
    let mut columns = names.tables.iter().flat_map(|table| &table.columns);
    columns.any(|column| column.merged.as_ref().is_some_and(|merged| same_written(merged, expr)))
}

/// Whether two expressions are the same as they are written: each may have a conversion of its own
/// around it, such as the rounding of a quotient.
pub(super) fn same_written(a: &Expr, b: &Expr) -> bool {
    written(a).same(written(b))
}

fn written(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast(inner, CastKind::Implicit) => written(inner),
        _ => expr,
    }
}
