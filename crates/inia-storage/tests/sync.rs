//! What the library's module of this name offers, made of the model checker's parts.

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
pub(crate) use loom::thread_local;

use loom::sync::{Condvar, MutexGuard};
use std::time::Duration;

/// Hardly any spinning: every look is a step to explore.
pub(crate) const SPINS: u32 = 1;

/// A mutex without poisoning.
#[derive(Default)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Mutex<T> {
        Mutex(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap()
    }
}

/// Why a wait ended; it never ends by time here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    Woken,
    TimedOut,
}

/// A one-waiter event.
pub(crate) struct WaitCell {
    woken: loom::sync::Mutex<bool>,
    changed: Condvar,
}

impl WaitCell {
    pub(crate) fn new() -> WaitCell {
        WaitCell { woken: loom::sync::Mutex::new(false), changed: Condvar::new() }
    }

    pub(crate) fn wait(&self, _limit: Option<Duration>) -> Wake {
        let mut woken = self.woken.lock().unwrap();
        while !*woken {
            woken = self.changed.wait(woken).unwrap();
        }
        *woken = false;
        Wake::Woken
    }

    pub(crate) fn wake(&self) {
        *self.woken.lock().unwrap() = true;
        self.changed.notify_one();
    }
}
