//! AUTO_INCREMENT counts on where it was, whatever becomes of the rows and of the program.

use super::{TestDb, TestSession};
use crate::check::check_database;
use crate::session::Session;
use inia_query::database::{ClientInfo, Database, DatabaseOptions};
use inia_testkit::SimDisk;
use std::sync::Arc;

/// The number that the next row of `t` gets.
fn next(session: &mut TestSession) -> u64 {
    session.ok("INSERT INTO t (v) VALUES (0)");
    session.ok("SELECT LAST_INSERT_ID()").trim().parse().unwrap()
}

/// Runs statements, restarts, and gives the number of the next row.
#[track_caller]
fn after_restart(statements: &str) -> u64 {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT, u INT UNIQUE)");
    for statement in statements.split(';').map(str::trim).filter(|text| !text.is_empty()) {
        let refused = statement.starts_with('!');
        let answer = session.run(statement.trim_start_matches('!'));
        assert_eq!(answer.contains("ERROR"), refused, "{statement}: {answer}");
    }
    drop(session);
    let db = db.restart();
    let number = next(&mut db.session());
    assert_eq!(check_database(db.database()).unwrap(), Vec::<String>::new());
    number
}

const FIVE: &str = "INSERT INTO t (v) VALUES (1),(2),(3),(4),(5);";

#[test]
fn a_number_that_was_deleted_does_not_come_again() {
    let after = |rest: &str| after_restart(&format!("{FIVE}{rest}"));
    assert_eq!(after(""), 6);
    assert_eq!(after("DELETE FROM t WHERE id = 5"), 6);
    assert_eq!(after("DELETE FROM t"), 6);
    assert_eq!(after("DELETE FROM t WHERE v > 2; INSERT INTO t (v) VALUES (9)"), 7);
    assert_eq!(after("DELETE FROM t WHERE id = 2; DELETE FROM t WHERE id = 5"), 6);
    assert_eq!(after("DELETE a FROM t a JOIN t b ON a.id = b.id WHERE a.id > 3"), 6);
    assert_eq!(after("UPDATE t SET id = 0 WHERE id = 5"), 6);
    assert_eq!(after("UPDATE t SET id = 50 WHERE id = 5; DELETE FROM t WHERE id = 50"), 51);
    assert_eq!(after("UPDATE t SET u = 1 WHERE id = 5; REPLACE INTO t VALUES (1, 1, 1)"), 6);
    assert_eq!(after("INSERT INTO t VALUES (90, 1, 1); DELETE FROM t WHERE id = 90"), 91);
}

#[test]
fn a_number_that_was_rolled_back_does_not_come_again() {
    let after = |rest: &str| after_restart(&format!("{FIVE}{rest}"));
    let one = "INSERT INTO t (v) VALUES (6)";
    assert_eq!(after(&format!("BEGIN; {one}; ROLLBACK")), 7);
    assert_eq!(after(&format!("BEGIN; {one}; {one}; SAVEPOINT s; {one}; ROLLBACK TO s")), 9);
    assert_eq!(after("DELETE FROM t WHERE id = 9"), 6);
    let twice = "UPDATE t SET u = 1 WHERE id = 1; !INSERT INTO t (u) VALUES (1)";
    assert_eq!(after(twice), 7);
    assert_eq!(after("BEGIN; DELETE FROM t; ROLLBACK"), 6);
}

#[test]
fn definitions_say_where_to_count_on() {
    let after = |rest: &str| after_restart(&format!("{FIVE}{rest}"));
    assert_eq!(after("ALTER TABLE t AUTO_INCREMENT = 100"), 100);
    assert_eq!(after("ALTER TABLE t AUTO_INCREMENT = 2"), 6);
    assert_eq!(after("DELETE FROM t WHERE id > 2; ALTER TABLE t AUTO_INCREMENT = 1"), 3);
    assert_eq!(after("DELETE FROM t WHERE id > 2; ALTER TABLE t AUTO_INCREMENT = 4"), 4);
    assert_eq!(after("DELETE FROM t; TRUNCATE t"), 1);
    assert_eq!(after("ALTER TABLE t AUTO_INCREMENT = 100; TRUNCATE t"), 1);
    assert_eq!(after("DELETE FROM t WHERE id > 2; ALTER TABLE t ADD x INT FIRST"), 6);
    assert_eq!(after("DELETE FROM t WHERE id > 2; ALTER TABLE t ENGINE = InnoDB"), 6);
    assert_eq!(after("DELETE FROM t WHERE id > 2; ALTER TABLE t ADD KEY (v)"), 6);
    assert_eq!(after("DELETE FROM t; RENAME TABLE t TO s; RENAME TABLE s TO t"), 6);
    let anew = "DELETE FROM t; ALTER TABLE t DROP id, ADD k INT AUTO_INCREMENT PRIMARY KEY";
    assert_eq!(after(anew), 1);
}

#[test]
fn rows_that_a_parent_takes_along_leave_their_numbers() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE p (id INT PRIMARY KEY)");
    session.ok("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT, p INT, \
         FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE)");
    session.ok("INSERT INTO p VALUES (1), (2)");
    session.ok("INSERT INTO t (p) VALUES (1), (1), (2)");
    drop(session);
    // The counter is not known when the rows go.
    let db = db.restart();
    db.session().ok("DELETE FROM p WHERE id = 2");
    let db = db.restart();
    assert_eq!(next(&mut db.session()), 4);
}

#[test]
fn the_root_keeps_the_counter_while_the_tree_grows_and_shrinks() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT, s VARCHAR(900))");
    session.ok("INSERT INTO t (v) VALUES (1), (2), (3)");
    session.ok("DELETE FROM t");
    let rows = vec!["(1, REPEAT('x', 900))"; 500].join(",");
    session.ok(&format!("INSERT INTO t (v, s) VALUES {rows}"));
    session.ok("DELETE FROM t WHERE id > 400");
    session.ok("DELETE FROM t");
    while db.database().engine.background_step().unwrap() {}
    drop(session);
    let db = db.restart();
    assert_eq!(next(&mut db.session()), 504);
    assert_eq!(check_database(db.database()).unwrap(), Vec::<String>::new());
    let mut session = db.session();
    session.ok(&format!("INSERT INTO t (v, s) VALUES {rows}"));
    session.ok("DELETE FROM t");
    drop(session);
    let db = db.restart();
    assert_eq!(next(&mut db.session()), 1005);
}

fn open(disk: &SimDisk) -> (Arc<Database>, TestSession) {
    let options = DatabaseOptions { buffer_pool_size: 16 << 20, background: false };
    let db = Database::open(Arc::new(disk.clone()), options).unwrap();
    let mut session = TestSession(Session::new(&db, ClientInfo::default()));
    session.run("USE test");
    (db, session)
}

/// A disk with the table and five rows, and a session on it.
fn on_disk() -> (SimDisk, Arc<Database>, TestSession) {
    let disk = SimDisk::new();
    let (db, mut session) = open(&disk);
    session.ok("CREATE DATABASE test");
    session.ok("USE test");
    session.ok("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)");
    session.ok(FIVE.trim_end_matches(';'));
    (disk, db, session)
}

#[test]
fn a_kill_and_a_crash_lose_no_number() {
    for seed in 0..12 {
        let (disk, db, mut session) = on_disk();
        session.ok("DELETE FROM t WHERE id > 3");
        let image = if seed == 0 { disk.kill() } else { disk.crash(seed) };
        drop((session, db));
        let (db, mut session) = open(&image);
        assert_eq!(next(&mut session), 6, "seed {seed}");
        // Once more: what was rolled back is as durable as the commit after it.
        session.ok("BEGIN");
        assert_eq!(next(&mut session), 7);
        session.ok("ROLLBACK");
        session.ok("UPDATE t SET v = 9 WHERE id = 1");
        let image = image.crash(seed);
        drop((session, db));
        let (_db, mut session) = open(&image);
        assert_eq!(next(&mut session), 8, "seed {seed}");
    }
}

#[test]
fn a_row_under_way_at_a_kill_does_not_give_back_what_is_behind_it() {
    let (disk, db, mut session) = on_disk();
    let mut other = TestSession(Session::new(&db, ClientInfo::default()));
    other.run("USE test");
    session.ok("BEGIN");
    assert_eq!(next(&mut session), 6);
    assert_eq!(next(&mut other), 7);
    other.ok("DELETE FROM t WHERE id = 7");
    let image = disk.kill();
    drop((session, other, db));
    let (_db, mut session) = open(&image);
    assert_eq!(next(&mut session), 8);
}

#[test]
fn inserts_log_nothing_for_the_counter_and_deletions_once() {
    let (_disk, db, mut session) = on_disk();
    session.ok("CREATE TABLE plain (id INT PRIMARY KEY, v INT)");
    session.ok("INSERT INTO plain VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)");
    let mut logged = |sql: &str| {
        let before = db.engine.stats().durable_lsn.0;
        session.ok(sql);
        db.engine.stats().durable_lsn.0 - before
    };
    let numbered = logged("INSERT INTO t (v) VALUES (6)");
    assert_eq!(numbered, logged("INSERT INTO plain VALUES (6, 6)"));
    let first = logged("DELETE FROM t WHERE id = 3");
    let plain = logged("DELETE FROM plain WHERE id = 3");
    assert!(first > plain && first < plain + 40, "{first} {plain}");
    assert_eq!(logged("DELETE FROM t WHERE id = 4"), plain);
    assert_eq!(logged("DELETE FROM t WHERE id = 6"), plain);
}
