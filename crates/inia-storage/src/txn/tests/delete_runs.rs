//! Deletions of many records of a leaf at a time.

use super::*;

fn key(i: usize) -> String {
    format!("k{i:05}")
}

/// A tree with the records `0..count`, those for which `value` has one.
fn numbered(engine: &Arc<Engine>, count: usize, value: impl Fn(usize) -> Option<String>) -> Tree {
    let mut txn = rr(engine);
    let tree = txn.create_tree().unwrap();
    for i in 0..count {
        if let Some(value) = value(i) {
            put(&mut txn, &tree, &key(i), &value);
        }
    }
    txn.commit().unwrap();
    tree
}

fn deferring(
    txn: &mut Txn,
    tree: &Tree,
    lower: KeyBound<'_>,
    upper: KeyBound<'_>,
) -> LockingCursor {
    let mut cursor = txn.locking_cursor(tree, lower, upper, Direction::Forward, X);
    cursor.defer_locks();
    cursor
}

/// Deletes what a cursor finds, in runs where that is possible, up to `most` records: which, and
/// how many of them in runs.
fn delete_found(txn: &mut Txn, cursor: &mut LockingCursor, most: usize) -> (Vec<String>, usize) {
    let (mut gone, mut in_runs) = (Vec::new(), 0);
    while gone.len() < most {
        if let Some(run) = txn.delete_run(cursor, most - gone.len()).unwrap() {
            in_runs += run.len();
            for i in 0..run.len() {
                let key = [run.key_prefix(), run.key_suffix(i)].concat();
                gone.push(format!("{}={}", text(&key), text(run.value(i))));
            }
            continue;
        }
        let Some(record) = cursor.next(txn).unwrap() else { break };
        gone.push(format!("{}={}", text(record.key), text(record.value)));
        assert!(txn.write_current(cursor, None).unwrap());
    }
    (gone, in_runs)
}

fn delete_range(
    txn: &mut Txn,
    tree: &Tree,
    lower: KeyBound<'_>,
    upper: KeyBound<'_>,
    most: usize,
) -> (String, usize) {
    let mut cursor = deferring(txn, tree, lower, upper);
    let (gone, in_runs) = delete_found(txn, &mut cursor, most);
    (gone.join(" "), in_runs)
}

fn delete_all(txn: &mut Txn, tree: &Tree) -> (String, usize) {
    delete_range(txn, tree, KeyBound::Unbounded, KeyBound::Unbounded, usize::MAX)
}

#[test]
fn a_scan_deletes_the_records_of_a_leaf_together() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = numbered(&engine, 3000, |i| Some("v".repeat(i % 50)));
    let mut early = rr(&engine);
    let before = all(&mut early, &tree);
    let mut txn = rr(&engine);
    let start = txn.savepoint();
    let (gone, in_runs) = delete_all(&mut txn, &tree);
    assert!(gone == before);
    assert_eq!(in_runs, 2999, "all but the first, which has rules of its own");
    assert_eq!(all(&mut txn, &tree), "");
    assert!(all(&mut rr(&engine), &tree) == before, "others see them as they were");
    for i in [0, 1, 700, 1500, 2999] {
        assert!(record_waits(&engine, &tree, &key(i)), "{i}");
    }
    assert!(insert_waits(&engine, &tree, "k00700+") && insert_waits(&engine, &tree, "z"));
    txn.rollback_to(start).unwrap();
    assert!(all(&mut txn, &tree) == before);
    assert_eq!(delete_all(&mut txn, &tree).0.len(), before.len());
    txn.commit().unwrap();
    assert!(all(&mut early, &tree) == before, "an early snapshot sees them still");
    assert_eq!(all(&mut rr(&engine), &tree), "");
    early.commit().unwrap();
    run_background(&engine);
    assert_eq!(engine.check(&[tree.id()]).unwrap(), Vec::<String>::new());
    let id = tree.id();
    drop((early, txn, tree, engine));
    let engine = open_on(&disk);
    assert_eq!(all(&mut rr(&engine), &engine.tree(id)), "");
}

#[test]
fn deletions_that_a_crash_cuts_short_are_undone() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = numbered(&engine, 2000, |i| Some(i.to_string()));
    let before = all(&mut rr(&engine), &tree);
    let mut txn = rr(&engine);
    let upper = key(1500);
    let upper = KeyBound::Excluded(upper.as_bytes());
    delete_range(&mut txn, &tree, KeyBound::Unbounded, upper, usize::MAX);
    let mut other = rr(&engine);
    set(&mut other, &tree, &key(1700), "a commit that makes the log durable");
    other.commit().unwrap();
    let id = tree.id();
    // A crash is an engine that is forgotten without being closed.
    std::mem::forget((txn, other, engine));
    let engine = open_on(&disk);
    let tree = engine.tree(id);
    let after = before.replace("k01700=1700", "k01700=a commit that makes the log durable");
    assert!(all(&mut rr(&engine), &tree) == after, "while they are being undone");
    run_background(&engine);
    assert!(all(&mut rr(&engine), &tree) == after);
    assert!(!record_waits(&engine, &tree, &key(700)));
    assert_eq!(engine.check(&[id]).unwrap(), Vec::<String>::new());
}

#[test]
fn what_the_range_leaves_out_stays_and_is_free() {
    for (included, most) in [(false, usize::MAX), (true, usize::MAX), (true, 300), (true, 1)] {
        let engine = open();
        let tree = numbered(&engine, 1000, |i| (i % 2 == 0).then(|| i.to_string()));
        let (lower, upper) = (key(100), key(800));
        let (lower, upper) = (lower.as_bytes(), upper.as_bytes());
        let mut txn = rr(&engine);
        let (lower, upper) = match included {
            true => (KeyBound::Included(lower), KeyBound::Included(upper)),
            false => (KeyBound::Excluded(lower), KeyBound::Excluded(upper)),
        };
        let expected =
            range(&mut txn, &tree, (lower, upper), Direction::Forward, ReadMode::Snapshot);
        let expected: Vec<String> = expected.unwrap().split(' ').map(str::to_owned).collect();
        let count = expected.len().min(most);
        let (gone, in_runs) = delete_range(&mut txn, &tree, lower, upper, most);
        assert_eq!(gone, expected[..count].join(" "));
        assert!(in_runs >= count.saturating_sub(2), "{in_runs} of {count}");
        let first = if included { 100 } else { 102 };
        let last = first + 2 * (count - 1);
        assert!(record_waits(&engine, &tree, &key(last)));
        assert!(!record_waits(&engine, &tree, &key(last + 2)), "behind {last}");
        assert!(!record_waits(&engine, &tree, &key(first - 2)));
        assert_eq!(insert_waits(&engine, &tree, &key(last - 1)), count > 1);
        // Up to a record beyond the range, if the scan came to its end.
        let beyond = insert_waits(&engine, &tree, &key(last + 1));
        assert_eq!(beyond, !included, "behind {last}");
        assert!(!insert_waits(&engine, &tree, &key(last + 3)), "far behind {last}");
    }
}

#[test]
fn a_run_stops_before_what_another_transaction_has() {
    for locks_only in [false, true] {
        let engine = open();
        let tree = numbered(&engine, 300, |i| (i % 2 == 0).then(|| i.to_string()));
        let mut other = rr(&engine);
        match locks_only {
            true => assert!(lock_get(&mut other, &tree, &key(40), S).is_some()),
            false => set(&mut other, &tree, &key(40), "other"),
        }
        let mut txn = rr(&engine);
        let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
        let mut cursor = deferring(&mut txn, &tree, low, high);
        let (gone, in_runs) = delete_found(&mut txn, &mut cursor, 20);
        assert_eq!((gone.len(), in_runs), (20, 19));
        assert!(txn.delete_run(&mut cursor, 100).unwrap().is_none());
        assert!(insert_waits(&engine, &tree, &key(37)));
        assert!(!insert_waits(&engine, &tree, &key(39)), "the gap before the locked one");
        assert!(!insert_waits(&engine, &tree, &key(61)));
        let waiting = blocks(&engine, txn, move |txn| {
            let (gone, in_runs) = delete_found(txn, &mut cursor, 1000);
            (gone.len(), gone[0].clone(), in_runs)
        });
        other.commit().unwrap();
        let (mut txn, (count, first, in_runs)) = waiting.join();
        let value = if locks_only { "40" } else { "other" };
        assert_eq!((count, first), (130, format!("{}={value}", key(40))));
        assert_eq!(in_runs, 129);
        assert_eq!(all(&mut txn, &tree), "");
        txn.commit().unwrap();
        assert_eq!(all(&mut rr(&engine), &tree), "");
    }
}

#[test]
fn a_run_leaves_deleted_and_long_records_to_the_scan() {
    let engine = open();
    let long = |i: usize| if i % 100 == 50 { "long ".repeat(2000) } else { i.to_string() };
    let tree = numbered(&engine, 600, |i| Some(long(i)));
    let mut txn = rr(&engine);
    for i in [10, 11, 12, 200, 599] {
        delete(&mut txn, &tree, &key(i));
    }
    txn.commit().unwrap();
    txn.begin(Isolation::RepeatableRead);
    set(&mut txn, &tree, &key(20), "own");
    put(&mut txn, &tree, "k00020+", "new");
    delete(&mut txn, &tree, &key(21));
    let before = all(&mut txn, &tree);
    let start = txn.savepoint();
    let (gone, in_runs) = delete_all(&mut txn, &tree);
    assert!(gone == before);
    assert!(in_runs > 570, "{in_runs}");
    assert_eq!(all(&mut txn, &tree), "");
    txn.rollback_statement(start).unwrap();
    assert!(all(&mut txn, &tree) == before);
    assert!(record_waits(&engine, &tree, &key(300)), "the statement's locks stay");
    delete_all(&mut txn, &tree);
    txn.commit().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree), "");
    run_background(&engine);
    assert_eq!(engine.check(&[tree.id()]).unwrap(), Vec::<String>::new());
}

#[test]
fn a_leaf_that_changes_under_the_scan_is_read_again() {
    let engine = open();
    let tree = numbered(&engine, 400, |i| (i % 2 == 0).then(|| i.to_string()));
    let mut txn = session(&engine, Isolation::ReadCommitted);
    let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
    let mut cursor = deferring(&mut txn, &tree, low, high);
    let (mut gone, _) = delete_found(&mut txn, &mut cursor, 50);
    let mut other = rr(&engine);
    put(&mut other, &tree, &key(51), "behind the scan");
    put(&mut other, &tree, &key(131), "before the scan");
    set(&mut other, &tree, &key(140), "changed");
    other.commit().unwrap();
    let (rest, in_runs) = delete_found(&mut txn, &mut cursor, usize::MAX);
    assert_eq!(in_runs, rest.len());
    gone.extend(rest);
    assert_eq!(gone.len(), 201);
    assert!(gone.contains(&"k00131=before the scan".to_owned()));
    assert!(gone.contains(&"k00140=changed".to_owned()));
    txn.commit().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree), "k00051=behind the scan");
}

#[test]
fn an_interrupt_comes_between_runs() {
    let engine = open();
    let tree = numbered(&engine, 2000, |i| Some(i.to_string()));
    let mut txn = rr(&engine);
    let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
    let mut cursor = deferring(&mut txn, &tree, low, high);
    let (gone, _) = delete_found(&mut txn, &mut cursor, 500);
    assert_eq!(gone.len(), 500);
    txn.interrupter().interrupt();
    let stopped = txn.delete_run(&mut cursor, 1000);
    assert!(matches!(stopped, Err(StorageError::Interrupted)));
    drop(cursor);
    txn.clear_interrupt();
    txn.rollback().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree).split(' ').count(), 2000);
}

#[test]
fn deletions_of_waiting_records_stop_where_something_stands_in_their_way() {
    let engine = open();
    let tree = numbered(&engine, 1000, |i| (i != 300).then(|| i.to_string()));
    let mut other = rr(&engine);
    set(&mut other, &tree, &key(500), "other");
    let mut sharing = rr(&engine);
    lock_get(&mut sharing, &tree, &key(700), S);
    let mut txn = rr(&engine);
    delete(&mut txn, &tree, &key(100));
    let mut records = Records::default();
    for i in (0..1000).rev() {
        records.push(key(i).as_bytes(), b"");
    }
    records.push(key(800).as_bytes(), b"");
    records.sort();
    let (mut next, mut stops) = (0, Vec::new());
    while next < records.len() {
        next = txn.delete_batch(&tree, &records, next..records.len()).unwrap();
        if next < records.len() {
            stops.push(text(records.key(next)));
            next += 1;
        }
    }
    // Deleted already, not there, another's, locked by another, deleted the moment before.
    assert_eq!(stops, [key(100), key(300), key(500), key(700), key(800)]);
    assert_eq!(all(&mut txn, &tree), "k00500=500 k00700=700");
    txn.rollback().unwrap();
    other.rollback().unwrap();
    assert_eq!(all(&mut rr(&engine), &tree).split(' ').count(), 999);
}

#[test]
fn undo_of_deletions_in_the_temporary_file_is_found_there() {
    let engine = open_spilling(Arc::new(MemDisk::new()), false);
    let tree = numbered(&engine, 4000, |i| Some(i.to_string()));
    let mut early = rr(&engine);
    let before = all(&mut early, &tree);
    let mut txn = rr(&engine);
    delete_all(&mut txn, &tree);
    assert!(all(&mut early, &tree) == before);
    txn.rollback().unwrap();
    assert!(all(&mut rr(&engine), &tree) == before);
}
