//! Threads that help statements: how many there may be at a time.
//!
//! A statement that reads much is worked on by several threads. Its own thread is one of them; the
//! others are helpers, which start with the work and end with it. All statements together have at
//! most as many helpers as there are processors beside the first.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many processors there are.
pub(crate) fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
}

/// The helpers of all statements.
///
/// Invariant: `busy` is the sum of all [`Helpers`] that were not dropped.
#[derive(Debug, Default)]
pub(crate) struct WorkerPool {
    busy: AtomicUsize,
}

/// Helpers that a statement may start; given back when dropped.
#[derive(Debug)]
pub(crate) struct Helpers<'p> {
    pool: &'p WorkerPool,
    count: usize,
}

impl WorkerPool {
    /// Takes up to `wanted` helpers, so that there are at most `most` of them.
    pub(crate) fn take(&self, wanted: usize, most: usize) -> Helpers<'_> {
        let left = |busy: usize| wanted.min(most.saturating_sub(busy));
        let before = self
            .busy
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |busy| Some(busy + left(busy)));
        Helpers { pool: self, count: before.map_or(0, left) }
    }
}

impl Helpers<'_> {
    /// How many they are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

impl Drop for Helpers<'_> {
    fn drop(&mut self) {
        let before = self.pool.busy.fetch_sub(self.count, Ordering::Relaxed);
        debug_assert!(before >= self.count, "only helpers that were taken are given back");
    }
}

#[cfg(test)]
mod tests {
    //! Statements share the helpers.

    use super::WorkerPool;

    #[test]
    fn helpers_are_bounded_and_come_back() {
        let pool = WorkerPool::default();
        let first = pool.take(2, 3);
        let second = pool.take(2, 3);
        assert_eq!((first.count(), second.count()), (2, 1));
        assert_eq!(pool.take(1, 3).count(), 0);
        drop(first);
        assert_eq!(pool.take(9, 3).count(), 2);
        drop(second);
        assert_eq!(pool.take(9, 3).count(), 3);
    }
}
