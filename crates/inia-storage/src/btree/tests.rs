//! The tree's tests, from the bytes of one node up to threads on a whole tree.

mod bulk;
mod crash;
mod garbage;
mod node;
mod run;
mod sample;
mod threads;
mod tree;

use super::{BTree, LeafCopy, Problem, Seek};
use crate::Result;
use crate::node::RecordHeader;
use crate::page::PAGE_SIZE;
use crate::recover::LogObserver;
use crate::store::{Store, StoreOptions};
use crate::wal::record::LogRecord;
use inia_base::ids::{Lsn, PageId};
use inia_base::io::MemDisk;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// A small, seeded source of random numbers (xorshift64*), so that every run is the same.
struct Random(u64);

/// A record as a scan finds it: key, header and payload.
type Scanned = (Vec<u8>, (RecordHeader, Vec<u8>));

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 11) as usize % limit
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }

    /// Bytes of a random length below `most`.
    fn up_to(&mut self, most: usize) -> Vec<u8> {
        let len = self.below(most);
        self.bytes(len)
    }
}

/// The header of a version by transaction `txn`.
fn version(txn: u64) -> RecordHeader {
    RecordHeader { txn, undo: txn ^ 0x55 }
}

/// The header of a deletion by transaction `txn`.
fn deletion(txn: u64) -> RecordHeader {
    RecordHeader { txn: txn | RecordHeader::DELETED, undo: txn }
}

/// Recovery's findings are of no interest here.
struct Ignore;

impl LogObserver for Ignore {
    fn checkpoint(&mut self, _state: &[u8]) -> Result<()> {
        Ok(())
    }

    fn record(&mut self, _lsn: Lsn, _record: &LogRecord<'_>) -> Result<()> {
        Ok(())
    }
}

/// Opens the store in `disk` with a pool of this many frames.
fn open(disk: &MemDisk, frames: u64) -> Arc<Store> {
    let options = StoreOptions {
        buffer_pool_size: frames * PAGE_SIZE as u64,
        log_capacity: 64 << 20,
        segment_size: 4 << 20,
        undo_memory: 1 << 20,
        background: false,
    };
    Store::open(Arc::new(disk.clone()), options, &mut Ignore).unwrap()
}

/// A tree in a store of its own, and what should be in it.
struct Fixture {
    disk: MemDisk,
    store: Arc<Store>,
    tree: BTree,
    model: BTreeMap<Vec<u8>, (RecordHeader, Vec<u8>)>,
}

impl Fixture {
    /// A tree whose nodes count as full at `usable` bytes.
    fn new(usable: usize) -> Fixture {
        Fixture::with_frames(usable, 2000)
    }

    /// As [`Fixture::new`], with a pool of this many frames.
    fn with_frames(usable: usize, frames: u64) -> Fixture {
        let disk = MemDisk::new();
        let store = open(&disk, frames);
        let mut mtr = store.mtr().unwrap();
        let mut tree = BTree::create(&store, &mut mtr).unwrap();
        mtr.commit();
        tree.usable = usable;
        Fixture { disk, store, tree, model: BTreeMap::new() }
    }

    fn put(&mut self, key: &[u8], header: RecordHeader, payload: &[u8]) {
        let changed =
            self.tree.modify(&self.store, key, payload.len(), |leaf| match leaf.lower_bound(key) {
                Ok(i) => leaf.replace(i, header, payload),
                Err(_) => leaf.insert(key, header, payload).map(|_| ()),
            });
        assert!(changed.unwrap().1.is_some());
        self.model.insert(key.to_vec(), (header, payload.to_vec()));
    }

    /// Changes the version of a key that is there.
    fn mark(&mut self, key: &[u8], header: RecordHeader) {
        let changed = self.tree.modify(&self.store, key, 0, |leaf| match leaf.lower_bound(key) {
            Ok(i) => leaf.set_header(i, header),
            Err(_) => Ok(()),
        });
        changed.unwrap();
        if let Some(record) = self.model.get_mut(key) {
            record.0 = header;
        }
    }

    /// Removes a key if it is there, and merges as purge does.
    fn remove(&mut self, key: &[u8]) {
        let changed = self.tree.modify(&self.store, key, 0, |leaf| {
            if let Ok(i) = leaf.lower_bound(key) {
                leaf.remove(i)?;
            }
            Ok(leaf.is_sparse())
        });
        if changed.unwrap().0 {
            self.tree.try_merge(&self.store, key).unwrap();
        }
        self.model.remove(key);
    }

    fn keys(&self) -> Vec<Vec<u8>> {
        self.model.keys().cloned().collect()
    }

    fn check_get(&self, key: &[u8]) {
        let mut payload = Vec::new();
        let header = self.tree.get(&self.store, key, &mut payload).unwrap();
        assert_eq!(header.map(|header| (header, payload)), self.model.get(key).cloned());
    }

    /// Seeks to both sides of a key.
    fn check_seek(&self, key: &[u8]) {
        let (mut leaf, mut found) = (LeafCopy::new(), Vec::new());
        self.tree.load_leaf(&self.store, Seek::Covering(key), &mut leaf).unwrap();
        assert!(leaf.lower_fence().is_none_or(|fence| fence <= key));
        assert!(leaf.upper_fence().is_none_or(|fence| key < fence));
        self.tree.load_leaf(&self.store, Seek::Before(key), &mut leaf).unwrap();
        assert!(leaf.lower_fence().is_none_or(|fence| fence < key));
        assert!(leaf.upper_fence().is_none_or(|fence| key <= fence));
        let (Ok(at) | Err(at)) = leaf.lower_bound(key);
        let before = self.model.range(..key.to_vec()).next_back();
        if at > 0 {
            leaf.key(at - 1, &mut found);
            assert_eq!(before.map(|(key, _)| key), Some(&found));
        }
    }

    /// All records by a scan over leaf copies.
    fn scan(&self, forward: bool) -> Vec<Scanned> {
        let mut leaf = LeafCopy::new();
        let mut records = Vec::new();
        let start = if forward { Seek::First } else { Seek::Last };
        self.tree.load_leaf(&self.store, start, &mut leaf).unwrap();
        let mut range = 0..leaf.len();
        loop {
            let mut part = Vec::new();
            for i in range {
                let (mut key, mut payload) = (Vec::new(), Vec::new());
                leaf.key(i, &mut key);
                assert!(self.tree.payload_of(&self.store, &leaf, i, &mut payload).unwrap());
                part.push((key, (leaf.header(i), payload)));
            }
            if !forward {
                part.reverse();
            }
            records.append(&mut part);
            let more = match forward {
                true => self.tree.next_leaf(&self.store, &mut leaf).unwrap().map(|i| i..leaf.len()),
                false => self.tree.previous_leaf(&self.store, &mut leaf).unwrap().map(|i| 0..i),
            };
            match more {
                Some(more) => range = more,
                None => return records,
            }
        }
    }

    /// Compares everything; returns the tree's pages.
    fn check(&self) -> HashSet<PageId> {
        let mut report = Vec::new();
        let pages = self.tree.check(&self.store, &mut report);
        assert_eq!(report, Vec::<Problem>::new());
        let expected: Vec<_> = self.model.clone().into_iter().collect();
        assert!(self.scan(true) == expected, "forward scan differs");
        let mut backward = self.scan(false);
        backward.reverse();
        assert!(backward == expected, "backward scan differs");
        pages
    }

    /// How full the leaves are on average.
    fn fill(&self) -> f64 {
        let (mut leaf, mut used, mut leaves) = (LeafCopy::new(), 0, 0);
        self.tree.load_leaf(&self.store, Seek::First, &mut leaf).unwrap();
        loop {
            used += crate::node::used(leaf.bytes());
            leaves += 1;
            if self.tree.next_leaf(&self.store, &mut leaf).unwrap().is_none() {
                return used as f64 / (leaves * self.tree.usable) as f64;
            }
        }
    }
}
