//! Relogging: a transaction that stays open must not keep the log from being shortened.
//!
//! Recovery needs the before-images of every transaction that may become a loser, so checkpoints
//! keep the log from its first record on. When that has become long, the background logs all its
//! steps again, between two marks, and then lets the log be kept from there.
//!
//! The transaction may go on meanwhile. `from` is the log's end before its newest undo record was
//! looked up: each of its steps is among those logged again, or is logged after `from`, or both.
//! The hold moves to `from` only after the second mark is durable; without it recovery ignores the
//! rest. The second mark is never logged after the transaction's end, which would make a loser of
//! it.
//!
//! A transaction with so many steps that logging them again would gain little is left alone.

use super::log::TxnRecord;
use super::session::Session;
use super::undo::{UndoKind, UndoRecord, UndoRef};
use crate::Result;
use crate::engine::Core;
use inia_base::ids::{Lsn, TxnId};

/// Bytes in the log of a step without key and value, about.
const STEP_OVERHEAD: usize = 48;

impl Core {
    /// Logs steps of transactions again that hold back too much of the log; true when there were
    /// any.
    pub(crate) fn relog_old_transactions(&self) -> Result<bool> {
        let wal = self.store.wal();
        let mut some = false;
        for session in self.sessions.list() {
            let Some(needed) = session.needed_log(wal.durable_lsn()) else { continue };
            if wal.closed_lsn().0.saturating_sub(needed.0) > self.relog_age {
                some |= self.relog(&session, needed)?;
            }
        }
        Ok(some)
    }

    /// Logs the steps of the session's transaction again; false when it ended meanwhile.
    fn relog(&self, session: &Session, needed: Lsn) -> Result<bool> {
        let wal = self.store.wal();
        let from = wal.closed_lsn();
        let txn = session.owner.txn();
        let Some(steps) = self.steps(session, txn)? else { return Ok(false) };
        let trees = session.created.lock().clone();
        // What was read belongs to `txn` if it still runs now.
        if txn.0 == 0 || session.owner.txn() != txn || steps.is_empty() && trees.is_empty() {
            return Ok(false);
        }
        let mut body = Vec::new();
        wal.append(&TxnRecord::Relog { txn, end: false }.encode(&mut body));
        for tree in trees {
            wal.append(&TxnRecord::TreeCreated { txn, tree }.encode_again(&mut body));
        }
        let mut record = UndoRecord::default();
        for step in steps.into_iter().rev() {
            // Waits for log space, as every writer does.
            drop(self.store.mtr_for_rollback()?);
            let read = session.while_writing(txn, || self.undo.read(step, &mut record));
            if read.transpose()? != Some(true) {
                return Ok(false);
            }
            wal.append(&undo_record(txn, step, &record).encode_again(&mut body));
        }
        let mark = TxnRecord::Relog { txn, end: true }.encode(&mut body);
        let Some(end) = session.while_writing(txn, || wal.append(&mark)) else { return Ok(false) };
        wal.wait_durable(end)?;
        session.move_log_hold(needed, from);
        Ok(true)
    }

    /// The undo records of the session's transaction, newest first; `None` when it is over or too large.
    /// Once it is over, its records may be overwritten: each is read while it surely runs.
    fn steps(&self, session: &Session, txn: TxnId) -> Result<Option<Vec<UndoRef>>> {
        let mut tail = session.undo_tail();
        let mut steps = Vec::new();
        let mut bytes = 0;
        let mut record = UndoRecord::default();
        while tail != UndoRef::NONE {
            let read = session.while_writing(txn, || self.undo.read(tail, &mut record));
            if read.transpose()? != Some(true) {
                return Ok(None);
            }
            bytes += (STEP_OVERHEAD + record.key.len() + record.payload.len()) as u64;
            if bytes > self.relog_age / 4 {
                return Ok(None);
            }
            steps.push(tail);
            tail = record.previous;
        }
        Ok(Some(steps))
    }
}

fn undo_record(txn: TxnId, at: UndoRef, record: &UndoRecord) -> TxnRecord<'_> {
    let before = match record.kind {
        UndoKind::Insert => None,
        UndoKind::Change | UndoKind::Delete => Some((record.before, &record.payload[..])),
    };
    TxnRecord::Undo { txn, at, tree: record.tree, key: &record.key, before }
}
