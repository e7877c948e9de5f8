//! Leaves of a tree as a sample for statistics.
//!
//! A tree of few leaves is read whole. Of a larger one each dive takes a leaf at a fraction of its
//! width: the fraction picks a child of the root, what is left of it a grandchild, and so on.
//!
//! ```text
//!   0.55 of [ a b c d ] is child c, at 0.2 of it;  0.2 of [ p q r s t ] is child q, its beginning
//! ```
//! The fractions are spread evenly, with a fixed scatter inside each stratum, so that a pattern in
//! the data with the period of the strata does not decide the sample, and a repeated sample of an
//! unchanged tree is the same one.

use super::descend::{Stop, TRIES};
use super::{BTree, LeafCopy, Seek};
use crate::Result;
use crate::error::StorageError;
use crate::node::{self, is_node_of};
use crate::page::PageRead;
use crate::store::Store;
use inia_base::ids::PageId;

/// No tree of 2³² pages is higher.
const MAX_HEIGHT: usize = 32;
/// So many leaves decide how many records a tree has.
const COUNTED: usize = 24;
/// Leaves without a record to go past when the next record is looked for.
const MAX_EMPTY: usize = 4;

/// What of a tree was in a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledTree {
    /// About how many leaves the tree has.
    pub leaves: f64,
    /// About how many inner nodes it has.
    pub inner: f64,
    /// All leaves were in the sample.
    pub whole: bool,
}

/// One leaf of a sample.
pub struct SampledLeaf<'l> {
    tree: &'l BTree,
    store: &'l Store,
    leaf: &'l LeafCopy,
    from: usize,
}

impl SampledLeaf<'_> {
    /// Gives each record's key to `take`, in ascending order. Records whose newest version is a
    /// deletion are left out.
    pub fn keys(&self, mut take: impl FnMut(&[u8])) {
        let mut key = Vec::new();
        for i in self.present() {
            key.clear();
            self.leaf.key(i, &mut key);
            take(&key);
        }
    }

    /// As [`SampledLeaf::keys`], with the newest version's value. Of values that lie outside the
    /// leaf at most `most` bytes are read in all; records with others are left out. Returns whether
    /// none was.
    pub fn records(&self, most: usize, mut take: impl FnMut(&[u8], &[u8])) -> Result<bool> {
        let (mut key, mut value) = (Vec::new(), Vec::new());
        let (mut left, mut all) = (most, true);
        for i in self.present() {
            let fits = left.checked_sub(self.leaf.overflow_len(i));
            let Some(rest) = fits else {
                all = false;
                continue;
            };
            left = rest;
            if !self.tree.payload_of(self.store, self.leaf, i, &mut value)? {
                all = false;
                continue;
            }
            key.clear();
            self.leaf.key(i, &mut key);
            take(&key, &value);
        }
        Ok(all)
    }

    fn present(&self) -> impl Iterator<Item = usize> {
        (self.from..self.leaf.len()).filter(|i| !self.leaf.is_deleted(*i))
    }
}

impl BTree {
    /// Gives leaves to `take` in the order of their keys: all, where there are at most `most`, else
    /// about that many from all over the tree.
    pub(crate) fn sample_leaves(
        &self,
        store: &Store,
        most: usize,
        take: &mut dyn FnMut(&SampledLeaf<'_>) -> Result<()>,
    ) -> Result<SampledTree> {
        let mut leaf = LeafCopy::new();
        let fan_outs = self.leaf_at(store, 0.0, &mut leaf)?;
        let few = match fan_outs[..] {
            [] => true,
            [root] => root <= most,
            _ => false,
        };
        if few {
            return self.all_leaves(store, take);
        }
        // Fan-outs of each level, summed over the dives.
        let mut sums = vec![0; fan_outs.len()];
        let mut dives = 0;
        for number in 0..most {
            let at = (number as f64 + scatter(number)) / most as f64;
            let fan_outs = self.leaf_at(store, at, &mut leaf)?;
            // A tree that has just grown by a level: the others suffice.
            if fan_outs.len() == sums.len() {
                sums.iter_mut().zip(&fan_outs).for_each(|(sum, count)| *sum += count);
                dives += 1;
            }
            take(&SampledLeaf { tree: self, store, leaf: &leaf, from: 0 })?;
        }
        let (mut nodes, mut inner) = (1.0, 0.0);
        for sum in sums {
            inner += nodes;
            nodes *= f64::from(u32::try_from(sum).unwrap_or(u32::MAX)) / f64::from(dives.max(1));
        }
        Ok(SampledTree { leaves: nodes, inner, whole: false })
    }

    /// About how many records the tree has, delete-marked ones among them; exact for a tree of few
    /// leaves. Nodes of a tree are not filled alike: rows that came in their order fill them,
    /// others half of them. So the leaves come from all over the tree.
    pub(crate) fn estimate_records(&self, store: &Store) -> Result<u64> {
        let (mut records, mut leaves) = (0, 0.0);
        let tree = self.sample_leaves(store, COUNTED, &mut |leaf| {
            records += leaf.leaf.len() - leaf.from;
            leaves += 1.0;
            Ok(())
        })?;
        Ok((tree.leaves * records as f64 / leaves).round() as u64)
    }

    fn all_leaves(
        &self,
        store: &Store,
        take: &mut dyn FnMut(&SampledLeaf<'_>) -> Result<()>,
    ) -> Result<SampledTree> {
        let mut leaf = LeafCopy::new();
        self.load_leaf(store, Seek::First, &mut leaf)?;
        let (mut from, mut leaves) = (0, 0.0);
        loop {
            leaves += 1.0;
            take(&SampledLeaf { tree: self, store, leaf: &leaf, from })?;
            match self.next_leaf(store, &mut leaf)? {
                Some(next) => from = next,
                None => break,
            }
        }
        let inner = if leaves > 1.0 { 1.0 } else { 0.0 };
        Ok(SampledTree { leaves, inner, whole: true })
    }

    /// Puts the first key from `from` on in `out`; false at the tree's end. After a long run of
    /// deleted records it is the key of one.
    pub(crate) fn key_from(&self, store: &Store, from: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        let mut leaf = LeafCopy::new();
        self.load_leaf(store, Seek::Covering(from), &mut leaf)?;
        let (Ok(mut at) | Err(mut at)) = leaf.lower_bound(from);
        for passed in 0.. {
            let present = |i: &usize| passed >= MAX_EMPTY || !leaf.is_deleted(*i);
            if let Some(found) = (at..leaf.len()).find(present) {
                out.clear();
                leaf.key(found, out);
                return Ok(true);
            }
            match self.next_leaf(store, &mut leaf)? {
                Some(next) => at = next,
                None => break,
            }
        }
        Ok(false)
    }

    /// Copies the leaf at a fraction of the tree's width. Returns the number of children of each
    /// inner node on the way.
    fn leaf_at(&self, store: &Store, at: f64, leaf: &mut LeafCopy) -> Result<Vec<usize>> {
        debug_assert!((0.0..1.0).contains(&at), "the leaf is inside the tree");
        for _ in 0..TRIES {
            match self.try_leaf_at(store, at, leaf) {
                Ok(fan_outs) => return Ok(fan_outs),
                Err(Stop::Restart) => {}
                Err(Stop::Failed(error)) => return Err(error),
            }
        }
        let mut way = Way { rest: at, fan_outs: Vec::new() };
        let mut id = self.root;
        let mut page = store.shared(id)?;
        while node::level(&*page) > 0 {
            let child = way.child(&*page, id, self.root)?;
            page = store.shared(child)?;
            id = child;
        }
        leaf.copy(&*page);
        leaf.keep(id, page.version());
        Ok(way.fan_outs)
    }

    fn try_leaf_at(
        &self,
        store: &Store,
        at: f64,
        leaf: &mut LeafCopy,
    ) -> std::result::Result<Vec<usize>, Stop> {
        let mut way = Way { rest: at, fan_outs: Vec::new() };
        let mut id = self.root;
        let mut page = store.optimistic(id)?;
        while node::level(&page) > 0 {
            let child = way.child(&page, id, self.root);
            page.validate()?;
            let (child, parent) = (child?, page);
            page = store.optimistic(child)?;
            parent.validate()?;
            id = child;
        }
        leaf.copy(&page);
        page.validate()?;
        leaf.keep(id, page.version());
        Ok(way.fan_outs)
    }
}

/// The way down to a fraction of a tree's width.
struct Way {
    /// The fraction inside the node that is next.
    rest: f64,
    fan_outs: Vec<usize>,
}

impl Way {
    fn child(&mut self, page: &impl PageRead, id: PageId, root: PageId) -> Result<PageId> {
        let count = node::count(page);
        if !is_node_of(page, root) || count == 0 || self.fan_outs.len() >= MAX_HEIGHT {
            return Err(StorageError::Corrupt(id, "not an inner node of this tree"));
        }
        self.fan_outs.push(count);
        let scaled = self.rest * count as f64;
        let slot = (scaled as usize).min(count - 1);
        self.rest = (scaled - slot as f64).clamp(0.0, 1.0 - f64::EPSILON);
        Ok(node::child(page, slot))
    }
}

/// A number from 0 up to 1 that looks random and depends on `number` alone (splitmix64).
fn scatter(number: usize) -> f64 {
    let mut word = (number as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((word ^ (word >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}
