//! A leaf copied out of the buffer pool: what cursors stand on.

use super::BTree;
use super::check::layout_problems;
use crate::Result;
use crate::buffer::PageVersion;
use crate::error::StorageError;
use crate::node::{self, OverflowRef, RecordHeader, SLOT_MARKED, SLOT_OVERFLOW};
use crate::page::{PAGE_SIZE, PageBuf, PageBytes, PageRead, lsn_of, page_id};
use crate::store::Store;
use inia_base::ids::{Lsn, PageId, TxnId};

/// How many records ahead a leaf is prefetched when only parts of it are read.
const AHEAD: usize = 12;

/// What distinguishes the states of a leaf: while a page's state is the same, so are its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeafState {
    /// The page.
    pub page: PageId,
    /// The end of the log group that changed it last.
    pub lsn: Lsn,
    /// How many records it has.
    pub records: usize,
}

/// How much of a leaf is to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Whole,
    /// The first so many bytes of each payload, and no keys.
    Starts(usize),
    /// No records.
    Outline,
}

/// A record's payload, or where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PayloadRef<'a> {
    /// All of it.
    Inline(&'a [u8]),
    /// In overflow pages; `BTree::read_overflow` puts it together.
    Overflow(OverflowRef),
}

/// The payload of leaf record `i`.
#[inline]
pub(super) fn payload(page: &PageBytes, i: usize) -> PayloadRef<'_> {
    let bytes = node::payload(page, i);
    if node::slot(page, i).flags & SLOT_OVERFLOW != 0 {
        return PayloadRef::Overflow(OverflowRef::from_bytes(bytes));
    }
    PayloadRef::Inline(bytes)
}

/// A consistent copy of one leaf. Empty until a tree loads a leaf into it; reused for many.
///
/// Record numbers beyond the end give empty answers.
pub(crate) struct LeafCopy {
    page: Box<PageBuf>,
    id: PageId,
    version: Option<PageVersion>,
    extent: Extent,
}

/// How much of a leaf was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Whole,
    /// Header, slots, fences and the beginnings of payloads.
    Narrow,
    /// Header and fences.
    Outline,
}

impl LeafCopy {
    /// A copy of nothing.
    pub(crate) fn new() -> LeafCopy {
        LeafCopy { page: PageBuf::new(), id: PageId(0), version: None, extent: Extent::Whole }
    }

    /// Copies what of the page is in use. Good only after [`LeafCopy::keep`], which follows the
    /// page's validation.
    pub(super) fn copy(&mut self, from: &impl PageRead) {
        self.version = None;
        self.extent = Extent::Whole;
        let end = node::SLOTS + node::count(from) * node::SLOT_SIZE;
        let heap = usize::from(from.u16_at(node::HEAP)).clamp(end, PAGE_SIZE);
        from.copy_out(0, &mut self.page.bytes[..end]);
        from.copy_out(heap, &mut self.page.bytes[heap..]);
    }

    /// The error of a leaf that does not cover what its parent says.
    pub(super) fn misplaced(&self) -> StorageError {
        StorageError::Corrupt(self.id, "leaf with other fences than its parent says")
    }

    /// What is wrong in the leaf, as an error. The copy must be a whole one.
    pub(crate) fn check(&self) -> Result<()> {
        match layout_problems(self.bytes()).first() {
            Some(what) => Err(StorageError::Corrupt(self.id, what)),
            None => Ok(()),
        }
    }

    /// Copies header and fences.
    pub(super) fn copy_outline(&mut self, from: &impl PageRead) {
        self.version = None;
        self.extent = Extent::Outline;
        let end = node::SLOTS;
        from.copy_out(0, &mut self.page.bytes[..end]);
        for (offset, len) in
            [(node::LOWER_OFF, node::LOWER_LEN), (node::UPPER_OFF, node::UPPER_LEN)]
        {
            let at = usize::from(self.page.bytes.u16_at(offset)).clamp(end, PAGE_SIZE);
            let len = usize::from(self.page.bytes.u16_at(len)).min(PAGE_SIZE - at);
            from.copy_out(at, &mut self.page.bytes[at..at + len]);
        }
    }

    /// Adds the slots and the first `bytes` of each payload to an outline, in whole words of the
    /// page. False when a payload lies outside the leaf.
    fn copy_starts(&mut self, from: &impl PageRead, bytes: usize) -> bool {
        let count = self.len();
        let slots = node::SLOTS + count * node::SLOT_SIZE;
        from.copy_out(node::SLOTS, &mut self.page.bytes[node::SLOTS..slots]);
        self.extent = Extent::Narrow;
        let payload =
            |page: &PageBytes, i: usize| node::slot(page, i).value_at() + node::HEADER_LEN;
        for i in 0..if bytes == 0 { 0 } else { count.min(AHEAD) } {
            from.ask_for(payload(self.bytes(), i));
        }
        for i in 0..count {
            let slot = node::slot(self.bytes(), i);
            if slot.flags & SLOT_OVERFLOW != 0 {
                return false;
            }
            if bytes == 0 {
                continue;
            }
            if i + AHEAD < count {
                from.ask_for(payload(self.bytes(), i + AHEAD));
            }
            let start = slot.value_at() + node::HEADER_LEN;
            let end = (start + slot.payload_len().min(bytes)).next_multiple_of(8).min(PAGE_SIZE);
            let start = (start & !7).max(slots.next_multiple_of(8));
            if start < end {
                from.copy_out(start, &mut self.page.bytes[start..end]);
            }
        }
        true
    }

    /// Whether the copy lacks keys and the ends of payloads.
    pub(crate) fn is_narrow(&self) -> bool {
        self.extent != Extent::Whole
    }

    /// Whether the copy has no records at all.
    pub(crate) fn is_outline(&self) -> bool {
        self.extent == Extent::Outline
    }

    /// Ends the program in debug builds where the copy is narrow: such a copy holds whatever was
    /// there before in the place of record headers and keys.
    #[inline]
    fn assert_whole(&self) {
        debug_assert!(!self.is_narrow(), "a narrow copy has no record headers and no keys");
    }

    /// The copy was validated as the page's state `version`.
    pub(super) fn keep(&mut self, id: PageId, version: PageVersion) {
        self.id = id;
        self.version = Some(version);
    }

    /// The page and its state that was copied; `None` in a copy that is good for nothing.
    pub(crate) fn page_state(&self) -> Option<(PageId, PageVersion)> {
        self.version.map(|version| (self.id, version))
    }

    /// What distinguishes the leaf's records as they were copied from those before and after a
    /// change.
    pub(crate) fn state(&self) -> LeafState {
        LeafState { page: page_id(self.bytes()), lsn: lsn_of(self.bytes()), records: self.len() }
    }

    /// The page has gone over to `version` by changes that leave other records than those already
    /// read as they are, and where they are: the copy stays in use.
    pub(crate) fn carry_over(&mut self, version: PageVersion) {
        self.version = Some(version);
    }

    pub(super) fn bytes(&self) -> &PageBytes {
        &self.page.bytes
    }

    #[cfg(test)]
    pub(super) fn bytes_mut(&mut self) -> &mut PageBytes {
        &mut self.page.bytes
    }

    /// Whether the page is still as it was when it was copied.
    pub(crate) fn is_current(&self, store: &Store) -> bool {
        self.version.is_some_and(|version| store.is_current(self.id, version))
    }

    /// Number of records.
    pub(crate) fn len(&self) -> usize {
        node::count(self.bytes())
    }

    /// Whether there are no records.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts record `i`'s whole key in `out`. The copy must be a whole one.
    pub(crate) fn key(&self, i: usize, out: &mut Vec<u8>) {
        self.assert_whole();
        node::key_to(self.bytes(), i, out);
    }

    /// The bytes that all keys of the leaf begin with.
    pub(crate) fn key_prefix(&self) -> &[u8] {
        node::prefix(self.bytes())
    }

    /// Record `i`'s key without the prefix. The copy must be a whole one.
    #[inline]
    pub(crate) fn key_suffix(&self, i: usize) -> &[u8] {
        self.assert_whole();
        node::suffix(self.bytes(), i)
    }

    /// Record `i`'s version. The copy must be a whole one.
    pub(crate) fn header(&self, i: usize) -> RecordHeader {
        self.assert_whole();
        node::header(self.bytes(), i)
    }

    /// Whether record `i`'s newest version is a deletion.
    pub(crate) fn is_deleted(&self, i: usize) -> bool {
        node::slot(self.bytes(), i).flags & SLOT_MARKED != 0
    }

    /// Whether record `i`'s payload is in the leaf.
    #[inline]
    pub(crate) fn is_inline(&self, i: usize) -> bool {
        node::slot(self.bytes(), i).flags & SLOT_OVERFLOW == 0
    }

    /// Record `i`'s payload, or its reference to overflow pages.
    #[inline]
    pub(crate) fn inline_payload(&self, i: usize) -> &[u8] {
        node::payload(self.bytes(), i)
    }

    /// Bytes of record `i`'s payload that lie on overflow pages.
    pub(crate) fn overflow_len(&self, i: usize) -> usize {
        match self.payload(i) {
            PayloadRef::Inline(_) => 0,
            PayloadRef::Overflow(at) => at.len as usize,
        }
    }

    /// Record `i`'s payload.
    #[inline]
    pub(crate) fn payload(&self, i: usize) -> PayloadRef<'_> {
        payload(self.bytes(), i)
    }

    /// The record with this key, or the one before which it would be inserted. The copy must be a
    /// whole one.
    pub(crate) fn lower_bound(&self, key: &[u8]) -> std::result::Result<usize, usize> {
        self.assert_whole();
        node::search_any(self.bytes(), key)
    }

    /// The least key the leaf covers; `None` in the first leaf.
    pub(crate) fn lower_fence(&self) -> Option<&[u8]> {
        node::lower(self.bytes())
    }

    /// The least key above the leaf; `None` in the last leaf.
    pub(crate) fn upper_fence(&self) -> Option<&[u8]> {
        node::upper(self.bytes())
    }

    /// No record was written by a transaction with a greater id.
    pub(crate) fn max_txn_id(&self) -> TxnId {
        node::max_txn(self.bytes())
    }

    /// Whether any record's newest version is a deletion.
    pub(crate) fn has_delete_marks(&self) -> bool {
        node::marked(self.bytes()) > 0
    }

    /// The leaf after this one, as it was when this one was copied.
    pub(crate) fn right(&self) -> Option<PageId> {
        node::right(self.bytes())
    }
}

impl BTree {
    /// As [`BTree::next_leaf`], copying only what `wanted` says of the leaf, of which it sees
    /// header and fences; what it sees may be a guess yet. Some leaves are copied whole all the
    /// same; see [`LeafCopy::is_narrow`].
    pub(crate) fn next_leaf_in_part(
        &self,
        store: &Store,
        leaf: &mut LeafCopy,
        wanted: impl FnOnce(&LeafCopy) -> Wanted,
    ) -> Result<Option<usize>> {
        self.next_leaf_by(store, leaf, |leaf, page| {
            leaf.copy_outline(page);
            if let Some(next) = leaf.right() {
                store.ask_for(next, node::SLOTS);
            }
            match wanted(leaf) {
                Wanted::Outline => {}
                Wanted::Starts(bytes) if leaf.copy_starts(page, bytes) => {}
                Wanted::Starts(_) | Wanted::Whole => leaf.copy(page),
            }
        })
    }

    /// Puts record `i`'s whole payload in `out`. False when it is in overflow pages and the leaf
    /// has changed since it was copied: load it again.
    pub(crate) fn payload_of(
        &self,
        store: &Store,
        leaf: &LeafCopy,
        i: usize,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        out.clear();
        match leaf.payload(i) {
            PayloadRef::Inline(bytes) => {
                out.extend_from_slice(bytes);
                Ok(true)
            }
            PayloadRef::Overflow(at) => {
                let read = self.read_chain(store, at, out);
                // Nothing frees the chain without changing the leaf.
                if leaf.is_current(store) { read.map(|()| true) } else { Ok(false) }
            }
        }
    }
}
