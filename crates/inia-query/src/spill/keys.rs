//! A set of keys that answers at once whether it has one.
//!
//! Keys are in a hash table up to the budget; then the table is written as a sorted stream, of
//! which the first key of each extent stays in memory. A lookup reads at most one extent of each
//! stream. Streams of about one size are merged into one when there are enough of them, so that a
//! key is written once for each power of their number, however many keys come.

use super::runs::merge;
use super::stream::split_record;
use super::{ENTRY, Grant, Purpose, Result, Stream, Workspace, damaged, keyed, split_keyed};
use std::cell::RefCell;
use std::collections::HashSet;

/// So many sorted streams of one size are merged.
const MERGED_RUNS: usize = 8;

/// A set of keys.
pub(crate) struct KeySet<'w> {
    workspace: Workspace<'w>,
    fresh: HashSet<Box<[u8]>>,
    used: usize,
    memory: Grant<'w>,
    runs: Vec<Run<'w>>,
}

/// Sorted keys.
struct Run<'w> {
    stream: Stream<'w>,
    /// How many merges are behind it.
    level: u32,
    /// The first key of each extent.
    firsts: Vec<Box<[u8]>>,
    /// The extent that was read last.
    loaded: RefCell<(usize, Vec<u8>)>,
}

impl<'w> KeySet<'w> {
    pub(crate) fn new(workspace: Workspace<'w>) -> KeySet<'w> {
        let memory = Grant::new(workspace);
        KeySet { workspace, fresh: HashSet::new(), used: 0, memory, runs: Vec::new() }
    }

    /// Whether the set has the key.
    pub(crate) fn contains(&self, key: &[u8]) -> Result<bool> {
        if self.fresh.contains(key) {
            return Ok(true);
        }
        for run in &self.runs {
            if run.contains(key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds a key; false where the set had it.
    pub(crate) fn insert(&mut self, key: &[u8]) -> Result<bool> {
        if self.contains(key)? {
            return Ok(false);
        }
        self.used += key.len() + ENTRY;
        self.fresh.insert(key.into());
        if !self.memory.allows(self.used) {
            self.spill()?;
        }
        Ok(true)
    }

    fn spill(&mut self) -> Result<()> {
        let mut keys: Vec<Box<[u8]>> = std::mem::take(&mut self.fresh).into_iter().collect();
        keys.sort_unstable();
        let mut run = Run::new(self.workspace, 0);
        keys.iter().try_for_each(|key| run.push(key))?;
        run.stream.rest()?;
        self.runs.push(run);
        self.used = 0;
        self.merge_equals()
    }

    /// Merges the newest streams while enough have one level. Older ones have higher levels.
    fn merge_equals(&mut self) -> Result<()> {
        while let Some(level) = self.runs.last().map(|run| run.level) {
            let first = self.runs.partition_point(|run| run.level > level);
            let equals = &self.runs[first..];
            if equals.len() < MERGED_RUNS {
                return Ok(());
            }
            let mut all = Run::new(self.workspace, level + 1);
            let streams: Vec<&Stream<'_>> = equals.iter().map(|run| &run.stream).collect();
            merge(&streams, |key, _| all.push(key).map(|()| true))?;
            all.stream.rest()?;
            self.runs.truncate(first);
            self.runs.push(all);
        }
        Ok(())
    }
}

impl<'w> Run<'w> {
    fn new(workspace: Workspace<'w>, level: u32) -> Run<'w> {
        let loaded = RefCell::new((usize::MAX, Vec::new()));
        Run { stream: Stream::new(workspace, Purpose::Table), level, firsts: Vec::new(), loaded }
    }

    fn push(&mut self, key: &[u8]) -> Result<()> {
        if self.stream.push(|out| keyed(key, out))? {
            self.firsts.push(key.into());
        }
        Ok(())
    }

    fn contains(&self, key: &[u8]) -> Result<bool> {
        let after = self.firsts.partition_point(|first| first[..] <= *key);
        let Some(extent) = after.checked_sub(1) else { return Ok(false) };
        let mut loaded = self.loaded.borrow_mut();
        if loaded.0 != extent {
            loaded.0 = usize::MAX;
            self.stream.load(extent, &mut loaded.1)?;
            loaded.0 = extent;
        }
        let mut left = &loaded.1[..];
        while !left.is_empty() {
            let (record, rest) = split_record(left).ok_or_else(damaged)?;
            let (found, _) = split_keyed(record)?;
            if found >= key {
                return Ok(found == key);
            }
            left = rest;
        }
        Ok(false)
    }
}
