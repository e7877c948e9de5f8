//! A long scan gives its processor to threads that wait for one.
//!
//! The kernel lets a thread that computes go on for some milliseconds before another one, which has
//! just woken up, gets its processor. Beside a report each point select would wait that long. So a
//! loop over batches or leaves asks [`TimeSlice::pass`] each time round, and once it has run for
//! [`SLICE`] the thread yields: it goes on at once where nobody waits, and behind them where
//! somebody does.
//!
//! ```text
//! report        500 µs | waits      | 500 µs | waits …
//! point selects        | one by one |        | one by one …
//! ```
//!
//! A statement that ends before it has asked [`ASKED`] times never looks at the clock.

use std::cell::Cell;
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// How long a thread works before it yields.
const SLICE: Duration = Duration::from_micros(500);

/// How many times round a loop is between two looks at the clock.
const ASKED: u32 = 4;

/// The time slice of a statement's work on one thread.
#[derive(Default)]
pub(super) struct TimeSlice {
    /// Times round since the last look at the clock.
    asked: Cell<u32>,
    /// When the slice began; nothing before the first look.
    began: Cell<Option<Instant>>,
}

impl TimeSlice {
    /// Once round a loop; yields where the slice is over.
    #[inline]
    pub(super) fn pass(&self) {
        let asked = self.asked.get() + 1;
        self.asked.set(asked);
        if asked == ASKED && self.is_over(Instant::now()) {
            yield_now();
        }
    }

    /// Whether the slice is over at `now`; the next one begins then.
    #[cold]
    fn is_over(&self, now: Instant) -> bool {
        self.asked.set(0);
        let over = self.began.get().is_some_and(|began| now.duration_since(began) >= SLICE);
        if over || self.began.get().is_none() {
            self.began.set(Some(now));
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_begins_at_the_first_look_and_again_when_it_is_over() {
        let slice = TimeSlice::default();
        let start = Instant::now();
        assert!(!slice.is_over(start));
        assert!(!slice.is_over(start + SLICE / 2));
        assert!(slice.is_over(start + SLICE));
        assert!(!slice.is_over(start + SLICE * 3 / 2), "the second slice began at the first's end");
        assert!(slice.is_over(start + SLICE * 2));
    }

    #[test]
    fn a_short_statement_does_not_look_at_the_clock() {
        let slice = TimeSlice::default();
        (1..ASKED).for_each(|_| slice.pass());
        assert!(slice.began.get().is_none());
        slice.pass();
        assert!(slice.began.get().is_some());
    }
}
