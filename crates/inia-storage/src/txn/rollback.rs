//! Savepoints and rollback: before-images are applied newest first, each in a mini-transaction.
//!
//! No compensation records are needed. A before-image is applied only to a record that the same
//! transaction wrote, and to none when that is not so; applying a transaction's before-images again
//! from the newest on therefore ends in the same state, however far an earlier attempt had come.
//! Until the last step the record's header names the transaction, which keeps it locked.

use super::handle::Txn;
use super::trees::Tree;
use super::undo::{UndoKind, UndoRef};
use crate::Result;
use crate::btree::RecordHeader;
use crate::engine::Core;
use crate::wal::record::LogRecord;
use inia_base::ids::{Lsn, TxnId};

const CREATED_BITS: u32 = 20;

/// A point in a transaction to roll back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint(pub u64);

impl Savepoint {
    fn new(records: u64, created: usize) -> Savepoint {
        Savepoint(records << CREATED_BITS | created as u64)
    }

    fn records(self) -> u64 {
        self.0 >> CREATED_BITS
    }

    fn created(self) -> usize {
        (self.0 & ((1 << CREATED_BITS) - 1)) as usize
    }
}

impl Core {
    /// Brings a record back to the version before a change of `txn`, if `txn` wrote what is there.
    pub(crate) fn undo_change(
        &self,
        txn: TxnId,
        tree: &Tree,
        key: &[u8],
        before: Option<(RecordHeader, &[u8])>,
        payload_unchanged: bool,
    ) -> Result<()> {
        let room = before.map_or(0, |(_, payload)| payload.len());
        let mut marked_again = false;
        let (sparse, _) = tree.btree().modify_for_rollback(&self.store, key, room, |leaf| {
            let Ok(i) = leaf.lower_bound(key) else { return Ok(false) };
            if leaf.header(i).txn_id() != txn {
                return Ok(false);
            }
            marked_again =
                before.is_some_and(|(before, _)| before.is_deleted() && before.txn_id() != txn);
            match before {
                None => leaf.remove(i)?,
                Some((header, _)) if payload_unchanged => leaf.set_header(i, header)?,
                Some((header, payload)) => leaf.replace(i, header, payload)?,
            }
            Ok(before.is_none() && leaf.is_sparse())
        })?;
        if marked_again {
            self.note_mark_restored(tree, key);
        }
        if sparse {
            tree.btree().try_merge(&self.store, key)?;
        }
        Ok(())
    }
}

impl Txn {
    /// A point to roll back to.
    pub fn savepoint(&self) -> Savepoint {
        Savepoint::new(self.undo.records(), self.created.len())
    }

    /// Undoes everything since the savepoint; locks are kept, as in MySQL.
    pub fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        while self.undo.records() > savepoint.records() {
            self.undo_last()?;
        }
        while self.created.len() > savepoint.created() {
            self.abandoned.extend(self.created.pop());
        }
        self.publish_undo();
        Ok(())
    }

    fn undo_last(&mut self) -> Result<()> {
        let mut record = std::mem::take(&mut self.work.record);
        let found = self.core.undo.read(self.undo.tail(), &mut record)?;
        debug_assert!(found, "undo of a running transaction is never freed");
        let tree = self.core.trees.get(record.tree);
        let before = match record.kind {
            UndoKind::Insert => None,
            UndoKind::Change | UndoKind::Delete => Some((record.before, &record.payload[..])),
        };
        let marked_only = record.kind == UndoKind::Delete;
        let undone = self.core.undo_change(self.id, &tree, &record.key, before, marked_only);
        if undone.is_ok() {
            self.undo.pop(&record);
        }
        self.work.record = record;
        undone
    }

    /// Rolls everything back. The handle is idle afterwards.
    pub fn rollback(&mut self) -> Result<()> {
        if self.id.0 != 0 {
            let undone = self.roll_back_writes();
            if undone.is_err() {
                // The records keep the transaction's id: they stay locked until recovery.
                self.undo.finish(self.id, Lsn(u64::MAX));
                self.created.clear();
                self.abandoned.clear();
                self.end();
                return undone;
            }
        }
        self.end();
        Ok(())
    }

    fn roll_back_writes(&mut self) -> Result<()> {
        self.rollback_to(Savepoint::new(0, 0))?;
        for tree in std::mem::take(&mut self.abandoned) {
            self.core.abandon_tree(self.id, tree)?;
        }
        debug_assert!(self.undo.tail() == UndoRef::NONE);
        let wal = self.core.store.wal();
        let record = LogRecord::RolledBack { txn: self.id };
        let end = self.session.end_writing(|| wal.append(&record));
        self.core.status.roll_back(self.id, self.owner.index(), end);
        self.session.release_log(end);
        self.undo.finish(self.id, end);
        Ok(())
    }
}
