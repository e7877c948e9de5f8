//! The log's files: fixed-size segments, filled with zeros ahead of use and recycled by renaming.
//!
//! A segment is *prepared* (named, zeros or a former life's bytes), then *active* (its header
//! carries its own number), then, once a checkpoint has passed its end, renamed to a new number:
//! prepared again. Filling with zeros beforehand means that a commit's sync writes data only, no
//! file system metadata.
//!
//! Invariants: a file gets its number only when it is complete; numbers follow one another without
//! a gap and are put to use in order. A missing or shortened file is damage therefore, even at the
//! log's end.

use super::block::{BLOCK, SegmentHeader};
use crate::Result;
use crate::error::StorageError;
use crate::reserve::Reserve;
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use inia_base::ids::Lsn;
use inia_base::io::{AlignedBuf, Disk, DiskFile};
use std::collections::VecDeque;
use std::sync::Arc;

/// Size of a segment made in the path of a commit because none was prepared.
const HASTY_SEGMENT: u64 = 4 << 20;
/// The first segment is small, so that a new store is ready at once.
pub(crate) const FIRST_SEGMENT: u64 = 1 << 20;
const UNNAMED: &str = "wal-new";
/// Bytes of log that only rollbacks and commits may go into.
const MARGIN: u64 = 8 * BLOCK as u64;
/// Bytes of log that one step of a rollback may take: those of a split page.
const ROLLBACK_STEP: u64 = 4 * BLOCK as u64;
/// Blocks that are written at a time when filling with zeros.
const FILL: usize = 64 * BLOCK;

/// Whether a file of this name is part of the log.
pub(crate) fn is_segment(name: &str) -> bool {
    segment_number(name).is_some()
}

/// A segment's file.
#[derive(Clone)]
pub(crate) struct Segment {
    /// The number in its name.
    pub(crate) number: u64,
    /// The open file.
    pub(crate) file: Arc<dyn DiskFile>,
    /// Blocks it has room for, its header's included.
    pub(crate) blocks: u64,
}

impl Segment {
    /// Bytes of its data blocks.
    fn room(&self) -> u64 {
        (self.blocks - 1) * BLOCK as u64
    }
}

/// A file name for a segment number.
pub(crate) fn segment_name(number: u64) -> String {
    format!("wal-{number:012}")
}

fn segment_number(name: &str) -> Option<u64> {
    let number = name.strip_prefix("wal-")?.parse().ok()?;
    (segment_name(number) == name).then_some(number)
}

/// An active segment as found on disk.
#[derive(Clone)]
pub(crate) struct ActiveSegment {
    pub(crate) header: SegmentHeader,
    pub(crate) segment: Segment,
}

struct State {
    /// Numbers and starts of active segments, oldest first. The last one is being written.
    active: VecDeque<(u64, Lsn)>,
    prepared: VecDeque<Segment>,
    next_number: u64,
    /// Bytes of the largest segment so far.
    largest: u64,
}

/// All segments of one store.
pub(crate) struct Segments {
    disk: Arc<dyn Disk>,
    /// Bytes of a regular segment.
    size: u64,
    /// Regular segments to keep around, active or prepared.
    keep: usize,
    state: Mutex<State>,
    /// Nothing is prepared.
    unprepared: AtomicBool,
    /// Less than half of the segment being written is left.
    half_used: AtomicBool,
    /// Bytes of what is prepared.
    spare: AtomicU64,
    /// Bytes left of the segment being written.
    rest: AtomicU64,
    /// What is kept for rollbacks.
    reserve: Arc<Reserve>,
    /// Held while a file is being made: it has the same name each time.
    creating: Mutex<()>,
}

impl Segments {
    /// Lists the segments in `disk`: those with a valid header as active, by their start, and the
    /// others as prepared.
    pub(crate) fn open(
        disk: Arc<dyn Disk>,
        size: u64,
        capacity: u64,
    ) -> Result<(Segments, Vec<ActiveSegment>)> {
        // Every file of the right name is read: one that is missing or cut short is noticed.
        let mut active = Vec::new();
        let mut prepared = VecDeque::new();
        let mut next_number = 1;
        let mut largest = 0;
        for name in disk.list()? {
            if name == UNNAMED {
                disk.remove(&name)?;
                // Or a crash might give this file the name that its successor gets.
                disk.sync_names()?;
            }
            let Some(number) = segment_number(&name) else { continue };
            let next = number.checked_add(1);
            let foreign = || StorageError::Unopenable(format!("{name} is no part of the log"));
            next_number = next_number.max(next.ok_or_else(foreign)?);
            let file = disk.open(&name, false)?;
            let blocks = file.len()? / BLOCK as u64;
            if blocks < 2 {
                return Err(cut_short(number));
            }
            largest = largest.max(blocks * BLOCK as u64);
            let segment = Segment { number, file, blocks };
            match read_header(&segment)? {
                Some(header) => active.push(ActiveSegment { header, segment }),
                None => prepared.push_back(segment),
            }
        }
        // Segments are used in the order of their starts; prepared ones have no start yet.
        active.sort_by_key(|found| (found.header.start_lsn, found.header.epoch));
        prepared.make_contiguous().sort_by_key(|segment| segment.number);
        check_numbers(&active, &prepared)?;
        let unprepared = AtomicBool::new(prepared.is_empty());
        let spare = AtomicU64::new(prepared.iter().map(Segment::room).sum());
        let state = Mutex::new(State { active: VecDeque::new(), prepared, next_number, largest });
        let keep = usize::try_from(capacity / size).unwrap_or(usize::MAX).max(2);
        let segments = Segments {
            disk,
            size,
            keep,
            state,
            unprepared,
            half_used: AtomicBool::new(false),
            spare,
            rest: AtomicU64::new(0),
            reserve: Arc::default(),
            creating: Mutex::default(),
        };
        Ok((segments, active))
    }

    /// What is kept for rollbacks.
    pub(crate) fn reserve(&self) -> &Arc<Reserve> {
        &self.reserve
    }

    /// Segments that are not active: recovery looks at them for signs of a damaged header.
    pub(crate) fn prepared(&self) -> Vec<Segment> {
        self.state.lock().prepared.iter().cloned().collect()
    }

    /// Declares which segments are in use, oldest first, and which were cut off: those lose their
    /// headers for good, so that no later recovery takes them for part of the log.
    pub(crate) fn settle(&self, used: &[ActiveSegment], cut_off: &[ActiveSegment]) -> Result<()> {
        let zeros = AlignedBuf::new(BLOCK);
        for found in cut_off {
            found.segment.file.write_at(&zeros, 0)?;
            found.segment.file.sync()?;
        }
        let passed = self.remove_passed(used)?;
        let mut state = self.state.lock();
        state.active = used
            .iter()
            .map(|found| (found.header.number, found.header.start_lsn))
            .filter(|&(number, _)| number > passed)
            .collect();
        state.prepared.retain(|segment| segment.number > passed);
        state.prepared.extend(cut_off.iter().map(|found| found.segment.clone()));
        state.prepared.make_contiguous().sort_by_key(|segment| segment.number);
        self.count_prepared(&state);
        Ok(())
    }

    /// Removes segments that have no valid header though a younger one is in use, and all that are
    /// older still; the greatest number of them, 0 without any. Recovery has done without them. Put
    /// to use again under its number, such a one would outlive younger ones, and leave a gap in the
    /// numbers.
    fn remove_passed(&self, used: &[ActiveSegment]) -> Result<u64> {
        let Some(newest) = used.last() else { return Ok(0) };
        let prepared: Vec<u64> = self.prepared().iter().map(|segment| segment.number).collect();
        let headless = prepared.iter().copied().filter(|&number| number < newest.header.number);
        let Some(passed) = headless.max() else { return Ok(0) };
        let with_header = used.iter().map(|found| found.header.number);
        let mut numbers: Vec<u64> = with_header.chain(prepared).collect();
        numbers.retain(|&number| number <= passed);
        numbers.sort_unstable();
        for number in numbers {
            self.disk.remove(&segment_name(number))?;
            // A crash must not leave an older one without those between.
            self.sync_names()?;
        }
        Ok(passed)
    }

    /// Whether the next full segment would find no successor, or what is prepared is less than
    /// rollbacks may need, or than the `unwritten` bytes take.
    #[inline]
    pub(crate) fn is_short(&self, unwritten: u64) -> bool {
        let claimed = self.reserve.log();
        self.unprepared.load(Ordering::Relaxed)
            || claimed > self.spare.load(Ordering::Relaxed)
            || !self.has_room(claimed, unwritten)
    }

    /// Whether writers must not go on before [`Segments::prepare_now`]; then it is short, too.
    pub(crate) fn is_urgent(&self, unwritten: u64) -> bool {
        self.unprepared.load(Ordering::Relaxed) && self.half_used.load(Ordering::Relaxed)
            || !self.has_room(self.reserve.log(), unwritten)
    }

    /// Whether the log has room for so many bytes besides those not written yet and the margin.
    pub(crate) fn has_room(&self, bytes: u64, unwritten: u64) -> bool {
        self.room_beside(unwritten) > bytes + MARGIN
    }

    /// Whether the log has room for a step of a rollback.
    pub(crate) fn has_room_for_rollback(&self, unwritten: u64) -> bool {
        self.room_beside(unwritten) > ROLLBACK_STEP
    }

    /// Bytes of log that are left when what is not written yet will have been.
    fn room_beside(&self, unwritten: u64) -> u64 {
        let room = self.spare.load(Ordering::Relaxed) + self.rest.load(Ordering::Relaxed);
        // Blocks have headers, and the last one of each write may be nearly empty.
        room.saturating_sub(unwritten + unwritten / 64)
    }

    /// Notes how many blocks of a segment the writer has used.
    pub(crate) fn note_use(&self, segment: &Segment, used: u64) {
        assert!(used <= segment.blocks, "a segment is not written beyond its end");
        self.rest.store((segment.blocks - used) * BLOCK as u64, Ordering::Relaxed);
        self.half_used.store(used > segment.blocks / 2, Ordering::Relaxed);
    }

    fn count_prepared(&self, state: &State) {
        self.unprepared.store(state.prepared.is_empty(), Ordering::Relaxed);
        self.spare.store(state.prepared.iter().map(Segment::room).sum(), Ordering::Relaxed);
    }

    /// Prepares a segment at once, where there is not enough.
    pub(crate) fn prepare_now(&self, unwritten: u64) -> Result<()> {
        self.prepare(self.size.min(HASTY_SEGMENT), unwritten)
    }

    /// Makes a file of zeros and gives it a number. The caller holds `creating`.
    fn create(&self, size: u64) -> Result<Segment> {
        let file = self.disk.open(UNNAMED, true)?;
        if let Err(error) = fill(&*file, size) {
            // Half a segment would only take space away; the next attempt begins with what is left.
            let _ = self.disk.remove(UNNAMED);
            return Err(error);
        }
        let number = self.give_number(UNNAMED)?;
        let mut state = self.state.lock();
        state.largest = state.largest.max(size);
        Ok(Segment { number, file, blocks: size / BLOCK as u64 })
    }

    /// Renames a complete file to the next number. The caller holds `creating`.
    fn give_number(&self, name: &str) -> Result<u64> {
        let number = self.state.lock().next_number;
        self.disk.rename(name, &segment_name(number))?;
        self.state.lock().next_number = number + 1;
        self.sync_names()?;
        Ok(number)
    }

    /// Makes names durable. Where that fails nobody knows which numbers are there after a crash, so
    /// nothing may be built on it.
    fn sync_names(&self) -> Result<()> {
        let failed = |error: std::io::Error| StorageError::Stopped(error.to_string().into());
        self.disk.sync_names().map_err(failed)
    }

    /// Prepares a segment of this size, unless another thread has seen to it meanwhile.
    pub(crate) fn prepare(&self, size: u64, unwritten: u64) -> Result<()> {
        let _one_at_a_time = self.creating.lock();
        if !self.is_short(unwritten) {
            return Ok(());
        }
        let segment = self.create(size)?;
        self.add_prepared(segment);
        Ok(())
    }

    fn add_prepared(&self, segment: Segment) {
        let mut state = self.state.lock();
        debug_assert!(
            state.prepared.back().is_none_or(|last| last.number < segment.number),
            "segments are prepared in the order of their numbers"
        );
        state.prepared.push_back(segment);
        self.count_prepared(&state);
    }

    fn take_prepared(&self) -> Option<Segment> {
        let mut state = self.state.lock();
        let ready = state.prepared.pop_front();
        self.count_prepared(&state);
        ready
    }

    /// Puts a segment to use whose payload starts at `start_lsn`. Its header is durable with the
    /// next sync of its file.
    pub(crate) fn activate(&self, start_lsn: Lsn, epoch: u32) -> Result<Segment> {
        let segment = match self.take_prepared() {
            Some(segment) => segment,
            None => {
                // Another thread may be making one.
                let _one_at_a_time = self.creating.lock();
                match self.take_prepared() {
                    Some(segment) => segment,
                    None => self.create(self.size.min(HASTY_SEGMENT))?,
                }
            }
        };
        let mut block = AlignedBuf::new(BLOCK);
        let Segment { number, blocks, .. } = segment;
        SegmentHeader { epoch, number, start_lsn, blocks }.write(&mut block);
        segment.file.write_at(&block, 0)?;
        self.note_use(&segment, 1);
        let mut state = self.state.lock();
        if let Some(&(last, start)) = state.active.back() {
            assert_eq!(last + 1, number, "segments are put to use in the order of their numbers");
            assert!(start < start_lsn, "each segment goes on where the last one ends");
        }
        state.active.push_back((number, start_lsn));
        drop(state);
        Ok(segment)
    }

    /// Takes back segments that end at or before `keep_from` and keeps one prepared; true when
    /// there was something to do. Run by one thread at a time. `Stopped` where the log must not go
    /// on.
    pub(crate) fn maintain(&self, keep_from: Lsn, unwritten: u64) -> Result<bool> {
        let retired = {
            let mut state = self.state.lock();
            let passed = state.active.get(1).is_some_and(|&(_, start)| start <= keep_from);
            if passed { state.active.pop_front() } else { None }
        };
        if let Some(retired) = retired {
            debug_assert!(
                self.state.lock().active.front().is_none_or(|&(next, _)| retired.0 < next),
                "the oldest segment goes first"
            );
            // One that could not go must go before any younger one: no number may be left out.
            let result = self.retire(retired.0);
            if result.is_err() {
                self.state.lock().active.push_front(retired);
            }
            return result.map(|()| true);
        }
        // Segments grow up to the regular size, so that a small store stays small.
        let next_size = {
            let state = self.state.lock();
            self.is_short(unwritten).then(|| self.size.min(2 * state.largest.max(FIRST_SEGMENT)))
        };
        next_size.map_or(Ok(()), |size| self.prepare(size, unwritten))?;
        Ok(next_size.is_some())
    }

    fn retire(&self, number: u64) -> Result<()> {
        let name = segment_name(number);
        let _one_at_a_time = self.creating.lock();
        let file = self.disk.open(&name, false)?;
        let regular = file.len()? == self.size;
        let enough = {
            let state = self.state.lock();
            state.active.len() + state.prepared.len() >= self.keep
        };
        if enough || !regular {
            self.disk.remove(&name)?;
            return self.sync_names();
        }
        let number = self.give_number(&name)?;
        self.add_prepared(Segment { number, file, blocks: self.size / BLOCK as u64 });
        Ok(())
    }
}

/// Gives a file its size, which fails at once where there is no space, and zeros.
fn fill(file: &dyn DiskFile, size: u64) -> Result<()> {
    file.set_len(size)?;
    let zeros = AlignedBuf::new(FILL);
    let mut at = 0;
    while at < size {
        let len = (size - at).min(FILL as u64);
        file.write_at(&zeros[..len as usize], at)?;
        at += len;
    }
    Ok(file.sync()?)
}

/// Removes the segments of a store whose creation was cut short before it had a log: they are
/// zeros. Anything else of such a name is refused, for it holds what somebody misses.
pub(crate) fn remove_leftovers(disk: &dyn Disk) -> Result<()> {
    let mut leftovers = Vec::new();
    for name in disk.list()? {
        if is_segment(&name) {
            if !is_zeros(&*disk.open(&name, false)?)? {
                let text = format!("{name} holds data, but inia.control is missing");
                return Err(StorageError::Unopenable(text));
            }
            leftovers.push(name);
        } else if name == UNNAMED {
            leftovers.push(name);
        }
    }
    leftovers.iter().try_for_each(|name| Ok(disk.remove(name)?))
}

fn is_zeros(file: &dyn DiskFile) -> Result<bool> {
    let len = file.len()?;
    let mut at = 0;
    if len % BLOCK as u64 != 0 {
        return Ok(false);
    }
    while at < len {
        let mut bytes = AlignedBuf::new((len - at).min(FILL as u64) as usize);
        file.read_at(&mut bytes, at)?;
        if bytes.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        at += FILL as u64;
    }
    Ok(true)
}

fn read_header(segment: &Segment) -> Result<Option<SegmentHeader>> {
    let mut block = AlignedBuf::new(BLOCK);
    segment.file.read_at(&mut block, 0)?;
    match SegmentHeader::read(&block).filter(|header| header.number == segment.number) {
        Some(header) if header.blocks > segment.blocks => Err(cut_short(segment.number)),
        header => Ok(header),
    }
}

/// Refuses a set of segments with a gap.
fn check_numbers(active: &[ActiveSegment], prepared: &VecDeque<Segment>) -> Result<()> {
    let active = active.iter().map(|found| found.segment.number);
    let mut numbers: Vec<u64> = active.chain(prepared.iter().map(|found| found.number)).collect();
    numbers.sort_unstable();
    match numbers.windows(2).find(|pair| pair[0] + 1 < pair[1]) {
        Some(pair) => Err(StorageError::Unopenable(format!(
            "a part of the log is missing: {}",
            segment_name(pair[0] + 1)
        ))),
        None => Ok(()),
    }
}

fn cut_short(number: u64) -> StorageError {
    let name = segment_name(number);
    StorageError::Unopenable(format!("a part of the log was cut short: {name}"))
}
