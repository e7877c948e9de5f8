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
