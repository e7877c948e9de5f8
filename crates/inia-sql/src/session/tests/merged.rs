//! Merged tables: restarts and crashes, sessions beside each other, and plans that are kept.

use super::{TestDb, TestSession};
use crate::check::check_database;
use crate::session::Session;
use inia_query::database::{ClientInfo, Database, DatabaseOptions};
use inia_testkit::SimDisk;
use std::sync::Arc;

const WRONG: &str = "ERROR 1168";

/// Two children with rows, and the table that unites them.
fn make(session: &mut TestSession) {
    for (child, rows) in [("a", "(1, 10), (2, 20)"), ("b", "(3, 30), (2, 40)")] {
        session.ok(&format!(
            "CREATE TABLE {child} (id INT AUTO_INCREMENT PRIMARY KEY, v INT, KEY (v)) ENGINE=MyISAM"
        ));
        session.ok(&format!("INSERT INTO {child} VALUES {rows}"));
    }
    session.ok("CREATE TABLE m (id INT AUTO_INCREMENT PRIMARY KEY, v INT, KEY (v)) \
         ENGINE=MERGE UNION=(a,b) INSERT_METHOD=LAST");
}

fn made() -> TestDb {
    let db = TestDb::new();
    make(&mut db.session());
    db
}

fn open(disk: &SimDisk) -> Arc<Database> {
    let options = DatabaseOptions { buffer_pool_size: 16 << 20, background: false };
    Database::open(Arc::new(disk.clone()), options).unwrap()
}

#[test]
fn definitions_and_rows_are_there_after_an_end_and_after_a_crash() {
    for crash in [false, true] {
        let disk = SimDisk::new();
        let db = open(&disk);
        let mut one = TestSession(Session::new(&db, ClientInfo::default()));
        one.ok("CREATE DATABASE test");
        one.ok("USE test");
        make(&mut one);
        one.ok("INSERT INTO m (v) VALUES (50), (60)");
        one.ok("DELETE FROM m WHERE v = 10");
        let shown = one.ok("SHOW CREATE TABLE m");
        drop(one);
        let disk = match crash {
            true => disk.crash(1),
            false => {
                db.close().unwrap();
                disk
            }
        };
        let db = open(&disk);
        let mut one = TestSession(Session::new(&db, ClientInfo::default()));
        one.ok("USE test");
        assert_eq!(one.ok("SHOW CREATE TABLE m"), shown);
        assert_eq!(one.ok("SELECT * FROM m"), "2|20\n3|30\n2|40\n4|50\n5|60\n");
        assert_eq!(one.ok("SELECT COUNT(*) FROM m"), "5\n");
        assert_eq!(one.ok("SELECT id FROM m WHERE v > 20 ORDER BY v"), "3\n2\n4\n5\n");
        one.ok("INSERT INTO m (v) VALUES (70)");
        assert_eq!(one.ok("SELECT * FROM b WHERE v = 70"), "6|70\n");
        drop(one);
        assert_eq!(check_database(&db).unwrap(), Vec::<String>::new());
        db.close().unwrap();
    }
}

#[test]
fn a_child_keeps_the_rows_before_the_one_that_is_refused() {
    let db = made();
    let mut one = db.session();
    let refused = one.run("INSERT INTO m VALUES (7, 1), (8, 2), (3, 3), (9, 4)");
    assert!(refused.contains("ERROR 1062"), "{refused}");
    assert_eq!(one.ok("SELECT COUNT(*) FROM m"), "6\n");
    assert_eq!(one.ok("SELECT COUNT(*) FROM b"), "4\n");
    one.ok("BEGIN");
    one.ok("UPDATE m SET v = v + 1 WHERE id = 1");
    one.ok("ROLLBACK");
    assert_eq!(one.ok("SELECT v FROM a WHERE id = 1"), "11\n");
    assert!(one.ok("CHECK TABLE a, b, m").lines().all(|line| line.ends_with("|OK")));
}

#[test]
fn plans_that_are_kept_follow_the_children() {
    let db = made();
    let (mut one, mut other) = (db.session(), db.session());
    let query = "SELECT COUNT(*) FROM m WHERE v > 0";
    one.ok("PREPARE s FROM 'SELECT COUNT(*) FROM m WHERE v > 0'");
    for _ in 0..3 {
        assert_eq!(one.ok(query), "4\n");
        assert_eq!(one.ok("EXECUTE s"), "4\n");
    }
    other.ok("ALTER TABLE a ADD c INT");
    assert!(one.run(query).contains(WRONG));
    assert!(one.run("EXECUTE s").contains(WRONG));
    other.ok("ALTER TABLE a DROP c");
    assert_eq!(one.ok(query), "4\n");
    other.ok("RENAME TABLE a TO elsewhere");
    assert!(one.run(query).contains(WRONG));
    let named = "test.m|check|Error|Table 'test.a' is differently defined";
    assert!(one.ok("CHECK TABLE m").starts_with(named));
    other.ok("ALTER TABLE elsewhere RENAME a");
    assert_eq!(one.ok("EXECUTE s"), "4\n");
    other.ok("TRUNCATE a");
    assert_eq!(one.ok(query), "2\n");
    other.ok("ALTER TABLE m UNION=(b)");
    assert_eq!(one.ok("EXECUTE s"), "2\n");
    other.ok("DROP TABLE b");
    assert!(one.run("EXECUTE s").contains(WRONG));
}

#[test]
fn the_definition_of_a_child_waits_for_users_of_the_merged_table() {
    let db = made();
    let (mut one, mut other) = (db.session(), db.session());
    other.ok("SET lock_wait_timeout = 1");
    one.ok("BEGIN");
    one.ok("SELECT COUNT(*) FROM m");
    assert!(other.run("ALTER TABLE a ADD c INT").contains("ERROR 1205"));
    assert!(other.run("DROP TABLE b").contains("ERROR 1205"));
    one.ok("COMMIT");
    other.ok("ALTER TABLE a ADD c INT");
    other.ok("ALTER TABLE a DROP c");
    one.ok("LOCK TABLES m WRITE");
    assert!(other.run("SELECT * FROM a").contains("ERROR 1205"));
    assert!(other.run("INSERT INTO b (v) VALUES (1)").contains("ERROR 1205"));
    one.ok("INSERT INTO a (v) VALUES (1)");
    one.ok("UNLOCK TABLES");
    one.ok("LOCK TABLES m READ");
    assert_eq!(other.ok("SELECT COUNT(*) FROM a"), "3\n");
    assert!(other.run("INSERT INTO b (v) VALUES (1)").contains("ERROR 1205"));
    one.ok("UNLOCK TABLES");
    other.ok("LOCK TABLES a READ");
    one.ok("SET lock_wait_timeout = 1");
    assert!(one.run("UPDATE m SET v = 1").contains("ERROR 1205"));
    assert!(one.run("INSERT INTO m (v) VALUES (1)").contains("ERROR 1205"));
    assert_eq!(one.ok("SELECT COUNT(*) FROM m"), "5\n");
}

/// MySQL believes the table's unique index here, and gives such rows several times.
#[test]
fn keys_that_several_children_have_are_distinct_once() {
    let db = made();
    let mut one = db.session();
    assert_eq!(one.ok("SELECT DISTINCT id FROM m ORDER BY id"), "1\n2\n3\n");
    assert_eq!(one.ok("SELECT id FROM m GROUP BY id ORDER BY id"), "1\n2\n3\n");
    assert_eq!(one.ok("SELECT id, v FROM m ORDER BY id, v DESC"), "1|10\n2|40\n2|20\n3|30\n");
    assert_eq!(one.ok("SELECT id, v FROM m GROUP BY id, v ORDER BY v").lines().count(), 4);
}

#[test]
fn sessions_number_rows_beside_each_other() {
    let db = made();
    let workers: Vec<_> = (0..4)
        .map(|worker| {
            let mut session = db.session();
            std::thread::spawn(move || {
                let table = if worker % 2 == 0 { "m" } else { "b" };
                for _ in 0..25 {
                    session.ok(&format!("INSERT INTO {table} (v) VALUES (0), (0)"));
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    let mut one = db.session();
    assert_eq!(one.ok("SELECT COUNT(*), COUNT(DISTINCT id) FROM b"), "202|202\n");
    assert_eq!(one.ok("SELECT COUNT(*) FROM m"), "204\n");
    drop(one);
    assert_eq!(check_database(db.database()).unwrap(), Vec::<String>::new());
}

#[test]
fn many_rows_of_children_come_in_the_order_of_an_index() {
    let db = made();
    let mut one = db.session();
    for (child, first) in [("a", 10), ("b", 11)] {
        one.ok(&format!(
            "INSERT INTO {child} (id, v) WITH RECURSIVE n (i) AS (SELECT {first} UNION ALL \
             SELECT i + 2 FROM n WHERE i < 990) SELECT i, 1000 - i FROM n"
        ));
    }
    let ordered = one.ok("SELECT id FROM m FORCE INDEX (PRIMARY) WHERE id >= 10 ORDER BY id");
    let expected: String = (10..=990).chain([991]).map(|id| format!("{id}\n")).collect();
    assert_eq!(ordered, expected);
    let backward = one.ok("SELECT id FROM m FORCE INDEX (v) WHERE v < 985 AND id > 9 ORDER BY v");
    let mut by_value: Vec<i64> = (16..=991).collect();
    by_value.reverse();
    assert_eq!(backward, by_value.iter().map(|id| format!("{id}\n")).collect::<String>());
    assert_eq!(one.ok("SELECT MIN(id), MAX(id), MIN(v), MAX(v) FROM m"), "1|991|9|990\n");
    assert_eq!(one.ok("SELECT COUNT(*) FROM m x JOIN a y ON x.id = y.id"), "493\n");
    one.ok("UPDATE m SET v = v + 1 WHERE id BETWEEN 100 AND 199");
    assert_eq!(one.ok("SELECT SUM(v) FROM m WHERE id BETWEEN 100 AND 199"), "85150\n");
    assert_eq!(one.ok("DELETE FROM m WHERE v > 500"), "490 affected\n");
    assert!(one.ok("CHECK TABLE a, b").lines().all(|line| line.ends_with("|OK")));
}
