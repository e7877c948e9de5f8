//! Trees larger than the pool, and trees after a crash.

use super::super::{BTree, BulkBuilder, Problem};
use super::{Fixture, Random, deletion, open, version};
use crate::page::PageBytes;
use crate::store::Store;
use inia_base::ids::PageId;
use std::collections::BTreeMap;

/// Inserts, replacements, marks, removals and merges over a key space of this size.
fn churn(tree: &mut Fixture, random: &mut Random, steps: u64, keys: usize) {
    for step in 1..=steps {
        let key = (random.below(keys) as u64).to_be_bytes();
        let shrinking = step % 1500 > 1000;
        match random.below(10) {
            0 => tree.mark(&key, deletion(step)),
            1..=5 if shrinking => tree.remove(&key),
            1 => tree.remove(&key),
            _ => {
                let most = if random.below(30) == 0 { 30_000 } else { 300 };
                let payload = random.up_to(most);
                tree.put(&key, version(step), &payload);
            }
        }
    }
}

/// The tree's pages, byte by byte after the checksum.
fn pages(tree: &BTree, store: &Store) -> BTreeMap<PageId, Box<PageBytes>> {
    let mut report = Vec::new();
    let ids = tree.check(store, &mut report);
    assert_eq!(report, Vec::<Problem>::new());
    ids.into_iter().map(|id| (id, Box::new(*store.shared(id).unwrap()))).collect()
}

#[test]
fn a_tree_far_larger_than_the_pool_works() {
    let mut random = Random::new(11);
    let mut tree = Fixture::with_frames(crate::node::USABLE, 24);
    churn(&mut tree, &mut random, 4000, 2000);
    assert!(tree.check().len() > 48, "the tree fits the pool");
    for key in 0..2000u64 {
        tree.check_get(&key.to_be_bytes());
    }
}

#[test]
fn a_bulk_load_far_larger_than_the_pool_works() {
    let mut tree = Fixture::with_frames(crate::node::USABLE, 24);
    let mut builder = BulkBuilder::new(&tree.tree, &tree.store);
    for i in 0..6000u64 {
        builder.push(&i.to_be_bytes(), version(1), &[i as u8; 200]).unwrap();
        tree.model.insert(i.to_be_bytes().to_vec(), (version(1), vec![i as u8; 200]));
    }
    builder.finish().unwrap();
    assert!(tree.check().len() > 48);
}

#[test]
fn replaying_the_log_gives_the_same_pages_bit_by_bit() {
    for (seed, frames) in [(1, 2000), (2, 2000), (3, 24)] {
        let mut random = Random::new(seed);
        let mut tree = Fixture::with_frames(1600, frames);
        churn(&mut tree, &mut random, 3000, 400);
        let before = pages(&tree.tree, &tree.store);
        let root = tree.tree.root();
        tree.store.wal().wait_durable(tree.store.wal().closed_lsn()).unwrap();
        let Fixture { disk, store, model, .. } = tree;
        drop(store);
        let store = open(&disk, 2000);
        let after = pages(&BTree::open(root), &store);
        assert!(before.keys().eq(after.keys()), "other pages after the replay");
        for (id, page) in &before {
            let differs = page[4..].iter().zip(&after[id][4..]).position(|(a, b)| a != b);
            assert_eq!(differs, None, "page {id} differs after the replay");
        }
        let tree = BTree { usable: 1600, ..BTree::open(root) };
        Fixture { disk, store, tree, model }.check();
    }
}

#[test]
fn after_a_crash_at_any_moment_the_tree_is_sound_and_has_what_was_durable() {
    for seed in 0..25 {
        let mut random = Random::new(seed + 40);
        let mut tree = Fixture::with_frames(1600, 40);
        let steps = 100 + random.below(900) as u64;
        churn(&mut tree, &mut random, steps, 300);
        tree.store.wal().wait_durable(tree.store.wal().closed_lsn()).unwrap();
        let durable = tree.model.clone();
        // Nothing of this is waited for; some of it may be on disk nevertheless.
        for i in 0..random.below(200) as u64 {
            tree.put(&(1000 + i).to_be_bytes(), version(9), &[1; 80]);
        }
        let root = tree.tree.root();
        let disk = tree.disk.clone();
        drop(tree);
        let store = open(&disk, 200);
        let mut found = Vec::new();
        let tree = BTree::open(root);
        pages(&tree, &store);
        for (key, (header, payload)) in &durable {
            assert_eq!(tree.get(&store, key, &mut found).unwrap(), Some(*header));
            assert_eq!(&found, payload);
        }
    }
}

#[test]
fn dropping_a_tree_goes_on_after_a_crash() {
    for seed in 0..6 {
        let mut random = Random::new(seed + 90);
        // In a small pool pages are evicted while the tree is dropped, and with them goes some log.
        let mut tree = Fixture::with_frames(1600, 24);
        let empty = tree.store.used_pages();
        churn(&mut tree, &mut random, 1500, 1000);
        tree.store.wal().wait_durable(tree.store.wal().closed_lsn()).unwrap();
        assert!(tree.tree.free_nodes(&tree.store, &mut { usize::MAX }).unwrap());
        assert_eq!(tree.store.used_pages(), empty);
        let (disk, root) = (tree.disk.clone(), tree.tree.root());
        drop(tree);
        let store = open(&disk, 200);
        let tree = BTree::open(root);
        assert!(tree.free_nodes(&store, &mut { usize::MAX }).unwrap());
        assert_eq!(store.used_pages(), empty);
        assert_eq!(pages(&tree, &store).len(), 1);
    }
}
