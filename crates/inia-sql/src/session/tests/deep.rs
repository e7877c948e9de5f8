//! Nesting: what MySQL takes is taken, and what is deeper gets its error 1436, on the stack that a
//! connection has.

use super::TestDb;

const STACK: usize = if cfg!(debug_assertions) { 4 << 20 } else { 512 << 10 };

/// Runs `work` with as much stack as a connection.
fn on_connection(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work);
    thread.unwrap().join().expect("no overflow");
}

fn nested(open: &str, middle: &str, close: &str, count: usize) -> String {
    format!("SELECT {}{middle}{}", open.repeat(count), close.repeat(count))
}

/// Texts that MySQL takes, with their answers where those are short.
fn accepted() -> Vec<(String, String)> {
    let list: Vec<String> = (0..100_000).map(|n| n.to_string()).collect();
    vec![
        (format!("SELECT 1{}", " + 1".repeat(2000)), String::from("2001\n")),
        (nested("(", "7", ")", 10_000), String::from("7\n")),
        (nested("ABS(", "7", ")", 2000), String::from("7\n")),
        (nested("- ", "7", "", 2000), String::from("7\n")),
        (nested("NOT ", "1", "", 2000), String::from("1\n")),
        (nested("CASE WHEN ", "1", " THEN 1 END", 450), String::from("1\n")),
        (nested("1 IN (1, ", "1", ")", 1800), String::from("1\n")),
        (
            format!("SELECT COUNT(*) FROM t WHERE {}a = 1", "a = 5 OR ".repeat(20_000)),
            String::from("1\n"),
        ),
        (
            format!("SELECT COUNT(*) FROM t WHERE {}a = 1", "a < 5 AND ".repeat(20_000)),
            String::from("1\n"),
        ),
        (format!("SELECT COUNT(*) FROM t WHERE a IN ({})", list.join(",")), String::from("3\n")),
        (
            format!("SELECT COUNT(*) FROM t WHERE a{} = 2001", " + 1".repeat(2000)),
            String::from("1\n"),
        ),
    ]
}

#[test]
fn deep_statements_run_as_text_and_prepared() {
    on_connection(|| {
        let db = TestDb::new();
        let mut session = db.session();
        session.ok("CREATE TABLE t (a INT)");
        session.ok("INSERT INTO t VALUES (1), (2), (3)");
        for (sql, answer) in accepted() {
            for _ in 0..3 {
                assert_eq!(session.ok(&sql), answer, "{}", &sql[..60.min(sql.len())]);
            }
            let prepared = session.0.prepare(&sql).unwrap();
            for _ in 0..2 {
                let mut sink = super::TextSink::default();
                session.0.execute_prepared(prepared.id, &[], &mut sink).unwrap();
                assert_eq!(sink.text, answer, "{}", &sql[..60.min(sql.len())]);
            }
            session.0.close_prepared(prepared.id);
        }
        session.0.prepare(&nested("ABS(", "7", ")", 2000)).unwrap();
        drop(session);
    });
}

/// For each shape the deepest statement that is taken, found by halving, is run.
#[test]
fn the_deepest_accepted_statements_overflow_no_stack() {
    on_connection(|| {
        let db = TestDb::new();
        let mut session = db.session();
        for (open, middle, close) in [
            ("(", "1", ")"),
            ("- ", "1", ""),
            ("1 + (", "1", ")"),
            ("CONCAT(", "1", ")"),
            ("IF(1, ", "1", ", 2)"),
            ("CASE WHEN ", "1", " THEN 1 END"),
            ("1 IN (1, ", "1", ")"),
            ("(SELECT ", "1", ")"),
            ("1 AND (0 OR ", "1", ")"),
        ] {
            let (mut taken, mut refused) = (10, 13_000);
            while refused - taken > 1 {
                let middling = (taken + refused) / 2;
                let answer = session.run(&nested(open, middle, close, middling));
                match answer.contains("ERROR") {
                    true => {
                        let known = answer.contains("ERROR 1436") || answer.contains("ERROR 1473");
                        assert!(known, "{open}: {answer}");
                        refused = middling;
                    }
                    false => taken = middling,
                }
            }
            assert!(taken >= 45, "{open}: {taken}");
            session.ok(&nested(open, middle, close, taken));
        }
    });
}

#[test]
fn definitions_that_are_kept_as_text_nest_as_usual() {
    let db = TestDb::new();
    let mut session = db.session();
    let sum = format!("1{}", " + 1".repeat(2000));
    let answer = session.run(&format!("CREATE TABLE t (a INT, CHECK (a < {sum}))"));
    assert!(answer.contains("ERROR 1436"), "{answer}");
}

#[test]
fn tables_of_a_join_and_nested_selects_are_counted_as_mysql_does() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (a INT)");
    session.ok("INSERT INTO t VALUES (1)");
    let join = |count: usize| {
        let joined: String = (1..count).map(|n| format!(" JOIN t AS t{n}")).collect();
        format!("SELECT COUNT(*) FROM t{joined}")
    };
    assert_eq!(session.ok(&join(61)), "1\n");
    for count in [62, 150, 1000] {
        let answer = session.run(&join(count));
        let full = "ERROR 1116: Too many tables; MySQL can only use 61 tables in a join";
        assert_eq!(answer.trim(), full, "{count}");
    }
    assert_eq!(session.ok(&nested("(SELECT ", "1", ")", 63)), "1\n");
    let answer = session.run(&nested("(SELECT ", "1", ")", 64));
    assert_eq!(answer.trim(), "ERROR 1473: Too high level of nesting for select");
}

const TOO_DEEP: &str = "ERROR 1473: Too high level of nesting for select";
const TOO_MANY: &str = "ERROR 1116: Too many tables; MySQL can only use 61 tables in a join";

/// Makes the views v0, v1, … by what each is to be, until one is refused; their number and the
/// refusal.
fn views(
    session: &mut super::TestSession,
    most: usize,
    query: impl Fn(usize) -> String,
) -> (usize, String) {
    for at in 0..most {
        let answer = session.run(&format!("CREATE VIEW v{at} AS {}", query(at)));
        if answer.contains("ERROR") {
            return (at, answer.trim().to_owned());
        }
    }
    (most, String::new())
}

fn drop_views(session: &mut super::TestSession, count: usize) {
    let names: Vec<String> = (0..count).map(|at| format!("v{at}")).collect();
    session.ok(&format!("DROP VIEW {}", names.join(", ")));
}

/// Merged or not, sixty-three views can be read inside one another, as in MySQL; also where each
/// of them nests further in its own text, which all the views together may not.
#[test]
fn views_in_views_are_counted_as_nested_selects() {
    on_connection(|| {
        let db = TestDb::new();
        let mut session = db.session();
        session.ok("CREATE TABLE t (a INT)");
        session.ok("INSERT INTO t VALUES (1)");
        let inside = |at: usize| match at {
            0 => String::from("t"),
            at => format!("v{}", at - 1),
        };
        let shapes: [&dyn Fn(usize) -> String; 4] = [
            &|at| format!("SELECT a FROM {}", inside(at)),
            &|at| format!("SELECT DISTINCT a FROM {}", inside(at)),
            &|at| format!("SELECT {}a{} AS a FROM {}", "(".repeat(90), ")".repeat(90), inside(at)),
            &|at| format!("SELECT a FROM {} UNION SELECT 1", inside(at)),
        ];
        for shape in shapes {
            let (count, refusal) = views(&mut session, 100, shape);
            assert_eq!((count, refusal.as_str()), (64, TOO_DEEP));
            assert_eq!(session.ok("SELECT a FROM v62"), "1\n");
            assert_eq!(session.run("SELECT a FROM (SELECT a FROM v62) AS x").trim(), TOO_DEEP);
            session.ok("EXPLAIN SELECT a FROM v62");
            session.ok("SHOW CREATE VIEW v62");
            drop_views(&mut session, count);
        }
        let derived = |at: usize| format!("SELECT a FROM (SELECT a FROM {}) AS x", inside(at));
        let (count, refusal) = views(&mut session, 100, derived);
        assert_eq!((count, refusal.as_str()), (32, TOO_DEEP));
    });
}

/// What doubles with every view joins as long as it can, then in parts, then no more.
#[test]
fn views_that_read_others_twice_do_not_multiply_without_end() {
    on_connection(|| {
        let db = TestDb::new();
        let mut session = db.session();
        session.ok("CREATE TABLE t (a INT PRIMARY KEY)");
        session.ok("INSERT INTO t VALUES (1), (2), (3)");
        let joined = |at: usize| match at {
            0 => String::from("SELECT a FROM t"),
            at => format!("SELECT p.a FROM v{0} AS p JOIN v{0} AS q USING (a)", at - 1),
        };
        let (count, refusal) = views(&mut session, 40, joined);
        assert!((8..20).contains(&count), "{count}");
        assert_eq!(refusal, TOO_MANY);
        assert_eq!(session.ok("SELECT COUNT(*) FROM v7"), "3\n");
        drop_views(&mut session, count);
        let united = |at: usize| match at {
            0 => String::from("SELECT a FROM t"),
            at => format!("SELECT a FROM v{0} UNION SELECT a FROM v{0}", at - 1),
        };
        let (count, refusal) = views(&mut session, 40, united);
        assert!((8..20).contains(&count), "{count}");
        assert_eq!(refusal, TOO_MANY);
        assert_eq!(session.ok("SELECT COUNT(*) FROM v7"), "3\n");
    });
}

#[test]
fn common_table_expressions_that_read_one_another_are_counted_as_nested_selects() {
    on_connection(|| {
        let db = TestDb::new();
        let mut session = db.session();
        let chain = |count: usize| {
            let next = |at: usize| format!(", c{at} AS (SELECT x + 1 AS x FROM c{})", at - 1);
            let rest: String = (1..count).map(next).collect();
            format!("WITH c0 AS (SELECT 1 AS x){rest} SELECT x FROM c{}", count - 1)
        };
        assert_eq!(session.ok(&chain(63)), "63\n");
        for count in [64, 500, 5_000] {
            assert_eq!(session.run(&chain(count)).trim(), TOO_DEEP);
        }
        // Each is computed once, however often it is read.
        let next = |at: usize| {
            let before = at - 1;
            format!(
                ", c{at} AS (SELECT x FROM c{before} UNION ALL SELECT x FROM c{before} LIMIT 2)"
            )
        };
        let rest: String = (1..60).map(next).collect();
        let sql = format!("WITH c0 AS (SELECT 1 AS x){rest} SELECT x FROM c59");
        assert_eq!(session.ok(&sql), "1\n1\n");
        // One that nothing reads adds no depth to what is beside it.
        let idle = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3)";
        assert_eq!(session.ok(&format!("{idle} SELECT MAX(n) FROM r")), "3\n");
    });
}

/// A document may be a hundred arrays deep, however it comes about.
#[test]
fn deep_documents_are_refused_wherever_they_arise() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (j JSON)");
    let arrays = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let (most, more) = (arrays(100), arrays(101));
    let full = format!("{}7{}", "[".repeat(100), "]".repeat(100));
    session.ok(&format!("INSERT INTO t VALUES ('{most}'), ('{full}')"));
    assert_eq!(session.ok("SELECT JSON_DEPTH(j) FROM t"), "100\n101\n");
    assert_eq!(session.ok(&format!("SELECT JSON_VALID('{full}')")), "1\n");
    for sql in [
        format!("INSERT INTO t VALUES ('{more}')"),
        String::from("INSERT INTO t SELECT JSON_ARRAY(j) FROM t"),
        String::from("UPDATE t SET j = JSON_OBJECT('a', j)"),
        format!("SELECT JSON_VALID('{more}')"),
        format!("SELECT CAST('{more}' AS JSON)"),
        format!("SELECT JSON_EXTRACT('{more}', '$')"),
        String::from("SELECT JSON_ARRAY(j) FROM t"),
        String::from("SELECT JSON_ARRAYAGG(j) FROM t"),
        String::from("SELECT JSON_OBJECTAGG('a', j) FROM t"),
        format!("SELECT JSON_SET(j, '${}', JSON_ARRAY()) FROM t", "[0]".repeat(100)),
        format!("SELECT JSON_LENGTH('{}')", "{\"a\":".repeat(20_000)),
    ] {
        let answer = session.run(&sql);
        let refusal = "ERROR 3157: The JSON document exceeds the maximum depth.";
        assert_eq!(answer.trim(), refusal, "{}", &sql[..60.min(sql.len())]);
    }
    assert_eq!(session.ok("SELECT COUNT(*) FROM t"), "2\n");
}
