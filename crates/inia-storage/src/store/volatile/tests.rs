//! What is read again is there, and what is not takes no memory.

use super::{Kept, PIECE, VolatileDisk};
use crate::engine::{Engine, EngineOptions, EngineSizes};
use crate::request::{Direction, Isolation, KeyBound, ReadMode};
use inia_base::io::{Disk, DiskFile};
use std::sync::Arc;

#[test]
fn bytes_come_back_across_pieces() {
    let file = Kept::default();
    let at = PIECE as u64 - 3;
    file.write_at(b"abcdefgh", at).unwrap();
    assert_eq!(file.len().unwrap(), at + 8);
    let mut bytes = [1; 10];
    file.read_at(&mut bytes, at - 2).unwrap();
    assert_eq!(&bytes, b"\0\0abcdefgh");
    assert!(file.read_at(&mut bytes, at).is_err(), "behind the end");
    file.set_len(at + 1).unwrap();
    file.set_len(at + 20).unwrap();
    file.read_at(&mut bytes, at).unwrap();
    assert_eq!(&bytes, b"a\0\0\0\0\0\0\0\0\0", "what was cut off is gone");
}

#[test]
fn a_store_works_on_it_beyond_its_pool_and_its_log() {
    let disk = Arc::new(VolatileDisk::default());
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
