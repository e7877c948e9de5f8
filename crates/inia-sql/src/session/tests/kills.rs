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
        let answer = session.0.execute(query, &mut sink);
        assert_eq!(answer.map_err(|error| error.number()), Err(1317), "{query}");
        let rows = sink.text.lines().count();
        assert!(rows < ROWS / 2, "{query}: {rows}");
    }
}
