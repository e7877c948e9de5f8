//! A disk without space for another log segment: what was changed can always be taken back.

use super::*;
use crate::files::DATA_FILE;
use inia_testkit::{Fault, SimDisk, When};

const OPTIONS: EngineOptions = EngineOptions { buffer_pool_size: 16 << 20, background: false };

fn fill(txn: &mut Txn, tree: &Tree) -> StorageError {
    (0..).find_map(|n: u32| txn.insert(tree, &n.to_be_bytes(), &[1; 2000]).err()).unwrap()
}

/// Taking the records back leaves sparse leaves, whose merging is not let into the log.
#[test]
fn a_rollback_on_a_full_disk_leaves_nothing_locked() {
    let disk = SimDisk::new();
    let engine = Engine::open(Arc::new(disk.clone()), OPTIONS).unwrap();
    let tree = tree_with(&engine, &[]);
    disk.set_capacity(Some(40 << 20));
    let mut txn = rr(&engine);
    assert!(matches!(fill(&mut txn, &tree), StorageError::DiskFull));
    txn.rollback().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree), "");
    disk.set_capacity(None);
    put(&mut rr(&engine), &tree, "\0\0\0\0", "again");
}

/// What could not be removed for want of space is removed later.
#[test]
fn a_purge_that_the_full_disk_has_stopped_goes_on_where_it_was() {
    let disk = SimDisk::new();
    let engine = Engine::open(Arc::new(disk.clone()), OPTIONS).unwrap();
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    for n in 0..500u32 {
        txn.insert(&tree, &n.to_be_bytes(), &[1; 100]).unwrap();
    }
    txn.commit().unwrap();
    let mut old = rr(&engine);
    old.take_snapshot();
    txn.begin(Isolation::RepeatableRead);
    for n in 0..500u32 {
        assert!(txn.delete(&tree, &n.to_be_bytes()).unwrap());
    }
    txn.commit().unwrap();
    disk.set_capacity(Some(40 << 20));
    let mut filling = rr(&engine);
    let filled = tree_with(&engine, &[]);
    assert!(matches!(fill(&mut filling, &filled), StorageError::DiskFull));
    drop(old);
    let purged = engine.core.purge_step();
    assert!(matches!(purged, Err(StorageError::DiskFull)), "{purged:?}");
    filling.rollback().unwrap();
    disk.set_capacity(None);
    run_background(&engine);
    assert_eq!(engine.estimate_rows(&tree).unwrap(), 0);
    assert_eq!(engine.stats().history_length, 0);
}

/// A failed disk: the record stays locked, and nobody spins on it.
#[test]
fn a_record_whose_writer_could_not_be_rolled_back_stays_locked() {
    let disk = SimDisk::new();
    let engine = Engine::open(Arc::new(disk.clone()), OPTIONS).unwrap();
    let tree = tree_with(&engine, &[("a", "1")]);
    let mut txn = rr(&engine);
    set(&mut txn, &tree, "a", "2");
    disk.inject(When::Sync(1), Fault::Io);
    assert!(engine.wait_durable(engine.core.store.wal().closed_lsn()).is_err());
    assert!(txn.rollback().is_err());
    let mut other = rr(&engine);
    other.set_lock_wait_timeout(Duration::ZERO);
    let locked = other.lock_get(&tree, b"a", X, text);
    assert!(matches!(locked, Err(StorageError::LockWaitTimeout)), "{locked:?}");
}

/// A pool, log segments and undo far smaller than the work.
fn open_small(disk: &SimDisk) -> Arc<Engine> {
    let options = StoreOptions {
        buffer_pool_size: 64 * 16 * 1024,
        log_capacity: 1 << 20,
        segment_size: 64 << 10,
        undo_memory: 16 << 10,
        background: false,
    };
    Engine::open_with(Arc::new(disk.clone()), options).unwrap()
}

fn bytes_of(disk: &SimDisk) -> u64 {
    disk.list().unwrap().iter().filter_map(|name| disk.file_len(name)).sum()
}

/// The lengths of a tree's values.
fn lengths(engine: &Arc<Engine>, tree: &Tree) -> Vec<usize> {
    let (mut txn, open) = (rr(engine), KeyBound::Unbounded);
    let mut cursor = txn.cursor(tree, open, open, Direction::Forward, ReadMode::Snapshot);
    let mut lengths = Vec::new();
    while let Some(record) = cursor.next(&mut txn).unwrap() {
        lengths.push(record.value.len());
    }
    lengths
}

/// A transaction shortens all values; others fill the space, until the disk is full. The front of
/// the file has pages that were in use once.
fn shorten_fill_and_roll_back(count: u32, length: usize, between: usize, free_pages: u32) {
    let disk = SimDisk::new();
    let engine = open_small(&disk);
    let (early, tree) = (tree_with(&engine, &[]), tree_with(&engine, &[]));
    let mut txn = rr(&engine);
    for n in 0..5 * free_pages {
        txn.insert(&early, &n.to_be_bytes(), &[b'e'; 3000]).unwrap();
    }
    for n in 0..count {
        txn.insert(&tree, &(n * 1000).to_be_bytes(), &vec![b'a'; length]).unwrap();
    }
    txn.commit().unwrap();
    txn.begin(Isolation::RepeatableRead);
    for n in 0..5 * free_pages {
        assert!(txn.delete(&early, &n.to_be_bytes()).unwrap());
    }
    txn.commit().unwrap();
    run_background(&engine);
    txn.begin(Isolation::RepeatableRead);
    let mut many = Records::default();
    for n in 0..count {
        let key = (n * 1000).to_be_bytes();
        // Those that are long, and some others, by themselves.
        match txn.peek(&tree, &key, |_| ()).unwrap().filter(|_| n % 50 > 0) {
            Some(locator) => many.push_seen(&key, b"short", &locator),
            None => assert!(txn.update(&tree, &key, b"short").unwrap()),
        }
    }
    assert_eq!(txn.update_batch(&tree, &many, 0..many.len()).unwrap(), many.len());
    let mut other = rr(&engine);
    disk.set_capacity(Some(bytes_of(&disk) + (1 << 20)));
    let mut kept = 0;
    let full = 'full: {
        for round in 1..900 {
            for n in 0..count {
                let key = n * 1000 + round;
                if let Err(error) = other.insert(&tree, &key.to_be_bytes(), &vec![b'b'; between]) {
                    break 'full error;
                }
                kept += 1;
                other.commit().unwrap();
                other.begin(Isolation::RepeatableRead);
                if n % 50 == 0 {
                    // Makes room in the log, so that it is the data file that fills up.
                    while engine.background_step().unwrap_or(false) {}
                }
            }
        }
        panic!("the disk is never full");
    };
    assert!(matches!(full, StorageError::DiskFull), "{full}");
    other.rollback().unwrap();
    txn.rollback().unwrap();
    assert_eq!(engine.stats().unfinished, 0);
    let lengths = lengths(&engine, &tree);
    assert_eq!(lengths.iter().filter(|&&found| found == length).count(), count as usize);
    assert_eq!(lengths.len(), count as usize + kept);
    disk.set_capacity(None);
    assert_eq!(engine.check(&[early.id(), tree.id()]).unwrap(), Vec::<String>::new());
}

#[test]
fn records_grow_back_though_others_have_filled_their_leaves_and_the_disk() {
    shorten_fill_and_roll_back(400, 3000, 900, 0);
    shorten_fill_and_roll_back(2000, 300, 60, 0);
}

#[test]
fn long_values_come_back_though_others_have_taken_their_pages_and_the_disk_is_full() {
    shorten_fill_and_roll_back(30, 100_000, 3000, 0);
}

#[test]
fn free_pages_anywhere_in_the_file_serve_a_rollback() {
    shorten_fill_and_roll_back(400, 3000, 900, 300);
    shorten_fill_and_roll_back(30, 100_000, 3000, 300);
}

/// The values of one leaf have more pages than there are page frames.
#[test]
fn a_dropped_tree_of_long_values_is_freed_in_a_small_pool() {
    let disk = SimDisk::new();
    let engine = open_small(&disk);
    let tree = tree_with(&engine, &[]);
    let used = engine.core.store.used_pages();
    let mut txn = rr(&engine);
    for n in 0..60_u32 {
        txn.insert(&tree, &n.to_be_bytes(), &[b'l'; 60_000]).unwrap();
    }
    txn.commit().unwrap();
    txn.begin(Isolation::RepeatableRead);
    txn.drop_tree(&tree).unwrap();
    txn.commit().unwrap();
    run_background(&engine);
    assert!(engine.core.store.used_pages() < used + 5);
    assert_eq!(engine.check(&[]).unwrap(), Vec::<String>::new());
}

/// New pages are wanted at the end of the table, and old ones go from its beginning.
#[test]
fn a_table_that_moves_on_uses_the_pages_that_it_has_left() {
    let disk = SimDisk::new();
    let engine = open_small(&disk);
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    let mut lengths = Vec::new();
    for n in 0..6000_u32 {
        txn.insert(&tree, &n.to_be_bytes(), &[b'q'; 3000]).unwrap();
        if let Some(old) = n.checked_sub(500) {
            assert!(txn.delete(&tree, &old.to_be_bytes()).unwrap());
        }
        txn.commit().unwrap();
        txn.begin(Isolation::RepeatableRead);
        if n % 50 == 0 {
            run_background(&engine);
            lengths.push(disk.file_len(DATA_FILE).unwrap());
        }
    }
    assert_eq!(lengths.last(), lengths.get(lengths.len() / 2), "{lengths:?}");
    assert_eq!(engine.check(&[tree.id()]).unwrap(), Vec::<String>::new());
}

#[test]
fn a_rollback_finds_the_log_that_it_needs_on_a_full_disk() {
    let disk = SimDisk::new();
    let engine = open_small(&disk);
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    for n in 0..1000u32 {
        txn.insert(&tree, &n.to_be_bytes(), &[b'a'; 1000]).unwrap();
    }
    txn.commit().unwrap();
    run_background(&engine);
    disk.set_capacity(Some(bytes_of(&disk) + (4 << 20)));
    txn.begin(Isolation::RepeatableRead);
    let mut updates = (0..).map(|n: u32| (n % 1000, b'b' + (n / 1000) as u8));
    let full =
        updates.find_map(|(n, letter)| txn.update(&tree, &n.to_be_bytes(), &[letter; 1000]).err());
    assert!(matches!(full, Some(StorageError::DiskFull)), "{full:?}");
    txn.rollback().unwrap();
    assert!(engine.failure().is_none());
    let first = rr(&engine).get(&tree, &0u32.to_be_bytes(), |value| value[0]).unwrap();
    assert_eq!(first, Some(b'a'));
    disk.set_capacity(None);
    run_background(&engine);
    assert_eq!(engine.check(&[tree.id()]).unwrap(), Vec::<String>::new());
}

/// Transactions that have inserted a record each.
fn sixty_inserts(engine: &Arc<Engine>, tree: &Tree) -> Vec<Txn> {
    let insert = |n: u32| {
        let mut txn = rr(engine);
        txn.insert(tree, &n.to_be_bytes(), b"1").unwrap();
        txn
    };
    (0..60).map(insert).collect()
}

/// Each commit takes a block of the log.
#[test]
fn a_commit_without_room_in_the_log_is_refused_and_can_be_tried_again() {
    let disk = SimDisk::new();
    let engine = open_small(&disk);
    let tree = tree_with(&engine, &[]);
    let waiting = sixty_inserts(&engine, &tree);
    disk.set_capacity(Some(0));
    let mut refused: Vec<Txn> = Vec::new();
    let mut committed = 0;
    for mut txn in waiting {
        match txn.commit() {
            Ok(()) => committed += 1,
            Err(StorageError::DiskFull) => refused.push(txn),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(committed > 5 && refused.len() > 5, "{committed} committed");
    assert!(engine.failure().is_none());
    refused.pop().unwrap().rollback().unwrap();
    disk.set_capacity(None);
    for txn in &mut refused {
        txn.commit().unwrap();
    }
    assert_eq!(lengths(&engine, &tree).len(), 59);
}

/// Waiting for space would be in vain where nothing will be written any more.
#[test]
fn a_commit_on_a_full_disk_fails_with_the_stop() {
    let disk = SimDisk::new();
    let engine = open_small(&disk);
    let tree = tree_with(&engine, &[]);
    let mut waiting = sixty_inserts(&engine, &tree);
    disk.set_capacity(Some(0));
    waiting.retain_mut(|txn| match txn.commit() {
        Ok(()) => false,
        Err(StorageError::DiskFull) => true,
        Err(error) => panic!("{error}"),
    });
    waiting.pop().unwrap().rollback().unwrap();
    disk.inject(When::Sync(1), Fault::Io);
    assert!(engine.wait_durable(engine.core.store.wal().closed_lsn()).is_err());
    let commit = waiting[0].commit();
    assert!(matches!(commit, Err(StorageError::Stopped(_))), "{commit:?}");
}

/// A transaction may shorten records only as far as there are pages for their return.
#[test]
fn records_are_shortened_only_where_there_is_space_for_the_way_back() {
    let disk = SimDisk::new();
    let engine = open_small(&disk);
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    for n in 0..1000u32 {
        txn.insert(&tree, &n.to_be_bytes(), &[b'a'; 3000]).unwrap();
    }
    txn.commit().unwrap();
    run_background(&engine);
    disk.set_capacity(Some(bytes_of(&disk) + (1 << 20)));
    txn.begin(Isolation::RepeatableRead);
    let full = (0..1000u32).find_map(|n| txn.update(&tree, &n.to_be_bytes(), b"short").err());
    assert!(matches!(full, Some(StorageError::DiskFull)), "{full:?}");
    txn.rollback().unwrap();
    assert_eq!(lengths(&engine, &tree), [3000; 1000]);
}
