//! Writing back, checkpoints and log space: what keeps the log short and writers running.
//!
//! ```text
//!   checkpoint      pages clean to             soft target        closed
//!   |---------------|--------------------------|------------------|
//!   kept for        oldest change that a page  pages with older   new groups
//!   rollback        on disk lacks              changes are written
//! ```
//! A checkpoint first writes its number into the data file's header and then, with its position,
//! into the control file. A data file with a smaller number than the control file is an older one,
//! put in the place of the right one; of one with the same number the log has all that is missing.
//!
//! A step writes pages whose oldest unwritten change lies further back than half the log's
//! capacity, takes a checkpoint when the clean position has moved by a sixteenth, and keeps one log
//! segment prepared. Writers wait in [`Store::mtr`], before they latch anything, when changes on
//! pages lie further back than the capacity. A transaction that holds the log back makes it longer
//! but stops nobody.

use super::control::Checkpoint;
use super::{CHECKPOINT_STATE_MAX, Store};
use crate::Result;
use crate::buffer::WRITE_BATCH;
use crate::error::StorageError;
use crate::sync::{AtomicBool, Mutex, Ordering, Wakeup};
use crate::wal::writer::LogWriter;
use inia_base::ids::Lsn;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

/// Appended bytes that may wait for a write before new writers help to write them.
const MAX_UNWRITTEN: u64 = 32 << 20;
/// Pages that one step writes at most.
const STEP_PAGES: usize = 8 * WRITE_BATCH;
/// How long the background thread waits when it has no work and nobody wakes it.
const PAUSE: Duration = Duration::from_millis(100);

/// What the background thread and the store share.
struct Shared {
    wakeup: Arc<Wakeup>,
    stopped: AtomicBool,
    /// The last step found no space for a log segment.
    starved: AtomicBool,
}

/// The background threads.
pub(super) struct Background {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    log_writer: Mutex<Option<LogWriter>>,
}

impl Background {
    /// Threads, not started yet, of which the page writer waits on this wakeup.
    pub(super) fn new(wakeup: &Arc<Wakeup>) -> Background {
        let shared = Shared {
            wakeup: Arc::clone(wakeup),
            stopped: AtomicBool::new(false),
            starved: AtomicBool::new(false),
        };
        Background {
            shared: Arc::new(shared),
            thread: Mutex::default(),
            log_writer: Mutex::default(),
        }
    }
}

impl Store {
    /// Starts the background threads, if the options want them.
    pub(super) fn start_background(self: &Arc<Store>) -> Result<()> {
        let Some(background) = &self.background else { return Ok(()) };
        let (store, shared) = (Arc::downgrade(self), Arc::clone(&background.shared));
        let thread = std::thread::Builder::new().name("inia-pages".into());
        *background.thread.lock() = Some(thread.spawn(move || run(&store, &shared))?);
        *background.log_writer.lock() = Some(LogWriter::start(&self.wal)?);
        Ok(())
    }

    /// Ends the background threads and waits for their end. No page is written; call it before the
    /// last handle on the store goes, so that the disk is free for another when it has gone.
    pub(crate) fn stop_background(&self) {
        let Some(background) = &self.background else { return };
        drop(background.log_writer.lock().take());
        background.shared.stopped.store(true, Ordering::Relaxed);
        background.shared.wakeup.notify();
        if let Some(thread) = background.thread.lock().take()
            && thread.thread().id() != std::thread::current().id()
        {
            // A panic there has been reported on its own.
            let _ = thread.join();
        }
    }

    /// One step of background work (page writing, checkpoint, log segments); true when there was
    /// some.
    pub(crate) fn background_step(&self) -> Result<bool> {
        let mut busy = self.pool.provide_frames()?;
        if self.age() > self.log_capacity / 2 {
            // A sixteenth further than needed, so that the next round comes with as much to do.
            let kept = self.log_capacity / 16 * 7;
            let target = Lsn(self.wal.closed_lsn().0.saturating_sub(kept));
            let dirty = self.pool.dirty_frames(target, STEP_PAGES);
            busy |= self.pool.write_back(&dirty)? > 0;
            if dirty.len() < STEP_PAGES || self.age() > self.log_capacity {
                busy |= self.checkpoint()?;
            }
        } else if self.has_moved() {
            busy |= self.checkpoint()?;
        }
        Ok(self.maintain_log()? || busy)
    }

    /// Takes back or prepares one log segment.
    fn maintain_log(&self) -> Result<bool> {
        if let Some(error) = self.wal.failure() {
            return Err(error);
        }
        let keep_from = self.control.lock().last.lsn;
        let done = self.wal.segments().maintain(keep_from, self.wal.unwritten());
        if let Err(error @ StorageError::Stopped(_)) = &done {
            self.wal.fail(error.clone());
        }
        done
    }

    /// Whether the log has grown by a sixteenth of its capacity since the last checkpoint.
    fn has_moved(&self) -> bool {
        let last = self.control.lock().last.durable;
        self.wal.closed_lsn().0.saturating_sub(last.0) > self.log_capacity / 16
    }

    /// The pages on disk have all changes up to here.
    pub(crate) fn clean_to(&self) -> Lsn {
        Lsn(self.pages_clean_to.load(Ordering::Acquire))
    }

    /// How much log is needed to bring the pages on disk up to date.
    fn age(&self) -> u64 {
        let closed = self.wal.closed_lsn();
        closed.0.saturating_sub(self.clean_to().0)
    }

    /// Takes a checkpoint; true when its position moved.
    pub(crate) fn checkpoint(&self) -> Result<bool> {
        let mut control = self.control.lock();
        let before = control.last.lsn;
        let number = self.pool.number_header()?;
        let closed = self.wal.closed_lsn();
        self.pool.checkpoint(closed, |clean_to| {
            debug_assert!(clean_to <= closed, "pages lack nothing beyond the log");
            let source = self.source.get();
            let hold = match source {
                Some(source) => source.hold_lsn(),
                None => Some(self.recovered_from),
            };
            let state = source.map_or_else(|| control.last.state.clone(), |source| source.state());
            assert!(state.len() <= CHECKPOINT_STATE_MAX, "checkpoint state is too long");
            let lsn = hold.map_or(clean_to, |hold| hold.min(clean_to)).max(before);
            self.wal.wait_durable(lsn)?;
            let epoch = control.last.epoch;
            let durable = self.wal.durable_lsn();
            let written = control.write(Checkpoint { epoch, lsn, durable, number, state });
            if let Err(error) = written {
                self.wal.fail(error.clone());
                return Err(error);
            }
            self.pages_clean_to.fetch_max(clean_to.0, Ordering::AcqRel);
            Ok(lsn)
        })?;
        let _waiters = self.progress.0.lock();
        self.progress.1.notify_all();
        Ok(control.last.lsn > before)
    }

    /// Writes every page back and takes a last checkpoint. Nothing may be changed afterwards.
    pub(crate) fn close(&self) -> Result<()> {
        self.stop_background();
        let closed = self.wal.closed_lsn();
        self.wal.wait_durable(closed)?;
        self.write_all_pages()?;
        self.checkpoint()?;
        Ok(())
    }

    fn write_all_pages(&self) -> Result<()> {
        loop {
            let dirty = self.pool.dirty_frames(Lsn(u64::MAX), STEP_PAGES);
            if self.pool.write_back(&dirty)? == 0 {
                return Ok(());
            }
        }
    }

    /// Writes every changed page back, without a checkpoint.
    #[cfg(test)]
    pub(crate) fn write_all_pages_for_tests(&self) -> Result<()> {
        self.write_all_pages()
    }

    /// Waits until the log has room for a writer.
    pub(super) fn wait_for_log_space(&self) -> Result<()> {
        let closed = self.wal.closed_lsn();
        debug_assert!(self.clean_to() <= closed, "pages lack nothing beyond the log");
        if closed.0.saturating_sub(self.wal.durable_lsn().0) > MAX_UNWRITTEN {
            self.wal.wait_durable(Lsn(closed.0 - MAX_UNWRITTEN / 2))?;
        }
        if self.age() > self.log_capacity / 4 * 3
            && let Some(background) = &self.background
        {
            background.shared.wakeup.notify();
        }
        while self.age() > self.log_capacity {
            self.wait_for_progress()?;
        }
        Ok(())
    }

    #[cold]
    fn wait_for_progress(&self) -> Result<()> {
        if let Some(error) = self.wal.failure() {
            return Err(error);
        }
        let Some(background) = &self.background else {
            return match self.background_step() {
                // Only the next log segment had no space.
                Err(StorageError::DiskFull) if self.age() <= self.log_capacity => Ok(()),
                step => step.map(|_| ()),
            };
        };
        background.shared.wakeup.notify();
        let mut waiting = self.progress.0.lock();
        if self.age() > self.log_capacity {
            self.progress.1.wait_for(&mut waiting, PAUSE);
        }
        Ok(())
    }

    /// Prepares a log segment in advance; fails when there is no space for one.
    #[cold]
    pub(super) fn find_log_segment(&self) -> Result<()> {
        // Space does not help a log that has stopped.
        if let Some(error) = self.wal.failure() {
            return Err(error);
        }
        let Some(background) = &self.background else {
            while self.is_short_of_log() {
                self.maintain_log()?;
            }
            return Ok(());
        };
        background.shared.wakeup.notify();
        if background.shared.starved.load(Ordering::Relaxed) {
            return Err(StorageError::DiskFull);
        }
        // A commit that finds no segment stops the log for good: better to wait here.
        while self.wal.segments().is_urgent(self.wal.unwritten()) {
            self.prepare_segment()?;
        }
        Ok(())
    }

    fn prepare_segment(&self) -> Result<()> {
        if let Some(error) = self.wal.failure() {
            return Err(error);
        }
        let done = self.wal.segments().prepare_now(self.wal.unwritten());
        if let Err(error @ StorageError::Stopped(_)) = &done {
            self.wal.fail(error.clone());
        }
        done
    }

    /// Makes sure that the log has room for a commit record besides the bytes that `others` have
    /// claimed for their rollbacks. Without that room it fails with `DiskFull` and does nothing.
    pub(crate) fn make_room_for_commit(&self, others: u64) -> Result<()> {
        while !self.wal.segments().has_room(others, self.wal.unwritten()) {
            self.prepare_segment()?;
        }
        Ok(())
    }

    /// Makes sure that a step of a rollback does not take the last of the log, which would stop it
    /// for good. Without a little room it fails with `DiskFull`: the rollback goes on later.
    pub(super) fn keep_room_for_rollback(&self) -> Result<()> {
        if !self.wal.segments().has_room_for_rollback(self.wal.unwritten()) {
            self.prepare_segment()?;
        }
        Ok(())
    }
}

/// The background thread: it takes steps while there is work and waits when there is none. It holds
/// the store only during a step.
fn run(store: &Weak<Store>, shared: &Shared) {
    while !shared.stopped.load(Ordering::Relaxed) {
        let Some(store) = store.upgrade() else { return };
        let step = store.background_step();
        let starved = matches!(step, Err(StorageError::DiskFull));
        shared.starved.store(starved, Ordering::Relaxed);
        let failed = store.wal.failure().is_some();
        drop(store);
        match step {
            Ok(true) => {}
            // A stopped log ends all writing.
            Err(_) if failed => return,
            // A full disk may have room later.
            Ok(false) | Err(_) => shared.wakeup.wait(PAUSE),
        }
    }
}
