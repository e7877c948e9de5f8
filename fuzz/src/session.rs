//! A session on a database in memory.

use inia_base::column::{Completion, ResultColumn, RowSink};
use inia_base::error::SqlError;
use inia_base::io::{Disk, MemDisk};
use inia_base::temporal::{Date, DateTime, Time};
use inia_engine::{ClientInfo, Database, DatabaseOptions, OpenError, Session};
use std::sync::Arc;

/// Counts rows.
#[derive(Default)]
pub struct Counter(pub u64);

impl RowSink for Counter {
    fn columns(&mut self, _columns: &[ResultColumn]) -> Result<(), SqlError> {
        Ok(())
    }
    fn begin_row(&mut self) {}
    fn null(&mut self) {}
    fn int(&mut self, _value: i64) {}
    fn uint(&mut self, _value: u64) {}
    fn float(&mut self, _value: f32) {}
    fn double(&mut self, _value: f64) {}
    fn bytes(&mut self, _value: &[u8]) {}
    fn date(&mut self, _value: Date) {}
    fn time(&mut self, _value: Time, _fsp: u8) {}
    fn datetime(&mut self, _value: DateTime, _fsp: u8) {}
    fn end_row(&mut self) -> Result<(), SqlError> {
        self.0 += 1;
        Ok(())
    }
    fn complete(&mut self, _completion: &Completion, _more: bool) -> Result<(), SqlError> {
        Ok(())
    }
}

/// Opens the database on a disk.
pub fn open(disk: &MemDisk) -> Result<Arc<Database>, OpenError> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Database::open(disk, DatabaseOptions { buffer_pool_size: 32 << 20, background: false })
}

/// A session of a new database, after these statements.
pub fn session(statements: &[&str]) -> Session {
    let database = open(&MemDisk::new()).expect("an empty disk holds a new database");
    let mut session =
        database.session(ClientInfo { multi_statements: true, ..ClientInfo::default() });
    for sql in statements {
        run(&mut session, sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }
    session
}

/// Runs a text; the number of rows.
pub fn run(session: &mut Session, sql: &str) -> Result<u64, SqlError> {
    let mut rows = Counter::default();
    session.execute(sql, &mut rows).map(|()| rows.0)
}
