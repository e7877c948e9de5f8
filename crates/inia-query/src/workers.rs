//! Threads that help statements: how many there may be at a time.
//!
//! A statement that reads much is worked on by several threads. Its own thread is one of them; the
//! others are helpers, which start with the work and end with it, or earlier where other statements
//! want the processors. All statements together have at most as many helpers as there are
//! processors beside the first.

use inia_base::process::Processes;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

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
pub struct Helpers<'p> {
    pool: &'p WorkerPool,
    count: usize,
    machine: Machine<'p>,
}

/// The processors that statements have, and who uses them.
#[derive(Clone, Copy)]
pub(crate) struct Machine<'p> {
    /// How many there are.
    pub(crate) processors: usize,
    /// The server's connections; none of an embedded database.
    pub(crate) processes: Option<&'p Arc<dyn Processes>>,
}

impl Machine<'_> {
    /// How many processors one statement finds idle beside its own.
    fn idle(&self) -> usize {
        let running = self.processes.map_or(1, |processes| processes.running().max(1));
        self.processors.saturating_sub(running)
    }
}

impl WorkerPool {
    /// Takes helpers for a statement that may have so many threads with its own: no more than there
    /// are processors that no statement uses.
    pub(crate) fn take<'p>(&'p self, threads: usize, machine: Machine<'p>) -> Helpers<'p> {
        let wanted = threads.saturating_sub(1).min(machine.idle());
        let most = machine.processors.saturating_sub(1);
        let left = |busy: usize| wanted.min(most.saturating_sub(busy));
        let before = self
            .busy
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |busy| Some(busy + left(busy)));
        Helpers { pool: self, count: before.map_or(0, left), machine }
    }
}

impl Helpers<'_> {
    /// How many they are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether there is a processor for one of them now.
    pub(crate) fn are_wanted(&self) -> bool {
        self.machine.idle() > 0
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

    use super::{Machine, WorkerPool};

    #[test]
    fn helpers_are_bounded_and_come_back() {
        let pool = WorkerPool::default();
        let machine = Machine { processors: 4, processes: None };
        let first = pool.take(3, machine);
        let second = pool.take(3, machine);
        assert_eq!((first.count(), second.count()), (2, 1));
        assert_eq!(pool.take(2, machine).count(), 0);
        drop(first);
        assert_eq!(pool.take(9, machine).count(), 2);
        drop(second);
        assert_eq!(pool.take(9, machine).count(), 3);
        assert_eq!(pool.take(9, Machine { processors: 1, processes: None }).count(), 0);
    }
}
