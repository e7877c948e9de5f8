//! Statements that sessions prepare alike: one tree and one plan for all of them.

use super::super::shared::SharedStatement;
use super::{TestDb, TestSession};
use inia_base::value::Value;
use inia_query::database::ClientInfo;
use std::sync::Arc;

fn filled() -> TestDb {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10))");
    s.ok("INSERT INTO t VALUES (1, 'one'), (2, 'two')");
    db
}

fn statement(session: &TestSession, id: u32) -> &Arc<SharedStatement> {
    &session.0.prepared[&id].shared
}

/// Whether both sessions, which prepare the text, use one plan for it.
fn is_shared(a: &mut TestSession, b: &mut TestSession, sql: &str, params: &[Value]) -> bool {
    let (mine, yours) = (a.prepare(sql), b.prepare(sql));
    let answers = (a.execute(mine, params), b.execute(yours, params));
    assert_eq!(answers.0, answers.1, "{sql}");
    let plan = |session: &TestSession, id: u32| {
        session.0.prepared[&id].kept.usable(&session.0.context).map(std::ptr::from_ref)
    };
    let same = plan(a, mine).is_some() && plan(a, mine) == plan(b, yours);
    assert_eq!(same, Arc::ptr_eq(statement(a, mine), statement(b, yours)), "{sql}");
    same
}

const POINT: &str = "SELECT v FROM t WHERE id = ?";

#[test]
fn sessions_share_what_they_prepare_alike() {
    let db = filled();
    let (mut a, mut b) = (db.session(), db.session());
    assert!(is_shared(&mut a, &mut b, POINT, &[Value::Int(1)]));
    assert!(is_shared(&mut a, &mut b, POINT, &[Value::Text("2".into())]));
    let report = "SELECT COUNT(*), MAX(v) FROM t a JOIN t b USING (id, v) WHERE a.id < ?";
    assert!(is_shared(&mut a, &mut b, report, &[Value::Int(5)]));
    assert!(is_shared(&mut a, &mut b, "UPDATE t SET v = v WHERE id = ?", &[Value::Int(1)]));
}

#[test]
fn texts_with_literals_share_too() {
    let db = filled();
    let (mut a, mut b) = (db.session(), db.session());
    for (session, id) in [(&mut a, 1), (&mut b, 2)] {
        let text = format!("SELECT v FROM t WHERE id = {id}");
        (0..3).for_each(|_| drop(session.ok(&text)));
        assert_eq!(session.0.texts_ready(), 1);
    }
    assert!(Arc::ptr_eq(a.0.plan_cache.ready()[0], b.0.plan_cache.ready()[0]));
    assert_eq!(b.ok("SELECT v FROM t WHERE id = 1"), "one\n");
    assert_eq!(a.ok("SELECT v FROM t WHERE id = 2"), "two\n");
    a.ok("ALTER TABLE t ADD w INT DEFAULT 7");
    assert_eq!(b.ok("SELECT v FROM t WHERE id = 1"), "one\n");
}

#[test]
fn sessions_with_other_settings_plan_for_themselves() {
    let db = filled();
    let (mut a, mut b) = (db.session(), db.session());
    b.ok("SET sql_mode = 'ANSI_QUOTES'");
    let quoted = r#"SELECT "v" FROM t WHERE id = ?"#;
    let (text, column) = (a.prepare(quoted), b.prepare(quoted));
    assert_eq!(a.execute(text, &[Value::Int(1)]), "v");
    assert_eq!(b.execute(column, &[Value::Int(1)]), "one");
    // The same settings, whatever way led there, are shared again.
    a.ok("SET sql_mode = 'ANSI_QUOTES'");
    assert!(is_shared(&mut a, &mut b, quoted, &[Value::Int(2)]));
    // A statement that was shared before goes on with the session's new settings.
    b.ok("SET sql_mode = ''");
    assert_eq!(b.execute(column, &[Value::Int(1)]), "one");
    let mut elsewhere = db.session();
    elsewhere.ok("CREATE DATABASE other");
    elsewhere.ok("USE other");
    elsewhere.ok("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10))");
    let other = elsewhere.prepare(POINT);
    let mine = a.prepare(POINT);
    assert_eq!(a.execute(mine, &[Value::Int(1)]), "one");
    assert_eq!(elsewhere.execute(other, &[Value::Int(1)]), "");
}

#[test]
fn accounts_do_not_share() {
    let db = filled();
    let mut root = db.session();
    root.ok("CREATE USER u");
    root.ok("GRANT SELECT (id) ON test.t TO u");
    let client = |user: &str, host: &str| ClientInfo {
        user: user.into(),
        account_user: user.into(),
        account_host: host.into(),
        ..ClientInfo::default()
    };
    let mine = root.prepare(POINT);
    assert_eq!(root.execute(mine, &[Value::Int(1)]), "one");
    let mut other = db.session_of(client("u", "%"));
    other.ok("USE test");
    let refused = other.0.prepare(POINT).unwrap_err();
    assert_eq!(refused.number(), 1143);
}

/// A temporary table hides the stored one of its name from its session alone.
#[test]
fn a_session_with_temporary_tables_plans_for_itself() {
    let db = filled();
    let (mut a, mut b) = (db.session(), db.session());
    let mine = a.prepare(POINT);
    b.ok("CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(10))");
    b.ok("INSERT INTO t VALUES (1, 'own')");
    let yours = b.prepare(POINT);
    assert_eq!(b.execute(yours, &[Value::Int(1)]), "own");
    assert_eq!(a.execute(mine, &[Value::Int(1)]), "one");
    b.ok("DROP TEMPORARY TABLE t");
    assert_eq!(b.execute(yours, &[Value::Int(1)]), "one");
    let again = b.prepare(POINT);
    assert!(Arc::ptr_eq(statement(&a, mine), statement(&b, again)));
}

#[test]
fn what_depends_on_variables_views_or_functions_is_not_shared() {
    let db = filled();
    let (mut a, mut b) = (db.session(), db.session());
    a.ok("CREATE VIEW w AS SELECT * FROM t");
    a.ok("CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1");
    for session in [&mut a, &mut b] {
        session.ok("SET @id = 1");
    }
    for own in ["SELECT v FROM t WHERE id = @id", "SELECT v FROM w", "SELECT f() FROM t"] {
        let (mine, yours) = (a.prepare(own), b.prepare(own));
        assert_eq!(a.execute(mine, &[]), b.execute(yours, &[]), "{own}");
        assert!(!Arc::ptr_eq(statement(&a, mine), statement(&b, yours)), "{own}");
    }
    b.ok("SET @id = '2x'");
    let (mine, yours) = (a.prepare("SELECT @id"), b.prepare("SELECT @id"));
    assert_eq!((a.execute(mine, &[]), b.execute(yours, &[])), ("1".into(), "2x".into()));
}

/// Every session gets the warnings of its own PREPARE.
#[test]
fn a_preparation_with_warnings_is_repeated() {
    let db = filled();
    let noted = "SELECT SQL_NO_CACHE v FROM t WHERE id = ?";
    for _ in 0..3 {
        let mut session = db.session();
        assert_eq!(session.0.prepare(noted).unwrap().warnings, 1);
    }
}

/// After DDL one session plans anew, and the others take that plan.
#[test]
fn ddl_renews_the_plan_of_all() {
    let db = filled();
    let (mut a, mut b) = (db.session(), db.session());
    let all = "SELECT * FROM t WHERE id = ?";
    let (mine, yours) = (a.prepare(all), b.prepare(all));
    assert_eq!(a.execute(mine, &[Value::Int(1)]), "1|one");
    a.ok("ALTER TABLE t ADD w INT DEFAULT 7");
    assert_eq!(b.execute(yours, &[Value::Int(1)]), "1|one|7");
    assert_eq!(a.execute(mine, &[Value::Int(1)]), "1|one|7");
    a.ok("DROP TABLE t");
    assert!(b.execute(yours, &[Value::Int(1)]).starts_with("ERROR 1146"));
    assert!(a.0.prepare(all).is_err());
}

/// LOCK TABLES refuses at PREPARE, too, what it has not locked.
#[test]
fn a_session_with_locked_tables_is_refused_others() {
    let db = filled();
    let (mut a, mut b) = (db.session(), db.session());
    a.ok("CREATE TABLE other (id INT)");
    a.prepare(POINT);
    b.ok("LOCK TABLES other READ");
    assert_eq!(b.0.prepare(POINT).unwrap_err().number(), 1100);
    b.ok("UNLOCK TABLES");
    assert!(is_shared(&mut a, &mut b, POINT, &[Value::Int(2)]));
}
