//! Relogging: a transaction that stays open must not keep the log from being shortened.
//!
//! Recovery needs the before-images of every transaction that may become a loser, so checkpoints
//! keep the log from its first record on. When that has become long, the background logs all its
//! steps again, between two marks, and then lets the log be kept from there.
//!
//! The transaction may go on meanwhile. `from` is the log's end before its newest undo record was
//! looked up: each of its steps is among those logged again, or is logged after `from`, or both. A
//! writer publishes its newest undo record after its step is in the log; in between it says so, and
//! relogging does not begin.
//! The hold moves to `from` only after the second mark is durable; without it recovery ignores the
//! rest. The second mark is never logged after the transaction's end, which would make a loser of
//! it.
//!
//! The log is long when it is longer than `relog_age`, and than [`GROWTH`] times the steps: so the
//! log never grows beyond what the configuration or the transaction itself asks for, and at most
//! one byte in `GROWTH - 1` is logged to log steps again.
//!
//! There may be more steps than memory for a list of them, and the chain leads from the newest to
//! the oldest while the log wants the oldest first. The first walk notes every [`BLOCK`]-th step
//! only; each block is walked again when its turn comes. All goes in parts, between which the
//! background has time for its other work:
//!
//! ```text
//!   chain    a ◂ b ◂ c ◂ d ◂ e ◂ f ◂ g      blocks of 3
//!   walk                     e       g      notes g, d, a
//!   log      a │ b c d │ e f g
//! ```

use super::log::{Before, TxnRecord};
use super::session::Session;
use super::shared::EngineShared;
use super::undo::{UndoKind, UndoRecord, UndoRef};
use super::undo_run::UndoStep;
use crate::Result;
use inia_base::ids::{Lsn, TxnId};
use std::sync::Arc;

/// The log may grow to so many times the steps that hold it.
const GROWTH: u64 = 4;
/// Steps between two that the first walk notes.
const BLOCK: usize = 1024;
/// Steps that one part of the work looks at.
const PART: usize = 2048;

/// A transaction whose steps are being logged again.
pub(crate) struct Relogging {
    session: Arc<Session>,
    txn: TxnId,
    /// Where its hold on the log is, and where it goes.
    needed: Lsn,
    from: Lsn,
    /// The step that the first walk looks at next; `NONE` once it is over.
    walk: UndoRef,
    /// Steps that the walk has passed.
    passed: usize,
    /// The newest step of each block that is not logged again yet, the oldest block last.
    blocks: Vec<UndoRef>,
    /// The rest of the block in hand, the oldest step last.
    block: Vec<UndoRef>,
    record: UndoRecord,
    body: Vec<u8>,
}

/// What became of a part of the work.
#[derive(PartialEq, Eq)]
enum RelogProgress {
    More,
    /// All is done, or the transaction is over.
    Last,
}

impl EngineShared {
    /// Goes on logging steps again of a transaction that holds back too much of the log; true when
    /// there was one.
    pub(crate) fn relog_old_transactions(&self) -> Result<bool> {
        let Some(mut current) = self.relogging.try_lock() else { return Ok(false) };
        let Some(mut relogging) = current.take().or_else(|| self.find_relogging()) else {
            return Ok(false);
        };
        // After an error nothing is kept: the next attempt begins anew.
        if relogging.advance(self)? == RelogProgress::More {
            *current = Some(relogging);
        }
        Ok(true)
    }

    fn find_relogging(&self) -> Option<Relogging> {
        let wal = self.store.wal();
        let (durable, closed) = (wal.durable_lsn(), wal.closed_lsn());
        self.sessions.list().into_iter().find_map(|session| {
            let needed = session.needed_log(durable)?;
            let most = self.relog_age.max(session.undo_bytes().saturating_mul(GROWTH));
            match closed.0.saturating_sub(needed.0) > most {
                true => self.begin_relogging(session, needed),
                false => None,
            }
        })
    }

    fn begin_relogging(&self, session: Arc<Session>, needed: Lsn) -> Option<Relogging> {
        let from = self.store.wal().closed_lsn();
        let txn = session.owner.txn();
        let walk = session.undo_tail()?;
        // What was read belongs to `txn` if it still runs now.
        let nothing = walk == UndoRef::NONE && session.created.lock().is_empty();
        if nothing || session.while_writing(txn, || ()).is_none() || txn.0 == 0 {
            return None;
        }
        Some(Relogging {
            session,
            txn,
            needed,
            from,
            walk,
            passed: 0,
            blocks: Vec::new(),
            block: Vec::new(),
            record: UndoRecord::default(),
            body: Vec::new(),
        })
    }
}

impl Relogging {
    /// Does a part of the work.
    fn advance(&mut self, core: &EngineShared) -> Result<RelogProgress> {
        let alive = if self.walk != UndoRef::NONE || self.passed == 0 {
            self.walk_on(core)?
        } else {
            self.log_on(core)?
        };
        if !alive {
            return Ok(RelogProgress::Last);
        }
        let over = self.walk == UndoRef::NONE && self.blocks.is_empty() && self.block.is_empty();
        if !over {
            return Ok(RelogProgress::More);
        }
        self.finish(core)
    }

    /// Reads a step into `record`; false when the transaction is over, whose records may be
    /// overwritten.
    fn read(&mut self, core: &EngineShared, step: UndoRef) -> Result<bool> {
        let (txn, record) = (self.txn, &mut self.record);
        let read = self.session.while_writing(txn, || core.undo.read(step, record));
        Ok(read.transpose()? == Some(true))
    }

    /// A part of the first walk; its end begins the logging.
    fn walk_on(&mut self, core: &EngineShared) -> Result<bool> {
        for _ in 0..PART {
            if self.walk == UndoRef::NONE {
                break;
            }
            if self.passed.is_multiple_of(BLOCK) {
                self.blocks.push(self.walk);
            }
            if !self.read(core, self.walk)? {
                return Ok(false);
            }
            self.passed += 1;
            self.walk = self.record.previous;
        }
        if self.walk == UndoRef::NONE {
            return Ok(self.log_beginning(core));
        }
        Ok(true)
    }

    /// Logs the first mark, the trees, and the name of a prepared transaction; false when the
    /// transaction is over: its trees must not be logged after its end, for recovery drops the
    /// trees of losers.
    fn log_beginning(&mut self, core: &EngineShared) -> bool {
        let (txn, body, wal) = (self.txn, &mut self.body, core.store.wal());
        let trees = self.session.created.lock().clone();
        let logged = self.session.while_writing(txn, || {
            wal.append(&TxnRecord::Relog { txn, end: false }.encode(body));
            if let Some(name) = self.session.prepared() {
                wal.append(&TxnRecord::Prepared { txn, name: &name }.encode_again(body));
            }
            for tree in trees {
                wal.append(&TxnRecord::TreeCreated { txn, tree }.encode_again(body));
            }
        });
        logged.is_some()
    }

    /// Logs some steps again, the oldest first.
    fn log_on(&mut self, core: &EngineShared) -> Result<bool> {
        for _ in 0..PART {
            if self.block.is_empty() && !self.open_block(core)? {
                return Ok(false);
            }
            let Some(step) = self.block.pop() else { break };
            // Waits for log space, as every writer does.
            drop(core.store.mtr_for_rollback()?);
            if !self.read(core, step)? {
                return Ok(false);
            }
            let again = undo_record(self.txn, step, &self.record);
            core.store.wal().append(&again.encode_again(&mut self.body));
        }
        Ok(true)
    }

    /// Lists the steps of the oldest block that is left.
    fn open_block(&mut self, core: &EngineShared) -> Result<bool> {
        let Some(mut step) = self.blocks.pop() else { return Ok(true) };
        for _ in 0..BLOCK {
            if step == UndoRef::NONE {
                break;
            }
            if !self.read(core, step)? {
                return Ok(false);
            }
            self.block.push(step);
            step = self.record.previous;
        }
        Ok(true)
    }

    fn finish(&mut self, core: &EngineShared) -> Result<RelogProgress> {
        let wal = core.store.wal();
        let mark = TxnRecord::Relog { txn: self.txn, end: true }.encode(&mut self.body);
        if let Some(end) = self.session.while_writing(self.txn, || wal.append(&mark)) {
            wal.wait_durable(end)?;
            self.session.move_log_hold(self.needed, self.from);
        }
        Ok(RelogProgress::Last)
    }
}

fn undo_record(txn: TxnId, at: UndoRef, record: &UndoRecord) -> TxnRecord<'_> {
    let before = match record.kind {
        UndoKind::Insert => Before::Nothing,
        UndoKind::Change => Before::Version(record.before, &record.payload),
        UndoKind::Delete => Before::Marked(record.before),
    };
    TxnRecord::Undo(UndoStep { txn, at, tree: record.tree, key: &record.key, before })
}
