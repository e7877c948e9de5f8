//! Which views are simple enough that rows can be changed through them.

use crate::context::SessionContext;
use crate::referenced::{ReferencedObjects, named_tables};
use inia_parser::ast::{self, QueryBody, SelectItem, TableRef};

/// The SELECT of a query whose rows are rows of its tables.
pub fn simple_select(query: &ast::Query) -> Option<&ast::Select> {
    let QueryBody::Select(select) = &query.body else { return None };
    let computed = |item: &SelectItem| match item {
        SelectItem::Expr { expr, .. } => is_computed_over_rows(expr),
        _ => false,
    };
    let simple = query.with.is_none()
        && query.limit.is_none()
        && !select.from.is_empty()
        && !select.options.distinct
        && select.group_by.is_empty()
        && select.having.is_none()
        && select.windows.is_empty()
        && !select.items.iter().any(computed);
    simple.then_some(select)
}

/// Whether an expression has an aggregate function or one over a window.
fn is_computed_over_rows(expr: &ast::Expr) -> bool {
    let mut found = matches!(expr, ast::Expr::Aggregate(_) | ast::Expr::Window(_));
    expr.for_each_child(&mut |child| found = found || is_computed_over_rows(child));
    found
}

/// A table that a subquery reads, and the name that it goes by there.
#[derive(Clone, PartialEq)]
pub struct ReadTable {
    /// The table.
    pub name: ast::ObjectName,
    /// Its alias, or its own name.
    pub alias: String,
}

/// The tables that WHERE and ON read in subqueries, and those behind views there.
pub fn conditions_read(session: &SessionContext, select: &ast::Select) -> Vec<ReadTable> {
    fn conditions<'q>(reads: &mut ReferencedObjects<'q>, table: &'q TableRef) {
        match table {
            TableRef::List(list) => list.iter().for_each(|table| conditions(reads, table)),
            TableRef::Join(join) => {
                conditions(reads, &join.left);
                conditions(reads, &join.right);
                if let ast::JoinConstraint::On(on) = &join.constraint {
                    reads.exprs([on]);
                }
            }
            _ => {}
        }
    }
    let mut reads = ReferencedObjects::default();
    reads.exprs(&select.where_);
    select.from.iter().for_each(|table| conditions(&mut reads, table));
    let mut read = Vec::new();
    add_read(session, &reads, &mut read);
    read
}

/// Adds the tables that are read, with those that views among them read anywhere.
fn add_read(session: &SessionContext, reads: &ReferencedObjects<'_>, found: &mut Vec<ReadTable>) {
    for (name, alias) in reads.tables.iter().zip(&reads.aliases) {
        let alias = alias.map_or_else(|| name.name.clone(), str::to_owned);
        let table = ReadTable { name: (*name).clone(), alias };
        if found.contains(&table) {
            continue;
        }
        found.push(table);
        let schema = name.db.as_deref().unwrap_or_default();
        let view = session.db.catalog().view(schema, &name.name);
        if let Some(query) = view.as_ref().and_then(|view| view.query.as_ref()) {
            let mut inner = ReferencedObjects::default();
            inner.query(query);
            add_read(session, &inner, found);
        }
    }
}

/// Whether conditions read, by subqueries, a table that FROM names.
pub fn reads_itself(session: &SessionContext, select: &ast::Select) -> bool {
    let read = conditions_read(session, select);
    let own = named_tables(&select.from);
    own.into_iter().any(|factor| read.iter().any(|table| table.name == factor.name))
}

/// Whether subqueries of the select list read a table that FROM has, too; and those of views in
/// FROM, where they are `merged`.
pub fn list_reads_itself(session: &SessionContext, select: &ast::Select, merged: bool) -> bool {
    let mut reads = ReferencedObjects::default();
    reads.exprs(ast::item_exprs(&select.items));
    reads_own(session, select, &reads, merged)
}

/// Whether a table of FROM is among what is read.
fn reads_own(
    session: &SessionContext,
    select: &ast::Select,
    reads: &ReferencedObjects<'_>,
    merged: bool,
) -> bool {
    if reads.tables.is_empty() {
        return false;
    }
    let (mut read, mut own) = (Vec::new(), Vec::new());
    reads.tables.iter().for_each(|name| base_tables(session, name, &mut read));
    for factor in named_tables(&select.from) {
        match merged {
            true => base_tables(session, &factor.name, &mut own),
            false => own.push(factor.name.clone()),
        }
    }
    own.iter().any(|name| read.contains(name))
}

/// The tables behind a name: its own, and all that a view reads anywhere.
pub fn base_tables(
    session: &SessionContext,
    name: &ast::ObjectName,
    found: &mut Vec<ast::ObjectName>,
) {
    let schema = name.db.as_deref().unwrap_or_default();
    if found.contains(name) {
        return;
    }
    found.push(name.clone());
    let view = session.db.catalog().view(schema, &name.name);
    if let Some(query) = view.as_ref().and_then(|view| view.query.as_ref()) {
        let mut reads = ReferencedObjects::default();
        reads.query(query);
        reads.tables.iter().for_each(|name| base_tables(session, name, found));
    }
}

/// Whether FROM has an outer join. No view with one can be changed.
pub fn has_outer_join(from: &[TableRef]) -> bool {
    from.iter().any(|table| match table {
        TableRef::List(list) => has_outer_join(list),
        TableRef::Join(join) => {
            matches!(join.kind, ast::JoinKind::Left | ast::JoinKind::Right)
                || has_outer_join(std::slice::from_ref(&join.left))
                || has_outer_join(std::slice::from_ref(&join.right))
        }
        _ => false,
    })
}
