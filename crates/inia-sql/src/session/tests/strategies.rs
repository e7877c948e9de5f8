//! EXPLAIN FORMAT=TREE names the strategy by which each part of a plan is executed: the script
//! beside this file has a query for each strategy, with its tree.

use super::TestDb;
use std::path::Path;

#[test]
fn explain_names_every_strategy() {
    let db = TestDb::new();
    let mut s = db.session();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session/tests");
    inia_testkit::golden::check(&here.join("strategies.plans"), |query| match query {
        query if query.starts_with("select") => s.tree(query),
        other => s.ok(other),
    });
}
