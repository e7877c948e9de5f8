//! What merges cost.
//!
//! Tables of fewer rows than [`SMALL_TABLE`](crate::catalog::SMALL_TABLE) are read as MySQL reads
//! them, so the costs are MySQL's there, in units of a row that is looked at: a page in memory
//! costs 2.5, a comparison of keys half a unit. Costs of larger tables are those of the other
//! access paths: the unit is a row of a scan.

use super::Rival;
use crate::access::choose::{ENTRY_COST, LOOKUP_COST, Request};
use crate::catalog::SMALL_TABLE;

/// A page of a small table, and how many blocks MySQL counts in it.
const PAGE: f64 = 2.5;
const BLOCKS: f64 = 4.0;
const PAGE_BYTES: f64 = 16384.0;
/// Rows are taken to have so many bytes at most.
const MAX_ROW_BYTES: f64 = 128.0;
/// Beginning a scan, and a range of an index.
const SCAN_START: f64 = 21.0;
const RANGE_START: f64 = 2.6;
/// Looking up a row of a range, and of a single key.
const RANGE_ROW: f64 = 4.5;
const KEY_ROW: f64 = 3.5;
/// Comparing two keys that are merged.
const COMPARE: f64 = 0.5;
/// Sorting keys of larger tables, for each doubling of their number.
const SORT: f64 = 0.05;
/// Looking rows of larger tables up by one index is taken to cost so much less than it does.
const GAIN: f64 = 0.8;

/// The costs of merging indexes of a table.
pub(super) struct Costs {
    /// The pages of a small table.
    small: Option<f64>,
    total: f64,
}

impl Costs {
    pub(super) fn of(request: &Request<'_>) -> Costs {
        let (total, def) = (request.table.rows() as f64, &request.table.def);
        let pages = || total * (def.row_length() as f64).min(MAX_ROW_BYTES) / PAGE_BYTES;
        let small = (request.table.rows() < SMALL_TABLE).then(|| pages().ceil().max(1.0));
        Costs { small, total }
    }

    /// Reading the keys of so many rows.
    pub(super) fn of_part(&self, rows: f64, clustered: bool) -> f64 {
        match (self.small, clustered) {
            (Some(_), _) => RANGE_START + rows,
            (None, true) => rows,
            (None, false) => rows * ENTRY_COST,
        }
    }

    /// Sorting the keys of so many rows.
    pub(super) fn of_sorting(&self, rows: f64) -> f64 {
        match self.small {
            Some(_) => rows * (rows / std::f64::consts::E).max(1.0).log2(),
            None => SORT * rows * rows.max(2.0).log2(),
        }
    }

    /// Comparing the keys of so many parts that ascend.
    pub(super) fn of_comparing(&self, rows: f64, parts: usize) -> f64 {
        self.small.map_or(0.0, |_| COMPARE * rows * (parts as f64).log2())
    }

    /// Looking up the rows of keys.
    pub(super) fn of_looking_up(&self, rows: f64) -> f64 {
        let Some(pages) = self.small else { return rows * LOOKUP_COST };
        let blocks = pages * BLOCKS;
        let touched = blocks * (1.0 - (1.0 - 1.0 / blocks).powf(rows));
        touched * PAGE + rows
    }

    /// Reading the rows of ranges of one index.
    pub(super) fn of_range(&self, rows: f64, clustered: bool, covering: bool) -> f64 {
        match (self.small, clustered, covering) {
            (Some(_), true, _) | (Some(_), _, true) => RANGE_START + rows,
            (Some(_), ..) => RANGE_START + rows * RANGE_ROW,
            (None, true, _) => rows,
            (None, _, true) => rows * ENTRY_COST,
            (None, ..) => rows * LOOKUP_COST,
        }
    }

    /// What the best path costs that merges nothing.
    pub(super) fn of_rival(&self, request: &Request<'_>, rival: Rival<'_>) -> f64 {
        let (path, rows) = (rival.path, rival.rows);
        let bounded = !path.is_unbounded();
        let indexes = &request.table.def.indexes;
        let clustered = path.index.is_none_or(|index| indexes[index].clustered);
        match self.small {
            None if bounded && !clustered && !path.covering => GAIN * rival.cost,
            None => rival.cost,
            Some(pages) if !bounded => self.total + pages * PAGE + SCAN_START,
            Some(_) if path.intervals.is_empty() && !path.covering && !clustered => rows * KEY_ROW,
            Some(_) => self.of_range(rows, clustered, path.covering),
        }
    }
}
