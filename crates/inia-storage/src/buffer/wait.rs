//! Where threads sleep that wait for a page latch: a sharded table of parked threads.
//!
//! A page's word has its wait bit set while threads are parked for it. The end of a latch clears
//! the bit and calls [`WaitTable::wake`], which wakes all readers and one writer, and sets the bit
//! again when writers remain. A parked thread checks its condition once more under the shard's
//! lock, so that no wake is lost:
//!
//! ```text
//!   waiter: lock shard, word still latched? set wait bit by CAS, enqueue, unlock shard, sleep
//!   holder: swap word to unlocked (takes the wait bit), lock shard, dequeue, unlock shard, wake
//! ```

use super::entry::Word;
use crate::sync::{AtomicU64, Mutex, Ordering, SPINS, WaitCell, thread_local};
use inia_base::ids::PageId;
use std::sync::Arc;

const SHARDS: usize = 64;

/// What a waiting thread wants of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// An optimistic read.
    Read,
    /// A shared latch.
    Share,
    /// The exclusive latch.
    Write,
}

/// How an attempt to latch ended.
pub(super) enum Attempt<T> {
    /// It succeeded.
    Got(T),
    /// Another thread is in the way: wait.
    Blocked,
    /// The page is not in memory.
    Absent,
}

impl Intent {
    fn is_blocked(self, word: Word) -> bool {
        match self {
            Intent::Read => word.is_locked(),
            Intent::Share => word.refuses_shared(),
            Intent::Write => word.is_latched(),
        }
    }
}

struct Parked {
    page: PageId,
    intent: Intent,
    cell: Arc<WaitCell>,
}

/// The parked threads of all pages.
pub(super) struct WaitTable {
    shards: Box<[Mutex<Vec<Parked>>]>,
}

thread_local! {
    static CELL: Arc<WaitCell> = Arc::new(WaitCell::new());
}

impl WaitTable {
    pub(super) fn new() -> WaitTable {
        WaitTable { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    fn shard(&self, page: PageId) -> &Mutex<Vec<Parked>> {
        &self.shards[page.0 as usize % SHARDS]
    }

    /// Returns when `intent` has a chance: spins briefly, then sleeps.
    #[cold]
    pub(super) fn wait(&self, page: PageId, entry: &AtomicU64, intent: Intent) {
        for _ in 0..SPINS {
            std::hint::spin_loop();
            if !intent.is_blocked(Word(entry.load(Ordering::Relaxed))) {
                return;
            }
        }
        let cell = CELL.with(Arc::clone);
        let mut shard = self.shard(page).lock();
        loop {
            let word = Word(entry.load(Ordering::Relaxed));
            if !intent.is_blocked(word) {
                return;
            }
            let waiting = word.with_waiters().0;
            let set = word.has_waiters()
                || entry
                    .compare_exchange(word.0, waiting, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok();
            if set {
                break;
            }
        }
        shard.push(Parked { page, intent, cell: Arc::clone(&cell) });
        drop(shard);
        cell.wait(None);
    }

    /// Wakes who can go on now that a latch of the page has ended and its wait bit was taken.
    #[cold]
    pub(super) fn wake(&self, page: PageId, entry: &AtomicU64) {
        let mut shard = self.shard(page).lock();
        let mut woken = Vec::new();
        let mut writer = false;
        let mut remain = false;
        shard.retain(|parked| {
            if parked.page != page {
                return true;
            }
            if parked.intent == Intent::Write {
                if writer {
                    remain = true;
                    return true;
                }
                writer = true;
            }
            woken.push(Arc::clone(&parked.cell));
            false
        });
        if remain {
            entry.fetch_or(Word::WAITERS_BIT, Ordering::Relaxed);
        }
        drop(shard);
        for cell in woken {
            cell.wake();
        }
    }
}
