//! The column cache: columns of leaves that reports have read, packed, in memory only.
//!
//! Rows are stored row by row. A report that wants two columns of a table of twenty copies each
//! leaf and takes those columns out of every row, each time. The cache keeps them for segments:
//! leaves that follow one another and have about [`SEGMENT_ROWS`] rows together.
//!
//! ```text
//!   leaf (page 812, LSN 90_211)   rows  [7, 'R', 1996-03-13, ..] [9, 'A', 1996-04-12, ..] ..
//!   leaf (page 813, LSN 90_218)   rows  [131, 'N', 1995-11-02, ..] ..
//!   kept of both                  column 0: 7 + [0, 2, .., 124, ..]    one byte a row
//!                                 column 2: 1995-11-02 + [132, 162, .., 0, ..]
//! ```
//!
//! What is kept of a leaf holds for one state of its page ([`LeafState`]): any change gives the
//! page another LSN, and the next scan reads the rows again, while the segment's other leaves stay
//! good. A scan uses what is kept only of leaves whose records are all visible to it as they are,
//! so that no version is ever missed.
//!
//! State owners: [`TableColumns`] has the leaves of one table handle, which DDL replaces;
//! [`ColumnCache`] counts the bytes of all tables and keeps them within its limit. A table that
//! finds no room takes that of the table that no scan has read for the longest time; one that is
//! larger than the limit keeps the leaves that it has.

mod packed;
mod segment;

#[cfg(test)]
mod tests;

pub(crate) use packed::{CachedColumn, PackedNumbers, PackedTexts};
pub(crate) use segment::Segment;

use inia_base::ids::PageId;
use inia_storage::LeafState;
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// A segment ends with the leaf that brings it to so many rows.
pub(crate) const SEGMENT_ROWS: usize = 2048;
/// Columns of greater positions are not kept.
pub(crate) const MAX_COLUMNS: usize = 128;
/// Bytes that a packed value takes, about.
const TYPICAL_BYTES: usize = 4;

/// Page numbers are spread well by one multiplication.
#[derive(Default)]
struct PageHasher(u64);

impl Hasher for PageHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32((*byte).into()));
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.0 = (self.0 ^ u64::from(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// A leaf of a segment, by its number there.
pub(crate) type Place = (Arc<Segment>, usize);

type Places = HashMap<PageId, Place, BuildHasherDefault<PageHasher>>;

/// What is kept of the leaves of one table.
#[derive(Default)]
pub(crate) struct TableColumns {
    places: RwLock<Places>,
    bytes: AtomicUsize,
    /// Of how many rows each column is kept.
    kept: Mutex<Vec<u64>>,
    /// Rows that scans have read from leaves.
    read: AtomicU64,
    /// When a scan used it last, by the cache's clock.
    used_at: AtomicU64,
    /// The cache that counts its bytes, once something is kept.
    cache: OnceLock<Arc<ColumnCache>>,
}

impl TableColumns {
    /// Where a page is kept, in some state.
    pub(crate) fn place(&self, page: PageId) -> Option<Place> {
        self.places.read().get(&page).cloned()
    }

    /// Where a leaf is kept in this state.
    pub(crate) fn find(&self, state: LeafState) -> Option<Place> {
        let place = self.place(state.page);
        place.filter(|(segment, at)| segment.leaves()[*at].state() == state)
    }

    /// Whether anything is kept.
    pub(crate) fn has_any(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > 0
    }

    /// Of about how many rows all of these columns are kept.
    pub(crate) fn kept_rows(&self, columns: &[usize]) -> u64 {
        let kept = self.kept.lock();
        let rows = columns.iter().map(|&column| kept.get(column).copied().unwrap_or_default());
        rows.min().unwrap_or_default()
    }

    /// Whether reports have read so many rows, and these columns of as many would fit the cache: a
    /// scan of the table that keeps them is likely to be worth it.
    pub(crate) fn would_keep(&self, columns: usize, rows: u64) -> bool {
        let bytes = rows as usize * columns * TYPICAL_BYTES;
        let fits = |cache: &Arc<ColumnCache>| {
            self.bytes.load(Ordering::Relaxed).saturating_add(bytes) <= cache.limit
        };
        self.has_read(rows) && self.cache.get().is_some_and(fits)
    }

    /// Puts a segment in the place of what was kept of its leaves; returns the bytes of segments
    /// of which no leaf is left.
    fn put(&self, segment: &Arc<Segment>) -> usize {
        let (mut freed, mut kept) = (0, self.kept.lock());
        let mut places = self.places.write();
        for (at, leaf) in segment.leaves().iter().enumerate() {
            let rows = leaf.state().records as u64;
            segment.count(&mut kept, |column| *column += rows);
            let Some(old) = places.insert(leaf.state().page, (segment.clone(), at)) else {
                continue;
            };
            freed += TableColumns::forget(&old, &mut kept);
        }
        freed
    }

    /// Counts a leaf that is kept no more; returns the bytes of its segment where that was the
    /// last.
    fn forget((segment, at): &Place, kept: &mut Vec<u64>) -> usize {
        let rows = segment.leaves()[*at].state().records as u64;
        segment.count(kept, |column| *column = column.saturating_sub(rows));
        if segment.lose_leaf() { segment.bytes() } else { 0 }
    }

    /// Notes that a scan has read so many rows from leaves.
    pub(crate) fn note_read(&self, rows: u64) {
        self.read.fetch_add(rows, Ordering::Relaxed);
    }

    /// Whether scans have read so many rows from leaves.
    pub(crate) fn has_read(&self, rows: u64) -> bool {
        self.read.load(Ordering::Relaxed) >= rows
    }

    /// Forgets everything; returns how many bytes that were.
    fn clear(&self) -> usize {
        let (mut freed, mut kept) = (0, self.kept.lock());
        for (_, place) in self.places.write().drain() {
            freed += TableColumns::forget(&place, &mut kept);
        }
        self.bytes.fetch_sub(freed, Ordering::Relaxed);
        freed
    }
}

impl Drop for TableColumns {
    fn drop(&mut self) {
        if let Some(cache) = self.cache.get() {
            cache.used.fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
        }
    }
}

/// What of the cache the status variables show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnCacheCounts {
    /// Bytes that are kept.
    pub bytes: u64,
    /// Leaves whose rows scans did not read, as their columns were kept.
    pub hits: u64,
    /// Leaves whose columns were put into the cache.
    pub fills: u64,
}

/// The columns of all tables, within a limit of bytes.
#[derive(Default)]
pub struct ColumnCache {
    limit: usize,
    used: AtomicUsize,
    clock: AtomicU64,
    hits: AtomicU64,
    fills: AtomicU64,
    tables: Mutex<Vec<Weak<TableColumns>>>,
}

impl ColumnCache {
    /// A cache of at most so many bytes.
    pub(crate) fn new(limit: usize) -> ColumnCache {
        ColumnCache { limit, ..ColumnCache::default() }
    }

    /// Forgets everything.
    pub fn clear(&self) {
        while self.evict(None) {}
    }

    /// What the status variables show.
    pub fn counts(&self) -> ColumnCacheCounts {
        ColumnCacheCounts {
            bytes: self.used.load(Ordering::Relaxed) as u64,
            hits: self.hits.load(Ordering::Relaxed),
            fills: self.fills.load(Ordering::Relaxed),
        }
    }

    /// A scan of the table begins.
    pub(crate) fn begin_scan(&self, table: &TableColumns) {
        let now = self.clock.fetch_add(1, Ordering::Relaxed) + 1;
        table.used_at.store(now, Ordering::Relaxed);
    }

    /// Notes how many leaves a scan has found here.
    pub(crate) fn note_hits(&self, leaves: u64) {
        if leaves > 0 {
            self.hits.fetch_add(leaves, Ordering::Relaxed);
        }
    }

    /// Keeps a segment. False where there is no room for it.
    pub(crate) fn keep(
        self: &Arc<ColumnCache>,
        table: &Arc<TableColumns>,
        segment: Segment,
    ) -> bool {
        if table.cache.set(self.clone()).is_ok() {
            self.tables.lock().push(Arc::downgrade(table));
        }
        let bytes = segment.bytes();
        if !self.make_room(table, bytes) {
            return false;
        }
        table.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.fills.fetch_add(segment.leaves().len() as u64, Ordering::Relaxed);
        let freed = table.put(&Arc::new(segment));
        table.bytes.fetch_sub(freed, Ordering::Relaxed);
        self.used.fetch_sub(freed, Ordering::Relaxed);
        true
    }

    /// Takes bytes for a table, where need be from those that no scan has read since this table
    /// was scanned last.
    fn make_room(&self, table: &TableColumns, bytes: usize) -> bool {
        while self.used.fetch_add(bytes, Ordering::Relaxed) + bytes > self.limit {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            if bytes > self.limit || !self.evict(Some(table)) {
                return false;
            }
        }
        true
    }

    /// Empties the table that no scan has used for the longest time, if it is not `but` nor was
    /// used after it; false where there is none.
    fn evict(&self, but: Option<&TableColumns>) -> bool {
        let mut tables = self.tables.lock();
        tables.retain(|table| table.strong_count() > 0);
        let before = but.map_or(u64::MAX, |table| table.used_at.load(Ordering::Relaxed));
        let all = tables.iter().filter_map(Weak::upgrade);
        let others = all.filter(|table| {
            let is_other = but.is_none_or(|but| !std::ptr::eq(but, &**table));
            is_other && table.bytes.load(Ordering::Relaxed) > 0
        });
        let age = |table: &Arc<TableColumns>| table.used_at.load(Ordering::Relaxed);
        let Some(oldest) = others.filter(|table| age(table) < before).min_by_key(age) else {
            return false;
        };
        self.used.fetch_sub(oldest.clear(), Ordering::Relaxed);
        true
    }
}
