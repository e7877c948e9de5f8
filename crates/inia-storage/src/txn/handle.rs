//! The transaction handle: begin, snapshot, commit.

use super::delete_run::Deletions;
use super::gap_neighbours::GapNeighbours;
use super::session::{Session, Started};
use super::shared::EngineShared;
use super::snapshot::Snapshot;
use super::status::TxnState;
use super::trees::Tree;
use super::undo::{UndoLog, UndoRecord};
use super::undo_run::UndoRun;
use crate::Result;
use crate::error::StorageError;
use crate::lock::wait::LockWait;
use crate::lock::{Grant, Owner, RecordRequest};
use crate::request::{Isolation, LockMode, LockRequest, WaitPolicy};
use crate::sync::Mutex;
use crate::wal::commit::OnDurable;
use crate::wal::record::LogRecord;
use inia_base::ids::{Lsn, TreeId, TxnId};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// MySQL's default of `innodb_lock_wait_timeout`.
const LOCK_WAIT_TIMEOUT: Duration = Duration::from_secs(50);

/// After a commit of so many deletions purge begins without a pause.
const DELETIONS_THRESHOLD: u64 = 1024;

/// One session's transaction: idle, or open since [`Txn::begin`].
///
/// Dropping an open transaction rolls it back.
///
/// It has more fields than other types: it is the one place where what a transaction is towards
/// locks, versions, undo and the log comes together, and each field belongs to one of those.
///
/// Wide: one field for each thing that ends with the transaction or the statement.
pub struct Txn {
    pub(super) core: Arc<EngineShared>,
    pub(super) session: Arc<Session>,
    pub(super) owner: Arc<Owner>,
    pub(super) interrupter: Interrupter,
    pub(super) open: bool,
    pub(super) isolation: Isolation,
    /// Given at the first write; 0 before.
    pub(super) id: TxnId,
    /// Whose changes its reads show besides those of its snapshot: its own ones, by [`Txn::id`], or
    /// those of the transaction that it reads for ([`Txn::reader`]).
    pub(super) own: TxnId,
    pub(super) snapshot: Option<Snapshot>,
    pub(super) undo: UndoLog,
    lock_wait_timeout: Duration,
    /// When lock waits end at the latest.
    deadline: Option<Instant>,
    /// Whether it may hold explicit locks.
    locked: bool,
    /// Whether it has read anything.
    pub(super) has_read: bool,
    pub(super) last: LastOperation,
    /// Newest commit that it has built on, which may not be durable yet.
    pub(super) seen: Lsn,
    /// The log is known to be durable up to here.
    settled: Lsn,
    /// Trees that it has made.
    pub(super) created: Vec<TreeId>,
    /// Trees whose creation was rolled back; they are dropped with the transaction's end.
    pub(super) abandoned: Vec<TreeId>,
    pub(super) work: Workspace,
}

/// What the caller may ask of the operation that was done last.
#[derive(Default)]
pub(super) struct LastOperation {
    /// Whether a read of one key has taken a new lock without a wait.
    pub(super) took_lock: bool,
    /// Whether an insert has replaced a record that the transaction had deleted.
    pub(super) replaced_own: bool,
}

/// Buffers that are kept from one operation to the next.
pub(super) struct Workspace {
    pub(super) gap: GapNeighbours,
    pub(super) payload: Vec<u8>,
    pub(super) log: Vec<u8>,
    /// Before-images that are to be logged with the leaf's changes.
    pub(super) steps: UndoRun,
    pub(super) record: UndoRecord,
    pub(super) deletions: Deletions,
}

/// What became of an attempt to lock a record that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Locked {
    /// The lock is held; `fresh` when it was not before.
    Yes { fresh: bool },
    /// Another one holds it, and the request says to leave the record out.
    Skip,
    /// There was a wait: look again. `fresh` as above.
    Retry { fresh: bool },
}

/// Interrupts a transaction handle's waits from another thread (KILL).
#[derive(Clone)]
pub struct Interrupter {
    /// Who acts for the handle now; nobody once it is gone.
    owner: Arc<Mutex<Option<Arc<Owner>>>>,
}

impl Interrupter {
    fn new(owner: Arc<Owner>) -> Interrupter {
        Interrupter { owner: Arc::new(Mutex::new(Some(owner))) }
    }

    /// Ends the session's current wait or scan with [`StorageError::Interrupted`], and every later
    /// one until [`Txn::clear_interrupt`].
    pub fn interrupt(&self) {
        if let Some(owner) = &*self.owner.lock() {
            owner.interrupt();
        }
    }

    /// Whether an interrupt is pending.
    pub fn is_interrupted(&self) -> bool {
        self.owner.lock().as_ref().is_some_and(|owner| owner.is_interrupted())
    }

    /// From now on `fresh` acts for the handle. Its name and a pending interrupt go over to it.
    pub(super) fn hand_over(&self, fresh: &Arc<Owner>) {
        let mut owner = self.owner.lock();
        fresh.clear_interrupt();
        if let Some(old) = owner.replace(Arc::clone(fresh)) {
            fresh.set_label(old.label());
            old.set_label(0);
            if old.is_interrupted() {
                old.clear_interrupt();
                fresh.interrupt();
            }
        }
    }
}

impl Txn {
    pub(crate) fn new(core: Arc<EngineShared>) -> Txn {
        let session = core.sessions.attach();
        let undo = UndoLog::new(Arc::clone(&core.undo), Arc::clone(&session.history));
        let owner = Arc::clone(&session.owner);
        owner.clear_interrupt();
        owner.set_label(0);
        Txn {
            core,
            session,
            interrupter: Interrupter::new(Arc::clone(&owner)),
            owner,
            open: false,
            isolation: Isolation::RepeatableRead,
            id: TxnId(0),
            own: TxnId(0),
            snapshot: None,
            undo,
            lock_wait_timeout: LOCK_WAIT_TIMEOUT,
            deadline: None,
            locked: false,
            has_read: false,
            last: LastOperation::default(),
            seen: Lsn(0),
            settled: Lsn(0),
            created: Vec::new(),
            abandoned: Vec::new(),
            work: Workspace {
                gap: GapNeighbours::new(),
                payload: Vec::new(),
                log: Vec::new(),
                steps: UndoRun::default(),
                record: UndoRecord::default(),
                deletions: Deletions::default(),
            },
        }
    }

    /// Opens a transaction. Nothing shared is written before the first write or lock.
    pub fn begin(&mut self, isolation: Isolation) {
        debug_assert!(!self.open, "begin inside an open transaction");
        debug_assert!(self.id.0 == 0 && self.snapshot.is_none(), "an idle handle has nothing");
        debug_assert!(self.undo.records() == 0 && self.created.is_empty(), "nothing to undo");
        self.open = true;
        self.has_read = false;
        self.isolation = isolation;
    }

    /// Whether the open transaction has read, locked or written anything.
    pub fn was_used(&self) -> bool {
        self.has_read || self.locked || self.id.0 != 0
    }

    /// Whether the open transaction has neither locked nor written anything.
    pub fn only_reads(&self) -> bool {
        !self.locked && self.id.0 == 0
    }

    /// Whether a transaction is open.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Marks the start of a statement: READ COMMITTED takes its next snapshot here.
    pub fn begin_statement(&mut self) {
        if self.isolation == Isolation::ReadCommitted {
            self.drop_snapshot();
        }
    }

    /// Takes the snapshot now (START TRANSACTION WITH CONSISTENT SNAPSHOT).
    pub fn take_snapshot(&mut self) {
        // A failed log is reported by the first read or the commit.
        let _ = self.snapshot();
    }

    /// Whether the transaction has changed anything.
    pub fn has_written(&self) -> bool {
        self.undo.records() > 0 || !self.created.is_empty()
    }

    /// The id of the transaction, once it has tried to write.
    #[cfg(test)]
    pub(crate) fn trx_id(&self) -> Option<TxnId> {
        (self.id.0 != 0).then_some(self.id)
    }

    /// The session's number, as in the lists of transactions and lock waits.
    #[cfg(test)]
    pub(crate) fn session_index(&self) -> u32 {
        self.owner.index()
    }

    /// Gives the session a number of the caller's, shown in the list of transactions.
    pub fn set_label(&mut self, label: u64) {
        self.owner.set_label(label);
    }

    /// The last wait for a lock that ended as a deadlock's victim or by its time, with those who
    /// stood in the way; a second call gives none.
    pub fn take_failed_wait(&self) -> Option<Box<LockWait>> {
        self.owner.take_failed_wait()
    }

    /// How long a lock wait may last (`innodb_lock_wait_timeout`).
    pub fn set_lock_wait_timeout(&mut self, limit: Duration) {
        self.lock_wait_timeout = limit;
    }

    /// When lock waits end at the latest, however long one may last.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    fn lock_wait_limit(&self) -> Duration {
        match self.deadline {
            Some(end) => self.lock_wait_timeout.min(end.saturating_duration_since(Instant::now())),
            None => self.lock_wait_timeout,
        }
    }

    /// What KILL uses to end this session's waits.
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// Forgets an interrupt that has been reported.
    pub fn clear_interrupt(&mut self) {
        self.owner.clear_interrupt();
    }

    /// Whether scans and failed searches lock gaps.
    pub(super) fn locks_gaps(&self) -> bool {
        matches!(self.isolation, Isolation::RepeatableRead | Isolation::Serializable)
    }

    /// The transaction's snapshot, taken now if there is none.
    pub(super) fn snapshot(&mut self) -> Result<Snapshot> {
        if let Some(snapshot) = self.snapshot {
            return Ok(snapshot);
        }
        self.settle()?;
        let (wal, status) = (self.core.store.wal(), &self.core.status);
        let low_water = status.low_water();
        let snapshot = self.session.announce(wal.durable_lsn(), || {
            let horizon = wal.durable_lsn();
            Snapshot { low_water, horizon, end: status.next_id() }
        });
        self.snapshot = Some(snapshot);
        Ok(snapshot)
    }

    pub(super) fn drop_snapshot(&mut self) {
        if self.snapshot.take().is_some() {
            self.session.withdraw();
        }
    }

    /// Notes that the transaction has something that others can see.
    pub(super) fn enlist(&mut self) {
        if !self.locked {
            self.locked = true;
            let (wall, clock) = (SystemTime::now(), Instant::now());
            let started = Started { wall, clock, isolation: self.isolation };
            *self.session.started.lock() = Some(started);
        }
    }

    /// Gives the transaction its id before its first write, and sees to memory for undo before
    /// each.
    pub(super) fn prepare_write(&mut self) -> Result<()> {
        debug_assert!(self.open, "write outside a transaction");
        self.core.undo.make_room().map_err(|error| self.core.store.stop_or(error))?;
        if self.undo.wants_pages() {
            self.core.store.secure_reserve()?;
        }
        if self.id.0 == 0 {
            self.enlist();
            let wal = self.core.store.wal();
            self.session.hold_log(wal.closed_lsn(), wal.durable_lsn());
            debug_assert!(self.own.0 == 0, "a reader does not write");
            self.id = self.core.status.begin(self.owner.index());
            self.own = self.id;
            self.owner.set_txn(self.id);
            self.session.begin_writing(self.id);
        }
        Ok(())
    }

    /// Locks a record whose newest version `writer` wrote, as far as that is possible at once or by
    /// waiting. The caller has read it without a latch and must look again afterwards.
    pub(super) fn lock_found(
        &mut self,
        tree: &Tree,
        key: &[u8],
        writer: TxnId,
        request: LockRequest,
    ) -> Result<Locked> {
        if writer == self.id && self.id.0 != 0 {
            return Ok(Locked::Yes { fresh: false });
        }
        self.enlist();
        if self.note_writer(writer).is_some() {
            return self.wait_for_writer(tree, key, writer, request);
        }
        let record = RecordRequest { tree: tree.id(), key, mode: request.mode };
        match self.core.locks.try_record(&self.owner, record) {
            Grant::Conflict => self.wait_for_lock(record, request.wait),
            grant => Ok(Locked::Yes { fresh: grant.is_fresh() }),
        }
    }

    /// The session of `writer`, if it still runs. Otherwise what it wrote is built upon: remembers
    /// a commit that is not durable.
    pub(super) fn note_writer(&mut self, writer: TxnId) -> Option<u32> {
        if writer < self.core.status.low_water() {
            return None;
        }
        match self.core.status.state(writer) {
            TxnState::Active(session) => Some(session),
            TxnState::Committed(commit_lsn) => {
                self.seen = self.seen.max(commit_lsn);
                None
            }
            TxnState::RolledBack | TxnState::Finished => None,
        }
    }

    /// Waits for a record lock that is in conflict.
    fn wait_for_lock(&mut self, record: RecordRequest<'_>, wait: WaitPolicy) -> Result<Locked> {
        match wait {
            WaitPolicy::NoWait => Err(StorageError::LockNotAvailable),
            WaitPolicy::SkipLocked => Ok(Locked::Skip),
            WaitPolicy::Wait => {
                let limit = self.lock_wait_limit();
                let fresh = self.core.locks.wait_record(&self.owner, record, limit)?;
                Ok(Locked::Retry { fresh })
            }
        }
    }

    /// Waits for the running transaction `writer`, which holds the record by having written it.
    pub(super) fn wait_for_writer(
        &mut self,
        tree: &Tree,
        key: &[u8],
        writer: TxnId,
        request: LockRequest,
    ) -> Result<Locked> {
        self.enlist();
        let TxnState::Active(session) = self.core.status.state(writer) else {
            return Ok(Locked::Retry { fresh: false });
        };
        let holder = self.core.sessions.get(session);
        let locks = &self.core.locks;
        let make_explicit =
            |it: Arc<Session>| locks.make_explicit(&it.owner, writer, tree.id(), key);
        let held = holder.is_some_and(make_explicit);
        if !held {
            // A transaction that ends publishes its end before it gives up its identity. One that
            // has done the second alone could not be rolled back: only recovery ends it.
            return match self.core.status.state(writer) {
                TxnState::Active(_) => Err(StorageError::LockWaitTimeout),
                _ => Ok(Locked::Retry { fresh: false }),
            };
        }
        let record = RecordRequest { tree: tree.id(), key, mode: request.mode };
        self.wait_for_lock(record, request.wait)
    }

    /// Takes a lock on a key whatever its record's writer: the caller reads the record afterwards.
    pub(super) fn lock_key(
        &mut self,
        tree: &Tree,
        key: &[u8],
        request: LockRequest,
    ) -> Result<Locked> {
        self.enlist();
        let record = RecordRequest { tree: tree.id(), key, mode: request.mode };
        match self.core.locks.try_record(&self.owner, record) {
            Grant::Conflict => self.wait_for_lock(record, request.wait),
            grant => Ok(Locked::Yes { fresh: grant.is_fresh() }),
        }
    }

    /// Makes the lock that a record is by having been written by this transaction an explicit one;
    /// whether there was none.
    pub(super) fn make_explicit(&mut self, tree: &Tree, key: &[u8]) -> bool {
        self.enlist();
        let record = RecordRequest { tree: tree.id(), key, mode: LockMode::Exclusive };
        match self.core.locks.try_record(&self.owner, record) {
            // Others who have just locked the key will find out who wrote its record.
            Grant::Conflict => {
                self.core.locks.make_explicit(&self.owner, self.id, tree.id(), key);
                false
            }
            grant => grant.is_fresh(),
        }
    }

    /// Waits until nobody's gap lock forbids to insert `key`.
    pub(super) fn wait_for_gap(&mut self, tree: &Tree, key: &[u8]) -> Result<()> {
        let (locks, limit) = (&self.core.locks, self.lock_wait_limit());
        locks.wait_insert(&self.owner, tree.id(), tree.gaps(), key, limit)
    }

    /// Waits for an exclusive lock that a write needs.
    pub(super) fn wait_to_write(&mut self, tree: &Tree, key: &[u8]) -> Result<()> {
        let request = LockRequest { mode: LockMode::Exclusive, wait: WaitPolicy::Wait };
        self.lock_key(tree, key, request).map(|_| ())
    }

    /// Releases a fresh record lock. A weaker one that was held before stays.
    pub(super) fn unlock(&mut self, tree: &Tree, key: &[u8], mode: LockMode) {
        self.core.locks.unlock(&self.owner, RecordRequest { tree: tree.id(), key, mode });
    }

    /// Waits until every commit that the handle's reads and writes have met is durable, so that
    /// their results may be sent. Snapshots show durable commits only and never wait; locking
    /// reads and writes see the newest version, whose commit may still be on its way to disk.
    #[inline]
    pub fn settle(&mut self) -> Result<()> {
        if self.seen > self.settled {
            let wal = self.core.store.wal();
            wal.wait_durable(self.seen)?;
            self.settled = self.seen;
        }
        Ok(())
    }

    /// As [`Txn::settle`], but it leaves the wait to the caller: up to where the log must be
    /// durable before the results may be sent; zero when there is nothing to wait for.
    #[inline]
    pub fn settle_later(&mut self) -> Lsn {
        if self.seen <= self.settled || self.seen <= self.core.store.wal().durable_lsn() {
            return Lsn(0);
        }
        self.settled = self.seen;
        self.seen
    }

    /// Commits and waits until the commit is durable. The handle is idle afterwards.
    pub fn commit(&mut self) -> Result<()> {
        let (wrote, much) = (self.id.0 != 0, self.leaves_much_to_purge());
        let end = self.commit_deferred()?;
        if end > Lsn(0) {
            let wal = self.core.store.wal();
            wal.wait_durable(end)?;
            if wrote {
                self.core.status.advance(wal.durable_lsn());
                // The commit stands, whatever becomes of the purge: background purge tries again.
                let _ = self.core.purge_after_commit(&self.session);
                if much {
                    self.core.purger.wake();
                }
            }
        }
        Ok(())
    }

    /// Whether a commit now leaves so many deleted records that background purge is woken for them:
    /// [`Txn::commit`] does that, once the commit is durable.
    pub fn leaves_much_to_purge(&self) -> bool {
        self.undo.deletes() >= DELETIONS_THRESHOLD
    }

    /// Has `reply` called when the log is durable up to `lsn`, which one of the functions above has
    /// returned, or when it has stopped before. False says that the log is durable: `reply` is not
    /// called then. Old versions of this session's earlier commits are purged meanwhile.
    pub fn notify_durable(&mut self, lsn: Lsn, reply: &Arc<dyn OnDurable>) -> Result<bool> {
        let wal = self.core.store.wal();
        let later = wal.notify_durable(lsn, reply)?;
        self.core.status.advance(wal.durable_lsn());
        // The commit stands, whatever becomes of the purge: background purge tries again.
        let _ = self.core.purge_after_commit(&self.session);
        Ok(later)
    }

    /// Commits without waiting: the commit is visible to others, and safe, once the log is durable
    /// up to the returned position ([`Engine::wait_durable`](crate::Engine::wait_durable)); zero
    /// when there is nothing to wait for. The handle is idle afterwards. With `DiskFull` nothing is
    /// done: the transaction is still open.
    pub fn commit_deferred(&mut self) -> Result<Lsn> {
        self.drop_abandoned()?;
        if self.id.0 == 0 {
            let wal = self.core.store.wal();
            let end = if self.seen > wal.durable_lsn() { self.seen } else { Lsn(0) };
            self.end();
            return Ok(end);
        }
        let untouched = self.undo.is_untouched() && self.created.is_empty();
        debug_assert!(self.work.steps.record().is_none(), "every step is in the log");
        if !untouched {
            self.core.store.make_room_for_commit(self.undo.log_of_others())?;
        }
        let (id, session) = (self.id, self.owner.index());
        let end = if untouched {
            let wal = self.core.store.wal();
            let closed = self.session.end_writing(|| wal.closed_lsn());
            self.core.status.roll_back(id, session, closed);
            // The session's last transaction may have been rolled back by a record that is not
            // durable yet: its before-images are needed until then.
            self.session.release_log(closed);
            self.seen
        } else {
            let (status, wal) = (&self.core.status, self.core.store.wal());
            let publish = |end| status.commit(id, session, end);
            let record = LogRecord::Commit { txn: id };
            let end = self.session.end_writing(|| wal.append_with(&record, publish));
            self.session.release_log(end);
            self.undo.finish(id, end);
            self.seen = end;
            end
        };
        self.end();
        Ok(end)
    }

    /// Lets others see how far the transaction has come.
    pub(super) fn publish_undo(&self) {
        self.session.publish_undo(&self.undo);
    }

    /// Makes the handle idle: locks and snapshot are given back.
    pub(super) fn end(&mut self) {
        if self.locked {
            *self.session.started.lock() = None;
            self.core.locks.release_all(&self.owner);
            self.locked = false;
        }
        self.drop_snapshot();
        if self.id.0 != 0 {
            self.session.withdraw_undo();
        }
        (self.id, self.own) = (TxnId(0), TxnId(0));
        self.created.clear();
        self.open = false;
    }
}

impl Drop for Txn {
    fn drop(&mut self) {
        if self.open {
            // A failed disk is the only reason; recovery rolls back then.
            let _ = self.rollback();
        }
        *self.interrupter.owner.lock() = None;
        self.core.sessions.detach(&self.session, &mut self.undo);
    }
}
