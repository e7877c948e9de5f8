//! Plans that merge indexes: the script beside this file has queries and their plans. The rows are
//! those of the same query without a merge.

use super::TestDb;
use std::path::Path;

#[test]
fn merges_change_plans_and_no_rows() {
    let db = TestDb::new();
    let mut s = db.session();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session/tests");
    let sorted = |answer: String| {
        let mut rows: Vec<String> = answer.lines().map(str::to_owned).collect();
        rows.sort();
        rows
    };
    inia_testkit::golden::check(&here.join("merges.plans"), |query| {
        if !query.starts_with("select") {
            return s.ok(query);
        }
        let (plan, lines) = (s.tree(query), s.ok(&format!("explain {query}")));
        let rows = sorted(s.ok(query));
        s.ok("set @switches = @@optimizer_switch, optimizer_switch = 'index_merge=off'");
        let whole = query.find("/*+").map_or(query.to_owned(), |at| {
            let end = query.find("*/").unwrap();
            format!("{}{}", &query[..at], &query[end + 2..])
        });
        assert_eq!(rows, sorted(s.ok(&whole)), "{query}");
        s.ok("set optimizer_switch = @switches");
        format!("{}\n{lines}", plan.trim_end())
    });
}
