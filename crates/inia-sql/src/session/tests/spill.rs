//! Statements that keep almost nothing in memory give the answers of those that keep everything.

use super::{TestSession, sorted};
use crate::session::Session;
use inia_query::database::{ClientInfo, Database, DatabaseOptions};
use inia_testkit::{Random, SimDisk};
use std::sync::Arc;

fn open(disk: &SimDisk) -> Arc<Database> {
    let options = DatabaseOptions { buffer_pool_size: 16 << 20, background: false };
    Database::open(Arc::new(disk.clone()), options).unwrap()
}

/// Two tables of random rows: few and many different values, NULLs, texts equal but for their
/// case, fractions and dates. They are so many that those of equal keys keep their order in any
/// memory.
fn filled(disk: &SimDisk, seed: u64) -> (Arc<Database>, TestSession) {
    let db = open(disk);
    let mut session = TestSession(Session::new(&db, ClientInfo::default()));
    for sql in ["CREATE DATABASE test", "USE test"] {
        session.ok(sql);
    }
    let mut random = Random::new(seed);
    for table in ["t", "u"] {
        session.ok(&format!(
            "CREATE TABLE {table} (id INT PRIMARY KEY, few INT, many INT, name VARCHAR(40), \
             amount DECIMAL(10,2), moment DATETIME(3))"
        ));
        let mut rows = Vec::new();
        for id in 0..1010 {
            let mut or_null = |text: String| match random.chance(1, 12) {
                true => String::from("NULL"),
                false => text,
            };
            let (few, many) =
                (or_null(format!("{}", id % 7)), or_null(format!("{}", id * 31 % 400)));
            let name = ["Apple", "aPPLE", "pear"][random.index(3)].repeat(1 + random.index(4));
            rows.push(format!(
                "({id}, {few}, {many}, '{name}{}', {}.{:02}, '2024-01-{:02} 10:00:00.{:03}')",
                random.below(90),
                random.below(50),
                random.below(100),
                1 + random.below(28),
                random.below(1000),
            ));
        }
        session.ok(&format!("INSERT INTO {table} VALUES {}", rows.join(",")));
    }
    (db, session)
}

const QUERIES: &[&str] = &[
    "SELECT many, COUNT(*), SUM(amount), MIN(name), MAX(moment), AVG(id) FROM t GROUP BY many",
    "SELECT name, COUNT(DISTINCT many), SUM(DISTINCT few) FROM t GROUP BY name",
    "SELECT COUNT(DISTINCT name), COUNT(DISTINCT many, few), SUM(DISTINCT amount) FROM t",
    "SELECT COUNT(DISTINCT moment) FROM t",
    "SELECT few, many, COUNT(*), SUM(amount) FROM t GROUP BY few, many WITH ROLLUP",
    "SELECT few, GROUP_CONCAT(DISTINCT many ORDER BY many DESC) FROM t GROUP BY few",
    "SELECT few, GROUP_CONCAT(id ORDER BY id) FROM t GROUP BY few",
    "SELECT many, COUNT(*) AS n FROM t GROUP BY many HAVING n > 1",
    "SELECT DISTINCT LOWER(name) FROM t",
    "SELECT DISTINCT many, few FROM t",
    "SELECT DISTINCT amount, moment FROM t ORDER BY moment, amount",
    "SELECT few, many, name FROM t UNION SELECT few, many, name FROM u",
    "SELECT many FROM t INTERSECT SELECT many FROM u",
    "SELECT many FROM t EXCEPT SELECT many FROM u",
    "SELECT many FROM t INTERSECT ALL SELECT many FROM u",
    "SELECT many FROM t EXCEPT ALL SELECT few FROM u",
    "SELECT name FROM t UNION ALL SELECT name FROM u EXCEPT SELECT name FROM u WHERE few = 1",
    "(SELECT many FROM t EXCEPT SELECT many FROM u) UNION SELECT id FROM u WHERE few = 3",
    "SELECT t.id, u.id, t.name FROM t JOIN u ON t.many = u.many",
    "SELECT t.id, u.id FROM t LEFT JOIN u ON t.many = u.many AND u.few = 2",
    "SELECT t.id, u.id FROM t LEFT JOIN u ON t.few = u.few AND u.id < t.id - 600",
    "SELECT COUNT(*) FROM t JOIN u ON t.few = u.few",
    "SELECT t.id, u.id, v.id FROM t JOIN u ON t.name = u.name LEFT JOIN u AS v ON v.many = t.many",
    "SELECT d.name, d.n FROM (SELECT name, COUNT(*) AS n FROM t GROUP BY name) d WHERE d.n > 0",
    "SELECT a.many, b.many FROM (SELECT DISTINCT many FROM t) a JOIN (SELECT many FROM u) b \
     ON a.many = b.many",
    "WITH c AS (SELECT id, many FROM t) SELECT x.id, y.id FROM c x JOIN c y ON x.many = y.id",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 900) \
     SELECT COUNT(*), SUM(n) FROM r",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT (n * 7 + 3) % 991 FROM r) SELECT n FROM r",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r LIMIT 300 OFFSET 5) \
     SELECT n FROM r",
    "SELECT id FROM t WHERE many IN (SELECT many + 1 FROM u)",
    "SELECT id FROM t WHERE name NOT IN (SELECT name FROM u)",
    "SELECT id FROM t WHERE many NOT IN (SELECT many FROM u WHERE many IS NOT NULL)",
    "SELECT id, name FROM t ORDER BY name, id",
    "SELECT t.name, t.id + u.id FROM t JOIN u ON t.many = u.many ORDER BY 1, 2 LIMIT 70 OFFSET 200",
    "SELECT many, JSON_ARRAYAGG(id), JSON_OBJECTAGG(id, name) FROM t GROUP BY many",
    "SELECT few, MIN(REPEAT(name, 30)), MAX(REPEAT(name, 30)) FROM t GROUP BY few WITH ROLLUP",
    "SELECT id, ROW_NUMBER() OVER w, RANK() OVER w, DENSE_RANK() OVER w, CUME_DIST() OVER w, \
     NTILE(5) OVER w FROM t WINDOW w AS (PARTITION BY few ORDER BY name)",
    "SELECT id, LAG(name, 90, 'none') OVER w, LEAD(many) OVER w, FIRST_VALUE(id) OVER w, \
     NTH_VALUE(id, 70) OVER w, LAST_VALUE(id) OVER w FROM t WINDOW w AS (ORDER BY many, id)",
    "SELECT id, SUM(amount) OVER w, COUNT(few) OVER w, MIN(name) OVER w, MAX(moment) OVER w, \
     AVG(many) OVER w, STDDEV(many) OVER w FROM t \
     WINDOW w AS (ORDER BY id ROWS BETWEEN 150 PRECEDING AND 50 FOLLOWING)",
    "SELECT id, SUM(id) OVER (ORDER BY many RANGE BETWEEN 20 PRECEDING AND 5 FOLLOWING), \
     SUM(id) OVER (ORDER BY many DESC RANGE BETWEEN 5 FOLLOWING AND 9 FOLLOWING), \
     COUNT(*) OVER (ORDER BY moment RANGE BETWEEN INTERVAL 3 DAY PRECEDING AND CURRENT ROW) \
     FROM t",
    "SELECT name, COUNT(*), SUM(COUNT(*)) OVER (ORDER BY name), RANK() OVER (ORDER BY SUM(id)) \
     FROM t GROUP BY name",
];

#[test]
fn queries_with_little_memory_equal_those_with_much() {
    for seed in 1..=2 {
        let disk = SimDisk::new();
        let (_db, mut session) = filled(&disk, seed);
        for sql in QUERIES {
            session.ok("SET tmp_table_size = DEFAULT");
            let expected = session.ok(sql);
            session.ok("SET tmp_table_size = 1024");
            let answer = session.ok(sql);
            let ordered = sql.contains("ORDER BY name") || sql.contains("ROLLUP");
            if ordered {
                assert_eq!(answer, expected, "seed {seed}: {sql}");
            }
            assert_eq!(sorted(&answer), sorted(&expected), "seed {seed}: {sql}");
            assert_eq!(disk.scratch_files(), 0, "{sql}");
        }
    }
}

#[test]
fn statements_that_change_what_they_read_gather_rows_first() {
    let disk = SimDisk::new();
    let (_db, mut session) = filled(&disk, 3);
    session.ok("SET tmp_table_size = 1024");
    session.ok("INSERT INTO t SELECT id + 10000, few, many, name, amount, moment FROM t");
    assert_eq!(session.ok("SELECT COUNT(*), SUM(id >= 10000) FROM t"), "2020|1010\n");
    session.ok("UPDATE t JOIN u ON t.id = u.id SET t.many = 5 WHERE u.id >= 0");
    assert_eq!(session.ok("SELECT COUNT(*) FROM t WHERE many = 5 AND id < 10000"), "1010\n");
}

/// Every statement that wants more room than there is fails with an error of a full table or file,
/// leaves nothing behind, and the session goes on.
#[test]
fn a_full_device_ends_the_statement_only() {
    let disk = SimDisk::new();
    let (_db, mut session) = filled(&disk, 4);
    session.ok("SET tmp_table_size = 1024");
    disk.set_capacity(Some(0));
    let mut failed = 0;
    for sql in QUERIES {
        let answer = session.run(sql);
        assert_eq!(disk.scratch_files(), 0, "{sql}");
        if answer.contains("ERROR") {
            let file = "ERROR 3: Error writing file '#sql-scratch' \
                        (OS errno 28 - No space left on device)";
            let table = "ERROR 1114: The table '#sql-scratch' is full";
            let last = answer.lines().last().unwrap_or_default();
            assert!([file, table].contains(&last), "{sql}: {answer}");
            failed += 1;
        }
    }
    assert!(failed > 20, "{failed}");
    assert_eq!(session.ok("SELECT 1"), "1\n");
}
