//! A damaged log: the engine opens on a state that was committed, or refuses; it never panics.
//!
//! Each transaction gives all keys the same value, so any mixture of two states shows. Damage to
//! whole blocks whose checksums were made right again cannot be distinguished from what
//! was written: then only panics count.

use super::*;
use inia_testkit::{Random, mutate};

const KEYS: [&str; 4] = ["a", "b", "c", "d"];
const BLOCK: usize = 4096;
const COMMITS: usize = 12;

/// Gives all keys a value: one by one, all at once, or by new records in the place of deleted ones.
fn write_all(txn: &mut Txn, tree: &Tree, value: &str, how: u64) {
    if how == 0 {
        return KEYS.iter().for_each(|key| set(txn, tree, key, value));
    }
    let (mut there, mut new) = (Records::default(), Records::default());
    for key in KEYS.map(str::as_bytes) {
        let locator = txn.peek(tree, key, |_| ()).unwrap().unwrap();
        there.push_seen(key, value.as_bytes(), &locator);
        new.push(key, value.as_bytes());
    }
    if how == 1 {
        assert_eq!(txn.update_batch(tree, &there, 0..KEYS.len()).unwrap(), KEYS.len());
        return;
    }
    assert_eq!(txn.delete_batch(tree, &there, 0..KEYS.len()).unwrap(), KEYS.len());
    assert_eq!(txn.insert_batch(tree, &new, 0..KEYS.len()).unwrap(), KEYS.len());
}

/// A disk as a crash left it: some transactions committed, one under way.
fn crashed(random: &mut Random) -> (MemDisk, TreeId) {
    let disk = MemDisk::new();
    let engine = open_on(&disk);
    let tree = tree_with(&engine, &KEYS.map(|key| (key, "0")));
    for number in 1..=COMMITS {
        let value = number.to_string().repeat(1 + random.index(900));
        let mut txn = rr(&engine);
        write_all(&mut txn, &tree, &value, random.below(3));
        if random.chance(1, 3) {
            put(&mut txn, &tree, &format!("k{number}"), &value);
        }
        txn.commit().unwrap();
    }
    let mut running = rr(&engine);
    write_all(&mut running, &tree, "half", 2);
    let id = tree.id();
    std::mem::forget((running, engine));
    (disk, id)
}

fn read(disk: &MemDisk, name: &str) -> Vec<u8> {
    let file = disk.open(name, false).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

/// A copy of the disk whose log is damaged in a few of its first blocks.
fn damaged(disk: &MemDisk, random: &mut Random, seal: bool) -> MemDisk {
    let copy = MemDisk::new();
    for name in disk.list().unwrap() {
        let mut bytes = read(disk, &name);
        if name.starts_with("wal-") {
            let used = bytes.chunks(BLOCK).take_while(|block| block[..4] != [0; 4]).count();
            for _ in 0..1 + random.below(2) {
                let block = random.index(used.max(1)) * BLOCK;
                damage_block(&mut bytes[block..block + BLOCK], random, seal);
            }
        }
        let file = copy.open(&name, true).unwrap();
        file.write_at(&bytes, 0).unwrap();
    }
    copy
}

fn damage_block(block: &mut [u8], random: &mut Random, seal: bool) {
    let len = usize::from(u16::from_le_bytes([block[24], block[25]])).min(BLOCK - 32);
    let end = if random.chance(1, 3) { 32 } else { 32 + len };
    let mut part = block[4..end].to_vec();
    let other = part.clone();
    mutate::bytes(random, &mut part, &other);
    part.resize(end - 4, 0);
    block[4..end].copy_from_slice(&part);
    if seal {
        let crc = crc32c::crc32c(&block[4..]);
        block[..4].copy_from_slice(&crc.to_le_bytes());
    }
}

fn try_open(disk: &MemDisk) -> crate::Result<Arc<Engine>> {
    let options = EngineOptions { buffer_pool_size: 16 << 20, background: false };
    Engine::open(Arc::new(disk.clone()), options)
}

/// The values of the keys, or the error that reading gives.
fn values(engine: &Arc<Engine>, tree: TreeId) -> crate::Result<Vec<Option<String>>> {
    let (mut txn, tree) = (rr(engine), engine.tree(tree));
    KEYS.iter()
        .map(|key| txn.get(&tree, key.as_bytes(), |v| String::from_utf8_lossy(v).into_owned()))
        .collect()
}

#[test]
fn a_log_with_damage_shows_a_committed_state_or_is_refused() {
    let (mut refused, mut shown) = (0, 0);
    for seed in 0..mutate::rounds(5) {
        let mut random = Random::new(seed);
        let (disk, tree) = crashed(&mut random);
        for _ in 0..4 {
            match try_open(&damaged(&disk, &mut random, false)) {
                Ok(engine) => {
                    let values = values(&engine, tree).unwrap();
                    let first = &values[0];
                    assert!(values.iter().all(|value| value == first), "seed {seed}: {values:?}");
                    assert!(first.as_deref() != Some("half"), "seed {seed}");
                    shown += 1;
                }
                Err(StorageError::Unopenable(_)) => refused += 1,
                Err(error) => panic!("seed {seed}: {error}"),
            }
        }
        let engine = try_open(&disk).unwrap();
        let last = values(&engine, tree).unwrap();
        let number = COMMITS.to_string();
        assert!(last.iter().all(|value| value.as_deref().unwrap().starts_with(&number)));
    }
    assert!(refused > 5 && shown > 0, "{refused} refused, {shown} shown");
}

/// Blocks of the log hold parts of groups: it may end at any of them.
#[test]
fn a_log_cut_off_at_any_block_shows_a_committed_state() {
    let mut random = Random::new(77);
    let (disk, tree) = crashed(&mut random);
    let log = read(&disk, "wal-000000000001");
    let used = log.chunks(BLOCK).take_while(|block| block[..4] != [0; 4]).count();
    let mut last = 0;
    for kept in 1..=used {
        let copy = MemDisk::new();
        for name in disk.list().unwrap() {
            let mut bytes = read(&disk, &name);
            if name == "wal-000000000001" {
                bytes[kept * BLOCK..].fill(0);
            }
            copy.open(&name, true).unwrap().write_at(&bytes, 0).unwrap();
        }
        let engine = match try_open(&copy) {
            Ok(engine) => engine,
            Err(StorageError::Unopenable(_)) => continue,
            Err(error) => panic!("{kept} blocks: {error}"),
        };
        // Until the log has it, the tree is an empty page, or none.
        let Ok(values) = values(&engine, tree) else { continue };
        assert!(values.iter().all(|value| *value == values[0]), "{kept} blocks: {values:?}");
        let Some(value) = &values[0] else { continue };
        let is = |n: &usize| value.replace(&n.to_string(), "").is_empty();
        let number = (last..=COMMITS).find(is);
        last = number.unwrap_or_else(|| panic!("{kept} blocks: {value:.20} after {last}"));
    }
    assert_eq!(last, COMMITS);
}

#[test]
fn damage_under_right_checksums_is_no_panic() {
    let (mut refused, mut used) = (0, 0);
    for seed in 0..mutate::rounds(6) {
        let mut random = Random::new(1_000 + seed);
        let (disk, tree) = crashed(&mut random);
        for _ in 0..4 {
            let Ok(engine) = try_open(&damaged(&disk, &mut random, true)) else {
                refused += 1;
                continue;
            };
            used += 1;
            if values(&engine, tree).is_ok() {
                let mut txn = rr(&engine);
                txn.set_lock_wait_timeout(Duration::ZERO);
                let _ = txn.update(&engine.tree(tree), b"a", b"next");
                let _ = txn.commit();
            }
            let _ = engine.close();
        }
    }
    assert!(refused > 0 && used > 0, "{refused} refused, {used} used");
}
