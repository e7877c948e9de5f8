//! Views as targets of UPDATE and DELETE over several tables.
//!
//! Names are resolved first, so that every column says which member it is of. A view whose rows
//! change then gives way to its own tables; its WHERE joins the statement's, or the ON of an outer
//! join that the view is the inner side of. Views that are only read stay.
//!
//! Example: with `v` for `SELECT id, x AS y FROM t WHERE x > 3`, the statement `UPDATE u LEFT JOIN
//! v ON v.id = u.id SET v.y = u.n` becomes `UPDATE u LEFT JOIN t ON t.id = u.id AND t.x > 3 SET
//! t.x = u.n`.

use super::columns::{replace_columns, replace_in_query};
use super::target::{TableNames, ViewTarget, is_of, nested, qualifier_of};
use super::{Guard, Result, Through, error, is_cte, named_tables, not_updatable, open_view};
use crate::account::Privileges;
use crate::catalog::View;
use crate::context::SessionContext;
use crate::planner::plan_source;
use crate::referenced::ReferencedObjects;
use crate::view::Resolver;
use inia_base::error::ErrorCode;
use inia_parser::ast::{self, Expr, JoinConstraint, JoinKind, TableRef};
use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

/// A view in FROM.
struct ViewMember {
    alias: String,
    qualifier: (Option<String>, String),
    view: Arc<View>,
    /// What takes its place, where its rows change.
    target: Option<ViewTarget>,
    /// The statement reads its columns.
    reads: Cell<bool>,
}

/// The views in FROM; those whose rows change give way to their tables.
struct ViewMembers {
    members: Vec<ViewMember>,
    names: TableNames,
}

fn alias_of(factor: &ast::TableFactor) -> &str {
    factor.alias.as_deref().unwrap_or(&factor.name.name)
}

/// What a statement reads, as the select list of a query over its tables.
fn reading(
    with: Option<&ast::With>,
    from: &[TableRef],
    exprs: Vec<Expr>,
    condition: Option<&Expr>,
) -> ast::Query {
    let item = |expr| ast::SelectItem::Expr { expr, alias: None, text: String::new() };
    let select = ast::Select {
        items: exprs.into_iter().map(item).collect(),
        from: from.to_vec(),
        where_: condition.cloned(),
        ..ast::Select::default()
    };
    let mut query = ast::Query::new(ast::QueryBody::Select(Box::new(select)));
    query.with = with.cloned();
    query
}

/// The query with every name resolved; its errors come before that.
fn resolved(session: &SessionContext, mut query: ast::Query) -> Result<Box<ast::Select>> {
    plan_source(session, &query)?;
    let catalog = session.catalog_view();
    let mut resolver = Resolver::new(&catalog, session.env.database.as_deref());
    resolver.query(&mut query, false);
    match query.body {
        ast::QueryBody::Select(select) => Ok(select),
        _ => Ok(Box::default()),
    }
}

/// The expressions of a select list.
fn exprs_of(items: Vec<ast::SelectItem>) -> impl Iterator<Item = Expr> {
    items.into_iter().filter_map(|item| match item {
        ast::SelectItem::Expr { expr, .. } => Some(expr),
        _ => None,
    })
}

impl ViewMembers {
    /// The views of a FROM; `None` where there are none.
    fn find(
        session: &SessionContext,
        with: Option<&ast::With>,
        from: &[TableRef],
    ) -> Result<Option<ViewMembers>> {
        let mut members = Vec::new();
        for factor in named_tables(from) {
            if is_cte(with, &factor.name) {
                continue;
            }
            let Some(view) = open_view(session, &factor.name)? else { continue };
            let mut resolved = factor.clone();
            if resolved.alias.as_ref() == Some(&factor.name.name) {
                resolved.alias = None;
            }
            let database = session.env.database.clone();
            resolved.name.db = resolved.name.db.or(database);
            members.push(ViewMember {
                alias: alias_of(factor).to_owned(),
                qualifier: qualifier_of(&resolved),
                view,
                target: None,
                reads: Cell::new(false),
            });
        }
        if members.is_empty() {
            return Ok(None);
        }
        let mut reads = ReferencedObjects::default();
        from.iter().for_each(|table| reads.table_ref(table));
        let views = |alias: &str| members.iter().any(|member| member.alias == alias);
        let own = reads.aliases.iter().zip(&reads.tables);
        let own = own.map(|(alias, name)| alias.unwrap_or(&name.name).to_owned());
        let names = TableNames::taken(own.filter(|alias| !views(alias)).collect());
        Ok(Some(ViewMembers { members, names }))
    }

    /// Makes a target of the view that has the column, if it is one.
    fn target_of(
        &mut self,
        session: &SessionContext,
        column: &ast::ColumnName,
        statement: &str,
    ) -> Result<Option<&mut ViewMember>> {
        let ViewMembers { members, names } = self;
        let Some(member) = members.iter_mut().find(|m| is_of(column, &m.qualifier)) else {
            return Ok(None);
        };
        if member.target.is_none() {
            let Some(target) = ViewTarget::of(session, &member.view, None, names)? else {
                return not_updatable(&member.alias, statement);
            };
            member.target = Some(target);
        }
        Ok(Some(member))
    }

    /// What a column of a view that has given way stands for.
    fn column(&self, name: &ast::ColumnName) -> Option<Expr> {
        let member = self.members.iter().find(|member| is_of(name, &member.qualifier))?;
        let (_, expr) = member.target.as_ref()?.column(&name.name)?;
        member.reads.set(true);
        Some(expr.clone())
    }

    fn rewrite(&self, expr: &mut Expr) {
        replace_columns(expr, &|name| self.column(name));
    }

    /// Puts the tables of targets in their places; the conditions that are left for WHERE.
    fn expand(&self, table: &mut TableRef) -> Vec<Expr> {
        match table {
            TableRef::Table(factor) => {
                let qualifier = qualifier_of(factor);
                let own = self.members.iter().find(|member| member.qualifier == qualifier);
                let Some(target) = own.and_then(|member| member.target.as_ref()) else {
                    return Vec::new();
                };
                *table = nested(target.from.clone());
                target.condition.clone()
            }
            TableRef::List(list) => list.iter_mut().flat_map(|table| self.expand(table)).collect(),
            TableRef::Join(join) => {
                let (mut left, mut right) =
                    (self.expand(&mut join.left), self.expand(&mut join.right));
                if let JoinConstraint::On(on) = &mut join.constraint {
                    self.rewrite(on);
                }
                let (inner, mut kept) = match join.kind {
                    JoinKind::Left => (right, left),
                    JoinKind::Right => (left, right),
                    JoinKind::Inner | JoinKind::Straight | JoinKind::Semi | JoinKind::Anti => {
                        left.append(&mut right);
                        return left;
                    }
                };
                if let JoinConstraint::On(on) = &mut join.constraint
                    && !inner.is_empty()
                {
                    let own = std::mem::replace(on, Expr::Default);
                    *on = Expr::And(std::iter::once(own).chain(inner).collect());
                } else {
                    kept.extend(inner);
                }
                kept
            }
            TableRef::Derived(derived) => {
                if derived.lateral {
                    replace_in_query(&mut derived.query, &|name| self.column(name));
                }
                Vec::new()
            }
            TableRef::JsonTable(table) => {
                self.rewrite(&mut table.doc);
                Vec::new()
            }
        }
    }

    /// The statement's tables and condition.
    fn replace(&self, from: &mut [TableRef], condition: Option<Expr>) -> Option<Expr> {
        let mut all: Vec<Expr> = condition.into_iter().collect();
        all.iter_mut().for_each(|expr| self.rewrite(expr));
        all.extend(from.iter_mut().flat_map(|table| self.expand(table)).collect::<Vec<_>>());
        match all.len() {
            0 | 1 => all.pop(),
            _ => Some(Expr::And(all)),
        }
    }

    /// What the targets demand; `changed` are their tables that change.
    fn guard(self, changed: &[String], wanted: Privileges) -> Guard {
        let mut guard = Guard { through: true, ..Guard::default() };
        for member in self.members {
            let Some(mut target) = member.target else { continue };
            target.reads.set(target.reads.get() || member.reads.get());
            for table in changed {
                target.changes(table, wanted);
            }
            guard.add(&member.view, target, changed);
        }
        guard
    }
}

/// UPDATE of several tables with views among them.
pub(super) fn update_members<'s>(
    session: &SessionContext,
    update: &'s ast::Update,
) -> Result<Through<'s, ast::Update>> {
    let plain = (Cow::Borrowed(update), Guard::default());
    let with = update.with.as_ref();
    let Some(mut views) = ViewMembers::find(session, with, &update.tables)? else {
        return Ok(plain);
    };
    let mut exprs = Vec::new();
    for assignment in &update.assignments {
        exprs.push(Expr::Column(assignment.column.clone()));
        exprs.extend((assignment.value != Expr::Default).then(|| assignment.value.clone()));
    }
    let query = reading(with, &update.tables, exprs, update.where_.as_ref());
    let mut select = resolved(session, query)?;
    let mut out = update.clone();
    let mut items = exprs_of(std::mem::take(&mut select.items));
    for assignment in &mut out.assignments {
        if let Some(Expr::Column(column)) = items.next() {
            assignment.column = column;
        }
        if assignment.value != Expr::Default {
            assignment.value = items.next().unwrap_or(Expr::Default);
        }
    }
    let mut changed: Vec<(String, String)> = Vec::new();
    for assignment in &mut out.assignments {
        let Some(member) = views.target_of(session, &assignment.column, "UPDATE")? else {
            continue;
        };
        let (alias, view) = (member.alias.clone(), &member.view.def);
        let Some(target) = &member.target else { continue };
        let bare = ast::ColumnName::bare(&assignment.column.name);
        assignment.column = target.base_column(&alias, &bare)?;
        let table = assignment.column.table.clone().unwrap_or_default();
        if !target.can_change(&table) {
            return not_updatable(&alias, "UPDATE");
        }
        match changed.iter().find(|(of, _)| *of == alias) {
            Some((_, other)) if *other != table => {
                return error(ErrorCode::ViewMultiupdate, &[&view.schema, &view.name]);
            }
            Some(_) => {}
            None => changed.push((alias, table)),
        }
    }
    if changed.is_empty() {
        return Ok(plain);
    }
    for assignment in &mut out.assignments {
        views.rewrite(&mut assignment.value);
    }
    out.tables = select.from;
    out.where_ = views.replace(&mut out.tables, select.where_);
    let changed: Vec<String> = changed.into_iter().map(|(_, table)| table).collect();
    Ok((Cow::Owned(out), views.guard(&changed, Privileges::UPDATE)))
}

/// DELETE over several tables with views among them.
pub(super) fn delete_members<'s>(
    session: &SessionContext,
    delete: &'s ast::Delete,
) -> Result<Through<'s, ast::Delete>> {
    let plain = (Cow::Borrowed(delete), Guard::default());
    let ast::DeleteTarget::Multi { targets, from } = &delete.target else { return Ok(plain) };
    let with = delete.with.as_ref();
    let Some(mut views) = ViewMembers::find(session, with, from)? else { return Ok(plain) };
    let named = |target: &&ast::ObjectName| views.members.iter().any(|m| m.alias == target.name);
    if !targets.iter().any(|target| named(&target)) {
        return Ok(plain);
    }
    let query = reading(with, from, vec![Expr::int(1)], delete.where_.as_ref());
    let mut select = resolved(session, query)?;
    let (mut names, mut changed) = (targets.clone(), Vec::new());
    for name in &mut names {
        let own = views.members.iter().find(|member| member.alias == name.name);
        let Some((db, table)) = own.map(|member| member.qualifier.clone()) else { continue };
        let any = ast::ColumnName { db, table: Some(table), name: String::new() };
        let Some(member) = views.target_of(session, &any, "DELETE")? else { continue };
        let Some(target) = &member.target else { continue };
        let tables = named_tables(&target.from);
        let [table] = tables.as_slice() else {
            let def = &member.view.def;
            return error(ErrorCode::ViewDeleteMergeView, &[&def.schema, &def.name]);
        };
        if !target.can_change(alias_of(table)) {
            return not_updatable(&member.alias, "DELETE");
        }
        *name = ast::ObjectName::bare(alias_of(table));
        changed.push(name.name.clone());
    }
    let mut out = delete.clone();
    let mut from = std::mem::take(&mut select.from);
    out.where_ = views.replace(&mut from, select.where_);
    out.target = ast::DeleteTarget::Multi { targets: names, from };
    Ok((Cow::Owned(out), views.guard(&changed, Privileges::DELETE)))
}
