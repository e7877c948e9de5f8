//! SCHEMATA, TABLES and PARTITIONS.

use super::{Information, Rows, listed, or_null, row};
use crate::catalog::width::row_bytes;
use crate::catalog::{
    ColumnDef, Division, MERGED, SYSTEM_SCHEMA, TRANSACTIONAL, Table, TableDef, quoted, row_count,
};
use crate::computed::SCHEMAS;
use crate::computed::definitions::{self, Definition};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::charset;
use std::sync::atomic::Ordering;

/// The positions of ENGINE and TABLE_COMMENT in TABLES.
const ENGINE: usize = 4;
const COMMENT: usize = 20;
const PAGE: u64 = 16_384;
/// Bytes of a row besides its columns.
const ROW_OVERHEAD: u64 = 20;
/// What a column of unbounded length is taken for.
const LONG_COLUMN: u64 = 64;

pub(super) fn schemata(info: &Information<'_>, rows: &mut Rows) {
    let mut push = |name: &str, charset: &str, collation: &str| {
        rows.push(row!["def", name, charset, collation, Value::Null, "NO"]);
    };
    for (name, _) in SCHEMAS.iter().filter(|(name, _)| *name != SYSTEM_SCHEMA) {
        if sees_schema(info, name) {
            match *name {
                "information_schema" => push(name, "utf8mb3", "utf8mb3_general_ci"),
                _ => push(name, "utf8mb4", "utf8mb4_0900_ai_ci"),
            }
        }
    }
    for (name, schema) in &info.catalog.schemas {
        if sees_schema(info, name) {
            let collation = schema.def.collation;
            push(name, charset::charset_name(collation), charset::name(collation));
        }
    }
}

pub(super) fn schemata_extensions(info: &Information<'_>, rows: &mut Rows) {
    let computed = SCHEMAS.iter().map(|(name, _)| (*name, ""));
    let computed = computed.filter(|(name, _)| *name != SYSTEM_SCHEMA);
    let stored =
        info.catalog.schemas.iter().map(|(name, schema)| {
            (&name[..], if schema.def.read_only { "READ ONLY=1" } else { "" })
        });
    for (name, options) in computed.chain(stored).filter(|(name, _)| sees_schema(info, name)) {
        rows.push(row!["def", name, options]);
    }
}

fn sees_schema(info: &Information<'_>, name: &str) -> bool {
    use crate::account::Privileges;
    info.access.global.has(Privileges::SHOW_DATABASES) || info.access.sees_database(name)
}

/// The tables of stored databases that the session may see.
pub(super) fn visible<'i>(
    info: &'i Information<'_>,
) -> impl Iterator<Item = &'i std::sync::Arc<Table>> {
    let tables = info.catalog.schemas.values().flat_map(|schema| schema.tables.values());
    tables.filter(|table| info.shows(&table.def.schema, &table.def.name))
}

/// Sizes that the server knows without reading the table; estimates.
pub(super) struct Sizes {
    pub(super) rows: u64,
    pub(super) average: u64,
    pub(super) data: u64,
    pub(super) indexes: u64,
}

pub(super) fn sizes(info: &Information<'_>, table: &Table) -> Sizes {
    if info.focus.names_only {
        return Sizes { rows: 0, average: 0, data: 0, indexes: 0 };
    }
    if table.def.is_merged() {
        return sizes_of_children(table);
    }
    sizes_of(table, row_estimate(table))
}

/// A merged table has the sizes of its children, and no indexes beside theirs.
fn sizes_of_children(table: &Table) -> Sizes {
    let children = table.stored().into_iter().map(|child| sizes_of(child, row_estimate(child)));
    let (rows, data) = children.fold((0, 0), |sum, one| (sum.0 + one.rows, sum.1 + one.data));
    let average = if table.children().is_empty() { 0 } else { record_bytes(&table.def) };
    Sizes { rows, average, data, indexes: 0 }
}

/// The length of a record of MyISAM that is not packed: bits of NULL, one more for a record that
/// may be deleted in its place, and each column at its longest.
fn record_bytes(def: &TableDef) -> u64 {
    let nullable = def.columns.iter().filter(|column| column.nullable).count();
    let bits = nullable + usize::from(!def.packs_rows());
    let columns: u64 = def.columns.iter().map(|column| row_bytes(&column.data_type)).sum();
    bits.div_ceil(8) as u64 + columns
}

fn sizes_of(table: &Table, rows: u64) -> Sizes {
    let width = |columns: &mut dyn Iterator<Item = usize>| -> u64 {
        columns.map(|column| column_bytes(&table.def.columns[column].data_type)).sum()
    };
    let pages = |bytes: u64| bytes.div_ceil(PAGE).max(1) * PAGE;
    let row = width(&mut (0..table.def.columns.len())) + ROW_OVERHEAD;
    let data = pages(rows * row);
    let indexes = table.def.indexes.iter().filter(|index| index.tree != table.def.clustered);
    let indexes = indexes
        .map(|index| {
            let entry = width(&mut index.parts.iter().map(|part| part.column)) + ROW_OVERHEAD;
            pages(rows * entry)
        })
        .sum();
    Sizes { rows, average: data.checked_div(rows).unwrap_or(0), data, indexes }
}

/// About how many rows the table has.
pub(super) fn row_estimate(table: &Table) -> u64 {
    if table.united().is_some() {
        return table.stored().into_iter().map(row_estimate).sum();
    }
    if !table.def.is_transactional()
        && let Some(rows) = row_count::newest(&table.store, table.clustered.id())
    {
        return rows;
    }
    if table.shared.estimate_known.load(Ordering::Relaxed) {
        return table.shared.row_estimate.load(Ordering::Relaxed).max(0) as u64;
    }
    table.estimated_rows().unwrap_or(0)
}

/// When the table was changed last; merged tables do not know.
fn updated(info: &Information<'_>, table: &Table) -> Value {
    match table.def.is_merged() {
        true => Value::Null,
        false => info.moment(table.shared.updated.load(Ordering::Relaxed)),
    }
}

/// The error that [`comment`] shows in a row of TABLES.
pub(crate) fn shown_error(row: &[Value]) -> Option<SqlError> {
    let (Value::Text(engine), Value::Text(comment)) = (row.get(ENGINE)?, row.get(COMMENT)?) else {
        return None;
    };
    let error = SqlError::new(ErrorCode::WrongMrgTable, &[]);
    (engine == MERGED && *comment == error.message).then_some(error)
}

/// TABLE_COMMENT: why a merged table cannot be opened, where it is looked into.
fn comment(info: &Information<'_>, table: &Table) -> String {
    match table.check_children() {
        Err(error) if !info.focus.names_only => error.message,
        _ => table.def.comment.clone(),
    }
}

/// About how many bytes a value takes.
fn column_bytes(data_type: &DataType) -> u64 {
    match data_type {
        DataType::Char { chars, .. } => u64::from(*chars),
        DataType::VarChar { chars, .. } | DataType::VarBinary(chars) => u64::from(*chars) / 2 + 1,
        DataType::Text { .. } | DataType::Blob(_) | DataType::Json | DataType::Geometry { .. } => {
            LONG_COLUMN
        }
        other => row_bytes(other),
    }
}

/// ROW_FORMAT of a table, as TABLES shows it.
pub fn row_format(def: &TableDef) -> String {
    let varies = |column: &ColumnDef| column.data_type.has_variable_length();
    let default = match def.engine.as_str() {
        "MyISAM" | MERGED if !def.columns.iter().any(varies) => "FIXED",
        _ => "DYNAMIC",
    };
    let name = match def.engine.as_str() {
        TRANSACTIONAL => def.engine_row_format(),
        "MEMORY" => "FIXED",
        _ => def.option("ROW_FORMAT").unwrap_or(default),
    };
    name[..1].to_ascii_uppercase() + &name[1..].to_ascii_lowercase()
}

/// CREATE_OPTIONS: the order and case of names are MySQL's.
fn create_options(def: &TableDef) -> String {
    const SHOWN: [&str; 11] = [
        "max_rows",
        "min_rows",
        "avg_row_length",
        "row_format",
        "stats_sample_pages",
        "stats_auto_recalc",
        "KEY_BLOCK_SIZE",
        "stats_persistent",
        "pack_keys",
        "checksum",
        "delay_key_write",
    ];
    let text = |name: &&str| {
        let written = |(option, _): &&(String, String)| option.eq_ignore_ascii_case(name);
        let (_, value) = def.options.iter().find(written)?;
        Some(format!("{name}={value}"))
    };
    let quoted = ["COMPRESSION", "SECONDARY_ENGINE"].iter().filter_map(|name| {
        let (name, value) = def.options.iter().find(|(option, _)| option == name)?;
        let loaded = if name == "SECONDARY_ENGINE" { " SECONDARY_LOAD=\"0\"" } else { "" };
        Some(format!("{name}=\"{value}\"{loaded}"))
    });
    // MySQL says so of what it has a text of.
    let divided = def.partitioning.iter().any(|by| !by.by.implied);
    let divided = divided.then(|| String::from("partitioned"));
    SHOWN.iter().filter_map(text).chain(quoted).chain(divided).collect::<Vec<_>>().join(" ")
}

pub(super) fn next_auto_increment(table: &Table) -> Option<u64> {
    table.def.auto_increment_column().filter(|_| !table.def.is_merged())?;
    let next = table.clustered.counter().next();
    let next = next.max(table.def.auto_increment);
    (next > 1).then_some(next)
}

pub(super) fn tables(info: &Information<'_>, rows: &mut Rows) {
    for table in listed(info) {
        // The views of information_schema have no engine, format or collation in MySQL.
        let (schema, name) = (table.declared.schema.as_str(), table.declared.name.as_str());
        let declared = definitions::of(schema, name).filter(|_| schema != "information_schema");
        let kept = |wanted: &dyn Fn(&Definition) -> Value| declared.map_or(Value::Null, wanted);
        let numbers = declared.is_some() && table.definition().auto_increment_column().is_some();
        rows.push(row![
            "def",
            schema,
            name,
            table.kind(),
            kept(&|declared| declared.engine.into()),
            10i64,
            kept(&|declared| declared.row_format.into()),
            declared.map_or(0, |declared| declared.rows),
            0u64,
            0u64,
            0u64,
            0u64,
            0u64,
            if numbers { Value::UInt(1) } else { Value::Null },
            info.moment(info.db.started()),
            Value::Null,
            Value::Null,
            kept(&|declared| charset::name(declared.collation).into()),
            Value::Null,
            declared.map_or("", |declared| declared.options),
            declared.map_or("", |declared| declared.comment),
        ]);
    }
    for table in visible(info) {
        let def = &table.def;
        let sizes = sizes(info, table);
        rows.push(row![
            "def",
            def.schema.as_str(),
            def.name.as_str(),
            "BASE TABLE",
            def.engine.as_str(),
            10i64,
            row_format(def),
            sizes.rows,
            sizes.average,
            sizes.data,
            0u64,
            sizes.indexes,
            0u64,
            or_null(next_auto_increment(table)),
            info.moment(def.created),
            updated(info, table),
            Value::Null,
            charset::name(def.collation),
            Value::Null,
            create_options(def),
            comment(info, table),
        ]);
    }
    super::views::tables(info, rows);
    super::sequences::tables(info, rows);
}

/// TABLES_EXTENSIONS: no table has attributes for an engine but those of a secondary one.
pub(super) fn tables_extensions(info: &Information<'_>, rows: &mut Rows) {
    let mut all = Rows::new();
    tables(info, &mut all);
    for mut row in all {
        row.truncate(3);
        row.extend([Value::Null, Value::Null]);
        rows.push(row);
    }
}

fn computed_partitions(info: &Information<'_>, rows: &mut Rows) {
    for table in listed(info) {
        let (schema, name) = (table.declared.schema.as_str(), table.declared.name.as_str());
        let mut row = row!["def", schema, name];
        row.extend(std::iter::repeat_n(Value::Null, 9));
        row.extend(row![definitions::of(schema, name).map_or(0, |declared| declared.rows)]);
        row.extend(std::iter::repeat_n(Value::UInt(0), 5));
        row.push(info.moment(info.db.started()));
        row.extend(std::iter::repeat_n(Value::Null, 3));
        row.extend(row!["", "", Value::Null]);
        rows.push(row);
    }
}

/// A table without partitions is its own only one, and so is a view.
pub(super) fn partitions(info: &Information<'_>, rows: &mut Rows) {
    computed_partitions(info, rows);
    super::views::partitions(info, rows);
    for table in visible(info) {
        let name = row!["def", table.def.schema.as_str(), table.def.name.as_str()];
        let Some(by) = &table.def.partitioning else {
            let mut row = name;
            row.extend(std::iter::repeat_n(Value::Null, 9));
            row.extend(partition_sizes(info, table, &sizes(info, table)));
            row.extend(row!["", "", Value::Null]);
            rows.push(row);
            continue;
        };
        let text = |division: &Division| match division.method.has_columns() {
            true => {
                let names = division.columns.iter().map(|name| quoted(name));
                names.collect::<Vec<_>>().join(",")
            }
            false => division.expression.clone(),
        };
        let sub = by.sub.as_ref();
        let per = by.per_partition();
        for (number, leaf) in by.leaves().enumerate() {
            let (at, partition) = (number / per, &by.partitions[number / per]);
            let described = Some(partition.description.as_str());
            let described = described.filter(|_| !by.by.method.is_hash());
            // MySQL shows numbers as signed ones.
            let signed = |text: &str| match text.parse::<u64>() {
                Ok(number) => (number as i64).to_string(),
                Err(_) => text.to_owned(),
            };
            let described = described.map(signed);
            let mut row = name.clone();
            row.extend(row![
                partition.name.as_str(),
                or_null(sub.map(|_| leaf.name.as_str())),
                at as u64 + 1,
                or_null(sub.map(|_| (number % per) as u64 + 1)),
                by.by.method.name(),
                or_null(sub.map(|sub| sub.method.name())),
                or_null(Some(&by.by).filter(|division| !division.implied).map(text)),
                or_null(sub.filter(|division| !division.implied).map(text)),
                or_null(described),
            ]);
            let rows_in = match (&table.partitions, info.focus.names_only) {
                (Some(partitions), false) => {
                    let leaf = partitions.leaf(number);
                    leaf.estimated_rows().unwrap_or(0)
                }
                _ => 0,
            };
            let sizes = sizes_of(table, rows_in);
            row.extend(partition_sizes(info, table, &sizes));
            let group = leaf.node_group.map(|group| group.to_string());
            let group = group.unwrap_or_else(|| String::from("default"));
            row.extend(row![leaf.comment.as_str(), group.as_str(), Value::Null]);
            rows.push(row);
        }
    }
}

fn partition_sizes(info: &Information<'_>, table: &Table, sizes: &Sizes) -> Vec<Value> {
    row![
        sizes.rows,
        sizes.average,
        sizes.data,
        0u64,
        sizes.indexes,
        0u64,
        info.moment(table.def.created),
        info.moment(table.shared.updated.load(Ordering::Relaxed)),
        Value::Null,
        Value::Null,
    ]
}
