//! The types of the columns that a statement names.

use crate::catalog::{ColumnDef, IndexPart, Table, same_name};
use inia_base::datatype::DataType;
use inia_parser::ast::{ColumnName, Expr};
use std::sync::Arc;

/// The stored tables of the SELECTs that are being rewritten, by the names they go by.
#[derive(Default)]
pub(super) struct TableTypes {
    tables: Vec<(String, String, Arc<Table>)>,
}

impl TableTypes {
    pub(super) fn add(&mut self, schema: &str, alias: &str, table: &Arc<Table>) {
        self.tables.push((schema.to_owned(), alias.to_owned(), table.clone()));
    }

    /// The stored table that goes by a name; the innermost one of several.
    pub(super) fn table(&self, schema: &str, alias: &str) -> Option<&Arc<Table>> {
        let is = |(own, name, _): &&(String, String, Arc<Table>)| own == schema && name == alias;
        self.tables.iter().rev().find(is).map(|(_, _, table)| table)
    }

    pub(super) fn column(&self, name: &ColumnName) -> Option<&ColumnDef> {
        let table = self.table(name.db.as_deref()?, name.table.as_deref()?)?;
        table.def.columns.iter().find(|column| same_name(&column.name, &name.name))
    }

    /// The names of the visible indexes that a column is a part of, each with whether it is the
    /// first one.
    pub(super) fn indexes(&self, name: &ColumnName) -> Vec<(&str, bool)> {
        let table =
            name.db.as_deref().zip(name.table.as_deref()).and_then(|(db, t)| self.table(db, t));
        let Some(table) = table else { return Vec::new() };
        let def = &table.def;
        let is = |part: &IndexPart| same_name(&def.columns[part.column].name, &name.name);
        let found = def.indexes.iter().filter(|index| index.visible && !index.kind.has_words());
        found
            .filter_map(|index| {
                let at = index.parts.iter().position(is)?;
                Some((index.name.as_str(), at == 0))
            })
            .collect()
    }

    /// Whether an index begins with the column.
    pub(super) fn begins_index(&self, name: &ColumnName) -> bool {
        self.indexes(name).iter().any(|(_, first)| *first)
    }

    /// The type of a column; `None` for anything else.
    pub(super) fn of(&self, expr: &Expr) -> Option<&DataType> {
        match expr {
            Expr::Column(name) => self.column(name).map(|column| &column.data_type),
            _ => None,
        }
    }
}

/// What kinds of values compare with each other without a conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Number,
    Text,
    Date,
    DateTime,
    Time,
    Json,
    Other,
}

/// The kind of a type's values.
pub(super) fn kind(data_type: &DataType) -> Kind {
    match data_type {
        DataType::Int { .. }
        | DataType::Decimal { .. }
        | DataType::Float { .. }
        | DataType::Double { .. }
        | DataType::Year
        | DataType::Bit(_) => Kind::Number,
        DataType::Char { .. }
        | DataType::VarChar { .. }
        | DataType::Text { .. }
        | DataType::Binary(_)
        | DataType::VarBinary(_)
        | DataType::Blob(_)
        | DataType::Enum { .. }
        | DataType::Set { .. } => Kind::Text,
        DataType::Date => Kind::Date,
        DataType::DateTime { .. } | DataType::Timestamp { .. } => Kind::DateTime,
        DataType::Time { .. } => Kind::Time,
        DataType::Json => Kind::Json,
        DataType::Geometry { .. } | DataType::Null => Kind::Other,
    }
}
