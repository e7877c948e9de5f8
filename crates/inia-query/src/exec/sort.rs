//! ORDER BY: sorts rows by memory-comparable keys, all in one buffer; what does not fit goes to a
//! temporary file as sorted runs, which are merged at the end.
//!
//! A row is its key and a payload, appended to the buffer one after the other; an entry holds where
//! they are and the key's first eight bytes as a number, so that most comparisons touch no key.
//! With a LIMIT only the first rows are kept: whenever twice as many have gathered the rest is cut
//! off, and the last kept key becomes a threshold for rows to come. Ties keep the order of arrival,
//! or, of few rows, that in which MySQL gives them ([`ties`]).

use super::Result;
use crate::catalog::SMALL_TABLE;
use crate::spill::{Grant, Purpose, Runs, Workspace};
use std::cmp::Ordering;

mod size;
mod ties;

#[cfg(test)]
mod tests;

pub(crate) use ties::SortSize;

/// Where a row is in the buffer.
#[derive(Clone, Copy)]
struct Entry {
    /// First bytes of the key.
    prefix: u64,
    start: u32,
    key_len: u32,
    row_len: u32,
}

/// Collects rows and gives their payloads back in the order of their keys.
pub(crate) struct Sorter<'w> {
    /// Only so many of the first rows are asked for.
    needed: usize,
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    total: u64,
    /// When set, the key of the last row that can still come out.
    threshold: Option<Vec<u8>>,
    /// Set where few rows of equal keys come as MySQL gives them.
    ties: Option<SortSize>,
    runs: Option<Runs<'w>>,
    memory: Grant<'w>,
    workspace: Workspace<'w>,
}

/// Above this many needed rows nothing is cut off.
const MAX_KEPT_ROWS: usize = 1 << 16;

impl<'w> Sorter<'w> {
    /// A sorter of which only the first `needed` rows are read.
    pub(super) fn new(needed: usize, workspace: Workspace<'w>) -> Sorter<'w> {
        Sorter {
            needed,
            bytes: Vec::new(),
            entries: Vec::new(),
            total: 0,
            threshold: None,
            ties: None,
            runs: None,
            memory: Grant::new(workspace),
            workspace,
        }
    }

    /// A sorter that gives few rows of equal keys in MySQL's order, where `ties` is set.
    pub(crate) fn with_ties(
        needed: usize,
        ties: Option<SortSize>,
        workspace: Workspace<'w>,
    ) -> Sorter<'w> {
        Sorter { ties, ..Sorter::new(needed, workspace) }
    }

    /// Takes one row, whose parts the functions append.
    #[inline]
    pub(super) fn push(
        &mut self,
        key: impl FnOnce(&mut Vec<u8>) -> Result<()>,
        row: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        self.total += 1;
        let start = self.bytes.len();
        key(&mut self.bytes)?;
        let middle = self.bytes.len();
        if self.threshold.as_ref().is_some_and(|last| self.bytes[start..] >= last[..]) {
            self.bytes.truncate(start);
            return Ok(());
        }
        row(&mut self.bytes)?;
        let end = self.bytes.len();
        debug_assert!(u32::try_from(end).is_ok(), "a row in memory has a 32-bit position");
        self.entries.push(Entry {
            prefix: prefix(&self.bytes[start..middle]),
            start: start as u32,
            key_len: (middle - start) as u32,
            row_len: (end - middle) as u32,
        });
        if self.needed < MAX_KEPT_ROWS && self.entries.len() >= self.cut_at() {
            self.cut();
        }
        if !self.memory.allows(self.bytes.len() + size_of_val(&self.entries[..])) {
            self.spill()?;
        }
        Ok(())
    }

    /// Takes one row whose parts are ready.
    pub(crate) fn push_bytes(&mut self, key: &[u8], row: &[u8]) -> Result<()> {
        let append = |bytes: &[u8], out: &mut Vec<u8>| {
            out.extend_from_slice(bytes);
            Ok(())
        };
        self.push(|out| append(key, out), |out| append(row, out))
    }

    /// How many rows were pushed.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Gives the needed rows' payloads in order to `visit` until that wants no more; with
    /// `distinct` only the first row of each key.
    pub(crate) fn finish(
        self,
        distinct: bool,
        mut visit: impl FnMut(&[u8]) -> Result<bool>,
    ) -> Result<()> {
        self.finish_keyed(distinct, |_, row| visit(row))
    }

    /// As [`Sorter::finish`], with the keys.
    pub(super) fn finish_keyed(
        mut self,
        distinct: bool,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<bool>,
    ) -> Result<()> {
        if self.runs.is_some() {
            self.spill()?;
        }
        if let Some(runs) = self.runs {
            return runs.merge(distinct, visit);
        }
        debug_assert!(self.entries.len() as u64 <= self.total, "rows come out that were pushed");
        self.sort();
        if let Some(size) = self.ties.filter(|_| self.total < SMALL_TABLE) {
            self.order_ties(size);
        }
        let mut last: Option<Entry> = None;
        for entry in &self.entries {
            self.workspace.check()?;
            if distinct && last.is_some_and(|last| self.key(&last) == self.key(entry)) {
                continue;
            }
            last = Some(*entry);
            if !visit(self.key(entry), self.row(entry))? {
                break;
            }
        }
        Ok(())
    }

    fn key(&self, entry: &Entry) -> &[u8] {
        let start = entry.start as usize;
        &self.bytes[start..start + entry.key_len as usize]
    }

    fn row(&self, entry: &Entry) -> &[u8] {
        let start = entry.start as usize + entry.key_len as usize;
        &self.bytes[start..start + entry.row_len as usize]
    }

    fn sort(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable_by(|a, b| {
            a.prefix.cmp(&b.prefix).then_with(|| match self.key(a).cmp(self.key(b)) {
                Ordering::Equal => a.start.cmp(&b.start),
                decided => decided,
            })
        });
        self.entries = entries;
    }

    /// At how many rows those are dropped that cannot be among the first ones. MySQL's order of
    /// ties needs all of a few rows.
    fn cut_at(&self) -> usize {
        let least = if self.ties.is_some() { SMALL_TABLE as usize / 2 } else { 64 };
        2 * self.needed.max(least)
    }

    /// Gives sorted rows of equal keys the order that MySQL gives them.
    fn order_ties(&mut self, size: SortSize) {
        let asked = self.entries.len().min(self.needed.saturating_add(1));
        let equal = |pair: &[Entry]| {
            pair[0].prefix == pair[1].prefix && self.key(&pair[0]) == self.key(&pair[1])
        };
        if !self.entries[..asked].windows(2).any(equal) {
            return;
        }
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable_by_key(|entry| entry.start);
        let less = |a: u32, b: u32| {
            let (a, b) = (&entries[a as usize], &entries[b as usize]);
            a.prefix < b.prefix || (a.prefix == b.prefix && self.key(a) < self.key(b))
        };
        let order = ties::in_order(entries.len(), self.needed, size, &less);
        self.entries = order.into_iter().map(|at| entries[at as usize]).collect();
    }

    /// Drops what cannot be among the first rows.
    fn cut(&mut self) {
        self.sort();
        debug_assert!(self.entries.len() >= self.needed, "no row that is needed is dropped");
        self.entries.truncate(self.needed);
        let last = self.entries.last().map(|entry| self.key(entry).to_vec());
        self.threshold = Some(last.unwrap_or_default());
        let mut kept = Vec::with_capacity(self.bytes.len() / 2);
        debug_assert!(self.entries.is_sorted_by_key(|entry| entry.prefix), "kept rows are sorted");
        for entry in &mut self.entries {
            let start = entry.start as usize;
            let length = (entry.key_len + entry.row_len) as usize;
            entry.start = kept.len() as u32;
            kept.extend_from_slice(&self.bytes[start..start + length]);
        }
        self.bytes = kept;
    }

    /// Writes what is in memory as a run.
    fn spill(&mut self) -> Result<()> {
        self.sort();
        let mut runs = self.runs.take().unwrap_or_else(|| Runs::new(self.workspace, Purpose::File));
        let sorted = self.entries.iter().map(|entry| (self.key(entry), self.row(entry)));
        let written = runs.write(sorted);
        self.runs = Some(runs);
        written?;
        self.entries.clear();
        self.bytes.clear();
        Ok(())
    }
}

/// The first eight bytes as a number, missing ones as zero.
fn prefix(key: &[u8]) -> u64 {
    match key.first_chunk::<8>() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let mut padded = [0; 8];
            padded[..key.len()].copy_from_slice(key);
            u64::from_be_bytes(padded)
        }
    }
}
