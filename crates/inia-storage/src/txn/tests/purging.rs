//! What nobody needs goes; what somebody needs stays.

use super::*;
use crate::txn::status::STATUS_SLOTS;

#[test]
fn deleted_records_and_undo_go_when_no_snapshot_needs_them() {
    let engine = open();
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    for n in 0..3000u32 {
        txn.insert(&tree, &n.to_be_bytes(), &[1; 100]).unwrap();
    }
    txn.commit().unwrap();
    let full = engine.core.store.used_pages();
    let mut old = rr(&engine);
    let records = |txn: &mut Txn, tree: &Tree| {
        let open = KeyBound::Unbounded;
        let mut cursor = txn.cursor(tree, open, open, Direction::Forward, ReadMode::Snapshot);
        let mut count = 0;
        while cursor.next(txn).unwrap().is_some() {
            count += 1;
        }
        count
    };
    assert_eq!(records(&mut old, &tree), 3000);
    txn.begin(Isolation::RepeatableRead);
    for n in 0..3000u32 {
        assert!(txn.delete(&tree, &n.to_be_bytes()).unwrap());
    }
    txn.commit().unwrap();
    run_background(&engine);
    assert_eq!(records(&mut old, &tree), 3000, "an old snapshot keeps its versions");
    assert!(engine.stats().history_length >= 1);
    assert_eq!(
        engine.estimate_rows(&tree).unwrap().max(1000),
        engine.estimate_rows(&tree).unwrap()
    );
    old.commit().unwrap();
    run_background(&engine);
    assert_eq!(engine.stats().history_length, 0);
    assert_eq!(engine.estimate_rows(&tree).unwrap(), 0);
    assert!(engine.core.store.used_pages() < full / 2, "leaves were merged and freed");
    assert!(engine.stats().undo_bytes <= 3 << 16, "{}", engine.stats().undo_bytes);
}

#[test]
fn a_long_snapshot_reads_its_version_through_any_number_of_updates() {
    let engine = open();
    let tree = tree_with(&engine, &[("hot", "0"), ("cold", "c")]);
    let mut old = rr(&engine);
    assert_eq!(get(&mut old, &tree, "hot").unwrap(), "0");
    let mut middle = None;
    let mut txn = engine.attach();
    for n in 1..=2000 {
        txn.begin(Isolation::RepeatableRead);
        set(&mut txn, &tree, "hot", &n.to_string());
        txn.commit().unwrap();
        if n == 1000 {
            let mut snapshot = rr(&engine);
            snapshot.take_snapshot();
            middle = Some(snapshot);
        }
    }
    run_background(&engine);
    assert_eq!(get(&mut old, &tree, "hot").unwrap(), "0");
    assert_eq!(all(&mut old, &tree), "cold=c hot=0");
    assert_eq!(get(middle.as_mut().unwrap(), &tree, "hot").unwrap(), "1000");
    drop((old, middle));
    run_background(&engine);
    assert_eq!(engine.stats().history_length, 0);
    assert_eq!(get(&mut rr(&engine), &tree, "hot").unwrap(), "2000");
}

#[test]
fn a_busy_session_purges_its_own_history_without_the_background() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "0")]);
    let mut txn = engine.attach();
    for n in 0..5000 {
        txn.begin(Isolation::RepeatableRead);
        set(&mut txn, &tree, "a", &format!("{n:0>500}"));
        txn.commit().unwrap();
    }
    let stats = engine.stats();
    assert!(stats.history_length < 200 && stats.undo_bytes < 1 << 19, "{stats:?}");
}

#[test]
fn a_reader_of_a_transaction_that_rolls_back_finds_the_version_before() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "0")]);
    let mut writer = rr(&engine);
    set(&mut writer, &tree, "a", "1");
    let mut reader = rr(&engine);
    let open = KeyBound::Unbounded;
    let mut cursor = reader.cursor(&tree, open, open, Direction::Forward, ReadMode::Snapshot);
    let mut first = rr(&engine);
    assert_eq!(get(&mut first, &tree, "a").unwrap(), "0");
    writer.rollback().unwrap();
    run_background(&engine);
    let record = cursor.next(&mut reader).unwrap().unwrap();
    assert_eq!(record.value, b"0");
    assert_eq!(get(&mut first, &tree, "a").unwrap(), "0");
}

#[test]
fn purge_keeps_a_key_that_was_inserted_again() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "0")]);
    let mut txn = rr(&engine);
    delete(&mut txn, &tree, "a");
    txn.commit_deferred().unwrap();
    txn.begin(Isolation::RepeatableRead);
    put(&mut txn, &tree, "a", "1");
    txn.commit().unwrap();
    run_background(&engine);
    assert_eq!(all(&mut rr(&engine), &tree), "a=1");
}

/// The record below the gap that was locked last is purged before the scan comes to it. Nobody may
/// insert between the record passed and the one found instead.
#[test]
fn a_descending_locking_scan_covers_where_a_purged_record_was() {
    for (left, purged) in [("10 30", "20"), ("30", "10 20"), ("10 20", "30"), ("10", "20 30")] {
        let engine = open();
        let tree = tree_with(&engine, &[("10", ""), ("20", ""), ("30", "")]);
        let mut txn = rr(&engine);
        for key in purged.split(' ') {
            delete(&mut txn, &tree, key);
        }
        txn.commit_deferred().unwrap();
        let mut reader = rr(&engine);
        let open = KeyBound::Unbounded;
        let mut cursor = reader.cursor(&tree, open, open, Direction::Backward, ReadMode::Lock(S));
        let mut seen = Vec::new();
        while let Some(record) = cursor.next(&mut reader).unwrap() {
            seen.push(text(record.key));
            run_background(&engine);
        }
        assert_eq!(seen, left.split(' ').rev().collect::<Vec<_>>());
        for key in ["05", "10", "15", "20", "25", "30", "35"] {
            if !seen.iter().any(|record| record == key) {
                assert!(insert_waits(&engine, &tree, key), "{key} beside {left}");
            }
        }
    }
}

/// As above, where the scan waits for the record, and its writer deletes it.
#[test]
fn a_descending_locking_scan_covers_where_the_record_it_waited_for_was() {
    for first in [true, false] {
        let engine = open();
        let tree = tree_with(&engine, &[("10", ""), ("20", ""), ("30", "")]);
        let mut writer = rr(&engine);
        delete(&mut writer, &tree, if first { "30" } else { "20" });
        let reader = rr(&engine);
        let scanned = tree.clone();
        let open = (KeyBound::Unbounded, KeyBound::Unbounded);
        let blocked = blocks(&engine, reader, move |reader| {
            range(reader, &scanned, open, Direction::Backward, ReadMode::Lock(S)).unwrap()
        });
        writer.commit().unwrap();
        run_background(&engine);
        let (mut reader, seen) = blocked.join();
        assert_eq!(seen, if first { "20= 10=" } else { "30= 10=" });
        run_background(&engine);
        for key in ["05", "15", "25", "35"] {
            assert!(insert_waits(&engine, &tree, key), "{key}");
        }
        reader.rollback().unwrap();
    }
}

#[test]
fn a_record_that_was_deleted_again_is_not_purged_for_its_first_deletion() {
    for commits in [true, false] {
        let engine = open();
        let tree = tree_with(&engine, &[("a", "1"), ("k", "1")]);
        let mut early = rr(&engine);
        early.take_snapshot();
        let (mut first, mut second, mut third) = (rr(&engine), rr(&engine), rr(&engine));
        delete(&mut first, &tree, "k");
        first.commit().unwrap();
        put(&mut second, &tree, "k", "2");
        second.commit().unwrap();
        let mut late = rr(&engine);
        late.take_snapshot();
        delete(&mut third, &tree, "k");
        if commits {
            third.commit().unwrap();
        }
        // Now nobody needs the first deletion's history.
        early.commit().unwrap();
        run_background(&engine);
        assert_eq!(all(&mut late, &tree), "a=1 k=2");
        if !commits {
            third.rollback().unwrap();
            assert_eq!(all(&mut rr(&engine), &tree), "a=1 k=2");
        }
    }
}

#[test]
fn a_dropped_tree_stays_while_the_drop_may_be_undone_or_a_snapshot_is_older() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1")]);
    let mut dropper = rr(&engine);
    dropper.drop_tree(&tree).unwrap();
    run_background(&engine);
    dropper.rollback().unwrap();
    run_background(&engine);
    assert_eq!(all(&mut rr(&engine), &tree), "a=1");

    let mut reader = rr(&engine);
    reader.take_snapshot();
    dropper.begin(Isolation::RepeatableRead);
    dropper.drop_tree(&tree).unwrap();
    dropper.commit().unwrap();
    run_background(&engine);
    assert_eq!(all(&mut reader, &tree), "a=1");
    let used = engine.core.store.used_pages();
    reader.commit().unwrap();
    run_background(&engine);
    assert_eq!(engine.core.store.used_pages(), used - 1);
}

/// By then the status table has forgotten what became of the dropper.
#[test]
fn a_dropped_tree_stays_for_an_older_snapshot_however_many_transactions_follow() {
    let engine = open();
    let (tree, other) = (tree_with(&engine, &[("a", "1")]), tree_with(&engine, &[("b", "0")]));
    let mut old = rr(&engine);
    assert_eq!(get(&mut old, &other, "b").unwrap(), "0");
    let mut txn = rr(&engine);
    txn.drop_tree(&tree).unwrap();
    txn.commit().unwrap();
    for n in 0..2 * STATUS_SLOTS {
        txn.begin(Isolation::RepeatableRead);
        set(&mut txn, &other, "b", &n.to_string());
        txn.commit().unwrap();
        engine.background_step().unwrap();
    }
    assert_eq!(get(&mut old, &tree, "a").unwrap(), "1");
    assert_eq!(get(&mut old, &other, "b").unwrap(), "0");
    let used = engine.core.store.used_pages();
    old.commit().unwrap();
    run_background(&engine);
    assert!(engine.core.store.used_pages() < used, "the tree is freed");
}

#[test]
fn a_large_dropped_tree_is_freed_in_steps_between_which_history_goes_on() {
    let engine = open();
    let large = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    for n in 0..6000u32 {
        txn.insert(&large, &n.to_be_bytes(), &[b'x'; 2000]).unwrap();
    }
    txn.commit().unwrap();
    let other = tree_with(&engine, &[("a", "1")]);
    let full = engine.core.store.used_pages();
    txn.begin(Isolation::RepeatableRead);
    txn.drop_tree(&large).unwrap();
    txn.commit().unwrap();
    txn.begin(Isolation::RepeatableRead);
    assert!(txn.delete(&other, b"a").unwrap());
    txn.commit().unwrap();

    assert!(engine.core.purge_step().unwrap());
    assert_eq!(engine.stats().history_length, 0, "the delete does not wait for the dropped tree");
    let mut used = engine.core.store.used_pages();
    assert!(full - used < 300 && used < full, "some of it is freed");
    let mut rounds = 1;
    while engine.core.purge_step().unwrap() {
        let left = engine.core.store.used_pages();
        assert!(used - left < 300, "no step frees much more than the others");
        used = left;
        rounds += 1;
    }
    assert!(rounds > 2, "{rounds} steps");
    assert_eq!(engine.check(&[other.id()]).unwrap(), Vec::<String>::new());
}

#[test]
fn a_shutdown_between_the_steps_of_freeing_a_tree_is_taken_up_at_the_next_open() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let large = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    for n in 0..3000u32 {
        txn.insert(&large, &n.to_be_bytes(), &[b'x'; 2000]).unwrap();
    }
    txn.commit().unwrap();
    txn.begin(Isolation::RepeatableRead);
    txn.drop_tree(&large).unwrap();
    txn.commit().unwrap();
    assert!(engine.core.purge_step().unwrap());
    drop(txn);
    engine.close().unwrap();
    let before = engine.core.store.used_pages();
    drop((engine, large));

    let engine = open_on(&disk);
    assert_eq!(engine.core.store.used_pages(), before, "the rest is there yet");
    run_background(&engine);
    assert!(engine.core.store.used_pages() < before - 100);
    assert_eq!(engine.check(&[]).unwrap(), Vec::<String>::new());
}

/// Readers pass over versions without a check in leaves that nobody has changed of late. What two
/// leaves know of it, the one made of them must know, too.
#[test]
fn a_leaf_merged_of_two_shows_an_old_snapshot_no_newer_version() {
    let engine = open();
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    for n in 0..600u32 {
        txn.insert(&tree, &n.to_be_bytes(), &[b'1'; 100]).unwrap();
    }
    txn.commit().unwrap();
    txn.begin(Isolation::RepeatableRead);
    for n in (1..600u32).filter(|n| *n != 599) {
        assert!(txn.delete(&tree, &n.to_be_bytes()).unwrap());
    }
    txn.commit().unwrap();
    let mut old = rr(&engine);
    old.take_snapshot();
    txn.begin(Isolation::RepeatableRead);
    assert!(txn.update(&tree, &599u32.to_be_bytes(), b"newer").unwrap());
    txn.commit().unwrap();
    let before = engine.core.store.used_pages();
    run_background(&engine);
    assert!(engine.core.store.used_pages() < before, "leaves were merged");
    let values = |txn: &mut Txn| {
        let open = KeyBound::Unbounded;
        let mut cursor = txn.cursor(&tree, open, open, Direction::Forward, ReadMode::Snapshot);
        let mut values = Vec::new();
        while let Some(record) = cursor.next(txn).unwrap() {
            values.push(text(record.value));
        }
        values
    };
    assert_eq!(values(&mut old), ["1".repeat(100), "1".repeat(100)]);
    assert_eq!(values(&mut rr(&engine)), ["1".repeat(100), "newer".to_owned()]);
}

/// Records with overflow pages go one by one, those without all at once; among each other in one
/// leaf neither may take a neighbour for what is to go.
#[test]
fn long_and_short_records_of_one_leaf_go_and_their_neighbours_stay() {
    for pattern in [0b00001, 0b00100, 0b01010, 0b10110, 0b11011, 0b11111u32] {
        let engine = open();
        let tree = tree_with(&engine, &[]);
        let mut txn = rr(&engine);
        let long = |n: u32| pattern >> (n % 5) & 1 == 1;
        for n in 0..25u32 {
            let value = if long(n) { vec![b'l'; 9000] } else { vec![b's'; 20] };
            txn.insert(&tree, &n.to_be_bytes(), &value).unwrap();
        }
        txn.commit().unwrap();
        let before = engine.core.store.used_pages();
        let goes = |n: u32| n % 3 != 1;
        txn.begin(Isolation::RepeatableRead);
        for n in (0..25).filter(|n| goes(*n)) {
            assert!(txn.delete(&tree, &n.to_be_bytes()).unwrap());
        }
        txn.commit().unwrap();
        run_background(&engine);
        let mut txn = rr(&engine);
        for n in 0..25u32 {
            let found = txn.get(&tree, &n.to_be_bytes(), <[u8]>::len).unwrap();
            let stays = (!goes(n)).then_some(if long(n) { 9000 } else { 20 });
            assert_eq!(found, stays, "record {n} of pattern {pattern:b}");
        }
        let freed = (0..25).filter(|n| goes(*n) && long(*n)).count();
        assert_eq!(engine.core.store.used_pages() + freed as u64, before);
        assert_eq!(engine.check(&[tree.id()]).unwrap(), Vec::<String>::new());
    }
}

#[test]
fn a_record_that_a_transaction_has_deleted_twice_goes_once() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("b", "2"), ("c", "3")]);
    let mut txn = rr(&engine);
    for _ in 0..3 {
        delete(&mut txn, &tree, "b");
        put(&mut txn, &tree, "b", "again");
    }
    delete(&mut txn, &tree, "b");
    txn.commit().unwrap();
    run_background(&engine);
    assert_eq!(all(&mut rr(&engine), &tree), "a=1 c=3");
    assert_eq!(engine.estimate_rows(&tree).unwrap(), 2);
}

/// A store of `a` and `b`, a snapshot of both, and a transaction that has deleted `a` since.
struct Beside {
    engine: Arc<Engine>,
    tree: Tree,
    old: Txn,
    txn: Txn,
}

fn a_deleted_beside_a_snapshot() -> Beside {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("b", "2")]);
    let mut old = rr(&engine);
    old.take_snapshot();
    let mut txn = rr(&engine);
    delete(&mut txn, &tree, "a");
    Beside { engine, tree, old, txn }
}

/// A rollback brings back a mark that an old snapshot still sees beyond.
#[test]
fn a_mark_brought_back_by_a_rollback_stays_while_a_snapshot_needs_the_record() {
    let Beside { engine, tree, mut old, mut txn } = a_deleted_beside_a_snapshot();
    txn.commit().unwrap();
    txn.begin(Isolation::RepeatableRead);
    put(&mut txn, &tree, "a", "again");
    txn.rollback().unwrap();
    for _ in 0..5 {
        engine.background_step().unwrap();
    }
    assert_eq!(all(&mut old, &tree), "a=1 b=2");
    old.commit().unwrap();
    run_background(&engine);
    assert_eq!(engine.estimate_rows(&tree).unwrap(), 1);
}

/// Of a long history those that have removed nothing are kept as one; the others are not.
#[test]
fn a_long_history_of_single_deletions_is_purged_to_the_last() {
    let engine = open();
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    for n in 0..700u32 {
        txn.insert(&tree, &n.to_be_bytes(), b"").unwrap();
    }
    txn.commit().unwrap();
    let mut old = rr(&engine);
    old.take_snapshot();
    for n in 0..700u32 {
        txn.begin(Isolation::RepeatableRead);
        match n % 3 {
            0 => assert!(txn.update(&tree, &n.to_be_bytes(), b"x").unwrap()),
            _ => assert!(txn.delete(&tree, &n.to_be_bytes()).unwrap()),
        }
        txn.commit().unwrap();
    }
    drop(old);
    run_background(&engine);
    assert_eq!(engine.stats().history_length, 0);
    assert_eq!(engine.estimate_rows(&tree).unwrap(), 234);
}

#[test]
fn a_deleted_record_that_is_there_yet_can_be_neither_changed_nor_deleted() {
    let Beside { engine, tree, mut old, mut txn } = a_deleted_beside_a_snapshot();
    assert!(!txn.update(&tree, b"a", b"own").unwrap() && !txn.delete(&tree, b"a").unwrap());
    txn.commit().unwrap();
    txn.begin(Isolation::RepeatableRead);
    assert!(!txn.update(&tree, b"a", b"late").unwrap() && !txn.delete(&tree, b"a").unwrap());
    txn.commit().unwrap();
    assert_eq!(
        (all(&mut old, &tree), all(&mut rr(&engine), &tree)),
        ("a=1 b=2".into(), "b=2".into())
    );
}
