//! A session's transactions: the present one, the last ones, and sums over those that have ended.
//!
//! They are noted at the ends of statements while sums over statements are kept, under a lock that
//! nobody else takes but for the moment of a query.

use super::levels::Sum;
use inia_base::times::TimeSums;
use parking_lot::Mutex;
use std::collections::VecDeque;

/// Transactions that a session remembers.
const HISTORY: usize = 10;

/// What a transaction has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionState {
    /// It goes on.
    Active,
    /// It stands.
    Committed,
    /// It was undone.
    RolledBack,
}

/// A transaction as one statement leaves it.
///
/// Wide: one field for each thing that a table shows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionEvent {
    /// Its number in the session, from 1 on; given when it is noted.
    pub number: u64,
    /// The statement that began it.
    pub statement: u64,
    /// What it has come to.
    pub state: TransactionState,
    /// It changes nothing.
    pub read_only: bool,
    /// The isolation level.
    pub isolation: &'static str,
    /// It is one statement.
    pub autocommit: bool,
    /// How many statements were SAVEPOINT, ROLLBACK TO and RELEASE.
    pub savepoints: [u64; 3],
    /// The branch that it is.
    pub branch: Option<BranchEvent>,
    /// Begin and end, in microseconds since 1970.
    pub began: i64,
    /// The end.
    pub ended: Option<i64>,
}

impl TransactionEvent {
    /// Microseconds that it took, or has taken until `now`.
    pub(crate) fn wait(&self, now: i64) -> u64 {
        u64::try_from(self.ended.unwrap_or(now) - self.began).unwrap_or(0)
    }
}

/// A branch of a distributed transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchEvent {
    /// The name's format, global part and qualifier.
    pub name: (u64, Vec<u8>, Vec<u8>),
    /// How far it is.
    pub stage: &'static str,
}

/// Microseconds of transactions that may change something, and over those that may not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TransactionSums {
    pub(crate) read_write: TimeSums,
    pub(crate) read_only: TimeSums,
}

impl TransactionSums {
    fn note(&mut self, event: &TransactionEvent, now: i64) {
        let sums = if event.read_only { &mut self.read_only } else { &mut self.read_write };
        sums.add(&TimeSums::one(event.wait(now)));
    }
}

impl Sum for TransactionSums {
    fn add(&mut self, other: &TransactionSums) {
        self.read_write.add(&other.read_write);
        self.read_only.add(&other.read_only);
    }

    fn is_empty(&self) -> bool {
        self.read_write.count + self.read_only.count == 0
    }
}

/// What a session has noted of its transactions.
#[derive(Debug, Default)]
pub struct SessionTransactions(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    /// The one that goes on, or the last one.
    current: Option<TransactionEvent>,
    /// The last ones that have ended, oldest first.
    ended: VecDeque<TransactionEvent>,
    number: u64,
    sums: TransactionSums,
}

impl Noted {
    fn active(&mut self) -> Option<&mut TransactionEvent> {
        self.current.as_mut().filter(|event| event.state == TransactionState::Active)
    }

    fn end(&mut self, state: TransactionState, at: i64) {
        let Some(event) = self.active() else { return };
        (event.state, event.ended) = (state, Some(at));
        let event = event.clone();
        self.sums.note(&event, at);
        if self.ended.len() == HISTORY {
            self.ended.pop_front();
        }
        self.ended.push_back(event);
    }
}

impl SessionTransactions {
    /// Whether one goes on.
    pub fn is_active(&self) -> bool {
        self.0.lock().active().is_some()
    }

    /// One begins.
    pub fn begin(&self, event: TransactionEvent) {
        let mut noted = self.0.lock();
        noted.number += 1;
        let number = noted.number;
        noted.current = Some(TransactionEvent { number, ..event });
    }

    /// A statement has worked in the one that goes on.
    pub fn change(&self, change: impl FnOnce(&mut TransactionEvent)) {
        if let Some(event) = self.0.lock().active() {
            change(event);
        }
    }

    /// The one that goes on has ended.
    pub fn end(&self, state: TransactionState, at: i64) {
        self.0.lock().end(state, at);
    }

    /// The one that goes on, or the last one.
    pub(crate) fn current(&self) -> Option<TransactionEvent> {
        self.0.lock().current.clone()
    }

    /// The last ones that have ended, oldest first.
    pub(crate) fn ended(&self) -> Vec<TransactionEvent> {
        self.0.lock().ended.iter().cloned().collect()
    }

    /// Sums over those that have ended.
    pub(crate) fn sums(&self) -> TransactionSums {
        self.0.lock().sums
    }

    /// The sums, which begin anew.
    pub(crate) fn take_sums(&self) -> TransactionSums {
        std::mem::take(&mut self.0.lock().sums)
    }

    /// Forgets the last ones.
    pub(crate) fn forget(&self) {
        let mut noted = self.0.lock();
        noted.current = None;
        noted.ended.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{SessionTransactions, TransactionEvent, TransactionState};

    fn event(began: i64) -> TransactionEvent {
        TransactionEvent {
            number: 0,
            statement: 1,
            state: TransactionState::Active,
            read_only: false,
            isolation: "REPEATABLE READ",
            autocommit: false,
            savepoints: [0; 3],
            branch: None,
            began,
            ended: None,
        }
    }

    #[test]
    fn the_last_transactions_and_sums_over_all_are_kept() {
        let own = SessionTransactions::default();
        for began in 0..12 {
            own.begin(event(began));
            assert!(own.is_active());
            own.change(|event| event.savepoints[0] += 1);
            own.end(TransactionState::Committed, began + 5);
            own.end(TransactionState::RolledBack, began + 9);
        }
        let ended = own.ended();
        assert_eq!((ended.len(), ended[0].number, ended[9].number), (10, 3, 12));
        assert_eq!((ended[9].state, ended[9].savepoints), (TransactionState::Committed, [1, 0, 0]));
        let sums = own.take_sums().read_write;
        assert_eq!((sums.count, sums.sum, sums.min, sums.max), (12, 60, 5, 5));
        assert_eq!(own.sums().read_write.count, 0);
    }
}
