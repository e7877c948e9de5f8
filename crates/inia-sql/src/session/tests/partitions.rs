//! Partitioned tables: which partitions statements read, other transactions, restarts and checks.

use super::{TestDb, TestSession};
use crate::check::check_database;

/// The names in EXPLAIN's column `partitions`, of all lines.
fn read_by(session: &mut TestSession, query: &str) -> String {
    let text = session.ok(&format!("EXPLAIN {query}"));
    let names = |line: &str| line.split('|').nth(3).unwrap_or("").to_owned();
    text.lines().map(names).collect::<Vec<_>>().join(" ")
}

fn by_range() -> TestDb {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE r (id INT PRIMARY KEY, v INT, KEY (v)) PARTITION BY RANGE (id) \
         (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20), \
         PARTITION pm VALUES LESS THAN MAXVALUE)");
    session.ok("INSERT INTO r VALUES (1, 1), (9, 2), (12, 3), (19, 4), (25, 5)");
    drop(session);
    db
}

/// As MySQL 8.0.31 shows them.
#[test]
fn conditions_leave_partitions_out() {
    let db = by_range();
    let mut session = db.session();
    for (condition, partitions) in [
        ("1", "p0,p1,pm"),
        ("id = 9", "p0"),
        ("id = 12", "p1"),
        // No row is found, and so no partition is named.
        ("id = 5", "NULL"),
        ("id < 10", "p0"),
        ("id <= 10", "p0,p1"),
        ("id > 9", "p1,pm"),
        ("id BETWEEN 5 AND 15", "p0,p1"),
        ("id IN (1, 100)", "p0,pm"),
        ("id = 5 OR id = 35", "p0,pm"),
        ("v = 3", "p0,p1,pm"),
        ("id = 9 AND v = 2", "p0"),
    ] {
        let query = format!("SELECT * FROM r WHERE {condition}");
        assert_eq!(read_by(&mut session, &query), partitions, "{condition}");
    }
    let query = "SELECT * FROM r PARTITION (p1, pm) WHERE id < 22";
    assert_eq!(read_by(&mut session, query), "p1,pm");
    assert_eq!(read_by(&mut session, "UPDATE r SET v = 1 WHERE id = 5"), "p0");
    assert_eq!(read_by(&mut session, "DELETE FROM r WHERE id < 10"), "p0");
}

#[test]
fn functions_that_grow_leave_partitions_out() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE y (d DATE) PARTITION BY RANGE (YEAR(d)) \
         (PARTITION p0 VALUES LESS THAN (1990), PARTITION p1 VALUES LESS THAN (2000), \
         PARTITION p2 VALUES LESS THAN (2010), PARTITION p3 VALUES LESS THAN MAXVALUE)");
    for (condition, partitions) in [
        ("d = '1995-05-05'", "p1"),
        ("d < '2000-01-01'", "p0,p1"),
        ("d <= '2000-01-01'", "p0,p1,p2"),
        ("d >= '2000-01-01'", "p2,p3"),
        ("d BETWEEN '1995-01-01' AND '2005-01-01'", "p1,p2"),
        ("d IS NULL", "p0"),
    ] {
        let query = format!("SELECT * FROM y WHERE {condition}");
        assert_eq!(read_by(&mut session, &query), partitions, "{condition}");
    }
}

#[test]
fn rows_that_change_their_partition_come_back_with_a_rollback() {
    let db = by_range();
    let (mut writing, mut reading) = (db.session(), db.session());
    reading.ok("BEGIN");
    assert_eq!(reading.ok("SELECT COUNT(*) FROM r PARTITION (p0)"), "2\n");
    writing.ok("BEGIN");
    writing.ok("UPDATE r SET id = id + 100 WHERE id < 10");
    assert_eq!(writing.ok("SELECT id FROM r PARTITION (pm) ORDER BY id"), "25\n101\n109\n");
    assert_eq!(reading.ok("SELECT id FROM r PARTITION (p0) ORDER BY id"), "1\n9\n");
    assert_eq!(reading.ok("SELECT id FROM r PARTITION (pm)"), "25\n");
    writing.ok("ROLLBACK");
    assert_eq!(writing.ok("SELECT id FROM r WHERE v < 3 ORDER BY id"), "1\n9\n");
    reading.ok("COMMIT");
    drop((writing, reading));
    assert_eq!(check_database(&db.db).unwrap(), Vec::<String>::new());
}

#[test]
fn partitions_survive_a_restart() {
    let db = by_range();
    let mut session = db.session();
    session.ok("ALTER TABLE r TRUNCATE PARTITION p1");
    session.ok("INSERT INTO r VALUES (15, 9)");
    session.ok("CREATE TABLE t (id INT PRIMARY KEY, v INT, KEY (v))");
    session.ok("INSERT INTO t VALUES (5, 50)");
    session.ok("ALTER TABLE r EXCHANGE PARTITION p0 WITH TABLE t");
    drop(session);
    let db = db.restart();
    let mut session = db.session();
    assert_eq!(session.ok("SELECT id FROM r ORDER BY id"), "5\n15\n25\n");
    assert_eq!(session.ok("SELECT id FROM t ORDER BY id"), "1\n9\n");
    assert_eq!(session.ok("SELECT id FROM r WHERE v = 50"), "5\n");
    session.ok("DROP TABLE t");
    session.ok("ALTER TABLE r DROP PARTITION p0");
    assert_eq!(session.ok("SELECT COUNT(*) FROM r"), "2\n");
    drop(session);
    let db = db.restart();
    assert_eq!(check_database(&db.db).unwrap(), Vec::<String>::new());
}

#[test]
fn a_check_finds_rows_in_the_wrong_partition() {
    let db = by_range();
    let mut session = db.session();
    session.ok("CREATE TABLE t (id INT PRIMARY KEY, v INT, KEY (v))");
    session.ok("INSERT INTO t VALUES (500, 50)");
    session.ok("ALTER TABLE r EXCHANGE PARTITION p0 WITH TABLE t WITHOUT VALIDATION");
    let said = session.ok("CHECK TABLE r");
    assert!(said.contains("partition p0") && said.contains("belongs to another"), "{said}");
}
