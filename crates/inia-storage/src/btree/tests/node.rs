//! One node against a sorted map: every operation, applied twice, once directly and once through
//! its log form.

use super::super::check::layout_problems;
use super::{Random, deletion, version};
use crate::codec::ByteReader;
use crate::node::*;
use crate::ops::PageOp;
use crate::ops::edit::{self, NodeSpec};
use crate::ops::node::NodeOp;
use crate::page::{PAGE_SIZE, PageBuf, PageBytes};
use inia_base::ids::PageId;
use std::collections::BTreeMap;

const TREE: PageId = PageId(7);

pub(super) fn spec<'a>(lower: Option<&'a [u8]>, upper: Option<&'a [u8]>) -> NodeSpec<'a> {
    NodeSpec { tree: TREE, level: 0, right: None, lower, upper, max_txn: 0 }
}

/// A node, its replica that sees only log bytes, and what should be in it.
struct Mirror {
    page: Box<PageBuf>,
    replica: Box<PageBuf>,
    model: BTreeMap<Vec<u8>, (RecordHeader, Vec<u8>)>,
}

impl Mirror {
    fn new(lower: Option<&[u8]>, upper: Option<&[u8]>) -> Mirror {
        let (mut page, mut replica) = (PageBuf::new(), PageBuf::new());
        edit::init(&mut page.bytes, &spec(lower, upper)).unwrap();
        edit::init(&mut replica.bytes, &spec(lower, upper)).unwrap();
        Mirror { page, replica, model: BTreeMap::new() }
    }

    fn apply(&mut self, op: NodeOp<'_>) {
        op.try_apply(&mut self.page.bytes).unwrap();
        let mut log = Vec::new();
        op.encode(&mut log);
        NodeOp::decode(&mut ByteReader::new(&log))
            .unwrap()
            .try_apply(&mut self.replica.bytes)
            .unwrap();
        assert!(self.page.bytes == self.replica.bytes, "replay differs after {op:?}");
    }

    fn fits(&self, key: &[u8], payload: &[u8]) -> bool {
        let record = key.len() - prefix_len(&self.page.bytes) + HEADER_LEN + payload.len();
        record + SLOT_SIZE <= free(&self.page.bytes)
    }

    /// Inserts or replaces; false when there is no room.
    fn put(&mut self, key: &[u8], header: RecordHeader, payload: &[u8]) -> bool {
        let bytes = header.to_bytes();
        let value = [&bytes[..], payload];
        let flags = if header.is_deleted() { SLOT_MARKED } else { 0 };
        if !self.fits(key, payload) {
            return false;
        }
        match search_any(&self.page.bytes, key) {
            Ok(i) => self.apply(NodeOp::Replace { slot: i as u16, flags, value }),
            Err(i) => {
                let suffix = key[prefix_len(&self.page.bytes)..].to_vec();
                self.apply(NodeOp::Insert { slot: i as u16, flags, suffix: &suffix, value });
            }
        }
        self.model.insert(key.to_vec(), (header, payload.to_vec()));
        true
    }

    /// Removes about half of the records in one operation.
    fn remove_some(&mut self, random: &mut Random) {
        let mut runs = Vec::new();
        let mut next = 0;
        while next < self.model.len() {
            let len = (1 + random.below(4)).min(self.model.len() - next);
            runs.extend_from_slice(&(next as u16).to_le_bytes());
            runs.extend_from_slice(&(len as u16).to_le_bytes());
            next += len + random.below(5);
        }
        let ranges = runs.chunks(4).map(|run| usize::from(run[0])..usize::from(run[0] + run[2]));
        let gone: Vec<usize> = ranges.flatten().collect();
        self.apply(NodeOp::RemoveRuns { runs: &runs });
        let mut number = 0;
        self.model.retain(|_, _| {
            number += 1;
            !gone.contains(&(number - 1))
        });
    }

    fn check(&self) {
        let page = &self.page.bytes;
        assert_eq!(layout_problems(page), Vec::<&str>::new());
        assert_eq!(count(page), self.model.len());
        let mut stored = Vec::new();
        for (i, (key, (header, payload))) in self.model.iter().enumerate() {
            key_to(page, i, &mut stored);
            assert_eq!(&stored, key);
            assert_eq!(crate::node::header(page, i), *header);
            assert_eq!(crate::node::payload(page, i), payload);
            assert_eq!(search_any(page, key), Ok(i));
        }
    }
}

fn random_key(random: &mut Random, prefix: &[u8]) -> Vec<u8> {
    let mut key = prefix.to_vec();
    let len = random.below(9);
    key.extend((0..len).map(|_| b"\0\0ab\xff"[random.below(5)]));
    key
}

#[test]
fn random_operations_equal_the_model_and_replay_bit_by_bit() {
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let mut node = Mirror::new(Some(b"user/"), Some(b"user0"));
        assert_eq!(prefix_len(&node.page.bytes), 4);
        for step in 0..1500 {
            let key = random_key(&mut random, b"user/");
            let found = search_any(&node.page.bytes, &key);
            match (random.below(10), found) {
                (0..=5, _) => {
                    let payload = random.up_to(200);
                    node.put(&key, version(random.below(1000) as u64), &payload);
                }
                (6..=7, Ok(i)) => {
                    let header = deletion(step);
                    node.apply(NodeOp::SetHeader { slot: i as u16, header });
                    node.model.get_mut(&key).unwrap().0 = header;
                }
                (_, Ok(i)) => {
                    node.apply(NodeOp::Remove { slot: i as u16 });
                    node.model.remove(&key);
                }
                (_, Err(_)) => {}
            }
            if step % 50 == 0 {
                node.check();
            }
            if step % 300 == 299 {
                node.remove_some(&mut random);
                node.check();
            }
        }
        node.check();
    }
}

#[test]
fn ascending_records_fill_a_node_and_hints_find_each_of_them() {
    let mut node = Mirror::new(None, None);
    let mut n = 0u64;
    while node.put(&n.to_be_bytes(), version(n), &[1; 20]) {
        n += 1;
    }
    assert!(n > 280, "an empty node took only {n} records");
    node.check();
    for absent in [0u64, 5, n] {
        let mut key = absent.to_be_bytes().to_vec();
        key.push(0);
        let expected = (absent + 1).min(n) as usize;
        assert_eq!(search_any(&node.page.bytes, &key), Err(expected));
    }
}

#[test]
fn keys_outside_the_prefix_are_before_or_after_all_records() {
    let mut node = Mirror::new(Some(b"mm1"), Some(b"mm9"));
    node.put(b"mm5", version(1), b"x");
    assert_eq!(search_any(&node.page.bytes, b"a"), Err(0));
    assert_eq!(search_any(&node.page.bytes, b"m"), Err(0));
    assert_eq!(search_any(&node.page.bytes, b""), Err(0));
    assert_eq!(search_any(&node.page.bytes, b"mn"), Err(1));
    assert_eq!(search_any(&node.page.bytes, b"z"), Err(1));
}

#[test]
fn a_growing_value_moves_and_takes_the_space_of_the_old_one() {
    let mut node = Mirror::new(None, None);
    for key in [&b"a"[..], b"b", b"c"] {
        assert!(node.put(key, version(1), &[7; 4000]));
    }
    // 4 KB are free: growing "b" by 3 KB needs the bytes of its own old value.
    let room = free(&node.page.bytes);
    assert!(room > 4000 && room < 4300);
    let (header, payload) = (version(2).to_bytes(), [8; 7000]);
    node.apply(NodeOp::Replace { slot: 1, flags: 0, value: [&header, &payload] });
    node.model.insert(b"b".to_vec(), (version(2), payload.to_vec()));
    node.check();
    let too_long = NodeOp::Replace { slot: 1, flags: 0, value: [&header, &[8; 9000]] };
    assert!(too_long.try_apply(&mut node.page.bytes).is_err());
    node.check();
}

#[test]
fn a_left_half_keeps_its_records_under_a_longer_prefix() {
    let mut node = Mirror::new(Some(b"a"), Some(b"b"));
    for i in 0..100u32 {
        node.put(format!("aa{i:03}").as_bytes(), version(i.into()), &[3; 30]);
    }
    node.apply(NodeOp::SplitLeft { at: 10, right: PageId(9), upper: b"aa01" });
    node.model.retain(|key, _| &key[..] < b"aa01");
    assert_eq!(upper(&node.page.bytes), Some(&b"aa01"[..]));
    assert_eq!(right(&node.page.bytes), Some(PageId(9)));
    assert_eq!(max_txn(&node.page.bytes).0, 99);
    node.check();
}

#[test]
fn an_image_makes_any_page_equal_to_the_node() {
    let mut node = Mirror::new(None, Some(b"zz"));
    for i in 0..40u32 {
        node.put(format!("k{i}").as_bytes(), version(1), b"payload");
    }
    node.apply(NodeOp::Remove { slot: 3 });
    let op = super::super::image(&node.page.bytes);
    let mut log = Vec::new();
    op.encode(PageId(3), &mut log);
    let mut reader = ByteReader::new(&log[1..]);
    let (id, op) = PageOp::decode(log[0], &mut reader).unwrap();
    assert_eq!(id, PageId(3));
    let mut target = PageBuf::new();
    target.bytes = Random::new(4).bytes(PAGE_SIZE).try_into().unwrap();
    assert!(op.apply(&mut target.bytes));
    assert!(target.bytes[16..] == node.page.bytes[16..]);
    assert!(log.len() < 3000, "the free gap is left out");
}

#[test]
fn inner_nodes_stand_for_their_lower_fence_with_the_first_slot() {
    let mut page = PageBuf::new();
    let inner = NodeSpec { level: 1, ..spec(Some(b"f"), Some(b"t")) };
    edit::init(&mut page.bytes, &inner).unwrap();
    for (key, child) in [(&b"f"[..], 10u32), (b"k", 11), (b"p", 12)] {
        edit::append(&mut page.bytes, 0, key, &[&child.to_le_bytes(), &[]]).unwrap();
    }
    let child_of = |page: &PageBytes, key: &[u8]| child(page, child_slot(page, key)).0;
    for (key, expected) in [(&b"f"[..], 10), (b"g", 10), (b"k", 11), (b"ooo", 11), (b"p", 12)] {
        assert_eq!(child_of(&page.bytes, key), expected);
    }
    let mut key = Vec::new();
    key_to(&page.bytes, 0, &mut key);
    assert_eq!(key, b"f");
    assert_eq!(layout_problems(&page.bytes), Vec::<&str>::new());
}
