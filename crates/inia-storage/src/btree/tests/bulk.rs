//! Bulk building: sorted records become full leaves.

use super::super::BulkBuilder;
use super::{Fixture, Random, version};
use crate::StorageError;

fn build(tree: &mut Fixture, records: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) {
    let mut builder = BulkBuilder::new(&tree.tree, &tree.store);
    for (key, payload) in records {
        builder.push(&key, version(4), &payload).unwrap();
        tree.model.insert(key, (version(4), payload));
    }
    builder.finish().unwrap();
}

#[test]
fn any_number_of_records_makes_a_sound_tree() {
    for count in [0u32, 1, 2, 30, 31, 32, 100, 3000] {
        let mut tree = Fixture::new(2000);
        build(&mut tree, (0..count).map(|i| (i.to_be_bytes().to_vec(), vec![1; 40])));
        tree.check();
        // It goes on as any tree does.
        for i in (0..count).step_by(7) {
            tree.put(&[&i.to_be_bytes()[..], b"x"].concat(), version(5), b"between");
        }
        tree.check();
    }
}

#[test]
fn leaves_are_fifteen_sixteenths_full() {
    let mut tree = Fixture::new(crate::node::USABLE);
    build(&mut tree, (0..20_000u64).map(|i| (i.to_be_bytes().to_vec(), vec![1; 60])));
    tree.check();
    assert!(tree.fill() > 0.90 && tree.fill() < 0.95, "leaves are {:.3} full", tree.fill());
}

#[test]
fn long_common_beginnings_still_give_full_leaves() {
    let mut tree = Fixture::new(crate::node::USABLE);
    let key = |i: u32| format!("{}{}{i:06}", "tenant-".repeat(12), i / 4000).into_bytes();
    build(&mut tree, (0..8000).map(|i| (key(i), vec![1; 20])));
    tree.check();
    assert!(tree.fill() > 0.75, "leaves are {:.3} full", tree.fill());
}

#[test]
fn keys_of_all_lengths_and_long_payloads_are_taken() {
    for seed in 0..6 {
        let (mut tree, mut random) =
            (Fixture::new([16_248, 3000][seed % 2]), Random::new(seed as u64));
        let longest = [super::super::MAX_KEY, 400][seed % 2];
        let mut keys: Vec<Vec<u8>> = (0..600)
            .map(|_| {
                let most = if random.below(10) == 0 { longest } else { 30 };
                let mut key = vec![b'p'; random.below(2) * random.below(most)];
                key.extend(random.bytes(8));
                key.truncate(longest);
                key
            })
            .collect();
        keys.sort();
        keys.dedup();
        let records: Vec<_> = keys
            .into_iter()
            .map(|key| {
                let most = if random.below(15) == 0 { 40_000 } else { 100 };
                (key, random.up_to(most))
            })
            .collect();
        build(&mut tree, records);
        tree.check();
    }
}

#[test]
fn behind_other_records_loading_goes_on_singly() {
    let mut tree = Fixture::new(2000);
    for i in 0..500u32 {
        tree.put(&i.to_be_bytes(), version(1), &[2; 30]);
    }
    build(&mut tree, (1000..2000u32).map(|i| (i.to_be_bytes().to_vec(), vec![1; 40])));
    tree.check();
}

#[test]
fn records_that_get_in_between_are_kept() {
    let mut tree = Fixture::new(2000);
    let mut builder = BulkBuilder::new(&tree.tree, &tree.store);
    for i in 0..1000u32 {
        let key = (2 * i).to_be_bytes();
        builder.push(&key, version(4), &[1; 40]).unwrap();
        tree.model.insert(key.to_vec(), (version(4), vec![1; 40]));
        if i == 500 {
            let (tree, key) = (&tree.tree, 5001u32.to_be_bytes());
            let store = builder.store;
            tree.modify(store, &key, 3, |leaf| leaf.insert(&key, version(9), b"odd")).unwrap();
        }
    }
    builder.finish().unwrap();
    tree.model.insert(5001u32.to_be_bytes().to_vec(), (version(9), b"odd".to_vec()));
    tree.check();
}

#[test]
fn keys_must_ascend() {
    let tree = Fixture::new(2000);
    let mut builder = BulkBuilder::new(&tree.tree, &tree.store);
    builder.push(b"b", version(1), b"").unwrap();
    for key in [b"b", b"a"] {
        let refused = builder.push(key, version(1), b"");
        assert!(matches!(refused, Err(StorageError::DuplicateKey)));
    }
}
