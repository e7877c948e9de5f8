//! The anomalies of the Hermitage collection, and MySQL's own cases, at each isolation level.
//!
//! Each test says in its name what MySQL 8.0 does. Statements that must wait run on a thread of
//! their own, and the test goes on once the engine reports the wait.

use super::*;
use Isolation::{ReadCommitted, ReadUncommitted, RepeatableRead, Serializable};

const ALL: [Isolation; 4] = [ReadUncommitted, ReadCommitted, RepeatableRead, Serializable];

fn two_rows(engine: &Arc<Engine>) -> Tree {
    tree_with(engine, &[("1", "10"), ("2", "20")])
}

#[test]
fn g0_dirty_writes_wait_at_every_level() {
    for level in ALL {
        let engine = open();
        let tree = two_rows(&engine);
        let (mut a, b) = (session(&engine, level), session(&engine, level));
        set(&mut a, &tree, "1", "11");
        let theirs = tree.clone();
        let waiting = blocks(&engine, b, move |b| set(b, &theirs, "1", "12"));
        set(&mut a, &tree, "2", "21");
        a.commit().unwrap();
        let (mut b, ()) = waiting.join();
        set(&mut b, &tree, "2", "22");
        b.commit().unwrap();
        assert_eq!(all(&mut rr(&engine), &tree), "1=12 2=22");
    }
}

#[test]
fn g1a_aborted_and_g1b_intermediate_reads_only_when_uncommitted() {
    for level in ALL {
        let engine = open();
        let tree = two_rows(&engine);
        let (mut a, mut b) = (session(&engine, level), session(&engine, level));
        set(&mut a, &tree, "1", "101");
        let seen = get(&mut b, &tree, "1").unwrap();
        assert_eq!(seen, if level == ReadUncommitted { "101" } else { "10" }, "{level:?}");
        a.rollback().unwrap();
        b.begin_statement();
        assert_eq!(get(&mut b, &tree, "1").unwrap(), "10");
    }
}

#[test]
fn g1c_circular_information_flow_only_when_uncommitted() {
    for level in [ReadUncommitted, ReadCommitted, RepeatableRead] {
        let engine = open();
        let tree = two_rows(&engine);
        let (mut a, mut b) = (session(&engine, level), session(&engine, level));
        set(&mut a, &tree, "1", "11");
        set(&mut b, &tree, "2", "22");
        let seen = (get(&mut a, &tree, "2").unwrap(), get(&mut b, &tree, "1").unwrap());
        let expected = if level == ReadUncommitted { ("22", "11") } else { ("20", "10") };
        assert_eq!((seen.0.as_str(), seen.1.as_str()), expected);
    }
}

#[test]
fn otv_observed_transaction_vanishes_not_from_read_committed_on() {
    let engine = open();
    let tree = two_rows(&engine);
    let (mut a, b) = (session(&engine, ReadCommitted), session(&engine, ReadCommitted));
    let mut c = session(&engine, ReadCommitted);
    set(&mut a, &tree, "1", "11");
    set(&mut a, &tree, "2", "19");
    let theirs = tree.clone();
    let waiting = blocks(&engine, b, move |b| set(b, &theirs, "1", "12"));
    a.commit().unwrap();
    let (mut b, ()) = waiting.join();
    assert_eq!(all(&mut c, &tree), "1=11 2=19");
    set(&mut b, &tree, "2", "18");
    c.begin_statement();
    assert_eq!(all(&mut c, &tree), "1=11 2=19");
    b.commit().unwrap();
    c.begin_statement();
    assert_eq!(all(&mut c, &tree), "1=12 2=18");
}

#[test]
fn pmp_and_g_single_a_repeatable_snapshot_does_not_move() {
    for (level, expected) in [(ReadCommitted, "1=10 2=20 3=30"), (RepeatableRead, "1=10 2=20")] {
        let engine = open();
        let tree = two_rows(&engine);
        let (mut a, mut b) = (session(&engine, level), session(&engine, level));
        assert_eq!(all(&mut a, &tree), "1=10 2=20");
        put(&mut b, &tree, "3", "30");
        b.commit().unwrap();
        a.begin_statement();
        assert_eq!(all(&mut a, &tree), expected, "{level:?}");
    }
}

#[test]
fn p4_lost_updates_are_allowed_at_repeatable_read() {
    let engine = open();
    let tree = two_rows(&engine);
    let (mut a, mut b) = (rr(&engine), rr(&engine));
    assert_eq!(get(&mut a, &tree, "1").unwrap(), "10");
    assert_eq!(get(&mut b, &tree, "1").unwrap(), "10");
    set(&mut a, &tree, "1", "11");
    let theirs = tree.clone();
    let waiting = blocks(&engine, b, move |b| set(b, &theirs, "1", "11"));
    a.commit().unwrap();
    let (mut b, ()) = waiting.join();
    b.commit().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree), "1=11 2=20");
}

#[test]
fn a_locking_read_sees_the_newest_commit_and_a_plain_read_the_snapshot() {
    let engine = open();
    let tree = two_rows(&engine);
    let (mut a, mut b) = (rr(&engine), rr(&engine));
    assert_eq!(all(&mut a, &tree), "1=10 2=20");
    set(&mut b, &tree, "1", "11");
    put(&mut b, &tree, "3", "30");
    delete(&mut b, &tree, "2");
    b.commit().unwrap();
    assert_eq!(all(&mut a, &tree), "1=10 2=20");
    assert_eq!(scan(&mut a, &tree, ReadMode::Lock(S)), "1=11 3=30");
    set(&mut a, &tree, "3", "31");
    assert_eq!(all(&mut a, &tree), "1=10 2=20 3=31", "own changes join the snapshot");
}

#[test]
fn g2_item_write_skew_is_allowed_below_serializable_and_a_deadlock_there() {
    for level in [RepeatableRead, Serializable] {
        let engine = open();
        let tree = two_rows(&engine);
        let (mut a, mut b) = (session(&engine, level), session(&engine, level));
        let mode = if level == Serializable { ReadMode::Lock(S) } else { ReadMode::Snapshot };
        scan(&mut a, &tree, mode);
        scan(&mut b, &tree, mode);
        if level == RepeatableRead {
            set(&mut a, &tree, "1", "11");
            set(&mut b, &tree, "2", "21");
            a.commit().unwrap();
            b.commit().unwrap();
            continue;
        }
        let theirs = tree.clone();
        let waiting = blocks(&engine, a, move |a| a.update(&theirs, b"1", b"11").unwrap());
        let second = b.update(&tree, b"2", b"21");
        assert!(matches!(second, Err(StorageError::Deadlock)));
        b.rollback().unwrap();
        let (mut a, done) = waiting.join();
        assert!(done);
        a.commit().unwrap();
    }
}

#[test]
fn a_locking_scan_keeps_phantoms_out() {
    let engine = open();
    let tree = two_rows(&engine);
    let (mut a, b) = (rr(&engine), rr(&engine));
    assert_eq!(scan(&mut a, &tree, ReadMode::Lock(X)), "1=10 2=20");
    let theirs = tree.clone();
    let waiting = blocks(&engine, b, move |b| put(b, &theirs, "15", "x"));
    assert_eq!(scan(&mut a, &tree, ReadMode::Lock(X)), "1=10 2=20");
    a.commit().unwrap();
    let (mut b, ()) = waiting.join();
    b.commit().unwrap();
}

#[test]
fn an_insert_waits_for_an_uncommitted_insert_of_the_same_key() {
    for commits in [true, false] {
        let engine = open();
        let tree = two_rows(&engine);
        let (mut a, b) = (rr(&engine), rr(&engine));
        put(&mut a, &tree, "3", "a");
        let theirs = tree.clone();
        let waiting = blocks(&engine, b, move |b| b.insert(&theirs, b"3", b"b"));
        if commits {
            a.commit().unwrap();
        } else {
            a.rollback().unwrap();
        }
        let (mut b, result) = waiting.join();
        assert_eq!(matches!(result, Err(StorageError::DuplicateKey)), commits);
        b.commit().unwrap();
        assert_eq!(get(&mut rr(&engine), &tree, "3").unwrap(), if commits { "a" } else { "b" });
    }
}

#[test]
fn an_insert_waits_for_an_uncommitted_delete_of_the_same_key() {
    for commits in [true, false] {
        let engine = open();
        let tree = two_rows(&engine);
        let (mut a, b) = (rr(&engine), rr(&engine));
        delete(&mut a, &tree, "2");
        let theirs = tree.clone();
        let waiting = blocks(&engine, b, move |b| b.insert(&theirs, b"2", b"b"));
        if commits {
            a.commit().unwrap();
        } else {
            a.rollback().unwrap();
        }
        let (mut b, result) = waiting.join();
        assert_eq!(result.is_ok(), commits);
        b.commit().unwrap();
        let expected = if commits { "1=10 2=b" } else { "1=10 2=20" };
        assert_eq!(all(&mut rr(&engine), &tree), expected);
    }
}

#[test]
fn a_duplicate_key_error_leaves_a_shared_lock() {
    for level in [ReadCommitted, RepeatableRead] {
        let engine = open();
        let tree = two_rows(&engine);
        let mut a = session(&engine, level);
        assert!(matches!(a.insert(&tree, b"1", b"x"), Err(StorageError::DuplicateKey)));
        assert!(record_waits(&engine, &tree, "1"));
        let mut b = rr(&engine);
        let shared = LockRequest { mode: LockMode::Shared, wait: WaitPolicy::NoWait };
        assert_eq!(b.lock_get(&tree, b"1", shared, text).unwrap(), Some("10".into()));
        a.rollback().unwrap();
    }
}

/// The manual's example: three sessions insert the same key, the first rolls back.
#[test]
fn two_inserts_waiting_for_a_third_that_rolls_back_are_a_deadlock() {
    let engine = open();
    let tree = two_rows(&engine);
    let (mut a, b, c) = (rr(&engine), rr(&engine), rr(&engine));
    put(&mut a, &tree, "3", "a");
    let (to_b, to_c) = (tree.clone(), tree.clone());
    let b = blocks(&engine, b, move |b| {
        let result = b.insert(&to_b, b"3", b"b");
        if result.is_err() { b.rollback() } else { b.commit() }.unwrap();
        result
    });
    let c = blocks(&engine, c, move |c| {
        let result = c.insert(&to_c, b"3", b"c");
        if result.is_err() { c.rollback() } else { c.commit() }.unwrap();
        result
    });
    a.rollback().unwrap();
    let results = [b.join().1, c.join().1];
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    assert!(results.iter().any(|result| matches!(result, Err(StorageError::Deadlock))));
    assert_eq!(engine.stats().deadlocks, 1);
}

#[test]
fn an_insert_over_a_deleted_key_keeps_the_old_version_for_old_snapshots() {
    let engine = open();
    let tree = two_rows(&engine);
    let mut old = rr(&engine);
    assert_eq!(all(&mut old, &tree), "1=10 2=20");
    let mut a = rr(&engine);
    delete(&mut a, &tree, "2");
    a.commit().unwrap();
    let mut between = rr(&engine);
    assert_eq!(all(&mut between, &tree), "1=10");
    a.begin(RepeatableRead);
    put(&mut a, &tree, "2", "new");
    a.commit().unwrap();
    run_background(&engine);
    assert_eq!(all(&mut old, &tree), "1=10 2=20");
    assert_eq!(get(&mut old, &tree, "2").unwrap(), "20");
    assert_eq!(all(&mut between, &tree), "1=10");
    assert_eq!(all(&mut rr(&engine), &tree), "1=10 2=new");
}

#[test]
fn a_lock_wait_timeout_leaves_the_transaction_as_it_was() {
    let engine = open();
    let tree = two_rows(&engine);
    let (mut a, mut b) = (rr(&engine), rr(&engine));
    set(&mut a, &tree, "1", "11");
    set(&mut b, &tree, "2", "22");
    b.set_lock_wait_timeout(Duration::ZERO);
    assert!(matches!(b.update(&tree, b"1", b"12"), Err(StorageError::LockWaitTimeout)));
    assert_eq!(engine.stats().lock_timeouts, 1);
    a.commit().unwrap();
    set(&mut b, &tree, "1", "12");
    b.commit().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree), "1=12 2=22");
}

#[test]
fn kill_ends_a_wait() {
    let engine = open();
    let tree = two_rows(&engine);
    let (mut a, b) = (rr(&engine), rr(&engine));
    set(&mut a, &tree, "1", "11");
    let killer = b.interrupter();
    let theirs = tree.clone();
    let waiting = blocks(&engine, b, move |b| b.update(&theirs, b"1", b"12"));
    killer.interrupt();
    let (mut b, result) = waiting.join();
    assert!(matches!(result, Err(StorageError::Interrupted)));
    let scan = range(
        &mut b,
        &tree,
        (KeyBound::Unbounded, KeyBound::Unbounded),
        Direction::Forward,
        ReadMode::Snapshot,
    );
    assert!(matches!(scan, Err(StorageError::Interrupted)));
    b.clear_interrupt();
    assert_eq!(all(&mut b, &tree), "1=10 2=20");
}

#[test]
fn an_update_deadlock_kills_the_one_with_less_work() {
    let engine = open();
    let tree = two_rows(&engine);
    let (mut heavy, mut light) = (rr(&engine), rr(&engine));
    for n in 0..10 {
        put(&mut heavy, &tree, &format!("x{n}"), "");
    }
    set(&mut heavy, &tree, "1", "h");
    set(&mut light, &tree, "2", "l");
    let theirs = tree.clone();
    let light = blocks(&engine, light, move |light| {
        let result = light.update(&theirs, b"1", b"l");
        light.rollback().unwrap();
        result
    });
    set(&mut heavy, &tree, "2", "h");
    assert!(matches!(light.join().1, Err(StorageError::Deadlock)));
    heavy.commit().unwrap();
    assert_eq!(get(&mut rr(&engine), &tree, "2").unwrap(), "h");
}

#[test]
fn rollback_keeps_rows_locked_until_it_is_done_and_savepoints_keep_locks() {
    let engine = open();
    let tree = two_rows(&engine);
    let mut a = rr(&engine);
    let start = a.savepoint();
    lock_get(&mut a, &tree, "1", X);
    set(&mut a, &tree, "1", "11");
    a.rollback_to(start).unwrap();
    assert!(record_waits(&engine, &tree, "1"));
    a.rollback().unwrap();
    assert!(!record_waits(&engine, &tree, "1"));
}

#[test]
fn a_failed_statement_keeps_the_gaps_of_what_it_inserted_and_a_savepoint_does_not() {
    let engine = open();
    let tree = tree_with(&engine, &[("10", ""), ("20", ""), ("30", "")]);
    let mut a = rr(&engine);
    let start = a.savepoint();
    put(&mut a, &tree, "24", "");
    put(&mut a, &tree, "26", "");
    a.rollback_to(start).unwrap();
    assert!(!insert_waits(&engine, &tree, "25"));
    put(&mut a, &tree, "24", "");
    put(&mut a, &tree, "26", "");
    set(&mut a, &tree, "10", "changed");
    a.rollback_statement(start).unwrap();
    let waits = ["15", "21", "24", "25", "29", "31"].map(|key| insert_waits(&engine, &tree, key));
    assert_eq!(waits, [false, true, true, true, true, false]);
    let waits = ["10", "20", "24", "30"].map(|key| record_waits(&engine, &tree, key));
    assert_eq!(waits, [true, false, false, false]);
    a.commit().unwrap();
    assert!(!insert_waits(&engine, &tree, "25") && !record_waits(&engine, &tree, "10"));
    let mut a = session(&engine, Isolation::ReadCommitted);
    let start = a.savepoint();
    put(&mut a, &tree, "24", "");
    a.rollback_statement(start).unwrap();
    assert!(!insert_waits(&engine, &tree, "24"));
}

/// What a semi-consistent scan sees: each value, marked where it is not locked.
fn look(txn: &mut Txn, tree: &Tree) -> String {
    let open = KeyBound::Unbounded;
    let mut cursor = txn.locking_cursor(tree, open, open, Direction::Forward, X);
    cursor.read_semi_consistently();
    let mut out = Vec::new();
    while cursor.advance(txn).unwrap() {
        let mark = if cursor.is_unlocked() { "?" } else { "" };
        let record = cursor.current();
        out.push(format!("{}={}{mark}", text(record.key), text(record.value)));
    }
    out.join(" ")
}

#[test]
fn a_semi_consistent_scan_shows_locked_records_as_they_were_committed_last() {
    let engine = open();
    let tree = tree_with(&engine, &[("1", "a"), ("2", "a"), ("3", "a"), ("5", "a")]);
    let mut other = rr(&engine);
    set(&mut other, &tree, "1", "b");
    set(&mut other, &tree, "1", "c");
    delete(&mut other, &tree, "2");
    put(&mut other, &tree, "4", "b");
    lock_get(&mut other, &tree, "5", X);
    let mut txn = session(&engine, Isolation::ReadCommitted);
    assert_eq!(look(&mut txn, &tree), "1=a? 2=a? 3=a 5=a?");
    other.commit().unwrap();
    run_background(&engine);
    assert_eq!(look(&mut txn, &tree), "1=c 3=a 4=b 5=a");
}

#[test]
fn a_scan_can_lock_the_record_beyond_its_range() {
    let engine = open();
    let tree = tree_with(&engine, &[("10", ""), ("20", ""), ("30", "")]);
    let mut a = rr(&engine);
    let bounds = (KeyBound::Included(&b"10"[..]), KeyBound::Excluded(&b"15"[..]));
    let mut cursor = a.locking_cursor(&tree, bounds.0, bounds.1, Direction::Forward, X);
    cursor.lock_beyond();
    assert!(cursor.advance(&mut a).unwrap() && !cursor.advance(&mut a).unwrap());
    assert!(record_waits(&engine, &tree, "20") && insert_waits(&engine, &tree, "17"));
    assert!(!record_waits(&engine, &tree, "30") && !insert_waits(&engine, &tree, "25"));
}

#[test]
fn lists_show_who_runs_and_who_waits() {
    let engine = open();
    let tree = two_rows(&engine);
    let (mut a, b) = (rr(&engine), rr(&engine));
    set(&mut a, &tree, "1", "11");
    let (ours, theirs) = (a.session_index(), b.session_index());
    let wait_tree = tree.clone();
    let waiting = blocks(&engine, b, move |b| b.update(&wait_tree, b"1", b"12").unwrap());
    let waits = engine.lock_waits();
    assert_eq!(waits.len(), 1);
    assert_eq!(
        (waits[0].session, waits[0].tree, &waits[0].key[..]),
        (theirs, tree.id(), &b"1"[..])
    );
    assert_eq!(waits[0].blockers, [(ours, a.trx_id().unwrap())]);
    let active = engine.active_transactions();
    let of = |session| active.iter().find(|txn| txn.session == session).unwrap();
    assert_eq!((of(ours).rows_modified, of(ours).waiting), (1, false));
    assert_eq!((of(theirs).rows_modified, of(theirs).waiting), (0, true));
    a.commit().unwrap();
    waiting.join().0.commit().unwrap();
    assert!(engine.lock_waits().is_empty() && engine.active_transactions().is_empty());
}
