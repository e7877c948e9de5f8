//! LOCK TABLES: what it keeps out, and what it forbids its own session.

use super::TestDb;

const TIMEOUT: &str = "ERROR 1205: Lock wait timeout exceeded; try restarting transaction";

#[test]
fn a_read_lock_lets_others_read_and_makes_writers_wait() {
    let db = TestDb::new();
    let (mut a, mut b) = (db.session(), db.session());
    a.ok("create table t (id int primary key)");
    a.ok("lock tables t read");
    b.ok("set lock_wait_timeout = 1");
    b.check(&[
        ("select count(*) from t", "0"),
        ("insert into t values (1)", TIMEOUT),
        ("alter table t add b int", TIMEOUT),
    ]);
    a.ok("unlock tables");
    b.check(&[("insert into t values (1)", "1 affected")]);
}

#[test]
fn a_read_lock_waits_for_a_transaction_that_has_changed_the_table() {
    let db = TestDb::new();
    let (mut a, mut b) = (db.session(), db.session());
    a.ok("create table t (id int primary key)");
    b.ok("begin");
    b.ok("insert into t values (1)");
    a.ok("set lock_wait_timeout = 1");
    a.check(&[("lock tables t read", TIMEOUT)]);
    a.ok("set lock_wait_timeout = 100");
    std::thread::scope(|scope| {
        let waiter = scope.spawn(move || {
            a.ok("lock tables t read");
            a.check(&[("select count(*) from t", "1"), ("unlock tables", "0 affected")]);
        });
        b.ok("commit");
        waiter.join().unwrap();
    });
}

#[test]
fn a_write_lock_keeps_everybody_out_until_begin_or_unlock() {
    let db = TestDb::new();
    let (mut a, mut b) = (db.session(), db.session());
    a.ok("create table t (id int primary key)");
    b.ok("set lock_wait_timeout = 1");
    for end in ["unlock tables", "begin", "lock tables t read"] {
        a.ok("lock tables t write");
        a.check(&[("insert into t values (1)", "1 affected"), ("delete from t", "1 affected")]);
        b.check(&[("select * from t", TIMEOUT)]);
        a.ok(end);
        b.check(&[("select * from t", "")]);
    }
}

#[test]
fn cascades_wait_for_read_locks_too() {
    let db = TestDb::new();
    let (mut a, mut b) = (db.session(), db.session());
    a.ok("create table p (id int primary key)");
    a.ok("create table c (p int, foreign key (p) references p (id) on delete cascade)");
    a.ok("insert into p values (1)");
    a.ok("insert into c values (1)");
    a.ok("lock tables c read");
    b.ok("set lock_wait_timeout = 1");
    b.check(&[("delete from p", TIMEOUT)]);
    a.ok("unlock tables");
    b.check(&[("delete from p", "1 affected")]);
}

#[test]
fn flush_with_read_lock_makes_changes_and_commits_wait() {
    let db = TestDb::new();
    let [mut a, mut b, mut c] = [(); 3].map(|()| db.session());
    a.ok("create table t (id int primary key)");
    c.ok("begin");
    c.ok("insert into t values (7)");
    a.ok("flush tables with read lock");
    b.ok("set lock_wait_timeout = 1");
    b.check(&[
        ("select count(*) from t", "0"),
        ("insert into t values (1)", TIMEOUT),
        ("create table u (id int)", TIMEOUT),
        ("create user x", TIMEOUT),
        ("begin", "0 affected"),
        ("select count(*) from t", "0"),
        ("commit", "0 affected"),
    ]);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(move || c.ok("commit"));
        a.ok("start transaction with consistent snapshot");
        a.check(&[("select count(*) from t", "0"), ("unlock tables", "0 affected")]);
        waiter.join().unwrap();
        a.check(&[("select count(*) from t", "0"), ("commit", "0 affected")]);
    });
    b.check(&[("insert into t values (1)", "1 affected"), ("select count(*) from t", "2")]);
}

#[test]
fn flush_with_read_lock_binds_its_own_session_and_ends_with_it() {
    const LOCKED: &str =
        "ERROR 1223: Can't execute the query because you have a conflicting read lock";
    let db = TestDb::new();
    let (mut a, mut b) = (db.session(), db.session());
    a.ok("create table t (id int primary key)");
    a.ok("flush tables with read lock");
    a.check(&[
        ("insert into t values (1)", LOCKED),
        ("drop table t", LOCKED),
        ("lock tables t write", LOCKED),
        ("begin", "0 affected"),
        ("delete from t", LOCKED),
        ("rollback", "0 affected"),
    ]);
    b.ok("set lock_wait_timeout = 1");
    b.check(&[
        ("insert into t values (1)", TIMEOUT),
        ("flush tables with read lock", "0 affected"),
        ("unlock tables", "0 affected"),
        ("begin", "0 affected"),
        ("insert into t values (1)", TIMEOUT),
    ]);
    drop(a);
    b.check(&[("insert into t values (1)", "1 affected"), ("commit", "0 affected")]);
}

#[test]
fn a_commit_that_cannot_wait_any_longer_is_a_rollback() {
    let db = TestDb::new();
    let (mut a, mut b) = (db.session(), db.session());
    a.ok("create table t (id int primary key)");
    b.ok("set lock_wait_timeout = 1");
    b.ok("begin");
    b.ok("insert into t values (1)");
    a.ok("flush tables with read lock");
    b.check(&[("commit", TIMEOUT), ("select count(*) from t", "0")]);
    a.ok("unlock tables");
    b.check(&[("select count(*) from t", "0"), ("insert into t values (1)", "1 affected")]);
}

#[test]
fn flush_of_tables_with_read_lock_locks_those() {
    let db = TestDb::new();
    let (mut a, mut b) = (db.session(), db.session());
    a.ok("create table t (id int primary key)");
    a.ok("create table u (id int primary key)");
    a.ok("flush tables t with read lock");
    b.ok("set lock_wait_timeout = 1");
    b.check(&[("insert into t values (1)", TIMEOUT), ("insert into u values (1)", "1 affected")]);
    a.ok("unlock tables");
    b.check(&[("insert into t values (1)", "1 affected")]);
}

#[test]
fn a_write_lock_lets_others_look_at_the_definition() {
    let db = TestDb::new();
    let (mut a, mut b) = (db.session(), db.session());
    a.ok("create table t (id int primary key)");
    a.ok("lock tables t write");
    b.ok("set lock_wait_timeout = 1");
    assert!(b.run("show create table t").contains("CREATE TABLE `t`"));
    b.check(&[("select * from t", TIMEOUT)]);
}
