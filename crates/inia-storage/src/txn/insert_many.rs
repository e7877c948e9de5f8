//! Inserts of many records: those that fall into one leaf go there under one latch, as one group of
//! the log.
//!
//! What stands in the way of a record is met there too, but waiting for it, or telling of a
//! duplicate, is left to [`Txn::insert_or_lock`], record by record.

use super::handle::Txn;
use super::trees::Tree;
use super::write::Attempt;
use crate::Result;
use crate::btree::LeafMut;
use std::ops::Range;

/// Records that one group of the log takes at most.
const MOST: usize = 256;
/// Longest record that shares its group with others: longer ones may need pages of their own.
const SHORT: usize = 2048;

/// Records that wait to be inserted.
#[derive(Default)]
pub struct Records {
    bytes: Vec<u8>,
    /// Where each one begins, its key ends, and its value ends.
    places: Vec<(usize, usize, usize)>,
}

impl Records {
    /// Number of records.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Bytes of all keys and values.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Forgets all, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    /// Adds a record.
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        self.places.push((start, start + key.len(), self.bytes.len()));
    }

    /// Record `i`'s key.
    pub fn key(&self, i: usize) -> &[u8] {
        let (start, end, _) = self.places[i];
        &self.bytes[start..end]
    }

    /// Record `i`'s value.
    pub fn value(&self, i: usize) -> &[u8] {
        let (_, start, end) = self.places[i];
        &self.bytes[start..end]
    }

    /// Puts the records in the order of their keys.
    pub fn sort(&mut self) {
        let bytes = &self.bytes;
        let key = |&(start, end, _): &(usize, usize, usize)| &bytes[start..end];
        if !self.places.is_sorted_by_key(key) {
            self.places.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        }
    }

    fn is_short(&self, i: usize) -> bool {
        let (start, _, end) = self.places[i];
        end - start <= SHORT
    }
}

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
