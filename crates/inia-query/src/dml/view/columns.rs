//! Writing the columns of a member of FROM in another way, wherever an expression reads them.
//!
//! A query inside the expression hides what its own FROM names alike: of `SELECT id, (SELECT
//! MAX(a) FROM t) FROM t` the first column is of the outer `t`, `a` of the inner one. What takes a
//! column's place is left as it is.

use super::target::{Qualifier, is_of, qualifier_of};
use inia_parser::ast::{self, Expr, JoinConstraint, Query, QueryBody, TableRef};
use std::cell::Cell;

/// Writes every column that an expression reads in another way.
pub(super) fn replace_columns(expr: &mut Expr, with: &dyn Fn(&ast::ColumnName) -> Option<Expr>) {
    Replacement { with, hidden: Vec::new() }.expr(expr);
}

/// As [`replace_columns`], of a query that stands in FROM.
pub(super) fn replace_in_query(query: &mut Query, with: &dyn Fn(&ast::ColumnName) -> Option<Expr>) {
    Replacement { with, hidden: Vec::new() }.query(query);
}

/// Writes the columns of a table under another name.
pub(super) fn rename_column(expr: &mut Expr, from: &str, to: &str) {
    replace_columns(expr, &|column| {
        let own = column.db.is_none() && column.table.as_deref() == Some(from);
        own.then(|| column_of(to, &column.name))
    });
}

/// A column under the name of its table.
pub(super) fn column_of(table: &str, name: &str) -> Expr {
    let (table, name) = (Some(table.to_owned()), name.to_owned());
    Expr::Column(ast::ColumnName { db: None, table, name })
}

/// Whether an expression reads columns of one of these members, in subqueries or beside them.
pub(super) fn reads_members(expr: &Expr, members: &[Qualifier]) -> bool {
    let found = Cell::new(false);
    replace_columns(&mut expr.clone(), &|name| {
        found.set(found.get() || members.iter().any(|member| is_of(name, member)));
        None
    });
    found.get()
}

/// A walk through an expression and its queries.
struct Replacement<'w> {
    with: &'w dyn Fn(&ast::ColumnName) -> Option<Expr>,
    /// The members of FROM of the queries around.
    hidden: Vec<Qualifier>,
}

impl Replacement<'_> {
    /// What takes the place of a column.
    fn new_of(&self, name: &ast::ColumnName) -> Option<Expr> {
        let hidden = self.hidden.iter().any(|member| is_of(name, member));
        if hidden { None } else { (self.with)(name) }
    }

    fn expr(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Column(name) => {
                if let Some(new) = self.new_of(name) {
                    *expr = new;
                }
                return;
            }
            Expr::InsertValue(name) | Expr::DefaultOf(name) => {
                if let Some(Expr::Column(new)) = self.new_of(name) {
                    *name = ast::ColumnName::bare(new.name);
                }
            }
            Expr::JsonExtract { column, .. } => {
                if let Some(Expr::Column(new)) = self.new_of(column) {
                    *column = new;
                }
            }
            Expr::Exists(query)
            | Expr::Subquery(query)
            | Expr::InSubquery { query, .. }
            | Expr::Quantified { query, .. } => self.query(query),
            _ => {}
        }
        expr.for_each_child_mut(&mut |child| self.expr(child));
    }

    fn query(&mut self, query: &mut Query) {
        for cte in query.with.iter_mut().flat_map(|with| &mut with.ctes) {
            self.query(&mut cte.query);
        }
        let depth = self.hidden.len();
        self.body(&mut query.body);
        // ORDER BY sees the tables of a SELECT, and of a set operation its columns alone.
        if let QueryBody::Select(select) = &query.body {
            select.from.iter().for_each(|table| self.hide(table));
        }
        query.order_by.iter_mut().for_each(|item| self.expr(&mut item.expr));
        self.hidden.truncate(depth);
    }

    fn body(&mut self, body: &mut QueryBody) {
        match body {
            QueryBody::Select(select) => self.select(select),
            QueryBody::Values(rows) => rows.iter_mut().flatten().for_each(|expr| self.expr(expr)),
            QueryBody::Table(_) => {}
            QueryBody::Nested(query) => self.query(query),
            QueryBody::SetOperation { first, rest } => {
                self.body(first);
                rest.iter_mut().for_each(|term| self.body(&mut term.body));
            }
        }
    }

    fn select(&mut self, select: &mut ast::Select) {
        let depth = self.hidden.len();
        // Queries in FROM that are not LATERAL see what is around this SELECT, not its tables.
        select.from.iter_mut().for_each(|table| self.member(table, false));
        select.from.iter().for_each(|table| self.hide(table));
        select.from.iter_mut().for_each(|table| self.member(table, true));
        for item in &mut select.items {
            if let ast::SelectItem::Expr { expr, .. } = item {
                self.expr(expr);
            }
        }
        let clauses = select.where_.iter_mut().chain(&mut select.group_by);
        clauses.chain(&mut select.having).for_each(|expr| self.expr(expr));
        for (_, window) in &mut select.windows {
            window.for_each_expr_mut(&mut |expr| self.expr(expr));
        }
        self.hidden.truncate(depth);
    }

    /// Goes into a member of FROM: what sees the tables beside it, or what does not.
    fn member(&mut self, table: &mut TableRef, sees_tables: bool) {
        match table {
            TableRef::Table(_) => {}
            TableRef::Derived(derived) => {
                if derived.lateral == sees_tables {
                    self.query(&mut derived.query);
                }
            }
            TableRef::List(list) => {
                list.iter_mut().for_each(|table| self.member(table, sees_tables));
            }
            TableRef::JsonTable(table) => {
                if sees_tables {
                    self.expr(&mut table.doc);
                }
            }
            TableRef::Join(join) => {
                self.member(&mut join.left, sees_tables);
                self.member(&mut join.right, sees_tables);
                if let (true, JoinConstraint::On(on)) = (sees_tables, &mut join.constraint) {
                    self.expr(on);
                }
            }
        }
    }

    /// The names in FROM hide those around the query.
    fn hide(&mut self, table: &TableRef) {
        match table {
            TableRef::Table(factor) => self.hidden.push(qualifier_of(factor)),
            TableRef::Derived(derived) => self.hidden.push((None, derived.alias.clone())),
            TableRef::JsonTable(table) => self.hidden.push((None, table.alias.clone())),
            TableRef::List(list) => list.iter().for_each(|table| self.hide(table)),
            TableRef::Join(join) => {
                self.hide(&join.left);
                self.hide(&join.right);
            }
        }
    }
}
