//! The mixing of rows hits each place once, and the sizes of answers follow from it.
#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn every_place_is_taken_once() {
    for rows in [1, 7, 200, 12_345] {
        let mut taken: Vec<u64> = (1..=rows).map(|id| place(id, rows)).collect();
        taken.sort_unstable();
        assert!(taken.iter().copied().eq(0..rows), "{rows} rows");
        let one_by_one = (1..=rows).map(|id| (id, place(id, rows)));
        assert!(places(rows).eq(one_by_one), "{rows} rows");
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

#[test]
fn an_answer_of_a_limit_is_a_part_without_repetitions() {
    let list = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert!(is_part(&list("a c c"), &list("a b c c d")));
    assert!(!is_part(&list("a a"), &list("a b")), "twice what is there once");
    assert!(!is_part(&list("e"), &list("a b")));
}

#[test]
fn what_a_query_answers_is_read_from_its_text() {
    let cells: Vec<Cell> = READS.iter().map(|read| read.cell).collect();
    let count = |cell| cells.iter().filter(|&&other| other == cell).count();
    let all = [Cell::Id, Cell::Name, Cell::State, Cell::City, Cell::Aggregate].map(count);
    assert_eq!(all, [1, 5, 2, 2, 3]);
}
