//! How many records a key range holds, by looking at both of its ends (an index dive).
//!
//! ```text
//!   level 2            [ . A . . B . ]          2 whole subtrees between A and B
//!   level 1      [ . . a . ]     [ . b . . ]    1 subtree right of a, 1 left of b
//!   level 0    [ . . x x x ]     [ x x . . ]    3 records from x on, 2 before the end
//! ```
//! A subtree counts as the product of fan-outs: at each level the median of those seen on the ways
//! down to both ends and to the middle between them.

use super::BTree;
use super::descend::{Stop, TRIES};
use crate::Result;
use crate::error::StorageError;
use crate::node;
use crate::page::PageRead;
use crate::store::Store;
use inia_base::ids::PageId;

/// One node on the way down to an end of the range.
#[derive(Clone, Copy, Debug)]
struct Step {
    id: PageId,
    slot: usize,
    count: usize,
}

/// An end of the range as a position in the tree.
#[derive(Clone, Copy, Debug)]
enum End<'a> {
    First,
    At(&'a [u8]),
    Last,
    /// Not an end, but about the middle between two.
    Middle(&'a [Step], &'a [Step]),
}

impl BTree {
    /// About how many records have keys in `lower ≤ key < upper`; exact when one leaf holds them.
    /// Delete-marked records count.
    pub(crate) fn estimate_range(
        &self,
        store: &Store,
        lower: Option<&[u8]>,
        upper: Option<&[u8]>,
    ) -> Result<u64> {
        if lower.zip(upper).is_some_and(|(lower, upper)| lower >= upper) {
            return Ok(0);
        }
        // The tree may grow between the two dives; then they do not match, and are done again.
        for _ in 0..TRIES {
            let from = self.dive(store, lower.map_or(End::First, End::At))?;
            let to = self.dive(store, upper.map_or(End::Last, End::At))?;
            if from.len() == to.len() {
                let middle = self.dive(store, End::Middle(&from, &to))?;
                return Ok(between(&from, &to, &middle));
            }
        }
        Ok(0)
    }

    fn dive(&self, store: &Store, end: End<'_>) -> Result<Vec<Step>> {
        for _ in 0..TRIES {
            match self.try_dive(store, end) {
                Ok(steps) => return Ok(steps),
                Err(Stop::Restart) => {}
                Err(Stop::Failed(error)) => return Err(error),
            }
        }
        let mut steps = Vec::new();
        let mut id = self.root;
        let mut page = store.shared(id)?;
        loop {
            steps.push(step(&*page, id, end, steps.len()));
            if node::level(&*page) == 0 || steps.len() > MAX_HEIGHT {
                return Ok(steps);
            }
            id = node::child(&*page, steps[steps.len() - 1].slot);
            page = store.shared(id)?;
        }
    }

    fn try_dive(&self, store: &Store, end: End<'_>) -> std::result::Result<Vec<Step>, Stop> {
        let mut steps = Vec::with_capacity(4);
        let mut id = self.root;
        let mut page = store.optimistic(id)?;
        loop {
            let (level, at) = (node::level(&page), step(&page, id, end, steps.len()));
            let child = node::child(&page, at.slot);
            page.validate()?;
            steps.push(at);
            if level == 0 {
                return Ok(steps);
            }
            if steps.len() > MAX_HEIGHT {
                return Err(StorageError::Corrupt(id, "tree without leaves").into());
            }
            let next = store.optimistic(child)?;
            page.validate()?;
            (id, page) = (child, next);
        }
    }
}

/// No tree of 2³² pages is higher.
const MAX_HEIGHT: usize = 32;

/// The position of a range's end in one node.
fn step(page: &impl PageRead, id: PageId, end: End<'_>, depth: usize) -> Step {
    let (level, count) = (node::level(page), node::count(page));
    let slot = match end {
        End::First => 0,
        End::Last if level == 0 => count,
        End::Last => count.saturating_sub(1),
        End::At(key) if level > 0 => node::child_slot(page, key),
        End::At(key) => node::search(page, key).unwrap_or_else(|slot| slot),
        End::Middle(from, to) => match (from.get(depth), to.get(depth)) {
            (Some(from), Some(to)) if from.id == id && to.id == id => (from.slot + to.slot) / 2,
            _ => count / 2,
        },
    };
    Step { id, slot, count }
}

/// Records between two positions of the same height.
fn between(from: &[Step], to: &[Step], middle: &[Step]) -> u64 {
    let height = from.len();
    // below[d]: records under one child of a node at depth d.
    let mut below = vec![1.0f64; height];
    for depth in (0..height.saturating_sub(1)).rev() {
        let next = depth + 1;
        let third = middle.get(next).map_or(from[next].count, |step| step.count);
        let mut fan_outs = [from[next].count, to[next].count, third];
        fan_outs.sort_unstable();
        below[depth] = below[next] * fan_outs[1] as f64;
    }
    let parting =
        |depth: &usize| from[*depth].slot != to[*depth].slot || from[*depth].id != to[*depth].id;
    let Some(parting) = (0..height).find(parting) else { return 0 };
    let mut records = 0.0;
    for depth in parting..height {
        let leaf = usize::from(depth + 1 == height);
        if depth == parting && from[depth].id == to[depth].id {
            let gap = (to[depth].slot + leaf).saturating_sub(from[depth].slot + 1);
            records += gap as f64 * below[depth];
            continue;
        }
        let after = (from[depth].count + leaf).saturating_sub(from[depth].slot + 1);
        records += (after + to[depth].slot) as f64 * below[depth];
    }
    records.round() as u64
}
