//! Warnings and notes of the running statement.

use super::SessionContext;
use crate::status::Executed;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::{Level, Warning, Warnings};
use std::fmt::Display;

impl SessionContext {
    /// Adds a note to the statement's diagnostics.
    pub fn note(&mut self, code: ErrorCode, args: &[&dyn Display]) {
        self.add(Level::Note, &SqlError::new(code, args));
    }

    /// Adds an error's text as a note.
    pub fn note_error(&mut self, error: &SqlError) {
        self.add(Level::Note, error);
    }

    /// Adds a warning.
    pub fn warn(&mut self, code: ErrorCode, args: &[&dyn Display]) {
        self.add(Level::Warning, &SqlError::new(code, args));
    }

    /// Adds an error's text as a warning.
    pub fn push_warning(&mut self, error: &SqlError) {
        self.add(Level::Warning, error);
    }

    /// Has `error` listed behind the one with the code `first`, where that ends the statement.
    pub fn list_behind(&mut self, first: ErrorCode, error: SqlError) {
        self.listed_behind = Some((first, error));
    }

    /// Lists what belongs behind the error that has ended the statement.
    pub fn take_listed_behind(&mut self, ended: ErrorCode) {
        let behind = self.listed_behind.take().filter(|(first, _)| *first == ended);
        if let Some((_, error)) = behind {
            self.raise(Warning::of(Level::Error, error));
        }
    }

    /// Adds a condition to the statement's diagnostics.
    pub fn add(&mut self, level: Level, error: &SqlError) {
        if level == Level::Note && !self.flag("sql_notes") {
            return;
        }
        self.raise(Warning::of(level, error.clone()));
    }

    /// Takes a condition into the statement's diagnostics, and counts it.
    pub fn raise(&mut self, warning: Warning) {
        if warning.code == ErrorCode::QueryTimeout {
            self.host.counters.count_executed(Executed::TimeExceeded, 1);
        }
        self.host.counters.errors.raise(warning.number());
        self.diagnostics.push(warning);
    }

    /// The number of conditions, as the OK packet reports it.
    #[inline]
    pub fn warning_count(&self) -> u16 {
        self.diagnostics.count.min(u64::from(u16::MAX)) as u16
    }

    /// Keeps the warnings of an evaluation.
    pub fn take_warnings(&mut self, warnings: Warnings) {
        let kept = warnings.list.len() as u64;
        let notes = warnings.list.iter().all(|w| w.level != Level::Note) || self.flag("sql_notes");
        for warning in warnings.list {
            if notes || warning.level != Level::Note {
                self.raise(warning);
            }
        }
        self.diagnostics.count += warnings.count - kept;
    }
}
