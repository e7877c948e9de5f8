//! The members of FROM that a query names, how each is written, and the columns that were named.

use crate::bind::{FromColumn, FromTable, Namespace};
use inia_expr::ExprType;
use inia_parser::ast::ColumnName;
use std::cell::RefCell;

/// How a member of FROM is written before its columns.
type Qualifier = (Option<String>, String);

/// A stored table or view: its database and its own name.
type Origin = (String, String);

/// A column of a stored table or view that a query names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedColumn {
    /// The schema of the table or view.
    pub schema: String,
    /// The table or view.
    pub table: String,
    /// As it was written.
    pub column: String,
    /// It is one of all columns: `*` stood for it.
    pub star: bool,
}

/// Members of FROM with the way to write each.
#[derive(Clone, Default)]
pub(super) struct FromNames {
    pub(super) names: Namespace,
    pub(super) qualifiers: Vec<Qualifier>,
    /// What each member is, where it is stored.
    pub(super) origins: Vec<Option<Origin>>,
}

impl FromNames {
    pub(super) fn of(
        qualifier: Qualifier,
        schema: &str,
        columns: Vec<(String, bool)>,
    ) -> FromNames {
        let ty = ExprType::int(1, true);
        let column = |(name, hidden): (String, bool)| FromColumn {
            slot: 0,
            result: ty.result_column(&name),
            ty: ty.clone(),
            hidden,
            merged: None,
        };
        let columns = columns.into_iter().map(column).collect();
        let (schema, alias) = (schema.to_owned(), qualifier.1.clone());
        let names =
            Namespace::of(FromTable { schema, alias, columns, stored: false, materialized: false });
        FromNames { names, qualifiers: vec![qualifier], origins: vec![None] }
    }

    pub(super) fn append(&mut self, other: FromNames) {
        // The names were found not to clash when the query was bound.
        if self.names.append(other.names).is_ok() {
            self.qualifiers.extend(other.qualifiers);
            self.origins.extend(other.origins);
        }
    }

    pub(super) fn written(&self, at: (usize, usize)) -> ColumnName {
        let (db, table) = self.qualifiers[at.0].clone();
        let name = self.names.column(at).result.name.clone();
        ColumnName { db, table: Some(table), name }
    }

    pub(super) fn find(&self, name: &ColumnName, used: &Used) -> Option<ColumnName> {
        let at = self.names.find(name, "").ok().flatten()?;
        self.note(at, &name.name, false, used);
        Some(self.written(at))
    }

    /// Notes a column that `*` stood for.
    pub(super) fn note_shown(&self, at: (usize, usize), used: &Used) {
        self.note(at, &self.names.column(at).result.name, true, used);
    }

    pub(super) fn note(&self, at: (usize, usize), column: &str, star: bool, used: &Used) {
        if let Some((schema, table)) = &self.origins[at.0] {
            let (schema, table, column) = (schema.clone(), table.clone(), column.to_owned());
            used.borrow_mut().push(UsedColumn { schema, table, column, star });
        }
    }
}

/// The columns that were met so far.
pub(super) type Used = RefCell<Vec<UsedColumn>>;

/// A member that is no stored table.
pub(super) fn plain(qualifier: Qualifier, columns: Vec<String>) -> FromNames {
    FromNames::of(qualifier, "", columns.into_iter().map(|name| (name, false)).collect())
}

/// The names that were written, or a query's own.
pub(super) fn or_own(written: &[String], own: Vec<String>) -> Vec<String> {
    if written.is_empty() { own } else { written.to_vec() }
}
