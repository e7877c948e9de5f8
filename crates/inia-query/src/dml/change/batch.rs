//! Batches of rows that an UPDATE or DELETE changes: the clustered records of up to `MAX_ROWS` rows
//! first, then the index entries of many such batches, index by index in the order of their keys.
//!
//! Rows of a batch were read without a lock, since no transaction had locked them. A row that
//! another transaction changes before the batch is written is detected then: it is read again with
//! a lock, its conditions are checked again, and it is changed by itself. A statement waits for a
//! lock only while no row is buffered, so locks are requested in the order of the rows.

use super::rewrite::Rewrite;
use super::run::ChangeRun;
use crate::access::TableScan;
use crate::catalog::Table;
use crate::dml::auto_increment;
use crate::dml::write::{RowChange, RowWriter, write_error};
use crate::error::sql_error;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::EvalContext;
use inia_storage::{RecordLocator, Records, Run, StorageError, Tree, Txn};
use std::sync::atomic::Ordering;

/// Rows, and bytes of their records, after which they are written.
const MAX_ROWS: usize = 512;
const MAX_BYTES: usize = 256 << 10;
/// Entries of an index, and bytes of all entries, after which those are written.
const MAX_ENTRIES: usize = 128 << 10;
const MAX_ENTRY_BYTES: usize = 4 << 20;

/// Changes that are buffered.
#[derive(Default)]
pub(in crate::dml) struct PendingChanges {
    rows: Records,
    /// By the index's position.
    entries: Vec<EntryChanges>,
    /// Bytes of the entries.
    entry_bytes: usize,
}

/// Changes of one index's entries. Those of the rows that wait come last.
#[derive(Default)]
struct EntryChanges {
    removed: Entries,
    added: Entries,
    /// Entries that keep their key.
    replaced: Entries,
}

#[derive(Default)]
struct Entries {
    records: Records,
    /// The numbers of the rows that wait which the last of the entries belong to.
    rows: Vec<usize>,
}

impl Entries {
    fn push(&mut self, key: &[u8], value: &[u8], row: usize) -> usize {
        self.records.push(key, value);
        self.rows.push(row);
        key.len() + value.len()
    }

    /// The rows that waited are written, but for those that were `missed`.
    fn settle(&mut self, missed: &[usize]) {
        debug_assert!(missed.is_sorted(), "missed rows are looked up in their order");
        debug_assert!(self.rows.len() <= self.records.len(), "the last entries have rows");
        if !missed.is_empty() {
            let settled = self.records.len() - self.rows.len();
            let numbered = self.rows.iter().enumerate();
            let gone = numbered.filter(|(_, row)| missed.binary_search(row).is_ok());
            let gone: Vec<usize> = gone.map(|(at, _)| settled + at).collect();
            self.records.leave_out(&gone);
        }
        self.rows.clear();
    }
}

impl EntryChanges {
    fn lists(&mut self) -> [&mut Entries; 3] {
        [&mut self.removed, &mut self.added, &mut self.replaced]
    }
}

impl PendingChanges {
    /// Whether nothing is buffered.
    pub(in crate::dml) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.entry_bytes == 0
    }

    fn entries_are_full(&self) -> bool {
        let most =
            |lists: &EntryChanges| lists.removed.records.len().max(lists.added.records.len());
        self.entry_bytes >= MAX_ENTRY_BYTES
            || self.entries.iter().map(most).max().unwrap_or(0) >= MAX_ENTRIES
    }
}

/// Whether rows of the table may be changed together, when these columns are assigned: none has an
/// index whose keys may meet, or that has several entries for a row.
pub(super) fn may_change_together(table: &Table, assigned: impl Fn(usize) -> bool) -> bool {
    let meets = |index: &crate::catalog::IndexDef| {
        let one_by_one = index.refuses() || index.kind.has_several();
        one_by_one && index.parts.iter().any(|part| assigned(part.column))
    };
    let whole = table.partitions.is_none();
    whole && table.def.is_transactional() && !table.def.indexes.iter().any(meets)
}

impl RowWriter<'_> {
    /// Takes a row that is to be deleted, read without a lock.
    pub(super) fn buffer_delete(
        &mut self,
        txn: &mut Txn,
        locator: &RecordLocator,
        (key, bytes): (&[u8], &[u8]),
    ) -> Result<(), SqlError> {
        let table = self.table;
        auto_increment::leaving(txn, table, bytes)?;
        let row = self.changes.rows.len();
        self.changes.rows.push_seen(key, &[], locator);
        self.changes.entries.resize_with(table.indexes.len(), EntryChanges::default);
        for at in 0..table.indexes.len() {
            if self.encode_stored(at, key, bytes)? {
                let removed = &mut self.changes.entries[at].removed;
                self.changes.entry_bytes += removed.push(&self.key, &[], row);
            }
        }
        Ok(())
    }

    /// Takes rows whose clustered records are deleted.
    fn buffer_entry_deletes(&mut self, txn: &mut Txn, run: &Run<'_>) -> Result<(), SqlError> {
        let (table, prefix) = (self.table, run.key_prefix());
        if table.numbered.is_some() {
            (0..run.len()).try_for_each(|i| auto_increment::leaving(txn, table, run.value(i)))?;
        }
        self.changes.entries.resize_with(table.indexes.len(), EntryChanges::default);
        let has_entries = |at: &usize| table.def.indexes[*at].has_entries();
        for at in (0..table.indexes.len()).filter(has_entries) {
            let codec = &table.indexes[at].codec;
            let records = &mut self.changes.entries[at].removed.records;
            let before = records.size();
            for i in 0..run.len() {
                self.clustered.clear();
                self.clustered.extend_from_slice(prefix);
                self.clustered.extend_from_slice(run.key_suffix(i));
                let (row, key) = (run.value(i), &self.clustered);
                let cell = |c: usize| table.layout.cell(row, c);
                records.push_key(|out| codec.put_entry_key(cell, key, out).map(|_| ()))?;
            }
            self.changes.entry_bytes += records.size() - before;
        }
        Ok(())
    }

    /// Takes a row that is to be replaced and keeps its clustered key, read without a
    /// lock.
    pub(super) fn buffer_update(
        &mut self,
        txn: &mut Txn,
        locator: &RecordLocator,
        (key, old): (&[u8], &[u8]),
        rewrite: &Rewrite<'_>,
    ) -> Result<(), SqlError> {
        let (new, changed) = (rewrite.bytes(), rewrite.changed());
        let change = RowChange { key, old, new, changed };
        self.leaves_number(txn, &change)?;
        change.debug_check_stays(self.table);
        let row = self.changes.rows.len();
        self.changes.rows.push_seen(key, new, locator);
        if rewrite.indexes().is_empty() {
            return Ok(());
        }
        self.changes.entries.resize_with(self.table.indexes.len(), EntryChanges::default);
        self.clustered.clear();
        self.clustered.extend_from_slice(key);
        for &at in rewrite.indexes() {
            self.encode_both(at, &change)?;
            let entries = &mut self.changes.entries[at];
            let (old, new) = ((&self.key, &self.value), (&self.new_key, &self.new_value));
            if old.0 != new.0 {
                self.changes.entry_bytes += entries.removed.push(old.0, &[], row);
                self.changes.entry_bytes += entries.added.push(new.0, new.1, row);
            } else if old.1 != new.1 {
                self.changes.entry_bytes += entries.replaced.push(new.0, new.1, row);
            }
        }
        Ok(())
    }

    /// Whether enough rows wait.
    fn changes_are_full(&self) -> bool {
        let rows = &self.changes.rows;
        rows.len() >= MAX_ROWS || rows.size() >= MAX_BYTES
    }

    /// Changes the rows that wait; the numbers of those that are not as they were read.
    fn write_changes(&self, txn: &mut Txn, changes: &mut PendingChanges, delete: bool) -> Numbers {
        let (table, rows) = (self.table, &changes.rows);
        let mut missed = Vec::new();
        let mut next = 0;
        while next < rows.len() {
            let range = next..rows.len();
            let written = match delete {
                true => txn.delete_batch(&table.clustered, rows, range),
                false => txn.update_batch(&table.clustered, rows, range),
            };
            next = written.map_err(|error| write_error(table, error))?;
            if next < rows.len() {
                debug_assert!(missed.last().is_none_or(|last| *last < next), "rows go in order");
                missed.push(next);
                next += 1;
            }
        }
        for list in changes.entries.iter_mut().flat_map(EntryChanges::lists) {
            list.settle(&missed);
        }
        if delete {
            let count = rows.len() - missed.len();
            table.shared.row_estimate.fetch_sub(count as i64, Ordering::Relaxed);
        }
        Ok(missed)
    }

    /// Changes the entries that wait.
    fn write_entry_changes(
        &self,
        txn: &mut Txn,
        changes: &mut PendingChanges,
    ) -> Result<(), SqlError> {
        let table = self.table;
        let refused = |error| write_error(table, error);
        changes.entry_bytes = 0;
        for (at, lists) in changes.entries.iter_mut().enumerate() {
            let tree = &table.indexes[at].tree;
            for list in lists.lists() {
                debug_assert!(list.rows.is_empty(), "rows are written before their entries");
                list.records.sort();
            }
            delete_all(txn, tree, &lists.removed.records).map_err(refused)?;
            let added = &lists.added.records;
            if self.batches().write_range(txn, tree, added, 0..added.len())? < added.len() {
                return Err(sql_error(StorageError::DuplicateKey));
            }
            update_all(txn, tree, &lists.replaced.records).map_err(refused)?;
            for list in lists.lists() {
                list.records.clear();
            }
        }
        Ok(())
    }
}

type Numbers = Result<Vec<usize>, SqlError>;

fn delete_all(txn: &mut Txn, tree: &Tree, records: &Records) -> Result<(), StorageError> {
    let mut next = 0;
    while next < records.len() {
        next = txn.delete_batch(tree, records, next..records.len())?;
        if next < records.len() {
            txn.delete(tree, records.key(next))?;
            next += 1;
        }
    }
    Ok(())
}

fn update_all(txn: &mut Txn, tree: &Tree, records: &Records) -> Result<(), StorageError> {
    let mut next = 0;
    while next < records.len() {
        next = txn.update_batch(tree, records, next..records.len())?;
        if next < records.len() {
            txn.update(tree, records.key(next), records.value(next))?;
            next += 1;
        }
    }
    Ok(())
}

/// Whether an error ends more than the statement, or ends it at once.
fn is_fatal(error: &SqlError) -> bool {
    use ErrorCode as E;
    matches!(error.code, E::Deadlock | E::LockWaitTimeout | E::QueryInterrupted)
}

impl ChangeRun<'_> {
    /// Deletes the next rows of a leaf together, where nothing stands in their way; false where the
    /// scan must go on row by row.
    pub(super) fn delete_run(
        &mut self,
        ctx: &mut EvalContext<'_>,
        scan: &mut TableScan,
        limit: u64,
    ) -> Result<bool, SqlError> {
        self.session.check_killed()?;
        self.flush_rows(ctx)?;
        let table = &self.plan.table;
        let most = usize::try_from(limit - self.matched).unwrap_or(usize::MAX);
        let mut txn = self.session.txn_of(table).borrow_mut();
        let deleted = scan.delete_run(&mut txn, most);
        let Some(run) = deleted.map_err(|error| write_error(table, error))? else {
            return Ok(false);
        };
        let count = run.len();
        debug_assert!(count <= most, "LIMIT bounds a run of deletes");
        self.writer.buffer_entry_deletes(&mut txn, &run)?;
        // Once per run: a scan that has paused goes on to what it waits for.
        scan.pause_before_waits();
        table.shared.row_estimate.fetch_sub(count as i64, Ordering::Relaxed);
        self.matched += count as u64;
        self.changed += count as u64;
        ctx.row_number = self.matched;
        if self.writer.changes.entries_are_full() {
            let mut changes = std::mem::take(&mut self.writer.changes);
            let written = self.writer.write_entry_changes(&mut txn, &mut changes);
            self.writer.changes = changes;
            written?;
        }
        Ok(true)
    }

    /// Makes the changes that wait, when there are enough of them.
    pub(super) fn flush_if_full(&mut self, ctx: &mut EvalContext<'_>) -> Result<(), SqlError> {
        if self.writer.changes_are_full() { self.flush_rows(ctx) } else { Ok(()) }
    }

    /// Makes all buffered changes after the scan has ended: before its error is returned,
    /// too, so that the rows found before it stay locked.
    pub(super) fn flush_last(
        &mut self,
        ctx: &mut EvalContext<'_>,
        scanned: Result<bool, SqlError>,
    ) -> Result<bool, SqlError> {
        if !scanned.as_ref().is_err_and(is_fatal) {
            self.flush_changes(ctx)?;
        }
        scanned
    }

    /// Makes all changes that wait.
    pub(super) fn flush_changes(&mut self, ctx: &mut EvalContext<'_>) -> Result<(), SqlError> {
        self.flush_rows(ctx)?;
        if self.writer.changes.entry_bytes == 0 {
            return Ok(());
        }
        let mut changes = std::mem::take(&mut self.writer.changes);
        let mut txn = self.session.txn_of(&self.plan.table).borrow_mut();
        let written = self.writer.write_entry_changes(&mut txn, &mut changes);
        self.writer.changes = changes;
        written
    }

    /// Changes the rows that wait, and their entries where there are many.
    fn flush_rows(&mut self, ctx: &mut EvalContext<'_>) -> Result<(), SqlError> {
        if self.writer.changes.rows.is_empty() {
            return Ok(());
        }
        let mut changes = std::mem::take(&mut self.writer.changes);
        let delete = self.plan.deletes();
        let missed = {
            let mut txn = self.session.txn_of(&self.plan.table).borrow_mut();
            let missed = self.writer.write_changes(&mut txn, &mut changes, delete)?;
            if changes.entries_are_full() {
                self.writer.write_entry_changes(&mut txn, &mut changes)?;
            }
            missed
        };
        self.changed += (changes.rows.len() - missed.len()) as u64;
        debug_assert!(self.matched >= missed.len() as u64, "rows that wait are counted");
        self.matched -= missed.len() as u64;
        let mut old = Vec::new();
        for number in missed {
            let key = changes.rows.key(number);
            if self.read_again(ctx, key, &mut old)? {
                self.change(ctx, None, (key, &old))?;
            }
        }
        changes.rows.clear();
        self.writer.changes = changes;
        Ok(())
    }
}
