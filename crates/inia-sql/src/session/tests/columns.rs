//! The column cache: answers are the same with it and without it, whatever changes the rows.

use super::{TestDb, TestSession};
use inia_testkit::Random;

/// Columns of every type that is kept, and their NULLs, narrow and wide.
const TABLE: &str = "CREATE TABLE t (id INT PRIMARY KEY, small TINYINT, big BIGINT, \
     whole BIGINT UNSIGNED, price DECIMAL(12,2), day DATE, flag CHAR(1), word VARCHAR(40), \
     note TEXT, KEY (day))";

/// What reports ask.
const QUERIES: &[&str] = &[
    "SELECT COUNT(*), SUM(small), SUM(big), SUM(price), MIN(day), MAX(day) FROM t",
    "SELECT flag, COUNT(*), SUM(price * (1 - small)), AVG(big) FROM t GROUP BY flag ORDER BY flag",
    "SELECT COUNT(*), SUM(price) FROM t WHERE small BETWEEN 3 AND 40 AND price < 5000",
    "SELECT COUNT(*) FROM t WHERE word LIKE '%7%' AND flag = 'b'",
    "SELECT SUM(id), COUNT(note) FROM t WHERE id > 2500 AND id < 3700 AND price IS NOT NULL",
    "SELECT SUM(id) FROM t WHERE big > 5000000000000 OR day < '1994-02-03'",
    "SELECT COUNT(*), SUM(a.price) FROM t a JOIN t b ON a.id = b.small WHERE b.flag <> 'c'",
    "SELECT YEAR(day) y, COUNT(DISTINCT word), MAX(whole) FROM t GROUP BY y ORDER BY y",
    "SELECT COUNT(*) FROM t WHERE CONCAT(flag, small) = 'a7'",
    "SELECT COUNT(*), SUM(id) FROM t WHERE whole = 18446744073709551615 OR small = -5",
    "SELECT SUM(id) FROM t WHERE price = 100000 AND small = 100",
];

fn fill(s: &mut TestSession, rows: u64) {
    s.ok(TABLE);
    s.ok("SET inia_batch_rows = 0, cte_max_recursion_depth = 100000");
    s.ok(&format!(
        "INSERT INTO t WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n \
         WHERE i < {rows}) SELECT i, i % 100, i * 10000000000, i, i * 1.25, \
         '1994-01-01' + INTERVAL i DAY, SUBSTR('abc', 1 + i % 3, 1), CONCAT('word ', i % 700), \
         IF(i % 5 = 0, NULL, REPEAT('n', i % 9)) FROM n"
    ));
}

fn count(s: &mut TestSession, name: &str) -> u64 {
    let line = s.ok(&format!("SHOW GLOBAL STATUS LIKE 'Inia_column_cache_{name}'"));
    line.trim().rsplit('|').next().unwrap().parse().unwrap()
}

/// Compares the cache with no cache, and returns how many leaves were found in it.
#[track_caller]
fn compare(s: &mut TestSession, kind: &str) -> u64 {
    let before = count(s, "hits");
    for query in QUERIES {
        s.ok("SET inia_column_cache = OFF");
        let expected = s.ok(query);
        s.ok(&format!("SET inia_column_cache = {kind}"));
        for round in ["first", "second", "third"] {
            assert_eq!(s.ok(query), expected, "{query}: {round}");
        }
    }
    count(s, "hits") - before
}

#[test]
fn reports_that_come_again_find_their_columns() {
    let db = TestDb::new();
    let mut s = db.session();
    fill(&mut s, 5000);
    assert!(compare(&mut s, "EAGER") > 100);
    let bytes = count(&mut s, "bytes");
    assert!((50_000..1_000_000).contains(&bytes), "{bytes}");
    // Once all is kept, nothing is kept again.
    let fills = count(&mut s, "fills");
    assert!(compare(&mut s, "EAGER") > 100);
    assert_eq!(count(&mut s, "fills"), fills);
    // A report that nobody has asked before does not fill the cache.
    s.ok("SET inia_column_cache = OFF");
    s.ok("CREATE TABLE u LIKE t");
    s.ok("INSERT INTO u SELECT * FROM t");
    s.ok("SET inia_column_cache = ON");
    let once = |s: &mut TestSession| {
        s.ok("SELECT flag, SUM(small) FROM u WHERE price > 7 GROUP BY flag");
        count(s, "fills")
    };
    assert_eq!(once(&mut s), fills);
    assert!(once(&mut s) > fills);
    // What goes with its table gives its bytes back, and OFF for all gives back the rest.
    s.ok("DROP TABLE u");
    assert!(count(&mut s, "bytes") <= bytes);
    s.ok("SET GLOBAL inia_column_cache = OFF");
    assert_eq!(count(&mut s, "bytes"), 0);
}

#[test]
fn every_change_is_seen_and_every_snapshot_keeps_its_rows() {
    let db = TestDb::new();
    let (mut s, mut other) = (db.session(), db.session());
    fill(&mut s, 3000);
    other.ok("SET inia_batch_rows = 0, inia_column_cache = EAGER");
    compare(&mut s, "EAGER");
    let mut random = Random::new(7);
    for round in 0..30 {
        other.ok("BEGIN");
        let seen: Vec<String> = QUERIES.iter().map(|query| other.ok(query)).collect();
        let id = random.below(3000);
        s.ok(&match round % 6 {
            0 => format!("UPDATE t SET small = -small, price = price + 1 WHERE id = {id}"),
            1 => format!("DELETE FROM t WHERE id BETWEEN {id} AND {}", id + 40),
            2 => format!("INSERT INTO t (id, flag, price) VALUES ({}, 'b', 3.5)", 10_000 + round),
            3 => format!("UPDATE t SET whole = 18446744073709551615 WHERE id = {id}"),
            4 => String::from("UPDATE t SET note = REPEAT('x', 9000) WHERE id % 977 = 3"),
            _ => format!("UPDATE t SET big = NULL, word = NULL, day = NULL WHERE id < {id}"),
        });
        compare(&mut s, "EAGER");
        for (query, seen) in QUERIES.iter().zip(seen) {
            assert_eq!(other.ok(query), seen, "the snapshot of {query}");
        }
        other.ok("ROLLBACK");
        // The transaction's own changes, and what is left when they are undone.
        s.ok("BEGIN");
        s.ok(&format!("UPDATE t SET price = 0, flag = 'c' WHERE id > {id}"));
        compare(&mut s, "EAGER");
        s.ok("ROLLBACK");
        compare(&mut s, "EAGER");
    }
    s.ok("ALTER TABLE t ADD extra INT DEFAULT 7 AFTER id, MODIFY small INT");
    compare(&mut s, "EAGER");
    assert_eq!(s.ok("SELECT SUM(extra) = 7 * COUNT(*) FROM t"), "1\n");
    assert_eq!(s.ok("SELECT SUM(extra) = 7 * COUNT(*) FROM t"), "1\n");
    s.ok("TRUNCATE TABLE t");
    compare(&mut s, "EAGER");
}

/// A change costs the leaf that it was in, and columns that come later join those that are there.
#[test]
fn a_change_reads_its_own_leaf_again_and_other_columns_join_those_that_are_kept() {
    let db = TestDb::new();
    let mut s = db.session();
    fill(&mut s, 20_000);
    s.ok("SET inia_column_cache = EAGER");
    let prices = "SELECT flag, SUM(price) FROM t WHERE price > 7 GROUP BY flag";
    let words = "SELECT flag, SUM(big) FROM t WHERE word LIKE 'word 1%' GROUP BY flag";
    let both = "SELECT flag, SUM(price), SUM(big) FROM t WHERE word LIKE '%3%' AND price > 9 \
                GROUP BY flag";
    let counts = |s: &mut TestSession| ["fills", "hits", "bytes"].map(|name| count(s, name));
    s.ok(prices);
    let [leaves, ..] = counts(&mut s);
    assert!(leaves > 60, "{leaves} leaves");
    s.ok(words);
    let [fills, hits, bytes] = counts(&mut s);
    assert_eq!(fills, 2 * leaves);
    s.ok(both);
    let found = counts(&mut s);
    assert_eq!(found, [fills, hits + leaves, bytes], "all of both columns is there");
    let mut random = Random::new(11);
    for round in 0..60 {
        let [before, ..] = counts(&mut s);
        // The first leaf of a range is always read.
        let id = 1000 + random.below(19_000);
        s.ok(&format!("UPDATE t SET price = price + 1 WHERE id = {id}"));
        let answer = s.ok(both);
        let [fills, ..] = counts(&mut s);
        // Small neighbours come along, a segment at most.
        assert!((1..=leaves / 3).contains(&(fills - before)), "{round}: {before} {fills}");
        s.ok("SET inia_column_cache = OFF");
        assert_eq!(s.ok(both), answer, "round {round}");
        s.ok("SET inia_column_cache = EAGER");
        assert_eq!(s.ok(both), answer, "round {round}");
    }
    let [fills, hits, kept] = counts(&mut s);
    s.ok(both);
    assert_eq!(counts(&mut s), [fills, hits + leaves, kept]);
    assert!(kept < 3 * bytes, "{kept} of {bytes}");
}
