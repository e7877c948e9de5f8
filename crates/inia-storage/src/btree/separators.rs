//! Keys that cut a range into parts of about equal size: the separators of inner nodes.
//!
//! ```text
//!   level 2            [ . d . m . t ]          three separators cut the tree into four parts
//!   level 1    [ . b . c ]   [ . f . k ]        those of this level cut it into more
//! ```
//!
//! The highest level that has enough of them is read, so that few pages are. What lies between two
//! neighbours is one subtree, and so begins and ends with a leaf. A tree of few leaves is cut at
//! its records.

use super::BTree;
use crate::Result;
use crate::error::StorageError;
use crate::node::{self, is_node_of};
use crate::page::PageBytes;
use crate::store::Store;

/// Separators that suffice, however many are wanted: leaves are not read for more.
const ENOUGH: usize = 8;

/// The keys strictly between two bounds; without an upper one up to the tree's end.
#[derive(Clone, Copy)]
struct Between<'k> {
    lower: &'k [u8],
    upper: Option<&'k [u8]>,
}

impl BTree {
    /// Keys strictly between `lower` and `upper`, ascending, that cut the range into parts of about
    /// equal size: at least `wanted` of them where nodes have so many, and at most twice as many.
    pub(crate) fn separators(
        &self,
        store: &Store,
        (lower, upper): (&[u8], Option<&[u8]>),
        wanted: usize,
    ) -> Result<Vec<Vec<u8>>> {
        let range = Between { lower, upper };
        let root = store.shared(self.root)?;
        let mut keys = Vec::new();
        for level in (0..=node::level(&*root)).rev() {
            if level == 0 && keys.len() >= ENOUGH {
                break;
            }
            keys.clear();
            self.collect_separators(store, &root, level, range, &mut keys)?;
            if keys.len() >= wanted {
                break;
            }
        }
        debug_assert!(keys.is_sorted(), "separators ascend");
        let step = keys.len() / wanted.max(1);
        if step > 1 {
            let mut at = 0..;
            keys.retain(|_| at.next().is_some_and(|at: usize| at % step == step / 2));
        }
        Ok(keys)
    }

    /// Adds the keys in the nodes of `level` at or below a node, which stays latched.
    fn collect_separators(
        &self,
        store: &Store,
        page: &PageBytes,
        level: usize,
        range: Between<'_>,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<()> {
        let mut key = Vec::new();
        let count = node::count(page);
        let first = node::child_slot(page, range.lower);
        for slot in first..count {
            node::key_to(page, slot, &mut key);
            if slot > first && range.upper.is_some_and(|upper| key[..] >= *upper) {
                break;
            }
            if node::level(page) > level {
                let id = node::child(page, slot);
                let child = store.shared(id)?;
                let fits =
                    is_node_of(&*child, self.root) && node::level(&*child) + 1 == node::level(page);
                if !fits {
                    return Err(StorageError::Corrupt(id, "not a node of this tree"));
                }
                self.collect_separators(store, &child, level, range, out)?;
            } else if key[..] > *range.lower && range.upper.is_none_or(|upper| key[..] < *upper) {
                out.push(key.clone());
            }
        }
        Ok(())
    }
}
