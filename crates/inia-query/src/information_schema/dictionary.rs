//! `INNODB_TABLES`, `INNODB_INDEXES` and so on: stored tables as the dictionary of MySQL's storage
//! engine has them.
//!
//! Numbers of tables, indexes and spaces are Inia's own. Each table counts as one in a file of its
//! own.

use super::innodb::{kept, pages};
use super::tables::{next_auto_increment, row_estimate};
use super::{Information, Rows, row};
use crate::catalog::width::row_bytes;
use crate::catalog::{ColumnDef, IndexDef, IndexKind, ReferentialAction, Table, TableDef};
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::value::Value;
use std::sync::Arc;

/// Columns that the engine adds to each row: its id, its transaction, and its version before.
const SYSTEM_COLUMNS: usize = 3;
/// The page of a table's first index.
const FIRST_PAGE: i64 = 4;

/// A table, or a part of one that is stored by itself.
struct Stored {
    table: Arc<Table>,
    name: String,
    id: u64,
    is_part: bool,
}

/// As [`stored`], without parts of tables: MySQL 8.0.31 lists none of their indexes.
fn whole(info: &Information<'_>) -> impl Iterator<Item = Stored> {
    stored(info).into_iter().filter(|stored| !stored.is_part)
}

fn stored(info: &Information<'_>) -> Vec<Stored> {
    let mut all = Vec::new();
    for table in kept(info) {
        let name = format!("{}/{}", table.def.schema, table.def.name);
        let (Some(parts), Some(by)) = (&table.partitions, &table.def.partitioning) else {
            let id = table.clustered.id().0.into();
            all.push(Stored { table: table.clone(), name, id, is_part: false });
            continue;
        };
        for (number, leaf) in parts.leaves().iter().enumerate() {
            let shown = match &by.sub {
                None => format!("p#{}", by.shown(number)),
                Some(_) => {
                    let per = by.per_partition();
                    let partition = &by.partitions[number / per];
                    format!("p#{}#sp#{}", partition.name, partition.leaves[number % per].name)
                }
            };
            let name = format!("{name}#{}", shown.to_lowercase());
            let id = leaf.clustered.id().0.into();
            all.push(Stored { table: leaf.clone(), name, id, is_part: true });
        }
    }
    all
}

/// The columns that rows hold in MySQL, and those that are computed when they are read, with their
/// positions.
fn columns(def: &TableDef) -> (Vec<&ColumnDef>, Vec<(usize, &ColumnDef)>) {
    let is_virtual = |column: &ColumnDef| column.generated.as_ref().is_some_and(|g| !g.stored);
    let stored = def.columns.iter().filter(|column| !is_virtual(column)).collect();
    let numbered = def.columns.iter().enumerate();
    (stored, numbered.filter(|(_, column)| is_virtual(column)).collect())
}

/// Whether rows have a hidden number for full-text search.
fn has_document_id(def: &TableDef) -> bool {
    let named = |column: &ColumnDef| column.name == "FTS_DOC_ID";
    let searched = def.indexes.iter().any(|index| index.kind == IndexKind::FullText);
    searched && !def.columns.iter().any(named)
}

/// The format's name, the flags of a table of it, and the size of its compressed pages.
fn format(def: &TableDef) -> (&'static str, i64, u64) {
    match def.engine_row_format() {
        "REDUNDANT" => ("Redundant", 0, 0),
        "COMPACT" => ("Compact", 1, 0),
        "COMPRESSED" => {
            let block = def.option("KEY_BLOCK_SIZE").and_then(|size| size.parse::<u64>().ok());
            let size = block.unwrap_or(8).clamp(1, 16);
            ("Compressed", 33 + 2 * (i64::from(size.ilog2()) + 1), size * 1024)
        }
        _ => ("Dynamic", 33, 0),
    }
}

pub(super) fn tables(info: &Information<'_>, rows: &mut Rows) {
    for Stored { table, name, id, .. } in stored(info) {
        let hidden = usize::from(has_document_id(&table.def));
        let count = columns(&table.def).0.len() + hidden + SYSTEM_COLUMNS;
        let (format, flag, page) = format(&table.def);
        rows.push(row![
            id,
            name,
            flag,
            count as i64,
            id as i64,
            format,
            page,
            "Single",
            0i64,
            0i64
        ]);
    }
}

pub(super) fn table_columns(info: &Information<'_>, rows: &mut Rows) {
    for Stored { table, id, .. } in stored(info) {
        let (held, computed) = columns(&table.def);
        let held = held.into_iter().enumerate().map(|(at, column)| (at as u64, column, 0));
        let computed = computed.into_iter().enumerate();
        let computed = computed.map(|(number, (at, column))| {
            (((number as u64 + 1) << 16) + at as u64, column, VIRTUAL)
        });
        for (position, column, flag) in held.chain(computed) {
            let (main, precise) = engine_type(column);
            let length = match &column.data_type {
                DataType::VarChar { chars, collation } => {
                    i64::from(*chars) * i64::from(collation.charset().max_bytes())
                }
                DataType::VarBinary(bytes) => i64::from(*bytes),
                other => row_bytes(other) as i64,
            };
            let name = column.name.as_str();
            rows.push(row![id, name, position, main, precise | flag, length, 0i64, Value::Null]);
        }
    }
}

const NOT_NULL: i64 = 256;
const UNSIGNED: i64 = 512;
const BINARY: i64 = 1024;
const LONG: i64 = 4096;
const VIRTUAL: i64 = 8192;
/// The number of the collation `binary`.
const BYTES: i64 = 63;
/// That of `latin1_swedish_ci`, whose strings have types of their own.
const FIRST_COLLATION: i64 = 8;
const DOCUMENTS: i64 = 46;

/// `MTYPE` and `PRTYPE` of a column.
fn engine_type(column: &ColumnDef) -> (i64, i64) {
    let unsigned = |unsigned: bool| if unsigned { UNSIGNED } else { 0 };
    let text = |collation: &Collation, kind: i64, (own, other): (i64, i64)| {
        let number = i64::from(collation.0);
        (if number == FIRST_COLLATION { own } else { other }, kind | number << 16)
    };
    let bytes = |main: i64, kind: i64| (main, kind | BINARY | BYTES << 16);
    let old = |main: i64, kind: i64| (main, kind | BINARY | FIRST_COLLATION << 16);
    let long = |length: u64| if length > 255 { LONG } else { 0 };
    let (main, kind) = match &column.data_type {
        DataType::Int { width, unsigned: sign } => {
            let kind = match width {
                IntWidth::Tiny => 1,
                IntWidth::Small => 2,
                IntWidth::Medium => 9,
                IntWidth::Int => 3,
                IntWidth::Big => 8,
            };
            (6, kind | BINARY | unsigned(*sign))
        }
        DataType::Bit(_) => bytes(3, 16 | UNSIGNED),
        DataType::Decimal { unsigned: sign, .. } => old(3, 246 | unsigned(*sign)),
        DataType::Float { unsigned: sign, .. } => (9, 4 | BINARY | unsigned(*sign)),
        DataType::Double { unsigned: sign, .. } => (10, 5 | BINARY | unsigned(*sign)),
        DataType::Char { collation, .. } => text(collation, 254, (2, 13)),
        DataType::VarChar { chars, collation } => {
            let length = u64::from(*chars) * u64::from(collation.charset().max_bytes());
            text(collation, 15 | long(length), (1, 12))
        }
        DataType::Text { collation, .. } => text(collation, 252, (5, 5)),
        DataType::Binary(_) => bytes(3, 254),
        DataType::VarBinary(length) => bytes(4, 15 | long(u64::from(*length))),
        DataType::Blob(_) => bytes(5, 252),
        DataType::Json => (5, 245 | BINARY | DOCUMENTS << 16),
        DataType::Geometry { .. } => (14, 255 | BINARY),
        DataType::Date => (6, 10 | BINARY),
        DataType::Year => (6, 13 | BINARY | UNSIGNED),
        DataType::Time { .. } => old(3, 11),
        DataType::DateTime { .. } => old(3, 12),
        DataType::Timestamp { .. } => old(3, 7),
        DataType::Enum { .. } | DataType::Set { .. } => (6, 254 | UNSIGNED),
        DataType::Null => (6, BINARY),
    };
    (main, if column.nullable { kind } else { kind | NOT_NULL })
}

/// An index of a stored table as the engine has it.
struct EngineIndex<'t> {
    id: u64,
    name: &'t str,
    kind: i64,
    fields: usize,
    /// Its definition; `None` for what the engine adds.
    def: Option<&'t IndexDef>,
}

/// The indexes of a table: that of the rows first.
fn indexes(table: &Table) -> Vec<EngineIndex<'_>> {
    let def = &table.def;
    let clustered = def.clustered_index();
    let id = |index: &IndexDef| u64::from(index.tree.0);
    let hidden = usize::from(has_document_id(def));
    let width = columns(def).0.len() + hidden + SYSTEM_COLUMNS - 1;
    let mut all = vec![match clustered {
        Some(index) => EngineIndex {
            id: id(index),
            name: &index.name,
            kind: 3,
            fields: width,
            def: Some(index),
        },
        None => EngineIndex {
            id: table.clustered.id().0.into(),
            name: "GEN_CLUST_INDEX",
            kind: 1,
            fields: width + 1,
            def: None,
        },
    }];
    for index in def.indexes.iter().filter(|index| !index.clustered) {
        let columns: Vec<usize> = index.parts.iter().map(|part| part.column).collect();
        let primary = clustered.map(|primary| {
            primary.parts.iter().filter(|part| !columns.contains(&part.column)).count()
        });
        let computed = |column: &usize| {
            def.columns[*column].generated.as_ref().is_some_and(|generated| !generated.stored)
        };
        let (kind, fields) = match index.kind {
            IndexKind::FullText => (32, columns.len()),
            IndexKind::Spatial => (64, columns.len() + primary.unwrap_or(1)),
            _ => {
                let unique = if index.unique() { 2 } else { 0 };
                let computed = if columns.iter().any(computed) { 128 } else { 0 };
                (unique + computed, columns.len() + primary.unwrap_or(1))
            }
        };
        all.push(EngineIndex { id: id(index), name: &index.name, kind, fields, def: Some(index) });
    }
    all
}

pub(super) fn table_indexes(info: &Information<'_>, rows: &mut Rows) {
    for Stored { table, id, .. } in whole(info) {
        for (number, index) in indexes(&table).into_iter().enumerate() {
            let page = if index.kind == 32 { -1 } else { FIRST_PAGE + number as i64 };
            let (fields, space) = (index.fields as i64, id as i64);
            rows.push(row![index.id, index.name, id, index.kind, fields, page, space, 50i64]);
        }
    }
}

pub(super) fn fields(info: &Information<'_>, rows: &mut Rows) {
    for Stored { table, .. } in whole(info) {
        for index in indexes(&table) {
            let Some(def) = index.def else { continue };
            for (position, part) in def.parts.iter().enumerate() {
                let name = table.def.columns[part.column].name.as_str();
                rows.push(row![index.id.to_string(), name, position as u64]);
            }
        }
    }
}

pub(super) fn foreign(info: &Information<'_>, rows: &mut Rows) {
    let flags = |action: ReferentialAction, [cascade, null, nothing]: [u64; 3]| match action {
        ReferentialAction::Cascade => cascade,
        ReferentialAction::SetNull => null,
        ReferentialAction::NoAction => nothing,
        ReferentialAction::Restrict | ReferentialAction::SetDefault => 0,
    };
    for table in kept(info) {
        let schema = &table.def.schema;
        for key in &table.def.foreign_keys {
            let kind = flags(key.on_delete, [1, 2, 16]) | flags(key.on_update, [4, 8, 32]);
            rows.push(row![
                format!("{schema}/{}", key.name),
                format!("{schema}/{}", table.def.name),
                format!("{}/{}", key.ref_schema, key.ref_table),
                key.columns.len() as i64,
                kind,
            ]);
        }
    }
}

pub(super) fn foreign_columns(info: &Information<'_>, rows: &mut Rows) {
    for table in kept(info) {
        for key in &table.def.foreign_keys {
            let pairs = key.columns.iter().zip(&key.ref_columns);
            for (number, (own, parent)) in pairs.enumerate() {
                rows.push(row![
                    format!("{}/{}", table.def.schema, key.name),
                    table.def.columns[*own].name.as_str(),
                    parent.as_str(),
                    number as u64 + 1,
                ]);
            }
        }
    }
}

pub(super) fn statistics(info: &Information<'_>, rows: &mut Rows) {
    for Stored { table, name, id, .. } in stored(info) {
        let clustered = table.stats().clustered();
        let others = (0..table.def.indexes.len())
            .filter(|index| table.def.indexes[*index].has_entries())
            .filter_map(|index| table.stats().keys(index))
            .map(|keys| pages(&keys));
        let state = if clustered.is_some() { "Initialized" } else { "Uninitialized" };
        rows.push(row![
            id,
            name,
            state,
            row_estimate(&table),
            clustered.as_ref().map_or(0, |keys| pages(keys)),
            others.sum::<u64>(),
            0u64,
            next_auto_increment(&table).unwrap_or(0),
            1i64,
        ]);
    }
}
