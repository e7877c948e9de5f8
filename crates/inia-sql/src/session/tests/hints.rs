//! What optimizer hints make of plans: the script beside this file has queries without and with
//! hints, their plans and warnings. The rows are those of the query without hints.

use super::{TestDb, sorted, without_hints};
use std::path::Path;

#[test]
fn hints_change_plans_and_no_rows() {
    let db = TestDb::new();
    let mut s = db.session();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session/tests");
    inia_testkit::golden::check(&here.join("hints.plans"), |query| {
        if !query.starts_with("select") {
            return s.ok(query);
        }
        let plan = s.tree(query);
        let warnings = s.ok("show warnings");
        assert_eq!(sorted(&s.ok(query)), sorted(&s.ok(&without_hints(query))), "{query}");
        format!("{}\n{warnings}", plan.trim_end())
    });
}
