//! The texts of the queries.

use super::*;

#[test]
fn each_query_is_a_kind_and_so_are_those_without_answer() {
    assert_eq!(KINDS[0], "days");
    assert_eq!(KINDS[5], record::UNANSWERED);
    assert_eq!(Queries.length(&Queries.defaults()), Some(5));
    assert_eq!(Program::Index.length(&Program::Index.defaults()), Some(3));
}
