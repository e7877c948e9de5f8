//! A killed statement ends soon, whatever way its rows take.

use super::{TestDb, TextSink};

/// Rows of the table; a leaf holds a few hundred of them.
const ROWS: usize = 5000;

#[test]
fn a_kill_ends_a_statement_between_its_rows() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (id INT PRIMARY KEY, n INT, KEY by_n (n))");
    session.ok("SET cte_max_recursion_depth = 10000");
    session.ok(&format!(
        "INSERT INTO t WITH RECURSIVE i (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < \
         {ROWS}) SELECT i, i FROM i"
    ));
    for query in [
        "SELECT * FROM t",
        "SELECT id FROM t WHERE id > 0",
        "SELECT n FROM t WHERE n > 0",
        "SELECT * FROM t WHERE n > 0",
        "SELECT * FROM t WHERE id % 2 = 0 OR n < 0",
        "SELECT * FROM t ORDER BY id DESC",
        "SELECT * FROM t FOR UPDATE",
        "SELECT * FROM t AS a JOIN t AS b ON a.id = b.n",
        "SELECT * FROM t UNION ALL SELECT * FROM t",
        "SELECT DISTINCT n + 1 FROM t",
        "SELECT * FROM (SELECT id FROM t LIMIT 4999) AS part",
    ] {
        let mut sink =
            TextSink { kill_after: Some((7, session.0.kill_handle())), ..TextSink::default() };
        session.0.begin_command();
        let answer = session.0.execute(query, &mut sink);
        assert_eq!(answer.map_err(|error| error.number()), Err(1317), "{query}");
        let rows = sink.text.lines().count();
        assert!(rows < ROWS / 2, "{query}: {rows}");
    }
}

#[test]
fn a_kill_of_a_command_ends_its_statement_even_if_that_has_not_begun() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (id INT PRIMARY KEY)");
    session.ok("INSERT INTO t VALUES (1), (2), (3)");
    let handle = session.0.kill_handle();
    let mut answer = |sql: &str| {
        let mut sink = TextSink::default();
        session.0.execute(sql, &mut sink).map(|()| sink.text).map_err(|error| error.number())
    };
    // The process list shows the command, but the text is not parsed yet.
    handle.kill_query();
    assert_eq!(answer("SELECT COUNT(*) FROM t a, t b"), Err(1317));
    session.0.set_multi_statements(true);
    let both = "SELECT SLEEP(1000); SELECT COUNT(*) FROM t a, t b";
    // SLEEP() gives its value, and the kill is over with the statement.
    session.0.begin_command();
    handle.kill_query();
    let mut sink = TextSink::default();
    session.0.execute(both, &mut sink).unwrap();
    assert_eq!(sink.text, "1\n9\n");
}

#[test]
fn a_kill_between_two_commands_ends_nothing() {
    let db = TestDb::new();
    let (mut session, mut other) = (db.session(), db.session());
    session.ok("CREATE TABLE t (id INT PRIMARY KEY, n INT)");
    session.ok("INSERT INTO t VALUES (1, 1)");
    session.0.kill_handle().kill_query();
    assert_eq!(session.ok("SELECT COUNT(*) FROM t a, t b"), "1\n");
    // Nor does it end a later wait for a lock.
    session.ok("SET innodb_lock_wait_timeout = 1");
    other.ok("BEGIN");
    other.ok("UPDATE t SET n = 2");
    assert!(session.run("UPDATE t SET n = 3").starts_with("ERROR 1205"));
}
