//! The published answers, as far as they can be looked at without a database.
#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn every_query_has_a_published_answer() {
    let rows: Vec<usize> = (1..=22).map(|query| parse(text(query).unwrap()).len()).collect();
    let known = [4, 100, 10, 5, 5, 1, 4, 2, 175, 20, 1048, 2, 42, 1, 1, 0, 1, 57, 1, 186, 100, 7];
    assert_eq!(rows, known, "query 16 is known by its fingerprint");
}

#[test]
fn query_16_is_known_by_its_fingerprint() {
    let rows = parse(answers::Q16_ANSWER);
    assert_eq!((rows.len(), print(&rows)), (ROWS_OF_16, PRINT_OF_16));
    assert_eq!(difference(16, &rows), None);
    let mut turned = rows.clone();
    turned.reverse();
    assert_eq!(difference(16, &turned), None);
    turned[0][3] = Cell::of("5");
    assert!(difference(16, &turned).is_some());
}

#[test]
fn a_cent_more_is_as_published_and_a_dollar_is_not() {
    let mut rows = parse(answers::Q6_ANSWER);
    assert_eq!(rows, [[Cell::of("123141078.23")]]);
    rows[0][0] = Cell::of("123141078.2283");
    assert_eq!(difference(6, &rows), None);
    rows[0][0] = Cell::of("123141079.2283");
    assert_eq!(
        difference(6, &rows).unwrap(),
        "a row (123141079.2283), not (123141078.23) as published"
    );
}

#[test]
fn part_keys_are_published_without_their_last_digits() {
    let key = |key: &str| as_published(11, &[Cell::of(key), Cell::of("1.50")]);
    assert_eq!(key("129760"), [Cell::of("1297"), Cell::of("1.50")]);
    assert_eq!(key("98"), [Cell::of(""), Cell::of("1.50")]);
    assert_eq!(as_published(20, &[Cell::of("  a b")]), [Cell::of("a b")]);
}

#[test]
fn the_exact_sum_of_query_17_is_as_published() {
    assert_eq!(difference(17, &vec![vec![Cell::of("348406.054286")]]), None);
    assert!(difference(17, &vec![vec![Cell::of("348407.02")]]).is_some());
}
