//! Records that wait to be written, several at a time.

use super::in_place::Spot;
use crate::btree::RecordHeader;

/// Longest record that shares its group of the log with others: longer ones may need pages of
/// their own.
pub(super) const SHORT: usize = 2048;

/// Records that wait to be written, or keys of records that wait to be deleted.
#[derive(Default)]
pub struct Records {
    bytes: Vec<u8>,
    places: Vec<Place>,
    /// The versions that the records had when they were read; none, or one for each.
    seen: Vec<RecordHeader>,
}

/// Where a record begins, its key ends and its value ends.
#[derive(Clone, Copy)]
struct Place {
    /// The key's first bytes as a number: most comparisons need no more.
    head: u64,
    start: usize,
    key_end: usize,
    end: usize,
}

fn head_of(key: &[u8]) -> u64 {
    match key.first_chunk::<8>() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; 8];
            bytes[..key.len()].copy_from_slice(key);
            u64::from_be_bytes(bytes)
        }
    }
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
        self.seen.clear();
    }

    /// Adds a record.
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        let (key_end, end) = (start + key.len(), self.bytes.len());
        self.places.push(Place { head: head_of(key), start, key_end, end });
    }

    /// Adds a record that is there, and is to be changed only if it still is as it was read. Such
    /// records stay in their order, and all of them are such.
    pub fn push_seen(&mut self, key: &[u8], value: &[u8], spot: &Spot) {
        self.push(key, value);
        self.seen.push(spot.header);
    }

    /// Record `i`'s key.
    pub fn key(&self, i: usize) -> &[u8] {
        let place = &self.places[i];
        &self.bytes[place.start..place.key_end]
    }

    /// Record `i`'s value.
    pub fn value(&self, i: usize) -> &[u8] {
        let place = &self.places[i];
        &self.bytes[place.key_end..place.end]
    }

    /// The version in which record `i` was read.
    pub(super) fn seen(&self, i: usize) -> Option<RecordHeader> {
        self.seen.get(i).copied()
    }

    /// Puts the records in the order of their keys.
    pub fn sort(&mut self) {
        debug_assert!(self.seen.is_empty(), "records that were read stay in their order");
        let bytes = &self.bytes;
        let key = |place: &Place| (place.head, &bytes[place.start..place.key_end]);
        if !self.places.is_sorted_by(|a, b| key(a) <= key(b)) {
            self.places.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        }
    }

    /// Takes the last records away, so many.
    pub fn drop_last(&mut self, count: usize) {
        self.places.truncate(self.places.len().saturating_sub(count));
    }

    /// Leaves out the records with these numbers, which ascend.
    pub fn leave_out(&mut self, numbers: &[usize]) {
        debug_assert!(self.seen.is_empty(), "records that were read stay together");
        let mut number = 0;
        self.places.retain(|_| {
            number += 1;
            numbers.binary_search(&(number - 1)).is_err()
        });
    }

    pub(super) fn is_short(&self, i: usize) -> bool {
        self.places[i].end - self.places[i].start <= SHORT
    }
}
