//! Which literals become parameters, and which statements share a digest.

use crate::{Digest, SqlMode, digest};

fn of(sql: &str) -> Digest {
    digest(sql, SqlMode::empty()).expect("a statement that can be cached")
}

fn params(sql: &str) -> Vec<&str> {
    of(sql).params.iter().map(|p| &sql[p.start as usize..p.end as usize]).collect()
}

#[test]
fn literals_of_conditions_and_values_are_parameters() {
    assert_eq!(
        params("select c from t where id = 5 and x in (1, 'b') limit 10"),
        ["5", "1", "'b'", "10"]
    );
    assert_eq!(params("insert into t (a, b) values (1, 'x'), (-2, 2.5)"), ["1", "'x'", "2", "2.5"]);
    assert_eq!(
        params("update t set a = a + 1, b = 'y' where id between 1 and 2"),
        ["1", "'y'", "1", "2"]
    );
}

#[test]
fn literals_that_shape_the_result_are_not() {
    assert!(params("select 1, 'x' as 'y', a 'b' from t order by 2, 1").is_empty());
    assert!(params("select a from t group by 1").is_empty());
    assert!(params("select a from t where f(1) = now(3) + interval 1 day").is_empty());
    assert!(params("select a from t where d = date '2020-01-01'").is_empty());
    assert!(params("select a from t where cast(a as char(10)) = _latin1'x'").is_empty());
}

#[test]
fn only_parameters_may_differ() {
    let same = |a, b| of(a).hash == of(b).hash && of(a).check == of(b).check;
    assert!(same("select a from t where b = 1", "select a  from t where b=  22 -- x"));
    assert!(!same("select a from t where b = 1", "select a from t where b = 'x'"));
    assert!(!same("select a from t where b = 1", "select a from t where c = 1"));
    assert!(!same("select 1", "select 2"));
    assert!(!same("select a from t where b in (1)", "select a from t where b in (1, 2)"));
    let ansi = digest("select a from t", SqlMode::ANSI_QUOTES).expect("a query");
    assert_ne!(ansi.hash, of("select a from t").hash);
}

#[test]
fn other_statements_have_no_digest() {
    for sql in ["set a = 1", "select ?", "select 1; select 2", "select 'x", "", "commit"] {
        assert_eq!(digest(sql, SqlMode::empty()), None, "{sql}");
    }
    assert!(digest("select 1;", SqlMode::empty()).is_some());
}
