//! What is sent with a prepared statement: no byte more than the usual client libraries send.

use super::{Param, encode};

fn body(params: &[Param<'_>], known: &mut Vec<u8>) -> Vec<u8> {
    let mut out = Vec::new();
    encode(&mut out, params, known);
    out
}

#[test]
fn types_are_sent_once() {
    let mut known = Vec::new();
    let first = body(&[7.into()], &mut known);
    assert_eq!(first, [0, 1, 8, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(body(&[9.into()], &mut known), [0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn a_type_that_changes_is_sent_again_but_null_is_not_a_change() {
    let mut known = Vec::new();
    body(&[7.into(), "a".into()], &mut known);
    assert_eq!(body(&[Param::Null, "b".into()], &mut known), [1, 0, 1, b'b']);
    assert_eq!(body(&["c".into(), "d".into()], &mut known)[..2], [0, 1]);
    assert_eq!(body(&["e".into(), "f".into()], &mut known)[..2], [0, 0]);
}

#[test]
fn without_parameters_there_is_no_body() {
    assert!(body(&[], &mut Vec::new()).is_empty());
}
