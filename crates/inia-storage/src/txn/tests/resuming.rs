//! After a crash the engine opens at once; what did not commit is rolled back in the background,
//! holding its locks until then.

use super::*;
use inia_testkit::{Fault, SimDisk, When};

const ROWS: u32 = 3000;

const OPTIONS: StoreOptions = StoreOptions {
    buffer_pool_size: 40 * 16 * 1024,
    log_capacity: 1 << 20,
    segment_size: 128 << 10,
    undo_memory: 16 << 10,
    background: false,
};

/// A tree with even keys, and a killed transaction that changed, deleted and inserted very much.
fn killed(disk: &SimDisk) -> crate::Result<(SimDisk, TreeId)> {
    let engine = open_sim(disk, &OPTIONS)?;
    let mut txn = rr(&engine);
    let tree = txn.create_tree()?;
    for n in 0..ROWS {
        txn.insert(&tree, &key(2 * n), &[b'0'; 60])?;
    }
    txn.commit()?;
    while engine.background_step()? {}
    txn.begin(Isolation::RepeatableRead);
    for n in 0..ROWS {
        match n % 3 {
            0 => assert!(txn.delete(&tree, &key(2 * n))?),
            _ => assert!(txn.update(&tree, &key(2 * n), &[b'1'; 90])?),
        }
        if n % 4 == 0 {
            txn.insert(&tree, &key(2 * n + 1), &[b'2'; 50])?;
            assert!(txn.update(&tree, &key(2 * n + 1), &[b'3'; 50])?);
        }
    }
    let wal = engine.core.store.wal();
    wal.wait_durable(wal.closed_lsn())?;
    std::mem::forget(txn);
    std::mem::forget(engine);
    Ok((disk.kill(), tree.id()))
}

/// What a snapshot shows: all rows as they were before.
fn assert_untouched(engine: &Arc<Engine>, tree: TreeId, except: &[u32]) {
    let mut txn = rr(engine);
    let open = KeyBound::Unbounded;
    let tree = engine.tree(tree);
    let mut cursor = txn.cursor(&tree, open, open, Direction::Forward, ReadMode::Snapshot);
    for n in 0..ROWS {
        let record = cursor.next(&mut txn).unwrap().unwrap();
        assert_eq!(record.key, key(2 * n));
        let letter = if except.contains(&n) { b'9' } else { b'0' };
        assert!(record.value == [letter; 60], "row {n}");
    }
    assert!(cursor.next(&mut txn).unwrap().is_none());
}

fn finish(engine: &Arc<Engine>, tree: TreeId, except: &[u32]) {
    run_background(engine);
    assert_eq!(engine.stats().unfinished, 0);
    assert!(engine.active_transactions().is_empty());
    assert_untouched(engine, tree, except);
    assert_eq!(engine.check(&[tree]).unwrap(), Vec::<String>::new());
    // Nothing uncommitted is left in the tree.
    let mut dirty = session(engine, Isolation::ReadUncommitted);
    let open = KeyBound::Unbounded;
    let (tree_now, mode) = (engine.tree(tree), ReadMode::Snapshot);
    let mut cursor = dirty.cursor(&tree_now, open, open, Direction::Forward, mode);
    let mut rows = 0;
    while cursor.next(&mut dirty).unwrap().is_some() {
        rows += 1;
    }
    assert_eq!(rows, ROWS);
    drop(dirty);
    let stats = engine.stats();
    assert_eq!(stats.low_water, stats.next_txn);
    assert_eq!((stats.history_length, stats.undo_spilled_bytes), (0, 0));
}

#[test]
fn readers_see_the_versions_before_and_writers_wait_while_a_killed_transaction_is_rolled_back() {
    let (disk, id) = killed(&SimDisk::new()).unwrap();
    let engine = open_sim(&disk, &OPTIONS).unwrap();
    assert_eq!(engine.stats().unfinished, 1);
    assert_eq!(engine.active_transactions().len(), 1);
    assert!(engine.stats().undo_bytes < 100 << 10 && engine.stats().undo_spilled_bytes > 0);
    assert_untouched(&engine, id, &[]);
    let tree = engine.tree(id);
    let early = {
        let mut txn = rr(&engine);
        txn.take_snapshot();
        txn
    };
    assert!(record_waits(&engine, &tree, text(&key(0)).as_str()));
    let waiting = blocks(&engine, rr(&engine), {
        let tree = tree.clone();
        move |txn| txn.update(&tree, &key(6), &[b'9'; 60])
    });
    for _ in 0..3 {
        assert!(engine.background_step().unwrap());
        assert_untouched(&engine, id, &[]);
    }
    assert_eq!(engine.stats().unfinished, 1);
    while engine.stats().unfinished > 0 {
        engine.background_step().unwrap();
    }
    let (mut writer, updated) = waiting.join();
    assert!(updated.unwrap());
    writer.commit().unwrap();
    drop(early);
    finish(&engine, id, &[3]);
}

#[test]
fn a_crash_or_a_shutdown_during_the_rollback_is_like_none() {
    for steps in [0, 1, 4, 7, 9] {
        let (mut disk, id) = killed(&SimDisk::new()).unwrap();
        for round in 0..3 {
            let engine = open_sim(&disk, &OPTIONS).unwrap();
            for _ in 0..steps {
                engine.background_step().unwrap();
            }
            // A row that the rollback has freed, or has not: never both a new value and an old one.
            let mut txn = rr(&engine);
            txn.set_lock_wait_timeout(Duration::ZERO);
            let _ = txn.lock_get(&engine.tree(id), &key(2), X_NOWAIT, |_| ());
            txn.rollback().unwrap();
            drop(txn);
            match round {
                0 => engine.close().unwrap(),
                1 => engine.core.store.checkpoint().map(|_| ()).unwrap(),
                _ => {}
            }
            drop(engine);
            disk = disk.crash(steps + round);
        }
        finish(&open_sim(&disk, &OPTIONS).unwrap(), id, &[]);
    }
}

#[test]
fn a_crash_at_any_change_of_the_disk_during_the_rollback_loses_nothing() {
    let (start, id) = killed(&SimDisk::new()).unwrap();
    let mut points = 0;
    for change in (1..).step_by(7) {
        let disk = start.kill();
        disk.inject(When::Change(change), Fault::Crash);
        let rolled_back = open_sim(&disk, &OPTIONS).and_then(|engine| {
            let mut txn = rr(&engine);
            let mut n = 0;
            while engine.background_step()? {
                // New commits in between must survive, too, if they were acknowledged.
                txn.insert(&engine.catalog_tree(), format!("k{n}").as_bytes(), b"")?;
                txn.commit()?;
                txn.begin(Isolation::RepeatableRead);
                n += 1;
            }
            Ok(())
        });
        let disk = disk.crash(change);
        finish(&open_sim(&disk, &OPTIONS).unwrap(), id, &[]);
        points += 1;
        if rolled_back.is_ok() {
            break;
        }
    }
    assert!(points > 10, "{points}");
}

#[test]
fn losers_that_define_data_are_rolled_back_before_the_engine_opens() {
    let disk = SimDisk::new();
    let engine = open_sim(&disk, &OPTIONS).unwrap();
    let tree = tree_with(&engine, &[("a", "1")]);
    let (mut defines, mut changes) = (rr(&engine), rr(&engine));
    let made = defines.create_tree().unwrap();
    put(&mut defines, &engine.catalog_tree(), "name", "tree");
    for n in 0..500u32 {
        defines.insert(&made, &key(n), &[1; 100]).unwrap();
    }
    set(&mut changes, &tree, "a", "2");
    let wal = engine.core.store.wal();
    wal.wait_durable(wal.closed_lsn()).unwrap();
    let id = tree.id();
    std::mem::forget((defines, changes, engine));
    let engine = open_sim(&disk.kill(), &OPTIONS).unwrap();
    assert_eq!(engine.stats().unfinished, 1);
    assert_eq!(scan(&mut rr(&engine), &engine.catalog_tree(), ReadMode::Lock(X_NOWAIT)), "");
    run_background(&engine);
    assert_eq!(all(&mut rr(&engine), &engine.tree(id)), "a=1");
    assert_eq!(engine.check(&[id]).unwrap(), Vec::<String>::new());
}

#[test]
fn a_rollback_that_fails_goes_on_in_the_background() {
    let disk = SimDisk::new();
    let engine = open_sim(&disk, &OPTIONS).unwrap();
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    for n in 0..ROWS {
        txn.insert(&tree, &key(n), &[b'x'; 200]).unwrap();
    }
    let wal = engine.core.store.wal();
    wal.wait_durable(wal.closed_lsn()).unwrap();
    disk.inject(When::Read(2), Fault::Io);
    assert!(txn.rollback().is_err());
    txn.begin(Isolation::RepeatableRead);
    assert_eq!(engine.stats().unfinished, 1);
    assert_eq!(all(&mut txn, &tree), "");
    txn.commit().unwrap();
    run_background(&engine);
    assert_eq!(engine.estimate_rows(&tree).unwrap(), 0);
    assert_eq!(engine.check(&[tree.id()]).unwrap(), Vec::<String>::new());
}

#[test]
fn threads_write_while_killed_transactions_are_rolled_back() {
    let (disk, id) = killed(&SimDisk::new()).unwrap();
    let options = StoreOptions { undo_memory: 16 << 10, ..StoreOptions::new(2 << 20, true) };
    let engine = Engine::open_with(Arc::new(disk), options).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..3u32 {
            let engine = &engine;
            scope.spawn(move || {
                let tree = engine.tree(id);
                for n in (thread..ROWS).step_by(300) {
                    let mut txn = rr(engine);
                    assert!(txn.update(&tree, &key(2 * n), &[b'0'; 60]).unwrap());
                    txn.commit().unwrap();
                }
            });
        }
    });
    while engine.stats().unfinished > 0 {
        std::thread::yield_now();
    }
    engine.stop_purger();
    finish(&engine, id, &[]);
}

/// The pages of the dropped tree must not become another tree's while the rollback still goes
/// through them.
#[test]
fn a_tree_may_be_dropped_while_a_killed_transaction_that_changed_it_is_rolled_back() {
    for steps in [0, 2, 5] {
        let (disk, id) = killed(&SimDisk::new()).unwrap();
        let engine = open_sim(&disk, &OPTIONS).unwrap();
        for _ in 0..steps {
            engine.background_step().unwrap();
        }
        assert_eq!(engine.stats().unfinished, 1);
        let mut txn = rr(&engine);
        txn.drop_tree(&engine.tree(id)).unwrap();
        txn.commit().unwrap();
        // Its pages are taken for another tree as soon as they are free.
        txn.begin(Isolation::RepeatableRead);
        let other = txn.create_tree().unwrap();
        for n in 0..ROWS {
            txn.insert(&other, &key(2 * n), &[b'0'; 60]).unwrap();
            if n % 100 == 0 {
                engine.background_step().unwrap();
            }
        }
        txn.commit().unwrap();
        drop(txn);
        finish(&engine, other.id(), &[]);
        drop(engine);
        let engine = open_sim(&disk.crash(steps), &OPTIONS).unwrap();
        finish(&engine, other.id(), &[]);
    }
}
