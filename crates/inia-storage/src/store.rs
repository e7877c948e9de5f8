//! The page-level store: buffer pool, log and space map as one. No trees, no transactions.
//!
//! The life of a change: [`Store::mtr`] waits for log space, [`Mtr::latch`] and [`Mtr::apply`]
//! change pages, [`Mtr::commit`] appends to the log, [`Wal::wait_durable`] makes it durable; later
//! the background writes the page back and a checkpoint lets go of the log before it
//! (`checkpoint.rs`).
//!
//! Lock order, outermost first: control, flusher, [`CheckpointSource`]; page latches (tree order,
//! then header and maps); space, wait tables, log tail. The leader of a commit takes only the log's
//! own locks.

mod checkpoint;
mod control;
pub(crate) mod mtr;
mod options;
mod volatile;

#[cfg(test)]
pub(crate) mod tests;

use crate::Result;
use crate::buffer::PoolStats;
use crate::buffer::{
    BufferPool, OptimisticPage, PageVersion, SharedPage, WRITE_BATCH, page_offset,
};
use crate::error::StorageError;
use crate::files::{CONTROL_FILE, DATA_FILE, DOUBLEWRITE_FILE, UNDO_FILE};
use crate::page::file::{self, FIRST_PAGES};
use crate::page::{PAGE_SIZE, PageBuf, seal};
use crate::recover::{self, LogObserver};
use crate::reserve::Reserve;
use crate::space::Space;
use crate::sync::{AtomicU64, Condvar, Mutex};
use crate::wal::reader::LogReader;
use crate::wal::segment::{FIRST_SEGMENT, Segments, is_segment, remove_leftovers};
use crate::wal::{FIRST_LSN, Wal};
use checkpoint::Background;
use control::{Checkpoint, Control};
use inia_base::ids::{Lsn, PageId};
use inia_base::io::{Disk, DiskFile};
use std::sync::{Arc, OnceLock};

pub(crate) use mtr::{Latched, Mtr};
pub use options::EngineSizes;
pub(crate) use options::StoreOptions;
pub(crate) use volatile::volatile_disk;

/// First page that trees may use: the first that [`Mtr::allocate`] gives out in a new store.
pub(crate) const FIRST_FREE_PAGE: PageId = PageId(2);
/// Files that only a directory of MySQL, MariaDB or PostgreSQL has.
const FOREIGN: [&str; 4] = ["ibdata1", "mysql.ibd", "aria_log_control", "PG_VERSION"];

/// Whether a file of this name is part of a store.
pub fn is_store_file(name: &str) -> bool {
    matches!(name, DATA_FILE | DOUBLEWRITE_FILE | CONTROL_FILE | UNDO_FILE) || is_segment(name)
}

/// What a checkpoint asks the transactions. Both calls come while page writing stands still: they
/// must not touch pages, nor wait for a thread that does.
pub(crate) trait CheckpointSource: Send + Sync {
    /// The log from here on must be kept for rollback: a value of [`Wal::closed_lsn`] that was
    /// read, and made visible here, before the first record needed was appended. `None` when
    /// nothing is needed.
    fn hold_lsn(&self) -> Option<Lsn>;
    /// At most [`CHECKPOINT_STATE_MAX`] bytes kept with the checkpoint, taken after its position is
    /// fixed, so that it reflects at least everything below that position.
    fn state(&self) -> Vec<u8>;
}

/// Most bytes of [`CheckpointSource::state`].
pub(crate) const CHECKPOINT_STATE_MAX: usize = 512;

/// Pool, log and space of one open data directory.
pub(crate) struct Store {
    wal: Arc<Wal>,
    pool: BufferPool,
    space: Space,
    /// Held while a group of pages is added.
    growth: Mutex<()>,
    control: Mutex<Control>,
    source: OnceLock<Arc<dyn CheckpointSource>>,
    /// Until there is a source, checkpoints stay here.
    recovered_from: Lsn,
    /// Every change below is in place on disk.
    pages_clean_to: AtomicU64,
    /// Signalled when `pages_clean_to` has grown.
    progress: (Mutex<()>, Condvar),
    log_capacity: u64,
    background: Option<Background>,
}

impl Store {
    /// Opens the store, creating it in an empty disk, recovering it where it was not closed.
    /// Records that are not page changes go to `observer` in log order.
    pub(crate) fn open(
        disk: Arc<dyn Disk>,
        options: StoreOptions,
        observer: &mut dyn LogObserver,
    ) -> Result<Arc<Store>> {
        let (mut control, is_new) = match Control::open(&*disk)? {
            Some(control) => (control, false),
            None => (create(&disk, &options)?, true),
        };
        let from = control.last.clone();
        if !is_new {
            // Names that a killed program saw may not be durable yet.
            disk.sync_names()?;
            observer.checkpoint(&from.state)?;
        }
        // The new epoch is durable before anything is written: blocks that an earlier opening left
        // behind the end of the log never continue this one's.
        let epoch = from.epoch + 1;
        control.write(Checkpoint { epoch, ..from.clone() })?;

        // Torn pages are repaired before anything reads them.
        let data = open_existing(&*disk, DATA_FILE)?;
        let doublewrite = open_existing(&*disk, DOUBLEWRITE_FILE)?;
        recover::restore_torn_pages(&*data, &*doublewrite, from.lsn)?;
        recover::check_checkpoint_number(&*data, from.number)?;
        // Redo brings all pages to the end of the log, which then goes on from there.
        let (segments, active) = Segments::open(disk, options.segment_size, options.log_capacity)?;
        let mut reader = LogReader::new(active, from.lsn)?;
        let wal = Arc::new(Wal::new(segments, from.lsn));
        let pool = BufferPool::new(options.buffer_pool_size, data, doublewrite, Arc::clone(&wal))?;
        pool.set_checkpoint(from.lsn);
        recover::redo(&mut reader, &wal, &pool, observer)?;
        let end = reader.finish(from.durable, &wal.segments().prepared())?;
        reader.secure_tail(from.durable)?;
        let (used, cut_off) = reader.split_segments();
        wal.segments().settle(used, cut_off)?;
        wal.start(end, epoch);
        pool.set_recovered();
        // The maps are read last: redo may have changed them.
        let space = Space::load(&pool, Arc::clone(wal.segments().reserve()))?;

        let background = options.background.then(|| Background::new(pool.provider_wakeup()));
        let store = Arc::new(Store {
            wal,
            pool,
            space,
            growth: Mutex::default(),
            control: Mutex::new(control),
            source: OnceLock::new(),
            recovered_from: from.lsn,
            pages_clean_to: AtomicU64::new(from.lsn.0),
            progress: (Mutex::default(), Condvar::new()),
            log_capacity: options.log_capacity,
            background,
        });
        store.start_background()?;
        Ok(store)
    }

    /// Sets the source that checkpoints ask. Until then they keep the log from the start of
    /// recovery on.
    pub(crate) fn set_checkpoint_source(&self, source: Arc<dyn CheckpointSource>) {
        assert!(self.source.set(source).is_ok(), "the checkpoint source is set once");
    }

    /// Recovery has read the log from here on.
    pub(crate) fn recovered_from(&self) -> Lsn {
        self.recovered_from
    }

    /// Starts a racing read, reading the page in when it is absent.
    #[inline]
    pub(crate) fn optimistic(&self, id: PageId) -> Result<OptimisticPage<'_>> {
        self.pool.optimistic(id, false)
    }

    /// As [`Store::optimistic`], for scans: a page that this reads in is the first to be evicted.
    #[inline]
    pub(crate) fn optimistic_scan(&self, id: PageId) -> Result<OptimisticPage<'_>> {
        self.pool.optimistic(id, true)
    }

    /// Asks the processor for the first bytes of a page that is in memory.
    #[inline]
    pub(crate) fn ask_for(&self, id: PageId, bytes: usize) {
        self.pool.ask_for(id, bytes);
    }

    /// Latches the page for reading.
    pub(crate) fn shared(&self, id: PageId) -> Result<SharedPage<'_>> {
        self.pool.shared(id)
    }

    /// Whether the page is still in the state of `version`.
    pub(crate) fn is_current(&self, id: PageId, version: PageVersion) -> bool {
        self.pool.is_current(id, version)
    }

    /// As [`Store::is_current`], for a scan that will ask again: the version by which the page is
    /// known from now on.
    #[inline]
    pub(crate) fn version_now(&self, id: PageId, version: PageVersion) -> Option<PageVersion> {
        self.pool.version_now(id, version)
    }

    /// Starts a mini-transaction. May wait for log space: hold no latch and no other `Mtr`.
    ///
    /// Fails with `DiskFull` while no further log segment can be had, and with the disk's error
    /// after one.
    pub(crate) fn mtr(&self) -> Result<Mtr<'_>> {
        if self.is_short_of_log() {
            self.find_log_segment()?;
        }
        self.begin_mtr(false)
    }

    /// As [`Store::mtr`], but on a full disk too: taking changes back goes on as long as any log
    /// and any page is left.
    pub(crate) fn mtr_for_rollback(&self) -> Result<Mtr<'_>> {
        self.keep_room_for_rollback()?;
        self.begin_mtr(true)
    }

    fn begin_mtr(&self, for_rollback: bool) -> Result<Mtr<'_>> {
        if let Some(error) = self.wal.failure() {
            return Err(error);
        }
        self.wait_for_log_space()?;
        Ok(Mtr::new(self, for_rollback))
    }

    /// Grows the data file by the pages that rollbacks may need.
    pub(crate) fn secure_reserve(&self) -> Result<()> {
        let grown = self.space.secure_reserve(&**self.pool.data());
        grown.map_err(|error| self.stop_or(error))
    }

    /// The error of a writer that found no space: where the log has stopped, that, since space does
    /// not help it.
    #[cold]
    #[inline(never)]
    pub(crate) fn stop_or(&self, error: StorageError) -> StorageError {
        self.wal.failure().unwrap_or(error)
    }

    /// Whether there is less log than rollbacks may need and writers want.
    pub(crate) fn is_short_of_log(&self) -> bool {
        self.wal.segments().is_short(self.wal.unwritten())
    }

    /// The space that is kept for rollbacks.
    pub(crate) fn reserve(&self) -> &Arc<Reserve> {
        self.wal.segments().reserve()
    }

    /// The log.
    #[inline]
    pub(crate) fn wal(&self) -> &Wal {
        &self.wal
    }

    /// Bytes of pages that the buffer pool has room for.
    pub(crate) fn pool_bytes(&self) -> u64 {
        self.pool.bytes()
    }

    /// How full the pool is.
    pub(crate) fn pool_stats(&self) -> PoolStats {
        self.pool.stats()
    }

    /// The pool.
    #[cfg(test)]
    pub(crate) fn pool_for_tests(&self) -> &BufferPool {
        &self.pool
    }

    /// Pages in use, header and maps included.
    pub(crate) fn used_pages(&self) -> u64 {
        self.space.used_pages()
    }

    /// Whether a page is in use.
    pub(crate) fn is_page_used(&self, id: PageId) -> bool {
        self.space.is_used(id)
    }
}

fn open_existing(disk: &dyn Disk, name: &str) -> Result<Arc<dyn DiskFile>> {
    disk.open(name, false).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => StorageError::Unopenable(format!("{name} is missing")),
        _ => error.into(),
    })
}

/// Makes the files of a new store; the control file comes last and makes it exist.
fn create(disk: &Arc<dyn Disk>, options: &StoreOptions) -> Result<Control> {
    if let Some(name) = disk.list()?.iter().find(|name| FOREIGN.contains(&name.as_str())) {
        return Err(StorageError::Unopenable(format!(
            "{name} belongs to another database system; choose another directory"
        )));
    }
    remove_leftovers(&**disk)?;
    let data = disk.open(DATA_FILE, true)?;
    if data.len()? > page_offset(PageId(FIRST_PAGES)) {
        return Err(StorageError::Unopenable(format!(
            "{DATA_FILE} holds data, but {} is missing",
            CONTROL_FILE
        )));
    }
    data.set_len(page_offset(PageId(FIRST_PAGES)))?;
    let mut page = PageBuf::new();
    file::initialize_header(&mut page.bytes);
    write_page(&*data, &mut page, PageId(0))?;
    file::initialize_map(&mut page.bytes, PageId(1));
    write_page(&*data, &mut page, PageId(1))?;
    data.sync()?;
    let doublewrite = disk.open(DOUBLEWRITE_FILE, true)?;
    doublewrite.set_len((WRITE_BATCH * PAGE_SIZE) as u64)?;
    doublewrite.sync()?;
    let (segments, _) =
        Segments::open(Arc::clone(disk), options.segment_size, options.log_capacity)?;
    segments.prepare(options.segment_size.min(FIRST_SEGMENT), 0)?;
    let first =
        Checkpoint { epoch: 0, lsn: FIRST_LSN, durable: FIRST_LSN, number: 0, state: Vec::new() };
    Control::create(&**disk, first)
}

fn write_page(data: &dyn DiskFile, page: &mut PageBuf, id: PageId) -> Result<()> {
    seal(&mut page.bytes);
    data.write_at(&page.bytes, page_offset(id))?;
    Ok(())
}
