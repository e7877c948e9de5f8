//! Transactions, savepoints, isolation, metadata locks.

use super::TestDb;
use inia_base::value::Value;
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
        (
            "set transaction isolation level read committed",
            "ERROR 1568: Transaction characteristics can't be changed while a \
             transaction is in progress",
        ),
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
        (
            "select * from t where id=1 for update nowait",
            "ERROR 3572: Statement aborted because lock(s) could not be acquired \
             immediately and NOWAIT is set.",
        ),
        ("select * from t for update skip locked", "2|2"),
        ("set innodb_lock_wait_timeout=1", "0 affected"),
        (
            "update t set v=9 where id=1",
            "ERROR 1205: Lock wait timeout exceeded; try restarting transaction",
        ),
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

/// A commit of table `test.t` whose log is not on disk yet: it writes the first row anew.
fn pending_commit(db: &TestDb) -> inia_base::ids::Lsn {
    use inia_storage::{Direction, Isolation, KeyBound, ReadMode};
    let table = db.database().catalog().table("test", "t").unwrap();
    let mut txn = db.database().engine.attach();
    txn.begin(Isolation::RepeatableRead);
    let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
    let mut cursor =
        txn.cursor(&table.clustered, low, high, Direction::Forward, ReadMode::Snapshot);
    let record = cursor.next(&mut txn).unwrap().unwrap();
    let (key, value) = (record.key.to_vec(), record.value.to_vec());
    drop(cursor);
    assert!(txn.update(&table.clustered, &key, &value).unwrap());
    let end = txn.commit_deferred().unwrap();
    assert!(db.database().engine.stats().durable_lsn < end);
    end
}

#[test]
fn no_reply_shows_a_commit_that_could_still_be_lost() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (id int primary key, v int)");
    s.ok("insert into t values (1,1)");
    let duplicate = "ERROR 1062: Duplicate entry '1' for key 't.PRIMARY'";
    let unchanged = "0 affected (Rows matched: 1  Changed: 0  Warnings: 0)";
    for (begin, sql, answer) in [
        ("begin", "select v from t for update", "1"),
        ("begin", "select v, id + 1 from t where id = 1 for share", "1|2"),
        ("begin", "select count(*) from t for share", "1"),
        ("begin", "insert into t values (1,1)", duplicate),
        ("begin", "update t set v = 1", unchanged),
        ("commit", "insert into t values (1,1)", duplicate),
        ("commit", "update t set v = 1", unchanged),
    ] {
        s.ok("commit");
        let end = pending_commit(&db);
        s.ok(begin);
        s.check(&[(sql, answer)]);
        assert!(db.database().engine.stats().durable_lsn >= end, "{begin}; {sql}");
    }
}

#[test]
fn preparing_a_statement_is_not_the_next_transaction() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (id int primary key)");
    s.ok("set transaction read only, isolation level serializable");
    let insert = s.prepare("insert into t values (?)");
    s.prepare("select * from t");
    let refused = "ERROR 1792: Cannot execute statement in a READ ONLY transaction.";
    assert_eq!(s.execute(insert, &[Value::Int(1)]), refused);
    s.check(&[("begin", "0 affected"), ("select id from t", "")]);
    assert_eq!(s.execute(insert, &[Value::Int(1)]), refused);
    s.ok("commit");
    assert_eq!(s.execute(insert, &[Value::Int(1)]), "1 affected");
}
