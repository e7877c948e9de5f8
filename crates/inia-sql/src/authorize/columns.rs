//! Privileges on columns: what a statement needs of tables that it may read or change only in part.
//!
//! Only a statement's resolved names show which columns of which table it uses. They are resolved
//! for accounts that lack a privilege on a whole table; others skip that work.
//!
//! Example: with SELECT on the column `a` of `t` alone, `SELECT a FROM t` and `SELECT COUNT(*) FROM
//! t` are allowed, `SELECT a FROM t WHERE b = 1` is error 1143 for the column `b`, and `SELECT *
//! FROM t` is error 1142.

use super::{Checker, Result};
use inia_parser::ast::*;
use inia_query::account::privilege::Privileges;
use inia_query::referenced::ReferencedObjects;
use inia_query::view::{Resolver, UsedColumn};

/// A query that reads what these expressions read.
pub(super) fn reading<'e>(
    with: Option<&With>,
    from: &[TableRef],
    exprs: impl IntoIterator<Item = &'e Expr>,
) -> Query {
    let item =
        |expr: &Expr| SelectItem::Expr { expr: expr.clone(), alias: None, text: String::new() };
    let items = exprs.into_iter().map(item).collect();
    let select = Select { items, from: from.to_vec(), ..Select::default() };
    let mut query = Query::new(QueryBody::Select(Box::new(select)));
    query.with = with.cloned();
    query
}

impl Checker<'_> {
    /// Privileges on a table, or on one of its columns; the columns are looked at later.
    pub(super) fn some(&self, name: &ObjectName, wanted: Privileges) -> Result<()> {
        let schema = self.schema_of(name);
        let on_columns = self.access.on_some_column(schema, &name.name);
        if self.is_temporary(name) { Ok(()) } else { self.stored(name, wanted & !on_columns) }
    }

    /// Whether the privileges are held on the whole table.
    pub(super) fn holds(&self, name: &ObjectName, wanted: Privileges) -> bool {
        let schema = self.schema_of(name);
        schema.is_empty()
            || self.is_temporary(name)
            || self.access.on_table(schema, &name.name).has(wanted)
    }

    /// Whether all tables that were found may be read whole.
    pub(super) fn reads_whole(&self, reads: &ReferencedObjects<'_>) -> bool {
        reads.tables.iter().all(|table| self.holds(table, Privileges::SELECT))
    }

    /// The columns of stored tables that a query names.
    pub(super) fn named_by(&self, mut query: Query) -> Vec<UsedColumn> {
        let catalog = self.around.catalog();
        let mut resolver = Resolver::new(&catalog, self.database);
        resolver.query(&mut query, false);
        resolver.used()
    }

    /// SELECT on all columns that a query names.
    pub(super) fn reads_columns(&self, query: Query) -> Result<()> {
        self.may(&self.named_by(query), Privileges::SELECT)
    }

    /// The privilege on all these columns: error 1143, or 1142 where `*` stood for them.
    pub(super) fn may(&self, used: &[UsedColumn], wanted: Privileges) -> Result<()> {
        let command = wanted.members().next().map_or("", |privilege| privilege.name);
        for UsedColumn { schema, table, column, star } in used {
            let own = self.around.is_temporary(schema, table);
            if own || self.access.on_column(schema, table, column).has(wanted) {
                continue;
            }
            return Err(match star {
                true => self.access.no_table(command, table),
                false => self.access.no_column(command, column, table),
            });
        }
        Ok(())
    }

    /// The privilege on the named columns of one table, or on all where no names are given.
    pub(super) fn may_give<'n>(
        &self,
        table: &ObjectName,
        columns: impl IntoIterator<Item = &'n ColumnName>,
        wanted: Privileges,
    ) -> Result<()> {
        if self.holds(table, wanted) {
            return Ok(());
        }
        let used = |column: &str, star| UsedColumn {
            schema: self.schema_of(table).to_owned(),
            table: table.name.clone(),
            column: column.to_owned(),
            star,
        };
        let mut all: Vec<UsedColumn> =
            columns.into_iter().map(|column| used(&column.name, false)).collect();
        if all.is_empty() {
            let factor = factor(table);
            let mut query = reading(None, &[TableRef::Table(Box::new(factor))], []);
            if let QueryBody::Select(select) = &mut query.body {
                select.items.push(SelectItem::Wildcard);
            }
            all = self.named_by(query);
        }
        self.may(&all, wanted)
    }
}

/// A table as a member of FROM.
pub(super) fn factor(name: &ObjectName) -> TableFactor {
    TableFactor { name: name.clone(), partitions: Vec::new(), alias: None, hints: Vec::new() }
}
