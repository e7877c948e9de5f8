//! Which answers are one, and which are not.
#![allow(clippy::unwrap_used)]

use super::*;

fn rows(text: &str) -> Lines {
    text.lines().map(|line| line.split('|').map(Cell::of).collect()).collect()
}

fn agree(a: &str, b: &str) -> bool {
    difference(&rows(a), &rows(b), 0.0).is_none()
}

#[test]
fn a_number_is_the_same_however_it_is_written() {
    assert!(agree("17|A", "17.00|A"));
    assert!(agree("-0.50|A ", "-0.5|A"));
    assert!(!agree("17.01", "17.00"));
    assert!(!agree("1000000007", "1000000008"));
}

#[test]
fn quotients_agree_to_the_last_digit_that_both_have() {
    assert!(agree("25.522006", "25.5220058532573"));
    assert!(!agree("25.522006", "25.5220158532573"));
    assert!(!agree("25.5220", "25.5221"), "four digits are those of an exact product");
}

#[test]
fn floating_point_sums_may_be_rounded() {
    let double = vec![vec![Cell::Number(55_909_065_222.827_7, None)]];
    assert_eq!(difference(&rows("55909065222.827692"), &double, 0.0), None);
    let other = vec![vec![Cell::Number(55_909_065_322.8, None)]];
    assert!(difference(&rows("55909065222.827692"), &other, 0.0).is_some());
}

#[test]
fn rows_are_sets_but_none_may_be_missing() {
    assert!(agree("a|1\nb|2", "b|2\na|1"));
    assert!(!agree("a|1\na|1", "a|1\nb|2"));
    assert_eq!(difference(&rows("a"), &rows("a\na"), 0.0).unwrap(), "1 rows, not 2");
}

#[test]
fn phones_dates_and_texts_are_no_numbers() {
    assert_eq!(Cell::of("13-761-547-5974"), Cell::Text("13-761-547-5974".to_owned()));
    assert_eq!(Cell::of("1995-03-15"), Cell::Text("1995-03-15".to_owned()));
    assert_eq!(Cell::of("inf"), Cell::Text("inf".to_owned()));
    assert_eq!(Cell::of(""), Cell::Text(String::new()));
}

#[test]
fn an_answer_stands_in_the_order_it_was_asked_for() {
    let answer = rows("9|a\n7|b\n7|a");
    assert_eq!(ordered(&answer, &[(0, true)]), Ok(()));
    assert_eq!(ordered(&answer, &[(0, true), (1, false)]), Err(2));
    assert_eq!(ordered(&answer, &[(1, false)]), Err(2));
}

#[test]
fn the_first_target_answers_for_all() {
    let answers = Agreement::default();
    assert_eq!(answers.differs("q", "mysql", &rows("1|a")), None);
    assert_eq!(answers.differs("q", "inia", &rows("1.0|a")), None);
    let found = answers.differs("q", "inia", &rows("2|a")).unwrap();
    assert_eq!(found, "a row (2, 'a'), not (1, 'a') on mysql");
}
