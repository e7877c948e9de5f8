//! How often errors, warnings and notes were raised, and how often programs handled errors.
//!
//! A condition is counted where it comes into the diagnostics of its session, under a lock of that
//! session: a statement without conditions does nothing. An error that a handler of a program takes
//! counts as handled, and not as raised.

use super::levels::{Account, Level, Levels, Sum};
use crate::clock::clock_micros;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// The numbers that the server has: 1000 and more, and less than this one. Programs choose others
/// by SIGNAL, which are counted together.
const END: u16 = 4300;

/// Sums over the conditions of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ErrorSums {
    /// How often it reached the client, or was a warning.
    pub(crate) raised: u64,
    /// How often a handler took it.
    pub(crate) handled: u64,
    /// First and last time, in microseconds since 1970.
    pub(crate) seen: (i64, i64),
}

impl ErrorSums {
    /// Adds sums over the same number.
    pub(crate) fn add(&mut self, other: &ErrorSums) {
        self.raised += other.raised;
        self.handled += other.handled;
        self.seen = (self.seen.0.min(other.seen.0), self.seen.1.max(other.seen.1));
    }
}

/// Sums by number. The number 0 stands for all that the server does not have.
pub(crate) type ErrorCounts = BTreeMap<u16, ErrorSums>;

impl Sum for ErrorCounts {
    fn add(&mut self, other: &ErrorCounts) {
        for (number, sums) in other {
            add(self, *number, *sums);
        }
    }

    fn is_empty(&self) -> bool {
        BTreeMap::is_empty(self)
    }
}

/// The number under which a condition is counted.
fn key(number: u16) -> u16 {
    if (1000..END).contains(&number) { number } else { 0 }
}

fn add(counts: &mut ErrorCounts, number: u16, more: ErrorSums) {
    counts.entry(number).and_modify(|sums| sums.add(&more)).or_insert(more);
}

/// What a session has raised and handled.
#[derive(Debug, Default)]
pub struct SessionErrors(Mutex<ErrorCounts>);

impl SessionErrors {
    fn note(&self, number: u16, (raised, handled): (u64, u64)) {
        let now = clock_micros();
        add(&mut self.0.lock(), key(number), ErrorSums { raised, handled, seen: (now, now) });
    }

    /// A condition has been raised.
    #[cold]
    pub fn raise(&self, number: u16) {
        self.note(number, (1, 0));
    }

    /// A handler has taken an error, which has not been counted yet.
    pub fn handle(&self, number: u16) {
        self.note(number, (0, 1));
    }

    /// A condition that was raised is not to count: another one takes its place.
    pub fn take_back(&self, number: u16) {
        let mut counts = self.0.lock();
        let number = key(number);
        if let Some(sums) = counts.get_mut(&number) {
            sums.raised = sums.raised.saturating_sub(1);
            if (sums.raised, sums.handled) == (0, 0) {
                counts.remove(&number);
            }
        }
    }

    /// The sums.
    pub(crate) fn counts(&self) -> ErrorCounts {
        self.0.lock().clone()
    }

    /// The sums, which begin anew.
    pub(crate) fn take(&self) -> ErrorCounts {
        std::mem::take(&mut self.0.lock())
    }
}

/// Errors of sessions that have ended, and of logins.
#[derive(Default)]
pub struct Errors {
    pub(crate) levels: Levels<ErrorCounts>,
}

impl Errors {
    /// A client that did not come to be a session got an error.
    pub(crate) fn note_login(&self, number: u16) {
        let own = SessionErrors::default();
        own.raise(number);
        self.levels.add(None, &own.take());
    }

    /// A session ends.
    pub(crate) fn end(&self, account: Account, own: &SessionErrors) {
        self.levels.add(account, &own.take());
    }

    /// TRUNCATE of a table of errors.
    pub(crate) fn empty<'s>(
        &self,
        level: Level,
        live: impl Iterator<Item = (Account, &'s SessionErrors)>,
    ) {
        self.levels.empty(level, live.map(|(account, own)| (account, own.take())));
    }
}

#[cfg(test)]
mod tests {
    use super::SessionErrors;

    #[test]
    fn conditions_are_counted_by_their_numbers() {
        let own = SessionErrors::default();
        own.raise(1062);
        own.raise(1062);
        own.handle(1062);
        own.raise(50_000);
        own.take_back(50_001);
        own.raise(1051);
        own.take_back(1051);
        let counts = own.take();
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [1062]);
        assert_eq!((counts[&1062].raised, counts[&1062].handled), (2, 1));
        assert!(counts[&1062].seen.0 <= counts[&1062].seen.1);
        assert!(own.take().is_empty());
    }
}
