//! The order and the methods of joins: the script beside this file has schemas whose statistics
//! leave one good plan, and the plans. Rows do not depend on the order.

use super::TestDb;
use std::path::Path;

fn script() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session/tests/joins.plans")
}

#[test]
fn joins_take_the_cheapest_order() {
    let db = TestDb::new();
    let mut s = db.session();
    inia_testkit::golden::check(&script(), |query| match query {
        query if query.starts_with("select") => s.tree(query),
        other => s.ok(other),
    });
}

#[test]
fn rows_do_not_depend_on_the_order() {
    let db = TestDb::new();
    let mut s = db.session();
    let text = std::fs::read_to_string(script()).unwrap();
    let mut compared = 0;
    for statement in text.lines().filter_map(|line| line.strip_prefix("> ")) {
        let Some(rest) = statement.strip_prefix("select ") else {
            s.ok(statement);
            continue;
        };
        if rest.contains(" limit ") {
            continue;
        }
        let rows = |answer: String| {
            let mut rows: Vec<String> = answer.lines().map(str::to_owned).collect();
            rows.sort();
            rows
        };
        let rest = rest.strip_prefix("straight_join ").unwrap_or(rest);
        let searched = rows(s.ok(&format!("select {rest}")));
        let in_order = rows(s.ok(&format!("select straight_join {rest}")));
        assert_eq!(searched, in_order, "{rest}");
        compared += 1;
    }
    assert!(compared > 10, "the script has queries: {compared}");
}
