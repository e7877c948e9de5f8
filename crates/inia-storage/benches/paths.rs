//! Times the storage engine's basic paths on one thread: `cargo bench -p inia-storage`.
//!
//! Prints nanoseconds per operation over a table of a million rows of 200 bytes in memory; durable
//! commits go to a directory given by INIA_BENCH_DIR (default: the system's temporary directory).

use inia_base::io::{Disk, FileDisk, MemDisk};
use inia_storage::{Direction, Engine, EngineOptions, Isolation, KeyBound, ReadMode, Tree, Txn};
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

const ROWS: u32 = 1_000_000;

fn key(id: u32) -> [u8; 4] {
    id.to_be_bytes()
}

fn next(state: &mut u32) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    *state % ROWS
}

fn time(name: &str, operations: u32, mut run: impl FnMut()) {
    let started = Instant::now();
    run();
    let each = started.elapsed().as_nanos() as f64 / f64::from(operations);
    println!("{name:<40} {each:>10.1} ns/op");
}

fn load(txn: &mut Txn, tree: &Tree) {
    let row = [7u8; 200];
    txn.begin(Isolation::RepeatableRead);
    for id in 0..ROWS {
        txn.insert(tree, &key(id), &row).expect("keys are distinct");
    }
    txn.commit().expect("the log takes it");
}

fn reads(txn: &mut Txn, tree: &Tree) {
    let mut state = 1;
    time("autocommit point read", ROWS, || {
        for _ in 0..ROWS {
            txn.begin(Isolation::RepeatableRead);
            let found = txn.get(tree, &key(next(&mut state)), |value| value[0]);
            black_box(found.expect("no I/O"));
            txn.commit().expect("nothing to write");
        }
    });
    time("range of 100 rows", ROWS / 100, || {
        for _ in 0..ROWS / 100 {
            txn.begin(Isolation::RepeatableRead);
            let low = next(&mut state);
            let (low, high) = (key(low), key(low.saturating_add(99)));
            let (low, high) = (KeyBound::Included(&low), KeyBound::Included(&high));
            let mut cursor = txn.cursor(tree, low, high, Direction::Forward, ReadMode::Snapshot);
            while let Some(record) = cursor.next(txn).expect("no I/O") {
                black_box(record.value);
            }
            txn.commit().expect("nothing to write");
        }
    });
}

fn writes(txn: &mut Txn, tree: &Tree, operations: u32, name: &str) {
    let mut state = 1;
    let row = [8u8; 200];
    time(name, operations, || {
        for _ in 0..operations {
            txn.begin(Isolation::RepeatableRead);
            assert!(txn.update(tree, &key(next(&mut state)), &row).expect("no conflict"));
            txn.commit().expect("the log takes it");
        }
    });
}

fn open(disk: Arc<dyn Disk>) -> (Arc<Engine>, Txn, Tree) {
    let options = EngineOptions { buffer_pool_size: 2 << 30, background: true };
    let engine = Engine::open(disk, options).expect("an empty disk");
    let mut txn = engine.attach();
    txn.begin(Isolation::RepeatableRead);
    let tree = txn.create_tree().expect("space");
    txn.commit().expect("the log takes it");
    (engine, txn, tree)
}

fn main() {
    let (_engine, mut txn, tree) = open(Arc::new(MemDisk::new()));
    time("ascending insert, one transaction", ROWS, || load(&mut txn, &tree));
    reads(&mut txn, &tree);
    writes(&mut txn, &tree, ROWS / 4, "update in its own transaction, memory");
    let parent = std::env::var_os("INIA_BENCH_DIR").map_or(std::env::temp_dir(), PathBuf::from);
    let folder = parent.join(format!("inia-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable directory");
    let (engine, mut txn, tree) = open(Arc::new(FileDisk::open(&folder).expect("a directory")));
    time("ascending insert, one transaction, disk", ROWS, || load(&mut txn, &tree));
    writes(&mut txn, &tree, 2_000, "update in its own transaction, durable");
    drop(txn);
    engine.close().expect("a healthy disk");
    std::fs::remove_dir_all(&folder).expect("our own directory");
}
