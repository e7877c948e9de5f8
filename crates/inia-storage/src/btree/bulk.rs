//! Building a tree from sorted records.
//!
//! Leaves are filled to 15/16 in memory and written as whole-page images, each linked to the tree
//! at once at its right edge:
//!
//! ```text
//!   before:  parent [ … │ T ]            T: the last leaf, empty, from its fence to +∞
//!   one mini-transaction: T := the full leaf, N := a new empty last leaf
//!   after:   parent [ … │ T │ N ]
//! ```
//!
//! So the tree is sound after every step, however much of it is there, and a crash loses no pages:
//! the owner of a load that fails drops the tree or undoes its records. Parents split at the end,
//! which leaves them full. If other records get in between, the rest is inserted one by one.

use super::leaf_mut::stored;
use super::split::{Need, separator};
use super::{BTree, MAX_KEY, MAX_PAYLOAD, counter, image};
use crate::Result;
use crate::error::StorageError;
use crate::node::{self, RecordHeader, SLOT_SIZE, USABLE, common_prefix};
use crate::ops::edit::{self, NodeSpec};
use crate::page::{PageBuf, PageBytes};
use crate::store::{Latched, Mtr, Store};
use inia_base::ids::PageId;

/// Payload bytes after which a leaf is written though it is not full: long payloads are written in
/// the leaf's mini-transaction.
const MAX_PENDING_BYTES: usize = 1 << 20;

/// One record waiting for its leaf: its place in the buffer, and its version.
struct Pending {
    key: std::ops::Range<usize>,
    payload_end: usize,
    header: RecordHeader,
    /// Bytes it takes in a leaf, with the whole key and the slot.
    size: usize,
}

/// Takes records in ascending key order and appends them to a tree, behind all its keys.
pub(crate) struct BulkBuilder<'t> {
    tree: &'t BTree,
    pub(super) store: &'t Store,
    bytes: Vec<u8>,
    pending: Vec<Pending>,
    /// Sum of the pending records' sizes.
    size: usize,
    /// The lower fence of the next leaf, when the last one was written whole.
    fence: Option<Vec<u8>>,
    /// Whether leaves can still be written whole.
    whole: bool,
}

impl<'t> BulkBuilder<'t> {
    /// A builder that appends to `tree`.
    pub(crate) fn new(tree: &'t BTree, store: &'t Store) -> BulkBuilder<'t> {
        let (bytes, pending) = (Vec::new(), Vec::new());
        BulkBuilder { tree, store, bytes, pending, size: 0, fence: None, whole: true }
    }

    /// Takes the next record. A key not above the last one is [`StorageError::DuplicateKey`].
    pub(crate) fn push(&mut self, key: &[u8], header: RecordHeader, payload: &[u8]) -> Result<()> {
        if key.len() > MAX_KEY || payload.len() > MAX_PAYLOAD {
            return Err(StorageError::TooLarge);
        }
        if self.pending.last().is_some_and(|last| key <= &self.bytes[last.key.clone()]) {
            return Err(StorageError::DuplicateKey);
        }
        let size = key.len() + self.tree.value_len(key.len(), payload.len()) + SLOT_SIZE;
        while !self.pending.is_empty() && !self.takes(key, size) {
            self.flush(Some(key))?;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let key = start..self.bytes.len();
        self.bytes.extend_from_slice(payload);
        self.pending.push(Pending { key, payload_end: self.bytes.len(), header, size });
        self.size += size;
        Ok(())
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> Result<()> {
        while !self.pending.is_empty() {
            self.flush(None)?;
        }
        Ok(())
    }

    fn key(&self, i: usize) -> &[u8] {
        &self.bytes[self.pending[i].key.clone()]
    }

    fn payload(&self, i: usize) -> &[u8] {
        &self.bytes[self.pending[i].key.end..self.pending[i].payload_end]
    }

    /// Bytes that the first `count` pending records take as a leaf that ends before `next`.
    fn leaf_size(&self, count: usize, next: Option<&[u8]>) -> usize {
        let left_out: usize = self.pending[count..].iter().map(|record| record.size).sum();
        let records = self.size - left_out;
        let lower = self.fence.as_deref();
        let upper = next.map(|next| separator(self.key(count - 1), next));
        let prefix = lower.zip(upper.as_deref()).map_or(0, |(low, high)| common_prefix(low, high));
        let fences = lower.map_or(0, <[u8]>::len) + upper.map_or(0, |upper| upper.len());
        records + fences - prefix * count
    }

    /// Whether the leaf should take one more record.
    fn takes(&self, key: &[u8], size: usize) -> bool {
        let limit = self.tree.usable / 16 * 15;
        let plain = self.size + size + self.fence.as_ref().map_or(0, Vec::len) + key.len();
        if self.bytes.len() > MAX_PENDING_BYTES {
            return false;
        }
        plain <= limit || {
            let fits = self.leaf_size(self.pending.len(), Some(key)) + size <= limit;
            fits && plain <= 8 * limit
        }
    }

    /// Writes pending records as the leaf before `next`: all, or as many as fit.
    fn flush(&mut self, next: Option<&[u8]>) -> Result<()> {
        let mut count = self.pending.len();
        while count > 1 {
            let next = if count == self.pending.len() { next } else { Some(self.key(count)) };
            if self.leaf_size(count, next) <= USABLE {
                break;
            }
            count -= 1;
        }
        let next = match self.pending.get(count) {
            Some(record) => Some(self.bytes[record.key.clone()].to_vec()),
            None => next.map(<[u8]>::to_vec),
        };
        let fence = next.map(|next| separator(self.key(count - 1), &next));
        self.whole = self.whole && self.write_leaf(count, fence.as_deref())?;
        if !self.whole {
            self.insert_singly(count)?;
        }
        self.fence = fence.filter(|_| self.whole);
        self.forget(count);
        Ok(())
    }

    /// Drops the first `count` pending records.
    fn forget(&mut self, count: usize) {
        let cut = self.pending[count - 1].payload_end;
        self.bytes.drain(..cut);
        self.size -= self.pending.drain(..count).map(|record| record.size).sum::<usize>();
        for record in &mut self.pending {
            record.key = record.key.start - cut..record.key.end - cut;
            record.payload_end -= cut;
        }
        let end = self.pending.last().map_or(0, |last| last.payload_end);
        debug_assert_eq!(end, self.bytes.len(), "the buffer ends with the last record");
    }

    fn insert_singly(&self, count: usize) -> Result<()> {
        for i in 0..count {
            let (key, header, payload) = (self.key(i), self.pending[i].header, self.payload(i));
            self.tree
                .modify(self.store, key, payload.len(), |leaf| leaf.insert(key, header, payload))?;
        }
        Ok(())
    }

    /// Turns the tree's last leaf, if it is empty, into the one with the pending records; a new
    /// empty last leaf begins at `fence`. False when the last leaf is not empty.
    fn write_leaf(&self, count: usize, fence: Option<&[u8]>) -> Result<bool> {
        let (tree, store) = (self.tree, self.store);
        let last_key = self.key(count - 1);
        loop {
            let mut mtr = store.mtr()?;
            let Some(parent) = tree.latch_node(store, &mut mtr, last_key, 1)? else {
                match self.begin_tree(mtr, count, fence)? {
                    Some(done) => return Ok(done),
                    None => continue,
                }
            };
            let slot = node::child_slot(mtr.page(parent), last_key);
            let tail = tree.latch_child(&mut mtr, parent, slot)?;
            if !self.continues(mtr.page(tail)) {
                return Ok(false);
            }
            // Without a fence this is the last leaf of all: it becomes the tree's right edge.
            let Some(fence) = fence else {
                let chains = self.allocate_chains(&mut mtr, tail, count)?;
                self.fill(&mut mtr, tail, count, &chains, None);
                mtr.commit();
                return Ok(true);
            };
            if !tree.has_room(mtr.page(parent), fence, Need::Child) {
                drop(mtr);
                tree.split_at_level(store, fence, 1, Need::Child, Store::mtr)?;
                continue;
            }
            // What can fail comes before the first change of a page.
            let chains = self.allocate_chains(&mut mtr, tail, count)?;
            let new = mtr.allocate(mtr.id(tail), node::NODE_PAGE)?;
            let new_id = mtr.id(new);
            let mut empty = PageBuf::new();
            edit::init(&mut empty.bytes, &NodeSpec { lower: Some(fence), ..tree.spec() })
                .expect("invariant: one fence fits a node");
            mtr.apply(new, &image(&empty.bytes));
            self.fill(&mut mtr, tail, count, &chains, Some((fence, new_id)));
            tree.link(&mut mtr, parent, fence, new_id);
            mtr.commit();
            return Ok(true);
        }
    }

    /// Writes into a tree that is a single leaf, or raises it; `None` when there is more to do.
    fn begin_tree(
        &self,
        mut mtr: Mtr<'_>,
        count: usize,
        fence: Option<&[u8]>,
    ) -> Result<Option<bool>> {
        let root = mtr.latch(self.tree.root)?;
        if node::level(mtr.page(root)) > 0 {
            return Ok(None);
        }
        if !self.continues(mtr.page(root)) {
            return Ok(Some(false));
        }
        if fence.is_some() {
            self.tree.raise(&mut mtr, root)?;
        } else {
            let chains = self.allocate_chains(&mut mtr, root, count)?;
            self.fill(&mut mtr, root, count, &chains, None);
        }
        mtr.commit();
        Ok(if fence.is_some() { None } else { Some(true) })
    }

    /// Whether the pending records can become the contents of this leaf.
    fn continues(&self, leaf: &PageBytes) -> bool {
        let is_last = node::count(leaf) == 0 && !node::has_upper(leaf);
        is_last && node::lower(leaf) == self.fence.as_deref()
    }

    /// Takes the overflow pages of the first `count` pending records, a chain for each.
    fn allocate_chains(
        &self,
        mtr: &mut Mtr<'_>,
        leaf: Latched,
        count: usize,
    ) -> Result<Vec<Vec<Latched>>> {
        let near = mtr.id(leaf);
        let chain = |i: usize| {
            let mut chain = Vec::new();
            if !self.tree.is_inline(self.key(i).len(), self.payload(i).len()) {
                self.tree.allocate_chain(mtr, near, self.payload(i).len(), &mut chain)?;
            }
            Ok(chain)
        };
        (0..count).map(chain).collect()
    }

    fn fill(
        &self,
        mtr: &mut Mtr<'_>,
        leaf: Latched,
        count: usize,
        chains: &[Vec<Latched>],
        after: Option<(&[u8], PageId)>,
    ) {
        let mut full = PageBuf::new();
        let spec = NodeSpec {
            right: after.map(|(_, right)| right),
            lower: self.fence.as_deref(),
            upper: after.map(|(fence, _)| fence),
            max_txn: self.pending[..count].iter().map(|r| r.header.txn_id().0).max().unwrap_or(0),
            ..self.tree.spec()
        };
        debug_assert_eq!(chains.len(), count, "each record has its chain, or an empty one");
        let fits = "invariant: the leaf's size was computed before";
        edit::init(&mut full.bytes, &spec).expect(fits);
        for (i, chain) in chains.iter().enumerate() {
            let (key, payload, header) = (self.key(i), self.payload(i), self.pending[i].header);
            let chain = match chain.is_empty() {
                true => None,
                false => Some(self.tree.write_chain(mtr, chain, payload).to_bytes()),
            };
            let (flags, rest) = stored(header, payload, chain.as_ref());
            edit::append(&mut full.bytes, flags, key, &[&header.to_bytes(), rest]).expect(fits);
        }
        counter::carry(mtr.page(leaf), &mut full.bytes);
        mtr.apply(leaf, &image(&full.bytes));
    }
}
