//! Which locks transactions hold, for tools that list them.
//!
//! The lock table knows records by hashes of their keys, and a changed record is locked by the id
//! in its header alone. So the list is made the other way round: a snapshot of the lock table is
//! taken, and the records of a tree are asked whether they are in it. Taking the snapshot holds
//! each part of the lock table for as long as it takes to copy it; reading a tree holds nothing.
//! What is released or taken meanwhile may be in the list or not.

use super::shared::EngineShared;
use super::trees::Tree;
use crate::Result;
use crate::btree::{LeafCopy, Seek};
use crate::lock::gap::OwnedIntervals;
use crate::lock::record::{HeldModes, LockName};
use inia_base::ids::TxnId;
use std::collections::{HashMap, HashSet};

/// What one session holds at one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLock {
    /// The session's number, as in [`ActiveTxn`](crate::ActiveTxn).
    pub session: u32,
    /// The record's key; `None` for the end of the tree.
    pub key: Option<Vec<u8>>,
    /// The newest version's value, as far as it lies in the leaf.
    pub value: Vec<u8>,
    /// A shared lock on the record.
    pub shared: bool,
    /// An exclusive lock on the record.
    pub exclusive: bool,
    /// Nobody else inserts between the record before and this one.
    pub gap: bool,
}

/// What is locked of one tree.
#[derive(Default)]
pub struct TreeLocks {
    /// The locks on records, in the order of the keys.
    pub locks: Vec<HeldLock>,
    /// The sessions that have written records of the tree, inserted ones included.
    pub writers: Vec<u32>,
}

/// A snapshot of the lock table.
pub struct HeldLocks {
    records: HashMap<LockName, Vec<HeldModes>>,
    /// Sessions by the transactions that they write in.
    writers: HashMap<TxnId, u32>,
}

impl EngineShared {
    /// What is locked now.
    pub(crate) fn held_locks(&self) -> HeldLocks {
        let sessions = self.sessions.list();
        let owners = sessions.iter().map(|session| &session.owner);
        let writers = owners.map(|owner| (owner.txn(), owner.index()));
        let writers = writers.filter(|(txn, _)| txn.0 != 0).collect();
        HeldLocks { records: self.locks.held_records(), writers }
    }

    /// The locks on records of a tree. Where `writes` is set, records that a transaction has
    /// changed or deleted count as locked by it, those that it has inserted do not. Only the tree's
    /// first records are looked at, about `most`.
    pub(crate) fn locks_of_tree(
        &self,
        held: &HeldLocks,
        tree: &Tree,
        writes: bool,
        most: usize,
    ) -> Result<TreeLocks> {
        let gaps = tree.gaps().held();
        if held.records.is_empty() && gaps.is_empty() && (!writes || held.writers.is_empty()) {
            return Ok(TreeLocks::default());
        }
        let mut walk = Walk { held, writes, gaps, tree, before: None, found: TreeLocks::default() };
        let mut leaf = LeafCopy::new();
        let (btree, store) = (tree.btree(), &self.store);
        btree.load_leaf(store, Seek::First, &mut leaf)?;
        let (mut from, mut seen) = (0, 0);
        loop {
            (from..leaf.len()).for_each(|i| walk.record(&leaf, i));
            seen += leaf.len();
            if seen >= most {
                return Ok(walk.found);
            }
            match btree.next_leaf(store, &mut leaf)? {
                Some(next) => from = next,
                None => break,
            }
        }
        walk.end();
        Ok(walk.found)
    }
}

/// A walk over a tree's records.
struct Walk<'w> {
    held: &'w HeldLocks,
    writes: bool,
    gaps: Vec<(u32, OwnedIntervals)>,
    tree: &'w Tree,
    /// The key of the record before.
    before: Option<Vec<u8>>,
    found: TreeLocks,
}

impl Walk<'_> {
    fn record(&mut self, leaf: &LeafCopy, i: usize) {
        let mut key = Vec::new();
        leaf.key(i, &mut key);
        let header = leaf.header(i);
        let writer = self.held.writers.get(&header.txn_id()).copied();
        let holders = self.held.records.get(&LockName::new(self.tree.id(), &key));
        let holders = holders.map_or(&[][..], |holders| holders);
        // What is left of a deletion that is over stands for no record.
        if header.is_deleted() && writer.is_none() && holders.is_empty() {
            return;
        }
        let changed = writer.filter(|_| self.writes && header.undo != 0);
        let writers = &mut self.found.writers;
        writers.extend(writer.filter(|writer| !writers.contains(writer)));
        let before = self.before.as_deref();
        let gaps = self.gaps.iter().filter(|(_, set)| set.meets(before, Some(&key)));
        let gaps: HashSet<u32> = gaps.map(|(session, _)| *session).collect();
        let mut sessions: Vec<u32> = holders.iter().map(|held| held.session).collect();
        sessions.extend(changed);
        sessions.extend(&gaps);
        sessions.sort_unstable();
        sessions.dedup();
        for session in sessions {
            let modes = holders.iter().find(|held| held.session == session);
            self.found.locks.push(HeldLock {
                session,
                key: Some(key.clone()),
                value: if leaf.is_inline(i) { leaf.inline_payload(i).to_vec() } else { Vec::new() },
                shared: modes.is_some_and(|held| held.shared),
                exclusive: changed == Some(session) || modes.is_some_and(|held| held.exclusive),
                gap: gaps.contains(&session),
            });
        }
        self.before = Some(key);
    }

    /// The gap behind the last record.
    fn end(&mut self) {
        let before = self.before.as_deref();
        for (session, _) in self.gaps.iter().filter(|(_, set)| set.meets(before, None)) {
            let (session, key, value) = (*session, None, Vec::new());
            let (shared, exclusive) = (false, false);
            self.found.locks.push(HeldLock { session, key, value, shared, exclusive, gap: true });
        }
    }
}
