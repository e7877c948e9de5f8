//! Records that wait to be written, several at a time.

use super::in_place::RecordLocator;
use crate::node::RecordHeader;

/// Longest record that shares its group of the log with others: longer ones may need pages of
/// their own.
pub(super) const SHORT: usize = 2048;

/// Records from which on they are sorted by bytes, not by comparisons.
const RADIX_SORT_THRESHOLD: usize = 256;

/// Records that wait to be written, or keys of records that wait to be deleted.
#[derive(Default)]
pub struct Records {
    bytes: Vec<u8>,
    spans: Vec<RecordSpan>,
    /// The versions that the records had when they were read; none, or one for each.
    seen: Vec<RecordHeader>,
}

/// Where a record begins, its key ends and its value ends.
#[derive(Clone, Copy)]
struct RecordSpan {
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

/// Sorts by the heads' bytes, from the last to the first, leaving out those that all share. What is
/// equal stays in its order.
fn sort_by_heads(spans: &mut Vec<RecordSpan>) {
    let Some(first) = spans.first().copied() else { return };
    let differing = spans.iter().fold(0, |bits, span| bits | span.head ^ first.head);
    let mut sorted = vec![first; spans.len()];
    for shift in (0..64).step_by(8).filter(|shift| differing >> shift & 0xff != 0) {
        let byte = |span: &RecordSpan| (span.head >> shift & 0xff) as usize;
        let mut next = [0; 256];
        for span in spans.iter() {
            next[byte(span)] += 1;
        }
        let mut before = 0;
        for next in &mut next {
            before += std::mem::replace(next, before);
        }
        for span in spans.iter() {
            let next = &mut next[byte(span)];
            sorted[*next] = *span;
            *next += 1;
        }
        std::mem::swap(spans, &mut sorted);
    }
}

impl Records {
    /// Number of records.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Bytes of all keys and values.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Forgets all, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
        self.seen.clear();
    }

    /// Adds a record.
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        let (key_end, end) = (start + key.len(), self.bytes.len());
        self.spans.push(RecordSpan { head: head_of(key), start, key_end, end });
    }

    /// Moves all records of `next`, none of which was read, behind these.
    pub fn append(&mut self, next: &mut Records) {
        debug_assert!(self.seen.is_empty() && next.seen.is_empty(), "no record was read");
        let before = self.bytes.len();
        self.bytes.append(&mut next.bytes);
        self.spans.extend(next.spans.drain(..).map(|span| RecordSpan {
            start: span.start + before,
            key_end: span.key_end + before,
            end: span.end + before,
            ..span
        }));
    }

    /// Adds the key, without a value, that `put` appends; none after an error.
    pub fn push_key<E>(
        &mut self,
        put: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = self.bytes.len();
        if let Err(error) = put(&mut self.bytes) {
            self.bytes.truncate(start);
            return Err(error);
        }
        let (head, end) = (head_of(&self.bytes[start..]), self.bytes.len());
        self.spans.push(RecordSpan { head, start, key_end: end, end });
        Ok(())
    }

    /// Adds a record that is there, and is to be changed only if it still is as it was read. Such
    /// records stay in their order, and all of them are such.
    pub fn push_seen(&mut self, key: &[u8], value: &[u8], locator: &RecordLocator) {
        self.push(key, value);
        self.seen.push(locator.header);
        debug_assert_eq!(self.seen.len(), self.spans.len(), "all records were read, or none");
    }

    /// Record `i`'s key.
    pub fn key(&self, i: usize) -> &[u8] {
        let span = &self.spans[i];
        &self.bytes[span.start..span.key_end]
    }

    /// Record `i`'s value.
    pub fn value(&self, i: usize) -> &[u8] {
        let span = &self.spans[i];
        &self.bytes[span.key_end..span.end]
    }

    /// The version in which record `i` was read.
    pub(super) fn seen(&self, i: usize) -> Option<RecordHeader> {
        self.seen.get(i).copied()
    }

    /// Puts the records in the order of their keys.
    pub fn sort(&mut self) {
        debug_assert!(self.seen.is_empty(), "records that were read stay in their order");
        let bytes = &self.bytes;
        let key = |span: &RecordSpan| (span.head, &bytes[span.start..span.key_end]);
        if self.spans.is_sorted_by(|a, b| key(a) <= key(b)) {
            return;
        }
        if self.spans.len() < RADIX_SORT_THRESHOLD {
            self.spans.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
            return;
        }
        sort_by_heads(&mut self.spans);
        for same in self.spans.chunk_by_mut(|a, b| a.head == b.head) {
            same.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        }
    }

    /// Takes the last records away, so many.
    pub fn drop_last(&mut self, count: usize) {
        self.spans.truncate(self.spans.len().saturating_sub(count));
    }

    /// Leaves out the records with these numbers, which ascend.
    pub fn leave_out(&mut self, numbers: &[usize]) {
        debug_assert!(self.seen.is_empty(), "records that were read stay together");
        let mut number = 0;
        self.spans.retain(|_| {
            number += 1;
            numbers.binary_search(&(number - 1)).is_err()
        });
    }

    pub(super) fn is_short(&self, i: usize) -> bool {
        self.spans[i].end - self.spans[i].start <= SHORT
    }
}
