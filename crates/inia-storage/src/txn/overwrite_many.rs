//! Updates and deletes of many records: those that fall into one leaf are changed under one latch,
//! as one group of the log.
//!
//! Records may have been read before, without a lock ([`in_place`](super::in_place)). Then each is
//! changed only if it still has the version that was read, which is looked at under the latch. What
//! stands in the way of a record is met there, too, but left to the caller, who reads it again with
//! a lock:
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
use super::write::Attempt;
use crate::Result;
use crate::btree::LeafMut;
use std::ops::Range;

/// Records that one group of the log takes at most.
const MOST: usize = 512;

impl Txn {
    /// Replaces the values of a range of records, in their order, up to one that is not as it was
    /// read, or not there, or locked by another transaction; that one's number, or the range's end.
    pub fn update_many(
        &mut self,
        tree: &Tree,
        records: &Records,
        range: Range<usize>,
    ) -> Result<usize> {
        self.overwrite_many(tree, records, UndoKind::Change, range)
    }

    /// Deletes a range of records; otherwise as [`Txn::update_many`].
    pub fn delete_many(
        &mut self,
        tree: &Tree,
        records: &Records,
        range: Range<usize>,
    ) -> Result<usize> {
        self.overwrite_many(tree, records, UndoKind::Delete, range)
    }

    fn overwrite_many(
        &mut self,
        tree: &Tree,
        records: &Records,
        kind: UndoKind,
        range: Range<usize>,
    ) -> Result<usize> {
        let mut next = range.start;
        while next < range.end {
            self.prepare_write()?;
            let first = next;
            let mut writing = self.writing(tree, records.key(first));
            let store = &writing.core.store;
            let change = |leaf: &mut LeafMut<'_, '_>| {
                let mut near = usize::MAX;
                loop {
                    let (key, value) = (records.key(next), records.value(next));
                    let Ok(i) = leaf.find_near(near, key) else { return Ok(true) };
                    // The first record has the room that the leaf was opened with.
                    if next > first && kind == UndoKind::Change && !leaf.takes_at(i, key, value) {
                        return Ok(false);
                    }
                    writing.key = key;
                    match writing.overwrite_at(leaf, i, records.seen(next), kind, value)? {
                        Attempt::Done => next += 1,
                        _ => return Ok(true),
                    }
                    near = i + 1;
                    let more = next < range.end && next - first < MOST;
                    let short = more && records.is_short(next - 1) && records.is_short(next);
                    // What a record had goes into the group, too.
                    if !short || writing.replaced() > SHORT || !leaf.covers(records.key(next)) {
                        return Ok(false);
                    }
                }
            };
            let (key, room) = (records.key(first), records.value(first).len());
            let stopped = tree.btree().modify(store, key, room, change);
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
