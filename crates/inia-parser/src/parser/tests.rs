//! Statements and the trees they give.
//!
//! `accepted.sql` and `refused.txt` hold statements of all families with MySQL's own verdict; the
//! modules below look at the trees.

mod deep;
mod definitions;
mod expressions;
mod hints;
mod queries;
mod round_trip;
mod rows;
mod sessions;
mod soup;

use crate::{Parser, SqlMode, ast::*, parse, parse_expr, unparse};

/// The tree of a statement that must parse.
fn tree(sql: &str) -> Statement {
    match parse(sql, SqlMode::empty()) {
        Ok(statement) => statement,
        Err(error) => panic!("{sql}\n{error}"),
    }
}

/// The canonical text of an expression that must parse.
fn canonical(sql: &str) -> String {
    canonical_in(sql, SqlMode::empty())
}

fn canonical_in(sql: &str, mode: SqlMode) -> String {
    match parse_expr(sql, mode) {
        Ok(expr) => unparse(&expr, "utf8mb4").expect("a storable expression"),
        Err(error) => panic!("{sql}\n{error}"),
    }
}

/// The query in a SELECT.
fn query(sql: &str) -> Query {
    match tree(sql) {
        Statement::Select(query) => *query,
        other => panic!("no query: {other:?}"),
    }
}

/// The SELECT in a plain query.
fn select(sql: &str) -> Select {
    match query(sql).body {
        QueryBody::Select(select) => *select,
        other => panic!("no plain select: {other:?}"),
    }
}

/// The message of a statement that must not parse.
fn refusal(sql: &str) -> String {
    match parse(sql, SqlMode::empty()) {
        Ok(statement) => panic!("{sql} gave {statement:?}"),
        Err(error) => error.message(),
    }
}

fn near(text: &str, line: u32) -> String {
    format!(
        "You have an error in your SQL syntax; check the manual that corresponds to your MySQL \
         server version for the right syntax to use near '{text}' at line {line}"
    )
}

#[test]
fn accepts_what_mysql_accepts() {
    for sql in include_str!("tests/accepted.sql").lines() {
        if !sql.is_empty() && !sql.starts_with("##") {
            tree(sql);
        }
    }
}

#[test]
fn refuses_where_mysql_refuses() {
    for line in include_str!("tests/refused.txt").lines() {
        if let Some((sql, text)) = line.split_once(" ==> ")
            && !line.starts_with("##")
        {
            assert_eq!(refusal(sql), near(text, 1), "{sql}");
        }
    }
}

#[test]
fn lines_count_from_the_start_of_the_statement() {
    assert_eq!(refusal("select 1\nfrom dual\nwhere where"), near("where", 3));
    assert_eq!(refusal("\n\n  select 1 +\n)"), near(")", 2));
    assert_eq!(refusal("create table t2 (a int default (1 +\n)"), near(")", 2));
}

#[test]
fn the_text_near_an_error_is_cut_at_eighty_bytes() {
    let sql = format!("selec '{}'", "é".repeat(90));
    let expected: String = sql.chars().take(7 + 36).collect();
    assert_eq!(refusal(&sql), near(&expected, 1));
}

#[test]
fn empty_texts_are_error_1065() {
    for sql in ["", "  \n", ";", " ; "] {
        assert_eq!(refusal(sql), "Query was empty", "{sql:?}");
    }
    assert_eq!(tree("/* nothing */"), Statement::Empty);
    assert_eq!(tree("-- nothing"), Statement::Empty);
    assert_eq!(tree("/*!99999 select 1 */"), Statement::Empty);
}

#[test]
fn several_statements_come_one_by_one_with_their_spans() {
    let sql = " select 1 ;\nset @a = ';'; create procedure p() begin select 1; end; do 2;;  ";
    let mut parser = Parser::new(sql, SqlMode::empty());
    let mut texts = Vec::new();
    while let Some((_, span)) = parser.next_statement().expect("four statements") {
        texts.push(&sql[span.start..span.end]);
    }
    let procedure = "create procedure p() begin select 1; end";
    assert_eq!(texts, ["select 1", "set @a = ';'", procedure, "do 2"]);
}

#[test]
fn the_second_of_two_statements_is_no_single_statement() {
    assert_eq!(refusal("select 1; select 2"), near("select 2", 1));
    let mut parser = Parser::new("select 1;\nselect\n2 +", SqlMode::empty());
    assert!(parser.next_statement().is_ok());
    let error = parser.next_statement().expect_err("an open sum");
    assert_eq!((error.line, error.near.as_str()), (2, ""));
}

#[test]
fn parameters_are_numbered_in_the_order_of_the_text() {
    let sql = "select ? + ? from t where a = ? limit ?, ?";
    let mut parser = Parser::new(sql, SqlMode::empty());
    parser.next_statement().expect("a query");
    assert_eq!(parser.param_count(), 5);
    let limit = query(sql).limit.expect("a limit");
    assert_eq!((limit.offset, limit.count), (Some(Expr::Param(3)), Expr::Param(4)));
}

#[test]
fn raw_binary_strings_keep_their_bytes() {
    let sql = b"select _binary'\xff\x00\\n'";
    let statement = crate::parse_bytes(sql, SqlMode::empty()).expect("a query");
    let text = format!("{statement:?}");
    assert!(text.contains("bytes: [255, 0, 10]"), "{text}");
}
