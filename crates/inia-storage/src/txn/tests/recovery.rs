//! After a crash: acknowledged commits are there, everything else is as if it had never been.
//!
//! A crash is an engine that is forgotten without being closed, and a copy of the disk as it was.

use super::*;
use inia_base::ids::Lsn;
use std::collections::BTreeMap;

/// Forgets the engine with everything it has in memory.
fn crash(engine: Arc<Engine>, sessions: Vec<Txn>) {
    std::mem::forget(sessions);
    std::mem::forget(engine);
}

#[test]
fn committed_transactions_survive_and_running_ones_do_not() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = tree_with(&engine, &[("a", "1"), ("b", "2"), ("c", "3")]);
    let (mut done, mut lost) = (rr(&engine), rr(&engine));
    set(&mut lost, &tree, "a", "lost");
    delete(&mut lost, &tree, "b");
    put(&mut lost, &tree, "z", "lost");
    set(&mut lost, &tree, "a", "lost again");
    set(&mut done, &tree, "c", "kept");
    put(&mut done, &tree, "d", "kept");
    done.commit().unwrap();
    crash(engine, vec![done, lost]);
    for _ in 0..2 {
        let engine = open_on(&disk);
        for _ in 0..2 {
            assert_eq!(all(&mut rr(&engine), &engine.tree(tree.id())), "a=1 b=2 c=kept d=kept");
            run_background(&engine);
        }
        crash(engine, vec![]);
    }
}

#[test]
fn a_savepoint_rolled_back_before_the_crash_does_not_hurt_later_writers() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = tree_with(&engine, &[("a", "1")]);
    let (mut lost, mut done) = (rr(&engine), rr(&engine));
    put(&mut lost, &tree, "k", "lost");
    let start = lost.savepoint();
    put(&mut lost, &tree, "b", "lost");
    lost.rollback_to(start).unwrap();
    put(&mut done, &tree, "b", "kept");
    done.commit().unwrap();
    crash(engine, vec![lost, done]);
    let engine = open_on(&disk);
    // Before the rollback in the background, and after it.
    for _ in 0..2 {
        assert_eq!(all(&mut rr(&engine), &engine.tree(tree.id())), "a=1 b=kept");
        run_background(&engine);
    }
    assert_eq!(engine.stats().unfinished, 0);
}

/// The pages on disk have the insert, the log on disk has its before-image, and neither has the
/// rollback: a checkpoint keeps the before-image for as long as that is so.
#[test]
fn a_rollback_keeps_its_log_until_it_is_durable_whatever_its_session_does_next() {
    type Next = fn(&mut Txn, &Tree);
    let nothing: Next = |_, _| ();
    let duplicate: Next = |txn, tree| {
        txn.begin(Isolation::RepeatableRead);
        assert!(matches!(txn.insert(tree, b"a", b"2"), Err(StorageError::DuplicateKey)));
        txn.commit().unwrap();
    };
    let absent: Next = |txn, tree| {
        txn.begin(Isolation::RepeatableRead);
        assert!(!txn.update(tree, b"none", b"2").unwrap());
        txn.rollback().unwrap();
    };
    for next in [nothing, duplicate, absent] {
        let disk = MemDisk::new();
        let engine = open_on(&disk);
        let tree = tree_with(&engine, &[("a", "1")]);
        let mut txn = rr(&engine);
        put(&mut txn, &tree, "lost", "1");
        engine.wait_durable(engine.core.store.wal().closed_lsn()).unwrap();
        engine.core.store.write_all_pages_for_tests().unwrap();
        txn.rollback().unwrap();
        next(&mut txn, &tree);
        engine.core.store.checkpoint().unwrap();
        crash(engine, vec![txn]);
        let engine = open_on(&disk);
        run_background(&engine);
        assert_eq!(all(&mut rr(&engine), &engine.tree(tree.id())), "a=1");
    }
}

#[test]
fn ids_go_on_after_a_crash_and_old_rows_are_visible_to_all() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = tree_with(&engine, &[("a", "1")]);
    let before = engine.stats().next_txn;
    crash(engine, vec![]);
    let engine = open_on(&disk);
    let stats = engine.stats();
    assert!(stats.next_txn >= before);
    assert_eq!(stats.low_water, stats.next_txn);
    assert_eq!(all(&mut rr(&engine), &engine.tree(tree.id())), "a=1");
}

#[test]
fn a_clean_close_keeps_everything_and_rolls_nothing_back() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = tree_with(&engine, &[("a", "1"), ("b", "2")]);
    let mut txn = rr(&engine);
    delete(&mut txn, &tree, "a");
    txn.commit().unwrap();
    drop(txn);
    let catalog = engine.catalog_tree().id();
    engine.close().unwrap();
    drop(engine);
    let engine = open_on(&disk);
    assert_eq!(engine.catalog_tree().id(), catalog);
    let tree = engine.tree(tree.id());
    assert_eq!(all(&mut rr(&engine), &tree), "b=2");
    run_background(&engine);
    assert_eq!(engine.estimate_rows(&tree).unwrap(), 1, "marks of the earlier run are swept");
}

#[test]
fn trees_made_or_dropped_by_a_loser() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = tree_with(&engine, &[("a", "1")]);
    let dropped = tree_with(&engine, &[("x", "1")]);
    let mut done = rr(&engine);
    done.drop_tree(&dropped).unwrap();
    done.commit().unwrap();
    let used = engine.core.store.used_pages();
    let mut lost = rr(&engine);
    let made = lost.create_tree().unwrap();
    put(&mut lost, &made, "m", "1");
    lost.drop_tree(&tree).unwrap();
    let mut other = rr(&engine);
    put(&mut other, &engine.catalog_tree(), "makes the log durable", "");
    other.commit().unwrap();
    crash(engine, vec![lost, done, other]);
    let engine = open_on(&disk);
    run_background(&engine);
    assert_eq!(all(&mut rr(&engine), &engine.tree(tree.id())), "a=1");
    assert_eq!(engine.core.store.used_pages(), used - 1, "the dropped tree is gone, too");
}

#[test]
fn checkpoints_keep_what_a_long_transaction_needs_for_its_rollback() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = tree_with(&engine, &[("a", "1")]);
    let mut long = rr(&engine);
    set(&mut long, &tree, "a", "lost");
    let mut txn = engine.attach();
    for n in 0..50 {
        txn.begin(Isolation::RepeatableRead);
        put(&mut txn, &tree, &format!("b{n:03}"), "x");
        txn.commit().unwrap();
        engine.core.store.checkpoint().unwrap();
    }
    crash(engine, vec![long, txn]);
    let engine = open_on(&disk);
    let tree = engine.tree(tree.id());
    for _ in 0..2 {
        assert_eq!(get(&mut rr(&engine), &tree, "a").unwrap(), "1");
        assert_eq!(all(&mut rr(&engine), &tree).split(' ').count(), 51);
        run_background(&engine);
    }
}

#[test]
fn a_transaction_left_open_does_not_keep_the_log_from_being_shortened() {
    let disk = MemDisk::new();
    let options = StoreOptions {
        buffer_pool_size: 4 << 20,
        log_capacity: 1 << 20,
        segment_size: 128 << 10,
        undo_memory: 1 << 20,
        background: false,
    };
    let engine = Engine::open_with(Arc::new(disk.clone()), options).unwrap();
    let tree = tree_with(&engine, &[("a", "1"), ("b", "2"), ("c", "3")]);
    let mut open = rr(&engine);
    set(&mut open, &tree, "a", "lost");
    delete(&mut open, &tree, "b");
    let made = open.create_tree().unwrap();
    put(&mut open, &made, "in a tree of its own", "lost");
    let used = engine.core.store.used_pages() - 1;
    let held = |engine: &Engine| engine.core.sessions.needed_log(Lsn(u64::MAX - 1)).unwrap();
    let first = held(&engine);
    let mut txn = engine.attach();
    for n in 0..4000 {
        txn.begin(Isolation::RepeatableRead);
        set(&mut txn, &tree, "c", &format!("{n:0>500}"));
        txn.commit().unwrap();
        if n == 2000 {
            put(&mut open, &tree, "d", "lost");
        }
        if n % 50 == 0 {
            engine.background_step().unwrap();
        }
    }
    assert!(held(&engine).0 > first.0 + (2 << 20));
    engine.core.store.checkpoint().unwrap();
    crash(engine, vec![open, txn]);
    let engine = open_on(&disk);
    run_background(&engine);
    let expected = format!("a=1 b=2 c={:0>500}", 3999);
    assert_eq!(all(&mut rr(&engine), &engine.tree(tree.id())), expected);
    assert_eq!(engine.core.store.used_pages(), used);
}

/// Random transactions with crashes in between, against a map of what was committed.
fn records(engine: &Arc<Engine>, id: TreeId) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let (mut txn, tree, open) = (rr(engine), engine.tree(id), KeyBound::Unbounded);
    let mut cursor = txn.cursor(&tree, open, open, Direction::Forward, ReadMode::Snapshot);
    let mut found = BTreeMap::new();
    while let Some(record) = cursor.next(&mut txn).unwrap() {
        found.insert(record.key.to_vec(), record.value.to_vec());
    }
    found
}

#[test]
fn random_work_with_crashes_equals_the_committed_map() {
    let disk = MemDisk::new();
    let mut engine = open_on(&disk);
    let id = tree_with(&engine, &[]).id();
    let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let mut random = super::model::Random::new(7);
    for _ in 0..12 {
        let tree = engine.tree(id);
        let mut sessions = Vec::new();
        for _ in 0..30 {
            let mut txn = rr(&engine);
            txn.set_lock_wait_timeout(Duration::ZERO);
            let mut after = model.clone();
            for _ in 0..random.below(20) {
                let key = format!("{:04}", random.below(400)).into_bytes();
                let value = vec![b'a' + random.below(26) as u8; random.below(300) as usize];
                let done = match random.below(3) {
                    0 => txn.insert(&tree, &key, &value).map(|()| after.insert(key, value)),
                    1 => txn
                        .update(&tree, &key, &value)
                        .map(|found| found.then(|| after.insert(key, value)).flatten()),
                    _ => txn.delete(&tree, &key).map(|_| after.remove(&key)),
                };
                match done {
                    Ok(_) | Err(StorageError::DuplicateKey) => {}
                    Err(StorageError::LockWaitTimeout | StorageError::Deadlock) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            match random.below(8) {
                0 => sessions.push(txn),
                1 => txn.rollback().unwrap(),
                _ => {
                    txn.commit().unwrap();
                    model = after;
                }
            }
            if random.below(4) == 0 {
                engine.background_step().unwrap();
            }
            if random.below(10) == 0 {
                engine.core.store.checkpoint().unwrap();
            }
        }
        crash(engine, sessions);
        engine = open_on(&disk);
        assert!(records(&engine, id) == model);
        // This rolls back what was left.
        assert_eq!(engine.check(&[id]).unwrap(), Vec::<String>::new());
        assert!(records(&engine, id) == model);
    }
}

#[test]
fn a_transaction_id_that_no_engine_comes_to_is_refused() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let wal = engine.core.store.wal();
    let txn = inia_base::ids::TxnId(u64::MAX);
    let end = wal.append(&crate::wal::record::LogRecord::Commit { txn });
    wal.wait_durable(end).unwrap();
    crash(engine, vec![]);
    let options = EngineOptions { buffer_pool_size: 16 << 20, background: false };
    let opened = Engine::open(Arc::new(disk.clone()), options);
    assert!(matches!(opened, Err(StorageError::Unopenable(_))));
}
