//! ONLY_FULL_GROUP_BY: the groups fix what a grouped or DISTINCT query selects and orders by.

use crate::bind::fixed_columns::{Keyed, Member, Members};
use crate::bind::from::BoundFrom;
use crate::bind::grouping::{GroupCheck, same_written};
use crate::bind::scope::ScopeItem;
use crate::bind::select::Clauses;
use crate::bind::{Namespace, QueryBinder, Result};
use crate::optimize::{FromTree, LeafKind, simplify};
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
                    let expr = (&clauses.hidden[hidden], clauses.items.as_slice());
                    distinct_order_error(expr, number + 1, names)?;
                }
            }
        }
        if !grouped && clauses.aggregates.is_empty() {
            return Ok(());
        }
        let conditions = clauses.conditions.iter().collect();
        let mut members = Members { conditions, ..Members::default() };
        let mut tree = from.tree.clone();
        if let Some(tree) = &mut tree {
            simplify(tree, &clauses.conditions);
            self.collect_members(tree, false, &mut members);
        }
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
fn distinct_order_error(
    (expr, items): (&Expr, &[ScopeItem]),
    number: usize,
    names: &Namespace,
) -> Result<()> {
    let slot = unselected(expr, items);
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

/// A column outside of what is selected. MySQL takes an expression of an item by its alias only;
/// here it may be written out.
fn unselected(expr: &Expr, items: &[ScopeItem]) -> Option<usize> {
    if items.iter().any(|item| same_written(&item.expr, expr)) {
        return None;
    }
    if let ExprKind::Column { index, .. } = expr.kind {
        return Some(index);
    }
    let mut found = None;
    expr.children(&mut |child| found = found.or_else(|| unselected(child, items)));
    found
}

impl QueryBinder<'_> {
    /// The members of FROM whose columns determine others, and the conditions of joins. `nullable`
    /// is the inner side of an outer join: MySQL infers nothing of a derived table there.
    fn collect_members<'t>(&self, tree: &'t FromTree, nullable: bool, members: &mut Members<'t>) {
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
                members.tables.extend(member.map(|member| Keyed { member, slots }));
            }
            FromTree::Join(join) => {
                let inner = join.kind == JoinType::Inner;
                match inner {
                    true => members.conditions.extend(&join.on),
                    false => members.outer.push((&join.on, join.right.slots())),
                }
                self.collect_members(&join.left, nullable, members);
                self.collect_members(&join.right, nullable || !inner, members);
            }
        }
    }
}
