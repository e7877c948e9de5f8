//! Tables whose engine has no transactions, and those whose rows do not outlive the server.

use super::TestSession;
use crate::check::check_database;
use crate::session::Session;
use inia_query::database::{ClientInfo, Database, DatabaseOptions};
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
    let mut session = TestSession(Session::new(db, client));
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
            assert!(one.ok("CHECK TABLE m, i").lines().all(|line| line.ends_with("|OK")));
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

/// Whether each index of `m` has the rows of the table; MEMORY tables have no CHECK TABLE.
fn indexes_agree(one: &mut TestSession) -> bool {
    let rows = one.ok("SELECT COUNT(*) FROM m");
    ["v", "w"].iter().all(|key| {
        let found = format!(
            "SELECT COUNT(*) FROM m x STRAIGHT_JOIN m y FORCE INDEX ({key}) \
             WHERE y.{key} = x.{key} AND y.id = x.id AND y.v = x.v AND y.w = x.w"
        );
        one.ok(&found) == rows
    })
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
        assert!(indexes_agree(&mut one), "seed {seed}");
        // All rows change up to the one that meets another.
        one.run("UPDATE m SET v = v + 1");
        one.run("UPDATE m SET v = 1000");
        assert!(indexes_agree(&mut one), "seed {seed}");
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
        // Readers do not wait for what is put in, and for other tables nobody does.
        assert_eq!(three.ok("SELECT COUNT(*) FROM m WHERE id = 1"), "0\n");
        assert_eq!(three.ok("SELECT COUNT(*) FROM m"), "0\n");
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
        ("SELECT COUNT(*) FROM m LEFT JOIN h ON m.id = h.id", "3\n"),
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
        ("SELECT COUNT(*) FROM m LEFT JOIN h ON m.v = h.v", "3\n"),
        ("SELECT COUNT(*) FROM m, i", "0\n"),
        ("SELECT COUNT(*) FROM i", "0\n"),
    ];
    for (query, rows) in looked {
        let plan = one.ok(&format!("EXPLAIN {query}"));
        assert!(!plan.contains("optimized away"), "{query}: {plan}");
        assert_eq!(one.ok(query), rows, "{query}");
    }
}

#[test]
fn rows_of_memory_tables_are_not_logged() {
    let db = open(&SimDisk::new());
    let mut one = session(&db);
    one.ok("CREATE TABLE h (id INT PRIMARY KEY AUTO_INCREMENT, v INT, KEY (v)) ENGINE=MEMORY");
    one.ok("CREATE TABLE i (id INT PRIMARY KEY AUTO_INCREMENT, v INT, KEY (v))");
    let end = || db.engine.stats().durable_lsn;
    let before = end();
    for change in [
        "INSERT INTO h (v) VALUES (1), (2), (3), (4)",
        "INSERT INTO h (v) SELECT a.v FROM h a, h b, h c",
        "UPDATE h SET v = v + 1 WHERE id > 2",
        "DELETE FROM h WHERE v = 3",
        "REPLACE INTO h VALUES (1, 7), (100, 8)",
        "BEGIN",
        "INSERT INTO h (v) VALUES (9)",
        "ROLLBACK",
    ] {
        one.ok(change);
    }
    assert_eq!(end(), before);
    assert_eq!(one.ok("SELECT COUNT(*), MAX(id) FROM h"), "54|101\n");
    one.ok("INSERT INTO i (v) SELECT v FROM h");
    assert!(end() > before);
}

#[test]
fn memory_tables_are_as_large_as_max_heap_table_size_was() {
    let db = open(&SimDisk::new());
    let mut one = session(&db);
    one.ok("SET max_heap_table_size = 16384");
    one.ok("CREATE TABLE h (id INT PRIMARY KEY AUTO_INCREMENT, v INT) ENGINE=MEMORY");
    one.ok("CREATE TABLE i (id INT PRIMARY KEY AUTO_INCREMENT, v INT)");
    one.ok("INSERT INTO i (v) VALUES (1), (2), (3), (4), (5), (6), (7), (8)");
    one.ok("INSERT INTO i (v) SELECT a.v FROM i a, i b, i c");
    one.ok("SET max_heap_table_size = 16777216");
    let full = "ERROR 1114: The table 'h' is full\n";
    // Each row takes 16 bytes, and 24 of its index.
    assert_eq!(one.run("INSERT INTO h (v) SELECT v FROM i"), full);
    assert_eq!(one.ok("SELECT COUNT(*) FROM h"), "409\n");
    assert_eq!(one.run("INSERT IGNORE INTO h (v) VALUES (1)"), full);
    one.ok("UPDATE h SET v = v + 1");
    one.ok("DELETE FROM h WHERE id < 10");
    one.ok("INSERT INTO h (v) VALUES (1), (2)");
    assert_eq!(one.ok("SELECT COUNT(*) FROM h"), "402\n");
    // A table that is made anew takes the setting of then.
    one.ok("TRUNCATE h");
    one.ok("INSERT INTO h (v) SELECT v FROM i");
    assert_eq!(one.ok("SELECT COUNT(*) FROM h"), "520\n");
    one.ok("SET max_heap_table_size = 16384");
    assert!(one.run("ALTER TABLE i ENGINE=MEMORY").contains("ERROR 1114"));
    assert!(
        one.run("CREATE TABLE j (PRIMARY KEY (id)) ENGINE=MEMORY SELECT * FROM i").contains("1114")
    );
    assert!(one.run("SELECT * FROM j").contains("ERROR 1146"));
    assert_eq!(one.ok("SELECT COUNT(*) FROM i"), "520\n");
    drop(one);
    assert_eq!(check_database(&db).unwrap(), Vec::<String>::new());
}

/// What may be done with the definition of a MEMORY table, in an order in which all succeed. After
/// each there are rows in it.
const DEFINED: [&str; 15] = [
    "CREATE TABLE h (id INT PRIMARY KEY, v INT, KEY (v)) ENGINE=MEMORY AUTO_INCREMENT=5",
    "ALTER TABLE h ADD COLUMN w INT",
    "ALTER TABLE h ADD KEY (w)",
    "RENAME TABLE h TO g",
    "TRUNCATE g",
    "ALTER TABLE g ENGINE=InnoDB",
    "ALTER TABLE g ENGINE=MEMORY",
    "ALTER TABLE g ENGINE=MyISAM, RENAME TO h",
    "ALTER TABLE h ENGINE=MEMORY, DROP COLUMN w",
    "CREATE TABLE k ENGINE=MEMORY SELECT * FROM h",
    "CREATE TABLE l LIKE h",
    "DROP TABLE k, l",
    "OPTIMIZE TABLE h",
    "CREATE TEMPORARY TABLE h (a INT) ENGINE=MEMORY",
    "DROP TABLE h",
];

#[test]
fn definitions_of_memory_tables_survive_crashes_without_rows() {
    for (last, statement) in DEFINED.into_iter().enumerate() {
        let disk = SimDisk::new();
        let db = open(&disk);
        let mut one = session(&db);
        one.ok("CREATE TABLE m (id INT PRIMARY KEY, v INT) ENGINE=MyISAM");
        for statement in &DEFINED[..=last] {
            one.ok(statement);
            one.run("INSERT INTO h (id, v) VALUES (1, 1), (2, 2)");
            one.run("INSERT INTO g (id, v) VALUES (1, 1), (2, 2)");
        }
        one.ok("INSERT INTO m VALUES (1, 1), (2, 2)");
        let tables = one.ok("SHOW TABLES");
        let again = open(&disk.crash(last as u64));
        let mut after = session(&again);
        assert_eq!(after.ok("SHOW TABLES"), tables, "{statement}");
        for table in tables.lines().filter(|table| *table != "m") {
            let memory = after.ok(&format!("SHOW CREATE TABLE {table}")).contains("=MEMORY");
            let rows = after.ok(&format!("SELECT COUNT(*) FROM {table} WHERE id > 0"));
            assert_eq!(rows == "0\n", memory, "{table} after {statement}");
            after.ok(&format!("REPLACE INTO {table} (id, v) VALUES (3, 3), (4, 4)"));
        }
        assert_eq!(after.ok("SELECT COUNT(*) FROM m"), "2\n");
        drop(after);
        assert_eq!(check_database(&again).unwrap(), Vec::<String>::new(), "{statement}");
    }
}

#[test]
fn ddl_that_fails_leaves_a_memory_table_as_it_was() {
    let db = open(&SimDisk::new());
    let mut one = session(&db);
    one.ok("CREATE TABLE h (id INT PRIMARY KEY, v INT) ENGINE=MEMORY");
    one.ok("INSERT INTO h VALUES (1, 1), (2, 1)");
    for failing in [
        "ALTER TABLE h ADD UNIQUE (v)",
        "ALTER TABLE h ADD UNIQUE (v), ENGINE=InnoDB",
        "ALTER TABLE h ADD COLUMN b TEXT",
        "CREATE TABLE k (id INT PRIMARY KEY) ENGINE=MEMORY SELECT v AS id FROM h",
        "CREATE TEMPORARY TABLE k (id INT PRIMARY KEY) ENGINE=MEMORY SELECT v AS id FROM h",
    ] {
        assert!(one.run(failing).contains("ERROR"), "{failing}");
        assert_eq!(one.ok("SELECT * FROM h"), "1|1\n2|1\n", "{failing}");
    }
    one.ok("CREATE TABLE c (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES h (id)) ENGINE=MEMORY");
    assert!(!one.ok("SHOW CREATE TABLE c").contains("FOREIGN"));
    assert!(
        one.run("CREATE TABLE d (id INT, FOREIGN KEY (id) REFERENCES h (id))").contains("1824")
    );
    drop(one);
    assert_eq!(check_database(&db).unwrap(), Vec::<String>::new());
}
