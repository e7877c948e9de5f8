//! Statements sent as text again and again: kept plans answer as fresh ones do.

use super::{TestDb, TestSession, TextSink};

/// The answer with everything that a client sees: columns, rows, completion, warnings. Rows without
/// ORDER BY are a set, and the flags of columns, which say how groups are made, are left out:
/// ranges of constants in a small table are counted before one is read, those of a kept plan are
/// not.
fn whole(s: &mut TestSession, sql: &str) -> String {
    let mut sink = TextSink::default();
    let result = s.0.execute(sql, &mut sink);
    let mut rows: Vec<&str> = sink.text.lines().collect();
    if !sql.contains("ORDER BY") {
        rows.sort_unstable();
    }
    sink.columns.iter_mut().for_each(|column| column.flags = 0);
    let error = result.err().map(|error| format!("{}: {}", error.number(), error.message));
    format!("{:?}\n{rows:?}\n{:?}\n{error:?}\n{:?}", sink.columns, sink.completions, s.0.warnings())
}

const TABLE: &str = "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, k BIGINT UNSIGNED, \
                     d DECIMAL(8,2), f DOUBLE, c CHAR(10), v VARCHAR(5) COLLATE utf8mb4_bin, \
                     day DATE, e ENUM('x', 'y'), KEY (k), KEY (v))";

fn filled() -> TestDb {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok(TABLE);
    for i in 1..=20 {
        let (k, e) = (i * 7 % 5, ["x", "y"][i % 2]);
        s.ok(&format!(
            "INSERT INTO t VALUES ({i}, {k}, {i}.25, {i}e0, 'c{i}', 'v{k}', '2024-01-{i:02}', \
             '{e}')"
        ));
    }
    db
}

/// Texts that differ in literals only, and in what their literals are.
const GROUPS: &[&[&str]] = &[
    &[
        "SELECT c FROM t WHERE id = 5",
        "SELECT c FROM t WHERE id = 7",
        "SELECT c FROM t WHERE id = 99",
    ],
    &["SELECT * FROM t WHERE id=1", "SELECT * FROM t WHERE id='2'", "SELECT * FROM t WHERE id=2.5"],
    &["SELECT id FROM t WHERE id = '7x'", "SELECT id FROM t WHERE id = 'x'"],
    &[
        "SELECT id FROM t WHERE c = 'c3'",
        "SELECT id FROM t WHERE c = 'C4'",
        "SELECT id FROM t WHERE c = 4",
    ],
    &[
        "SELECT id FROM t WHERE v = 'v1'",
        "SELECT id FROM t WHERE v = 'V1'",
        "SELECT id FROM t WHERE v = ''",
    ],
    &["SELECT id FROM t WHERE c = 'it''s'", "SELECT id FROM t WHERE c = 'c\\3'"],
    &["SELECT id, 1 FROM t WHERE id = 3", "SELECT id, 2 FROM t WHERE id = 3"],
    &["SELECT COUNT(*) FROM t WHERE k > 1", "SELECT COUNT( * ) FROM t WHERE k > 2"],
    &["SELECT id+1 FROM t LIMIT 1", "SELECT id + 1 FROM t LIMIT 2"],
    &[
        "SELECT SUM(k), MIN(c) FROM t WHERE id BETWEEN 2 AND 9",
        "SELECT SUM(k), MIN(c) FROM t WHERE id BETWEEN 5 AND 3",
    ],
    &[
        "SELECT DISTINCT c FROM t WHERE id BETWEEN 2 AND 9 ORDER BY c",
        "SELECT DISTINCT c FROM t WHERE id BETWEEN 1 AND 3 ORDER BY c",
    ],
    &[
        "SELECT id FROM t WHERE id IN (1, 2)",
        "SELECT id FROM t WHERE id IN (1, 2, 3)",
        "SELECT id FROM t WHERE id IN (3, 4)",
    ],
    &[
        "SELECT id FROM t WHERE k IN (1, 2, 3, 4, 5) AND c > 'c2'",
        "SELECT id FROM t WHERE k IN (0, 0, 0, 0, 0) AND c > 'c1'",
    ],
    &[
        "SELECT id FROM t ORDER BY id LIMIT 3",
        "SELECT id FROM t ORDER BY id LIMIT 5",
        "SELECT id FROM t ORDER BY id LIMIT 0",
    ],
    &["SELECT id FROM t ORDER BY id LIMIT 2, 3", "SELECT id FROM t ORDER BY id LIMIT 19, 4"],
    &["SELECT id FROM t ORDER BY 1 LIMIT 2", "SELECT id, c FROM t ORDER BY 2 LIMIT 2"],
    &[
        "SELECT k, COUNT(*) FROM t WHERE id > 3 GROUP BY k ORDER BY k",
        "SELECT k, COUNT(*) FROM t WHERE id > 9 GROUP BY k ORDER BY k",
    ],
    &["SELECT id FROM t WHERE day = '2024-01-03'", "SELECT id FROM t WHERE day = '2024-01-40'"],
    &["SELECT id FROM t WHERE e = 'x' LIMIT 2", "SELECT id FROM t WHERE e = 2 LIMIT 2"],
    &[
        "SELECT id FROM t WHERE d = 3.25",
        "SELECT id FROM t WHERE d = 4.250",
        "SELECT id FROM t WHERE f = 3",
    ],
    &[
        "SELECT id FROM t WHERE id = -1",
        "SELECT id FROM t WHERE id = - 2",
        "SELECT id FROM t WHERE id > -1 LIMIT 1",
    ],
    &[
        "SELECT id FROM t WHERE k = 18446744073709551615",
        "SELECT id FROM t WHERE k = 18446744073709551616",
    ],
    &[
        "SELECT id FROM t WHERE id = 1 OR NOT c < 'c2'",
        "SELECT id FROM t WHERE id = 6 OR NOT c < 'c5'",
    ],
    &["SELECT id FROM t WHERE 1 = 1 AND id = 3", "SELECT id FROM t WHERE 1 = 0 AND id = 3"],
    &["SELECT id FROM t WHERE c LIKE 'c1%'", "SELECT id FROM t WHERE c LIKE '%2'"],
    &["SELECT id FROM t WHERE id = 1/0", "SELECT id FROM t WHERE id = 4/2"],
    &[
        "SELECT a.id FROM t a WHERE a.id = 3 FOR UPDATE",
        "SELECT a.id FROM t a WHERE a.id = 4 FOR UPDATE",
    ],
    &[
        "SELECT a.id FROM t a JOIN t b ON a.id = b.k WHERE b.id = 3",
        "SELECT a.id FROM t a JOIN t b ON a.id = b.k WHERE b.id = 5",
    ],
    &["SELECT nix FROM t WHERE id = 3", "SELECT nix FROM t WHERE id = 4"],
    &[
        "UPDATE t SET k = k + 1 WHERE id = 3",
        "UPDATE t SET k = k + 1 WHERE id = 4",
        "UPDATE t SET k = k - 100 WHERE id = 4",
    ],
    &[
        "UPDATE t SET c = 'new' WHERE id = 3",
        "UPDATE t SET c = 'new' WHERE id = 3",
        "UPDATE t SET c = 'much too long a text' WHERE id = 3",
    ],
    &[
        "UPDATE t SET k = 'x1' WHERE id = 3",
        "UPDATE t SET k = '17' WHERE id = 3",
        "UPDATE t SET d = 3.456 WHERE id = 3",
    ],
    &[
        "UPDATE t SET day = '2024-02-01' WHERE id = 4",
        "UPDATE t SET day = '2024-02-31' WHERE id = 4",
    ],
    &[
        "UPDATE t SET d = 1.5, f = 2e3 WHERE k > 2 LIMIT 2",
        "UPDATE t SET d = 12345678.5, f = 1e1 WHERE k > 1 LIMIT 1",
    ],
    &[
        "INSERT INTO t (k, c, v) VALUES (1, 'a', 'b')",
        "INSERT INTO t (k, c, v) VALUES (2, 'b', 'toolong')",
        "INSERT INTO t (k, c, v) VALUES (-2, 'b', 'x')",
    ],
    &[
        "INSERT INTO t (id, k) VALUES (50, 1)",
        "INSERT INTO t (id, k) VALUES (51, 1)",
        "INSERT INTO t (id, k) VALUES (50, 1)",
    ],
    &[
        "INSERT INTO t (id, k) VALUES (60, 1), (61, 2)",
        "INSERT INTO t (id, k) VALUES (62, 1), (60, 2)",
    ],
    &[
        "INSERT INTO t (id, k) VALUES (50, 1) ON DUPLICATE KEY UPDATE k = k + 1",
        "INSERT INTO t (id, k) VALUES (50, 1) ON DUPLICATE KEY UPDATE k = k + 10",
    ],
    &[
        "INSERT IGNORE INTO t (id, v) VALUES (50, 'long text')",
        "INSERT IGNORE INTO t (id, v) VALUES (70, 'long text')",
    ],
    &["REPLACE INTO t (id, k) VALUES (50, 9)", "REPLACE INTO t (id, k) VALUES (71, 8)"],
    &["INSERT INTO t SET id = 80, c = 'x'", "INSERT INTO t SET id = 81, c = 'y'"],
    &[
        "DELETE FROM t WHERE id = 80",
        "DELETE FROM t WHERE id = 80",
        "DELETE FROM t WHERE id = 81 LIMIT 1",
    ],
    &["DELETE FROM t WHERE c = 'new'", "DELETE FROM t WHERE c = 'a' ORDER BY id LIMIT 1"],
];

/// Each text runs in one session that has seen its digest before, and in a fresh one over equal
/// tables that has not.
#[test]
fn kept_plans_answer_as_fresh_ones() {
    let (warm_db, fresh_db) = (filled(), filled());
    let mut warm = warm_db.session();
    warm.ok("DO 0");
    for round in 0..3 {
        for text in GROUPS.iter().flat_map(|group| group.iter()) {
            let mut fresh = fresh_db.session();
            fresh.ok("DO 0");
            assert_eq!(whole(&mut warm, text), whole(&mut fresh, text), "round {round}: {text}");
        }
    }
    let all = "SELECT * FROM t";
    assert_eq!(warm.ok(all), fresh_db.session().ok(all));
}

#[test]
fn the_plan_of_a_text_is_kept_from_its_second_arrival_on() {
    let db = filled();
    let mut s = db.session();
    let ready = |s: &mut TestSession| s.0.texts_ready();
    for (id, kept) in [(1, 0), (2, 1), (3, 1)] {
        assert_eq!(s.ok(&format!("SELECT c FROM t WHERE id = {id}")), format!("c{id}\n"));
        assert_eq!(ready(&mut s), kept);
    }
    s.ok("UPDATE t SET k = k + 1 WHERE id = 1");
    s.ok("UPDATE t SET k = k + 1 WHERE id = 2");
    s.ok("INSERT INTO t (id, c) VALUES (31, 'a')");
    s.ok("INSERT INTO t (id, c) VALUES (32, 'b')");
    s.ok("DELETE FROM t WHERE id = 31");
    s.ok("DELETE FROM t WHERE id = 32");
    assert_eq!(ready(&mut s), 4);
}

#[test]
fn kept_plans_follow_ddl_and_settings() {
    let db = filled();
    let mut s = db.session();
    let point = |s: &mut TestSession, id: i32| s.ok(&format!("SELECT * FROM t WHERE id = {id}"));
    for _ in 0..3 {
        point(&mut s, 1);
    }
    db.session().ok("ALTER TABLE t DROP COLUMN c, DROP COLUMN v, DROP COLUMN day");
    for _ in 0..3 {
        assert_eq!(point(&mut s, 1), "1|2|1.25|1|x\n".replace('x', "y"));
    }
    s.ok("CREATE DATABASE other");
    s.ok("CREATE TABLE other.t (id INT, name TEXT)");
    s.ok("INSERT INTO other.t VALUES (1, 'other')");
    s.ok("USE other");
    for _ in 0..3 {
        assert_eq!(point(&mut s, 1), "1|other\n");
    }
    let bad = "INSERT INTO t VALUES ('x', 'y')";
    for _ in 0..3 {
        assert!(s.run(bad).starts_with("ERROR 1366"));
    }
    s.ok("SET sql_mode = ''");
    for _ in 0..3 {
        s.ok(bad);
    }
    s.ok("SET sql_mode = 'ANSI_QUOTES'");
    for _ in 0..3 {
        assert_eq!(s.ok("SELECT COUNT(*) FROM t WHERE \"id\" = 0"), "3\n");
    }
}

#[test]
fn begin_outlives_the_planning_of_a_text() {
    let db = filled();
    let mut s = db.session();
    s.ok("DELETE FROM t WHERE id = 1");
    s.ok("BEGIN");
    s.ok("DELETE FROM t WHERE id = 2");
    s.ok("DELETE FROM t WHERE id = 3");
    s.ok("ROLLBACK");
    assert_eq!(s.ok("SELECT COUNT(*) FROM t WHERE id < 4"), "2\n");
}
