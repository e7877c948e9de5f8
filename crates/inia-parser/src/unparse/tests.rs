//! Expressions as MySQL 8.0 prints them in SHOW CREATE TABLE.

use crate::{SqlMode, parse_expr, quote_name, quote_string, unparse};

fn printed(sql: &str) -> String {
    unparse(&parse_expr(sql, SqlMode::empty()).expect("an expression"), "utf8mb4")
        .expect("storable")
}

#[test]
fn as_mysql_prints() {
    let cases = [
        ("-1", "-(1)"),
        ("a + 1", "(`a` + 1)"),
        ("not a", "(0 = `a`)"),
        ("not (a = 1)", "(`a` <> 1)"),
        ("not (a = 1 and b < 2)", "((`a` <> 1) or (`b` >= 2))"),
        ("not (a <=> b)", "(not((`a` <=> `b`)))"),
        ("not true", "(not(true))"),
        ("a or b", "((0 <> `a`) or (0 <> `b`))"),
        ("a and lower(b)", "((0 <> `a`) and (0 <> lower(`b`)))"),
        ("a xor b = 1", "((0 <> `a`) xor (`b` = 1))"),
        ("a is unknown", "(`a` is null)"),
        ("a is not true", "((0 <> `a`) is not true)"),
        ("a in (1)", "(`a` = 1)"),
        ("a not in (1,2)", "(`a` not in (1,2))"),
        ("a not like 'x'", "(not((`a` like _utf8mb4'x')))"),
        ("a not regexp 'x'", "(not(regexp_like(`a`,_utf8mb4'x')))"),
        ("(a,b) = (1,2)", "((`a` = 1) and (`b` = 2))"),
        ("(a,b) in ((1,2),(3,4))", "((`a`,`b`) in ((1,2),(3,4)))"),
        ("case when a then b end", "(case when `a` then `b` end)"),
        ("cast(a as decimal)", "cast(`a` as decimal(10,0))"),
        ("cast(a as binary(3))", "cast(`a` as char(3) charset binary)"),
        ("time(a)", "cast(`a` as time)"),
        ("round(a)", "round(`a`,0)"),
        ("bin(a)", "conv(`a`,10,2)"),
        ("instr(a,'x')", "locate(_utf8mb4'x',`a`)"),
        ("1.5e3", "1.5e3"),
        ("x'4142'", "0x4142"),
        ("b'101'", "0x05"),
        ("'a\\'b\\\\c\\n\"'", "_utf8mb4'a\\'b\\\\c\\n\"'"),
        ("timestamp'2020-01-01 10:00:00'", "TIMESTAMP'2020-01-01 10:00:00'"),
        ("json_value(j,'$.a' returning signed)", "json_value(`j`, _utf8mb4'$.a' returning signed)"),
        ("`now`(a)", "`now`(`a`)"),
        ("now(3)", "now(3)"),
        ("1 member of (j)", "1 member of (`j`)"),
    ];
    for (sql, expected) in cases {
        assert_eq!(printed(sql), expected, "{sql}");
    }
}

#[test]
fn what_cannot_be_stored_has_no_text() {
    for sql in ["(select 1)", "? + 1", "sum(a)", "@a := 1", "rank() over ()", "exists (select 1)"] {
        assert_eq!(
            unparse(&parse_expr(sql, SqlMode::empty()).expect("an expression"), "utf8mb4"),
            None
        );
    }
}

#[test]
fn quoting() {
    assert_eq!(quote_name("a`b"), "`a``b`");
    assert_eq!(quote_string("it's\\\n"), "'it\\'s\\\\\\n'");
}

/// They name stored functions, and must not become calls of the built-in ones.
#[test]
fn names_that_allow_no_space_stay_in_quotes() {
    for sql in ["NOW (_)", "`now`(_)", "`now`(`_`)"] {
        assert_eq!(printed(sql), "`now`(`_`)", "{sql}");
    }
    assert_eq!(printed("now(3)"), "now(3)");
    assert_eq!(printed("`upper`(a)"), "upper(`a`)");
}
