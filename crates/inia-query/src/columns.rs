//! The column cache: columns of leaves that reports have read, packed, in memory only.
//!
//! Rows are stored row by row. A report that wants two columns of a table of twenty copies each
//! leaf and takes those columns out of every row, each time. The cache keeps them for each leaf:
//!
//! ```text
//!   leaf (page 812, LSN 90_211)   rows  [7, 'R', 1996-03-13, ..] [9, 'A', 1996-04-12, ..] ..
//!   kept of it                    column 0: 7 + [0, 2, ..]    one byte a row
//!                                 column 2: 1996-03-13 + [0, 30, ..]
//! ```
//!
//! What is kept of a leaf holds for one state of its page ([`LeafState`]): any change gives the
//! page another LSN, and the next scan reads the rows again. A scan uses what is kept only of
//! leaves whose records are all visible to it as they are, so that no version is ever missed.
//!
//! State owners: [`TableColumns`] has the leaves of one table handle, which DDL replaces;
//! [`ColumnCache`] counts the bytes of all tables and keeps them within its limit. A table that
//! finds no room takes that of the table that no scan has read for the longest time; one that is
//! larger than the limit keeps the leaves that it has.

mod packed;

#[cfg(test)]
mod tests;

pub(crate) use packed::{CachedColumn, PackedNumbers, PackedTexts};

use inia_base::ids::Lsn;
use inia_storage::LeafState;
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// Parts of a table's map, each with a lock of its own.
const SHARDS: usize = 64;
/// Bytes that a packed value takes, about.
const TYPICAL_BYTES: usize = 4;
/// Bytes that a leaf takes beside its columns.
const LEAF_OVERHEAD: usize = 160;

/// The columns that are kept of one leaf.
#[derive(Debug)]
pub(crate) struct LeafColumns {
    lsn: Lsn,
    rows: usize,
    /// By the column's position in the table.
    columns: Vec<Option<Arc<CachedColumn>>>,
    bytes: usize,
}

impl LeafColumns {
    /// How many rows the leaf has.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// A column of the leaf's rows, if it is kept.
    pub(crate) fn column(&self, column: usize) -> Option<&Arc<CachedColumn>> {
        self.columns.get(column)?.as_ref()
    }

    fn is_of(&self, state: LeafState) -> bool {
        self.lsn == state.lsn && self.rows == state.records
    }

    fn has(&self, columns: &[usize]) -> bool {
        columns.iter().all(|&column| self.column(column).is_some())
    }
}

type Shard = RwLock<HashMap<u32, Arc<LeafColumns>, BuildHasherDefault<PageHasher>>>;

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

/// What is kept of the leaves of one table.
#[derive(Default)]
pub(crate) struct TableColumns {
    /// Made when something is kept first.
    shards: OnceLock<Vec<Shard>>,
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
    fn shards(&self) -> &[Shard] {
        self.shards.get_or_init(|| (0..SHARDS).map(|_| Shard::default()).collect())
    }

    /// What is kept of a leaf in this state, if all of these columns are.
    pub(crate) fn find(&self, state: LeafState, columns: &[usize]) -> Option<Arc<LeafColumns>> {
        let shard = self.shards.get()?[state.page.0 as usize % SHARDS].read();
        let found = shard.get(&state.page.0)?;
        (found.is_of(state) && found.has(columns)).then(|| found.clone())
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

    /// Counts the rows of a leaf that takes the place of another.
    fn count(&self, new: Option<&LeafColumns>, old: Option<&LeafColumns>) {
        let mut kept = self.kept.lock();
        let most = new.map_or(0, |new| new.columns.len());
        if kept.len() < most {
            kept.resize(most, 0);
        }
        for (column, rows) in kept.iter_mut().enumerate() {
            let rows_of = |leaf: Option<&LeafColumns>| {
                let leaf = leaf.filter(|leaf| leaf.column(column).is_some());
                leaf.map_or(0, |leaf| leaf.rows as u64)
            };
            *rows = (*rows + rows_of(new)).saturating_sub(rows_of(old));
        }
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
        let mut freed = 0;
        for shard in self.shards() {
            let leaves = std::mem::take(&mut *shard.write());
            for leaf in leaves.values() {
                self.count(None, Some(leaf));
                freed += leaf.bytes;
            }
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

    /// Keeps columns of a leaf, beside those that are kept of the same state. False where there
    /// is no room for them.
    pub(crate) fn keep(
        self: &Arc<ColumnCache>,
        table: &Arc<TableColumns>,
        state: LeafState,
        columns: impl IntoIterator<Item = (usize, CachedColumn)>,
    ) -> bool {
        if table.cache.set(self.clone()).is_ok() {
            self.tables.lock().push(Arc::downgrade(table));
        }
        let known = table.find(state, &[]);
        let mut all = known.map_or_else(Vec::new, |known| known.columns.clone());
        for (at, column) in columns {
            if all.len() <= at {
                all.resize_with(at + 1, || None);
            }
            all[at] = Some(Arc::new(column));
        }
        let slots = all.capacity() * size_of::<Option<Arc<CachedColumn>>>();
        let held: usize = all.iter().flatten().map(|column| column.bytes()).sum();
        let bytes = LEAF_OVERHEAD + slots + held;
        if !self.make_room(table, bytes) {
            return false;
        }
        let leaf = LeafColumns { lsn: state.lsn, rows: state.records, columns: all, bytes };
        let leaf = Arc::new(leaf);
        let shard = &table.shards()[state.page.0 as usize % SHARDS];
        let old = shard.write().insert(state.page.0, leaf.clone());
        table.count(Some(&leaf), old.as_deref());
        let freed = old.map_or(0, |old| old.bytes);
        table.bytes.fetch_add(bytes, Ordering::Relaxed);
        table.bytes.fetch_sub(freed, Ordering::Relaxed);
        self.used.fetch_sub(freed, Ordering::Relaxed);
        self.fills.fetch_add(1, Ordering::Relaxed);
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
