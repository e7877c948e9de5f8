//! Samples of leaves: a small tree whole, a large one evenly and within bounds.

use super::*;
use crate::btree::SampledTree;

/// A tree of numbers as keys, with small nodes so that few records make it high.
fn tree_of(numbers: u32, usable: usize) -> Fixture {
    let mut fixture = Fixture::new(usable);
    for number in 0..numbers {
        fixture.put(&number.to_be_bytes(), version(1), b"payload");
    }
    fixture
}

/// The keys of a sample of at most `most` leaves.
fn sampled(fixture: &Fixture, most: usize) -> (Vec<u32>, usize, SampledTree) {
    let (mut keys, mut leaves) = (Vec::new(), 0);
    let tree = fixture.tree.sample_leaves(&fixture.store, most, &mut |leaf| {
        leaves += 1;
        leaf.keys(|key| keys.push(u32::from_be_bytes(key.try_into().unwrap())));
        Ok(())
    });
    (keys, leaves, tree.unwrap())
}

#[test]
fn a_small_tree_is_read_whole() {
    let mut fixture = tree_of(100, 600);
    fixture.mark(&7u32.to_be_bytes(), deletion(2));
    let (keys, leaves, tree) = sampled(&fixture, 50);
    assert_eq!(keys, (0..100).filter(|n| *n != 7).collect::<Vec<u32>>());
    assert!(leaves > 1, "the tree has several leaves");
    assert_eq!(tree, SampledTree { leaves: leaves as f64, inner: 1.0, whole: true });
    let (keys, leaves, tree) = sampled(&tree_of(0, 600), 50);
    assert_eq!((keys.len(), leaves), (0, 1));
    assert_eq!(tree, SampledTree { leaves: 1.0, inner: 0.0, whole: true });
}

#[test]
fn a_large_tree_is_read_in_parts_from_everywhere() {
    let fixture = tree_of(20_000, 600);
    let (keys, leaves, tree) = sampled(&fixture, 40);
    assert_eq!(leaves, 40);
    assert!(!tree.whole && keys.is_sorted(), "leaves come in the order of their keys");
    for quarter in 0..4 {
        let range = quarter * 5_000..(quarter + 1) * 5_000;
        let within = keys.iter().filter(|key| range.contains(*key)).count();
        assert!(within * 6 > keys.len(), "quarter {quarter} has {within} of {} keys", keys.len());
    }
    let ratio = tree.leaves * (keys.len() as f64 / 40.0) / 20_000.0;
    assert!((0.7..1.4).contains(&ratio), "{tree:?} of {ratio}");
    assert_eq!(sampled(&fixture, 40).0, keys, "a repeated sample is the same one");
}

#[test]
fn records_are_counted_where_nodes_are_filled_unlike_each_other() {
    assert_eq!(tree_of(0, 600).tree.estimate_records(&tree_of(0, 600).store).unwrap(), 0);
    let few = tree_of(300, 600);
    assert_eq!(few.tree.estimate_records(&few.store).unwrap(), 300);
    // Nodes of the first third are half full, those of the rest are full.
    let mut fixture = Fixture::new(600);
    for number in (0..10_000u32).rev().chain(10_000..30_000) {
        fixture.put(&number.to_be_bytes(), version(1), b"payload");
    }
    let found = fixture.tree.estimate_records(&fixture.store).unwrap();
    assert!((27_000..33_000).contains(&found), "{found} of 30000");
}

#[test]
fn the_next_key_passes_over_deleted_records() {
    let mut fixture = tree_of(10, 600);
    fixture.mark(&4u32.to_be_bytes(), deletion(2));
    let mut key = Vec::new();
    let mut from = |number: u32| {
        let found = fixture.tree.key_from(&fixture.store, &number.to_be_bytes(), &mut key);
        found.unwrap().then(|| u32::from_be_bytes(key[..].try_into().unwrap()))
    };
    assert_eq!([from(3), from(4), from(9), from(10)], [Some(3), Some(5), Some(9), None]);
}

#[test]
fn few_of_the_values_outside_a_leaf_are_read() {
    let mut fixture = Fixture::new(600);
    for number in 0..4u32 {
        let long = vec![b'x'; if number % 2 == 0 { 5_000 } else { 5 }];
        fixture.put(&number.to_be_bytes(), version(1), &long);
    }
    let records = |most: usize| {
        let (mut lengths, mut all) = (Vec::new(), true);
        let sampled = fixture.tree.sample_leaves(&fixture.store, 10, &mut |leaf| {
            all &= leaf.records(most, |_, value| lengths.push(value.len()))?;
            Ok(())
        });
        sampled.map(|_| (lengths, all)).unwrap()
    };
    assert_eq!(records(10_000), (vec![5_000, 5, 5_000, 5], true));
    assert_eq!(records(5_000), (vec![5_000, 5, 5], false));
    assert_eq!(records(4_999), (vec![5, 5], false));
}
