//! A session: one client's statements, one after another.
//!
//! The pipeline is [`Session::execute`]: parse → bind → plan → optimize → exec.

use crate::database::{ClientInfo, Database};
use crate::diagnostics::Diagnostics;
use inia_base::column::{ResultColumn, RowSink};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_storage::{Interrupter, Txn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bits of [`Session::status_flags`], as in the protocol.
pub mod status {
    /// A transaction is open.
    pub const IN_TRANSACTION: u16 = 1;
    /// Autocommit is on.
    pub const AUTOCOMMIT: u16 = 2;
    /// More results follow.
    pub const MORE_RESULTS: u16 = 8;
    /// Backslash is an ordinary character in strings.
    pub const NO_BACKSLASH_ESCAPES: u16 = 512;
    /// The open transaction is read only.
    pub const IN_READ_ONLY_TRANSACTION: u16 = 8192;
}

/// A prepared statement as its client sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// Handle.
    pub id: u32,
    /// One description per parameter.
    pub params: Vec<ResultColumn>,
    /// The result's columns; empty for statements without rows.
    pub columns: Vec<ResultColumn>,
    /// Number of warnings.
    pub warnings: u16,
}

/// Ends another session's statement or connection (KILL).
#[derive(Clone)]
pub struct KillHandle {
    killed: Arc<AtomicU8>,
    interrupter: Interrupter,
}

impl KillHandle {
    /// Ends the running statement.
    pub fn kill_query(&self) {
        self.killed.fetch_max(1, Ordering::SeqCst);
    }

    /// Ends the session; its owner sees [`KillHandle::connection_killed`].
    pub fn kill_connection(&self) {
        self.killed.fetch_max(2, Ordering::SeqCst);
    }

    /// Whether the connection is to be closed.
    pub fn connection_killed(&self) -> bool {
        self.killed.load(Ordering::SeqCst) >= 2
    }

    /// The storage engine's part.
    pub fn interrupter(&self) -> &Interrupter {
        &self.interrupter
    }
}

/// One client's session.
pub struct Session {
    db: Arc<Database>,
    client: ClientInfo,
    txn: Txn,
    current_database: Option<String>,
    diagnostics: Diagnostics,
    killed: Arc<AtomicU8>,
    client_found_rows: bool,
    multi_statements: bool,
}

impl Session {
    pub(crate) fn new(db: Arc<Database>, client: ClientInfo) -> Session {
        let txn = db.engine.attach();
        Session {
            db,
            client,
            txn,
            current_database: None,
            diagnostics: Diagnostics::default(),
            killed: Arc::default(),
            client_found_rows: false,
            multi_statements: false,
        }
    }

    /// Executes one statement, or several separated by semicolons when the client asked for that.
    /// The sink gets one result per statement.
    pub fn execute(&mut self, sql: &str, sink: &mut dyn RowSink) -> Result<(), SqlError> {
        let _ = (sql, sink, self.multi_statements, self.client_found_rows);
        Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"statements"]))
    }

    /// Prepares one statement.
    pub fn prepare(&mut self, _sql: &str) -> Result<Prepared, SqlError> {
        Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"prepared statements"]))
    }

    /// Executes a prepared statement.
    pub fn execute_prepared(
        &mut self,
        _id: u32,
        _params: &[Value],
        _sink: &mut dyn RowSink,
    ) -> Result<(), SqlError> {
        Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"prepared statements"]))
    }

    /// Forgets a prepared statement; unknown ids are ignored.
    pub fn close_prepared(&mut self, _id: u32) {}

    /// USE, and COM_INIT_DB.
    pub fn use_database(&mut self, name: &str) -> Result<(), SqlError> {
        if self.db.catalog().schema(name).is_none() {
            return Err(SqlError::new(ErrorCode::UnknownDatabase, &[&name]));
        }
        self.current_database = Some(name.to_owned());
        Ok(())
    }

    /// The current database.
    pub fn current_database(&self) -> Option<&str> {
        self.current_database.as_deref()
    }

    /// COM_RESET_CONNECTION: rolls back and returns to the state after login.
    pub fn reset(&mut self) -> Result<(), SqlError> {
        self.current_database = None;
        Ok(())
    }

    /// COM_CHANGE_USER: as [`Session::reset`], with another client.
    pub fn change_user(&mut self, client: ClientInfo) -> Result<(), SqlError> {
        self.reset()?;
        self.client = client;
        Ok(())
    }

    /// The protocol's status bits, without MORE_RESULTS.
    pub fn status_flags(&self) -> u16 {
        status::AUTOCOMMIT
    }

    /// A handle by which other threads end this session's work.
    pub fn kill_handle(&self) -> KillHandle {
        KillHandle { killed: self.killed.clone(), interrupter: self.txn.interrupter() }
    }

    /// Who the session belongs to.
    pub fn client(&self) -> &ClientInfo {
        &self.client
    }

    /// Conditions of the last statement.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// Affected rows count matched instead of changed rows (CLIENT_FOUND_ROWS).
    pub fn set_client_found_rows(&mut self, on: bool) {
        self.client_found_rows = on;
    }

    /// Several statements in one text are allowed (CLIENT_MULTI_STATEMENTS).
    pub fn set_multi_statements(&mut self, on: bool) {
        self.multi_statements = on;
    }
}
