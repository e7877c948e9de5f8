//! SQLite, in this process: write-ahead log, synced at each commit.

use super::{
    Answer, Class, Connection, Dialect, Durability, Facts, Failure, Param, Prepared, Product,
    Result, Stopper, Target,
};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, ToSql};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// How long a statement waits for another connection's transaction.
const BUSY: Duration = Duration::from_secs(30);

/// A database file.
pub struct SqliteTarget {
    label: String,
    path: String,
}

impl SqliteTarget {
    /// The database in this file, made if it is not there.
    pub fn new(label: String, path: String) -> SqliteTarget {
        SqliteTarget { label, path }
    }

    fn open(&self) -> Result<rusqlite::Connection> {
        let opened = rusqlite::Connection::open(&self.path).map_err(|error| {
            let message = format!("{}: cannot open {}: {error}", self.label, self.path);
            Failure::new(Class::Unreachable, message)
        })?;
        opened.busy_timeout(BUSY).map_err(failure)?;
        opened.pragma_update(None, "journal_mode", "WAL").map_err(failure)?;
        opened.pragma_update(None, "synchronous", "FULL").map_err(failure)?;
        Ok(opened)
    }
}

impl Target for SqliteTarget {
    fn label(&self) -> &str {
        &self.label
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn connect(&self) -> Result<Box<dyn Connection>> {
        Ok(Box::new(Sqlite { connection: self.open()?, statements: Vec::new() }))
    }

    fn create_database(&self) -> Result<()> {
        self.open().map(drop)
    }

    fn facts(&self) -> Result<Facts> {
        let connection = self.open()?;
        let mut settings = BTreeMap::new();
        for name in ["journal_mode", "synchronous", "cache_size", "page_size"] {
            let value: rusqlite::types::Value =
                connection.pragma_query_value(None, name, |row| row.get(0)).map_err(failure)?;
            settings.insert(name.to_owned(), format!("{value:?}"));
        }
        let parent = Path::new(&self.path).parent().filter(|p| !p.as_os_str().is_empty());
        Ok(Facts {
            product: Product::Sqlite,
            version: rusqlite::version().to_owned(),
            settings,
            durability: Durability::Durable,
            max_clients: None,
            pid: Some(std::process::id()),
            data_dir: Some(parent.unwrap_or(Path::new(".")).display().to_string()),
        })
    }

    fn loaders(&self) -> usize {
        1
    }
}

fn failure(error: rusqlite::Error) -> Failure {
    let message = error.to_string();
    let Some(code) = error.sqlite_error_code() else {
        return Failure::new(Class::Statement, message);
    };
    let extended = error.sqlite_error().map_or(0, |error| error.extended_code);
    let class = match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Class::Retry,
        ErrorCode::ConstraintViolation
            if matches!(
                extended,
                rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY
                    | rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE
            ) =>
        {
            Class::Duplicate
        }
        ErrorCode::DiskFull => Class::DiskFull,
        ErrorCode::PermissionDenied | ErrorCode::ReadOnly => Class::Privilege,
        ErrorCode::CannotOpen => Class::Unreachable,
        _ => Class::Statement,
    };
    Failure { class, code: extended.to_string(), message }
}

struct Sqlite {
    connection: rusqlite::Connection,
    /// Texts of the prepared statements; the connection caches what they compile to.
    statements: Vec<String>,
}

struct Bound<'a>(Param<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Param::Null => ValueRef::Null,
            Param::Int(value) => ValueRef::Integer(value),
            Param::Double(value) => ValueRef::Real(value),
            Param::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn collect(mut rows: rusqlite::Rows<'_>, columns: usize, answer: &mut Answer) -> Result<()> {
    answer.set_columns(columns);
    while let Some(row) = rows.next().map_err(failure)? {
        for column in 0..columns {
            match row.get_ref(column).map_err(failure)? {
                ValueRef::Null => answer.push_null(),
                ValueRef::Integer(value) => answer.push_int(value),
                ValueRef::Real(value) => answer.push_double(value),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => answer.push_text(bytes),
            }
        }
    }
    Ok(())
}

struct Interrupter(rusqlite::InterruptHandle);

impl Stopper for Interrupter {
    fn stop(&self) -> Result<()> {
        self.0.interrupt();
        Ok(())
    }
}

impl Connection for Sqlite {
    fn stopper(&mut self) -> Result<Option<Box<dyn Stopper>>> {
        Ok(Some(Box::new(Interrupter(self.connection.get_interrupt_handle()))))
    }

    fn query(&mut self, sql: &str, answer: &mut Answer) -> Result<()> {
        answer.clear();
        let mut statement = self.connection.prepare(sql).map_err(failure)?;
        let columns = statement.column_count();
        collect(statement.query([]).map_err(failure)?, columns, answer)?;
        if columns == 0 {
            let key = self.connection.last_insert_rowid() as u64;
            answer.set_affected(self.connection.changes(), key);
        }
        Ok(())
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        self.connection.set_prepared_statement_cache_capacity(self.statements.len() + 16);
        self.connection.prepare_cached(sql).map_err(failure)?;
        self.statements.push(sql.to_owned());
        Ok(Prepared(self.statements.len() as u32 - 1))
    }

    fn execute(
        &mut self,
        statement: Prepared,
        params: &[Param<'_>],
        answer: &mut Answer,
    ) -> Result<()> {
        answer.clear();
        let text = self.statements.get(statement.0 as usize);
        let text = text.ok_or_else(|| Failure::wrong("a statement of another connection"))?;
        let mut statement = self.connection.prepare_cached(text).map_err(failure)?;
        let columns = statement.column_count();
        let bound = rusqlite::params_from_iter(params.iter().map(|param| Bound(*param)));
        collect(statement.query(bound).map_err(failure)?, columns, answer)?;
        if columns == 0 {
            let key = self.connection.last_insert_rowid() as u64;
            answer.set_affected(self.connection.changes(), key);
        }
        Ok(())
    }
}
