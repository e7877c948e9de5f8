//! Sorted runs and their merge.
//!
//! A reader of a run holds a block of it, so only as many runs are merged at a time as the budget
//! has room for. Runs have a level, 0 as they are written; when there are as many of the last level
//! as can be merged they become one run of the next level. The runs of a level share a file, which
//! goes when they are merged, so there are never more files than levels:
//!
//! ```text
//!   room for 3 readers     0 0 0 -> 1     1 0 0 0 -> 1 1     1 1 0 0 0 -> 1 1 1 -> 2 ...
//! ```
//!
//! Levels fall from the oldest run to the newest, and only neighbours are merged: records of equal
//! keys keep the order in which they came.

use super::stream::Scratch;
use super::{Grant, Purpose, Result, Stream, StreamReader, Workspace, keyed, split_keyed};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A reader of a run holds about so many bytes.
const READER: usize = 64 << 10;
/// So many runs are merged at once however little memory there is.
const MIN_FAN_IN: usize = 4;

/// The runs of one sorter.
pub(crate) struct Runs<'w> {
    workspace: Workspace<'w>,
    purpose: Purpose,
    /// Oldest first, with their levels.
    runs: Vec<(u32, Stream<'w>)>,
    /// The file of each level's runs.
    files: Vec<Arc<Scratch<'w>>>,
    /// The readers' memory.
    memory: Grant<'w>,
    /// How many runs are merged at once, decided with the first run.
    most: Option<usize>,
}

impl<'w> Runs<'w> {
    pub(crate) fn new(workspace: Workspace<'w>, purpose: Purpose) -> Runs<'w> {
        let memory = Grant::new(workspace);
        Runs { workspace, purpose, runs: Vec::new(), files: Vec::new(), memory, most: None }
    }

    /// Whether no run was written.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Appends a run.
    pub(crate) fn write<'r>(
        &mut self,
        sorted: impl Iterator<Item = (&'r [u8], &'r [u8])>,
    ) -> Result<()> {
        let mut run = Stream::within(self.file(0));
        for (key, row) in sorted {
            put(&mut run, key, row)?;
        }
        run.rest()?;
        self.runs.push((0, run));
        while let Some(&(level, _)) = self.runs.last() {
            let same = self.runs.iter().rev().take_while(|(other, _)| *other == level).count();
            if same < self.most() {
                break;
            }
            self.merge_last(same, level + 1)?;
            self.files[level as usize] = Scratch::new(self.workspace, self.purpose);
        }
        let falls = self.runs.is_sorted_by(|a, b| a.0 >= b.0);
        debug_assert!(falls, "levels fall to the newest run");
        Ok(())
    }

    /// Merges all runs; rows of equal keys come in the order of their runs. `visit` gets keys and
    /// rows, and says whether it wants more.
    pub(crate) fn merge(
        mut self,
        distinct: bool,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<bool>,
    ) -> Result<()> {
        let mut last: Option<Vec<u8>> = None;
        self.settle()?;
        merge(&self.streams(), |key, row| {
            if distinct {
                if last.as_deref() == Some(key) {
                    return Ok(true);
                }
                last = Some(key.to_vec());
            }
            visit(key, row)
        })
    }

    /// Merges runs until all that are left can be merged at once: [`Runs::streams`].
    pub(crate) fn settle(&mut self) -> Result<()> {
        while self.runs.len() > self.most() {
            let extra = self.runs.len() - self.most();
            let (level, _) = self.runs[self.runs.len() - 1];
            let count = (extra + 1).min(self.most());
            self.merge_last(count, level + 1)?;
        }
        Ok(())
    }

    /// The runs, oldest first.
    pub(crate) fn streams(&self) -> Vec<&Stream<'w>> {
        self.runs.iter().map(|(_, run)| run).collect()
    }

    /// How many runs are merged at once: half as many while there is no memory for their readers.
    fn most(&mut self) -> usize {
        if let Some(most) = self.most {
            return most;
        }
        let mut most = (self.workspace.budget / READER).max(MIN_FAN_IN);
        while most > MIN_FAN_IN && !self.memory.allows(most * READER) {
            most = (most / 2).max(MIN_FAN_IN);
        }
        *self.most.insert(most)
    }

    fn file(&mut self, level: u32) -> &Arc<Scratch<'w>> {
        let (workspace, purpose) = (self.workspace, self.purpose);
        while self.files.len() <= level as usize {
            self.files.push(Scratch::new(workspace, purpose));
        }
        &self.files[level as usize]
    }

    /// Makes one run of the last `count`.
    fn merge_last(&mut self, count: usize, level: u32) -> Result<()> {
        let mut all = Stream::within(self.file(level));
        debug_assert!(count <= self.runs.len(), "runs are merged that there are");
        let old = self.runs.split_off(self.runs.len() - count);
        let streams: Vec<&Stream<'_>> = old.iter().map(|(_, run)| run).collect();
        merge(&streams, |key, row| put(&mut all, key, row).map(|()| true))?;
        all.rest()?;
        let records = streams.iter().map(|stream| stream.records()).sum::<u64>();
        debug_assert_eq!(all.records(), records, "a merge keeps all records");
        self.runs.push((level, all));
        Ok(())
    }
}

fn put(run: &mut Stream<'_>, key: &[u8], row: &[u8]) -> Result<()> {
    run.push(|out| {
        keyed(key, out);
        out.extend_from_slice(row);
    })?;
    Ok(())
}

/// Merges sorted streams of keyed records; equal keys come in the order of the streams. `visit`
/// says whether it wants more.
pub(crate) fn merge(
    streams: &[&Stream<'_>],
    mut visit: impl FnMut(&[u8], &[u8]) -> Result<bool>,
) -> Result<()> {
    let mut merge = Merge::new(streams)?;
    while let Some((key, row)) = merge.next()? {
        if !visit(key, row)? {
            break;
        }
    }
    Ok(())
}

/// A merge under way.
pub(crate) struct Merge<'r, 'w> {
    readers: Vec<StreamReader<'r, 'w>>,
    heap: BinaryHeap<Reverse<(Vec<u8>, usize, Vec<u8>)>>,
    /// The record that was given last.
    current: Option<(Vec<u8>, usize, Vec<u8>)>,
}

impl<'r, 'w> Merge<'r, 'w> {
    pub(crate) fn new(streams: &[&'r Stream<'w>]) -> Result<Merge<'r, 'w>> {
        let mut readers: Vec<_> = streams.iter().map(|stream| stream.reader()).collect();
        let mut heap = BinaryHeap::with_capacity(readers.len());
        for (number, reader) in readers.iter_mut().enumerate() {
            if let Some(record) = reader.next()? {
                let (key, row) = split_keyed(record)?;
                heap.push(Reverse((key.to_vec(), number, row.to_vec())));
            }
        }
        Ok(Merge { readers, heap, current: None })
    }

    /// The next record's key and row.
    pub(crate) fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if let Some((mut key, number, mut row)) = self.current.take()
            && let Some(record) = self.readers[number].next()?
        {
            let (next_key, next_row) = split_keyed(record)?;
            key.clear();
            key.extend_from_slice(next_key);
            row.clear();
            row.extend_from_slice(next_row);
            self.heap.push(Reverse((key, number, row)));
        }
        self.current = self.heap.pop().map(|Reverse(record)| record);
        Ok(self.current.as_ref().map(|(key, _, row)| (&key[..], &row[..])))
    }
}
