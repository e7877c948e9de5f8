//! Changes of a record that was read a moment before, without a lock in between.
//!
//! UPDATE and DELETE read a row, look whether they want it, and change it. What a locking read puts
//! into the lock table is not needed where the change follows: if the record still has the version
//! that was read, seen under its leaf's latch, nobody has come in between, and with the change it
//! carries the transaction's id, which locks it. Otherwise nothing is done, and the caller reads
//! again, this time with a lock:
//!
//! ```text
//!   peek k → row, locator   the version is committed, and nobody holds or awaits a lock on k
//!   decide
//!   write by the locator    leaf as it was: the record's number in it is known
//!                           leaf changed:   the record is looked up, its version compared
//!                           version changed, or a lock: false
//! ```
//!
//! A row that is not changed after all is locked where the isolation level wants that, with
//! [`Txn::lock_current`], which also reports when another transaction came in between.

use super::cursor::LockingCursor;
use super::handle::{Locked, Txn};
use super::trees::Tree;
use super::undo::UndoKind;
use crate::Result;
use crate::btree::{LeafMut, Peeked};
use crate::buffer::PageVersion;
use crate::counts::{self, Count};
use crate::lock::RecordRequest;
use crate::node::RecordHeader;
use crate::request::{LockMode, LockRequest, WaitPolicy};
use inia_base::ids::{PageId, TxnId};

/// Where a record was read, and which version.
#[derive(Clone, Copy, Debug)]
pub struct RecordLocator {
    pub(super) page: PageId,
    pub(super) state: PageVersion,
    pub(super) slot: usize,
    pub(super) header: RecordHeader,
}

/// The lock that a change needs.
const EXCLUSIVE: LockRequest = LockRequest { mode: LockMode::Exclusive, wait: WaitPolicy::Wait };

impl Txn {
    /// Whether nothing stands in the way of changing a record of this version.
    pub(super) fn is_free(&mut self, tree: &Tree, key: &[u8], writer: TxnId) -> bool {
        if writer == self.id && self.id.0 != 0 {
            return true;
        }
        if self.note_writer(writer).is_some() {
            return false;
        }
        let record = RecordRequest { tree: tree.id(), key, mode: LockMode::Exclusive };
        !self.core.locks.conflicts(&self.owner, record)
    }

    /// Reads a key's newest version that is about to be changed by [`Txn::write_at`]. `None` where
    /// there is no such version, or something stands in the way: read it with a lock.
    pub fn peek(
        &mut self,
        tree: &Tree,
        key: &[u8],
        read: impl FnOnce(&[u8]),
    ) -> Result<Option<RecordLocator>> {
        self.check_age(tree)?;
        let payload = &mut self.work.payload;
        let found = tree.btree().peek(&self.core.store, key, payload)?;
        let Some(Peeked { page, state, slot, header }) = found else { return Ok(None) };
        if header.is_deleted() || !self.is_free(tree, key, header.txn_id()) {
            return Ok(None);
        }
        counts::add(Count::Keys, 1);
        read(&self.work.payload);
        Ok(Some(RecordLocator { page, state, slot, header }))
    }

    /// Replaces the value of a record that was read at `locator`, or deletes the record where there
    /// is no value. False, with nothing done, where it is not as it was read, or locked.
    pub fn write_at(
        &mut self,
        tree: &Tree,
        key: &[u8],
        locator: &mut RecordLocator,
        value: Option<&[u8]>,
    ) -> Result<bool> {
        self.prepare_write()?;
        let kind = if value.is_some() { UndoKind::Change } else { UndoKind::Delete };
        let (value, was) = (value.unwrap_or_default(), locator.header);
        let btree = tree.btree();
        let mut writing = self.writing(tree, key);
        let store = &writing.core.store;
        let (place, slot) = ((locator.page, locator.state), locator.slot);
        let in_leaf = btree.modify_at(store, place, key, value.len(), |leaf| {
            let done = writing.overwrite_same(leaf, Some(slot), was, kind, value);
            writing.log_undo(leaf);
            done
        })?;
        let done = match in_leaf {
            Some((done, state)) => {
                locator.state = state;
                done
            }
            None => {
                let write = |leaf: &mut LeafMut<'_, '_>| {
                    let done = writing.overwrite_same(leaf, None, was, kind, value);
                    writing.log_undo(leaf);
                    done
                };
                btree.modify(store, key, value.len(), write)?.0
            }
        };
        if done {
            self.publish_undo();
        }
        Ok(done)
    }

    /// As [`Txn::write_at`], for the record that a locking cursor stands on.
    pub fn write_current(
        &mut self,
        cursor: &mut LockingCursor,
        value: Option<&[u8]>,
    ) -> Result<bool> {
        let Some(mut locator) = cursor.locator() else {
            return match value {
                Some(value) => self.update(&cursor.range.tree, &cursor.range.memory().key, value),
                None => self.delete(&cursor.range.tree, &cursor.range.memory().key),
            };
        };
        let done =
            self.write_at(&cursor.range.tree, &cursor.range.memory().key, &mut locator, value)?;
        cursor.written(&locator);
        Ok(done)
    }

    /// Locks the record that a cursor stands on, if that was deferred. False where it may have
    /// changed since it was read.
    pub fn lock_current(&mut self, cursor: &mut LockingCursor) -> Result<bool> {
        let Some(locator) = cursor.locator() else { return Ok(true) };
        let writer = locator.header.txn_id();
        match self.lock_found(&cursor.range.tree, &cursor.range.memory().key, writer, EXCLUSIVE)? {
            Locked::Yes { fresh } => Ok(cursor.locked(fresh, &self.core.store)),
            // The writer of the version read had ended by then, so that a wait was for a lock, and
            // has got it: what the leaf says of the record is decided now.
            Locked::Retry { .. } => Ok(cursor.locked(false, &self.core.store)),
            Locked::Skip => Ok(false),
        }
    }
}
