//! The names that a query's FROM makes known.
//!
//! Every member of FROM owns a run of slots. `visible` is what `*` expands to and what a bare name
//! is looked up in; joins with USING or NATURAL show each shared column once.
//!
//! Example: `a(id, x) JOIN b(id, y) USING (id)`: slots are a.id 0, a.x 1, b.id 2, b.y 3; visible
//! are a.id, a.x, b.y, so `id` is not ambiguous, while `b.id` still finds slot 2.

use crate::plan::Origin;
use crate::table_def::HIDDEN;
use inia_base::column::ResultColumn;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::{Expr, ExprType, full_length};
use inia_parser::ast::ColumnName;
use std::sync::Arc;

/// One column of a member of FROM.
#[derive(Clone, Debug)]
pub(crate) struct FromColumn {
    /// Its slot in the row.
    pub(crate) slot: usize,
    /// Its type here: nullable on the inner side of an outer join.
    pub(crate) ty: ExprType,
    /// The metadata that a client gets when it is selected as it is.
    pub(crate) result: ResultColumn,
    /// Left out of `*` (INVISIBLE).
    pub(crate) hidden: bool,
    /// What it stands for, where that is no slot: an expression of a merged view or derived table.
    pub(crate) merged: Option<Arc<Expr>>,
}

/// What stands before the name of a hidden column where a joined UPDATE or DELETE names all columns
/// of its targets; no client can write it.
pub(crate) const OWN_NAME: char = '\0';

/// One member of FROM.
#[derive(Clone, Debug)]
pub(crate) struct FromTable {
    /// Its database; empty for derived tables.
    pub(crate) schema: String,
    /// The name it goes by.
    pub(crate) alias: String,
    /// Its columns.
    pub(crate) columns: Vec<FromColumn>,
    /// It is a stored table itself, no view or derived table.
    pub(crate) stored: bool,
    /// It is the rows of a derived table, view or common table expression that was not merged.
    pub(crate) materialized: bool,
}

/// Everything that FROM makes known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Namespace {
    /// Members in the order of FROM.
    pub(crate) tables: Vec<FromTable>,
    /// (table, column) pairs in the order of `*`.
    pub(crate) visible: Vec<(usize, usize)>,
}

/// Whether two table names are the same; table names keep their case, as on Linux.
fn same_table(a: &str, b: &str) -> bool {
    a == b
}

fn same_column(a: &str, b: &str) -> bool {
    crate::catalog::same_name(a, b)
}

impl FromTable {
    /// A column's name as errors about groups print it: derived tables are in no schema.
    pub(super) fn full_name(&self, column: &FromColumn) -> String {
        let result = &column.result;
        let own = self.schema.is_empty() && self.stored;
        let schema = if own { &result.schema } else { &self.schema };
        let parts = [schema, &result.table, &result.name].map(String::as_str);
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
    }
}

impl FromColumn {
    /// The column as an expression.
    pub(crate) fn expr(&self) -> Expr {
        if let Some(expr) = &self.merged {
            return Expr { kind: expr.kind.clone(), ty: self.ty.clone() };
        }
        Expr::column(self.slot, self.ty.clone(), self.printed())
    }

    /// Makes a CHAR column one whose values are filled up with spaces.
    pub(crate) fn fill(&mut self) {
        if matches!(self.ty.data_type, DataType::Char { .. }) {
            self.merged = Some(Arc::new(full_length(self.expr())));
        }
    }

    /// The column's full name as error texts print it.
    fn printed(&self) -> String {
        let result = &self.result;
        let mut text = String::new();
        for part in [&result.schema, &result.table] {
            if !part.is_empty() {
                text.push_str(&format!("`{part}`."));
            }
        }
        text.push_str(&format!("`{}`", result.name));
        text
    }
}

impl Namespace {
    /// Where the values of a column come from.
    pub(crate) fn origin(&self, (table, _): (usize, usize)) -> Origin {
        if self.tables[table].stored { Origin::Column } else { Origin::Merged }
    }

    /// A namespace of one table.
    pub(crate) fn of(table: FromTable) -> Namespace {
        let shown = table.columns.iter().enumerate().filter(|(_, column)| !column.hidden);
        let visible = shown.map(|(index, _)| (0, index)).collect();
        Namespace { tables: vec![table], visible }
    }

    /// The column at a (table, column) pair.
    pub(crate) fn column(&self, at: (usize, usize)) -> &FromColumn {
        &self.tables[at.0].columns[at.1]
    }

    /// Takes in the members of `right`; a name used twice is error 1066.
    pub(crate) fn append(&mut self, right: Namespace) -> Result<(), SqlError> {
        for table in &right.tables {
            let clash = |other: &&FromTable| {
                same_table(&other.alias, &table.alias) && other.schema == table.schema
            };
            if self.tables.iter().find(clash).is_some() {
                return Err(SqlError::new(ErrorCode::NonUniqueTable, &[&table.alias]));
            }
        }
        let offset = self.tables.len();
        self.tables.extend(right.tables);
        self.visible.extend(right.visible.into_iter().map(|(t, c)| (t + offset, c)));
        Ok(())
    }

    /// Makes every column of the tables from `first` on nullable: the inner side of an outer join.
    pub(crate) fn make_nullable(&mut self, tables: std::ops::Range<usize>) {
        for column in self.tables[tables].iter_mut().flat_map(|table| &mut table.columns) {
            column.ty.nullable = true;
            column.result.flags &= !inia_base::column::flags::NOT_NULL;
        }
    }

    /// Finds a column by its name; `Ok(None)` where this namespace does not know it.
    pub(crate) fn find(
        &self,
        name: &ColumnName,
        clause: &str,
    ) -> Result<Option<(usize, usize)>, SqlError> {
        // Only statements of Inia's own name the columns of functional key parts.
        let own = name.name.strip_prefix(OWN_NAME).filter(|rest| rest.starts_with(HIDDEN));
        if own.is_none() && name.name.starts_with(HIDDEN) {
            return Ok(None);
        }
        let wanted = own.unwrap_or(&name.name);
        let mut found = None;
        let mut take = |at| match found.replace(at) {
            None => Ok(()),
            Some(_) => Err(SqlError::new(ErrorCode::NonUniqueColumn, &[&full_name(name), &clause])),
        };
        match &name.table {
            None => {
                let hidden = self.tables.iter().enumerate().flat_map(|(t, table)| {
                    let columns = table.columns.iter().enumerate();
                    columns.filter(|(_, column)| column.hidden).map(move |(c, _)| (t, c))
                });
                for at in self.visible.iter().copied().chain(hidden) {
                    if same_column(&self.column(at).result.name, wanted) {
                        take(at)?;
                    }
                }
            }
            Some(table_name) => {
                for (t, table) in self.tables.iter().enumerate() {
                    if !same_table(&table.alias, table_name)
                        || name.db.as_ref().is_some_and(|db| *db != table.schema)
                    {
                        continue;
                    }
                    for (c, column) in table.columns.iter().enumerate() {
                        if same_column(&column.result.name, wanted) {
                            take((t, c))?;
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    /// Whether the parts that the name has match the column at a (table, column) pair.
    pub(crate) fn goes_by(&self, at: (usize, usize), name: &ColumnName) -> bool {
        let table = &self.tables[at.0];
        same_column(&self.column(at).result.name, &name.name)
            && name.table.as_ref().is_none_or(|wanted| same_table(wanted, &table.alias))
            && name.db.as_ref().is_none_or(|db| *db == table.schema)
    }

    /// Looks for a bare name among the visible columns only, for USING and NATURAL.
    pub(crate) fn find_shared(
        &self,
        name: &str,
        clause: &str,
    ) -> Result<Option<(usize, usize)>, SqlError> {
        let mut matches = self
            .visible
            .iter()
            .copied()
            .filter(|&at| same_column(&self.column(at).result.name, name));
        let first = matches.next();
        if matches.next().is_some() {
            return Err(SqlError::new(ErrorCode::NonUniqueColumn, &[&name, &clause]));
        }
        Ok(first)
    }

    /// The visible columns of one member, for `t.*`; error 1051 where there is no such member.
    pub(crate) fn columns_of(
        &self,
        schema: Option<&str>,
        alias: &str,
    ) -> Result<impl Iterator<Item = (usize, usize)>, SqlError> {
        let member = self.tables.iter().position(|table| {
            same_table(&table.alias, alias) && schema.is_none_or(|schema| schema == table.schema)
        });
        match member {
            Some(at) => {
                let columns = self.tables[at].columns.iter().enumerate();
                Ok(columns.filter(|(_, column)| !column.hidden).map(move |(c, _)| (at, c)))
            }
            None => {
                let schema = schema.map(|schema| format!("{schema}.")).unwrap_or_default();
                Err(SqlError::new(ErrorCode::UnknownTable, &[&(schema + alias)]))
            }
        }
    }
}

/// A column name as error texts print it.
pub(crate) fn full_name(name: &ColumnName) -> String {
    let parts = [&name.db, &name.table];
    let mut text = String::new();
    for part in parts.into_iter().flatten() {
        text.push_str(part);
        text.push('.');
    }
    text.push_str(&name.name);
    text
}
