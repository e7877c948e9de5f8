//! A transaction left open does not make the log grow without bound, however much it has changed:
//! its steps are logged again, in parts, and a crash at any point of that rolls it back whole.

use super::super::undo::UndoKind;
use super::*;
use inia_base::ids::Lsn;
use inia_testkit::{Fault, SimDisk, When};

const ROWS: u32 = 4000;
const CAPACITY: u64 = 1 << 20;

const OPTIONS: StoreOptions = StoreOptions {
    buffer_pool_size: 100 * 16 * 1024,
    log_capacity: CAPACITY,
    segment_size: 128 << 10,
    undo_memory: 64 << 10,
    background: false,
};

fn with_log(log_capacity: u64) -> StoreOptions {
    StoreOptions { log_capacity, ..OPTIONS }
}

/// Bytes of all log files.
fn log_size(disk: &SimDisk) -> u64 {
    let names = disk.list().unwrap().into_iter().filter(|name| name.starts_with("wal-"));
    names.map(|name| disk.open(&name, false).unwrap().len().unwrap()).sum()
}

/// A transaction with about 800 KB of steps, some of them undone again and some in a tree of its
/// own, next to a tree for others.
struct Large {
    engine: Arc<Engine>,
    open: Txn,
    tree: TreeId,
    others: TreeId,
}

fn large(disk: &SimDisk) -> crate::Result<Large> {
    large_in(open_sim(disk, &OPTIONS)?)
}

fn large_in(engine: Arc<Engine>) -> crate::Result<Large> {
    let mut txn = rr(&engine);
    let (tree, others) = (txn.create_tree()?, txn.create_tree()?);
    for n in 0..ROWS {
        txn.insert(&tree, &key(n), &[b'0'; 150])?;
    }
    for n in 0..10 {
        txn.insert(&others, &key(n), b"")?;
    }
    txn.commit()?;
    while engine.background_step()? {}
    txn.begin(Isolation::RepeatableRead);
    change(&mut txn, &tree, 0..ROWS - 100)?;
    let savepoint = txn.savepoint();
    change(&mut txn, &tree, ROWS - 100..ROWS)?;
    txn.rollback_to(savepoint)?;
    let (tree, others) = (tree.id(), others.id());
    Ok(Large { engine, open: txn, tree, others })
}

fn change(txn: &mut Txn, tree: &Tree, rows: std::ops::Range<u32>) -> crate::Result<()> {
    for n in rows {
        match n % 3 {
            0 => assert!(txn.delete(tree, &key(n))?),
            _ => assert!(txn.update(tree, &key(n), &[b'1'; 150])?),
        }
    }
    Ok(())
}

/// A commit of another session that takes about 4 KB of log, and a background step.
fn others_commit(large: &Large, other: &mut Txn, n: u32) -> crate::Result<()> {
    let tree = large.engine.tree(large.others);
    other.begin(Isolation::RepeatableRead);
    other.update(&tree, &key(n % 10), &[n as u8; 2000])?;
    other.commit()?;
    large.engine.background_step().map(|_| ())
}

fn assert_rolled_back(disk: &SimDisk, tree: TreeId, others: TreeId) {
    let engine = open_sim(disk, &OPTIONS).unwrap();
    let show = |engine: &Arc<Engine>| {
        let mut txn = rr(engine);
        let open = KeyBound::Unbounded;
        let tree = engine.tree(tree);
        let mut cursor = txn.cursor(&tree, open, open, Direction::Forward, ReadMode::Snapshot);
        for n in 0..ROWS {
            let record = cursor.next(&mut txn).unwrap().unwrap();
            assert!(record.key == key(n) && record.value == [b'0'; 150], "row {n}");
        }
        assert!(cursor.next(&mut txn).unwrap().is_none());
    };
    show(&engine);
    run_background(&engine);
    show(&engine);
    assert_eq!(engine.stats().unfinished, 0);
    assert_eq!(engine.check(&[tree, others]).unwrap(), Vec::<String>::new());
}

#[test]
fn the_log_of_a_large_transaction_left_open_stays_bounded() {
    let disk = SimDisk::new();
    let mut large = large(&disk).unwrap();
    let steps = large.open.session.undo_bytes();
    assert!(steps > CAPACITY / 2, "{steps}");
    let mut other = large.engine.attach();
    let mut largest = 0;
    let mut moves = 0;
    let held = |large: &Large| large.engine.core.sessions.needed_log(Lsn(u64::MAX - 1)).unwrap();
    let mut hold = held(&large);
    for n in 0..6000 {
        others_commit(&large, &mut other, n).unwrap();
        largest = largest.max(log_size(&disk));
        if held(&large) > hold {
            hold = held(&large);
            moves += 1;
        }
        if n == 3000 {
            let tree = large.engine.tree(large.tree);
            change(&mut large.open, &tree, ROWS - 100..ROWS).unwrap();
        }
    }
    assert!(moves >= 3, "{moves}");
    // A part of it is ready for the rollback.
    assert!(largest < 8 * steps + 2 * CAPACITY, "{largest} with {steps} of steps");
    let (tree, others) = (large.tree, large.others);
    std::mem::forget((large, other));
    assert_rolled_back(&disk.kill(), tree, others);
}

/// A large transaction whose steps are just being logged again, and another session.
fn being_relogged(disk: &SimDisk) -> (Large, Txn) {
    let large = large(disk).unwrap();
    let mut other = large.engine.attach();
    let mut n = 0;
    while large.engine.core.relogging.lock().is_none() {
        others_commit(&large, &mut other, n).unwrap();
        n += 1;
    }
    (large, other)
}

#[test]
fn a_crash_after_any_part_of_relogging_is_like_none() {
    for part in 0..7 {
        let disk = SimDisk::new();
        let (mut large, mut other) = being_relogged(&disk);
        for n in 0..part {
            others_commit(&large, &mut other, n).unwrap();
        }
        if part % 2 == 0 {
            let tree = large.engine.tree(large.tree);
            change(&mut large.open, &tree, ROWS - 50..ROWS).unwrap();
        }
        large.engine.core.store.checkpoint().unwrap();
        let (tree, others) = (large.tree, large.others);
        std::mem::forget((large, other));
        assert_rolled_back(&disk.crash(u64::from(part)), tree, others);
    }
}

#[test]
fn a_crash_at_any_change_of_the_disk_while_relogging_loses_nothing() {
    let mut points = 0;
    for change in (1..).step_by(19) {
        let disk = SimDisk::new();
        let (large, mut other) = being_relogged(&disk);
        disk.inject(When::Change(change), Fault::Crash);
        let mut n = 0;
        let mut through = || {
            while large.engine.core.relogging.lock().is_some() {
                others_commit(&large, &mut other, n)?;
                n += 1;
            }
            large.engine.core.store.checkpoint()
        };
        let done = through();
        let (tree, others) = (large.tree, large.others);
        std::mem::forget((large, other));
        assert_rolled_back(&disk.crash(change), tree, others);
        points += 1;
        if done.is_ok() {
            break;
        }
    }
    assert!(points > 2, "{points}");
}

/// Its steps are there as long as a snapshot may need them, but must not be logged any more. Where
/// they are, the log is long enough to be read from before they would be.
#[test]
fn a_transaction_that_ends_while_it_is_relogged_stays_ended() {
    for (commits, watched) in [(true, true), (true, false), (false, true), (false, false)] {
        let disk = SimDisk::new();
        let capacity = if watched && commits { 8 * CAPACITY } else { CAPACITY };
        let mut large = large_in(open_sim(&disk, &with_log(capacity)).unwrap()).unwrap();
        let mut reader = rr(&large.engine);
        if watched {
            reader.take_snapshot();
        }
        let made = large.open.create_tree().unwrap();
        large.open.insert(&made, b"key", b"value").unwrap();
        while large.engine.background_step().unwrap() {}
        let mut n = 0;
        let mut other = large.engine.attach();
        while large.engine.core.relogging.lock().is_none() {
            others_commit(&large, &mut other, n).unwrap();
            n += 1;
        }
        match commits {
            true => large.open.commit().unwrap(),
            false => large.open.rollback().unwrap(),
        }
        while large.engine.background_step().unwrap() {}
        let wal = large.engine.core.store.wal();
        wal.wait_durable(wal.closed_lsn()).unwrap();
        let (tree, others) = (large.tree, large.others);
        std::mem::forget((large, other, reader));
        let disk = disk.kill();
        if commits {
            let engine = open_sim(&disk, &with_log(capacity)).unwrap();
            let mut txn = rr(&engine);
            assert!(txn.get(&engine.tree(tree), &key(0), |_| ()).unwrap().is_none());
            let changed = txn.get(&engine.tree(tree), &key(1), |value| value == [b'1'; 150]);
            assert_eq!(changed.unwrap(), Some(true));
            assert!(txn.get(&engine.tree(made.id()), b"key", |_| ()).unwrap().is_some());
        } else {
            assert_rolled_back(&disk, tree, others);
        }
    }
}

/// Updates a row and stops before the undo is published, as a writer does that loses its processor
/// there. Its step is in the log already.
fn update_unpublished(txn: &mut Txn, tree: &Tree, n: u32) {
    let (key, value) = (key(n), [b'2'; 150]);
    txn.prepare_write().unwrap();
    let mut writing = txn.writing(tree, &key);
    let store = &writing.core.store;
    let write = |leaf: &mut crate::btree::LeafMut<'_, '_>| {
        let i = leaf.lower_bound(&key).unwrap();
        writing.overwrite_at(leaf, i, None, UndoKind::Change, &value)?;
        writing.log_undo(leaf);
        Ok(())
    };
    tree.btree().modify(store, &key, value.len(), write).unwrap();
}

#[test]
fn relogging_does_not_begin_between_a_step_and_its_publication() {
    for published in [false, true] {
        let disk = SimDisk::new();
        let mut large = large(&disk).unwrap();
        let core = Arc::clone(&large.engine.core);
        let (tree, others) = (large.engine.tree(large.tree), large.engine.tree(large.others));
        let mut other = large.engine.attach();
        let needed = || core.sessions.needed_log(Lsn(u64::MAX - 1)).unwrap();
        let held = needed();
        // No step of the background, which would begin at once when the log is long enough.
        while core.store.wal().closed_lsn().0 - held.0 < 8 * large.open.session.undo_bytes() {
            other.begin(Isolation::RepeatableRead);
            other.update(&others, &key(1), &[1; 2000]).unwrap();
            other.commit().unwrap();
        }
        update_unpublished(&mut large.open, &tree, ROWS - 1);
        if published {
            large.open.publish_undo();
        }
        for n in 0..1000 {
            others_commit(&large, &mut other, n).unwrap();
        }
        assert_eq!(needed() > held, published, "the log is held for the step");
        core.store.checkpoint().unwrap();
        let (tree, others) = (large.tree, large.others);
        std::mem::forget((large, other));
        assert_rolled_back(&disk.kill(), tree, others);
    }
}
