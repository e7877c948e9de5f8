//! Damaged pages and log bytes: wrong answers are fine, panics and endless loops are not.

use super::super::check::layout_problems;
use super::super::leaf::{LeafCopy, PayloadRef};
use super::{Random, deletion, version};
use crate::codec::ByteReader;
use crate::node;
use crate::ops::edit::{self, NodeSpec};
use crate::ops::node::NodeOp;
use crate::page::{PAGE_SIZE, PageBuf, PageBytes};
use inia_base::ids::PageId;

/// Calls everything that reads a leaf.
fn read_all(leaf: &LeafCopy) {
    let mut key = Vec::new();
    for i in (0..leaf.len() + 3).chain([usize::from(u16::MAX)]) {
        leaf.key(i, &mut key);
        let _ = (leaf.header(i), leaf.is_deleted(i), leaf.key_suffix(i).len());
        match leaf.payload(i) {
            PayloadRef::Inline(bytes) => assert!(bytes.len() <= PAGE_SIZE),
            PayloadRef::Overflow(_) => {}
        }
        if i % 16 == 0 {
            let (Ok(at) | Err(at)) = leaf.lower_bound(&key);
            assert!(at <= leaf.len());
        }
    }
    let _ = (leaf.lower_fence(), leaf.upper_fence(), leaf.key_prefix().len());
    let _ = (leaf.max_txn_id(), leaf.has_delete_marks(), leaf.is_empty(), leaf.right());
}

/// A sound leaf to start from.
fn sound(random: &mut Random) -> Box<PageBuf> {
    let mut page = PageBuf::new();
    let (lower, upper) = (Some(&b"ab"[..]), Some(&b"az"[..]));
    let spec = NodeSpec { tree: PageId(5), level: 0, right: None, lower, upper, max_txn: 9 };
    edit::init(&mut page.bytes, &spec).unwrap();
    for i in 0..60u8 {
        let payload = random.up_to(100);
        let value = [&version(3).to_bytes()[..], &payload];
        edit::append(&mut page.bytes, 0, &[b'a', b'c', i], &value).unwrap();
    }
    page
}

fn damage(random: &mut Random, page: &mut PageBytes) {
    for _ in 0..=random.below(6) {
        let area = if random.below(3) == 0 { PAGE_SIZE } else { node::SLOTS + 200 };
        page[32 + random.below(area - 32)] = random.next() as u8;
    }
}

#[test]
fn readers_take_random_pages() {
    let mut random = Random::new(1);
    let mut leaf = LeafCopy::new();
    for _ in 0..30 {
        *leaf.bytes_mut() = random.bytes(PAGE_SIZE).try_into().unwrap();
        read_all(&leaf);
        layout_problems(leaf.bytes());
    }
}

#[test]
fn readers_take_damaged_pages() {
    let mut random = Random::new(2);
    let mut leaf = LeafCopy::new();
    for _ in 0..300 {
        *leaf.bytes_mut() = sound(&mut random).bytes;
        damage(&mut random, leaf.bytes_mut());
        read_all(&leaf);
        layout_problems(leaf.bytes());
    }
}

/// Some operation, fitting or not.
fn some_op<'a>(random: &mut Random, bytes: &'a [u8]) -> NodeOp<'a> {
    let slot = random.below(70) as u16;
    let (a, b) = bytes.split_at(random.below(bytes.len() + 1));
    match random.below(8) {
        0 => NodeOp::Insert { slot, flags: 0, suffix: a, value: [b, &[]] },
        1 => NodeOp::Replace { slot, flags: 0, value: [a, b] },
        2 => NodeOp::SetHeader { slot, header: deletion(7) },
        3 => NodeOp::Remove { slot },
        4 => NodeOp::RemoveRuns { runs: a },
        5 => NodeOp::Run { kind: 1 + slot as u8 % 3, txn: 7, changes: a },
        6 => NodeOp::SplitLeft { at: slot, right: PageId(8), upper: a },
        _ => NodeOp::Overflow { tree: PageId(5), next: None, data: bytes },
    }
}

#[test]
fn operations_take_damaged_pages_and_leave_what_they_cannot_change() {
    let mut random = Random::new(3);
    for round in 0..600 {
        let mut page = sound(&mut random);
        if round % 2 == 0 {
            damage(&mut random, &mut page.bytes);
        }
        for _ in 0..8 {
            let bytes = random.up_to(4000);
            let before = page.bytes;
            if some_op(&mut random, &bytes).try_apply(&mut page.bytes).is_err() {
                assert!(page.bytes == before, "a failed operation changed the page");
            }
        }
    }
}

#[test]
fn decoding_takes_random_bytes() {
    let mut random = Random::new(4);
    let mut page = sound(&mut random);
    for _ in 0..20_000 {
        let len = random.below(40);
        let mut bytes = random.bytes(len);
        if let Some(tag) = bytes.first_mut() {
            *tag %= 9;
        }
        if let Some(op) = NodeOp::decode(&mut ByteReader::new(&bytes)) {
            let _ = op.try_apply(&mut page.bytes);
        }
    }
}
