//! Plans that merge indexes: the script beside this file has queries and their plans. The rows are
//! those of the same query without a merge.

use super::{TestDb, sorted, without_hints};
use std::path::Path;

#[test]
fn merges_change_plans_and_no_rows() {
    let db = TestDb::new();
    let mut s = db.session();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session/tests");
    inia_testkit::golden::check(&here.join("merges.plans"), |query| {
        if !query.starts_with("select") {
            return s.ok(query);
        }
        let (plan, lines) = (s.tree(query), s.ok(&format!("explain {query}")));
        let answer = s.ok(query);
        s.ok("set @switches = @@optimizer_switch, optimizer_switch = 'index_merge=off'");
        assert_eq!(sorted(&answer), sorted(&s.ok(&without_hints(query))), "{query}");
        s.ok("set optimizer_switch = @switches");
        format!("{}\n{lines}", plan.trim_end())
    });
}

/// Keys of some 20 MiB, where a merge sorts 8 MiB at most.
#[test]
fn keys_that_outgrow_memory_are_given_up_for_a_scan() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (k char(250) primary key, a int, b int, c int, key a (a), key b (b))");
    s.ok("set cte_max_recursion_depth = 100000");
    s.ok("insert into t with recursive n (i) as (select 1 union all select i + 1 from n \
          where i < 20000) select concat(repeat('k', 240), i), i, i % 7, 0 from n");
    let hint = "/*+ index_merge(t a, b) */";
    let lines = s.ok(&format!("explain select {hint} * from t where a > 5 or b > 3"));
    assert!(lines.contains("sort_union(a,b)"), "{lines}");
    let select = |end: &str| {
        format!("select {hint} count(*), sum(a), sum(b) from t where a > 5 or b > 3 {end}")
    };
    let all =
        s.ok("select count(*), sum(a), sum(b) from t where c = 0 and not (a <= 5 and b <= 3)");
    assert_eq!(s.ok(&select("")), all);
    s.ok("begin");
    assert_eq!(s.ok(&select("for update")), all);
    s.ok(&format!("update {hint} t set a = a + 1, c = 1 where a > 5 or b > 3"));
    assert_eq!(s.ok("select count(*), sum(a - 1), sum(b) from t where c = 1"), all);
    s.ok(&format!("delete {hint} from t where a > 5 or b > 3"));
    assert_eq!(s.ok("select count(*) from t where c = 1").trim_end(), "0");
    s.ok("rollback");
    assert_eq!(s.ok(&select("")), all);
}
