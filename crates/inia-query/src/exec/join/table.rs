//! The hash table of a join: the right side's rows by their keys.
//!
//! Keys and values stand in one vector each. Rows are chained by the hash of their keys once all
//! are there, the last one first, as MySQL finds them:
//!
//! ```text
//!   buckets [ 2, -, 1 ]      rows 1 → 0, 2
//!   next    [ -, 0, - ]
//! ```

use crate::exec::hash::KeyHash;
use crate::spill::held;
use inia_base::value::Value;
use std::ops::Range;

/// No row.
const NONE: u32 = u32::MAX;

/// One row: where its key ends, its key's hash, and the next row of the bucket.
struct Entry {
    hash: u64,
    key_end: usize,
    next: u32,
}

/// Right rows by their key.
#[derive(Default)]
pub(super) struct JoinTable {
    hash: KeyHash,
    /// The first row of each bucket; empty while rows are being added.
    buckets: Vec<u32>,
    entries: Vec<Entry>,
    keys: Vec<u8>,
    values: Vec<Value>,
    /// Values of a row.
    width: usize,
    /// About how many bytes it takes.
    pub(super) used: usize,
}

impl JoinTable {
    /// An empty table of rows of so many values.
    pub(super) fn new(width: usize) -> JoinTable {
        JoinTable { width, ..JoinTable::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether it cannot number more rows.
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= NONE as usize - 1
    }

    /// Adds a row; all have the same number of values. Only before [`JoinTable::seal`].
    pub(super) fn add(&mut self, key: &[u8], values: impl Iterator<Item = Value>) {
        debug_assert!(self.buckets.is_empty(), "rows come before lookups");
        let start = self.values.len();
        self.values.extend(values);
        debug_assert_eq!(self.values.len() - start, self.width);
        self.keys.extend_from_slice(key);
        let hash = self.hash.of(key);
        self.entries.push(Entry { hash, key_end: self.keys.len(), next: NONE });
        let row = held(&self.values[start..]);
        self.used += key.len() + row + size_of::<Entry>() + 2 * size_of::<u32>();
    }

    /// Makes the rows ready to be looked up.
    pub(super) fn seal(&mut self) {
        if self.entries.is_empty() {
            return;
        }
        debug_assert!(self.buckets.is_empty(), "rows are made ready once");
        debug_assert!(self.entries.len() < NONE as usize, "a row's number is none that means none");
        debug_assert_eq!(self.values.len(), self.entries.len() * self.width);
        self.buckets = vec![NONE; (self.entries.len() * 2).next_power_of_two()];
        let mask = self.buckets.len() - 1;
        for (row, entry) in self.entries.iter_mut().enumerate() {
            let bucket = &mut self.buckets[entry.hash as usize & mask];
            entry.next = std::mem::replace(bucket, row as u32);
        }
    }

    fn key(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.entries[row - 1].key_end };
        &self.keys[start..self.entries[row].key_end]
    }

    fn row(&self, row: usize) -> Range<usize> {
        row * self.width..(row + 1) * self.width
    }

    /// The rows with a key, the last one first.
    pub(super) fn matches<'t>(&'t self, key: &'t [u8]) -> impl Iterator<Item = &'t [Value]> {
        let hash = if self.buckets.is_empty() { 0 } else { self.hash.of(key) };
        let mask = self.buckets.len().wrapping_sub(1);
        let mut next = self.buckets.get(hash as usize & mask).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            while next != NONE {
                let row = next as usize;
                let entry = &self.entries[row];
                next = entry.next;
                if entry.hash == hash && self.key(row) == key {
                    return Some(&self.values[self.row(row)]);
                }
            }
            None
        })
    }

    /// All rows with their keys.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&[u8], &[Value])> {
        (0..self.entries.len()).map(|row| (self.key(row), &self.values[self.row(row)]))
    }
}

#[cfg(test)]
mod tests;
