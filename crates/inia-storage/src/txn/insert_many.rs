//! Inserts of many records: those that fall into one leaf go there under one latch, as one group of
//! the log.
//!
//! What stands in the way of a record is met there too, but waiting for it, or telling of a
//! duplicate, is left to [`Txn::insert_or_lock`], record by record.

use super::handle::Txn;
use super::records::{Records, SHORT};
use super::trees::Tree;
use super::write::Attempt;
use crate::Result;
use crate::btree::LeafMut;
use std::ops::Range;

/// Records that one group of the log takes at most.
const MOST: usize = 256;

impl Txn {
    /// Inserts a range of the records, in their order, up to one that something stands in the way
    /// of; that one's number, or the range's end.
    pub fn insert_many(
        &mut self,
        tree: &Tree,
        records: &Records,
        range: Range<usize>,
    ) -> Result<usize> {
        let mut next = range.start;
        while next < range.end {
            self.prepare_write()?;
            let first = next;
            let mut writing = self.writing(tree, records.key(first));
            let store = &writing.core.store;
            let insert = |leaf: &mut LeafMut<'_, '_>| {
                loop {
                    writing.key = records.key(next);
                    match writing.insert(leaf, records.value(next))? {
                        Attempt::Done | Attempt::DoneOverOwn => next += 1,
                        _ => return Ok(true),
                    }
                    let more = next < range.end && next - first < MOST;
                    let short = more && records.is_short(next - 1) && records.is_short(next);
                    // What a deleted record had goes into the group, too.
                    if !short
                        || writing.replaced() > SHORT
                        || !leaf.takes(records.key(next), records.value(next).len())
                    {
                        return Ok(false);
                    }
                }
            };
            let (key, room) = (records.key(first), records.value(first).len());
            let stopped = tree.btree().modify(store, key, room, insert);
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
