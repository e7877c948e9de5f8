//! What EXPLAIN says: the script beside this file has queries with their trees, which have costs
//! and rows at each node, and with FORMAT=JSON.

use super::TestDb;
use std::path::Path;

#[test]
fn explain_estimates_every_node() {
    let db = TestDb::new();
    let mut s = db.session();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session/tests");
    inia_testkit::golden::check(&here.join("explain.plans"), |query| match query {
        query if query.starts_with("explain analyze") => without_times(&s.ok(query)),
        query => s.ok(query),
    });
}

/// A tree in which `T` stands for each time.
fn without_times(tree: &str) -> String {
    let mut lines = Vec::new();
    for line in tree.lines() {
        let (before, after) = line.split_once("(actual time=").unwrap_or((line, ""));
        let after = after.split_once(' ').map(|(_, rest)| format!("(actual time=T {rest}"));
        lines.push(format!("{before}{}", after.unwrap_or_default()));
    }
    lines.join("\n")
}
