//! A disk without space for another log segment: what was changed can always be taken back.

use super::*;
use inia_testkit::{Fault, SimDisk, When};

fn open_sim(disk: &SimDisk) -> Arc<Engine> {
    let options = EngineOptions { buffer_pool_size: 16 << 20, background: false };
    Engine::open(Arc::new(disk.clone()), options).unwrap()
}

fn fill(txn: &mut Txn, tree: &Tree) -> StorageError {
    (0..).find_map(|n: u32| txn.insert(tree, &n.to_be_bytes(), &[1; 2000]).err()).unwrap()
}

/// Taking the records back leaves sparse leaves, whose merging is not let into the log.
#[test]
fn a_rollback_on_a_full_disk_leaves_nothing_locked() {
    let disk = SimDisk::new();
    let engine = open_sim(&disk);
    let tree = tree_with(&engine, &[]);
    disk.set_capacity(Some(40 << 20));
    let mut txn = rr(&engine);
    assert!(matches!(fill(&mut txn, &tree), StorageError::DiskFull));
    txn.rollback().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree), "");
    disk.set_capacity(None);
    put(&mut rr(&engine), &tree, "\0\0\0\0", "again");
}

/// A failed disk: the record stays locked, and nobody spins on it.
#[test]
fn a_record_whose_writer_could_not_be_rolled_back_stays_locked() {
    let disk = SimDisk::new();
    let engine = open_sim(&disk);
    let tree = tree_with(&engine, &[("a", "1")]);
    let mut txn = rr(&engine);
    set(&mut txn, &tree, "a", "2");
    disk.inject(When::Sync(1), Fault::Io);
    assert!(engine.wait_durable(engine.core.store.wal().closed_lsn()).is_err());
    assert!(txn.rollback().is_err());
    let locked = rr(&engine).lock_get(&tree, b"a", X, text);
    assert!(matches!(locked, Err(StorageError::LockWaitTimeout)), "{locked:?}");
}
