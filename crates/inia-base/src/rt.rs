//! The waiting seam: every blocking wait of the engine (row lock, commit, log space, page read)
//! goes through a [`WaitCell`], so that another scheduler can take the place of threads.

use parking_lot::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// [`WaitCell::wake`] was called.
    Woken,
    /// The time limit passed first.
    TimedOut,
}

/// A one-waiter event: a wake that comes before the wait is not lost.
#[derive(Default)]
pub struct WaitCell {
    woken: Mutex<bool>,
    changed: Condvar,
}

impl WaitCell {
    /// A cell that nobody has woken yet.
    pub fn new() -> WaitCell {
        WaitCell::default()
    }

    /// Blocks until woken, or until `limit` has passed, and takes the wake.
    pub fn wait(&self, limit: Option<Duration>) -> Wake {
        let deadline = limit.map(|limit| Instant::now() + limit);
        let mut woken = self.woken.lock();
        while !*woken {
            match deadline {
                None => self.changed.wait(&mut woken),
                Some(deadline) => {
                    if self.changed.wait_until(&mut woken, deadline).timed_out() && !*woken {
                        return Wake::TimedOut;
                    }
                }
            }
        }
        *woken = false;
        Wake::Woken
    }

    /// Wakes the waiter, now or at its next wait.
    pub fn wake(&self) {
        *self.woken.lock() = true;
        self.changed.notify_one();
    }
}
