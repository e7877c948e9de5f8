//! Damaged catalog records are refused, or define something that can be worked with.

use super::TestDb;
use inia_query::account::{AccountDef, AccountName};
use inia_query::catalog::{TableDef, codec, show_create_table, view};
use inia_query::row::{IndexCodec, RowLayout};
use inia_storage::{Direction, Engine, EngineOptions, Isolation, KeyBound, ReadMode};
use inia_testkit::{Random, mutate};
use std::sync::Arc;

const STATEMENTS: &[&str] = &[
    "CREATE TABLE parent (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, u CHAR(3) UNIQUE)
     COMMENT 'p'",
    "CREATE TABLE many (a TINYINT(3) ZEROFILL, b BIT(9) DEFAULT b'101', c DECIMAL(10,2)
     DEFAULT 1.50, d DOUBLE(7,3), e VARCHAR(20) COLLATE utf8mb4_bin DEFAULT 'é',
     f TEXT, g VARBINARY(9), h BLOB,
     i DATE DEFAULT '2024-02-29', j TIME(3), k DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE
     CURRENT_TIMESTAMP(6), l TIMESTAMP NULL, m YEAR, n ENUM('x','y') DEFAULT 'y', o SET('a','b'),
     p JSON, q INT AS (a + 1), r INT AS (a * 2) STORED, s BIGINT UNSIGNED NOT NULL,
     PRIMARY KEY (s, e), KEY one (f(10), c DESC), UNIQUE two (j, k), CHECK (a < 10),
     FOREIGN KEY (s) REFERENCES parent (id) ON DELETE CASCADE)",
    "CREATE TABLE hidden (t VARCHAR(5), KEY (t)) CHARACTER SET latin1 ROW_FORMAT=COMPACT",
    "INSERT INTO hidden VALUES ('a'), ('b')",
    "CREATE TABLE united (a INT, KEY (a)) ENGINE=MERGE UNION=(hidden, parent) INSERT_METHOD=LAST",
    "ANALYZE TABLE hidden UPDATE HISTOGRAM ON t",
    "CREATE VIEW seen AS SELECT a, n, COUNT(*) AS c FROM many GROUP BY a, n",
    "CREATE VIEW open_view (x) AS SELECT id FROM parent WHERE id > 3 WITH CHECK OPTION",
    "CREATE USER u@localhost IDENTIFIED BY 'p' ATTRIBUTE '{\"a\": 1}'",
    "CREATE ROLE r",
    "GRANT r TO u@localhost WITH ADMIN OPTION",
    "GRANT SELECT ON test.many TO u@localhost",
];

fn filled() -> TestDb {
    let db = TestDb::new();
    let mut session = db.session();
    for sql in STATEMENTS {
        session.ok(sql);
    }
    db
}

/// What is done with a definition that was read: rows and keys are laid out, and it is shown.
fn use_table(def: &TableDef) {
    let _ = RowLayout::new(def.columns.iter().map(|c| (&c.data_type, c.nullable)));
    for index in 0..def.indexes.len() {
        let _ = IndexCodec::new(def, index);
    }
    let _ = show_create_table(def, def.auto_increment);
}

#[test]
fn damaged_records_are_refused_or_can_be_worked_with() {
    let db = filled();
    let catalog = db.database().catalog();
    let tables = ["parent", "many", "hidden"]
        .map(|name| codec::put_table(&catalog.table("test", name).unwrap().def));
    let views =
        ["seen", "open_view"].map(|name| view::put_view(&catalog.view("test", name).unwrap().def));
    let schema = codec::put_schema(&catalog.schema("test").unwrap().def);
    let accounts = db.database().accounts.current();
    let accounts = [AccountName::new("u", "localhost"), AccountName::new("root", "localhost")]
        .map(|name| accounts.get(&name).unwrap().encode());
    let mut random = Random::new(21);
    let mut damaged = |records: &[Vec<u8>]| {
        let mut record = random.pick(records).clone();
        mutate::bytes(&mut random, &mut record, &records[0]);
        record
    };
    let mut read = 0;
    for _ in 0..mutate::rounds(6_000) {
        if let Some(def) = codec::table(&damaged(&tables)) {
            use_table(&def);
            read += 1;
        }
        if let Some(def) = view::view(&damaged(&views)) {
            let _ = view::parse(&def.query);
        }
        let _ = codec::schema(&damaged(std::slice::from_ref(&schema)));
        let _ = AccountDef::decode(&damaged(&accounts));
    }
    assert!(read > 100, "damage must not all be refused");
}

#[test]
fn a_database_with_damaged_records_opens_and_works_or_refuses() {
    let mut random = Random::new(22);
    let mut opened = 0;
    for _ in 0..mutate::rounds(12) {
        let db = filled();
        let disk = db.disk().clone();
        db.database().close().unwrap();
        drop(db);
        let options = EngineOptions { buffer_pool_size: 16 << 20, background: false };
        let engine = Engine::open(Arc::new(disk.clone()), options).unwrap();
        damage_one_record(&engine, &mut random);
        engine.close().unwrap();
        drop(engine);
        let Ok(db) = TestDb::try_open(&disk) else { continue };
        opened += 1;
        let mut session = db.session();
        for sql in [
            "SELECT * FROM many",
            "SHOW CREATE TABLE many",
            "SELECT * FROM seen",
            "INSERT INTO parent (u) VALUES ('x')",
            "SELECT * FROM information_schema.columns",
            "SELECT * FROM information_schema.column_statistics",
            "EXPLAIN SELECT * FROM hidden WHERE t > 'a'",
            "SHOW GRANTS FOR u@localhost",
        ] {
            let _ = session.run(sql);
        }
        assert_eq!(session.ok("SELECT 1"), "1\n");
    }
    assert!(opened > 0);
}

fn damage_one_record(engine: &Arc<Engine>, random: &mut Random) {
    let tree = engine.catalog_tree();
    let mut txn = engine.attach();
    txn.begin(Isolation::RepeatableRead);
    let mut cursor = txn.cursor(
        &tree,
        KeyBound::Unbounded,
        KeyBound::Unbounded,
        Direction::Forward,
        ReadMode::Snapshot,
    );
    let mut records = Vec::new();
    while let Some(record) = cursor.next(&mut txn).unwrap() {
        records.push((record.key.to_vec(), record.value.to_vec()));
    }
    let (key, value) = random.pick(&records).clone();
    let mut changed = value.clone();
    mutate::bytes(random, &mut changed, &value);
    txn.update(&tree, &key, &changed).unwrap();
    txn.commit().unwrap();
}
