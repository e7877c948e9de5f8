//! Group commit: each waiter gets its result, by one leader or the next.

#[path = "../src/wal/commit.rs"]
mod commit;

use super::{StorageError, explore};
use crate::sync::{AtomicBool, AtomicU64, Ordering};
use commit::{Flush, GroupCommit, OnDurable};
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

impl Log {
    fn new(fails_at: u64) -> Arc<Log> {
        Arc::new(Log {
            commits: GroupCommit::default(),
            closed: AtomicU64::new(0),
            durable: AtomicU64::new(0),
            flushing: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            fails_at,
        })
    }

    fn append(&self) -> Lsn {
        Lsn(self.closed.fetch_add(1, Ordering::AcqRel) + 1)
    }

    /// No commit fails that is durable, or that came before the failure.
    fn check(&self, end: Lsn, result: Result<(), StorageError>) {
        match result {
            Ok(()) => assert!(self.durable() >= end),
            Err(_) => assert!(self.stopped().is_some() && self.durable() < end),
        }
    }
}

/// Three commits at the same time, of which a flush that reaches `fails_at` fails.
fn three_commits(fails_at: u64) {
    let log = Log::new(fails_at);
    let commit = |log: Arc<Log>| {
        move || {
            let end = log.append();
            log.check(end, log.commits.wait(&*log, end));
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

/// A reply that waits for its commit.
struct Reply {
    log: Arc<Log>,
    end: Lsn,
    times_called: AtomicU64,
}

impl OnDurable for Reply {
    fn done(self: Arc<Self>, result: Result<(), StorageError>) {
        self.log.check(self.end, result);
        self.times_called.fetch_add(1, Ordering::AcqRel);
    }
}

/// Two commits that leave replies, beside one whose thread waits (`waits`), and the log writer.
fn two_replies(fails_at: u64, waits: bool) {
    let log = Log::new(fails_at);
    log.commits.start_writer();
    let writer = thread::spawn({
        let log = Arc::clone(&log);
        move || log.commits.run_writer(&*log)
    });
    let leave = |log: Arc<Log>| {
        move || {
            let (end, times_called) = (log.append(), AtomicU64::new(0));
            let reply = Arc::new(Reply { log: Arc::clone(&log), end, times_called });
            let left: Arc<dyn OnDurable> = reply.clone();
            match log.commits.notify(&*log, end, &left) {
                Ok(later) => (reply, u64::from(later)),
                Err(error) => {
                    log.check(end, Err(error));
                    (reply, 0)
                }
            }
        }
    };
    let other = thread::spawn(leave(Arc::clone(&log)));
    let mut replies = Vec::new();
    if waits {
        let end = log.append();
        log.check(end, log.commits.wait(&*log, end));
    } else {
        replies.push(leave(Arc::clone(&log))());
    }
    replies.push(other.join().unwrap());
    log.commits.stop_writer();
    writer.join().unwrap();
    // The writer has ended, and before that it has served every reply that was left, once.
    for (reply, left) in replies {
        assert_eq!(reply.times_called.load(Ordering::Acquire), left);
    }
}

#[test]
fn every_commit_is_notified_when_it_is_durable() {
    explore(2, || three_commits(u64::MAX));
}

#[test]
fn every_commit_is_notified_when_the_log_has_stopped() {
    explore(2, || three_commits(2));
}

#[test]
fn every_reply_is_sent_once_when_its_commit_is_durable() {
    explore(2, || two_replies(u64::MAX, false));
    explore(2, || two_replies(u64::MAX, true));
}

#[test]
fn every_reply_is_sent_once_when_the_log_has_stopped() {
    explore(2, || two_replies(2, false));
    explore(2, || two_replies(1, true));
}
