//! How many rows a MEMORY table may have, which follows from `max_heap_table_size`.
//!
//! MySQL keeps rows of a fixed length in memory and an entry per row and index, and so do we count:
//!
//! ```text
//!   (id INT PRIMARY KEY, v INT)   row: a byte of NULL bits, 4, 4 and a mark, by eights: 16
//!                                 hash entry: 24                  16,777,216 / 40 = 419,430 rows
//! ```
//!
//! Here rows are as long as their values and so take no more than that, give or take an index.

use super::{IndexDef, IndexKind, TableDef};
use inia_base::datatype::{DataType, IntWidth};

/// A hash index's entry: the row, the next entry, the hash.
const HASH_ENTRY: u64 = 24;
/// An ordered index's entry without its key.
const TREE_ENTRY: u64 = 32;

/// How many rows a table may have in so many bytes.
pub(crate) fn most_rows(def: &TableDef, bytes: u64) -> u64 {
    let nullable = def.columns.iter().filter(|column| column.nullable).count() as u64;
    let row = (nullable + 8) / 8 + columns(def, 0..def.columns.len());
    let entries: u64 = def.indexes.iter().map(|index| entry(def, index)).sum();
    (bytes / ((row.max(8) + 1).next_multiple_of(8) + entries)).max(1)
}

fn entry(def: &TableDef, index: &IndexDef) -> u64 {
    if matches!(index.kind, IndexKind::FullText | IndexKind::Spatial) {
        return 0;
    }
    match index.using.as_deref() {
        Some("BTREE") => TREE_ENTRY + columns(def, index.parts.iter().map(|part| part.column)),
        _ => HASH_ENTRY,
    }
}

fn columns(def: &TableDef, columns: impl Iterator<Item = usize>) -> u64 {
    columns.map(|column| width(&def.columns[column].data_type)).sum()
}

/// Bytes of any value of the type.
fn width(data_type: &DataType) -> u64 {
    let fraction = |fsp: u8| u64::from(fsp.div_ceil(2));
    let counted = |bytes: u64| bytes + if bytes > 255 { 2 } else { 1 };
    match data_type {
        DataType::Null => 0,
        DataType::Int { width, .. } => match width {
            IntWidth::Tiny => 1,
            IntWidth::Small => 2,
            IntWidth::Medium => 3,
            IntWidth::Int => 4,
            IntWidth::Big => 8,
        },
        DataType::Bit(bits) => u64::from(bits.div_ceil(8)),
        DataType::Decimal { precision, .. } => u64::from(*precision).div_ceil(2),
        DataType::Float { .. } => 4,
        DataType::Double { .. } => 8,
        DataType::Char { chars, collation } => {
            u64::from(*chars) * u64::from(collation.charset().max_bytes())
        }
        DataType::VarChar { chars, collation } => {
            counted(u64::from(*chars) * u64::from(collation.charset().max_bytes()))
        }
        DataType::Binary(bytes) => u64::from(*bytes),
        DataType::VarBinary(bytes) => counted(u64::from(*bytes)),
        // No MEMORY table has such columns.
        DataType::Text { .. } | DataType::Blob(_) | DataType::Json => 12,
        DataType::Date => 3,
        DataType::Time { fsp } => 3 + fraction(*fsp),
        DataType::DateTime { fsp } => 5 + fraction(*fsp),
        DataType::Timestamp { fsp } => 4 + fraction(*fsp),
        DataType::Year => 1,
        DataType::Enum { members, .. } => 1 + u64::from(members.len() > 255),
        DataType::Set { members, .. } => match members.len().div_ceil(8) {
            bytes @ 0..=4 => bytes as u64,
            _ => 8,
        },
    }
}
