//! What ends a statement before it is done: KILL and `max_execution_time`.
//!
//! A loop over rows asks [`Interrupt::check`] once for each, or reads them from a scratch
//! file, where each record asks.

use inia_base::error::{ErrorCode, SqlError};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

/// What a running statement asks whether it is to go on.
#[derive(Clone, Copy)]
pub struct Interrupt<'s> {
    killed: &'s AtomicU8,
    deadline: Option<Instant>,
}

impl<'s> Interrupt<'s> {
    /// Ends a statement once `killed` is set or `deadline` has passed.
    pub fn new(killed: &'s AtomicU8, deadline: Option<Instant>) -> Interrupt<'s> {
        Interrupt { killed, deadline }
    }

    /// When the statement's time is up.
    pub(crate) fn deadline(self) -> Option<Instant> {
        self.deadline
    }

    /// Error 1317 once KILL was said, 3024 once the time is up.
    #[inline]
    pub fn check(self) -> Result<(), SqlError> {
        if self.killed.load(Ordering::Relaxed) != 0 {
            return Err(SqlError::new(ErrorCode::QueryInterrupted, &[]));
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => {
                Err(SqlError::new(ErrorCode::QueryTimeout, &[]))
            }
            _ => Ok(()),
        }
    }
}
