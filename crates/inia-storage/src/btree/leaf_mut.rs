//! A leaf under an exclusive latch, with the changes that the transaction layer makes to it.

use super::leaf::{PayloadRef, payload};
use super::split::Need;
use super::{BTree, MAX_KEY};
use crate::Result;
use crate::error::StorageError;
use crate::node::{
    self, HEADER_LEN, OVERFLOW_REF_LEN, RecordHeader, SLOT_MARKED, SLOT_OVERFLOW, SLOT_SIZE,
};
use crate::ops::PageOp;
use crate::ops::edit::Damaged;
use crate::ops::node::NodeOp;
use crate::ops::run::{Change, Mark, RecordChange};
use crate::page::PageBytes;
use crate::store::{Latched, Mtr, Store};
use crate::wal::record::LogRecord;
use inia_base::ids::{PageId, TxnId};

impl BTree {
    /// Whether a record with these lengths keeps its payload in the leaf.
    pub(super) fn is_inline(&self, key_len: usize, payload_len: usize) -> bool {
        payload_len <= OVERFLOW_REF_LEN || key_len + payload_len <= self.usable / 4
    }

    /// Bytes of the value of a record with these lengths.
    pub(super) fn value_len(&self, key_len: usize, payload_len: usize) -> usize {
        let inline = self.is_inline(key_len, payload_len);
        HEADER_LEN + if inline { payload_len } else { OVERFLOW_REF_LEN }
    }
}

/// Exclusive access to one leaf. All changes, and the log records noted with them, are one
/// mini-transaction.
///
/// A function that has made a change must not fail afterwards, unless it means the change to stay.
pub(crate) struct LeafMut<'a, 's> {
    tree: &'a BTree,
    store: &'s Store,
    mtr: &'a mut Mtr<'s>,
    leaf: Latched,
    changed: bool,
}

impl<'a, 's> LeafMut<'a, 's> {
    pub(super) fn new(
        tree: &'a BTree,
        store: &'s Store,
        mtr: &'a mut Mtr<'s>,
        leaf: Latched,
    ) -> LeafMut<'a, 's> {
        LeafMut { tree, store, mtr, leaf, changed: false }
    }

    /// Whether there is anything to commit.
    pub(super) fn is_changed(&self) -> bool {
        self.changed
    }

    fn page(&self) -> &PageBytes {
        self.mtr.page(self.leaf)
    }

    fn apply(&mut self, op: NodeOp<'_>) {
        self.changed = true;
        self.mtr.apply(self.leaf, &PageOp::Node(op));
    }

    fn change(&mut self, slot: usize, header: RecordHeader, change: Change<'_>) {
        self.changed = true;
        self.mtr.change_record(self.leaf, &RecordChange { slot, header, change });
    }

    fn corrupt<T>(&self, what: &'static str) -> Result<T> {
        Err(StorageError::Corrupt(self.page_id(), what))
    }

    /// The leaf's page.
    pub(crate) fn page_id(&self) -> PageId {
        self.mtr.id(self.leaf)
    }

    /// Number of records.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        node::count(self.page())
    }

    /// Record `i`'s version.
    pub(crate) fn header(&self, i: usize) -> RecordHeader {
        node::header(self.page(), i)
    }

    /// Record `i`'s payload, or where it is.
    pub(crate) fn payload(&self, i: usize) -> PayloadRef<'_> {
        payload(self.page(), i)
    }

    /// Puts record `i`'s whole payload in `out`.
    pub(crate) fn payload_to(&self, i: usize, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        match self.payload(i) {
            PayloadRef::Inline(bytes) => out.extend_from_slice(bytes),
            PayloadRef::Overflow(at) => self.tree.read_chain(self.store, at, out)?,
        }
        Ok(())
    }

    /// The record with this key, or the one before which it would be inserted.
    pub(crate) fn lower_bound(&self, key: &[u8]) -> std::result::Result<usize, usize> {
        node::search_any(self.page(), key)
    }

    /// Whether the leaf is so empty that `BTree::try_merge` is worth a call.
    pub(crate) fn is_sparse(&self) -> bool {
        self.tree.is_sparse(self.page())
    }

    /// Frees the root that `BTree::free_nodes` left of another tree, together with the changes
    /// here.
    pub(crate) fn free_tree_root(&mut self, dropped: &BTree) -> Result<()> {
        self.changed = true;
        dropped.free_root(self.mtr)
    }

    /// Adds a record to the log group of the changes.
    pub(crate) fn log(&mut self, record: &LogRecord<'_>) {
        self.changed = true;
        self.mtr.log(record);
    }

    /// Inserts a record and returns its number. The key must not be there, and there must be room
    /// (the `room` that the leaf was opened with).
    pub(crate) fn insert(
        &mut self,
        key: &[u8],
        header: RecordHeader,
        payload: &[u8],
    ) -> Result<usize> {
        let Err(slot) = self.lower_bound(key) else { return Err(StorageError::DuplicateKey) };
        self.insert_at(slot, key, header, payload).map(|()| slot)
    }

    /// Whether the leaf covers the key and has room for a record of it, in the leaf alone.
    pub(crate) fn takes(&self, key: &[u8], payload_len: usize) -> bool {
        let page = self.page();
        self.tree.is_inline(key.len(), payload_len)
            && node::covers(page, key)
            && self.tree.has_room(page, key, Need::Payload(payload_len))
    }

    /// As [`LeafMut::insert`], with the record's number from [`LeafMut::lower_bound`].
    pub(crate) fn insert_at(
        &mut self,
        slot: usize,
        key: &[u8],
        header: RecordHeader,
        payload: &[u8],
    ) -> Result<()> {
        if key.len() > MAX_KEY {
            return Err(StorageError::TooLarge);
        }
        let Some(suffix) = key.get(node::prefix_len(self.page())..) else {
            return self.corrupt("key outside the fences");
        };
        let value_len = self.tree.value_len(key.len(), payload.len());
        if node::free(self.page()) < suffix.len() + value_len + SLOT_SIZE {
            return Err(StorageError::TooLarge);
        }
        let new = self.allocate_overflow(key.len(), payload)?;
        let chain = self.write_overflow(&new, payload);
        match stored(header, payload, chain.as_ref()) {
            (0, payload) => self.change(slot, header, Change::Insert { suffix, payload }),
            (flags, rest) => {
                let value = [&header.to_bytes()[..], rest];
                self.apply(NodeOp::Insert { slot: slot as u16, flags, suffix, value });
            }
        }
        Ok(())
    }

    /// Replaces record `i`'s version and payload; an old overflow chain is freed.
    pub(crate) fn replace(&mut self, i: usize, header: RecordHeader, payload: &[u8]) -> Result<()> {
        let (old, key_len) = self.checked(i)?;
        let value_len = self.tree.value_len(key_len, payload.len());
        if value_len > old.value_len
            && node::free(self.page()) + old.value_len < old.key_len + value_len
        {
            return Err(StorageError::TooLarge);
        }
        let old = self.latch_overflow(i)?;
        let new = self.allocate_overflow(key_len, payload)?;
        self.free_pages(&old)?;
        let chain = self.write_overflow(&new, payload);
        match stored(header, payload, chain.as_ref()) {
            (0, payload) => self.change(i, header, Change::Replace { payload }),
            (flags, rest) => {
                let value = [&header.to_bytes()[..], rest];
                self.apply(NodeOp::Replace { slot: i as u16, flags, value });
            }
        }
        Ok(())
    }

    /// Overwrites record `i`'s version and leaves the payload (delete mark and its removal).
    pub(crate) fn set_header(&mut self, i: usize, header: RecordHeader) -> Result<()> {
        self.checked(i)?;
        match header.is_deleted() {
            true => self.change(i, header, Change::Delete),
            false => self.apply(NodeOp::SetHeader { slot: i as u16, header }),
        }
        Ok(())
    }

    /// Fails if one of the records is not sound.
    pub(crate) fn check_records(&self, numbers: &[u16]) -> Result<()> {
        numbers.iter().try_for_each(|&i| self.checked(i.into()).map(|_| ()))
    }

    /// Marks sound records, one at least, as deleted by `txn` and leaves their payloads.
    pub(crate) fn mark_all(&mut self, txn: TxnId, marks: &[Mark]) {
        self.changed = true;
        self.mtr.mark_records(self.leaf, txn, marks);
    }

    /// Whether record `i`'s payload is in the leaf.
    pub(crate) fn is_inline(&self, i: usize) -> bool {
        node::slot(self.page(), i).flags & SLOT_OVERFLOW == 0
    }

    /// The bytes that all keys of the leaf begin with.
    pub(crate) fn key_prefix(&self) -> &[u8] {
        node::prefix(self.page())
    }

    /// Record `i`'s key without the prefix.
    pub(crate) fn key_suffix(&self, i: usize) -> &[u8] {
        node::suffix(self.page(), i)
    }

    /// Removes record `i` with its overflow chain.
    pub(crate) fn remove(&mut self, i: usize) -> Result<()> {
        self.checked(i)?;
        let old = self.latch_overflow(i)?;
        self.free_pages(&old)?;
        self.apply(NodeOp::Remove { slot: i as u16 });
        Ok(())
    }

    /// Removes records that have no overflow pages, by their numbers, which ascend.
    pub(crate) fn remove_batch(&mut self, numbers: &[u16]) {
        let mut runs: Vec<u8> = Vec::new();
        for run in numbers.chunk_by(|a, b| a + 1 == *b) {
            runs.extend_from_slice(&run[0].to_le_bytes());
            runs.extend_from_slice(&(run.len() as u16).to_le_bytes());
        }
        if !runs.is_empty() {
            self.apply(NodeOp::RemoveRuns { runs: &runs });
        }
    }

    /// Whether record `i` is there and has this key.
    pub(crate) fn is_at(&self, i: usize, key: &[u8]) -> bool {
        let page = self.page();
        i < node::count(page) && key.strip_prefix(node::prefix(page)) == Some(node::suffix(page, i))
    }

    /// As [`LeafMut::lower_bound`], where the record is likely to have the number `near`.
    pub(crate) fn find_near(&self, near: usize, key: &[u8]) -> std::result::Result<usize, usize> {
        if self.is_at(near, key) { Ok(near) } else { self.lower_bound(key) }
    }

    /// Whether the leaf covers the key.
    pub(crate) fn covers(&self, key: &[u8]) -> bool {
        node::covers(self.page(), key)
    }

    /// Whether record `i`, which has this key, may take this value, in the leaf alone.
    pub(crate) fn takes_at(&self, i: usize, key: &[u8], value: &[u8]) -> bool {
        let old = node::slot(self.page(), i);
        let len = self.tree.value_len(key.len(), value.len());
        self.tree.is_inline(key.len(), value.len())
            && old.flags & SLOT_OVERFLOW == 0
            && (len <= old.value_len || self.takes(key, value.len()))
    }

    /// Whether the leaf covers a key below one that it covers.
    pub(crate) fn reaches_down_to(&self, key: &[u8]) -> bool {
        node::at_or_above_lower(self.page(), key)
    }

    /// Slot `i` and the length of its whole key.
    fn checked(&self, i: usize) -> Result<(node::Slot, usize)> {
        let page = self.page();
        match crate::ops::edit::checked_slot(page, i) {
            Ok(slot) if slot.value_len >= HEADER_LEN => {
                Ok((slot, slot.key_len + node::prefix_len(page)))
            }
            Ok(_) => self.corrupt("record without a header"),
            Err(Damaged(what)) => self.corrupt(what),
        }
    }

    /// Takes the pages that a payload needs outside the leaf: none, or a chain.
    fn allocate_overflow(&mut self, key_len: usize, payload: &[u8]) -> Result<Vec<Latched>> {
        let mut chain = Vec::new();
        if self.tree.is_inline(key_len, payload.len()) {
            return Ok(chain);
        }
        let near = self.page_id();
        let taken = self.tree.allocate_chain(self.mtr, near, payload.len(), &mut chain);
        if taken.is_err() && self.changed {
            // Earlier changes will be committed, and these pages must not be with them.
            self.free_pages(&chain)?;
            return taken.map(|()| Vec::new());
        }
        taken.map(|()| chain)
    }

    fn write_overflow(
        &mut self,
        chain: &[Latched],
        payload: &[u8],
    ) -> Option<[u8; OVERFLOW_REF_LEN]> {
        if chain.is_empty() {
            return None;
        }
        self.changed = true;
        Some(self.tree.write_chain(self.mtr, chain, payload).to_bytes())
    }

    /// Latches record `i`'s overflow pages, if it has any.
    fn latch_overflow(&mut self, i: usize) -> Result<Vec<Latched>> {
        match self.payload(i) {
            PayloadRef::Overflow(at) => self.tree.latch_chain(self.mtr, at),
            PayloadRef::Inline(_) => Ok(Vec::new()),
        }
    }

    fn free_pages(&mut self, pages: &[Latched]) -> Result<()> {
        self.mtr.free_all(pages)?;
        self.changed |= !pages.is_empty();
        Ok(())
    }
}

/// A slot's flags, and the value's bytes after the header.
pub(super) fn stored<'v>(
    header: RecordHeader,
    payload: &'v [u8],
    chain: Option<&'v [u8; OVERFLOW_REF_LEN]>,
) -> (u16, &'v [u8]) {
    let mark = if header.is_deleted() { SLOT_MARKED } else { 0 };
    match chain {
        Some(reference) => (mark | SLOT_OVERFLOW, reference),
        None => (mark, payload),
    }
}
