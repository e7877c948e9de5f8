//! Merging sparse nodes, lazily: called by purge, never by row changes.

use super::{BTree, counter, image};
use crate::Result;
use crate::node;
use crate::ops::PageOp;
use crate::ops::edit::{self, NodeSpec};
use crate::ops::node::NodeOp;
use crate::page::{PageBuf, PageBytes};
use crate::store::{Latched, Mtr, Store};
use std::sync::atomic::Ordering;

/// What an attempt at one level came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Merge {
    Done,
    NotPossible,
    /// The level has no parent.
    AtRoot,
}

impl BTree {
    /// Whether the node is less than 40 % full.
    pub(super) fn is_sparse(&self, page: &PageBytes) -> bool {
        node::used(page) * 5 < self.usable * 2
    }

    /// Merges the leaf that covers `key` with its neighbours under the same parent, if it is sparse
    /// and they fit into one; then the same with its ancestors, and a root with one child takes
    /// that child's place. Returns whether anything was merged.
    pub(crate) fn try_merge(&self, store: &Store, key: &[u8]) -> Result<bool> {
        let mut merged = false;
        for level in 0.. {
            let mut here = false;
            let last = loop {
                match self.merge_level(store, key, level)? {
                    Merge::Done => here = true,
                    last => break last,
                }
            };
            merged |= here;
            if last == Merge::AtRoot || !here && level > 0 {
                break;
            }
        }
        if merged {
            while self.shrink(store)? {}
        }
        Ok(merged)
    }

    fn merge_level(&self, store: &Store, key: &[u8], level: usize) -> Result<Merge> {
        let mut mtr = store.mtr()?;
        let Some(parent) = self.latch_node(store, &mut mtr, key, level + 1)? else {
            return Ok(Merge::AtRoot);
        };
        let slot = node::child_slot(mtr.page(parent), key);
        let last = node::count(mtr.page(parent)).saturating_sub(1);
        for left in [Some(slot), slot.checked_sub(1)].into_iter().flatten() {
            if left >= last {
                continue;
            }
            if self.merge_pair(&mut mtr, parent, left, slot)? {
                mtr.commit();
                return Ok(Merge::Done);
            }
        }
        Ok(Merge::NotPossible)
    }

    /// Merges the children at `left` and `left + 1`, if the one at `sparse` is.
    fn merge_pair(
        &self,
        mtr: &mut Mtr<'_>,
        parent: Latched,
        left: usize,
        sparse: usize,
    ) -> Result<bool> {
        let a = self.latch_child(mtr, parent, left)?;
        let b = match self.latch_child(mtr, parent, left + 1) {
            Ok(b) => b,
            Err(error) => {
                mtr.unlatch(a);
                return Err(error);
            }
        };
        let target = if sparse == left { a } else { b };
        let mut union = PageBuf::new();
        if !self.is_sparse(mtr.page(target))
            || !self.may_fit(mtr.page(a), mtr.page(b))
            || !self.unite(&mut union.bytes, mtr.page(a), mtr.page(b))
        {
            mtr.unlatch(b);
            mtr.unlatch(a);
            return Ok(false);
        }
        let gone = mtr.id(b).0;
        let _ = self.tail.compare_exchange(gone, 0, Ordering::Relaxed, Ordering::Relaxed);
        mtr.free(b)?;
        mtr.apply(a, &image(&union.bytes));
        let op = NodeOp::Remove { slot: (left + 1) as u16 };
        mtr.apply(parent, &PageOp::Node(op));
        Ok(true)
    }

    /// Whether one node may hold the records of both, judged by their lengths: the fences between
    /// them go, and the prefix may become shorter.
    fn may_fit(&self, a: &PageBytes, b: &PageBytes) -> bool {
        let fence = node::upper(a).map_or(0, <[u8]>::len);
        node::used(a) + node::used(b) <= self.most_united() + 2 * fence
    }

    /// Bytes that a merged node may use: some room must stay, or the next insert would split it
    /// again.
    fn most_united(&self) -> usize {
        self.usable * 4 / 5
    }

    /// Builds one node of two neighbours; false when it would be too full.
    fn unite(&self, union: &mut PageBytes, a: &PageBytes, b: &PageBytes) -> bool {
        let spec = NodeSpec {
            tree: self.root,
            level: node::level(a),
            right: node::right(b),
            lower: node::lower(a),
            upper: node::upper(b),
            max_txn: node::max_txn(a).0.max(node::max_txn(b).0),
        };
        let built = edit::init(union, &spec)
            .and_then(|()| edit::append_from(union, a, 0..node::count(a)))
            .and_then(|()| edit::append_from(union, b, 0..node::count(b)));
        built.is_ok() && node::used(union) <= self.most_united()
    }

    /// Makes the root take the place of its only child.
    fn shrink(&self, store: &Store) -> Result<bool> {
        let mut mtr = store.mtr()?;
        let root = mtr.latch(self.root)?;
        if node::level(mtr.page(root)) == 0 || node::count(mtr.page(root)) != 1 {
            return Ok(false);
        }
        let child = self.latch_child(&mut mtr, root, 0)?;
        let mut content = PageBuf::new();
        content.bytes = *mtr.page(child);
        counter::carry(mtr.page(root), &mut content.bytes);
        self.tail.store(0, Ordering::Relaxed);
        mtr.free(child)?;
        mtr.apply(root, &image(&content.bytes));
        mtr.commit();
        Ok(true)
    }
}
