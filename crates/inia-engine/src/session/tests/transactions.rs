//! Transactions, savepoints, isolation, metadata locks.

use super::TestDb;
use std::thread;

#[test]
fn rollback_undoes_and_savepoints_nest() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (id int primary key, v int, key (v))");
    s.check(&[
        ("begin", "0 affected"),
        ("insert into t values (1,1)", "1 affected"),
        ("savepoint a", "0 affected"),
        ("insert into t values (2,2)", "1 affected"),
        ("savepoint b", "0 affected"),
        ("insert into t values (2,3)", "ERROR 1062: Duplicate entry '2' for key 't.PRIMARY'"),
        ("rollback to a", "0 affected"),
        ("rollback to b", "ERROR 1305: SAVEPOINT b does not exist"),
        ("release savepoint zz", "ERROR 1305: SAVEPOINT zz does not exist"),
        ("commit", "0 affected"),
        ("select id from t where v > 0", "1"),
        ("set autocommit=0", "0 affected"),
        ("delete from t", "1 affected"),
        ("rollback", "0 affected"),
        ("select count(*) from t", "1"),
    ]);
}

#[test]
fn read_only_transactions_refuse_writes() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (id int primary key)");
    s.ok("start transaction read only");
    let refused = "ERROR 1792: Cannot execute statement in a READ ONLY transaction.";
    s.check(&[
        ("insert into t values (1)", refused),
        ("select * from t", ""),
        ("set transaction isolation level read committed", "ERROR 1568: Transaction characteristics can't be changed while a transaction is in progress"),
        ("commit", "0 affected"),
        ("insert into t values (1)", "1 affected"),
    ]);
}

#[test]
fn a_snapshot_is_taken_at_the_first_read() {
    let db = TestDb::new();
    let (mut a, mut b) = (db.session(), db.session());
    a.ok("create table t (id int primary key, v int)");
    a.ok("insert into t values (1,1)");
    a.ok("begin");
    b.ok("update t set v=2");
    a.check(&[("select v from t", "2")]);
    b.ok("update t set v=3");
    a.check(&[
        ("select v from t", "2"),
        ("select v from t for update", "3"),
        ("commit", "0 affected"),
    ]);
    a.ok("set session transaction isolation level read committed");
    a.ok("begin");
    a.check(&[("select v from t", "3")]);
    b.ok("update t set v=4");
    a.check(&[("select v from t", "4"), ("commit", "0 affected")]);
}

#[test]
fn locks_conflict_time_out_and_are_skipped() {
    let db = TestDb::new();
    let (mut a, mut b) = (db.session(), db.session());
    a.ok("create table t (id int primary key, v int)");
    a.ok("insert into t values (1,1),(2,2)");
    a.ok("begin");
    a.ok("select * from t where id=1 for update");
    b.ok("begin");
    b.check(&[
        ("select * from t where id=1 for update nowait", "ERROR 3572: Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set."),
        ("select * from t for update skip locked", "2|2"),
        ("set innodb_lock_wait_timeout=1", "0 affected"),
        ("update t set v=9 where id=1", "ERROR 1205: Lock wait timeout exceeded; try restarting transaction"),
        ("select v from t", "1\n2"),
        ("rollback", "0 affected"),
    ]);
    a.ok("rollback");
}

#[test]
fn ddl_waits_for_transactions_that_use_the_table() {
    let db = TestDb::new();
    let (mut a, mut b) = (db.session(), db.session());
    a.ok("create table t (id int primary key)");
    a.ok("begin");
    a.ok("select * from t");
    b.ok("set lock_wait_timeout=1");
    b.check(&[(
        "alter table t add column c int",
        "ERROR 1205: Lock wait timeout exceeded; try restarting transaction",
    )]);
    thread::scope(|scope| {
        b.ok("set lock_wait_timeout=100");
        let waiter = scope.spawn(move || b.ok("alter table t add column c int"));
        a.ok("insert into t values (1)");
        a.ok("commit");
        waiter.join().unwrap();
    });
    a.check(&[("select * from t", "1|NULL")]);
}

#[test]
fn everything_survives_a_restart() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (id int primary key auto_increment, v varchar(9), key (v))");
    s.ok("create table h (v int)");
    s.ok("insert into t (v) values ('a'),('b')");
    s.ok("insert into h values (1),(2)");
    s.ok("alter table t comment='c'");
    let before = s.ok("show create table t");
    drop(s);
    let db = db.restart();
    let mut s = db.session();
    assert_eq!(s.ok("show create table t"), before);
    s.ok("insert into t (v) values ('c')");
    s.ok("insert into h values (3)");
    s.check(&[("select * from t where v >= 'b'", "2|b\n3|c"), ("select * from h", "1\n2\n3")]);
}
