//! Records that one thread has gathered and sorted in memory.
//!
//! A chunk keeps its records' bytes one behind the other, and sorts entries that point to them.
//! Chunks are plain data: one thread fills them, another merges them.

use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

/// Where a record is in the buffer.
#[derive(Clone, Copy)]
struct Entry {
    /// The key's first bytes as a number: most comparisons need no more.
    head: u128,
    start: usize,
    /// Neither a key nor a value is longer than 4 GiB.
    key_len: u32,
    value_len: u32,
}

impl Entry {
    fn key(self) -> Range<usize> {
        self.start..self.start + self.key_len as usize
    }

    fn value(self) -> Range<usize> {
        let start = self.key().end;
        start..start + self.value_len as usize
    }
}

fn head_of(key: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    let known = key.len().min(bytes.len());
    bytes[..known].copy_from_slice(&key[..known]);
    u128::from_be_bytes(bytes)
}

/// Records in memory, in the order of arrival until they are sorted.
#[derive(Default)]
pub struct RecordChunk {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

impl RecordChunk {
    /// Adds a record.
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        let [key_len, value_len] = [key, value].map(|part| part.len() as u32);
        self.entries.push(Entry { head: head_of(key), start, key_len, value_len });
    }

    /// Bytes that the records take in memory.
    pub fn size(&self) -> usize {
        self.bytes.len() + size_of_val(&self.entries[..])
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Puts the records in the order of their keys; equal keys stay in the order of arrival.
    pub fn sort(&mut self) {
        let bytes = &self.bytes;
        let order = |a: &Entry, b: &Entry| {
            let keys = || bytes[a.key()].cmp(&bytes[b.key()]);
            a.head.cmp(&b.head).then_with(keys).then_with(|| a.start.cmp(&b.start))
        };
        self.entries.sort_unstable_by(order);
    }

    /// Drops the records and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }

    fn record(&self, at: usize) -> Option<ChunkRecord<'_>> {
        let entry = self.entries.get(at)?;
        Some((entry.head, &self.bytes[entry.key()], &self.bytes[entry.value()]))
    }
}

/// A record: the first bytes of its key, the key, and the value.
type ChunkRecord<'c> = (u128, &'c [u8], &'c [u8]);

/// The first record of a chunk that was not given yet. The least is the greatest for the heap.
struct Candidate<'c> {
    record: ChunkRecord<'c>,
    chunk: usize,
    at: usize,
}

impl Candidate<'_> {
    fn place(&self) -> (&ChunkRecord<'_>, usize) {
        (&self.record, self.chunk)
    }
}

impl PartialEq for Candidate<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.place() == other.place()
    }
}

impl Eq for Candidate<'_> {}

impl PartialOrd for Candidate<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.place().cmp(&self.place())
    }
}

/// The records of sorted chunks in one order. Records of equal keys in different chunks come in
/// the order of their values.
pub(super) struct ChunkMerge<'c> {
    chunks: Vec<&'c RecordChunk>,
    heap: BinaryHeap<Candidate<'c>>,
}

impl<'c> ChunkMerge<'c> {
    pub(super) fn new(chunks: impl Iterator<Item = &'c RecordChunk>) -> ChunkMerge<'c> {
        let chunks: Vec<&RecordChunk> = chunks.collect();
        let first = |(chunk, records): (usize, &&'c RecordChunk)| {
            records.record(0).map(|record| Candidate { record, chunk, at: 0 })
        };
        let heap = chunks.iter().enumerate().filter_map(first).collect();
        ChunkMerge { chunks, heap }
    }
}

impl<'c> Iterator for ChunkMerge<'c> {
    type Item = (&'c [u8], &'c [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let mut least = self.heap.peek_mut()?;
        let (_, key, value) = least.record;
        match self.chunks[least.chunk].record(least.at + 1) {
            Some(record) => {
                least.record = record;
                least.at += 1;
            }
            None => {
                PeekMut::pop(least);
            }
        }
        Some((key, value))
    }
}
