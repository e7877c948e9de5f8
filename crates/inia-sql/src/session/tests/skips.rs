//! Plans that read an index group by group: the script beside this file has queries and their
//! plans. The rows are those of the same query of a table without keys.

use super::{TestDb, sorted, without_hints};
use std::path::Path;

#[test]
fn groups_that_are_skipped_change_plans_and_no_rows() {
    let db = TestDb::new();
    let mut s = db.session();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session/tests");
    inia_testkit::golden::check(&here.join("skips.plans"), |query| {
        if !query.starts_with("select") {
            return s.ok(query);
        }
        let (plan, lines) = (s.tree(query), s.ok(&format!("explain {query}")));
        let hint = " ignore index for group by (abc)";
        let plain = without_hints(query).replace(hint, "").replace(" from t", " from bare");
        assert_eq!(sorted(&s.ok(query)), sorted(&s.ok(&plain)), "{query}");
        format!("{}\n{lines}", plan.trim_end())
    });
}

/// What other sessions change, and what a session itself has not committed, is seen as a scan of
/// all entries sees it.
#[test]
fn groups_are_those_of_the_snapshot() {
    let db = TestDb::new();
    let (mut s, mut other) = (db.session(), db.session());
    s.ok("create table t (id int primary key, a int, b int, key ab (a, b))");
    s.ok("set cte_max_recursion_depth = 10000");
    s.ok("insert into t with recursive n (i) as (select 1 union all select i + 1 from n \
          where i < 3000) select i, i % 10, i % 300 from n");
    let groups = "select a, min(b), max(b) from t group by a";
    let values = "select distinct a from t";
    let range = "select /*+ skip_scan(t ab) */ a, b from t where b > 290";
    for (query, extra) in [(groups, "group-by"), (values, "group-by"), (range, "skip scan")] {
        assert!(s.ok(&format!("explain {query}")).contains(extra), "{query}");
    }
    s.ok("start transaction with consistent snapshot");
    let queries = [groups, values, range];
    let before: Vec<String> = queries.iter().map(|query| s.ok(query)).collect();
    other.ok("begin");
    other.ok("delete from t where a in (0, 3, 9)");
    other.ok("update t set b = b + 1000 where b > 280");
    other.ok("insert into t values (9001, -5, 400), (9002, 5, -400), (9003, 77, 295)");
    let plain = ["select a, min(b + 0), max(b + 0) from t group by a order by a", values, range];
    let plain = plain.map(|query| query.replace(" from t", " from t use index ()"));
    for (query, plain) in queries.iter().zip(&plain) {
        assert_eq!(sorted(&other.ok(query)), sorted(&other.ok(plain)), "{query}");
    }
    for (query, before) in queries.iter().zip(&before) {
        assert_eq!(s.ok(query), *before, "{query}");
    }
    other.ok("commit");
    for (query, before) in queries.iter().zip(&before) {
        assert_eq!(s.ok(query), *before, "{query}");
    }
    s.ok("commit");
    for (query, plain) in queries.iter().zip(&plain) {
        assert_eq!(sorted(&s.ok(query)), sorted(&other.ok(plain)), "{query}");
    }
    // Locked rows are read one by one.
    let locked = s.ok(&format!("explain {groups} for update"));
    assert!(!locked.contains("group-by"), "{locked}");
}
