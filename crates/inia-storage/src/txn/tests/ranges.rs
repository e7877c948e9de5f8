//! What a locking read locks: for each, who has to wait afterwards, as MySQL 8.0.31 was seen to do.
//!
//! The table has 10, 20, 30 and 40. Probes: locking each record, and inserting 05, 15, 25, 35, 45.

use super::*;
use crate::btree::Seek;
use crate::txn::gap_neighbours::GapNeighbours;
use Direction::{Backward, Forward};
use KeyBound::{Excluded, Included, Unbounded};

const RECORDS: [&str; 4] = ["10", "20", "30", "40"];
const GAPS: [&str; 5] = ["05", "15", "25", "35", "45"];

/// The records and gaps that others wait for, in key order.
fn locked(engine: &Arc<Engine>, tree: &Tree) -> String {
    let mut out = Vec::new();
    for (i, gap) in GAPS.iter().enumerate() {
        if insert_waits(engine, tree, gap) {
            out.push(*gap);
        }
        if let Some(record) = RECORDS.get(i)
            && record_waits(engine, tree, record)
        {
            out.push(record);
        }
    }
    out.join(" ")
}

fn table(engine: &Arc<Engine>) -> Tree {
    tree_with(engine, &RECORDS.map(|key| (key, "")))
}

type Case<'a> = (Direction, KeyBound<'a>, KeyBound<'a>, &'a str);

fn check(isolation: Isolation, cases: &[Case<'_>]) {
    let engine = open();
    let tree = table(&engine);
    for &(direction, lower, upper, expected) in cases {
        let mut txn = session(&engine, isolation);
        range(&mut txn, &tree, (lower, upper), direction, ReadMode::Lock(X)).unwrap();
        assert_eq!(locked(&engine, &tree), expected, "{direction:?} {lower:?} {upper:?}");
        txn.rollback().unwrap();
        assert_eq!(locked(&engine, &tree), "");
    }
}

#[test]
fn ascending_scans_at_repeatable_read() {
    check(
        Isolation::RepeatableRead,
        &[
            (Forward, Unbounded, Unbounded, "05 10 15 20 25 30 35 40 45"),
            (Forward, Included(b"20"), Unbounded, "20 25 30 35 40 45"),
            (Forward, Excluded(b"20"), Unbounded, "25 30 35 40 45"),
            (Forward, Included(b"15"), Unbounded, "15 20 25 30 35 40 45"),
            (Forward, Unbounded, Included(b"20"), "05 10 15 20"),
            (Forward, Unbounded, Excluded(b"20"), "05 10 15"),
            (Forward, Unbounded, Included(b"25"), "05 10 15 20 25"),
            (Forward, Unbounded, Excluded(b"25"), "05 10 15 20 25"),
            (Forward, Included(b"20"), Included(b"30"), "20 25 30"),
            (Forward, Included(b"20"), Included(b"25"), "20 25"),
            (Forward, Included(b"15"), Included(b"25"), "15 20 25"),
            (Forward, Included(b"21"), Included(b"25"), "25"),
            (Forward, Included(b"15"), Included(b"30"), "15 20 25 30"),
            (Forward, Excluded(b"20"), Excluded(b"30"), "25"),
            (Forward, Included(b"20"), Excluded(b"30"), "20 25"),
            (Forward, Excluded(b"20"), Included(b"30"), "25 30"),
            (Forward, Excluded(b"40"), Unbounded, "45"),
            (Forward, Included(b"40"), Unbounded, "40 45"),
            (Forward, Excluded(b"45"), Unbounded, "45"),
            (Forward, Unbounded, Excluded(b"10"), "05"),
            (Forward, Unbounded, Excluded(b"05"), "05"),
        ],
    );
}

#[test]
fn descending_scans_at_repeatable_read() {
    check(
        Isolation::RepeatableRead,
        &[
            (Backward, Included(b"20"), Unbounded, "05 10 15 20 25 30 35 40 45"),
            (Backward, Excluded(b"20"), Unbounded, "15 20 25 30 35 40 45"),
            (Backward, Included(b"15"), Unbounded, "05 10 15 20 25 30 35 40 45"),
            (Backward, Unbounded, Included(b"20"), "05 10 15 20 25"),
            (Backward, Unbounded, Excluded(b"20"), "05 10 15"),
            (Backward, Unbounded, Included(b"25"), "05 10 15 20 25"),
            (Backward, Included(b"20"), Included(b"30"), "05 10 15 20 25 30 35"),
            (Backward, Included(b"20"), Included(b"25"), "05 10 15 20 25"),
            (Backward, Included(b"21"), Included(b"25"), "15 20 25"),
            (Backward, Excluded(b"20"), Excluded(b"30"), "15 20 25"),
            (Backward, Excluded(b"40"), Unbounded, "35 40 45"),
            (Backward, Included(b"40"), Unbounded, "25 30 35 40 45"),
            (Backward, Excluded(b"45"), Unbounded, "35 40 45"),
            (Backward, Unbounded, Excluded(b"10"), "05"),
            (Backward, Unbounded, Excluded(b"05"), "05"),
        ],
    );
}

#[test]
fn read_committed_locks_the_records_of_the_range_only() {
    check(
        Isolation::ReadCommitted,
        &[
            (Forward, Included(b"20"), Included(b"30"), "20 30"),
            (Forward, Unbounded, Excluded(b"20"), "10"),
            (Backward, Included(b"15"), Included(b"25"), "20"),
            (Forward, Excluded(b"40"), Unbounded, ""),
        ],
    );
}

#[test]
fn a_search_for_one_key_locks_the_record_or_the_gap() {
    let engine = open();
    let tree = table(&engine);
    for (isolation, key, expected) in [
        (Isolation::RepeatableRead, "20", "20"),
        (Isolation::RepeatableRead, "25", "25"),
        (Isolation::RepeatableRead, "05", "05"),
        (Isolation::RepeatableRead, "99", "45"),
        (Isolation::ReadCommitted, "20", "20"),
        (Isolation::ReadCommitted, "25", ""),
    ] {
        let mut txn = session(&engine, isolation);
        lock_get(&mut txn, &tree, key, X);
        assert_eq!(locked(&engine, &tree), expected, "{isolation:?} {key}");
        txn.rollback().unwrap();
    }
}

#[test]
fn a_scan_that_stops_early_has_locked_only_what_it_passed() {
    let engine = open();
    let tree = table(&engine);
    for (direction, lower, upper, expected) in [
        (Forward, Included(&b"20"[..]), Unbounded, "20"),
        (Forward, Excluded(b"20"), Unbounded, "25 30"),
        (Backward, Unbounded, Included(&b"30"[..]), "25 30 35"),
    ] {
        let mut txn = rr(&engine);
        let mut cursor = txn.cursor(&tree, lower, upper, direction, ReadMode::Lock(X));
        assert!(cursor.next(&mut txn).unwrap().is_some());
        assert_eq!(locked(&engine, &tree), expected);
        txn.rollback().unwrap();
    }
}

#[test]
fn read_committed_gives_back_the_lock_of_a_row_that_does_not_match() {
    let engine = open();
    let tree = table(&engine);
    let mut txn = session(&engine, Isolation::ReadCommitted);
    lock_get(&mut txn, &tree, "10", X);
    let mut cursor = txn.locking_cursor(&tree, Unbounded, Unbounded, Forward, X);
    while let Some(record) = cursor.next(&mut txn).unwrap() {
        if record.key != b"30" {
            cursor.unlock_current(&mut txn);
        }
    }
    assert_eq!(locked(&engine, &tree), "10 30", "10 was locked before the scan");
}

#[test]
fn read_committed_gives_back_only_the_mode_that_the_scan_took() {
    let engine = open();
    let tree = table(&engine);
    let mut txn = session(&engine, Isolation::ReadCommitted);
    lock_get(&mut txn, &tree, "10", S);
    let mut cursor = txn.locking_cursor(&tree, Unbounded, Unbounded, Forward, X);
    while cursor.next(&mut txn).unwrap().is_some() {
        cursor.unlock_current(&mut txn);
    }
    lock_get(&mut txn, &tree, "10", X);
    assert!(txn.took_lock());
    txn.unlock_unmatched(&tree, b"10", LockMode::Exclusive);
    let mut other = session(&engine, Isolation::ReadCommitted);
    assert_eq!(lock_get(&mut other, &tree, "10", S).as_deref(), Some(""), "shared again");
    other.rollback().unwrap();
    assert_eq!(locked(&engine, &tree), "10", "and nobody may change it");
}

#[test]
fn read_committed_keeps_the_lock_of_a_row_that_was_waited_for() {
    let engine = open();
    let tree = table(&engine);
    let mut holder = rr(&engine);
    lock_get(&mut holder, &tree, "10", S);
    lock_get(&mut holder, &tree, "20", S);
    let (scan, point) = (tree.clone(), tree.clone());
    let by_scan = blocks(&engine, session(&engine, Isolation::ReadCommitted), move |txn| {
        let mut cursor = txn.locking_cursor(&scan, Unbounded, Included(b"10"), Forward, X);
        while cursor.next(txn).unwrap().is_some() {
            cursor.unlock_current(txn);
        }
    });
    let by_key = blocks(&engine, session(&engine, Isolation::ReadCommitted), move |txn| {
        lock_get(txn, &point, "20", X);
        txn.took_lock()
    });
    holder.rollback().unwrap();
    let (_scan, ()) = by_scan.join();
    let (_key, released) = by_key.join();
    assert!(!released);
    assert_eq!(locked(&engine, &tree), "10 20");
}

#[test]
fn nowait_fails_and_skip_locked_leaves_out() {
    let engine = open();
    let tree = table(&engine);
    let mut holder = rr(&engine);
    lock_get(&mut holder, &tree, "20", S);
    set(&mut holder, &tree, "30", "changed");
    let mut txn = session(&engine, Isolation::ReadCommitted);
    let all = (Unbounded, Unbounded);
    let nowait = range(&mut txn, &tree, all, Forward, ReadMode::Lock(X_NOWAIT));
    assert!(matches!(nowait, Err(StorageError::LockNotAvailable)));
    txn.rollback().unwrap();
    txn.begin(Isolation::RepeatableRead);
    let skip = LockRequest { mode: LockMode::Exclusive, wait: WaitPolicy::SkipLocked };
    assert_eq!(range(&mut txn, &tree, all, Forward, ReadMode::Lock(skip)).unwrap(), "10= 40=");
    let shared = LockRequest { mode: LockMode::Shared, wait: WaitPolicy::SkipLocked };
    assert_eq!(
        range(&mut txn, &tree, all, Backward, ReadMode::Lock(shared)).unwrap(),
        "40= 20= 10="
    );
    assert_eq!(txn.lock_get(&tree, b"30", skip, text).unwrap(), None);
}

#[test]
fn gaps_reach_across_leaves() {
    let engine = open();
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    let key = |n: u32| format!("{n:05}");
    for n in 0..2000 {
        txn.insert(&tree, key(n * 10).as_bytes(), &[1; 60]).unwrap();
    }
    // All but two records go; most leaves in between become empty.
    txn.commit().unwrap();
    txn.begin(Isolation::RepeatableRead);
    for n in (0..2000).filter(|n| *n != 100 && *n != 1900) {
        txn.delete(&tree, key(n * 10).as_bytes()).unwrap();
    }
    txn.commit().unwrap();
    run_background(&engine);
    let mut locker = rr(&engine);
    assert_eq!(lock_get(&mut locker, &tree, &key(9005), X), None);
    assert!(insert_waits(&engine, &tree, &key(1001)));
    assert!(insert_waits(&engine, &tree, &key(18999)));
    assert!(!insert_waits(&engine, &tree, &key(999)));
    assert!(!insert_waits(&engine, &tree, &key(19001)));
}

/// A transaction that locks a gap reads the leaf first, and confirms it to be the right one after.
#[test]
fn a_gap_is_not_confirmed_once_something_was_inserted_into_it() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("c", "1")]);
    let (store, mut place) = (&engine.core.store, GapNeighbours::new());
    tree.btree().load_leaf(store, Seek::Covering(b"b"), &mut place.leaf).unwrap();
    place.find_low(&tree, store, 1).unwrap();
    place.find_high(&tree, store, 1).unwrap();
    assert!(place.confirm_low(&tree, store, 1).unwrap());
    assert!(place.confirm_high(&tree, store, 1).unwrap());
    let mut other = rr(&engine);
    put(&mut other, &tree, "b", "1");
    assert!(!place.confirm_low(&tree, store, 1).unwrap());
    assert!(!place.confirm_high(&tree, store, 1).unwrap());
}
