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
