//! ONLY_FULL_GROUP_BY: the groups fix what a grouped or DISTINCT query selects and orders by.

use crate::bind::from::BoundFrom;
use crate::bind::grouping::{GroupCheck, same_written};
use crate::bind::scope::ScopeItem;
use crate::bind::select::Clauses;
use crate::bind::{Namespace, QueryBinder, Result};
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::{Expr, ExprKind};
use inia_parser::ast;

impl QueryBinder<'_> {
    pub(super) fn check_full_group(
        &self,
        select: &ast::Select,
        from: &BoundFrom,
        clauses: &Clauses,
    ) -> Result<()> {
        let grouped = !clauses.group.is_empty();
        let visible = clauses.items.len();
        if !grouped && clauses.aggregates.is_empty() {
            return self.check_distinct_order(select, clauses);
        }
        let members = self.members(from.tree.as_ref(), &clauses.conditions);
        let group = (clauses.group.as_slice(), grouped, select.rollup);
        let check = GroupCheck::new(group, &members, &self.loose_reads, self.names());
        check.check(&clauses.items, self.names())?;
        check_windows(&check, clauses, self.names())?;
        for (number, key) in clauses.order.iter().enumerate() {
            if let Some(hidden) = key.index.checked_sub(visible) {
                let expr = &clauses.hidden[hidden];
                check.check_one(expr, number + 1, "ORDER BY clause", self.names())?;
            }
        }
        self.check_distinct_order(select, clauses)
    }

    /// Error 3065: DISTINCT cannot be ordered by what it does not select.
    fn check_distinct_order(&self, select: &ast::Select, clauses: &Clauses) -> Result<()> {
        let is_selected =
            |key: &Expr| clauses.items.iter().any(|item| same_written(&item.expr, key));
        // Groups whose keys are all selected are distinct anyway.
        let grouped = !clauses.group.is_empty() && !select.rollup;
        if !select.options.distinct || grouped && clauses.group.iter().all(is_selected) {
            return Ok(());
        }
        let names = self.names();
        for (number, key) in clauses.order.iter().enumerate() {
            let Some(hidden) = key.index.checked_sub(clauses.items.len()) else { continue };
            let Some(slot) = self.unselected(&clauses.hidden[hidden], &clauses.items) else {
                continue;
            };
            let mut columns = names
                .tables
                .iter()
                .flat_map(|table| table.columns.iter().map(move |column| (table, column)));
            if let Some((table, column)) = columns.find(|(_, column)| column.slot == slot) {
                let (number, full) = (number + 1, table.full_name(column));
                let code = ErrorCode::FieldInOrderNotSelect;
                return Err(SqlError::new(code, &[&number, &full, &"DISTINCT"]));
            }
        }
        Ok(())
    }

    /// A column outside of what is selected. MySQL takes an expression of an item by its alias
    /// only; here it may be written out.
    fn unselected(&self, expr: &Expr, items: &[ScopeItem]) -> Option<usize> {
        if items.iter().any(|item| same_written(&item.expr, expr)) {
            return None;
        }
        match &expr.kind {
            ExprKind::Column { index, .. } => return Some(*index),
            ExprKind::Subquery(subquery) => {
                let mut read = self.loose_reads.get(&subquery.id).into_iter().flatten();
                let slots = items.iter().filter_map(|item| match item.expr.kind {
                    ExprKind::Column { index, .. } => Some(index),
                    _ => None,
                });
                let selected: Vec<usize> = slots.collect();
                return read.find(|slot| !selected.contains(slot)).copied();
            }
            _ => {}
        }
        let mut found = None;
        expr.children(&mut |child| found = found.or_else(|| self.unselected(child, items)));
        found
    }
}

/// What functions over windows read must be fixed by the group too.
fn check_windows(check: &GroupCheck<'_>, clauses: &Clauses, names: &Namespace) -> Result<()> {
    for (number, window) in clauses.windows.iter().enumerate() {
        let mut holds = |item: &ScopeItem| {
            let mut found = false;
            item.expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::Window(n) if n == number));
            found
        };
        let item = clauses.items.iter().position(&mut holds).map_or(1, |index| index + 1);
        for arg in window.call.args() {
            check.check_one(arg, item, "SELECT list", names)?;
        }
        let clause = format!("PARTITION BY or ORDER BY clause of window '{}'", window.name);
        let keys = window.partition.iter().chain(window.order.iter().map(|(expr, _)| expr));
        for (number, key) in keys.enumerate() {
            check.check_one(key, number + 1, &clause, names)?;
        }
    }
    Ok(())
}
