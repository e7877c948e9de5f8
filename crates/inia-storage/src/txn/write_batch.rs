//! Inserts, updates and deletes of many records: those that fall into one leaf are written under
//! one latch, as one group of the log.
//!
//! Records to be changed may have been read before, without a lock ([`in_place`](super::in_place)).
//! Then each is changed only if it still has the version that was read, which is looked at under
//! the latch. A conflict is found there, too, but waiting for it, or reporting a duplicate, is left
//! to the caller, which writes that one record by itself:
//!
//! ```text
//!   scan    a b c d e      five versions, nobody has them locked
//!   others      c          one comes in between
//!   writes  a b            and says: c
//!   caller      c          waits for it, looks at it
//!   writes        d e
//! ```

use super::handle::Txn;
use super::records::{Records, SHORT};
use super::trees::Tree;
use super::undo::UndoKind;
use super::write::{Attempt, Writing};
use crate::Result;
use crate::btree::LeafMut;
use std::ops::Range;

/// Records that one group of the log takes at most.
const MAX_RECORDS: usize = 512;

impl Txn {
    /// Inserts a range of the records, in their order, up to one that something stands in the way
    /// of; that one's number, or the range's end.
    pub fn insert_batch(
        &mut self,
        tree: &Tree,
        records: &Records,
        range: Range<usize>,
    ) -> Result<usize> {
        self.write_batch(tree, records, UndoKind::Insert, range)
    }

    /// Replaces the values of a range of records, in their order, up to one that is not as it was
    /// read, or not there, or locked by another transaction; that one's number, or the range's end.
    pub fn update_batch(
        &mut self,
        tree: &Tree,
        records: &Records,
        range: Range<usize>,
    ) -> Result<usize> {
        self.write_batch(tree, records, UndoKind::Change, range)
    }

    /// Deletes a range of records; otherwise as [`Txn::update_batch`].
    pub fn delete_batch(
        &mut self,
        tree: &Tree,
        records: &Records,
        range: Range<usize>,
    ) -> Result<usize> {
        self.write_batch(tree, records, UndoKind::Delete, range)
    }

    fn write_batch(
        &mut self,
        tree: &Tree,
        records: &Records,
        kind: UndoKind,
        range: Range<usize>,
    ) -> Result<usize> {
        let mut next = range.start;
        while next < range.end {
            self.prepare_write()?;
            let (key, room) = (records.key(next), records.value(next).len());
            let end = range.end.min(next + MAX_RECORDS);
            let mut writing = self.writing(tree, key);
            let store = &writing.core.store;
            let write = |leaf: &mut LeafMut<'_, '_>| {
                let part = (&mut next, end);
                let stopped = match kind {
                    UndoKind::Delete => writing.delete_in_leaf(leaf, records, part),
                    _ => writing.write_in_leaf(leaf, records, kind, part),
                };
                writing.log_undo(leaf);
                stopped
            };
            let stopped = tree.btree().modify(store, key, room, write);
            if self.undo.records() > 0 {
                self.publish_undo();
            }
            if stopped?.0 {
                break;
            }
        }
        Ok(next)
    }
}

impl<'t> Writing<'t> {
    /// Writes records from `next` on, up to `end` or one that another leaf, or another group of the
    /// log, is for. True where something stands in the way of the one that is next then.
    fn write_in_leaf(
        &mut self,
        leaf: &mut LeafMut<'_, '_>,
        records: &'t Records,
        kind: UndoKind,
        (next, end): (&mut usize, usize),
    ) -> Result<bool> {
        self.look_for_locks();
        let first = *next;
        let mut near = usize::MAX;
        loop {
            let (key, value) = (records.key(*next), records.value(*next));
            self.key = key;
            // In the order of their keys the next record mostly stands behind the one before.
            let attempt = if kind == UndoKind::Insert {
                self.insert(leaf, value)?
            } else {
                let found = match leaf.is_at(near, key) {
                    true => Ok(near),
                    false if *next > first && !leaf.covers(key) => return Ok(false),
                    false => leaf.lower_bound(key),
                };
                let Ok(i) = found else { return Ok(true) };
                // The first record has the room that the leaf was opened with.
                if *next > first && kind == UndoKind::Change && !leaf.takes_at(i, key, value) {
                    return Ok(false);
                }
                near = i + 1;
                self.overwrite_at(leaf, i, records.seen(*next), kind, value)?
            };
            match attempt {
                Attempt::Done | Attempt::DoneOverOwn => *next += 1,
                _ => return Ok(true),
            }
            let more = *next < end && records.is_short(*next - 1) && records.is_short(*next);
            // What a record had goes into the group, too.
            if !more || self.replaced() > SHORT {
                return Ok(false);
            }
            // Only the first insert has the room that the leaf was opened with.
            let takes = || leaf.takes(records.key(*next), records.value(*next).len());
            if kind == UndoKind::Insert && !takes() {
                return Ok(false);
            }
        }
    }
}
