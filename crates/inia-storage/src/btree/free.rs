//! Dropping a tree: its pages are freed from the right, a leaf or one long value at a time.
//!
//! After each mini-transaction the tree is a smaller one that can be dropped in the same way, so
//! that dropping goes on after a crash wherever it was.

use super::BTree;
use super::leaf::{PayloadRef, payload};
use crate::Result;
use crate::node::{self, is_node_of};
use crate::ops::PageOp;
use crate::ops::node::NodeOp;
use crate::store::{Latched, Mtr, Store};

impl BTree {
    /// Frees nodes and the overflow pages of single records, and counts `nodes` down to 0. True
    /// when only the root is left, as an empty leaf. Nobody else may use the tree.
    pub(crate) fn free_nodes(&self, store: &Store, nodes: &mut usize) -> Result<bool> {
        while *nodes > 0 {
            let mut mtr = store.mtr()?;
            let root = mtr.latch(self.root)?;
            if !is_node_of(mtr.page(root), self.root) {
                return Ok(true);
            }
            if node::count(mtr.page(root)) == 0 && node::level(mtr.page(root)) == 0 {
                return Ok(true);
            }
            if node::level(mtr.page(root)) == 0 || node::count(mtr.page(root)) == 0 {
                if !self.free_last_chain(&mut mtr, root)? {
                    self.make_empty(&mut mtr, root);
                }
            } else {
                self.free_last(&mut mtr, root)?;
            }
            mtr.commit();
            *nodes -= 1;
        }
        Ok(false)
    }

    /// Frees the root that [`BTree::free_nodes`] left, in the mini-transaction that forgets the
    /// tree: the page may become another tree's root at once.
    pub(crate) fn free_root(&self, mtr: &mut Mtr<'_>) -> Result<()> {
        let root = mtr.latch(self.root)?;
        mtr.free(root)
    }

    /// Frees the last node without children below `root`.
    fn free_last(&self, mtr: &mut Mtr<'_>, root: Latched) -> Result<()> {
        let mut parent = root;
        loop {
            let last = node::count(mtr.page(parent)).saturating_sub(1);
            let child = self.latch_child(mtr, parent, last)?;
            let level = node::level(mtr.page(child));
            if level == 0 || node::count(mtr.page(child)) == 0 {
                if !self.free_last_chain(mtr, child)? {
                    mtr.free(child)?;
                    let op = NodeOp::Remove { slot: last as u16 };
                    mtr.apply(parent, &PageOp::Node(op));
                }
                return Ok(());
            }
            parent = child;
        }
    }

    /// Frees the overflow pages of the last record of a leaf that has any, and the record; false
    /// when none has. One chain at a time, as a pool may have fewer page frames than the values of
    /// a leaf have pages.
    fn free_last_chain(&self, mtr: &mut Mtr<'_>, node: Latched) -> Result<bool> {
        if node::level(mtr.page(node)) > 0 {
            return Ok(false);
        }
        let chain = (0..node::count(mtr.page(node))).rev().find_map(|i| {
            let PayloadRef::Overflow(chain) = payload(mtr.page(node), i) else { return None };
            Some((i, chain))
        });
        let Some((i, chain)) = chain else { return Ok(false) };
        let pages = self.latch_chain(mtr, chain)?;
        mtr.free_all(&pages)?;
        mtr.apply(node, &PageOp::Node(NodeOp::Remove { slot: i as u16 }));
        Ok(true)
    }
}
