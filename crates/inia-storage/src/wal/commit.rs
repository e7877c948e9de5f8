//! Group commit: one thread at a time, the leader, makes the log durable for all that wait.
//!
//! ```text
//!   A leads: flush …………… done, durable up to 7 │ wakes C, the next leader, then B
//!   B (needs 5)      waits ……………………………………… │ returns
//!   C (needs 9)      waits ……………………………………… │ leads: flush …
//! ```
//!
//! There are no timers: a commit that comes while a flush runs joins the next one.
//!
//! A commit need not cost its thread a sleep. [`GroupCommit::notify`] leaves a callback with the
//! leader, and the thread goes on to its next request. When only callbacks wait, no sleeping thread
//! can lead next: the log writer does, a thread that flushes and calls back until nothing waits.
//! It keeps the lead while it calls back, so that the commits which come meanwhile make one large
//! batch.
//!
//! ```text
//!   A leads: flush …… │ wakes the log writer, returns
//!   B (needs 5)  leaves a callback    log writer leads: flush …… │ calls B, C │ flush …
//!   C (needs 9)  leaves a callback
//! ```
//!
//! Invariants:
//! - a commit waits only after its thread has seen a leader under the mutex. Every leader ends its
//!   lead under the mutex and serves all whose wait is over. If others wait, it wakes one more
//!   thread, which leads next or finds another leader: one of the waiting threads, or the writer;
//! - callbacks are left only while the writer runs, and it ends only when none is left;
//! - a failure is set before the mutex is taken to serve everybody, and looked up under it.

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

/// Is called once, by the thread that made a commit durable or found that it never will be.
/// Other commits wait meanwhile, so it must neither block nor take long.
pub trait OnDurable: Send + Sync {
    /// The commit is durable, or the log has stopped before that.
    fn done(self: Arc<Self>, result: Result<()>);
}

/// Who waits for durability.
enum Waiter {
    Thread(Arc<WaitCell>),
    Callback(Arc<dyn OnDurable>),
}

impl Waiter {
    fn serve(self, result: Result<()>) {
        match self {
            Waiter::Thread(cell) => cell.wake(),
            Waiter::Callback(reply) => reply.done(result),
        }
    }

    fn is_callback(&self) -> bool {
        matches!(self, Waiter::Callback(_))
    }
}

/// Who leads, and who waits for what.
#[derive(Default)]
struct State {
    leading: bool,
    waiting: Vec<(Lsn, Waiter)>,
    /// The log writer runs, so that callbacks may be left.
    has_writer: bool,
}

impl State {
    /// Takes out those whose wait is over, each with its result.
    fn take_served(&mut self, log: &impl Flush) -> Vec<(Waiter, Result<()>)> {
        let (durable, failure) = (log.durable(), log.stopped());
        let over = |(lsn, _): &mut (Lsn, Waiter)| failure.is_some() || *lsn <= durable;
        let result = |lsn| match &failure {
            Some(error) if lsn > durable => Err(error.clone()),
            _ => Ok(()),
        };
        let served = self.waiting.extract_if(.., over);
        served.map(|(lsn, waiter)| (waiter, result(lsn))).collect()
    }
}

/// The waits for a log's durability.
pub(super) struct GroupCommit {
    state: Mutex<State>,
    /// Wakes the log writer.
    writer: WaitCell,
}

impl Default for GroupCommit {
    fn default() -> GroupCommit {
        GroupCommit { state: Mutex::new(State::default()), writer: WaitCell::new() }
    }
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
                state.waiting.push((lsn, Waiter::Thread(Arc::clone(&cell))));
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

    /// As [`GroupCommit::wait`], but where another thread flushes, `reply` waits in this one's
    /// place: true then, and `reply` is called. False says that the log is durable.
    pub(super) fn notify(
        &self,
        log: &impl Flush,
        lsn: Lsn,
        reply: &Arc<dyn OnDurable>,
    ) -> Result<bool> {
        if log.durable() < lsn {
            let mut state = self.state.lock();
            if state.leading && state.has_writer && log.durable() < lsn {
                if let Some(error) = log.stopped() {
                    return Err(error);
                }
                state.waiting.push((lsn, Waiter::Callback(Arc::clone(reply))));
                return Ok(true);
            }
        }
        self.wait(log, lsn).map(|()| false)
    }

    /// Ends this thread's lead: wakes the next leader first, then serves those whose wait is over.
    fn hand_over(&self, log: &impl Flush) {
        let mut state = self.state.lock();
        debug_assert!(state.leading, "there is one leader at a time");
        state.leading = false;
        let served = state.take_served(log);
        let thread = state.waiting.iter().position(|(_, waiter)| !waiter.is_callback());
        let next = thread.map(|at| state.waiting.remove(at).1);
        let callbacks = !state.waiting.is_empty();
        drop(state);
        match next {
            Some(next) => next.serve(Ok(())),
            None if callbacks => self.writer.wake(),
            None => {}
        }
        served.into_iter().for_each(|(waiter, result)| waiter.serve(result));
    }

    /// Serves everybody: the log has stopped.
    pub(super) fn serve_all(&self, log: &impl Flush) {
        let served = self.state.lock().take_served(log);
        served.into_iter().for_each(|(waiter, result)| waiter.serve(result));
    }

    /// Callbacks may be left from here on: a thread is about to call [`GroupCommit::run_writer`].
    pub(super) fn start_writer(&self) {
        self.state.lock().has_writer = true;
    }

    /// Lets the log writer end.
    pub(super) fn stop_writer(&self) {
        self.state.lock().has_writer = false;
        self.writer.wake();
    }

    /// What the log writer's thread does until [`GroupCommit::stop_writer`].
    pub(super) fn run_writer(&self, log: &impl Flush) {
        loop {
            self.lead_for_callbacks(log);
            let state = self.state.lock();
            let callbacks = state.waiting.iter().any(|(_, waiter)| waiter.is_callback());
            if !state.has_writer && !callbacks {
                return;
            }
            drop(state);
            self.writer.wait(None);
        }
    }

    /// Leads until nothing waits, unless another thread leads: that one will wake the writer.
    fn lead_for_callbacks(&self, log: &impl Flush) {
        let mut state = self.state.lock();
        if state.leading {
            return;
        }
        while !state.waiting.is_empty() {
            state.leading = true;
            drop(state);
            log.flush();
            // A commit that comes from here on waits for the next flush, and the writer leads on.
            let served = self.state.lock().take_served(log);
            served.into_iter().for_each(|(waiter, result)| waiter.serve(result));
            state = self.state.lock();
        }
        state.leading = false;
    }
}
