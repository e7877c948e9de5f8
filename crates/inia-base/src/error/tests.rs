//! The error table is in order, and messages come out as MySQL words them.

use super::{ErrorCode, Signalled, SqlError};

#[test]
fn the_table_ascends_and_every_number_finds_its_code() {
    assert!(ErrorCode::ALL.is_sorted_by(|a, b| a.number() < b.number()));
    for &code in ErrorCode::ALL {
        assert_eq!(ErrorCode::from_number(code.number()), Some(code));
        assert_eq!(code.sqlstate().len(), 5, "{code:?}");
        assert!(!code.template().contains('%'), "{code:?}");
    }
    assert_eq!(ErrorCode::from_number(999), None);
}

#[test]
fn arguments_fill_the_template_in_order() {
    let error = SqlError::new(ErrorCode::DuplicateEntry, &[&"7", &"t.PRIMARY"]);
    assert_eq!(error.message, "Duplicate entry '7' for key 't.PRIMARY'");
    assert_eq!((error.number(), error.sqlstate()), (1062, "23000"));
    assert_eq!(error.to_string(), "ERROR 1062 (23000): Duplicate entry '7' for key 't.PRIMARY'");
}

#[test]
fn an_argument_may_itself_hold_braces_and_missing_ones_are_empty() {
    let error = SqlError::new(ErrorCode::UnknownColumn, &[&"{}", &"field list"]);
    assert_eq!(error.message, "Unknown column '{}' in 'field list'");
    assert_eq!(SqlError::new(ErrorCode::NoSuchTable, &[]).message, "Table '.' doesn't exist");
}

#[test]
fn a_signalled_error_shows_the_programs_number_and_state() {
    let mut error = SqlError::with_message(ErrorCode::SignalException, "no more stock");
    error.signalled =
        Some(Box::new(Signalled { number: 5000, sqlstate: "45001".into(), items: Vec::new() }));
    assert_eq!(error.to_string(), "ERROR 5000 (45001): no more stock");
}
