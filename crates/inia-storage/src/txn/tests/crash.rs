//! A crash at every change of the disk: what was acknowledged is there, nothing is there by half.
//!
//! The workload is a few sessions taking turns, with tables that are made and dropped, on a disk
//! that stops at its n-th change. Afterwards the store must show the acknowledged commits; of the
//! one commit that was under way all or nothing. Recovery itself is stopped, too, and run again.

use super::*;
use inia_testkit::{Fault, Random, SimDisk, When, mutate};
use std::collections::BTreeMap;

/// Tables by name, and their records.
type Database = BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Vec<u8>>>;

const FRAMES: u64 = 24;

const OPTIONS: StoreOptions = StoreOptions {
    buffer_pool_size: FRAMES * 16 * 1024,
    log_capacity: 256 << 10,
    segment_size: 64 << 10,
    undo_memory: 8 << 10,
    background: false,
};

/// What the clients know.
#[derive(Default)]
struct Ledger {
    acknowledged: Database,
    /// What a commit that was under way would make of it.
    under_way: Option<Database>,
}

struct Client {
    txn: Txn,
    /// The database as this client's changes would leave it.
    changes: Vec<Change>,
}

enum Change {
    Put(Vec<u8>, Vec<u8>, Vec<u8>),
    Delete(Vec<u8>, Vec<u8>),
    Create(Vec<u8>),
    Drop(Vec<u8>),
}

fn applied(database: &Database, changes: &[Change]) -> Database {
    let mut after = database.clone();
    for change in changes {
        match change {
            Change::Put(table, key, value) => {
                if let Some(records) = after.get_mut(table) {
                    records.insert(key.clone(), value.clone());
                }
            }
            Change::Delete(table, key) => {
                after.get_mut(table).map(|records| records.remove(key));
            }
            Change::Create(table) => {
                after.insert(table.clone(), BTreeMap::new());
            }
            Change::Drop(table) => {
                after.remove(table);
            }
        }
    }
    after
}

/// A failed statement is undone, unless the disk is gone.
fn settle(client: &mut Client, result: crate::Result<()>, before: Savepoint) -> crate::Result<()> {
    match result {
        Err(
            StorageError::DuplicateKey | StorageError::LockWaitTimeout | StorageError::Deadlock,
        ) => client.txn.rollback_statement(before),
        other => other,
    }
}

/// Deletes records from a key on, in runs where that is possible, up to about `most`; their keys.
fn delete_from(
    txn: &mut Txn,
    tree: &Tree,
    first: &[u8],
    most: usize,
) -> crate::Result<Vec<Vec<u8>>> {
    let (low, high) = (KeyBound::Included(first), KeyBound::Unbounded);
    let mut cursor = txn.locking_cursor(tree, low, high, Direction::Forward, X);
    cursor.defer_locks();
    let mut keys = Vec::new();
    while keys.len() < most {
        if let Some(run) = txn.delete_run(&mut cursor, most - keys.len())? {
            keys.extend((0..run.len()).map(|i| [run.key_prefix(), run.key_suffix(i)].concat()));
            continue;
        }
        let Some(record) = cursor.next(txn)? else { break };
        keys.push(record.key.to_vec());
        if !txn.write_current(&mut cursor, None)? {
            keys.pop();
        }
    }
    Ok(keys)
}

struct CrashRun<'w> {
    engine: &'w Arc<Engine>,
    random: Random,
    ledger: &'w mut Ledger,
    /// Trees of tables, acknowledged or not.
    trees: BTreeMap<Vec<u8>, TreeId>,
}

impl CrashRun<'_> {
    fn step(&mut self, client: &mut Client) -> crate::Result<()> {
        if !client.txn.is_open() {
            client.txn.begin(Isolation::RepeatableRead);
        }
        match self.random.below(40) {
            0..=28 => self.write(client),
            29 => self.delete_some(client),
            30 | 31 => Self::roll_back(client),
            32 => self.create(client),
            33 | 34 => self.engine.background_step().map(|_| ()),
            35 => self.engine.core.store.checkpoint().map(|_| ()),
            _ => self.commit(client),
        }
    }

    fn write(&mut self, client: &mut Client) -> crate::Result<()> {
        let tables: Vec<Vec<u8>> = self.trees.keys().cloned().collect();
        if tables.is_empty() {
            return Ok(());
        }
        let table = self.random.pick(&tables).clone();
        let made = self.ledger.acknowledged.contains_key(&table);
        let gone = client.changes.iter().any(|c| matches!(c, Change::Drop(t) if *t == table));
        if !made || gone {
            return Ok(());
        }
        let tree = self.engine.tree(self.trees[&table]);
        let key = format!("{:03}", self.random.below(150)).into_bytes();
        let mut length = self.random.below(400) as usize;
        if self.random.chance(1, 40) {
            length = 20_000;
        }
        let value = vec![b'a' + self.random.below(26) as u8; length];
        let before = client.txn.savepoint();
        let kind = self.random.below(3);
        let result = match kind {
            0 => client.txn.insert(&tree, &key, &value).map(|()| true),
            1 => client.txn.update(&tree, &key, &value),
            _ => client.txn.delete(&tree, &key),
        };
        if let Ok(true) = result {
            client.changes.push(match kind {
                2 => Change::Delete(table, key),
                _ => Change::Put(table, key, value),
            });
        }
        settle(client, result.map(|_| ()), before)
    }

    /// Deletes neighbouring records, as a statement with a range does.
    fn delete_some(&mut self, client: &mut Client) -> crate::Result<()> {
        let tables: Vec<Vec<u8>> = self.ledger.acknowledged.keys().cloned().collect();
        if tables.is_empty() {
            return Ok(());
        }
        let table = self.random.pick(&tables).clone();
        let gone = client.changes.iter().any(|c| matches!(c, Change::Drop(t) if *t == table));
        let Some(tree) = self.trees.get(&table).filter(|_| !gone) else { return Ok(()) };
        let tree = self.engine.tree(*tree);
        let first = format!("{:03}", self.random.below(150)).into_bytes();
        let most = 3 + self.random.index(40);
        let before = client.txn.savepoint();
        let deleted = delete_from(&mut client.txn, &tree, &first, most);
        if let Ok(keys) = &deleted {
            let changes = keys.iter().map(|key| Change::Delete(table.clone(), key.clone()));
            client.changes.extend(changes);
        }
        settle(client, deleted.map(|_| ()), before)
    }

    /// Makes a table in a transaction of its own, as DDL does.
    fn create(&mut self, client: &mut Client) -> crate::Result<()> {
        self.commit(client)?;
        client.txn.begin(Isolation::RepeatableRead);
        let name = format!("t{}", self.random.below(1000)).into_bytes();
        if self.trees.contains_key(&name) {
            return Ok(());
        }
        let tree = client.txn.create_tree()?;
        let catalog = self.engine.catalog_tree();
        client.txn.insert(&catalog, &name, &tree.id().0.to_be_bytes())?;
        client.changes.push(Change::Create(name.clone()));
        if self.random.chance(1, 4) {
            return Self::roll_back(client);
        }
        self.commit(client)?;
        self.trees.insert(name, tree.id());
        Ok(())
    }

    fn drop(&mut self, client: &mut Client) -> crate::Result<()> {
        client.txn.begin(Isolation::RepeatableRead);
        let tables: Vec<Vec<u8>> = self.trees.keys().cloned().collect();
        if tables.len() < 3 {
            return Ok(());
        }
        let name = tables[tables.len() - 1].clone();
        let tree = self.engine.tree(self.trees[&name]);
        self.trees.remove(&name);
        client.txn.drop_tree(&tree)?;
        let catalog = self.engine.catalog_tree();
        assert!(client.txn.delete(&catalog, &name)?);
        client.changes.push(Change::Drop(name));
        self.commit(client)
    }

    fn roll_back(client: &mut Client) -> crate::Result<()> {
        client.changes.clear();
        client.txn.rollback()
    }

    fn commit(&mut self, client: &mut Client) -> crate::Result<()> {
        let after = applied(&self.ledger.acknowledged, &client.changes);
        self.ledger.under_way = Some(after);
        client.changes.clear();
        client.txn.commit()?;
        self.ledger.acknowledged = self.ledger.under_way.take().unwrap();
        Ok(())
    }
}

/// Runs the workload until it is done or the disk stops.
fn work(disk: &SimDisk, seed: u64, ledger: &mut Ledger) -> crate::Result<()> {
    let engine = open_sim(disk, &OPTIONS)?;
    let mut clients: Vec<Client> = (0..3)
        .map(|_| {
            let mut txn = engine.attach();
            txn.set_lock_wait_timeout(Duration::ZERO);
            Client { txn, changes: Vec::new() }
        })
        .collect();
    let mut work =
        CrashRun { engine: &engine, random: Random::new(seed), ledger, trees: BTreeMap::new() };
    let mut result = Ok(());
    for turn in 0..600 {
        let who = work.random.index(clients.len());
        result = match turn % 150 {
            0..=2 => work.create(&mut clients[who]),
            // A metadata lock sees to it that nobody has changed anything in a table that is
            // dropped.
            75 => {
                let ended = clients.iter_mut().try_for_each(|client| work.commit(client));
                ended.and_then(|()| work.drop(&mut clients[who]))
            }
            _ => work.step(&mut clients[who]),
        };
        if result.is_err() {
            break;
        }
    }
    // The machine stops: nothing is rolled back, nothing closed. What goes after the disk has gone
    // changes nothing there, and gives its memory back.
    match disk.has_crashed() {
        true => drop((clients, engine)),
        false => std::mem::forget((clients, engine)),
    }
    result
}

/// What the store shows, after checking it.
fn shown(engine: &Arc<Engine>) -> Database {
    run_background(engine);
    let mut txn = rr(engine);
    let catalog = records(&mut txn, &engine.catalog_tree());
    let id = |bytes: &Vec<u8>| TreeId(u32::from_be_bytes(bytes[..].try_into().unwrap()));
    let ids: Vec<TreeId> = catalog.values().map(id).collect();
    assert_eq!(engine.check(&ids).unwrap(), Vec::<String>::new());
    let table = |(name, tree): (&Vec<u8>, &Vec<u8>)| {
        (name.clone(), records(&mut rr(engine), &engine.tree(id(tree))))
    };
    catalog.iter().map(table).collect()
}

fn records(txn: &mut Txn, tree: &Tree) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let open = KeyBound::Unbounded;
    let mut cursor = txn.cursor(tree, open, open, Direction::Forward, ReadMode::Snapshot);
    let mut found = BTreeMap::new();
    while let Some(record) = cursor.next(txn).unwrap() {
        found.insert(record.key.to_vec(), record.value.to_vec());
    }
    found
}

fn describe(database: &Database) -> String {
    let tables = database.iter().map(|(name, records)| {
        let keys: Vec<String> =
            records.iter().map(|(k, v)| format!("{}:{}", text(k), v.len())).collect();
        format!("{}[{}]", text(name), keys.join(" "))
    });
    tables.collect::<Vec<_>>().join("\n")
}

/// One workload, one crash, and crashes of the recovery.
fn crash_at(seed: u64, change: u64) -> bool {
    let mut disk = SimDisk::new();
    let mut ledger = Ledger::default();
    disk.inject(When::Change(change), Fault::Crash);
    let result = work(&disk, seed, &mut ledger);
    let crashed = disk.has_crashed();
    assert_eq!(result.is_err(), crashed, "{result:?}");
    disk = disk.crash(seed + change);
    for attempt in 0..2 {
        recover_until(&disk, &OPTIONS, 1 + (change * 7 + attempt * 5) % 23);
        disk = disk.crash(change + attempt);
    }
    let label = format!("seed {seed}, change {change}");
    let engine = open_sim(&disk, &OPTIONS).unwrap_or_else(|error| panic!("{label}: {error}"));
    let found = shown(&engine);
    let half = ledger.under_way.as_ref();
    assert!(
        found == ledger.acknowledged || half == Some(&found),
        "seed {seed}, change {change}\nfound\n{}\nacknowledged\n{}\nunder way\n{}",
        describe(&found),
        describe(&ledger.acknowledged),
        half.map(describe).unwrap_or_default(),
    );
    crashed
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_there_by_half() {
    let mut points = 0;
    for seed in 0..mutate::rounds(3) {
        let mut change = 1 + seed % 11;
        while crash_at(seed, change) {
            change += 11;
            points += 1;
        }
    }
    assert!(points > 80, "{points} crashes");
}

/// The crash comes while the log gets a new segment after a recovery that found a half-made one.
#[test]
fn a_half_made_segment_of_the_log_never_gets_the_name_of_a_whole_one() {
    assert!(crash_at(36, 169));
}
