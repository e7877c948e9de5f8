//! A crash in the middle of work on whole trees, whose changes share operations of the log.
//!
//! One transaction inserts, changes and deletes many records at a time, rolls back to savepoints in
//! the middle of that, and commits or not. Values grow, so that leaves split between the parts of a
//! change; some are in pages of their own, some keys are very long. A reader keeps an old snapshot,
//! purge, relogging and checkpoints go on. The disk stops at its n-th change; afterwards there must
//! be what was acknowledged, or that and the one commit that was under way.

use super::*;
use inia_testkit::{Fault, Random, SimDisk, When, mutate};
use std::collections::BTreeMap;

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

const KEYS: u64 = 700;

const OPTIONS: StoreOptions = StoreOptions {
    buffer_pool_size: 48 * 16 * 1024,
    log_capacity: 512 << 10,
    segment_size: 128 << 10,
    undo_memory: 16 << 10,
    background: false,
};

fn key(n: u64) -> Vec<u8> {
    let mut key = format!("{n:05}").into_bytes();
    if n.is_multiple_of(41) {
        key.resize(3500, b'k');
    }
    key
}

fn value(n: u64, round: u64) -> Vec<u8> {
    let length = match (n * 31 + round * 7) % 90 {
        0 => 20_000,
        1..=3 => 3000,
        other => other * round % 200,
    };
    vec![b'a' + (round % 26) as u8; length as usize]
}

fn records(txn: &mut Txn, tree: &Tree) -> Map {
    let open = KeyBound::Unbounded;
    let mut cursor = txn.cursor(tree, open, open, Direction::Forward, ReadMode::Snapshot);
    let mut found = Map::new();
    while let Some(record) = cursor.next(txn).unwrap() {
        found.insert(record.key.to_vec(), record.value.to_vec());
    }
    found
}

/// What is known outside.
#[derive(Default)]
struct Ledger {
    tree: Option<TreeId>,
    acknowledged: Map,
    under_way: Option<Map>,
}

struct BulkRun<'w> {
    engine: Arc<Engine>,
    tree: Tree,
    random: Random,
    ledger: &'w mut Ledger,
    txn: Txn,
    /// What the transaction has made of the tree, and had at its savepoints.
    seen: Map,
    savepoints: Vec<(Savepoint, Map)>,
    /// An old snapshot, and what was there then.
    reader: Txn,
    old: Map,
    round: u64,
}

impl BulkRun<'_> {
    fn step(&mut self) -> crate::Result<()> {
        if !self.txn.is_open() {
            self.txn.begin(Isolation::RepeatableRead);
        }
        self.round += 1;
        match self.random.below(16) {
            0..=2 => self.insert(),
            3..=5 => self.change(false),
            6 | 7 => self.change(true),
            8 => {
                self.savepoints.push((self.txn.savepoint(), self.seen.clone()));
                Ok(())
            }
            9 | 10 => self.roll_back_to(),
            11 => self.commit(),
            12 => {
                self.seen = self.ledger.acknowledged.clone();
                self.savepoints.clear();
                self.txn.rollback()
            }
            13 => self.read(),
            14 => self.engine.core.store.checkpoint().map(|_| ()),
            _ => {
                for _ in 0..self.random.below(6) {
                    self.engine.background_step()?;
                }
                Ok(())
            }
        }
    }

    fn range(&mut self) -> std::ops::Range<u64> {
        match self.random.below(3) {
            0 => 0..KEYS,
            _ => {
                let start = self.random.below(KEYS);
                start..KEYS.min(start + self.random.below(KEYS / 2))
            }
        }
    }

    /// Inserts what is not there.
    fn insert(&mut self) -> crate::Result<()> {
        let mut new = Records::default();
        let distance = 1 + self.random.index(3);
        for n in self.range().step_by(distance) {
            new.push(&key(n), &value(n, self.round));
        }
        let mut next = 0;
        loop {
            let from = next;
            next = self.txn.insert_batch(&self.tree, &new, from..new.len())?;
            for i in from..next {
                self.seen.insert(new.key(i).to_vec(), new.value(i).to_vec());
            }
            if next == new.len() {
                return Ok(());
            }
            match self.txn.insert(&self.tree, new.key(next), new.value(next)) {
                Err(StorageError::DuplicateKey) => {}
                done => {
                    done?;
                    self.seen.insert(new.key(next).to_vec(), new.value(next).to_vec());
                }
            }
            next += 1;
        }
    }

    /// Changes or deletes what is there.
    fn change(&mut self, deletes: bool) -> crate::Result<()> {
        let mut many = Records::default();
        for n in self.range() {
            let (key, value) = (key(n), value(n, self.round));
            if !self.seen.contains_key(&key) {
                continue;
            }
            match self.txn.peek(&self.tree, &key, |_| ())? {
                Some(locator) => many.push_seen(&key, &value, &locator),
                // It is long.
                None => self.change_one(deletes, &key, &value)?,
            }
        }
        let mut next = 0;
        while next < many.len() {
            let from = next;
            next = match deletes {
                true => self.txn.delete_batch(&self.tree, &many, from..many.len())?,
                false => self.txn.update_batch(&self.tree, &many, from..many.len())?,
            };
            for i in from..next {
                self.note(deletes, many.key(i), many.value(i));
            }
            if next < many.len() {
                self.change_one(deletes, many.key(next), many.value(next))?;
                next += 1;
            }
        }
        Ok(())
    }

    fn change_one(&mut self, deletes: bool, key: &[u8], value: &[u8]) -> crate::Result<()> {
        let done = match deletes {
            true => self.txn.delete(&self.tree, key)?,
            false => self.txn.update(&self.tree, key, value)?,
        };
        assert!(done, "the record is there");
        self.note(deletes, key, value);
        Ok(())
    }

    fn note(&mut self, deletes: bool, key: &[u8], value: &[u8]) {
        match deletes {
            true => self.seen.remove(key),
            false => self.seen.insert(key.to_vec(), value.to_vec()),
        };
    }

    fn roll_back_to(&mut self) -> crate::Result<()> {
        if self.savepoints.is_empty() {
            return Ok(());
        }
        let at = self.random.index(self.savepoints.len());
        self.savepoints.truncate(at + 1);
        let (savepoint, then) = &self.savepoints[at];
        self.seen = then.clone();
        self.txn.rollback_to(*savepoint)
    }

    fn commit(&mut self) -> crate::Result<()> {
        self.savepoints.clear();
        self.ledger.under_way = Some(self.seen.clone());
        self.txn.commit()?;
        self.ledger.acknowledged = self.ledger.under_way.take().unwrap();
        Ok(())
    }

    /// The old snapshot and the transaction show what they must; then the snapshot is a new one.
    fn read(&mut self) -> crate::Result<()> {
        assert!(records(&mut self.txn, &self.tree) == self.seen, "round {}", self.round);
        assert!(records(&mut self.reader, &self.tree) == self.old, "round {}, old", self.round);
        self.reader.rollback()?;
        self.reader.begin(Isolation::RepeatableRead);
        self.reader.take_snapshot();
        self.old = self.ledger.acknowledged.clone();
        Ok(())
    }
}

/// Works until the disk stops or enough is done.
fn work(disk: &SimDisk, seed: u64, ledger: &mut Ledger) -> crate::Result<()> {
    let engine = open_sim(disk, &OPTIONS)?;
    let mut txn = rr(&engine);
    let tree = txn.create_tree()?;
    let made = tree.id();
    txn.commit()?;
    ledger.tree = Some(made);
    let mut reader = rr(&engine);
    reader.take_snapshot();
    let (seen, old) = Default::default();
    let random = Random::new(seed);
    let (savepoints, round) = (Vec::new(), 0);
    let mut work =
        BulkRun { engine, tree, random, ledger, txn, seen, savepoints, reader, old, round };
    let done = (0..60).try_for_each(|_| {
        // Reading meets a disk that has stopped, too.
        if disk.has_crashed() { Err(StorageError::DiskFull) } else { work.step() }
    });
    let BulkRun { engine, txn, reader, .. } = work;
    match disk.has_crashed() {
        true => drop((txn, reader, engine)),
        false => std::mem::forget((txn, reader, engine)),
    }
    done
}

/// One workload, one crash, and crashes of the recovery; whether the disk came so far.
fn crash_at(seed: u64, change: u64) -> bool {
    let mut disk = SimDisk::new();
    let mut ledger = Ledger::default();
    disk.inject(When::Change(change), Fault::Crash);
    let worked = work(&disk, seed, &mut ledger);
    let crashed = disk.has_crashed();
    assert_eq!(worked.is_err(), crashed, "seed {seed}, change {change}: {worked:?}");
    disk = disk.crash(seed + change);
    for attempt in 0..2 {
        recover_until(&disk, &OPTIONS, 1 + (change * 7 + attempt * 5) % 41);
        disk = disk.crash(change + attempt);
    }
    let Some(tree) = ledger.tree else { return crashed };
    let engine = open_sim(&disk, &OPTIONS).unwrap();
    let found = records(&mut rr(&engine), &engine.tree(tree));
    let whole = found == ledger.acknowledged || ledger.under_way.as_ref() == Some(&found);
    assert!(whole, "seed {seed}, change {change}: {} records", found.len());
    run_background(&engine);
    assert!(records(&mut rr(&engine), &engine.tree(tree)) == found, "seed {seed}, {change}");
    assert_eq!(engine.check(&[tree]).unwrap(), Vec::<String>::new(), "seed {seed}, {change}");
    crashed
}

#[test]
fn work_on_whole_trees_is_there_as_a_whole_or_not_at_all() {
    let mut points = 0;
    for seed in 0..mutate::rounds(2) {
        let mut change = 5 + seed * 17 % 307;
        while crash_at(seed, change) {
            change += 307;
            points += 1;
        }
    }
    assert!(points > 8, "{points} crashes");
}

/// Records `0..count`, as they are read for a later change.
fn peeked(txn: &mut Txn, tree: &Tree, count: u32, value: &[u8]) -> Records {
    let mut records = Records::default();
    for n in 0..count {
        let locator = txn.peek(tree, &n.to_be_bytes(), |_| ()).unwrap().unwrap();
        records.push_seen(&n.to_be_bytes(), value, &locator);
    }
    records
}

/// A tree with so many records, by one transaction.
fn inserted(engine: &Arc<Engine>, count: u32) -> TreeId {
    let mut txn = rr(engine);
    let tree = txn.create_tree().unwrap();
    let mut records = Records::default();
    (0..count).for_each(|n| records.push(&n.to_be_bytes(), b"old"));
    assert_eq!(txn.insert_batch(&tree, &records, 0..records.len()).unwrap(), records.len());
    txn.commit().unwrap();
    tree.id()
}

fn make_log_durable(engine: &Engine) {
    let wal = engine.core.store.wal();
    wal.wait_durable(wal.closed_lsn()).unwrap();
}

/// How many records have which first letter, after a crash, before and after the background's work.
fn letters_after_a_crash(disk: &MemDisk, tree: TreeId) -> BTreeMap<u8, usize> {
    let engine = open_on(disk);
    let letters = || {
        let mut letters = BTreeMap::new();
        for value in records(&mut rr(&engine), &engine.tree(tree)).values() {
            *letters.entry(value[0]).or_default() += 1;
        }
        letters
    };
    let before = letters();
    run_background(&engine);
    assert_eq!(letters(), before);
    assert_eq!(engine.check(&[tree]).unwrap(), Vec::<String>::new());
    std::mem::forget(engine);
    before
}

/// A savepoint lies between two changes that one operation of the log would have taken.
#[test]
fn a_run_is_rolled_back_to_its_middle_and_then_there_is_a_crash() {
    const ROWS: u32 = 300;
    for commits in [false, true] {
        let disk = MemDisk::new();
        let engine = open_on(&disk);
        let id = inserted(&engine, ROWS);
        let (mut txn, tree) = (rr(&engine), engine.tree(id));
        let new = peeked(&mut txn, &tree, ROWS, b"new");
        assert_eq!(txn.update_batch(&tree, &new, 0..150).unwrap(), 150);
        let half = txn.savepoint();
        assert_eq!(txn.update_batch(&tree, &new, 150..300).unwrap(), 300);
        let gone = peeked(&mut txn, &tree, ROWS, b"");
        assert_eq!(txn.delete_batch(&tree, &gone, 100..200).unwrap(), 200);
        txn.rollback_to(half).unwrap();
        // Over what was taken back, so that the log has both.
        let again = peeked(&mut txn, &tree, ROWS, b"xyz");
        assert_eq!(txn.update_batch(&tree, &again, 120..180).unwrap(), 180);
        if commits {
            txn.commit().unwrap();
        } else {
            make_log_durable(&engine);
        }
        std::mem::forget((txn, engine));
        let expected = match commits {
            true => BTreeMap::from([(b'n', 120), (b'x', 60), (b'o', 120)]),
            false => BTreeMap::from([(b'o', 300)]),
        };
        for _ in 0..2 {
            assert_eq!(letters_after_a_crash(&disk, id), expected);
        }
    }
}

/// More records than a number of a page or of a group would hold.
#[test]
fn seventy_thousand_records_change_in_one_transaction_and_go_back() {
    const ROWS: u32 = 70_000;
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let id = inserted(&engine, ROWS);
    let (mut txn, tree) = (rr(&engine), engine.tree(id));
    let longer = peeked(&mut txn, &tree, ROWS, b"new and longer than before");
    assert_eq!(txn.update_batch(&tree, &longer, 0..longer.len()).unwrap(), longer.len());
    let gone = peeked(&mut txn, &tree, ROWS, b"");
    assert_eq!(txn.delete_batch(&tree, &gone, 0..66_000).unwrap(), 66_000);
    make_log_durable(&engine);
    std::mem::forget((txn, engine));
    assert_eq!(letters_after_a_crash(&disk, id), BTreeMap::from([(b'o', ROWS as usize)]));
}
