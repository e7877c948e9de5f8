//! Reads of one key.

use super::handle::{Locked, Txn};
use super::shared::EngineShared;
use super::snapshot::Snapshot;
use super::trees::Tree;
use super::undo::{UndoRef, senseless};
use crate::Result;
use crate::btree::{GROUP, Lookup, Seek};
use crate::counts::{self, Count};
use crate::error::StorageError;
use crate::node::RecordHeader;
use crate::request::{Isolation, LockMode, LockRequest};
use inia_base::ids::TxnId;
use std::ops::Range;

impl EngineShared {
    /// Goes from the newest version of a record, whose value is in `payload`, back to the one that
    /// the snapshot shows to a reader with the id `own`. False when it shows none.
    pub(crate) fn resolve(
        &self,
        snapshot: Snapshot,
        own: TxnId,
        mut header: RecordHeader,
        payload: &mut Vec<u8>,
    ) -> Result<bool> {
        loop {
            if snapshot.sees(header.txn_id(), own, &self.status) {
                return Ok(!header.is_deleted());
            }
            if header.undo == 0 {
                return Ok(false);
            }
            let Some(before) = self.undo.version_before(UndoRef(header.undo), payload)? else {
                return Ok(false);
            };
            // A transaction's places grow: with damage it might go round here.
            if before.txn_id() == header.txn_id() && before.undo >= header.undo {
                return Err(senseless());
            }
            header = before;
        }
    }
}

impl Txn {
    /// The snapshot by which the tree is read; `None` when its newest versions are wanted.
    #[inline]
    pub(super) fn view_of(&mut self, tree: &Tree) -> Result<Option<Snapshot>> {
        debug_assert!(self.core.trees.has(tree), "a tree of another engine");
        self.has_read = true;
        if self.isolation == Isolation::ReadUncommitted || tree.shows_newest() {
            return Ok(None);
        }
        let snapshot = self.snapshot()?;
        self.check_age(tree)?;
        Ok(Some(snapshot))
    }

    /// Fails when the transaction's snapshot, if it has one, is older than the tree: what a table's
    /// tree held before it was rebuilt is gone.
    #[inline]
    pub(super) fn check_age(&self, tree: &Tree) -> Result<()> {
        debug_assert!(self.core.trees.has(tree), "a tree of another engine");
        let sees = |maker| match self.snapshot {
            Some(snapshot) => snapshot.sees(maker, self.own, &self.core.status),
            None => true,
        };
        if tree.made_by().is_none_or(sees) { Ok(()) } else { Err(StorageError::SnapshotTooOld) }
    }

    /// Reads one key by the snapshot and hands its value to `read`.
    pub fn get<R>(
        &mut self,
        tree: &Tree,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>> {
        counts::add(Count::Keys, 1);
        let snapshot = self.view_of(tree)?;
        let payload = &mut self.work.payload;
        let Some(header) = tree.btree().get(&self.core.store, key, payload)? else {
            return Ok(None);
        };
        let shown = match snapshot {
            None => !header.is_deleted(),
            Some(snapshot) => self.core.resolve(snapshot, self.own, header, payload)?,
        };
        Ok(shown.then(|| read(payload)))
    }

    /// Reads many keys by the snapshot, faster than one by one. The values are appended to `out`.
    /// `found` is called for each key, in order, with its value's range in `out`, if it has one.
    pub fn get_batch(
        &mut self,
        tree: &Tree,
        keys: &[&[u8]],
        out: &mut Vec<u8>,
        mut found: impl FnMut(usize, Option<Range<usize>>),
    ) -> Result<()> {
        let snapshot = self.view_of(tree)?;
        counts::add(Count::Keys, keys.len() as u64);
        for (group, keys) in keys.chunks(GROUP).enumerate() {
            let start = out.len();
            let lookups = tree.btree().get_group(&self.core.store, keys, out)?;
            for (i, (lookup, key)) in lookups.into_iter().zip(keys).enumerate() {
                let shown = |header: RecordHeader| match snapshot {
                    None => !header.is_deleted(),
                    Some(snapshot) => {
                        snapshot.sees(header.txn_id(), self.own, &self.core.status)
                            && !header.is_deleted()
                    }
                };
                let range = match lookup {
                    Lookup::Absent => None,
                    Lookup::Record(header, range) if shown(header) => Some(range),
                    Lookup::Record(..) | Lookup::Single => {
                        // It is counted already.
                        counts::add(Count::Keys, 1_u64.wrapping_neg());
                        self.get(tree, key, |value| {
                            let at = out.len();
                            out.extend_from_slice(value);
                            at..out.len()
                        })?
                    }
                };
                debug_assert!(range.as_ref().is_none_or(|range| range.start >= start));
                found(group * GROUP + i, range);
            }
        }
        Ok(())
    }

    /// Locks one key and reads its current value. At REPEATABLE READ an absent key locks its gap;
    /// a present one is locked without its gap (full unique-key equality, as in MySQL).
    pub fn lock_get<R>(
        &mut self,
        tree: &Tree,
        key: &[u8],
        request: LockRequest,
        read: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>> {
        counts::add(Count::Keys, 1);
        self.check_age(tree)?;
        self.last.took_lock = false;
        let (mut fresh, mut at_once) = (false, false);
        loop {
            // The lock comes first: whatever the record says afterwards stays so, unless its writer
            // still runs.
            match self.lock_key(tree, key, request)? {
                Locked::Skip => return Ok(None),
                Locked::Yes { fresh: new } => (fresh, at_once) = (fresh | new, at_once | new),
                Locked::Retry { fresh: new } => fresh |= new,
            }
            // Under the lock there is no record, one of a running writer, or one that stays.
            let payload = &mut self.work.payload;
            let header = tree.btree().get(&self.core.store, key, payload)?;
            let Some(header) = header else {
                self.unlock_if(fresh, tree, key, request.mode);
                (fresh, at_once) = (false, false);
                if !self.locks_gaps() || self.lock_absent(tree, key)? {
                    return Ok(None);
                }
                continue;
            };
            let running = header.txn_id() != self.id && self.note_writer(header.txn_id()).is_some();
            if running {
                self.unlock_if(fresh, tree, key, request.mode);
                match self.wait_for_writer(tree, key, header.txn_id(), request)? {
                    Locked::Skip => return Ok(None),
                    Locked::Yes { fresh: new } | Locked::Retry { fresh: new } => fresh = new,
                }
                at_once = false;
                continue;
            }
            if !header.is_deleted() {
                self.last.took_lock = at_once;
                return Ok(Some(read(&self.work.payload)));
            }
            // A deleted record is absent, but its key stays locked where gaps are.
            if !self.locks_gaps() {
                self.unlock_if(fresh, tree, key, request.mode);
                return Ok(None);
            }
            if self.lock_absent(tree, key)? {
                return Ok(None);
            }
        }
    }

    pub(super) fn unlock_if(&mut self, fresh: bool, tree: &Tree, key: &[u8], mode: LockMode) {
        if fresh {
            self.unlock(tree, key, mode);
        }
    }

    /// Whether the last [`Txn::lock_get`] has taken a lock that was not held before, without a
    /// wait: only such a lock is released where the row does not match, as in MySQL.
    pub fn took_lock(&self) -> bool {
        self.last.took_lock
    }

    /// Releases the lock of a record that was read with [`Txn::lock_get`] in this mode, was fresh
    /// ([`Txn::took_lock`]), and did not match. At REPEATABLE READ and above it is kept.
    pub fn unlock_unmatched(&mut self, tree: &Tree, key: &[u8], mode: LockMode) {
        if !self.locks_gaps() {
            self.unlock(tree, key, mode);
        }
    }

    /// Locks the gap before a key that is there, and the one after it where that is wanted, at any
    /// isolation level: what MySQL does with the entry of a unique secondary index that an insert
    /// has met, live or deleted.
    pub fn lock_gaps_at(&mut self, tree: &Tree, key: &[u8], after: bool) -> Result<()> {
        self.enlist();
        let (store, gap) = (&self.core.store, &mut self.work.gap);
        loop {
            tree.btree().load_leaf(store, Seek::Covering(key), &mut gap.leaf)?;
            let found = gap.leaf.lower_bound(key);
            let (Ok(at) | Err(at)) = found;
            let beyond = at + usize::from(found.is_ok());
            gap.find_low(tree, store, at)?;
            gap.high.set_key(key);
            if after {
                gap.find_high(tree, store, beyond)?;
            }
            tree.gaps().lock(&self.owner, gap.low.edge(), gap.high.edge());
            if gap.confirm_low(tree, store, at)?
                && (!after || gap.confirm_high(tree, store, beyond)?)
            {
                return Ok(());
            }
        }
    }

    /// Whether the last insert has replaced a record that this transaction had deleted.
    pub fn replaced_own_deletion(&self) -> bool {
        self.last.replaced_own
    }

    /// Locks the gap that a record leaves which this transaction has taken away again. Its key is
    /// locked meanwhile, so nobody puts a record there.
    pub(super) fn lock_left_gap(&mut self, tree: &Tree, key: &[u8]) -> Result<()> {
        loop {
            let there = tree.btree().get(&self.core.store, key, &mut self.work.payload)?;
            if there.is_some_and(|header| !header.is_deleted()) || self.lock_absent(tree, key)? {
                return Ok(());
            }
        }
    }

    /// Locks the gap in which `key` would be; false when something came in between.
    fn lock_absent(&mut self, tree: &Tree, key: &[u8]) -> Result<bool> {
        self.enlist();
        let (store, gap) = (&self.core.store, &mut self.work.gap);
        tree.btree().load_leaf(store, Seek::Covering(key), &mut gap.leaf)?;
        let (before, after) = match gap.leaf.lower_bound(key) {
            Ok(i) if !gap.leaf.is_deleted(i) => return Ok(false),
            Ok(i) => (i, i + 1),
            Err(i) => (i, i),
        };
        gap.find_low(tree, store, before)?;
        gap.find_high(tree, store, after)?;
        tree.gaps().lock(&self.owner, gap.low.edge(), gap.high.edge());
        Ok(gap.confirm_low(tree, store, before)? && gap.confirm_high(tree, store, after)?)
    }
}
