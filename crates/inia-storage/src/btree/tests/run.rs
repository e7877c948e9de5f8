//! Changes of records that share operations of the log.

use super::node::spec;
use super::{Random, deletion, version};
use crate::codec::ByteReader;
use crate::node::{RecordHeader, count, free, header, payload, prefix_len, suffix};
use crate::ops::PageOp;
use crate::ops::edit;
use crate::ops::run::{Change, Mark, OpenRun, RecordChange, apply_marks, put_marks};
use crate::page::PageBuf;
use inia_base::ids::{PageId, TxnId};

const PAGE: PageId = PageId(77);

/// A leaf, and what the log has of its changes.
struct Logged {
    page: Box<PageBuf>,
    log: Vec<u8>,
    run: Option<OpenRun>,
}

impl Logged {
    fn new() -> Logged {
        let mut page = PageBuf::new();
        edit::init(&mut page.bytes, &spec(Some(b"user/"), Some(b"user0"))).unwrap();
        Logged { page, log: Vec::new(), run: None }
    }

    fn change(&mut self, slot: usize, header: RecordHeader, change: Change<'_>) {
        let change = RecordChange { slot, header, change };
        let goes_on = self.run.as_mut().is_some_and(|run| run.extend(PAGE, &change, &mut self.log));
        if !goes_on {
            self.run = Some(OpenRun::begin(PAGE, &change, &mut self.log));
        }
        change.try_apply(&mut self.page.bytes).unwrap();
    }

    /// The operations of the log.
    fn operations(&self) -> Vec<PageOp<'_>> {
        let mut from = ByteReader::new(&self.log);
        let mut operations = Vec::new();
        while let Some(tag) = from.u8() {
            let (page, op) = PageOp::decode(tag, &mut from).expect("a whole operation");
            assert_eq!(page, PAGE);
            operations.push(op);
        }
        operations
    }

    fn assert_replayed(&self) {
        let mut replica = Logged::new().page;
        assert!(self.operations().iter().all(|op| op.apply(&mut replica.bytes)));
        assert!(replica.bytes == self.page.bytes, "replay differs");
    }
}

#[test]
fn a_run_of_each_kind_is_one_operation() {
    let mut leaf = Logged::new();
    for (i, suffix) in [b"a", b"b", b"c", b"d"].into_iter().enumerate() {
        leaf.change(i, version(31), Change::Insert { suffix, payload: b"first" });
    }
    assert_eq!(leaf.operations().len(), 1);
    for (slot, undo) in [(0, 100), (1, 107), (3, 1 << 40)] {
        let header = RecordHeader { txn: 32, undo };
        leaf.change(slot, header, Change::Replace { payload: b"more than at first" });
    }
    assert_eq!(leaf.operations().len(), 2);
    for (slot, undo) in [(1, 200), (2, 207)] {
        let header = RecordHeader { txn: RecordHeader::DELETED | 33, undo };
        leaf.change(slot, header, Change::Delete);
    }
    assert_eq!(leaf.operations().len(), 3);
    assert_eq!(header(&leaf.page.bytes, 2).txn_id().0, 33);
    assert!(header(&leaf.page.bytes, 2).is_deleted());
    assert_eq!(payload(&leaf.page.bytes, 1), b"more than at first");
    assert_eq!(payload(&leaf.page.bytes, 2), b"first");
    leaf.assert_replayed();
}

#[test]
fn deletions_at_once_are_those_one_after_the_other() {
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let (mut one, mut all) = (Logged::new(), Logged::new());
        for (i, number) in (0..200u32).enumerate() {
            for leaf in [&mut one, &mut all] {
                let suffix = &number.to_be_bytes();
                let payload = &[7; 20][..i % 20];
                leaf.change(i, version(31), Change::Insert { suffix, payload });
                if i % 7 == 3 {
                    leaf.change(i, deletion(32), Change::Delete);
                }
            }
        }
        let mut marks = Vec::new();
        let mut undo = 1 << 30;
        for slot in 0..200u16 {
            undo += random.below(2000) as u64;
            if random.below(3) > 0 {
                marks.push(Mark { slot, undo });
            }
        }
        (one.log, one.run) = (Vec::new(), None);
        for mark in &marks {
            let header = RecordHeader { txn: RecordHeader::DELETED | 40, undo: mark.undo };
            one.change(mark.slot.into(), header, Change::Delete);
        }
        all.log.clear();
        put_marks(PAGE, TxnId(40), &marks, &mut all.log);
        apply_marks(&mut all.page.bytes, TxnId(40), &marks);
        assert!(one.page.bytes == all.page.bytes);
        assert_eq!(one.log, all.log);
    }
}

#[test]
fn deletions_that_fit_only_in_part_change_nothing() {
    let mut leaf = Logged::new();
    for (i, suffix) in [b"a", b"b"].into_iter().enumerate() {
        leaf.change(i, version(31), Change::Insert { suffix, payload: b"first" });
    }
    let before = leaf.page.bytes;
    let marks = [1, 2].map(|slot| Mark { slot, undo: 9 });
    apply_marks(&mut leaf.page.bytes, TxnId(40), &marks);
    assert!(leaf.page.bytes == before);
}

#[test]
fn what_does_not_go_on_begins_an_operation() {
    let mut leaf = Logged::new();
    let insert = |suffix| Change::Insert { suffix, payload: b"" };
    leaf.change(0, version(31), insert(b"m"));
    leaf.change(1, version(32), insert(b"n"));
    assert_eq!(leaf.operations().len(), 2, "another transaction's");
    leaf.change(0, version(32), insert(b"a"));
    assert_eq!(leaf.operations().len(), 3, "before the one before");
    leaf.change(2, RecordHeader { txn: 32, undo: 9 }, Change::Replace { payload: b"" });
    assert_eq!(leaf.operations().len(), 4, "of another kind");
    leaf.change(2, RecordHeader { txn: 32, undo: 8 }, Change::Replace { payload: b"" });
    assert_eq!(leaf.operations().len(), 5, "with older undo");
    leaf.assert_replayed();
}

#[test]
fn random_changes_are_replayed_bit_by_bit() {
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let mut leaf = Logged::new();
        let (mut txn, mut undo) = (1, 1);
        for _ in 0..1200 {
            let records = count(&leaf.page.bytes);
            txn += u64::from(random.below(8) == 0);
            undo += random.below(300) as u64;
            let bytes = random.up_to(120);
            // Keys ascend by their numbers; new ones go behind the others.
            let number = (records as u32).to_be_bytes();
            match random.below(3) {
                0 if records > 0 => {
                    let slot = random.below(records);
                    let header = RecordHeader { txn: RecordHeader::DELETED | txn, undo };
                    leaf.change(slot, header, Change::Delete);
                }
                1 if records > 0 => {
                    let slot = random.below(records);
                    if suffix(&leaf.page.bytes, slot).len() + bytes.len() + 16
                        <= free(&leaf.page.bytes)
                    {
                        let header = RecordHeader { txn, undo };
                        leaf.change(slot, header, Change::Replace { payload: &bytes });
                    }
                }
                _ if number.len() + bytes.len() + 28 <= free(&leaf.page.bytes) => {
                    let change = Change::Insert { suffix: &number, payload: &bytes };
                    leaf.change(records, version(txn), change);
                }
                _ => {}
            }
        }
        assert_eq!(prefix_len(&leaf.page.bytes), 4);
        leaf.assert_replayed();
    }
}

#[test]
fn a_run_that_fits_only_in_part_changes_nothing() {
    let mut leaf = Logged::new();
    for (i, suffix) in [b"a", b"b"].into_iter().enumerate() {
        leaf.change(i, version(31), Change::Insert { suffix, payload: b"first" });
    }
    let mut log = Vec::new();
    let delete = |slot| RecordChange { slot, header: deletion(9), change: Change::Delete };
    let mut run = OpenRun::begin(PAGE, &delete(1), &mut log);
    assert!(run.extend(PAGE, &delete(2), &mut log), "a slot that is not there");
    let mut from = ByteReader::new(&log);
    let tag = from.u8().unwrap();
    let (_, op) = PageOp::decode(tag, &mut from).unwrap();
    let before = leaf.page.bytes;
    assert!(!op.apply(&mut leaf.page.bytes));
    assert!(leaf.page.bytes == before);
}
