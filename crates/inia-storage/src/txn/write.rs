//! Insert, update and delete of one record.
//!
//! Each looks at the record under its leaf's exclusive latch. If a lock is in the way it lets go of
//! the latch, waits, and begins anew: nothing that was seen before a wait is believed after it.

use super::handle::{Locked, Txn, Workspace};
use super::log::Before;
use super::session::Session;
use super::shared::EngineShared;
use super::status::TxnState;
use super::trees::Tree;
use super::undo::{NewUndo, UndoKind, UndoLog};
use super::undo_run::{UndoRun, UndoStep};
use crate::Result;
use crate::btree::LeafMut;
use crate::error::StorageError;
use crate::lock::{Owner, RecordRequest};
use crate::node::RecordHeader;
use crate::request::{LockMode, LockRequest, WaitPolicy};
use inia_base::ids::{Lsn, TxnId};
use std::sync::Arc;

/// What an attempt to write found.
pub(super) enum Attempt {
    /// It is done.
    Done,
    /// It is done, over a record that this transaction had deleted.
    DoneOverOwn,
    /// There is no record to change.
    Absent,
    /// There is a record already: one of this transaction's, or a committed one.
    Duplicate { own: bool },
    /// Another running transaction wrote the record last.
    Writer(TxnId),
    /// Another transaction holds or awaits a lock on the key.
    Lock,
    /// Another transaction's gap lock covers the key.
    Gap,
}

/// Who wrote a record's newest version.
pub(super) enum Writer {
    Own,
    Finished,
    Other(TxnId),
}

/// What a write needs besides the leaf.
pub(super) struct Writing<'t> {
    pub(super) core: &'t EngineShared,
    pub(super) session: &'t Session,
    pub(super) owner: &'t Arc<Owner>,
    pub(super) undo: &'t mut UndoLog,
    pub(super) work: &'t mut Workspace,
    /// Newest commit met.
    pub(super) seen: &'t mut Lsn,
    pub(super) id: TxnId,
    pub(super) tree: &'t Tree,
    pub(super) key: &'t [u8],
    /// No transaction has a record lock.
    pub(super) no_record_locks: bool,
}

impl Writing<'_> {
    pub(super) fn writer(&mut self, header: RecordHeader) -> Writer {
        let writer = header.txn_id();
        if writer == self.id {
            return Writer::Own;
        }
        if writer >= self.core.status.low_water() {
            match self.core.status.state(writer) {
                TxnState::Active(_) => return Writer::Other(writer),
                TxnState::Committed(commit_lsn) => *self.seen = (*self.seen).max(commit_lsn),
                TxnState::RolledBack | TxnState::Finished => {}
            }
        }
        Writer::Finished
    }

    /// Bytes of the value that the last change has replaced.
    pub(super) fn replaced(&self) -> usize {
        self.work.payload.len()
    }

    /// Checks whether there are record locks at all. Without any, this write looks up none until it
    /// releases the leaf's latch: a transaction that locks a record later sees that the leaf has
    /// changed.
    pub(super) fn look_for_locks(&mut self) {
        self.no_record_locks = self.core.locks.has_no_records();
    }

    fn locked_by_others(&self) -> bool {
        self.is_locked_by_others(self.key)
    }

    /// Whether a lock of another transaction forbids to write the record with this key.
    pub(super) fn is_locked_by_others(&self, key: &[u8]) -> bool {
        if self.no_record_locks {
            return false;
        }
        let tree = self.tree.id();
        let request = RecordRequest { tree, key, mode: LockMode::Exclusive };
        self.core.locks.conflicts(self.owner, request)
    }

    pub(super) fn insert(&mut self, leaf: &mut LeafMut<'_, '_>, value: &[u8]) -> Result<Attempt> {
        let i = match leaf.lower_bound(self.key) {
            Err(place) => {
                if self.tree.gaps().forbid_insert(self.owner, self.key) {
                    return Ok(Attempt::Gap);
                }
                if self.locked_by_others() {
                    return Ok(Attempt::Lock);
                }
                self.change(leaf, Err(place), UndoKind::Insert, value)?;
                return Ok(Attempt::Done);
            }
            Ok(i) => i,
        };
        let header = leaf.header(i);
        let writer = self.writer(header);
        match writer {
            Writer::Other(id) => return Ok(Attempt::Writer(id)),
            Writer::Own if !header.is_deleted() => return Ok(Attempt::Duplicate { own: true }),
            Writer::Finished if !header.is_deleted() => {
                return Ok(Attempt::Duplicate { own: false });
            }
            Writer::Finished if self.locked_by_others() => return Ok(Attempt::Lock),
            Writer::Own | Writer::Finished => {}
        }
        self.change(leaf, Ok(i), UndoKind::Change, value)?;
        Ok(if matches!(writer, Writer::Own) { Attempt::DoneOverOwn } else { Attempt::Done })
    }

    /// Updates or deletes a record that is there.
    fn overwrite(
        &mut self,
        leaf: &mut LeafMut<'_, '_>,
        kind: UndoKind,
        value: &[u8],
    ) -> Result<Attempt> {
        let Ok(i) = leaf.lower_bound(self.key) else { return Ok(Attempt::Absent) };
        self.overwrite_at(leaf, i, None, kind, value)
    }

    /// As [`Writing::overwrite`], of record `i`; absent is also one that no longer has the version
    /// `seen`, where that is given.
    pub(super) fn overwrite_at(
        &mut self,
        leaf: &mut LeafMut<'_, '_>,
        i: usize,
        seen: Option<RecordHeader>,
        kind: UndoKind,
        value: &[u8],
    ) -> Result<Attempt> {
        let header = leaf.header(i);
        if seen.is_some_and(|seen| seen != header) {
            return Ok(Attempt::Absent);
        }
        match self.writer(header) {
            Writer::Other(id) => return Ok(Attempt::Writer(id)),
            _ if header.is_deleted() => return Ok(Attempt::Absent),
            Writer::Finished if self.locked_by_others() => return Ok(Attempt::Lock),
            Writer::Own | Writer::Finished => {}
        }
        self.change(leaf, Ok(i), kind, value)?;
        Ok(Attempt::Done)
    }

    /// Updates or deletes a record, whose number in the leaf may be known, if it still has the
    /// version `was` and nobody has locked it.
    pub(super) fn overwrite_same(
        &mut self,
        leaf: &mut LeafMut<'_, '_>,
        i: Option<usize>,
        was: RecordHeader,
        kind: UndoKind,
        value: &[u8],
    ) -> Result<bool> {
        let Some(i) = i.or_else(|| leaf.lower_bound(self.key).ok()) else { return Ok(false) };
        if leaf.header(i) != was || was.is_deleted() {
            return Ok(false);
        }
        match self.writer(was) {
            Writer::Other(_) => return Ok(false),
            Writer::Finished if self.locked_by_others() => return Ok(false),
            Writer::Own | Writer::Finished => {}
        }
        self.change(leaf, Ok(i), kind, value)?;
        Ok(true)
    }

    /// Makes a change that nothing forbids: undo, leaf and log. `found` is the record's number, or
    /// the one that a new record gets.
    fn change(
        &mut self,
        leaf: &mut LeafMut<'_, '_>,
        found: std::result::Result<usize, usize>,
        kind: UndoKind,
        value: &[u8],
    ) -> Result<()> {
        let mut before = RecordHeader::default();
        self.work.payload.clear();
        if let Ok(i) = found {
            before = leaf.header(i);
            // A deletion leaves the value where it is.
            if kind != UndoKind::Delete {
                leaf.payload_to(i, &mut self.work.payload)?;
            }
        }
        // The undo record comes first: the new version refers to it.
        let (key, tree) = (self.key, self.tree.id());
        let payload = &self.work.payload[..];
        let previous = self.undo.tail();
        let after = if kind == UndoKind::Delete { 0 } else { value.len() };
        let place = self.undo.push(NewUndo { kind, tree, key, before, payload, after });
        let made = match (found, kind) {
            (Err(i), _) => leaf.insert_at(i, key, RecordHeader::new(self.id, 0, false), value),
            (Ok(i), UndoKind::Delete) => {
                leaf.set_header(i, RecordHeader::new(self.id, place.0, true))
            }
            (Ok(i), _) => leaf.replace(i, RecordHeader::new(self.id, place.0, false), value),
        };
        if let Err(error) = made {
            self.undo.retract(previous);
            return Err(error);
        }
        // The before-image joins those of the leaf's other changes, which are logged together.
        let before = match (found, kind) {
            (Err(_), _) => Before::Nothing,
            (Ok(_), UndoKind::Delete) => Before::Marked(before),
            (Ok(_), _) => Before::Version(before, payload),
        };
        let step = UndoStep { txn: self.id, at: place, tree, key, before };
        if !self.work.steps.push(&step) {
            log_steps(&mut self.work.steps, leaf);
            self.work.steps.push(&step);
        }
        Ok(())
    }

    /// Logs the before-images of the changes made to a leaf. It must be called before the latch is
    /// given back; afterwards the undo is published.
    pub(super) fn log_undo(&mut self, leaf: &mut LeafMut<'_, '_>) {
        if self.work.steps.record().is_some() {
            self.session.announce_steps();
        }
        log_steps(&mut self.work.steps, leaf);
    }
}

pub(super) fn log_steps(steps: &mut UndoRun, leaf: &mut LeafMut<'_, '_>) {
    if let Some(record) = steps.record() {
        leaf.log(&record);
    }
    steps.clear();
}

impl Txn {
    /// Inserts a new key. An existing one is [`StorageError::DuplicateKey`], after a shared lock on
    /// it was taken, as MySQL does.
    pub fn insert(&mut self, tree: &Tree, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert_or_lock(tree, key, value, LockMode::Shared)
    }

    /// As [`Txn::insert`], with the mode in which an existing record is locked: exclusive for
    /// INSERT ... ON DUPLICATE KEY UPDATE and REPLACE.
    pub fn insert_or_lock(
        &mut self,
        tree: &Tree,
        key: &[u8],
        value: &[u8],
        existing: LockMode,
    ) -> Result<()> {
        debug_assert!(self.core.trees.has(tree), "a tree of another engine");
        self.prepare_write()?;
        let request = LockRequest { mode: existing, wait: WaitPolicy::Wait };
        let mut existing_locked = false;
        self.last.replaced_own = false;
        loop {
            let attempt = self.attempt(tree, key, value.len(), |w, leaf| w.insert(leaf, value))?;
            match attempt {
                Attempt::Done | Attempt::Absent => return Ok(()),
                Attempt::DoneOverOwn => {
                    self.last.replaced_own = true;
                    return Ok(());
                }
                Attempt::Duplicate { own } if own || existing_locked => {
                    return Err(StorageError::DuplicateKey);
                }
                Attempt::Duplicate { .. } => {
                    let locked = self.lock_key(tree, key, request)?;
                    debug_assert!(locked != Locked::Skip);
                    existing_locked = true;
                }
                Attempt::Writer(id) => {
                    self.wait_for_writer(tree, key, id, request)?;
                }
                Attempt::Lock => self.wait_to_write(tree, key)?,
                Attempt::Gap => self.wait_for_gap(tree, key)?,
            }
        }
    }

    /// Replaces the value of a key that is there, locking it exclusively; false when it is not.
    pub fn update(&mut self, tree: &Tree, key: &[u8], value: &[u8]) -> Result<bool> {
        self.overwrite(tree, key, UndoKind::Change, value)
    }

    /// Deletes a key, locking it exclusively; false when it is not there.
    pub fn delete(&mut self, tree: &Tree, key: &[u8]) -> Result<bool> {
        self.overwrite(tree, key, UndoKind::Delete, &[])
    }

    fn overwrite(&mut self, tree: &Tree, key: &[u8], kind: UndoKind, value: &[u8]) -> Result<bool> {
        debug_assert!(self.core.trees.has(tree), "a tree of another engine");
        self.prepare_write()?;
        let request = LockRequest { mode: LockMode::Exclusive, wait: WaitPolicy::Wait };
        loop {
            let write =
                |w: &mut Writing<'_>, leaf: &mut LeafMut<'_, '_>| w.overwrite(leaf, kind, value);
            match self.attempt(tree, key, value.len(), write)? {
                Attempt::Done => return Ok(true),
                Attempt::Absent => return Ok(false),
                Attempt::Writer(id) => {
                    self.wait_for_writer(tree, key, id, request)?;
                }
                Attempt::Lock => self.wait_to_write(tree, key)?,
                Attempt::DoneOverOwn | Attempt::Gap | Attempt::Duplicate { .. } => {
                    unreachable!("only inserts meet gaps, duplicates and deleted records")
                }
            }
        }
    }

    /// What a write of `key` needs.
    pub(super) fn writing<'t>(&'t mut self, tree: &'t Tree, key: &'t [u8]) -> Writing<'t> {
        Writing {
            core: &self.core,
            session: &self.session,
            owner: &self.owner,
            undo: &mut self.undo,
            work: &mut self.work,
            seen: &mut self.seen,
            id: self.id,
            tree,
            key,
            no_record_locks: false,
        }
    }

    /// Runs `write` on the leaf that covers `key`.
    fn attempt(
        &mut self,
        tree: &Tree,
        key: &[u8],
        room: usize,
        write: impl FnOnce(&mut Writing<'_>, &mut LeafMut<'_, '_>) -> Result<Attempt>,
    ) -> Result<Attempt> {
        let mut writing = self.writing(tree, key);
        let store = &writing.core.store;
        let change = |leaf: &mut LeafMut<'_, '_>| {
            let attempt = write(&mut writing, leaf);
            writing.log_undo(leaf);
            attempt
        };
        let (attempt, _) = tree.btree().modify(store, key, room, change)?;
        if matches!(attempt, Attempt::Done | Attempt::DoneOverOwn) {
            self.publish_undo();
        }
        Ok(attempt)
    }
}
