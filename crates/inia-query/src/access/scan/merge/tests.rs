//! Keys of several lists are united and intersected as sets are.

use super::*;
use inia_base::io::MemDisk;
use inia_storage::{Engine, EngineOptions, Isolation};
use std::collections::BTreeSet;

fn engine() -> Arc<Engine> {
    let options = EngineOptions { buffer_pool_size: 64 << 20, background: false };
    Engine::open(Arc::new(MemDisk::new()), options).unwrap()
}

/// The keys that a merge of these lists gives.
fn merged(kind: MergeKind, lists: &[Vec<Vec<u8>>], txn: &mut Txn) -> Vec<Vec<u8>> {
    let part = |list: &Vec<Vec<u8>>| {
        let mut keys = SortedKeys::default();
        list.iter().for_each(|key| keys.push(key));
        keys.sort();
        KeySource::of(KeyReader::Sorted(keys))
    };
    let parts = lists.iter().map(part).collect();
    let mut merged = MergedKeys { kind, parts, last: None, begun: false, gives_up: false };
    let (mut key, mut found) = (Vec::new(), Vec::new());
    while merged.next(&mut key, txn).unwrap() {
        found.push(key.clone());
    }
    assert!(!merged.next(&mut key, txn).unwrap(), "the end stays the end");
    found
}

/// The next number of a linear congruential generator.
fn draw(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

fn drawn(seed: &mut u64, values: u64) -> Vec<Vec<u8>> {
    let count = draw(seed) % 20;
    // Keys of different lengths, some the beginnings of others.
    let key = |number: u64| {
        let bytes = (number as u16).to_be_bytes();
        bytes[..1 + number as usize % 2].to_vec()
    };
    (0..count).map(|_| key(draw(seed) % values)).collect()
}

#[test]
fn drawn_lists_are_merged_as_sets() {
    let engine = engine();
    let mut txn = engine.attach();
    txn.begin(Isolation::RepeatableRead);
    let mut seed = 7;
    for round in 0..2000 {
        let count = 1 + round % 4;
        let lists: Vec<_> = (0..count).map(|_| drawn(&mut seed, 1 + round * 3)).collect();
        let sets: Vec<BTreeSet<Vec<u8>>> =
            lists.iter().map(|list| list.iter().cloned().collect()).collect();
        let all: BTreeSet<Vec<u8>> = sets.iter().flatten().cloned().collect();
        let common = |key: &&Vec<u8>| sets.iter().all(|set| set.contains(*key));
        let both: Vec<_> = all.iter().filter(common).cloned().collect();
        let all: Vec<_> = all.iter().cloned().collect();
        assert_eq!(merged(MergeKind::Union, &lists, &mut txn), all, "round {round}");
        assert_eq!(merged(MergeKind::SortUnion, &lists, &mut txn), all, "round {round}");
        assert_eq!(merged(MergeKind::Intersect, &lists, &mut txn), both, "round {round}");
    }
}

#[test]
fn an_empty_list_leaves_nothing_of_an_intersection() {
    let engine = engine();
    let mut txn = engine.attach();
    txn.begin(Isolation::RepeatableRead);
    let lists = [vec![vec![1], vec![2]], Vec::new()];
    assert!(merged(MergeKind::Intersect, &lists, &mut txn).is_empty());
    assert_eq!(merged(MergeKind::Union, &lists, &mut txn).len(), 2);
}
