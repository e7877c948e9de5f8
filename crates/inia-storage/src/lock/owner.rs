//! The part of a session's transaction that other sessions see: who it is, what it holds and what
//! it waits for.
//!
//! Invariants:
//! - `wait` is `On` exactly while the owner stands in the queue (or gap list) its target names.
//! - `awaited` is set while anybody waits for what the owner holds. It may stay set longer, until
//!   its transaction ends.
//! - Lock order: detector, then a record shard or a tree's gaps, then `held` or `wait`.

use super::gap::Gaps;
use super::record::LockName;
use super::wait::LockWait;
use crate::request::LockMode;
use crate::sync::{AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, WaitCell};
use inia_base::ids::{TreeId, TxnId};
use std::sync::Arc;

/// How many requests may take a lock that was granted to a waiter before that one has run.
pub(super) const MAX_OVERTAKEN: usize = 16;

/// A lock owner: one per session, reused by its successive transactions.
pub(crate) struct Owner {
    index: u32,
    /// A number that the layer above knows the session by.
    label: AtomicU64,
    txn: AtomicU64,
    undo_records: AtomicU64,
    held: Mutex<Held>,
    pub(super) wait: Mutex<Wait>,
    /// The last wait that ended as a deadlock's victim or by its time, until somebody asks for it.
    failed_wait: Mutex<Option<Box<LockWait>>>,
    pub(super) cell: WaitCell,
    interrupted: AtomicBool,
    awaited: AtomicBool,
}

/// What an owner must give back when its transaction ends.
#[derive(Default)]
pub(super) struct Held {
    pub(super) records: Vec<LockName>,
    pub(super) gaps: Vec<Arc<Gaps>>,
}

/// Where an owner stands.
#[derive(Clone, Default)]
pub(super) enum Wait {
    /// Running.
    #[default]
    No,
    /// Waiting for this.
    On(Arc<WaitTarget>),
    /// The wait for this is over; the waiter has not run yet.
    Granted(Arc<WaitTarget>),
    /// Chosen to break a deadlock; still queued until it runs.
    Victim(Arc<WaitTarget>),
}

/// What a waiter waits for.
pub(super) struct WaitTarget {
    pub(super) tree: TreeId,
    pub(super) key: Vec<u8>,
    pub(super) kind: WaitQueue,
    overtaken: AtomicUsize,
}

impl WaitTarget {
    pub(super) fn new(tree: TreeId, key: &[u8], kind: WaitQueue) -> Arc<WaitTarget> {
        Arc::new(WaitTarget { tree, key: key.to_vec(), kind, overtaken: AtomicUsize::new(0) })
    }

    fn waits_for(&self, name: LockName) -> bool {
        matches!(self.kind, WaitQueue::Record(other, _) if other == name)
    }

    /// Counts one who goes first; false when the waiter has let enough others go first.
    fn be_overtaken(&self) -> bool {
        self.overtaken.fetch_add(1, Ordering::Relaxed) < MAX_OVERTAKEN
    }
}

/// The structure a waiter is queued in.
pub(super) enum WaitQueue {
    /// A record lock's queue.
    Record(LockName, LockMode),
    /// The gaps that cover the key.
    Insert(Arc<Gaps>),
}

impl Owner {
    /// An owner without locks. `index` identifies it.
    pub(crate) fn new(index: u32) -> Owner {
        Owner {
            index,
            label: AtomicU64::new(0),
            txn: AtomicU64::new(0),
            undo_records: AtomicU64::new(0),
            held: Mutex::default(),
            wait: Mutex::default(),
            failed_wait: Mutex::default(),
            cell: WaitCell::new(),
            interrupted: AtomicBool::new(false),
            awaited: AtomicBool::new(false),
        }
    }

    /// The owner's number among all owners.
    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    /// The number that the layer above knows it by, 0 when none was given.
    pub(crate) fn label(&self) -> u64 {
        self.label.load(Ordering::Relaxed)
    }

    /// Gives it a number that the layer above knows it by.
    pub(crate) fn set_label(&self, label: u64) {
        self.label.store(label, Ordering::Relaxed);
    }

    /// The id of its writing transaction, 0 when it has none.
    pub(crate) fn txn(&self) -> TxnId {
        TxnId(self.txn.load(Ordering::Acquire))
    }

    /// Gives the owner its transaction's id.
    pub(crate) fn set_txn(&self, id: TxnId) {
        let known = self.txn();
        debug_assert!(id.0 != 0 && (known.0 == 0 || known == id), "one transaction at a time");
        self.txn.store(id.0, Ordering::Release);
    }

    /// How many records its transaction has changed so far.
    pub(crate) fn set_undo_records(&self, count: u64) {
        self.undo_records.store(count, Ordering::Relaxed);
    }

    /// How many records its transaction has changed so far.
    pub(crate) fn undo_records(&self) -> u64 {
        self.undo_records.load(Ordering::Relaxed)
    }

    /// How much work would be lost with it: changed records plus locks.
    pub(crate) fn weight(&self) -> u64 {
        self.undo_records() + self.lock_count() as u64
    }

    /// How many explicit locks it holds.
    pub(crate) fn lock_count(&self) -> usize {
        let held = self.held.lock();
        held.records.len() + held.gaps.len()
    }

    /// Whether it is waiting for a lock, and will wait until somebody else does something.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(*self.wait.lock(), Wait::On(_)) && !self.is_interrupted()
    }

    /// Keeps a wait that has failed.
    pub(super) fn set_failed_wait(&self, wait: LockWait) {
        *self.failed_wait.lock() = Some(Box::new(wait));
    }

    /// The last wait that has failed; a second call gives none.
    pub(crate) fn take_failed_wait(&self) -> Option<Box<LockWait>> {
        self.failed_wait.lock().take()
    }

    /// Asks the owner to stop: its waits end with [`crate::StorageError::Interrupted`].
    pub(crate) fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Release);
        self.cell.wake();
    }

    /// Whether it was asked to stop.
    #[inline]
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Forgets a request to stop.
    pub(crate) fn clear_interrupt(&self) {
        self.interrupted.store(false, Ordering::Release);
    }

    /// Notes that somebody waits for what the owner holds.
    pub(super) fn set_awaited(&self) {
        self.awaited.store(true, Ordering::Release);
    }

    /// Whether somebody may wait for what the owner holds. Without it no cycle of waits leads
    /// through an owner that begins to wait.
    pub(super) fn is_awaited(&self) -> bool {
        self.awaited.load(Ordering::Acquire)
    }

    pub(super) fn note_record(&self, name: LockName) {
        self.held.lock().records.push(name);
    }

    /// Notes a lock taken for the owner by another thread, unless its transaction `id` is over.
    pub(super) fn note_record_of(&self, id: TxnId, name: LockName) -> bool {
        let mut held = self.held.lock();
        let same = self.txn() == id;
        if same {
            held.records.push(name);
        }
        same
    }

    pub(super) fn forget_record(&self, name: LockName) {
        let mut held = self.held.lock();
        if let Some(at) = held.records.iter().rposition(|&other| other == name) {
            held.records.swap_remove(at);
        }
    }

    pub(super) fn note_gaps(&self, gaps: &Arc<Gaps>) {
        self.held.lock().gaps.push(Arc::clone(gaps));
    }

    /// Gives up the gaps that it holds.
    pub(super) fn take_gaps(&self) -> Vec<Arc<Gaps>> {
        std::mem::take(&mut self.held.lock().gaps)
    }

    /// Ends the transaction's identity and hands over what it held, in one step: afterwards nobody
    /// can take a lock in its name.
    pub(super) fn end(&self) -> Held {
        let mut held = self.held.lock();
        debug_assert!(
            !matches!(*self.wait.lock(), Wait::On(_)),
            "a transaction that waits goes on"
        );
        self.txn.store(0, Ordering::Release);
        self.undo_records.store(0, Ordering::Relaxed);
        self.awaited.store(false, Ordering::Release);
        std::mem::take(&mut *held)
    }

    /// Gives back the emptied lists of [`Owner::end`], for their memory.
    pub(super) fn recycle(&self, mut empty: Held) {
        const KEEP: usize = 1 << 12;
        debug_assert!(self.txn().0 == 0, "the transaction has ended");
        empty.records.clear();
        empty.gaps.clear();
        if empty.records.capacity() <= KEEP {
            let mut held = self.held.lock();
            if held.records.is_empty() && held.gaps.is_empty() {
                *held = empty;
            }
        }
    }

    /// Ends a wait successfully, if it is still on. The caller wakes the waiter once it has
    /// released its own latches ([`Owner::wake`]): the waiter goes for them first.
    pub(super) fn grant(&self) -> bool {
        let mut wait = self.wait.lock();
        let Wait::On(target) = &*wait else { return false };
        *wait = Wait::Granted(Arc::clone(target));
        true
    }

    /// Takes a grant of the record lock `name` back, so that the wait goes on; false when the
    /// waiter has run since, or has been overtaken often enough.
    pub(super) fn revoke(&self, name: LockName) -> bool {
        let mut wait = self.wait.lock();
        let Wait::Granted(target) = &*wait else { return false };
        let revoked = target.waits_for(name) && target.be_overtaken();
        if revoked {
            *wait = Wait::On(Arc::clone(target));
        }
        revoked
    }

    /// Wakes the owner, whose wait is over.
    pub(super) fn wake(&self) {
        self.cell.wake();
    }
}
