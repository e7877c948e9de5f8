//! The records on both sides of a position, for gap locks.
//!
//! The neighbours of a position may lie in other leaves. A gap is locked first and confirmed
//! afterwards: an insert that came before the lock is found by the second look, one that comes
//! later finds the lock.

use super::trees::Tree;
use crate::Result;
use crate::btree::{LeafCopy, Seek};
use crate::lock::Edge;
use crate::store::Store;

/// An edge with memory of its own.
#[derive(Default)]
pub(crate) struct EdgeBuf {
    kind: GapKind,
    key: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
enum GapKind {
    #[default]
    Min,
    Key,
    Max,
}

impl EdgeBuf {
    pub(crate) fn edge(&self) -> Edge<'_> {
        match self.kind {
            GapKind::Min => Edge::Min,
            GapKind::Key => Edge::Key(&self.key),
            GapKind::Max => Edge::Max,
        }
    }

    pub(crate) fn set_key(&mut self, key: &[u8]) {
        self.kind = GapKind::Key;
        self.key.clear();
        self.key.extend_from_slice(key);
    }

    fn set_record(&mut self, leaf: &LeafCopy, i: usize) {
        self.kind = GapKind::Key;
        leaf.key(i, &mut self.key);
    }
}

/// A leaf, and the neighbours of a position in it.
pub(crate) struct GapNeighbours {
    pub(crate) leaf: LeafCopy,
    pub(crate) low: EdgeBuf,
    pub(crate) high: EdgeBuf,
    side: LeafCopy,
    again: EdgeBuf,
}

impl GapNeighbours {
    pub(crate) fn new() -> GapNeighbours {
        GapNeighbours {
            leaf: LeafCopy::new(),
            low: EdgeBuf::default(),
            high: EdgeBuf::default(),
            side: LeafCopy::new(),
            again: EdgeBuf::default(),
        }
    }

    /// Finds the record before position `i` of the leaf.
    pub(crate) fn find_low(&mut self, tree: &Tree, store: &Store, i: usize) -> Result<()> {
        predecessor(tree, store, &self.leaf, &mut self.side, i, &mut self.low)
    }

    /// Finds the record at position `i` of the leaf, or the first one in the leaves after it.
    pub(crate) fn find_high(&mut self, tree: &Tree, store: &Store, i: usize) -> Result<()> {
        successor(tree, store, &self.leaf, &mut self.side, i, &mut self.high)
    }

    /// Whether no record lies between `low` and position `i` now.
    pub(crate) fn confirm_low(&mut self, tree: &Tree, store: &Store, i: usize) -> Result<bool> {
        predecessor(tree, store, &self.leaf, &mut self.side, i, &mut self.again)?;
        if self.again.edge() > self.low.edge() {
            return Ok(false);
        }
        Ok(self.leaf.is_current(store))
    }

    /// Whether no record lies between position `i` (excluded) and `high` now.
    pub(crate) fn confirm_high(&mut self, tree: &Tree, store: &Store, i: usize) -> Result<bool> {
        if i >= self.leaf.len() {
            successor(tree, store, &self.leaf, &mut self.side, i, &mut self.again)?;
            if self.again.edge() < self.high.edge() {
                return Ok(false);
            }
        }
        Ok(self.leaf.is_current(store))
    }
}

fn predecessor(
    tree: &Tree,
    store: &Store,
    leaf: &LeafCopy,
    side: &mut LeafCopy,
    i: usize,
    out: &mut EdgeBuf,
) -> Result<()> {
    if i > 0 {
        out.set_record(leaf, i - 1);
        return Ok(());
    }
    out.kind = GapKind::Min;
    let Some(fence) = leaf.lower_fence() else { return Ok(()) };
    tree.btree().load_leaf(store, Seek::Before(fence), side)?;
    let (Ok(mut to) | Err(mut to)) = side.lower_bound(fence);
    while to == 0 {
        let Some(next) = tree.btree().previous_leaf(store, side)? else { return Ok(()) };
        to = next;
    }
    out.set_record(side, to - 1);
    Ok(())
}

fn successor(
    tree: &Tree,
    store: &Store,
    leaf: &LeafCopy,
    side: &mut LeafCopy,
    i: usize,
    out: &mut EdgeBuf,
) -> Result<()> {
    if i < leaf.len() {
        out.set_record(leaf, i);
        return Ok(());
    }
    out.kind = GapKind::Max;
    let Some(fence) = leaf.upper_fence() else { return Ok(()) };
    tree.btree().load_leaf(store, Seek::Covering(fence), side)?;
    let (Ok(mut from) | Err(mut from)) = side.lower_bound(fence);
    while from >= side.len() {
        let Some(next) = tree.btree().next_leaf(store, side)? else { return Ok(()) };
        from = next;
    }
    out.set_record(side, from);
    Ok(())
}
