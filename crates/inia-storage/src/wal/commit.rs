//! Group commit: one thread at a time, the leader, makes the log durable for all who wait.
//!
//! ```text
//!   A leads: flush …………… done, durable up to 7 │ wakes C, the next leader, then B
//!   B (needs 5)      waits ……………………………………… │ returns
//!   C (needs 9)      waits ……………………………………… │ leads: flush …
//! ```
//!
//! There are no timers: a thread that comes while a flush runs joins the next one. Invariants:
//! - a thread waits only after it has seen a leader under the mutex. Every leader ends its lead
//!   under the mutex: it wakes all whose wait is over, and one other thread, which leads next or
//!   finds another leader;
//! - a failure is set before the mutex is taken to wake everybody, and looked up under it.

use crate::Result;
use crate::error::StorageError;
use crate::sync::{Mutex, WaitCell, thread_local};
use inia_base::ids::Lsn;
use std::sync::Arc;

/// What is made durable.
pub(super) trait Flush {
    /// Everything below is durable.
    fn durable(&self) -> Lsn;
    /// Why nothing becomes durable any more.
    fn stopped(&self) -> Option<StorageError>;
    /// Makes durable what there is, or stops for good. One thread at a time calls it.
    fn flush(&self);
}

/// Who leads, and who waits for what.
#[derive(Default)]
struct State {
    leading: bool,
    waiting: Vec<(Lsn, Arc<WaitCell>)>,
}

/// The waits for a log's durability.
#[derive(Default)]
pub(super) struct GroupCommit {
    state: Mutex<State>,
}

thread_local! {
    static CELL: Arc<WaitCell> = Arc::new(WaitCell::new());
}

impl GroupCommit {
    /// Waits until `log` is durable up to `lsn`, which must have been appended.
    pub(super) fn wait(&self, log: &impl Flush, lsn: Lsn) -> Result<()> {
        while log.durable() < lsn {
            let mut state = self.state.lock();
            if log.durable() >= lsn {
                break;
            }
            if let Some(error) = log.stopped() {
                return Err(error);
            }
            if state.leading {
                let cell = CELL.with(Arc::clone);
                state.waiting.push((lsn, Arc::clone(&cell)));
                drop(state);
                cell.wait(None);
                continue;
            }
            state.leading = true;
            drop(state);
            log.flush();
            self.hand_over(log);
        }
        Ok(())
    }

    /// Ends this thread's lead: wakes the next leader first, then everybody whose wait is over.
    fn hand_over(&self, log: &impl Flush) {
        let mut state = self.state.lock();
        debug_assert!(state.leading, "there is one leader at a time");
        state.leading = false;
        let durable = log.durable();
        let failed = log.stopped().is_some();
        let mut next = None;
        let mut done = Vec::new();
        let mut later = Vec::new();
        for (lsn, cell) in state.waiting.drain(..) {
            if failed || lsn <= durable {
                done.push(cell);
            } else if next.is_none() {
                next = Some(cell);
            } else {
                later.push((lsn, cell));
            }
        }
        state.waiting = later;
        drop(state);
        for cell in next.into_iter().chain(done) {
            cell.wake();
        }
    }

    /// Wakes everybody: the log has stopped.
    pub(super) fn wake_all(&self) {
        let waiting = std::mem::take(&mut self.state.lock().waiting);
        for (_, cell) in waiting {
            cell.wake();
        }
    }
}
