//! What was asked of files: how often, of how many bytes, and how long it took.
//!
//! A request to a device takes microseconds, and counting it some ten nanoseconds. Requests of all
//! threads to one file add to the same counters.

use crate::times::TimeSums;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Sums over requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestSums {
    /// Nanoseconds, of failed requests, too.
    pub times: TimeSums,
    /// Bytes that they were about.
    pub bytes: u64,
}

impl RequestSums {
    /// Adds sums over other requests.
    pub fn add(&mut self, other: &RequestSums) {
        self.times.add(&other.times);
        self.bytes += other.bytes;
    }
}

/// Sums over the requests to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileRequests {
    /// Reads.
    pub reads: RequestSums,
    /// Writes.
    pub writes: RequestSums,
    /// Syncs and changes of the length.
    pub others: RequestSums,
}

impl FileRequests {
    /// Adds what was asked of another file.
    pub fn add(&mut self, other: &FileRequests) {
        self.reads.add(&other.reads);
        self.writes.add(&other.writes);
        self.others.add(&other.others);
    }

    /// All requests together.
    pub fn all(&self) -> RequestSums {
        let mut all = self.reads;
        all.add(&self.writes);
        all.add(&self.others);
        all
    }
}

/// A file and what was asked of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedFile {
    /// Its name; of files that are gone the part of their names before a number.
    pub name: String,
    /// Whether it is there.
    pub exists: bool,
    /// How many handles there are.
    pub open: u64,
    /// Sums over requests.
    pub requests: FileRequests,
}

#[derive(Debug)]
struct Counter {
    count: AtomicU64,
    bytes: AtomicU64,
    nanos: AtomicU64,
    min: AtomicU64,
    max: AtomicU64,
}

impl Default for Counter {
    fn default() -> Counter {
        Counter {
            count: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            nanos: AtomicU64::new(0),
            min: AtomicU64::new(u64::MAX),
            max: AtomicU64::new(0),
        }
    }
}

impl Counter {
    fn time<T>(&self, bytes: usize, request: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = request();
        let nanos = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
        self.min.fetch_min(nanos, Ordering::Relaxed);
        self.max.fetch_max(nanos, Ordering::Relaxed);
        done
    }

    fn sums(&self) -> RequestSums {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let count = load(&self.count);
        let min = if count == 0 { 0 } else { load(&self.min) };
        let times = TimeSums { count, sum: load(&self.nanos), min, max: load(&self.max) };
        RequestSums { times, bytes: load(&self.bytes) }
    }

    fn clear(&self) {
        [&self.count, &self.bytes, &self.nanos, &self.max]
            .into_iter()
            .for_each(|counter| counter.store(0, Ordering::Relaxed));
        self.min.store(u64::MAX, Ordering::Relaxed);
    }
}

/// Counts the requests to one file.
#[derive(Debug, Default)]
pub struct FileCounter {
    reads: Counter,
    writes: Counter,
    others: Counter,
}

impl FileCounter {
    /// Counts a read of so many bytes.
    pub fn read<T>(&self, bytes: usize, request: impl FnOnce() -> T) -> T {
        self.reads.time(bytes, request)
    }

    /// Counts a write of so many bytes.
    pub fn write<T>(&self, bytes: usize, request: impl FnOnce() -> T) -> T {
        self.writes.time(bytes, request)
    }

    /// Counts a sync, or a change of the length.
    pub fn other<T>(&self, request: impl FnOnce() -> T) -> T {
        self.others.time(0, request)
    }

    /// The sums until now.
    pub fn requests(&self) -> FileRequests {
        let (reads, writes, others) = (self.reads.sums(), self.writes.sums(), self.others.sums());
        FileRequests { reads, writes, others }
    }

    /// Begins anew.
    pub fn clear(&self) {
        [&self.reads, &self.writes, &self.others].into_iter().for_each(Counter::clear);
    }
}

/// The counters of a disk's files.
#[derive(Debug, Default)]
pub(super) struct FileCounters(Mutex<Counters>);

#[derive(Debug, Default)]
struct Counters {
    files: BTreeMap<String, Arc<FileCounter>>,
    /// Files without a name, which are gone with their last handle.
    unlinked: Vec<(String, Arc<FileCounter>)>,
    /// What files that are gone were asked, by [`stem`].
    gone: BTreeMap<String, FileRequests>,
}

/// The part of a name before a number at its end.
fn stem(name: &str) -> &str {
    name.trim_end_matches(|letter: char| letter.is_ascii_digit())
}

impl Counters {
    fn unlink(&mut self, name: &str) {
        self.unlinked.extend(self.files.remove_entry(name));
        self.bury();
    }

    /// Sums up what files were asked whose last handle is gone.
    fn bury(&mut self) {
        self.unlinked.retain(|(name, file)| {
            let is_open = Arc::strong_count(file) > 1;
            if !is_open {
                self.gone.entry(stem(name).to_owned()).or_default().add(&file.requests());
            }
            is_open
        });
    }
}

impl FileCounters {
    /// The counter of a file, whose handle keeps it.
    pub(super) fn of(&self, name: &str) -> Arc<FileCounter> {
        self.0.lock().files.entry(name.to_owned()).or_default().clone()
    }

    /// A file is gone.
    pub(super) fn removed(&self, name: &str) {
        self.0.lock().unlink(name);
    }

    /// A file has another name, and takes the place of one that had it.
    pub(super) fn renamed(&self, from: &str, to: &str) {
        let mut counters = self.0.lock();
        if let Some(file) = counters.files.remove(from) {
            counters.unlink(to);
            counters.files.insert(to.to_owned(), file);
        }
    }

    /// All files, those that are gone behind the others.
    pub(super) fn list(&self) -> Vec<CountedFile> {
        let mut counters = self.0.lock();
        counters.bury();
        let unlinked = counters.unlinked.iter().map(|(name, file)| (name, file));
        let files = counters.files.iter().chain(unlinked).map(|(name, file)| CountedFile {
            name: name.clone(),
            exists: true,
            open: Arc::strong_count(file) as u64 - 1,
            requests: file.requests(),
        });
        let gone = counters.gone.iter().map(|(name, requests)| CountedFile {
            name: name.clone(),
            exists: false,
            open: 0,
            requests: *requests,
        });
        files.chain(gone).collect()
    }

    /// Begins anew.
    pub(super) fn clear(&self) {
        let mut counters = self.0.lock();
        counters.files.values().for_each(|file| file.clear());
        counters.unlinked.iter().for_each(|(_, file)| file.clear());
        counters.gone.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::FileCounters;

    #[test]
    fn files_keep_their_sums_under_other_names() {
        let counters = FileCounters::default();
        let file = counters.of("new");
        file.write(10, || ());
        counters.renamed("new", "wal-1");
        file.write(20, || ());
        file.read(5, || ());
        file.other(|| ());
        let list = counters.list();
        assert_eq!((list.len(), list[0].name.as_str(), list[0].open), (1, "wal-1", 1));
        let requests = list[0].requests;
        assert_eq!((requests.writes.times.count, requests.writes.bytes), (2, 30));
        let times = requests.writes.times;
        assert!(times.min <= times.max);
        assert_eq!((requests.reads.bytes, requests.others.times.count), (5, 1));
        assert_eq!(requests.all().times.count, 4);
        counters.removed("wal-1");
        assert!(counters.list()[0].exists, "a handle is open");
        drop(file);
        let list = counters.list();
        assert_eq!((list[0].name.as_str(), list[0].exists, list[0].open), ("wal-", false, 0));
        assert_eq!(list[0].requests, requests);
        counters.clear();
        assert!(counters.list().is_empty());
    }
}
