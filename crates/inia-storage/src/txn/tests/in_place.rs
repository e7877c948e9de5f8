//! Changes of records that were read without a lock, and inserts of many records.

use super::*;
use crate::lock::{Grant, RecordRequest};

fn peek(txn: &mut Txn, tree: &Tree, key: &str) -> Option<(RecordLocator, String)> {
    let mut value = String::new();
    let locator = txn.peek(tree, key.as_bytes(), |bytes| value = text(bytes)).unwrap()?;
    Some((locator, value))
}

fn write(
    txn: &mut Txn,
    tree: &Tree,
    key: &str,
    locator: &mut RecordLocator,
    value: Option<&str>,
) -> bool {
    txn.write_at(tree, key.as_bytes(), locator, value.map(str::as_bytes)).unwrap()
}

#[test]
fn a_change_by_a_locator_locks_its_record() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("b", "2"), ("c", "3")]);
    let mut txn = rr(&engine);
    let (mut locator, value) = peek(&mut txn, &tree, "b").unwrap();
    assert_eq!(value, "2");
    assert!(!record_waits(&engine, &tree, "b"));
    assert!(write(&mut txn, &tree, "b", &mut locator, Some("changed")));
    assert!(record_waits(&engine, &tree, "b"));
    let (mut locator, _) = peek(&mut txn, &tree, "c").unwrap();
    assert!(write(&mut txn, &tree, "c", &mut locator, None));
    assert_eq!(all(&mut txn, &tree), "a=1 b=changed");
    txn.rollback().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree), "a=1 b=2 c=3");
}

#[test]
fn a_record_that_changed_since_is_not_written() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("b", "2")]);
    let (mut first, mut second) = (rr(&engine), rr(&engine));
    let (mut locator, _) = peek(&mut first, &tree, "a").unwrap();
    set(&mut second, &tree, "a", "3");
    assert!(!write(&mut first, &tree, "a", &mut locator, Some("lost")));
    assert!(peek(&mut first, &tree, "a").is_none(), "its writer still runs");
    second.commit().unwrap();
    assert!(!write(&mut first, &tree, "a", &mut locator, Some("lost")));
    let (mut locator, value) = peek(&mut first, &tree, "a").unwrap();
    assert_eq!(value, "3");
    assert!(write(&mut first, &tree, "a", &mut locator, Some("4")));
    first.commit().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree), "a=4 b=2");
}

#[test]
fn a_change_of_the_neighbour_does_not_hinder() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("b", "2")]);
    let mut txn = rr(&engine);
    let (mut locator, _) = peek(&mut txn, &tree, "b").unwrap();
    let mut other = rr(&engine);
    set(&mut other, &tree, "a", "0");
    put(&mut other, &tree, "aa", "new");
    other.commit().unwrap();
    assert!(write(&mut txn, &tree, "b", &mut locator, Some("changed")));
    txn.commit().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree), "a=0 aa=new b=changed");
}

#[test]
fn a_lock_taken_meanwhile_hinders() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1")]);
    let mut txn = rr(&engine);
    let (mut locator, _) = peek(&mut txn, &tree, "a").unwrap();
    let mut other = rr(&engine);
    lock_get(&mut other, &tree, "a", S);
    assert!(!write(&mut txn, &tree, "a", &mut locator, Some("lost")));
    assert!(peek(&mut txn, &tree, "a").is_none());
    other.rollback().unwrap();
    assert!(write(&mut txn, &tree, "a", &mut locator, Some("2")));
}

#[test]
fn the_lock_outlives_the_rollback_to_a_savepoint() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1")]);
    let mut txn = rr(&engine);
    let savepoint = txn.savepoint();
    let (mut locator, _) = peek(&mut txn, &tree, "a").unwrap();
    assert!(write(&mut txn, &tree, "a", &mut locator, None));
    txn.rollback_to(savepoint).unwrap();
    assert_eq!(all(&mut txn, &tree), "a=1");
    assert!(record_waits(&engine, &tree, "a"));
    txn.rollback().unwrap();
    assert!(!record_waits(&engine, &tree, "a"));
}

/// A transaction locks a key before it finds out who wrote the record.
#[test]
fn the_lock_outlives_the_rollback_to_a_savepoint_beside_another_request() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1")]);
    let (mut writer, other) = (rr(&engine), rr(&engine));
    let savepoint = writer.savepoint();
    set(&mut writer, &tree, "a", "2");
    let request = RecordRequest { tree: tree.id(), key: b"a", mode: LockMode::Exclusive };
    assert_eq!(engine.core.locks.try_record(&other.owner, request), Grant::New);
    writer.rollback_to(savepoint).unwrap();
    engine.core.locks.unlock(&other.owner, request);
    assert!(record_waits(&engine, &tree, "a"), "the writer still has its lock");
    writer.rollback().unwrap();
    assert!(!record_waits(&engine, &tree, "a"));
}

/// A scan that changes every third record, deletes every third, and leaves the others.
fn change_by_scan(isolation: Isolation, direction: Direction) {
    let engine = open();
    let mut txn = rr(&engine);
    let tree = txn.create_tree().unwrap();
    let key = |i: usize| format!("key {i:05}");
    for i in 0..2000 {
        put(&mut txn, &tree, &key(i), &format!("{i}"));
    }
    txn.commit().unwrap();
    let mut txn = session(&engine, isolation);
    let unbounded = (KeyBound::Unbounded, KeyBound::Unbounded);
    let mut cursor = txn.locking_cursor(&tree, unbounded.0, unbounded.1, direction, X);
    cursor.defer_locks();
    let mut i = 0;
    while let Some(record) = cursor.next(&mut txn).unwrap() {
        let long = format!("{} {}", text(record.value), "x".repeat(50));
        let done = match i % 3 {
            0 => txn.write_current(&mut cursor, Some(long.as_bytes())).unwrap(),
            1 => txn.write_current(&mut cursor, None).unwrap(),
            _ => txn.lock_current(&mut cursor).unwrap(),
        };
        assert!(done, "{i}");
        i += 1;
    }
    drop(cursor);
    assert_eq!(i, 2000);
    let number = |i: usize| if direction == Direction::Forward { i } else { 1999 - i };
    for i in [0, 1, 2, 997, 998, 999] {
        assert!(record_waits(&engine, &tree, &key(number(i))), "{i}");
    }
    assert_eq!(insert_waits(&engine, &tree, "key 00500+"), isolation != Isolation::ReadCommitted);
    txn.commit().unwrap();
    let mut expected = Vec::new();
    for at in 0..2000 {
        match number(at) % 3 {
            0 => expected.push(format!("{}={at} {}", key(at), "x".repeat(50))),
            1 => {}
            _ => expected.push(format!("{}={at}", key(at))),
        }
    }
    assert!(all(&mut rr(&engine), &tree) == expected.join(" "));
}

#[test]
fn a_scan_changes_what_it_stands_on() {
    for isolation in [Isolation::RepeatableRead, Isolation::ReadCommitted] {
        for direction in [Direction::Forward, Direction::Backward] {
            change_by_scan(isolation, direction);
        }
    }
}

#[test]
fn a_scan_waits_for_a_record_that_is_locked() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("b", "2"), ("c", "3")]);
    let mut other = rr(&engine);
    set(&mut other, &tree, "b", "other");
    let txn = rr(&engine);
    let again = tree.clone();
    let waiting = blocks(&engine, txn, move |txn| {
        let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
        let mut cursor = txn.locking_cursor(&again, low, high, Direction::Forward, X);
        cursor.defer_locks();
        while let Some(record) = cursor.next(txn).unwrap() {
            let value = format!("{}!", text(record.value));
            assert!(txn.write_current(&mut cursor, Some(value.as_bytes())).unwrap());
        }
    });
    other.commit().unwrap();
    let (mut txn, ()) = waiting.join();
    txn.commit().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree), "a=1! b=other! c=3!");
}

/// Inserts all records, those that something is in the way of one by one; which were duplicates.
fn insert_all(txn: &mut Txn, tree: &Tree, records: &Records) -> Vec<usize> {
    let (mut next, mut duplicates) = (0, Vec::new());
    loop {
        next = txn.insert_batch(tree, records, next..records.len()).unwrap();
        if next == records.len() {
            return duplicates;
        }
        match txn.insert(tree, records.key(next), records.value(next)) {
            Ok(()) => {}
            Err(StorageError::DuplicateKey) => duplicates.push(next),
            Err(other) => panic!("{other}"),
        }
        next += 1;
    }
}

#[test]
fn many_records_go_in_at_once() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = tree_with(&engine, &[("key 00700", "there"), ("key 01900", "there")]);
    let mut records = Records::default();
    for i in 0..2000 {
        let i = if i < 1000 { i } else { (i - 1000) * 7 % 1000 + 1000 };
        let length = if i == 300 || i == 1300 { 9000 } else { i % 90 };
        records.push(format!("key {i:05}").as_bytes(), "v".repeat(length).as_bytes());
    }
    let mut txn = rr(&engine);
    let savepoint = txn.savepoint();
    assert_eq!(insert_all(&mut txn, &tree, &records).len(), 2);
    txn.rollback_to(savepoint).unwrap();
    assert_eq!(all(&mut txn, &tree), "key 00700=there key 01900=there");
    assert_eq!(insert_all(&mut txn, &tree, &records).len(), 2);
    let inside = all(&mut txn, &tree);
    assert_eq!(inside.split(' ').filter(|part| part.contains('=')).count(), 2000);
    txn.commit().unwrap();
    let id = tree.id();
    drop((txn, tree, engine));
    let engine = open_on(&disk.clone());
    let tree = engine.tree(id);
    assert!(all(&mut rr(&engine), &tree) == inside, "recovered from the log");
}

#[test]
fn records_that_wait_in_their_order() {
    let mut records = Records::default();
    assert!(records.is_empty());
    for key in ["b", "c", "a"] {
        records.push(key.as_bytes(), key.repeat(3).as_bytes());
    }
    records.sort();
    let keys: Vec<&[u8]> = (0..3).map(|i| records.key(i)).collect();
    assert_eq!(keys, [b"a", b"b", b"c"]);
    assert_eq!((records.value(1), records.len(), records.size()), (&b"bbb"[..], 3, 12));
    records.clear();
    assert!(records.is_empty());
}

#[test]
fn many_records_are_sorted_by_their_whole_keys() {
    for count in [3u64, 255, 256, 5000] {
        let mut records = Records::default();
        let mut keys = Vec::new();
        for i in 0..count {
            let scattered = i.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
            keys.push(match i % 4 {
                // Many share what comes first, some end there, others are nearly empty.
                0 => [&b"shared by many: "[..], &scattered[..3]].concat(),
                1 => [&b"shared "[..], &scattered[..2]].concat(),
                2 => scattered[..(i / 4 % 9) as usize].to_vec(),
                _ => b"shared b"[..(i % 9) as usize].to_vec(),
            });
        }
        keys.iter().for_each(|key| records.push(key, b""));
        keys.sort();
        records.sort();
        assert!((0..keys.len()).all(|i| records.key(i) == keys[i]), "{count}");
    }
}

#[test]
fn an_insert_of_many_stops_at_a_gap_lock() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("m", "2")]);
    let mut other = rr(&engine);
    lock_get(&mut other, &tree, "p", X);
    let mut records = Records::default();
    for key in ["b", "c", "n", "o"] {
        records.push(key.as_bytes(), b"");
    }
    let mut txn = rr(&engine);
    assert_eq!(txn.insert_batch(&tree, &records, 0..4).unwrap(), 2);
    other.rollback().unwrap();
    assert_eq!(txn.insert_batch(&tree, &records, 2..4).unwrap(), 4);
    assert_eq!(all(&mut txn, &tree), "a=1 b= c= m=2 n= o=");
}

/// A cursor at READ COMMITTED that has deferred the lock of the record "b".
fn deferring(engine: &Arc<Engine>, tree: &Tree) -> (Txn, LockingCursor) {
    let mut txn = session(engine, Isolation::ReadCommitted);
    txn.begin_statement();
    let bounds = (KeyBound::Included(&b"b"[..]), KeyBound::Included(&b"b"[..]));
    let mut cursor = txn.locking_cursor(tree, bounds.0, bounds.1, Direction::Forward, X);
    cursor.defer_locks();
    assert!(cursor.advance(&mut txn).unwrap());
    (txn, cursor)
}

#[test]
fn a_lock_that_was_waited_for_stays_until_the_end() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("b", "2")]);
    for changes in [false, true] {
        let (txn, mut cursor) = deferring(&engine, &tree);
        let mut other = rr(&engine);
        lock_get(&mut other, &tree, "b", X);
        let locking = blocks(&engine, txn, move |txn| {
            let as_read = txn.lock_current(&mut cursor);
            (cursor, as_read)
        });
        if changes {
            set(&mut other, &tree, "b", "3");
        }
        other.commit().unwrap();
        let (mut txn, (mut cursor, as_read)) = locking.join();
        assert_eq!(as_read.unwrap(), !changes, "the record is what it was, unless it was changed");
        assert!(record_waits(&engine, &tree, "b"));
        // The row does not match: at this level only a lock that was to be had at once is released.
        cursor.unlock_current(&mut txn);
        assert!(record_waits(&engine, &tree, "b"));
        txn.rollback().unwrap();
    }
}

/// What deleted records had is logged with those that come in their place, and their pages are
/// latched: a few of them are more than this pool has frames.
#[test]
fn inserts_over_long_deleted_records_do_not_share_a_group() {
    let options = StoreOptions::new(32 * 16 * 1024, false);
    let engine = Engine::open_with(Arc::new(MemDisk::new()), options).unwrap();
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    for n in 0..20u32 {
        txn.insert(&tree, &n.to_be_bytes(), &[1; 40_000]).unwrap();
    }
    txn.commit().unwrap();
    let mut early = rr(&engine);
    early.take_snapshot();
    txn.begin(Isolation::RepeatableRead);
    for n in 0..20u32 {
        assert!(txn.delete(&tree, &n.to_be_bytes()).unwrap());
    }
    txn.commit().unwrap();
    txn.begin(Isolation::RepeatableRead);
    let mut records = Records::default();
    (0..20u32).for_each(|n| records.push(&n.to_be_bytes(), b"short"));
    assert_eq!(txn.insert_batch(&tree, &records, 0..20).unwrap(), 20);
    txn.commit().unwrap();
    assert_eq!(engine.check(&[tree.id()]).unwrap(), Vec::<String>::new());
}

/// Records `0..count` with values of changing lengths, as they are read for a later change.
fn peek_all(txn: &mut Txn, tree: &Tree, count: u32, value: impl Fn(u32) -> Vec<u8>) -> Records {
    let mut records = Records::default();
    for n in 0..count {
        let key = n.to_be_bytes();
        let locator = txn.peek(tree, &key, |_| ()).unwrap().unwrap();
        records.push_seen(&key, &value(n), &locator);
    }
    records
}

#[test]
fn many_records_change_as_one_after_the_other_would() {
    const COUNT: u32 = 3000;
    let value = |n: u32, round: u8| vec![round; (n as usize * 37 + usize::from(round)) % 300];
    let engine = open();
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    for n in 0..COUNT {
        txn.insert(&tree, &n.to_be_bytes(), &value(n, 1)).unwrap();
    }
    txn.commit().unwrap();
    let mut old = rr(&engine);
    let shown = |txn: &mut Txn, n: u32| txn.get(&tree, &n.to_be_bytes(), <[u8]>::to_vec).unwrap();
    assert_eq!(shown(&mut old, 7), Some(value(7, 1)));
    txn.begin(Isolation::RepeatableRead);
    let longer = peek_all(&mut txn, &tree, COUNT, |n| value(n, 90));
    assert_eq!(txn.update_batch(&tree, &longer, 0..longer.len()).unwrap(), longer.len());
    let start = txn.savepoint();
    let gone = peek_all(&mut txn, &tree, COUNT, |_| Vec::new());
    assert_eq!(txn.delete_batch(&tree, &gone, 10..2000).unwrap(), 2000);
    for n in 0..COUNT {
        let expected = Some(value(n, 90)).filter(|_| !(10..2000).contains(&n));
        assert_eq!(shown(&mut txn, n), expected, "{n}");
        assert_eq!(shown(&mut old, n), Some(value(n, 1)), "{n}, as it was");
    }
    txn.rollback_to(start).unwrap();
    assert!((0..COUNT).all(|n| shown(&mut txn, n) == Some(value(n, 90))));
    txn.rollback().unwrap();
    assert!((0..COUNT).all(|n| shown(&mut rr(&engine), n) == Some(value(n, 1))));
}

#[test]
fn one_of_many_that_changed_since_is_reported() {
    let engine = open();
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    for n in 0..10u32 {
        txn.insert(&tree, &n.to_be_bytes(), b"old").unwrap();
    }
    txn.commit().unwrap();
    txn.begin(Isolation::RepeatableRead);
    let records = peek_all(&mut txn, &tree, 10, |_| b"new".to_vec());
    let mut other = rr(&engine);
    assert!(other.update(&tree, &4u32.to_be_bytes(), b"other").unwrap());
    other.commit().unwrap();
    assert_eq!(txn.update_batch(&tree, &records, 0..10).unwrap(), 4);
    assert_eq!(txn.update_batch(&tree, &records, 5..10).unwrap(), 10);
    txn.commit().unwrap();
    let mut reader = rr(&engine);
    let values: Vec<String> =
        (0..10u32).map(|n| reader.get(&tree, &n.to_be_bytes(), text).unwrap().unwrap()).collect();
    assert_eq!(values.join(" "), "new new new new other new new new new new");
}

#[test]
fn a_scan_with_shared_locks_hinders_writers_and_no_readers() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]);
    let mut txn = rr(&engine);
    assert_eq!(scan(&mut txn, &tree, ReadMode::Lock(S)), "a=1 b=2 c=3 d=4");
    let mut other = rr(&engine);
    assert_eq!(lock_get(&mut other, &tree, "b", S).unwrap(), "2");
    assert!(record_waits(&engine, &tree, "b") && record_waits(&engine, &tree, "d"));
    assert!(insert_waits(&engine, &tree, "bb") && insert_waits(&engine, &tree, "e"));
    assert!(peek(&mut other, &tree, "c").is_none());
    other.rollback().unwrap();
    set(&mut txn, &tree, "c", "own");
    txn.commit().unwrap();
    assert!(!record_waits(&engine, &tree, "b"));
    assert_eq!(all(&mut rr(&engine), &tree), "a=1 b=2 c=own d=4");
}

#[test]
fn a_record_that_this_transaction_has_changed_since_is_not_written() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1")]);
    let mut txn = rr(&engine);
    set(&mut txn, &tree, "a", "2");
    let mut locator = txn.peek(&tree, b"a", |value| assert_eq!(value, b"2")).unwrap().unwrap();
    set(&mut txn, &tree, "a", "3");
    assert!(!txn.write_at(&tree, b"a", &mut locator, Some(b"4")).unwrap());
    assert_eq!(get(&mut txn, &tree, "a").unwrap(), "3");
}
