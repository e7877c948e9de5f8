//! Locks by name: GET_LOCK and its family.

use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// All named locks of a database and the connections that hold them.
#[derive(Default)]
pub(crate) struct UserLocks {
    holders: Mutex<HashMap<String, u64>>,
    released: Condvar,
}

impl UserLocks {
    /// Takes `name` for a connection; false when `limit` passed first. A connection may take a
    /// name again; it counts itself how often.
    pub(crate) fn lock(&self, name: &str, connection: u64, limit: Option<Duration>) -> bool {
        let deadline = limit.map(|limit| Instant::now() + limit);
        let mut holders = self.holders.lock();
        loop {
            match holders.get(name) {
                None => {
                    holders.insert(name.to_owned(), connection);
                    return true;
                }
                Some(holder) if *holder == connection => return true,
                Some(_) => {}
            }
            match deadline {
                None => self.released.wait(&mut holders),
                Some(deadline) => {
                    if self.released.wait_until(&mut holders, deadline).timed_out() {
                        return false;
                    }
                }
            }
        }
    }

    /// Gives `name` back.
    pub(crate) fn unlock(&self, name: &str) {
        self.holders.lock().remove(name);
        self.released.notify_all();
    }

    /// Who holds `name`.
    pub(crate) fn holder(&self, name: &str) -> Option<u64> {
        self.holders.lock().get(name).copied()
    }
}
