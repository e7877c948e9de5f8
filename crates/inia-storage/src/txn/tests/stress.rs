//! Real threads: money is moved about and never made or lost, whatever the interleaving.

use super::*;
use inia_testkit::Random;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const ACCOUNTS: u64 = 40;
const TOTAL: u64 = ACCOUNTS * 1000;

fn account(n: u64) -> [u8; 4] {
    (n as u32).to_be_bytes()
}

fn balance(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().unwrap())
}

/// A record whose length varies, so that leaves split and merge.
fn record(balance: u64, random: &mut Random) -> Vec<u8> {
    let mut bytes = balance.to_le_bytes().to_vec();
    bytes.resize(8 + random.below(900) as usize, b'.');
    bytes
}

fn total(txn: &mut Txn, tree: &Tree, direction: Direction, mode: ReadMode) -> crate::Result<u64> {
    let open = KeyBound::Unbounded;
    let mut cursor = txn.cursor(tree, open, open, direction, mode);
    let mut sum = 0;
    while let Some(record) = cursor.next(txn)? {
        sum += balance(record.value);
    }
    Ok(sum)
}

/// Moves an amount; sometimes closes the source account into the target, or opens a new one.
fn transfer(txn: &mut Txn, tree: &Tree, random: &mut Random) -> crate::Result<()> {
    if random.chance(1, 12) {
        return shuffle(txn, tree, random);
    }
    let (from, to) = (account(random.below(ACCOUNTS)), account(random.below(ACCOUNTS)));
    if from == to {
        return Ok(());
    }
    let Some(source) = txn.lock_get(tree, &from, X, balance)? else { return Ok(()) };
    let target = txn.lock_get(tree, &to, X, balance)?;
    let amount = if random.chance(1, 3) { source } else { random.below(source + 1) };
    let value = record(source - amount, random);
    if amount == source && random.chance(1, 2) {
        assert!(txn.delete(tree, &from)?);
    } else {
        assert!(txn.update(tree, &from, &value)?);
    }
    match target {
        Some(target) => assert!(txn.update(tree, &to, &record(target + amount, random))?),
        None => txn.insert(tree, &to, &record(amount, random))?,
    }
    Ok(())
}

/// Locks all accounts, and gives each the balance of another, many at a time.
fn shuffle(txn: &mut Txn, tree: &Tree, random: &mut Random) -> crate::Result<()> {
    let open = KeyBound::Unbounded;
    let mut cursor = txn.cursor(tree, open, open, Direction::Forward, ReadMode::Lock(X));
    let mut accounts = Vec::new();
    while let Some(found) = cursor.next(txn)? {
        accounts.push((found.key.to_vec(), balance(found.value)));
    }
    drop(cursor);
    let distance = random.index(accounts.len().max(1));
    let (mut many, deletes) = (Records::default(), random.chance(1, 2));
    let mut new = Records::default();
    for (i, (key, _)) in accounts.iter().enumerate() {
        let (_, other) = accounts[(i + distance) % accounts.len()];
        let value = record(other, random);
        // Where the leaf just changes nothing is found without a lock.
        match txn.peek(tree, key, |_| ())? {
            Some(locator) => many.push_seen(key, &value, &locator),
            None => assert!(txn.update(tree, key, &value)?),
        }
    }
    let mut next = 0;
    while next < many.len() {
        let from = next;
        next = match deletes {
            true => txn.delete_batch(tree, &many, from..many.len())?,
            false => txn.update_batch(tree, &many, from..many.len())?,
        };
        (from..next).for_each(|i| new.push(many.key(i), many.value(i)));
        if next < many.len() {
            assert!(txn.update(tree, many.key(next), many.value(next))?);
            next += 1;
        }
    }
    let mut next = if deletes { 0 } else { new.len() };
    while next < new.len() {
        next = txn.insert_batch(tree, &new, next..new.len())?;
        if next < new.len() {
            txn.insert(tree, new.key(next), new.value(next))?;
            next += 1;
        }
    }
    Ok(())
}

/// A session whose lock waits end by a grant or a deadlock alone: on a busy machine a wait may take
/// long.
fn patient(engine: &Arc<Engine>) -> Txn {
    let mut txn = engine.attach();
    txn.set_lock_wait_timeout(Duration::from_secs(1 << 20));
    txn
}

fn acceptable(result: crate::Result<()>) -> bool {
    match result {
        Ok(()) => true,
        Err(StorageError::Deadlock | StorageError::DuplicateKey) => false,
        Err(error) => panic!("{error}"),
    }
}

fn run(level: Isolation, background: bool) {
    let engine = open_spilling(Arc::new(MemDisk::new()), background);
    let mut txn = rr(&engine);
    let tree = txn.create_tree().unwrap();
    for n in 0..ACCOUNTS {
        txn.insert(&tree, &account(n), &record(1000, &mut Random::new(n))).unwrap();
    }
    txn.commit().unwrap();
    let done = AtomicBool::new(false);
    let (commits, counted) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let (engine, tree, done) = (&engine, &tree, &done);
        let (commits, counted) = (&commits, &counted);
        let writers: Vec<_> = (0..4)
            .map(|seed| {
                scope.spawn(move || {
                    let mut random = Random::new(seed);
                    let mut txn = patient(engine);
                    for _ in 0..400 {
                        txn.begin(level);
                        txn.begin_statement();
                        let moved = transfer(&mut txn, tree, &mut random);
                        if acceptable(moved) && !random.chance(1, 8) {
                            txn.commit().unwrap();
                            commits.fetch_add(1, Ordering::Relaxed);
                        } else {
                            txn.rollback().unwrap();
                        }
                    }
                })
            })
            .collect();
        for direction in [Direction::Forward, Direction::Backward] {
            scope.spawn(move || {
                let mut txn = patient(engine);
                while !done.load(Ordering::Relaxed) {
                    txn.begin(Isolation::RepeatableRead);
                    for _ in 0..3 {
                        let sum = total(&mut txn, tree, direction, ReadMode::Snapshot).unwrap();
                        assert_eq!(sum, TOTAL, "{direction:?}");
                    }
                    match total(&mut txn, tree, direction, ReadMode::Lock(S)) {
                        Ok(sum) => {
                            assert_eq!(sum, TOTAL, "locking {direction:?}");
                            counted.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(StorageError::Deadlock) => {}
                        Err(error) => panic!("{error}"),
                    }
                    txn.rollback().unwrap();
                }
            });
        }
        let ended: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(|ended| ended.is_ok()), "a writer has failed");
    });
    assert!(commits.load(Ordering::Relaxed) > 100);
    assert!(counted.load(Ordering::Relaxed) > 0, "no locking scan has come to its end");
    assert!(engine.lock_waits().is_empty() && engine.active_transactions().is_empty());
    run_background(&engine);
    let mut txn = rr(&engine);
    let sum = total(&mut txn, &tree, Direction::Forward, ReadMode::Snapshot).unwrap();
    assert_eq!(sum, TOTAL);
    assert_eq!(engine.check(&[tree.id()]).unwrap(), Vec::<String>::new());
}

#[test]
fn money_is_neither_made_nor_lost_at_repeatable_read() {
    run(Isolation::RepeatableRead, true);
}

#[test]
fn money_is_neither_made_nor_lost_at_read_committed() {
    run(Isolation::ReadCommitted, true);
}

#[test]
fn money_is_neither_made_nor_lost_at_the_other_levels() {
    run(Isolation::ReadUncommitted, true);
    run(Isolation::Serializable, true);
}

/// Few accounts that come and go all the time, purged at once, and readers that lock
/// them all, one by one.
#[test]
fn locking_scans_see_all_the_money_where_records_come_and_go() {
    const ACCOUNTS: u64 = 10;
    let options = EngineOptions { buffer_pool_size: 4 << 20, background: true };
    let engine = Engine::open(Arc::new(MemDisk::new()), options).unwrap();
    let records: Vec<_> = (0..ACCOUNTS).map(|n| (n, record(1000, &mut Random::new(n)))).collect();
    let mut txn = rr(&engine);
    let tree = txn.create_tree().unwrap();
    for (n, record) in &records {
        txn.insert(&tree, &account(*n), record).unwrap();
    }
    txn.commit().unwrap();
    let (done, counted) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let (engine, tree, done, counted) = (&engine, &tree, &done, &counted);
        let writers: Vec<_> = (0..2)
            .map(|seed| {
                scope.spawn(move || {
                    let mut random = Random::new(seed);
                    let mut txn = patient(engine);
                    for _ in 0..5000 {
                        txn.begin(Isolation::RepeatableRead);
                        let (from, to) = (random.below(ACCOUNTS), random.below(ACCOUNTS));
                        let moved = move_all(&mut txn, tree, from, to, &mut random);
                        if acceptable(moved) { txn.commit() } else { txn.rollback() }.unwrap();
                    }
                })
            })
            .collect();
        for direction in [Direction::Forward, Direction::Backward] {
            scope.spawn(move || {
                let mut txn = patient(engine);
                while !done.load(Ordering::Relaxed) {
                    txn.begin(Isolation::RepeatableRead);
                    if let Some(sum) = locked_total(&mut txn, tree, direction) {
                        assert_eq!(sum, ACCOUNTS * 1000, "{direction:?}");
                        counted.fetch_add(1, Ordering::Relaxed);
                    }
                    txn.rollback().unwrap();
                }
            });
        }
        let ended: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(|ended| ended.is_ok()), "a writer has failed");
    });
    let counted = counted.into_inner();
    assert!(counted > 20, "{counted} scans have come to their end");
}

/// As [`total`], locking, and giving way to others after each record; `None` after a deadlock.
fn locked_total(txn: &mut Txn, tree: &Tree, direction: Direction) -> Option<u64> {
    let open = KeyBound::Unbounded;
    let mut cursor = txn.cursor(tree, open, open, direction, ReadMode::Lock(S));
    let mut sum = 0;
    loop {
        match cursor.next(txn) {
            Ok(Some(record)) => sum += balance(record.value),
            Ok(None) => return Some(sum),
            Err(StorageError::Deadlock) => return None,
            Err(error) => panic!("{error}"),
        }
        std::thread::yield_now();
    }
}

/// Closes one account into another, or gives half of it to a new one.
fn move_all(
    txn: &mut Txn,
    tree: &Tree,
    from: u64,
    to: u64,
    random: &mut Random,
) -> crate::Result<()> {
    if from == to {
        return Ok(());
    }
    let (from, to) = (account(from), account(to));
    let Some(source) = txn.lock_get(tree, &from, X, balance)? else { return Ok(()) };
    match txn.lock_get(tree, &to, X, balance)? {
        Some(target) => {
            assert!(txn.delete(tree, &from)?);
            assert!(txn.update(tree, &to, &record(target + source, random))?);
        }
        None => {
            assert!(txn.update(tree, &from, &record(source - source / 2, random))?);
            txn.insert(tree, &to, &record(source / 2, random))?;
        }
    }
    Ok(())
}

#[test]
fn no_insert_slips_into_a_locked_range() {
    let engine = Engine::open(
        Arc::new(MemDisk::new()),
        EngineOptions { buffer_pool_size: 4 << 20, background: true },
    )
    .unwrap();
    let tree = tree_with(&engine, &[]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (engine, tree, done) = (&engine, &tree, &done);
        let writers: Vec<_> = (0..3)
            .map(|seed| {
                scope.spawn(move || {
                    let mut random = Random::new(seed);
                    let mut txn = patient(engine);
                    for _ in 0..800 {
                        txn.begin(Isolation::RepeatableRead);
                        let key = account(random.below(2000));
                        let done = match random.below(3) {
                            0 => txn.delete(tree, &key).map(|_| ()),
                            _ => match txn.insert(tree, &key, &[1; 200]) {
                                Err(StorageError::DuplicateKey) => Ok(()),
                                other => other,
                            },
                        };
                        if acceptable(done) { txn.commit() } else { txn.rollback() }.unwrap();
                    }
                })
            })
            .collect();
        scope.spawn(move || {
            let mut random = Random::new(99);
            let mut txn = patient(engine);
            while !done.load(Ordering::Relaxed) {
                txn.begin(Isolation::RepeatableRead);
                let low = random.below(1900);
                let (low, high) = (account(low), account(low + random.below(100)));
                let bounds = (KeyBound::Included(&low[..]), KeyBound::Excluded(&high[..]));
                let mut seen: Option<Vec<Vec<u8>>> = None;
                for direction in [Direction::Forward, Direction::Backward, Direction::Forward] {
                    let mode = ReadMode::Lock(if direction == Direction::Forward { X } else { S });
                    let mut cursor = txn.cursor(tree, bounds.0, bounds.1, direction, mode);
                    let mut keys = Vec::new();
                    let end = loop {
                        match cursor.next(&mut txn) {
                            Ok(Some(record)) => keys.push(record.key.to_vec()),
                            Ok(None) => break true,
                            Err(StorageError::Deadlock) => break false,
                            Err(error) => panic!("{error}"),
                        }
                    };
                    if !end {
                        break;
                    }
                    keys.sort();
                    assert_eq!(*seen.get_or_insert_with(|| keys.clone()), keys);
                }
                txn.rollback().unwrap();
            }
        });
        let ended: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(|ended| ended.is_ok()), "a writer has failed");
    });
    run_background(&engine);
    assert_eq!(engine.check(&[tree.id()]).unwrap(), Vec::<String>::new());
}
