//! What SHOW EXTENDED INDEX lists beside the parts of indexes that were declared: the columns that
//! MySQL's engine keeps in them.

use super::columns::engine_columns;
use super::{Rows, row};
use crate::catalog::{ColumnDef, IndexDef, TableDef};
use inia_base::value::Value;

/// One more part of an index.
fn part(def: &TableDef, index: (&str, bool), at: u64, column: (&str, bool), rows: &mut Rows) {
    let (schema, (index, unique)) = (def.schema.as_str(), index);
    let mut row = row!["def", schema, def.name.as_str(), i64::from(!unique), schema, index, at];
    let nullable = if column.1 { "YES" } else { "" };
    row.extend(row![column.0, "A", Value::Null, Value::Null, Value::Null, nullable, "BTREE"]);
    row.extend(row!["", "", "YES", Value::Null]);
    rows.push(row);
}

/// The columns that are kept in rows.
fn kept(def: &TableDef) -> impl Iterator<Item = (usize, &ColumnDef)> {
    let is_kept = |column: &ColumnDef| column.generated.as_ref().is_none_or(|made| made.stored);
    def.columns.iter().enumerate().filter(move |(_, column)| is_kept(column))
}

/// The index of a table without a key, by hidden numbers of rows.
pub(super) fn row_id_index(def: &TableDef, rows: &mut Rows) {
    let engine = engine_columns(def).iter().map(|name| (*name, false));
    let own = kept(def).map(|(_, column)| (column.name.as_str(), column.nullable));
    for (at, column) in (1..).zip(engine.chain(own)) {
        part(def, ("PRIMARY", true), at, column, rows);
    }
}

/// The hidden parts of an index: all other columns of the one that has the rows, and the key of
/// the row of others.
pub(super) fn hidden_parts(def: &TableDef, index: &IndexDef, rows: &mut Rows) {
    if !index.kind.has_keys() {
        return;
    }
    let whole = |column: usize| {
        index.parts.iter().any(|part| part.column == column && part.prefix.is_none())
    };
    let named = |column: &ColumnDef| (column.name.clone(), column.nullable);
    let engine = |name: &&str| ((*name).to_owned(), false);
    let clustered = def.clustered_index();
    let hidden: Vec<(String, bool)> = match clustered {
        Some(clustered) if clustered.name == index.name => {
            let others = kept(def).filter(|(at, _)| !whole(*at)).map(|(_, column)| named(column));
            engine_columns(def).iter().map(engine).chain(others).collect()
        }
        Some(clustered) => {
            let parts = clustered.parts.iter().filter(|part| !whole(part.column));
            parts.map(|part| named(&def.columns[part.column])).collect()
        }
        None => vec![engine(&"DB_ROW_ID")],
    };
    let unique = index.kind.is_unique();
    for (at, (name, nullable)) in (index.parts.len() as u64 + 1..).zip(&hidden) {
        part(def, (&index.name, unique), at, (name, *nullable), rows);
    }
}
