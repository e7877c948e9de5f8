//! Range scans: a cursor stands on a copy of one leaf and goes from leaf to leaf.
//!
//! | cursor | shows | locks |
//! |---|---|---|
//! | [`SnapshotCursor`] | the versions that the transaction's snapshot sees | nothing |
//! | [`LockingCursor`] | the newest versions | records and gaps, as MySQL 8.0 does |
//!
//! Both are built on a [`RangePosition`], which knows the range and the leaf. A cursor owns its
//! copy of the leaf and holds no latch, so it may be kept while its transaction writes to the same
//! tree.

mod known;
mod locking;
mod run;
mod snapshot;

pub use locking::LockingCursor;
pub use run::{LeafRun, Run};
pub use snapshot::SnapshotCursor;

use super::gap_neighbours::GapNeighbours;
use super::handle::Txn;
use super::shared::EngineShared;
use super::trees::Tree;
use crate::Result;
use crate::btree::{KnownLeaves, Seek};
use crate::counts::{self, Count};
use crate::request::{Direction, KeyBound, LockRequest, ReadMode, RecordRef};
use inia_base::warm::WarmPool;
use std::sync::Arc;

/// A range's end; its key is in the cursor's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Unbounded,
    Included,
    Excluded,
}

/// The memory of a cursor, handed on from one to the next on its processor.
pub(super) struct CursorMemory {
    pub(super) gap: GapNeighbours,
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
    fn new() -> CursorMemory {
        CursorMemory {
            gap: GapNeighbours::new(),
            key: Vec::new(),
            value: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
            last: Vec::new(),
            waited: Vec::new(),
        }
    }
}

/// How far a scan has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// No leaf is loaded yet.
    Start,
    /// On a leaf.
    Leaf,
    /// The range is exhausted.
    End,
}

/// A range of a tree, and the leaf in it that a scan stands on.
pub(super) struct RangePosition {
    pub(super) tree: Tree,
    pub(super) core: Arc<EngineShared>,
    /// There until the position is dropped.
    memory: Option<Box<CursorMemory>>,
    pub(super) lower: Bound,
    pub(super) upper: Bound,
    pub(super) direction: Direction,
    pub(super) stage: Stage,
    /// Records `from..to` of the leaf are in the range and not passed yet.
    pub(super) from: usize,
    pub(super) to: usize,
    /// A scan of the whole tree counts as one of an index.
    ordered: bool,
    /// Records were counted.
    counted: bool,
}

impl RangePosition {
    #[inline]
    pub(super) fn memory(&self) -> &CursorMemory {
        self.memory.as_ref().expect("a cursor has its memory until dropped")
    }

    #[inline]
    pub(super) fn memory_mut(&mut self) -> &mut CursorMemory {
        self.memory.as_mut().expect("a cursor has its memory until dropped")
    }

    /// The record whose key and value were put into the cursor's memory.
    fn record_in_memory(&self) -> RecordRef<'_> {
        let memory = self.memory();
        RecordRef { key: &memory.key, value: &memory.value }
    }

    /// Loads the leaf in which the range begins and stands before its first record.
    fn seek_start(&mut self) -> Result<()> {
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
        let leaf = &mut memory.gap.leaf;
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
        let count = match (bound, self.direction) {
            (Bound::Unbounded, Direction::Forward) => Count::First,
            (Bound::Unbounded, Direction::Backward) => Count::Last,
            _ => Count::Seeks,
        };
        counts::add(count, 1);
        Ok(())
    }

    /// Counts records that the scan has come to: those of a leaf at once, and those are taken
    /// back that it does not reach.
    #[inline]
    pub(super) fn count_records(&mut self, records: u64) {
        self.counted |= records > 0;
        let count = match self.direction {
            Direction::Backward => Count::Prev,
            Direction::Forward if self.is_table_scan() => Count::Scanned,
            Direction::Forward => Count::Next,
        };
        counts::add(count, records);
    }

    /// Whether all rows of a table are read in no order that matters.
    fn is_table_scan(&self) -> bool {
        let whole = self.lower == Bound::Unbounded && self.upper == Bound::Unbounded;
        whole && !self.ordered && self.direction == Direction::Forward
    }

    /// Counts how the scan ended: whether it came to the end of what it reads.
    #[inline]
    fn count_end(&self) {
        match (self.is_table_scan(), self.stage, self.direction) {
            (true, Stage::End, _) => counts::add(Count::Ends, 1),
            (false, Stage::Leaf, Direction::Forward) if self.counted => {
                counts::add(Count::StoppedNext, 1);
            }
            (false, Stage::Leaf, Direction::Backward) if self.counted => {
                counts::add(Count::StoppedPrev, 1);
            }
            _ => {}
        }
    }
}

impl Drop for RangePosition {
    fn drop(&mut self) {
        self.count_end();
        if let Some(mut memory) = self.memory.take() {
            if memory.value.capacity() > LARGE_VALUE {
                memory.value = Vec::new();
            }
            WARM_MEMORY.put(memory);
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

/// A range scan of either kind.
pub enum Cursor {
    /// A consistent read.
    Snapshot(SnapshotCursor),
    /// A current read that locks.
    Locking(LockingCursor),
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
        match mode {
            ReadMode::Snapshot => {
                Cursor::Snapshot(self.snapshot_cursor(tree, lower, upper, direction))
            }
            ReadMode::Lock(request) => {
                Cursor::Locking(self.locking_cursor(tree, lower, upper, direction, request))
            }
        }
    }

    /// A cursor of a consistent read.
    pub fn snapshot_cursor(
        &mut self,
        tree: &Tree,
        lower: KeyBound<'_>,
        upper: KeyBound<'_>,
        direction: Direction,
    ) -> SnapshotCursor {
        SnapshotCursor::new(self.range_position(tree, lower, upper, direction))
    }

    /// A cursor of a current read that locks.
    pub fn locking_cursor(
        &mut self,
        tree: &Tree,
        lower: KeyBound<'_>,
        upper: KeyBound<'_>,
        direction: Direction,
        request: LockRequest,
    ) -> LockingCursor {
        LockingCursor::new(self.range_position(tree, lower, upper, direction), request)
    }

    fn range_position(
        &self,
        tree: &Tree,
        lower: KeyBound<'_>,
        upper: KeyBound<'_>,
        direction: Direction,
    ) -> RangePosition {
        let mut memory = WARM_MEMORY.take().unwrap_or_else(|| Box::new(CursorMemory::new()));
        let lower = copy_bound(lower, &mut memory.lower);
        let upper = copy_bound(upper, &mut memory.upper);
        RangePosition {
            tree: tree.clone(),
            core: Arc::clone(&self.core),
            memory: Some(memory),
            lower,
            upper,
            direction,
            stage: Stage::Start,
            from: 0,
            to: 0,
            ordered: false,
            counted: false,
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
        match self {
            Cursor::Snapshot(cursor) => cursor.advance(txn),
            Cursor::Locking(cursor) => cursor.advance(txn),
        }
    }

    /// The record that the last move went to; only after a move that returned one.
    #[inline]
    pub fn current(&self) -> Option<RecordRef<'_>> {
        match self {
            Cursor::Snapshot(cursor) => cursor.current(),
            Cursor::Locking(cursor) => Some(cursor.current()),
        }
    }

    /// Records that a consistent read shows as they are ([`SnapshotCursor::run`]).
    #[inline]
    pub fn run<'c>(&'c mut self, txn: &mut Txn) -> Result<Option<Run<'c>>> {
        match self {
            Cursor::Snapshot(cursor) => cursor.run(txn),
            Cursor::Locking(_) => Ok(None),
        }
    }

    /// As [`Cursor::run`], without the rows of leaves that the caller knows
    /// ([`SnapshotCursor::run_unknown`]).
    #[inline]
    pub fn run_unknown<'c>(
        &'c mut self,
        txn: &mut Txn,
        known: &mut dyn KnownLeaves,
    ) -> Result<Option<LeafRun<'c>>> {
        match self {
            Cursor::Snapshot(cursor) => cursor.run_unknown(txn, known),
            Cursor::Locking(_) => Ok(None),
        }
    }

    /// Has a scan of a whole tree count as one of an index: its order matters.
    #[inline]
    pub fn count_as_ordered(&mut self) {
        match self {
            Cursor::Snapshot(cursor) => cursor.range.ordered = true,
            Cursor::Locking(cursor) => cursor.range.ordered = true,
        }
    }

    /// Takes back the count of the last records of a run, to which its reader did not come.
    pub fn uncount(&mut self, records: u64) {
        let range = match self {
            Cursor::Snapshot(cursor) => &mut cursor.range,
            Cursor::Locking(cursor) => &mut cursor.range,
        };
        range.count_records(records.wrapping_neg());
    }

    /// The cursor that locks, if it is such a one.
    #[inline]
    pub fn locking(&mut self) -> Option<&mut LockingCursor> {
        match self {
            Cursor::Snapshot(_) => None,
            Cursor::Locking(cursor) => Some(cursor),
        }
    }
}
