//! Rows that are written together: the clustered records first, then each index's entries.
//!
//! The outcome is that of rows written one after another, as long as only the primary key can
//! refuse one: tables with other unique indexes are not written this way. Where a key is there
//! already the statement fails, and the rows before it go with the statement.

use super::write::{RowWriter, Written, duplicate_error, values, write_error};
use crate::catalog::{IndexDef, Table};
use inia_base::error::SqlError;
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_storage::{LockMode, Records, StorageError, Tree, Txn};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Rows, and bytes of their records, after which they are written.
const MAX_ROWS: usize = 512;
const MAX_BYTES: usize = 256 << 10;

/// Entries of an index, and bytes of all entries, after which those are written: the more there
/// are, the more go to one leaf.
const MAX_ENTRIES: usize = 16 << 10;
const MAX_ENTRY_BYTES: usize = 1 << 20;

/// Rows that wait to be written, and entries of rows that are.
#[derive(Default)]
pub(super) struct PendingRows {
    rows: Records,
    /// The entries of each index, by the index's position.
    entries: Vec<Records>,
}

/// Writes rows that wait. It holds no buffer, so that one thread may write while another encodes.
#[derive(Clone, Copy)]
pub(super) struct BatchWriter<'t> {
    table: &'t Table,
    zone: &'t TimeZone,
    /// How existing records of unique indexes are locked.
    existing: LockMode,
}

impl PendingRows {
    /// How many rows wait.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Takes the rows of `next`, and its entries behind those that wait.
    pub(super) fn take_from(&mut self, next: &mut PendingRows) {
        debug_assert!(self.rows.is_empty(), "the rows before are written");
        std::mem::swap(&mut self.rows, &mut next.rows);
        self.entries.resize_with(next.entries.len(), Records::default);
        for (entries, next) in self.entries.iter_mut().zip(&mut next.entries) {
            entries.append(next);
        }
    }
}

impl<'t> RowWriter<'t> {
    /// Takes a row that [`RowWriter::flush`] will insert.
    pub(crate) fn buffer_row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        let table = self.table;
        let refuses = |index: &IndexDef| index.refuses();
        debug_assert!(!table.def.indexes.iter().any(refuses), "only the primary key refuses a row");
        debug_assert!(self.changes.is_empty(), "a statement inserts or changes");
        self.encode(row)?;
        self.pending.rows.push(&self.clustered, &self.row);
        self.pending.entries.resize_with(table.indexes.len(), Records::default);
        for at in 0..table.indexes.len() {
            if table.def.indexes[at].has_entries() {
                self.encode_entry(at, row)?;
                self.pending.entries[at].push(&self.key, &self.value);
            }
        }
        Ok(())
    }

    /// Whether enough rows wait.
    pub(crate) fn is_full(&self) -> bool {
        let rows = &self.pending.rows;
        rows.len() >= MAX_ROWS || rows.size() >= MAX_BYTES
    }

    /// What writes the rows that wait.
    pub(super) fn batches(&self) -> BatchWriter<'t> {
        BatchWriter { table: self.table, zone: self.zone, existing: self.existing }
    }
}

impl BatchWriter<'_> {
    /// Inserts the rows that wait; error 1062 for the first whose key exists. Returns the number of
    /// rows inserted before an error, too. Their entries may still wait, unless these are the
    /// `last` rows.
    pub(super) fn flush(
        self,
        txn: &mut Txn,
        pending: &mut PendingRows,
        last: bool,
    ) -> (usize, Result<(), SqlError>) {
        let mut count = 0;
        let written = self.write_all(txn, pending, last, &mut count);
        let wait = pending.entries.iter().any(|entries| !entries.is_empty());
        debug_assert!(!last || !wait || written.is_err(), "no entry waits behind the last row");
        pending.rows.clear();
        (count, written)
    }

    /// Inserts the rows that wait, but leaves out those whose key exists: their places among the
    /// rows, and error 1062 of each. Entries may still wait, unless these are the `last` rows.
    pub(super) fn flush_ignoring(
        self,
        txn: &mut Txn,
        pending: &mut PendingRows,
        last: bool,
    ) -> Result<Vec<(usize, SqlError)>, SqlError> {
        let (table, all) = (self.table, pending.rows.len());
        let mut refused = Vec::new();
        let mut next = 0;
        while next < all {
            next = self.write_range(txn, &table.clustered, &pending.rows, next..all)?;
            if next < all {
                let row = values(table, pending.rows.value(next), self.zone)?;
                Written::clustered_duplicate(&table.def)?;
                refused.push((next, duplicate_error(&table.def, 0, &row)));
                next += 1;
            }
        }
        for entries in pending.entries.iter_mut().filter(|entries| !entries.is_empty()) {
            debug_assert!(entries.len() >= all, "each row that waits has its entry");
            let first = entries.len() - all;
            let left_out: Vec<usize> = refused.iter().map(|(at, _)| first + at).collect();
            entries.leave_out(&left_out);
        }
        self.write_entries(txn, &mut pending.entries, last)?;
        let written = (all - refused.len()) as i64;
        table.shared.row_estimate.fetch_add(written, Ordering::Relaxed);
        pending.rows.clear();
        Ok(refused)
    }

    fn write_all(
        self,
        txn: &mut Txn,
        pending: &mut PendingRows,
        last: bool,
        count: &mut usize,
    ) -> Result<(), SqlError> {
        let table = self.table;
        let all = pending.rows.len();
        let end = self.write_range(txn, &table.clustered, &pending.rows, 0..all)?;
        debug_assert!(end <= all, "no more rows are written than wait");
        let entries = &mut pending.entries;
        entries.iter_mut().for_each(|entries| entries.drop_last(all - end));
        self.write_entries(txn, entries, last || end < all)?;
        *count = end;
        if end < all {
            let row = values(table, pending.rows.value(end), self.zone)?;
            Written::clustered_duplicate(&table.def)?;
            return Err(duplicate_error(&table.def, 0, &row));
        }
        table.shared.row_estimate.fetch_add(end as i64, Ordering::Relaxed);
        Ok(())
    }

    /// Inserts the entries that wait where there are many, or where `all` of them are to go in.
    fn write_entries(
        self,
        txn: &mut Txn,
        entries: &mut [Records],
        all: bool,
    ) -> Result<(), SqlError> {
        let size = entries.iter().map(Records::size).sum::<usize>();
        let most = entries.iter().map(Records::len).max().unwrap_or(0);
        if !all && size < MAX_ENTRY_BYTES && most < MAX_ENTRIES {
            return Ok(());
        }
        for (at, entries) in entries.iter_mut().enumerate() {
            // Entries of indexes that are not unique never meet, in whatever order they come.
            entries.sort();
            self.write_range(txn, &self.table.indexes[at].tree, entries, 0..entries.len())?;
            entries.clear();
        }
        Ok(())
    }

    /// Inserts a range of records; the number of one whose key is there, or the range's end.
    pub(super) fn write_range(
        self,
        txn: &mut Txn,
        tree: &Tree,
        records: &Records,
        range: Range<usize>,
    ) -> Result<usize, SqlError> {
        debug_assert!(range.end <= records.len(), "records of the batch are written");
        let refused = |error| write_error(self.table, error);
        let mut next = range.start;
        loop {
            next = txn.insert_batch(tree, records, next..range.end).map_err(refused)?;
            if next == range.end {
                return Ok(next);
            }
            let (key, value) = (records.key(next), records.value(next));
            match txn.insert_or_lock(tree, key, value, self.existing) {
                Ok(()) => next += 1,
                Err(StorageError::DuplicateKey) => return Ok(next),
                Err(error) => return Err(refused(error)),
            }
        }
    }
}
