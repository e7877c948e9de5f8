//! One session: what is written is read, rolled back, kept.

use super::*;

#[test]
fn a_transaction_reads_its_own_changes() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("b", "2")]);
    let mut txn = rr(&engine);
    put(&mut txn, &tree, "c", "3");
    set(&mut txn, &tree, "a", "one");
    delete(&mut txn, &tree, "b");
    assert_eq!(all(&mut txn, &tree), "a=one c=3");
    assert_eq!(get(&mut txn, &tree, "b"), None);
    put(&mut txn, &tree, "b", "again");
    assert_eq!(all(&mut txn, &tree), "a=one b=again c=3");
    assert!(matches!(txn.insert(&tree, b"b", b""), Err(StorageError::DuplicateKey)));
    assert!(!txn.update(&tree, b"zz", b"").unwrap());
    assert!(!txn.delete(&tree, b"zz").unwrap());
    txn.commit().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree), "a=one b=again c=3");
}

#[test]
fn rollback_brings_everything_back() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("b", "2")]);
    let mut txn = rr(&engine);
    set(&mut txn, &tree, "a", "longer than before");
    set(&mut txn, &tree, "a", "x");
    delete(&mut txn, &tree, "a");
    put(&mut txn, &tree, "a", "new");
    delete(&mut txn, &tree, "b");
    put(&mut txn, &tree, "c", "3");
    delete(&mut txn, &tree, "c");
    txn.rollback().unwrap();
    txn.begin(Isolation::RepeatableRead);
    assert_eq!(all(&mut txn, &tree), "a=1 b=2");
    assert!(!txn.has_written());
}

#[test]
fn rollback_to_a_savepoint_undoes_what_came_after_it() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1")]);
    let mut txn = rr(&engine);
    set(&mut txn, &tree, "a", "2");
    let first = txn.savepoint();
    put(&mut txn, &tree, "b", "1");
    set(&mut txn, &tree, "a", "3");
    let second = txn.savepoint();
    delete(&mut txn, &tree, "a");
    txn.rollback_to(second).unwrap();
    assert_eq!(all(&mut txn, &tree), "a=3 b=1");
    txn.rollback_to(first).unwrap();
    assert_eq!(all(&mut txn, &tree), "a=2");
    put(&mut txn, &tree, "c", "4");
    txn.commit().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree), "a=2 c=4");
}

#[test]
fn many_records_in_many_leaves_are_scanned_both_ways() {
    let engine = open();
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    let key = |n: u32| format!("{n:06}");
    for n in (0..3000).rev() {
        txn.insert(&tree, key(n * 2).as_bytes(), &[7; 100]).unwrap();
    }
    txn.commit().unwrap();
    for mode in [ReadMode::Snapshot, ReadMode::Lock(X)] {
        for direction in [Direction::Forward, Direction::Backward] {
            let mut txn = rr(&engine);
            let (low, high) = (key(101), key(5001));
            let bounds = (KeyBound::Included(low.as_bytes()), KeyBound::Excluded(high.as_bytes()));
            let mut cursor = txn.cursor(&tree, bounds.0, bounds.1, direction, mode);
            let mut seen = Vec::new();
            while let Some(record) = cursor.next(&mut txn).unwrap() {
                assert_eq!(record.value, [7; 100]);
                seen.push(text(record.key));
            }
            if direction == Direction::Backward {
                seen.reverse();
            }
            let expected: Vec<String> = (51..=2500).map(|n| key(n * 2)).collect();
            assert_eq!(seen, expected, "{mode:?} {direction:?}");
            assert!(cursor.next(&mut txn).unwrap().is_none());
        }
    }
}

#[test]
fn range_ends_count_as_they_say() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", ""), ("b", ""), ("c", ""), ("d", "")]);
    let mut txn = rr(&engine);
    use KeyBound::{Excluded, Included, Unbounded};
    for mode in [ReadMode::Snapshot, ReadMode::Lock(S)] {
        for (bounds, expected) in [
            ((Included(&b"b"[..]), Included(&b"c"[..])), "b= c="),
            ((Excluded(b"b"), Included(b"c")), "c="),
            ((Included(b"b"), Excluded(b"c")), "b="),
            ((Excluded(b"b"), Excluded(b"c")), ""),
            ((Unbounded, Excluded(b"bb")), "a= b="),
            ((Excluded(b"bb"), Unbounded), "c= d="),
            ((Included(b"x"), Unbounded), ""),
            ((Unbounded, Included(b"A")), ""),
        ] {
            let forward = range(&mut txn, &tree, bounds, Direction::Forward, mode).unwrap();
            assert_eq!(forward, expected);
            let backward = range(&mut txn, &tree, bounds, Direction::Backward, mode).unwrap();
            let reversed: Vec<&str> = expected.split(' ').rev().collect();
            assert_eq!(backward, reversed.join(" "));
        }
    }
}

#[test]
fn large_values_have_versions_too() {
    let engine = open();
    let big = |c: char| c.to_string().repeat(50_000);
    let tree = tree_with(&engine, &[("a", &big('1')), ("b", "small")]);
    let mut reader = rr(&engine);
    assert_eq!(get(&mut reader, &tree, "a"), Some(big('1')));
    let mut writer = rr(&engine);
    set(&mut writer, &tree, "a", "tiny");
    set(&mut writer, &tree, "b", &big('2'));
    assert_eq!(all(&mut reader, &tree), format!("a={} b=small", big('1')));
    assert_eq!(all(&mut writer, &tree), format!("a=tiny b={}", big('2')));
    writer.rollback().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree), format!("a={} b=small", big('1')));
    assert_eq!(scan(&mut reader, &tree, ReadMode::Lock(S)), format!("a={} b=small", big('1')));
}

#[test]
fn a_cursor_stays_valid_while_its_transaction_writes() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("c", "1"), ("e", "1")]);
    for mode in [ReadMode::Snapshot, ReadMode::Lock(X)] {
        let mut txn = rr(&engine);
        let unbounded = KeyBound::Unbounded;
        let mut cursor = txn.cursor(&tree, unbounded, unbounded, Direction::Forward, mode);
        let mut seen = String::new();
        while let Some(record) = cursor.next(&mut txn).unwrap() {
            let key = record.key.to_vec();
            seen.push_str(&text(&key));
            txn.update(&tree, &key, b"a much longer value than before").unwrap();
            txn.delete(&tree, &key).unwrap();
        }
        assert_eq!(seen, "ace");
        txn.rollback().unwrap();
    }
}

#[test]
fn a_dropped_handle_rolls_back_and_its_session_is_used_again() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1")]);
    let mut txn = rr(&engine);
    let index = txn.session_index();
    set(&mut txn, &tree, "a", "2");
    drop(txn);
    let mut next = rr(&engine);
    assert_eq!(next.session_index(), index);
    assert_eq!(all(&mut next, &tree), "a=1");
    assert!(engine.active_transactions().is_empty());
}

#[test]
fn a_created_tree_goes_with_a_rollback_and_a_dropped_one_stays_until_commit() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1")]);
    let mut txn = rr(&engine);
    let other = txn.create_tree().unwrap();
    let mut load = txn.bulk_load(&other).unwrap();
    (0..5000u32).for_each(|n| load.push(&n.to_be_bytes(), &[1; 50]).unwrap());
    assert_eq!(load.finish().unwrap(), 5000);
    txn.drop_tree(&tree).unwrap();
    let used = engine.core.store.used_pages();
    txn.rollback().unwrap();
    run_background(&engine);
    assert!(engine.core.store.used_pages() < used - 10);
    assert_eq!(all(&mut rr(&engine), &tree), "a=1");

    let before = engine.core.store.used_pages();
    txn.begin(Isolation::RepeatableRead);
    txn.drop_tree(&tree).unwrap();
    txn.commit().unwrap();
    run_background(&engine);
    assert_eq!(engine.core.store.used_pages(), before - 1);
}

#[test]
fn bulk_loaded_records_appear_with_the_commit() {
    let engine = open();
    let mut txn = rr(&engine);
    let tree = txn.create_tree().unwrap();
    let mut load = txn.bulk_load(&tree).unwrap();
    load.push(b"a", b"1").unwrap();
    load.push(b"b", b"2").unwrap();
    load.finish().unwrap();
    assert_eq!(all(&mut txn, &tree), "a=1 b=2");
    let mut early = rr(&engine);
    early.take_snapshot();
    txn.commit().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree), "a=1 b=2");
    let too_old = early.get(&tree, b"a", text);
    assert!(matches!(too_old, Err(StorageError::SnapshotTooOld)), "{too_old:?}");
    let locked = early.lock_get(&tree, b"a", S, text);
    assert!(matches!(locked, Err(StorageError::SnapshotTooOld)), "{locked:?}");
    tree.show_newest();
    assert_eq!(all(&mut early, &tree), "a=1 b=2");
}

#[test]
fn a_deferred_commit_is_seen_by_its_own_session_at_once() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1")]);
    let mut txn = rr(&engine);
    set(&mut txn, &tree, "a", "2");
    let end = txn.commit_deferred().unwrap();
    assert_eq!(get(&mut rr(&engine), &tree, "a"), Some("1".into()), "not durable, not shown");
    txn.begin(Isolation::RepeatableRead);
    assert_eq!(get(&mut txn, &tree, "a"), Some("2".into()));
    engine.wait_durable(end).unwrap();
    assert_eq!(get(&mut rr(&engine), &tree, "a"), Some("2".into()));
}

#[test]
fn a_wait_for_a_writer_that_ends_in_a_timeout_leaves_no_lock() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1")]);
    for isolation in [Isolation::RepeatableRead, Isolation::ReadCommitted] {
        let (mut writer, mut waiter) = (rr(&engine), session(&engine, isolation));
        set(&mut writer, &tree, "a", "2");
        waiter.set_lock_wait_timeout(Duration::ZERO);
        let waited = waiter.lock_get(&tree, b"a", X, |_| ());
        assert!(matches!(waited, Err(StorageError::LockWaitTimeout)), "{waited:?}");
        writer.commit().unwrap();
        assert!(!record_waits(&engine, &tree, "a"), "{isolation:?}");
        waiter.rollback().unwrap();
    }
}

#[test]
fn a_session_writes_for_nobody_once_its_transaction_is_over() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1")]);
    let in_vain: fn(&mut Txn, &Tree) = |txn, tree| {
        assert!(matches!(txn.insert(tree, b"a", b""), Err(StorageError::DuplicateKey)));
    };
    let for_good: fn(&mut Txn, &Tree) = |txn, tree| set(txn, tree, "a", "2");
    let ends: [fn(&mut Txn); 2] = [|txn| txn.commit().unwrap(), |txn| txn.rollback().unwrap()];
    for change in [in_vain, for_good] {
        for end in ends {
            let mut txn = rr(&engine);
            change(&mut txn, &tree);
            let id = txn.trx_id().expect("a write was tried");
            assert!(txn.session.while_writing(id, || ()).is_some());
            end(&mut txn);
            assert!(txn.session.while_writing(id, || ()).is_none(), "{id:?} is over");
        }
    }
}
