//! The buffer pool: pages in memory, their latches and versions, eviction and writing back.
//!
//! The life of a page here:
//! 1. a miss claims the page's entry ([`frame::Frames::begin_load`]), takes a free frame and reads
//!    and checks the page ([`BufferPool::optimistic`]);
//! 2. readers read optimistically or under a shared latch; mini-transactions change it under the
//!    exclusive latch and note in the frame from which log position on the disk's copy lags
//!    (`rec_lsn`);
//! 3. the write-back ([`flush`]) copies it, makes the log durable up to its LSN, writes it;
//! 4. the clock ([`BufferPool::free_frame`]) marks it, and at its next visit evicts it if it is
//!    clean.

mod entry;
mod flush;
mod frame;
mod racy;
mod wait;

#[cfg(test)]
mod tests;

use crate::Result;
use crate::counts::{FileCounter, FileCounts};
use crate::error::StorageError;
use crate::page::file::is_pinned;
use crate::page::{self, CACHE_LINE, PAGE_SIZE};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Mutex, Ordering, Wakeup};
use crate::wal::Wal;
use flush::Flusher;
use frame::{Frames, FreeFrame, Visit};
use inia_base::ids::{Lsn, PageId};
use inia_base::io::DiskFile;
use std::io;
use std::sync::Arc;
use wait::{Attempt, Intent};

pub(crate) use frame::{
    ExclusivePage, MAX_PAGES, OptimisticPage, PageVersion, Restart, SharedPage,
};

/// Dirty pages that one write-back takes.
pub(crate) const WRITE_BATCH: usize = 128;
/// Frames that one search for a victim looks at.
const CLOCK_STRETCH: u32 = 1024;
/// Rounds without a victim after which a miss fails: every frame is latched.
const EVICTION_ROUNDS: u32 = 10_000;

/// The pages of one data file in memory.
pub(crate) struct BufferPool {
    frames: Frames,
    data: Arc<dyn DiskFile>,
    wal: Arc<Wal>,
    free: Mutex<Vec<FreeFrame>>,
    clock: AtomicU32,
    flusher: Mutex<Flusher>,
    counters: Arc<PageCounters>,
    /// The durable checkpoint: redo of anything newer starts from the log.
    checkpoint: AtomicU64,
    /// Recovery is over: no page may be newer than the log.
    recovered: AtomicBool,
    /// Wakes the thread that keeps frames free.
    provider: Arc<Wakeup>,
}

/// Byte offset of a page in the data file.
pub(crate) fn page_offset(id: PageId) -> u64 {
    u64::from(id.0) * PAGE_SIZE as u64
}

/// Requests for pages: to the data file, and to the doublewrite file.
#[derive(Debug, Default)]
struct PageCounters {
    read: FileCounter,
    written: FileCounter,
    doublewritten: FileCounter,
}

/// How full a pool is, and what it has read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Frames there may be.
    pub total: u64,
    /// Frames with a page.
    pub data: u64,
    /// Pages that the data file does not have yet.
    pub dirty: u64,
    /// Reads of pages.
    pub read: FileCounts,
    /// Writes to the data file.
    pub written: FileCounts,
    /// Writes to the doublewrite file.
    pub doublewritten: FileCounts,
}

impl BufferPool {
    /// Bytes of pages that it has room for.
    pub(crate) fn bytes(&self) -> u64 {
        u64::from(self.frames.count()) * PAGE_SIZE as u64
    }

    /// How full it is; looks at every frame.
    pub(crate) fn stats(&self) -> PoolStats {
        let used = self.frames.used();
        let is_dirty = |frame: &u32| self.frames.meta(*frame).rec_lsn.load(Ordering::Relaxed) != 0;
        let data = u64::from(used).saturating_sub(self.free.lock().len() as u64);
        let dirty = (0..used).filter(is_dirty).count() as u64;
        PoolStats {
            total: u64::from(self.frames.count()),
            data,
            dirty,
            read: self.counters.read.counts(),
            written: self.counters.written.counts(),
            doublewritten: self.counters.doublewritten.counts(),
        }
    }

    /// A pool of `bytes` of frames over a data file; `doublewrite` keeps copies during write-back.
    pub(crate) fn new(
        bytes: u64,
        data: Arc<dyn DiskFile>,
        doublewrite: Arc<dyn DiskFile>,
        wal: Arc<Wal>,
    ) -> Result<BufferPool> {
        let counters = Arc::new(PageCounters::default());
        let flusher = Flusher::new(Arc::clone(&data), doublewrite, Arc::clone(&counters));
        Ok(BufferPool {
            frames: Frames::new(bytes / PAGE_SIZE as u64)?,
            flusher: Mutex::new(flusher),
            counters,
            data,
            wal,
            free: Mutex::default(),
            clock: AtomicU32::new(0),
            checkpoint: AtomicU64::new(0),
            recovered: AtomicBool::new(false),
            provider: Arc::default(),
        })
    }

    /// Starts an optimistic read, reading the page in when it is absent. A `scan` does not count as
    /// a use of the page: what it reads in is evicted first.
    #[inline]
    pub(crate) fn optimistic(&self, id: PageId, scan: bool) -> Result<OptimisticPage<'_>> {
        match self.frames.read(id, !scan)? {
            Attempt::Got(page) => Ok(page),
            _ => self.optimistic_slow(id, scan),
        }
    }

    #[cold]
    fn optimistic_slow(&self, id: PageId, scan: bool) -> Result<OptimisticPage<'_>> {
        loop {
            match self.frames.read(id, !scan)? {
                Attempt::Got(page) => return Ok(page),
                Attempt::Blocked => self.frames.wait(id, Intent::Read),
                Attempt::Absent => drop(self.read_in(id, scan)?),
            }
        }
    }

    /// Asks the processor for the first bytes of a page that is in memory.
    #[inline]
    pub(crate) fn ask_for(&self, id: PageId, bytes: usize) {
        if let Ok(Attempt::Got(page)) = self.frames.read(id, false) {
            for at in (0..bytes).step_by(CACHE_LINE) {
                page.prefetch(at);
            }
        }
    }

    /// Latches a page for reading.
    pub(crate) fn shared(&self, id: PageId) -> Result<SharedPage<'_>> {
        loop {
            match self.frames.try_shared(id)? {
                Attempt::Got(page) => return Ok(page),
                Attempt::Blocked => self.frames.wait(id, Intent::Share),
                Attempt::Absent => drop(self.read_in(id, false)?),
            }
        }
    }

    /// Latches a page for writing.
    pub(crate) fn exclusive(&self, id: PageId) -> Result<ExclusivePage<'_>> {
        loop {
            match self.frames.try_exclusive(id)? {
                Attempt::Got(page) => return Ok(page),
                Attempt::Blocked => self.frames.wait(id, Intent::Write),
                Attempt::Absent => {
                    if let Some(page) = self.read_in(id, false)? {
                        return Ok(page);
                    }
                }
            }
        }
    }

    /// Latches a page whose contents do not matter, without reading it: an absent one gets its id
    /// and LSN zero, its other bytes are arbitrary. `None` when another thread has it latched.
    pub(crate) fn try_exclusive_blank(&self, id: PageId) -> Result<Option<ExclusivePage<'_>>> {
        loop {
            match self.frames.try_exclusive(id)? {
                Attempt::Got(page) => return Ok(Some(page)),
                Attempt::Blocked => return Ok(None),
                Attempt::Absent => {
                    if let Some(loading) = self.frames.begin_load(id)? {
                        let mut page = loading.attach(self.free_frame()?);
                        page::adopt(&mut page, id);
                        return Ok(Some(page));
                    }
                }
            }
        }
    }

    /// Turns an optimistic read into the exclusive latch.
    pub(crate) fn upgrade<'s>(
        &'s self,
        page: OptimisticPage<'s>,
    ) -> std::result::Result<ExclusivePage<'s>, Restart> {
        page.upgrade()
    }

    /// Whether the page has kept its state since `version` was taken. A page that was evicted
    /// meanwhile is read in again and compared by its LSN, so that readers of more data than
    /// fits in memory make progress.
    pub(crate) fn is_current(&self, id: PageId, version: PageVersion) -> bool {
        let known = self.frames.is_current(id, version);
        known.unwrap_or_else(|| self.version_of_lsn(id, version.lsn, false).is_some())
    }

    /// As [`BufferPool::is_current`], for a scan that will ask again: the version by which the page
    /// is known from now on.
    #[inline]
    pub(crate) fn version_now(&self, id: PageId, version: PageVersion) -> Option<PageVersion> {
        match self.frames.is_current(id, version) {
            Some(is_current) => is_current.then_some(version),
            None => self.version_of_lsn(id, version.lsn, true),
        }
    }

    /// The version of a page, which is read in when it is absent, if it has this LSN.
    #[cold]
    fn version_of_lsn(&self, id: PageId, lsn: Lsn, scan: bool) -> Option<PageVersion> {
        loop {
            match self.frames.read(id, !scan) {
                Ok(Attempt::Got(page)) => {
                    let same = page::lsn_of(&page) == lsn && page.validate().is_ok();
                    return same.then(|| page.version()).filter(|version| version.lsn == lsn);
                }
                Ok(Attempt::Blocked) | Err(_) => return None,
                Ok(Attempt::Absent) => match self.read_in(id, scan) {
                    Ok(read) => drop(read),
                    Err(_) => return None,
                },
            }
        }
    }

    /// Reads an absent page into memory; `None` when another thread was faster.
    fn read_in(&self, id: PageId, scan: bool) -> Result<Option<ExclusivePage<'_>>> {
        let Some(loading) = self.frames.begin_load(id)? else { return Ok(None) };
        let frame = self.free_frame()?;
        let mut page = loading.attach(frame);
        page.cold = scan;
        let loaded = match self.data.read_at(&mut page[..], page_offset(id)) {
            Ok(()) => {
                self.counters.read.note(PAGE_SIZE);
                self.check(&page, id)
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(StorageError::Corrupt(id, "past the end of the file"))
            }
            Err(error) => Err(error.into()),
        };
        match loaded {
            Ok(()) => Ok(Some(page)),
            Err(error) => {
                self.discard(page);
                Err(error)
            }
        }
    }

    fn check(&self, page: &page::PageBytes, id: PageId) -> Result<()> {
        page::verify(page, id).map_err(|what| StorageError::Corrupt(id, what))?;
        let recovered = self.recovered.load(Ordering::Relaxed);
        if recovered && page::page_lsn(page) > self.wal.closed_lsn() {
            return Err(StorageError::Corrupt(id, "newer than the log"));
        }
        Ok(())
    }

    /// Drops a page from memory, with its changes.
    pub(crate) fn discard(&self, page: ExclusivePage<'_>) {
        self.free.lock().push(page.evict());
    }

    /// Notes that the latched page is about to change, before its first change is logged: the log
    /// from `now` on will be needed to repeat it.
    pub(crate) fn note_change(&self, page: &ExclusivePage<'_>, now: Lsn, starts_page: bool) {
        let meta = page.meta();
        debug_assert!(now.0 > 0, "position 0 means that the disk lacks nothing");
        if meta.rec_lsn.load(Ordering::Relaxed) == 0 {
            meta.rec_lsn.store(now.0, Ordering::Release);
        }
        if starts_page {
            meta.init_lsn.store(now.0, Ordering::Relaxed);
        }
    }

    /// Notes that the disk may lack the latched page's changes from there on, though it showed
    /// them.
    pub(crate) fn note_unsynced(&self, page: &ExclusivePage<'_>, from: Lsn) {
        let oldest = &page.meta().rec_lsn;
        let known = oldest.load(Ordering::Relaxed);
        if known == 0 || known > from.0 {
            oldest.store(from.0, Ordering::Release);
        }
    }

    /// A frame without page: a freed one, an unused one, or one whose page is evicted for it.
    fn free_frame(&self) -> Result<FreeFrame> {
        for _ in 0..EVICTION_ROUNDS {
            if let Some(frame) = self.free.lock().pop() {
                return Ok(frame);
            }
            if let Some(frame) = self.frames.take_unused() {
                if self.frames.wants_ready(&frame) {
                    self.provider.notify();
                }
                return Ok(frame);
            }
            self.provider.notify();
            if let Some(frame) = self.evict_one()? {
                return Ok(frame);
            }
            std::thread::yield_now();
        }
        Err(io::Error::new(io::ErrorKind::OutOfMemory, "every page frame is latched").into())
    }

    /// Turns the clock until it finds a clean page to evict, and writes dirty pages back when there
    /// is none. The clock passes over one stretch of frames twice: the first miss in a large pool
    /// marks that stretch, not the whole pool.
    fn evict_one(&self) -> Result<Option<FreeFrame>> {
        let count = self.frames.count();
        let stretch = count.min(CLOCK_STRETCH);
        let start = self.clock.load(Ordering::Relaxed);
        let mut dirty = Vec::new();
        for turn in 0..2 * stretch {
            let at = start.wrapping_add(turn % stretch);
            if turn < stretch {
                self.clock.store(at.wrapping_add(1), Ordering::Relaxed);
            }
            let frame = at % count;
            let pinned = self.frames.meta(frame).page().is_none_or(is_pinned);
            if pinned {
                continue;
            }
            match self.frames.visit(frame) {
                Visit::Skip => {}
                Visit::Victim(page) => return Ok(Some(page.evict())),
                Visit::Dirty if dirty.len() < WRITE_BATCH => dirty.push(frame),
                Visit::Dirty => break,
            }
        }
        self.write_back(&dirty)?;
        Ok(None)
    }

    /// Keeps some frames free, so that foreground misses need not evict. True when it did
    /// something.
    pub(crate) fn provide_frames(&self) -> Result<bool> {
        let count = self.frames.count();
        let wanted = (count as usize / 32).min(1024);
        if self.frames.used() < count {
            self.frames.make_ready();
            return Ok(false);
        }
        if self.free.lock().len() >= wanted {
            return Ok(false);
        }
        let mut provided = false;
        for _ in 0..WRITE_BATCH {
            if let Some(frame) = self.evict_one()? {
                self.free.lock().push(frame);
                provided = true;
            }
        }
        Ok(provided)
    }

    /// Is notified when free frames run out.
    pub(crate) fn provider_wakeup(&self) -> &Arc<Wakeup> {
        &self.provider
    }

    /// Recovery is over.
    pub(crate) fn set_recovered(&self) {
        self.recovered.store(true, Ordering::Relaxed);
    }

    /// The data file.
    pub(crate) fn data(&self) -> &Arc<dyn DiskFile> {
        &self.data
    }
}
