//! What the scheduler of events waits for, and what it shows of its work.
//!
//! Definitions of events change in the catalog, and `event_scheduler` by SET; both wake the
//! scheduler. Its own line in the process list, and those of the events that run, are here.

use inia_base::process::ProcessEntry;
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Ends a running event, or only its statement.
type EndEvent = Arc<dyn Fn(bool) + Send + Sync>;

/// A line of the process list.
struct ShownThread {
    entry: ProcessEntry,
    since: Instant,
    end: Option<EndEvent>,
}

#[derive(Default)]
struct WatchState {
    /// Counts what may concern the scheduler.
    changes: u64,
    /// Runs that have ended.
    finished: u64,
    threads: BTreeMap<u64, ShownThread>,
    last_id: u64,
}

/// Where the scheduler waits, and what others see of it.
#[derive(Default)]
pub struct EventWatch {
    state: Mutex<WatchState>,
    changed: Condvar,
}

impl EventWatch {
    /// Something has changed that the scheduler looks at.
    pub fn notify(&self) {
        self.state.lock().changes += 1;
        self.changed.notify_all();
    }

    /// How many changes there were.
    pub fn changes(&self) -> u64 {
        self.state.lock().changes
    }

    /// Waits until there were more changes than `seen`, at most so long.
    pub fn wait(&self, seen: u64, limit: Option<Duration>) {
        let deadline = limit.map(|limit| Instant::now() + limit);
        let mut state = self.state.lock();
        while state.changes == seen {
            match deadline {
                None => self.changed.wait(&mut state),
                Some(deadline) if self.changed.wait_until(&mut state, deadline).timed_out() => {
                    return;
                }
                Some(_) => {}
            }
        }
    }

    /// A number for a thread, where no server gives them.
    pub fn new_id(&self) -> u64 {
        let mut state = self.state.lock();
        state.last_id += 1;
        state.last_id
    }

    /// A run has ended.
    pub fn finish(&self, id: u64) {
        let mut state = self.state.lock();
        state.threads.remove(&id);
        state.finished += 1;
        self.changed.notify_all();
    }

    /// Waits until so many runs have ended.
    pub fn wait_for_runs(&self, count: u64) {
        let mut state = self.state.lock();
        while state.finished < count {
            self.changed.wait(&mut state);
        }
    }

    /// Shows a thread in the process list; another state of one that is shown has begun.
    pub fn show(&self, entry: ProcessEntry, end: Option<EndEvent>) {
        let mut state = self.state.lock();
        let same = state.threads.get(&entry.id).is_some_and(|old| old.entry == entry);
        if !same {
            state.threads.insert(entry.id, ShownThread { entry, since: Instant::now(), end });
        }
    }

    /// Takes a thread out of the process list.
    pub fn hide(&self, id: u64) {
        self.state.lock().threads.remove(&id);
    }

    /// The threads in the order of their ids.
    pub fn list(&self) -> Vec<ProcessEntry> {
        let state = self.state.lock();
        let entry = |shown: &ShownThread| ProcessEntry {
            time: shown.since.elapsed().as_secs(),
            ..shown.entry.clone()
        };
        state.threads.values().map(entry).collect()
    }

    /// KILL of a running event; false where the id is none of its threads'.
    pub fn kill(&self, id: u64, statement_only: bool) -> bool {
        let end = match self.state.lock().threads.get(&id) {
            Some(shown) => shown.end.clone(),
            None => return false,
        };
        if let Some(end) = end {
            end(!statement_only);
        }
        true
    }
}
