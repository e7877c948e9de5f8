//! Reads of short ranges by the snapshot, without a cursor.

use super::handle::Txn;
use super::trees::Tree;
use crate::Result;
use crate::btree::RangeEntry;
use crate::counts::{self, Count};
use std::ops::Range;

/// Records that were read together.
#[derive(Default)]
pub struct ShortRanges {
    bytes: Vec<u8>,
    entries: Vec<RangeEntry>,
}

impl ShortRanges {
    /// How many records there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of all keys and values.
    pub fn held(&self) -> usize {
        self.bytes.len()
    }

    /// The key of record `i`.
    pub fn key(&self, i: usize) -> &[u8] {
        self.part(&self.entries[i].key)
    }

    /// The value of record `i`.
    pub fn value(&self, i: usize) -> &[u8] {
        self.part(&self.entries[i].payload)
    }

    fn part(&self, part: &Range<usize>) -> &[u8] {
        &self.bytes[part.clone()]
    }

    /// Forgets all records but the first.
    pub fn truncate(&mut self, records: usize) {
        self.entries.truncate(records);
        let end = self.entries.last().map_or(0, |entry| entry.payload.end);
        self.bytes.truncate(end);
    }

    /// Forgets all records and keeps their memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }
}

impl Txn {
    /// Adds the records from key `start` to before key `end`, as the snapshot shows them. False,
    /// with nothing added, where a cursor must read them: they are many or in several leaves, or
    /// some of them need an older version or more than their leaf.
    pub fn get_range(
        &mut self,
        tree: &Tree,
        keys: (&[u8], &[u8]),
        out: &mut ShortRanges,
    ) -> Result<bool> {
        let snapshot = self.view_of(tree)?;
        let (first, bytes) = (out.entries.len(), out.bytes.len());
        let store = &self.core.store;
        if !tree.btree().get_range(store, keys, &mut out.bytes, &mut out.entries)? {
            return Ok(false);
        }
        let newest = |entry: &RangeEntry| match snapshot {
            None => true,
            Some(snapshot) => snapshot.sees(entry.header.txn_id(), self.own, &self.core.status),
        };
        if !out.entries[first..].iter().all(newest) {
            out.entries.truncate(first);
            out.bytes.truncate(bytes);
            return Ok(false);
        }
        let mut at = 0..;
        counts::add(Count::Seeks, 1);
        counts::add(Count::Next, (out.entries.len() - first) as u64);
        out.entries.retain(|entry| at.next() < Some(first) || !entry.header.is_deleted());
        Ok(true)
    }
}
