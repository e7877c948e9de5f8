//! Every lock and atomic that storage uses, in one place so that a model checker can stand in.

pub(crate) use inia_base::rt::{WaitCell, Wake};
pub(crate) use parking_lot::{Condvar, Mutex, RwLock};
pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
pub(crate) use std::thread_local;
use std::time::Duration;

/// How often a thread looks at a page latch again before it sleeps.
pub(crate) const SPINS: u32 = 64;

/// Wakes a background thread that waits. A second call before it wakes costs next to nothing.
#[derive(Default)]
pub(crate) struct Wakeup {
    called: AtomicBool,
    asleep: Mutex<()>,
    rung: Condvar,
}

impl Wakeup {
    /// Ends the wait under way, or the next one at once.
    pub(crate) fn notify(&self) {
        if self.called.load(Ordering::Relaxed) || self.called.swap(true, Ordering::Release) {
            return;
        }
        // The lock makes sure that a thread about to sleep either saw the call or gets the notice.
        drop(self.asleep.lock());
        self.rung.notify_one();
    }

    /// Sleeps until called, or until `limit` has passed, and takes the call.
    pub(crate) fn wait(&self, limit: Duration) {
        let mut asleep = self.asleep.lock();
        if !self.called.swap(false, Ordering::Acquire) {
            self.rung.wait_for(&mut asleep, limit);
            self.called.store(false, Ordering::Relaxed);
        }
    }
}
