//! A table at run time: its definition, its trees, and how its rows are laid out.

use crate::catalog::mdl::MdlName;
use crate::catalog::partitions::{Origin, Partitions};
use crate::catalog::stats::TableStats;
use crate::catalog::table_io::TableIo;
use crate::catalog::triggers::TableTriggers;
use crate::catalog::width::row_bytes;
use crate::columns::TableColumns;
use crate::row::{IndexCodec, RowLayout, SeveralCodec, WordsCodec};
use crate::table_def::TableDef;
use inia_storage::{Engine, Tree};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// Tables of fewer rows are read as MySQL reads them, so that rows come in its order: any way to
/// read so few costs much the same.
pub(crate) const SMALL_TABLE: u64 = 1_000;

/// Bytes that a record takes beside its columns, and what one of their values is taken to have at
/// most.
const RECORD: u64 = 25;
const TEXT: u64 = 20;

/// One index at run time: its tree and the codec of its entries.
pub struct TableIndex {
    /// The tree; the clustered tree for the clustered index.
    pub tree: Tree,
    /// Builds and takes apart keys and values.
    pub codec: IndexCodec,
    /// Builds and takes apart the entries, where a row has several.
    pub several: Option<SeveralCodec>,
}

impl TableIndex {
    /// Builds and takes apart the entries of words, of a FULLTEXT KEY.
    pub(crate) fn words(&self) -> Option<&WordsCodec> {
        self.several.as_ref().and_then(SeveralCodec::words)
    }
}

/// A table at run time, shared by all sessions until DDL puts another in its place.
///
/// Wide: one field for each thing that statements ask of a table.
pub struct Table {
    /// Definition.
    pub def: Arc<TableDef>,
    /// Where its trees are.
    pub store: Arc<Engine>,
    /// The rows.
    pub clustered: Tree,
    /// Parallel to `def.indexes`.
    pub indexes: Vec<TableIndex>,
    /// How rows are laid out.
    pub layout: RowLayout,
    /// Its metadata lock.
    pub mdl: Arc<MdlName>,
    /// The AUTO_INCREMENT column.
    pub numbered: Option<usize>,
    /// State that survives DDL on the same table.
    pub shared: Arc<TableShared>,
    /// What runs for each row that changes.
    pub triggers: TableTriggers,
    /// What is known about the contents, see [`Table::stats`].
    pub(super) stats: TableStats,
    /// Columns of its leaves that are kept in memory.
    pub(crate) columns: Arc<TableColumns>,
    /// Its partitions, where it has some.
    pub partitions: Option<Box<Partitions>>,
    /// Its number, where this is the handle of a partition.
    pub(crate) leaf: usize,
    stale: AtomicBool,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table({}.{})", self.def.schema, self.def.name)
    }
}

/// What a table keeps across DDL: counters, estimates, and names of locks.
pub struct TableShared {
    /// Next hidden row id; 0 until it was read from the tree.
    pub next_row_id: AtomicU64,
    /// Hidden row ids of deleted rows that new ones take, the last first.
    pub(super) vacated: Mutex<Vec<u64>>,
    /// Rows, as counted by this process's changes; an estimate.
    pub row_estimate: AtomicI64,
    /// Rows that UPDATE has changed.
    pub(crate) updates: AtomicU64,
    /// Whether `row_estimate` was seeded by a count or a dive.
    pub estimate_known: AtomicBool,
    /// Seconds since 1970 of the last change, or 0.
    pub updated: AtomicU64,
    /// Bytes that a MEMORY table may take; 0 where the server's setting counts.
    pub heap_size: AtomicU64,
    /// What statements lock of a table without transactions, see `context/statement_txn.rs`.
    pub(crate) rows_lock: Arc<MdlName>,
    /// The same for those that only put rows in.
    pub(crate) inserts_lock: Arc<MdlName>,
    /// What statements have read and written.
    pub io: TableIo,
    /// How many documents the tables of its FULLTEXT indexes have; later ones are in the cache.
    pub(crate) written_documents: AtomicU64,
}

impl Default for TableShared {
    fn default() -> TableShared {
        TableShared {
            next_row_id: AtomicU64::default(),
            vacated: Mutex::default(),
            row_estimate: AtomicI64::default(),
            updates: AtomicU64::default(),
            estimate_known: AtomicBool::default(),
            updated: AtomicU64::default(),
            heap_size: AtomicU64::default(),
            rows_lock: MdlName::of_rows(),
            inserts_lock: MdlName::of_rows(),
            io: TableIo::default(),
            written_documents: AtomicU64::default(),
        }
    }
}

impl TableShared {
    /// Notes that the table was changed at this second. The second is written once.
    #[inline]
    pub fn note_update(&self, second: u64) {
        if self.updated.load(Ordering::Relaxed) != second {
            self.updated.store(second, Ordering::Relaxed);
        }
    }
}

impl Table {
    /// Builds the runtime handle.
    pub fn new(
        def: Arc<TableDef>,
        store: &Arc<Engine>,
        mdl: Arc<MdlName>,
        shared: Arc<TableShared>,
    ) -> Table {
        let layout = RowLayout::new(def.columns.iter().map(|c| (&c.data_type, c.nullable)));
        let indexes = (0..def.indexes.len())
            .map(|i| TableIndex {
                tree: store.tree(def.indexes[i].tree),
                codec: IndexCodec::new(&def, i),
                several: SeveralCodec::of(&def, i),
            })
            .collect();
        let clustered = store.tree(def.clustered);
        let origin = Origin { store, mdl: &mdl, shared: &shared };
        let partitions = Partitions::of(&def, &origin).map(Box::new);
        let (numbered, stale) = (def.auto_increment_column(), AtomicBool::new(false));
        let store = store.clone();
        debug_assert_eq!(layout.len(), def.columns.len(), "each column has a slot");
        let stats = TableStats::default();
        let triggers = TableTriggers::default();
        Table {
            triggers,
            def,
            store,
            clustered,
            indexes,
            layout,
            mdl,
            numbered,
            shared,
            stats,
            columns: Arc::default(),
            partitions,
            leaf: 0,
            stale,
        }
    }

    /// The handle of a partition with this number.
    pub(super) fn with_leaf(mut self, number: usize) -> Table {
        self.leaf = number;
        self
    }

    /// The same table with other partitions to be read and written.
    pub(super) fn with_partitions(&self, partitions: Partitions) -> Table {
        let own = Arc::new(TableDef { partitioning: None, ..TableDef::clone(&self.def) });
        let (mdl, shared) = (self.mdl.clone(), self.shared.clone());
        let mut table = Table::new(own, &self.store, mdl, shared);
        table.def = self.def.clone();
        table.triggers = self.triggers.clone();
        table.partitions = Some(Box::new(partitions));
        table
    }

    /// The same table with these triggers.
    pub(super) fn with_triggers(mut self, triggers: TableTriggers) -> Table {
        self.triggers = triggers;
        self
    }

    /// Whether rows have several entries in an index.
    pub fn has_several(&self) -> bool {
        self.indexes.iter().any(|index| index.several.is_some())
    }

    /// Whether DDL has put another definition in this one's place.
    #[inline]
    pub fn is_stale(&self) -> bool {
        self.is_replaced() || (self.partitions.is_some() && self.base_is_stale())
    }

    /// As [`Table::is_stale`], of a table without partitions and children.
    #[inline]
    pub(crate) fn is_replaced(&self) -> bool {
        self.stale.load(Ordering::Acquire)
    }

    /// Whether this is a handle for some partitions, and that for all of them is stale, or one for
    /// children, and one of those is.
    #[cold]
    fn base_is_stale(&self) -> bool {
        let Some(partitions) = &self.partitions else { return false };
        partitions.base().is_some_and(|base| base.is_stale())
            || partitions.united().is_some_and(|united| united.is_stale())
    }

    pub(crate) fn make_stale(&self) {
        self.stale.store(true, Ordering::Release);
    }

    /// Estimated number of rows, at least 1.
    pub(crate) fn rows(&self) -> u64 {
        match self.united() {
            None => self.shared.row_estimate.load(Ordering::Relaxed).max(1) as u64,
            Some(_) => self.stored().into_iter().map(Table::own_rows).sum::<u64>().max(1),
        }
    }

    fn own_rows(&self) -> u64 {
        self.shared.row_estimate.load(Ordering::Relaxed).max(0) as u64
    }

    /// Makes sure that the number of rows is known, or estimates it by a look into the tree.
    pub(crate) fn know_rows(&self) {
        if self.united().is_some() {
            self.stored().into_iter().for_each(Table::know_rows);
            return;
        }
        if !self.shared.estimate_known.swap(true, Ordering::Relaxed)
            && let Ok(rows) = self.estimated_rows()
        {
            let rows = i64::try_from(rows).unwrap_or(i64::MAX);
            self.shared.row_estimate.store(rows, Ordering::Relaxed);
        }
    }

    /// Bytes that a row is expected to take: texts are mostly shorter than they may be.
    pub(crate) fn expected_row_bytes(&self) -> u64 {
        let columns = self.def.columns.iter();
        RECORD + columns.map(|column| row_bytes(&column.data_type).min(TEXT)).sum::<u64>()
    }

    /// The share of its pages that the buffer pool has no room for: so many of the rows that are
    /// looked up here and there are read from the disk.
    pub(crate) fn share_on_disk(&self) -> f64 {
        let (rows, resident) = (self.rows(), self.store.resident_bytes());
        let most = RECORD + TEXT * self.def.columns.len() as u64;
        if rows.saturating_mul(most) <= resident {
            return 0.0;
        }
        (1.0 - resident as f64 / (rows * self.expected_row_bytes()) as f64).max(0.0)
    }

    /// Whether it has fewer rows than [`SMALL_TABLE`].
    pub(crate) fn is_small(&self) -> bool {
        self.rows() < SMALL_TABLE
    }
}
