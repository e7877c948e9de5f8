//! DELETE of many rows: those of whole leaves go together, and the outcome is that of one row after
//! the other.

use super::{TestDb, TestSession};

const ROWS: usize = 6000;

/// A table with entries of several kinds, the keys of some in no order.
fn filled(db: &TestDb) -> TestSession {
    let mut s = db.session();
    s.ok("CREATE TABLE t (id INT PRIMARY KEY, n INT, name VARCHAR(30), u INT UNIQUE, \
          twice INT GENERATED ALWAYS AS (n * 2) VIRTUAL, long_text TEXT, \
          KEY by_n (n DESC), KEY by_name (name, n), KEY by_twice (twice))");
    s.ok("SET cte_max_recursion_depth = 100000");
    s.ok(&format!(
        "INSERT INTO t (id, n, name, u, long_text) WITH RECURSIVE i (i) AS (SELECT 1 UNION ALL \
         SELECT i + 1 FROM i WHERE i < {ROWS}) SELECT i, i * 7919 % 101, CONCAT('Name ', i % 37), \
         IF(i % 5 = 0, NULL, i), IF(i % 1000 = 7, REPEAT('long', 5000), 'short') FROM i"
    ));
    s
}

/// How many rows each index has; one number where all have as many.
fn counts(s: &mut TestSession) -> Vec<String> {
    let mut counts: Vec<String> = ["PRIMARY", "by_n", "by_name", "by_twice", "u"]
        .iter()
        .map(|index| s.ok(&format!("SELECT COUNT(*) FROM t FORCE INDEX ({index})")))
        .map(|answer| answer.trim_end().to_owned())
        .collect();
    counts.dedup();
    counts
}

/// The table's pages and entries are as they must be. It ends the transaction.
#[track_caller]
fn assert_sound(s: &mut TestSession) {
    let check = s.ok("CHECK TABLE t");
    assert!(check.lines().all(|line| line.ends_with("|OK")), "{check}");
}

fn count(rows: usize) -> Vec<String> {
    vec![rows.to_string()]
}

#[test]
fn all_rows_go_with_their_entries() {
    for delete in ["DELETE FROM t", "DELETE FROM t WHERE 1", "DELETE FROM t WHERE id > 0"] {
        let db = TestDb::new();
        let (mut s, mut reader) = (filled(&db), db.session());
        reader.ok("START TRANSACTION WITH CONSISTENT SNAPSHOT");
        s.ok("BEGIN");
        s.ok(delete);
        s.check(&[("SELECT ROW_COUNT()", &ROWS.to_string())]);
        assert_eq!(counts(&mut s), count(0));
        assert_eq!(counts(&mut reader), count(ROWS));
        s.ok("ROLLBACK");
        assert_eq!(counts(&mut s), count(ROWS));
        s.ok(delete);
        assert_eq!(counts(&mut s), count(0));
        assert_eq!(counts(&mut reader), count(ROWS), "as its snapshot has it");
        reader.ok("COMMIT");
        assert_eq!(counts(&mut reader), count(0));
        assert_sound(&mut s);
        s.ok("INSERT INTO t (id, n, name, u) VALUES (5, 1, 'again', 3)");
        drop((s, reader));
        assert_eq!(counts(&mut db.restart().session()), count(1));
    }
}

#[test]
fn ranges_and_limits_are_kept() {
    let db = TestDb::new();
    let mut s = filled(&db);
    s.ok("BEGIN");
    for (delete, left) in [
        ("DELETE FROM t LIMIT 1000", 5000),
        ("DELETE FROM t WHERE id BETWEEN 2000 AND 2999", 4000),
        ("DELETE FROM t WHERE id > 3500 AND id < 4500 LIMIT 500", 3500),
        ("DELETE FROM t WHERE id IN (1001, 1500, 2001, 3000)", 3497),
        ("DELETE FROM t WHERE id >= 5000 ORDER BY id DESC LIMIT 1000", 2497),
        ("DELETE FROM t WHERE id < 2000 AND n >= 0 LIMIT 900", 1597),
        ("DELETE FROM t ORDER BY n, id LIMIT 97", 1500),
        ("DELETE FROM t LIMIT 0", 1500),
    ] {
        s.ok(delete);
        assert_eq!(counts(&mut s), count(left), "{delete}");
    }
    s.check(&[
        ("SELECT COUNT(*) FROM t WHERE id <= 1000", "0"),
        ("SELECT COUNT(*) FROM t WHERE id BETWEEN 2000 AND 2999", "0"),
        ("SELECT COUNT(*) FROM t WHERE id > 5000", "0"),
    ]);
    s.ok("ROLLBACK");
    assert_eq!(counts(&mut s), count(ROWS));
    assert_sound(&mut s);
}

#[test]
fn a_savepoint_brings_the_rows_back_and_they_can_go_again() {
    let db = TestDb::new();
    let mut s = filled(&db);
    s.ok("BEGIN");
    s.ok("UPDATE t SET name = 'changed before' WHERE id % 100 = 50");
    s.ok("DELETE FROM t WHERE id % 100 = 51");
    s.ok("SAVEPOINT half");
    s.ok("DELETE FROM t");
    s.check(&[("SELECT ROW_COUNT()", "5940")]);
    s.ok("ROLLBACK TO half");
    assert_eq!(counts(&mut s), count(5940));
    s.check(&[("SELECT COUNT(*) FROM t WHERE name = 'changed before'", "60")]);
    s.ok("DELETE FROM t");
    s.ok("COMMIT");
    assert_eq!(counts(&mut s), count(0));
}

#[test]
fn a_row_that_another_transaction_has_stops_the_statement_and_all_rows_stay() {
    for isolation in ["REPEATABLE READ", "READ COMMITTED"] {
        let db = TestDb::new();
        let (mut s, mut other) = (filled(&db), db.session());
        other.ok("BEGIN");
        other.ok("UPDATE t SET n = -1 WHERE id = 4000");
        s.ok(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"));
        s.ok("SET innodb_lock_wait_timeout = 1");
        s.ok("BEGIN");
        s.ok("DELETE FROM t WHERE id = 3");
        let answer = s.run("DELETE FROM t");
        assert!(answer.contains("1205"), "{answer}");
        assert_eq!(counts(&mut s), count(ROWS - 1), "the transaction goes on");
        // What the statement has not come to is free, also of gap locks.
        other.ok("DELETE FROM t WHERE id = 4001");
        other.ok("INSERT INTO t (id, n) VALUES (4001, 0)");
        other.ok("COMMIT");
        s.ok("DELETE FROM t");
        s.check(&[("SELECT ROW_COUNT()", "5999")]);
        s.ok("COMMIT");
        assert_eq!(counts(&mut other), count(0));
        assert_sound(&mut s);
    }
}

#[test]
fn a_parent_whose_child_is_there_stops_the_statement() {
    let db = TestDb::new();
    let mut s = filled(&db);
    s.ok("CREATE TABLE child (id INT PRIMARY KEY, parent INT, \
          FOREIGN KEY (parent) REFERENCES t (id))");
    s.ok("INSERT INTO child VALUES (1, 4000)");
    let answer = s.run("DELETE FROM t");
    assert!(answer.contains("1451"), "{answer}");
    assert_eq!(counts(&mut s), count(ROWS));
    s.ok("DROP TABLE child");
    s.ok("CREATE TABLE child (id INT PRIMARY KEY, parent INT, \
          FOREIGN KEY (parent) REFERENCES t (id) ON DELETE CASCADE)");
    s.ok("INSERT INTO child SELECT id, id FROM t");
    s.ok("DELETE FROM t WHERE id > 100");
    assert_eq!(counts(&mut s), count(100));
    s.check(&[("SELECT COUNT(*) FROM child", "100")]);
    s.ok("DELETE FROM child");
    s.check(&[("SELECT COUNT(*) FROM child", "0")]);
    assert_eq!(counts(&mut s), count(100));
    s.ok("DELETE FROM t");
    assert_eq!(counts(&mut s), count(0));
}

#[test]
fn numbers_of_deleted_rows_are_not_given_again() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("CREATE TABLE numbered (id INT AUTO_INCREMENT PRIMARY KEY, n INT, KEY (n))");
    s.ok("INSERT INTO numbered (n) VALUES (1), (2), (3), (4), (5), (6), (7), (8)");
    s.ok("DELETE FROM numbered");
    drop(s);
    let db = db.restart();
    let mut s = db.session();
    s.ok("INSERT INTO numbered (n) VALUES (9)");
    s.check(&[("SELECT id FROM numbered", "9")]);
}
