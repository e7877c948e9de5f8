//! Deletions of several records of one leaf: under one latch, with one operation of the log.
//!
//! There are two ways to them. Records whose keys wait ([`Txn::delete_batch`]) are looked up in the
//! leaf that the first of them leads to; in the order of their keys the next one mostly stands
//! behind the one before. A scan that is to delete what it finds ([`Txn::delete_run`]) has copied a
//! leaf, and if nothing has changed in it since, the records have the numbers that they have in the
//! copy:
//!
//! ```text
//!   copy     a b c d̶ e f      d is deleted already
//!   gaps     locked up to c    what comes into them now changes the leaf
//!   latch    as copied?        no: nothing is done, the scan looks again
//!   marks    a b c             and the scan, which shows them, goes on behind c
//!   scan     d, e, ...         record by record, up to the next whose lock it can defer
//! ```
//!
//! The marks carry the transaction's id, which locks the records implicitly: the lock table has no
//! entries for them.

use super::cursor::{Bound, LockingCursor, Run};
use super::handle::Txn;
use super::records::Records;
use super::undo_run::UndoStep;
use super::write::{Writer, Writing, log_steps};
use crate::Result;
use crate::btree::LeafMut;
use crate::error::StorageError;
use crate::ops::run::Mark;
use crate::txn::log::Before;
use std::ops::Range;

/// Buffers for the deletions in one leaf.
#[derive(Default)]
pub(super) struct Deletions {
    /// The records' numbers, which ascend.
    slots: Vec<u16>,
    marks: Vec<Mark>,
    key: Vec<u8>,
}

impl Txn {
    /// Deletes records that follow in the leaf which a locking cursor stands on, up to `most`, as
    /// far as nothing stands in their way, and moves over them. `None`, with nothing done, where
    /// [`LockingCursor::advance`] must find out what comes next.
    ///
    /// The cursor must [defer locks](LockingCursor::defer_locks). There is no current record
    /// afterwards.
    pub fn delete_run<'c>(
        &mut self,
        cursor: &'c mut LockingCursor,
        most: usize,
    ) -> Result<Option<Run<'c>>> {
        let Some(range) = cursor.free_run(self, most)? else { return Ok(None) };
        let Some(copied) = cursor.range.memory().gap.leaf.page_state() else { return Ok(None) };
        self.prepare_write()?;
        let tree = cursor.range.tree.clone();
        let mut writing = self.writing(&tree, &cursor.range.memory().key);
        let store = &writing.core.store;
        let delete = |leaf: &mut LeafMut<'_, '_>| {
            let count = writing.delete_range(leaf, range.clone());
            writing.log_undo(leaf);
            count
        };
        let deleted =
            tree.btree().modify_at(store, copied, &cursor.range.memory().key, 0, delete)?;
        // The scan finds out what has changed.
        let Some((count @ 1.., state)) = deleted else { return Ok(None) };
        self.publish_undo();
        cursor.range.memory_mut().gap.leaf.carry_over(state);
        Ok(Some(cursor.pass_run(range.start..range.start + count)))
    }
}

impl LockingCursor {
    /// Records that follow in the leaf, up to `most`, which nothing keeps from being deleted; the
    /// gaps before them are locked.
    fn free_run(&mut self, txn: &mut Txn, most: usize) -> Result<Option<Range<usize>>> {
        if !self.can_run() {
            return Ok(None);
        }
        if txn.owner.is_interrupted() {
            return Err(StorageError::Interrupted);
        }
        self.leave_record();
        let Some(from) = self.locate(txn)? else { return Ok(None) };
        let memory = self.range.memory();
        let leaf = &memory.gap.leaf;
        let end = match self.range.upper {
            Bound::Unbounded => leaf.len(),
            _ => leaf.lower_bound(&memory.upper).unwrap_or_else(|i| i),
        };
        let end = end.min(from.saturating_add(most));
        let to = self.find_taken(txn, from..end);
        if to == from {
            return Ok(None);
        }
        if txn.locks_gaps() {
            let memory = self.range.memory_mut();
            memory.gap.leaf.key(to - 1, &mut memory.key);
            if !self.lock_gap_before(txn, from)? {
                self.look_again();
                return Ok(None);
            }
        }
        let memory = self.range.memory_mut();
        memory.gap.leaf.key(from, &mut memory.key);
        Ok(Some(from..to))
    }

    /// The first record of the range that something keeps from being deleted now, or the range's
    /// end.
    fn find_taken(&mut self, txn: &mut Txn, mut range: Range<usize>) -> usize {
        let no_record_locks = txn.core.locks.has_no_records();
        let tree = self.range.tree.clone();
        let memory = self.range.memory_mut();
        let (leaf, key) = (&memory.gap.leaf, &mut memory.key);
        let end = range.end;
        let taken = range.find(|&i| {
            let header = leaf.header(i);
            if header.is_deleted() || !leaf.is_inline(i) {
                return true;
            }
            if no_record_locks {
                return header.txn_id() != txn.id && txn.note_writer(header.txn_id()).is_some();
            }
            leaf.key(i, key);
            !txn.is_free(&tree, key, header.txn_id())
        });
        taken.unwrap_or(end)
    }
}

impl<'t> Writing<'t> {
    /// Deletes records by their numbers, up to one that something stands in the way of; how many.
    fn delete_range(&mut self, leaf: &mut LeafMut<'_, '_>, range: Range<usize>) -> Result<usize> {
        self.look_for_locks();
        let mut slots = std::mem::take(&mut self.work.deletions.slots);
        let mut key = std::mem::take(&mut self.work.deletions.key);
        slots.clear();
        let prefix = start_key(leaf, &mut key);
        for i in range {
            if !self.no_record_locks {
                key.truncate(prefix);
                key.extend_from_slice(leaf.key_suffix(i));
            }
            if !leaf.is_inline(i) || !self.may_delete(leaf, i, &key) {
                break;
            }
            slots.push(i as u16);
        }
        self.work.deletions.key = key;
        let deleted = self.delete_slots(leaf, &slots);
        let count = slots.len();
        self.work.deletions.slots = slots;
        deleted.map(|()| count)
    }

    /// Deletes records from `next` on, up to `end` or one that another leaf is for. True where
    /// something stands in the way of the one that is next then.
    pub(super) fn delete_in_leaf(
        &mut self,
        leaf: &mut LeafMut<'_, '_>,
        records: &'t Records,
        (next, end): (&mut usize, usize),
    ) -> Result<bool> {
        self.look_for_locks();
        let mut slots = std::mem::take(&mut self.work.deletions.slots);
        slots.clear();
        let stopped = self.find_in_leaf(leaf, records, *next..end, &mut slots);
        let deleted = self.delete_slots(leaf, &slots);
        if deleted.is_ok() {
            *next += slots.len();
        }
        self.work.deletions.slots = slots;
        deleted.map(|()| stopped)
    }

    /// Finds records that may be deleted, in their order, and puts their numbers into `slots`. True
    /// where something stands in the way of the one after them.
    fn find_in_leaf(
        &mut self,
        leaf: &LeafMut<'_, '_>,
        records: &'t Records,
        range: Range<usize>,
        slots: &mut Vec<u16>,
    ) -> bool {
        let first = range.start;
        let mut near = usize::MAX;
        for number in range {
            let key = records.key(number);
            let long = number > first && !(records.is_short(number) && records.is_short(first));
            if long {
                return false;
            }
            let found = match leaf.is_at(near, key) {
                true => Ok(near),
                false if number > first && !leaf.covers(key) => return false,
                false => leaf.lower_bound(key),
            };
            let Ok(i) = found else { return true };
            let seen = records.seen(number);
            let free = seen.is_none_or(|seen| seen == leaf.header(i));
            let again = slots.last().is_some_and(|last| usize::from(*last) >= i);
            if again || !free || !self.may_delete(leaf, i, key) {
                return true;
            }
            slots.push(i as u16);
            near = i + 1;
        }
        false
    }

    /// Whether record `i` is there and nothing keeps it from being deleted.
    fn may_delete(&mut self, leaf: &LeafMut<'_, '_>, i: usize, key: &[u8]) -> bool {
        let header = leaf.header(i);
        match self.writer(header) {
            _ if header.is_deleted() => false,
            Writer::Other(_) => false,
            Writer::Own => true,
            Writer::Finished => !self.is_locked_by_others(key),
        }
    }

    /// Makes deletions that nothing forbids: undo, leaf and log. All of them, or none.
    fn delete_slots(&mut self, leaf: &mut LeafMut<'_, '_>, slots: &[u16]) -> Result<()> {
        leaf.check_records(slots)?;
        if slots.is_empty() {
            return Ok(());
        }
        let (txn, tree) = (self.id, self.tree.id());
        let Deletions { marks, key, .. } = &mut self.work.deletions;
        marks.clear();
        let prefix = start_key(leaf, key);
        let mut key_words = 0;
        for &slot in slots {
            key.truncate(prefix);
            key.extend_from_slice(leaf.key_suffix(slot.into()));
            key_words += key.len().div_ceil(8);
            let before = leaf.header(slot.into());
            let at = self.undo.push_delete(tree, key, before);
            let step = UndoStep { txn, at, tree, key, before: Before::Marked(before) };
            if !self.work.steps.push(&step) {
                log_steps(&mut self.work.steps, leaf);
                self.work.steps.push(&step);
            }
            marks.push(Mark { slot, undo: at.0 });
        }
        self.undo.count_deletes(slots.len(), key_words);
        leaf.mark_all(txn, marks);
        Ok(())
    }
}

/// Makes `key` the beginning of all keys of the leaf; its length.
fn start_key(leaf: &LeafMut<'_, '_>, key: &mut Vec<u8>) -> usize {
    key.clear();
    key.extend_from_slice(leaf.key_prefix());
    key.len()
}
