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

use super::width::row_bytes;
use super::{IndexDef, TableDef};

/// A hash index's entry: the row, the next entry, the hash.
const HASH_ENTRY: u64 = 24;
/// An ordered index's entry without its key.
const TREE_ENTRY: u64 = 32;

/// How many rows a table may have in so many bytes.
pub(crate) fn max_rows(def: &TableDef, bytes: u64) -> u64 {
    let nullable = def.columns.iter().filter(|column| column.nullable).count() as u64;
    let row = (nullable + 8) / 8 + columns(def, 0..def.columns.len());
    let entries: u64 = def.indexes.iter().map(|index| entry(def, index)).sum();
    (bytes / ((row.max(8) + 1).next_multiple_of(8) + entries)).max(1)
}

fn entry(def: &TableDef, index: &IndexDef) -> u64 {
    if !index.kind.has_keys() {
        return 0;
    }
    match index.using.as_deref() {
        Some("BTREE") => TREE_ENTRY + columns(def, index.parts.iter().map(|part| part.column)),
        _ => HASH_ENTRY,
    }
}

fn columns(def: &TableDef, columns: impl Iterator<Item = usize>) -> u64 {
    columns.map(|column| row_bytes(&def.columns[column].data_type)).sum()
}
