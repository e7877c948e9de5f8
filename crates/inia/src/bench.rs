//! Inia in this process as a target of the lab.

use crate::config::Config;
use crate::data_dir::DataDir;
use crate::open;
use crate::server::VERSION;
use inia_base::column::{Completion, ResultColumn, RowSink, TakeBytes};
use inia_base::error::SqlError;
use inia_base::temporal::{Date, DateTime, Time};
use inia_base::value::Value;
use inia_bench::target::{
    Answer, BulkFormat, Class, Connection, Dialect, Durability, Facts, Failure, Param, Prepared,
    Product, Result, Stopper, Target, mysql,
};
use inia_sql::{ClientInfo, Database, KillHandle, Session};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes of rows that a session gets at once.
const PIECE: usize = 256 << 10;

const DATABASE: &str = inia_bench::target::url::DATABASE;

/// A data directory that this process has open.
struct Embedded {
    label: String,
    database: Arc<Database>,
    owned: DataDir,
    connections: AtomicU32,
}

/// Opens the directory, making it if it is not there, with pages in `pool` bytes of memory.
pub(crate) fn open(label: &str, dir: &str, pool: Option<&str>) -> Result<Arc<dyn Target>> {
    let unreachable = |message: String| Failure::new(Class::Unreachable, message);
    let mut config = Config::default();
    if let Some(size) = pool {
        let usage = |message: String| Failure::new(Class::Usage, message);
        config.set("buffer-pool-size", size).map_err(usage)?;
    }
    let owned = DataDir::take(Path::new(dir)).map_err(unreachable)?;
    let database = open::open(&owned, &config, true).map_err(unreachable)?;
    let label = label.to_owned();
    let embedded = Embedded { label, database, owned, connections: AtomicU32::new(1) };
    let mut answer = Answer::new();
    let allowed =
        embedded.session().execute("SET GLOBAL local_infile = ON", &mut Cells::new(&mut answer));
    allowed.map_err(|error| failure(&error))?;
    Ok(Arc::new(embedded))
}

impl Drop for Embedded {
    fn drop(&mut self) {
        if let Err(error) = self.database.close() {
            crate::log::note(format_args!("{}: {error}", self.label));
        }
    }
}

impl Embedded {
    fn session(&self) -> Session {
        Session::new(
            &self.database,
            ClientInfo {
                connection_id: self.connections.fetch_add(1, Ordering::Relaxed),
                found_rows: true,
                ..ClientInfo::default()
            },
        )
    }
}

impl Target for Embedded {
    fn label(&self) -> &str {
        &self.label
    }

    fn dialect(&self) -> Dialect {
        Dialect::MySql
    }

    fn connect(&self) -> Result<Box<dyn Connection>> {
        let mut session = self.session();
        session.use_database(DATABASE).map_err(|error| failure(&error))?;
        Ok(Box::new(EmbeddedConnection { session, values: Vec::new() }))
    }

    fn create_database(&self) -> Result<()> {
        let sql = format!("CREATE DATABASE IF NOT EXISTS {DATABASE}");
        let mut answer = Answer::new();
        let executed = self.session().execute(&sql, &mut Cells::new(&mut answer));
        executed.map_err(|error| failure(&error))
    }

    fn facts(&self) -> Result<Facts> {
        let mut answer = Answer::new();
        let pool = "SELECT @@GLOBAL.innodb_buffer_pool_size";
        let asked = self.session().execute(pool, &mut Cells::new(&mut answer));
        asked.map_err(|error| failure(&error))?;
        let pool = answer.text(0, 0).unwrap_or_default();
        let settings = BTreeMap::from([("innodb_buffer_pool_size".to_owned(), pool)]);
        Ok(Facts {
            product: Product::Embedded,
            version: VERSION.to_owned(),
            settings,
            durability: Durability::Durable,
            max_clients: None,
            pid: Some(std::process::id()),
            data_dir: Some(self.owned.path().display().to_string()),
        })
    }
}

fn failure(error: &SqlError) -> Failure {
    let code = error.number();
    Failure {
        class: mysql::class_of(code),
        code: code.to_string(),
        message: format!("ERROR {code} ({}): {}", error.sqlstate(), error.message),
    }
}

struct EmbeddedConnection {
    session: Session,
    values: Vec<Value>,
}

struct Killer(KillHandle);

impl Stopper for Killer {
    fn stop(&self) -> Result<()> {
        self.0.kill_query();
        Ok(())
    }
}

impl Connection for EmbeddedConnection {
    fn stopper(&mut self) -> Result<Option<Box<dyn Stopper>>> {
        Ok(Some(Box::new(Killer(self.session.kill_handle()))))
    }

    fn query(&mut self, sql: &str, answer: &mut Answer) -> Result<()> {
        answer.clear();
        self.session.begin_command();
        self.session.execute(sql, &mut Cells::new(answer)).map_err(|error| failure(&error))
    }

    fn bulk_format(&mut self) -> BulkFormat {
        BulkFormat::Copy
    }

    fn bulk(&mut self, table: &str, columns: &str, rows: &str, answer: &mut Answer) -> Result<()> {
        answer.clear();
        let sql = mysql::load_statement(table, columns);
        let mut cells = Cells { answer, file: rows.as_bytes(), warnings: 0 };
        self.session.begin_command();
        let loaded = self.session.execute(&sql, &mut cells);
        let warnings = cells.warnings;
        loaded.map_err(|error| failure(&error))?;
        if warnings == 0 {
            return Ok(());
        }
        // LOCAL makes warnings of errors: rows were changed or left out.
        self.query("SHOW WARNINGS LIMIT 1", answer)?;
        let (code, message) = (answer.text(0, 1), answer.text(0, 2));
        let code = code.unwrap_or_default();
        let class = mysql::class_of(code.parse().unwrap_or_default());
        Err(Failure { class, code, message: message.unwrap_or_default() })
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        self.session.begin_command();
        let prepared = self.session.prepare(sql).map_err(|error| failure(&error))?;
        Ok(Prepared(prepared.id))
    }

    fn execute(
        &mut self,
        statement: Prepared,
        params: &[Param<'_>],
        answer: &mut Answer,
    ) -> Result<()> {
        answer.clear();
        self.values.clear();
        self.values.extend(params.iter().map(|param| match *param {
            Param::Null => Value::Null,
            Param::Int(value) => Value::Int(value),
            Param::Double(value) => Value::Double(value),
            Param::Text(text) => Value::Text(text.to_owned()),
        }));
        self.session.begin_command();
        let executed =
            self.session.execute_prepared(statement.0, &self.values, &mut Cells::new(answer));
        executed.map_err(|error| failure(&error))
    }
}

struct Cells<'a> {
    answer: &'a mut Answer,
    /// What LOAD DATA LOCAL reads.
    file: &'a [u8],
    /// Warnings of the statement.
    warnings: u16,
}

impl<'a> Cells<'a> {
    fn new(answer: &'a mut Answer) -> Cells<'a> {
        Cells { answer, file: b"", warnings: 0 }
    }

    fn written(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut text = Vec::new();
        write(&mut text);
        self.answer.push_text(&text);
    }
}

impl RowSink for Cells<'_> {
    fn columns(&mut self, columns: &[ResultColumn]) -> std::result::Result<(), SqlError> {
        self.answer.clear();
        self.answer.set_columns(columns.len());
        Ok(())
    }

    fn begin_row(&mut self) {}

    fn null(&mut self) {
        self.answer.push_null();
    }

    fn int(&mut self, value: i64) {
        self.answer.push_int(value);
    }

    fn uint(&mut self, value: u64) {
        self.answer.push_int(value as i64);
    }

    fn float(&mut self, value: f32) {
        self.answer.push_double(f64::from(value));
    }

    fn double(&mut self, value: f64) {
        self.answer.push_double(value);
    }

    fn bytes(&mut self, value: &[u8]) {
        self.answer.push_text(value);
    }

    fn date(&mut self, value: Date) {
        self.written(|out| value.write_text(out));
    }

    fn time(&mut self, value: Time, fsp: u8) {
        self.written(|out| value.write_text(fsp, out));
    }

    fn datetime(&mut self, value: DateTime, fsp: u8) {
        self.written(|out| value.write_text(fsp, out));
    }

    fn end_row(&mut self) -> std::result::Result<(), SqlError> {
        Ok(())
    }

    fn local_file(
        &mut self,
        _path: &[u8],
        take: &mut TakeBytes<'_>,
    ) -> std::result::Result<(), SqlError> {
        self.file.chunks(PIECE).try_for_each(take)
    }

    fn complete(&mut self, done: &Completion, _more: bool) -> std::result::Result<(), SqlError> {
        self.warnings = done.warnings;
        self.answer.set_affected(done.affected_rows, done.last_insert_id);
        Ok(())
    }
}
