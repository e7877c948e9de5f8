//! What a check says of sound tables, and of tables whose trees were changed behind their backs.

use crate::check::check_database;
use crate::session::tests::TestDb;
use inia_storage::{Engine, Isolation, Tree};
use std::sync::Arc;

fn filled() -> TestDb {
    let db = TestDb::new();
    let mut session = db.session();
    for sql in [
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20), KEY (a), UNIQUE KEY (b))",
        "CREATE TABLE no_key (a INT, b CHAR(10), KEY (b))",
        "INSERT INTO t VALUES (1, 10, 'one'), (2, 20, NULL), (3, 20, NULL), (4, NULL, 'four')",
        "INSERT INTO no_key VALUES (1, 'x'), (2, 'x'), (NULL, NULL)",
        "UPDATE t SET a = a + 1, b = concat(id, 'th') WHERE id > 2",
        "DELETE FROM no_key WHERE a = 2",
        "DELETE FROM t WHERE id = 1",
    ] {
        session.ok(sql);
    }
    drop(session);
    db
}

/// Changes a tree without the tables' knowledge.
fn tamper(engine: &Arc<Engine>, change: impl FnOnce(&mut inia_storage::Txn)) {
    let mut txn = engine.attach();
    txn.begin(Isolation::RepeatableRead);
    change(&mut txn);
    txn.commit().unwrap();
}

fn index_tree(db: &TestDb, index: usize) -> Tree {
    db.database().catalog().table("test", "t").unwrap().indexes[index].tree.clone()
}

fn first_key(engine: &Arc<Engine>, tree: &Tree) -> Vec<u8> {
    let mut first = None;
    let mut txn = engine.attach();
    txn.begin(Isolation::RepeatableRead);
    super::scan(&mut txn, tree, |_, key, _| {
        first.get_or_insert_with(|| key.to_vec());
        Ok(())
    })
    .unwrap();
    first.unwrap()
}

#[test]
fn sound_tables_have_no_problems() {
    let db = filled();
    assert_eq!(check_database(db.database()).unwrap(), Vec::<String>::new());
    let db = db.restart();
    assert_eq!(check_database(db.database()).unwrap(), Vec::<String>::new());
}

#[test]
fn a_row_without_entry_is_named() {
    let db = filled();
    let (engine, tree) = (&db.database().engine, index_tree(&db, 2));
    let key = first_key(engine, &tree);
    tamper(engine, |txn| assert!(txn.delete(&tree, &key).unwrap()));
    let problems = check_database(db.database()).unwrap();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(problems[0], "table test.t, index a: 2 entries for 3 rows");
    assert!(problems[1].ends_with("has no entry"), "{problems:?}");
}

#[test]
fn an_entry_without_row_is_named() {
    let db = filled();
    let clustered = db.database().catalog().table("test", "t").unwrap().clustered.clone();
    let engine = &db.database().engine;
    let key = first_key(engine, &clustered);
    tamper(engine, |txn| assert!(txn.delete(&clustered, &key).unwrap()));
    let problems = check_database(db.database()).unwrap();
    let named = problems.iter().filter(|problem| problem.ends_with("has no row")).count();
    assert_eq!(named, 2, "{problems:?}");
}

#[test]
fn an_entry_that_differs_from_its_row_is_named() {
    let db = filled();
    let (engine, tree) = (&db.database().engine, index_tree(&db, 1));
    let key = first_key(engine, &tree);
    tamper(engine, |txn| assert!(txn.update(&tree, &key, b"?").unwrap()));
    let problems = check_database(db.database()).unwrap();
    assert!(problems[0].starts_with("table test.t, index b: entry"), "{problems:?}");
}

#[test]
fn a_row_that_does_not_fit_is_named() {
    let db = filled();
    let clustered = db.database().catalog().table("test", "t").unwrap().clustered.clone();
    let engine = &db.database().engine;
    let key = first_key(engine, &clustered);
    tamper(engine, |txn| assert!(txn.update(&clustered, &key, b"").unwrap()));
    let problems = check_database(db.database()).unwrap();
    assert!(problems[0].contains("does not fit the definition"), "{problems:?}");
}
