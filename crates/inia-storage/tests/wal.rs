//! Group commit: each waiter gets its result, by one leader or the next.

#[path = "../src/wal/commit.rs"]
mod commit;

use super::{StorageError, explore};
use crate::sync::{AtomicBool, AtomicU64, Ordering};
use commit::{Flush, GroupCommit};
use inia_base::ids::Lsn;
use loom::thread;
use std::sync::Arc;

/// A log of numbers whose flush may fail.
struct Log {
    commits: GroupCommit,
    closed: AtomicU64,
    durable: AtomicU64,
    flushing: AtomicBool,
    stopped: AtomicBool,
    fails_at: u64,
}

impl Flush for Log {
    fn durable(&self) -> Lsn {
        Lsn(self.durable.load(Ordering::Acquire))
    }

    fn stopped(&self) -> Option<StorageError> {
        self.stopped.load(Ordering::Acquire).then_some(StorageError::DiskFull)
    }

    fn flush(&self) {
        assert!(!self.flushing.swap(true, Ordering::AcqRel), "one thread leads at a time");
        let end = self.closed.load(Ordering::Acquire);
        if end >= self.fails_at {
            self.stopped.store(true, Ordering::Release);
        } else {
            self.durable.store(end, Ordering::Release);
        }
        self.flushing.store(false, Ordering::Release);
    }
}

/// Three commits at the same time, of which a flush that reaches `fails_at` fails.
fn three_commits(fails_at: u64) {
    let log = Arc::new(Log {
        commits: GroupCommit::default(),
        closed: AtomicU64::new(0),
        durable: AtomicU64::new(0),
        flushing: AtomicBool::new(false),
        stopped: AtomicBool::new(false),
        fails_at,
    });
    let commit = |log: Arc<Log>| {
        move || {
            let end = Lsn(log.closed.fetch_add(1, Ordering::AcqRel) + 1);
            match log.commits.wait(&*log, end) {
                Ok(()) => assert!(log.durable() >= end),
                // No commit fails that is durable, or that came before the failure.
                Err(_) => assert!(log.stopped().is_some() && log.durable() < end),
            }
        }
    };
    let others = [0, 1].map(|_| thread::spawn(commit(Arc::clone(&log))));
    commit(Arc::clone(&log))();
    for other in others {
        other.join().unwrap();
    }
    // All three have come to an end, so all flushes have.
    let durable = log.durable.load(Ordering::Acquire);
    assert_eq!(log.stopped().is_some(), fails_at <= 3);
    assert!(if fails_at <= 3 { durable < fails_at } else { durable == 3 });
}

#[test]
fn every_commit_is_told_when_it_is_durable() {
    explore(2, || three_commits(u64::MAX));
}

#[test]
fn every_commit_is_told_when_the_log_has_stopped() {
    explore(2, || three_commits(2));
}
