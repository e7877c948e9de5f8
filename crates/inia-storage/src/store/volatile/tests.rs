//! What is read again is there, and what is not takes no memory.

use super::volatile_disk;
use crate::engine::{Engine, EngineOptions};
use crate::request::{Direction, Isolation, KeyBound, ReadMode};
use crate::store::EngineSizes;
use inia_base::io::Disk;
use std::sync::Arc;

#[test]
fn a_store_works_on_it_beyond_its_pool_and_its_log() {
    let disk = Arc::new(volatile_disk());
    let sizes = EngineSizes { log_capacity: 4 << 20, segment_size: 1 << 20, undo_memory: 1 << 20 };
    let options = EngineOptions { buffer_pool_size: 2 << 20, background: false };
    let engine = Engine::open_sized(disk.clone(), options, sizes).unwrap();
    let mut txn = engine.attach();
    txn.begin(Isolation::RepeatableRead);
    let tree = txn.create_tree().unwrap();
    for number in 0..20_000u32 {
        txn.insert(&tree, &number.to_be_bytes(), &[7; 500]).unwrap();
    }
    txn.commit().unwrap();
    txn.begin(Isolation::RepeatableRead);
    let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
    let mut cursor = txn.cursor(&tree, low, high, Direction::Forward, ReadMode::Snapshot);
    let mut rows = 0;
    while let Some(record) = cursor.next(&mut txn).unwrap() {
        assert_eq!(record.value, [7; 500]);
        rows += 1;
    }
    assert_eq!(rows, 20_000);
    drop(cursor);
    txn.commit().unwrap();
    assert_eq!(engine.check(&[tree.id()]).unwrap(), Vec::<String>::new());
    // 10 MB of rows went through the log, which has no bytes to show for it.
    for name in disk.list().unwrap().iter().filter(|name| !super::is_read(name)) {
        let file = disk.open(name, false).unwrap();
        let mut bytes = vec![1; file.len().unwrap() as usize];
        file.read_at(&mut bytes, 0).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 0), "{name}");
    }
}
