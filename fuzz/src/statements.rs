//! Statements through a session that embeds the database: whatever they are, it works afterwards.

use crate::session::{run as execute, session};
use inia_sql::Session;
use std::cell::RefCell;

/// Inputs after which a new database is made.
const REUSE: u32 = 100;

const TABLES: [&str; 8] = [
    "CREATE DATABASE diff",
    "USE diff",
    "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20), c DECIMAL(10,2), d DATETIME(3), KEY (b))",
    "INSERT INTO t VALUES (1, 'x', 1.5, '2024-02-29'), (2, NULL, NULL, NULL), (3, 'é', -9, NOW())",
    "CREATE TABLE u (id INT AUTO_INCREMENT PRIMARY KEY, a INT, j JSON, FOREIGN KEY (a) REFERENCES \
     t (a))",
    "INSERT INTO u (a, j) VALUES (1, '[1, {\"a\": 2}]'), (2, NULL)",
    "CREATE VIEW v AS SELECT a, b FROM t WHERE a > 1",
    "SET max_execution_time = 300",
];

thread_local! {
    static SESSION: RefCell<(Session, u32)> = RefCell::new((session(&TABLES), 0));
}

/// Statements that wait or work on purpose for long, and those that change the server's limits.
fn waits(sql: &str) -> bool {
    let upper = sql.to_uppercase();
    let words = ["SLEEP", "BENCHMARK", "GET_LOCK", "OUTFILE", "DUMPFILE", "LOAD", "GLOBAL"];
    let more = ["PERSIST", "SHUTDOWN", "MAX_EXECUTION_TIME", "CTE_MAX", "REPEAT", "SPACE"];
    words.iter().chain(&more).any(|word| upper.contains(word))
}

pub fn run(data: &[u8]) {
    let sql = String::from_utf8_lossy(data);
    if waits(&sql) || sql.len() > 20_000 {
        return;
    }
    SESSION.with_borrow_mut(|(open, used)| {
        if *used == REUSE {
            (*open, *used) = (session(&TABLES), 0);
        }
        *used += 1;
        for statement in sql.split(";\n") {
            let _ = execute(open, statement);
        }
        let _ = execute(open, "ROLLBACK");
        let _ = execute(open, "UNLOCK TABLES");
        assert_eq!(execute(open, "SELECT 1").ok(), Some(1), "after {sql:?}");
    });
}
