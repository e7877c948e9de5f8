//! Making room: splits of leaves and inner nodes, and of the root.
//!
//! Keys that arrive in ascending order split at the end: the full node stays full, the new one
//! begins empty. Descending order likewise at the beginning. Otherwise a node is cut near the
//! middle of its bytes, at the place with the shortest separator.
//!
//! ```text
//!   leaf  [ anna bert carl | dora emil fred ]      separator between "carl" and "dora" is "d"
//!   left  [ anna bert carl ]  right [ dora emil fred ]  parent gains "d" → right
//! ```

use super::{BTree, Begin, MAX_KEY, counter, image};
use crate::Result;
use crate::error::StorageError;
use crate::node::{self, HEADER_LEN, NO_LAST, SLOT_SIZE, USABLE, common_prefix};
use crate::ops::PageOp;
use crate::ops::edit::{self, Damaged, NodeSpec};
use crate::ops::node::NodeOp;
use crate::page::{PageBuf, PageBytes, PageRead};
use crate::store::{Latched, Mtr, Store};
use inia_base::ids::PageId;

/// What a node must have room for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Need {
    /// In a leaf: the key with a payload of this length.
    Payload(usize),
    /// In an inner node: the key as a separator.
    Child,
}

/// Where to cut a node.
struct Cut {
    /// The first slot of the right half.
    at: usize,
    /// The right half's lower fence.
    separator: Vec<u8>,
}

/// The shortest key above `left` and not above `right`.
pub(super) fn separator(left: &[u8], right: &[u8]) -> Vec<u8> {
    right[..right.len().min(common_prefix(left, right) + 1)].to_vec()
}

impl BTree {
    /// Whether the node has room for `key` with what is needed.
    pub(super) fn has_room(&self, page: &PageBytes, key: &[u8], need: Need) -> bool {
        let suffix_len = key.len().saturating_sub(node::prefix_len(page));
        let fits = |bytes: usize| {
            let in_limit = node::used(page) + bytes <= self.usable || node::count(page) < 2;
            bytes <= node::free(page) && in_limit
        };
        let Need::Payload(len) = need else {
            return fits(suffix_len + size_of::<u32>() + SLOT_SIZE);
        };
        let value_len = self.value_len(key.len(), len);
        if fits(suffix_len + value_len + SLOT_SIZE) {
            return true;
        }
        let Ok(i) = node::search_any(page, key) else { return false };
        let old = node::slot(page, i);
        // A record that grows moves; its old key's bytes are free only afterwards.
        value_len <= old.value_len || fits(value_len - old.value_len + old.key_len)
    }

    /// Splits until the node of a level that covers `key` has room for what is needed.
    pub(super) fn split_at_level(
        &self,
        store: &Store,
        key: &[u8],
        level: usize,
        need: Need,
        begin: Begin,
    ) -> Result<()> {
        loop {
            let mut mtr = begin(store)?;
            let Some(parent) = self.latch_node(store, &mut mtr, key, level + 1)? else {
                if !self.grow(store, mtr, key, level, need)? {
                    return Ok(());
                }
                continue;
            };
            let slot = node::child_slot(mtr.page(parent), key);
            let child = self.latch_child(&mut mtr, parent, slot)?;
            if self.has_room(mtr.page(child), key, need) {
                return Ok(());
            }
            let cut = self.choose_cut(mtr.page(child), key).ok_or_else(|| {
                StorageError::Corrupt(mtr.id(child), "full node without a place to split")
            })?;
            if !self.has_room(mtr.page(parent), &cut.separator, Need::Child) {
                drop(mtr);
                self.split_at_level(store, &cut.separator, level + 1, Need::Child, begin)?;
                continue;
            }
            self.split_node(&mut mtr, parent, child, &cut)?;
            mtr.commit();
        }
    }

    /// Makes the tree one level higher, if its root is at `level` and has no room. False when there
    /// is nothing left to do.
    fn grow<'s>(
        &self,
        store: &'s Store,
        mut mtr: Mtr<'s>,
        key: &[u8],
        level: usize,
        need: Need,
    ) -> Result<bool> {
        let Some(root) = self.latch_node(store, &mut mtr, key, level)? else { return Ok(false) };
        if mtr.id(root) != self.root {
            return Ok(true);
        }
        if self.has_room(mtr.page(root), key, need) {
            return Ok(false);
        }
        self.raise(&mut mtr, root)?;
        mtr.commit();
        Ok(true)
    }

    /// Moves the root's contents to a new page, its only child.
    pub(super) fn raise(&self, mtr: &mut Mtr<'_>, root: Latched) -> Result<()> {
        let mut content = PageBuf::new();
        content.bytes = *mtr.page(root);
        let down = mtr.allocate(self.root, node::NODE_PAGE)?;
        let mut top = PageBuf::new();
        let spec = NodeSpec { level: node::level(&content.bytes) + 1, ..self.spec() };
        let child = mtr.id(down).0.to_le_bytes();
        edit::init(&mut top.bytes, &spec)
            .and_then(|()| edit::append(&mut top.bytes, 0, &[], &[&child, &[]]))
            .expect("invariant: one child fits an empty node");
        counter::carry(&content.bytes, &mut top.bytes);
        counter::clear(&mut content.bytes);
        mtr.apply(down, &image(&content.bytes));
        mtr.apply(root, &image(&top.bytes));
        Ok(())
    }

    /// Moves the child's slots from the cut on to a new page, to its right.
    fn split_node(
        &self,
        mtr: &mut Mtr<'_>,
        parent: Latched,
        child: Latched,
        cut: &Cut,
    ) -> Result<()> {
        debug_assert!(cut.separator.len() <= MAX_KEY, "a separator is as short as a key");
        let old = mtr.page(child);
        let mut half = PageBuf::new();
        right_half(&mut half.bytes, old, cut)
            .map_err(|Damaged(what)| StorageError::Corrupt(mtr.id(child), what))?;
        let right = mtr.allocate(mtr.id(child), node::NODE_PAGE)?;
        let right_id = mtr.id(right);
        mtr.apply(right, &image(&half.bytes));
        let (at, upper) = (cut.at as u16, &cut.separator[..]);
        mtr.apply(child, &PageOp::Node(NodeOp::SplitLeft { at, right: right_id, upper }));
        self.link(mtr, parent, &cut.separator, right_id);
        Ok(())
    }

    /// Gives the parent a child for the keys from `separator` on.
    pub(super) fn link(&self, mtr: &mut Mtr<'_>, parent: Latched, separator: &[u8], child: PageId) {
        let page = mtr.page(parent);
        let (Ok(slot) | Err(slot)) = node::search(page, separator);
        let suffix = separator.get(node::prefix_len(page)..).unwrap_or_default();
        let child = child.0.to_le_bytes();
        let slot = slot as u16;
        let op = NodeOp::Insert { slot, flags: 0, suffix, value: [&child, &[]] };
        mtr.apply(parent, &PageOp::Node(op));
    }

    /// A node of this tree: a leaf that covers everything.
    pub(super) fn spec(&self) -> NodeSpec<'static> {
        NodeSpec { tree: self.root, level: 0, right: None, lower: None, upper: None, max_txn: 0 }
    }

    /// Where to cut the node so that `key` gets room, now or after further cuts.
    fn choose_cut(&self, page: &PageBytes, key: &[u8]) -> Option<Cut> {
        let shape = Shape::of(page);
        let position = node::search_any(page, key);
        if let Err(at) = position
            && let Some(cut) = run_cut(page, at, key).filter(|cut| shape.fits(cut))
        {
            return Some(cut);
        }
        let middle = shape.middle();
        let window = (shape.count / 16).max(1);
        let near = (middle.saturating_sub(window)..=middle + window)
            .filter_map(|at| shape.cut(at))
            .filter(|cut| shape.fits(cut))
            .min_by_key(|cut| (cut.separator.len(), cut.at.abs_diff(middle)));
        let any = || {
            let mut all: Vec<usize> = (1..shape.count).collect();
            all.sort_by_key(|at| at.abs_diff(middle));
            all.into_iter().filter_map(|at| shape.cut(at)).find(|cut| shape.fits(cut))
        };
        near.or_else(any).or_else(|| match position {
            Err(at) => edge_cut(page, at, key).filter(|cut| shape.fits(cut)),
            Ok(_) => None,
        })
    }
}

/// The cut for keys that come in ascending or descending order, when the last insert says so.
fn run_cut(page: &PageBytes, at: usize, key: &[u8]) -> Option<Cut> {
    let (count, last) = (node::count(page), page.u16_at(node::LAST));
    if last == NO_LAST {
        return None;
    }
    let last = usize::from(last);
    if node::level(page) > 0 {
        // The right half of an inner node cannot be empty.
        let ascending = at == count && last + 1 == count && count > 2;
        return ascending.then(|| Cut { at: count - 1, separator: whole_key(page, count - 1) });
    }
    match at {
        _ if at == last + 1 && at == count => edge_cut(page, at, key),
        0 if last == 0 => edge_cut(page, at, key),
        // A run inside the leaf: it goes on in the half that it comes from.
        _ if at == last + 1 => Some(Cut { at, separator: separator(key, &whole_key(page, at)) }),
        _ if at == last => Some(Cut { at, separator: separator(&whole_key(page, at - 1), key) }),
        _ => None,
    }
}

/// The cut before or after all of a leaf's records, for a new key that goes there alone.
fn edge_cut(page: &PageBytes, at: usize, key: &[u8]) -> Option<Cut> {
    let count = node::count(page);
    if node::level(page) > 0 || count == 0 {
        return None;
    }
    match at {
        0 => Some(Cut { at, separator: separator(key, &whole_key(page, 0)) }),
        _ if at == count => {
            Some(Cut { at, separator: separator(&whole_key(page, count - 1), key) })
        }
        _ => None,
    }
}

fn whole_key(page: &PageBytes, i: usize) -> Vec<u8> {
    let mut key = Vec::new();
    node::key_to(page, i, &mut key);
    key
}

/// The sizes that decide where a node can be cut.
struct Shape<'p> {
    page: &'p PageBytes,
    count: usize,
    /// Bytes of the records before each slot, with whole keys and slots.
    before: Vec<usize>,
}

impl<'p> Shape<'p> {
    fn of(page: &'p PageBytes) -> Shape<'p> {
        let count = node::count(page);
        let prefix = node::prefix_len(page);
        let mut before = Vec::with_capacity(count + 1);
        let mut sum = 0;
        before.push(sum);
        for i in 0..count {
            let elided = i == 0 && node::level(page) > 0;
            let key_len = if elided { 0 } else { node::slot(page, i).key_len + prefix };
            sum += key_len + node::slot(page, i).value_len + SLOT_SIZE;
            before.push(sum);
        }
        Shape { page, count, before }
    }

    /// The slot that has half of the bytes before it.
    fn middle(&self) -> usize {
        let half = self.before[self.count] / 2;
        self.before.partition_point(|before| *before <= half).saturating_sub(1)
    }

    /// The cut between two records.
    fn cut(&self, at: usize) -> Option<Cut> {
        if at == 0 || at >= self.count {
            return None;
        }
        let right = whole_key(self.page, at);
        if node::level(self.page) > 0 {
            return Some(Cut { at, separator: right });
        }
        Some(Cut { at, separator: separator(&whole_key(self.page, at - 1), &right) })
    }

    /// Whether both halves fit a page with their new fences.
    fn fits(&self, cut: &Cut) -> bool {
        let inner = node::level(self.page) > 0;
        let (lower, upper) = (node::lower(self.page), node::upper(self.page));
        let separator = &cut.separator[..];
        let size = |from: usize, to: usize, low: Option<&[u8]>, high: Option<&[u8]>| {
            let both = low.zip(high);
            let prefix = both.map_or(0, |(low, high)| common_prefix(low, high));
            let keys = if inner { (to - from).saturating_sub(1) } else { to - from };
            let fences = low.map_or(0, <[u8]>::len) + high.map_or(0, <[u8]>::len);
            let elided = if inner && from > 0 && from < to {
                node::slot(self.page, from).key_len + node::prefix_len(self.page)
            } else {
                0
            };
            let records = self.before[to] - self.before[from] - elided;
            fences + records.saturating_sub(keys * prefix)
        };
        let above = lower.is_none_or(|lower| lower < separator);
        let below = upper.is_none_or(|upper| separator < upper);
        above
            && below
            && size(0, cut.at, lower, Some(separator)) <= USABLE
            && size(cut.at, self.count, Some(separator), upper) <= USABLE
    }
}

/// Builds the right half of a node.
fn right_half(
    half: &mut PageBytes,
    old: &PageBytes,
    cut: &Cut,
) -> std::result::Result<(), Damaged> {
    let spec = NodeSpec {
        tree: node::tree(old),
        level: node::level(old),
        right: node::right(old),
        lower: Some(&cut.separator),
        upper: node::upper(old),
        max_txn: node::max_txn(old).0,
    };
    edit::init(half, &spec)?;
    edit::append_from(half, old, cut.at..node::count(old))?;
    let last = old.u16_at(node::LAST);
    if last != NO_LAST && usize::from(last) >= cut.at {
        edit::set_last(half, usize::from(last) - cut.at);
    }
    Ok(())
}

/// Two records of the greatest size, with the longest fences, fit a node.
const _: () = assert!(2 * MAX_KEY + 2 * (USABLE / 4 + HEADER_LEN + SLOT_SIZE) <= USABLE);
/// An inner node has room for three children: its fences, two separators, three page ids.
const _: () = assert!(4 * MAX_KEY + 3 * (size_of::<u32>() + SLOT_SIZE) <= USABLE);
