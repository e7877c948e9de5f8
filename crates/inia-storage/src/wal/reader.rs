//! Reading the log after a crash: a strict walk along blocks that continue each other.
//!
//! A block is the next one when its checksum holds, its first LSN is the end of what was read, and
//! its epoch is the current one or newer. A newer one means that the store was opened here after a
//! crash: a group that the older epoch left unfinished is dropped, its LSNs are not used again.
//!
//! ```text
//!   epoch 1: | group | group | half a gr|          epoch 2:             | group | ...
//!            64      164     264        320                             320
//! ```
//! Anything else ends the log. Stale blocks never continue it: those of a recycled segment have
//! positions long passed; those that a torn flush left beyond the end have an older epoch than what
//! is written there next. If a block after the end says that more had been durable when it was
//! written, the log is damaged, not torn, and the store refuses to open.

use super::block::{BLOCK, BlockHeader, read_block};
use super::segment::{ActiveSegment, Segment};
use super::{FIRST_LSN, GROUP_HEADER};
use crate::Result;
use crate::error::StorageError;
use inia_base::ids::Lsn;
use inia_base::io::AlignedBuf;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// Blocks read in one request.
const READ_BLOCKS: u64 = 64;

/// Where appending goes on.
#[derive(Clone)]
pub(crate) struct LogEnd {
    /// End of what is on disk, an unfinished group included.
    pub(crate) lsn: Lsn,
    /// The segment with that end; `None` in an empty log.
    pub(crate) segment: Option<Segment>,
    /// The segment's first unused block.
    pub(crate) next_block: u64,
}

/// Walks the groups of a log from a checkpoint to the end.
pub(crate) struct LogReader {
    segments: Vec<ActiveSegment>,
    current: usize,
    next_block: u64,
    epoch: u32,
    /// End of the payload read so far.
    expected: Lsn,
    /// Position of `pending[consumed]`: a group begins there.
    group_start: Lsn,
    pending: Vec<u8>,
    consumed: usize,
    /// Some block says that the log had been made durable to here.
    known_durable: Lsn,
    window: AlignedBuf,
    /// Blocks that were read and not durable for certain: their end, segment and number.
    tail: VecDeque<(Lsn, usize, u64)>,
    /// Segment and first block in the window, and how many.
    windowed: Option<(usize, u64, u64)>,
}

impl LogReader {
    /// A reader of these active segments (oldest first) that gives the groups from `from` on.
    pub(crate) fn new(segments: Vec<ActiveSegment>, from: Lsn) -> Result<LogReader> {
        let found = segments.iter().rposition(|found| found.header.start_lsn <= from);
        if found.is_none() && !(segments.is_empty() && from == FIRST_LSN) {
            return Err(StorageError::Unopenable(format!("the log lacks position {from}")));
        }
        let current = found.unwrap_or(0);
        // What is read must be durable before anything is built on it.
        for found in &segments[current..] {
            found.segment.file.sync()?;
        }
        let first = segments.get(current).map(|found| found.header);
        Ok(LogReader {
            current,
            next_block: 1,
            epoch: first.map_or(0, |header| header.epoch),
            expected: first.map_or(from, |header| header.start_lsn),
            group_start: from,
            pending: Vec::new(),
            consumed: 0,
            known_durable: Lsn(0),
            window: AlignedBuf::new(READ_BLOCKS as usize * BLOCK),
            tail: VecDeque::new(),
            windowed: None,
            segments,
        })
    }

    /// The next whole group, header included, and its end.
    pub(crate) fn next_group(&mut self) -> Result<Option<(Lsn, &[u8])>> {
        loop {
            if let Some(len) = self.whole_group()? {
                let from = self.consumed;
                self.consumed += len;
                self.group_start = Lsn(self.group_start.0 + len as u64);
                debug_assert!(self.group_start <= self.expected, "a whole group was read");
                return Ok(Some((self.group_start, &self.pending[from..self.consumed])));
            }
            self.pending.drain(..self.consumed);
            self.consumed = 0;
            if !self.read_on()? {
                return Ok(None);
            }
        }
    }

    /// The length of the group at the front, if all of it was read.
    fn whole_group(&self) -> Result<Option<usize>> {
        let rest = &self.pending[self.consumed..];
        let Some(len) = rest.first_chunk::<GROUP_HEADER>() else { return Ok(None) };
        let len = u32::from_le_bytes(*len) as usize;
        if len <= GROUP_HEADER {
            return Err(StorageError::Unopenable(format!(
                "the log has no group at {}",
                self.group_start
            )));
        }
        Ok((rest.len() >= len).then_some(len))
    }

    /// Takes one more block; false at the end.
    fn read_on(&mut self) -> Result<bool> {
        let Some(segment) = self.segments.get(self.current) else { return Ok(false) };
        if self.next_block >= segment.segment.blocks {
            return Ok(self.enter_next_segment());
        }
        let block = self.block(self.current, self.next_block)?;
        let Some((header, payload)) = read_block(block) else { return Ok(false) };
        let payload = payload.to_vec();
        if !self.continues(header.epoch, header.first_lsn) {
            return Ok(false);
        }
        self.enter_epoch(header.epoch);
        self.take(&header, &payload);
        self.known_durable = self.known_durable.max(header.durable_lsn);
        while self.tail.front().is_some_and(|(end, ..)| *end <= header.durable_lsn) {
            self.tail.pop_front();
        }
        self.tail.push_back((self.expected, self.current, self.next_block));
        self.next_block += 1;
        Ok(true)
    }

    fn enter_next_segment(&mut self) -> bool {
        let Some(next) = self.segments.get(self.current + 1) else { return false };
        let header = next.header;
        if !self.continues(header.epoch, header.start_lsn) {
            return false;
        }
        self.enter_epoch(header.epoch);
        self.current += 1;
        self.next_block = 1;
        true
    }

    fn continues(&self, epoch: u32, first_lsn: Lsn) -> bool {
        epoch >= self.epoch && first_lsn == self.expected
    }

    /// Drops the group that an older epoch left unfinished.
    fn enter_epoch(&mut self, epoch: u32) {
        if epoch > self.epoch {
            self.pending.truncate(self.consumed);
            self.group_start = self.group_start.max(self.expected);
        }
        self.epoch = epoch;
    }

    fn take(&mut self, header: &BlockHeader, payload: &[u8]) {
        // Only before the checkpoint is there something to skip.
        let wanted = Lsn(self.group_start.0 + (self.pending.len() - self.consumed) as u64);
        let skip = wanted.0.saturating_sub(header.first_lsn.0).min(header.len as u64);
        self.pending.extend_from_slice(&payload[skip as usize..]);
        self.expected = Lsn(header.first_lsn.0 + header.len as u64);
    }

    /// One block's bytes, read together with those after it.
    fn block(&mut self, segment: usize, block: u64) -> Result<&[u8]> {
        let inside = self.windowed.is_some_and(|(windowed, first, count)| {
            windowed == segment && (first..first + count).contains(&block)
        });
        if !inside {
            let found = &self.segments[segment].segment;
            let count = READ_BLOCKS.min(found.blocks - block);
            let bytes = &mut self.window[..count as usize * BLOCK];
            self.windowed = None;
            found.file.read_at(bytes, block * BLOCK as u64)?;
            self.windowed = Some((segment, block, count));
        }
        let first = self.windowed.map_or(block, |(_, first, _)| first);
        let at = (block - first) as usize * BLOCK;
        Ok(&self.window[at..at + BLOCK])
    }

    /// After the last whole group: where to append, once it is sure that nothing durable is
    /// missing. `durable` is what the checkpoint says was durable; `prepared` are the segments
    /// without valid header.
    pub(crate) fn finish(&mut self, durable: Lsn, prepared: &[Segment]) -> Result<LogEnd> {
        let damaged = StorageError::Unopenable(format!(
            "the log is damaged at position {}: later parts of it had been made durable",
            self.expected
        ));
        let whole = self.group_start;
        if self.expected < durable || self.expected < whole {
            return Err(damaged);
        }
        // What is durable ends with a group, or, where nothing came after a crash, with what that
        // left of one.
        if whole < self.known_durable || (whole < durable && durable < self.expected) {
            return Err(StorageError::Unopenable(format!(
                "the log is damaged: the group at {whole} is not whole, though later ones had been \
                 made durable"
            )));
        }
        debug_assert!(whole <= self.expected, "groups end in what was read");
        let (current, next_block) = (self.current, self.next_block);
        for index in current..self.segments.len() {
            let first = if index == current { next_block } else { 1 };
            for block in first..self.segments[index].segment.blocks {
                if self.is_beyond(index, block)? {
                    return Err(damaged);
                }
            }
        }
        for segment in prepared {
            if self.follows(segment)? {
                return Err(damaged);
            }
        }
        Ok(LogEnd {
            lsn: self.expected,
            segment: self.segments.get(current).map(|found| found.segment.clone()),
            next_block,
        })
    }

    /// Writes the blocks at the end once more, with the headers of their segments: a failed sync
    /// may have left them in the system's memory only. `durable` as in [`LogReader::finish`].
    pub(crate) fn secure_tail(&mut self, durable: Lsn) -> Result<()> {
        let tail = std::mem::take(&mut self.tail);
        let mut touched = BTreeSet::new();
        for (_, segment, block) in tail.into_iter().filter(|(end, ..)| *end > durable) {
            let headers = touched.insert(segment).then_some(0);
            for block in headers.into_iter().chain([block]) {
                let mut copy = AlignedBuf::new(BLOCK);
                let file = Arc::clone(&self.segments[segment].segment.file);
                file.read_at(&mut copy, block * BLOCK as u64)?;
                file.write_at(&copy, block * BLOCK as u64)?;
            }
        }
        touched.into_iter().try_for_each(|at| Ok(self.segments[at].segment.file.sync()?))
    }

    /// Whether this block was written when the log was durable beyond the end found.
    fn is_beyond(&mut self, segment: usize, block: u64) -> Result<bool> {
        let expected = self.expected;
        let header = read_block(self.block(segment, block)?).map(|(header, _)| header);
        Ok(header.is_some_and(|header| header.durable_lsn > expected))
    }

    /// Whether a segment without valid header belongs after the end found.
    fn follows(&self, segment: &Segment) -> Result<bool> {
        let mut block = AlignedBuf::new(BLOCK);
        for number in 1..segment.blocks {
            segment.file.read_at(&mut block, number * BLOCK as u64)?;
            match read_block(&block) {
                Some((header, _)) if header.durable_lsn > self.expected => return Ok(true),
                Some((header, _)) if header.first_lsn >= self.expected => {}
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    /// The segments up to the end found, and those after it, whose contents are cut off.
    pub(crate) fn split_segments(&self) -> (&[ActiveSegment], &[ActiveSegment]) {
        self.segments.split_at((self.current + 1).min(self.segments.len()))
    }
}
