//! Prepared transactions: others do not see them and wait for them, a crash does not end them, and
//! what is decided on them is all or nothing, whenever the disk stops.

use super::*;
use inia_base::ids::Lsn;
use inia_testkit::mutate;

/// Little log, so that a transaction that stays open has its steps logged again.
const OPTIONS: StoreOptions = StoreOptions {
    buffer_pool_size: 40 * 16 * 1024,
    log_capacity: 128 << 10,
    segment_size: 32 << 10,
    undo_memory: 8 << 10,
    background: false,
};

const ROWS: u32 = 90;

fn names(engine: &Engine) -> Vec<String> {
    let mut names: Vec<String> = engine.prepared_for_tests();
    names.sort();
    names
}

/// The only prepared transaction of an engine that has just been opened.
fn the_prepared(engine: &Engine) -> PreparedTxn {
    let mut all = engine.take_prepared();
    assert_eq!(all.len(), 1, "prepared transactions");
    all.remove(0)
}

#[test]
fn a_prepared_transaction_is_not_seen_and_keeps_its_locks_until_it_is_decided_on() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("c", "1"), ("d", "1"), ("f", "1")]);
    for commits in [true, false] {
        let mut txn = rr(&engine);
        set(&mut txn, &tree, "a", "2");
        delete(&mut txn, &tree, "c");
        put(&mut txn, &tree, "b", "2");
        lock_get(&mut txn, &tree, "d", X);
        lock_get(&mut txn, &tree, "e", X);
        let mut prepared = txn.prepare(b"name").unwrap().unwrap();
        assert!(!txn.is_open() && prepared.is_open() && prepared.name() == b"name");
        // The handle is free for other work.
        txn.begin(Isolation::RepeatableRead);
        assert_eq!(all(&mut txn, &tree), "a=1 c=1 d=1 f=1");
        txn.commit().unwrap();
        for locked in ["a", "b", "c", "d"] {
            assert!(record_waits(&engine, &tree, locked), "{locked}");
        }
        assert!(!record_waits(&engine, &tree, "f") && insert_waits(&engine, &tree, "e"));
        let waiting = blocks(&engine, rr(&engine), {
            let tree = tree.clone();
            move |txn| get_locked(txn, &tree)
        });
        match commits {
            true => prepared.commit().unwrap(),
            false => prepared.rollback().unwrap(),
        }
        assert!(!prepared.is_open());
        let (mut waiter, found) = waiting.join();
        assert_eq!(found.as_deref(), Some(if commits { "2" } else { "1" }));
        waiter.rollback().unwrap();
        let rows = if commits { "a=2 b=2 d=1 f=1" } else { "a=1 c=1 d=1 f=1" };
        assert_eq!(all(&mut rr(&engine), &tree), rows);
        if commits {
            let mut back = rr(&engine);
            set(&mut back, &tree, "a", "1");
            delete(&mut back, &tree, "b");
            put(&mut back, &tree, "c", "1");
            back.commit().unwrap();
        }
    }
    run_background(&engine);
    assert!(engine.active_transactions().is_empty());
    assert_eq!(engine.stats().low_water, engine.stats().next_txn);
}

fn get_locked(txn: &mut Txn, tree: &Tree) -> Option<String> {
    lock_get(txn, tree, "a", X)
}

#[test]
fn at_read_committed_gaps_are_given_up() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("c", "1")]);
    let mut txn = session(&engine, Isolation::ReadCommitted);
    set(&mut txn, &tree, "a", "2");
    // A statement takes gaps at this level, too, where it looks for duplicates.
    engine.core.locks.release_gaps(&txn.owner);
    let (low, high) = (crate::lock::Edge::Key(b"a"), crate::lock::Edge::Key(b"c"));
    tree.gaps().lock(&txn.owner, low, high);
    assert!(insert_waits(&engine, &tree, "b"));
    let mut prepared = txn.prepare(b"x").unwrap().unwrap();
    assert!(!insert_waits(&engine, &tree, "b") && record_waits(&engine, &tree, "a"));
    prepared.commit().unwrap();
}

#[test]
fn what_has_changed_nothing_is_over_when_it_is_prepared() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1")]);
    let mut txn = rr(&engine);
    lock_get(&mut txn, &tree, "a", X);
    assert!(txn.prepare(b"reads").unwrap().is_none());
    assert!(!txn.is_open() && !record_waits(&engine, &tree, "a"));
    txn.begin(Isolation::RepeatableRead);
    let start = txn.savepoint();
    set(&mut txn, &tree, "a", "2");
    txn.rollback_to(start).unwrap();
    assert!(txn.prepare(b"undone").unwrap().is_none());
    assert!(!record_waits(&engine, &tree, "a"));
}

#[test]
fn a_dropped_one_stays_prepared_and_is_found_again_after_each_start() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = tree_with(&engine, &[("a", "1"), ("b", "1")]).id();
    let mut txn = rr(&engine);
    let at = engine.tree(tree);
    set(&mut txn, &at, "a", "2");
    delete(&mut txn, &at, "b");
    drop(txn.prepare(b"one").unwrap());
    let mut other = rr(&engine);
    put(&mut other, &at, "z", "1");
    other.prepare(b"two").unwrap().unwrap().rollback().unwrap();
    drop((txn, other, at));
    engine.close().unwrap();
    drop(engine);
    for round in 0..3 {
        let engine = open_on(&disk);
        assert_eq!(names(&engine), ["one"], "round {round}");
        let at = engine.tree(tree);
        assert_eq!(all(&mut rr(&engine), &at), "a=1 b=1");
        assert!(record_waits(&engine, &at, "a") && record_waits(&engine, &at, "b"));
        let mut beside = rr(&engine);
        put(&mut beside, &at, "new", "1");
        beside.commit().unwrap();
        run_background(&engine);
        assert_eq!(engine.check(&[tree]).unwrap(), Vec::<String>::new());
        beside.begin(Isolation::RepeatableRead);
        delete(&mut beside, &at, "new");
        beside.commit().unwrap();
        run_background(&engine);
        drop((beside, at));
        if round == 1 {
            engine.close().unwrap();
        }
    }
    let engine = open_on(&disk);
    the_prepared(&engine).commit().unwrap();
    let at = engine.tree(tree);
    assert_eq!(all(&mut rr(&engine), &at), "a=2");
    run_background(&engine);
    assert_eq!((engine.estimate_rows(&at).unwrap(), engine.stats().history_length), (1, 0));
}

/// A commit of a transaction of an earlier run is seen when it is durable, as every other one.
#[test]
fn a_snapshot_taken_before_the_decision_does_not_see_it() {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = tree_with(&engine, &[("a", "1"), ("b", "1")]).id();
    let mut txn = rr(&engine);
    set(&mut txn, &engine.tree(tree), "a", "2");
    delete(&mut txn, &engine.tree(tree), "b");
    drop(txn.prepare(b"one").unwrap());
    drop((txn, engine));
    let engine = open_on(&disk);
    let at = engine.tree(tree);
    let mut early = rr(&engine);
    assert_eq!(all(&mut early, &at), "a=1 b=1");
    the_prepared(&engine).commit().unwrap();
    for _ in 0..3 {
        run_background(&engine);
        assert_eq!(all(&mut early, &at), "a=1 b=1");
        assert_eq!(all(&mut rr(&engine), &at), "a=2");
    }
    early.commit().unwrap();
    run_background(&engine);
    assert_eq!(engine.estimate_rows(&at).unwrap(), 1);
}

/// How far a client has come, as far as it knows.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum ClientKnows {
    Nothing,
    /// The rows are there.
    Ready,
    /// PREPARE was sent, and acknowledged.
    Preparing,
    Prepared,
    /// The decision was sent, and acknowledged.
    Deciding,
    Decided,
}

struct Story {
    known: ClientKnows,
    tree: TreeId,
    other: TreeId,
    commits: bool,
}

/// Rows 0, 2, 4 … as they are before, or after the transaction.
fn expected(after: bool) -> Vec<(u32, u8)> {
    let mut rows = Vec::new();
    for n in 0..ROWS {
        match (after, n % 3) {
            (false, _) => rows.push((2 * n, b'0')),
            (true, 0) => {}
            (true, _) => rows.push((2 * n, b'1')),
        }
        if after && n % 4 == 0 {
            rows.push((2 * n + 1, b'2'));
        }
    }
    rows
}

fn found(engine: &Arc<Engine>, tree: TreeId) -> Vec<(u32, u8)> {
    let mut txn = rr(engine);
    let open = KeyBound::Unbounded;
    let tree = engine.tree(tree);
    let mut cursor = txn.cursor(&tree, open, open, Direction::Forward, ReadMode::Snapshot);
    let mut rows = Vec::new();
    while let Some(record) = cursor.next(&mut txn).unwrap() {
        rows.push((u32::from_be_bytes(record.key.try_into().unwrap()), record.value[0]));
    }
    rows
}

/// Commits of others, and background work.
fn others(engine: &Arc<Engine>, story: &Story, count: u32) -> crate::Result<()> {
    let tree = engine.tree(story.other);
    for n in 0..count {
        let mut txn = rr(engine);
        txn.insert_or_lock(&tree, &key(n % 7), &[n as u8; 2000], LockMode::Exclusive)
            .or_else(|_| txn.update(&tree, &key(n % 7), &[n as u8; 2000]).map(|_| ()))?;
        txn.commit()?;
        engine.background_step()?;
    }
    Ok(())
}

fn play(disk: &SimDisk, story: &mut Story) -> crate::Result<()> {
    let engine = open_sim(disk, &OPTIONS)?;
    let mut txn = rr(&engine);
    let tree = txn.create_tree()?;
    story.other = txn.create_tree()?.id();
    story.tree = tree.id();
    for n in 0..ROWS {
        txn.insert(&tree, &key(2 * n), &[b'0'; 100])?;
    }
    txn.commit()?;
    story.known = ClientKnows::Ready;
    txn.begin(Isolation::RepeatableRead);
    for n in 0..ROWS {
        match n % 3 {
            0 => assert!(txn.delete(&tree, &key(2 * n))?),
            _ => assert!(txn.update(&tree, &key(2 * n), &[b'1'; 140])?),
        }
        if n % 4 == 0 {
            txn.insert(&tree, &key(2 * n + 1), &[b'2'; 50])?;
        }
    }
    others(&engine, story, 5)?;
    story.known = ClientKnows::Preparing;
    let prepared = txn.prepare(b"branch")?;
    story.known = ClientKnows::Prepared;
    // The log becomes too long, and the steps are logged again.
    let held = |engine: &Engine| engine.core.sessions.needed_log(Lsn(0));
    let before = held(&engine);
    others(&engine, story, 60)?;
    assert!(held(&engine) > before, "the log is not held from the first step on");
    engine.core.store.checkpoint()?;
    let mut prepared = prepared.expect("it has changes");
    story.known = ClientKnows::Deciding;
    match story.commits {
        true => prepared.commit()?,
        false => prepared.rollback()?,
    }
    story.known = ClientKnows::Decided;
    while engine.background_step()? {}
    // The machine stops without a shutdown.
    std::mem::forget((txn, prepared, engine));
    Ok(())
}

/// What must be true after a crash, and after the decision that it leaves open.
fn judge(disk: &SimDisk, story: &Story, decide: bool, label: &str) {
    let engine = open_sim(disk, &OPTIONS).unwrap_or_else(|error| panic!("{label}: {error}"));
    if story.known < ClientKnows::Ready {
        return;
    }
    let mut prepared = engine.take_prepared();
    let after = match prepared.pop() {
        Some(mut one) => {
            assert!(prepared.is_empty(), "{label}");
            assert!(
                story.known > ClientKnows::Ready && story.known < ClientKnows::Decided,
                "{label}"
            );
            assert_eq!(one.name(), b"branch", "{label}");
            run_background(&engine);
            assert_eq!(found(&engine, story.tree), expected(false), "{label}: undecided");
            match decide {
                true => one.commit().unwrap(),
                false => one.rollback().unwrap(),
            }
            decide
        }
        None => {
            assert!(story.known != ClientKnows::Prepared, "{label}: the prepared one is gone");
            run_background(&engine);
            story.known > ClientKnows::Prepared && story.commits
        }
    };
    assert_eq!(found(&engine, story.tree), expected(after), "{label}");
    run_background(&engine);
    let stats = engine.stats();
    assert_eq!((stats.unfinished, stats.history_length), (0, 0), "{label}");
    assert_eq!(stats.low_water, stats.next_txn, "{label}");
    assert!(engine.active_transactions().is_empty(), "{label}");
    let rows = expected(after).len() as u64;
    assert_eq!(engine.estimate_rows(&engine.tree(story.tree)).unwrap(), rows, "{label}: marks");
    assert_eq!(engine.check(&[story.tree, story.other]).unwrap(), Vec::<String>::new(), "{label}");
    engine.close().unwrap();
    drop(engine);
    let engine = open_sim(disk, &OPTIONS).unwrap();
    assert!(engine.take_prepared().is_empty(), "{label}: decided once");
    assert_eq!(found(&engine, story.tree), expected(after), "{label}: after a shutdown");
}

/// One run with a crash at a change of the disk, and crashes of the recovery; whether it came.
fn crash_at(commits: bool, change: u64) -> (bool, ClientKnows) {
    let mut disk = SimDisk::new();
    let none = TreeId(0);
    let mut story = Story { known: ClientKnows::Nothing, tree: none, other: none, commits };
    disk.inject(When::Change(change), Fault::Crash);
    let result = play(&disk, &mut story);
    let crashed = disk.has_crashed();
    assert!(crashed || result.is_ok(), "{result:?}");
    disk = disk.crash(change);
    for attempt in 0..2 {
        recover_until(&disk, &OPTIONS, 1 + (change * 5 + attempt * 3) % 19);
        disk = disk.crash(change + attempt);
    }
    let label = format!("commits {commits}, change {change}, {:?}", story.known);
    judge(&disk, &story, change.is_multiple_of(2), &label);
    (crashed, story.known)
}

#[test]
fn a_crash_at_any_change_of_the_disk_leaves_a_prepared_transaction_whole() {
    let step = if mutate::rounds(1) > 1 { 1 } else { 11 };
    for commits in [true, false] {
        let mut seen = Vec::new();
        for change in (1..).step_by(step) {
            let (crashed, known) = crash_at(commits, change);
            seen.push(known);
            if !crashed {
                break;
            }
        }
        let at = |wanted: ClientKnows| seen.iter().filter(|known| **known == wanted).count();
        assert!(
            at(ClientKnows::Prepared) > 5,
            "{} crashes while prepared",
            at(ClientKnows::Prepared)
        );
        assert!(seen.last() == Some(&ClientKnows::Decided), "{seen:?}");
    }
}

/// The steps of a rollback that has begun are not taken for those of a prepared transaction.
#[test]
fn a_crash_in_the_middle_of_the_rollback_ends_in_a_rollback() {
    let disk = SimDisk::new();
    let none = TreeId(0);
    let mut story = Story { known: ClientKnows::Nothing, tree: none, other: none, commits: false };
    let engine = open_sim(&disk, &OPTIONS).unwrap();
    let mut txn = rr(&engine);
    let tree = txn.create_tree().unwrap();
    (story.tree, story.other) = (tree.id(), txn.create_tree().unwrap().id());
    for n in 0..ROWS {
        txn.insert(&tree, &key(2 * n), &[b'0'; 100]).unwrap();
    }
    txn.commit().unwrap();
    txn.begin(Isolation::RepeatableRead);
    for n in 0..ROWS {
        assert!(txn.update(&tree, &key(2 * n), &[b'1'; 9000]).unwrap());
    }
    let mut prepared = txn.prepare(b"branch").unwrap().unwrap();
    for failure in [2, 9, 30] {
        disk.inject(When::Read(failure), Fault::Io);
    }
    let rolled_back = prepared.rollback();
    disk.clear_faults();
    assert!(!prepared.is_open());
    let wal = engine.core.store.wal();
    wal.wait_durable(wal.closed_lsn()).unwrap();
    std::mem::forget((txn, prepared, engine));
    let disk = disk.kill();
    let engine = open_sim(&disk, &OPTIONS).unwrap();
    assert!(engine.take_prepared().is_empty(), "{rolled_back:?}");
    run_background(&engine);
    assert_eq!(found(&engine, story.tree), expected(false));
    assert_eq!(engine.check(&[story.tree, story.other]).unwrap(), Vec::<String>::new());
}
