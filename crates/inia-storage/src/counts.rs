//! What a thread has read, and how long it has waited for locks; and requests to files.
//!
//! Each thread counts for itself, by plain additions. A statement that ends takes what its thread
//! has counted, and adds it to the counts of its session. No other thread sees these counts, so
//! they are no part of what the model checker stands in for.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of reads and waits. The order of the fields is that of the positions of counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadCounts {
    /// Reads of single keys.
    pub keys: u64,
    /// Scans that began at a tree's first record, at its last one, and at a key.
    pub first: u64,
    /// Scans that began at a tree's last record.
    pub last: u64,
    /// Scans that began at a key.
    pub seeks: u64,
    /// Records that scans of whole trees passed.
    pub scanned: u64,
    /// Records that scans of ranges passed forwards, and backwards.
    pub next: u64,
    /// Records that scans passed backwards.
    pub prev: u64,
    /// Microseconds of waits for record locks.
    pub lock_micros: u64,
    /// Scans of whole trees that came to their end.
    pub ends: u64,
    /// Other scans forwards that found records and were given up before their end.
    pub stopped_next: u64,
    /// The same of scans backwards.
    pub stopped_prev: u64,
}

impl ThreadCounts {
    /// Records that were read.
    pub fn records(&self) -> u64 {
        self.keys + self.scanned + self.next + self.prev
    }

    /// What has come since.
    pub fn since(&self, before: &ThreadCounts) -> ThreadCounts {
        ThreadCounts {
            keys: self.keys.wrapping_sub(before.keys),
            first: self.first.wrapping_sub(before.first),
            last: self.last.wrapping_sub(before.last),
            seeks: self.seeks.wrapping_sub(before.seeks),
            scanned: self.scanned.wrapping_sub(before.scanned),
            next: self.next.wrapping_sub(before.next),
            prev: self.prev.wrapping_sub(before.prev),
            lock_micros: self.lock_micros.wrapping_sub(before.lock_micros),
            ends: self.ends.wrapping_sub(before.ends),
            stopped_next: self.stopped_next.wrapping_sub(before.stopped_next),
            stopped_prev: self.stopped_prev.wrapping_sub(before.stopped_prev),
        }
    }
}

/// One count.
#[derive(Clone, Copy, Debug)]
#[repr(usize)]
pub(crate) enum Count {
    Keys,
    First,
    Last,
    Seeks,
    Scanned,
    Next,
    Prev,
    LockMicros,
    Ends,
    StoppedNext,
    StoppedPrev,
}

/// How many counts there are.
pub const COUNTED: usize = Count::StoppedPrev as usize + 1;

thread_local! {
    static COUNTS: [Cell<u64>; COUNTED] = const { [const { Cell::new(0) }; COUNTED] };
    /// A bit for each count that may not be 0.
    static CHANGED: Cell<u32> = const { Cell::new(0) };
}

/// Adds to a count of this thread.
#[inline]
pub(crate) fn add(count: Count, by: u64) {
    COUNTS.with(|counts| {
        let cell = &counts[count as usize];
        cell.set(cell.get().wrapping_add(by));
    });
    CHANGED.with(|changed| changed.set(changed.get() | 1 << count as u32));
}

/// Takes back that the rows of so many entries of an index were read by their keys: the entries
/// are counted.
#[inline]
pub fn uncount_rows_of_entries(rows: u64) {
    add(Count::Keys, rows.wrapping_neg());
}

/// Does some work of whose reads nothing is counted, such as looks into indexes that choose a plan.
pub fn without_counting<T>(work: impl FnOnce() -> T) -> T {
    let before = COUNTS.with(|counts| counts.each_ref().map(Cell::get));
    let changed = CHANGED.with(Cell::get);
    let done = work();
    COUNTS.with(|counts| counts.iter().zip(before).for_each(|(cell, count)| cell.set(count)));
    // The work may have taken the counts, and their bits with them.
    CHANGED.with(|bits| bits.set(bits.get() | changed));
    done
}

/// Gives the counts of this thread that are not 0, with their positions in [`ThreadCounts`], and
/// begins anew.
#[inline]
pub fn take_thread_counts(mut take: impl FnMut(usize, u64)) {
    let mut changed = CHANGED.with(|changed| changed.replace(0));
    COUNTS.with(|counts| {
        while changed != 0 {
            let at = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            let count = counts[at].replace(0);
            if count != 0 {
                take(at, count);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{Count, add, take_thread_counts, without_counting};

    #[test]
    fn work_that_is_not_counted_leaves_the_counts_before_it() {
        add(Count::Keys, 2);
        without_counting(|| {
            add(Count::First, 1);
            take_thread_counts(|_, _| {});
        });
        let mut taken = Vec::new();
        take_thread_counts(|at, count| taken.push((at, count)));
        assert_eq!(taken, [(Count::Keys as usize, 2)]);
    }
}

/// Requests to a file: how many, of how many bytes, and how often it was made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// Reads or writes.
    pub requests: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Syncs.
    pub syncs: u64,
}

/// Counts requests to a file. A request costs thousands of times what counting it does.
#[derive(Debug, Default)]
pub(crate) struct FileCounter {
    requests: AtomicU64,
    bytes: AtomicU64,
    syncs: AtomicU64,
}

impl FileCounter {
    pub(crate) fn note(&self, bytes: usize) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn note_sync(&self) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> FileCounts {
        FileCounts {
            requests: self.requests.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            syncs: self.syncs.load(Ordering::Relaxed),
        }
    }
}
