//! Error 1093: a statement that changes a table may not read it in a subquery, unless the rows
//! it reads were put aside before the first change: in a derived table or common table expression.
//!
//! ```text
//!   DELETE FROM t WHERE id IN (SELECT id FROM t)                         refused
//!   DELETE FROM t WHERE id IN (SELECT id FROM (SELECT id FROM t) x)      allowed: x is put aside
//!   UPDATE t JOIN (SELECT u.*, (SELECT MAX(a) FROM t) FROM u) y …        refused: y is merged
//! ```
//!
//! Error 1443: the same, where the statement changes or reads the table by the name of a view.
//! Subqueries of a view in FROM count as the statement's, and are error 1288 where rows of that
//! very view are changed. UPDATE takes no account of the select list of the first member of FROM.
//!
//! Inia gathers all rows before it changes one, so it could answer them all; it refuses what MySQL
//! refuses, so that a statement means the same on both.

use super::joined::JoinedPlan;
use crate::catalog::{Table, View, ViewAlgorithm};
use crate::context::SessionContext;
use crate::referenced::{ReferencedObjects, named_tables};
use crate::view::simple_select;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, Expr, InsertSource, QueryBody, SelectItem, TableRef};
use std::sync::Arc;

type Checked = Result<(), SqlError>;

/// What a statement changes.
struct ChangeTarget<'s> {
    /// How the statement calls it, and the name behind an alias.
    alias: &'s str,
    name: Option<&'s ast::ObjectName>,
    /// The tables that rows are changed in.
    tables: Vec<&'s Table>,
    /// What error 1443 calls the statement.
    operation: &'static str,
}

impl ChangeTarget<'_> {
    /// Errors 1093 and 1443 where the target is among what is read.
    fn refuse(&self, session: &SessionContext, found: &ReferencedObjects<'_>) -> Checked {
        for (name, alias) in found.tables.iter().zip(&found.aliases) {
            let view = view_of(session, name);
            // INSERT may read the target under another name.
            let renamed = alias.is_some_and(|alias| alias != name.name);
            if self.operation == "INSERT" && view.is_none() && renamed {
                continue;
            }
            let used = match &view {
                Some(view) => self.is_in(session, view),
                None => self.tables.iter().any(|table| is_table(session, name, table)),
            };
            if used {
                return self.refused(session, alias.unwrap_or(&name.name), view.as_deref());
            }
        }
        Ok(())
    }

    /// Errors 1093, 1288 and 1443 where subqueries of views in FROM read the target. `first_lists`
    /// says whether those of the first member's select list count.
    fn refuse_in_views(
        &self,
        session: &SessionContext,
        tables: &[TableRef],
        first_lists: bool,
    ) -> Checked {
        for (at, factor) in named_tables(tables).into_iter().enumerate() {
            let Some(view) = view_of(session, &factor.name) else { continue };
            if !self.is_read_inside(session, &view, at > 0 || first_lists) {
                continue;
            }
            let read = factor.alias.as_deref().unwrap_or(&factor.name.name);
            if read == self.alias {
                let args: [&dyn std::fmt::Display; 2] = [&self.alias, &self.operation];
                return Err(SqlError::new(ErrorCode::NonUpdatableTable, &args));
            }
            return self.refused(session, read, Some(&view));
        }
        Ok(())
    }

    /// Whether a view that is made part of the statement reads the target in a subquery: in a
    /// condition, or where `lists` count in a select list.
    fn is_read_inside(&self, session: &SessionContext, view: &View, lists: bool) -> bool {
        let Some(select) = view.query.as_ref().and_then(simple_select) else { return false };
        if view.def.algorithm == ViewAlgorithm::TempTable {
            return false;
        }
        let mut found = ReferencedObjects::passing_over_derived();
        if lists {
            found.exprs(ast::item_exprs(&select.items));
        }
        found.exprs(&select.where_);
        select.from.iter().for_each(|table| from(&mut found, table));
        let inner = named_tables(&select.from);
        let mut inner = inner.iter().filter_map(|factor| view_of(session, &factor.name));
        found.tables.iter().any(|name| match view_of(session, name) {
            Some(read) => self.is_in(session, &read),
            None => self.tables.iter().any(|table| is_table(session, name, table)),
        }) || inner.any(|inner| self.is_read_inside(session, &inner, lists))
    }

    /// Whether a view that is made part of the query around it reads the target.
    fn is_in(&self, session: &SessionContext, view: &View) -> bool {
        let Some(query) = &view.query else { return false };
        if view.def.algorithm == ViewAlgorithm::TempTable || simple_select(query).is_none() {
            return false;
        }
        let mut found = ReferencedObjects::passing_over_derived();
        found.query(query);
        found.tables.iter().any(|name| match view_of(session, name) {
            Some(inner) => self.is_in(session, &inner),
            None => self.tables.iter().any(|table| is_table(session, name, table)),
        })
    }

    /// The error, where the target is read under the name `read`.
    fn refused(&self, session: &SessionContext, read: &str, view: Option<&View>) -> Checked {
        let own = self.name.and_then(|name| view_of(session, name));
        let same = match (&own, view) {
            (Some(own), Some(view)) => {
                (&own.def.schema, &own.def.name) == (&view.def.schema, &view.def.name)
            }
            (own, view) => own.is_none() && view.is_none(),
        };
        if same || self.operation == "LOAD" {
            return Err(SqlError::new(ErrorCode::UpdateTableUsed, &[&self.alias]));
        }
        let defined = if view.is_some() { read } else { self.alias };
        let args: [&dyn std::fmt::Display; 3] = [&defined, &self.operation, &self.alias];
        Err(SqlError::new(ErrorCode::ViewPreventUpdate, &args))
    }
}

/// The view of that name, where no temporary table hides it.
fn view_of(session: &SessionContext, name: &ast::ObjectName) -> Option<Arc<View>> {
    let schema = name.db.as_deref().or(session.env.database.as_deref())?;
    match session.temporary.get(schema, &name.name) {
        Some(_) => None,
        None => session.db.catalog().view(schema, &name.name),
    }
}

/// Whether a name is the table's, or that of a table which has rows of it: a merged table has those
/// of its children.
fn is_table(session: &SessionContext, name: &ast::ObjectName, table: &Table) -> bool {
    let database = session.env.database.as_deref();
    let schema = name.db.as_deref().or(database);
    if name.name == table.def.name && schema == Some(table.def.schema.as_str()) {
        return true;
    }
    let other = schema.and_then(|schema| session.table(schema, &name.name));
    other.is_some_and(|other| table.shares_rows(&other))
}

/// Checks a planned UPDATE over joins or with subqueries.
pub fn check_update(session: &SessionContext, update: &ast::Update, plan: &JoinedPlan) -> Checked {
    let mut found = ReferencedObjects::passing_over_derived();
    found.with(update.with.as_ref());
    update.tables.iter().for_each(|table| from(&mut found, table));
    found.exprs(update.assignments.iter().map(|assignment| &assignment.value));
    found.exprs(&update.where_);
    found.exprs(update.order_by.iter().map(|item| &item.expr));
    found.exprs(ast::item_exprs(&update.returning));
    let (alias, name) = update.tables.first().and_then(first_name).unwrap_or_default();
    let target =
        ChangeTarget { alias, name, tables: plan.targets().collect(), operation: "UPDATE" };
    target.refuse_in_views(session, &update.tables, false)?;
    target.refuse(session, &found)
}

/// Checks a planned DELETE over joins or with subqueries.
pub fn check_delete(session: &SessionContext, delete: &ast::Delete, plan: &JoinedPlan) -> Checked {
    let mut found = ReferencedObjects::passing_over_derived();
    found.with(delete.with.as_ref());
    let names: Vec<(&str, Option<&ast::ObjectName>)> = match &delete.target {
        ast::DeleteTarget::Single(factor) => {
            vec![(factor.alias.as_deref().unwrap_or(&factor.name.name), Some(&factor.name))]
        }
        ast::DeleteTarget::Multi { targets, from: refs } => {
            refs.iter().for_each(|table| from(&mut found, table));
            let named = |alias: &str| {
                let factors = named_tables(refs).into_iter().map(|factor| {
                    (factor.alias.as_deref().unwrap_or(&factor.name.name), &factor.name)
                });
                factors.into_iter().find(|(own, _)| *own == alias).map(|(_, name)| name)
            };
            targets.iter().map(|target| (target.name.as_str(), named(&target.name))).collect()
        }
    };
    found.exprs(&delete.where_);
    found.exprs(delete.order_by.iter().map(|item| &item.expr));
    found.exprs(ast::item_exprs(&delete.returning));
    for ((alias, name), table) in names.into_iter().zip(plan.targets()) {
        let target = ChangeTarget { alias, name, tables: vec![table], operation: "DELETE" };
        if let ast::DeleteTarget::Multi { from, .. } = &delete.target {
            target.refuse_in_views(session, from, true)?;
        }
        target.refuse(session, &found)?;
    }
    Ok(())
}

/// Checks INSERT and REPLACE: values may not read the target. INSERT … SELECT may, as its rows are
/// put aside.
pub fn check_insert(session: &SessionContext, insert: &ast::Insert, target: &Table) -> Checked {
    let mut values = ReferencedObjects::passing_over_derived();
    let mut updates = ReferencedObjects::default();
    let mut returned = ReferencedObjects::passing_over_derived();
    returned.exprs(ast::item_exprs(&insert.returning));
    let (alias, name) = (insert.table.name.as_str(), Some(&insert.table));
    let target = ChangeTarget { alias, name, tables: vec![target], operation: "INSERT" };
    target.refuse(session, &returned)?;
    match &insert.source {
        InsertSource::Query(query) => match &query.body {
            QueryBody::Values(rows) => values.exprs(rows.iter().flatten()),
            _ => return Ok(()),
        },
        written => values.exprs(written.exprs()),
    }
    updates.exprs(insert.on_duplicate.iter().map(|assignment| &assignment.value));
    target.refuse(session, &values)?;
    target.refuse(session, &updates)
}

/// Checks LOAD DATA: SET may not read the target.
pub(super) fn check_load(
    session: &SessionContext,
    load: &ast::LoadData,
    target: &Table,
) -> Checked {
    let mut found = ReferencedObjects::passing_over_derived();
    found.exprs(load.assignments.iter().map(|assignment| &assignment.value));
    let (alias, name) = (load.table.name.as_str(), Some(&load.table));
    let target = ChangeTarget { alias, name, tables: vec![target], operation: "LOAD" };
    target.refuse(session, &found)
}

/// The outermost FROM: its tables are what is changed or joined with, so only what its conditions
/// and merged derived tables read by subqueries counts.
fn from<'q>(found: &mut ReferencedObjects<'q>, table: &'q TableRef) {
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

/// How the first member of FROM is called, and the name of a table or view behind that.
fn first_name(table: &TableRef) -> Option<(&str, Option<&ast::ObjectName>)> {
    match table {
        TableRef::Table(factor) => {
            Some((factor.alias.as_deref().unwrap_or(&factor.name.name), Some(&factor.name)))
        }
        TableRef::List(list) => list.first().and_then(first_name),
        TableRef::Join(join) => first_name(&join.left),
        TableRef::Derived(derived) => Some((&derived.alias, None)),
        TableRef::JsonTable(_) => None,
    }
}
