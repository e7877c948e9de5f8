//! The diagnostics area: what SHOW WARNINGS and SHOW ERRORS tell of the last statement.

use inia_base::error::{ErrorCode, SqlError, Warning};
use std::fmt;

/// The conditions of the current or last statement: all are counted, the first few are kept.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    list: Vec<Warning>,
    count: u64,
    limit: usize,
}

impl Default for Diagnostics {
    fn default() -> Diagnostics {
        Diagnostics { list: Vec::new(), count: 0, limit: 1024 }
    }
}

impl Diagnostics {
    /// Forgets everything: a new statement begins.
    pub fn clear(&mut self) {
        self.list.clear();
        self.count = 0;
    }

    /// Adds a condition; beyond `max_error_count` conditions are counted but not kept.
    pub fn push(&mut self, warning: Warning) {
        self.count += 1;
        if self.list.len() < self.limit {
            self.list.push(warning);
        }
    }

    /// Adds the statement's error.
    pub fn error(&mut self, error: &SqlError) {
        self.push(Warning::from(error));
    }

    /// Adds a warning.
    pub fn warn(&mut self, code: ErrorCode, args: &[&dyn fmt::Display]) {
        self.push(Warning::new(code, args));
    }

    /// Adds a note.
    pub fn note(&mut self, code: ErrorCode, args: &[&dyn fmt::Display]) {
        self.push(Warning::note(code, args));
    }

    /// The conditions that were kept.
    pub fn list(&self) -> &[Warning] {
        &self.list
    }

    /// How many conditions there were, as the OK packet tells it.
    pub fn count(&self) -> u16 {
        self.count.min(u64::from(u16::MAX)) as u16
    }

    /// Sets `max_error_count`.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }
}
