//! Damaged statements of the differential corpus, through the library: an answer or an error,
//! never a panic, and the session works afterwards.

use crate::differential::corpus;
use inia_base::error::SqlError;
use inia_base::io::MemDisk;
use inia_sql::{ClientInfo, Database, DatabaseOptions, Session};
use inia_testkit::{Random, RowCounter, mutate};
use std::sync::Arc;

fn run(session: &mut Session, sql: &str) -> Result<u64, SqlError> {
    let mut rows = RowCounter::default();
    session.execute(sql, &mut rows).map(|()| rows.rows())
}

/// Statements that wait, or that work on purpose for long, are no test of anything here. A prepared
/// branch would keep the session's own DDL waiting.
fn waits(sql: &str) -> bool {
    let upper = sql.to_uppercase();
    [
        "SLEEP",
        "BENCHMARK",
        "GET_LOCK",
        "OUTFILE",
        "DUMPFILE",
        "LOAD ",
        "GLOBAL",
        "PERSIST",
        "SHUTDOWN",
        "XA ",
    ]
    .iter()
    .any(|word| upper.contains(word))
}

#[test]
fn damaged_statements_leave_the_session_in_working_order() {
    let scripts = corpus();
    let mut random = Random::new(41);
    for _ in 0..mutate::rounds(12) {
        let disk = Arc::new(MemDisk::new());
        let options = DatabaseOptions { buffer_pool_size: 32 << 20, background: false };
        let database = Database::open(disk, options).unwrap();
        let mut session = Session::new(&database, ClientInfo::default());
        let script = random.pick(&scripts);
        for sql in ["CREATE DATABASE diff", "USE diff", "SET max_execution_time = 200"] {
            run(&mut session, sql).unwrap();
        }
        for sql in script.iter().take(150) {
            let other: &String = random.pick(script);
            let damaged = mutate::text(&mut random, sql, other);
            for sql in [&damaged, sql] {
                if !waits(sql) && sql.len() < 5_000 {
                    let _ = run(&mut session, sql);
                }
            }
        }
        let _ = run(&mut session, "ROLLBACK");
        let _ = run(&mut session, "UNLOCK TABLES");
        assert_eq!(run(&mut session, "SELECT 1").unwrap(), 1);
        drop(session);
        database.close().unwrap();
    }
}
