//! Tables whose engine has no transactions, and those whose rows do not outlive the server.

use super::TestSession;
use crate::database::{ClientInfo, Database, DatabaseOptions};
use inia_testkit::{Random, SimDisk};
use std::sync::Arc;

fn open(disk: &SimDisk) -> Arc<Database> {
    let options = DatabaseOptions { buffer_pool_size: 16 << 20, background: false };
    Database::open(Arc::new(disk.clone()), options).unwrap()
}

fn session(db: &Arc<Database>) -> TestSession {
    numbered(db, 1)
}

fn numbered(db: &Arc<Database>, connection_id: u32) -> TestSession {
    let client = ClientInfo { connection_id, ..ClientInfo::default() };
    let mut session = TestSession(db.session(client));
    session.ok("CREATE DATABASE IF NOT EXISTS test");
    session.ok("USE test");
    session
}

const INCOMPLETE: &str =
    "Warning|1196|Some non-transactional changed tables couldn't be rolled back\n";

/// A disk with a table of each kind, after a clean end or a crash.
fn filled(crash: bool) -> SimDisk {
    let disk = SimDisk::new();
    let db = open(&disk);
    let mut one = session(&db);
    for (table, engine) in [("h", "MEMORY"), ("m", "MyISAM"), ("i", "InnoDB")] {
        one.ok(&format!(
            "CREATE TABLE {table} (id INT PRIMARY KEY AUTO_INCREMENT, v INT, KEY (v)) \
             ENGINE={engine} AUTO_INCREMENT=50"
        ));
        one.ok(&format!("INSERT INTO {table} (v) VALUES (1), (2)"));
    }
    drop(one);
    if crash {
        return disk.crash(1);
    }
    db.close().unwrap();
    disk
}

#[test]
fn memory_tables_are_empty_after_a_start_and_all_others_are_not() {
    for disk in [filled(false), filled(true)] {
        for _ in 0..2 {
            let db = open(&disk);
            let mut one = session(&db);
            assert_eq!(one.ok("SELECT COUNT(*) FROM h"), "0\n");
            assert_eq!(one.ok("SELECT COUNT(*) FROM h WHERE v > 0"), "0\n");
            assert_eq!(one.ok("SELECT COUNT(*) FROM m WHERE v > 0"), "2\n");
            assert_eq!(one.ok("SELECT COUNT(*) FROM i WHERE v > 0"), "2\n");
            one.ok("INSERT INTO h (v) VALUES (7)");
            assert_eq!(one.ok("SELECT * FROM h"), "1|7\n");
            assert!(one.ok("CHECK TABLE h, m, i").lines().all(|line| line.ends_with("|OK")));
            drop(one);
            db.close().unwrap();
        }
    }
}

#[test]
fn statements_stand_without_the_transaction_around_them() {
    let db = open(&SimDisk::new());
    let (mut one, mut other) = (session(&db), session(&db));
    one.ok("CREATE TABLE m (id INT PRIMARY KEY, v INT, UNIQUE KEY (v)) ENGINE=MyISAM");
    one.ok("CREATE TABLE i (id INT PRIMARY KEY, v INT)");
    one.ok("INSERT INTO i VALUES (1, 1)");
    one.ok("START TRANSACTION");
    one.ok("UPDATE i SET v = 2");
    one.ok("INSERT INTO m VALUES (1, 1)");
    // At once for everybody, and no lock is left.
    assert_eq!(other.ok("SELECT * FROM m"), "1|1\n");
    other.ok("UPDATE m SET v = 5");
    other.ok("INSERT INTO m VALUES (2, 2)");
    // Also for a transaction whose snapshot is older.
    assert_eq!(one.ok("SELECT * FROM m ORDER BY id"), "1|5\n2|2\n");
    // What it reads of the transaction's own is what the transaction sees.
    one.ok("INSERT INTO m SELECT id + 10, v + 10 FROM i");
    assert_eq!(one.ok("SELECT m.v, i.v FROM m JOIN i ON m.v = i.v + 10"), "12|2\n");
    assert_eq!(other.ok("SELECT v FROM i"), "1\n");
    one.ok("ROLLBACK");
    assert_eq!(one.ok("SHOW WARNINGS"), INCOMPLETE);
    assert_eq!(one.ok("SELECT * FROM i"), "1|1\n");
    assert_eq!(one.ok("SELECT COUNT(*) FROM m"), "3\n");
}

#[test]
fn rows_before_the_one_that_fails_stay_and_indexes_agree() {
    for seed in 0..20 {
        let db = open(&SimDisk::new());
        let mut one = session(&db);
        one.ok("CREATE TABLE m (id INT PRIMARY KEY, v INT, w INT, UNIQUE (v), KEY (w)) \
                ENGINE=MEMORY");
        let (mut random, mut model) = (Random::new(seed), Vec::<(u64, u64)>::new());
        for _ in 0..40 {
            let rows: Vec<(u64, u64)> =
                (0..4).map(|_| (random.below(60), random.below(60))).collect();
            let values: Vec<String> =
                rows.iter().map(|(id, v)| format!("({id}, {v}, {id})")).collect();
            let answer = one.run(&format!("INSERT INTO m VALUES {}", values.join(", ")));
            let mut failed = false;
            for (id, v) in rows {
                failed |= model.iter().any(|(a, b)| *a == id || *b == v);
                if failed {
                    break;
                }
                model.push((id, v));
            }
            assert_eq!(answer.contains("ERROR 1062"), failed, "seed {seed}: {answer}");
        }
        model.sort();
        let rows = one.ok("SELECT id, v FROM m ORDER BY id");
        let expected: String = model.iter().map(|(id, v)| format!("{id}|{v}\n")).collect();
        assert_eq!(rows, expected, "seed {seed}");
        assert!(one.ok("CHECK TABLE m").ends_with("|OK\n"), "seed {seed}");
        // All rows change up to the one that meets another.
        one.run("UPDATE m SET v = v + 1");
        one.run("UPDATE m SET v = 1000");
        assert!(one.ok("CHECK TABLE m").ends_with("|OK\n"), "seed {seed}");
        let kept = one.ok("SELECT COUNT(*) FROM m");
        assert_eq!(kept, format!("{}\n", model.len()), "seed {seed}");
        let (all, least) = (model.len(), "SELECT COUNT(*), COUNT(DISTINCT v) FROM m");
        assert_eq!(one.ok(least), format!("{all}|{all}\n"), "seed {seed}");
        assert_eq!(one.ok("SELECT COUNT(*) FROM m WHERE v = 1000"), "1\n", "seed {seed}");
    }
}

#[test]
fn statements_that_change_a_table_take_turns() {
    let db = open(&SimDisk::new());
    let [mut one, mut two, mut three] = [1, 2, 3].map(|number| numbered(&db, number));
    one.ok("CREATE TABLE m (id INT PRIMARY KEY) ENGINE=MyISAM");
    one.ok("CREATE TABLE i (id INT PRIMARY KEY)");
    let waits = two.0.kill_handle();
    three.ok("SELECT GET_LOCK('gate', 0)");
    three.ok("SET lock_wait_timeout = 1");
    std::thread::scope(|scope| {
        let first = scope.spawn(|| one.ok("INSERT INTO m SELECT GET_LOCK('gate', 1000)"));
        // Until the statement has come to the lock, which is in the middle of it.
        while !three.run("DELETE FROM m").contains("ERROR 1205") {}
        let second = scope.spawn(|| two.ok("INSERT INTO m VALUES (2)"));
        while waits.waits_for().is_none() {
            std::thread::yield_now();
        }
        assert_eq!(waits.waits_for(), Some("Waiting for table level lock"));
        // Readers wait, too; for other tables nobody does.
        assert!(three.run("SELECT COUNT(*) FROM m WHERE id = 1").contains("ERROR 1205"));
        three.ok("INSERT INTO i VALUES (1)");
        three.ok("SELECT RELEASE_LOCK('gate')");
        assert_eq!(first.join().unwrap(), "1 affected (Records: 1  Duplicates: 0  Warnings: 0)\n");
        assert_eq!(second.join().unwrap(), "1 affected\n");
    });
    assert_eq!(three.ok("SELECT COUNT(*) FROM m"), "2\n");
}

#[test]
fn the_number_of_rows_is_known_without_looking() {
    let db = open(&SimDisk::new());
    let mut one = session(&db);
    one.ok("CREATE TABLE m (id INT PRIMARY KEY, v INT, KEY (v)) ENGINE=MyISAM");
    one.ok("CREATE TABLE h (id INT PRIMARY KEY, v INT) ENGINE=MEMORY");
    one.ok("CREATE TABLE i (id INT PRIMARY KEY, v INT)");
    one.ok("INSERT INTO m VALUES (1, 1), (2, NULL), (3, 3)");
    one.ok("INSERT INTO h VALUES (1, 1), (2, 2)");
    let away = [
        ("SELECT COUNT(*) FROM m", "3\n"),
        ("SELECT COUNT(id), COUNT(1), MAX(v) FROM m", "3|3|3\n"),
        ("SELECT COUNT(*) FROM m, h", "6\n"),
        ("SELECT COUNT(*) FROM m WHERE 1", "3\n"),
    ];
    for (query, rows) in away {
        let plan = one.ok(&format!("EXPLAIN {query}"));
        assert!(plan.ends_with("|Select tables optimized away\n"), "{query}: {plan}");
        assert_eq!(one.ok(query), rows, "{query}");
    }
    let looked = [
        ("SELECT COUNT(v) FROM m", "2\n"),
        ("SELECT COUNT(DISTINCT id) FROM m", "3\n"),
        ("SELECT COUNT(*), SUM(v) FROM m", "3|4\n"),
        ("SELECT COUNT(*) FROM m WHERE v > 0", "2\n"),
        ("SELECT COUNT(*) FROM m LEFT JOIN h ON m.id = h.id", "3\n"),
        ("SELECT COUNT(*) FROM m, i", "0\n"),
        ("SELECT COUNT(*) FROM i", "0\n"),
    ];
    for (query, rows) in looked {
        let plan = one.ok(&format!("EXPLAIN {query}"));
        assert!(!plan.contains("optimized away"), "{query}: {plan}");
        assert_eq!(one.ok(query), rows, "{query}");
    }
}
