//! Locking scans: what they lock, record by record, as MySQL 8.0 does.
//!
//! With keys 10, 20, 30, 40, at REPEATABLE READ (`X` record locked, `(a,b]` gap locked):
//!
//! ```text
//!   ≥ 20              20X (20,30] 30X (30,40] 40X (40,∞]   first record equal to the bound: no gap
//!   > 20, < 25        (20,30]                               gap before the first record beyond
//!   20 … 30           20X (20,30] 30X                       stops at a record equal to the end
//!   ≥ 20 descending   (40,∞] 40X (30,40] 30X (20,30] 20X (10,20] 10X (-∞,10]
//!   ≤ 20 descending   (20,30] 20X (10,20] 10X (-∞,10]       begins with the gap after the start
//! ```
//!
//! A descending scan locks the first record beyond its range as if it belonged to it, and so does
//! an ascending one after [`LockingCursor::lock_beyond`]. At READ COMMITTED only the
//! records of the range are locked.
//!
//! A record that is not locked yet may be removed for good by purge while the scan waits or goes
//! from leaf to leaf. An ascending scan does not mind: its gaps begin at the record passed last. A
//! descending one keeps the low end of what it has locked in `gap.low`, and locks up to the
//! record passed last where the next record found is another:
//!
//! ```text
//!   10, 20 deleted, 30    (20,30] 30X, then 20 is purged: 10 is not 20, so (-∞,30] 10X
//! ```
//!
//! Each lock is taken from what a copied leaf says and confirmed afterwards; when the leaf has
//! moved on, the scan looks again behind the last record it has passed.

use super::{Bound, RangePosition, Run, Stage};
use crate::Result;
use crate::btree::Seek;
use crate::error::StorageError;
use crate::lock::Edge;
use crate::request::{Direction, LockRequest, RecordRef, WaitPolicy};
use crate::store::Store;
use crate::txn::handle::{Locked, Txn};
use crate::txn::in_place::RecordLocator;
use crate::txn::snapshot::Snapshot;
use crate::txn::trees::Tree;
use inia_base::ids::{Lsn, TxnId};
use std::ops::Range;

/// Rounds without a record to return after which a scan checks its leaf for damage.
const ROUNDS_THRESHOLD: usize = 1000;

/// What became of the record under consideration.
enum Verdict {
    /// It is locked, and its value is in the cursor's memory.
    Take,
    /// It is to be passed over.
    Pass,
    /// Something has changed: look again.
    Again,
    /// It must be locked, and something is to be done before.
    Pause,
}

/// What became of the lock of the record that a scan stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordLock {
    /// It stays until the transaction's end: it was held before, or waited for.
    Kept,
    /// The scan has taken it at once, and may release it.
    Fresh,
    /// The scan has waited for it, and is about to look at the record again.
    Waited,
    /// There is none: the record's user locks it, or changes it.
    Deferred,
    /// There is none: another transaction has it, and the record is shown as committed last.
    Unlocked,
}

/// What a locking scan does beside locking the records of its range one by one.
#[derive(Clone, Copy, Default)]
struct LockRules {
    /// It locks the first record beyond its range, too, not just the gap before it.
    beyond: bool,
    /// It shows records that it would have to wait for as they were committed last.
    semi_consistent: bool,
    /// It leaves it to its user to lock the records it returns, or to change them.
    defers: bool,
}

/// Whether a scan stops before a record whose lock it cannot defer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pause {
    Never,
    /// Before the next one.
    Next,
    /// It has stopped.
    Now,
}

/// A range scan that reads the newest versions and locks what it passes.
pub struct LockingCursor {
    pub(in crate::txn) range: RangePosition,
    request: LockRequest,
    rules: LockRules,
    pause: Pause,
    /// The lock of the record last returned, or looked at.
    lock: RecordLock,
    /// It has passed the record `last`.
    passed: bool,
    /// It must look again behind the record it passed last.
    astray: bool,
}

/// Settings, before the first move.
impl LockingCursor {
    pub(super) fn new(range: RangePosition, request: LockRequest) -> LockingCursor {
        LockingCursor {
            range,
            request,
            rules: LockRules::default(),
            pause: Pause::Never,
            lock: RecordLock::Kept,
            passed: false,
            astray: false,
        }
    }

    /// Defers the exclusive locks of records that are free: each is to be changed by
    /// [`Txn::write_current`], or locked by [`Txn::lock_current`], or given up, before the next
    /// move. Gaps are locked as ever.
    pub fn defer_locks(&mut self) {
        self.rules.defers = true;
    }

    /// Makes an ascending scan lock the first record beyond its range, as MySQL does with secondary
    /// indexes.
    pub fn lock_beyond(&mut self) {
        self.rules.beyond = true;
    }

    /// Makes a scan below REPEATABLE READ semi-consistent: it does not wait. A record that another
    /// transaction has locked is returned as it was committed last, and
    /// [`LockingCursor::is_unlocked`].
    pub fn read_semi_consistently(&mut self) {
        self.rules.semi_consistent = true;
    }
}

/// The record last returned.
impl LockingCursor {
    /// The record that the last move went to; only after a move that returned one.
    #[inline]
    pub fn current(&self) -> RecordRef<'_> {
        self.range.record_in_memory()
    }

    /// Whether it is not locked, since another transaction has its lock: [`Txn::lock_get`] waits
    /// for it.
    pub fn is_unlocked(&self) -> bool {
        self.lock == RecordLock::Unlocked
    }

    /// Where it is, if its lock is deferred.
    pub fn locator(&self) -> Option<RecordLocator> {
        let leaf = &self.range.memory().gap.leaf;
        let (page, state) = leaf.page_state().filter(|_| self.lock == RecordLock::Deferred)?;
        let slot = match self.range.direction {
            Direction::Forward => self.range.from.checked_sub(1)?,
            Direction::Backward => self.range.to,
        };
        Some(RecordLocator { page, state, slot, header: leaf.header(slot) })
    }

    /// It was changed at its locator.
    pub(in crate::txn) fn written(&mut self, locator: &RecordLocator) {
        self.range.memory_mut().gap.leaf.carry_over(locator.state);
    }

    /// Its lock, which was deferred, is held now, and `fresh` where it was to be had at once;
    /// whether it is as it was read.
    pub(in crate::txn) fn locked(&mut self, fresh: bool, store: &Store) -> bool {
        self.lock = if fresh { RecordLock::Fresh } else { RecordLock::Kept };
        self.range.memory().gap.leaf.is_current(store)
    }

    /// Releases its lock, as its row did not match, where the scan has taken it without a wait. At
    /// REPEATABLE READ and above it is kept: there a scan locks all that it passes.
    pub fn unlock_current(&mut self, txn: &mut Txn) {
        if !txn.locks_gaps() && self.lock == RecordLock::Fresh {
            self.lock = RecordLock::Kept;
            txn.unlock(&self.range.tree, &self.range.memory().key, self.request.mode);
        }
    }
}

/// Moves.
impl LockingCursor {
    /// Makes the next move stop, as at the range's end, before a record whose lock cannot be
    /// deferred: what was deferred is to be done before anything is waited for.
    pub fn pause_before_locks(&mut self) {
        self.pause = Pause::Next;
    }

    /// Whether the last move has stopped before a record, to which the next one goes. Returns true
    /// once.
    pub fn take_pause(&mut self) -> bool {
        let paused = self.pause == Pause::Now;
        if paused {
            self.pause = Pause::Never;
        }
        paused
    }

    /// Whether the scan is between two records of one leaf that it can give out as a run.
    pub(in crate::txn) fn can_run(&self) -> bool {
        // The first record of a range has rules of its own, and so has one that equals the end.
        let within = self.passed && self.range.stage == Stage::Leaf && !self.astray;
        within && self.rules.defers && self.range.direction == Direction::Forward
    }

    /// Something has changed: the next move looks again behind the record passed last.
    pub(in crate::txn) fn look_again(&mut self) {
        self.astray = true;
    }

    /// Passes these records of the leaf, which come next, and gives them out.
    pub(in crate::txn) fn pass_run(&mut self, range: Range<usize>) -> Run<'_> {
        let memory = self.range.memory_mut();
        memory.gap.leaf.key(range.end - 1, &mut memory.last);
        self.range.from = range.end;
        self.range.count_records(range.len() as u64);
        Run::new(&self.range.memory().gap.leaf, range, Direction::Forward)
    }

    /// Moves to the next record and returns it, or `None` at the end of the range.
    pub fn next<'c>(&'c mut self, txn: &mut Txn) -> Result<Option<RecordRef<'c>>> {
        Ok(if self.advance(txn)? { Some(self.current()) } else { None })
    }

    /// Moves to the next record that the scan may return, and locks what it passes; false at the
    /// end of the range.
    pub fn advance(&mut self, txn: &mut Txn) -> Result<bool> {
        self.leave_record();
        if self.range.stage == Stage::Start {
            txn.check_age(&self.range.tree)?;
        }
        let mut rounds = 0;
        loop {
            if self.range.stage == Stage::End {
                return Ok(false);
            }
            rounds += 1;
            if rounds % ROUNDS_THRESHOLD == 0 {
                // In a damaged leaf the way to a key need not lead back to its record.
                self.range.memory().gap.leaf.check()?;
            }
            if txn.owner.is_interrupted() {
                return Err(StorageError::Interrupted);
            }
            // Behind the last record of the tree only the gap up to the end is locked.
            let Some(i) = self.locate(txn)? else {
                let locked = self.lock_end(txn)?;
                self.finish_if(locked);
                continue;
            };
            // The first record beyond the range ends the scan; its gap still belongs to the range.
            let takes_beyond = self.range.direction == Direction::Backward || self.rules.beyond;
            if !(self.is_inside() || takes_beyond && txn.locks_gaps()) {
                let locked = self.lock_gap_before(txn, i)?;
                self.finish_if(locked);
                continue;
            }
            match self.take(txn, i)? {
                Verdict::Again => self.astray = true,
                Verdict::Pause => return Ok(false),
                verdict => {
                    let inside = self.is_inside();
                    self.pass(i);
                    match verdict {
                        Verdict::Take if inside => {
                            self.range.count_records(1);
                            return Ok(true);
                        }
                        _ if !inside => self.range.stage = Stage::End,
                        _ => {}
                    }
                }
            }
        }
    }

    /// The record last returned is left as it is.
    pub(in crate::txn) fn leave_record(&mut self) {
        self.lock = RecordLock::Kept;
    }

    fn finish_if(&mut self, confirmed: bool) {
        if confirmed {
            self.range.stage = Stage::End;
        } else {
            self.astray = true;
        }
    }

    /// Stands on the next record not passed yet: its number in the leaf, its key in memory.
    pub(in crate::txn) fn locate(&mut self, txn: &mut Txn) -> Result<Option<usize>> {
        let astray = std::mem::take(&mut self.astray);
        let leaf = &self.range.memory().gap.leaf;
        if astray || self.range.stage != Stage::Leaf || !leaf.is_current(&txn.core.store) {
            self.seek(txn)?;
        }
        let store = &txn.core.store;
        let tree = self.range.tree.clone();
        let direction = self.range.direction;
        let (mut from, mut to) = (self.range.from, self.range.to);
        let memory = self.range.memory_mut();
        let leaf = &mut memory.gap.leaf;
        let i = loop {
            match direction {
                Direction::Forward if from < leaf.len() => break from,
                Direction::Backward if to > 0 => break to - 1,
                Direction::Forward => {
                    let Some(next) = tree.btree().next_leaf(store, leaf)? else {
                        self.range.from = from;
                        return Ok(None);
                    };
                    from = next;
                }
                Direction::Backward => {
                    let Some(next) = tree.btree().previous_leaf(store, leaf)? else {
                        self.range.to = to;
                        return Ok(None);
                    };
                    to = next;
                }
            }
        };
        leaf.key(i, &mut memory.key);
        (self.range.from, self.range.to) = (i, i + 1);
        Ok(Some(i))
    }

    /// Loads the leaf in which the scan goes on.
    fn seek(&mut self, txn: &mut Txn) -> Result<()> {
        let first = self.range.stage == Stage::Start;
        if !self.passed {
            self.range.seek_start()?;
            self.range.stage = Stage::Leaf;
            if first && self.range.direction == Direction::Backward && txn.locks_gaps() {
                self.lock_gap_after_start(txn)?;
            }
            return Ok(());
        }
        let (store, tree, direction) =
            (&txn.core.store, self.range.tree.clone(), self.range.direction);
        let memory = self.range.memory_mut();
        let (leaf, last) = (&mut memory.gap.leaf, &memory.last);
        let seek = match direction {
            Direction::Forward => Seek::Covering(last),
            Direction::Backward => Seek::Before(last),
        };
        tree.btree().load_leaf(store, seek, leaf)?;
        let found = leaf.lower_bound(last);
        match direction {
            Direction::Forward => self.range.from = found.map_or_else(|i| i, |i| i + 1),
            Direction::Backward => self.range.to = found.unwrap_or_else(|i| i),
        }
        Ok(())
    }

    /// Whether the key in memory is in the range.
    fn is_inside(&self) -> bool {
        let memory = self.range.memory();
        let key = &memory.key;
        match (self.range.direction, self.range.lower, self.range.upper) {
            (Direction::Forward, _, Bound::Included) => *key <= memory.upper,
            (Direction::Forward, _, Bound::Excluded) => *key < memory.upper,
            (Direction::Backward, Bound::Included, _) => *key >= memory.lower,
            (Direction::Backward, Bound::Excluded, _) => *key > memory.lower,
            (_, Bound::Unbounded, _) | (_, _, Bound::Unbounded) => true,
        }
    }

    /// Notes that record `i`, whose key is in memory, is done with.
    fn pass(&mut self, i: usize) {
        let memory = self.range.memory_mut();
        memory.last.clone_from(&memory.key);
        self.passed = true;
        let (bound, end) = match self.range.direction {
            Direction::Forward => (self.range.upper, &self.range.memory().upper),
            Direction::Backward => (self.range.lower, &self.range.memory().lower),
        };
        let at_end = self.range.direction == Direction::Forward
            && bound == Bound::Included
            && *end == self.range.memory().key;
        if at_end {
            self.range.stage = Stage::End;
        }
        match self.range.direction {
            Direction::Forward => self.range.from = i + 1,
            Direction::Backward => self.range.to = i,
        }
    }

    /// Locks record `i` with the gap before it.
    fn take(&mut self, txn: &mut Txn, i: usize) -> Result<Verdict> {
        let equals_start = self.range.direction == Direction::Forward
            && !self.passed
            && self.range.lower == Bound::Included
            && self.range.memory().key == self.range.memory().lower;
        if !equals_start && !self.lock_gap_before(txn, i)? {
            return Ok(Verdict::Again);
        }
        let tree = self.range.tree.clone();
        self.release_vanished(txn);
        if self.rules.defers && self.defer(txn, &tree, i)? {
            return Ok(Verdict::Take);
        }
        if self.pause == Pause::Next {
            self.pause = Pause::Now;
            return Ok(Verdict::Pause);
        }
        let semi_consistent = self.rules.semi_consistent && !txn.locks_gaps();
        let wait = if semi_consistent { WaitPolicy::SkipLocked } else { self.request.wait };
        let request = LockRequest { wait, ..self.request };
        let writer = self.range.memory().gap.leaf.header(i).txn_id();
        match txn.lock_found(&tree, &self.range.memory().key, writer, request)? {
            Locked::Skip if semi_consistent => return self.show_committed(txn, i),
            Locked::Skip => return Ok(Verdict::Pass),
            Locked::Retry { fresh } => {
                if fresh {
                    self.lock = RecordLock::Waited;
                    let memory = self.range.memory_mut();
                    memory.waited.clone_from(&memory.key);
                }
                return Ok(Verdict::Again);
            }
            Locked::Yes { fresh: true } => self.lock = RecordLock::Fresh,
            Locked::Yes { fresh: false } => {}
        }
        self.take_locked(txn, &tree, i)
    }

    /// Takes record `i`, which is locked, if it is there.
    fn take_locked(&mut self, txn: &mut Txn, tree: &Tree, i: usize) -> Result<Verdict> {
        let store = &txn.core.store;
        let memory = self.range.memory_mut();
        let leaf = &memory.gap.leaf;
        let deleted = leaf.is_deleted(i);
        let whole = tree.btree().payload_of(store, leaf, i, &mut memory.value)?;
        let unchanged = whole && leaf.is_current(store);
        if unchanged && !deleted {
            if self.lock == RecordLock::Waited {
                self.lock = RecordLock::Kept;
            }
            return Ok(Verdict::Take);
        }
        let taken = matches!(self.lock, RecordLock::Fresh | RecordLock::Waited);
        self.lock = RecordLock::Kept;
        if taken && !(unchanged && txn.locks_gaps()) {
            txn.unlock(tree, &self.range.memory().key, self.request.mode);
        }
        Ok(if unchanged { Verdict::Pass } else { Verdict::Again })
    }

    /// Reads record `i` without locking it, where nothing would keep its lock from being taken.
    fn defer(&mut self, txn: &mut Txn, tree: &Tree, i: usize) -> Result<bool> {
        let memory = self.range.memory_mut();
        let leaf = &memory.gap.leaf;
        let header = leaf.header(i);
        let free = |txn: &mut Txn| txn.is_free(tree, &memory.key, header.txn_id());
        if self.lock == RecordLock::Waited || header.is_deleted() || !free(txn) {
            return Ok(false);
        }
        let store = &txn.core.store;
        let whole = tree.btree().payload_of(store, leaf, i, &mut memory.value)?;
        let deferred = whole && leaf.is_current(store);
        if deferred {
            self.lock = RecordLock::Deferred;
        }
        Ok(deferred)
    }

    /// Shows record `i` as it was committed last. It is locked by somebody else.
    fn show_committed(&mut self, txn: &mut Txn, i: usize) -> Result<Verdict> {
        // As long as this snapshot is there, nothing is purged that a running transaction replaced.
        let low_water = txn.snapshot()?.low_water;
        let newest = Snapshot { low_water, horizon: Lsn(u64::MAX), end: TxnId(u64::MAX) };
        let (core, tree) = (&txn.core, self.range.tree.clone());
        let memory = self.range.memory_mut();
        let leaf = &memory.gap.leaf;
        let header = leaf.header(i);
        let whole = tree.btree().payload_of(&core.store, leaf, i, &mut memory.value)?;
        if !whole || !leaf.is_current(&core.store) {
            return Ok(Verdict::Again);
        }
        let shown = core.resolve(newest, txn.id, header, &mut memory.value)?;
        // A writer that has rolled back since may be forgotten already, and would seem committed.
        if !leaf.is_current(&core.store) {
            return Ok(Verdict::Again);
        }
        // That commit may not be durable yet.
        txn.seen = txn.seen.max(core.store.wal().closed_lsn());
        if shown {
            self.lock = RecordLock::Unlocked;
        }
        Ok(if shown { Verdict::Take } else { Verdict::Pass })
    }

    /// Releases a lock that was waited for when another record has come up since.
    fn release_vanished(&mut self, txn: &mut Txn) {
        let memory = self.range.memory();
        if self.lock == RecordLock::Waited && memory.waited != memory.key {
            self.lock = RecordLock::Kept;
            if !txn.locks_gaps() {
                txn.unlock(&self.range.tree, &memory.waited, self.request.mode);
            }
        }
    }

    /// Locks the gap between record `i` and its predecessor (or the record passed before it). False
    /// when the gap was no longer what it seemed; true without a lock where none is wanted.
    pub(in crate::txn) fn lock_gap_before(&mut self, txn: &mut Txn, i: usize) -> Result<bool> {
        if !txn.locks_gaps() {
            return Ok(true);
        }
        txn.enlist();
        let (store, tree) = (&txn.core.store, self.range.tree.clone());
        let (direction, passed, lower) = (self.range.direction, self.passed, self.range.lower);
        let memory = self.range.memory_mut();
        let (gap, key) = (&mut memory.gap, &memory.key);
        match direction {
            Direction::Forward if passed => gap.low.set_key(&memory.last),
            Direction::Forward => {
                gap.find_low(&tree, store, i)?;
                if is_beyond(gap.low.edge(), lower, &memory.lower) {
                    return Ok(false);
                }
            }
            Direction::Backward if gap.low.edge() == Edge::Key(key) => {
                gap.find_low(&tree, store, i)?;
            }
            // The record that bounded the locked gap is gone: this one is locked up to the record
            // passed last, or to where the scan started.
            Direction::Backward => {
                if passed {
                    gap.high.set_key(&memory.last);
                }
                gap.find_low(&tree, store, i)?;
                tree.gaps().lock(&txn.owner, gap.low.edge(), gap.high.edge());
                return Ok(
                    gap.confirm_low(&tree, store, i)? && gap.confirm_high(&tree, store, i + 1)?
                );
            }
        }
        tree.gaps().lock(&txn.owner, gap.low.edge(), Edge::Key(key));
        gap.confirm_low(&tree, store, i)
    }

    /// Locks the gap at the end of the tree that a scan has run into; false to look again.
    fn lock_end(&mut self, txn: &mut Txn) -> Result<bool> {
        if !txn.locks_gaps() {
            return Ok(true);
        }
        txn.enlist();
        let (store, tree) = (&txn.core.store, self.range.tree.clone());
        let (direction, passed, lower) = (self.range.direction, self.passed, self.range.lower);
        let memory = self.range.memory_mut();
        let gap = &mut memory.gap;
        match direction {
            Direction::Forward => {
                let end = gap.leaf.len();
                if passed {
                    gap.low.set_key(&memory.last);
                } else {
                    gap.find_low(&tree, store, end)?;
                    if is_beyond(gap.low.edge(), lower, &memory.lower) {
                        return Ok(false);
                    }
                }
                tree.gaps().lock(&txn.owner, gap.low.edge(), Edge::Max);
                gap.confirm_low(&tree, store, end)
            }
            Direction::Backward if gap.low.edge() == Edge::Min => Ok(gap.leaf.is_current(store)),
            Direction::Backward => {
                if passed {
                    gap.high.set_key(&memory.last);
                }
                tree.gaps().lock(&txn.owner, Edge::Min, gap.high.edge());
                gap.confirm_high(&tree, store, 0)
            }
        }
    }

    /// Locks the gap in which a descending scan starts: up to the first record beyond the range.
    fn lock_gap_after_start(&mut self, txn: &mut Txn) -> Result<()> {
        txn.enlist();
        let (store, tree) = (&txn.core.store, self.range.tree.clone());
        loop {
            let at = self.range.to;
            let memory = self.range.memory_mut();
            let gap = &mut memory.gap;
            gap.find_low(&tree, store, at)?;
            gap.find_high(&tree, store, at)?;
            tree.gaps().lock(&txn.owner, gap.low.edge(), gap.high.edge());
            let confirmed =
                gap.confirm_low(&tree, store, at)? && gap.confirm_high(&tree, store, at)?;
            if confirmed {
                return Ok(());
            }
            self.range.seek_start()?;
        }
    }
}

/// Whether a record that was found before the first one of a range is in the range itself: it was
/// put into a leaf that the scan had left already.
fn is_beyond(record: Edge<'_>, bound: Bound, lower: &[u8]) -> bool {
    match bound {
        Bound::Unbounded => record > Edge::Min,
        Bound::Included => record >= Edge::Key(lower),
        Bound::Excluded => record > Edge::Key(lower),
    }
}
