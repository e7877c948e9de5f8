//! Texts of digests, and what hashes cover; the scripts of `crates/inia` compare with MySQL.

use super::statement_digest;
use crate::SqlMode;

fn text(sql: &str) -> String {
    statement_digest(sql, SqlMode::DEFAULT, 1024).text
}

#[test]
fn literals_become_marks_and_lists_of_them_one_mark() {
    assert_eq!(text("select 1, 'a', -2, null from t"), "SELECT ?, ... FROM `t`");
    assert_eq!(text("select a - 1, a in (1), (2, 3)"), "SELECT `a` - ? , `a` IN (...) , (...)");
    assert_eq!(
        text("insert into t values (1, 2), (3, null)"),
        "INSERT INTO `t` VALUES (...) /* , ... */"
    );
}

#[test]
fn null_is_a_literal_only_where_an_expression_begins() {
    assert_eq!(text("select a is not null, not null"), "SELECT `a` IS NOT NULL , NOT ?");
    assert_eq!(
        text("create table t (a int not null, b int default null)"),
        "CREATE TABLE `t` ( `a` INTEGER NOT NULL , `b` INTEGER DEFAULT ? )"
    );
}

#[test]
fn hints_are_a_part_of_the_statement() {
    assert_eq!(
        text("select /*+ BKA(t@q) SET_VAR(a = 16M) */ 1"),
        "SELECT /*+ BKA ( `t`@`q` ) SET_VAR ( `a` = ? ) */ ?"
    );
    assert_eq!(text("select /* +BKA(t) */ 1"), "SELECT ?");
}

#[test]
fn the_hash_is_that_of_numbers_and_names() {
    let of = |sql: &str| statement_digest(sql, SqlMode::DEFAULT, 1024).hex();
    assert_eq!(of("select 1"), "d1b44b0c19af710b5a679907e284acd2ddc285201794bc69a2389d77baedddae");
    assert_eq!(of("SELECT /* c */ 'x'"), of("select 1"));
    assert_ne!(of("select a"), of("select A"));
}

#[test]
fn tokens_beyond_the_limit_do_not_count() {
    let short = statement_digest("select a, b, c", SqlMode::DEFAULT, 8);
    assert_eq!(short.text, "SELECT `a`");
    assert_eq!(statement_digest("select a, b, c", SqlMode::DEFAULT, 0).text, "");
}

#[test]
fn quotes_that_hints_leave_open_end_with_them() {
    for quote in ["`", "\"", "'", "`a", "'a"] {
        assert!(text(&format!("select /*+ bka({quote}*/ 1")).starts_with("SELECT /*+ BKA ("));
    }
}
