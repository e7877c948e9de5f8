//! The diagnostics area: what SHOW WARNINGS and SHOW ERRORS tell of the last statement.

use inia_base::error::{ErrorCode, SqlError};
use std::fmt;

/// How serious a condition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Note.
    Note,
    /// Warning.
    Warning,
    /// Error.
    Error,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Note => "Note",
            Level::Warning => "Warning",
            Level::Error => "Error",
        })
    }
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// How serious.
    pub level: Level,
    /// Number.
    pub code: ErrorCode,
    /// Text.
    pub message: String,
}

/// The conditions of the current or last statement.
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
    pub fn push(&mut self, level: Level, error: SqlError) {
        self.count += 1;
        if self.list.len() < self.limit {
            self.list.push(Warning { level, code: error.code, message: error.message });
        }
    }

    /// Adds a warning.
    pub fn warn(&mut self, code: ErrorCode, args: &[&dyn fmt::Display]) {
        self.push(Level::Warning, SqlError::new(code, args));
    }

    /// Adds a note.
    pub fn note(&mut self, code: ErrorCode, args: &[&dyn fmt::Display]) {
        self.push(Level::Note, SqlError::new(code, args));
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
