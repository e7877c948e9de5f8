//! The hidden ids of rows without a primary key: no row gets the id of another that is there, or
//! may come back.

use super::{TestDb, TestSession};
use crate::check::check_database;
use crate::session::Session;
use inia_query::catalog::Table;
use inia_query::database::{ClientInfo, Database, DatabaseOptions};
use inia_storage::Isolation;
use inia_testkit::SimDisk;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const TABLES: [&str; 2] =
    ["CREATE TABLE t (v INT)", "CREATE TABLE t (v INT, k INT DEFAULT 1, UNIQUE KEY (v), KEY (k))"];

const ALL: &str = "SELECT v FROM t ORDER BY v";

/// Rows 1 to 4, in tables whose counters nobody has read since the start.
fn started_anew(table: &str) -> TestDb {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok(table);
    session.ok("INSERT INTO t (v) VALUES (1), (2), (3), (4)");
    drop(session);
    db.restart()
}

/// (At READ COMMITTED, where deletions lock no gaps that inserts would wait for.)
#[test]
fn rows_that_another_transaction_is_deleting_keep_their_ids() {
    for table in TABLES {
        let db = started_anew(table);
        let (mut deleting, mut other) = (db.session(), db.session());
        deleting.ok("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
        deleting.ok("BEGIN");
        deleting.ok("DELETE FROM t WHERE v > 2");
        other.ok("SET innodb_lock_wait_timeout = 1");
        other.ok("INSERT INTO t (v) VALUES (5), (6)");
        deleting.ok("ROLLBACK");
        assert_eq!(other.ok(ALL), "1\n2\n3\n4\n5\n6\n", "{table}");
        assert_eq!(check_database(db.database()).unwrap(), Vec::<String>::new());
    }
}

#[test]
fn rows_of_a_whole_table_that_is_being_deleted_keep_their_ids() {
    for table in TABLES {
        let db = started_anew(table);
        let (mut deleting, mut other) = (db.session(), db.session());
        deleting.ok("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
        deleting.ok("BEGIN");
        deleting.ok("DELETE FROM t");
        deleting.ok("INSERT INTO t (v) VALUES (7)");
        other.ok("SET innodb_lock_wait_timeout = 1");
        other.ok("INSERT INTO t (v) VALUES (5), (6)");
        deleting.ok("ROLLBACK");
        assert_eq!(other.ok(ALL), "1\n2\n3\n4\n5\n6\n", "{table}");
    }
}

fn open(disk: &SimDisk) -> (Arc<Database>, TestSession) {
    let options = DatabaseOptions { buffer_pool_size: 16 << 20, background: false };
    let db = Database::open(Arc::new(disk.clone()), options).unwrap();
    let mut session = TestSession(Session::new(&db, ClientInfo::default()));
    session.run("USE test");
    (db, session)
}

/// The rollback of what a kill or a crash interrupted goes on beside new statements.
#[test]
fn rows_that_a_killed_transaction_was_deleting_keep_their_ids() {
    for (table, seed) in TABLES.into_iter().flat_map(|table| (0..8).map(move |seed| (table, seed)))
    {
        let disk = SimDisk::new();
        let (db, mut session) = open(&disk);
        session.ok("CREATE DATABASE test");
        session.ok("USE test");
        session.ok(table);
        session.ok("CREATE TABLE other (id INT PRIMARY KEY)");
        session.ok("INSERT INTO t (v) VALUES (1), (2), (3), (4)");
        session.ok("BEGIN");
        session.ok("DELETE FROM t WHERE v > 2");
        let mut other = TestSession(Session::new(&db, ClientInfo::default()));
        other.run("USE test");
        // With this commit the deletions are in the log on disk.
        other.ok("INSERT INTO other VALUES (1)");
        let image = if seed == 0 { disk.kill() } else { disk.crash(seed) };
        drop((session, other, db));
        let (db, mut session) = open(&image);
        session.ok("SET innodb_lock_wait_timeout = 1");
        session.ok("INSERT INTO t (v) VALUES (5), (6)");
        while db.engine.background_step().unwrap() {}
        assert_eq!(session.ok(ALL), "1\n2\n3\n4\n5\n6\n", "{table}, seed {seed}");
        assert_eq!(check_database(&db).unwrap(), Vec::<String>::new());
    }
}

fn table_of(db: &TestDb) -> Arc<Table> {
    db.database().catalog.table("test", "t").unwrap()
}

/// Only a damaged tree has rows at or behind the counter; there is no index to name then.
#[test]
fn an_id_that_is_taken_is_reported_as_damage() {
    let inserts = ["INSERT INTO t (v) VALUES (9)", "INSERT INTO t (v) VALUES (8), (9)"];
    let others = ["INSERT IGNORE INTO t (v) VALUES (9)", "REPLACE INTO t (v) VALUES (9)"];
    for (table, insert) in
        TABLES.iter().flat_map(|t| inserts.iter().chain(&others).map(move |i| (t, i)))
    {
        let db = started_anew(table);
        let mut session = db.session();
        table_of(&db).shared.next_row_id.store(2, Ordering::Relaxed);
        let answer = session.run(insert);
        assert!(answer.contains("does not fit its table's definition"), "{insert}: {answer}");
        assert_eq!(session.ok(ALL), "1\n2\n3\n4\n");
    }
}

#[test]
fn a_greatest_key_that_is_no_id_is_reported_as_damage() {
    for key in [&[0xff; 8][..], &[1; 9]] {
        let db = started_anew(TABLES[0]);
        let table = table_of(&db);
        let mut txn = table.store.attach();
        txn.begin(Isolation::RepeatableRead);
        txn.insert(&table.clustered, key, b"").unwrap();
        txn.commit().unwrap();
        let answer = db.session().run("INSERT INTO t (v) VALUES (5)");
        assert!(answer.contains("does not fit its table's definition"), "{answer}");
    }
}
