//! What the optimizer makes of conditions: each script beside this file has queries with their
//! trees and their rows. A query that is written as the rule rewrites it has the same tree.

use super::TestDb;
use std::path::Path;

#[test]
fn conjuncts_that_all_branches_share_are_taken_out_of_an_or() {
    check("conjuncts_out_of_or.plans");
}

#[test]
fn an_or_over_several_tables_restricts_each_of_them() {
    check("restrictions_by_or.plans");
}

#[test]
fn a_semi_join_with_a_unique_key_is_an_inner_join() {
    check("semi_joins_with_unique_keys.plans");
}

#[test]
fn conditions_move_into_derived_tables() {
    check("conditions_into_derived_tables.plans");
}

#[test]
fn columns_that_nobody_reads_are_not_computed() {
    check("unread_columns.plans");
}

#[test]
fn conditions_of_having_are_checked_by_where() {
    check("having.plans");
}

#[test]
fn what_is_said_without_need_is_left_out() {
    check("reduced.plans");
}

fn check(script: &str) {
    let db = TestDb::new();
    let mut s = db.session();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session/tests/rewrites");
    inia_testkit::golden::check(&here.join(script), |query| match query {
        query if query.starts_with("select") || query.starts_with("with") => {
            let tree = s.tree(query);
            format!("{}\n{}", tree.trim_end(), s.ok(query))
        }
        other => s.ok(other),
    });
}
