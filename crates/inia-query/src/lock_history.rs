//! Waits for records that failed: those that a deadlock or their time has ended.
//!
//! MySQL shows the last deadlock only, and nothing of a wait that has timed out. Here the last
//! [`KEPT`] of both are kept with the statements of both sides, as they were when the wait failed:
//! the transaction has not been rolled back yet, so those who stood in its way still do what they
//! did.

use crate::clock::clock_micros;
use inia_base::process::Processes;
use inia_storage::{Engine, LockWait};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// How many failed waits are kept.
const KEPT: usize = 100;

/// A session that took part.
#[derive(Clone, Debug)]
pub struct LockParty {
    /// Its connection's number; 0 where the server has none for it.
    pub connection: u64,
    /// Its transaction's number, 0 when it had written nothing.
    pub txn: u64,
    /// The statement that it ran; none where it was idle or is embedded.
    pub statement: Option<String>,
}

/// A wait that failed.
#[derive(Clone, Debug)]
pub struct FailedWait {
    /// Counts from 1.
    pub number: u64,
    /// When it failed, in microseconds since 1970.
    pub at: i64,
    /// A deadlock ended it, not its time.
    pub is_deadlock: bool,
    /// What was waited for.
    pub wait: LockWait,
    /// Who waited.
    pub waiter: LockParty,
    /// Those who stood in the way.
    pub blockers: Vec<LockParty>,
}

/// The failed waits of a server.
#[derive(Default)]
pub struct LockHistory {
    kept: Mutex<(u64, VecDeque<FailedWait>)>,
}

impl LockHistory {
    /// Those that are kept, the oldest first.
    pub(crate) fn list(&self) -> Vec<FailedWait> {
        self.kept.lock().1.iter().cloned().collect()
    }

    /// The last deadlock.
    pub fn last_deadlock(&self) -> Option<FailedWait> {
        self.kept.lock().1.iter().rev().find(|failed| failed.is_deadlock).cloned()
    }

    fn push(&self, mut failed: FailedWait) {
        let mut kept = self.kept.lock();
        kept.0 += 1;
        failed.number = kept.0;
        if kept.1.len() == KEPT {
            kept.1.pop_front();
        }
        kept.1.push_back(failed);
        debug_assert!(kept.1.len() <= KEPT, "old ones make room");
    }

    /// Notes a failed wait of the session with this connection's number, which has not been rolled
    /// back yet.
    pub(crate) fn note(
        &self,
        (engine, processes): (&Engine, Option<&Arc<dyn Processes>>),
        (wait, connection): (LockWait, u64),
        is_deadlock: bool,
    ) {
        let processes = processes.map(|processes| processes.list()).unwrap_or_default();
        let open = engine.active_transactions();
        let party = |connection: u64, txn: u64| {
            let entry = processes.iter().find(|entry| entry.id == connection);
            let entry = entry.filter(|entry| entry.command != "Sleep");
            LockParty { connection, txn, statement: entry.and_then(|entry| entry.info.clone()) }
        };
        let label = |session: u32| {
            open.iter().find(|txn| txn.session == session).map_or(0, |txn| txn.label)
        };
        let blockers = wait.blockers.iter().map(|(session, txn)| party(label(*session), txn.0));
        let blockers = blockers.collect();
        let waiter = party(connection, wait.txn.0);
        let at = clock_micros();
        self.push(FailedWait { number: 0, at, is_deadlock, wait, waiter, blockers });
    }
}
