//! The write-ahead log: one stream of groups, made durable by the first thread that waits, or by
//! the log writer.
//!
//! A group is `length u32` (itself included) and one or more records; it is applied whole or not at
//! all. An LSN is a byte position in the endless stream of groups; block headers do not count.
//!
//! Appending copies the group to the tail buffer under a mutex held for one `memcpy`. A thread that
//! waits for durability while nobody writes becomes the *leader*: it takes the whole tail, writes
//! it in new blocks, syncs, and wakes the *followers* whose groups were in it and one that has to
//! lead next. There is no timer: while one sync runs, the next batch gathers. A commit whose thread
//! does not wait leaves a callback instead, see `wal/commit.rs` and `wal/writer.rs`.
//!
//! ```text
//!   A appends 1, leads: |== write+sync 1 ==|
//!   B appends 2, waits      C appends 3, waits
//!                                          B leads: |== write+sync 2,3 ==|  C is woken with it
//! ```
//!
//! Invariants:
//! - `durable_lsn <= closed_lsn`; both only grow, except that a failure freezes `durable_lsn`;
//! - LSNs in `durable..closed` are in the tail buffer or in the leader's hands, in order, without a
//!   gap;
//! - a block on disk is written once: each flush begins a new block;
//! - after a failed write or sync nothing is ever reported durable again.

pub(crate) mod block;
pub(crate) mod commit;
pub(crate) mod reader;
pub(crate) mod record;
pub(crate) mod segment;
pub(crate) mod writer;

#[cfg(test)]
mod tests;

use crate::Result;
use crate::codec::ByteWriter;
use crate::counts::{FileCounter, FileCounts};
use crate::error::StorageError;
use crate::report;
use crate::sync::{AtomicU64, Mutex, Ordering};
use block::{BLOCK, BLOCK_PAYLOAD, BlockHeader, write_block};
use commit::{Flush, GroupCommit, OnDurable};
use inia_base::ids::Lsn;
use inia_base::io::AlignedBuf;
use reader::LogEnd;
use record::LogRecord;
use segment::{Segment, Segments};
use std::cell::Cell;
use std::sync::{Arc, OnceLock};

/// Where an empty log begins. Positions below mean "none".
pub(crate) const FIRST_LSN: Lsn = Lsn(64);
/// All log positions are below this.
pub(crate) const MAX_LSN: Lsn = Lsn(1 << 61);
/// Bytes of a group's length.
pub(crate) const GROUP_HEADER: usize = 4;
/// Blocks that are written in one request.
const STAGED_BLOCKS: usize = 64;
/// A tail buffer that grew beyond this is given back after its flush.
const TAIL_KEPT: usize = 8 << 20;

struct Tail {
    /// Groups from the last flush on.
    bytes: Vec<u8>,
}

/// What the leader works with.
struct Writer {
    epoch: u32,
    segment: Option<Segment>,
    next_block: u64,
    staging: AlignedBuf,
    taken: Vec<u8>,
}

/// The log's tail in memory and its writing to disk.
pub(crate) struct Wal {
    tail: Mutex<Tail>,
    closed: AtomicU64,
    durable: AtomicU64,
    commits: GroupCommit,
    writer: Mutex<Writer>,
    segments: Segments,
    failure: OnceLock<StorageError>,
    written: FileCounter,
}

thread_local! {
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl Wal {
    /// A log that recovery has yet to read; `from` is where its reading begins.
    pub(crate) fn new(segments: Segments, from: Lsn) -> Wal {
        Wal {
            tail: Mutex::new(Tail { bytes: Vec::new() }),
            closed: AtomicU64::new(from.0),
            durable: AtomicU64::new(from.0),
            commits: GroupCommit::default(),
            writer: Mutex::new(Writer {
                epoch: 0,
                segment: None,
                next_block: 0,
                staging: AlignedBuf::new(STAGED_BLOCKS * BLOCK),
                taken: Vec::new(),
            }),
            segments,
            failure: OnceLock::new(),
            written: FileCounter::default(),
        }
    }

    /// Recovery has read a durable group up to `end`.
    pub(crate) fn recovered_to(&self, end: Lsn) {
        debug_assert!(end >= self.closed_lsn(), "recovery reads the log forward");
        self.closed.store(end.0, Ordering::Release);
        self.durable.store(end.0, Ordering::Release);
    }

    /// Opens the log for appending at its end, as a new epoch.
    pub(crate) fn start(&self, end: LogEnd, epoch: u32) {
        self.recovered_to(end.lsn);
        if let Some(segment) = &end.segment {
            self.segments.note_use(segment, end.next_block);
        }
        let mut writer = self.writer.lock();
        writer.epoch = epoch;
        writer.segment = end.segment;
        writer.next_block = end.next_block;
    }

    /// Appends one record as a group of its own; its end.
    pub(crate) fn append(&self, record: &LogRecord<'_>) -> Lsn {
        self.append_with(record, |_| ())
    }

    /// Appends one record; `publish` runs with its end before any later group can be written and
    /// before [`Wal::closed_lsn`] covers it. It must be short: appends wait for it.
    pub(crate) fn append_with(&self, record: &LogRecord<'_>, publish: impl FnOnce(Lsn)) -> Lsn {
        let mut group = SCRATCH.take();
        begin_group(&mut group);
        record.encode(&mut group);
        finish_group(&mut group);
        let end = self.append_group(&group, publish);
        SCRATCH.set(group);
        end
    }

    /// Appends a finished group; `publish` as in [`Wal::append_with`].
    pub(crate) fn append_group(&self, group: &[u8], publish: impl FnOnce(Lsn)) -> Lsn {
        debug_assert!(group.len() > GROUP_HEADER, "a group has a record");
        debug_assert_eq!(length_of(group), group.len(), "a finished group knows its length");
        let mut tail = self.tail.lock();
        tail.bytes.extend_from_slice(group);
        let end = Lsn(self.closed.load(Ordering::Relaxed) + group.len() as u64);
        debug_assert!(end < MAX_LSN, "log positions stay below the marks of other words");
        publish(end);
        self.closed.store(end.0, Ordering::Release);
        end
    }

    /// Waits until the log is durable up to `lsn`, which must not lie beyond [`Wal::closed_lsn`].
    pub(crate) fn wait_durable(&self, lsn: Lsn) -> Result<()> {
        debug_assert!(lsn <= self.closed_lsn(), "only what was appended becomes durable");
        self.commits.wait(self, lsn)
    }

    /// As [`Wal::wait_durable`], but `reply` may wait in this thread's place: true then. False says
    /// that the log is durable up to `lsn`.
    pub(crate) fn notify_durable(&self, lsn: Lsn, reply: &Arc<dyn OnDurable>) -> Result<bool> {
        debug_assert!(lsn <= self.closed_lsn(), "only what was appended becomes durable");
        self.commits.notify(self, lsn, reply)
    }

    /// Writes and syncs everything appended so far. Only the leader calls it.
    fn flush_tail(&self) -> Result<()> {
        let mut writer = self.writer.lock();
        let writer = &mut *writer;
        let end = {
            let mut tail = self.tail.lock();
            std::mem::swap(&mut tail.bytes, &mut writer.taken);
            Lsn(self.closed.load(Ordering::Relaxed))
        };
        let start = Lsn(end.0 - writer.taken.len() as u64);
        assert_eq!(start, self.durable_lsn(), "the tail begins where the durable log ends");
        let taken = std::mem::take(&mut writer.taken);
        self.write(writer, start, &taken)?;
        self.durable.store(end.0, Ordering::Release);
        writer.taken = taken;
        writer.taken.clear();
        if writer.taken.capacity() > TAIL_KEPT {
            writer.taken = Vec::new();
        }
        Ok(())
    }

    fn write(&self, writer: &mut Writer, start: Lsn, bytes: &[u8]) -> Result<()> {
        let durable_lsn = self.durable_lsn();
        let mut at = start;
        let mut rest = bytes;
        let mut last = None;
        while !rest.is_empty() {
            let segment = self.segment_with_room(writer, at)?;
            let room = (segment.blocks - writer.next_block).min(STAGED_BLOCKS as u64) as usize;
            assert!(
                writer.next_block > 0 && room > 0,
                "a block is written behind the header, once"
            );
            let mut staged = 0;
            while staged < room && !rest.is_empty() {
                let (payload, after) = rest.split_at(rest.len().min(BLOCK_PAYLOAD));
                let header = BlockHeader {
                    epoch: writer.epoch,
                    first_lsn: at,
                    durable_lsn,
                    len: payload.len(),
                };
                let block = &mut writer.staging[staged * BLOCK..(staged + 1) * BLOCK];
                write_block(block, &header, payload);
                at = Lsn(at.0 + payload.len() as u64);
                rest = after;
                staged += 1;
            }
            let staging = &writer.staging[..staged * BLOCK];
            segment.file.write_at(staging, writer.next_block * BLOCK as u64)?;
            self.written.note(staging.len());
            writer.next_block += staged as u64;
            self.segments.note_use(&segment, writer.next_block);
            last = Some(segment);
        }
        assert_eq!(at.0 - start.0, bytes.len() as u64, "positions count payload bytes");
        match last {
            Some(segment) => {
                self.written.note_sync();
                Ok(segment.file.sync()?)
            }
            None => Ok(()),
        }
    }

    /// The segment being written, or the next one when it is full; the full one is synced first.
    fn segment_with_room(&self, writer: &mut Writer, at: Lsn) -> Result<Segment> {
        if let Some(segment) = &writer.segment {
            if writer.next_block < segment.blocks {
                return Ok(segment.clone());
            }
            segment.file.sync()?;
            self.written.note_sync();
        }
        let segment = self.segments.activate(at, writer.epoch)?;
        writer.segment = Some(segment.clone());
        writer.next_block = 1;
        Ok(segment)
    }

    /// What was written to the log since its start.
    pub(crate) fn written(&self) -> FileCounts {
        self.written.counts()
    }

    /// Everything below survives a crash.
    #[inline]
    pub(crate) fn durable_lsn(&self) -> Lsn {
        Lsn(self.durable.load(Ordering::Acquire))
    }

    /// End of the log so far: everything below is in the log buffer or on disk, published.
    #[inline]
    pub(crate) fn closed_lsn(&self) -> Lsn {
        Lsn(self.closed.load(Ordering::Acquire))
    }

    /// Bytes that are not durable yet.
    pub(crate) fn unwritten(&self) -> u64 {
        let durable = self.durable_lsn();
        self.closed_lsn().0.saturating_sub(durable.0)
    }

    /// The files.
    pub(crate) fn segments(&self) -> &Segments {
        &self.segments
    }

    /// The error that stopped the log, if one did.
    pub(crate) fn failure(&self) -> Option<StorageError> {
        self.failure.get().cloned()
    }

    /// Stops the log for good: every wait from now on fails, and so does every new
    /// mini-transaction. What the disk has after a failed write or sync is not known, so trying
    /// again would prove nothing.
    pub(crate) fn fail(&self, error: StorageError) {
        let stopped = match error {
            StorageError::Stopped(_) => error,
            other => StorageError::Stopped(other.to_string().into()),
        };
        // Only the first failure counts.
        if let Ok(()) = self.failure.set(stopped.clone()) {
            report::error(format_args!("{stopped}"));
        }
        self.commits.serve_all(self);
    }
}

impl Flush for Wal {
    fn durable(&self) -> Lsn {
        self.durable_lsn()
    }

    fn stopped(&self) -> Option<StorageError> {
        self.failure()
    }

    fn flush(&self) {
        if let Err(error) = self.flush_tail() {
            self.fail(error);
        }
    }
}

/// Starts a group in an empty or used buffer.
pub(crate) fn begin_group(group: &mut Vec<u8>) {
    group.clear();
    group.put_u32(0);
}

/// The length that a finished group says it has.
fn length_of(group: &[u8]) -> usize {
    group.first_chunk::<GROUP_HEADER>().map_or(0, |length| u32::from_le_bytes(*length) as usize)
}

/// Fills in the group's length.
pub(crate) fn finish_group(group: &mut [u8]) {
    let len = u32::try_from(group.len()).expect("invariant: groups stay below 4 GiB");
    group[..GROUP_HEADER].copy_from_slice(&len.to_le_bytes());
}
