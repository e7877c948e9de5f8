//! What the storage engine has read, in MySQL's terms.

use inia_storage::ThreadCounts;

/// Reads as `Handler_read_…` counts them.
///
/// MySQL asks a table for one row after the other, and counts the questions: a scan of a whole
/// table asks once more than there are rows; a scan of a range finds its first row by a key, and
/// asks for the next one until there is none.
///
/// Example: a scan of 8 rows counts 1 `first`, 1 `key` and 9 `rnd_next`; `b > 3`, which finds 4
/// rows by an index, counts 1 `key` and 4 `next`, and 1 `next` where LIMIT 2 ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandlerReads {
    /// First rows of tables and indexes.
    pub first: u64,
    /// Last rows of indexes.
    pub last: u64,
    /// Reads by keys.
    pub key: u64,
    /// Next rows of indexes.
    pub next: u64,
    /// Next rows of indexes backwards.
    pub prev: u64,
    /// Next rows of tables.
    pub rnd_next: u64,
}

impl HandlerReads {
    /// The reads of these counts.
    pub fn of(reads: &ThreadCounts) -> HandlerReads {
        HandlerReads {
            first: reads.first,
            last: reads.last,
            key: reads.keys + reads.seeks + reads.first + reads.last,
            next: reads.next.saturating_sub(reads.stopped_next),
            prev: reads.prev.saturating_sub(reads.stopped_prev),
            rnd_next: reads.scanned + reads.ends,
        }
    }
}
