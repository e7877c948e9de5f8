//! A session on a database in memory.

use inia_base::error::SqlError;
use inia_base::io::{Disk, MemDisk};
use inia_sql::{ClientInfo, Database, DatabaseOptions, OpenError, Session};
use inia_testkit::RowCounter;
use std::sync::Arc;

/// Opens the database on a disk.
pub fn open(disk: &MemDisk) -> Result<Arc<Database>, OpenError> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Database::open(disk, DatabaseOptions { buffer_pool_size: 32 << 20, background: false })
}

/// A session of a new database, after these statements.
pub fn session(statements: &[&str]) -> Session {
    let database = open(&MemDisk::new()).expect("an empty disk holds a new database");
    let mut session =
        Session::new(&database, ClientInfo { multi_statements: true, ..ClientInfo::default() });
    for sql in statements {
        run(&mut session, sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }
    session
}

/// Runs a text; the number of rows.
pub fn run(session: &mut Session, sql: &str) -> Result<u64, SqlError> {
    let mut rows = RowCounter::default();
    session.execute(sql, &mut rows).map(|()| rows.rows())
}
