//! Rows of whole leaves at once: the same answers by an index that covers, by one that does not, by
//! the clustered tree, and by conditions that only the general way can evaluate.

use super::{TestDb, TestSession, sorted};

const ROWS: usize = 3000;

/// Rows whose values repeat, with NULLs, in several orders.
fn filled(db: &TestDb) -> TestSession {
    let mut s = db.session();
    s.ok("CREATE TABLE t (id INT UNSIGNED NOT NULL PRIMARY KEY, a INT, b SMALLINT NOT NULL, \
          d DATE, c CHAR(10), v VARCHAR(300) COLLATE utf8mb4_bin, y YEAR, u BIGINT UNSIGNED, \
          KEY a (a, c), KEY b (b DESC, d, v), KEY u (u, y))");
    let rows: Vec<String> = (0..ROWS)
        .map(|i| {
            let or_null = |text: String, every: usize| match i % every {
                1 => "NULL".to_owned(),
                _ => text,
            };
            let a = or_null((i as i64 * 7919 % 200 - 100).to_string(), 11);
            let d = or_null(format!("'{}-{:02}-{:02}'", 1900 + i % 90, i % 12 + 1, i % 28 + 1), 13);
            let c = or_null(format!("'{}x{}'", ["A", "a", "\u{e4}", "b"][i % 4], i % 9), 17);
            let v = or_null(format!("'{}'", "v".repeat(i % 290)), 19);
            let b = i as i64 * 31 % 500 - 250;
            let y = or_null((1950 + i % 100).to_string(), 23);
            let u = or_null((u64::MAX - (i as u64 * 77) % 1000).to_string(), 29);
            format!("({i}, {a}, {b}, {d}, {c}, {v}, {y}, {u})")
        })
        .collect();
    for some in rows.chunks(500) {
        s.ok(&format!("INSERT INTO t VALUES {}", some.join(",")));
    }
    s
}

/// Asks by every index, with the condition as it is and behind one that is evaluated generally.
#[track_caller]
fn agree(s: &mut TestSession, columns: &str, condition: &str, indexes: &[&str]) -> usize {
    let mut answers = Vec::new();
    for index in indexes {
        let hint = match *index {
            "" => "IGNORE INDEX (a, b, u)".to_owned(),
            index => format!("FORCE INDEX ({index})"),
        };
        for condition in [condition.to_owned(), format!("ABS(id) >= 0 AND ({condition})")] {
            let query = format!("SELECT {columns} FROM t {hint} WHERE {condition}");
            answers.push((s.ok(&query), query));
        }
    }
    let first = sorted(&answers[0].0);
    for (answer, query) in &answers[1..] {
        assert_eq!(sorted(answer), first, "{query}");
    }
    first.len()
}

#[test]
fn every_way_to_the_rows_shows_the_same_ones() {
    let db = TestDb::new();
    let mut s = filled(&db);
    assert_eq!(agree(&mut s, "*", "TRUE", &["", "a", "b", "u"]), ROWS);
    let found = [
        agree(&mut s, "a, id", "a BETWEEN -20 AND 20", &["", "a", "b"]),
        agree(&mut s, "a, c", "a >= 0 AND c = 'ax3'", &["", "a", "u"]),
        agree(&mut s, "c, id", "c <> 'ax3' AND a < 50", &["", "a"]),
        agree(&mut s, "b, d, v, id", "b > 100", &["", "b", "a"]),
        agree(&mut s, "v", "v >= 'vvvvvvvvvvvvvvvvvvvvvvv' AND b <= 0", &["", "b"]),
        agree(&mut s, "u, y, id", "u > 18446744073709551000", &["", "u", "b"]),
        agree(&mut s, "id, y", "18446744073709551500 < u AND y = 1999", &["", "u"]),
        agree(&mut s, "d, a", "c < 'B' AND a <> 3 AND d > '1950-01-01'", &["", "a", "b"]),
        agree(&mut s, "id", "a = -1 AND b <> -1 AND v <> ''", &["", "a", "b"]),
        agree(&mut s, "COUNT(*), COUNT(a), SUM(a), MIN(a), MAX(a)", "b < 77", &["", "a", "b"]),
        agree(&mut s, "MIN(d), MAX(d), COUNT(d), MIN(u), MAX(u), SUM(u)", "TRUE", &["", "b", "u"]),
        agree(&mut s, "SUM(y), MIN(y), MAX(b), COUNT(v)", "id > 5", &["", "b", "u"]),
    ];
    assert!(found.iter().all(|rows| *rows > 0), "{found:?}");
}

#[test]
fn limits_are_kept_where_rows_come_many_at_a_time() {
    let db = TestDb::new();
    let mut s = filled(&db);
    for index in ["a", "b", "u", "PRIMARY"] {
        for columns in ["a, id", "b, d", "*"] {
            let from = format!("SELECT {columns} FROM t FORCE INDEX ({index}) WHERE TRUE");
            let all = s.ok(&from);
            let all: Vec<&str> = all.lines().collect();
            for (skip, take) in [(0, 1), (3, 2), (15, 3), (100, 500), (2990, 50), (5000, 1)] {
                let some = s.ok(&format!("{from} LIMIT {skip}, {take}"));
                let expected = all.iter().skip(skip).take(take).copied();
                assert!(some.lines().eq(expected), "{from} LIMIT {skip}, {take}");
            }
        }
    }
}

#[test]
fn rows_of_others_and_deleted_ones_are_left_out() {
    let db = TestDb::new();
    let (mut s, mut other) = (filled(&db), db.session());
    s.ok("BEGIN");
    let count = "SELECT COUNT(*), SUM(a), MIN(d) FROM t WHERE b < 100";
    let rows = "SELECT a, id FROM t FORCE INDEX (a) WHERE a > 10";
    let before = (s.ok(count), s.ok(rows));
    other.ok("DELETE FROM t WHERE id % 7 = 3");
    other.ok("UPDATE t SET a = a + 1, d = '1800-01-01', b = 50 WHERE id % 5 = 2");
    assert_eq!((s.ok(count), s.ok(rows)), before);
    s.ok("COMMIT");
    assert_eq!(s.ok(count), other.ok(count));
    assert_ne!(s.ok(count), before.0);
    let (_, now) = (s.ok(count), s.ok(rows));
    let scanned = s.ok("SELECT a, id FROM t IGNORE INDEX (a) WHERE ABS(a) > 10 AND a > 0");
    assert_eq!(sorted(&now), sorted(&scanned));
}

/// The first row goes, again and again, so that at some times the rows that a statement does not
/// see end where a leaf ends: before purge, after it, and beside a snapshot that is older.
#[test]
fn totals_and_groups_step_over_leaves_without_visible_rows() {
    const ROWS: usize = 400;
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, filler VARCHAR(700))");
    let row = |i: usize| format!("({i}, {i}, REPEAT('x', {}))", i * 7 % 700);
    let rows: Vec<String> = (1..=ROWS).map(row).collect();
    s.ok(&format!("INSERT INTO t VALUES {}", rows.join(",")));
    let mut other = db.session();
    let check = |s: &mut TestSession, gone: usize| {
        let (rows, sum) = (ROWS - gone, (gone + 1..=ROWS).sum::<usize>());
        assert_eq!(s.ok("SELECT COUNT(*) FROM t"), format!("{rows}\n"));
        assert_eq!(s.ok("SELECT COUNT(*), SUM(n) FROM t"), format!("{rows}|{sum}\n"));
        assert_eq!(s.ok("SELECT COUNT(*) FROM t WHERE id >= 0"), format!("{rows}\n"));
        let groups = s.ok("SELECT n, COUNT(*) FROM t GROUP BY n");
        assert_eq!(groups.lines().count(), rows);
    };
    for seen in (0..300).step_by(50) {
        other.ok("COMMIT");
        while db.database().engine.background_step().unwrap() {}
        check(&mut s, seen);
        other.ok("START TRANSACTION WITH CONSISTENT SNAPSHOT");
        for gone in seen + 1..=seen + 50 {
            s.ok(&format!("DELETE FROM t WHERE id = {gone}"));
            check(&mut s, gone);
            if gone % 10 == 0 {
                check(&mut other, seen);
            }
        }
    }
}
