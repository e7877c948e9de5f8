//! Savepoints and rollback: before-images are applied newest first, each in a mini-transaction.
//!
//! No compensation records are needed. A before-image is applied only to a record that the same
//! transaction wrote, and to none when that is not so; applying a transaction's before-images again
//! from the newest on therefore ends in the same state, however far an earlier attempt had come.
//! Until the last step the record's header names the transaction, which keeps it locked.

use super::handle::Txn;
use super::recover::Loser;
use super::session::{Session, Started};
use super::shared::EngineShared;
use super::trees::Tree;
use super::undo::{UndoKind, UndoLog, UndoRecord, UndoRef, senseless};
use crate::Result;
use crate::error::StorageError;
use crate::node::RecordHeader;
use crate::report;
use crate::request::{Isolation, LockMode};
use crate::sync::Ordering;
use crate::wal::record::LogRecord;
use inia_base::ids::{Lsn, TreeId, TxnId};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

const CREATED_BITS: u32 = 20;
/// Most rounds between two attempts of a rollback that meets damage.
const MAX_PATIENCE: u32 = 1024;

/// A point in a transaction to roll back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint(pub u64);

impl Savepoint {
    fn new(records: u64, created: usize) -> Savepoint {
        assert!(created >> CREATED_BITS == 0, "a transaction's trees fit their bits");
        Savepoint(records << CREATED_BITS | created as u64)
    }

    fn records(self) -> u64 {
        self.0 >> CREATED_BITS
    }

    fn created(self) -> usize {
        (self.0 & ((1 << CREATED_BITS) - 1)) as usize
    }
}

impl EngineShared {
    /// Brings a record back to the version before a change of `txn`, if `txn` wrote what is there.
    fn undo_change(
        &self,
        txn: TxnId,
        tree: &Tree,
        key: &[u8],
        before: Option<(RecordHeader, &[u8])>,
        payload_unchanged: bool,
    ) -> Result<()> {
        let room = before.map_or(0, |(_, payload)| payload.len());
        let mut marked_again = false;
        let (sparse, _) = tree.btree().modify_for_rollback(&self.store, key, room, |leaf| {
            let Ok(i) = leaf.lower_bound(key) else { return Ok(false) };
            if leaf.header(i).txn_id() != txn {
                return Ok(false);
            }
            marked_again =
                before.is_some_and(|(before, _)| before.is_deleted() && before.txn_id() != txn);
            match before {
                None => leaf.remove(i)?,
                Some((header, _)) if payload_unchanged => leaf.set_header(i, header)?,
                Some((header, payload)) => leaf.replace(i, header, payload)?,
            }
            Ok(before.is_none() && leaf.is_sparse())
        })?;
        if marked_again {
            self.note_mark_restored(tree, key);
        }
        if sparse && !self.store.is_short_of_log() {
            // The change is taken back already; a leaf that stays sparse does no harm.
            let _ = tree.btree().try_merge(&self.store, key);
        }
        Ok(())
    }
}

/// Which locks outlive the changes that they were taken for.
#[derive(Clone, Copy)]
enum Keep {
    Nothing,
    /// Those of records that were there before.
    Changed,
    /// And of the gaps that undone inserts leave.
    All,
}

impl Txn {
    /// A point to roll back to.
    pub fn savepoint(&self) -> Savepoint {
        Savepoint::new(self.undo.records(), self.created.len())
    }

    /// Undoes everything since the savepoint; locks are kept, as in MySQL, but for those of
    /// records that it takes away.
    pub fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        self.undo_to(savepoint, Keep::Changed)
    }

    /// Undoes everything since a statement, or its work on a row, began. The locks that records
    /// were by the transaction's id in them are kept, too, at REPEATABLE READ and above: what the
    /// statement has found out in between stays true.
    pub fn rollback_statement(&mut self, start: Savepoint) -> Result<()> {
        let keep = if self.locks_gaps() { Keep::All } else { Keep::Changed };
        self.undo_to(start, keep)
    }

    fn undo_to(&mut self, savepoint: Savepoint, keep: Keep) -> Result<()> {
        debug_assert!(savepoint.records() <= self.undo.records(), "a savepoint lies in the past");
        while self.undo.records() > savepoint.records() {
            match keep {
                Keep::Nothing => self.undo_last()?,
                Keep::Changed => {
                    self.keep_lock_of_last()?;
                    self.undo_last()?;
                }
                Keep::All => self.undo_last_keeping_lock()?,
            }
        }
        while self.created.len() > savepoint.created() {
            self.abandoned.extend(self.created.pop());
        }
        self.publish_undo();
        Ok(())
    }

    /// Makes the lock of the record that was changed last explicit: the version that says so is
    /// about to be undone.
    fn keep_lock_of_last(&mut self) -> Result<()> {
        let record = &mut self.work.record;
        let found = self.core.undo.read(self.undo.tail(), record)?;
        if found && record.kind != UndoKind::Insert && record.before.txn_id() != self.id {
            let tree = self.core.trees.get(record.tree);
            let key = std::mem::take(&mut record.key);
            self.make_explicit(&tree, &key);
        }
        Ok(())
    }

    fn undo_last(&mut self) -> Result<()> {
        self.core.undo_newest(self.id, &mut self.undo, &[], &mut self.work.record)
    }

    /// Undoes the newest change. What it has changed stays locked: the record, or where it was
    /// inserted, the gap that it leaves.
    fn undo_last_keeping_lock(&mut self) -> Result<()> {
        if !self.core.undo.read(self.undo.tail(), &mut self.work.record)? {
            return Err(senseless());
        }
        let tree = self.core.trees.get(self.work.record.tree);
        if tree.shows_newest() || self.created.contains(&tree.id()) {
            return self.undo_last();
        }
        let inserted = self.work.record.kind == UndoKind::Insert;
        let key = std::mem::take(&mut self.work.record.key);
        let fresh = self.make_explicit(&tree, &key);
        self.undo_last()?;
        if inserted {
            self.lock_left_gap(&tree, &key)?;
            self.unlock_if(fresh, &tree, &key, LockMode::Exclusive);
        }
        Ok(())
    }

    /// Rolls everything back. The handle is idle afterwards. Where that fails, the background goes
    /// on with it; until it has come to the end the transaction's records stay locked.
    pub fn rollback(&mut self) -> Result<()> {
        if self.id.0 != 0 {
            let undone = self.roll_back_writes();
            if undone.is_err() {
                self.leave_to_background();
                self.end();
                return undone;
            }
        }
        self.end();
        Ok(())
    }

    fn roll_back_writes(&mut self) -> Result<()> {
        self.undo_to(Savepoint::new(0, 0), Keep::Nothing)?;
        self.core.end_rollback(&self.session, self.id, &mut self.undo, &self.abandoned)?;
        self.abandoned.clear();
        Ok(())
    }

    /// Goes on with a new session; the old one stays with the transaction.
    fn leave_to_background(&mut self) {
        self.drop_snapshot();
        self.publish_undo();
        let mut created = std::mem::take(&mut self.created);
        created.append(&mut self.abandoned);
        let (session, txn, undo) = self.give_session();
        self.core.leave_unfinished(Unfinished::new(session, txn, undo, created));
    }

    /// Gives the session away with its transaction, and goes on with a new one.
    pub(super) fn give_session(&mut self) -> (Arc<Session>, TxnId, UndoLog) {
        debug_assert!(self.snapshot.is_none(), "a snapshot belongs to the handle");
        let fresh = self.core.sessions.attach();
        let undo = UndoLog::new(Arc::clone(&self.core.undo), Arc::clone(&fresh.history));
        self.interrupter.hand_over(&fresh.owner);
        self.owner = Arc::clone(&fresh.owner);
        let session = std::mem::replace(&mut self.session, fresh);
        (session, std::mem::take(&mut self.id), std::mem::replace(&mut self.undo, undo))
    }
}

/// A transaction that only waits for its rollback: one from before a crash, or one whose rollback
/// failed. It holds what it holds as any running one does.
pub(crate) struct Unfinished {
    session: Arc<Session>,
    txn: TxnId,
    undo: UndoLog,
    created: Vec<TreeId>,
    /// Why the last attempt did not come to an end.
    failure: Option<StorageError>,
    /// So many rounds go by before the next attempt, and so many after it if it meets damage again.
    pause: u32,
    patience: u32,
}

/// A transaction whose rollback fails. Until it has succeeded, what the transaction has changed
/// stays locked, and no page of a dropped tree is freed.
#[derive(Clone, Debug)]
pub struct StuckRollback {
    /// The transaction.
    pub txn: TxnId,
    /// How many changes are to be undone yet.
    pub changes: u64,
    /// What the last attempt has met.
    pub error: StorageError,
}

impl std::fmt::Display for StuckRollback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let StuckRollback { txn, changes, error } = self;
        let txn = txn.0;
        write!(f, "transaction {txn} cannot be rolled back, {changes} changes are left: {error}")
    }
}

impl Unfinished {
    pub(super) fn new(
        session: Arc<Session>,
        txn: TxnId,
        undo: UndoLog,
        created: Vec<TreeId>,
    ) -> Unfinished {
        Unfinished { session, txn, undo, created, failure: None, pause: 0, patience: 1 }
    }

    /// Takes up a transaction that recovery found, in a session of its own; its log is needed from
    /// `from` on.
    pub(crate) fn resume(core: &EngineShared, loser: &Loser, from: Lsn) -> Unfinished {
        let (session, undo) = core.adopt(loser, from);
        Unfinished::new(session, loser.txn, undo, loser.created.clone())
    }

    /// Notes how an attempt ended. One that has met damage is made again after twice as many
    /// rounds: damage seldom goes.
    fn note(&mut self, attempt: &Result<bool>) {
        let Err(error) = attempt else {
            (self.failure, self.patience) = (None, 1);
            return;
        };
        if matches!(error, StorageError::Corrupt(..)) {
            self.pause = self.patience;
            self.patience = (2 * self.patience).min(MAX_PATIENCE);
        }
        let known = self.failure.replace(error.clone());
        if known.is_none_or(|known| known.to_string() != error.to_string())
            && let Some(stuck) = self.stuck()
        {
            report::error(format_args!("{stuck}"));
        }
    }

    #[cfg(test)]
    pub(super) fn txn(&self) -> TxnId {
        self.txn
    }

    /// What hinders the rollback, if anything does.
    pub(crate) fn stuck(&self) -> Option<StuckRollback> {
        let error = self.failure.clone()?;
        Some(StuckRollback { txn: self.txn, changes: self.undo.records(), error })
    }

    /// Undoes so many steps; true when that was the end.
    pub(crate) fn roll_back(&mut self, core: &EngineShared, mut steps: usize) -> Result<bool> {
        let mut record = UndoRecord::default();
        while self.undo.tail() != UndoRef::NONE {
            if steps == 0 {
                self.session.publish_undo(&self.undo);
                return Ok(false);
            }
            steps -= 1;
            core.undo_newest(self.txn, &mut self.undo, &self.created, &mut record)?;
        }
        core.end_rollback(&self.session, self.txn, &mut self.undo, &self.created)?;
        core.give_back(&self.session, &mut self.undo);
        Ok(true)
    }
}

impl EngineShared {
    /// Gives a transaction that recovery found a session of its own; its log is needed from `from`
    /// on.
    pub(super) fn adopt(&self, loser: &Loser, from: Lsn) -> (Arc<Session>, UndoLog) {
        let session = self.sessions.attach();
        self.status.resume(loser.txn, session.owner.index());
        let mut undo = UndoLog::new(Arc::clone(&self.undo), Arc::clone(&session.history));
        undo.adopt(&loser.undo);
        session.hold_log(from, from);
        session.owner.set_txn(loser.txn);
        session.begin_writing(loser.txn);
        session.publish_undo(&undo);
        session.created.lock().clone_from(&loser.created);
        let (wall, clock) = (SystemTime::now(), Instant::now());
        let started = Started { wall, clock, isolation: Isolation::RepeatableRead };
        *session.started.lock() = Some(started);
        (session, undo)
    }

    /// Undoes the newest change of a transaction that is left, unless its tree is one of those that
    /// go whole.
    fn undo_newest(
        &self,
        txn: TxnId,
        undo: &mut UndoLog,
        going: &[TreeId],
        record: &mut UndoRecord,
    ) -> Result<()> {
        if !self.undo.read(undo.tail(), record)? {
            return Err(senseless());
        }
        let before = match record.kind {
            UndoKind::Insert => None,
            UndoKind::Change | UndoKind::Delete => Some((record.before, &record.payload[..])),
        };
        let marked_only = record.kind == UndoKind::Delete;
        let tree = self.trees.get(record.tree);
        if !going.contains(&record.tree) {
            if record.kind == UndoKind::Insert {
                self.keep_counter_of_undone(&tree)?;
            }
            self.undo_change(txn, &tree, &record.key, before, marked_only)?;
        }
        undo.pop(record);
        Ok(())
    }

    /// Ends the rollback of a transaction whose changes are undone: its trees go, and the log says
    /// so.
    fn end_rollback(
        &self,
        session: &Session,
        txn: TxnId,
        undo: &mut UndoLog,
        created: &[TreeId],
    ) -> Result<()> {
        debug_assert!(
            undo.tail() == UndoRef::NONE,
            "every change is undone before the end is logged"
        );
        for &tree in created {
            self.abandon_tree(txn, tree)?;
        }
        let wal = self.store.wal();
        let end = session.end_writing(|| wal.append(&LogRecord::RolledBack { txn }));
        self.status.roll_back(txn, session.owner.index(), end);
        session.release_log(end);
        undo.finish(txn, end);
        Ok(())
    }

    /// Gives up what a transaction without a handle held, which has ended.
    pub(super) fn give_back(&self, session: &Session, undo: &mut UndoLog) {
        *session.started.lock() = None;
        self.locks.release_all(&session.owner);
        session.withdraw_undo();
        self.sessions.detach(session, undo);
    }

    /// Rolls a transaction without a handle back; where that fails, the background goes on.
    pub(super) fn roll_back_now(&self, mut one: Unfinished) -> Result<()> {
        let done = one.roll_back(self, usize::MAX);
        debug_assert!(!matches!(done, Ok(false)), "all steps were undone");
        if done.is_err() {
            one.note(&done);
            self.leave_unfinished(one);
        }
        done.map(|_| ())
    }

    /// Leaves a transaction to the background.
    pub(crate) fn leave_unfinished(&self, unfinished: Unfinished) {
        self.rollbacks_left.fetch_add(1, Ordering::AcqRel);
        self.unfinished.lock().push_back(unfinished);
    }

    /// A part of the rollback of some transaction that waits for it; true when there was any.
    pub(crate) fn roll_back_unfinished(&self, steps: usize) -> Result<bool> {
        let next = {
            let mut waiting = self.unfinished.lock();
            let ready = waiting.iter().position(|one| one.pause == 0);
            waiting.iter_mut().for_each(|one| one.pause = one.pause.saturating_sub(1));
            ready.and_then(|at| waiting.remove(at))
        };
        match next {
            Some(next) => self.attempt(next, steps).map(|_| true),
            None => Ok(false),
        }
    }

    /// Rolls back what can be; what cannot.
    pub(crate) fn roll_back_all(&self) -> Vec<StuckRollback> {
        let waiting = std::mem::take(&mut *self.unfinished.lock());
        for one in waiting {
            // A failure is kept with the transaction.
            let _ = self.attempt(one, usize::MAX);
        }
        self.unfinished.lock().iter().filter_map(Unfinished::stuck).collect()
    }

    fn attempt(&self, mut one: Unfinished, steps: usize) -> Result<bool> {
        let done = one.roll_back(self, steps);
        one.note(&done);
        match done {
            Ok(true) => {
                let left = self.rollbacks_left.fetch_sub(1, Ordering::AcqRel);
                debug_assert!(left > 0, "a rollback that ends was waiting");
            }
            _ => self.unfinished.lock().push_back(one),
        }
        done
    }
}
