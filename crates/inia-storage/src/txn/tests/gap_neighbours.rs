//! Places between two records, whose neighbours may stand in other leaves.
//!
//! A gap is locked before it is confirmed. An insert that was faster than the lock has changed a
//! leaf: the place's own, or the one in which the neighbour was found, and that one is looked at
//! again. These tests are the fast insert.

use super::*;
use crate::btree::Seek;
use crate::lock::Edge;
use crate::txn::gap_neighbours::GapNeighbours;

/// A tree of some leaves with the records 0, 10, 20 …, and the first keys of its leaves.
fn leaves(engine: &Arc<Engine>) -> (Tree, Vec<u32>) {
    let tree = tree_with(engine, &[]);
    let mut txn = rr(engine);
    for n in 0..600 {
        txn.insert(&tree, &key(10 * n), &[1; 100]).unwrap();
    }
    txn.commit().unwrap();
    let mut place = GapNeighbours::new();
    let (store, mut firsts) = (&engine.core.store, Vec::new());
    tree.btree().load_leaf(store, Seek::First, &mut place.leaf).unwrap();
    loop {
        let mut first = Vec::new();
        place.leaf.key(0, &mut first);
        firsts.push(u32::from_be_bytes(first.try_into().unwrap()));
        if tree.btree().next_leaf(store, &mut place.leaf).unwrap().is_none() {
            break;
        }
    }
    assert!(firsts.len() >= 4);
    (tree, firsts)
}

/// The place at the front or at the end of the leaf that covers `in_leaf`.
fn stand(engine: &Engine, tree: &Tree, in_leaf: u32) -> GapNeighbours {
    let mut place = GapNeighbours::new();
    let store = &engine.core.store;
    tree.btree().load_leaf(store, Seek::Covering(&key(in_leaf)), &mut place.leaf).unwrap();
    place
}

/// Removes records for good.
fn purge(engine: &Arc<Engine>, tree: &Tree, keys: impl Iterator<Item = u32>) {
    let mut txn = rr(engine);
    for n in keys {
        assert!(txn.delete(tree, &key(n)).unwrap());
    }
    txn.commit().unwrap();
    run_background(engine);
}

#[test]
fn a_record_that_has_come_up_behind_the_leaf_before_is_seen() {
    let engine = open();
    let (tree, firsts) = leaves(&engine);
    let store = &engine.core.store;
    let mut place = stand(&engine, &tree, firsts[1]);
    place.find_low(&tree, store, 0).unwrap();
    assert_eq!(place.low.edge(), Edge::Key(&key(firsts[1] - 10)));
    assert!(place.confirm_low(&tree, store, 0).unwrap());
    let mut txn = rr(&engine);
    txn.insert(&tree, &key(firsts[1] - 15), b"").unwrap();
    assert!(place.confirm_low(&tree, store, 0).unwrap(), "that one is beyond");
    txn.insert(&tree, &key(firsts[1] - 5), b"").unwrap();
    assert!(place.leaf.is_current(store), "another leaf was changed");
    assert!(!place.confirm_low(&tree, store, 0).unwrap());
}

#[test]
fn a_record_that_has_come_up_at_the_front_of_the_leaf_after_is_seen() {
    let engine = open();
    let (tree, firsts) = leaves(&engine);
    let store = &engine.core.store;
    // The next leaf begins with a gap.
    purge(&engine, &tree, [firsts[2]].into_iter());
    let mut place = stand(&engine, &tree, firsts[1]);
    let end = place.leaf.len();
    place.find_high(&tree, store, end).unwrap();
    assert_eq!(place.high.edge(), Edge::Key(&key(firsts[2] + 10)));
    assert!(place.confirm_high(&tree, store, end).unwrap());
    let mut txn = rr(&engine);
    txn.insert(&tree, &key(firsts[2] + 15), b"").unwrap();
    assert!(place.confirm_high(&tree, store, end).unwrap(), "that one is beyond");
    txn.insert(&tree, &key(firsts[2] + 5), b"").unwrap();
    assert!(place.leaf.is_current(store), "another leaf was changed");
    assert!(!place.confirm_high(&tree, store, end).unwrap());
}

#[test]
fn neighbours_are_found_beyond_leaves_that_are_empty() {
    let engine = open();
    let (tree, firsts) = leaves(&engine);
    let store = &engine.core.store;
    // Emptied without a merge, as a rollback on a short log leaves leaves.
    for n in (firsts[1]..firsts[3]).step_by(10) {
        let removed = tree.btree().modify(store, &key(n), 0, |leaf| {
            let at = leaf.lower_bound(&key(n)).unwrap();
            leaf.remove(at)
        });
        removed.unwrap();
    }
    let mut place = stand(&engine, &tree, firsts[0]);
    let end = place.leaf.len();
    place.find_high(&tree, store, end).unwrap();
    assert_eq!(place.high.edge(), Edge::Key(&key(firsts[3])));
    let mut place = stand(&engine, &tree, firsts[3]);
    place.find_low(&tree, store, 0).unwrap();
    assert_eq!(place.low.edge(), Edge::Key(&key(firsts[1] - 10)));
    let mut place = stand(&engine, &tree, firsts[2]);
    place.find_low(&tree, store, 0).unwrap();
    place.find_high(&tree, store, 0).unwrap();
    let edges = (Edge::Key(&key(firsts[1] - 10)[..]), Edge::Key(&key(firsts[3])[..]));
    assert_eq!((place.low.edge(), place.high.edge()), edges);
}
