//! A limit on the time of statements: a thread that stops the one which takes longer.
//!
//! ```text
//! begin             until                    + PATIENCE
//! |-----------------|------------------------|
//!   the statement     Stopper::stop            Stopper::sever
//! ```

use crate::target::Stopper;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a statement may take to end once it was stopped.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the watched connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing that has a limit.
    Idle,
    /// A statement that is stopped then.
    Running(Instant),
    /// A statement that was stopped, and loses its connection then.
    Stopped(Instant),
    /// A statement that has lost its connection.
    Severed,
    /// Its end.
    Over,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no watch panics")
    }

    fn set(&self, state: State) -> State {
        let before = std::mem::replace(&mut *self.lock(), state);
        self.changed.notify_one();
        before
    }
}

/// How a statement with a limit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself.
    InTime,
    /// It was stopped.
    Stopped,
    /// It did not heed that, and has lost its connection.
    Severed,
}

/// Watches one connection.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Watches the connection that `stopper` can stop.
    pub fn new(stopper: Box<dyn Stopper>) -> Watch {
        Watch::with(stopper, PATIENCE)
    }

    fn with(stopper: Box<dyn Stopper>, patience: Duration) -> Watch {
        let state = Mutex::new(State::Idle);
        let shared = Arc::new(Shared { state, changed: Condvar::new() });
        let watched = shared.clone();
        let thread = thread::spawn(move || watch(&watched, stopper.as_ref(), patience));
        Watch { shared, thread: Some(thread) }
    }

    /// Does `work` on the connection, and says whether it was stopped for taking longer than
    /// `limit`. Nothing is stopped any more when this returns.
    pub fn run<T>(&self, limit: Duration, work: impl FnOnce() -> T) -> (T, Ending) {
        // A limit beyond the clock's end is none.
        if let Some(until) = Instant::now().checked_add(limit) {
            self.shared.set(State::Running(until));
        }
        let done = work();
        let ending = match self.shared.set(State::Idle) {
            State::Stopped(_) => Ending::Stopped,
            State::Severed => Ending::Severed,
            _ => Ending::InTime,
        };
        (done, ending)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.set(State::Over);
        if let Some(thread) = self.thread.take() {
            // It has nothing to say.
            let _ = thread.join();
        }
    }
}

/// Stops with the state locked, so that no statement begins meanwhile and is stopped instead.
fn watch(shared: &Shared, stopper: &dyn Stopper, patience: Duration) {
    let mut state = shared.lock();
    loop {
        let now = Instant::now();
        match *state {
            State::Over => return,
            State::Running(until) if until <= now => {
                // A server that takes no further connection is left to the next step.
                let _ = stopper.stop();
                *state = State::Stopped(Instant::now() + patience);
            }
            State::Stopped(until) if until <= now => {
                stopper.sever();
                *state = State::Severed;
            }
            State::Running(until) | State::Stopped(until) => {
                let woken = shared.changed.wait_timeout(state, until - now);
                state = woken.expect("no watch panics").0;
            }
            State::Idle | State::Severed => {
                state = shared.changed.wait(state).expect("no watch panics");
            }
        }
    }
}

#[cfg(test)]
mod tests;
