//! Prepared transactions: the first phase of a commit in two. All changes are made, and whether
//! they stand is decided later: by any thread, in this run or after any number of crashes.
//!
//! ```text
//!   running ──prepare──▶ prepared ──commit──▶ committed
//!                           │
//!                        unprepare            the log says so before the first step is undone
//!                           ▼
//!                       rolling back ──▶ rolled back
//! ```
//!
//! [`Txn::prepare`] logs the name that the layer above gives the transaction, waits until that is
//! durable, and gives the transaction away with its session: id, undo and locks stay what they are,
//! and the handle goes on with a session of its own.
//!
//! Recovery keeps a transaction whose last word in the log is `Prepared`. It rolls one back whose
//! last word is `Unprepared`: its rollback may have taken some changes back already.
//!
//! Invariants:
//! - a prepared transaction has changes, and is `Active` in the status table: no reader sees them,
//!   and their records are locked;
//! - its session holds the log from its first record on, or from where its steps were logged again
//!   together with its name ([`relog`](super::relog));
//! - no step of it is undone before the record that ends being prepared is in the log;
//! - the record `Prepared` is durable before [`Txn::prepare`] returns it;
//! - it has made and dropped no trees.

use super::handle::Txn;
use super::log::TxnRecord;
use super::recover::Loser;
use super::rollback::Unfinished;
use super::session::Session;
use super::shared::EngineShared;
use super::undo::UndoLog;
use crate::Result;
use crate::request::Isolation;
use crate::sync::Ordering;
use crate::wal::record::LogRecord;
use inia_base::ids::{Lsn, TxnId};
use std::sync::Arc;

/// A transaction that is prepared, see [`Txn::prepare`]. Dropping it decides nothing: it stays
/// prepared, and the next start finds it.
pub struct PreparedTxn {
    core: Arc<EngineShared>,
    name: Vec<u8>,
    /// What the transaction is; nothing once it has been decided on.
    open: Option<OpenParts>,
}

/// What an undecided transaction has.
struct OpenParts {
    session: Arc<Session>,
    txn: TxnId,
    undo: UndoLog,
    /// It is from an earlier run, and keeps pages of dropped trees from being used again.
    resumed: bool,
}

impl PreparedTxn {
    /// Takes up a transaction that recovery found, whose log is needed from `from` on.
    pub(super) fn resume(
        core: &Arc<EngineShared>,
        loser: &Loser,
        name: &[u8],
        from: Lsn,
    ) -> PreparedTxn {
        let (session, undo) = core.adopt(loser, from);
        let known = session.set_prepared(loser.txn, Some(name.to_vec()), || from);
        debug_assert!(known.is_some(), "the transaction runs");
        debug_assert!(loser.created.is_empty(), "a prepared transaction has made no trees");
        core.rollbacks_left.fetch_add(1, Ordering::AcqRel);
        let parts = OpenParts { session, txn: loser.txn, undo, resumed: true };
        PreparedTxn::new(core, name.to_vec(), parts)
    }

    fn new(core: &Arc<EngineShared>, name: Vec<u8>, parts: OpenParts) -> PreparedTxn {
        let OpenParts { session, txn, undo, .. } = &parts;
        debug_assert!(txn.0 != 0 && undo.records() > 0, "a prepared transaction has changes");
        debug_assert_eq!(session.owner.txn(), *txn, "its session runs it");
        PreparedTxn { core: Arc::clone(core), name, open: Some(parts) }
    }

    /// The name that it was given.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Whether it has been neither committed nor rolled back.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Commits, and waits until the commit is durable. With `DiskFull` nothing is done: the
    /// transaction is still prepared. It may be called once.
    pub fn commit(&mut self) -> Result<()> {
        let Some(OpenParts { session, txn, undo, resumed }) = &mut self.open else {
            debug_assert!(false, "a transaction is decided on once");
            return Ok(());
        };
        let (core, txn) = (&self.core, *txn);
        core.store.make_room_for_commit(undo.log_of_others())?;
        let (status, wal) = (&core.status, core.store.wal());
        let owner = session.owner.index();
        let publish = |end| status.commit(txn, owner, end);
        let record = LogRecord::Commit { txn };
        let end = session.end_writing(|| wal.append_with(&record, publish));
        session.release_log(end);
        undo.finish(txn, end);
        core.give_back(session, undo);
        core.forget_resumed(*resumed);
        self.open = None;
        wal.wait_durable(end)?;
        core.status.advance(wal.durable_lsn());
        core.purger.wake();
        Ok(())
    }

    /// Rolls back, and waits until that decision is durable. With `DiskFull` and
    /// [`PreparedTxn::is_open`] nothing is done. After another error the background goes on with
    /// the rollback: the decision stands.
    pub fn rollback(&mut self) -> Result<()> {
        let Some(parts) = self.open.take() else {
            debug_assert!(false, "a transaction is decided on once");
            return Ok(());
        };
        let decided = match self.core.unprepare(&parts.session, parts.txn, &parts.undo) {
            Ok(decided) => decided,
            Err(error) => {
                self.open = Some(parts);
                return Err(error);
            }
        };
        let OpenParts { session, txn, undo, resumed } = parts;
        let done = self.core.roll_back_now(Unfinished::new(session, txn, undo, Vec::new()));
        self.core.forget_resumed(resumed);
        done.and_then(|()| self.core.store.wal().wait_durable(decided))
    }
}

impl EngineShared {
    /// A transaction of an earlier run is decided on.
    fn forget_resumed(&self, resumed: bool) {
        if resumed {
            let left = self.rollbacks_left.fetch_sub(1, Ordering::AcqRel);
            debug_assert!(left > 0, "an undecided transaction was counted");
        }
    }

    /// Logs that a transaction is prepared no longer; the end of the record. Only afterwards its
    /// steps may be undone.
    fn unprepare(&self, session: &Session, txn: TxnId, undo: &UndoLog) -> Result<Lsn> {
        self.store.make_room_for_commit(undo.log_of_others())?;
        let mut body = Vec::new();
        let record = TxnRecord::Unprepared { txn }.encode(&mut body);
        let known = session.set_prepared(txn, None, || self.store.wal().append(&record));
        Ok(known.expect("invariant: a prepared transaction runs"))
    }
}

impl Txn {
    /// Prepares the open transaction under a name: it stands whatever happens, until
    /// [`PreparedTxn::commit`] or [`PreparedTxn::rollback`], and keeps its locks; at READ COMMITTED
    /// not those of gaps. The handle is idle afterwards. `None` where there is nothing to be
    /// decided on, as it has changed nothing: it is over then. After an error the transaction is
    /// open as before.
    pub fn prepare(&mut self, name: &[u8]) -> Result<Option<PreparedTxn>> {
        debug_assert!(self.open, "an open transaction is prepared");
        debug_assert!(self.created.is_empty() && self.abandoned.is_empty(), "it makes no trees");
        debug_assert!(self.work.steps.record().is_none(), "every step is in the log");
        if self.undo.records() == 0 {
            self.commit()?;
            return Ok(None);
        }
        self.core.store.make_room_for_commit(self.undo.log_of_others())?;
        let (id, wal) = (self.id, self.core.store.wal());
        let mut body = Vec::new();
        let record = TxnRecord::Prepared { txn: id, name }.encode(&mut body);
        let end = self.session.set_prepared(id, Some(name.to_vec()), || wal.append(&record));
        let end = end.expect("invariant: the handle's transaction runs");
        if let Err(error) = wal.wait_durable(end) {
            // The log has stopped: nothing more is written, and the next start decides.
            self.core.unprepare(&self.session, id, &self.undo)?;
            return Err(error);
        }
        if matches!(self.isolation, Isolation::ReadCommitted | Isolation::ReadUncommitted) {
            self.core.locks.release_gaps(&self.owner);
        }
        self.drop_snapshot();
        self.publish_undo();
        let (session, txn, undo) = self.give_session();
        self.end();
        let parts = OpenParts { session, txn, undo, resumed: false };
        Ok(Some(PreparedTxn::new(&self.core, name.to_vec(), parts)))
    }
}
