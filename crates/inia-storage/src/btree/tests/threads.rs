//! Several threads on one tree: writers each on keys of their own, readers that know what must
//! hold at any moment.

use super::super::{BTree, LeafCopy, Seek};
use super::{Fixture, Random, version};
use crate::store::Store;
use std::sync::atomic::{AtomicBool, Ordering};

const WRITERS: u64 = 3;

/// Writer `writer`'s `n`th key: the writers' keys alternate, so that they meet in every leaf.
fn key(n: u64, writer: u64) -> [u8; 8] {
    (n * WRITERS + writer).to_be_bytes()
}

fn payload(key: &[u8], txn: u64) -> Vec<u8> {
    let len = if txn.is_multiple_of(40) { 900 } else { txn as usize % 50 };
    key.iter().cycle().take(len).map(|byte| byte ^ txn as u8).collect()
}

fn put(tree: &BTree, store: &Store, key: &[u8], txn: u64) {
    let new = payload(key, txn);
    tree.modify(store, key, new.len(), |leaf| match leaf.lower_bound(key) {
        Ok(i) => leaf.replace(i, version(txn), &new),
        Err(_) => leaf.insert(key, version(txn), &new).map(|_| ()),
    })
    .unwrap();
}

fn remove(tree: &BTree, store: &Store, key: &[u8]) {
    let (sparse, _) = tree
        .modify(store, key, 0, |leaf| {
            if let Ok(i) = leaf.lower_bound(key) {
                leaf.remove(i)?;
            }
            Ok(leaf.is_sparse())
        })
        .unwrap();
    if sparse {
        tree.try_merge(store, key).unwrap();
    }
}

/// One writer's work; what it leaves behind is what its private map says.
fn write(tree: &BTree, store: &Store, writer: u64, ascending: bool) -> Vec<Option<u64>> {
    let mut random = Random::new(writer + 70);
    let mut state = vec![None; 400];
    for step in 1..4000u64 {
        let n = if ascending { step as usize % 400 } else { random.below(400) };
        let key = key(n as u64, writer);
        let shrinking = step % 1600 > 1000;
        if random.below(10) < if shrinking { 8 } else { 3 } {
            remove(tree, store, &key);
            state[n] = None;
        } else {
            put(tree, store, &key, step);
            state[n] = Some(step);
        }
        if step % 16 == 0 {
            let mut found = Vec::new();
            let header = tree.get(store, &key, &mut found).unwrap();
            assert_eq!(header.map(|header| header.txn), state[n]);
        }
    }
    state
}

/// Reads whole payloads and whole scans until stopped: every record must be one that was
/// written, and scans must ascend without repeating a key.
fn read(tree: &BTree, store: &Store, seed: u64, stop: &AtomicBool) {
    let mut random = Random::new(seed);
    let (mut found, mut leaf, mut last) = (Vec::new(), LeafCopy::new(), Vec::new());
    while !stop.load(Ordering::Relaxed) {
        let wanted = key(random.below(400) as u64, random.below(3) as u64);
        if let Some(header) = tree.get(store, &wanted, &mut found).unwrap() {
            assert_eq!(found, payload(&wanted, header.txn));
        }
        if random.below(20) == 0 {
            scan(tree, store, &mut leaf, &mut last, random.below(2) == 0);
        }
    }
}

fn scan(tree: &BTree, store: &Store, leaf: &mut LeafCopy, last: &mut Vec<u8>, forward: bool) {
    last.clear();
    let (mut key, mut found) = (Vec::new(), Vec::new());
    tree.load_leaf(store, if forward { Seek::First } else { Seek::Last }, leaf).unwrap();
    let mut range = 0..leaf.len();
    loop {
        for n in range.clone() {
            let i = if forward { n } else { range.end - 1 - n };
            leaf.key(i, &mut key);
            assert!(last.is_empty() || (forward && *last < key) || (!forward && *last > key));
            if tree.payload_of(store, leaf, i, &mut found).unwrap() {
                assert_eq!(found, payload(&key, leaf.header(i).txn));
            }
            last.clone_from(&key);
        }
        let more = match forward {
            true => tree.next_leaf(store, leaf).unwrap().map(|from| from..leaf.len()),
            false => tree.previous_leaf(store, leaf).unwrap().map(|to| 0..to),
        };
        match more {
            Some(more) => range = more,
            None => return,
        }
    }
}

fn run(ascending: bool, frames: u64) {
    let mut fixture = Fixture::with_frames(1000, frames);
    let stop = AtomicBool::new(false);
    let states: Vec<_> = std::thread::scope(|scope| {
        let (tree, store, stop) = (&fixture.tree, &*fixture.store, &stop);
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || write(tree, store, writer, ascending)))
            .collect();
        let readers: Vec<_> =
            (0..2).map(|seed| scope.spawn(move || read(tree, store, seed, stop))).collect();
        let states = writers.into_iter().map(|writer| writer.join()).collect::<Vec<_>>();
        stop.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
        states.into_iter().map(|state| state.unwrap()).collect()
    });
    for (writer, state) in states.iter().enumerate() {
        for (n, txn) in state.iter().enumerate() {
            let Some(txn) = txn else { continue };
            let key = key(n as u64, writer as u64);
            fixture.model.insert(key.to_vec(), (version(*txn), payload(&key, *txn)));
        }
    }
    fixture.check();
}

#[test]
fn writers_on_scattered_keys_and_readers_agree() {
    run(false, 2000);
}

#[test]
fn writers_on_ascending_keys_and_readers_agree() {
    run(true, 2000);
}

#[test]
fn writers_and_readers_agree_while_pages_come_and_go() {
    run(false, 48);
}

#[test]
fn appending_writers_lose_nothing() {
    let mut fixture = Fixture::new(1000);
    std::thread::scope(|scope| {
        let (tree, store) = (&fixture.tree, &*fixture.store);
        for writer in 0..WRITERS {
            scope.spawn(move || {
                for n in 0..1500 {
                    put(tree, store, &key(n, writer), 7);
                }
            });
        }
    });
    for writer in 0..WRITERS {
        for n in 0..1500 {
            let key = key(n, writer);
            fixture.model.insert(key.to_vec(), (version(7), payload(&key, 7)));
        }
    }
    fixture.check();
}
