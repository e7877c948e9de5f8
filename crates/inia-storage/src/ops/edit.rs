//! Changes of a node: pure functions from page bytes to page bytes.
//!
//! Every change of a tree goes through these functions, in normal running and in recovery, and
//! each is deterministic: the same bytes and the same operation give the same bytes. None panics,
//! whatever the page holds; what cannot be done is [`Damaged`], and leaves the page as it was.
//!
//! Invariants of a node:
//! - `SLOTS + 12 × count ≤ heap ≤ PAGE_SIZE`
//! - `slots + records + fences + garbage = PAGE_SIZE − heap + 12 × count`, so garbage is exactly
//!   what [`compact`] gives back
//! - keys strictly ascend, and lie between the fences
//! - `skip` ≤ length of what all suffixes share; heads are what follows it
//! - `hint[i] = head of slot[(i + 1) × (count / 17)]` while there are at least 34 records
//! - `marked` = number of slots with the mark flag; `max_txn` ≥ every record's transaction

use super::run::Mark;
use crate::node::*;
use crate::page::{self, PAGE_SIZE, PageBytes, PageRead, put_u32, put_u64};
use inia_base::ids::{PageId, TxnId};
use std::ops::Range;

/// An operation does not fit the page it was given; says what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged(pub(crate) &'static str);

type Edit<T> = std::result::Result<T, Damaged>;

/// What a node is made with; records follow by [`append`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeSpec<'a> {
    pub(crate) tree: PageId,
    pub(crate) level: usize,
    pub(crate) right: Option<PageId>,
    pub(crate) lower: Option<&'a [u8]>,
    pub(crate) upper: Option<&'a [u8]>,
    pub(crate) max_txn: u64,
}

fn put_u16(page: &mut PageBytes, offset: usize, value: usize) {
    page::put_u16(page, offset, value as u16);
}

/// Makes an empty node. Of the common page header only the type is written.
pub(crate) fn init(page: &mut PageBytes, spec: &NodeSpec<'_>) -> Edit<()> {
    let (lower, upper) = (spec.lower.unwrap_or_default(), spec.upper.unwrap_or_default());
    if lower.len() + upper.len() > USABLE || spec.level > usize::from(u16::MAX) {
        return Err(Damaged("fences larger than a node"));
    }
    page[PAGE_TYPE] = NODE_PAGE;
    page[PAGE_TYPE + 1..].fill(0);
    put_u32(page, TREE, spec.tree.0);
    put_u32(page, RIGHT, spec.right.map_or(0, |id| id.0));
    put_u16(page, LEVEL, spec.level);
    put_u64(page, MAX_TXN, spec.max_txn);
    put_u16(page, LAST, NO_LAST.into());
    let has = |fence: Option<&[u8]>, flag: u16| if fence.is_some() { usize::from(flag) } else { 0 };
    put_u16(page, FLAGS, has(spec.lower, HAS_LOWER) | has(spec.upper, HAS_UPPER));
    let lower_at = PAGE_SIZE - lower.len();
    let upper_at = lower_at - upper.len();
    page[lower_at..].copy_from_slice(lower);
    page[upper_at..lower_at].copy_from_slice(upper);
    put_u16(page, LOWER_OFF, lower_at);
    put_u16(page, LOWER_LEN, lower.len());
    put_u16(page, UPPER_OFF, upper_at);
    put_u16(page, UPPER_LEN, upper.len());
    put_u16(page, HEAP, upper_at);
    if spec.lower.is_some() && spec.upper.is_some() {
        put_u16(page, PREFIX, common_prefix(lower, upper));
    }
    Ok(())
}

/// Space accounting that later steps may rely on: slots end where the heap begins, or before.
fn checked_heap(page: &PageBytes) -> Edit<(usize, usize)> {
    let (count, heap) = (usize::from(page.u16_at(COUNT)), usize::from(page.u16_at(HEAP)));
    if heap > PAGE_SIZE || SLOTS + count * SLOT_SIZE > heap {
        return Err(Damaged("slots and heap overlap"));
    }
    Ok((count, heap))
}

/// Slot `i`, which must exist with its record inside the heap.
pub(crate) fn checked_slot(page: &PageBytes, i: usize) -> Edit<Slot> {
    let (count, heap) = checked_heap(page)?;
    let slot = slot(page, i);
    if i >= count || slot.offset < heap || slot.offset + slot.len() > PAGE_SIZE {
        return Err(Damaged("slot outside the heap"));
    }
    Ok(slot)
}

fn put_slot(page: &mut PageBytes, i: usize, slot: &Slot) {
    let at = SLOTS + i * SLOT_SIZE;
    put_u16(page, at, slot.offset);
    put_u16(page, at + 2, slot.key_len);
    put_u16(page, at + 4, slot.value_len);
    put_u16(page, at + 6, slot.flags.into());
    put_u32(page, at + 8, slot.head);
}

/// Takes `len` bytes of the free gap for a record. The caller made sure that they are there.
fn allocate(page: &mut PageBytes, len: usize) -> usize {
    let offset = usize::from(page.u16_at(HEAP)) - len;
    put_u16(page, HEAP, offset);
    offset
}

fn add_garbage(page: &mut PageBytes, len: usize) {
    let garbage = usize::from(page.u16_at(GARBAGE)) + len;
    put_u16(page, GARBAGE, garbage.min(PAGE_SIZE));
}

/// Keeps `marked` and `max_txn` right after a slot's flags or header changed.
fn note_version(page: &mut PageBytes, old_flags: u16, new_flags: u16, header: Option<&[u8]>) {
    let marked = usize::from(page.u16_at(MARKED)) + usize::from(new_flags & SLOT_MARKED);
    put_u16(page, MARKED, marked.saturating_sub((old_flags & SLOT_MARKED).into()));
    if let Some(header) = header.and_then(|value| value.first_chunk::<HEADER_LEN>()) {
        let txn = RecordHeader::from_bytes(header).txn_id().0;
        if level(page) == 0 && txn > page.u64_at(MAX_TXN) {
            put_u64(page, MAX_TXN, txn);
        }
    }
}

/// Recomputes the hints that a change at `from` can have touched.
fn update_hints(page: &mut PageBytes, old_count: usize, from: usize) {
    let distance = count(page) / (HINT_COUNT + 1);
    if distance < 2 {
        return;
    }
    let same_distance = old_count / (HINT_COUNT + 1) == distance;
    let first = if same_distance { (from / distance).saturating_sub(1) } else { 0 };
    for i in first..HINT_COUNT {
        let head = slot(page, distance * (i + 1)).head;
        put_u32(page, HINTS + 4 * i, head);
    }
}

/// A value in two pieces, so that header and payload need not be put together first.
pub(crate) type Value<'a> = [&'a [u8]; 2];

fn value_len(value: &Value<'_>) -> usize {
    value[0].len() + value[1].len()
}

fn put_value(page: &mut PageBytes, at: usize, value: &Value<'_>) {
    let middle = at + value[0].len();
    page[at..middle].copy_from_slice(value[0]);
    page[middle..middle + value[1].len()].copy_from_slice(value[1]);
}

/// Inserts a record before slot `i`. `suffix` is the key without the node's prefix.
pub(crate) fn insert(
    page: &mut PageBytes,
    i: usize,
    flags: u16,
    suffix: &[u8],
    value: &Value<'_>,
) -> Edit<()> {
    let (count, _) = checked_heap(page)?;
    let len = suffix.len() + value_len(value);
    if i > count {
        return Err(Damaged("insert beyond the last slot"));
    }
    make_gap(page, len + SLOT_SIZE)?;
    let old_skip = skip(page);
    let new_skip = skip_with(page, count, i, suffix);
    let offset = allocate(page, len);
    page[offset..offset + suffix.len()].copy_from_slice(suffix);
    put_value(page, offset + suffix.len(), value);
    let (from, end) = (SLOTS + i * SLOT_SIZE, SLOTS + count * SLOT_SIZE);
    page.copy_within(from..end, from + SLOT_SIZE);
    let head = head_of(suffix.get(new_skip..).unwrap_or_default());
    let (key_len, value_len) = (suffix.len(), value_len(value));
    put_slot(page, i, &Slot { offset, key_len, value_len, flags, head });
    put_u16(page, COUNT, count + 1);
    put_u16(page, LAST, i);
    note_version(page, 0, flags, Some(value[0]));
    if new_skip == old_skip {
        update_hints(page, count, i);
    } else {
        set_skip(page, new_skip);
    }
    Ok(())
}

/// The bytes that all suffixes share once `suffix` is among them, before slot `i`. Keys ascend, so
/// that only a new first or last one can differ from the others in what they share.
fn skip_with(page: &PageBytes, count: usize, i: usize, key: &[u8]) -> usize {
    let (first, skip) = (first_keyed(page), skip(page));
    if i < first {
        return skip;
    }
    if count <= first {
        return key.len();
    }
    match i {
        _ if i == count => skip.min(common_prefix(key, suffix(page, first))),
        _ if i == first => skip.min(common_prefix(key, suffix(page, count - 1))),
        _ => skip,
    }
}

/// Makes all heads begin after `skip` bytes.
fn set_skip(page: &mut PageBytes, skip: usize) {
    put_u16(page, SKIP, skip);
    for i in first_keyed(page)..count(page) {
        let head = head_of(suffix(page, i).get(skip..).unwrap_or_default());
        put_u32(page, SLOTS + i * SLOT_SIZE + 8, head);
    }
    update_hints(page, 0, 0);
}

/// Appends a record with a whole key; for nodes under construction.
pub(crate) fn append(page: &mut PageBytes, flags: u16, key: &[u8], value: &Value<'_>) -> Edit<()> {
    let suffix = key.get(prefix_len(page)..).ok_or(Damaged("key shorter than the prefix"))?;
    let inner_first = level(page) > 0 && count(page) == 0;
    let suffix = if inner_first { &[] } else { suffix };
    let last = page.u16_at(LAST);
    insert(page, count(page), flags, suffix, value)?;
    put_u16(page, LAST, last.into());
    Ok(())
}

/// Bytes between slots and heap.
fn gap(page: &PageBytes) -> Edit<usize> {
    checked_heap(page).map(|(count, heap)| heap - SLOTS - count * SLOT_SIZE)
}

/// Sees to it that the gap has `need` bytes.
fn make_gap(page: &mut PageBytes, need: usize) -> Edit<()> {
    if gap(page)? >= need {
        return Ok(());
    }
    if free(page) < need {
        return Err(Damaged("record larger than the free space"));
    }
    let old = *page;
    compact(page)?;
    if gap(page)? < need {
        *page = old;
        return Err(Damaged("wrong space accounting"));
    }
    Ok(())
}

/// Replaces the value of slot `i`, in place when it does not grow.
pub(crate) fn replace(page: &mut PageBytes, i: usize, flags: u16, value: &Value<'_>) -> Edit<()> {
    let mut slot = checked_slot(page, i)?;
    let (old_flags, new_len) = (slot.flags, value_len(value));
    if new_len <= slot.value_len {
        add_garbage(page, slot.value_len - new_len);
    } else {
        slot = relocate(page, i, &slot, new_len)?;
    }
    put_value(page, slot.value_at(), value);
    put_slot(page, i, &Slot { value_len: new_len, flags, ..slot });
    note_version(page, old_flags, flags, Some(value[0]));
    Ok(())
}

/// Moves record `i` to fresh heap space with room for a value of `new_len` bytes.
fn relocate(page: &mut PageBytes, i: usize, old: &Slot, new_len: usize) -> Edit<Slot> {
    let len = old.key_len + new_len;
    if free(page) + old.value_len < len {
        return Err(Damaged("record larger than the free space"));
    }
    if gap(page)? >= len {
        return Ok(move_key(page, old, len));
    }
    // Keep the key alone through the compaction: its value is about to be overwritten.
    let before = *page;
    put_slot(page, i, &Slot { value_len: 0, ..*old });
    add_garbage(page, old.value_len);
    let kept = compact(page).and_then(|()| checked_slot(page, i));
    match kept {
        Ok(kept) if gap(page)? >= len => Ok(move_key(page, &kept, len)),
        _ => {
            *page = before;
            Err(Damaged("wrong space accounting"))
        }
    }
}

fn move_key(page: &mut PageBytes, old: &Slot, len: usize) -> Slot {
    add_garbage(page, old.len());
    let offset = allocate(page, len);
    page.copy_within(old.offset..old.offset + old.key_len, offset);
    Slot { offset, ..*old }
}

/// Overwrites the version header of leaf record `i`.
pub(crate) fn set_header(page: &mut PageBytes, i: usize, header: RecordHeader) -> Edit<()> {
    let slot = checked_slot(page, i)?;
    if slot.value_len < HEADER_LEN {
        return Err(Damaged("record without a header"));
    }
    let bytes = header.to_bytes();
    page[slot.value_at()..slot.value_at() + HEADER_LEN].copy_from_slice(&bytes);
    let flags = slot.flags & !SLOT_MARKED | if header.is_deleted() { SLOT_MARKED } else { 0 };
    put_slot(page, i, &Slot { flags, ..slot });
    note_version(page, slot.flags, flags, Some(&bytes));
    Ok(())
}

/// As [`set_header`] of several leaf records, with delete marks of `txn`: all of them, or none.
pub(crate) fn mark(page: &mut PageBytes, txn: TxnId, marks: &[Mark]) -> Edit<()> {
    let (count, heap) = checked_heap(page)?;
    let mut new = 0;
    for mark in marks {
        let i = usize::from(mark.slot);
        let slot = slot(page, i);
        if i >= count || slot.offset < heap || slot.offset + slot.len() > PAGE_SIZE {
            return Err(Damaged("slot outside the heap"));
        }
        if slot.value_len < HEADER_LEN {
            return Err(Damaged("record without a header"));
        }
        new += usize::from(slot.flags & SLOT_MARKED == 0);
    }
    for mark in marks {
        let i = usize::from(mark.slot);
        let slot = slot(page, i);
        let header = RecordHeader::new(txn, mark.undo, true);
        page[slot.value_at()..slot.value_at() + HEADER_LEN].copy_from_slice(&header.to_bytes());
        put_u16(page, SLOTS + i * SLOT_SIZE + 6, (slot.flags | SLOT_MARKED).into());
    }
    let marked = usize::from(page.u16_at(MARKED));
    put_u16(page, MARKED, marked + new);
    if level(page) == 0 && txn.0 > page.u64_at(MAX_TXN) {
        put_u64(page, MAX_TXN, txn.0);
    }
    Ok(())
}

/// Removes slot `i`. In an inner node the first slot's key stays the lower fence, so removing it
/// makes the next child begin there.
pub(crate) fn remove(page: &mut PageBytes, i: usize) -> Edit<()> {
    let slot = checked_slot(page, i)?;
    let (count, _) = checked_heap(page)?;
    add_garbage(page, slot.len());
    let (from, end) = (SLOTS + i * SLOT_SIZE, SLOTS + count * SLOT_SIZE);
    page.copy_within(from + SLOT_SIZE..end, from);
    page[end - SLOT_SIZE..end].fill(0);
    put_u16(page, COUNT, count - 1);
    put_u16(page, LAST, NO_LAST.into());
    note_version(page, slot.flags, 0, None);
    update_hints(page, count, i.min(count.saturating_sub(1)));
    Ok(())
}

/// The ranges of slots in the log form of [`remove_runs`].
fn runs_of(runs: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let word = |pair: &[u8]| usize::from(u16::from_le_bytes([pair[0], pair[1]]));
    runs.chunks_exact(4).map(move |run| word(run)..word(run) + word(&run[2..]))
}

/// Removes ranges of a leaf's slots, which ascend: first slot and number of each, u16 both.
pub(crate) fn remove_runs(page: &mut PageBytes, runs: &[u8]) -> Edit<()> {
    let (count, _) = checked_heap(page)?;
    let (mut checked, mut garbage, mut marks) = (0, 0, 0);
    for run in runs_of(runs) {
        if run.start < checked || run.end > count {
            return Err(Damaged("ranges of slots out of order"));
        }
        checked = run.end;
        for i in run {
            let slot = checked_slot(page, i)?;
            garbage += slot.len();
            marks += usize::from(slot.flags & SLOT_MARKED);
        }
    }
    let mut kept = runs_of(runs).next().map_or(count, |run| run.start);
    let next = runs_of(runs).skip(1).map(|run| run.start).chain([count]);
    for (run, next) in runs_of(runs).zip(next) {
        let rest = SLOTS + run.end * SLOT_SIZE..SLOTS + next * SLOT_SIZE;
        page.copy_within(rest, SLOTS + kept * SLOT_SIZE);
        kept += next - run.end;
    }
    page[SLOTS + kept * SLOT_SIZE..SLOTS + count * SLOT_SIZE].fill(0);
    add_garbage(page, garbage);
    put_u16(page, COUNT, kept);
    put_u16(page, LAST, NO_LAST.into());
    let marked = usize::from(page.u16_at(MARKED));
    put_u16(page, MARKED, marked.saturating_sub(marks));
    update_hints(page, 0, 0);
    Ok(())
}

/// The left half of a split: drops the slots from `at` on, ends the node at `upper`, and makes
/// `right` its neighbour. Records are stored anew, as the prefix may grow.
pub(crate) fn split_left(page: &mut PageBytes, at: usize, upper: &[u8], right: PageId) -> Edit<()> {
    let old = *page;
    let lower = lower(&old).map(<[u8]>::to_vec);
    let last = old.u16_at(LAST);
    if lower.as_deref().is_some_and(|lower| lower >= upper) {
        return Err(Damaged("fences out of order"));
    }
    let spec = NodeSpec {
        tree: tree(&old),
        level: level(&old),
        right: Some(right),
        lower: lower.as_deref(),
        upper: Some(upper),
        max_txn: old.u64_at(MAX_TXN),
    };
    let result = init(page, &spec).and_then(|()| append_from(page, &old, 0..at));
    put_u16(page, LAST, if usize::from(last) < at { last } else { NO_LAST }.into());
    if result.is_err() {
        *page = old;
    }
    result
}

/// Appends a range of another node's records.
pub(crate) fn append_from(
    page: &mut PageBytes,
    from: &PageBytes,
    range: std::ops::Range<usize>,
) -> Edit<()> {
    let mut key = Vec::with_capacity(64);
    for i in range {
        let slot = checked_slot(from, i)?;
        key_to(from, i, &mut key);
        let value = clamped(from, slot.value_at(), slot.value_len);
        append(page, slot.flags, &key, &[value, &[]])?;
    }
    Ok(())
}

/// Moves all records together, so that the garbage becomes part of the free gap.
pub(crate) fn compact(page: &mut PageBytes) -> Edit<()> {
    let old = *page;
    let rewritten = rewrite(page, &old);
    match rewritten {
        Ok(heap) => {
            put_u16(page, HEAP, heap);
            put_u16(page, GARBAGE, 0);
        }
        Err(_) => *page = old,
    }
    rewritten.map(|_| ())
}

/// Copies the fences and records of `old` to the end of `page`; where the heap then begins.
fn rewrite(page: &mut PageBytes, old: &PageBytes) -> Edit<usize> {
    let (count, _) = checked_heap(old)?;
    let end = SLOTS + count * SLOT_SIZE;
    let mut heap = PAGE_SIZE;
    page[end..].fill(0);
    let mut put = |page: &mut PageBytes, bytes: &[u8]| {
        let place = heap.checked_sub(bytes.len()).filter(|at| *at >= end);
        heap = place.ok_or(Damaged("records larger than the page"))?;
        page[heap..heap + bytes.len()].copy_from_slice(bytes);
        Ok(heap)
    };
    for (offset, len) in [(LOWER_OFF, LOWER_LEN), (UPPER_OFF, UPPER_LEN)] {
        let fence = clamped(old, old.u16_at(offset).into(), old.u16_at(len).into());
        let at = put(page, fence)?;
        put_u16(page, offset, at);
        put_u16(page, len, fence.len());
    }
    for i in 0..count {
        let slot = checked_slot(old, i)?;
        let offset = put(page, clamped(old, slot.offset, slot.len()))?;
        put_slot(page, i, &Slot { offset, ..slot });
    }
    Ok(heap)
}

/// Says that the last insert was at slot `i`; for nodes under construction.
pub(crate) fn set_last(page: &mut PageBytes, i: usize) {
    put_u16(page, LAST, i);
}
