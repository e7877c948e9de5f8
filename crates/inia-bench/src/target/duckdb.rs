//! DuckDB, in this process: a column store to read with. It syncs its write-ahead log at each
//! commit.
//!
//! A process has one instance of a database file; connections share it.

use super::{
    Answer, BulkFormat, Class, Connection, Dialect, Durability, Facts, Failure, Param, Prepared,
    Product, Result, Stopper, Target,
};
use duckdb::types::{TimeUnit, ToSqlOutput, ValueRef};
use duckdb::{InterruptHandle, ToSql};
use inia_base::temporal::Date;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// A database file.
pub struct DuckDbTarget {
    label: String,
    path: String,
    /// The instance, once it is open.
    instance: Mutex<Option<duckdb::Connection>>,
}

impl DuckDbTarget {
    /// The database in this file, made if it is not there.
    pub fn new(label: String, path: String) -> DuckDbTarget {
        DuckDbTarget { label, path, instance: Mutex::new(None) }
    }

    fn open(&self) -> Result<duckdb::Connection> {
        let mut instance = self.instance.lock().expect("opening does not panic");
        let opened = match &mut *instance {
            Some(opened) => opened,
            closed => {
                let opened = duckdb::Connection::open(&self.path).map_err(|error| {
                    let message = format!("{}: cannot open {}: {error}", self.label, self.path);
                    Failure::new(Class::Unreachable, message)
                })?;
                closed.insert(opened)
            }
        };
        opened.try_clone().map_err(failure)
    }
}

impl Target for DuckDbTarget {
    fn label(&self) -> &str {
        &self.label
    }

    fn dialect(&self) -> Dialect {
        Dialect::DuckDb
    }

    fn connect(&self) -> Result<Box<dyn Connection>> {
        Ok(Box::new(DuckDb { connection: self.open()?, statements: Vec::new() }))
    }

    fn create_database(&self) -> Result<()> {
        self.open().map(drop)
    }

    fn facts(&self) -> Result<Facts> {
        let mut connection = DuckDb { connection: self.open()?, statements: Vec::new() };
        let mut answer = Answer::new();
        connection.query("SELECT library_version FROM pragma_version()", &mut answer)?;
        let version = answer.text(0, 0).unwrap_or_default();
        let mut settings = BTreeMap::new();
        for name in ["threads", "memory_limit", "checkpoint_threshold"] {
            connection.query(&format!("SELECT current_setting('{name}')"), &mut answer)?;
            settings.insert(name.to_owned(), answer.text(0, 0).unwrap_or_default());
        }
        let parent = Path::new(&self.path).parent().filter(|p| !p.as_os_str().is_empty());
        Ok(Facts {
            product: Product::DuckDb,
            version,
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

/// DuckDB's errors have no numbers: their kind stands in front of the message.
fn failure(error: duckdb::Error) -> Failure {
    let message = error.to_string();
    let class = match () {
        () if message.contains("Conflict on") || message.contains("write-write conflict") => {
            Class::Retry
        }
        () if message.contains("Duplicate key") => Class::Duplicate,
        () if message.contains("No space left") => Class::DiskFull,
        () => Class::Statement,
    };
    Failure::new(class, message)
}

struct DuckDb {
    connection: duckdb::Connection,
    /// Texts of the prepared statements; the connection caches what they compile to.
    statements: Vec<String>,
}

struct Bound<'a>(Param<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> duckdb::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Param::Null => ValueRef::Null,
            Param::Int(value) => ValueRef::BigInt(value),
            Param::Double(value) => ValueRef::Double(value),
            Param::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

/// Whether a statement has rows; of the others DuckDB gives the number of rows changed.
fn has_rows(sql: &str) -> bool {
    let word = sql.split_whitespace().next().unwrap_or_default();
    ["SELECT", "WITH", "SHOW", "EXPLAIN"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Runs a statement.
fn run(
    statement: &mut duckdb::Statement<'_>,
    params: &[Param<'_>],
    rows: bool,
    answer: &mut Answer,
) -> Result<()> {
    let bound = duckdb::params_from_iter(params.iter().map(|param| Bound(*param)));
    if !rows {
        let changed = statement.execute(bound).map_err(failure)?;
        answer.set_affected(changed as u64, 0);
        return Ok(());
    }
    let mut found = statement.query(bound).map_err(failure)?;
    let columns = found.as_ref().map_or(0, duckdb::Statement::column_count);
    answer.set_columns(columns);
    while let Some(row) = found.next().map_err(failure)? {
        for column in 0..columns {
            put(answer, row.get_ref(column).map_err(failure)?)?;
        }
    }
    Ok(())
}

fn put(answer: &mut Answer, value: ValueRef<'_>) -> Result<()> {
    match value {
        ValueRef::Null => answer.push_null(),
        ValueRef::Boolean(value) => answer.push_int(i64::from(value)),
        ValueRef::TinyInt(value) => answer.push_int(i64::from(value)),
        ValueRef::SmallInt(value) => answer.push_int(i64::from(value)),
        ValueRef::Int(value) => answer.push_int(i64::from(value)),
        ValueRef::BigInt(value) => answer.push_int(value),
        ValueRef::HugeInt(value) => match i64::try_from(value) {
            Ok(value) => answer.push_int(value),
            Err(_) => answer.push_text(value.to_string().as_bytes()),
        },
        ValueRef::Float(value) => answer.push_double(f64::from(value)),
        ValueRef::Double(value) => answer.push_double(value),
        ValueRef::Decimal(value) => answer.push_text(value.to_string().as_bytes()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => answer.push_text(bytes),
        ValueRef::Date32(days) => moment(answer, i64::from(days) * DAY, 10),
        ValueRef::Timestamp(TimeUnit::Microsecond, micros) => moment(answer, micros, 26),
        other => {
            let message = format!("a value of a type that the lab does not read: {other:?}");
            return Err(Failure::new(Class::Unsupported, message));
        }
    }
    Ok(())
}

/// A moment, or as much of its beginning as it has.
fn moment(answer: &mut Answer, micros: i64, length: usize) {
    let mut text = Vec::new();
    if let Some(moment) = Date::new(1970, 1, 1).at_midnight().add_micros(micros) {
        moment.write_text(6, &mut text);
    }
    answer.push_text(&text[..length.min(text.len())]);
}

struct Interrupter(Arc<InterruptHandle>);

impl Stopper for Interrupter {
    fn stop(&self) -> Result<()> {
        self.0.interrupt();
        Ok(())
    }
}

impl Connection for DuckDb {
    fn stopper(&mut self) -> Result<Option<Box<dyn Stopper>>> {
        Ok(Some(Box::new(Interrupter(self.connection.interrupt_handle()))))
    }

    fn query(&mut self, sql: &str, answer: &mut Answer) -> Result<()> {
        answer.clear();
        let mut statement = self.connection.prepare(sql).map_err(failure)?;
        run(&mut statement, &[], has_rows(sql), answer)
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
        run(&mut statement, params, has_rows(text), answer)
    }

    fn bulk_format(&mut self) -> BulkFormat {
        BulkFormat::Copy
    }

    /// DuckDB's appender takes rows without a statement.
    fn bulk(&mut self, table: &str, columns: &str, rows: &str, answer: &mut Answer) -> Result<()> {
        answer.clear();
        let columns: Vec<&str> = columns.split(',').map(str::trim).collect();
        let opened = self.connection.appender_with_columns(table, &columns);
        let mut appender = opened.map_err(failure)?;
        let mut count = 0;
        for line in rows.lines() {
            let cells = line.split('\t').map(unescaped);
            appender.append_row(duckdb::appender_params_from_iter(cells)).map_err(failure)?;
            count += 1;
        }
        appender.flush().map_err(failure)?;
        answer.set_affected(count, 0);
        Ok(())
    }
}

/// A cell of [`BulkFormat::Copy`].
fn unescaped(cell: &str) -> Option<String> {
    if cell == "\\N" {
        return None;
    }
    let mut text = String::with_capacity(cell.len());
    let mut letters = cell.chars();
    while let Some(letter) = letters.next() {
        let escaped = if letter == '\\' { letters.next() } else { None };
        text.push(match escaped {
            None => letter,
            Some('t') => '\t',
            Some('n') => '\n',
            Some('r') => '\r',
            Some(other) => other,
        });
    }
    Some(text)
}

#[cfg(test)]
mod tests;
