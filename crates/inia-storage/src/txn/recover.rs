//! Recovery of transactions: who was running at the crash, and what they must undo.
//!
//! The store redoes pages and hands over all other records in log order. A transaction with a
//! before-image or a created tree but without an end is a loser. Its undo is put back where it was
//! ([`Recovered`]), and it goes on as a running transaction that only waits to be rolled back: its
//! rows stay locked, and readers see the versions before. So the store opens at once, whatever
//! there is to undo. Only losers that changed the catalog or made or dropped trees are rolled back
//! first.
//!
//! A loser whose last word is that it is prepared is not rolled back: it goes on as a
//! [`PreparedTxn`] until somebody commits it or rolls it back.
//!
//! Undoing steps that were undone before another crash is harmless ([`rollback`](super::rollback)
//! argues why). All other transactions are committed or rolled back: ids below the first new one
//! need no status.

use super::horizon::{CheckpointState, Roots};
use super::log::{Before, TxnRecord};
use super::prepared::PreparedTxn;
use super::rollback::Unfinished;
use super::shared::EngineShared;
use super::undo::recovered::Recovered;
use super::undo::{NewUndo, UndoKind, UndoStore};
use super::undo_run::{UNDO_RUN, UndoStep, each_step};
use crate::Result;
use crate::error::StorageError;
use crate::node::RecordHeader;
use crate::recover::LogObserver;
use crate::wal::record::LogRecord;
use inia_base::ids::{Lsn, TreeId, TxnId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// All transaction ids are below this.
const MAX_TXN_ID: TxnId = TxnId(1 << 61);

/// What the log says of a transaction that has not ended.
#[derive(Default)]
struct Running {
    undo: Recovered,
    created: Vec<TreeId>,
    /// It defines data: it made or dropped trees, or changed the catalog.
    defines: bool,
    /// Its name, where it is prepared.
    prepared: Option<Vec<u8>>,
}

/// A transaction that was running at the crash.
pub(crate) struct Loser {
    pub(super) txn: TxnId,
    pub(super) undo: Recovered,
    pub(super) created: Vec<TreeId>,
    pub(super) prepared: Option<Vec<u8>>,
    defines: bool,
}

/// What the log says about transactions.
pub(crate) struct Analysis {
    next_id: TxnId,
    roots: Option<Roots>,
    undo: Arc<UndoStore>,
    running: BTreeMap<TxnId, Running>,
}

impl Analysis {
    pub(crate) fn new(undo: Arc<UndoStore>) -> Analysis {
        Analysis { next_id: TxnId(1), roots: None, undo, running: BTreeMap::new() }
    }

    /// The first id that no transaction has had.
    pub(crate) fn next_id(&self) -> TxnId {
        self.next_id
    }

    /// The engine's own trees, if they were made.
    pub(crate) fn roots(&self) -> Option<Roots> {
        self.roots
    }

    fn saw(&mut self, txn: TxnId) -> Result<()> {
        self.need_next(TxnId(txn.0.saturating_add(1)))
    }

    /// The next id is at least this one.
    fn need_next(&mut self, next: TxnId) -> Result<()> {
        if next >= MAX_TXN_ID {
            let what = format!("the log has a senseless transaction id before {}", next.0);
            return Err(StorageError::Unopenable(what));
        }
        self.next_id = self.next_id.max(next);
        Ok(())
    }

    fn ended(&mut self, txn: TxnId) -> Result<()> {
        self.saw(txn)?;
        if let Some(running) = self.running.remove(&txn) {
            running.undo.forget(&self.undo);
        }
        Ok(())
    }

    /// Writes a change's undo record to its old position.
    fn step(&mut self, step: &UndoStep<'_>, again: bool) -> Result<()> {
        let UndoStep { txn, at, tree, key, before } = *step;
        self.saw(txn)?;
        let roots = self.roots;
        let running = self.running.entry(txn).or_default();
        running.defines |=
            roots.is_some_and(|roots| tree == roots.catalog || tree == roots.garbage);
        let (kind, before, payload) = match before {
            Before::Nothing => (UndoKind::Insert, RecordHeader::default(), &[][..]),
            Before::Version(header, payload) => (UndoKind::Change, header, payload),
            Before::Marked(header) => (UndoKind::Delete, header, &[][..]),
        };
        let after = payload.len();
        let record = NewUndo { kind, tree, key, before, payload, after };
        match again {
            false => running.undo.push(&self.undo, at, &record),
            true => running.undo.push_again(&self.undo, at, &record),
        }
    }

    fn txn_record(&mut self, record: TxnRecord<'_>, again: bool) -> Result<()> {
        match record {
            TxnRecord::Undo(step) => self.step(&step, again)?,
            TxnRecord::TreeCreated { txn, tree } => {
                self.saw(txn)?;
                let running = self.running.entry(txn).or_default();
                running.defines = true;
                if !running.created.contains(&tree) {
                    running.created.push(tree);
                }
            }
            TxnRecord::Relog { txn, end } => {
                self.saw(txn)?;
                let undo = &mut self.running.entry(txn).or_default().undo;
                match end {
                    false => undo.begin_again(),
                    true => undo.end_again(&self.undo)?,
                }
            }
            TxnRecord::Prepared { txn, name } => {
                self.saw(txn)?;
                self.running.entry(txn).or_default().prepared = Some(name.to_vec());
            }
            TxnRecord::Unprepared { txn } => {
                self.saw(txn)?;
                self.running.entry(txn).or_default().prepared = None;
            }
            TxnRecord::Bootstrapped(roots) => self.roots = Some(roots),
        }
        Ok(())
    }

    /// The transactions that did not end, those with the least to undo first.
    pub(crate) fn into_losers(self) -> Vec<Loser> {
        let mut losers = Vec::new();
        for (txn, Running { mut undo, created, defines, prepared }) in self.running {
            undo.close(&self.undo);
            if undo.records() > 0 || !created.is_empty() {
                losers.push(Loser { txn, undo, created, prepared, defines });
            } else {
                undo.forget(&self.undo);
            }
        }
        losers.sort_by_key(|loser| loser.undo.records());
        losers
    }
}

/// Makes running transactions of the losers, and rolls back those that define data; those that are
/// prepared. Nobody uses the engine yet.
pub(crate) fn resume(core: &Arc<EngineShared>, losers: &[Loser]) -> Result<Vec<PreparedTxn>> {
    let from = core.store.recovered_from();
    let (mut first, mut prepared) = (Vec::new(), Vec::new());
    for loser in losers {
        if let Some(name) = &loser.prepared {
            prepared.push(PreparedTxn::resume(core, loser, name, from));
            continue;
        }
        let unfinished = Unfinished::resume(core, loser, from);
        match loser.defines {
            true => first.push(unfinished),
            false => core.leave_unfinished(unfinished),
        }
    }
    for mut unfinished in first {
        let done = unfinished.roll_back(core, usize::MAX)?;
        debug_assert!(done, "all steps were undone");
    }
    Ok(prepared)
}

impl LogObserver for Analysis {
    fn checkpoint(&mut self, state: &[u8]) -> Result<()> {
        if state.is_empty() {
            return Ok(());
        }
        let unreadable = || StorageError::Unopenable("unreadable checkpoint".to_owned());
        let state = CheckpointState::decode(state).ok_or_else(unreadable)?;
        self.roots = state.roots;
        self.need_next(state.next_id)
    }

    fn record(&mut self, _lsn: Lsn, record: &LogRecord<'_>) -> Result<()> {
        match *record {
            LogRecord::Commit { txn } | LogRecord::RolledBack { txn } => self.ended(txn)?,
            LogRecord::Other { tag: UNDO_RUN, body } => {
                if let Some(taken) = each_step(body, |step| self.step(step, false)) {
                    taken?;
                }
            }
            LogRecord::Other { tag, body } => {
                if let Some((record, again)) = TxnRecord::decode(tag, body) {
                    self.txn_record(record, again)?;
                }
            }
        }
        Ok(())
    }
}
