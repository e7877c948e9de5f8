//! Checks a whole tree: every invariant that the other modules rely on.

use super::BTree;
use super::leaf::{PayloadRef, payload};
use crate::node::*;
use crate::ops::edit::checked_slot;
use crate::page::{PAGE_SIZE, PageBuf, PageBytes, PageRead};
use crate::store::Store;
use inia_base::ids::PageId;
use std::collections::HashSet;

/// Something wrong in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Where.
    pub(crate) page: PageId,
    /// What.
    pub(crate) what: String,
}

/// What a node's parent says about it.
struct Expected {
    level: usize,
    lower: Option<Vec<u8>>,
    upper: Option<Vec<u8>>,
}

struct Checker<'c> {
    tree: &'c BTree,
    store: &'c Store,
    report: &'c mut Vec<Problem>,
    seen: HashSet<PageId>,
    /// Per level, the right neighbour that the node visited last names.
    right_of_last: Vec<Option<Option<PageId>>>,
}

impl BTree {
    /// Checks fences, order, levels, neighbours, space, prefixes, heads, hints, counts and overflow
    /// chains. The tree must be at rest. Returns the pages that belong to it.
    pub(crate) fn check(&self, store: &Store, report: &mut Vec<Problem>) -> HashSet<PageId> {
        let (seen, right_of_last) = (HashSet::new(), Vec::new());
        let mut checker = Checker { tree: self, store, report, seen, right_of_last };
        let Some(root) = checker.read(self.root) else { return checker.seen };
        let height = level(&root.bytes);
        if height > 32 {
            checker.problem(self.root, "tree of a senseless height");
            return checker.seen;
        }
        checker.seen.clear();
        checker.right_of_last = vec![None; height + 1];
        checker.node(self.root, &Expected { level: height, lower: None, upper: None });
        for (level, last) in checker.right_of_last.clone().into_iter().enumerate() {
            if let Some(Some(id)) = last {
                checker.problem(id, format!("right neighbour of the last node of level {level}"));
            }
        }
        checker.seen
    }
}

impl Checker<'_> {
    fn problem(&mut self, page: PageId, what: impl Into<String>) {
        self.report.push(Problem { page, what: what.into() });
    }

    fn read(&mut self, id: PageId) -> Option<Box<PageBuf>> {
        if !self.seen.insert(id) {
            self.problem(id, "page reached twice");
            return None;
        }
        match self.store.shared(id) {
            Ok(page) => {
                let mut copy = PageBuf::new();
                copy.bytes = *page;
                Some(copy)
            }
            Err(error) => {
                self.problem(id, error.to_string());
                None
            }
        }
    }

    fn node(&mut self, id: PageId, expected: &Expected) {
        let Some(page) = self.read(id) else { return };
        let page = &page.bytes;
        if !is_node_of(page, self.tree.root) || level(page) != expected.level {
            return self.problem(id, "not a node of this tree and level");
        }
        if lower(page) != expected.lower.as_deref() || upper(page) != expected.upper.as_deref() {
            self.problem(id, "fences differ from the parent's separators");
        }
        if let Some(named) = self.right_of_last[expected.level]
            && named != Some(id)
        {
            self.problem(id, "not the right neighbour of the node before");
        }
        self.right_of_last[expected.level] = Some(right(page));
        for what in layout_problems(page) {
            self.problem(id, what);
        }
        if expected.level > 0 {
            return self.children(id, page, expected);
        }
        for i in 0..count(page) {
            if let PayloadRef::Overflow(chain) = payload(page, i) {
                self.chain(id, chain);
            }
        }
    }

    fn children(&mut self, id: PageId, page: &PageBytes, expected: &Expected) {
        if count(page) == 0 {
            self.problem(id, "inner node without children");
        }
        let key = |i: usize| {
            let mut key = Vec::new();
            key_to(page, i, &mut key);
            Some(key)
        };
        for i in 0..count(page) {
            let lower = if i == 0 { expected.lower.clone() } else { key(i) };
            let upper = if i + 1 < count(page) { key(i + 1) } else { expected.upper.clone() };
            self.node(child(page, i), &Expected { level: expected.level - 1, lower, upper });
        }
    }

    fn chain(&mut self, leaf: PageId, chain: OverflowRef) {
        match self.tree.chain_pages(self.store, chain) {
            Ok(pages) => {
                for page in pages {
                    if !self.seen.insert(page) {
                        self.problem(page, "overflow page reached twice");
                    }
                }
            }
            Err(error) => self.problem(leaf, format!("overflow chain: {error}")),
        }
    }
}

/// What is wrong inside one node.
pub(super) fn layout_problems(page: &PageBytes) -> Vec<&'static str> {
    let mut problems = Vec::new();
    let mut expect = |right: bool, what: &'static str| {
        if !right {
            problems.push(what);
        }
    };
    // Space: every byte of the heap belongs to a record, a fence, or the garbage.
    let (count, heap) = (count(page), usize::from(page.u16_at(HEAP)));
    expect(SLOTS + count * SLOT_SIZE <= heap && heap <= PAGE_SIZE, "slots and heap overlap");
    let fences = usize::from(page.u16_at(LOWER_LEN)) + usize::from(page.u16_at(UPPER_LEN));
    let slots = (0..count).map(|i| checked_slot(page, i));
    let records: usize = slots.map(|slot| slot.map_or(PAGE_SIZE, |slot| slot.len())).sum();
    let accounted = records + fences + usize::from(page.u16_at(GARBAGE));
    expect(accounted == PAGE_SIZE - heap.min(PAGE_SIZE), "wrong space accounting");
    // Fences: records leave out exactly what both fences share.
    let prefix = match (lower(page), upper(page)) {
        (Some(lower), Some(upper)) => {
            expect(lower < upper, "fences out of order");
            common_prefix(lower, upper)
        }
        _ => 0,
    };
    expect(prefix_len(page) == prefix, "wrong prefix length");
    // Records: keys ascend between the fences, and slots repeat what headers and keys say.
    let (mut key, mut before) = (Vec::new(), Vec::new());
    let mut marks = 0;
    for i in 0..count {
        let slot = slot(page, i);
        key_to(page, i, &mut key);
        expect(i == 0 || before < key, "keys out of order");
        expect(covers(page, &key), "key outside the fences");
        if i >= first_keyed(page) {
            let (stored, first) = (suffix(page, i), suffix(page, first_keyed(page)));
            expect(common_prefix(stored, first) >= skip(page), "suffixes differ where skipped");
            let head = head_of(stored.get(skip(page)..).unwrap_or_default());
            expect(slot.head == head, "wrong key head");
        }
        std::mem::swap(&mut key, &mut before);
        if level(page) == 0 {
            let header = header(page, i);
            let marked = slot.flags & SLOT_MARKED != 0;
            marks += usize::from(marked);
            expect(slot.value_len >= HEADER_LEN, "record without a header");
            expect(header.is_deleted() == marked, "delete mark and slot flag differ");
            expect(header.txn_id() <= max_txn(page), "transaction above the page's greatest");
        } else {
            expect(slot.value_len == size_of::<u32>(), "child of a wrong size");
        }
    }
    expect(marked(page) == marks, "wrong number of delete marks");
    // Hints: a search begins with them, so a wrong one hides records.
    let distance = count / (HINT_COUNT + 1);
    if distance >= 2 {
        let right = |i: usize| page.u32_at(HINTS + 4 * i) == slot(page, distance * (i + 1)).head;
        expect((0..HINT_COUNT).all(right), "wrong hint");
    }
    problems
}
