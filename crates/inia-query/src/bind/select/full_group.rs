//! ONLY_FULL_GROUP_BY: the groups fix what a grouped or DISTINCT query selects and orders by.

use crate::bind::from::BoundFrom;
use crate::bind::grouping::{GroupCheck, Keyed, Member};
use crate::bind::scope::ScopeItem;
use crate::bind::select::Clauses;
use crate::bind::{Namespace, QueryBinder, Result};
use crate::optimize::{FromTree, LeafKind};
use crate::plan::JoinType;
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
        if select.options.distinct && !grouped && clauses.aggregates.is_empty() {
            for (number, key) in clauses.order.iter().enumerate() {
                if let Some(hidden) = key.index.checked_sub(visible) {
                    let names = self.names();
                    distinct_order_error(&clauses.hidden[hidden], number + 1, names)?;
                }
            }
        }
        if !grouped && clauses.aggregates.is_empty() {
            return Ok(());
        }
        let mut conditions = clauses.conditions.iter().collect::<Vec<_>>();
        let mut tables = Vec::new();
        if let Some(tree) = &from.tree {
            self.collect_tables(tree, false, &mut tables, &mut conditions);
        }
        let conditions: Vec<Expr> = conditions.into_iter().cloned().collect();
        let group = (clauses.group.as_slice(), grouped);
        let check = GroupCheck::new(group, &conditions, &tables, &self.loose_reads, self.names());
        check.check(&clauses.items, self.names())?;
        check_windows(&check, clauses, self.names())?;
        for (number, key) in clauses.order.iter().enumerate() {
            if let Some(hidden) = key.index.checked_sub(visible) {
                let expr = &clauses.hidden[hidden];
                check.check_one(expr, number + 1, "ORDER BY clause", self.names())?;
            }
        }
        Ok(())
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

/// Error 3065: DISTINCT cannot be ordered by what it does not select.
fn distinct_order_error(expr: &Expr, number: usize, names: &Namespace) -> Result<()> {
    let mut slot = None;
    expr.walk(&mut |node| {
        if let ExprKind::Column { index, .. } = node.kind {
            slot = slot.or(Some(index));
        }
    });
    let columns = names.tables.iter().flat_map(|table| &table.columns);
    let Some(column) = columns.into_iter().find(|column| Some(column.slot) == slot) else {
        return Ok(());
    };
    let result = &column.result;
    let full = format!("{}.{}.{}", result.schema, result.table, result.name);
    let full = full.trim_start_matches('.');
    let code = ErrorCode::FieldInOrderNotSelect;
    Err(SqlError::new(code, &[&number, &full, &"DISTINCT"]))
}

impl QueryBinder<'_> {
    /// The members of FROM whose columns determine others, and the conditions of joins. `nullable`
    /// is the inner side of an outer join: MySQL infers nothing of a derived table there.
    fn collect_tables<'t>(
        &self,
        tree: &'t FromTree,
        nullable: bool,
        tables: &mut Vec<Keyed>,
        conditions: &mut Vec<&'t Expr>,
    ) {
        match tree {
            FromTree::Leaf(leaf) => {
                let member = match &leaf.kind {
                    LeafKind::Table { table, .. } => Some(Member::Stored(table.clone())),
                    LeafKind::Subplan { id, .. } if !nullable => {
                        self.determined_of.get(id).cloned().map(Member::Derived)
                    }
                    _ => None,
                };
                let slots = leaf.slots.clone();
                tables.extend(member.map(|member| Keyed { member, slots }));
            }
            FromTree::Join(join) => {
                let inner = join.kind == JoinType::Inner;
                conditions.extend(&join.on);
                self.collect_tables(&join.left, nullable, tables, conditions);
                self.collect_tables(&join.right, nullable || !inner, tables, conditions);
            }
        }
    }
}
