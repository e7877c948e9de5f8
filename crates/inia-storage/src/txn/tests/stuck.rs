//! What fails again and again in the background: nothing else waits for it, and it is reported.

use super::*;
use crate::files::DATA_FILE;
use inia_testkit::{Fault, SimDisk, When};
use std::sync::Mutex;

const ROWS: u32 = 3000;

const OPTIONS: StoreOptions = StoreOptions {
    buffer_pool_size: 40 * 16 * 1024,
    log_capacity: 4 << 20,
    segment_size: 256 << 10,
    undo_memory: 16 << 10,
    background: false,
};

/// Inserts very much, and fails to roll it back.
fn leave_a_rollback(disk: &SimDisk, engine: &Engine, tree: &Tree, txn: &mut Txn) {
    for n in 0..ROWS {
        txn.insert(tree, &key(n), &[b'x'; 200]).unwrap();
    }
    let wal = engine.core.store.wal();
    wal.wait_durable(wal.closed_lsn()).unwrap();
    disk.inject(When::Read(2), Fault::Io);
    assert!(txn.rollback().is_err());
    assert_eq!(engine.stats().unfinished, 1);
}

#[test]
fn a_handle_keeps_its_name_and_its_interrupter_when_its_rollback_is_left_to_others() {
    let disk = SimDisk::new();
    let engine = open_sim(&disk, &OPTIONS).unwrap();
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    txn.set_label(7);
    let interrupter = txn.interrupter();
    leave_a_rollback(&disk, &engine, &tree, &mut txn);
    let labels = || engine.active_transactions().iter().map(|txn| txn.label).collect::<Vec<u64>>();
    assert_eq!(labels(), [0], "who is rolled back is nobody's transaction any more");

    txn.begin(Isolation::RepeatableRead);
    lock_get(&mut txn, &engine.catalog_tree(), "k", X);
    assert_eq!(labels(), [0, 7]);
    interrupter.interrupt();
    let found = txn.lock_get(&engine.catalog_tree(), b"other", X, |_| ());
    let scanned = range(
        &mut txn,
        &tree,
        (KeyBound::Unbounded, KeyBound::Unbounded),
        Direction::Forward,
        ReadMode::Lock(X),
    );
    assert!(found.is_ok() && matches!(scanned, Err(StorageError::Interrupted)), "{scanned:?}");
    txn.clear_interrupt();
    txn.rollback().unwrap();

    // The session of the transaction that was left goes to somebody else.
    run_background(&engine);
    let others: Vec<Txn> = (0..3).map(|_| engine.attach()).collect();
    interrupter.interrupt();
    assert!(others.iter().all(|other| !other.interrupter().is_interrupted()));
    drop(txn);
    let others: Vec<Txn> = (0..3).map(|_| engine.attach()).collect();
    interrupter.interrupt();
    assert!(others.iter().all(|other| !other.interrupter().is_interrupted()));
}

/// Writes until there is no space for another log segment.
fn fill(txn: &mut Txn, tree: &Tree) {
    let full = (0..).find_map(|n: u32| txn.insert(tree, &n.to_be_bytes(), &[1; 2000]).err());
    assert!(matches!(full, Some(StorageError::DiskFull)), "{full:?}");
}

#[test]
fn a_purge_that_a_full_disk_keeps_waiting_does_not_keep_a_rollback_waiting() {
    let disk = SimDisk::new();
    let engine = open_sim(&disk, &OPTIONS).unwrap();
    let tree = tree_with(&engine, &[]);
    let deleted = tree_with(&engine, &[("a", "1"), ("b", "2")]);
    let early = {
        let mut txn = rr(&engine);
        txn.take_snapshot();
        txn
    };
    let mut txn = rr(&engine);
    delete(&mut txn, &deleted, "a");
    txn.commit().unwrap();
    let other = tree_with(&engine, &[]);
    txn.begin(Isolation::RepeatableRead);
    leave_a_rollback(&disk, &engine, &tree, &mut txn);
    txn.begin(Isolation::RepeatableRead);
    disk.set_capacity(Some(0));
    fill(&mut txn, &other);
    drop(early);
    let steps = (0..100).find(|_| {
        let step = engine.background_step();
        assert!(!matches!(step, Err(StorageError::Stopped(_))), "{step:?}");
        engine.stats().unfinished == 0
    });
    assert!(steps.is_some());
    txn.rollback().unwrap();
    disk.set_capacity(None);
    run_background(&engine);
    assert_eq!(engine.stats().history_length, 0);
    let ids = [tree.id(), deleted.id(), other.id()];
    assert_eq!(engine.check(&ids).unwrap(), Vec::<String>::new());
}

#[test]
fn a_dropped_tree_that_could_not_be_freed_is_freed_later() {
    let disk = SimDisk::new();
    let engine = open_sim(&disk, &OPTIONS).unwrap();
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    for n in 0..ROWS {
        txn.insert(&tree, &key(n), &[b'x'; 200]).unwrap();
    }
    txn.commit().unwrap();
    let used = engine.core.store.used_pages();
    let other = tree_with(&engine, &[]);
    txn.begin(Isolation::RepeatableRead);
    txn.drop_tree(&tree).unwrap();
    txn.commit().unwrap();
    txn.begin(Isolation::RepeatableRead);
    disk.set_capacity(Some(0));
    fill(&mut txn, &other);
    assert!(matches!(engine.core.purge_step(), Err(StorageError::DiskFull)));
    disk.set_capacity(None);
    txn.rollback().unwrap();
    run_background(&engine);
    assert!(engine.core.store.used_pages() < used / 2);
    assert_eq!(engine.check(&[other.id()]).unwrap(), Vec::<String>::new());
}

static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn a_rollback_that_meets_damage_is_reported_and_retried_now_and_then() {
    set_error_log(|line| LOG.lock().unwrap().push(line.to_string()));
    let disk = SimDisk::new();
    let engine = open_sim(&disk, &OPTIONS).unwrap();
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    leave_a_rollback(&disk, &engine, &tree, &mut txn);
    let number = engine.core.unfinished.lock()[0].txn().0;
    let dirty =
        engine.core.store.pool_for_tests().dirty_frames(inia_base::ids::Lsn(u64::MAX), 1000);
    engine.core.store.pool_for_tests().write_back(&dirty).unwrap();
    let pages = tree.btree().check(&engine.core.store, &mut Vec::new());
    let damage = || {
        let leaves = pages.iter().filter(|page| page.0 != tree.id().0);
        leaves
            .for_each(|page| assert!(disk.flip_bit(DATA_FILE, (u64::from(page.0) << 14) + 99, 1)));
    };
    damage();

    let failures = (0..2000).filter(|_| engine.background_step().is_err()).count();
    assert!((1..20).contains(&failures), "{failures}");
    let stuck = engine.stuck_rollbacks();
    assert!(matches!(stuck[..], [StuckRollback { error: StorageError::Corrupt(..), .. }]));
    assert_eq!((stuck[0].txn.0, engine.stats().stuck), (number, 1));
    let reported = format!("transaction {number} cannot be rolled back, ");
    assert!(LOG.lock().unwrap().iter().any(|line| line.starts_with(&reported)));
    let report = engine.check(&[tree.id()]).unwrap();
    assert!(report[0].starts_with(&reported), "{report:?}");

    damage();
    for _ in 0..2 * 1024 {
        engine.background_step().unwrap();
    }
    assert_eq!((engine.stats().unfinished, engine.stats().stuck), (0, 0));
    assert_eq!(engine.check(&[tree.id()]).unwrap(), Vec::<String>::new());
}

#[test]
fn a_tree_whose_creation_others_roll_back_is_freed() {
    let disk = SimDisk::new();
    let engine = open_sim(&disk, &OPTIONS).unwrap();
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    let made = txn.create_tree().unwrap();
    put(&mut txn, &made, "k", "v");
    leave_a_rollback(&disk, &engine, &tree, &mut txn);
    run_background(&engine);
    for _ in 0..3 {
        engine.background_step().unwrap();
    }
    assert_eq!(engine.check(&[tree.id()]).unwrap(), Vec::<String>::new());
}
