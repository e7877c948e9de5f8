//! What rows go into: a server, or a data directory that this process opens.

use super::columns::quoted_name;
use super::table::{Table, TableName};
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::login_url::{Connection, LoginUrl};
use crate::open;
use inia_base::column::{Completion, ResultColumn, RowSink};
use inia_base::error::SqlError;
use inia_base::temporal::{Date, DateTime, Time};
use inia_base::value::Value;
use inia_sql::{ClientInfo, Database, Session};
use inia_wire::client::ClientError;
use inia_wire::error::ServerError;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The name of a data directory begins so.
const DIRECTORY: &str = "inia:";

/// Bytes of a statement that a server takes which does not say.
const DEFAULT_PACKET: usize = 1 << 20;

/// Why a statement was not run.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The statement failed, and the session goes on.
    Statement(ServerError),
    /// The session is gone.
    Lost(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Statement(error) => error.fmt(f),
            Refusal::Lost(text) => f.write_str(text),
        }
    }
}

impl From<Refusal> for String {
    fn from(refusal: Refusal) -> String {
        refusal.to_string()
    }
}

/// Texts of a result's cells.
pub(super) type Cells = Vec<Vec<Option<String>>>;

/// A session that takes rows.
pub(super) enum Destination {
    /// Of a server.
    Server(Box<Connection>),
    /// Of a database in this process.
    Embedded(Box<Embedded>),
}

/// A data directory that this process has open.
pub(super) struct Embedded {
    session: Session,
    database: Arc<Database>,
    _owned: DataDir,
}

impl Drop for Embedded {
    fn drop(&mut self) {
        if let Err(error) = self.database.close() {
            eprintln!("inia: cannot close the database: {error}");
        }
    }
}

impl Destination {
    /// Connects to `mysql://…`, or opens `inia:DIRECTORY`. The session is strict, and backslashes
    /// escape in it.
    pub(super) fn open(url: &str) -> Result<Destination, String> {
        let directory = url.strip_prefix(DIRECTORY).filter(|rest| !rest.starts_with("//"));
        let mut destination = match directory {
            None => Destination::Server(Box::new(LoginUrl::parse(url)?.connect()?)),
            Some(directory) => {
                let owned = DataDir::take(Path::new(directory))?;
                let database = open::open(&owned, &Config::default(), true)?;
                let session = Session::new(&database, ClientInfo::default());
                let embedded = Embedded { session, database, _owned: owned };
                Destination::Embedded(Box::new(embedded))
            }
        };
        destination.run(
            b"SET SESSION sql_mode = CONCAT(REPLACE(REPLACE(@@sql_mode, 'NO_BACKSLASH_ESCAPES', \
              ''), 'ANSI_QUOTES', ''), ',STRICT_ALL_TABLES')",
        )?;
        Ok(destination)
    }

    /// Runs a statement without rows.
    pub(super) fn run(&mut self, sql: &[u8]) -> Result<(), Refusal> {
        self.ask(sql).map(drop)
    }

    /// Runs a statement and returns its rows.
    pub(super) fn rows(&mut self, sql: &str) -> Result<Cells, Refusal> {
        self.ask(sql.as_bytes())
    }

    fn ask(&mut self, sql: &[u8]) -> Result<Cells, Refusal> {
        match self {
            Destination::Server(connection) => asked_of_server(connection, sql),
            Destination::Embedded(embedded) => {
                let mut texts = TextRows::default();
                let run = embedded.session.execute_bytes(sql, &mut texts);
                run.map_err(|error| Refusal::Statement(ServerError::from(&error)))?;
                Ok(texts.rows)
            }
        }
    }

    /// A name with its database: that of the session, where the name has none. In a data directory
    /// a database that is named is made, since there nobody else could.
    pub(super) fn settle(&mut self, name: TableName) -> Result<TableName, String> {
        if let Some(database) = &name.database {
            if matches!(self, Destination::Embedded(_)) {
                let database = quoted_name(database);
                self.run(format!("CREATE DATABASE IF NOT EXISTS {database}").as_bytes())?;
            }
            return Ok(name);
        }
        let database = self.rows("SELECT DATABASE()")?.into_iter().flatten().flatten().next();
        let Some(database) = database else {
            let table = &name.table;
            return Err(format!("which database is '{table}' in? give DATABASE.{table}"));
        };
        Ok(TableName { database: Some(database), ..name })
    }

    /// The table of this name, if there is one.
    pub(super) fn table(&mut self, name: &TableName) -> Result<Option<Table>, String> {
        let rows = self.rows(&Table::question(name))?;
        Table::read(name.clone(), &rows)
    }

    /// Bytes that a statement may have.
    pub(super) fn packet(&mut self) -> usize {
        let rows = self.rows("SELECT @@max_allowed_packet").unwrap_or_default();
        let limit = rows.into_iter().flatten().flatten().next();
        limit.and_then(|limit| limit.parse().ok()).unwrap_or(DEFAULT_PACKET)
    }
}

fn asked_of_server(connection: &mut Connection, sql: &[u8]) -> Result<Cells, Refusal> {
    let refused = |error: ClientError| match error {
        ClientError::Server(error) => Refusal::Statement(error),
        error => Refusal::Lost(error.to_string()),
    };
    connection.start_query_bytes(sql).map_err(refused)?;
    let mut rows = Vec::new();
    while let Some(result) = connection.next_result().map_err(refused)? {
        rows.extend(result.rows.into_iter().map(|row| row.into_iter().map(text_of).collect()));
    }
    Ok(rows)
}

fn text_of(value: Value) -> Option<String> {
    if value.is_null() {
        return None;
    }
    let mut text = Vec::new();
    value.write_text(&mut text);
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Takes rows as texts.
#[derive(Default)]
struct TextRows {
    rows: Cells,
}

impl TextRows {
    fn push(&mut self, value: Value) {
        if let Some(row) = self.rows.last_mut() {
            row.push(text_of(value));
        }
    }
}

impl RowSink for TextRows {
    fn columns(&mut self, _columns: &[ResultColumn]) -> Result<(), SqlError> {
        Ok(())
    }

    fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    fn null(&mut self) {
        self.push(Value::Null);
    }

    fn int(&mut self, value: i64) {
        self.push(Value::Int(value));
    }

    fn uint(&mut self, value: u64) {
        self.push(Value::UInt(value));
    }

    fn float(&mut self, value: f32) {
        self.push(Value::Double(f64::from(value)));
    }

    fn double(&mut self, value: f64) {
        self.push(Value::Double(value));
    }

    fn bytes(&mut self, value: &[u8]) {
        self.push(Value::Bytes(value.to_vec()));
    }

    fn date(&mut self, value: Date) {
        self.push(Value::Date(value));
    }

    fn time(&mut self, value: Time, _fsp: u8) {
        self.push(Value::Time(value));
    }

    fn datetime(&mut self, value: DateTime, _fsp: u8) {
        self.push(Value::DateTime(value));
    }

    fn end_row(&mut self) -> Result<(), SqlError> {
        Ok(())
    }

    fn complete(&mut self, _done: &Completion, _more: bool) -> Result<(), SqlError> {
        Ok(())
    }
}
