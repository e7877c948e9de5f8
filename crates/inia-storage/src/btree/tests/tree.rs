//! A whole tree against a sorted map.
//!
//! Most trees here split as if their nodes were small (`usable`), so that a few thousand records
//! make three or four levels, and a few hundred bytes an overflow chain.

use super::super::{BTree, LeafCopy, PayloadRef, Problem, Seek};
use super::{Fixture, Random, deletion, version};
use crate::StorageError;
use crate::btree::{LeafMut, Wanted};
use crate::node::{LOWER_OFF, UPPER_OFF, USABLE, child, count, level, slot};
use crate::ops::PageOp;
use std::collections::HashSet;

/// A key of a kind that a seed chooses: short, long, with shared beginnings, with zero bytes.
fn some_key(random: &mut Random, kind: usize) -> Vec<u8> {
    match kind {
        0 => (random.below(3000) as u64).to_be_bytes().to_vec(),
        1 => format!("customer/{:05}/order", random.below(4000)).into_bytes(),
        2 => {
            let len = random.below(7);
            (0..len).map(|_| b"\0\0ab"[random.below(4)]).collect()
        }
        _ => {
            let mut key = vec![b'x'; random.below(120)];
            key.extend(random.below(500).to_be_bytes());
            key
        }
    }
}

#[test]
fn random_operations_equal_the_model() {
    for seed in 0..8u64 {
        let mut random = Random::new(seed + 1);
        let mut tree = Fixture::new([1200, 2000, 4000][seed as usize % 3]);
        for step in 0..4000 {
            let key = some_key(&mut random, seed as usize % 4);
            match random.below(if step < 2500 { 10 } else { 16 }) {
                0..=5 => {
                    let most = if random.below(20) == 0 { 2000 } else { 60 };
                    let payload = random.up_to(most);
                    tree.put(&key, version(step), &payload);
                }
                6 => tree.mark(&key, deletion(step)),
                _ => tree.remove(&key),
            }
            if step % 500 == 0 {
                tree.check();
            }
        }
        tree.check();
        for _ in 0..500 {
            let key = some_key(&mut random, seed as usize % 4);
            tree.check_get(&key);
            tree.check_seek(&key);
        }
    }
}

/// What is left of a leaf may be less than a record takes by any number of bytes: then the leaf is
/// split, and the insert does not fail.
#[test]
fn leaves_fill_up_to_the_last_byte_with_records_of_any_length() {
    for len in 150..175 {
        let mut tree = Fixture::new(USABLE);
        for i in 0..150u64 {
            tree.put(&i.to_be_bytes(), version(1), &vec![7; len]);
        }
        // A record that grows by so much that it just fits, or just does not.
        for i in (0..150u64).step_by(9) {
            tree.put(&i.to_be_bytes(), version(2), &vec![8; len + 23]);
        }
        tree.check();
    }
}

/// Descending keys that share most of their bytes: each leaf is cut before its first record, and
/// then has a long fence that it had not before, for which there must be room.
#[test]
fn a_full_leaf_is_not_cut_where_its_new_fence_would_not_fit() {
    for len in [600, 1500, 3000] {
        let mut tree = Fixture::new(USABLE);
        tree.put(b"z", version(1), b"");
        for i in (0..200u16).rev() {
            let mut key = vec![b'a'; len];
            key.extend(i.to_be_bytes());
            tree.put(&key, version(1), b"");
        }
        tree.check();
    }
}

#[test]
fn overflow_pages_of_another_tree_are_not_taken_for_a_value() {
    let mut tree = Fixture::new(USABLE);
    tree.put(b"k", version(1), &[1; 20_000]);
    let mut mtr = tree.store.mtr().unwrap();
    let other = BTree::create(&tree.store, &mut mtr).unwrap();
    mtr.commit();
    let mut leaf = LeafCopy::new();
    tree.tree.load_leaf(&tree.store, Seek::First, &mut leaf).unwrap();
    let PayloadRef::Overflow(chain) = leaf.payload(0) else { panic!("the value is long") };
    let mut value = Vec::new();
    let read = other.read_chain(&tree.store, chain, &mut value);
    assert!(matches!(read, Err(StorageError::Corrupt(..))), "{read:?}");
    tree.tree.read_chain(&tree.store, chain, &mut value).unwrap();
    assert_eq!(value, [1; 20_000]);
}

#[test]
fn ascending_keys_leave_full_leaves_behind() {
    let mut tree = Fixture::new(16_000);
    for i in 0..5000u64 {
        tree.put(&i.to_be_bytes(), version(1), &[5; 50]);
    }
    tree.check();
    assert!(tree.fill() > 0.87, "leaves are {:.2} full", tree.fill());
}

#[test]
fn descending_keys_leave_full_leaves_behind() {
    let mut tree = Fixture::new(16_000);
    for i in (0..5000u64).rev() {
        tree.put(&i.to_be_bytes(), version(1), &[5; 50]);
    }
    tree.check();
    assert!(tree.fill() > 0.87, "leaves are {:.2} full", tree.fill());
}

#[test]
fn random_keys_leave_leaves_over_half_full() {
    let (mut tree, mut random) = (Fixture::new(16_000), Random::new(3));
    for _ in 0..5000 {
        tree.put(&random.next().to_be_bytes(), version(1), &[5; 50]);
    }
    tree.check();
    assert!(tree.fill() > 0.55, "leaves are {:.2} full", tree.fill());
}

#[test]
fn ascending_runs_inside_the_tree_fill_leaves_too() {
    let mut tree = Fixture::new(16_000);
    for i in 0..800u64 {
        for run in 0..8u64 {
            let key = [run.to_be_bytes(), i.to_be_bytes()].concat();
            tree.put(&key, version(1), &[5; 50]);
        }
    }
    tree.check();
    assert!(tree.fill() > 0.6, "leaves are {:.2} full", tree.fill());
}

#[test]
fn the_longest_keys_split_down_to_a_few_in_a_node() {
    let (mut tree, mut random) = (Fixture::new(crate::node::USABLE), Random::new(9));
    for i in 0..150u64 {
        // Only the last bytes differ, so that separators are as long as keys.
        let mut key = vec![b'k'; super::super::MAX_KEY - 8];
        key.extend((random.next() % 1000).to_be_bytes());
        if i % 3 == 0 {
            key = random.bytes(super::super::MAX_KEY);
        }
        let payload = random.up_to(600);
        tree.put(&key, version(i), &payload);
    }
    tree.check();
    for key in tree.keys() {
        tree.check_get(&key);
        tree.remove(&key);
    }
    tree.check();
}

#[test]
fn too_long_keys_and_payloads_are_refused() {
    let tree = Fixture::new(4000);
    let key = vec![1; super::super::MAX_KEY + 1];
    let refused = tree.tree.modify(&tree.store, &key, 1, |_| Ok(()));
    assert!(matches!(refused, Err(StorageError::TooLarge)));
    let refused = tree.tree.modify(&tree.store, b"k", usize::MAX, |_| Ok(()));
    assert!(matches!(refused, Err(StorageError::TooLarge)));
}

#[test]
fn long_payloads_live_in_overflow_pages_until_replaced_or_removed() {
    let (mut tree, mut random) = (Fixture::new(crate::node::USABLE), Random::new(5));
    let pages = |tree: &Fixture| tree.check().len();
    let blob = random.bytes(100_000);
    tree.put(b"blob", version(1), &blob);
    tree.put(b"small", version(1), b"s");
    assert_eq!(pages(&tree), 1 + 7);
    tree.check_get(b"blob");
    tree.put(b"blob", version(2), &blob[..20_000]);
    assert_eq!(pages(&tree), 1 + 2);
    tree.mark(b"blob", deletion(3));
    tree.check_get(b"blob");
    assert_eq!(pages(&tree), 1 + 2);
    tree.put(b"blob", version(4), b"short now");
    assert_eq!(pages(&tree), 1);
    tree.put(b"blob", version(5), &blob);
    tree.remove(b"blob");
    assert_eq!(pages(&tree), 1);
}

#[test]
fn a_leaf_copy_knows_when_its_leaf_has_changed() {
    let mut tree = Fixture::new(4000);
    tree.put(b"a", version(1), &[1; 5000]);
    let mut leaf = LeafCopy::new();
    assert!(!leaf.is_current(&tree.store));
    tree.tree.load_leaf(&tree.store, Seek::First, &mut leaf).unwrap();
    assert!(leaf.is_current(&tree.store));
    assert!(matches!(leaf.payload(0), PayloadRef::Overflow(_)));
    let mut payload = Vec::new();
    assert!(tree.tree.payload_of(&tree.store, &leaf, 0, &mut payload).unwrap());
    assert_eq!(payload, [1; 5000]);
    tree.remove(b"a");
    assert!(!leaf.is_current(&tree.store));
    assert!(!tree.tree.payload_of(&tree.store, &leaf, 0, &mut payload).unwrap());
}

#[test]
fn failing_changes_do_not_change_the_tree() {
    let mut tree = Fixture::new(4000);
    tree.put(b"a", version(1), b"one");
    let failed = tree.tree.modify(&tree.store, b"a", 3, |leaf| leaf.insert(b"a", version(2), b"x"));
    assert!(matches!(failed, Err(StorageError::DuplicateKey)));
    let (_, end) = tree.tree.modify(&tree.store, b"a", 3, |leaf| Ok(leaf.len())).unwrap();
    assert_eq!(end, None, "nothing changed, nothing logged");
    tree.check();
}

#[test]
fn removing_everything_leaves_one_empty_leaf() {
    for order in 0..3 {
        let (mut tree, mut random) = (Fixture::new(1500), Random::new(order));
        for i in 0..3000u32 {
            tree.put(&i.to_be_bytes(), version(1), &[0; 40]);
        }
        let mut keys = tree.keys();
        match order {
            0 => {}
            1 => keys.reverse(),
            _ => keys.sort_by_cached_key(|_| random.next()),
        }
        for (i, key) in keys.iter().enumerate() {
            tree.remove(key);
            if i % 500 == 0 {
                tree.check();
            }
        }
        // Merging is lazy: a last sweep finds what the removals could not merge.
        for key in keys.iter().chain(keys.iter().rev()) {
            tree.tree.try_merge(&tree.store, key).unwrap();
        }
        assert_eq!(tree.check().len(), 1, "pages left in order {order}");
    }
}

#[test]
fn a_dropped_tree_gives_all_its_pages_back_wherever_it_was_interrupted() {
    let mut tree = Fixture::new(1500);
    let mut random = Random::new(8);
    for i in 0..2000u32 {
        let payload = random.bytes(if i % 50 == 0 { 20_000 } else { 30 });
        tree.put(&i.to_be_bytes(), version(1), &payload);
    }
    assert!(tree.tree.free_nodes(&tree.store, &mut { usize::MAX }).unwrap());
    let mut report = Vec::new();
    let left = tree.tree.check(&tree.store, &mut report);
    assert_eq!(report, Vec::<Problem>::new());
    assert_eq!(left, HashSet::from([tree.tree.root()]));
    assert!(tree.tree.free_nodes(&tree.store, &mut { usize::MAX }).unwrap());
    let mut mtr = tree.store.mtr().unwrap();
    tree.tree.free_root(&mut mtr).unwrap();
    mtr.commit();
    assert!(tree.tree.get(&tree.store, b"x", &mut Vec::new()).is_err());
}

#[test]
fn estimates_are_near_the_truth() {
    let (mut tree, mut random) = (Fixture::new(4000), Random::new(6));
    for i in 0..20_000u32 {
        tree.put(&i.to_be_bytes(), version(1), &[0; 20]);
    }
    let estimate = |lower: Option<u32>, upper: Option<u32>| {
        let (lower, upper) = (lower.map(u32::to_be_bytes), upper.map(u32::to_be_bytes));
        let (lower, upper) = (lower.as_ref().map(|k| &k[..]), upper.as_ref().map(|k| &k[..]));
        tree.tree.estimate_range(&tree.store, lower, upper).unwrap() as f64
    };
    assert_eq!(estimate(Some(5), Some(5)), 0.0);
    assert_eq!(estimate(Some(5), Some(6)), 1.0);
    for _ in 0..200 {
        let (a, b) = (random.below(20_000) as u32, random.below(20_000) as u32);
        let (from, to) = (a.min(b), a.max(b) + 100);
        let (truth, guess) = (f64::from(to.min(20_000) - from), estimate(Some(from), Some(to)));
        assert!(guess > truth * 0.5 - 50.0 && guess < truth * 2.0 + 50.0, "{truth} vs {guess}");
    }
    let all = estimate(None, None);
    assert!((15_000.0..25_000.0).contains(&all), "{all} of 20000");
}

/// A leaf that ends where it begins leads back to itself.
#[test]
fn a_leaf_with_wrong_fences_ends_every_kind_of_scan() {
    for narrow in [false, true] {
        let mut fixture = Fixture::new(USABLE);
        for n in 0..600u32 {
            fixture.put(&n.to_be_bytes(), version(1), &[0; 100]);
        }
        let (tree, store) = (&fixture.tree, &fixture.store);
        let mut leaf = LeafCopy::new();
        tree.load_leaf(store, Seek::First, &mut leaf).unwrap();
        let second = leaf.right().unwrap();
        let mut mtr = store.mtr().unwrap();
        let page = mtr.latch(second).unwrap();
        let lower = mtr.page(page)[LOWER_OFF..LOWER_OFF + 4].to_vec();
        mtr.apply(page, &PageOp::SetBytes { offset: UPPER_OFF as u16, bytes: &lower });
        mtr.commit();
        let end = (0..100).find_map(|_| match narrow {
            true => tree.next_leaf_in_part(store, &mut leaf, |_| Wanted::Starts(8)).err(),
            false => tree.next_leaf(store, &mut leaf).err(),
        });
        assert!(matches!(end, Some(StorageError::Corrupt(..))), "narrow: {narrow}");
    }
}

/// Two leaves, the second of which the root names twice.
#[test]
fn a_page_that_two_ways_lead_to_ends_a_merge_and_a_drop() {
    let mut fixture = Fixture::new(USABLE);
    for n in 0..300u32 {
        fixture.put(&n.to_be_bytes(), version(1), &[0; 100]);
    }
    let (tree, store) = (&fixture.tree, &fixture.store);
    let mut mtr = store.mtr().unwrap();
    let root = mtr.latch(tree.root()).unwrap();
    assert_eq!((level(mtr.page(root)), count(mtr.page(root)) > 2), (1, true));
    let first = slot(mtr.page(root), 0).value_at();
    let second = child(mtr.page(root), 1).0.to_le_bytes();
    mtr.apply(root, &PageOp::SetBytes { offset: first as u16, bytes: &second });
    mtr.commit();
    for n in 0..20u32 {
        let remove = |leaf: &mut LeafMut<'_, '_>| match leaf.len() {
            0 => Ok(()),
            _ => leaf.remove(0),
        };
        tree.modify(store, &n.to_be_bytes(), 0, remove).unwrap();
    }
    while tree.modify(store, &[0], 0, |leaf| Ok(leaf.len())).unwrap().0 > 5 {
        tree.modify(store, &[0], 0, |leaf| leaf.remove(0)).unwrap();
    }
    let merged = tree.try_merge(store, &[0]);
    assert!(matches!(merged, Err(StorageError::Corrupt(..))), "{merged:?}");
    assert!(matches!(tree.free_nodes(store, &mut { usize::MAX }), Err(StorageError::Corrupt(..))));
}

/// The second page of a chain is not in use, says the map.
#[test]
fn a_value_whose_pages_cannot_all_be_freed_stays_as_it_is() {
    let mut fixture = Fixture::new(USABLE);
    fixture.put(b"long", version(1), &[7; 40_000]);
    let (tree, store) = (&fixture.tree, &fixture.store);
    let mut leaf = LeafCopy::new();
    tree.load_leaf(store, Seek::First, &mut leaf).unwrap();
    let PayloadRef::Overflow(chain) = leaf.payload(0) else { panic!("the value is long") };
    let second = tree.chain_pages(store, chain).unwrap()[1];
    let content = *store.shared(second).unwrap();
    let mut mtr = store.mtr().unwrap();
    let page = mtr.latch(second).unwrap();
    mtr.free(page).unwrap();
    mtr.commit();
    let mut mtr = store.mtr().unwrap();
    let page = mtr.latch(second).unwrap();
    mtr.apply(page, &PageOp::image(&content, 100, 100));
    mtr.commit();
    let removed = tree.modify(store, b"long", 0, |leaf| leaf.remove(0));
    assert!(matches!(removed, Err(StorageError::Corrupt(page, _)) if page == second));
    let replaced = tree.modify(store, b"long", 3, |leaf| leaf.replace(0, version(2), b"new"));
    assert!(matches!(replaced, Err(StorageError::Corrupt(page, _)) if page == second));
    fixture.check_get(b"long");
}
