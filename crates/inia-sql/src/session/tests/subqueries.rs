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

#[test]
fn scalar_subqueries_with_aggregates_become_joins_with_groups() {
    check("scalar_groups.plans");
}

#[test]
fn conditions_about_groups_become_joins_with_groups() {
    check("groups.plans");
}

#[test]
fn distinct_members_are_joined_from_either_side() {
    check("members.plans");
}

/// Plans and rows of a script; the rows are those of subqueries that run for each row.
fn check(script: &str) {
    let db = TestDb::new();
    let mut s = db.session();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session/tests/subqueries");
    inia_testkit::golden::check(&here.join(script), |query| {
        if !query.starts_with("select") {
            return s.ok(query);
        }
        let plan = s.ok(&format!("explain format=tree {query}"));
        let rows = s.ok(query);
        let switches = s.ok("select @@optimizer_switch");
        for other in ["semijoin=off,materialization=off", "subquery_to_derived=on"] {
            s.ok(&format!("set optimizer_switch = 'default,{other}'"));
            assert_eq!(rows, s.ok(query), "{query} with {other}");
        }
        s.ok(&format!("set optimizer_switch = '{}'", switches.trim_end()));
        format!("{}\n{rows}", plan.trim_end())
    });
}
