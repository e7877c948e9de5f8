//! What the rollbacks of the running transactions may need: log, and pages.
//!
//! A rollback takes back what is done, so it must not fail for want of space. What it writes goes
//! into the log, and a record that an update has shortened may need room that others have taken
//! since:
//!
//! ```text
//!   leaf     │ a: 4,000 bytes │ b │ c │            full
//!   update   │ a │ b │ c │ 3,990 bytes free │      the transaction claims 3,990 bytes
//!   others   │ a │ b │ c │ d │ e │ f ...    │      full again
//!   rollback │ a: 4,000 bytes │  and  │ b │ c │ ...  takes a page for the other half
//! ```
//!
//! Each transaction claims what it may need, and goes on only when that is there; all other work
//! leaves it alone: it grows the files first, and is refused when they cannot grow. Three kinds of
//! claims:
//!
//! - *log*: the bytes of its before-images, and of the records that splits move;
//! - *pages*: those of long values that it has replaced by shorter ones;
//! - *bytes and records*: what it has taken from records within leaves, and from how many. If `S`
//!   bytes come back to `L` leaves that others have filled, the leaves are split at most `L + 2 S /
//!   page` times, as a split leaves halves. `L` is not known; it is at most the number of
//!   records, the number of pages in use, and [`MAX_LEAVES`].
//!
//! Some pages are kept in any case. Where all that is not enough (a transaction that took a little
//! from records in each of a great many leaves, or one from before a crash, which claims only log)
//! the rollback goes on in the background when there is space again; what it has not come to stays
//! locked.

use crate::node::overflow_pages;
use crate::page::PAGE_SIZE;
use crate::sync::{AtomicU64, Ordering};
use std::sync::Arc;

/// Claims below this are not published: short transactions write nothing that others read.
const PUBLISH_THRESHOLD: u64 = 16 << 10;
const RECORDS_THRESHOLD: u64 = 8;

/// Pages that are kept in any case, and the part of all pages.
const MIN_PAGES: u64 = 16;
const PART: u64 = 128;
/// Most leaves that may be split though little is put back there: 64 MiB.
const MAX_LEAVES: u64 = 4096;
/// Most bytes of log that a split takes: those of half a leaf, and of its parent's new entry.
const LOG_OF_SPLIT: u64 = PAGE_SIZE as u64 / 2 + 512;

/// The claims of all running transactions.
#[derive(Default)]
pub(crate) struct Reserve {
    log: AtomicU64,
    pages: AtomicU64,
    bytes: AtomicU64,
    records: AtomicU64,
    /// Pages in use.
    used: AtomicU64,
}

impl Reserve {
    fn parts(&self) -> [&AtomicU64; 4] {
        [&self.log, &self.pages, &self.bytes, &self.records]
    }

    /// Notes how many pages are in use.
    pub(crate) fn note_used(&self, pages: u64) {
        self.used.store(pages, Ordering::Relaxed);
    }

    /// The most splits of leaves that rollbacks need to put back `bytes` in `records` records.
    fn splits(&self, bytes: u64, records: u64) -> u64 {
        let used = self.used.load(Ordering::Relaxed);
        2 * bytes / PAGE_SIZE as u64 + records.min(used).min(MAX_LEAVES)
    }

    /// Bytes of log that rollbacks may need.
    pub(crate) fn log(&self) -> u64 {
        self.log_beside(Need::default())
    }

    /// Bytes of log that rollbacks may need, but for a transaction that has published `own`.
    fn log_beside(&self, own: Need) -> u64 {
        let others = |all: &AtomicU64, own| all.load(Ordering::Relaxed).saturating_sub(own);
        let log = others(&self.log, own.log);
        let (bytes, records) = (others(&self.bytes, own.bytes), others(&self.records, own.records));
        // A block is not always full, and some changes are logged with more than their value.
        log + log / 4 + self.splits(bytes, records) * LOG_OF_SPLIT
    }

    /// Pages that rollbacks may need.
    pub(crate) fn pages(&self) -> u64 {
        let read = |all: &AtomicU64| all.load(Ordering::Relaxed);
        let splits = self.splits(read(&self.bytes), read(&self.records));
        MIN_PAGES + read(&self.used) / PART + splits + read(&self.pages)
    }
}

/// What one change claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) log: u64,
    pub(crate) pages: u64,
    pub(crate) bytes: u64,
    pub(crate) records: u64,
}

impl Need {
    /// Of a change that logs `log` bytes for its rollback and replaces a value of length `before`
    /// by one of length `after`.
    pub(crate) fn of(log: u64, key: usize, before: usize, after: usize) -> Need {
        let pages = |len| overflow_pages(key, len);
        let (pages, bytes) = match (pages(before), pages(after)) {
            (0, 0) => (0, before.saturating_sub(after)),
            (0, _) => (0, before),
            (before, after) => (before.saturating_sub(after), 0),
        };
        Need { log, pages: pages as u64, bytes: bytes as u64, records: u64::from(bytes > 0) }
    }

    /// The parts, in the order of [`Reserve::parts`].
    fn parts(&mut self) -> [&mut u64; 4] {
        let Need { log, pages, bytes, records } = self;
        [log, pages, bytes, records]
    }
}

/// The claims of one transaction. They end with it.
pub(crate) struct Claim {
    reserve: Arc<Reserve>,
    own: Need,
    published: Need,
    /// It has claimed pages since the last call of [`Claim::take_grown`].
    grown: bool,
}

impl Claim {
    /// Nothing yet.
    pub(crate) fn new(reserve: Arc<Reserve>) -> Claim {
        Claim { reserve, own: Need::default(), published: Need::default(), grown: false }
    }

    /// Bytes of log that the other transactions have claimed.
    pub(crate) fn log_of_others(&self) -> u64 {
        self.reserve.log_beside(self.published)
    }

    /// Whether it has claimed pages since the last call.
    pub(crate) fn take_grown(&mut self) -> bool {
        std::mem::take(&mut self.grown)
    }

    /// A change is made.
    pub(crate) fn add(&mut self, need: Need) {
        let own = &mut self.own;
        own.log += need.log;
        own.pages += need.pages;
        own.bytes += need.bytes;
        own.records += need.records;
        self.publish();
    }

    /// A change is undone.
    pub(crate) fn take_back(&mut self, need: Need) {
        let mut need = need;
        for (own, less) in self.own.parts().into_iter().zip(need.parts()) {
            *own = own.saturating_sub(*less);
        }
        self.publish();
    }

    /// The transaction is over.
    pub(crate) fn clear(&mut self) {
        self.own = Need::default();
        if self.published != self.own {
            self.publish_all();
        }
    }

    #[inline]
    fn publish(&mut self) {
        let (own, published) = (self.own, self.published);
        if own.log.abs_diff(published.log) >= PUBLISH_THRESHOLD
            || own.bytes.abs_diff(published.bytes) >= PUBLISH_THRESHOLD
            || own.records.abs_diff(published.records) >= RECORDS_THRESHOLD
            || own.pages != published.pages
        {
            self.publish_all();
        }
    }

    #[cold]
    fn publish_all(&mut self) {
        let (mut own, mut published) = (self.own, std::mem::replace(&mut self.published, self.own));
        self.grown |= own.pages > published.pages
            || own.records > published.records
            || own.bytes > published.bytes;
        let changed = own.parts().into_iter().zip(published.parts());
        for (all, (own, published)) in self.reserve.parts().into_iter().zip(changed) {
            if *own != *published {
                let change = own.wrapping_sub(*published);
                let sum = all.fetch_add(change, Ordering::Relaxed).wrapping_add(change);
                debug_assert!(sum.cast_signed() >= 0, "no more is given back than was claimed");
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.clear();
    }
}
