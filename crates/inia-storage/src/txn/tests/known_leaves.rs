//! Scans that leave out the records of leaves that their caller knows give what others give,
//! whatever has happened to the leaves since.

use super::runs::{Bounds, key, singly, table, value};
use super::*;
use crate::btree::{KnownLeaf, KnownLeaves};
use crate::txn::cursor::LeafRun;
use inia_base::ids::PageId;
use inia_testkit::Random;
use std::collections::HashMap;

/// Leaves that scans have read, and their values.
#[derive(Default)]
pub(super) struct Known {
    leaves: HashMap<PageId, (KnownLeaf, Vec<String>)>,
    /// Those that a scan was given last.
    named: Vec<KnownLeaf>,
    /// How many leaves scans have passed without reading them, and in how many steps.
    passed: usize,
    steps: usize,
}

/// How many leaves are named at once, at most.
const NAMED: usize = 5;

impl KnownLeaves for Known {
    fn leaves_from(&mut self, page: PageId) -> &[KnownLeaf] {
        self.named.clear();
        let mut next = Some(page);
        while let Some((leaf, _)) = next.and_then(|page| self.leaves.get(&page)) {
            next = leaf.next().filter(|_| self.named.len() + 1 < NAMED);
            self.named.push(leaf.clone());
        }
        &self.named
    }
}

/// The values of an ascending scan that reads no leaf which it has read before.
pub(super) fn by_unknown_runs(
    txn: &mut Txn,
    tree: &Tree,
    (lower, upper): Bounds<'_>,
    bytes: Option<usize>,
    known: &mut Known,
) -> Vec<String> {
    let mut cursor = txn.snapshot_cursor(tree, lower, upper, Direction::Forward);
    if let Some(bytes) = bytes {
        cursor.narrow(bytes);
    }
    let mut out = Vec::new();
    loop {
        while let Some(run) = cursor.run_unknown(txn, known).unwrap() {
            match run {
                LeafRun::Known(leaves) => {
                    known.passed += leaves;
                    known.steps += 1;
                    for leaf in &known.named[..leaves] {
                        out.extend(known.leaves[&leaf.state().page].1.iter().cloned());
                    }
                }
                LeafRun::Records(run) => {
                    let cut = |value: &[u8]| text(&value[..bytes.unwrap_or(13).min(value.len())]);
                    let values: Vec<String> = (0..run.len()).map(|i| cut(run.value(i))).collect();
                    out.extend(values.iter().cloned());
                    if let Some(leaf) = run.whole_leaf() {
                        known.leaves.insert(leaf.state().page, (leaf, values));
                    }
                }
            }
        }
        if !cursor.advance(txn).unwrap() {
            return out;
        }
        out.push(text(&cursor.current().unwrap().value[..bytes.unwrap_or(13)]));
    }
}

const ALL: Bounds<'static> = (KeyBound::Unbounded, KeyBound::Unbounded);

/// The first bytes of each value in a range, by single records.
fn starts(txn: &mut Txn, tree: &Tree, bounds: Bounds<'_>) -> Vec<String> {
    let values = singly(txn, tree, bounds, Direction::Forward);
    values.into_iter().map(|value| value[..8].to_owned()).collect()
}

#[test]
fn leaves_that_follow_one_another_are_passed_together() {
    let engine = open();
    let tree = table(&engine);
    let mut known = Known::default();
    let mut txn = rr(&engine);
    let read = by_unknown_runs(&mut txn, &tree, ALL, Some(8), &mut known);
    assert_eq!((known.passed, known.steps), (0, 0));
    assert_eq!(by_unknown_runs(&mut txn, &tree, ALL, Some(8), &mut known), read);
    // All but those with long values, and the first one alone.
    assert!(known.passed + 6 > known.leaves.len(), "{} {}", known.passed, known.leaves.len());
    assert!(known.steps <= 2 + known.passed.div_ceil(NAMED) + 4, "{} steps", known.steps);
    // One that changes is read, and those around it are not.
    let mut writer = rr(&engine);
    set(&mut writer, &tree, &key(2000), &value(7));
    writer.commit().unwrap();
    let passed = std::mem::take(&mut known.passed);
    let mut txn = rr(&engine);
    let read = by_unknown_runs(&mut txn, &tree, ALL, Some(8), &mut known);
    assert_eq!(known.passed, passed - 1);
    assert_eq!(read, starts(&mut txn, &tree, ALL));
}

/// Something that changes leaves, splits or merges them, or ends their versions.
fn change(engine: &Arc<Engine>, writer: &mut Txn, tree: &Tree, random: &mut Random, round: usize) {
    let at = random.below(3000) as usize;
    match round % 7 {
        0 => {
            for i in at..at + 60 {
                let _ = writer.delete(tree, key(i).as_bytes()).unwrap();
            }
        }
        1 => {
            for i in 0..40 {
                put(writer, tree, &format!("{} {round} {i}", key(at)), &value(at));
            }
        }
        2 if writer.update(tree, key(at).as_bytes(), value(at + 1).as_bytes()).unwrap() => {}
        2 => put(writer, tree, &key(at), &value(at)),
        3 => run_background(engine),
        4 => {
            let mut ends = session(engine, Isolation::RepeatableRead);
            std::mem::swap(&mut ends, writer);
            ends.commit().unwrap();
        }
        5 => {
            let mut ends = session(engine, Isolation::RepeatableRead);
            std::mem::swap(&mut ends, writer);
            ends.rollback().unwrap();
        }
        // What is read by others goes out of a small pool.
        _ => drop(scan(writer, tree, ReadMode::Snapshot)),
    }
}

#[test]
fn known_leaves_are_read_again_once_anything_has_changed() {
    // The pool has room for a part of the tree only.
    for pool in [16 << 20, 256 << 10] {
        let options = EngineOptions { buffer_pool_size: pool, background: false };
        let engine = Engine::open(Arc::new(MemDisk::new()), options).unwrap();
        let tree = table(&engine);
        let mut known = Known::default();
        let mut random = Random::new(pool);
        let mut writer = rr(&engine);
        let mut reader = rr(&engine);
        for round in 0..200 {
            change(&engine, &mut writer, &tree, &mut random, round);
            if round % 30 == 17 {
                reader = rr(&engine);
            }
            let ends = [0, 1].map(|_| key(random.below(3000) as usize));
            let part =
                (KeyBound::Included(ends[0].as_bytes()), KeyBound::Excluded(ends[1].as_bytes()));
            for bounds in [ALL, part] {
                for txn in [&mut reader, &mut writer, &mut rr(&engine)] {
                    let expected = starts(txn, &tree, bounds);
                    let read = by_unknown_runs(txn, &tree, bounds, Some(8), &mut known);
                    assert!(read == expected, "round {round}, {bounds:?}");
                }
            }
        }
        assert!(known.passed > 1000, "{} leaves were passed", known.passed);
    }
}
