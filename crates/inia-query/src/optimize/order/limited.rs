//! When MySQL reads a small table in the order of an index because of a LIMIT.
//!
//! It compares what the lookups cost until the LIMIT is reached with a scan of the table. Rows of
//! one key share their pages, so that they cost no more than the whole table:
//!
//! ```text
//!   LIMIT 9, 100 rows in one page, 33 of a key     9 / 33 of the page: the index
//!   LIMIT 9, 100 rows in one page, 1 of a key      9 times the page: a scan
//! ```
//!
//! A condition makes the scan dearer, by what the evaluation of all rows costs.

use super::Wanted;
use crate::catalog::Table;

/// The costs of a page, of a lookup, and of an evaluated row.
const PAGE: f64 = 0.25;
const LOOKUP: f64 = 0.277;
const EVALUATED: f64 = 0.1;
/// Bytes of records that a page has room for.
const ROOM: f64 = 15_000.0;

/// Whether so many rows are found by the index at less cost than by a scan.
pub(super) fn pays(table: &Table, index: usize, limit: u64, wanted: Wanted<'_>) -> bool {
    let rows = table.rows() as f64;
    let of_key = table.stats().rows_per_key(index, wanted.keys.len()).unwrap_or(1.0).max(1.0);
    let pages = pages(table, rows);
    let reads = limit as f64 / of_key * of_key.min(pages);
    match wanted.filtered {
        true => reads * LOOKUP < pages * PAGE + rows * EVALUATED,
        false => reads < pages,
    }
}

/// The pages of the table's rows, and the one above them where they are several.
fn pages(table: &Table, rows: f64) -> f64 {
    let leaves = (rows * table.expected_row_bytes() as f64 / ROOM).ceil();
    if leaves > 1.0 { leaves + 1.0 } else { 1.0 }
}
