//! What becomes of subqueries: the script beside this file has for each query the plan and the
//! rows, which must be those of the plan that runs the subquery for each row.

use super::TestDb;
use std::path::Path;

#[test]
fn subqueries_become_joins() {
    let db = TestDb::new();
    let mut s = db.session();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session/tests");
    inia_testkit::golden::check(&here.join("subqueries.plans"), |query| {
        let Some(select) = query.strip_prefix("select") else { return s.ok(query) };
        let plan = s.ok(&format!("explain format=tree {query}"));
        let rows = s.ok(query);
        s.ok("set optimizer_switch = 'semijoin=off,materialization=off'");
        let nested = s.ok(query);
        s.ok("set optimizer_switch = default");
        assert_eq!(rows, nested, "select{select}");
        format!("{}\n{rows}", plan.trim_end())
    });
}
