//! Removal of the records that a finished transaction has marked as deleted: those in one leaf go
//! together, under one latch and as one operation in the log.
//!
//! A transaction's undo is read from its newest record back, so that keys mostly descend. They are
//! removed in descending order, too, and a leaf that has become empty finds an empty neighbour at
//! its right: merging the two moves no record.

use super::records::Records;
use super::shared::EngineShared;
use crate::Result;
use crate::btree::{LeafMut, PayloadRef};
use crate::error::StorageError;
use inia_base::ids::{TreeId, TxnId};

/// Records, and bytes of their keys, that are removed at a time.
const MAX_RECORDS: usize = 8192;
const MAX_BYTES: usize = 256 << 10;

/// Keys of records to be removed, by tree.
#[derive(Default)]
pub(super) struct Sweep {
    trees: Vec<(TreeId, Records)>,
    records: usize,
    bytes: usize,
}

impl Sweep {
    /// Adds a record.
    pub(super) fn add(&mut self, tree: TreeId, key: &[u8]) {
        let known = self.trees.iter().position(|(of, _)| *of == tree);
        let at = known.unwrap_or_else(|| {
            self.trees.push((tree, Records::default()));
            self.trees.len() - 1
        });
        self.trees[at].1.push(key, &[]);
        self.records += 1;
        self.bytes += key.len();
    }

    /// Whether there are enough.
    pub(super) fn is_full(&self) -> bool {
        self.records >= MAX_RECORDS || self.bytes >= MAX_BYTES
    }
}

impl EngineShared {
    /// Removes those of the records for good that still are as `txn` has marked them. After an
    /// error it may be done again, for all of them.
    pub(super) fn sweep(&self, txn: TxnId, sweep: &mut Sweep) -> Result<()> {
        (sweep.records, sweep.bytes) = (0, 0);
        for (tree, keys) in &mut sweep.trees {
            keys.sort();
            let mut end = keys.len();
            while end > 0 {
                let left = self.sweep_leaf(txn, *tree, keys, end)?;
                assert!(left < end, "each leaf takes a key at least");
                end = left;
            }
            keys.clear();
        }
        Ok(())
    }

    /// Removes what the leaf has that covers the last of the first `end` keys; how many are left.
    fn sweep_leaf(&self, txn: TxnId, tree: TreeId, keys: &Records, end: usize) -> Result<usize> {
        let tree = self.trees.get(tree);
        let first = keys.key(end - 1);
        let mut left = end;
        let mut sparse = false;
        let removed = tree.btree().modify(&self.store, first, 0, |leaf| {
            left = gather(leaf, txn, keys, end)?;
            sparse = leaf.is_sparse();
            Ok(())
        });
        match removed {
            Ok(_) if sparse => tree.btree().try_merge(&self.store, first).map(|_| left),
            Ok(_) => Ok(left),
            // The tree has been dropped since, and its root page may be anything now.
            Err(StorageError::Corrupt(..)) => Ok(end - 1),
            Err(error) => Err(error),
        }
    }
}

/// Removes from a leaf that covers the last of the first `end` keys; how many it does not cover.
fn gather(leaf: &mut LeafMut<'_, '_>, txn: TxnId, keys: &Records, end: usize) -> Result<usize> {
    let mut numbers: Vec<u16> = Vec::new();
    let mut left = end;
    let mut near = usize::MAX;
    while left > 0 && (left == end || leaf.reaches_down_to(keys.key(left - 1))) {
        let found = leaf.find_near(near, keys.key(left - 1));
        let (Ok(i) | Err(i)) = found;
        near = i.wrapping_sub(1);
        let header = leaf.header(i);
        if found.is_ok() && header.is_deleted() && header.txn_id() == txn {
            if let PayloadRef::Overflow(_) = leaf.payload(i) {
                // Its pages go with it, in a group of the log that they share with nothing else.
                if numbers.is_empty() {
                    leaf.remove(i)?;
                    left -= 1;
                }
                break;
            }
            numbers.push(i as u16);
        }
        left -= 1;
    }
    numbers.dedup();
    numbers.reverse();
    leaf.remove_batch(&numbers);
    Ok(left)
}
