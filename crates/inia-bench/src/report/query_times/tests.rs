//! Queries that all answer, that one target does not answer in time, and that one cannot answer.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::report::Report;
use crate::report::fixture::questions;

#[test]
fn each_query_has_a_time_on_each_target() {
    let records = questions();
    let report = Report::new(&records);
    let [table] = &QueryTimes::all(&report.sections[0])[..] else {
        panic!("one number of clients")
    };
    let times = |name: &str| {
        let found = table.queries.iter().find(|(query, _)| *query == name);
        found.map(|(_, times)| times.as_slice())
    };
    assert_eq!(times("q01").unwrap(), [QueryTime::Answered(10.5), QueryTime::Answered(105.0)]);
    assert_eq!(times("q02").unwrap(), [QueryTime::Stopped(60_000.0), QueryTime::Answered(210.0)]);
    assert_eq!(times("q03").unwrap(), [QueryTime::Answered(31.5), QueryTime::Failed]);
    assert_eq!(times("q05"), None, "no target ran it");
}

#[test]
fn totals_are_of_queries_that_all_have_answered() {
    let records = questions();
    let report = Report::new(&records);
    let table = QueryTimes::all(&report.sections[0]).remove(0);
    assert_eq!(table.answered_by_all().count(), 2);
    let (sum, mean) = table.totals(0).unwrap();
    assert_eq!(sum, 10.5 + 42.0);
    assert!((mean - 21.0).abs() < 1e-9, "{mean}");
}

#[test]
fn other_workloads_have_no_queries_to_list() {
    let records = crate::report::fixture::records();
    let report = Report::new(&records);
    assert!(report.sections.iter().all(|section| QueryTimes::all(section).is_empty()));
}
