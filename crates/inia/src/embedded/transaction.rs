//! Transactions: a guard that rolls back unless it commits, and a closure around one.

use super::connection::Connection;
use super::error::{Error, ErrorKind, Result};
use std::ops::Deref;

/// An open transaction. Statements run by it as by its connection. Dropped without a commit, it
/// rolls back.
///
/// As in MySQL, most statements that define tables commit the transaction that is open.
#[derive(Debug)]
#[must_use = "a transaction rolls back when it is dropped"]
pub struct Transaction<'c> {
    connection: &'c Connection,
    open: bool,
}

impl Transaction<'_> {
    /// Commits; the changes are durable when the call returns.
    pub fn commit(mut self) -> Result<()> {
        self.open = false;
        self.connection.execute("COMMIT", ()).map(drop)
    }

    /// Rolls back.
    pub fn rollback(mut self) -> Result<()> {
        self.open = false;
        self.connection.execute("ROLLBACK", ()).map(drop)
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.open {
            // A connection that cannot roll back does so when it ends.
            let _ = self.connection.execute("ROLLBACK", ());
        }
    }
}

impl Connection {
    /// Begins a transaction. Error where one is open: SAVEPOINT nests.
    ///
    /// ```
    /// # fn main() -> inia::Result<()> {
    /// # let connection = inia::Database::in_memory()?.connect()?;
    /// # connection.execute_batch("CREATE DATABASE a; USE a; CREATE TABLE t (n INT)")?;
    /// let transaction = connection.begin()?;
    /// transaction.execute("INSERT INTO t VALUES (?)", (1,))?;
    /// transaction.commit()?;
    /// # assert_eq!(connection.query_one::<i64>("SELECT COUNT(*) FROM t", ())?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn begin(&self) -> Result<Transaction<'_>> {
        self.begin_as("START TRANSACTION")
    }

    /// Begins a transaction that only reads, of one moment's rows.
    pub fn begin_read_only(&self) -> Result<Transaction<'_>> {
        self.begin_as("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
    }

    fn begin_as(&self, statement: &str) -> Result<Transaction<'_>> {
        if self.in_transaction() {
            let text = "a transaction is open already; SAVEPOINT nests";
            return Err(Error::new(ErrorKind::Connection, text));
        }
        self.execute(statement, ())?;
        Ok(Transaction { connection: self, open: true })
    }

    /// Runs `work` in a transaction, which is committed when `work` succeeds and rolled back when
    /// it fails or panics.
    ///
    /// ```
    /// # fn main() -> inia::Result<()> {
    /// # let connection = inia::Database::in_memory()?.connect()?;
    /// # connection.execute_batch("CREATE DATABASE a; USE a; CREATE TABLE t (n INT PRIMARY KEY)")?;
    /// let moved: inia::Result<()> = connection.transaction(|transaction| {
    ///     transaction.execute("INSERT INTO t VALUES (?)", (1,))?;
    ///     transaction.execute("INSERT INTO t VALUES (?)", (1,))?;
    ///     Ok(())
    /// });
    /// assert!(moved.unwrap_err().is_duplicate_key());
    /// assert_eq!(connection.query_one::<i64>("SELECT COUNT(*) FROM t", ())?, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn transaction<T, E: From<Error>>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let transaction = self.begin()?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }
}
