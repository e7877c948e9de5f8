//! Writing pages back: doublewrite, log-before-page, and the sweep that checkpoints rest on.
//!
//! One batch: copy each page under its shared latch; make the log durable up to the newest copy;
//! write the copies in one piece to the doublewrite file and sync it; write them to their places
//! and sync. A crash at any point leaves, for each page, an intact copy in its place or in the
//! doublewrite file. Pages made anew since the last checkpoint need no copy: redo starts them from
//! nothing.
//!
//! Invariants, all under the flusher's lock:
//! - a frame with `rec_lsn == 0` and `writing == 0` equals the disk's synced copy;
//! - outside a batch, everything older than the smallest `rec_lsn` of all frames is synced in
//!   place, so a checkpoint may say so.

use super::wait::Attempt;
use super::{BufferPool, PageCounters, WRITE_BATCH, page_offset};
use crate::Result;
use crate::page::file::CHECKPOINT_AT;
use crate::page::file::HEADER_PAGE;
use crate::page::{self, PAGE_SIZE, PageBytes, PageRead, put_u64};
use crate::sync::Ordering;
use inia_base::ids::{Lsn, PageId};
use inia_base::io::{AlignedBuf, DiskFile};
use std::sync::Arc;

/// The files that pages are written to, and the buffer of one batch.
pub(super) struct Flusher {
    data: Arc<dyn DiskFile>,
    doublewrite: Arc<dyn DiskFile>,
    counters: Arc<PageCounters>,
    /// `WRITE_BATCH` pages once anything was written.
    copies: Option<AlignedBuf>,
}

/// A page copied for writing.
struct Copy {
    frame: u32,
    id: PageId,
    slot: usize,
    protect: bool,
}

impl Flusher {
    pub(super) fn new(
        data: Arc<dyn DiskFile>,
        doublewrite: Arc<dyn DiskFile>,
        counters: Arc<PageCounters>,
    ) -> Flusher {
        Flusher { data, doublewrite, counters, copies: None }
    }

    fn slot(&mut self, slot: usize) -> &mut PageBytes {
        let copies = self.copies.get_or_insert_with(|| AlignedBuf::new(WRITE_BATCH * PAGE_SIZE));
        copies[slot * PAGE_SIZE..]
            .first_chunk_mut::<PAGE_SIZE>()
            .expect("invariant: a batch has a slot for each of its pages")
    }

    /// Writes the copies, protected ones through the doublewrite file.
    fn write(&mut self, batch: &mut [Copy]) -> Result<()> {
        let Some(copies) = &self.copies else { return Ok(()) };
        let protected = batch.iter().take_while(|copy| copy.protect).count();
        assert!(
            batch[protected..].iter().all(|copy| !copy.protect),
            "pages that need the doublewrite file come first"
        );
        if protected > 0 {
            self.doublewrite.write_at(&copies[..protected * PAGE_SIZE], 0)?;
            self.doublewrite.sync()?;
            self.counters.doublewritten.note(protected * PAGE_SIZE);
            self.counters.doublewritten.note_sync();
        }
        let mut rest: &[Copy] = batch;
        while let Some(first) = rest.first() {
            let run = rest
                .iter()
                .enumerate()
                .take_while(|(i, copy)| {
                    copy.slot == first.slot + i && copy.id.0 as usize == first.id.0 as usize + i
                })
                .count();
            let from = first.slot * PAGE_SIZE;
            self.data.write_at(&copies[from..from + run * PAGE_SIZE], page_offset(first.id))?;
            self.counters.written.note(run * PAGE_SIZE);
            rest = &rest[run..];
        }
        self.data.sync()?;
        self.counters.written.note_sync();
        Ok(())
    }
}

impl BufferPool {
    /// Writes the dirty pages in these frames back, except those that a writer has latched. Returns
    /// how many it wrote. A failure stops the log, and with it all writing.
    pub(crate) fn write_back(&self, frames: &[u32]) -> Result<usize> {
        let mut flusher = self.flusher.lock();
        let mut written = 0;
        debug_assert!(frames.iter().all(|&frame| frame < self.frames.count()), "frames exist");
        for chunk in frames.chunks(WRITE_BATCH) {
            written += self.write_batch(&mut flusher, chunk)?;
        }
        Ok(written)
    }

    fn write_batch(&self, flusher: &mut Flusher, frames: &[u32]) -> Result<usize> {
        if let Some(error) = self.wal.failure() {
            return Err(error);
        }
        let (mut batch, newest) = self.copy_out(flusher, frames)?;
        if batch.is_empty() {
            return Ok(0);
        }
        let result = self.wal.wait_durable(newest).and_then(|()| {
            assert!(self.wal.durable_lsn() >= newest, "a page is written after its log");
            flusher.write(&mut batch)
        });
        if let Err(error) = result {
            // The copies' `rec_lsn`s are gone: nothing may be evicted or checkpointed from now on.
            self.wal.fail(error.clone());
            return Err(error);
        }
        for copy in &batch {
            self.frames.meta(copy.frame).writing.store(0, Ordering::Release);
        }
        Ok(batch.len())
    }

    /// Copies the pages that can be written now, and returns them with the newest LSN among them.
    /// Pages that need the doublewrite file come first; each group is in file order.
    fn copy_out(&self, flusher: &mut Flusher, frames: &[u32]) -> Result<(Vec<Copy>, Lsn)> {
        // Pages made anew since the checkpoint need no copy: redo starts them from nothing.
        let checkpoint = self.checkpoint.load(Ordering::Acquire);
        let mut wanted: Vec<(bool, PageId, u32)> = frames
            .iter()
            .filter_map(|&frame| {
                let meta = self.frames.meta(frame);
                let unprotected = meta.init_lsn.load(Ordering::Relaxed) > checkpoint;
                meta.page().map(|id| (unprotected, id, frame))
            })
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        // A page that a writer has latched is left to a later batch: nobody waits here.
        let mut batch: Vec<Copy> = Vec::with_capacity(wanted.len());
        let mut newest = Lsn(0);
        for (unprotected, id, frame) in wanted {
            let Attempt::Got(mut page) = self.frames.try_shared(id)? else { continue };
            let meta = page.meta();
            let still_unprotected = meta.init_lsn.load(Ordering::Relaxed) > checkpoint;
            let dirty = meta.rec_lsn.load(Ordering::Relaxed) != 0;
            // The frame may have changed hands since it was listed; a later batch will see it
            // right.
            if page.frame() != frame || !dirty || still_unprotected != unprotected {
                continue;
            }
            let slot = batch.len();
            let copy = flusher.slot(slot);
            copy.copy_from_slice(&page[..]);
            meta.writing.store(1, Ordering::Relaxed);
            meta.rec_lsn.store(0, Ordering::Relaxed);
            page.cold = true;
            drop(page);
            assert_eq!(page::page_id(copy), id, "a page is written to its own place");
            newest = newest.max(page::page_lsn(copy));
            page::seal(copy);
            batch.push(Copy { frame, id, slot, protect: !unprotected });
        }
        debug_assert!(batch.len() <= WRITE_BATCH, "a batch fits the doublewrite file");
        assert!(newest <= self.wal.closed_lsn(), "no page is newer than the log");
        Ok((batch, newest))
    }

    /// Runs `checkpoint` with no batch under way, with the position that every change not yet in
    /// place starts at or after: the smaller of `closed` and the oldest `rec_lsn`. When
    /// `checkpoint` returns a position, it has become the durable checkpoint.
    ///
    /// `closed` must have been read from the log before. A group that ended below it had set its
    /// pages' `rec_lsn` before, so the sweep sees them.
    pub(crate) fn checkpoint(
        &self,
        closed: Lsn,
        checkpoint: impl FnOnce(Lsn) -> Result<Lsn>,
    ) -> Result<()> {
        let _no_batch = self.flusher.lock();
        if let Some(error) = self.wal.failure() {
            return Err(error);
        }
        let durable = checkpoint(self.oldest_change().unwrap_or(closed).min(closed))?;
        assert!(durable <= closed, "a checkpoint does not lie beyond the log");
        self.set_checkpoint(durable);
        Ok(())
    }

    /// Writes the number of the next checkpoint into the header page, before the control file has
    /// it, and returns it. No number is used twice, not even after a crash in between. The log has
    /// no record of it.
    pub(crate) fn number_header(&self) -> Result<u64> {
        let mut header = self.exclusive(HEADER_PAGE)?;
        let number = header.u64_at(CHECKPOINT_AT) + 1;
        put_u64(&mut header, CHECKPOINT_AT, number);
        self.note_change(&header, self.wal.closed_lsn(), false);
        let (frame, meta) = (header.frame(), header.meta());
        drop(header);
        // A thread that has the header latched is adding a group of pages, and waits for nothing.
        while self.write_back(&[frame])? == 0 && !meta.is_clean() {
            std::thread::yield_now();
        }
        Ok(number)
    }

    /// Names the durable checkpoint.
    pub(crate) fn set_checkpoint(&self, lsn: Lsn) {
        let before = self.checkpoint.swap(lsn.0, Ordering::AcqRel);
        assert!(before <= lsn.0, "checkpoints only move forward");
    }

    /// The oldest `rec_lsn`. Pages being written are left out: call it with no batch under way.
    fn oldest_change(&self) -> Option<Lsn> {
        (0..self.frames.used())
            .map(|frame| self.frames.meta(frame).rec_lsn.load(Ordering::Acquire))
            .filter(|&lsn| lsn != 0)
            .min()
            .map(Lsn)
    }

    /// Frames whose copy on disk lacks changes from before `below`, oldest first, at most `limit`.
    pub(crate) fn dirty_frames(&self, below: Lsn, limit: usize) -> Vec<u32> {
        let mut dirty: Vec<(u64, u32)> = (0..self.frames.used())
            .map(|frame| (self.frames.meta(frame).rec_lsn.load(Ordering::Relaxed), frame))
            .filter(|&(lsn, _)| lsn != 0 && lsn < below.0)
            .collect();
        dirty.sort_unstable();
        dirty.truncate(limit);
        dirty.into_iter().map(|(_, frame)| frame).collect()
    }
}
