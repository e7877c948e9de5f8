//! Waiting for locks, and finding deadlocks when a wait begins.
//!
//! A cycle through a newcomer needs somebody who waits for what the newcomer holds. Holders are
//! marked when a request begins to wait for them, and when they are served before others
//! ([`Owner::set_awaited`]). A newcomer without the mark begins to wait without a search, however
//! long the queue is.
//!
//! A wait is registered while the detector's mutex is held, and only a running transaction can
//! begin one. So during a search no transaction that was seen waiting can have been granted its
//! lock and begun another wait: every edge of a cycle that is found was there at the same time.
//! Edges that come later start from later waits, which search again. A granted lock makes others
//! wait for one who runs, with one exception: an implicit lock that is made explicit
//! ([`LockSystem::make_explicit`]) may stand before waiters while its holder waits too, so that is
//! followed by a search as well. A waiter whose grant is taken back ([`Owner::revoke`]) waits for
//! one who runs, too.

use super::gap::Gaps;
use super::owner::{Owner, Wait, WaitQueue, WaitTarget};
use super::record::{Conversion, Grant, HeldModes, LockName, RecordLocks};
use crate::counts::{self, Count};
use crate::error::StorageError;
use crate::request::LockMode;
use crate::sync::{AtomicU64, Mutex, Ordering, Wake};
use inia_base::ids::{TreeId, TxnId};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, StorageError>;

/// A record lock that is asked for.
#[derive(Clone, Copy)]
pub(crate) struct RecordRequest<'a> {
    /// The record's tree.
    pub(crate) tree: TreeId,
    /// The record's key.
    pub(crate) key: &'a [u8],
    /// Shared or exclusive.
    pub(crate) mode: LockMode,
}

impl RecordRequest<'_> {
    fn name(&self) -> LockName {
        LockName::new(self.tree, self.key)
    }
}

/// A transaction that waits for others, as seen at one moment.
#[derive(Clone, Debug)]
pub struct LockWait {
    /// The waiting session's number.
    pub session: u32,
    /// The waiting transaction, 0 when it has written nothing.
    pub txn: TxnId,
    /// The tree of the record.
    pub tree: TreeId,
    /// The record's key, or the key to be inserted.
    pub key: Vec<u8>,
    /// The wanted mode; `None` for an insert into a locked gap.
    pub mode: Option<LockMode>,
    /// The sessions it waits for, with their transactions.
    pub blockers: Vec<(u32, TxnId)>,
}

/// Counters of the lock system.
#[derive(Default)]
pub(crate) struct LockCounters {
    pub(crate) waits: AtomicU64,
    pub(crate) wait_micros: AtomicU64,
    /// Of the longest wait.
    pub(crate) max_wait_micros: AtomicU64,
    pub(crate) deadlocks: AtomicU64,
    pub(crate) timeouts: AtomicU64,
}

/// What a search for a cycle knows, so that it looks at each edge of a long queue once.
#[derive(Default)]
struct Search {
    /// Owners that it has come to.
    seen: HashSet<u32>,
    /// Owners in the queue of a record that stand ahead of an exclusive waiter it has come to. That
    /// one waits for all whom they wait for.
    covered: HashSet<(LockName, u32)>,
}

/// All locks of an engine.
pub(crate) struct LockSystem {
    records: RecordLocks,
    detector: Mutex<()>,
    pub(crate) counters: LockCounters,
}

impl LockSystem {
    pub(crate) fn new() -> LockSystem {
        LockSystem {
            records: RecordLocks::new(),
            detector: Mutex::new(()),
            counters: LockCounters::default(),
        }
    }

    /// Takes a record lock if nobody is in the way.
    pub(crate) fn try_record(&self, owner: &Arc<Owner>, request: RecordRequest<'_>) -> Grant {
        self.records.request(owner, request.name(), request.mode)
    }

    /// Whether someone else's lock or earlier request forbids writing or locking the record.
    #[inline]
    pub(crate) fn conflicts(&self, owner: &Arc<Owner>, request: RecordRequest<'_>) -> bool {
        self.records.conflicts(owner, request.name(), request.mode)
    }

    /// Whether nobody has or awaits a lock of any record.
    pub(crate) fn has_no_records(&self) -> bool {
        self.records.is_empty()
    }

    /// All record locks that are held.
    pub(crate) fn held_records(&self) -> HashMap<LockName, Vec<HeldModes>> {
        self.records.held()
    }

    /// Makes the implicit lock of `holder`'s transaction `id` on a record explicit; false when that
    /// transaction is over. Transactions that wait for the record wait for `holder` from now on.
    pub(crate) fn make_explicit(
        &self,
        holder: &Arc<Owner>,
        id: TxnId,
        tree: TreeId,
        key: &[u8],
    ) -> bool {
        match self.records.make_explicit(holder, id, LockName::new(tree, key)) {
            Conversion::Over => return false,
            Conversion::Uncontended => {}
            Conversion::Awaited => {
                let _detector = self.detector.lock();
                self.break_deadlocks(holder);
            }
        }
        true
    }

    /// Releases a record lock that was fresh ([`Grant::is_fresh`]) before the transaction ends. The
    /// owner keeps the mode that it held before.
    pub(crate) fn unlock(&self, owner: &Arc<Owner>, request: RecordRequest<'_>) {
        self.records.release_mode(owner, request.name(), request.mode);
    }

    /// Gives back everything at the end of the owner's transaction. Its id is 0 from then on.
    pub(crate) fn release_all(&self, owner: &Arc<Owner>) {
        let held = owner.end();
        let mut served = Vec::new();
        for &name in &held.records {
            served.append(&mut self.records.release(owner, name));
        }
        for gaps in &held.gaps {
            served.append(&mut gaps.release(owner));
        }
        // Who goes on finds all locks released: one wait does not become several.
        served.iter().for_each(|waiter| waiter.wake());
        owner.recycle(held);
    }

    /// Gives back the gaps before the owner's transaction ends.
    pub(crate) fn release_gaps(&self, owner: &Arc<Owner>) {
        let mut served = Vec::new();
        for gaps in owner.take_gaps() {
            served.append(&mut gaps.release(owner));
        }
        served.iter().for_each(|waiter| waiter.wake());
    }

    /// Takes a record lock, waiting for it up to `limit`; whether it is fresh
    /// ([`Grant::is_fresh`]).
    pub(crate) fn wait_record(
        &self,
        owner: &Arc<Owner>,
        request: RecordRequest<'_>,
        limit: Duration,
    ) -> Result<bool> {
        let name = request.name();
        let kind = WaitQueue::Record(name, request.mode);
        let target = WaitTarget::new(request.tree, request.key, kind);
        let register = || *owner.wait.lock() = Wait::On(Arc::clone(&target));
        let detector = self.detector.lock();
        let grant = self.records.enqueue(owner, name, request.mode, register);
        if grant != Grant::Conflict {
            return Ok(grant.is_fresh());
        }
        self.break_deadlocks(owner);
        drop(detector);
        self.sleep(owner, limit)?;
        // Only a lock that was made explicit during the wait was held before. It may be released
        // early like a fresh one: the record's header still says who wrote it.
        debug_assert!(matches!(*owner.wait.lock(), Wait::No), "the wait is over");
        Ok(true)
    }

    /// Waits until no other owner's gap lock covers `key`.
    pub(crate) fn wait_insert(
        &self,
        owner: &Arc<Owner>,
        tree: TreeId,
        gaps: &Arc<Gaps>,
        key: &[u8],
        limit: Duration,
    ) -> Result<()> {
        let kind = WaitQueue::Insert(Arc::clone(gaps));
        let target = WaitTarget::new(tree, key, kind);
        let register = || *owner.wait.lock() = Wait::On(Arc::clone(&target));
        let detector = self.detector.lock();
        if !gaps.enqueue(owner, key, register) {
            return Ok(());
        }
        self.break_deadlocks(owner);
        drop(detector);
        self.sleep(owner, limit)
    }

    /// Sleeps until the registered wait ends.
    fn sleep(&self, owner: &Arc<Owner>, limit: Duration) -> Result<()> {
        debug_assert!(!matches!(*owner.wait.lock(), Wait::No), "a wait is registered before it");
        let start = Instant::now();
        self.counters.waits.fetch_add(1, Ordering::Relaxed);
        let result = loop {
            let limit = limit.saturating_sub(start.elapsed());
            let reason = if owner.is_interrupted() {
                Some(StorageError::Interrupted)
            } else if owner.cell.wait(Some(limit)) == Wake::TimedOut {
                Some(StorageError::LockWaitTimeout)
            } else {
                None
            };
            if let Some(result) = self.end_wait(owner, reason) {
                break result;
            }
        };
        let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.counters.wait_micros.fetch_add(micros, Ordering::Relaxed);
        self.counters.max_wait_micros.fetch_max(micros, Ordering::Relaxed);
        counts::add(Count::LockMicros, micros);
        result
    }

    /// Ends a wait from the waiter's side: because it is over, or for `reason`. `None` when it goes
    /// on. From here on nobody takes a grant back.
    fn end_wait(&self, owner: &Arc<Owner>, reason: Option<StorageError>) -> Option<Result<()>> {
        let mut wait = owner.wait.lock();
        let (target, error) = match (std::mem::take(&mut *wait), reason) {
            (Wait::Granted(_) | Wait::No, _) => return Some(Ok(())),
            (Wait::Victim(target), _) => (target, StorageError::Deadlock),
            (Wait::On(target), Some(error)) => (target, error),
            (on @ Wait::On(_), None) => {
                *wait = on;
                return None;
            }
        };
        drop(wait);
        if matches!(error, StorageError::LockWaitTimeout) {
            self.counters.timeouts.fetch_add(1, Ordering::Relaxed);
        }
        Some(Err(self.fail(owner, &target, error)))
    }

    /// Leaves a queue without a lock. Who stood in the way is kept, unless somebody asked the owner
    /// to stop.
    fn fail(&self, owner: &Arc<Owner>, target: &WaitTarget, error: StorageError) -> StorageError {
        if !matches!(error, StorageError::Interrupted) {
            owner.set_failed_wait(self.describe(owner, target));
        }
        self.leave(owner, target);
        error
    }

    fn leave(&self, owner: &Arc<Owner>, target: &WaitTarget) {
        match &target.kind {
            WaitQueue::Record(name, _) => self.records.dequeue(owner, *name),
            WaitQueue::Insert(gaps) => gaps.dequeue(owner),
        }
    }

    /// Breaks every cycle through `start`: new edges begin or end there. There is none while nobody
    /// waits for `start`, so that a newcomer to a long queue is not charged for its length.
    fn break_deadlocks(&self, start: &Arc<Owner>) {
        while start.is_awaited()
            && let Some(cycle) = self.find_cycle(start)
        {
            self.counters.deadlocks.fetch_add(1, Ordering::Relaxed);
            debug_assert!(Arc::ptr_eq(&cycle[0], start), "a cycle begins with the newcomer");
            let lightest = cycle.iter().min_by_key(|owner| owner.weight());
            let victim = lightest.expect("a cycle has members, the newcomer first");
            let mut wait = victim.wait.lock();
            if let Wait::On(target) = &*wait {
                *wait = Wait::Victim(Arc::clone(target));
                victim.cell.wake();
            }
        }
    }

    /// A cycle through `start` in the wait-for graph, `start` first.
    fn find_cycle(&self, start: &Arc<Owner>) -> Option<Vec<Arc<Owner>>> {
        let mut search = Search::default();
        let mut path = vec![Arc::clone(start)];
        let mut branches = vec![self.branch(start, &mut search)];
        while let Some(branch) = branches.last_mut() {
            match branch.pop() {
                None => {
                    branches.pop();
                    path.pop();
                }
                Some(next) if Arc::ptr_eq(&next, start) => return Some(path),
                Some(next) => {
                    if search.seen.insert(next.index()) {
                        branches.push(self.branch(&next, &mut search));
                        path.push(next);
                    }
                }
            }
        }
        None
    }

    /// Everyone whom `owner` waits for, unless the search has them by another way already; nobody
    /// when it runs or was chosen as a victim.
    fn branch(&self, owner: &Arc<Owner>, search: &mut Search) -> Vec<Arc<Owner>> {
        let Wait::On(target) = owner.wait.lock().clone() else { return Vec::new() };
        let WaitQueue::Record(name, _) = target.kind else {
            return self.blockers_of(owner, &target);
        };
        if search.covered.contains(&(name, owner.index())) {
            return Vec::new();
        }
        let mut out = Vec::new();
        if self.records.blockers(owner, name, &mut out) {
            search.covered.extend(out.iter().map(|other| (name, other.index())));
        }
        out
    }

    fn blockers_of(&self, owner: &Arc<Owner>, target: &WaitTarget) -> Vec<Arc<Owner>> {
        let mut out = Vec::new();
        match &target.kind {
            WaitQueue::Record(name, _) => {
                self.records.blockers(owner, *name, &mut out);
            }
            WaitQueue::Insert(gaps) => gaps.blockers(owner, &mut out),
        }
        out
    }

    /// Looks at owners while no wait can begin: one that is seen waiting is no victim.
    pub(crate) fn at_rest<R>(&self, look: impl FnOnce() -> R) -> R {
        let _detector = self.detector.lock();
        look()
    }

    /// Whether `owner` waits now.
    pub(crate) fn is_waiting(&self, owner: &Arc<Owner>) -> bool {
        matches!(*owner.wait.lock(), Wait::On(_))
    }

    /// What `owner` waits for now, if it waits.
    pub(crate) fn wait_of(&self, owner: &Arc<Owner>) -> Option<LockWait> {
        let Wait::On(target) = owner.wait.lock().clone() else { return None };
        Some(self.describe(owner, &target))
    }

    fn describe(&self, owner: &Arc<Owner>, target: &WaitTarget) -> LockWait {
        let blockers = self.blockers_of(owner, target);
        LockWait {
            session: owner.index(),
            txn: owner.txn(),
            tree: target.tree,
            key: target.key.clone(),
            mode: match target.kind {
                WaitQueue::Record(_, mode) => Some(mode),
                WaitQueue::Insert(_) => None,
            },
            blockers: blockers.iter().map(|other| (other.index(), other.txn())).collect(),
        }
    }
}
