//! Sequences, which MySQL does not have.
//!
//! The answers are those of MariaDB 10.11, compared by hand, but for the errors of names that are
//! unknown (MySQL's 1146 and 1051; MariaDB's number 4091 means something else in MySQL).

use super::{TestDb, TestSession};
use inia_query::database::ClientInfo;

fn numbers(s: &mut TestSession, sequence: &str, count: usize) -> Vec<i64> {
    let query = format!("SELECT NEXTVAL({sequence})");
    (0..count).map(|_| s.ok(&query).trim_end().parse().unwrap()).collect()
}

#[test]
fn numbers_follow_one_another() {
    let db = TestDb::new();
    let mut s = db.session();
    s.check(&[
        ("CREATE SEQUENCE s", "0 affected"),
        ("SELECT LASTVAL(s)", "NULL"),
        ("SELECT NEXTVAL(s), NEXTVAL(s)", "1|2"),
        ("SELECT NEXT VALUE FOR s, PREVIOUS VALUE FOR s, LASTVAL(test.s)", "3|3|3"),
        ("CREATE SEQUENCE up START WITH 10 INCREMENT BY 5 MINVALUE 1 MAXVALUE 25 NOCACHE CYCLE", {
            "0 affected"
        }),
        (
            "SELECT NEXTVAL(up), NEXTVAL(up), NEXTVAL(up), NEXTVAL(up), NEXTVAL(up), NEXTVAL(up)",
            "10|15|20|25|1|6",
        ),
        ("CREATE SEQUENCE down START 1 INCREMENT -1 MINVALUE -1 MAXVALUE 3 CACHE 10", "0 affected"),
        ("SELECT NEXTVAL(down), NEXTVAL(down), NEXTVAL(down)", "1|0|-1"),
        ("SELECT NEXTVAL(down)", "ERROR 4084: Sequence 'test.down' has run out"),
        ("ALTER SEQUENCE down RESTART 2", "0 affected"),
        ("SELECT NEXTVAL(down)", "2"),
        ("ALTER SEQUENCE down RESTART", "0 affected"),
        ("SELECT NEXTVAL(down)", "1"),
    ]);
}

#[test]
fn setval_goes_forwards_only() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("CREATE SEQUENCE s");
    s.check(&[
        ("SELECT SETVAL(s, 100)", "100"),
        ("SELECT NEXTVAL(s)", "101"),
        ("SELECT SETVAL(s, 50)", "NULL"),
        ("SELECT SETVAL(s, 200, 0)", "200"),
        ("SELECT NEXTVAL(s), LASTVAL(s)", "200|200"),
        ("SELECT SETVAL(s, 300, 1, 0)", "300"),
        ("SELECT NEXTVAL(s)", "301"),
    ]);
}

#[test]
fn definitions_are_shown_and_checked() {
    let db = TestDb::new();
    let mut s = db.session();
    let shown = |options: &str| format!("s|CREATE SEQUENCE `s` {options} ENGINE=InnoDB");
    let wrong = "ERROR 4085: Sequence 'test.bad' has out of range value for options";
    s.ok("CREATE TABLE t (a INT)");
    s.check(&[
        ("CREATE SEQUENCE s", "0 affected"),
        (
            "SHOW CREATE SEQUENCE s",
            &shown(
                "start with 1 minvalue 1 maxvalue 9223372036854775806 increment by 1 cache 1000 \
                 nocycle",
            ),
        ),
        ("CREATE OR REPLACE SEQUENCE s START -5 INCREMENT -2 MINVALUE -9 NOCACHE CYCLE", {
            "0 affected"
        }),
        (
            "SHOW CREATE SEQUENCE s",
            &shown("start with -5 minvalue -9 maxvalue -1 increment by -2 nocache cycle"),
        ),
        ("CREATE SEQUENCE s", "ERROR 1050: Table 's' already exists"),
        ("CREATE SEQUENCE IF NOT EXISTS s", "0 affected"),
        ("SHOW WARNINGS", "Note|1050|Table 's' already exists"),
        ("CREATE TABLE s (a INT)", "ERROR 1050: Table 's' already exists"),
        ("CREATE VIEW s AS SELECT 1", "ERROR 1050: Table 's' already exists"),
        ("CREATE SEQUENCE t", "ERROR 1050: Table 't' already exists"),
        ("CREATE SEQUENCE bad MINVALUE 10 MAXVALUE 5", wrong),
        ("CREATE SEQUENCE bad START 0 MINVALUE 1", wrong),
        ("CREATE SEQUENCE bad CACHE -1", wrong),
        ("CREATE SEQUENCE bad MAXVALUE 9223372036854775807", wrong),
        ("CREATE SEQUENCE bad START 5 START 6", {
            "ERROR 1225: Option 'START' used twice in statement"
        }),
        ("SELECT NEXTVAL(t)", "ERROR 4090: 'test.t' is not a SEQUENCE"),
        ("DROP SEQUENCE t", "ERROR 4090: 'test.t' is not a SEQUENCE"),
        ("SELECT NEXTVAL(nosuch)", "ERROR 1146: Table 'test.nosuch' doesn't exist"),
        ("ALTER SEQUENCE nosuch RESTART", "ERROR 1146: Table 'test.nosuch' doesn't exist"),
        ("DROP SEQUENCE s, nosuch", "ERROR 1051: Unknown table 'test.nosuch'"),
        ("SHOW TABLES", "s\nt"),
        ("DROP SEQUENCE IF EXISTS s, nosuch", "0 affected"),
        ("SHOW TABLES", "t"),
        ("CREATE TEMPORARY SEQUENCE x", {
            "ERROR 1235: This version of MySQL doesn't yet support 'CREATE TEMPORARY SEQUENCE'"
        }),
    ]);
}

#[test]
fn a_column_takes_its_default_of_a_sequence() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("CREATE SEQUENCE s START WITH 7");
    s.ok("CREATE TABLE t (id INT PRIMARY KEY DEFAULT (NEXT VALUE FOR s), a INT)");
    s.ok("CREATE VIEW v AS SELECT NEXTVAL(s) AS n");
    s.check(&[
        ("INSERT INTO t (a) VALUES (1), (2) RETURNING id", "7\n8"),
        ("CREATE DATABASE other", "1 affected"),
        ("USE other", "0 affected"),
        ("INSERT INTO test.t (a) VALUES (3)", "1 affected"),
        ("SELECT id, a FROM test.t", "7|1\n8|2\n9|3"),
        ("SELECT n FROM test.v", "10"),
        ("USE test", "0 affected"),
    ]);
    let shown = s.ok("SHOW CREATE TABLE t");
    assert!(shown.contains("`id` int NOT NULL DEFAULT (nextval(`test`.`s`))"), "{shown}");
}

#[test]
fn rolling_back_gives_no_number_twice() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("CREATE SEQUENCE s");
    s.ok("BEGIN");
    assert_eq!(numbers(&mut s, "s", 3), [1, 2, 3]);
    s.ok("ROLLBACK");
    assert_eq!(numbers(&mut s, "s", 1), [4]);
    s.ok("START TRANSACTION READ ONLY");
    assert!(s.run("SELECT NEXTVAL(s)").starts_with("ERROR 1792: "));
    s.check(&[("SELECT LASTVAL(s)", "4"), ("COMMIT", "0 affected")]);
    let mut other = db.session();
    other.check(&[("SELECT LASTVAL(s)", "NULL"), ("SELECT NEXTVAL(s)", "5")]);
}

#[test]
fn a_restart_loses_at_most_the_cache() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("CREATE SEQUENCE one NOCACHE");
    s.ok("CREATE SEQUENCE many CACHE 50");
    assert_eq!(numbers(&mut s, "one", 3), [1, 2, 3]);
    assert_eq!(numbers(&mut s, "many", 60).last(), Some(&60));
    s.ok("SELECT SETVAL(one, 10)");
    drop(s);
    let db = db.restart();
    let mut s = db.session();
    assert_eq!(numbers(&mut s, "one", 2), [11, 12]);
    assert_eq!(numbers(&mut s, "many", 1), [101]);
    s.ok("DROP DATABASE test");
    drop(s);
    let mut s = db.restart().session();
    s.ok("CREATE DATABASE test");
    s.ok("USE test");
    assert_eq!(s.run("SELECT NEXTVAL(one)"), "ERROR 1146: Table 'test.one' doesn't exist\n");
}

/// A database that is not closed is what a crash leaves: what was given is not given again.
#[test]
fn a_crash_gives_no_number_twice() {
    let mut db = TestDb::new();
    db.session().ok("CREATE SEQUENCE s CACHE 3");
    let mut given = 0;
    for count in 1..8 {
        let disk = db.disk().clone();
        drop(db);
        db = TestDb::try_open(&disk).unwrap();
        let next = numbers(&mut db.session(), "s", count);
        assert!(next[0] > given && next[0] <= given + 3, "{next:?} after {given}");
        given = next[count - 1];
    }
}

#[test]
fn threads_get_numbers_of_their_own() {
    let db = TestDb::new();
    db.session().ok("CREATE SEQUENCE s CACHE 4");
    let mut all: Vec<i64> = std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..4).map(|_| scope.spawn(|| numbers(&mut db.session(), "s", 100))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    all.sort_unstable();
    assert_eq!(all, (1..=400).collect::<Vec<i64>>());
}

#[test]
fn numbers_need_insert_and_reading_needs_select() {
    let db = TestDb::new();
    let mut root = db.session();
    root.ok("CREATE SEQUENCE s");
    root.ok("CREATE USER u");
    root.ok("GRANT SELECT ON test.s TO u");
    let client = ClientInfo { user: "u".into(), account_user: "u".into(), ..ClientInfo::default() };
    let mut s = db.session_of(ClientInfo { account_host: "%".into(), ..client });
    s.ok("USE test");
    assert_eq!(s.ok("SELECT LASTVAL(s)"), "NULL\n");
    assert!(s.run("SELECT NEXTVAL(s)").starts_with("ERROR 1142: INSERT command denied"));
    assert!(s.run("SELECT SETVAL(s, 9)").starts_with("ERROR 1142: INSERT command denied"));
    assert!(s.run("DROP SEQUENCE s").starts_with("ERROR 1142: DROP command denied"));
    assert!(s.run("CREATE SEQUENCE z").starts_with("ERROR 1142: CREATE command denied"));
    root.ok("GRANT INSERT ON test.s TO u");
    assert_eq!(s.ok("SELECT NEXTVAL(s)"), "1\n");
}

/// A stored function of the same name comes first, and the words stay names.
#[test]
fn what_mysql_accepts_means_the_same() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("CREATE TABLE sequence (next INT, value INT, previous INT)");
    s.ok("INSERT INTO sequence VALUES (1, 2, 3)");
    s.ok("CREATE FUNCTION nextval(x INT) RETURNS INT DETERMINISTIC RETURN x * 10");
    s.check(&[
        ("SELECT next value FROM sequence", "1"),
        ("SELECT next value FROM sequence FOR UPDATE", "1"),
        ("SELECT nextval(value), previous FROM sequence", "20|3"),
    ]);
    assert!(s.run("SELECT next value FOR UPDATE").starts_with("ERROR 1054: Unknown column 'next'"));
}
