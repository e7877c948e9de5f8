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

use inia_base::ids::{Lsn, PageId};
use inia_storage::LeafState;
use parking_lot::{Mutex, RwLock};
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// Pages whose leaves stand side by side in memory: leaves of a table that was loaded in order have
/// numbers that follow one another.
const CHUNK: usize = 16;
/// Columns of greater positions are not kept.
pub(crate) const MAX_COLUMNS: usize = 128;
/// Bytes that a packed value takes, about.
const TYPICAL_BYTES: usize = 4;
/// Bytes that a leaf takes beside its columns.
const LEAF_OVERHEAD: usize = 160;

/// The columns that are kept of one leaf, in one piece: a scan that meets thousands of leaves waits
/// for memory at each of them.
#[derive(Debug)]
pub(crate) struct LeafColumns {
    lsn: Lsn,
    rows: usize,
    /// The positions in the table of the columns that are kept, as bits.
    kept: u128,
    /// The columns, by their positions.
    columns: Box<[CachedColumn]>,
    bytes: usize,
}

impl LeafColumns {
    /// How many rows the leaf has.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// A column of the leaf's rows, if it is kept.
    pub(crate) fn column(&self, column: usize) -> Option<&CachedColumn> {
        let bit = 1u128.checked_shl(column as u32)?;
        let at = (self.kept & (bit - 1)).count_ones() as usize;
        self.columns.get(at).filter(|_| self.kept & bit != 0)
    }

    fn is_of(&self, state: LeafState) -> bool {
        self.lsn == state.lsn && self.rows == state.records
    }

    fn has(&self, columns: &[usize]) -> bool {
        columns.iter().all(|&column| self.column(column).is_some())
    }

    /// The positions of the columns that are kept.
    fn positions(&self) -> impl Iterator<Item = usize> {
        let kept = self.kept;
        (0..MAX_COLUMNS).filter(move |column| kept >> column & 1 == 1)
    }
}

/// What is kept of the leaves of neighbouring pages.
#[derive(Default)]
struct Chunk([RwLock<Option<Arc<LeafColumns>>>; CHUNK]);

impl Chunk {
    fn of(page: PageId) -> u32 {
        page.0 / CHUNK as u32
    }

    fn leaf(&self, page: PageId) -> &RwLock<Option<Arc<LeafColumns>>> {
        &self.0[page.0 as usize % CHUNK]
    }
}

/// Where a scan found a leaf last: the next one is near it mostly.
#[derive(Default)]
pub(crate) struct NearLeaves(Option<(u32, Arc<Chunk>)>);

type Chunks = HashMap<u32, Arc<Chunk>, BuildHasherDefault<PageHasher>>;

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
    /// By the numbers of their pages; a chunk that was made stays.
    chunks: RwLock<Chunks>,
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
    /// What is kept of a leaf in this state, if all of these columns are.
    pub(crate) fn find(
        &self,
        near: &mut NearLeaves,
        state: LeafState,
        columns: &[usize],
    ) -> Option<Arc<LeafColumns>> {
        let number = Chunk::of(state.page);
        if near.0.as_ref().is_none_or(|(known, _)| *known != number) {
            near.0 = Some((number, self.chunks.read().get(&number)?.clone()));
        }
        let (_, chunk) = near.0.as_ref()?;
        let leaf = chunk.leaf(state.page).read();
        let found = leaf.as_ref().filter(|leaf| leaf.is_of(state) && leaf.has(columns));
        found.cloned()
    }

    fn chunk(&self, page: PageId) -> Arc<Chunk> {
        let number = Chunk::of(page);
        if let Some(chunk) = self.chunks.read().get(&number) {
            return chunk.clone();
        }
        self.chunks.write().entry(number).or_default().clone()
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
        let most = new.and_then(|new| new.positions().last()).map_or(0, |last| last + 1);
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
        let chunks: Vec<_> = self.chunks.read().values().cloned().collect();
        for leaf in chunks.iter().flat_map(|chunk| &chunk.0) {
            if let Some(leaf) = leaf.write().take() {
                self.count(None, Some(&leaf));
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
        let mut all: BTreeMap<usize, CachedColumn> = columns.into_iter().collect();
        debug_assert!(all.keys().all(|at| *at < MAX_COLUMNS), "a column has a bit");
        if let Some(known) = table.find(&mut NearLeaves::default(), state, &[]) {
            for (at, column) in known.positions().zip(&known.columns) {
                all.entry(at).or_insert_with(|| column.clone());
            }
        }
        let bytes = LEAF_OVERHEAD + all.values().map(CachedColumn::bytes).sum::<usize>();
        if !self.make_room(table, bytes) {
            return false;
        }
        let kept = all.keys().fold(0, |kept, at| kept | 1 << at);
        let columns = all.into_values().collect();
        let leaf = LeafColumns { lsn: state.lsn, rows: state.records, kept, columns, bytes };
        let leaf = Arc::new(leaf);
        let old = table.chunk(state.page).leaf(state.page).write().replace(leaf.clone());
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
