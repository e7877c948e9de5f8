//! What INSERT, UPDATE and DELETE need.
//!
//! What is changed need not be readable, as long as none of its columns is read.
//!
//! Example: with UPDATE on `u` and SELECT on `t` alone, `UPDATE u, t SET u.b = t.b WHERE t.a = 1`
//! is allowed and `UPDATE u, t SET u.b = t.b WHERE t.a = u.a` is error 1143 for the column `a` of
//! `u`.

use super::columns::{factor, reading};
use super::{Checker, Result};
use inia_parser::ast::*;
use inia_query::account::privilege::Privileges;
use inia_query::dml::{needed_to_insert, needed_to_load};
use inia_query::referenced::{ReferencedObjects, named_tables};
use inia_query::view::UsedColumn;

impl Checker<'_> {
    pub(super) fn insert(&self, insert: &Insert) -> Result<()> {
        let table = &insert.table;
        self.some(table, needed_to_insert(insert))?;
        let mut reads = ReferencedObjects::default();
        let mut exprs: Vec<&Expr> = Vec::new();
        match &insert.source {
            InsertSource::Query(query) => reads.query(query),
            written => exprs.extend(written.exprs()),
        }
        exprs.extend(insert.on_duplicate.iter().map(|assignment| &assignment.value));
        reads.exprs(exprs.iter().copied());
        self.reads(&reads)?;
        self.returns(&insert.returning, &factor(table))?;
        self.may_give(table, &insert.columns, Privileges::INSERT)?;
        if !insert.on_duplicate.is_empty() {
            let given = insert.on_duplicate.iter().map(|assignment| &assignment.column);
            self.may_give(table, given, Privileges::UPDATE)?;
        }
        if self.holds(table, Privileges::SELECT) && self.reads_whole(&reads) {
            return Ok(());
        }
        let own = [TableRef::Table(Box::new(factor(table)))];
        self.reads_columns(reading(None, &own, exprs.iter().copied()))?;
        if let InsertSource::Query(query) = &insert.source {
            // ON DUPLICATE KEY UPDATE sees the tables of the query, too.
            if let QueryBody::Select(select) = &query.body {
                let with = query.with.as_ref();
                self.reads_columns(reading(with, &select.from, exprs.iter().copied()))?;
            }
            self.reads_columns(Query::clone(query))?;
        }
        self.may(&self.of_new_row(insert), Privileges::SELECT)
    }

    /// What RETURNING reads.
    fn returns(&self, items: &[SelectItem], factor: &TableFactor) -> Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        let mut reads = ReferencedObjects::default();
        reads.exprs(item_exprs(items));
        self.reads(&reads)?;
        if self.holds(&factor.name, Privileges::SELECT) && self.reads_whole(&reads) {
            return Ok(());
        }
        self.some(&factor.name, Privileges::SELECT)?;
        let mut query = reading(None, &[TableRef::Table(Box::new(factor.clone()))], []);
        if let QueryBody::Select(select) = &mut query.body {
            select.items = items.to_vec();
        }
        self.reads_columns(query)
    }

    /// The columns that are read of the row to insert, by the alias that it was given.
    fn of_new_row(&self, insert: &Insert) -> Vec<UsedColumn> {
        let Some(alias) = &insert.row_alias else { return Vec::new() };
        let mut reads = ReferencedObjects::default();
        reads.exprs(insert.on_duplicate.iter().map(|assignment| &assignment.value));
        let new = reads.columns.into_iter().filter(|name| name.table.as_ref() == Some(&alias.name));
        new.map(|name| UsedColumn {
            schema: self.schema_of(&insert.table).to_owned(),
            table: insert.table.name.clone(),
            column: name.name.clone(),
            star: false,
        })
        .collect()
    }

    pub(super) fn load(&self, load: &LoadData) -> Result<()> {
        self.some(&load.table, needed_to_load(load))?;
        let targets = load.targets.iter().filter_map(|target| match target {
            LoadTarget::Column(name) => Some(name),
            LoadTarget::UserVar(_) => None,
        });
        if load.targets.is_empty() {
            self.may_give(&load.table, [], Privileges::INSERT)?;
        }
        let set = load.assignments.iter().map(|assignment| &assignment.column);
        let given: Vec<&ColumnName> = targets.chain(set).collect();
        if !given.is_empty() {
            self.may_give(&load.table, given, Privileges::INSERT)?;
        }
        let own = [TableRef::Table(Box::new(factor(&load.table)))];
        let values = || load.assignments.iter().map(|assignment| &assignment.value);
        self.exprs(values())?;
        if self.holds(&load.table, Privileges::SELECT) {
            return Ok(());
        }
        self.reads_columns(reading(None, &own, values()))
    }

    pub(super) fn update(&self, update: &Update) -> Result<()> {
        let mut reads = ReferencedObjects::default();
        let with = update.with.as_ref();
        reads.with(with);
        let named = named_tables(&update.tables);
        let named: Vec<_> = named.into_iter().filter(|f| !reads.is_cte(&f.name)).collect();
        let single = matches!(update.tables[..], [TableRef::Table(_)]);
        for factor in &named {
            let changed = self.some(&factor.name, Privileges::UPDATE);
            if single {
                changed?;
            } else if changed.is_err() {
                self.some(&factor.name, Privileges::SELECT)?;
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
        if let [factor] = named.as_slice() {
            self.returns(&update.returning, factor)?;
        }
        let both = Privileges::SELECT | Privileges::UPDATE;
        if named.iter().all(|factor| self.holds(&factor.name, both)) && self.reads_whole(&reads) {
            return Ok(());
        }
        // What FROM itself reads comes before what the items name.
        let from = self.named_by(reading(with, &update.tables, [])).len();
        let columns: Vec<Expr> =
            update.assignments.iter().map(|a| Expr::Column(a.column.clone())).collect();
        let assigned = self.named_by(reading(with, &update.tables, &columns));
        self.may(&assigned[from..], Privileges::UPDATE)?;
        self.reads_columns(reading(with, &update.tables, exprs))
    }

    pub(super) fn delete(&self, delete: &Delete) -> Result<()> {
        let mut reads = ReferencedObjects::default();
        let with = delete.with.as_ref();
        reads.with(with);
        let order = delete.order_by.iter().map(|item| &item.expr);
        let exprs: Vec<&Expr> = delete.where_.iter().chain(order).collect();
        reads.exprs(exprs.iter().copied());
        match &delete.target {
            DeleteTarget::Single(factor) => {
                self.table(&factor.name, Privileges::DELETE)?;
                self.reads(&reads)?;
                self.returns(&delete.returning, factor)?;
                if self.holds(&factor.name, Privileges::SELECT) && self.reads_whole(&reads) {
                    return Ok(());
                }
                let from = [TableRef::Table(factor.clone())];
                self.reads_columns(reading(with, &from, exprs))
            }
            DeleteTarget::Multi { targets, from } => {
                from.iter().for_each(|table| reads.table_ref(table));
                self.reads(&reads)?;
                let members = named_tables(from);
                targets.iter().try_for_each(|target| self.deletes(target, &members))?;
                if self.reads_whole(&reads) {
                    return Ok(());
                }
                self.reads_columns(reading(with, from, exprs))
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
}
