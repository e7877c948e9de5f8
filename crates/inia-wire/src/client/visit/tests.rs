//! Rows are shown cell by cell, and damaged ones are errors.

use super::{Visitor, kind_of, visit_binary, visit_text};
use crate::testing::Random;

#[derive(Default)]
struct Seen(Vec<String>);

impl Visitor for Seen {
    fn columns(&mut self, _count: usize) {}
    fn null(&mut self) {
        self.0.push("NULL".to_owned());
    }
    fn int(&mut self, value: i64) {
        self.0.push(format!("int {value}"));
    }
    fn double(&mut self, value: f64) {
        self.0.push(format!("double {value}"));
    }
    fn bytes(&mut self, text: &[u8]) {
        self.0.push(String::from_utf8_lossy(text).into_owned());
    }
}

#[test]
fn binary_rows_are_shown_by_type() {
    // The null bitmap's first two bits are unused: bit 4 is the third column's.
    let row = [0, 0b1_0000, 7, 0, 0, 0, 0, 0, 0, 0, 2, b'h', b'i'];
    let mut seen = Seen::default();
    visit_binary(&row, &[8, 253, 8], &mut seen).unwrap();
    assert_eq!(seen.0, ["int 7", "hi", "NULL"]);
}

#[test]
fn only_the_end_of_a_definition_matters() {
    let definition = [b'n', 12, 63, 0, 20, 0, 0, 0, 8, 0x20, 0, 0, 0, 0];
    assert_eq!(kind_of(&definition), Ok(0x8008));
    assert!(kind_of(&definition[..12]).is_err());
}

#[test]
fn damaged_rows_do_not_panic() {
    let (mut random, row) = (Random::new(3), [0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 2, b'h', b'i']);
    for _ in 0..2000 {
        let damaged = random.damage(&row);
        let mut seen = Seen::default();
        let _ = visit_binary(&damaged, &[8, 253, 12], &mut seen);
        let _ = visit_text(&damaged, 3, &mut seen);
        let _ = kind_of(&damaged);
    }
}
