//! Scans that leave out the records of leaves that their caller knows.
//!
//! At the end of a leaf the caller is asked what it knows from the next page on. As many of those
//! leaves as are unchanged, lie in the range and need no older versions are passed in one step: the
//! cursor then stands at the end of the last of them.

use super::snapshot::{MAX_RUN, SnapshotCursor, View};
use super::{Bound, LeafRun, Stage};
use crate::Result;
use crate::btree::{KnownLeaf, KnownLeaves, LeafCopy};
use crate::request::Direction;
use crate::txn::handle::Txn;
use std::sync::Arc;

impl SnapshotCursor {
    /// As [`SnapshotCursor::run`], giving no records of leaves in the range that the caller knows.
    /// It may be asked about pages that are no leaves; the leaves that are given as known are the
    /// first ones of those that it named last. Runs of ascending scans only are so.
    pub fn run_unknown<'c>(
        &'c mut self,
        txn: &mut Txn,
        known: &mut dyn KnownLeaves,
    ) -> Result<Option<LeafRun<'c>>> {
        self.reach = MAX_RUN;
        while self.range.from >= self.range.to {
            let is_first = self.range.stage == Stage::Start;
            self.passed = 0;
            if !self.next_leaf(txn, Some(known))? {
                return Ok(None);
            }
            let (from, to) = (self.range.from, self.range.to);
            let ascends = self.plain && self.range.direction == Direction::Forward;
            let leaf = &self.range.memory().gap.leaf;
            // The first leaf of a range is always copied.
            let is_whole = is_first && ascends && from == 0 && to == leaf.len();
            if self.passed == 0 && (leaf.is_outline() || is_whole && is_known(leaf, known)) {
                self.passed = 1;
            }
            if self.passed > 0 {
                self.range.from = to;
                return Ok(Some(LeafRun::Known(self.passed as usize)));
            }
        }
        Ok(self.run_of_leaf().map(LeafRun::Records))
    }

    /// Goes past the leaves behind the one at hand that the caller knows; false where it stands as
    /// before. The fence of the leaf at hand is the last key passed.
    pub(super) fn pass_known(&mut self, known: &mut dyn KnownLeaves) -> Result<bool> {
        let core = Arc::clone(&self.range.core);
        let (view, upper, tree) = (self.view, self.range.upper, self.range.tree.clone());
        let memory = self.range.memory_mut();
        let (leaf, end) = (&mut memory.gap.leaf, &memory.upper);
        let Some(next) = leaf.right() else { return Ok(false) };
        let leaves = known.leaves_from(next);
        let seen = leaves.iter().take_while(|leaf| sees(view, leaf)).count();
        let mut count = tree.btree().current_leaves(&core.store, leaf, &leaves[..seen]);
        if count == 0 {
            return Ok(false);
        }
        // From here on the copy of the leaf at hand is gone.
        let mut stands = tree.btree().outline_of(&core.store, &leaves[count - 1], leaf);
        if stands && !ends_within(leaf, upper, end) {
            // The range ends in one of the leaves.
            let mut inside = |known: &KnownLeaf| {
                stands &= tree.btree().outline_of(&core.store, known, leaf);
                stands && ends_within(leaf, upper, end)
            };
            count = leaves[..count - 1].partition_point(|leaf| inside(leaf));
            stands &= count > 0 && tree.btree().outline_of(&core.store, &leaves[count - 1], leaf);
        }
        if !stands {
            self.range.from = tree.btree().leaf_above(&core.store, &memory.last, leaf)?;
            return Ok(true);
        }
        let before: usize = leaves[..count - 1].iter().map(|leaf| leaf.state().records).sum();
        self.range.count_records(before as u64);
        (self.range.from, self.passed) = (0, count as u32);
        Ok(true)
    }
}

/// Whether a scan sees all records of a leaf as they are.
fn sees(view: View, leaf: &KnownLeaf) -> bool {
    match view {
        View::Uncommitted => true,
        View::At(snapshot) => leaf.newest() < snapshot.low_water,
    }
}

/// Whether the caller knows a leaf in the state that was copied.
pub(super) fn is_known(leaf: &LeafCopy, known: &mut dyn KnownLeaves) -> bool {
    let state = leaf.state();
    known.leaves_from(state.page).first().is_some_and(|leaf| leaf.state() == state)
}

/// Whether a range with this upper bound has no end inside the leaf.
pub(super) fn ends_within(leaf: &LeafCopy, upper: Bound, end: &[u8]) -> bool {
    upper == Bound::Unbounded || leaf.upper_fence().is_some_and(|fence| fence <= end)
}
