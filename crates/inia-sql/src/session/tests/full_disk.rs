//! A device without space: writers get MySQL's error, readers and earlier work are not touched,
//! and once there is space again work goes on.

use super::TestSession;
use crate::check::check_database;
use crate::session::Session;
use inia_query::database::{ClientInfo, Database, DatabaseOptions};
use inia_testkit::SimDisk;
use std::sync::Arc;

fn open(disk: &SimDisk) -> Arc<Database> {
    let options = DatabaseOptions { buffer_pool_size: 16 << 20, background: true };
    Database::open(Arc::new(disk.clone()), options).unwrap()
}

fn session(db: &Arc<Database>) -> TestSession {
    let mut session = TestSession(Session::new(db, ClientInfo::default()));
    session.run("USE test");
    session
}

fn count(session: &mut TestSession) -> u64 {
    session.ok("SELECT COUNT(*) FROM t").trim().parse().unwrap()
}

/// One statement of 100 rows of about 1,000 bytes.
fn insert(first: u64) -> String {
    let rows: Vec<String> =
        (first..first + 100).map(|i| format!("({i}, {}, repeat('x', 1000))", i % 7)).collect();
    format!("INSERT INTO t VALUES {}", rows.join(","))
}

/// The table is full, or there is no space for the log.
fn is_full(answer: &str) -> bool {
    let log = "ERROR 1030: Got error 28 - 'No space left on device' from storage engine";
    [log, "ERROR 1114: The table 't' is full"].contains(&answer.trim())
}

/// Runs a statement as soon as the background work has noticed that there is space again.
fn run_again(writer: &mut TestSession, sql: &str) {
    loop {
        let answer = writer.run(sql);
        if !is_full(&answer) {
            return assert!(!answer.contains("ERROR"), "{answer}");
        }
        std::thread::yield_now();
    }
}

/// Inserts until the device is full; the number of rows that were acknowledged.
fn fill(writer: &mut TestSession, mut acknowledged: u64) -> u64 {
    loop {
        let answer = writer.run(&insert(acknowledged));
        if answer.contains("ERROR") {
            assert!(is_full(&answer), "{answer}");
            return acknowledged;
        }
        acknowledged += 100;
        assert!(acknowledged < 1_000_000, "the device never fills");
    }
}

#[test]
fn writers_fail_readers_go_on_and_nothing_is_lost() {
    const FULL: u64 = 40 << 20;
    let disk = SimDisk::new();
    let db = open(&disk);
    let mut writer = session(&db);
    writer.ok("CREATE DATABASE test");
    writer.ok("USE test");
    writer.ok("CREATE TABLE t (id INT PRIMARY KEY, k INT, c VARCHAR(2000), KEY (k))");
    let mut reader = session(&db);
    disk.set_capacity(Some(FULL));
    let rows = fill(&mut writer, 0);
    assert!(rows > 1000);

    assert_eq!(count(&mut reader), rows);
    assert_eq!(count(&mut writer), rows);
    // Again and in a transaction: the statement is undone, the transaction stays.
    writer.ok("BEGIN");
    assert_eq!(fill(&mut writer, rows), rows);
    writer.ok("ROLLBACK");

    disk.set_capacity(None);
    run_again(&mut writer, &insert(rows));
    assert_eq!(count(&mut reader), rows + 100);

    // What a crash leaves has all of it.
    drop((writer, reader));
    let copy = disk.crash(1);
    let db = open(&copy);
    assert_eq!(count(&mut session(&db)), rows + 100);
    db.close().unwrap();
    assert_eq!(check_database(&db).unwrap(), Vec::<String>::new());
}

#[test]
fn deleting_makes_room() {
    let disk = SimDisk::new();
    let db = open(&disk);
    let mut writer = session(&db);
    writer.ok("CREATE DATABASE test");
    writer.ok("USE test");
    writer.ok("CREATE TABLE t (id INT PRIMARY KEY, k INT, c VARCHAR(2000), KEY (k))");
    disk.set_capacity(Some(40 << 20));
    let rows = fill(&mut writer, 0);
    disk.set_capacity(Some(80 << 20));
    run_again(&mut writer, "DELETE FROM t WHERE id < 1000");
    run_again(&mut writer, &insert(0));
    assert_eq!(count(&mut writer), rows - 900);
    drop(writer);
    db.close().unwrap();
    assert_eq!(check_database(&db).unwrap(), Vec::<String>::new());
}
