//! Stored programs: what scripts of the wire protocol do not show.

use super::{TestDb, TextSink};
use inia_base::column::status::PS_OUT_PARAMS;
use inia_base::value::Value;

#[test]
fn programs_are_there_after_a_restart() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (a INT, b INT)");
    session.ok("CREATE PROCEDURE p(n INT) BEGIN INSERT INTO t VALUES (n, f(n)); END");
    session.ok("CREATE FUNCTION f(n INT) RETURNS INT DETERMINISTIC RETURN n * 2");
    session.ok("CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.a = NEW.a + 100");
    session.ok("CREATE PROCEDURE gone() SELECT 1");
    session.ok("DROP PROCEDURE gone");
    drop(session);
    let db = db.restart();
    let mut session = db.session();
    session.ok("CALL p(7)");
    session.check(&[
        ("SELECT * FROM t", "107|14"),
        ("CALL gone()", "ERROR 1305: PROCEDURE test.gone does not exist"),
        ("DROP DATABASE test", "1 affected"),
        ("CREATE DATABASE test", "1 affected"),
        ("SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'test'", "0"),
    ]);
}

#[test]
fn other_sessions_use_a_new_definition_at_once() {
    let db = TestDb::new();
    let (mut one, mut two) = (db.session(), db.session());
    one.ok("CREATE TABLE t (a INT)");
    one.ok("CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1");
    let kept = two.prepare("SELECT f() FROM t");
    let insert = two.prepare("INSERT INTO t VALUES (1)");
    assert_eq!(two.execute(insert, &[]), "1 affected");
    assert_eq!(two.execute(kept, &[]), "1");
    one.ok("DROP FUNCTION f");
    one.ok("CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 2");
    one.ok("CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 50");
    assert_eq!(two.execute(kept, &[]), "2");
    assert_eq!(two.execute(insert, &[]), "1 affected");
    two.check(&[("SELECT a FROM t ORDER BY a", "1\n50")]);
    one.ok("DROP FUNCTION f");
    one.ok("CREATE FUNCTION f() RETURNS VARCHAR(10) DETERMINISTIC RETURN 'text'");
    assert_eq!(two.execute(kept, &[]), "text\ntext");
    one.ok("DROP TRIGGER tr");
    assert_eq!(two.execute(insert, &[]), "1 affected");
    two.check(&[("SELECT a FROM t ORDER BY a", "1\n1\n50")]);
}

#[test]
fn a_prepared_call_sends_its_out_parameters() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE PROCEDURE p(IN a INT, OUT b INT, INOUT c VARCHAR(10)) \
         BEGIN SELECT 'row'; SET b = a + 1, c = CONCAT(c, '!'); END");
    let call = session.prepare("CALL p(?, ?, ?)");
    let mut sink = TextSink::default();
    let params = [Value::Int(41), Value::Null, Value::Text("x".into())];
    session.0.execute_prepared(call, &params, &mut sink).unwrap();
    assert_eq!(sink.text, "row\n42|x!\n0 affected\n");
    let flags: Vec<bool> =
        sink.completions.iter().map(|done| done.status & PS_OUT_PARAMS != 0).collect();
    assert_eq!(flags, [false, true, false]);
    let text = session.prepare("CALL p(1, @b, ?)");
    assert_eq!(session.execute(text, &[Value::Text("y".into())]), "row\ny!\n0 affected");
    session.check(&[("SELECT @b", "2")]);
}

#[test]
fn deep_recursion_does_not_end_the_program() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE PROCEDURE p(n INT) \
         BEGIN IF n > 0 THEN CALL p(n - 1); ELSE SELECT 'end'; END IF; END");
    session.ok("SET max_sp_recursion_depth = 255");
    session.check(&[("CALL p(254)", "end\n0 affected")]);
    let refused = session.run("CALL p(300)");
    assert!(refused.starts_with("ERROR 1456: Recursive limit 255"), "{refused}");
    for n in 0..60 {
        let body = if n == 0 { String::from("1") } else { format!("f{}() + 1", n - 1) };
        session.ok(&format!("CREATE FUNCTION f{n}() RETURNS INT DETERMINISTIC RETURN {body}"));
    }
    session.check(&[("SELECT f59()", "60")]);
}

#[test]
fn kill_ends_an_endless_loop() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE PROCEDURE p() BEGIN DECLARE i INT DEFAULT 0; \
         DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET i = -1; \
         LOOP SELECT i; SET i = i + 1; END LOOP; END");
    let kill_after = Some((5, session.0.kill_handle()));
    let mut sink = TextSink { kill_after, ..TextSink::default() };
    let answer = session.0.execute("CALL p()", &mut sink);
    assert_eq!(answer.map_err(|error| error.number()), Err(1317));
    session.check(&[("SELECT 1", "1")]);
}

/// A function reads tables itself, so none may be called while a cursor holds the transaction,
/// whatever way the rows of the statement take.
#[test]
fn functions_read_tables_wherever_they_are_called() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (id INT PRIMARY KEY, n INT, s VARCHAR(20), KEY (n))");
    session.ok(
        "INSERT INTO t WITH RECURSIVE i (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < \
         600) SELECT i, i % 7, CONCAT('s', i) FROM i",
    );
    session.ok("CREATE TABLE u (id INT PRIMARY KEY, m INT)");
    session.ok("INSERT INTO u VALUES (1, 10), (2, 20), (3, 30)");
    session.ok(
        "CREATE FUNCTION f(k INT) RETURNS INT READS SQL DATA RETURN (SELECT m FROM u WHERE id = k)",
    );
    for (query, expected) in [
        ("SELECT COUNT(*) FROM t WHERE f(n) = 20", "86"),
        ("SELECT COUNT(f(n)) FROM t", "258"),
        ("SELECT SUM(f(n)) FROM t WHERE id < 100", "850"),
        (
            "SELECT f(n) AS g, COUNT(*) FROM t GROUP BY g ORDER BY g",
            "NULL|342\n10|86\n20|86\n30|86",
        ),
        (
            "SELECT n, SUM(f(n)) FROM t GROUP BY n HAVING SUM(f(n)) > 1000 ORDER BY n",
            "2|1720\n3|2580",
        ),
        ("SELECT id FROM t WHERE id = f(1)", "10"),
        ("SELECT id FROM t WHERE id < 5 AND f(n) IS NOT NULL ORDER BY f(n) DESC", "3\n2\n1"),
        ("SELECT COUNT(*) FROM t JOIN u ON u.id = t.n WHERE f(u.id) = u.m", "258"),
        ("SELECT COUNT(*) FROM t LEFT JOIN u ON f(t.n) = u.m WHERE u.id IS NULL", "342"),
        ("SELECT COUNT(*) FROM t a JOIN t b ON f(a.n) = f(b.n) AND a.id = b.id", "258"),
        ("SELECT DISTINCT f(n) FROM t ORDER BY 1", "NULL\n10\n20\n30"),
        ("SELECT MAX(f(n)) OVER (PARTITION BY n) FROM t WHERE id = 2", "20"),
        ("SELECT (SELECT f(t.n) FROM u LIMIT 1) FROM t WHERE id = 3", "30"),
        ("SELECT COUNT(*) FROM t WHERE f(n) IN (SELECT m FROM u)", "258"),
        ("SELECT COUNT(*) FROM (SELECT f(n) AS g FROM t) AS d WHERE g = 10", "86"),
        ("SELECT COUNT(*) FROM t WHERE s LIKE CONCAT('s', f(n), '%')", "3"),
        ("SELECT f(n) FROM t WHERE id = 1 UNION ALL SELECT f(2)", "10\n20"),
        ("SELECT MIN(id) FROM t WHERE n > f(1) - 10", "1"),
        ("SELECT id FROM t WHERE id = 1 AND f(n) = 10 FOR UPDATE", "1"),
        ("SELECT COUNT(*) FROM t FORCE INDEX (n) WHERE n BETWEEN 1 AND 2 AND f(n) = 20", "86"),
    ] {
        session.check(&[(query, expected)]);
        // The second time a plan is kept.
        session.check(&[(query, expected)]);
    }
    session.check(&[
        (
            "UPDATE t SET s = f(n) WHERE f(n) = 20",
            "86 affected (Rows matched: 86  Changed: 86  Warnings: 0)",
        ),
        (
            "UPDATE t JOIN u ON u.id = t.n SET t.s = f(u.id) WHERE u.id = 3",
            "86 affected (Rows matched: 86  Changed: 86  Warnings: 0)",
        ),
        ("DELETE FROM t WHERE f(n) = 10", "86 affected"),
        ("SELECT COUNT(*), SUM(s = '20'), SUM(s = '30') FROM t", "514|86|86"),
        (
            "INSERT INTO t VALUES (1000, f(1), f(2)), (1001, f(3), 'x')",
            "2 affected (Records: 2  Duplicates: 0  Warnings: 0)",
        ),
        ("INSERT INTO t VALUES (1000, 0, '') ON DUPLICATE KEY UPDATE n = f(3)", "2 affected"),
        ("SELECT * FROM t WHERE id >= 1000", "1000|30|20\n1001|30|x"),
    ]);
}

#[test]
fn a_failed_statement_undoes_what_its_functions_and_triggers_did() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (id INT PRIMARY KEY)");
    session.ok("CREATE TABLE log (n INT)");
    session.ok("CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW INSERT INTO log VALUES (NEW.id)");
    session.ok(
        "CREATE FUNCTION f(n INT) RETURNS INT BEGIN INSERT INTO log VALUES (-n); RETURN n; END",
    );
    session.ok("INSERT INTO t VALUES (1), (2)");
    assert!(session.run("INSERT INTO t VALUES (3), (4), (1)").starts_with("ERROR 1062"));
    assert!(session.run("INSERT INTO t VALUES (f(5)), (1)").starts_with("ERROR 1062"));
    session.ok("BEGIN");
    session.ok("INSERT INTO t VALUES (f(10))");
    assert!(session.run("INSERT INTO t VALUES (f(11)), (2)").starts_with("ERROR 1062"));
    session.check(&[("SELECT n FROM log ORDER BY n", "-10\n1\n2\n10")]);
    session.ok("ROLLBACK");
    session.check(&[("SELECT n FROM log ORDER BY n", "1\n2"), ("SELECT id FROM t", "1\n2")]);
}

#[test]
fn triggers_are_listed_in_the_order_of_firing() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (a INT)");
    session.ok("CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1");
    session.ok("CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 2");
    session.ok("CREATE TRIGGER c BEFORE INSERT ON t FOR EACH ROW PRECEDES b SET NEW.a = 3");
    session.ok("CREATE TRIGGER a_first AFTER DELETE ON t FOR EACH ROW SET @x = 1");
    session.check(&[("SELECT TRIGGER_NAME FROM information_schema.TRIGGERS", "c\nb\na\na_first")]);
}

#[test]
fn load_data_fires_triggers() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (a INT, b INT)");
    session.ok("CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.b = NEW.a * 2");
    session.ok("SET GLOBAL local_infile = ON");
    let mut sink = TextSink { file: vec!["1\t0\n2\t0\n3\t0\n"], ..TextSink::default() };
    session.0.execute("LOAD DATA LOCAL INFILE 'f' INTO TABLE t", &mut sink).unwrap();
    session.check(&[("SELECT * FROM t ORDER BY a", "1|2\n2|4\n3|6")]);
}
