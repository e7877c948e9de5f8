//! The transaction status table: what became of a transaction, by its id.
//!
//! ```text
//!   ids    … 95  96  97  98  99 100 101          next = 102
//!   state    c   c   c   A   c   r   A           c committed at an LSN, r rolled back, A active
//!                        ▲
//!                        low_water = 98: every smaller id is finished and durable
//! ```
//!
//! The table is a ring: an id's slot is `id % slots`, and carries the id as a tag. When the ring
//! comes round to a slot whose old id somebody may still ask for (it runs, or an open snapshot was
//! taken while it ran), the old entry moves to a map at the side ([`aside`](super::aside)). A
//! reader that finds neither knows that the transaction is finished, and that every snapshot whose
//! end is above its id sees it.
//!
//! Invariants:
//! - `low_water ≤ next`; every id below `low_water` is finished, with a durable commit LSN or none;
//! - an entry is forgotten only when no snapshot, open or to come, has an end above its id and a
//!   horizon below its LSN;
//! - an owner has at most one active id.

use super::aside::Aside;
use super::snapshot::LiveSnapshots;
use crate::sync::{AtomicU64, Mutex, Ordering, fence};
use inia_base::ids::{Lsn, TxnId};

/// Slots of the ring: 4 MiB in a running engine. The tests of this crate go round it often.
pub(crate) const STATUS_SLOTS: usize = if cfg!(test) { 1 << 6 } else { 1 << 18 };

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TxnState {
    /// It runs, and belongs to the owner with this number.
    Active(u32),
    /// Committed; its commit record ends here.
    Committed(Lsn),
    /// Rolled back. Its versions are gone from the trees, but a reader may hold a copy of a leaf
    /// from before.
    RolledBack,
    /// Finished and durable: every snapshot whose end is above its id sees what it committed.
    Finished,
}

/// A state in one word: a flag, and the owner or the LSN at which the transaction finished.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct StatusWord(u64);

const ACTIVE: u64 = 1 << 63;
const ROLLED_BACK: u64 = 1 << 62;

impl StatusWord {
    /// The word of a slot whose transaction has moved aside.
    const MOVED: StatusWord = StatusWord(u64::MAX >> 2);

    fn active(owner: u32) -> StatusWord {
        StatusWord(ACTIVE | u64::from(owner))
    }

    fn committed(lsn: Lsn) -> StatusWord {
        StatusWord(lsn.0)
    }

    fn rolled_back(lsn: Lsn) -> StatusWord {
        StatusWord(ROLLED_BACK | lsn.0)
    }

    /// The log position of the record that ended the transaction; `None` while it runs.
    pub(super) fn finished_at(self) -> Option<Lsn> {
        (self.0 & ACTIVE == 0).then_some(Lsn(self.0 & !ROLLED_BACK))
    }

    fn state(self) -> TxnState {
        match self.0 {
            word if word & ACTIVE != 0 => TxnState::Active((word & !ACTIVE) as u32),
            word if word & ROLLED_BACK != 0 => TxnState::RolledBack,
            lsn => TxnState::Committed(Lsn(lsn)),
        }
    }
}

#[derive(Default)]
struct Slot {
    tag: AtomicU64,
    word: AtomicU64,
}

/// The table.
pub(crate) struct StatusTable {
    slots: Vec<Slot>,
    first: u64,
    /// The oldest transaction of an earlier run that had not ended when this one began, `first`
    /// without one.
    oldest_resumed: AtomicU64,
    next: AtomicU64,
    low_water: AtomicU64,
    forget_below: AtomicU64,
    aside: Aside,
    advancing: Mutex<()>,
}

impl StatusTable {
    /// A table in which every id below `first` is finished, unless it is resumed. `slots` is a
    /// power of two.
    pub(crate) fn new(first: TxnId, slots: usize) -> StatusTable {
        assert!(slots.is_power_of_two() && first.0 > 0, "ids find their slots, and 0 is none");
        StatusTable {
            slots: (0..slots).map(|_| Slot::default()).collect(),
            first: first.0,
            oldest_resumed: AtomicU64::new(first.0),
            next: AtomicU64::new(first.0),
            low_water: AtomicU64::new(first.0),
            forget_below: AtomicU64::new(0),
            aside: Aside::new(),
            advancing: Mutex::new(()),
        }
    }

    /// Declares that a transaction of an earlier run still runs: it is being rolled back, or it is
    /// prepared. Before any use.
    pub(crate) fn resume(&self, id: TxnId, owner: u32) {
        debug_assert!(id.0 < self.first, "a transaction of an earlier run");
        self.aside.set(id.0, StatusWord::active(owner));
        self.oldest_resumed.fetch_min(id.0, Ordering::Relaxed);
        self.low_water.fetch_min(id.0, Ordering::Relaxed);
    }

    fn slot(&self, id: u64) -> &Slot {
        &self.slots[(id as usize) & (self.slots.len() - 1)]
    }

    /// The id that the next writing transaction will get.
    pub(crate) fn next_id(&self) -> TxnId {
        TxnId(self.next.load(Ordering::SeqCst))
    }

    /// Every smaller id is finished, and durable if it committed.
    #[inline]
    pub(crate) fn low_water(&self) -> TxnId {
        TxnId(self.low_water.load(Ordering::Acquire))
    }

    /// Begins a writing transaction of this owner.
    pub(crate) fn begin(&self, owner: u32) -> TxnId {
        let id = self.give_id();
        self.enter(id, owner);
        id
    }

    /// The next id. It has no entry yet.
    pub(super) fn give_id(&self) -> TxnId {
        TxnId(self.next.fetch_add(1, Ordering::SeqCst))
    }

    /// Makes the entry of an id just given.
    pub(super) fn enter(&self, TxnId(id): TxnId, owner: u32) {
        let slot = self.slot(id);
        let previous = id.saturating_sub(self.slots.len() as u64);
        let expected = if previous < self.first { 0 } else { previous };
        while slot.tag.load(Ordering::Acquire) != expected {
            std::thread::yield_now();
        }
        if expected != 0 {
            self.move_aside(slot, expected);
        }
        slot.tag.store(0, Ordering::Release);
        fence(Ordering::Release);
        slot.word.store(StatusWord::active(owner).0, Ordering::Relaxed);
        slot.tag.store(id, Ordering::Release);
    }

    fn move_aside(&self, slot: &Slot, id: u64) {
        let word = StatusWord(slot.word.load(Ordering::Acquire));
        let horizon = Lsn(self.forget_below.load(Ordering::Relaxed));
        // A finished transaction's word changes no more: the usual case needs no lock.
        if word.finished_at().is_some_and(|lsn| lsn <= horizon) {
            return;
        }
        self.aside
            .take_over(id, || StatusWord(slot.word.swap(StatusWord::MOVED.0, Ordering::AcqRel)));
    }

    /// Publishes the commit of an active transaction at `lsn`.
    pub(crate) fn commit(&self, id: TxnId, owner: u32, lsn: Lsn) {
        debug_assert!(lsn.0 < StatusWord::MOVED.0, "a log position leaves the flags free");
        self.finish(id.0, owner, StatusWord::committed(lsn));
    }

    /// Publishes that an active transaction is rolled back completely, as the log says at `lsn`.
    pub(crate) fn roll_back(&self, id: TxnId, owner: u32, lsn: Lsn) {
        self.finish(id.0, owner, StatusWord::rolled_back(lsn));
    }

    fn finish(&self, id: u64, owner: u32, word: StatusWord) {
        let slot = self.slot(id);
        let active = StatusWord::active(owner).0;
        if slot.tag.load(Ordering::Acquire) == id {
            let swap =
                slot.word.compare_exchange(active, word.0, Ordering::SeqCst, Ordering::Relaxed);
            if swap.is_ok() {
                return;
            }
        }
        self.aside.set(id, word);
    }

    /// What became of a transaction that was begun at some time.
    pub(crate) fn state(&self, id: TxnId) -> TxnState {
        if id.0 < self.first && id.0 < self.oldest_resumed.load(Ordering::Relaxed) {
            return TxnState::Finished;
        }
        let slot = self.slot(id.0);
        if slot.tag.load(Ordering::Acquire) == id.0 {
            let word = StatusWord(slot.word.load(Ordering::Acquire));
            fence(Ordering::Acquire);
            if word != StatusWord::MOVED && slot.tag.load(Ordering::Acquire) == id.0 {
                return word.state();
            }
        }
        self.aside.get(id.0).map_or(TxnState::Finished, StatusWord::state)
    }

    /// Moves the low-water mark over all transactions that are finished and durable.
    pub(crate) fn advance(&self, durable: Lsn) {
        let Some(_only) = self.advancing.try_lock() else { return };
        let start = self.low_water.load(Ordering::Relaxed);
        let mut low = if start < self.first { self.least_resumed(durable) } else { start };
        while self.first <= low && low < self.next.load(Ordering::SeqCst) {
            if self.slot(low).tag.load(Ordering::Acquire) < low {
                break;
            }
            match self.state(TxnId(low)) {
                TxnState::Committed(commit_lsn) if commit_lsn <= durable => low += 1,
                TxnState::RolledBack | TxnState::Finished => low += 1,
                TxnState::Committed(_) | TxnState::Active(_) => break,
            }
        }
        debug_assert!(start <= low, "the low-water mark only rises");
        debug_assert!(low <= self.next.load(Ordering::SeqCst), "low_water ≤ next");
        if low != start {
            self.low_water.store(low, Ordering::Release);
        }
    }

    /// The least transaction of an earlier run that has not ended, or whose commit is not durable;
    /// `first` where there is none.
    fn least_resumed(&self, durable: Lsn) -> u64 {
        self.aside.least_unsettled(durable).map_or(self.first, |id| id.min(self.first))
    }

    /// Lets go of what none of the snapshots would ask for.
    pub(crate) fn forget(&self, snapshots: LiveSnapshots) {
        self.forget_below.fetch_max(snapshots.least_horizon().0, Ordering::Relaxed);
        self.aside.keep_for(snapshots);
    }

    #[cfg(test)]
    pub(super) fn aside_len(&self) -> usize {
        self.aside.len()
    }
}
