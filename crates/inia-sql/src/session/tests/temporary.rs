//! Temporary tables: whose they are, and what becomes of them.

use super::TestDb;
use crate::check::check_database;
use inia_base::value::Value;
use inia_storage::{Direction, Isolation, KeyBound, ReadMode};

/// How many temporary tables have a record in the catalog tree.
fn records(db: &TestDb) -> usize {
    let engine = &db.database().engine;
    let mut txn = engine.attach();
    txn.begin(Isolation::RepeatableRead);
    let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
    let tree = engine.catalog_tree();
    let mut cursor = txn.cursor(&tree, low, high, Direction::Forward, ReadMode::Snapshot);
    let mut found = 0;
    while let Some(record) = cursor.next(&mut txn).unwrap() {
        found += usize::from(record.key.first() == Some(&b'x'));
    }
    found
}

#[test]
fn only_their_session_sees_them() {
    let db = TestDb::new();
    let (mut one, mut other) = (db.session(), db.session());
    one.ok("create table t (a int)");
    one.ok("create temporary table t (z int, y int)");
    one.ok("insert into t values (1, 2)");
    assert_eq!(one.ok("select * from t").trim_end(), "1|2");
    assert_eq!(other.ok("select * from t").trim_end(), "");
    other.ok("insert into t values (7)");
    one.ok("drop table t");
    assert_eq!(one.ok("select * from t").trim_end(), "7");
}

#[test]
fn a_prepared_statement_follows_the_name() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (a int)");
    s.ok("insert into t values (1)");
    let read = s.prepare("select * from t where a > ?");
    assert_eq!(s.execute(read, &[Value::Int(0)]), "1");
    s.ok("create temporary table t (a int, b int)");
    s.ok("insert into t values (2, 3)");
    assert_eq!(s.execute(read, &[Value::Int(0)]), "2|3");
    s.ok("drop temporary table t");
    assert_eq!(s.execute(read, &[Value::Int(0)]), "1");
}

#[test]
fn they_go_with_their_session() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create temporary table a (a int, key (a))");
    s.ok("begin");
    s.ok("insert into a values (1)");
    s.ok("create temporary table b select * from a");
    s.ok("drop temporary table a");
    assert_eq!(records(&db), 2);
    drop(s);
    assert_eq!(records(&db), 0);
    assert_eq!(check_database(db.database()).unwrap(), Vec::<String>::new());
}

#[test]
fn a_reset_connection_has_none() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create temporary table a (a int)");
    s.0.reset().unwrap();
    assert_eq!(s.run("select * from a"), "ERROR 1146: Table 'test.a' doesn't exist\n");
    assert_eq!(records(&db), 0);
}

#[test]
fn the_next_start_clears_away_what_a_lost_process_left() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create temporary table a (a int, key (a))");
    s.ok("insert into a values (1), (2)");
    std::mem::forget(s);
    assert_eq!(records(&db), 1);
    let db = db.restart();
    assert_eq!(records(&db), 0);
    assert_eq!(check_database(db.database()).unwrap(), Vec::<String>::new());
    db.session().ok("create table a (b int)");
}

#[test]
fn rows_of_a_dropped_table_do_not_hinder_the_rollback() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (a int primary key)");
    s.ok("create temporary table x (a int primary key)");
    s.ok("begin");
    s.ok("insert into x values (1), (2)");
    s.ok("insert into t values (1)");
    s.ok("drop temporary table x");
    s.ok("create temporary table x (other int)");
    s.ok("rollback");
    assert_eq!(s.ok("select * from t").trim_end(), "");
    assert_eq!(s.ok("select * from x").trim_end(), "");
    assert_eq!(records(&db), 1);
}
