//! Sorts an index's records in little memory, for a tree to be built from them.
//!
//! Records gather up to the budget, are sorted and written as a run ([`super::runs`]). Threads that
//! gather records themselves give sorted chunks ([`super::chunk`]), which go the same way.

use super::chunk::{ChunkMerge, RecordChunk};
use super::runs::Merge;
use super::{Grant, Purpose, Result, Runs, Workspace};
use std::iter::once;

/// Takes records in any order and gives them back in the order of their keys; equal keys in the
/// order of arrival, those of chunks in the order of their values.
pub struct RecordSorter<'w> {
    pending: RecordChunk,
    /// Sorted chunks, and their size.
    sorted: Vec<RecordChunk>,
    sorted_size: usize,
    runs: Runs<'w>,
    memory: Grant<'w>,
}

/// Records in the order of their keys, read once.
pub trait SortedRecords {
    /// The next record's key and value.
    fn next(&mut self) -> Result<Option<(&[u8], &[u8])>>;
}

impl SortedRecords for ChunkMerge<'_> {
    fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        Ok(Iterator::next(self))
    }
}

impl SortedRecords for Merge<'_, '_> {
    fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        Merge::next(self)
    }
}

impl<'w> RecordSorter<'w> {
    /// A sorter without records.
    pub fn new(workspace: Workspace<'w>) -> RecordSorter<'w> {
        let (pending, sorted) = (RecordChunk::default(), Vec::new());
        let runs = Runs::new(workspace, Purpose::Index);
        RecordSorter { pending, sorted, sorted_size: 0, runs, memory: Grant::new(workspace) }
    }

    /// Takes a record.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.pending.push(key, value);
        self.bound()
    }

    /// Takes a chunk that is sorted.
    pub fn push_sorted(&mut self, chunk: RecordChunk) -> Result<()> {
        self.sorted_size += chunk.size();
        self.sorted.push(chunk);
        self.bound()
    }

    /// Calls `take` with all records.
    pub fn finish<T>(
        mut self,
        take: impl FnOnce(&mut dyn SortedRecords) -> Result<T>,
    ) -> Result<T> {
        if self.runs.is_empty() {
            self.pending.sort();
            return take(&mut ChunkMerge::new(self.sorted.iter().chain(once(&self.pending))));
        }
        self.spill()?;
        self.pending = RecordChunk::default();
        self.runs.settle()?;
        take(&mut Merge::new(&self.runs.streams())?)
    }

    fn bound(&mut self) -> Result<()> {
        match self.memory.allows(self.sorted_size + self.pending.size()) {
            true => Ok(()),
            false => self.spill(),
        }
    }

    /// Writes what is in memory as a run.
    fn spill(&mut self) -> Result<()> {
        self.pending.sort();
        self.runs.write(ChunkMerge::new(self.sorted.iter().chain(once(&self.pending))))?;
        self.pending.clear();
        self.sorted.clear();
        self.sorted_size = 0;
        Ok(())
    }
}
