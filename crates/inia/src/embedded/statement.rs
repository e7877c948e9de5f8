//! A prepared statement.

use super::connection::{Connection, Outcome, Source};
use super::convert::FromRow;
use super::error::{Error, ErrorKind, Result};
use super::params::Params;
use super::row::Row;
use std::ops::ControlFlow;

/// A statement that was parsed and planned once; it is closed when it is dropped.
///
/// ```
/// # fn main() -> inia::Result<()> {
/// # let connection = inia::Database::in_memory()?.connect()?;
/// let larger = connection.prepare("SELECT ? + 1")?;
/// for n in 0..3 {
///     assert_eq!(larger.query_one::<i64>([n])?, n + 1);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Statement<'c> {
    connection: &'c Connection,
    id: u32,
    params: usize,
}

impl<'c> Statement<'c> {
    pub(super) fn new(connection: &'c Connection, id: u32, params: usize) -> Statement<'c> {
        Statement { connection, id, params }
    }

    /// How many parameters it has.
    pub fn param_count(&self) -> usize {
        self.params
    }

    /// Runs it. Rows that it may have are left out.
    pub fn execute(&self, params: impl Params) -> Result<Outcome> {
        self.connection.run(self.source(), &params, |_| Ok(ControlFlow::Continue(())))
    }

    /// Its rows.
    pub fn query<T: FromRow>(&self, params: impl Params) -> Result<Vec<T>> {
        self.connection.rows(self.source(), &params)
    }

    /// Its only row, or its first. Error of kind [`NoRow`](ErrorKind::NoRow) where there is none.
    #[inline]
    pub fn query_one<T: FromRow>(&self, params: impl Params) -> Result<T> {
        let first = self.connection.first(self.source(), &params)?;
        first.ok_or_else(|| Error::new(ErrorKind::NoRow, "the statement has no row"))
    }

    /// Its first row, if there is one.
    pub fn query_optional<T: FromRow>(&self, params: impl Params) -> Result<Option<T>> {
        self.connection.first(self.source(), &params)
    }

    /// Gives its rows to `take`, as [`Connection::for_each`] does.
    pub fn for_each(
        &self,
        params: impl Params,
        mut take: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<Outcome> {
        let take = |row: &Row<'_>| take(row).map(ControlFlow::Continue);
        self.connection.stream(self.source(), &params, take)
    }

    /// Gives its rows to `take` until that breaks, as [`Connection::try_for_each`] does.
    pub fn try_for_each(
        &self,
        params: impl Params,
        take: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<Outcome> {
        self.connection.stream(self.source(), &params, take)
    }

    /// Its id and the number of its parameters; it stays open.
    pub(super) fn into_parts(self) -> (u32, usize) {
        let parts = (self.id, self.params);
        std::mem::forget(self);
        parts
    }

    fn source(&self) -> Source<'static> {
        Source::Prepared(self.id)
    }
}

impl Drop for Statement<'_> {
    fn drop(&mut self) {
        self.connection.close_statement(self.id);
    }
}
