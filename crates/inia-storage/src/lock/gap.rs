//! Gap locks: per tree, the intervals of keys that each owner keeps free of others' inserts.
//!
//! An interval is `(low, high]`: it was taken between two neighbouring records, or before the
//! first, or after the last. The high end belongs to it because an insert asks about a key only
//! when no record has that key, that is after the record at the high end was removed for good.
//! Neighbouring intervals of an owner are merged, so a scan of any length keeps a single one.
//!
//! Invariants:
//! - an owner's intervals are sorted, disjoint and not touching;
//! - `owners` is the number of owners with at least one interval, and never too small for an insert
//!   that holds its leaf's latch: the locker publishes it before it validates the leaf.

use super::owner::Owner;
use crate::sync::Mutex;
use crate::sync::{AtomicUsize, Ordering, fence};
use std::cmp::Ordering as Order;
use std::sync::Arc;

/// One end of an interval of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Edge<'a> {
    /// Before the first key.
    Min,
    /// At a key.
    Key(&'a [u8]),
    /// After the last key.
    Max,
}

/// An owner's intervals as they were at one moment.
pub(crate) struct OwnedIntervals(Vec<(OwnedEdge, OwnedEdge)>);

impl OwnedIntervals {
    /// Whether a part of the gap between two neighbouring records is locked; `None` stands for the
    /// ends of the tree.
    pub(crate) fn meets(&self, before: Option<&[u8]>, record: Option<&[u8]>) -> bool {
        let low = before.map_or(Edge::Min, Edge::Key);
        let high = record.map_or(Edge::Max, Edge::Key);
        let after = self.0.partition_point(|(start, _)| start.get() < high);
        after > 0 && self.0[after - 1].1.get() > low
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum OwnedEdge {
    Min,
    Key(Vec<u8>),
    Max,
}

impl OwnedEdge {
    fn new(edge: Edge<'_>) -> OwnedEdge {
        match edge {
            Edge::Min => OwnedEdge::Min,
            Edge::Key(key) => OwnedEdge::Key(key.to_vec()),
            Edge::Max => OwnedEdge::Max,
        }
    }

    fn get(&self) -> Edge<'_> {
        match self {
            OwnedEdge::Min => Edge::Min,
            OwnedEdge::Key(key) => Edge::Key(key),
            OwnedEdge::Max => Edge::Max,
        }
    }

    /// Becomes `edge`, keeping its memory where it can.
    fn set(&mut self, edge: Edge<'_>) {
        match (&mut *self, edge) {
            (OwnedEdge::Key(own), Edge::Key(key)) => {
                own.clear();
                own.extend_from_slice(key);
            }
            _ => *self = OwnedEdge::new(edge),
        }
    }
}

/// A sorted set of disjoint intervals.
#[derive(Default)]
pub(super) struct Intervals {
    list: Vec<(OwnedEdge, OwnedEdge)>,
}

impl Intervals {
    pub(super) fn covers(&self, key: &[u8]) -> bool {
        let key = Edge::Key(key);
        let after = self.list.partition_point(|(low, _)| low.get() < key);
        after > 0 && key <= self.list[after - 1].1.get()
    }

    pub(super) fn add(&mut self, low: Edge<'_>, high: Edge<'_>) {
        if low >= high {
            return;
        }
        self.merge(low, high);
        debug_assert!(self.is_normal(), "intervals are sorted, disjoint and do not touch");
    }

    /// Whether the intervals are not empty, in order, and with keys between them.
    fn is_normal(&self) -> bool {
        self.list.iter().all(|(low, high)| low.get() < high.get())
            && self.list.windows(2).all(|pair| pair[0].1.get() < pair[1].0.get())
    }

    fn merge(&mut self, low: Edge<'_>, high: Edge<'_>) {
        // A scan in the order of the keys goes on where it was.
        if let Some((_, end)) = self.list.last_mut()
            && end.get() == low
        {
            return end.set(high);
        }
        let first = self.list.partition_point(|(_, end)| end.get() < low);
        let last = self.list.partition_point(|(start, _)| start.get() <= high);
        if first == last {
            self.list.insert(first, (OwnedEdge::new(low), OwnedEdge::new(high)));
            return;
        }
        if self.list[last - 1].1.get().cmp(&high) == Order::Less {
            self.list[last - 1].1.set(high);
        }
        if self.list[first].0.get().cmp(&low) == Order::Greater {
            self.list[first].0.set(low);
        }
        if last - first > 1 {
            self.list[first].1 = self.list[last - 1].1.clone();
            self.list.drain(first + 1..last);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }
}

/// A tree's gap locks.
#[derive(Default)]
pub(crate) struct Gaps {
    owners: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    held: Vec<(Arc<Owner>, Intervals)>,
    waiting: Vec<(Arc<Owner>, Vec<u8>)>,
}

impl State {
    fn blockers<'g>(
        &'g self,
        owner: &'g Arc<Owner>,
        key: &'g [u8],
    ) -> impl Iterator<Item = &'g Arc<Owner>> {
        self.held
            .iter()
            .filter(move |(other, set)| !Arc::ptr_eq(other, owner) && set.covers(key))
            .map(|(other, _)| other)
    }

    fn blocked(&self, owner: &Arc<Owner>, key: &[u8]) -> bool {
        self.blockers(owner, key).next().is_some()
    }
}

impl Gaps {
    /// Keeps other owners from inserting into `(low, high]`. Always granted.
    pub(crate) fn lock(self: &Arc<Gaps>, owner: &Arc<Owner>, low: Edge<'_>, high: Edge<'_>) {
        let mut state = self.state.lock();
        if !state.waiting.is_empty() {
            owner.set_awaited();
        }
        match state.held.iter_mut().find(|(other, _)| Arc::ptr_eq(other, owner)) {
            Some((_, set)) => set.add(low, high),
            None => {
                let mut set = Intervals::default();
                set.add(low, high);
                state.held.push((Arc::clone(owner), set));
                owner.note_gaps(self);
            }
        }
        debug_assert!(
            state.held.iter().filter(|(other, _)| Arc::ptr_eq(other, owner)).count() == 1,
            "an owner has one set of intervals"
        );
        self.owners.store(state.held.len(), Ordering::Relaxed);
        drop(state);
        // Pairs with the fence in `forbid_insert`.
        fence(Ordering::SeqCst);
    }

    /// Whether another owner's gap lock covers `key`.
    pub(crate) fn forbid_insert(&self, owner: &Arc<Owner>, key: &[u8]) -> bool {
        fence(Ordering::SeqCst);
        if self.owners.load(Ordering::Relaxed) == 0 {
            return false;
        }
        self.state.lock().blocked(owner, key)
    }

    /// Puts an insert of `key` among the waiters when it has to wait. `register` runs before
    /// anybody can grant it.
    pub(super) fn enqueue(&self, owner: &Arc<Owner>, key: &[u8], register: impl FnOnce()) -> bool {
        let mut state = self.state.lock();
        let blocked = state.blocked(owner, key);
        if blocked {
            debug_assert!(
                !state.waiting.iter().any(|(other, _)| Arc::ptr_eq(other, owner)),
                "an owner waits once"
            );
            register();
            state.blockers(owner, key).for_each(|other| other.set_awaited());
            state.waiting.push((Arc::clone(owner), key.to_vec()));
        }
        blocked
    }

    /// Who holds which intervals now, by the owners' numbers.
    pub(crate) fn held(&self) -> Vec<(u32, OwnedIntervals)> {
        if self.owners.load(Ordering::Relaxed) == 0 {
            return Vec::new();
        }
        let state = self.state.lock();
        let held = state.held.iter();
        held.map(|(owner, set)| (owner.index(), OwnedIntervals(set.list.clone()))).collect()
    }

    pub(super) fn dequeue(&self, owner: &Arc<Owner>) {
        self.state.lock().waiting.retain(|(other, _)| !Arc::ptr_eq(other, owner));
    }

    pub(super) fn blockers(&self, owner: &Arc<Owner>, out: &mut Vec<Arc<Owner>>) {
        let state = self.state.lock();
        if let Some((_, key)) = state.waiting.iter().find(|(other, _)| Arc::ptr_eq(other, owner)) {
            out.extend(state.blockers(owner, key).cloned());
        }
    }

    /// Gives back all of an owner's intervals. Returns whose inserts nothing blocks any more, who
    /// are to be woken.
    pub(super) fn release(&self, owner: &Arc<Owner>) -> Vec<Arc<Owner>> {
        let mut state = self.state.lock();
        state.held.retain(|(other, _)| !Arc::ptr_eq(other, owner));
        self.owners.store(state.held.len(), Ordering::Relaxed);
        let mut served = Vec::new();
        let mut at = 0;
        while at < state.waiting.len() {
            let (waiter, key) = &state.waiting[at];
            if !state.blocked(waiter, key) && waiter.grant() {
                served.push(state.waiting.swap_remove(at).0);
            } else {
                at += 1;
            }
        }
        served
    }
}
