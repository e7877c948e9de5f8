//! Purge: what no snapshot needs any more is taken away.
//!
//! Three kinds of it:
//! - **History**: each session's finished transactions, oldest first. When every snapshot sees a
//!   transaction's commit, the records it marked as deleted are removed and its undo chunks freed.
//!   The session does a few after each of its commits; the background does the rest.
//! - **Dead marks** without a history: those of transactions from before the last start, which
//!   scans note in passing, and those that a rollback brings back after their own history was
//!   purged. They are noted, and the background removes them.
//! - **Garbage**: dropped trees, named in the garbage tree. Each round frees some of their nodes,
//!   so that a large tree delays neither history nor a shutdown; the root goes together with the
//!   tree's record. The next open goes on where a shutdown or crash came in between.

use super::session::Session;
use super::shared::EngineShared;
use super::status::TxnState;
use super::sweep::Sweep;
use super::trees::Tree;
use super::undo::{Finished, UndoKind, UndoRecord, UndoRef};
use crate::Result;
use crate::btree::{LeafCopy, Seek};
use crate::error::StorageError;
use crate::node::RecordHeader;
use crate::report;
use crate::sync::Ordering;
use inia_base::ids::{Lsn, TreeId, TxnId};

/// Records that a session removes after one of its commits.
const STEPS_PER_COMMIT: usize = 8;
/// Records that the background removes in one step.
const STEPS_IN_BACKGROUND: usize = 8192;
/// Nodes of dropped trees that the background frees in one step: 4 MiB of leaves.
const NODES_IN_BACKGROUND: usize = 256;
/// Changes that the background undoes in one step, for a transaction that waits for its rollback.
const ROLLBACK_STEPS: usize = 512;
/// A session's history from which on it computes the purge horizon itself.
const LONG_HISTORY: usize = 64;
/// Noted dead marks are dropped beyond this number: a later scan notes them again.
const DEAD_MARKS: usize = 1024;

/// The outcome of a round of purge.
#[derive(Default)]
pub(crate) struct PurgeRound {
    /// Whether there was something to do, and it was done.
    pub(crate) some: bool,
    /// The first failure.
    pub(crate) failure: Option<StorageError>,
}

/// What is left of the dropped trees after a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Garbage {
    /// Nothing.
    None,
    /// Trees that a snapshot still sees, or that a rollback may go through.
    Waits,
    /// Nodes that the next round can free.
    More,
}

impl PurgeRound {
    fn note(&mut self, part: Result<bool>) {
        match part {
            Ok(some) => self.some |= some,
            Err(error) => {
                self.failure.get_or_insert(error);
            }
        }
    }
}

impl EngineShared {
    /// A few steps of the session's own history.
    pub(crate) fn purge_after_commit(&self, session: &Session) -> Result<()> {
        let length = session.history.lock().len();
        if length == 0 {
            return Ok(());
        }
        let horizon = match length % LONG_HISTORY {
            0 => self.refresh_horizon(),
            _ => self.purge_horizon(),
        };
        self.purge_history(session, horizon, STEPS_PER_COMMIT).map(|_| ())
    }

    /// One step of background purge; true when there was something to do.
    pub(crate) fn purge_step(&self) -> Result<bool> {
        let PurgeRound { some, failure } = self.purge_round();
        failure.map_or(Ok(some), Err)
    }

    /// A part of each kind of work. A kind that keeps failing does not stop the others.
    pub(crate) fn purge_round(&self) -> PurgeRound {
        let horizon = self.refresh_horizon();
        let mut round = PurgeRound::default();
        for session in self.sessions.list() {
            round.note(self.purge_history(&session, horizon, STEPS_IN_BACKGROUND));
        }
        round.note(self.remove_noted(horizon));
        round.note(self.relog_old_transactions());
        if self.garbage_waits.swap(false, Ordering::AcqRel) {
            let left = self.collect_garbage(horizon);
            if !matches!(left, Ok(Garbage::None)) {
                self.garbage_waits.store(true, Ordering::Release);
            }
            round.note(left.map(|left| left == Garbage::More));
        }
        round.note(self.roll_back_unfinished(ROLLBACK_STEPS));
        if !round.some {
            round.note(self.make_history_durable());
        }
        self.report(&round);
        round
    }

    /// Writes a failure to the error log once, however many rounds it lasts.
    fn report(&self, round: &PurgeRound) {
        let text = round.failure.as_ref().map(ToString::to_string).unwrap_or_default();
        let mut last = self.reported_failure.lock();
        if *last != text {
            if !text.is_empty() {
                report::error(format_args!("work in the background fails: {text}"));
            }
            *last = text;
        }
    }

    /// Makes commits durable whose history waits for nothing else: no other thread may come to do
    /// it.
    fn make_history_durable(&self) -> Result<bool> {
        let wal = self.store.wal();
        let durable = wal.durable_lsn();
        let oldest = self.sessions.list().iter().filter_map(|s| s.history.lock().oldest()).min();
        match oldest {
            Some(commit_lsn) if commit_lsn > durable && commit_lsn <= wal.closed_lsn() => {
                wal.wait_durable(commit_lsn).map(|()| true)
            }
            _ => Ok(false),
        }
    }

    /// Purges from a session's history, at most `steps` records; true when it did anything.
    fn purge_history(&self, session: &Session, horizon: Lsn, mut steps: usize) -> Result<bool> {
        let mut some = false;
        while steps > 0 {
            let Some(oldest) = session.history.lock().start_purge(horizon) else { break };
            some = true;
            debug_assert!(oldest.end <= horizon, "every snapshot sees what is purged");
            debug_assert!(
                !matches!(self.status.state(oldest.txn), TxnState::Active(_)),
                "history is of transactions that have ended"
            );
            let (tail, result) = self.purge_txn(oldest, &mut steps);
            if tail == UndoRef::NONE {
                session.history.lock().end_purge(&self.undo);
            } else {
                session.history.lock().pause_purge(tail);
            }
            result?;
        }
        Ok(some)
    }

    /// Removes what a transaction marked as deleted; where it stopped.
    fn purge_txn(&self, txn: Finished, steps: &mut usize) -> (UndoRef, Result<()>) {
        if txn.deletes == 0 {
            *steps -= 1;
            return (UndoRef::NONE, Ok(()));
        }
        let mut tail = txn.tail;
        let mut record = UndoRecord::default();
        let mut sweep = Sweep::default();
        let mut undo = self.undo.reader();
        loop {
            let start = tail;
            while tail != UndoRef::NONE && *steps > 0 && !sweep.is_full() {
                match undo.read(tail, &mut record) {
                    Ok(true) => {}
                    Ok(false) => {
                        tail = UndoRef::NONE;
                        break;
                    }
                    Err(error) => return (start, Err(error)),
                }
                if record.kind == UndoKind::Delete {
                    *steps -= 1;
                    sweep.add(record.tree, &record.key);
                }
                tail = record.previous;
            }
            if let Err(error) = self.sweep(txn.txn, &mut sweep) {
                return (start, Err(error));
            }
            if tail == UndoRef::NONE {
                *steps = steps.saturating_sub(1);
                return (UndoRef::NONE, Ok(()));
            }
            if *steps == 0 {
                return (tail, Ok(()));
            }
        }
    }

    /// Removes a record for good if it is marked as deleted and `dead` agrees. True when it is
    /// marked, but not dead.
    fn remove_dead(
        &self,
        tree: &Tree,
        key: &[u8],
        dead: impl Fn(RecordHeader) -> bool,
    ) -> Result<bool> {
        let (mut sparse, mut waits) = (false, false);
        let removed = tree.btree().modify(&self.store, key, 0, |leaf| {
            let Ok(i) = leaf.lower_bound(key) else { return Ok(()) };
            let header = leaf.header(i);
            if header.is_deleted() && dead(header) {
                leaf.remove(i)?;
                sparse = leaf.is_sparse();
            } else {
                waits = header.is_deleted();
            }
            Ok(())
        });
        match removed {
            Ok(_) if sparse => tree.btree().try_merge(&self.store, key).map(|_| false),
            Ok(_) => Ok(waits),
            // The tree has been dropped since, and its root page may be anything now.
            Err(StorageError::Corrupt(..)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Notes a record that a scan found marked as deleted, if the mark has no history.
    pub(crate) fn note_dead(&self, tree: &Tree, writer: TxnId, key: &[u8]) {
        if writer < self.boundary {
            let mut noted = self.dead.lock();
            if noted.len() < DEAD_MARKS {
                noted.push((tree.id(), key.to_vec()));
            }
        }
    }

    /// Notes a record that a rollback has marked as deleted again.
    pub(crate) fn note_mark_restored(&self, tree: &Tree, key: &[u8]) {
        self.dead.lock().push((tree.id(), key.to_vec()));
    }

    fn remove_noted(&self, horizon: Lsn) -> Result<bool> {
        let noted = std::mem::take(&mut *self.dead.lock());
        let mut round = PurgeRound::default();
        for (tree, key) in noted {
            let dead = |header: RecordHeader| self.is_past(header.txn_id(), horizon);
            let waits = self.remove_dead(&self.trees.get(tree), &key, dead);
            if !matches!(waits, Ok(false)) {
                self.dead.lock().push((tree, key));
            }
            round.note(waits.map(|waits| !waits));
        }
        round.failure.map_or(Ok(round.some), Err)
    }

    /// Frees some nodes of dropped trees that no snapshot sees. No rollback may need them either.
    fn collect_garbage(&self, horizon: Lsn) -> Result<Garbage> {
        if self.rollbacks_left.load(Ordering::Acquire) > 0 {
            return Ok(Garbage::Waits);
        }
        let Some(_only) = self.collecting.try_lock() else { return Ok(Garbage::Waits) };
        let garbage = self.trees.get(self.roots.garbage);
        let (ready, mut left) = self.dropped_trees(&garbage, horizon)?;
        let mut nodes = NODES_IN_BACKGROUND;
        let mut round = PurgeRound::default();
        for tree in ready {
            if nodes == 0 {
                left = Garbage::More;
                break;
            }
            match self.free_tree(&garbage, tree, &mut nodes) {
                Ok(true) => {}
                Ok(false) => left = Garbage::More,
                Err(error) => round.note(Err(error)),
            }
        }
        round.failure.map_or(Ok(left), Err)
    }

    /// The dropped trees whose drop every snapshot sees, and whether there are others.
    fn dropped_trees(&self, garbage: &Tree, horizon: Lsn) -> Result<(Vec<TreeId>, Garbage)> {
        let mut leaf = LeafCopy::new();
        let mut key = Vec::new();
        let (mut ready, mut left) = (Vec::new(), Garbage::None);
        garbage.btree().load_leaf(&self.store, Seek::First, &mut leaf)?;
        let mut from = 0;
        loop {
            for i in from..leaf.len() {
                let dropped = self.is_past(leaf.header(i).txn_id(), horizon);
                leaf.key(i, &mut key);
                match (dropped, tree_of(&key)) {
                    (true, Some(tree)) if !leaf.is_deleted(i) => ready.push(tree),
                    (true, _) => {}
                    (false, _) => left = Garbage::Waits,
                }
            }
            match garbage.btree().next_leaf(&self.store, &mut leaf)? {
                Some(next) => from = next,
                None => return Ok((ready, left)),
            }
        }
    }

    /// Frees at most `nodes` nodes of a dropped tree, the root last, and counts `nodes` down. True
    /// when the tree is gone.
    fn free_tree(&self, garbage: &Tree, id: TreeId, nodes: &mut usize) -> Result<bool> {
        let key = garbage_key(id);
        // Read again now that its writer is known to be finished: a drop that was rolled back is
        // gone.
        match garbage.btree().get(&self.store, &key, &mut Vec::new())? {
            Some(header) if !header.is_deleted() => {}
            _ => return Ok(true),
        }
        let tree = self.trees.get(id);
        if !tree.btree().free_nodes(&self.store, nodes)? {
            return Ok(false);
        }
        *nodes -= 1;
        garbage.btree().modify(&self.store, &key, 0, |leaf| {
            if let Ok(i) = leaf.lower_bound(&key) {
                leaf.remove(i)?;
                leaf.free_tree_root(tree.btree())?;
                // Once the page is free it may be a new tree's root, whose handle must stay.
                self.trees.forget(id);
            }
            Ok(())
        })?;
        Ok(true)
    }

    /// Puts a tree among the garbage whose creation by `by` is being rolled back.
    pub(crate) fn abandon_tree(&self, by: TxnId, id: TreeId) -> Result<()> {
        let garbage = self.trees.get(self.roots.garbage);
        let key = garbage_key(id);
        garbage.btree().modify_for_rollback(&self.store, &key, 0, |leaf| {
            match leaf.lower_bound(&key) {
                Ok(_) => Ok(()),
                Err(_) => leaf.insert(&key, RecordHeader::new(by, 0, false), &[]).map(|_| ()),
            }
        })?;
        self.garbage_waits.store(true, Ordering::Release);
        Ok(())
    }
}

/// A dropped tree's key in the garbage tree.
pub(crate) fn garbage_key(tree: TreeId) -> [u8; 4] {
    tree.0.to_be_bytes()
}

fn tree_of(key: &[u8]) -> Option<TreeId> {
    key.try_into().ok().map(|bytes| TreeId(u32::from_be_bytes(bytes)))
}
