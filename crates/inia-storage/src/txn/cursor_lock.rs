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
//! an ascending one that was told to ([`Cursor::lock_beyond`]). At READ COMMITTED only the records
//! of the range are locked.
//!
//! A record that is not locked yet may be removed for good by purge while the scan waits or goes
//! from leaf to leaf. An ascending scan does not mind: its gaps begin at the record passed last. A
//! descending one keeps the low end of what it has locked in `place.low`, and locks up to the
//! record passed last where the next record found is another:
//!
//! ```text
//!   10, 20 deleted, 30    (20,30] 30X, then 20 is purged: 10 is not 20, so (-∞,30] 10X
//! ```
//!
//! Each lock is taken from what a copied leaf says and confirmed afterwards; when the leaf has
//! moved on, the scan looks again behind the last record it has passed.

use super::cursor::{Bound, Cursor, Stage};
use super::handle::{Locked, Txn};
use super::trees::Tree;
use crate::Result;
use crate::btree::Seek;
use crate::error::StorageError;
use crate::lock::Edge;
use crate::request::{Direction, LockMode, LockRequest, WaitPolicy};
use crate::txn::snapshot::Snapshot;
use inia_base::ids::Lsn;

/// After so many rounds without a record to give out a scan looks whether its leaf makes sense.
const MANY_ROUNDS: usize = 1000;

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

impl Cursor {
    /// Moves to the next record that the scan may return, and locks what it passes.
    pub(super) fn next_locked(&mut self, txn: &mut Txn, request: LockRequest) -> Result<bool> {
        self.leave_record();
        if self.stage == Stage::Start {
            txn.check_age(&self.tree)?;
        }
        let mut rounds = 0;
        loop {
            if self.stage == Stage::End {
                return Ok(false);
            }
            rounds += 1;
            if rounds % MANY_ROUNDS == 0 {
                // In a damaged leaf the way to a key need not lead back to its record.
                self.memory().place.leaf.check()?;
            }
            if txn.owner.is_interrupted() {
                return Err(StorageError::Interrupted);
            }
            let Some(i) = self.locate(txn)? else {
                let locked = self.lock_end(txn)?;
                self.finish_if(locked);
                continue;
            };
            let takes_beyond = self.direction == Direction::Backward || self.locks_beyond;
            if !(self.is_inside() || takes_beyond && txn.locks_gaps()) {
                let locked = self.lock_gap_before(txn, i)?;
                self.finish_if(locked);
                continue;
            }
            match self.take(txn, i, request)? {
                Verdict::Again => self.astray = true,
                Verdict::Pause => return Ok(false),
                verdict => {
                    let inside = self.is_inside();
                    self.pass(i);
                    match verdict {
                        Verdict::Take if inside => return Ok(true),
                        _ if !inside => self.stage = Stage::End,
                        _ => {}
                    }
                }
            }
        }
    }

    /// The record last returned is left as it is.
    pub(super) fn leave_record(&mut self) {
        self.fresh = false;
        self.deferred = false;
        self.unlocked = false;
    }

    fn finish_if(&mut self, confirmed: bool) {
        if confirmed {
            self.stage = Stage::End;
        } else {
            self.astray = true;
        }
    }

    /// Stands on the next record not passed yet: its number in the leaf, its key in memory.
    pub(super) fn locate(&mut self, txn: &mut Txn) -> Result<Option<usize>> {
        let astray = std::mem::take(&mut self.astray);
        let leaf = &self.memory().place.leaf;
        if astray || self.stage != Stage::Leaf || !leaf.is_current(&txn.core.store) {
            self.seek(txn)?;
        }
        let store = &txn.core.store;
        let tree = self.tree.clone();
        let direction = self.direction;
        let (mut from, mut to) = (self.from, self.to);
        let memory = self.memory_mut();
        let leaf = &mut memory.place.leaf;
        let i = loop {
            match direction {
                Direction::Forward if from < leaf.len() => break from,
                Direction::Backward if to > 0 => break to - 1,
                Direction::Forward => {
                    let Some(next) = tree.btree().next_leaf(store, leaf)? else {
                        self.from = from;
                        return Ok(None);
                    };
                    from = next;
                }
                Direction::Backward => {
                    let Some(next) = tree.btree().previous_leaf(store, leaf)? else {
                        self.to = to;
                        return Ok(None);
                    };
                    to = next;
                }
            }
        };
        leaf.key(i, &mut memory.key);
        (self.from, self.to) = (i, i + 1);
        Ok(Some(i))
    }

    /// Loads the leaf in which the scan goes on.
    fn seek(&mut self, txn: &mut Txn) -> Result<()> {
        let first = self.stage == Stage::Start;
        if !self.passed {
            self.seek_start()?;
            self.stage = Stage::Leaf;
            if first && self.direction == Direction::Backward && txn.locks_gaps() {
                self.lock_gap_after_start(txn)?;
            }
            return Ok(());
        }
        let (store, tree, direction) = (&txn.core.store, self.tree.clone(), self.direction);
        let memory = self.memory_mut();
        let (leaf, last) = (&mut memory.place.leaf, &memory.last);
        let seek = match direction {
            Direction::Forward => Seek::Covering(last),
            Direction::Backward => Seek::Before(last),
        };
        tree.btree().load_leaf(store, seek, leaf)?;
        let found = leaf.lower_bound(last);
        match direction {
            Direction::Forward => self.from = found.map_or_else(|i| i, |i| i + 1),
            Direction::Backward => self.to = found.unwrap_or_else(|i| i),
        }
        Ok(())
    }

    /// Whether the key in memory is in the range.
    fn is_inside(&self) -> bool {
        let memory = self.memory();
        let key = &memory.key;
        match (self.direction, self.lower, self.upper) {
            (Direction::Forward, _, Bound::Included) => *key <= memory.upper,
            (Direction::Forward, _, Bound::Excluded) => *key < memory.upper,
            (Direction::Backward, Bound::Included, _) => *key >= memory.lower,
            (Direction::Backward, Bound::Excluded, _) => *key > memory.lower,
            (_, Bound::Unbounded, _) | (_, _, Bound::Unbounded) => true,
        }
    }

    /// Notes that record `i`, whose key is in memory, is done with.
    fn pass(&mut self, i: usize) {
        let memory = self.memory_mut();
        memory.last.clone_from(&memory.key);
        self.passed = true;
        let (bound, end) = match self.direction {
            Direction::Forward => (self.upper, &self.memory().upper),
            Direction::Backward => (self.lower, &self.memory().lower),
        };
        let at_end = self.direction == Direction::Forward
            && bound == Bound::Included
            && *end == self.memory().key;
        if at_end {
            self.stage = Stage::End;
        }
        match self.direction {
            Direction::Forward => self.from = i + 1,
            Direction::Backward => self.to = i,
        }
    }

    /// Locks record `i` with the gap before it.
    fn take(&mut self, txn: &mut Txn, i: usize, request: LockRequest) -> Result<Verdict> {
        let equals_start = self.direction == Direction::Forward
            && !self.passed
            && self.lower == Bound::Included
            && self.memory().key == self.memory().lower;
        if !equals_start && !self.lock_gap_before(txn, i)? {
            return Ok(Verdict::Again);
        }
        let tree = self.tree.clone();
        self.give_back_vanished(txn, request.mode);
        let writer = self.memory().place.leaf.header(i).txn_id();
        if self.defers && self.put_off(txn, &tree, i)? {
            return Ok(Verdict::Take);
        }
        if std::mem::take(&mut self.pauses) {
            self.paused = true;
            return Ok(Verdict::Pause);
        }
        let looks_first = self.looks_first && !txn.locks_gaps();
        let wait = if looks_first { WaitPolicy::SkipLocked } else { request.wait };
        let request = LockRequest { wait, ..request };
        let at_once = match txn.lock_found(&tree, &self.memory().key, writer, request)? {
            Locked::Skip if looks_first => return self.show_committed(txn, i),
            Locked::Skip => return Ok(Verdict::Pass),
            Locked::Retry { fresh } => {
                self.fresh |= fresh;
                let memory = self.memory_mut();
                memory.waited.clone_from(&memory.key);
                return Ok(Verdict::Again);
            }
            Locked::Yes { fresh } => fresh,
        };
        // A lock that was waited for is fresh as well.
        self.fresh |= at_once;
        let store = &txn.core.store;
        let memory = self.memory_mut();
        let leaf = &memory.place.leaf;
        let deleted = leaf.is_deleted(i);
        let whole = tree.btree().payload_of(store, leaf, i, &mut memory.value)?;
        if !whole || !leaf.is_current(store) {
            if std::mem::take(&mut self.fresh) {
                txn.unlock(&tree, &self.memory().key, request.mode);
            }
            return Ok(Verdict::Again);
        }
        if !deleted {
            self.fresh = at_once;
            return Ok(Verdict::Take);
        }
        if std::mem::take(&mut self.fresh) && !txn.locks_gaps() {
            txn.unlock(&tree, &self.memory().key, request.mode);
        }
        Ok(Verdict::Pass)
    }

    /// Reads record `i` without locking it, where nothing would keep its lock from being taken.
    fn put_off(&mut self, txn: &mut Txn, tree: &Tree, i: usize) -> Result<bool> {
        let memory = self.memory.as_mut().expect("a cursor has its memory until dropped");
        let leaf = &memory.place.leaf;
        let header = leaf.header(i);
        if self.fresh || header.is_deleted() || !txn.is_free(tree, &memory.key, header.txn_id()) {
            return Ok(false);
        }
        let store = &txn.core.store;
        let whole = tree.btree().payload_of(store, leaf, i, &mut memory.value)?;
        self.deferred = whole && leaf.is_current(store);
        Ok(self.deferred)
    }

    /// Shows record `i` as it was committed last. It is locked by somebody else.
    fn show_committed(&mut self, txn: &mut Txn, i: usize) -> Result<Verdict> {
        // As long as this snapshot is there, nothing is purged that a running transaction replaced.
        let low_water = txn.snapshot()?.low_water;
        let newest = Snapshot { low_water, horizon: Lsn(u64::MAX) };
        let (core, tree) = (&txn.core, self.tree.clone());
        let memory = self.memory_mut();
        let leaf = &memory.place.leaf;
        let header = leaf.header(i);
        let whole = tree.btree().payload_of(&core.store, leaf, i, &mut memory.value)?;
        if !whole || !leaf.is_current(&core.store) {
            return Ok(Verdict::Again);
        }
        let shown = core.resolve(newest, txn.id, header, &mut memory.value)?;
        // That commit may not be durable yet.
        txn.seen = txn.seen.max(core.store.wal().closed_lsn());
        self.unlocked = shown;
        Ok(if shown { Verdict::Take } else { Verdict::Pass })
    }

    /// Forgets a lock that was waited for when another record has come up since.
    fn give_back_vanished(&mut self, txn: &mut Txn, mode: LockMode) {
        if self.fresh && self.memory().waited != self.memory().key {
            self.fresh = false;
            if !txn.locks_gaps() {
                txn.unlock(&self.tree, &self.memory().waited, mode);
            }
        }
    }

    /// Locks the gap between record `i` and its predecessor (or the record passed before it). False
    /// when the gap was no longer what it seemed; true without a lock where none is wanted.
    pub(super) fn lock_gap_before(&mut self, txn: &mut Txn, i: usize) -> Result<bool> {
        if !txn.locks_gaps() {
            return Ok(true);
        }
        txn.enlist();
        let (store, tree) = (&txn.core.store, self.tree.clone());
        let (direction, passed, lower) = (self.direction, self.passed, self.lower);
        let memory = self.memory_mut();
        let (place, key) = (&mut memory.place, &memory.key);
        match direction {
            Direction::Forward if passed => place.low.set_key(&memory.last),
            Direction::Forward => {
                place.find_low(&tree, store, i)?;
                if is_beyond(place.low.edge(), lower, &memory.lower) {
                    return Ok(false);
                }
            }
            Direction::Backward if place.low.edge() == Edge::Key(key) => {
                place.find_low(&tree, store, i)?;
            }
            // The record that bounded the locked gap is gone: this one is locked up to the record
            // passed last, or to where the scan started.
            Direction::Backward => {
                if passed {
                    place.high.set_key(&memory.last);
                }
                place.find_low(&tree, store, i)?;
                tree.gaps().lock(&txn.owner, place.low.edge(), place.high.edge());
                return Ok(place.confirm_low(&tree, store, i)?
                    && place.confirm_high(&tree, store, i + 1)?);
            }
        }
        tree.gaps().lock(&txn.owner, place.low.edge(), Edge::Key(key));
        place.confirm_low(&tree, store, i)
    }

    /// Locks the gap at the end of the tree that a scan has run into; false to look again.
    fn lock_end(&mut self, txn: &mut Txn) -> Result<bool> {
        if !txn.locks_gaps() {
            return Ok(true);
        }
        txn.enlist();
        let (store, tree) = (&txn.core.store, self.tree.clone());
        let (direction, passed, lower) = (self.direction, self.passed, self.lower);
        let memory = self.memory_mut();
        let place = &mut memory.place;
        match direction {
            Direction::Forward => {
                let end = place.leaf.len();
                if passed {
                    place.low.set_key(&memory.last);
                } else {
                    place.find_low(&tree, store, end)?;
                    if is_beyond(place.low.edge(), lower, &memory.lower) {
                        return Ok(false);
                    }
                }
                tree.gaps().lock(&txn.owner, place.low.edge(), Edge::Max);
                place.confirm_low(&tree, store, end)
            }
            Direction::Backward if place.low.edge() == Edge::Min => {
                Ok(place.leaf.is_current(store))
            }
            Direction::Backward => {
                if passed {
                    place.high.set_key(&memory.last);
                }
                tree.gaps().lock(&txn.owner, Edge::Min, place.high.edge());
                place.confirm_high(&tree, store, 0)
            }
        }
    }

    /// Locks the gap in which a descending scan starts: up to the first record beyond the range.
    fn lock_gap_after_start(&mut self, txn: &mut Txn) -> Result<()> {
        txn.enlist();
        let (store, tree) = (&txn.core.store, self.tree.clone());
        loop {
            let at = self.to;
            let memory = self.memory_mut();
            let place = &mut memory.place;
            place.find_low(&tree, store, at)?;
            place.find_high(&tree, store, at)?;
            tree.gaps().lock(&txn.owner, place.low.edge(), place.high.edge());
            let confirmed =
                place.confirm_low(&tree, store, at)? && place.confirm_high(&tree, store, at)?;
            if confirmed {
                return Ok(());
            }
            self.seek_start()?;
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
