//! One statement, three spellings: prepared with `?`, prepared with `$1`, and text.

use super::{number_parameters, split_parameters, write_literal, write_statement};
use crate::target::{Dialect, Param};

#[test]
fn parameters_are_found_outside_quotes() {
    let pieces = split_parameters("SELECT '?', a FROM t WHERE a = ? AND b BETWEEN ? AND 5");
    assert_eq!(pieces, ["SELECT '?', a FROM t WHERE a = ", " AND b BETWEEN ", " AND 5"]);
    assert_eq!(
        number_parameters(&pieces),
        "SELECT '?', a FROM t WHERE a = $1 AND b BETWEEN $2 AND 5"
    );
    let mut text = String::new();
    let params = [Param::Int(-7), Param::Text("it's")];
    write_statement(&mut text, &pieces, &params, Dialect::Postgres);
    assert_eq!(text, "SELECT '?', a FROM t WHERE a = -7 AND b BETWEEN 'it''s' AND 5");
}

#[test]
fn literals_are_quoted_as_the_dialect_wants() {
    let literal = |param, dialect| {
        let mut out = String::new();
        write_literal(&mut out, param, dialect);
        out
    };
    assert_eq!(literal(Param::Text(r"a\b"), Dialect::MySql), r"'a\\b'");
    assert_eq!(literal(Param::Text(r"a\b"), Dialect::Postgres), r"'a\b'");
    assert_eq!(literal(Param::Text(""), Dialect::Sqlite), "''");
    assert_eq!(literal(Param::Int(i64::MIN), Dialect::MySql), "-9223372036854775808");
    assert_eq!(literal(Param::Int(0), Dialect::MySql), "0");
    assert_eq!(literal(Param::Double(0.5), Dialect::MySql), "0.5");
    assert_eq!(literal(Param::Null, Dialect::MySql), "NULL");
}
