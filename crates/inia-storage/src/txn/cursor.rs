//! Range scans: a cursor stands on a copy of one leaf and goes from leaf to leaf.
//!
//! A snapshot scan takes the fast path on quiet leaves: when no record of the leaf was written by a
//! transaction at or above the low-water mark and none is marked as deleted, every record is
//! visible as it is. Otherwise each record is checked, and older versions are fetched from undo.

use super::handle::Txn;
use super::in_place::Spot;
use super::place::Place;
use super::shared::EngineShared;
use super::snapshot::Snapshot;
use super::trees::Tree;
use crate::Result;
use crate::btree::{LeafCopy, PayloadRef, Seek};
use crate::error::StorageError;
use crate::request::{Direction, KeyBound, ReadMode, RecordRef};
use crate::store::Store;
use inia_base::ids::TxnId;
use inia_base::warm::WarmPool;
use std::ops::Range;
use std::sync::Arc;

/// Records of a scan's first run: few, as it may be about a few only. Each run after it may be four
/// times as long.
const FIRST_RUN: usize = 16;
const LONGEST_RUN: usize = 4096;

/// A range's end with memory of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Unbounded,
    Included,
    Excluded,
}

/// The memory of a cursor, handed on from one to the next on its processor.
pub(crate) struct CursorMemory {
    pub(super) place: Place,
    pub(super) key: Vec<u8>,
    pub(super) value: Vec<u8>,
    pub(super) lower: Vec<u8>,
    pub(super) upper: Vec<u8>,
    /// The last record passed, or the fence to go on from.
    pub(super) last: Vec<u8>,
    /// The record that a locking scan waited for.
    pub(super) waited: Vec<u8>,
}

/// Memory that no cursor uses. A list keeps as much as a join of some tables needs at a time.
static WARM_MEMORY: WarmPool<Box<CursorMemory>> = WarmPool::new(32);
/// A cursor that has read a larger value gives the memory for that back.
const LARGE_VALUE: usize = 64 << 10;

impl CursorMemory {
    pub(crate) fn new() -> CursorMemory {
        CursorMemory {
            place: Place::new(),
            key: Vec::new(),
            value: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
            last: Vec::new(),
            waited: Vec::new(),
        }
    }
}

/// Where a snapshot scan stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// No leaf is loaded yet.
    Start,
    /// On a leaf.
    Leaf,
    /// The range is exhausted.
    End,
}

/// Which versions a scan without locks shows.
#[derive(Clone, Copy)]
enum View {
    Uncommitted,
    At(Snapshot),
}

/// A position in a range scan. It owns a copy of the leaf it is on, holds no latch, and may be
/// kept while its transaction writes to the same tree.
pub struct Cursor {
    pub(super) tree: Tree,
    core: Arc<EngineShared>,
    pub(super) memory: Option<Box<CursorMemory>>,
    pub(super) lower: Bound,
    pub(super) upper: Bound,
    pub(super) direction: Direction,
    mode: ReadMode,
    pub(super) stage: Stage,
    view: View,
    /// Every record of the leaf is visible as it is.
    plain: bool,
    /// Records `from..to` of the leaf are in the range and not passed yet.
    pub(super) from: usize,
    pub(super) to: usize,
    /// A locking scan has passed the record `last`.
    pub(super) passed: bool,
    /// A locking scan must look again behind the record it passed last.
    pub(super) astray: bool,
    /// The lock of the record last returned is this scan's, who had it at once. (While a record is
    /// looked for: the lock at hand is this scan's.)
    pub(super) fresh: bool,
    /// A locking scan leaves it to its user to lock the records it returns, or to change them.
    pub(super) defers: bool,
    /// The record last returned is not locked.
    pub(super) deferred: bool,
    /// A locking scan stops before a record that it cannot put off, once; and has done so.
    pub(super) pauses: bool,
    pub(super) paused: bool,
    /// The record last returned stands in the cursor's memory, not in the leaf.
    in_memory: bool,
    /// A locking scan locks the first record beyond its range, too, not just the gap before it.
    pub(super) locks_beyond: bool,
    /// A locking scan shows records that it would have to wait for as they were committed last.
    pub(super) looks_first: bool,
    /// The record last returned is such a one.
    pub(super) unlocked: bool,
    /// How much of each value is asked for; no key is, where this is said.
    narrow: Option<usize>,
    /// How many records the next run may have.
    reach: usize,
}

/// Where a record's value was found.
enum Shown {
    Leaf,
    Memory,
    Nothing,
    Stale,
}

impl Txn {
    /// Opens a cursor before the first record of the range (in the scan's direction).
    pub fn cursor(
        &mut self,
        tree: &Tree,
        lower: KeyBound<'_>,
        upper: KeyBound<'_>,
        direction: Direction,
        mode: ReadMode,
    ) -> Cursor {
        let mut memory = WARM_MEMORY.take().unwrap_or_else(|| Box::new(CursorMemory::new()));
        let lower = copy_bound(lower, &mut memory.lower);
        let upper = copy_bound(upper, &mut memory.upper);
        Cursor {
            tree: tree.clone(),
            core: Arc::clone(&self.core),
            memory: Some(memory),
            lower,
            upper,
            direction,
            mode,
            stage: Stage::Start,
            view: View::Uncommitted,
            plain: false,
            from: 0,
            to: 0,
            passed: false,
            astray: false,
            fresh: false,
            defers: false,
            deferred: false,
            pauses: false,
            paused: false,
            in_memory: false,
            locks_beyond: false,
            looks_first: false,
            unlocked: false,
            narrow: None,
            reach: FIRST_RUN,
        }
    }
}

fn copy_bound(bound: KeyBound<'_>, memory: &mut Vec<u8>) -> Bound {
    memory.clear();
    match bound {
        KeyBound::Unbounded => Bound::Unbounded,
        KeyBound::Included(key) => {
            memory.extend_from_slice(key);
            Bound::Included
        }
        KeyBound::Excluded(key) => {
            memory.extend_from_slice(key);
            Bound::Excluded
        }
    }
}

impl Cursor {
    /// Moves to the next record and returns it, or `None` at the end of the range.
    #[inline]
    pub fn next<'c>(&'c mut self, txn: &mut Txn) -> Result<Option<RecordRef<'c>>> {
        Ok(if self.advance(txn)? { self.current() } else { None })
    }

    /// Moves to the next record; false at the end of the range.
    #[inline]
    pub fn advance(&mut self, txn: &mut Txn) -> Result<bool> {
        if self.plain && self.from < self.to {
            let i = self.step();
            let memory = self.memory.as_mut().expect("a cursor has its memory until dropped");
            if matches!(memory.place.leaf.payload(i), PayloadRef::Inline(_)) {
                memory.place.leaf.key(i, &mut memory.key);
                self.in_memory = false;
                return Ok(true);
            }
            self.unstep();
        }
        match self.mode {
            ReadMode::Snapshot => self.next_visible(txn),
            ReadMode::Lock(request) => {
                self.in_memory = true;
                self.next_locked(txn, request)
            }
        }
    }

    /// Puts off the exclusive locks of records that are free: each is to be changed by
    /// [`Txn::write_current`], or locked by [`Txn::lock_current`], or given up, before the next
    /// move. Gaps are locked as ever.
    pub fn defer_locks(&mut self) {
        self.defers = true;
    }

    /// Makes the next move stop, as at the range's end, before a record whose lock cannot be put
    /// off: what was put off is to be done before anything is waited for.
    pub fn pause_before_locks(&mut self) {
        self.pauses = true;
    }

    /// Whether the last move has stopped before a record, to which the next one goes. It is asked
    /// once.
    pub fn take_pause(&mut self) -> bool {
        std::mem::take(&mut self.paused)
    }

    /// Where the record last returned is, if it is not locked.
    pub fn spot(&self) -> Option<Spot> {
        let leaf = &self.memory().place.leaf;
        let (page, state) = leaf.place().filter(|_| self.deferred)?;
        let slot = match self.direction {
            Direction::Forward => self.from.checked_sub(1)?,
            Direction::Backward => self.to,
        };
        Some(Spot { page, state, slot, header: leaf.header(slot) })
    }

    /// The record last returned was changed at its spot.
    pub(super) fn written(&mut self, spot: &Spot) {
        self.memory_mut().place.leaf.carry_over(spot.state);
    }

    /// The record last returned is locked now; whether it is as it was read.
    pub(super) fn locked(&mut self, fresh: bool, store: &Store) -> bool {
        self.deferred = false;
        self.fresh |= fresh;
        self.memory().place.leaf.is_current(store)
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
        if self.mode != ReadMode::Snapshot {
            return Ok(None);
        }
        while self.from >= self.to {
            if !self.next_leaf(txn)? {
                return Ok(None);
            }
        }
        if !self.plain {
            return Ok(None);
        }
        let leaf = &self.memory().place.leaf;
        let range = match self.direction {
            Direction::Forward => {
                let most = self.to.min(self.from + self.reach);
                let mut all = self.from..most;
                // Nothing else is copied narrowly.
                let end = if leaf.is_narrow() { None } else { all.find(|&i| !leaf.is_inline(i)) };
                self.from..end.unwrap_or(most)
            }
            Direction::Backward => {
                let least = self.from.max(self.to.saturating_sub(self.reach));
                let start = (least..self.to).rev().find(|&i| !leaf.is_inline(i));
                start.map_or(least, |i| i + 1)..self.to
            }
        };
        self.reach = (self.reach * 4).min(LONGEST_RUN);
        if range.is_empty() {
            return Ok(None);
        }
        match self.direction {
            Direction::Forward => self.from = range.end,
            Direction::Backward => self.to = range.start,
        }
        let leaf = &self.memory().place.leaf;
        Ok(Some(Run { leaf, range, direction: self.direction }))
    }

    /// Records of the leaf, for a scan in ascending order.
    pub(super) fn show_run(&self, range: Range<usize>) -> Run<'_> {
        Run { leaf: &self.memory().place.leaf, range, direction: Direction::Forward }
    }

    /// The record that the last move went to; only after a move that returned one.
    #[inline]
    pub fn current(&self) -> Option<RecordRef<'_>> {
        if self.in_memory {
            return self.record_in_memory();
        }
        match self.direction {
            Direction::Forward => self.record_in_leaf(self.from.checked_sub(1)?),
            Direction::Backward => self.record_in_leaf(self.to),
        }
    }

    /// Makes an ascending locking scan lock the first record beyond its range, as MySQL does with
    /// secondary indexes.
    pub fn lock_beyond(&mut self) {
        self.locks_beyond = true;
    }

    /// Makes a locking scan below REPEATABLE READ not wait: a record that another transaction has
    /// locked is returned as it was committed last, and [`Cursor::is_unlocked`].
    pub fn look_first(&mut self) {
        self.looks_first = true;
    }

    /// Whether the record last returned is not locked: [`Txn::lock_get`] waits for it.
    pub fn is_unlocked(&self) -> bool {
        self.unlocked
    }

    /// Releases the lock of the record last returned, whose row did not match, where the scan has
    /// taken it without a wait. At REPEATABLE READ and above it is kept: there a scan locks all
    /// that it passes.
    pub fn unlock_current(&mut self, txn: &mut Txn) {
        let ReadMode::Lock(request) = self.mode else { return };
        if !txn.locks_gaps() && std::mem::take(&mut self.fresh) {
            txn.unlock(&self.tree, &self.memory().key, request.mode);
        }
    }

    pub(super) fn memory(&self) -> &CursorMemory {
        self.memory.as_ref().expect("a cursor has its memory until dropped")
    }

    pub(super) fn memory_mut(&mut self) -> &mut CursorMemory {
        self.memory.as_mut().expect("a cursor has its memory until dropped")
    }

    #[inline]
    fn step(&mut self) -> usize {
        match self.direction {
            Direction::Forward => {
                self.from += 1;
                self.from - 1
            }
            Direction::Backward => {
                self.to -= 1;
                self.to
            }
        }
    }

    fn unstep(&mut self) {
        match self.direction {
            Direction::Forward => self.from -= 1,
            Direction::Backward => self.to += 1,
        }
    }

    fn record_in_leaf(&self, i: usize) -> Option<RecordRef<'_>> {
        let memory = self.memory();
        match memory.place.leaf.payload(i) {
            PayloadRef::Inline(value) => Some(RecordRef { key: &memory.key, value }),
            PayloadRef::Overflow(_) => None,
        }
    }

    fn record_in_memory(&self) -> Option<RecordRef<'_>> {
        let memory = self.memory();
        Some(RecordRef { key: &memory.key, value: &memory.value })
    }

    fn next_visible(&mut self, txn: &mut Txn) -> Result<bool> {
        loop {
            if self.from >= self.to {
                if !self.next_leaf(txn)? {
                    return Ok(false);
                }
                continue;
            }
            let i = self.step();
            let shown = self.show(i, txn.id)?;
            self.in_memory = matches!(shown, Shown::Memory);
            match shown {
                Shown::Leaf | Shown::Memory => return Ok(true),
                Shown::Nothing => {}
                Shown::Stale => {
                    self.unstep();
                    self.reload()?;
                }
            }
        }
    }

    /// Finds the version of record `i` that the scan shows.
    fn show(&mut self, i: usize, own: TxnId) -> Result<Shown> {
        let (view, core, tree) = (self.view, &self.core, &self.tree);
        let memory = self.memory.as_mut().expect("a cursor has its memory until dropped");
        let leaf = &memory.place.leaf;
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
        let core = Arc::clone(&self.core);
        let tree = self.tree.clone();
        let memory = self.memory_mut();
        let (leaf, key) = (&mut memory.place.leaf, &memory.key);
        tree.btree().load_leaf(&core.store, Seek::Covering(key), leaf)?;
        let found = leaf.lower_bound(key);
        match self.direction {
            Direction::Forward => self.from = found.unwrap_or_else(|i| i),
            Direction::Backward => self.to = found.map_or_else(|i| i, |i| i + 1),
        }
        self.enter_leaf();
        Ok(())
    }

    /// Goes to the next leaf that the range reaches into; false at its end.
    fn next_leaf(&mut self, txn: &mut Txn) -> Result<bool> {
        if txn.owner.is_interrupted() {
            return Err(StorageError::Interrupted);
        }
        match self.stage {
            Stage::End => return Ok(false),
            Stage::Start => {
                self.view = txn.view_of(&self.tree)?.map_or(View::Uncommitted, View::At);
                self.seek_start()?;
                self.stage = Stage::Leaf;
            }
            Stage::Leaf => {
                if !self.follow()? {
                    self.stage = Stage::End;
                    self.plain = false;
                    return Ok(false);
                }
            }
        }
        self.enter_leaf();
        Ok(true)
    }

    /// Loads the leaf in which the range begins and stands before its first record.
    pub(super) fn seek_start(&mut self) -> Result<()> {
        let (core, tree) = (&self.core, &self.tree);
        let memory = self.memory.as_mut().expect("a cursor has its memory until dropped");
        let (bound, key, open) = match self.direction {
            Direction::Forward => (self.lower, &memory.lower, Seek::First),
            Direction::Backward => (self.upper, &memory.upper, Seek::Last),
        };
        let seek = match (bound, self.direction) {
            (Bound::Unbounded, _) => open,
            (Bound::Excluded, Direction::Backward) => Seek::Before(key),
            _ => Seek::Covering(key),
        };
        let leaf = &mut memory.place.leaf;
        tree.btree().load_leaf(&core.store, seek, leaf)?;
        let at = match (bound, self.direction, leaf.lower_bound(key)) {
            (Bound::Unbounded, Direction::Forward, _) => 0,
            (Bound::Unbounded, Direction::Backward, _) => leaf.len(),
            (Bound::Excluded, Direction::Forward, Ok(i)) => i + 1,
            (Bound::Included, Direction::Backward, Ok(i)) => i + 1,
            (_, _, Ok(i) | Err(i)) => i,
        };
        match self.direction {
            Direction::Forward => self.from = at,
            Direction::Backward => self.to = at,
        }
        Ok(())
    }

    /// Loads the neighbouring leaf; false when the range does not reach it.
    fn follow(&mut self) -> Result<bool> {
        let (core, tree) = (&self.core, &self.tree);
        let memory = self.memory.as_mut().expect("a cursor has its memory until dropped");
        let leaf = &mut memory.place.leaf;
        match self.direction {
            Direction::Forward => {
                let Some(fence) = leaf.upper_fence() else { return Ok(false) };
                let beyond = match self.upper {
                    Bound::Unbounded => false,
                    Bound::Included => fence > &memory.upper[..],
                    Bound::Excluded => fence >= &memory.upper[..],
                };
                if beyond {
                    return Ok(false);
                }
                memory.last.clear();
                memory.last.extend_from_slice(fence);
                let next = match self.narrow {
                    None => tree.btree().next_leaf(&core.store, leaf)?,
                    Some(bytes) => {
                        let (view, upper, end) = (self.view, self.upper, &memory.upper);
                        let whole = |leaf: &LeafCopy| {
                            is_quiet(view, leaf)
                                && (upper == Bound::Unbounded
                                    || leaf.upper_fence().is_some_and(|fence| fence <= &end[..]))
                        };
                        tree.btree().next_leaf_narrow(&core.store, leaf, bytes, whole)?
                    }
                };
                let Some(from) = next else { return Ok(false) };
                self.from = from;
            }
            Direction::Backward => {
                let Some(fence) = leaf.lower_fence() else { return Ok(false) };
                if self.lower != Bound::Unbounded && fence <= &memory.lower[..] {
                    return Ok(false);
                }
                memory.last.clear();
                memory.last.extend_from_slice(fence);
                let Some(to) = tree.btree().previous_leaf(&core.store, leaf)? else {
                    return Ok(false);
                };
                self.to = to;
            }
        }
        Ok(true)
    }

    /// Sets the far end of the range in a leaf just loaded, and whether it can be read plainly.
    fn enter_leaf(&mut self) {
        let memory = self.memory();
        let leaf = &memory.place.leaf;
        match self.direction {
            Direction::Forward => {
                let to = match self.upper {
                    _ if leaf.is_narrow() => leaf.len(),
                    Bound::Unbounded => leaf.len(),
                    Bound::Included => {
                        leaf.lower_bound(&memory.upper).map_or_else(|i| i, |i| i + 1)
                    }
                    Bound::Excluded => leaf.lower_bound(&memory.upper).unwrap_or_else(|i| i),
                };
                self.to = to;
            }
            Direction::Backward => {
                let from = match self.lower {
                    Bound::Unbounded => 0,
                    Bound::Included => leaf.lower_bound(&memory.lower).unwrap_or_else(|i| i),
                    Bound::Excluded => {
                        leaf.lower_bound(&memory.lower).map_or_else(|i| i, |i| i + 1)
                    }
                };
                self.from = from;
            }
        }
        let quiet = is_quiet(self.view, &self.memory().place.leaf);
        self.plain = self.mode == ReadMode::Snapshot && quiet;
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

/// Neighbouring records of one leaf that a scan shows as they are, in the order of the scan.
pub struct Run<'c> {
    leaf: &'c LeafCopy,
    range: Range<usize>,
    direction: Direction,
}

impl<'c> Run<'c> {
    /// Number of records, at least one.
    #[expect(clippy::len_without_is_empty, reason = "a run is never empty")]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    fn number(&self, i: usize) -> usize {
        match self.direction {
            Direction::Forward => self.range.start + i,
            Direction::Backward => self.range.end - 1 - i,
        }
    }

    /// The bytes that all keys of the run begin with.
    pub fn key_prefix(&self) -> &'c [u8] {
        self.leaf.key_prefix()
    }

    /// What follows the prefix in record `i`'s key.
    #[inline]
    pub fn key_suffix(&self, i: usize) -> &'c [u8] {
        self.leaf.key_suffix(self.number(i))
    }

    /// Record `i`'s value.
    #[inline]
    pub fn value(&self, i: usize) -> &'c [u8] {
        self.leaf.inline_payload(self.number(i))
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        if let Some(mut memory) = self.memory.take() {
            if memory.value.capacity() > LARGE_VALUE {
                memory.value = Vec::new();
            }
            WARM_MEMORY.put(memory);
        }
    }
}
