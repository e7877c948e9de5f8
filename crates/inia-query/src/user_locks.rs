//! Locks by name: GET_LOCK and its family.
//!
//! Invariant: a connection that waits stands in `waiting` with the name it waits for, and one that
//! begins to wait first checks whether holders of names wait for each other in a cycle with it.

use crate::interrupt::Interrupt;
use inia_base::error::{ErrorCode, SqlError};
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// All named locks of a database and the connections that hold them.
#[derive(Default)]
pub struct UserLocks {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    holders: HashMap<String, u64>,
    waiting: HashMap<u64, String>,
}

impl State {
    /// Whether the holder of `name` waits, perhaps by way of others, for `connection`.
    fn waits_for(&self, name: &str, connection: u64) -> bool {
        let mut name = name;
        // As many steps as there are who wait: a cycle without `connection` ends, too.
        for _ in 0..=self.waiting.len() {
            let Some(holder) = self.holders.get(name) else { return false };
            if *holder == connection {
                return true;
            }
            let Some(wanted) = self.waiting.get(holder) else { return false };
            name = wanted;
        }
        false
    }
}

impl UserLocks {
    /// Takes `name` for a connection; false when `limit` passed first. A connection may take a
    /// name again; it counts itself how often. Error 3058 where it would wait for itself, and
    /// whatever `interrupt` says.
    pub(crate) fn lock(
        &self,
        name: &str,
        connection: u64,
        limit: Option<Duration>,
        interrupt: Interrupt<'_>,
    ) -> Result<bool, SqlError> {
        let deadline = limit.map(|limit| Instant::now() + limit);
        let mut state = self.state.lock();
        let result = loop {
            match state.holders.get(name) {
                None => {
                    state.holders.insert(name.to_owned(), connection);
                    break Ok(true);
                }
                Some(holder) if *holder == connection => break Ok(true),
                Some(_) => {}
            }
            if let Err(error) = interrupt.check() {
                break Err(error);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break Ok(false);
            }
            if state.waits_for(name, connection) {
                break Err(SqlError::new(ErrorCode::UserLockDeadlock, &[]));
            }
            debug_assert_ne!(state.holders.get(name), Some(&connection), "who holds does not wait");
            state.waiting.entry(connection).or_insert_with(|| name.to_owned());
            match [deadline, interrupt.deadline()].into_iter().flatten().min() {
                None => self.changed.wait(&mut state),
                Some(end) => drop(self.changed.wait_until(&mut state, end)),
            }
        };
        state.waiting.remove(&connection);
        result
    }

    /// Lets all who wait look whether they are to go on waiting.
    pub fn wake(&self) {
        drop(self.state.lock());
        self.changed.notify_all();
    }

    /// Gives `name` back.
    pub(crate) fn unlock(&self, name: &str) {
        self.state.lock().holders.remove(name);
        self.changed.notify_all();
    }

    /// Who holds `name`.
    pub(crate) fn holder(&self, name: &str) -> Option<u64> {
        self.state.lock().holders.get(name).copied()
    }
}

#[cfg(test)]
mod tests;
