//! Named locks: who waits can be ended, and does not wait for itself.

use super::UserLocks;
use crate::interrupt::Interrupt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Waits until so many connections wait.
fn until_waiting(locks: &UserLocks, count: usize) {
    while locks.state.lock().waiting.len() != count {
        std::thread::yield_now();
    }
}

#[test]
fn kill_and_the_time_of_a_query_end_a_wait() {
    let (locks, killed) = (UserLocks::default(), AtomicU8::new(0));
    let quiet = AtomicU8::new(0);
    assert_eq!(locks.lock("a", 1, None, Interrupt::new(&quiet, None)), Ok(true));
    std::thread::scope(|scope| {
        let waiter =
            scope.spawn(|| locks.lock("a", 2, None, Interrupt::new(&killed, None)).unwrap_err());
        until_waiting(&locks, 1);
        killed.store(1, Ordering::SeqCst);
        locks.wake();
        assert_eq!(waiter.join().unwrap().number(), 1317);
    });
    let up = Some(Instant::now());
    let late = locks.lock("a", 2, None, Interrupt::new(&quiet, up)).unwrap_err();
    assert_eq!(late.number(), 3024);
    assert_eq!(locks.lock("a", 2, Some(Duration::ZERO), Interrupt::new(&quiet, None)), Ok(false));
    until_waiting(&locks, 0);
}

#[test]
fn a_wait_for_itself_is_a_deadlock_error() {
    let (locks, quiet) = (UserLocks::default(), AtomicU8::new(0));
    let lock = |name: &str, connection| {
        locks.lock(name, connection, None, Interrupt::new(&quiet, None)).map_err(|e| e.number())
    };
    for (name, connection) in [("a", 1), ("b", 2), ("c", 3)] {
        assert_eq!(lock(name, connection), Ok(true));
    }
    std::thread::scope(|scope| {
        let first = scope.spawn(|| lock("b", 1));
        until_waiting(&locks, 1);
        let second = scope.spawn(|| lock("c", 2));
        until_waiting(&locks, 2);
        assert_eq!(lock("a", 3), Err(3058));
        locks.unlock("c");
        assert_eq!(second.join().unwrap(), Ok(true));
        locks.unlock("b");
        assert_eq!(first.join().unwrap(), Ok(true));
    });
}
