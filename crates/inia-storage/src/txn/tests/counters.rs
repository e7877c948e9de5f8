//! No number of a tree's counter is given twice: what a gone record took stays taken.

use super::*;
use crate::btree::{LeafCopy, Seek};

/// Ends the program without a word, and opens what is on disk.
fn killed(engine: Arc<Engine>, txn: Txn, disk: &MemDisk, tree: &Tree) -> (Arc<Engine>, Tree, u64) {
    let id = tree.id();
    let wal = engine.core.store.wal();
    wal.wait_durable(wal.closed_lsn()).unwrap();
    std::mem::forget((txn, engine));
    let engine = open_on(disk);
    let tree = engine.tree(id);
    let kept = engine.kept_counter(&tree).unwrap();
    (engine, tree, kept)
}

fn number(n: u64) -> [u8; 8] {
    n.to_be_bytes()
}

/// Inserts a record with the counter's next number.
fn insert_next(txn: &mut Txn, tree: &Tree) -> u64 {
    let mut taken = 0;
    tree.counter().take(|next| {
        taken = next;
        next + 1
    });
    txn.insert(tree, &number(taken), &[1; 100]).unwrap();
    taken
}

fn is_one_leaf(engine: &Engine, tree: &Tree) -> bool {
    let mut leaf = LeafCopy::new();
    tree.btree().load_leaf(&engine.core.store, Seek::First, &mut leaf).unwrap();
    leaf.upper_fence().is_none()
}

#[test]
fn the_number_of_an_insert_that_was_undone_is_not_given_again_after_a_crash() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = tree_with(&engine, &[]);
    tree.counter().begin(1);
    let mut txn = rr(&engine);
    assert_eq!([insert_next(&mut txn, &tree), insert_next(&mut txn, &tree)], [1, 2]);
    txn.commit().unwrap();
    assert_eq!(engine.kept_counter(&tree).unwrap(), 0, "the records have it");
    txn.begin(Isolation::RepeatableRead);
    assert_eq!(insert_next(&mut txn, &tree), 3);
    txn.rollback().unwrap();
    let (_engine, _, kept) = killed(engine, txn, &disk, &tree);
    assert_eq!(kept, 4);
}

#[test]
fn the_number_of_a_row_undone_to_a_savepoint_is_not_given_again() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = tree_with(&engine, &[]);
    tree.counter().begin(1);
    let mut txn = rr(&engine);
    insert_next(&mut txn, &tree);
    let start = txn.savepoint();
    insert_next(&mut txn, &tree);
    txn.rollback_statement(start).unwrap();
    txn.commit().unwrap();
    let (_engine, _, kept) = killed(engine, txn, &disk, &tree);
    assert_eq!(kept, 3);
}

#[test]
fn a_number_kept_before_a_deletion_is_at_least_the_one_after_it() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    // Nobody has counted since the start: all that is known is the record that goes.
    txn.insert(&tree, &number(70), b"").unwrap();
    assert!(!tree.counter().keeps(70));
    txn.keep_counter(&tree, 71).unwrap();
    assert!(tree.counter().keeps(70) && !tree.counter().keeps(71));
    txn.keep_counter(&tree, 5).unwrap();
    txn.commit().unwrap();
    let (_engine, _, kept) = killed(engine, txn, &disk, &tree);
    assert_eq!(kept, 71);
}

#[test]
fn the_kept_number_outlives_growth_and_shrinking_of_the_tree() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    txn.keep_counter(&tree, 5000).unwrap();
    for n in 0..2000 {
        txn.insert(&tree, &number(n), &[1; 100]).unwrap();
    }
    txn.commit().unwrap();
    assert!(!is_one_leaf(&engine, &tree), "the root was split");
    assert_eq!(engine.kept_counter(&tree).unwrap(), 5000);
    txn.begin(Isolation::RepeatableRead);
    for n in 0..2000 {
        assert!(txn.delete(&tree, &number(n)).unwrap());
    }
    txn.commit().unwrap();
    run_background(&engine);
    assert!(is_one_leaf(&engine, &tree), "the root is a leaf again");
    assert_eq!(engine.kept_counter(&tree).unwrap(), 5000);
    let (_engine, _, kept) = killed(engine, txn, &disk, &tree);
    assert_eq!(kept, 5000);
}

#[test]
fn the_kept_number_outlives_a_load_in_bulk() {
    let engine = open();
    for count in [3, 3000] {
        let mut txn = rr(&engine);
        let tree = txn.create_tree().unwrap();
        txn.keep_counter(&tree, 9).unwrap();
        let mut load = txn.bulk_load(&tree).unwrap();
        (0..count).for_each(|n| load.push(&number(n), &[1; 100]).unwrap());
        load.finish().unwrap();
        txn.commit().unwrap();
        assert_eq!(engine.kept_counter(&tree).unwrap(), 9);
        engine.forget_counter(&tree).unwrap();
        assert_eq!((engine.kept_counter(&tree).unwrap(), tree.counter().next()), (0, 0));
        assert!(!tree.counter().keeps(0));
    }
}
