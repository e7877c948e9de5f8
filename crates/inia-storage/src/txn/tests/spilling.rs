//! Undo far larger than its memory: old versions, savepoints, rollback and purge work on what lies
//! in the temporary file.

use super::*;
use inia_testkit::{Fault, SimDisk, When};

const ROWS: u32 = 4000;

fn filled(engine: &Arc<Engine>) -> Tree {
    let mut txn = rr(engine);
    let tree = txn.create_tree().unwrap();
    for n in 0..ROWS {
        txn.insert(&tree, &n.to_be_bytes(), &[b'0'; 100]).unwrap();
    }
    txn.commit().unwrap();
    run_background(engine);
    tree
}

/// Sets all rows to a letter.
fn set_all(txn: &mut Txn, tree: &Tree, letter: u8) -> crate::Result<()> {
    for n in 0..ROWS {
        assert!(txn.update(tree, &n.to_be_bytes(), &[letter; 100])?);
    }
    Ok(())
}

/// The one letter that all rows have.
fn letter(txn: &mut Txn, tree: &Tree) -> u8 {
    let open = KeyBound::Unbounded;
    let mut cursor = txn.cursor(tree, open, open, Direction::Forward, ReadMode::Snapshot);
    let (mut rows, mut found) = (0, None);
    while let Some(record) = cursor.next(txn).unwrap() {
        rows += 1;
        assert!(record.value.iter().all(|&byte| byte == *found.get_or_insert(byte)));
    }
    assert_eq!(rows, ROWS);
    found.unwrap()
}

#[test]
fn snapshots_savepoints_and_rollback_read_spilled_versions() {
    let engine = open_spilling(Arc::new(MemDisk::new()), false);
    let tree = filled(&engine);
    let mut old = rr(&engine);
    old.take_snapshot();
    let mut writer = rr(&engine);
    set_all(&mut writer, &tree, b'1').unwrap();
    writer.commit().unwrap();
    let mut newer = rr(&engine);
    newer.take_snapshot();
    writer.begin(Isolation::RepeatableRead);
    set_all(&mut writer, &tree, b'2').unwrap();
    let savepoint = writer.savepoint();
    set_all(&mut writer, &tree, b'3').unwrap();
    let stats = engine.stats();
    assert!(stats.undo_bytes < 100 << 10 && stats.undo_spilled_bytes > 1 << 20, "{stats:?}");
    assert_eq!([&mut old, &mut newer, &mut writer].map(|txn| letter(txn, &tree)), *b"013");
    writer.rollback_to(savepoint).unwrap();
    assert_eq!([&mut old, &mut newer, &mut writer].map(|txn| letter(txn, &tree)), *b"012");
    writer.rollback().unwrap();
    assert_eq!([&mut old, &mut newer, &mut rr(&engine)].map(|txn| letter(txn, &tree)), *b"011");
    drop((old, newer, writer));
    run_background(&engine);
    let stats = engine.stats();
    assert_eq!((stats.history_length, stats.undo_spilled_bytes), (0, 0));
    assert_eq!(engine.check(&[tree.id()]).unwrap(), Vec::<String>::new());
}

#[test]
fn purge_finds_deletions_among_spilled_records() {
    let engine = open_spilling(Arc::new(MemDisk::new()), false);
    let tree = filled(&engine);
    let mut old = rr(&engine);
    old.take_snapshot();
    let mut writer = rr(&engine);
    for n in 0..ROWS {
        assert!(writer.delete(&tree, &n.to_be_bytes()).unwrap());
    }
    writer.commit().unwrap();
    assert!(engine.stats().undo_spilled_bytes > 0);
    assert_eq!(letter(&mut old, &tree), b'0');
    drop(old);
    run_background(&engine);
    assert_eq!(engine.estimate_rows(&tree).unwrap(), 0);
    assert_eq!(engine.stats().undo_spilled_bytes, 0);
}

#[test]
fn a_disk_that_fills_up_while_undo_is_spilled_fails_the_statement_only() {
    for change in [1, 2, 5, 40] {
        let disk = SimDisk::new();
        let engine = open_spilling(Arc::new(disk.clone()), false);
        let tree = filled(&engine);
        let mut writer = rr(&engine);
        writer.update(&tree, &0u32.to_be_bytes(), &[b'1'; 100]).unwrap();
        let savepoint = writer.savepoint();
        disk.inject(When::Change(change), Fault::NoSpace);
        let result = set_all(&mut writer, &tree, b'2');
        assert!(matches!(result, Err(StorageError::DiskFull)), "{result:?}");
        writer.rollback_to(savepoint).unwrap();
        set_all(&mut writer, &tree, b'2').unwrap();
        writer.commit().unwrap();
        assert_eq!(letter(&mut rr(&engine), &tree), b'2');
        run_background(&engine);
        assert_eq!(engine.check(&[tree.id()]).unwrap(), Vec::<String>::new());
    }
}
