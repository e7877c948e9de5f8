//! Where a statement's rows go: one after another into the connection's buffer, and from there to
//! what takes them.

use super::connection::Outcome;
use super::error::{Error, Result};
use super::row::{Cell, Row, RowBuffer};
use inia_base::column::{Completion, ResultColumn, RowSink};
use inia_base::error::SqlError;
use inia_base::temporal::{Date, DateTime, Time};
use std::ops::ControlFlow;

/// Takes the rows of the first result that has columns.
pub(super) struct RowReader<'b, F> {
    buffer: &'b mut RowBuffer,
    take: F,
    /// Results with columns so far.
    results: u32,
    /// Why `take` wants no more rows: an error, or none.
    stopped: Option<Result<()>>,
    outcome: Outcome,
}

impl<'b, F: FnMut(&Row<'_>) -> Result<ControlFlow<()>>> RowReader<'b, F> {
    pub(super) fn new(buffer: &'b mut RowBuffer, take: F) -> RowReader<'b, F> {
        RowReader { buffer, take, results: 0, stopped: None, outcome: Outcome::default() }
    }

    /// How the statement ended, which itself ended so.
    pub(super) fn end(self, executed: Result<(), SqlError>) -> Result<Outcome> {
        self.buffer.shrink();
        match (self.stopped, executed) {
            (Some(Err(error)), _) => Err(error),
            (Some(Ok(())), _) | (None, Ok(())) => Ok(self.outcome),
            (None, Err(error)) => Err(error.into()),
        }
    }

    /// Ends the statement.
    #[cold]
    fn stop(&mut self, why: Result<()>) -> Result<(), SqlError> {
        let shown = match &why {
            Err(error) => error.refusal(),
            Ok(()) => Error::conversion("no more rows are wanted").refusal(),
        };
        self.stopped = Some(why);
        Err(shown)
    }
}

impl<F: FnMut(&Row<'_>) -> Result<ControlFlow<()>>> RowSink for RowReader<'_, F> {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), SqlError> {
        self.results += 1;
        if self.results == 1 {
            self.buffer.set_columns(columns);
        }
        Ok(())
    }

    #[inline]
    fn begin_row(&mut self) {
        self.buffer.begin();
    }

    #[inline]
    fn null(&mut self) {
        self.buffer.push(Cell::Null);
    }

    #[inline]
    fn int(&mut self, value: i64) {
        self.buffer.push(Cell::Int(value));
    }

    #[inline]
    fn uint(&mut self, value: u64) {
        self.buffer.push(Cell::UInt(value));
    }

    /// With single precision's digits, as a client of the server reads them.
    fn float(&mut self, value: f32) {
        self.buffer.push(Cell::Double(f64::from(value)));
    }

    fn double(&mut self, value: f64) {
        self.buffer.push(Cell::Double(value));
    }

    #[inline]
    fn bytes(&mut self, value: &[u8]) {
        self.buffer.push_bytes(value);
    }

    fn date(&mut self, value: Date) {
        self.buffer.push(Cell::Date(value));
    }

    fn time(&mut self, value: Time, fsp: u8) {
        self.buffer.push(Cell::Time(value, fsp));
    }

    fn datetime(&mut self, value: DateTime, fsp: u8) {
        self.buffer.push(Cell::DateTime(value, fsp));
    }

    #[inline]
    fn end_row(&mut self) -> Result<(), SqlError> {
        if self.results != 1 {
            return Ok(());
        }
        match (self.take)(&self.buffer.row()) {
            Ok(ControlFlow::Continue(())) => Ok(()),
            Ok(ControlFlow::Break(())) => self.stop(Ok(())),
            Err(error) => self.stop(Err(error)),
        }
    }

    fn complete(&mut self, completion: &Completion, _more: bool) -> Result<(), SqlError> {
        self.outcome.note(completion);
        Ok(())
    }
}
