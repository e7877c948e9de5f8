//! The way down: optimistic first, latched hand over hand when that fails too often.

use super::{BTree, Seek};
use crate::Result;
use crate::buffer::{OptimisticPage, Restart, SharedPage};
use crate::error::StorageError;
use crate::node::{self, is_node_of};
use crate::page::PageRead;
use crate::store::{Latched, Mtr, Store};
use inia_base::ids::PageId;
use std::sync::atomic::Ordering;

/// Optimistic tries before latching.
pub(super) const TRIES: usize = 3;

/// Why an optimistic step ended early.
pub(super) enum Stop {
    /// A writer got in between.
    Restart,
    /// Trying again would not help.
    Failed(StorageError),
}

impl From<Restart> for Stop {
    fn from(_: Restart) -> Stop {
        Stop::Restart
    }
}

impl From<StorageError> for Stop {
    fn from(error: StorageError) -> Stop {
        Stop::Failed(error)
    }
}

/// A node being read optimistically.
pub(super) struct Node<'s> {
    pub(super) id: PageId,
    pub(super) page: OptimisticPage<'s>,
}

/// The slot of an inner node to follow.
fn next_slot(page: &impl PageRead, seek: Seek<'_>) -> usize {
    match seek {
        Seek::First => 0,
        Seek::Last => node::count(page).saturating_sub(1),
        Seek::Covering(key) => node::child_slot(page, key),
        Seek::Before(key) => {
            let (Ok(i) | Err(i)) = node::search(page, key);
            i.saturating_sub(1)
        }
    }
}

impl BTree {
    /// What is wrong with a page that should be a node of this tree at `level`.
    fn misplaced(&self, page: &impl PageRead, level: usize) -> Option<&'static str> {
        if !is_node_of(page, self.root) {
            return Some("not a node of this tree");
        }
        (node::level(page) != level).then_some("node at a wrong level")
    }

    /// Descends optimistically to a level; `None` when the tree is not that high. The node was the
    /// right one in the state that its version names; what is read from it needs validation.
    pub(super) fn descend<'s>(
        &self,
        store: &'s Store,
        seek: Seek<'_>,
        to_level: usize,
    ) -> std::result::Result<Option<Node<'s>>, Stop> {
        let mut id = self.root;
        let mut page = store.optimistic(id)?;
        let mut level = node::level(&page);
        if let Some(what) = self.misplaced(&page, level) {
            page.validate()?;
            return Err(StorageError::Corrupt(id, what).into());
        }
        if level < to_level {
            page.validate()?;
            return Ok(None);
        }
        while level > to_level {
            let child_id = node::child(&page, next_slot(&page, seek));
            page.validate()?;
            let child = store.optimistic(child_id)?;
            page.validate()?;
            level -= 1;
            if let Some(what) = self.misplaced(&child, level) {
                child.validate()?;
                return Err(StorageError::Corrupt(child_id, what).into());
            }
            (id, page) = (child_id, child);
        }
        Ok(Some(Node { id, page }))
    }

    /// Descends to a level with shared latches, hand over hand.
    fn descend_latched<'s>(
        &self,
        store: &'s Store,
        seek: Seek<'_>,
        to_level: usize,
    ) -> Result<Option<(PageId, SharedPage<'s>)>> {
        let mut id = self.root;
        let mut page = store.shared(id)?;
        let mut level = node::level(&*page);
        if let Some(what) = self.misplaced(&*page, level) {
            return Err(StorageError::Corrupt(id, what));
        }
        if level < to_level {
            return Ok(None);
        }
        while level > to_level {
            id = node::child(&*page, next_slot(&*page, seek));
            page = store.shared(id)?;
            level -= 1;
            if let Some(what) = self.misplaced(&*page, level) {
                return Err(StorageError::Corrupt(id, what));
            }
        }
        Ok(Some((id, page)))
    }

    /// The leaf for reading, latched.
    pub(super) fn shared_leaf<'s>(
        &self,
        store: &'s Store,
        seek: Seek<'_>,
    ) -> Result<(PageId, SharedPage<'s>)> {
        let leaf = self.descend_latched(store, seek, 0)?;
        leaf.ok_or(StorageError::Corrupt(self.root, "tree without leaves"))
    }

    /// Latches the node of a level that covers `key` exclusively; `None` when the tree is not that
    /// high.
    pub(super) fn latch_node<'s>(
        &self,
        store: &'s Store,
        mtr: &mut Mtr<'s>,
        key: &[u8],
        level: usize,
    ) -> Result<Option<Latched>> {
        // Usually nobody else is at work on the way down: only the node itself is latched.
        for _ in 0..TRIES {
            let found = match self.descend(store, Seek::Covering(key), level) {
                Ok(found) => found,
                Err(Stop::Restart) => continue,
                Err(Stop::Failed(error)) => return Err(error),
            };
            let Some(node) = found else { return Ok(None) };
            if let Ok(latched) = mtr.upgrade(node.page) {
                return Ok(Some(latched));
            }
        }
        // Under contention the parent's shared latch keeps the child in its place.
        loop {
            let Some((_, parent)) = self.descend_latched(store, Seek::Covering(key), level + 1)?
            else {
                // No parent: the root itself, or nothing.
                let root = mtr.latch(self.root)?;
                let root_level = node::level(mtr.page(root));
                if root_level == level {
                    return Ok(Some(root));
                }
                mtr.unlatch(root);
                if root_level < level {
                    return Ok(None);
                }
                continue;
            };
            let child = node::child(&*parent, node::child_slot(&*parent, key));
            let latched = mtr.latch(child)?;
            if let Some(what) = self.misplaced(mtr.page(latched), level) {
                mtr.unlatch(latched);
                return Err(StorageError::Corrupt(child, what));
            }
            return Ok(Some(latched));
        }
    }

    /// Latches a child of a latched node exclusively.
    pub(super) fn latch_child(
        &self,
        mtr: &mut Mtr<'_>,
        parent: Latched,
        slot: usize,
    ) -> Result<Latched> {
        let (level, id) = (node::level(mtr.page(parent)), node::child(mtr.page(parent), slot));
        let child = mtr.latch(id)?;
        if let Some(what) = self.misplaced(mtr.page(child), level.saturating_sub(1)) {
            mtr.unlatch(child);
            return Err(StorageError::Corrupt(id, what));
        }
        Ok(child)
    }

    /// Latches the leaf that covers `key` exclusively.
    pub(super) fn latch_leaf<'s>(
        &self,
        store: &'s Store,
        mtr: &mut Mtr<'s>,
        key: &[u8],
    ) -> Result<Latched> {
        if let Some(leaf) = self.latch_tail(store, mtr, key) {
            return Ok(leaf);
        }
        let leaf = self.latch_node(store, mtr, key, 0)?;
        let leaf = leaf.ok_or(StorageError::Corrupt(self.root, "tree without leaves"))?;
        if !node::has_upper(mtr.page(leaf)) && node::has_lower(mtr.page(leaf)) {
            self.tail.store(mtr.id(leaf).0, Ordering::Relaxed);
        }
        Ok(leaf)
    }

    /// Latches the last leaf if it is where it was and covers `key`. Whatever the page has become
    /// meanwhile, its contents decide: the last leaf of a tree is the one without an upper fence. A
    /// merge that frees the page takes it out of `tail`.
    fn latch_tail<'s>(&self, store: &'s Store, mtr: &mut Mtr<'s>, key: &[u8]) -> Option<Latched> {
        let tail = PageId(self.tail.load(Ordering::Relaxed));
        if tail.0 == 0 {
            return None;
        }
        let page = store.optimistic(tail).ok()?;
        let covers = is_node_of(&page, self.root)
            && node::level(&page) == 0
            && !node::has_upper(&page)
            && node::at_or_above_lower(&page, key);
        if covers { mtr.upgrade(page).ok() } else { None }
    }
}
