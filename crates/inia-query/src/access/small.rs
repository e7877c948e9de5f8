//! How a small table is read whose conditions are constants: as MySQL reads it.
//!
//! MySQL counts the entries of each range, and reads the cheapest one where that costs less than
//! the whole table; looking up the rows of one key is weighed against both. A page in memory costs
//! 0.25, looking at a row 0.1:
//!
//! ```text
//!   20 rows in a page    whole table         0.25 + 20 * 0.1            2.25, for ranges 4.35
//!                        range of 12         13 pages, 12 rows twice    5.66
//!                        rows of one key, 3  3 pages at most, 3 rows    0.80
//! ```

use super::Planned;
use super::choose::{Candidate, Request, is_covering};
use super::planned::{ByIndex, by_indexes, choose_as};
use crate::catalog::Table;
use inia_expr::{Expr, SlotSet};

/// Reading a page in memory.
const PAGE: f64 = 0.25;
/// Looking at a row.
const ROW: f64 = 0.1;
/// Bytes of a page.
const PAGE_BYTES: f64 = 16_384.0;
/// Beginning a range.
const RANGE: f64 = 0.01;
/// What the range optimizer takes a scan of the table to cost besides.
const SCAN_START: f64 = 2.1;

/// Ranges of an index.
pub(crate) struct SmallRange {
    /// What reading them costs.
    pub(crate) cost: f64,
    /// Their rows.
    pub(crate) rows: f64,
    /// The index.
    pub(crate) planned: Planned,
}

/// The best way to read a small table by constants, its rows, and what it costs in rows of a scan;
/// `None` where rows are locked, hints choose, or the ends of a range are wanted, or something is
/// not known.
pub(super) fn best(
    request: &Request<'_>,
    conditions: &[Expr],
    filled: &SlotSet,
) -> Option<(Candidate, f64, f64)> {
    let table = request.table;
    let plain = table.partitions.is_none() && table.united().is_none() && !table.def.is_volatile();
    let free = request.allowed.is_none() && !request.merging.locks && request.measure.is_some();
    let free = free && !request.extremes;
    if !plain || !free || !table.is_small() || table.rows() == 0 {
        return None;
    }
    let found = by_indexes(request, conditions, filled);
    if found.is_empty() || !found.iter().all(|by| by.counted) {
        return None;
    }
    // Counting the pages corrects the number of rows.
    let scan = pages(table) * PAGE;
    let records = table.rows() as f64;
    let range = range_of_small(request, &found, (records, scan));
    let keys = found.iter().filter(|by| by.parts() > 0);
    let key = keys.map(|by| (key_cost(table, by, scan), by)).min_by(|a, b| a.0.total_cmp(&b.0));
    let covered = (0..table.def.indexes.len()).any(|at| covers(request, at));
    let (rest, planned) = match &range {
        Some(range) => (range.cost + ROW * range.rows, range.planned),
        None => (scan + ROW * records, Planned::Scan),
    };
    let is_key = |by: &ByIndex| match planned {
        Planned::Scan => covered,
        Planned::Equal(index, _) => by.index == index,
        _ => false,
    };
    // Ranges of the same index that bound more of it are read instead.
    let ranged = |by: &ByIndex| planned == Planned::Range(by.index);
    let planned = match key {
        Some((_, by)) if ranged(by) => planned,
        Some((cost, by)) if is_key(by) || cost <= rest => Planned::Equal(by.index, by.parts()),
        _ => planned,
    };
    let cost = match (planned, key) {
        (Planned::Equal(..), Some((cost, _))) => cost,
        _ => rest,
    };
    let choice = choose_as(request, planned, conditions, (filled, filled));
    let covered = (0..conditions.len()).filter(|at| choice.covered[*at]).collect();
    Some((Candidate { path: choice.path, covered }, choice.rows, cost / ROW))
}

/// The cheapest ranges of constants, where they cost less than a scan of the table, which has so
/// many records and costs so much without its rows.
pub(crate) fn range_of_small(
    request: &Request<'_>,
    found: &[ByIndex],
    (records, scan): (f64, f64),
) -> Option<SmallRange> {
    let table = request.table;
    let indexes = (0..table.def.indexes.len()).filter(|at| covers(request, *at));
    let by_entries = indexes.map(|at| entries(table, at, records) + records * ROW);
    let whole = by_entries.fold(scan + SCAN_START + records * ROW, f64::min);
    let cost = |by: &ByIndex| {
        let clustered = table.def.indexes[by.index].clustered;
        let read = match (by.path.covering, clustered) {
            (true, _) => entries(table, by.index, by.rows),
            (_, true) => by.ranges() * PAGE,
            _ => (by.ranges() + by.rows) * PAGE,
        };
        RANGE + read + by.rows * ROW
    };
    let best = found.iter().map(|by| (cost(by), by)).min_by(|a, b| a.0.total_cmp(&b.0));
    let (cost, by) = best.filter(|(cost, _)| *cost < whole)?;
    let planned = match by.is_range() {
        true => Planned::Range(by.index),
        false => Planned::Equal(by.index, by.parts()),
    };
    Some(SmallRange { cost, rows: by.rows, planned })
}

/// What looking up the rows of one key costs.
fn key_cost(table: &Table, by: &ByIndex, scan: f64) -> f64 {
    let clustered = table.def.indexes[by.index].clustered;
    let rows = match by.is_range() {
        true => table.stats().rows_per_group(by.index, by.parts()).unwrap_or(by.rows),
        false => by.rows,
    };
    let records = table.rows() as f64;
    let read = match (by.path.covering, clustered) {
        (true, _) => entries(table, by.index, rows),
        (_, true) => PAGE + scan * rows / records,
        _ => PAGE * rows.min((records / 10.0).min(scan / PAGE * 3.0).max(2.0)),
    };
    read + ROW * rows
}

/// Whether an index that may be read has all that is read.
fn covers(request: &Request<'_>, at: usize) -> bool {
    let index = &request.table.def.indexes[at];
    index.kind.has_keys() && request.serves(at) && is_covering(request.table, &request.needed, at)
}

/// Pages of a table's rows.
pub(crate) fn pages(table: &Table) -> f64 {
    let known = table.def.clustered_index().and_then(|_| table.stats().clustered());
    let pages = match known {
        Some(keys) if keys.tree.leaves > 1.0 => keys.tree.leaves + keys.tree.inner,
        Some(_) => 1.0,
        None => (table.rows() * table.expected_row_bytes()) as f64 / (PAGE_BYTES * 0.9),
    };
    pages.ceil().max(1.0)
}

/// What so many entries of an index cost.
pub(crate) fn entries(table: &Table, at: usize, rows: f64) -> f64 {
    let index = &table.def.indexes[at];
    let bytes = f64::from(table.def.key_length(index, index.parts.len()));
    let primary = table
        .def
        .clustered_index()
        .map(|index| f64::from(table.def.key_length(index, index.parts.len())));
    let each = (PAGE_BYTES / 2.0 / (bytes + primary.unwrap_or(6.0))).floor() + 1.0;
    (rows + each - 1.0) / each * PAGE
}
