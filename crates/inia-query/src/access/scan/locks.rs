//! The locks of the rows that a scan finds: deferred, taken, and given back.

use super::{Result, Standing, State, TableScan};
use crate::error::StorageResult;
use inia_storage::{Cursor, LockingCursor, ReadMode, RecordLocator, Run, StorageError, Txn};

/// How a scan locks rows.
#[derive(Clone, Copy, Default)]
pub(super) struct LockPolicy {
    /// Rows that others have locked are shown as they were committed last.
    pub(super) semi_consistent: bool,
    /// Locks of rows that are free are deferred.
    pub(super) defers: bool,
    /// Rows are left for a later change: the scan stops before it waits for anything, once.
    pub(super) pauses: bool,
}

/// What the last move has locked, and what it has not.
#[derive(Default)]
pub(super) struct LastMove {
    /// The row's lock in the clustered tree is this scan's.
    pub(super) fresh_row: bool,
    /// The entry that a point read has locked.
    pub(super) fresh_entry: Option<Vec<u8>>,
    /// Where a point read found a row that it did not lock.
    pub(super) locator: Option<RecordLocator>,
    /// The scan has stopped before a wait.
    pub(super) paused: bool,
}

impl TableScan {
    /// Defers locking rows that are free, where the clustered tree is read: each row found is to
    /// be given to [`TableScan::write_current`] or [`TableScan::secure_current`], or left unlocked,
    /// before the next move. Before the first move.
    pub(crate) fn defer_locks(&mut self) {
        debug_assert!(self.is_unmoved(), "the policy of locks is set before the first move");
        debug_assert!(self.mode != ReadMode::Snapshot, "a snapshot takes no locks");
        self.locks.defers = self.secondary().is_none();
    }

    /// Where the row is that the scan stands on, if it is not locked: it is left for a later
    /// change, before which the scan waits for nothing ([`TableScan::take_pause`]).
    pub(crate) fn leave_current(&mut self) -> Option<RecordLocator> {
        let locator = self.locking()?.locator()?;
        self.pause_before_waits();
        Some(locator)
    }

    /// Deletes rows that follow, up to `most`, where the clustered tree is read and nothing stands
    /// in their way, and moves over them. `None` where [`TableScan::next`] must go on.
    pub(crate) fn delete_run(
        &mut self,
        txn: &mut Txn,
        most: usize,
    ) -> std::result::Result<Option<Run<'_>>, StorageError> {
        match self.locking() {
            Some(cursor) => txn.delete_run(cursor, most),
            None => Ok(None),
        }
    }

    /// Notes that rows are left for a later change: the scan does not wait before it has reported a
    /// pause ([`TableScan::take_pause`]).
    pub(crate) fn pause_before_waits(&mut self) {
        self.locks.pauses = true;
        if let Some(cursor) = self.locking() {
            cursor.pause_before_locks();
        }
    }

    /// Whether the last move found no row since what was left is to be changed first.
    /// Returns true once.
    pub(crate) fn take_pause(&mut self) -> bool {
        std::mem::take(&mut self.last.paused)
    }

    /// Whether rows found are changed by [`TableScan::write_current`].
    pub(crate) fn defers(&self) -> bool {
        self.locks.defers
    }

    /// Replaces the clustered row that the scan stands on, or deletes it where there is no new one.
    /// False, with nothing done, where another transaction came in between: it must be read again.
    pub(crate) fn write_current(
        &mut self,
        txn: &mut Txn,
        row: Option<&[u8]>,
    ) -> std::result::Result<bool, StorageError> {
        if let Some(cursor) = self.locking() {
            return txn.write_current(cursor, row);
        }
        let tree = &self.table.clustered;
        match (&mut self.last.locator, row) {
            (Some(locator), row) => txn.write_at(tree, &self.key, locator, row),
            (None, Some(row)) => txn.update(tree, &self.key, row),
            (None, None) => txn.delete(tree, &self.key),
        }
    }

    /// Locks the clustered row that the scan stands on, where that was deferred. False where it
    /// must be read again.
    pub(crate) fn secure_current(&mut self, txn: &mut Txn) -> Result<bool> {
        match self.locking() {
            Some(cursor) => txn.lock_current(cursor).sql(),
            None => Ok(self.last.locator.is_none()),
        }
    }

    /// Makes an UPDATE's scan of the clustered tree look at rows that others have locked as they
    /// were committed last, instead of waiting for them ([`TableScan::is_unlocked`]).
    pub(crate) fn read_semi_consistently(&mut self) {
        debug_assert!(self.is_unmoved(), "the policy of locks is set before the first move");
        self.locks.semi_consistent = self.secondary().is_none();
    }

    /// Whether the row just found is not locked yet.
    pub(crate) fn is_unlocked(&self) -> bool {
        match &self.state {
            State::Ranges { cursor: Some(Cursor::Locking(cursor)), .. } => cursor.is_unlocked(),
            _ => false,
        }
    }

    /// Waits for the lock of the row just found, which is then what it is now; false when it is
    /// gone.
    pub(crate) fn lock_current(&mut self, txn: &mut Txn) -> Result<bool> {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        key.extend_from_slice(self.current().map_or(&[], |record| record.key));
        self.key = key;
        self.standing = Standing::Row;
        self.lookup_of_entry(txn)
    }

    /// The cursor, where it is one that locks.
    fn locking(&mut self) -> Option<&mut LockingCursor> {
        match &mut self.state {
            State::Ranges { cursor: Some(cursor), .. } => cursor.locking(),
            _ => None,
        }
    }

    /// As [`TableScan::unlock_current`], for a SELECT: MySQL keeps the lock of a row that such a
    /// one has found by a whole unique key, whether it matches or not.
    pub(crate) fn unlock_selected(&mut self, txn: &mut Txn) {
        if !matches!(self.state, State::Point(_)) {
            self.unlock_current(txn);
        }
    }

    /// Gives back the locks of the row just found, where it did not match (READ COMMITTED).
    pub(crate) fn unlock_current(&mut self, txn: &mut Txn) {
        let ReadMode::Lock(request) = self.mode else { return };
        if std::mem::take(&mut self.last.fresh_row) {
            txn.unlock_unmatched(&self.table.clustered, &self.key, request.mode);
        }
        if let Some(entry) = self.last.fresh_entry.take() {
            txn.unlock_unmatched(self.tree(), &entry, request.mode);
        }
        if let Some(cursor) = self.locking() {
            cursor.unlock_current(txn);
        }
    }
}
