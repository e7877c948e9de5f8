//! Recovery of transactions: who was running at the crash, and their rollback.
//!
//! The store redoes pages and hands over all other records in log order. A transaction with a
//! before-image or a created tree but without an end is a loser; its steps are undone newest first
//! ([`rollback`](super::rollback) argues why doing that again after another crash is the same).
//! All others are committed or rolled back: ids below the first new one need no status.

use super::horizon::{CheckpointState, Roots};
use super::log::TxnRecord;
use crate::Result;
use crate::btree::RecordHeader;
use crate::engine::Core;
use crate::error::StorageError;
use crate::store::LogObserver;
use crate::wal::record::LogRecord;
use inia_base::ids::{Lsn, TreeId, TxnId};
use std::collections::BTreeMap;

/// A step of a transaction, to be undone if it did not end.
enum Step {
    Change { tree: TreeId, key: Vec<u8>, before: Option<(RecordHeader, Vec<u8>)> },
    Created(TreeId),
}

/// What the log says about transactions.
pub(crate) struct Analysis {
    next_id: TxnId,
    roots: Option<Roots>,
    losers: BTreeMap<TxnId, Vec<Step>>,
    /// Steps that are being logged again, until the record that ends them.
    again: BTreeMap<TxnId, Vec<Step>>,
}

impl Analysis {
    pub(crate) fn new() -> Analysis {
        Analysis { next_id: TxnId(1), roots: None, losers: BTreeMap::new(), again: BTreeMap::new() }
    }

    /// The first id that no transaction has had.
    pub(crate) fn next_id(&self) -> TxnId {
        self.next_id
    }

    /// The engine's own trees, if they were made.
    pub(crate) fn roots(&self) -> Option<Roots> {
        self.roots
    }

    fn saw(&mut self, txn: TxnId) {
        self.next_id = self.next_id.max(TxnId(txn.0 + 1));
    }

    fn step(&mut self, txn: TxnId, again: bool, step: Step) {
        self.saw(txn);
        if !again {
            self.losers.entry(txn).or_default().push(step);
        } else if let Some(steps) = self.again.get_mut(&txn) {
            steps.push(step);
        }
    }

    /// Steps logged again go before those that the log still has from the first time. Some may be
    /// there twice, which is harmless: see [`rollback`](super::rollback).
    fn relog(&mut self, txn: TxnId, end: bool) {
        self.saw(txn);
        if !end {
            self.again.insert(txn, Vec::new());
        } else if let Some(mut steps) = self.again.remove(&txn) {
            let kept = self.losers.entry(txn).or_default();
            steps.append(kept);
            *kept = steps;
        }
    }

    /// Rolls back every transaction that did not end; how many there were.
    pub(crate) fn roll_back_losers(self, core: &Core) -> Result<usize> {
        let count = self.losers.len();
        for (txn, steps) in self.losers {
            for step in steps.iter().rev() {
                match step {
                    Step::Change { tree, key, before } => {
                        let tree = core.trees.get(*tree);
                        let before = before.as_ref().map(|(header, value)| (*header, &value[..]));
                        core.undo_change(txn, &tree, key, before, false)?;
                    }
                    Step::Created(tree) => core.abandon_tree(txn, *tree)?,
                }
            }
            core.store.wal().append(&LogRecord::RolledBack { txn });
        }
        Ok(count)
    }
}

impl LogObserver for Analysis {
    fn checkpoint(&mut self, state: &[u8]) -> Result<()> {
        if state.is_empty() {
            return Ok(());
        }
        let unreadable = || StorageError::Unopenable("unreadable checkpoint".to_owned());
        let state = CheckpointState::decode(state).ok_or_else(unreadable)?;
        self.next_id = self.next_id.max(state.next_id);
        self.roots = state.roots;
        Ok(())
    }

    fn record(&mut self, _lsn: Lsn, record: &LogRecord<'_>) -> Result<()> {
        match *record {
            LogRecord::Commit { txn } | LogRecord::RolledBack { txn } => {
                self.saw(txn);
                self.losers.remove(&txn);
                self.again.remove(&txn);
            }
            LogRecord::Other { tag, body } => match TxnRecord::decode(tag, body) {
                Some((TxnRecord::Undo { txn, tree, key, before }, again)) => {
                    let before = before.map(|(header, value)| (header, value.to_vec()));
                    self.step(txn, again, Step::Change { tree, key: key.to_vec(), before });
                }
                Some((TxnRecord::TreeCreated { txn, tree }, again)) => {
                    self.step(txn, again, Step::Created(tree));
                }
                Some((TxnRecord::Relog { txn, end }, _)) => self.relog(txn, end),
                Some((TxnRecord::Founded(roots), _)) => self.roots = Some(roots),
                None => {}
            },
        }
        Ok(())
    }
}
