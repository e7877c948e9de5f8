//! Keys that several indexes find, merged in the order of the clustered tree.
//!
//! Each part of a merge is a scan of its own. Where the keys of its rows ascend they are read as
//! they are wanted; those of other parts are gathered and sorted first. So the keys are united, or
//! intersected, by their order:
//!
//! ```text
//!   part (a = 1)    3 7 9          union       3 4 7 9
//!   part (b = 2)    4 7            intersect   7
//! ```
//!
//! No row is changed by the statement before its key has been given, and keys that were gathered
//! stay as they are. Where keys to be sorted take too much memory, the whole table is read instead:
//! a path promises a superset.

use super::skip::SkipReader;
use super::{Batch, BatchItem, KeyRange, Result, Standing, State, TableScan, is_exclusive};
use crate::access::run::FoundRun;
use crate::access::{MergeKind, MergePath};
use crate::catalog::Table;
use crate::error::StorageResult;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_storage::{ReadMode, Txn};
use std::cmp::Ordering;
use std::sync::Arc;

/// Keys to be sorted take at most so many bytes.
const MAX_BYTES: usize = 8 << 20;
/// The most keys whose rows are looked up together.
const MAX_BATCH: usize = 256;

/// Keys of rows that are looked up one by one, or entries that are.
pub(super) enum KeyStream {
    /// In the order in which a search has found them.
    Found(std::vec::IntoIter<Vec<u8>>),
    /// In ascending order.
    Merged(Box<MergedKeys>),
    /// Entries of an index, group by group.
    Skipping(Box<SkipReader>),
}

impl KeyStream {
    /// Whether no key was taken.
    pub(super) fn is_unread(&self, unmoved: bool) -> bool {
        match self {
            KeyStream::Found(keys) => unmoved || keys.len() > 0,
            KeyStream::Merged(merged) => !merged.begun,
            KeyStream::Skipping(reader) => reader.is_unread(),
        }
    }
}

/// The keys of several parts.
pub(super) struct MergedKeys {
    kind: MergeKind,
    parts: Vec<KeySource>,
    /// A range of the clustered tree that is read behind all other rows.
    last: Option<Box<TableScan>>,
    begun: bool,
    /// The keys take too much memory.
    gives_up: bool,
}

/// The keys of one part.
struct KeySource {
    reader: KeyReader,
    /// The next key, where it has been read.
    key: Vec<u8>,
    state: SourceState,
}

/// Where the keys of a part come from.
enum KeyReader {
    /// They ascend.
    Ascending(Box<TableScan>),
    /// They are to be sorted.
    Unsorted(Box<TableScan>),
    Sorted(SortedKeys),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SourceState {
    /// The next key is to be read.
    Unread,
    /// The next key is at hand.
    Ready,
    /// There are no more.
    Ended,
}

/// Keys that were gathered, in ascending order once they are sorted.
#[derive(Default)]
pub(super) struct SortedKeys {
    bytes: Vec<u8>,
    /// Where each key begins and ends.
    places: Vec<(u32, u32)>,
    next: usize,
}

impl SortedKeys {
    /// Bytes that they take.
    fn held(&self) -> usize {
        self.bytes.len() + size_of_val(&self.places[..])
    }

    fn push(&mut self, key: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.places.push((start as u32, self.bytes.len() as u32));
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let key = |place: &(u32, u32)| &bytes[place.0 as usize..place.1 as usize];
        self.places.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        self.places.dedup_by(|a, b| key(a) == key(b));
    }

    /// The next key.
    fn next(&mut self) -> Option<&[u8]> {
        let (start, end) = *self.places.get(self.next)?;
        self.next += 1;
        Some(&self.bytes[start as usize..end as usize])
    }
}

impl KeySource {
    fn of(reader: KeyReader) -> KeySource {
        KeySource { reader, key: Vec::new(), state: SourceState::Unread }
    }

    /// Gathers keys that do not ascend, and sorts them; false where they, beside so many bytes of
    /// others, take too much memory.
    fn gather(&mut self, held: &mut usize, txn: &mut Txn) -> Result<bool> {
        let KeyReader::Unsorted(scan) = &mut self.reader else { return Ok(true) };
        let mut keys = SortedKeys::default();
        while let Some(found) = scan.next(txn)? {
            keys.push(found.clustered_key);
            if *held + keys.held() > MAX_BYTES {
                return Ok(false);
            }
        }
        *held += keys.held();
        keys.sort();
        self.reader = KeyReader::Sorted(keys);
        Ok(true)
    }

    /// Reads the next key, if that is to be done.
    fn read(&mut self, txn: &mut Txn) -> Result<()> {
        if self.state != SourceState::Unread {
            return Ok(());
        }
        let next = match &mut self.reader {
            KeyReader::Sorted(keys) => keys.next(),
            KeyReader::Ascending(scan) | KeyReader::Unsorted(scan) => {
                scan.next(txn)?.map(|found| found.clustered_key)
            }
        };
        self.state = match next {
            Some(next) => {
                debug_assert!(*self.key <= *next, "the keys of a part ascend");
                self.key.clear();
                self.key.extend_from_slice(next);
                SourceState::Ready
            }
            None => SourceState::Ended,
        };
        Ok(())
    }
}

impl MergedKeys {
    /// Sorts what must be sorted.
    fn begin(&mut self, txn: &mut Txn) -> Result<()> {
        self.begun = true;
        let mut held = 0;
        for part in &mut self.parts {
            if !part.gather(&mut held, txn)? {
                self.gives_up = true;
                self.parts.clear();
                break;
            }
        }
        Ok(())
    }

    /// Puts the next key into `key`; false where there is none.
    fn next(&mut self, key: &mut Vec<u8>, txn: &mut Txn) -> Result<bool> {
        if !self.begun {
            self.begin(txn)?;
        }
        loop {
            for part in &mut self.parts {
                part.read(txn)?;
            }
            let Some(chosen) = self.choose() else { return Ok(false) };
            key.clear();
            key.extend_from_slice(&self.parts[chosen].key);
            let mut all = true;
            for part in &mut self.parts {
                let is_at = part.state == SourceState::Ready;
                match part.key.as_slice().cmp(key) {
                    Ordering::Equal if is_at => part.state = SourceState::Unread,
                    // The other parts have passed what one still stands before.
                    Ordering::Less if is_at => {
                        debug_assert!(self.kind == MergeKind::Intersect, "the least comes first");
                        (part.state, all) = (SourceState::Unread, false);
                    }
                    _ => all = false,
                }
            }
            let wanted = match self.kind {
                MergeKind::Intersect if !all => {
                    // The greatest key stays until the others have come to it.
                    self.keep(key);
                    false
                }
                MergeKind::Intersect | MergeKind::Union => true,
                MergeKind::SortUnion => !self.last.as_ref().is_some_and(|last| last.reads(key)),
            };
            if wanted {
                return Ok(true);
            }
        }
    }

    /// Leaves the parts at a key that others have not come to yet.
    fn keep(&mut self, key: &[u8]) {
        for part in self.parts.iter_mut().filter(|part| part.key == key) {
            part.state = SourceState::Ready;
        }
    }

    /// The part whose key is next: of a union the least one, of an intersection the greatest one,
    /// as long as no part has ended.
    fn choose(&self) -> Option<usize> {
        let ready = |at: &usize| self.parts[*at].state == SourceState::Ready;
        let all = (0..self.parts.len()).filter(ready);
        let key = |at: &usize| &self.parts[*at].key;
        match self.kind {
            MergeKind::Intersect => {
                let whole = (0..self.parts.len()).all(|at| ready(&at));
                all.max_by_key(key).filter(|_| whole)
            }
            MergeKind::Union | MergeKind::SortUnion => all.min_by_key(key),
        }
    }
}

/// Begins to merge the keys of a path's parts.
pub(super) fn open(
    table: &Arc<Table>,
    path: &MergePath,
    mode: ReadMode,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<State> {
    let (mut parts, mut last) = (Vec::with_capacity(path.parts.len()), None);
    for part in &path.parts {
        let mut scan = TableScan::open(table, part, mode, ctx, row)?;
        let unites = path.kind != MergeKind::Intersect;
        if unites && !scan.path.exact {
            // The part may be most of its index.
            return Ok(State::of_ranges(vec![KeyRange::all()]));
        }
        let clustered = scan.secondary().is_none();
        // The key of a row is all that is wanted of it.
        scan.path.covering = !clustered && !is_exclusive(mode);
        if path.kind == MergeKind::SortUnion && clustered {
            debug_assert!(last.is_none(), "an index is one part");
            last = Some(Box::new(scan));
            continue;
        }
        let one_key = part.index.is_some_and(|at| part.reads_one_key(&table.def.indexes[at]));
        let ascends = clustered || scan.path.exact && one_key;
        let read = if ascends { KeyReader::Ascending } else { KeyReader::Unsorted };
        parts.push(KeySource::of(read(Box::new(scan))));
    }
    let merged = MergedKeys { kind: path.kind, parts, last, begun: false, gives_up: false };
    Ok(State::Keys(KeyStream::Merged(Box::new(merged))))
}

impl TableScan {
    /// Whether the scan, of the clustered tree and before its first move, will read a key.
    fn reads(&self, key: &[u8]) -> bool {
        match &self.state {
            State::Point(point) => point.as_deref() == Some(key),
            State::Ranges { rest, .. } => rest.as_slice().iter().any(|range| range.holds(key)),
            State::Keys(_) => false,
        }
    }

    /// Moves to the next row of a merge.
    pub(super) fn next_merged(&mut self, txn: &mut Txn) -> Result<bool> {
        if self.mode == ReadMode::Snapshot {
            while !self.stands_in_batch() {
                if !self.look_up_keys(txn)? {
                    return self.leave_keys(txn);
                }
            }
            return Ok(true);
        }
        while self.next_key(txn)? {
            self.standing = Standing::Row;
            if self.lookup(txn)? {
                return Ok(true);
            }
        }
        self.leave_keys(txn)
    }

    /// Goes on with what is read by ranges; false where there is nothing.
    fn leave_keys(&mut self, txn: &mut Txn) -> Result<bool> {
        let State::Keys(KeyStream::Merged(merged)) = &mut self.state else { return Ok(false) };
        self.state = match merged.last.take() {
            _ if merged.gives_up => State::of_ranges(vec![KeyRange::all()]),
            Some(last) => last.state,
            None => return Ok(false),
        };
        self.step_own(txn)
    }

    /// The rows of the next keys.
    pub(super) fn run_of_merged(&mut self, txn: &mut Txn) -> Result<Option<FoundRun<'_>>> {
        let merged = matches!(self.state, State::Keys(KeyStream::Merged(_)));
        if !merged || self.mode != ReadMode::Snapshot {
            return Ok(None);
        }
        while self.batch.items[self.batch.next..].iter().all(|item| item.row.is_none()) {
            if !self.look_up_keys(txn)? {
                return Ok(None);
            }
        }
        let from = std::mem::replace(&mut self.batch.next, self.batch.items.len());
        let Batch { rows, items, .. } = &self.batch;
        let found = items[from..].iter().filter_map(|item| item.row.clone());
        let rows = found.map(|row| &rows[row]).collect();
        Ok(Some(FoundRun::of_rows(rows, &mut self.key)))
    }

    /// Looks the rows of the next keys up; false where there are no more keys.
    fn look_up_keys(&mut self, txn: &mut Txn) -> Result<bool> {
        let size = self.batch.size;
        self.batch = Batch { size: (size * 2).min(MAX_BATCH), ..Batch::default() };
        while self.batch.items.len() < size && self.next_key(txn)? {
            let start = self.batch.keys.len();
            self.batch.keys.extend_from_slice(&self.key);
            let key = start..self.batch.keys.len();
            self.batch.items.push(BatchItem { key, row: None });
        }
        let Batch { keys, rows, items, .. } = &mut self.batch;
        let wanted: Vec<&[u8]> = items.iter().map(|item| &keys[item.key.clone()]).collect();
        txn.get_batch(&self.table.clustered, &wanted, rows, |i, row| items[i].row = row).sql()?;
        Ok(!self.batch.items.is_empty())
    }

    /// Puts the next key of a merge into the scan; false where there is none.
    fn next_key(&mut self, txn: &mut Txn) -> Result<bool> {
        match &mut self.state {
            State::Keys(KeyStream::Merged(merged)) => merged.next(&mut self.key, txn),
            _ => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests;
