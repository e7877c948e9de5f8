//! What INSERT, UPDATE and DELETE need.
//!
//! What is changed need not be readable, as long as none of its columns is read. Which columns a
//! statement reads of which table only its resolved names tell; they are resolved for accounts that
//! may change a table and not read it, others need not wait for that.
//!
//! Example: with UPDATE on `u` and SELECT on `t` alone, `UPDATE u, t SET u.b = t.b WHERE t.a = 1`
//! is allowed and `UPDATE u, t SET u.b = t.b WHERE t.a = u.a` is error 1143 for the column `a` of
//! `u`.

use super::{Checker, Result, error};
use crate::account::privilege::Privileges;
use crate::ddl::Resolver;
use crate::dml::needed_to_insert;
use crate::reads::{Reads, named_tables};
use inia_base::error::ErrorCode;
use inia_parser::ast::*;

/// Columns of a statement, written in full.
struct Columns {
    read: Vec<ColumnName>,
    assigned: Vec<ColumnName>,
}

fn factor(name: &ObjectName) -> TableFactor {
    TableFactor { name: name.clone(), partitions: Vec::new(), alias: None, hints: Vec::new() }
}

impl Checker<'_> {
    pub(super) fn insert(&self, insert: &Insert) -> Result<()> {
        self.table(&insert.table, needed_to_insert(insert))?;
        let mut reads = Reads::default();
        let mut exprs: Vec<&Expr> = Vec::new();
        match &insert.source {
            InsertSource::Values(rows) => exprs.extend(rows.iter().flatten()),
            InsertSource::Query(query) => reads.query(query),
        }
        exprs.extend(insert.on_duplicate.iter().map(|assignment| &assignment.value));
        reads.exprs(exprs.iter().copied());
        self.reads(&reads)?;
        let own = factor(&insert.table);
        if !self.holds(&own, Privileges::SELECT) {
            let from = [TableRef::Table(Box::new(own.clone()))];
            let mut columns = self.columns(None, &from, &[], &exprs);
            columns.read.extend(self.of_new_row(insert));
            self.column(&own, &columns.read, Privileges::SELECT)?;
        }
        Ok(())
    }

    /// The columns that are read of the row to insert, by the alias that it was given.
    fn of_new_row(&self, insert: &Insert) -> Vec<ColumnName> {
        let Some(alias) = &insert.row_alias else { return Vec::new() };
        let mut reads = Reads::default();
        reads.exprs(insert.on_duplicate.iter().map(|assignment| &assignment.value));
        let new = reads.columns.into_iter().filter(|name| name.table.as_ref() == Some(&alias.name));
        new.map(|name| ColumnName {
            db: Some(self.schema_of(&insert.table).to_owned()),
            table: Some(insert.table.name.clone()),
            name: name.name.clone(),
        })
        .collect()
    }

    pub(super) fn update(&self, update: &Update) -> Result<()> {
        let mut reads = Reads::default();
        reads.with(update.with.as_ref());
        let named = named_tables(&update.tables);
        let named: Vec<_> = named.into_iter().filter(|f| !reads.is_cte(&f.name)).collect();
        let alone = matches!(update.tables[..], [TableRef::Table(_)]);
        for factor in &named {
            if alone {
                self.table(&factor.name, Privileges::UPDATE)?;
            } else if !self.holds(factor, Privileges::UPDATE) {
                self.table(&factor.name, Privileges::SELECT)?;
            }
        }
        update.tables.iter().for_each(|table| reads.table_ref(table));
        let values = update.assignments.iter().map(|assignment| &assignment.value);
        let order = update.order_by.iter().map(|item| &item.expr);
        let exprs: Vec<&Expr> = update.where_.iter().chain(values).chain(order).collect();
        reads.exprs(exprs.iter().copied());
        // The tables of the statement itself have been looked at.
        reads.tables.retain(|name| !named.iter().any(|factor| std::ptr::eq(&factor.name, *name)));
        self.reads(&reads)?;
        let both = Privileges::SELECT | Privileges::UPDATE;
        if named.iter().all(|factor| self.holds(factor, both)) {
            return Ok(());
        }
        let assigned: Vec<&ColumnName> = update.assignments.iter().map(|a| &a.column).collect();
        let columns = self.columns(update.with.as_ref(), &update.tables, &assigned, &exprs);
        for factor in &named {
            self.column(factor, &columns.assigned, Privileges::UPDATE)?;
            self.column(factor, &columns.read, Privileges::SELECT)?;
        }
        Ok(())
    }

    pub(super) fn delete(&self, delete: &Delete) -> Result<()> {
        let mut reads = Reads::default();
        reads.with(delete.with.as_ref());
        let order = delete.order_by.iter().map(|item| &item.expr);
        let exprs: Vec<&Expr> = delete.where_.iter().chain(order).collect();
        reads.exprs(exprs.iter().copied());
        match &delete.target {
            DeleteTarget::Single(factor) => {
                self.table(&factor.name, Privileges::DELETE)?;
                self.reads(&reads)?;
                if self.holds(factor, Privileges::SELECT) {
                    return Ok(());
                }
                let from = [TableRef::Table(factor.clone())];
                let columns = self.columns(delete.with.as_ref(), &from, &[], &exprs);
                self.column(factor, &columns.read, Privileges::SELECT)
            }
            DeleteTarget::Multi { targets, from } => {
                from.iter().for_each(|table| reads.table_ref(table));
                self.reads(&reads)?;
                let members = named_tables(from);
                targets.iter().try_for_each(|target| self.deletes(target, &members))
            }
        }
    }

    /// DELETE on what a target of a DELETE over several tables means.
    fn deletes(&self, target: &ObjectName, members: &[&TableFactor]) -> Result<()> {
        let is = |factor: &&&TableFactor| match (&factor.alias, &target.db) {
            (Some(alias), None) => *alias == target.name,
            (Some(_), Some(_)) => false,
            (None, None) => factor.name.name == target.name,
            (None, Some(db)) => {
                factor.name.name == target.name && self.schema_of(&factor.name) == db
            }
        };
        let found: Vec<_> = members.iter().filter(is).collect();
        if found.is_empty() {
            return self.table(target, Privileges::DELETE);
        }
        found.into_iter().try_for_each(|factor| self.table(&factor.name, Privileges::DELETE))
    }

    fn holds(&self, factor: &TableFactor, wanted: Privileges) -> bool {
        let schema = self.schema_of(&factor.name);
        schema.is_empty()
            || self.is_temporary(&factor.name)
            || self.access.on_table(schema, &factor.name.name).has(wanted)
    }

    /// Error 1143 for a column of a table that the privilege is missing on.
    fn column(
        &self,
        factor: &TableFactor,
        columns: &[ColumnName],
        wanted: Privileges,
    ) -> Result<()> {
        if self.holds(factor, wanted) {
            return Ok(());
        }
        let (name, schema) = (&factor.name, self.schema_of(&factor.name));
        let own = |column: &&ColumnName| match &factor.alias {
            Some(alias) if *alias != name.name => {
                column.db.is_none() && column.table.as_ref() == Some(alias)
            }
            _ => column.db.as_deref() == Some(schema) && column.table.as_ref() == Some(&name.name),
        };
        let Some(column) = columns.iter().find(own) else { return Ok(()) };
        let command = wanted.members().next().map_or("", |privilege| privilege.name);
        let (user, host) = (&self.access.account.user, &self.access.client);
        let args: [&dyn std::fmt::Display; 5] = [&command, user, host, &column.name, &name.name];
        error(ErrorCode::ColumnAccessDenied, &args)
    }

    /// The columns of `from` that are assigned, and those that expressions and joins read.
    fn columns(
        &self,
        with: Option<&With>,
        from: &[TableRef],
        assigned: &[&ColumnName],
        read: &[&Expr],
    ) -> Columns {
        let written = assigned.iter().map(|name| Expr::Column((*name).clone()));
        let exprs = written.chain(read.iter().map(|expr| (*expr).clone()));
        let item = |expr| SelectItem::Expr { expr, alias: None, text: String::new() };
        let items = exprs.map(item).collect();
        let select = Select { items, from: from.to_vec(), ..Select::default() };
        let mut query = Query::new(QueryBody::Select(Box::new(select)));
        query.with = with.cloned();
        let catalog = self.around.catalog();
        Resolver::new(&catalog, self.database).query(&mut query, false);
        let mut columns = Columns { read: Vec::new(), assigned: Vec::new() };
        if let QueryBody::Select(select) = &mut query.body {
            let written = select.items.drain(..assigned.len()).filter_map(|item| match item {
                SelectItem::Expr { expr: Expr::Column(name), .. } => Some(name),
                _ => None,
            });
            columns.assigned.extend(written);
        }
        let mut reads = Reads::default();
        reads.query(&query);
        columns.read = reads.columns.into_iter().chain(reads.defaults).cloned().collect();
        columns
    }
}
