//! Transactions from outside, through the facade, on a disk in memory and without background
//! threads.

mod basics;
mod bulk_crash;
mod counters;
mod crash;
mod delete_runs;
mod durability;
mod full_disk;
mod gap_neighbours;
mod in_place;
mod isolation;
mod known_leaves;
mod model;
mod mutated;
mod parts;
mod prepared;
mod purging;
mod ranges;
mod readers;
mod recovery;
mod relogging;
mod resuming;
mod runs;
mod spilling;
mod status;
mod stress;
mod stuck;

use crate::store::StoreOptions;
use crate::*;
use inia_base::ids::TreeId;
use inia_base::io::{Disk, MemDisk};
use inia_testkit::{Fault, SimDisk, When};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

pub(super) const X: LockRequest = LockRequest { mode: LockMode::Exclusive, wait: WaitPolicy::Wait };
pub(super) const S: LockRequest = LockRequest { mode: LockMode::Shared, wait: WaitPolicy::Wait };
pub(super) const X_NOWAIT: LockRequest =
    LockRequest { mode: LockMode::Exclusive, wait: WaitPolicy::NoWait };

pub(super) fn open_on(disk: &MemDisk) -> Arc<Engine> {
    let options = EngineOptions { buffer_pool_size: 16 << 20, background: false };
    Engine::open(Arc::new(disk.clone()), options).unwrap()
}

pub(super) fn open() -> Arc<Engine> {
    open_on(&MemDisk::new())
}

/// An engine on a simulated disk, which may refuse to open.
pub(super) fn open_sim(disk: &SimDisk, options: &StoreOptions) -> Result<Arc<Engine>> {
    Engine::open_with(Arc::new(disk.clone()), options.clone())
}

/// Does all the work that the background has to do.
pub(super) fn run_background(engine: &Engine) {
    while engine.background_step().unwrap() {}
}

/// An engine that keeps next to no undo in memory.
pub(super) fn open_spilling(disk: Arc<dyn Disk>, background: bool) -> Arc<Engine> {
    let options = StoreOptions { undo_memory: 4 << 10, ..StoreOptions::new(4 << 20, background) };
    Engine::open_with(disk, options).unwrap()
}

/// Recovers, and does what the background has to do, until a change of the disk where it crashes.
pub(super) fn recover_until(disk: &SimDisk, options: &StoreOptions, change: u64) {
    disk.inject(When::Change(change), Fault::Crash);
    if let Ok(engine) = open_sim(disk, options) {
        while engine.background_step().unwrap_or(false) {}
        end_by_crash(disk, engine);
    }
}

/// Drops an engine and what belongs to it after a crash of the disk: nothing is written any more.
pub(super) fn end_by_crash<T>(disk: &SimDisk, engine: T) {
    if !disk.has_crashed() {
        disk.inject(When::Change(1), Fault::Crash);
    }
    drop(engine);
}

/// A number as a key: keys are in the order of the numbers.
pub(super) fn key(n: u32) -> [u8; 4] {
    n.to_be_bytes()
}

/// A session in an open transaction.
pub(super) fn session(engine: &Arc<Engine>, isolation: Isolation) -> Txn {
    let mut txn = engine.attach();
    txn.begin(isolation);
    txn
}

pub(super) fn rr(engine: &Arc<Engine>) -> Txn {
    session(engine, Isolation::RepeatableRead)
}

/// A tree with these records, committed.
pub(super) fn tree_with(engine: &Arc<Engine>, records: &[(&str, &str)]) -> Tree {
    let mut txn = rr(engine);
    let tree = txn.create_tree().unwrap();
    for (key, value) in records {
        txn.insert(&tree, key.as_bytes(), value.as_bytes()).unwrap();
    }
    txn.commit().unwrap();
    tree
}

pub(super) fn get(txn: &mut Txn, tree: &Tree, key: &str) -> Option<String> {
    txn.get(tree, key.as_bytes(), text).unwrap()
}

pub(super) fn text(value: &[u8]) -> String {
    String::from_utf8(value.to_vec()).unwrap()
}

pub(super) fn lock_get(txn: &mut Txn, tree: &Tree, key: &str, how: LockRequest) -> Option<String> {
    txn.lock_get(tree, key.as_bytes(), how, text).unwrap()
}

pub(super) fn put(txn: &mut Txn, tree: &Tree, key: &str, value: &str) {
    txn.insert(tree, key.as_bytes(), value.as_bytes()).unwrap();
}

pub(super) fn set(txn: &mut Txn, tree: &Tree, key: &str, value: &str) {
    assert!(txn.update(tree, key.as_bytes(), value.as_bytes()).unwrap());
}

pub(super) fn delete(txn: &mut Txn, tree: &Tree, key: &str) {
    assert!(txn.delete(tree, key.as_bytes()).unwrap());
}

/// All records of the tree as "key=value key=value".
pub(super) fn scan(txn: &mut Txn, tree: &Tree, mode: ReadMode) -> String {
    range(txn, tree, (KeyBound::Unbounded, KeyBound::Unbounded), Direction::Forward, mode).unwrap()
}

pub(super) fn all(txn: &mut Txn, tree: &Tree) -> String {
    scan(txn, tree, ReadMode::Snapshot)
}

pub(super) fn range(
    txn: &mut Txn,
    tree: &Tree,
    (lower, upper): (KeyBound<'_>, KeyBound<'_>),
    direction: Direction,
    mode: ReadMode,
) -> crate::Result<String> {
    let mut cursor = txn.cursor(tree, lower, upper, direction, mode);
    let mut out = Vec::new();
    while let Some(record) = cursor.next(txn)? {
        out.push(format!("{}={}", text(record.key), text(record.value)));
    }
    Ok(out.join(" "))
}

/// A statement that runs on its own thread; the transaction comes back with its result.
pub(super) struct Blocked<R> {
    thread: JoinHandle<(Txn, R)>,
}

/// Runs `act` on a thread and returns once it waits for a lock.
pub(super) fn blocks<R: Send + 'static>(
    engine: &Arc<Engine>,
    mut txn: Txn,
    act: impl FnOnce(&mut Txn) -> R + Send + 'static,
) -> Blocked<R> {
    let session = txn.session_index();
    let thread = std::thread::spawn(move || {
        let result = act(&mut txn);
        (txn, result)
    });
    while !engine.lock_waits().iter().any(|wait| wait.session == session) {
        assert!(!thread.is_finished(), "the statement was expected to wait");
        std::thread::yield_now();
    }
    Blocked { thread }
}

impl<R> Blocked<R> {
    /// Waits for the statement's end.
    pub(super) fn join(self) -> (Txn, R) {
        self.thread.join().unwrap()
    }
}

/// Whether inserting the key has to wait for another transaction; nothing is left behind.
pub(super) fn insert_waits(engine: &Arc<Engine>, tree: &Tree, key: &str) -> bool {
    let mut txn = rr(engine);
    txn.set_lock_wait_timeout(Duration::ZERO);
    let result = txn.insert(tree, key.as_bytes(), b"probe");
    txn.rollback().unwrap();
    match result {
        Ok(()) => false,
        Err(StorageError::LockWaitTimeout) => true,
        Err(other) => panic!("{other}"),
    }
}

/// Whether locking the record exclusively has to wait for another transaction.
pub(super) fn record_waits(engine: &Arc<Engine>, tree: &Tree, key: &str) -> bool {
    let mut txn = session(engine, Isolation::ReadCommitted);
    let result = txn.lock_get(tree, key.as_bytes(), X_NOWAIT, |_| ());
    txn.rollback().unwrap();
    match result {
        Ok(_) => false,
        Err(StorageError::LockNotAvailable) => true,
        Err(other) => panic!("{other}"),
    }
}
