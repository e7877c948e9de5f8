//! Sessions: the shared part of each transaction handle, and the registry of them all.
//!
//! A session outlives its handle: its history may still wait for purge. The next handle adopts it.

use super::snapshot::{Announced, LiveSnapshots, Snapshot};
use super::undo::{History, UndoLog, UndoRef};
use crate::lock::Owner;
use crate::request::Isolation;
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering, RwLock, fence};
use inia_base::ids::{Lsn, TreeId, TxnId};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

const NONE: u64 = u64::MAX;

/// What other threads see of a session.
///
/// Wide: one field for each thing that other threads ask of it.
pub(crate) struct Session {
    /// Its identity towards locks.
    pub(crate) owner: Arc<Owner>,
    /// Its undo chunks and finished transactions.
    pub(crate) history: Arc<Mutex<History>>,
    /// What the list of active transactions shows.
    pub(crate) started: Mutex<Option<Started>>,
    /// The id of its running transaction, until the record that ends it is in the log.
    writing: Mutex<TxnId>,
    /// The name of its transaction once that is prepared. It changes only while `writing` is held.
    prepared: Mutex<Option<Vec<u8>>>,
    /// The newest undo record of its running transaction.
    undo_tail: AtomicU64,
    /// There are newer ones, whose steps are in the log already or about to be.
    undo_ahead: AtomicBool,
    /// Bytes of the undo records of its running transaction.
    undo_bytes: AtomicU64,
    /// The trees that its running transaction has made.
    pub(crate) created: Mutex<Vec<TreeId>>,
    /// Oldest horizon that its snapshots may have; `NONE` without a snapshot.
    horizon: AtomicU64,
    /// The end of its snapshot; `NONE` without one, and while one is being taken.
    snapshot_end: AtomicU64,
    /// The log from here on is needed to roll its transaction back; `NONE` without one.
    log_needed: AtomicU64,
    /// End of the record that finished that transaction; 0 while it runs.
    log_done: AtomicU64,
}

/// When a transaction was opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Started {
    pub(crate) wall: SystemTime,
    pub(crate) clock: Instant,
    pub(crate) isolation: Isolation,
}

impl Session {
    fn new(index: u32) -> Session {
        Session {
            owner: Arc::new(Owner::new(index)),
            history: Arc::default(),
            started: Mutex::new(None),
            writing: Mutex::default(),
            prepared: Mutex::default(),
            undo_tail: AtomicU64::new(0),
            undo_ahead: AtomicBool::new(false),
            undo_bytes: AtomicU64::new(0),
            created: Mutex::default(),
            horizon: AtomicU64::new(NONE),
            snapshot_end: AtomicU64::new(NONE),
            log_needed: AtomicU64::new(NONE),
            log_done: AtomicU64::new(0),
        }
    }

    /// Announces a snapshot: first `early`, a horizon read before, then the end of the one that
    /// `read` gives. A purge of versions either sees `early`, or freed only what the later
    /// horizon does not need.
    pub(crate) fn announce(&self, early: Lsn, read: impl FnOnce() -> Snapshot) -> Snapshot {
        debug_assert_eq!(self.snapshot_end.load(Ordering::Relaxed), NONE, "two snapshots");
        self.horizon.store(early.0, Ordering::Release);
        fence(Ordering::SeqCst);
        let snapshot = read();
        debug_assert!(early <= snapshot.horizon, "the durable log only grows");
        self.snapshot_end.store(snapshot.end.0, Ordering::Release);
        snapshot
    }

    /// Ends the snapshot.
    pub(crate) fn withdraw(&self) {
        // First the end: a purge that sees the next snapshot's horizon does not see this one's end.
        self.snapshot_end.store(NONE, Ordering::Relaxed);
        self.horizon.store(NONE, Ordering::Release);
    }

    /// What is announced of its snapshot, if it has one.
    fn announced(&self) -> Option<Announced> {
        let horizon = self.horizon.load(Ordering::Acquire);
        let end = self.snapshot_end.load(Ordering::Acquire);
        let end = (end != NONE).then_some(TxnId(end));
        (horizon != NONE).then_some(Announced { horizon: Lsn(horizon), end })
    }

    /// Keeps the log from `closed` on, from before the transaction's first record.
    pub(crate) fn hold_log(&self, closed: Lsn, durable: Lsn) {
        let done = self.log_done.load(Ordering::Relaxed);
        let pending = done > durable.0 && self.log_needed.load(Ordering::Relaxed) != NONE;
        if !pending {
            self.log_needed.store(closed.0, Ordering::Release);
        }
        self.log_done.store(0, Ordering::Release);
        fence(Ordering::SeqCst);
    }

    /// The log is needed no longer once it is durable up to `done`.
    pub(crate) fn release_log(&self, done: Lsn) {
        self.log_done.store(done.0, Ordering::Release);
    }

    /// A transaction has got its id.
    pub(crate) fn begin_writing(&self, txn: TxnId) {
        *self.writing.lock() = txn;
    }

    /// Logs the end of the running transaction, where it has anything in the log. Afterwards
    /// nothing more is logged in its name.
    pub(crate) fn end_writing(&self, append: impl FnOnce() -> Lsn) -> Lsn {
        let mut writing = self.writing.lock();
        debug_assert!(writing.0 != 0, "a transaction ends once");
        *writing = TxnId(0);
        *self.prepared.lock() = None;
        append()
    }

    /// Notes that the running transaction `txn` is prepared under a name, or no longer, and logs
    /// that; `None` where it is over.
    pub(crate) fn set_prepared(
        &self,
        txn: TxnId,
        name: Option<Vec<u8>>,
        append: impl FnOnce() -> Lsn,
    ) -> Option<Lsn> {
        self.while_writing(txn, || {
            let mut prepared = self.prepared.lock();
            debug_assert!(prepared.is_some() != name.is_some(), "it is prepared once");
            *prepared = name;
            append()
        })
    }

    /// The name of its transaction, where that is prepared. While `writing` is held it stays so.
    pub(crate) fn prepared(&self) -> Option<Vec<u8>> {
        self.prepared.lock().clone()
    }

    /// Runs `act` if `txn` is still the running transaction, which cannot end meanwhile.
    pub(crate) fn while_writing<R>(&self, txn: TxnId, act: impl FnOnce() -> R) -> Option<R> {
        let writing = self.writing.lock();
        (*writing == txn).then(act)
    }

    /// The log is needed from `later` on instead of `from`, if that has not changed meanwhile.
    pub(crate) fn move_log_hold(&self, from: Lsn, later: Lsn) {
        debug_assert!(from <= later, "a hold on the log moves forward");
        let (from, later) = (from.0, later.0);
        // Otherwise the transaction is over, and its successor has set a mark of its own.
        let _ = self.log_needed.compare_exchange(from, later, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Announces that steps are about to be logged whose undo records are not published yet.
    pub(crate) fn announce_steps(&self) {
        // The log's end that has them is published later, by the same thread.
        self.undo_ahead.store(true, Ordering::Relaxed);
    }

    /// Publishes how far the undo of the running transaction has come.
    pub(crate) fn publish_undo(&self, undo: &UndoLog) {
        self.owner.set_undo_records(undo.records());
        self.undo_bytes.store(undo.bytes(), Ordering::Relaxed);
        self.undo_tail.store(undo.tail().0, Ordering::Release);
        self.undo_ahead.store(false, Ordering::Release);
    }

    /// The running transaction is over.
    pub(crate) fn withdraw_undo(&self) {
        self.undo_tail.store(UndoRef::NONE.0, Ordering::Release);
        self.undo_ahead.store(false, Ordering::Release);
        self.undo_bytes.store(0, Ordering::Relaxed);
        self.created.lock().clear();
    }

    /// The newest undo record of the running transaction; `None` at a moment when the log, up to an
    /// end that was read before, may have steps that are newer.
    pub(crate) fn undo_tail(&self) -> Option<UndoRef> {
        let ahead = self.undo_ahead.load(Ordering::Acquire);
        (!ahead).then(|| UndoRef(self.undo_tail.load(Ordering::Acquire)))
    }

    /// Bytes of the undo records of the running transaction.
    pub(crate) fn undo_bytes(&self) -> u64 {
        self.undo_bytes.load(Ordering::Relaxed)
    }

    /// Where the log begins that a rollback of the running transaction needs.
    pub(crate) fn needed_log(&self, durable: Lsn) -> Option<Lsn> {
        let needed = self.log_needed.load(Ordering::Acquire);
        let done = self.log_done.load(Ordering::Acquire);
        let over = needed == NONE || (done != 0 && done <= durable.0);
        (!over).then_some(Lsn(needed))
    }
}

/// All sessions of an engine.
#[derive(Default)]
pub(crate) struct Sessions {
    all: RwLock<Vec<Arc<Session>>>,
    free: Mutex<Vec<u32>>,
}

impl Sessions {
    /// A session that no handle uses.
    pub(crate) fn attach(&self) -> Arc<Session> {
        let free = self.free.lock().pop();
        if let Some(index) = free {
            return Arc::clone(&self.all.read()[index as usize]);
        }
        let mut all = self.all.write();
        let index = u32::try_from(all.len()).expect("invariant: sessions are bounded by threads");
        let session = Arc::new(Session::new(index));
        all.push(Arc::clone(&session));
        session
    }

    /// Gives the session to the next handle, once this one's undo log has let its history go.
    pub(crate) fn detach(&self, session: &Session, undo: &mut UndoLog) {
        undo.let_go();
        debug_assert!(session.announced().is_none(), "an idle session has no snapshot");
        debug_assert!(session.owner.txn().0 == 0, "an idle session runs no transaction");
        debug_assert_eq!(session.owner.lock_count(), 0, "an idle session holds no locks");
        debug_assert!(session.prepared().is_none(), "an idle session has prepared nothing");
        let mut free = self.free.lock();
        debug_assert!(!free.contains(&session.owner.index()), "a session has one handle");
        free.push(session.owner.index());
    }

    /// The session with this number.
    pub(crate) fn get(&self, index: u32) -> Option<Arc<Session>> {
        self.all.read().get(index as usize).cloned()
    }

    /// All sessions at this moment.
    pub(crate) fn list(&self) -> Vec<Arc<Session>> {
        self.all.read().clone()
    }

    /// The snapshots of all sessions. `newest` is durable already, and `next_id` not given yet.
    pub(crate) fn live_snapshots(&self, newest: Lsn, next_id: TxnId) -> LiveSnapshots {
        fence(Ordering::SeqCst);
        let all = self.all.read();
        LiveSnapshots::new(newest, next_id, all.iter().filter_map(|session| session.announced()))
    }

    /// Where the log begins that some running transaction needs for its rollback.
    pub(crate) fn needed_log(&self, durable: Lsn) -> Option<Lsn> {
        fence(Ordering::SeqCst);
        self.all.read().iter().filter_map(|session| session.needed_log(durable)).min()
    }
}

/// A transaction that is open, as seen at one moment.
#[derive(Clone, Debug)]
pub struct ActiveTxn {
    /// Its session's number, as in [`LockWait`](crate::LockWait).
    pub session: u32,
    /// The number that [`Txn::set_label`](crate::Txn::set_label) gave it.
    pub label: u64,
    /// Its isolation level.
    pub isolation: Isolation,
    /// Its id; 0 when it has written nothing.
    pub txn: TxnId,
    /// When it was opened.
    pub started: SystemTime,
    /// For how many seconds it has been open.
    pub age_secs: u64,
    /// How many records it has changed.
    pub rows_modified: u64,
    /// How many explicit locks it holds.
    pub locks: usize,
    /// Whether it waits for a lock.
    pub waiting: bool,
}

impl Session {
    /// What the list of transactions shows of this one; `None` when none is open.
    pub(crate) fn describe(&self) -> Option<ActiveTxn> {
        let started = (*self.started.lock())?;
        Some(ActiveTxn {
            session: self.owner.index(),
            label: self.owner.label(),
            isolation: started.isolation,
            txn: self.owner.txn(),
            started: started.wall,
            age_secs: started.clock.elapsed().as_secs(),
            rows_modified: self.owner.undo_records(),
            locks: self.owner.lock_count(),
            waiting: self.owner.is_waiting(),
        })
    }
}
