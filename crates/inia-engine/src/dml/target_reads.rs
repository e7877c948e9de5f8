//! Error 1093: a statement that changes a table may not read it in a subquery, unless the rows
//! it reads were put aside before the first change: in a derived table or common table expression.
//!
//! ```text
//!   DELETE FROM t WHERE id IN (SELECT id FROM t)                         refused
//!   DELETE FROM t WHERE id IN (SELECT id FROM (SELECT id FROM t) x)      allowed: x is put aside
//!   UPDATE t JOIN (SELECT u.*, (SELECT MAX(a) FROM t) FROM u) y …        refused: y is merged
//! ```
//!
//! Inia gathers all rows before it changes one, so it could answer them all; it refuses what MySQL
//! refuses, so that a statement means the same on both.

use super::joined::JoinedPlan;
use crate::catalog::Table;
use crate::reads::Reads;
use crate::session::core::Core;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, Expr, InsertSource, QueryBody, SelectItem, TableRef};

type Checked = Result<(), SqlError>;

/// Whether one of the tables read is `table`.
fn reads(core: &Core, reads: &Reads<'_>, table: &Table) -> bool {
    let database = core.env.database.as_deref();
    reads.tables.iter().any(|name| {
        name.name == table.def.name
            && name.db.as_deref().or(database) == Some(table.def.schema.as_str())
    })
}

fn refuse(name: &str) -> Checked {
    Err(SqlError::new(ErrorCode::UpdateTableUsed, &[&name]))
}

/// Checks a planned UPDATE over joins or with subqueries.
pub(crate) fn check_update(core: &Core, update: &ast::Update, plan: &JoinedPlan) -> Checked {
    let mut found = Reads::passing_over_derived();
    found.with(update.with.as_ref());
    update.tables.iter().for_each(|table| from(&mut found, table));
    found.exprs(update.assignments.iter().map(|assignment| &assignment.value));
    found.exprs(&update.where_);
    found.exprs(update.order_by.iter().map(|item| &item.expr));
    match plan.targets().any(|target| reads(core, &found, target)) {
        true => refuse(update.tables.first().and_then(first_name).unwrap_or_default()),
        false => Ok(()),
    }
}

/// Checks a planned DELETE over joins or with subqueries.
pub(crate) fn check_delete(core: &Core, delete: &ast::Delete, plan: &JoinedPlan) -> Checked {
    let mut found = Reads::passing_over_derived();
    found.with(delete.with.as_ref());
    let names: Vec<&str> = match &delete.target {
        ast::DeleteTarget::Single(factor) => {
            vec![factor.alias.as_deref().unwrap_or(&factor.name.name)]
        }
        ast::DeleteTarget::Multi { targets, from: refs } => {
            refs.iter().for_each(|table| from(&mut found, table));
            targets.iter().map(|target| target.name.as_str()).collect()
        }
    };
    found.exprs(&delete.where_);
    found.exprs(delete.order_by.iter().map(|item| &item.expr));
    let mut targets = names.iter().zip(plan.targets());
    targets.find(|(_, table)| reads(core, &found, table)).map_or(Ok(()), |(name, _)| refuse(name))
}

/// Checks INSERT and REPLACE: values may not read the target. INSERT … SELECT may, as its rows are
/// put aside.
pub(crate) fn check_insert(core: &Core, insert: &ast::Insert, target: &Table) -> Checked {
    let mut values = Reads::passing_over_derived();
    let mut updates = Reads::default();
    match &insert.source {
        InsertSource::Query(query) => match &query.body {
            QueryBody::Values(rows) => values.exprs(rows.iter().flatten()),
            _ => return Ok(()),
        },
        written => values.exprs(written.exprs()),
    }
    updates.exprs(insert.on_duplicate.iter().map(|assignment| &assignment.value));
    match reads(core, &values, target) || reads(core, &updates, target) {
        true => refuse(&insert.table.name),
        false => Ok(()),
    }
}

/// The outermost FROM: its tables are what is changed or joined with, so only what its conditions
/// and merged derived tables read by subqueries counts.
fn from<'q>(found: &mut Reads<'q>, table: &'q TableRef) {
    match table {
        TableRef::Table(_) => {}
        TableRef::List(list) => list.iter().for_each(|table| from(found, table)),
        TableRef::JsonTable(table) => found.exprs([&table.doc]),
        TableRef::Join(join) => {
            from(found, &join.left);
            from(found, &join.right);
            if let ast::JoinConstraint::On(on) = &join.constraint {
                found.exprs([on]);
            }
        }
        TableRef::Derived(derived) => {
            if let Some(select) = merged(&derived.query) {
                found.exprs(select.items.iter().filter_map(|item| match item {
                    SelectItem::Expr { expr, .. } => Some(expr),
                    _ => None,
                }));
                found.exprs(&select.where_);
                select.from.iter().for_each(|table| from(found, table));
            }
        }
    }
}

/// The SELECT of a derived table that MySQL would make a part of the query around it.
fn merged(query: &ast::Query) -> Option<&ast::Select> {
    let QueryBody::Select(select) = &query.body else { return None };
    let plain = query.limit.is_none()
        && select.group_by.is_empty()
        && select.having.is_none()
        && !select.options.distinct
        && !select.items.iter().any(|item| match item {
            SelectItem::Expr { expr, .. } => matches!(expr, Expr::Aggregate(_) | Expr::Window(_)),
            _ => false,
        });
    plain.then_some(select)
}

fn first_name(table: &TableRef) -> Option<&str> {
    match table {
        TableRef::Table(factor) => Some(factor.alias.as_deref().unwrap_or(&factor.name.name)),
        TableRef::List(list) => list.first().and_then(first_name),
        TableRef::Join(join) => first_name(&join.left),
        TableRef::Derived(derived) => Some(&derived.alias),
        TableRef::JsonTable(_) => None,
    }
}
