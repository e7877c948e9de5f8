//! Transactions whose slot in the status table's ring went to a later one, while a snapshot may
//! still ask for them: those that still run, and those that were running when a snapshot was taken
//! that is still open. They are few, however many transactions have passed since.
//!
//! A reader that meets an old version mostly asks for a transaction that is not here. A filter of
//! counters says so without a lock: transaction `id` is counted in counter `id % COUNTERS`.
//!
//! Invariants:
//! - the counter of each entry is above zero before the entry's slot in the ring changes hands;
//! - entries and their counters change under the lock only.

use super::snapshot::LiveSnapshots;
use super::status::StatusWord;
use crate::sync::{AtomicU32, Ordering, RwLock};
use inia_base::ids::{Lsn, TxnId};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Counters of the filter: 16 KiB.
const COUNTERS: usize = 4096;

/// The entries beside the ring.
pub(super) struct Aside {
    filter: Vec<AtomicU32>,
    entries: RwLock<Entries>,
}

struct Entries {
    words: HashMap<u64, StatusWord>,
    /// The snapshots as they were last looked at.
    snapshots: LiveSnapshots,
}

impl Entries {
    fn needs(&self, id: u64, word: StatusWord) -> bool {
        word.finished_at().is_none_or(|lsn| self.snapshots.may_ask_for(TxnId(id), lsn))
    }
}

impl Aside {
    /// Without entries. Until the first call of [`Aside::keep_for`] everything is kept.
    pub(super) fn new() -> Aside {
        let snapshots = LiveSnapshots::new(Lsn(0), TxnId(0), std::iter::empty());
        Aside {
            filter: (0..COUNTERS).map(|_| AtomicU32::new(0)).collect(),
            entries: RwLock::new(Entries { words: HashMap::new(), snapshots }),
        }
    }

    fn counter(&self, id: u64) -> &AtomicU32 {
        &self.filter[id as usize % COUNTERS]
    }

    /// The entry of a transaction. The caller has seen that its slot in the ring is gone.
    pub(super) fn get(&self, id: u64) -> Option<StatusWord> {
        if self.counter(id).load(Ordering::Acquire) == 0 {
            return None;
        }
        self.entries.read().words.get(&id).copied()
    }

    /// Makes the entry of a transaction, or gives it another word.
    pub(super) fn set(&self, id: u64, word: StatusWord) {
        let mut entries = self.entries.write();
        if let Entry::Vacant(vacant) = entries.words.entry(id) {
            self.counter(id).fetch_add(1, Ordering::Release);
            vacant.insert(word);
        } else {
            entries.words.insert(id, word);
        }
    }

    /// Takes the word of a transaction out of its slot, and keeps it while somebody may ask for it.
    pub(super) fn take_over(&self, id: u64, take: impl FnOnce() -> StatusWord) {
        let mut entries = self.entries.write();
        // Who sees the slot without the word shall see the counter, and wait for the lock.
        self.counter(id).fetch_add(1, Ordering::Release);
        let word = take();
        if entries.needs(id, word) {
            let before = entries.words.insert(id, word);
            debug_assert!(before.is_none(), "transaction {id} was in the ring and beside it");
        } else {
            self.counter(id).fetch_sub(1, Ordering::Release);
        }
    }

    /// Drops the entries that none of the snapshots asks for.
    pub(super) fn keep_for(&self, snapshots: LiveSnapshots) {
        let mut entries = self.entries.write();
        entries.snapshots = snapshots;
        if entries.words.is_empty() {
            return;
        }
        let mut words = std::mem::take(&mut entries.words);
        words.retain(|&id, word| {
            let needed = entries.needs(id, *word);
            if !needed {
                let count = self.counter(id).fetch_sub(1, Ordering::Release);
                debug_assert!(count > 0, "the counter of each entry is above zero");
            }
            needed
        });
        entries.words = words;
    }

    /// The least transaction of them that still runs, or whose end is not durable.
    pub(super) fn least_unsettled(&self, durable: Lsn) -> Option<u64> {
        let entries = self.entries.read();
        let settled = |word: &StatusWord| word.finished_at().is_some_and(|lsn| lsn <= durable);
        entries.words.iter().filter(|(_, word)| !settled(word)).map(|(&id, _)| id).min()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.read().words.len()
    }
}
