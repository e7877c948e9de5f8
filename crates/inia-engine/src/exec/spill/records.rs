//! Sorts an index's records in little memory, for a tree to be built from them.
//!
//! Records gather up to the budget, are sorted and written as a run. When there are as many runs of
//! a size as memory can merge, they become one run of the next size, in a file of its own, so that
//! the file of the smaller ones goes:
//!
//! ```text
//!   budget for 3 readers     1 1 1 -> 3     3 1 1 1 -> 3 3     3 3 3 -> 9 ...
//! ```

use super::runs::Merge;
use super::stream::Scratch;
use super::{Purpose, Result, Stream, Workspace, keyed};
use std::ops::Range;
use std::rc::Rc;

/// A reader of a run holds about so many bytes.
const READER: usize = 64 << 10;
/// So many runs are merged at once however little memory there is.
const FEWEST: usize = 4;

/// Where a record is in the buffer.
#[derive(Clone, Copy)]
struct Entry {
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

/// Takes records in any order and gives them back in the order of their keys; equal keys in the
/// order of arrival.
pub(crate) struct RecordSorter<'w> {
    workspace: Workspace<'w>,
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// Runs, oldest first, and how often each was merged.
    runs: Vec<(u32, Stream<'w>)>,
    /// The file of the runs that were not merged yet.
    scratch: Rc<Scratch<'w>>,
}

impl<'w> RecordSorter<'w> {
    pub(crate) fn new(workspace: Workspace<'w>) -> RecordSorter<'w> {
        let scratch = Scratch::new(workspace, Purpose::Index);
        let (bytes, entries, runs) = (Vec::new(), Vec::new(), Vec::new());
        RecordSorter { workspace, bytes, entries, runs, scratch }
    }

    /// Takes a record.
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let middle = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.entries.push(Entry { start, middle, end: self.bytes.len() });
        if self.bytes.len() + size_of_val(&self.entries[..]) > self.workspace.budget {
            self.spill()?;
        }
        Ok(())
    }

    /// Calls `take` with a function that gives one record after the other.
    pub(crate) fn finish<T>(
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
        let streams: Vec<&Stream<'_>> = self.runs.iter().map(|(_, run)| run).collect();
        let mut merge = Merge::new(&streams)?;
        take(&mut || Ok(merge.next()?.map(|(key, value)| (key.to_vec(), value.to_vec()))))
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let order = |a: &Entry, b: &Entry| {
            bytes[a.key()].cmp(&bytes[b.key()]).then_with(|| a.start.cmp(&b.start))
        };
        self.entries.sort_unstable_by(order);
    }

    /// Writes what is in memory as a run.
    fn spill(&mut self) -> Result<()> {
        self.sort();
        let mut run = Stream::within(&self.scratch);
        for entry in &self.entries {
            put(&mut run, &self.bytes[entry.key()], &self.bytes[entry.value()])?;
        }
        run.rest()?;
        self.bytes.clear();
        self.entries.clear();
        self.runs.push((0, run));
        self.merge_runs()
    }

    /// Merges the last runs where there are enough of their size.
    fn merge_runs(&mut self) -> Result<()> {
        let most = (self.workspace.budget / READER).max(FEWEST);
        while let Some(&(level, _)) = self.runs.last() {
            let same = self.runs.iter().rev().take_while(|(other, _)| *other == level).count();
            if same < most {
                break;
            }
            let old = self.runs.split_off(self.runs.len() - same);
            let streams: Vec<&Stream<'_>> = old.iter().map(|(_, run)| run).collect();
            let mut all = Stream::within(&Scratch::new(self.workspace, Purpose::Index));
            let mut merge = Merge::new(&streams)?;
            while let Some((key, value)) = merge.next()? {
                put(&mut all, key, value)?;
            }
            all.rest()?;
            self.runs.push((level + 1, all));
            if level == 0 {
                self.scratch = Scratch::new(self.workspace, Purpose::Index);
            }
        }
        Ok(())
    }
}

fn put(run: &mut Stream<'_>, key: &[u8], value: &[u8]) -> Result<()> {
    run.push(|out| {
        keyed(key, out);
        out.extend_from_slice(value);
    })?;
    Ok(())
}
