//! Optimizer hints: what they ask, and what is said of what is none.

use crate::{HintValue, Hints, Parser, SqlMode};

/// The hints of a statement, and what is remarked on.
fn hints(sql: &str) -> (Hints, Vec<String>) {
    let mut parser = Parser::new(sql, SqlMode::empty());
    parser.next_statement().unwrap();
    let remarks = parser.take_remarks().into_iter().map(|it| format!("{} {}", it.code, it.message));
    let remarks = remarks.collect();
    (parser.take_hints(), remarks)
}

fn limit(sql: &str) -> Option<u64> {
    let (hints, remarks) = hints(sql);
    assert!(remarks.is_empty(), "{sql}: {remarks:?}");
    hints.max_execution_time
}

#[test]
fn the_statement_itself_has_a_limit_of_time() {
    for sql in [
        "SELECT /*+ MAX_EXECUTION_TIME(7) */ 1",
        "select/*+max_execution_time ( 7 )*/1",
        "((SELECT /*+ MAX_EXECUTION_TIME(7) */ 1) UNION SELECT 2)",
        "WITH c AS (SELECT 1) SELECT /*+ BKA(c) MAX_EXECUTION_TIME(7) */ * FROM c",
        "EXPLAIN SELECT /*+ MAX_EXECUTION_TIME(7) */ 1",
    ] {
        assert_eq!(limit(sql), Some(7), "{sql}");
    }
    assert_eq!(limit("SELECT 1 /*+ MAX_EXECUTION_TIME(7) */"), None);
    assert_eq!(limit("SELECT /* */ /*+ MAX_EXECUTION_TIME(7) */ 1"), None);
}

#[test]
fn no_part_of_a_statement_has_one() {
    for sql in [
        "SELECT (SELECT /*+ MAX_EXECUTION_TIME(7) */ 1)",
        "SELECT 1 UNION SELECT /*+ MAX_EXECUTION_TIME(7) */ 2",
        "WITH c AS (SELECT /*+ MAX_EXECUTION_TIME(7) */ 1) SELECT * FROM c",
        "INSERT /*+ MAX_EXECUTION_TIME(7) */ INTO t VALUES (1)",
        "INSERT INTO t SELECT /*+ MAX_EXECUTION_TIME(7) */ 1",
    ] {
        let (hints, remarks) = hints(sql);
        assert!(hints.is_empty() && remarks.len() == 1, "{sql}");
        assert!(remarks[0].starts_with("3125 "), "{sql}: {remarks:?}");
    }
}

#[test]
fn each_select_may_set_variables() {
    let sql = "INSERT /*+ SET_VAR(a = 1K) */ INTO t \
               SELECT /*+ SET_VAR(b='x''y') SET_VAR(`c`=ON) */ 1";
    let variables = vec![
        (String::from("a"), HintValue::Int(1024)),
        (String::from("b"), HintValue::Text(String::from("x'y"))),
        (String::from("c"), HintValue::Word(String::from("ON"))),
    ];
    assert_eq!(hints(sql), (Hints { max_execution_time: None, variables }, vec![]));
}

#[test]
fn hints_before_a_mistake_count() {
    let (hints, remarks) = hints("SELECT /*+ MAX_EXECUTION_TIME(7) SET_VAR(a=''), */ 1");
    assert_eq!((hints.max_execution_time, hints.variables.len()), (Some(7), 0));
    assert_eq!(remarks, ["1064 Optimizer hint syntax error near '''), */ 1' at line 1"]);
}

#[test]
fn damaged_hints_are_remarked_on() {
    for text in ["", "(", ")", "@", "BKA(", "BKA(t@", "BKA(@", "SET_VAR(a=", "SET_VAR(a='", "é("] {
        let (hints, remarks) = hints(&format!("SELECT /*+ {text} */ 1"));
        assert!(hints.is_empty() && remarks.len() == 1, "{text}: {remarks:?}");
    }
}
