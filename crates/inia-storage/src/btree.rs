//! B+trees over pages: search, insert, split, merge, bulk build, check.
//!
//! A tree is named by its root page, which never moves: when the root must split, its contents go
//! down into a new page and the root becomes that page's parent.
//!
//! ```text
//!                       root (level 1)   lower and upper: none
//!                      ┌──────────────┐
//!                      │ -∞ │ g │ p   │
//!                      └─┬────┬───┬───┘
//!            ┌───────────┘    │   └───────────┐
//!      ┌─────▼─────┐    ┌─────▼─────┐    ┌────▼──────┐
//!      │ a c f     │───▶│ g k m     │───▶│ p t z     │     level 0
//!      └───────────┘    └───────────┘    └───────────┘
//!      fences -∞..g       g..p             p..+∞
//! ```
//!
//! A child's lower fence is its separator in the parent, its upper fence is the next separator.
//!
//! # Latching
//!
//! Readers latch nothing: they descend optimistically, and validate a parent after they took the
//! child's version, so that each step starts from a state in which the child was the right one
//! ([`descend`]). A writer upgrades only the leaf. After a few failed tries either takes shared
//! latches hand over hand. Splits ([`split`]) and merges ([`merge`]) latch parent, then children
//! from left to right, in a mini-transaction of their own, and never while a row change is under
//! way: a row change first makes room, then begins anew. Latches are always taken downwards and to
//! the right, so that there is no cycle.

mod bulk;
mod check;
mod counter;
mod descend;
mod estimate;
mod free;
mod group;
mod known;
mod leaf;
mod leaf_mut;
mod merge;
mod overflow;
mod range;
mod sample;
mod separators;
mod split;
#[cfg(test)]
mod tests;

pub(crate) use bulk::BulkBuilder;
#[cfg(test)]
pub(crate) use check::Problem;
pub(crate) use group::{GROUP, Lookup};
pub use known::{KnownLeaf, KnownLeaves};
pub use leaf::LeafState;
pub(crate) use leaf::{LeafCopy, PayloadRef, Wanted};
pub(crate) use leaf_mut::LeafMut;
pub(crate) use range::RangeEntry;
pub use sample::{SampledLeaf, SampledTree};

use crate::Result;
use crate::buffer::{OptimisticPage, PageVersion};
use crate::error::StorageError;
use crate::node::{self, OverflowRef, RecordHeader, is_node_of};
use crate::ops::PageOp;
use crate::ops::edit;
use crate::page::{PAGE_SIZE, PageBuf, PageBytes, PageRead, page_id};
use crate::store::{FIRST_FREE_PAGE, Latched, Mtr, Store};
use descend::{Stop, TRIES};
use inia_base::ids::{Lsn, PageId, TreeId};
use split::Need;
use std::sync::atomic::AtomicU32;

/// Longest key that a tree takes: an inner node must hold three separators and two fences.
pub(crate) const MAX_KEY: usize = 3800;

/// Longest payload that a tree takes.
pub(crate) const MAX_PAYLOAD: usize = 64 << 20;

/// Splits for one record after which its leaf is checked for damage.
const SPLITS_THRESHOLD: u64 = 64;
/// Splits for one record after which the tree is taken to be damaged.
const MAX_SPLITS: u64 = 10_000;

/// A tree. Holds no state but a hint, so that any number of values may stand for the same tree.
pub(crate) struct BTree {
    root: PageId,
    /// The page that was the last leaf when it was last looked for; 0 = not known.
    tail: AtomicU32,
    /// Bytes of a node that splits may use; less than all of it only in tests.
    usable: usize,
}

/// How a mini-transaction begins.
type Begin = for<'s> fn(&'s Store) -> Result<Mtr<'s>>;

/// Which leaf to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seek<'a> {
    /// The first leaf.
    First,
    /// The last leaf.
    Last,
    /// The leaf whose fences enclose the key.
    Covering(&'a [u8]),
    /// The leaf whose fences enclose the greatest possible key below this one.
    Before(&'a [u8]),
}

/// The operation that makes a page equal to `node`, a node with sound space accounting.
fn image(node: &PageBytes) -> PageOp<'_> {
    let end = node::SLOTS + node::count(node) * node::SLOT_SIZE;
    let heap = usize::from(node.u16_at(node::HEAP)).clamp(end, PAGE_SIZE);
    PageOp::image(node, end, heap)
}

impl BTree {
    /// Makes an empty tree; it exists once `mtr` has committed.
    pub(crate) fn create(_store: &Store, mtr: &mut Mtr<'_>) -> Result<BTree> {
        let root = mtr.allocate(FIRST_FREE_PAGE, node::NODE_PAGE)?;
        let tree = BTree::open(mtr.id(root));
        tree.make_empty(mtr, root);
        Ok(tree)
    }

    /// The tree with this root page.
    pub(crate) fn open(root: PageId) -> BTree {
        BTree { root, tail: AtomicU32::new(0), usable: node::USABLE }
    }

    /// The root page.
    #[cfg(test)]
    pub(crate) fn root(&self) -> PageId {
        self.root
    }

    /// The tree's name.
    pub(crate) fn id(&self) -> TreeId {
        TreeId(self.root.0)
    }

    /// Makes a page an empty leaf that covers everything.
    fn make_empty(&self, mtr: &mut Mtr<'_>, page: Latched) {
        let mut leaf = PageBuf::new();
        edit::init(&mut leaf.bytes, &self.spec()).expect("invariant: a node without fences fits");
        mtr.apply(page, &image(&leaf.bytes));
    }

    /// Reads the newest version of a key: its header is returned, its payload put in `out` (which
    /// is cleared). `None` when there is no record. A record may be delete-marked.
    pub(crate) fn get(
        &self,
        store: &Store,
        key: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<RecordHeader>> {
        for _ in 0..TRIES {
            match self.try_get(store, key, out) {
                Ok(found) => return Ok(found),
                Err(Stop::Restart) => {}
                Err(Stop::Failed(error)) => return Err(error),
            }
        }
        let (_, leaf) = self.shared_leaf(store, Seek::Covering(key))?;
        let Some((header, chain)) = read_record(&*leaf, key, out) else { return Ok(None) };
        if let Some(chain) = chain {
            self.read_chain(store, chain, out)?;
        }
        Ok(Some(header))
    }

    #[inline]
    fn try_get(
        &self,
        store: &Store,
        key: &[u8],
        out: &mut Vec<u8>,
    ) -> std::result::Result<Option<RecordHeader>, Stop> {
        let Some(leaf) = self.descend(store, Seek::Covering(key), 0)? else {
            return Err(StorageError::Corrupt(self.root, "tree without leaves").into());
        };
        let found = read_record(&leaf.page, key, out);
        leaf.page.validate()?;
        let Some((header, chain)) = found else { return Ok(None) };
        if let Some(chain) = chain {
            let read = self.read_chain(store, chain, out);
            leaf.page.validate()?;
            read?;
        }
        Ok(Some(header))
    }

    /// Copies a leaf. An empty one is possible, also in the middle of the tree.
    pub(crate) fn load_leaf(&self, store: &Store, at: Seek<'_>, leaf: &mut LeafCopy) -> Result<()> {
        for _ in 0..TRIES {
            match self.try_load(store, at, leaf) {
                Ok(()) => return Ok(()),
                Err(Stop::Restart) => {}
                Err(Stop::Failed(error)) => return Err(error),
            }
        }
        let (id, page) = self.shared_leaf(store, at)?;
        leaf.copy(&*page);
        leaf.keep(id, page.version());
        Ok(())
    }

    fn try_load(
        &self,
        store: &Store,
        at: Seek<'_>,
        leaf: &mut LeafCopy,
    ) -> std::result::Result<(), Stop> {
        let Some(node) = self.descend(store, at, 0)? else {
            return Err(StorageError::Corrupt(self.root, "tree without leaves").into());
        };
        leaf.copy(&node.page);
        node.page.validate()?;
        leaf.keep(node.id, node.page.version());
        Ok(())
    }

    /// Replaces the copy by the leaf that covers its upper fence. Returns the record to go on with:
    /// not always the first, since a merge may have put records from before the fence in front.
    /// `None` at the tree's end.
    pub(crate) fn next_leaf(&self, store: &Store, leaf: &mut LeafCopy) -> Result<Option<usize>> {
        self.next_leaf_by(store, leaf, |leaf, page| leaf.copy(page))
    }

    /// As [`BTree::next_leaf`], where `copy` copies the neighbour that the leaf names, racing.
    fn next_leaf_by(
        &self,
        store: &Store,
        leaf: &mut LeafCopy,
        copy: impl FnOnce(&mut LeafCopy, &OptimisticPage<'_>),
    ) -> Result<Option<usize>> {
        let Some(fence) = leaf.upper_fence().map(<[u8]>::to_vec) else { return Ok(None) };
        if let Some(id) = leaf.right()
            && let Ok(page) = store.optimistic_scan(id)
            // The link holds now, after the neighbour's version was taken: it is the neighbour.
            && leaf.is_current(store)
        {
            copy(leaf, &page);
            let is_next = is_node_of(leaf.bytes(), self.root)
                && node::level(leaf.bytes()) == 0
                && leaf.lower_fence() == Some(&fence[..]);
            let ends_after = leaf.upper_fence().is_none_or(|upper| *upper > fence[..]);
            if page.validate().is_ok() && is_next && ends_after {
                leaf.keep(id, page.version());
                return Ok(Some(0));
            }
        }
        self.leaf_above(store, &fence, leaf).map(Some)
    }

    /// Replaces the copy by the leaf that holds the keys above another leaf's upper fence. Returns
    /// the number of the record to go on with.
    pub(crate) fn leaf_above(
        &self,
        store: &Store,
        fence: &[u8],
        leaf: &mut LeafCopy,
    ) -> Result<usize> {
        self.load_leaf(store, Seek::Covering(fence), leaf)?;
        // Only a damaged tree leads back to the same leaf.
        if leaf.upper_fence().is_some_and(|upper| upper <= fence) {
            return Err(leaf.misplaced());
        }
        let (Ok(from) | Err(from)) = leaf.lower_bound(fence);
        Ok(from)
    }

    /// Replaces the copy by the leaf that holds the keys below its lower fence. Returns the number
    /// of records to go on with, counted from the first: later ones are not below the fence. `None`
    /// at the tree's beginning.
    pub(crate) fn previous_leaf(
        &self,
        store: &Store,
        leaf: &mut LeafCopy,
    ) -> Result<Option<usize>> {
        let Some(fence) = leaf.lower_fence().map(<[u8]>::to_vec) else { return Ok(None) };
        self.load_leaf(store, Seek::Before(&fence), leaf)?;
        if leaf.lower_fence().is_some_and(|lower| *lower >= fence[..]) {
            return Err(leaf.misplaced());
        }
        let (Ok(to) | Err(to)) = leaf.lower_bound(&fence);
        Ok(Some(to))
    }

    /// The greatest key, whether its record is marked as deleted or not.
    pub(crate) fn greatest_key(&self, store: &Store) -> Result<Option<Vec<u8>>> {
        let mut leaf = LeafCopy::new();
        self.load_leaf(store, Seek::Last, &mut leaf)?;
        let mut end = leaf.len();
        while end == 0 {
            let Some(before) = self.previous_leaf(store, &mut leaf)? else { return Ok(None) };
            end = before;
        }
        let mut key = Vec::new();
        leaf.key(end - 1, &mut key);
        Ok(Some(key))
    }

    /// Gives `change` exclusive access to the leaf that covers `key`, with room for a record of
    /// that key with `room` bytes of payload (or for the key's record to grow to that). What it
    /// does to the leaf, and the records it logs, are one mini-transaction; its end is returned if
    /// there was anything.
    pub(crate) fn modify<R>(
        &self,
        store: &Store,
        key: &[u8],
        room: usize,
        change: impl FnOnce(&mut LeafMut<'_, '_>) -> Result<R>,
    ) -> Result<(R, Option<Lsn>)> {
        self.modify_by(store, key, room, Store::mtr, change)
    }

    /// As [`BTree::modify`], on a leaf that was in a known state; `None`, and nothing is done,
    /// where it has left that state or has no room. The leaf's new state comes with the result.
    pub(crate) fn modify_at<R>(
        &self,
        store: &Store,
        (id, state): (PageId, PageVersion),
        key: &[u8],
        room: usize,
        change: impl FnOnce(&mut LeafMut<'_, '_>) -> Result<R>,
    ) -> Result<Option<(R, PageVersion)>> {
        if room > MAX_PAYLOAD {
            return Err(StorageError::TooLarge);
        }
        let mut mtr = store.mtr()?;
        let page = store.optimistic(id)?;
        if page.version() != state {
            return Ok(None);
        }
        let Ok(page) = mtr.upgrade(page) else { return Ok(None) };
        if !self.has_room(mtr.page(page), key, Need::Payload(room)) {
            return Ok(None);
        }
        let mut leaf = LeafMut::new(self, store, &mut mtr, page);
        let result = change(&mut leaf);
        let state = if leaf.is_changed() { state.after(mtr.commit()) } else { state };
        result.map(|result| Some((result, state)))
    }

    /// Reads the newest version of a key as [`BTree::get`] does, and returns where it is. `None`
    /// also when one look at one leaf is not enough.
    pub(crate) fn peek(
        &self,
        store: &Store,
        key: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Peeked>> {
        let leaf = match self.descend(store, Seek::Covering(key), 0) {
            Ok(Some(leaf)) => leaf,
            Ok(None) | Err(Stop::Restart) => return Ok(None),
            Err(Stop::Failed(error)) => return Err(error),
        };
        out.clear();
        let Ok(slot) = node::search(&leaf.page, key) else { return Ok(None) };
        let found = node::slot(&leaf.page, slot);
        let header = node::header_at(&leaf.page, found.value_at());
        let payload = found.value_at() + node::HEADER_LEN;
        node::append_to(&leaf.page, payload, found.payload_len(), out);
        let state = leaf.page.version();
        if leaf.page.validate().is_err() || found.flags & node::SLOT_OVERFLOW != 0 {
            return Ok(None);
        }
        Ok(Some(Peeked { page: leaf.id, state, slot, header }))
    }

    /// As [`BTree::modify`], to take a change back: goes on while a full disk stops other writers.
    pub(crate) fn modify_for_rollback<R>(
        &self,
        store: &Store,
        key: &[u8],
        room: usize,
        change: impl FnOnce(&mut LeafMut<'_, '_>) -> Result<R>,
    ) -> Result<(R, Option<Lsn>)> {
        self.modify_by(store, key, room, Store::mtr_for_rollback, change)
    }

    fn modify_by<R>(
        &self,
        store: &Store,
        key: &[u8],
        room: usize,
        begin: Begin,
        change: impl FnOnce(&mut LeafMut<'_, '_>) -> Result<R>,
    ) -> Result<(R, Option<Lsn>)> {
        if key.len() > MAX_KEY || room > MAX_PAYLOAD {
            return Err(StorageError::TooLarge);
        }
        for round in 1_u64.. {
            let mut mtr = begin(store)?;
            let page = self.latch_leaf(store, &mut mtr, key)?;
            if !self.has_room(mtr.page(page), key, Need::Payload(room)) {
                if round.is_multiple_of(SPLITS_THRESHOLD) {
                    self.explain_lack_of_room(mtr.page(page), round)?;
                }
                drop(mtr);
                self.split_at_level(store, key, 0, Need::Payload(room), begin)?;
                continue;
            }
            let mut leaf = LeafMut::new(self, store, &mut mtr, page);
            let result = change(&mut leaf);
            let end = leaf.is_changed().then(|| mtr.commit());
            return result.map(|result| (result, end));
        }
        unreachable!("the rounds have no end of their own")
    }

    /// Fails when the leaf is damaged and no split will make room in it.
    fn explain_lack_of_room(&self, leaf: &PageBytes, round: u64) -> Result<()> {
        let gave_up = (round > MAX_SPLITS).then_some("splits make no room in it");
        let what = check::layout_problems(leaf).first().copied().or(gave_up);
        what.map_or(Ok(()), |what| Err(StorageError::Corrupt(page_id(leaf), what)))
    }
}

/// Where a record was found, and its version.
pub(crate) struct Peeked {
    pub(crate) page: PageId,
    pub(crate) state: PageVersion,
    pub(crate) slot: usize,
    pub(crate) header: RecordHeader,
}

/// Reads a record out of a leaf: header, and payload into `out` or the chain that holds it.
#[inline]
fn read_record<P: PageRead>(
    leaf: &P,
    key: &[u8],
    out: &mut Vec<u8>,
) -> Option<(RecordHeader, Option<OverflowRef>)> {
    out.clear();
    let i = node::search(leaf, key).ok()?;
    let slot = node::slot(leaf, i);
    let header = node::header_at(leaf, slot.value_at());
    node::append_to(leaf, slot.value_at() + node::HEADER_LEN, slot.payload_len(), out);
    if slot.flags & node::SLOT_OVERFLOW == 0 {
        return Some((header, None));
    }
    let chain = OverflowRef::from_bytes(out);
    out.clear();
    Some((header, Some(chain)))
}
