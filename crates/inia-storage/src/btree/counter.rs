//! A number that a tree keeps in its root page, to count the tree's records.
//!
//! It stands in bytes that no node uses otherwise, so whatever rewrites the root takes it along
//! ([`carry`]): the root is split, takes its last child's place, or is filled from scratch.

use super::{BTree, Begin};
use crate::Result;
use crate::error::StorageError;
use crate::node::is_node_of;
use crate::ops::PageOp;
use crate::page::{PageBytes, PageRead};
use crate::store::Store;

/// Where the number stands in a root page; zeros in all other pages.
const COUNTER: usize = 24;
const END: usize = COUNTER + size_of::<u64>();

/// Gives a page that is about to be the root the number of the page `root`, which is it now.
pub(super) fn carry(root: &PageBytes, page: &mut PageBytes) {
    page[COUNTER..END].copy_from_slice(&root[COUNTER..END]);
}

/// Takes the number away, from a page that is about to become an ordinary node.
pub(super) fn clear(page: &mut PageBytes) {
    page[COUNTER..END].fill(0);
}

impl BTree {
    /// The number; 0 where none was ever kept.
    pub(crate) fn counter(&self, store: &Store) -> Result<u64> {
        let root = store.shared(self.root)?;
        match is_node_of(&*root, self.root) {
            true => Ok(root.u64_at(COUNTER)),
            false => Err(StorageError::Corrupt(self.root, "not the tree's root")),
        }
    }

    /// Replaces the number by what `change` makes of it, which is returned. It is as durable as the
    /// log is, whatever becomes of the transaction.
    pub(crate) fn change_counter(
        &self,
        store: &Store,
        begin: Begin,
        change: impl FnOnce(u64) -> u64,
    ) -> Result<u64> {
        let mut mtr = begin(store)?;
        let root = mtr.latch(self.root)?;
        if !is_node_of(mtr.page(root), self.root) {
            return Err(StorageError::Corrupt(self.root, "not the tree's root"));
        }
        let old = mtr.page(root).u64_at(COUNTER);
        let new = change(old);
        if new != old {
            let bytes = new.to_le_bytes();
            mtr.apply(root, &PageOp::SetBytes { offset: COUNTER as u16, bytes: &bytes });
            mtr.commit();
        }
        Ok(new)
    }
}
