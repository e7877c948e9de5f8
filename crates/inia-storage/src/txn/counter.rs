//! Counters: a tree's user numbers its records, and no number comes twice, not even after a crash.
//!
//! The counter itself is one atomic in memory, and taking a number logs nothing: after a restart
//! the user counts on behind the greatest number that it finds in the tree. That fails only where
//! a record with a great number is gone. So the counter goes into the tree's root page just before
//! such a record goes: before a deletion (its user says so, [`Txn::keep_counter`]) and before an
//! insert is undone. As that writes the counter as it stands, most deletions after it find their
//! number kept already.
//!
//! ```text
//!   insert 1, 2, 3     counter 4, kept 0     nothing is logged for it
//!   delete 3           counter 4, kept 4     the root page learns 4, then 3 goes
//!   delete 1           counter 4, kept 4     nothing to do
//!   crash              counter 0, kept 4     the greatest is 2, yet the next number is 4
//! ```
//!
//! The log is in order: a reader that finds the record gone finds the counter. A transaction that a
//! crash ended before it was rolled back keeps no numbers; no client has seen them.

use super::handle::Txn;
use super::shared::EngineShared;
use super::trees::Tree;
use crate::Result;
use crate::store::Store;
use crate::sync::{AtomicU64, Ordering};

/// A tree's counter. In a cache line of its own, as writers of all sessions count.
#[derive(Default)]
#[repr(align(64))]
pub struct Counter {
    /// The next number; 0 = not known.
    next: AtomicU64,
    /// What the root page has, or less.
    kept: AtomicU64,
}

impl Counter {
    /// The next number; 0 while nobody has said where to begin.
    pub fn next(&self) -> u64 {
        self.next.load(Ordering::Acquire)
    }

    /// Begins to count at `next`, if that is not under way.
    pub fn begin(&self, next: u64) {
        let _ = self.next.compare_exchange(0, next, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Replaces the next number by what `take` makes of it; `take` may be called several times.
    pub fn take(&self, mut take: impl FnMut(u64) -> u64) {
        let (order, read) = (Ordering::AcqRel, Ordering::Acquire);
        let _ = self.next.fetch_update(order, read, |next| Some(take(next)));
    }

    /// The next number is at least this.
    pub fn raise(&self, next: u64) {
        self.next.fetch_max(next, Ordering::AcqRel);
    }

    /// Whether a record with this number may go without more ado.
    #[inline]
    pub fn keeps(&self, number: u64) -> bool {
        number < self.kept.load(Ordering::Acquire)
    }
}

impl EngineShared {
    /// Keeps the counter as it stands, at least at `least`.
    fn keep_counter(&self, tree: &Tree, least: u64, undoing: bool) -> Result<()> {
        let counter = tree.counter();
        let next = counter.next().max(least);
        if next <= counter.kept.load(Ordering::Acquire) || tree.shows_newest() {
            return Ok(());
        }
        let begin = if undoing { Store::mtr_for_rollback } else { Store::mtr };
        let kept = tree.btree().change_counter(&self.store, begin, |old| old.max(next))?;
        counter.kept.fetch_max(kept, Ordering::AcqRel);
        Ok(())
    }

    /// An insert is about to be undone.
    pub(super) fn keep_counter_of_undone(&self, tree: &Tree) -> Result<()> {
        self.keep_counter(tree, 0, true)
    }
}

impl Txn {
    /// Keeps the tree's counter, at least at `least`: a record with the number before it is about
    /// to go, and [`Counter::keeps`] says that this is needed.
    pub fn keep_counter(&mut self, tree: &Tree, least: u64) -> Result<()> {
        self.core.keep_counter(tree, least, false)
    }
}

impl EngineShared {
    /// The tree's counter as it was kept last; 0 = never. To be read after the greatest number of
    /// the tree's records: one that is not there any more is below what is kept then.
    pub(crate) fn kept_counter(&self, tree: &Tree) -> Result<u64> {
        let kept = tree.btree().counter(&self.store)?;
        tree.counter().kept.fetch_max(kept, Ordering::AcqRel);
        Ok(kept)
    }

    /// Forgets the counter, what was kept of it, too. Nobody else may use the tree.
    pub(crate) fn forget_counter(&self, tree: &Tree) -> Result<()> {
        tree.btree().change_counter(&self.store, Store::mtr, |_| 0)?;
        tree.counter().kept.store(0, Ordering::Release);
        tree.counter().next.store(0, Ordering::Release);
        Ok(())
    }
}
