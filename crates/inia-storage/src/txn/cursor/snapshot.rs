//! Scans by a snapshot.
//!
//! A scan takes the fast path on quiet leaves: when no record of the leaf was written by a
//! transaction at or above the low-water mark and none is marked as deleted, every record is
//! visible as it is. Otherwise each record is checked, and older versions are fetched from undo.
//!
//! A scan that was made narrow copies slots, fences and the beginnings of payloads of quiet leaves,
//! and nothing else. Record headers and keys of a narrow copy are therefore never read: quiet
//! leaves are shown without them on every path.
//!
//! A caller that keeps rows of its own may know leaves ([`super::known`]). Of such a leaf only the
//! header and the fences are copied.

use super::known::{ends_within, is_known};
use super::{Bound, RangePosition, Run, Stage};
use crate::Result;
use crate::btree::{KnownLeaves, LeafCopy, PayloadRef, Seek, Wanted};
use crate::error::StorageError;
use crate::request::{Direction, RecordRef};
use crate::txn::handle::Txn;
use crate::txn::snapshot::Snapshot;
use inia_base::ids::TxnId;
use std::sync::Arc;

/// Records of a scan's first run: few, as the caller may want only a few. Each later run may be
/// four times as long.
const FIRST_RUN: usize = 16;
pub(super) const MAX_RUN: usize = 4096;

/// Which versions a scan without locks shows.
#[derive(Clone, Copy)]
pub(super) enum View {
    Uncommitted,
    At(Snapshot),
}

/// A range scan by the transaction's snapshot.
pub struct SnapshotCursor {
    pub(super) range: RangePosition,
    pub(super) view: View,
    /// Every record of the leaf is visible as it is.
    pub(super) plain: bool,
    /// The record last returned stands in the cursor's memory, not in the leaf.
    in_memory: bool,
    /// How much of each value is asked for; no key is, where this is said.
    narrow: Option<usize>,
    /// How many records the next run may have.
    pub(super) reach: usize,
    /// How many leaves that the caller knows the last step to a leaf went past, with that leaf. It
    /// stands beside the flags: a larger cursor would be moved by calls.
    pub(super) passed: u32,
}

impl Drop for SnapshotCursor {
    /// Takes back the count of records that the scan did not come to.
    fn drop(&mut self) {
        let rest = self.range.to.saturating_sub(self.range.from);
        if rest > 0 && self.range.stage == Stage::Leaf {
            self.range.count_records((rest as u64).wrapping_neg());
        }
    }
}

/// Where a record's value was found.
enum Shown {
    Leaf,
    Memory,
    Nothing,
    Stale,
}

impl SnapshotCursor {
    pub(super) fn new(range: RangePosition) -> SnapshotCursor {
        SnapshotCursor {
            range,
            view: View::Uncommitted,
            plain: false,
            in_memory: false,
            narrow: None,
            reach: FIRST_RUN,
            passed: 0,
        }
    }

    /// Moves to the next record; false at the end of the range.
    #[inline]
    pub fn advance(&mut self, txn: &mut Txn) -> Result<bool> {
        if self.plain && self.range.from < self.range.to {
            let i = self.step();
            let memory = self.range.memory.as_mut().expect("a cursor has its memory until dropped");
            if matches!(memory.gap.leaf.payload(i), PayloadRef::Inline(_)) {
                if !memory.gap.leaf.is_narrow() {
                    memory.gap.leaf.key(i, &mut memory.key);
                }
                self.in_memory = false;
                return Ok(true);
            }
            self.unstep();
        }
        self.next_visible(txn)
    }

    /// Asks for no keys, and only for the first `bytes` of each value; those of some records may be
    /// given whole. Before the first move.
    pub fn narrow(&mut self, bytes: usize) {
        self.narrow = Some(bytes);
    }

    /// Moves over all records at hand that need no check, and gives them; `None` when the next
    /// record, if there is one, must be fetched by [`Cursor::advance`]. There is no current record
    /// afterwards.
    pub fn run<'c>(&'c mut self, txn: &mut Txn) -> Result<Option<Run<'c>>> {
        while self.range.from >= self.range.to {
            if !self.next_leaf(txn, None)? {
                return Ok(None);
            }
        }
        Ok(self.run_of_leaf())
    }

    /// The records at hand that need no check.
    pub(super) fn run_of_leaf(&mut self) -> Option<Run<'_>> {
        if !self.plain {
            return None;
        }
        let leaf = &self.range.memory().gap.leaf;
        let range = match self.range.direction {
            Direction::Forward => {
                let most = self.range.to.min(self.range.from + self.reach);
                let mut all = self.range.from..most;
                // Nothing else is copied narrowly.
                let end = if leaf.is_narrow() { None } else { all.find(|&i| !leaf.is_inline(i)) };
                self.range.from..end.unwrap_or(most)
            }
            Direction::Backward => {
                let least = self.range.from.max(self.range.to.saturating_sub(self.reach));
                let start = (least..self.range.to).rev().find(|&i| !leaf.is_inline(i));
                start.map_or(least, |i| i + 1)..self.range.to
            }
        };
        self.reach = (self.reach * 4).min(MAX_RUN);
        if range.is_empty() {
            return None;
        }
        match self.range.direction {
            Direction::Forward => self.range.from = range.end,
            Direction::Backward => self.range.to = range.start,
        }
        let leaf = &self.range.memory().gap.leaf;
        Some(Run::new(leaf, range, self.range.direction))
    }

    /// The record that the last move went to; only after a move that returned one.
    #[inline]
    pub fn current(&self) -> Option<RecordRef<'_>> {
        if self.in_memory {
            return Some(self.range.record_in_memory());
        }
        match self.range.direction {
            Direction::Forward => self.record_in_leaf(self.range.from.checked_sub(1)?),
            Direction::Backward => self.record_in_leaf(self.range.to),
        }
    }

    #[inline]
    fn step(&mut self) -> usize {
        match self.range.direction {
            Direction::Forward => {
                self.range.from += 1;
                self.range.from - 1
            }
            Direction::Backward => {
                self.range.to -= 1;
                self.range.to
            }
        }
    }

    fn unstep(&mut self) {
        match self.range.direction {
            Direction::Forward => self.range.from -= 1,
            Direction::Backward => self.range.to += 1,
        }
    }

    fn record_in_leaf(&self, i: usize) -> Option<RecordRef<'_>> {
        let memory = self.range.memory();
        match memory.gap.leaf.payload(i) {
            PayloadRef::Inline(value) => Some(RecordRef { key: &memory.key, value }),
            PayloadRef::Overflow(_) => None,
        }
    }

    fn next_visible(&mut self, txn: &mut Txn) -> Result<bool> {
        loop {
            if self.range.from >= self.range.to {
                if !self.next_leaf(txn, None)? {
                    return Ok(false);
                }
                continue;
            }
            let i = self.step();
            let shown = if self.plain { self.show_plain(i)? } else { self.show(i, txn.own)? };
            self.in_memory = matches!(shown, Shown::Memory);
            match shown {
                Shown::Leaf | Shown::Memory => return Ok(true),
                // Those of the leaf were counted when it was reached.
                Shown::Nothing => self.range.count_records(1_u64.wrapping_neg()),
                Shown::Stale => {
                    self.unstep();
                    self.reload()?;
                }
            }
        }
    }

    /// Finds the value of record `i` of a quiet leaf: its newest version is the one to show. Reads
    /// nothing that a narrow copy lacks.
    fn show_plain(&mut self, i: usize) -> Result<Shown> {
        let (core, tree) = (&self.range.core, &self.range.tree);
        let memory = self.range.memory.as_mut().expect("a cursor has its memory until dropped");
        let leaf = &memory.gap.leaf;
        if !leaf.is_narrow() {
            leaf.key(i, &mut memory.key);
        }
        if leaf.is_inline(i) {
            return Ok(Shown::Leaf);
        }
        let whole = tree.btree().payload_of(&core.store, leaf, i, &mut memory.value)?;
        Ok(if whole { Shown::Memory } else { Shown::Stale })
    }

    /// Finds the version of record `i` that the scan shows.
    fn show(&mut self, i: usize, own: TxnId) -> Result<Shown> {
        let (view, core, tree) = (self.view, &self.range.core, &self.range.tree);
        let memory = self.range.memory.as_mut().expect("a cursor has its memory until dropped");
        let leaf = &memory.gap.leaf;
        let header = leaf.header(i);
        leaf.key(i, &mut memory.key);
        let newest = match view {
            View::Uncommitted => true,
            View::At(snapshot) => snapshot.sees(header.txn_id(), own, &core.status),
        };
        if newest && header.is_deleted() {
            core.note_dead(tree, header.txn_id(), &memory.key);
            return Ok(Shown::Nothing);
        }
        if newest && matches!(leaf.payload(i), PayloadRef::Inline(_)) {
            return Ok(Shown::Leaf);
        }
        if newest {
            let whole = tree.btree().payload_of(&core.store, leaf, i, &mut memory.value)?;
            return Ok(if whole { Shown::Memory } else { Shown::Stale });
        }
        let View::At(snapshot) = view else { return Ok(Shown::Nothing) };
        if !tree.btree().payload_of(&core.store, leaf, i, &mut memory.value)? {
            return Ok(Shown::Stale);
        }
        let shown = core.resolve(snapshot, own, header, &mut memory.value)?;
        Ok(if shown { Shown::Memory } else { Shown::Nothing })
    }

    /// Loads the current leaf again, because a record's overflow pages are gone.
    fn reload(&mut self) -> Result<()> {
        let core = Arc::clone(&self.range.core);
        let tree = self.range.tree.clone();
        let memory = self.range.memory_mut();
        let (leaf, key) = (&mut memory.gap.leaf, &memory.key);
        tree.btree().load_leaf(&core.store, Seek::Covering(key), leaf)?;
        let found = leaf.lower_bound(key);
        match self.range.direction {
            Direction::Forward => self.range.from = found.unwrap_or_else(|i| i),
            Direction::Backward => self.range.to = found.map_or_else(|i| i, |i| i + 1),
        }
        self.enter_leaf();
        Ok(())
    }

    /// Goes to the next leaf that the range reaches into; false at its end.
    pub(super) fn next_leaf(
        &mut self,
        txn: &mut Txn,
        known: Option<&mut dyn KnownLeaves>,
    ) -> Result<bool> {
        if txn.owner.is_interrupted() {
            return Err(StorageError::Interrupted);
        }
        match self.range.stage {
            Stage::End => return Ok(false),
            Stage::Start => {
                self.view = txn.view_of(&self.range.tree)?.map_or(View::Uncommitted, View::At);
                self.range.seek_start()?;
                self.range.stage = Stage::Leaf;
            }
            Stage::Leaf => {
                if !self.follow(known)? {
                    self.range.stage = Stage::End;
                    self.plain = false;
                    return Ok(false);
                }
            }
        }
        self.enter_leaf();
        self.range.count_records(self.range.to.saturating_sub(self.range.from) as u64);
        Ok(true)
    }

    /// Loads the neighbouring leaf; false when the range does not reach it.
    fn follow(&mut self, known: Option<&mut dyn KnownLeaves>) -> Result<bool> {
        match self.range.direction {
            Direction::Forward => self.follow_upwards(known),
            Direction::Backward => self.follow_downwards(),
        }
    }

    fn follow_upwards(&mut self, mut known: Option<&mut dyn KnownLeaves>) -> Result<bool> {
        let upper = self.range.upper;
        let memory = self.range.memory_mut();
        let Some(fence) = memory.gap.leaf.upper_fence() else { return Ok(false) };
        let beyond = match upper {
            Bound::Unbounded => false,
            Bound::Included => fence > &memory.upper[..],
            Bound::Excluded => fence >= &memory.upper[..],
        };
        if beyond {
            return Ok(false);
        }
        // The fence is where the scan goes on when the next leaf must be looked up.
        memory.last.clear();
        memory.last.extend_from_slice(fence);
        if let Some(known) = &mut known
            && self.pass_known(&mut **known)?
        {
            return Ok(true);
        }
        let (core, tree) = (&self.range.core, &self.range.tree);
        let memory = self.range.memory.as_mut().expect("a cursor has its memory until dropped");
        let leaf = &mut memory.gap.leaf;
        let next = match (self.narrow, known) {
            (None, None) => tree.btree().next_leaf(&core.store, leaf)?,
            (narrow, known) => {
                let (view, end) = (self.view, &memory.upper);
                // A part is enough of a leaf that lies in the range as a whole and needs no older
                // versions.
                let wanted = |leaf: &LeafCopy| {
                    if !(ends_within(leaf, upper, end) && is_quiet(view, leaf)) {
                        return Wanted::Whole;
                    }
                    if known.is_some_and(|known| is_known(leaf, known)) {
                        return Wanted::Outline;
                    }
                    narrow.map_or(Wanted::Whole, Wanted::Starts)
                };
                tree.btree().next_leaf_in_part(&core.store, leaf, wanted)?
            }
        };
        let Some(from) = next else { return Ok(false) };
        self.range.from = from;
        Ok(true)
    }

    fn follow_downwards(&mut self) -> Result<bool> {
        let (core, tree) = (&self.range.core, &self.range.tree);
        let memory = self.range.memory.as_mut().expect("a cursor has its memory until dropped");
        let leaf = &mut memory.gap.leaf;
        let Some(fence) = leaf.lower_fence() else { return Ok(false) };
        if self.range.lower != Bound::Unbounded && fence <= &memory.lower[..] {
            return Ok(false);
        }
        // Leaves have no links to the left: the one below the fence is looked up.
        memory.last.clear();
        memory.last.extend_from_slice(fence);
        let Some(to) = tree.btree().previous_leaf(&core.store, leaf)? else { return Ok(false) };
        self.range.to = to;
        Ok(true)
    }

    /// Sets the far end of the range in a leaf just loaded, and whether it can be read plainly.
    fn enter_leaf(&mut self) {
        let memory = self.range.memory();
        let leaf = &memory.gap.leaf;
        match self.range.direction {
            Direction::Forward => {
                let to = match self.range.upper {
                    _ if leaf.is_narrow() => leaf.len(),
                    Bound::Unbounded => leaf.len(),
                    Bound::Included => {
                        leaf.lower_bound(&memory.upper).map_or_else(|i| i, |i| i + 1)
                    }
                    Bound::Excluded => leaf.lower_bound(&memory.upper).unwrap_or_else(|i| i),
                };
                self.range.to = to;
            }
            Direction::Backward => {
                let from = match self.range.lower {
                    Bound::Unbounded => 0,
                    Bound::Included => leaf.lower_bound(&memory.lower).unwrap_or_else(|i| i),
                    Bound::Excluded => {
                        leaf.lower_bound(&memory.lower).map_or_else(|i| i, |i| i + 1)
                    }
                };
                self.range.from = from;
            }
        }
        self.plain = is_quiet(self.view, &self.range.memory().gap.leaf);
    }
}

/// Whether every record of the leaf is visible as it is.
fn is_quiet(view: View, leaf: &LeafCopy) -> bool {
    let quiet = match view {
        View::Uncommitted => true,
        View::At(snapshot) => leaf.max_txn_id() < snapshot.low_water,
    };
    quiet && !leaf.has_delete_marks()
}
