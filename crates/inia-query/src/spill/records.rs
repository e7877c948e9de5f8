//! Sorts an index's records in little memory, for a tree to be built from them.
//!
//! Records gather up to the budget, are sorted and written as a run ([`super::runs`]).

use super::runs::Merge;
use super::{Grant, Purpose, Result, Runs, Workspace};
use std::ops::Range;

/// Where a record is in the buffer.
#[derive(Clone, Copy)]
struct Entry {
    /// The key's first bytes as a number: most comparisons need no more.
    head: u64,
    start: usize,
    middle: usize,
    end: usize,
}

impl Entry {
    fn key(self) -> Range<usize> {
        self.start..self.middle
    }

    fn value(self) -> Range<usize> {
        self.middle..self.end
    }
}

fn head_of(key: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let known = key.len().min(bytes.len());
    bytes[..known].copy_from_slice(&key[..known]);
    u64::from_be_bytes(bytes)
}

/// Takes records in any order and gives them back in the order of their keys; equal keys in the
/// order of arrival.
pub struct RecordSorter<'w> {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    runs: Runs<'w>,
    memory: Grant<'w>,
}

impl<'w> RecordSorter<'w> {
    /// A sorter without records.
    pub fn new(workspace: Workspace<'w>) -> RecordSorter<'w> {
        let runs = Runs::new(workspace, Purpose::Index);
        let memory = Grant::new(workspace);
        RecordSorter { bytes: Vec::new(), entries: Vec::new(), runs, memory }
    }

    /// Takes a record.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let middle = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.entries.push(Entry { head: head_of(key), start, middle, end: self.bytes.len() });
        if !self.memory.allows(self.bytes.len() + size_of_val(&self.entries[..])) {
            self.spill()?;
        }
        Ok(())
    }

    /// Calls `take` with a function that gives one record after the other.
    pub fn finish<T>(
        mut self,
        take: impl FnOnce(&mut dyn FnMut() -> Result<Option<(Vec<u8>, Vec<u8>)>>) -> Result<T>,
    ) -> Result<T> {
        if self.runs.is_empty() {
            self.sort();
            let mut entries = self.entries.iter();
            return take(&mut || {
                let copy = |entry: &Entry| {
                    (self.bytes[entry.key()].to_vec(), self.bytes[entry.value()].to_vec())
                };
                Ok(entries.next().map(copy))
            });
        }
        self.spill()?;
        (self.bytes, self.entries) = (Vec::new(), Vec::new());
        self.runs.settle()?;
        let mut merge = Merge::new(&self.runs.streams())?;
        take(&mut || Ok(merge.next()?.map(|(key, value)| (key.to_vec(), value.to_vec()))))
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let order = |a: &Entry, b: &Entry| {
            let keys = || bytes[a.key()].cmp(&bytes[b.key()]);
            a.head.cmp(&b.head).then_with(keys).then_with(|| a.start.cmp(&b.start))
        };
        self.entries.sort_unstable_by(order);
    }

    /// Writes what is in memory as a run.
    fn spill(&mut self) -> Result<()> {
        self.sort();
        let bytes = &self.bytes;
        let sorted = self.entries.iter().map(|entry| (&bytes[entry.key()], &bytes[entry.value()]));
        self.runs.write(sorted)?;
        self.bytes.clear();
        self.entries.clear();
        Ok(())
    }
}
