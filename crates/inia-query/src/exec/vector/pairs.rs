//! Pairs of rows that a join has found, by their places in two batches.

use super::batch::Batch;
use super::column::NO_ROW;
use super::conditions::Filters;
use crate::exec::Result;
use crate::plan::batches::BatchSlot;
use inia_base::value::Value;
use inia_expr::EvalContext;
use std::ops::Range;

/// The places of pairs of rows that match.
#[derive(Default)]
pub(super) struct Pairs {
    pub(super) left: Vec<u32>,
    pub(super) right: Vec<u32>,
}

impl Pairs {
    pub(super) fn push(&mut self, left: u32, right: u32) {
        self.left.push(left);
        self.right.push(right);
    }

    pub(super) fn len(&self) -> usize {
        self.left.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.left.clear();
        self.right.clear();
    }

    /// The pairs, so many at a time.
    pub(super) fn chunks(&self, most: usize) -> impl Iterator<Item = (&[u32], &[u32])> {
        self.left.chunks(most).zip(self.right.chunks(most))
    }

    /// The pairs that are chosen.
    fn keep(&mut self, chosen: &[bool]) {
        for side in [&mut self.left, &mut self.right] {
            let mut chosen = chosen.iter();
            side.retain(|_| chosen.next().copied().unwrap_or_default());
        }
    }

    /// Leaves the pairs for which conditions are true; `most` are looked at together.
    pub(super) fn check(
        &mut self,
        conditions: &mut Filters<'_>,
        (sides, most): (Sides<'_>, usize),
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<()> {
        if conditions.is_empty() {
            return Ok(());
        }
        let mut all = Vec::with_capacity(self.len());
        for pair in self.chunks(most) {
            match conditions.choose(&mut gathered(sides, pair), ctx, row)? {
                Some(chosen) => all.extend(chosen),
                None => all.resize(all.len() + pair.0.len(), true),
            }
        }
        self.keep(&all);
        Ok(())
    }

    /// Adds the left rows of a range that have no pair, each at its place in the order of the left
    /// side. Left rows behind the range keep their pairs.
    pub(super) fn add_unmatched(&mut self, matched: &[bool], range: Range<usize>) {
        let mut all = Pairs::default();
        let (mut next, end) = (0, range.end);
        for left in range {
            while self.left.get(next).is_some_and(|&at| at as usize == left) {
                all.push(left as u32, self.right[next]);
                next += 1;
            }
            if !matched[left] {
                all.push(left as u32, NO_ROW);
            }
        }
        let behind = self.left[next..].iter().all(|&left| left as usize >= end);
        debug_assert!(behind, "pairs are in the order of the left side");
        all.left.extend_from_slice(&self.left[next..]);
        all.right.extend_from_slice(&self.right[next..]);
        *self = all;
    }
}

/// The two sides of a join, and which of their slots are wanted.
pub(super) type Sides<'b> = (&'b Batch, &'b Batch, &'b [BatchSlot]);

/// The slots of pairs of rows.
pub(super) fn gathered(
    (left, right, slots): Sides<'_>,
    (lefts, rights): (&[u32], &[u32]),
) -> Batch {
    let mut joined = Batch::of_rows(lefts.len());
    joined.gather(left, slots, lefts);
    joined.gather(right, slots, rights);
    joined
}
