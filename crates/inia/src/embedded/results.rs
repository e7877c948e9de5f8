//! The results of one call, taken by a program at its own pace.
//!
//! The engine pushes rows and a program pulls them. Two ways lie between:
//!
//! ```text
//! held       engine ─ all rows ─► Results ─ row by row ─► program        one thread
//! streamed   engine ─ batches ──► channel of two ─ row by row ─► program  a thread for the engine
//! ```
//!
//! Held rows cost less; streamed ones hold no more than three batches of [`BATCH`] bytes.

use super::connection::Outcome;
use super::error::{Error, Result};
use super::row::{Cell, Column, Row};
use super::rows::Rows;
use super::shared::Streaming;
use inia_base::column::{Completion, ResultColumn, RowSink};
use inia_base::error::SqlError;
use inia_base::temporal::{Date, DateTime, Time};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Bytes of rows that cross to a program at a time.
pub(super) const BATCH: usize = 256 << 10;

/// What results consist of.
pub(super) enum Event {
    /// A result with columns begins.
    Columns(Arc<[Column]>),
    /// Some of its rows.
    Rows(Rows),
    /// A result, or a statement without one, has ended; whether another follows.
    Done(Outcome, bool),
    /// Nothing comes any more.
    Failed(Error),
}

/// Takes all results of a call, as events.
pub(super) struct Collector<F> {
    rows: Rows,
    /// Rows are sent when they are so many bytes.
    batch: usize,
    send: F,
}

impl<F: FnMut(Event) -> Result<()>> Collector<F> {
    pub(super) fn new(batch: usize, send: F) -> Collector<F> {
        Collector { rows: Rows::default(), batch, send }
    }

    fn send(&mut self, event: Event) -> Result<(), SqlError> {
        (self.send)(event).map_err(|error| error.refusal())
    }

    fn flush(&mut self) -> Result<(), SqlError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = self.rows.take();
        self.send(Event::Rows(rows))
    }
}

impl<F: FnMut(Event) -> Result<()>> RowSink for Collector<F> {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), SqlError> {
        let columns: Arc<[Column]> = columns.iter().map(Column::from).collect();
        self.rows = Rows::of(columns.clone());
        self.send(Event::Columns(columns))
    }

    #[inline]
    fn begin_row(&mut self) {
        self.rows.begin_row();
    }

    #[inline]
    fn null(&mut self) {
        self.rows.push(Cell::Null);
    }

    #[inline]
    fn int(&mut self, value: i64) {
        self.rows.push(Cell::Int(value));
    }

    #[inline]
    fn uint(&mut self, value: u64) {
        self.rows.push(Cell::UInt(value));
    }

    fn float(&mut self, value: f32) {
        self.rows.push(Cell::Double(f64::from(value)));
    }

    fn double(&mut self, value: f64) {
        self.rows.push(Cell::Double(value));
    }

    #[inline]
    fn bytes(&mut self, value: &[u8]) {
        self.rows.push_bytes(value);
    }

    fn date(&mut self, value: Date) {
        self.rows.push(Cell::Date(value));
    }

    fn time(&mut self, value: Time, fsp: u8) {
        self.rows.push(Cell::Time(value, fsp));
    }

    fn datetime(&mut self, value: DateTime, fsp: u8) {
        self.rows.push(Cell::DateTime(value, fsp));
    }

    #[inline]
    fn end_row(&mut self) -> Result<(), SqlError> {
        self.rows.end_row();
        match self.rows.size() >= self.batch {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn complete(&mut self, completion: &Completion, more: bool) -> Result<(), SqlError> {
        if !self.rows.is_empty() {
            let rows = std::mem::take(&mut self.rows);
            self.send(Event::Rows(rows))?;
        }
        let mut outcome = Outcome::default();
        outcome.note(completion);
        self.send(Event::Done(outcome, more))
    }
}

/// Where events come from.
pub(super) enum Events {
    Held(VecDeque<Event>),
    Streamed(Streaming),
}

/// The results of one call: of one statement, of several that semicolons separate, or of a CALL.
/// The first is present from the start, [`Results::next_result`] goes on to the next.
///
/// ```
/// # fn main() -> inia::Result<()> {
/// let database = inia::Database::in_memory()?;
/// let connection = inia::SharedConnection::new(database.connect()?);
/// let mut results = connection.query("SELECT 1; SELECT 'a', 'b'")?;
/// assert_eq!(results.next_row()?.unwrap().get::<i64>(0)?, 1);
/// assert!(results.next_result()?);
/// assert_eq!(results.columns().len(), 2);
/// # Ok(())
/// # }
/// ```
pub struct Results {
    events: Events,
    columns: Option<Arc<[Column]>>,
    rows: Rows,
    /// The next row of `rows`.
    next: usize,
    /// How the present result ended, once it has.
    outcome: Option<Outcome>,
}

impl Results {
    /// The results that events give, the first of which is awaited: its error is the call's.
    pub(super) fn begin(events: Events) -> Result<Results> {
        let mut results =
            Results { events, columns: None, rows: Rows::default(), next: 0, outcome: None };
        results.next_result()?;
        Ok(results)
    }

    /// The columns of the present result; none where the statement has no result.
    pub fn columns(&self) -> &[Column] {
        self.columns.as_deref().unwrap_or_default()
    }

    /// Whether the present statement has a result with columns.
    pub fn has_columns(&self) -> bool {
        self.columns.is_some()
    }

    /// The next row of the present result.
    #[inline]
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>> {
        if self.next >= self.rows.len() && !self.fill()? {
            return Ok(None);
        }
        self.next += 1;
        Ok(self.rows.get(self.next - 1))
    }

    /// The row that [`Results::next_row`] gave last.
    #[inline]
    pub fn row(&self) -> Option<Row<'_>> {
        self.rows.get(self.next.checked_sub(1)?)
    }

    /// The rows of the present result that have not been taken, as many as are at hand; `None` at
    /// its end.
    pub fn next_rows(&mut self) -> Result<Option<Rows>> {
        if self.next >= self.rows.len() && !self.fill()? {
            return Ok(None);
        }
        let taken = std::mem::take(&mut self.next);
        let rows = std::mem::take(&mut self.rows);
        if taken == 0 {
            return Ok(Some(rows));
        }
        Ok(Some(rows.without_first(taken)))
    }

    /// How many rows of the present result are at hand and not taken. All of them where results
    /// are held.
    pub fn rows_at_hand(&mut self) -> Result<usize> {
        if self.next >= self.rows.len() {
            self.fill()?;
        }
        Ok(self.rows.len() - self.next)
    }

    /// Goes on to the next result and drops rows that are left of the present one; false at the
    /// end of all.
    pub fn next_result(&mut self) -> Result<bool> {
        while self.outcome.is_none() && self.columns.is_some() {
            self.next = self.rows.len();
            if !self.fill()? {
                break;
            }
        }
        (self.rows, self.next) = (Rows::default(), 0);
        let (columns, outcome) = match self.pull() {
            Some(Event::Columns(columns)) => (Some(columns), None),
            Some(Event::Done(outcome, _)) => (None, Some(outcome)),
            Some(Event::Failed(error)) => return Err(error),
            Some(Event::Rows(_)) | None => return Ok(false),
        };
        (self.columns, self.outcome) = (columns, outcome);
        Ok(true)
    }

    /// How the present statement ended; `None` while it has rows to read.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Takes the next rows from the events; false at the end of the result.
    fn fill(&mut self) -> Result<bool> {
        if self.outcome.is_some() || self.columns.is_none() {
            return Ok(false);
        }
        match self.pull() {
            Some(Event::Rows(rows)) => {
                (self.rows, self.next) = (rows, 0);
                return Ok(true);
            }
            Some(Event::Failed(error)) => {
                self.outcome = Some(Outcome::default());
                return Err(error);
            }
            Some(Event::Done(outcome, _)) => self.outcome = Some(outcome),
            Some(Event::Columns(_)) | None => self.outcome = Some(Outcome::default()),
        }
        Ok(false)
    }

    fn pull(&mut self) -> Option<Event> {
        match &mut self.events {
            Events::Held(events) => events.pop_front(),
            Events::Streamed(streaming) => streaming.next(),
        }
    }
}

impl fmt::Debug for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.columns().len();
        f.debug_struct("Results").field("columns", &columns).finish_non_exhaustive()
    }
}
