//! MATCH … AGAINST beside other transactions, restarts and limits.

use super::TestDb;
use crate::check::check_database;

const FOUND: &str = "SELECT id FROM t WHERE MATCH (s) AGAINST ('apple') ORDER BY id";

fn filled() -> TestDb {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (id INT PRIMARY KEY, s TEXT, FULLTEXT (s))");
    session.ok("INSERT INTO t VALUES (1, 'red apple'), (2, 'green pear'), (3, 'blue sky')");
    drop(session);
    db
}

#[test]
fn a_transaction_finds_its_own_changes_and_no_others() {
    let db = filled();
    let (mut writing, mut reading) = (db.session(), db.session());
    reading.ok("BEGIN");
    assert_eq!(reading.ok(FOUND), "1\n");
    writing.ok("BEGIN");
    writing.ok("INSERT INTO t VALUES (4, 'apple apple')");
    writing.ok("UPDATE t SET s = 'red cherry' WHERE id = 1");
    assert_eq!(writing.ok(FOUND), "4\n");
    assert_eq!(reading.ok(FOUND), "1\n", "before the commit");
    writing.ok("COMMIT");
    assert_eq!(reading.ok(FOUND), "1\n", "the snapshot is from before the commit");
    reading.ok("COMMIT");
    assert_eq!(reading.ok(FOUND), "4\n");
}

#[test]
fn transactions_that_write_the_same_words_do_not_wait() {
    let db = filled();
    let (mut one, mut other) = (db.session(), db.session());
    for session in [&mut one, &mut other] {
        session.ok("SET innodb_lock_wait_timeout = 1");
        session.ok("BEGIN");
    }
    one.ok("INSERT INTO t VALUES (10, 'apple')");
    other.ok("INSERT INTO t VALUES (11, 'apple')");
    one.ok("DELETE FROM t WHERE id = 1");
    other.ok("UPDATE t SET s = 'red apple' WHERE id = 2");
    one.ok("COMMIT");
    other.ok("COMMIT");
    assert_eq!(one.ok(FOUND), "2\n10\n11\n");
}

#[test]
fn words_survive_a_restart() {
    let db = filled().restart();
    let mut session = db.session();
    assert_eq!(session.ok(FOUND), "1\n");
    session.ok("REPLACE INTO t VALUES (2, 'apple pie')");
    assert_eq!(session.ok(FOUND), "1\n2\n");
    drop(session);
    assert_eq!(check_database(&db.db).unwrap(), Vec::<String>::new());
}

#[test]
fn a_search_has_a_limit() {
    let db = filled();
    let mut session = db.session();
    session.ok("SET GLOBAL innodb_ft_result_cache_limit = 1000000");
    assert_eq!(session.ok(FOUND), "1\n");
    // The places of a phrase's words are kept, four bytes each.
    for id in 10..40 {
        session.ok(&format!("INSERT INTO t VALUES ({id}, REPEAT('apple ', 10000))"));
    }
    let phrase = r#"SELECT id FROM t WHERE MATCH (s) AGAINST ('"red apple"' IN BOOLEAN MODE)"#;
    let answer = session.run(phrase);
    assert!(answer.contains("ERROR 188: FTS query exceeds result cache limit"), "{answer}");
    session.ok("SET GLOBAL innodb_ft_result_cache_limit = DEFAULT");
    assert_eq!(session.ok(phrase), "1\n");
}

#[test]
fn a_limit_reads_no_more_rows_than_it_gives() {
    let db = filled();
    let mut session = db.session();
    let order = "ORDER BY MATCH (s) AGAINST ('apple pear') DESC LIMIT 1";
    let query = format!("SELECT id FROM t WHERE MATCH (s) AGAINST ('apple pear') {order}");
    let plan = session.ok(&format!("EXPLAIN {query}"));
    assert!(plan.contains("fulltext") && !plan.contains("filesort"), "{plan}");
    assert_eq!(session.ok(&query), "1\n");
}
