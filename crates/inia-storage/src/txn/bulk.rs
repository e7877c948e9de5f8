//! Making, filling and dropping whole trees.

use super::handle::Txn;
use super::log::TxnRecord;
use super::purge::garbage_key;
use super::trees::Tree;
use crate::Result;
use crate::btree::{BTree, BulkBuilder};
use crate::error::StorageError;
use crate::node::RecordHeader;
use crate::sync::Ordering;

impl Txn {
    /// Creates an empty tree that exists from commit on.
    pub fn create_tree(&mut self) -> Result<Tree> {
        self.prepare_write()?;
        let store = &self.core.store;
        let mut mtr = store.mtr()?;
        let btree = BTree::create(store, &mut mtr)?;
        let tree = btree.id();
        self.session.created.lock().push(tree);
        mtr.log(&TxnRecord::TreeCreated { txn: self.id, tree }.encode(&mut self.work.log));
        mtr.commit();
        self.created.push(tree);
        self.core.trees.forget(tree);
        let tree = self.core.trees.get(tree);
        tree.set_made_by(self.id);
        Ok(tree)
    }

    /// Drops a tree at commit; its pages are freed in the background. Nobody may use the tree after
    /// the commit.
    pub fn drop_tree(&mut self, tree: &Tree) -> Result<()> {
        debug_assert!(self.core.trees.has(tree), "a tree of another engine");
        self.abandoned.retain(|&other| other != tree.id());
        self.put_in_garbage(tree)
    }

    fn put_in_garbage(&mut self, tree: &Tree) -> Result<()> {
        let garbage = self.core.trees.get(self.core.roots.garbage);
        match self.insert(&garbage, &garbage_key(tree.id()), &[]) {
            Ok(()) | Err(StorageError::DuplicateKey) => {}
            Err(error) => return Err(error),
        }
        self.core.garbage_waits.store(true, Ordering::Release);
        Ok(())
    }

    /// Makes the drop of trees whose creation was rolled back part of the transaction.
    pub(super) fn drop_abandoned(&mut self) -> Result<()> {
        while let Some(&tree) = self.abandoned.last() {
            let tree = self.core.trees.get(tree);
            self.put_in_garbage(&tree)?;
            self.abandoned.pop();
        }
        Ok(())
    }

    /// Begins to fill an empty tree that this transaction has created. Much faster than inserts; it
    /// is undone only together with the tree's creation.
    pub fn bulk_load<'t>(&'t mut self, tree: &'t Tree) -> Result<BulkLoad<'t>> {
        debug_assert!(self.created.contains(&tree.id()), "only a new tree is filled in bulk");
        self.prepare_write()?;
        let header = RecordHeader::new(self.id, 0, false);
        let builder = BulkBuilder::new(tree.btree(), &self.core.store);
        Ok(BulkLoad { builder, header, records: 0 })
    }
}

/// A tree that is being filled.
pub struct BulkLoad<'t> {
    builder: BulkBuilder<'t>,
    header: RecordHeader,
    records: u64,
}

impl BulkLoad<'_> {
    /// Adds a record, whose key is above all keys before.
    #[inline]
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.records += 1;
        self.builder.push(key, self.header, value)
    }

    /// Writes what is left; how many records there are.
    pub fn finish(self) -> Result<u64> {
        self.builder.finish().map(|()| self.records)
    }
}
