//! The mixing of rows hits each place once, and the sizes of answers follow from it.
#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn every_place_is_taken_once() {
    for rows in [1, 7, 200, 12_345] {
        let mut taken: Vec<u64> = (1..=rows).map(|id| place(id, rows)).collect();
        taken.sort_unstable();
        assert!(taken.iter().copied().eq(0..rows), "{rows} rows");
    }
}

#[test]
fn the_size_of_an_answer_is_what_counting_gives() {
    let rows = 23_456;
    for (wanted, from, to) in [(1, 1, 50), (200, 50, 50), (77, 3, 13)] {
        let places = (1..=rows).map(|id| place(id, rows));
        let counted = places
            .filter(|&place| country(place) == wanted && (from..=to).contains(&state(place)))
            .count() as u64;
        assert_eq!(held(rows, wanted, from, to), counted);
    }
    assert_eq!(held(1_000_000, 5, 1, STATES), 5_000);
    assert_eq!(held(1_000_000, 5, 2, 12), 1_100);
}
