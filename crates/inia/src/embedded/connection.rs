//! One session of a program with its database.
//!
//! A connection keeps the statements with parameters that it ran last, prepared. It forgets them
//! when the default database or a variable changes, as both decide what a text means.

use super::convert::FromRow;
use super::database::Shared;
use super::error::{Error, ErrorKind, Result};
use super::params::Params;
use super::processes::Entry;
use super::results::{Collector, Event};
use super::row::{Row, RowBuffer};
use super::sink::RowReader;
use super::statement::Statement;
use inia_base::column::{Completion, RowSink, status};
use inia_base::error::SqlError;
use inia_base::stack::{on_new_stack, on_warm_stack};
use inia_base::value::Value;
use inia_sql::{KillHandle, Level, Session};
use std::cell::{RefCell, RefMut};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

/// So many statements stay prepared.
const KEPT_STATEMENTS: usize = 32;
/// The stack of closures that take rows one by one, beside the engine's work.
const CLOSURE_STACK: usize = 8 << 20;

/// How a statement ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// Rows that were changed; as in MySQL, an UPDATE to the same values changes none.
    pub affected_rows: u64,
    /// The first AUTO_INCREMENT value that the statement made, or 0.
    pub last_insert_id: u64,
    /// Number of warnings.
    pub warnings: u16,
    /// "Records: 3  Duplicates: 0  Warnings: 0" and the like; mostly empty.
    pub info: String,
}

impl Outcome {
    pub(super) fn note(&mut self, completion: &Completion) {
        self.affected_rows = completion.affected_rows;
        self.last_insert_id = completion.last_insert_id;
        self.warnings = completion.warnings;
        if !completion.info.is_empty() || !self.info.is_empty() {
            self.info.clone_from(&completion.info);
        }
    }
}

/// A warning, note or error of the last statement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// "Note", "Warning" or "Error".
    pub level: &'static str,
    /// MySQL's number.
    pub code: u16,
    /// The text.
    pub message: String,
}

/// What a call runs.
#[derive(Clone, Copy)]
pub(super) enum Source<'s> {
    /// A text.
    Text(&'s str),
    /// A prepared statement.
    Prepared(u32),
}

/// A session. A program makes one for each thread that works with the database; another thread may
/// take it over. See [`Database::connect`](super::Database::connect).
pub struct Connection {
    state: RefCell<State>,
    entry: Arc<Entry>,
    /// Comes last: the database closes after its sessions.
    _shared: Arc<Shared>,
}

struct State {
    session: Session,
    buffer: RowBuffer,
    values: Vec<Value>,
    kept: KeptStatements,
    last_insert_id: u64,
    affected_rows: u64,
    /// A text may have several statements.
    several: bool,
    /// A call has not come to its end: it runs, or has panicked.
    unfinished: bool,
}

/// Texts with their prepared statements, those used last in front.
#[derive(Default)]
struct KeptStatements {
    list: Vec<(Box<str>, u32)>,
    /// The default database that they are for.
    database: Option<String>,
}

impl KeptStatements {
    #[inline]
    fn find(&mut self, sql: &str) -> Option<u32> {
        let at = self.list.iter().position(|(text, _)| **text == *sql)?;
        if at > 0 {
            self.list[..=at].rotate_right(1);
        }
        Some(self.list[0].1)
    }

    fn clear(&mut self, session: &mut Session, entry: &Entry) {
        for (_, id) in self.list.drain(..) {
            session.close_prepared(id);
            entry.forget_text(id);
        }
    }

    /// The prepared statement of a text.
    fn take(&mut self, session: &mut Session, entry: &Entry, sql: &str) -> Result<u32> {
        if self.database.as_deref() != session.current_database() {
            self.clear(session, entry);
            self.database = session.current_database().map(str::to_owned);
        }
        if let Some(id) = self.find(sql) {
            return Ok(id);
        }
        let id = session.prepare(sql)?.id;
        if self.list.len() == KEPT_STATEMENTS
            && let Some((_, old)) = self.list.pop()
        {
            session.close_prepared(old);
            entry.forget_text(old);
        }
        entry.keep_text(id, sql);
        self.list.insert(0, (sql.into(), id));
        Ok(id)
    }
}

/// Whether a text may change what other texts mean.
fn changes_meaning(sql: &str) -> bool {
    let sql = sql.trim_start().as_bytes();
    let starts = |word: &[u8]| sql.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(word));
    starts(b"SET") || starts(b"USE")
}

impl Connection {
    pub(super) fn new(shared: Arc<Shared>, session: Session, entry: Arc<Entry>) -> Connection {
        let state = State {
            session,
            buffer: RowBuffer::default(),
            values: Vec::new(),
            kept: KeptStatements::default(),
            last_insert_id: 0,
            affected_rows: 0,
            several: true,
            unfinished: false,
        };
        Connection { state: RefCell::new(state), entry, _shared: shared }
    }

    /// Runs a statement. Rows that it may have are left out.
    pub fn execute(&self, sql: &str, params: impl Params) -> Result<Outcome> {
        self.run(Source::Text(sql), &params, |_| Ok(ControlFlow::Continue(())))
    }

    /// Runs statements that are separated by semicolons, up to the first that fails. Rows are left
    /// out.
    pub fn execute_batch(&self, sql: &str) -> Result<()> {
        self.with(|state, entry| {
            state.session.begin_command();
            entry.begin_text(sql);
            state.kept.clear(&mut state.session, entry);
            state.session.set_multi_statements(true);
            let mut reader = RowReader::new(&mut state.buffer, |_| Ok(ControlFlow::Continue(())));
            let executed = state.session.execute(sql, &mut reader);
            let ended = reader.end(executed);
            entry.end();
            state.session.set_multi_statements(false);
            entry.set_database(state.session.current_database());
            state.note(ended.as_ref().ok());
            ended.map(drop)
        })
    }

    /// The rows of a statement.
    pub fn query<T: FromRow>(&self, sql: &str, params: impl Params) -> Result<Vec<T>> {
        self.rows(Source::Text(sql), &params)
    }

    /// The only row of a statement, or its first. Error of kind
    /// [`NoRow`](ErrorKind::NoRow) where there is none.
    pub fn query_one<T: FromRow>(&self, sql: &str, params: impl Params) -> Result<T> {
        self.first(Source::Text(sql), &params)?.ok_or_else(no_row)
    }

    /// The first row of a statement, if there is one.
    pub fn query_optional<T: FromRow>(&self, sql: &str, params: impl Params) -> Result<Option<T>> {
        self.first(Source::Text(sql), &params)
    }

    /// Gives the rows of a statement to `take`, one by one while they are read. An error of `take`
    /// ends the statement and is returned. Meanwhile the connection takes no other call.
    ///
    /// ```
    /// # fn main() -> inia::Result<()> {
    /// # let connection = inia::Database::in_memory()?.connect()?;
    /// let mut sum = 0;
    /// connection.for_each("VALUES ROW(1), ROW(2), ROW(3)", (), |row| {
    ///     sum += row.get::<i64>(0)?;
    ///     Ok(())
    /// })?;
    /// assert_eq!(sum, 6);
    /// # Ok(())
    /// # }
    /// ```
    pub fn for_each(
        &self,
        sql: &str,
        params: impl Params,
        mut take: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<Outcome> {
        self.stream(Source::Text(sql), &params, |row| take(row).map(ControlFlow::Continue))
    }

    /// As [`Connection::for_each`]; `take` ends the statement by `ControlFlow::Break`.
    pub fn try_for_each(
        &self,
        sql: &str,
        params: impl Params,
        take: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<Outcome> {
        self.stream(Source::Text(sql), &params, take)
    }

    /// Prepares a statement: its text is parsed and planned once.
    pub fn prepare(&self, sql: &str) -> Result<Statement<'_>> {
        self.with(|state, entry| {
            state.session.begin_command();
            let prepared = state.session.prepare(sql)?;
            entry.keep_text(prepared.id, sql);
            Ok(Statement::new(self, prepared.id, prepared.params.len()))
        })
    }

    /// Makes this the default database.
    pub fn use_database(&self, name: &str) -> Result<()> {
        self.with(|state, entry| {
            state.session.use_database(name)?;
            entry.set_database(state.session.current_database());
            Ok(())
        })
    }

    /// Whether a text that a [`SharedConnection`](super::SharedConnection) runs without parameters
    /// may have several statements, as it may from the start. A program that puts values into texts
    /// forbids it.
    pub fn allow_several_statements(&self, allowed: bool) -> Result<()> {
        self.with(|state, _| {
            state.several = allowed;
            Ok(())
        })
    }

    /// The default database.
    pub fn current_database(&self) -> Option<String> {
        let state = self.state.try_borrow().ok()?;
        state.session.current_database().map(str::to_owned)
    }

    /// The first AUTO_INCREMENT value that the last statement made; 0 where it made none.
    pub fn last_insert_id(&self) -> u64 {
        self.state.try_borrow().map_or(0, |state| state.last_insert_id)
    }

    /// Rows that the last statement changed.
    pub fn affected_rows(&self) -> u64 {
        self.state.try_borrow().map_or(0, |state| state.affected_rows)
    }

    /// Conditions of the last statement, as SHOW WARNINGS shows them.
    pub fn warnings(&self) -> Vec<Warning> {
        let Ok(state) = self.state.try_borrow() else { return Vec::new() };
        let warnings = state.session.warnings().iter().map(|warning| Warning {
            level: level_name(warning.level),
            code: warning.number(),
            message: warning.message.clone(),
        });
        warnings.collect()
    }

    /// Whether a transaction is open.
    pub fn in_transaction(&self) -> bool {
        let state = self.state.try_borrow();
        state.is_ok_and(|state| state.session.status_flags() & status::IN_TRANS != 0)
    }

    /// The number that CONNECTION_ID() gives.
    pub fn id(&self) -> u32 {
        self.entry.id()
    }

    /// A handle by which another thread ends what this connection runs. A statement that is ended
    /// fails with error 1317.
    pub fn kill_handle(&self) -> KillHandle {
        self.entry.kill_handle()
    }

    /// Rolls back, and returns to the state of a new connection: variables, temporary tables,
    /// user locks.
    pub fn reset(&self) -> Result<()> {
        self.with(|state, entry| {
            state.kept.clear(&mut state.session, entry);
            state.session.reset()?;
            entry.set_kill_handle(state.session.kill_handle());
            Ok(())
        })
    }

    pub(super) fn rows<T: FromRow>(
        &self,
        source: Source<'_>,
        params: &impl Params,
    ) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        self.run(source, params, |row| {
            rows.push(T::from_row(row)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(rows)
    }

    pub(super) fn first<T: FromRow>(
        &self,
        source: Source<'_>,
        params: &impl Params,
    ) -> Result<Option<T>> {
        let mut first = None;
        self.run(source, params, |row| {
            if first.is_none() {
                first = Some(T::from_row(row)?);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(first)
    }

    /// Runs a statement whose rows go to conversions, which need little stack.
    #[inline]
    pub(super) fn run(
        &self,
        source: Source<'_>,
        params: &impl Params,
        take: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<Outcome> {
        self.with(|state, entry| state.run(entry, source, params, take))
    }

    /// Runs a statement whose rows go to a closure, which may need more stack than the engine.
    pub(super) fn stream(
        &self,
        source: Source<'_>,
        params: &impl Params,
        take: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<Outcome> {
        let mut done = self.borrow()?;
        done.unfinished = true;
        let state = &mut *done;
        let outcome = on_new_stack(CLOSURE_STACK, || state.run(&self.entry, source, params, take));
        done.unfinished = false;
        outcome
    }

    /// Runs what `source` is and gives all results to `send`, which needs little stack.
    pub(super) fn collect(
        &self,
        source: Source<'_>,
        params: &impl Params,
        batch: usize,
        send: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        self.with(|state, entry| state.collect(entry, source, params, batch, send))
    }

    /// Works on the session, on a stack that is large enough for every statement.
    #[inline]
    fn with<T>(&self, work: impl FnOnce(&mut State, &Entry) -> Result<T>) -> Result<T> {
        let mut state = self.borrow()?;
        state.unfinished = true;
        let result = on_warm_stack(|| work(&mut state, &self.entry));
        state.unfinished = false;
        result
    }

    #[inline]
    fn borrow(&self) -> Result<RefMut<'_, State>> {
        let state = self.state.try_borrow_mut().map_err(|_| out_of_sync())?;
        if state.unfinished {
            let text = "an internal error has ended the connection";
            return Err(Error::new(ErrorKind::Connection, text));
        }
        Ok(state)
    }

    /// Forgets a prepared statement. One that goes while rows are read stays until the connection
    /// ends.
    pub(super) fn close_statement(&self, id: u32) {
        if let Ok(mut state) = self.state.try_borrow_mut() {
            state.session.close_prepared(id);
            self.entry.forget_text(id);
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("id", &self.id()).finish_non_exhaustive()
    }
}

impl State {
    fn run(
        &mut self,
        entry: &Entry,
        source: Source<'_>,
        params: &impl Params,
        take: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<Outcome> {
        let State { session, values, kept, buffer, .. } = self;
        let mut reader = RowReader::new(buffer, take);
        let execution = Execution { session, values, kept, entry };
        let executed = execution.run(source, params, &mut reader);
        let outcome = executed.and_then(|executed| reader.end(executed));
        self.note(outcome.as_ref().ok());
        outcome
    }

    /// Runs a statement, or statements that semicolons separate, and gives all their results to
    /// `send`, rows in batches of so many bytes.
    fn collect(
        &mut self,
        entry: &Entry,
        source: Source<'_>,
        params: &impl Params,
        batch: usize,
        send: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        let mut last = None;
        let mut refused = None;
        let mut sink = Collector::new(batch, |event| {
            if let Event::Done(outcome, _) = &event {
                last = Some((outcome.affected_rows, outcome.last_insert_id));
            }
            send(event).inspect_err(|error| refused = Some(error.clone()))
        });
        let several = matches!(source, Source::Text(sql) if sql.contains(';'));
        let several = several && self.several && params.is_empty();
        if several {
            // What a statement among several does to names and variables is not looked at.
            self.kept.clear(&mut self.session, entry);
            self.session.set_multi_statements(true);
        }
        let State { session, values, kept, .. } = &mut *self;
        let execution = Execution { session, values, kept, entry };
        let executed = execution.run(source, params, &mut sink);
        if several {
            self.session.set_multi_statements(false);
            entry.set_database(self.session.current_database());
        }
        drop(sink);
        (self.affected_rows, self.last_insert_id) = last.unwrap_or_default();
        match (refused, executed) {
            (Some(error), _) => Err(error),
            (None, executed) => executed?.map_err(Error::from),
        }
    }

    #[inline]
    fn note(&mut self, outcome: Option<&Outcome>) {
        let counts = outcome.map(|outcome| (outcome.affected_rows, outcome.last_insert_id));
        (self.affected_rows, self.last_insert_id) = counts.unwrap_or_default();
    }
}

/// What one statement runs with.
struct Execution<'s> {
    session: &'s mut Session,
    values: &'s mut Vec<Value>,
    kept: &'s mut KeptStatements,
    entry: &'s Entry,
}

impl Execution<'_> {
    /// Runs a statement whose rows go to `sink`. An error where it does not begin; inside is how it
    /// ended.
    #[inline]
    fn run(
        self,
        source: Source<'_>,
        params: &impl Params,
        sink: &mut impl RowSink,
    ) -> Result<Result<(), SqlError>> {
        let Execution { session, values, kept, entry } = self;
        session.begin_command();
        let text = match source {
            Source::Text(sql) if params.is_empty() => Some(sql),
            _ => None,
        };
        let id = match source {
            Source::Text(sql) if text.is_none() => kept.take(session, entry, sql)?,
            Source::Prepared(id) => id,
            Source::Text(_) => 0,
        };
        let executed = match text {
            Some(sql) => {
                entry.begin_text(sql);
                session.execute(sql, sink)
            }
            None => {
                entry.begin_statement(id);
                values.clear();
                params.append(values);
                session.execute_prepared(id, values, sink)
            }
        };
        entry.end();
        if text.is_some_and(changes_meaning) {
            kept.clear(session, entry);
            entry.set_database(session.current_database());
        }
        Ok(executed)
    }
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Note => "Note",
        Level::Warning => "Warning",
        Level::Error => "Error",
    }
}

fn no_row() -> Error {
    Error::new(ErrorKind::NoRow, "the statement has no row")
}

/// What a session says while it runs something else, as MySQL's client library does.
pub(super) fn out_of_sync() -> Error {
    let text = "Commands out of sync; you can't run this command now";
    Error::new(ErrorKind::Connection, text)
}
