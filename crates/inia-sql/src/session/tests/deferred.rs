//! Commits whose durability the caller waits for: what may be seen before and after.

use super::{TestDb, TestSession};
use inia_storage::{OnDurable, StorageError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn deferring(db: &TestDb) -> TestSession {
    let mut session = db.session();
    session.0.defer_commits();
    session
}

#[test]
fn a_commit_is_seen_by_others_when_the_reply_may_be_sent() {
    let db = TestDb::new();
    let (mut a, mut b) = (deferring(&db), db.session());
    b.ok("create table t (id int primary key, v int)");
    a.ok("insert into t values (1, 1)");
    assert!(!a.0.is_settled());
    b.check(&[("select * from t", "")]);
    a.0.settle().unwrap();
    assert!(a.0.is_settled());
    b.check(&[("select * from t", "1|1")]);
}

#[test]
fn a_statement_shows_what_its_session_has_committed_before() {
    let db = TestDb::new();
    let mut s = deferring(&db);
    s.0.set_multi_statements(true);
    s.ok("create table t (id int primary key, v int)");
    for id in 1..4 {
        s.ok(&format!("insert into t values ({id}, 0)"));
        s.check(&[("select count(*) from t", &id.to_string())]);
    }
    s.check(&[(
        "update t set v = 7; select v from t where id = 2",
        "3 affected (Rows matched: 3  Changed: 3  Warnings: 0)\n7",
    )]);
    s.ok("begin");
    s.ok("delete from t");
    s.check(&[("commit; select count(*) from t", "0 affected\n0")]);
}

#[test]
fn a_reply_waits_for_the_commits_that_its_statement_has_met() {
    let db = TestDb::new();
    let (mut a, mut b) = (deferring(&db), deferring(&db));
    a.ok("create table t (id int primary key, v int)");
    a.ok("insert into t values (1, 1)");
    a.0.settle().unwrap();
    a.ok("update t set v = 2");
    b.ok("begin");
    assert!(b.0.is_settled());
    // The outcome says that there is a row with the value 2, which a crash could still take back.
    b.check(&[("update t set v = 2", "0 affected (Rows matched: 1  Changed: 0  Warnings: 0)")]);
    assert!(!b.0.is_settled());
    b.0.settle().unwrap();
    a.check(&[("select v from t", "2")]);
}

#[test]
fn a_lock_on_a_table_comes_with_all_commits_to_it() {
    let db = TestDb::new();
    let mut admin = db.session();
    admin.ok("create table t (id int primary key, v int)");
    let mut ids = 0..;
    let mut insert = || {
        let mut writer = deferring(&db);
        let id: i32 = ids.next().unwrap();
        writer.ok(&format!("insert into t values ({id}, 1)"));
        assert!(!writer.0.is_settled());
    };
    // A copy of the table is made from a snapshot.
    insert();
    admin.ok("alter table t modify v bigint, algorithm=copy");
    admin.check(&[("select count(*) from t", "1")]);
    insert();
    admin.ok("alter table t add key (v)");
    admin.check(&[("select count(*) from t force index (v) where v = 1", "2")]);
    // What is locked does not change while it is locked.
    insert();
    admin.ok("lock tables t read");
    admin.check(&[("select count(*) from t", "3")]);
    admin.ok("unlock tables");
    insert();
    admin.ok("flush tables with read lock");
    admin.check(&[("select count(*) from t", "4")]);
    admin.ok("unlock tables");
}

/// Notes that it has been called.
#[derive(Default)]
struct Called(AtomicBool);

impl OnDurable for Called {
    fn done(self: Arc<Self>, result: Result<(), StorageError>) {
        result.unwrap();
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_reply_is_sent_at_once_where_nobody_else_flushes() {
    let db = TestDb::new();
    let mut s = deferring(&db);
    s.ok("create table t (id int primary key)");
    s.ok("insert into t values (1)");
    let called = Arc::new(Called::default());
    let sender: Arc<dyn OnDurable> = called.clone();
    assert!(!s.0.when_settled(&sender).unwrap());
    assert!(s.0.is_settled() && !called.0.load(Ordering::Relaxed));
    db.session().check(&[("select * from t", "1")]);
}

#[test]
fn another_client_of_the_connection_defers_as_well() {
    let db = TestDb::new();
    let mut s = deferring(&db);
    s.ok("create table t (id int primary key)");
    s.0.reset().unwrap();
    s.ok("insert into t values (1)");
    assert!(!s.0.is_settled());
}
