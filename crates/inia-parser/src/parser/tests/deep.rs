//! Nesting and length: what is too deep is refused, what is only long is parsed, and neither
//! needs more than a small stack (unoptimized code: a stack of the usual size).

use super::*;
use crate::ParseErrorKind;

const STACK: usize = if cfg!(debug_assertions) { 2 << 20 } else { 256 << 10 };

/// Parses and drops `sql` on a small stack; true where it was too deep.
fn too_deep(sql: String) -> bool {
    too_deep_in(sql, SqlMode::empty())
}

fn too_deep_in(sql: String, mode: SqlMode) -> bool {
    let parse = move || match parse(&sql, mode) {
        Ok(statement) => {
            drop(statement.clone());
            false
        }
        Err(error) => {
            // Or too many joins.
            assert!(error.kind == ParseErrorKind::TooDeep || error.code() == 1116, "{error}");
            true
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(parse);
    thread.expect("a thread").join().expect("no overflow")
}

fn repeated(open: &str, middle: &str, close: &str, count: usize) -> String {
    format!("select {}{middle}{}", open.repeat(count), close.repeat(count))
}

#[test]
fn deep_nesting_is_refused() {
    let count = 10_000;
    assert!(too_deep(repeated("(", "1", ")", count)));
    assert!(too_deep(repeated("not ", "1", "", count)));
    assert!(too_deep(repeated("- ", "1", "", count)));
    assert!(too_deep(repeated("f(", "1", ")", count)));
    assert!(too_deep(repeated("(select ", "1", ")", count)));
    assert!(too_deep(repeated("case when ", "1", " then 1 end", count)));
    assert!(too_deep(repeated("1 in (1, ", "1", ")", count)));
    assert!(too_deep(repeated("@a := ", "1", "", count)));
    assert!(too_deep(format!("{}select 1{}", "(".repeat(count), ")".repeat(count))));
    assert!(too_deep(format!("select 1 from {}t{}", "(".repeat(count), ")".repeat(count))));
    assert!(too_deep(repeated("1 from (select ", "1", ") x", count)));
    assert!(too_deep(repeated("1", "", " + 1", 100_000)));
    assert!(too_deep(format!("select 1 from t {}", "left join t ".repeat(count))));
    assert!(too_deep(format!("select 1 from t {}", "join t ".repeat(count))));
}

#[test]
fn sensible_nesting_is_not() {
    assert!(!too_deep(repeated("(", "1", ")", 50)));
    assert!(!too_deep(repeated("not ", "1", "", 50)));
    assert!(!too_deep(repeated("f(", "1", ")", 50)));
    assert!(!too_deep(repeated("case when ", "1", " then 1 end", 50)));
    assert!(!too_deep(repeated("(select ", "1", ")", 20)));
    assert!(!too_deep(repeated("1 from (select ", "1", ") x", 15)));
    assert!(!too_deep(repeated("1", "", " + 1", 300)));
    assert!(!too_deep(format!("select 1 from t {}", "join t ".repeat(100))));
}

#[test]
fn long_statements_are_not_deep() {
    let count = 100_000;
    assert!(!too_deep(repeated("1", "", " and 1", count)));
    assert!(!too_deep(repeated("1", "", " or 1 and 2", count)));
    assert!(!too_deep(repeated("1", "", ", 1", count)));
    assert!(!too_deep(repeated("1", "", " union all select 1", 10_000)));
    assert!(!too_deep(format!("insert into t values {}(1)", "(1, 'x'), ".repeat(count))));
    assert!(!too_deep_in(repeated("a", "", " || a", count), SqlMode::PIPES_AS_CONCAT));
}
