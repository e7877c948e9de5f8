//! What statements use one after the other, kept warm for the next.
//!
//! Of a thousand connections only as many work at a time as there are processors. What each has of
//! its own is in no cache any more when its turn comes again, as hundreds of others ran since. What
//! is only needed while it works it rather takes from here: the one that was given back last on its
//! processor.
//!
//! ```text
//! connection 17   take ──── work ──── put
//! connection 18                           take (the same one) ──── work ──── put
//! ```
#![allow(unsafe_code)]

use parking_lot::Mutex;
use std::sync::LazyLock;

/// The most lists of a pool: processors beyond share them.
const LISTS: usize = 64;

/// How many of the lists are used.
static USED: LazyLock<usize> = LazyLock::new(|| {
    std::thread::available_parallelism().map_or(LISTS, |n| (2 * n.get()).min(LISTS))
});

/// Things that nobody uses, the last one given back on top. One list for each processor, so that
/// statements on different ones do not meet.
///
/// Nobody waits for a list: with many more threads than processors the one that holds it may be
/// off its processor for a long time, and all others would queue for it at each statement. They go
/// on to the next list.
pub struct WarmPool<T> {
    lists: [List<T>; LISTS],
    /// How many things a list keeps.
    most: usize,
}

#[repr(align(128))]
struct List<T>(Mutex<Vec<T>>);

impl<T> WarmPool<T> {
    /// A pool without anything in it, of which no list keeps more than `most` things.
    pub const fn new(most: usize) -> WarmPool<T> {
        WarmPool { lists: [const { List(Mutex::new(Vec::new())) }; LISTS], most }
    }

    /// The lists, that of the processor that runs this thread now first. It may run on another one
    /// at once: every list serves, this one is warmest.
    fn lists(&self) -> impl Iterator<Item = &Mutex<Vec<T>>> {
        // SAFETY: a system call without arguments that reads no memory.
        let processor = unsafe { libc::sched_getcpu() };
        let (here, used) = (usize::try_from(processor).unwrap_or(0), *USED);
        (0..used).map(move |step| &self.lists[(here + step) % used].0)
    }

    /// What was given back last, if there is something.
    pub fn take(&self) -> Option<T> {
        // What threads took here and gave back elsewhere must not pile up there.
        self.lists().find_map(|list| list.try_lock()?.pop())
    }

    /// Gives something back. It is dropped where all lists are full, or in others' hands.
    pub fn put(&self, thing: T) {
        let mut free = self.lists().filter_map(Mutex::try_lock);
        if let Some(mut list) = free.find(|list| list.len() < self.most) {
            list.push(thing);
        }
    }
}

#[cfg(test)]
mod tests;
