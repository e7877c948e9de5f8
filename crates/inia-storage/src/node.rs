//! The layout of a tree node, and everything that reads one.
//!
//! ```text
//!      0 ┌──────────────────────────────────────────────┐
//!        │ common page header (checksum, id, LSN, type) │
//!     32 ├──────────┬──────────┬──────────┬─────────────┤
//!        │ tree u32 │ right u32│ level u16│ count u16   │
//!     44 ├──────────┴┬─────────┴─┬────────┴─┬───────────┤
//!        │ heap u16  │garbage u16│prefix u16│ marked u16│
//!     52 ├───────────┼───────────┼──────────┼───────────┤
//!        │ lower_off │ lower_len │ upper_off│ upper_len │  u16 each
//!     60 ├───────────┼───────────┼──────────┴───────────┤
//!        │ flags u16 │ last u16  │ max_txn u64          │
//!     72 ├───────────┼───────────┴──────────────────────┤
//!        │ skip u16  │ zeros                            │
//!     80 ├───────────┴──────────────────────────────────┤
//!        │ 16 hints: key heads at regular slot distances│  u32 each
//!    144 ├──────────────────────────────────────────────┤
//!        │ slots, in key order, 12 bytes each           │
//!        │   offset u16, key_len u16                    │
//!        │   value_len u16, flags u16, key head u32     │
//!        ├ ─ ─ ─ ─ ─ ─ ─ grows down ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ┤
//!        │ free                                         │
//!   heap ├ ─ ─ ─ ─ ─ ─ ─ ─ grows up ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ┤
//!        │ records: key suffix, then value              │
//!        │ fence keys                                   │
//!  16384 └──────────────────────────────────────────────┘
//! ```
//!
//! All integers are little-endian, but a head: four bytes of the key suffix read as a big-endian
//! number, zeros where the suffix is shorter, so that comparing heads compares keys. The heads
//! begin after the first `skip` bytes of the suffixes, which all records share. (These are stored,
//! since a later insert may differ in them: fences bound all future keys, records do not.)
//!
//! A node covers the keys `lower ≤ key < upper`. Either fence may be absent (`flags`): the node is
//! then the first or the last of its level. All covered keys share the common prefix of the two
//! fences, and records leave it out:
//!
//! ```text
//!   lower = "user/17", upper = "user/21"   →  prefix "user/"
//!   records "user/17", "user/18", "user/205" are stored as "17", "18", "205"
//! ```
//!
//! A leaf's value is a [`RecordHeader`] (16 bytes) and the payload, or a reference to a chain of
//! overflow pages where the slot's flag says so. An inner node's value is a child's page id; the
//! slot's key is the lower fence of that child. The first slot of an inner node stores no key: it
//! stands for the node's own lower fence.
//!
//! Everything here is total: a page of garbage, or one that another thread is changing, gives wrong
//! answers but never a panic or an endless loop. An optimistic reader validates afterwards.

use crate::page::{PAGE_HEADER, PAGE_SIZE, PageBytes, PageRead, page_type};
use inia_base::ids::{PageId, TxnId};
use std::cmp::Ordering;

/// Page type of a tree node, leaf or inner.
pub(crate) const NODE_PAGE: u8 = page_type::FIRST_TREE_TYPE;
/// Page type of a page in an overflow chain.
pub(crate) const OVERFLOW_PAGE: u8 = page_type::FIRST_TREE_TYPE + 1;
/// Where every page keeps its type.
pub(crate) const PAGE_TYPE: usize = 16;

pub(crate) const TREE: usize = 32;
pub(crate) const RIGHT: usize = 36;
pub(crate) const LEVEL: usize = 40;
pub(crate) const COUNT: usize = 42;
pub(crate) const HEAP: usize = 44;
pub(crate) const GARBAGE: usize = 46;
pub(crate) const PREFIX: usize = 48;
pub(crate) const MARKED: usize = 50;
pub(crate) const LOWER_OFF: usize = 52;
pub(crate) const LOWER_LEN: usize = 54;
pub(crate) const UPPER_OFF: usize = 56;
pub(crate) const UPPER_LEN: usize = 58;
pub(crate) const FLAGS: usize = 60;
pub(crate) const LAST: usize = 62;
pub(crate) const MAX_TXN: usize = 64;
pub(crate) const SKIP: usize = 72;
pub(crate) const HINTS: usize = 80;
pub(crate) const SLOTS: usize = 144;

/// Where the node's own header begins, after the header all pages have.
pub(crate) const NODE_START: usize = PAGE_HEADER;
pub(crate) const SLOT_SIZE: usize = 12;
pub(crate) const HINT_COUNT: usize = 16;
/// More slots than this cannot be in a page.
const MAX_SLOTS: usize = (PAGE_SIZE - SLOTS) / SLOT_SIZE;
/// Bytes of a node that records, slots and fences share.
pub(crate) const USABLE: usize = PAGE_SIZE - SLOTS;

/// `FLAGS`: the node has a lower fence.
pub(crate) const HAS_LOWER: u16 = 1;
/// `FLAGS`: the node has an upper fence.
pub(crate) const HAS_UPPER: u16 = 2;
/// `LAST`: no insert yet.
pub(crate) const NO_LAST: u16 = u16::MAX;

/// A slot's flag: the newest version of this key is a deletion.
pub(crate) const SLOT_MARKED: u16 = 1;
/// A slot's flag: the payload is in overflow pages; the value holds an [`OverflowRef`].
pub(crate) const SLOT_OVERFLOW: u16 = 2;

const _: () = assert!(NODE_START == TREE);
const _: () = assert!(HINTS + 4 * HINT_COUNT == SLOTS);
const _: () = assert!(SLOTS.is_multiple_of(4) && SLOT_SIZE.is_multiple_of(4));
const _: () = assert!(PAGE_SIZE <= 1 << 15, "heap offsets and lengths are u16");

/// Bytes of a [`RecordHeader`] in a page.
pub(crate) const HEADER_LEN: usize = 16;
/// Bytes of an [`OverflowRef`] in a page.
pub(crate) const OVERFLOW_REF_LEN: usize = 8;

/// Overflow page: `tree u32 │ next u32 (0 = last) │ len u16 │ zeros up to 48 │ data`.
pub(crate) const OVERFLOW_NEXT: usize = 36;
pub(crate) const OVERFLOW_LEN: usize = 40;
pub(crate) const OVERFLOW_DATA: usize = 48;
/// Payload bytes that one overflow page holds.
pub(crate) const OVERFLOW_CAPACITY: usize = PAGE_SIZE - OVERFLOW_DATA;

/// The version header in front of every leaf record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct RecordHeader {
    /// The transaction that wrote the version; [`RecordHeader::DELETED`] set when it is a deletion.
    pub(crate) txn: u64,
    /// Where the version before this one is found; 0 when there is none.
    pub(crate) undo: u64,
}

impl RecordHeader {
    /// The delete mark in [`RecordHeader::txn`].
    pub(crate) const DELETED: u64 = 1 << 63;

    /// The header of a version that `txn` wrote.
    pub(crate) fn new(txn: TxnId, undo: u64, deleted: bool) -> RecordHeader {
        RecordHeader { txn: txn.0 | if deleted { Self::DELETED } else { 0 }, undo }
    }

    /// The transaction that wrote the version.
    pub(crate) fn txn_id(self) -> TxnId {
        TxnId(self.txn & !Self::DELETED)
    }

    /// Whether the version is a deletion.
    pub(crate) fn is_deleted(self) -> bool {
        self.txn & Self::DELETED != 0
    }

    pub(crate) fn to_bytes(self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..8].copy_from_slice(&self.txn.to_le_bytes());
        bytes[8..].copy_from_slice(&self.undo.to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; HEADER_LEN]) -> RecordHeader {
        let (txn, undo) = bytes.split_at(8);
        let word = |half: &[u8]| half.try_into().map_or(0, u64::from_le_bytes);
        RecordHeader { txn: word(txn), undo: word(undo) }
    }
}

/// Where a long payload is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OverflowRef {
    /// First page of the chain.
    pub(crate) first: PageId,
    /// Length of the whole payload.
    pub(crate) len: u32,
}

impl OverflowRef {
    pub(crate) fn to_bytes(self) -> [u8; OVERFLOW_REF_LEN] {
        let mut bytes = [0; OVERFLOW_REF_LEN];
        bytes[..4].copy_from_slice(&self.first.0.to_le_bytes());
        bytes[4..].copy_from_slice(&self.len.to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> OverflowRef {
        let word = |at: usize| {
            let half = bytes.get(at..at + 4).and_then(|half| half.try_into().ok());
            half.map_or(0, u32::from_le_bytes)
        };
        OverflowRef { first: PageId(word(0)), len: word(4) }
    }
}

/// Appends `len` page bytes to `out`, as far as they are in the page.
pub(crate) fn append_to(page: &impl PageRead, offset: usize, len: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + len.min(PAGE_SIZE.saturating_sub(offset)), 0);
    page.copy_out(offset, &mut out[start..]);
}

/// The part of `[offset, offset + len)` that is in the page.
#[inline]
pub(crate) fn clamped(page: &PageBytes, offset: usize, len: usize) -> &[u8] {
    let start = offset.min(PAGE_SIZE);
    &page[start..start.saturating_add(len).min(PAGE_SIZE)]
}

/// One entry of the slot array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) offset: usize,
    pub(crate) key_len: usize,
    pub(crate) value_len: usize,
    pub(crate) flags: u16,
    pub(crate) head: u32,
}

impl Slot {
    /// Where the value begins.
    #[inline]
    pub(crate) fn value_at(&self) -> usize {
        self.offset + self.key_len
    }

    /// Heap bytes that the record takes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.key_len + self.value_len
    }

    /// Length of a leaf record's payload as it is in the page.
    #[inline]
    pub(crate) fn payload_len(&self) -> usize {
        self.value_len.saturating_sub(HEADER_LEN)
    }
}

/// The head of a key suffix: its first four bytes as a big-endian number.
#[inline]
pub(crate) fn head_of(suffix: &[u8]) -> u32 {
    match suffix.first_chunk::<4>() {
        Some(bytes) => u32::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; 4];
            bytes[..suffix.len()].copy_from_slice(suffix);
            u32::from_be_bytes(bytes)
        }
    }
}

/// Whether the page is a node of the tree with this root.
#[inline]
pub(crate) fn is_node_of(page: &impl PageRead, root: PageId) -> bool {
    page.u8_at(PAGE_TYPE) == NODE_PAGE && tree(page) == root
}

#[inline]
pub(crate) fn tree(page: &impl PageRead) -> PageId {
    PageId(page.u32_at(TREE))
}

#[inline]
pub(crate) fn level(page: &impl PageRead) -> usize {
    page.u16_at(LEVEL).into()
}

/// Number of slots, never more than a page can hold.
#[inline]
pub(crate) fn count(page: &impl PageRead) -> usize {
    usize::from(page.u16_at(COUNT)).min(MAX_SLOTS)
}

/// The next node of the same level.
pub(crate) fn right(page: &impl PageRead) -> Option<PageId> {
    match page.u32_at(RIGHT) {
        0 => None,
        id => Some(PageId(id)),
    }
}

/// An upper bound of the transaction ids in the leaf's records.
pub(crate) fn max_txn(page: &impl PageRead) -> TxnId {
    TxnId(page.u64_at(MAX_TXN))
}

/// Number of records whose newest version is a deletion.
pub(crate) fn marked(page: &impl PageRead) -> usize {
    page.u16_at(MARKED).into()
}

pub(crate) fn has_lower(page: &impl PageRead) -> bool {
    page.u16_at(FLAGS) & HAS_LOWER != 0
}

pub(crate) fn has_upper(page: &impl PageRead) -> bool {
    page.u16_at(FLAGS) & HAS_UPPER != 0
}

#[inline]
pub(crate) fn prefix_len(page: &impl PageRead) -> usize {
    page.u16_at(PREFIX).into()
}

/// Appends the lower fence (nothing when there is none) to `out`.
fn lower_to(page: &impl PageRead, out: &mut Vec<u8>) {
    append_to(page, page.u16_at(LOWER_OFF).into(), page.u16_at(LOWER_LEN).into(), out);
}

pub(crate) fn lower(page: &PageBytes) -> Option<&[u8]> {
    let fence = clamped(page, page.u16_at(LOWER_OFF).into(), page.u16_at(LOWER_LEN).into());
    has_lower(page).then_some(fence)
}

pub(crate) fn upper(page: &PageBytes) -> Option<&[u8]> {
    let fence = clamped(page, page.u16_at(UPPER_OFF).into(), page.u16_at(UPPER_LEN).into());
    has_upper(page).then_some(fence)
}

/// The bytes that all keys of the node begin with.
pub(crate) fn prefix(page: &PageBytes) -> &[u8] {
    clamped(page, page.u16_at(LOWER_OFF).into(), prefix_len(page))
}

/// Whether the fences enclose `key`.
pub(crate) fn covers(page: &impl PageRead, key: &[u8]) -> bool {
    at_or_above_lower(page, key) && below_upper(page, key)
}

pub(crate) fn at_or_above_lower(page: &impl PageRead, key: &[u8]) -> bool {
    let (at, len) = (page.u16_at(LOWER_OFF).into(), page.u16_at(LOWER_LEN).into());
    !has_lower(page) || compare(page, at, len, key) != Ordering::Greater
}

pub(crate) fn below_upper(page: &impl PageRead, key: &[u8]) -> bool {
    let (at, len) = (page.u16_at(UPPER_OFF).into(), page.u16_at(UPPER_LEN).into());
    !has_upper(page) || compare(page, at, len, key) == Ordering::Greater
}

/// Slot `i`; a slot number beyond the page gives an empty one.
#[inline]
pub(crate) fn slot(page: &impl PageRead, i: usize) -> Slot {
    let at = SLOTS + i * SLOT_SIZE;
    let (place, rest) = (page.u32_at(at), page.u32_at(at + 4));
    Slot {
        offset: (place & 0xffff) as usize,
        key_len: (place >> 16) as usize,
        value_len: (rest & 0xffff) as usize,
        flags: (rest >> 16) as u16,
        head: page.u32_at(at + 8),
    }
}

#[inline]
fn slot_head(page: &impl PageRead, i: usize) -> u32 {
    page.u32_at(SLOTS + i * SLOT_SIZE + 8)
}

/// The child that slot `i` of an inner node points at.
pub(crate) fn child(page: &impl PageRead, i: usize) -> PageId {
    PageId(page.u32_at(slot(page, i).value_at()))
}

/// The header of leaf record `i`.
#[inline]
pub(crate) fn header(page: &impl PageRead, i: usize) -> RecordHeader {
    header_at(page, slot(page, i).value_at())
}

/// The header that begins at a place in the heap.
#[inline]
pub(crate) fn header_at(page: &impl PageRead, offset: usize) -> RecordHeader {
    RecordHeader { txn: page.u64_at(offset), undo: page.u64_at(offset + 8) }
}

/// The stored key bytes of slot `i`, without the prefix.
#[inline]
pub(crate) fn suffix(page: &PageBytes, i: usize) -> &[u8] {
    let slot = slot(page, i);
    clamped(page, slot.offset, slot.key_len)
}

/// The value bytes of slot `i`.
#[inline]
pub(crate) fn value(page: &PageBytes, i: usize) -> &[u8] {
    let slot = slot(page, i);
    clamped(page, slot.value_at(), slot.value_len)
}

/// The payload bytes of leaf record `i` as they are in the page.
#[inline]
pub(crate) fn payload(page: &PageBytes, i: usize) -> &[u8] {
    let value = value(page, i);
    &value[HEADER_LEN.min(value.len())..]
}

/// Puts the whole key of slot `i` in `out`. In an inner node slot 0 stands for the lower fence.
pub(crate) fn key_to(page: &PageBytes, i: usize, out: &mut Vec<u8>) {
    out.clear();
    if i == 0 && level(page) > 0 {
        return lower_to(page, out);
    }
    out.extend_from_slice(prefix(page));
    out.extend_from_slice(suffix(page, i));
}

/// Bytes that could be given to new records, after compaction.
pub(crate) fn free(page: &impl PageRead) -> usize {
    let heap = usize::from(page.u16_at(HEAP)).min(PAGE_SIZE);
    let gap = heap.saturating_sub(SLOTS + count(page) * SLOT_SIZE);
    gap + usize::from(page.u16_at(GARBAGE))
}

/// Bytes taken by slots, records and fences.
pub(crate) fn used(page: &impl PageRead) -> usize {
    USABLE.saturating_sub(free(page))
}

/// The first slot that has a key: in an inner node slot 0 stands for all keys below slot 1.
#[inline]
pub(crate) fn first_keyed(page: &impl PageRead) -> usize {
    usize::from(level(page) > 0)
}

/// Bytes that all stored suffixes share, and heads leave out.
#[inline]
pub(crate) fn skip(page: &impl PageRead) -> usize {
    page.u16_at(SKIP).into()
}

/// Compares `len` page bytes with `key`, eight at a time.
#[inline]
fn compare(page: &impl PageRead, offset: usize, len: usize, key: &[u8]) -> Ordering {
    let common = len.min(key.len());
    let mut done = 0;
    while done < common {
        let part = (common - done).min(8);
        let mut bytes = [0; 8];
        bytes[..part].copy_from_slice(&key[done..done + part]);
        let mask = u64::MAX << (64 - 8 * part);
        let ours = be_word(page, offset + done) & mask;
        match ours.cmp(&u64::from_be_bytes(bytes)) {
            Ordering::Equal => done += part,
            unequal => return unequal,
        }
    }
    len.cmp(&key.len())
}

/// The eight bytes at any offset as a big-endian number; zeros stand for bytes beyond the page.
#[inline]
fn be_word(page: &impl PageRead, offset: usize) -> u64 {
    let last = PAGE_SIZE - 8;
    let word = page.u64_at(offset.min(last)).swap_bytes();
    let beyond = offset.saturating_sub(last).min(8) as u32;
    word.checked_shl(8 * beyond).unwrap_or(0)
}

/// The slot of `key`, or the slot it would be inserted at. The caller knows that the node covers
/// the key, or validates later: the prefix is not compared.
#[inline]
pub(crate) fn search<P: PageRead>(page: &P, key: &[u8]) -> Result<usize, usize> {
    let suffix = key.get(prefix_len(page)..).unwrap_or_default();
    let (first, count, skip) = (first_keyed(page), count(page), skip(page));
    if count <= first {
        return Err(count);
    }
    let shared = &suffix[..suffix.len().min(skip)];
    if skip > 0 {
        match compare(page, slot(page, first).offset, skip, shared) {
            Ordering::Equal => {}
            Ordering::Greater => return Err(first),
            Ordering::Less => return Err(count),
        }
    }
    let rest = &suffix[shared.len()..];
    let head = head_of(rest);
    let (low, high) = hinted(page, head, count);
    let (mut low, mut high) = (low.max(first), high);
    while low < high {
        let middle = (low + high) / 2;
        let order = match slot_head(page, middle).cmp(&head) {
            Ordering::Equal => compare_rest(page, middle, skip, rest),
            different => different,
        };
        match order {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return Ok(middle),
        }
    }
    Err(low)
}

/// Compares what follows the skipped bytes of slot `i` with `rest`, which has the same head.
#[inline]
fn compare_rest<P: PageRead>(page: &P, i: usize, skip: usize, rest: &[u8]) -> Ordering {
    let place = page.u32_at(SLOTS + i * SLOT_SIZE);
    let (offset, key_len) = ((place & 0xffff) as usize, (place >> 16) as usize);
    let key_len = key_len.saturating_sub(skip);
    if key_len <= 4 || rest.len() <= 4 {
        // Equal heads: the shorter key, filled up with zeros, begins the longer one.
        return key_len.cmp(&rest.len());
    }
    compare(page, offset + skip + 4, key_len - 4, &rest[4..])
}

/// The slots that a search for `key` will look at first and last.
#[inline]
pub(crate) fn likely_slots<P: PageRead>(page: &P, key: &[u8]) -> (usize, usize) {
    let rest = key.get(prefix_len(page) + skip(page)..).unwrap_or_default();
    hinted(page, head_of(rest), count(page))
}

/// The slots between which `head` must be, by the hints.
#[inline]
fn hinted<P: PageRead>(page: &P, head: u32, count: usize) -> (usize, usize) {
    let distance = count / (HINT_COUNT + 1);
    if distance < 2 {
        return (0, count);
    }
    let (mut below, mut up_to) = (0, 0);
    for i in 0..HINT_COUNT {
        let hint = page.u32_at(HINTS + 4 * i);
        below += usize::from(hint < head);
        up_to += usize::from(hint <= head);
    }
    let low = below * distance;
    let high = if up_to < HINT_COUNT { ((up_to + 1) * distance).min(count) } else { count };
    (low.min(high), high)
}

/// The slot of an inner node whose child covers `key`.
#[inline]
pub(crate) fn child_slot(page: &impl PageRead, key: &[u8]) -> usize {
    match search(page, key) {
        Ok(i) => i,
        Err(i) => i.saturating_sub(1),
    }
}

/// As [`search`], for any key: one outside the prefix is before or after all records.
pub(crate) fn search_any(page: &PageBytes, key: &[u8]) -> Result<usize, usize> {
    let prefix = prefix(page);
    match prefix.cmp(&key[..key.len().min(prefix.len())]) {
        Ordering::Equal => search(page, key),
        Ordering::Less => Err(count(page)),
        Ordering::Greater => Err(0),
    }
}

/// Length of the common beginning of two keys.
pub(crate) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Pages of an overflow chain that holds `len` bytes.
pub(crate) fn chain_pages(len: usize) -> usize {
    len.div_ceil(OVERFLOW_CAPACITY)
}

/// Pages that a payload takes besides its leaf.
pub(crate) fn overflow_pages(key_len: usize, payload_len: usize) -> usize {
    let inline = payload_len <= OVERFLOW_REF_LEN || key_len + payload_len <= USABLE / 4;
    if inline { 0 } else { chain_pages(payload_len) }
}
