//! What a sorter gives back, from memory and from runs.

use super::{SortSize, Sorter, ties};
use crate::spill::Workspace;
use inia_base::io::MemDisk;

fn workspace(disk: &MemDisk) -> Workspace<'_> {
    Workspace::new(disk, 16 << 20)
}

fn push(sorter: &mut Sorter<'_>, key: &str, row: &str) {
    let put = |text: &str, out: &mut Vec<u8>| {
        out.extend_from_slice(text.as_bytes());
        Ok(())
    };
    sorter.push(|out| put(key, out), |out| put(row, out)).unwrap();
}

fn drain(sorter: Sorter<'_>, distinct: bool) -> Vec<String> {
    let mut rows = Vec::new();
    sorter
        .finish(distinct, |row| {
            rows.push(String::from_utf8(row.to_vec()).unwrap());
            Ok(true)
        })
        .unwrap();
    rows
}

#[test]
fn rows_come_back_by_key_and_ties_by_arrival() {
    let disk = MemDisk::new();
    let mut sorter = Sorter::new(usize::MAX, workspace(&disk));
    for (key, row) in [("b", "1"), ("abcdefghij", "2"), ("a", "3"), ("b", "4"), ("", "5")] {
        push(&mut sorter, key, row);
    }
    assert_eq!(drain(sorter, false), ["5", "3", "2", "1", "4"]);
}

#[test]
fn runs_in_a_file_merge_as_if_all_had_been_in_memory() {
    let disk = MemDisk::new();
    let new = || Sorter::new(usize::MAX, workspace(&disk));
    let (mut spilled, mut plain) = (new(), new());
    for number in 0..3000u64 {
        let key = format!("{:05}", number * 7919 % 1009);
        for sorter in [&mut spilled, &mut plain] {
            push(sorter, &key, &number.to_string());
        }
        if number % 700 == 699 {
            spilled.spill().unwrap();
        }
    }
    assert_eq!(drain(spilled, false), drain(plain, false));
}

#[test]
fn distinct_keeps_the_first_row_of_each_key_across_runs() {
    let disk = MemDisk::new();
    let mut sorter = Sorter::new(usize::MAX, workspace(&disk));
    push(&mut sorter, "a", "1");
    push(&mut sorter, "b", "2");
    sorter.spill().unwrap();
    push(&mut sorter, "a", "3");
    push(&mut sorter, "c", "4");
    assert_eq!(drain(sorter, true), ["1", "2", "4"]);
}

#[test]
fn a_limit_keeps_the_first_rows_only() {
    let disk = MemDisk::new();
    let mut sorter = Sorter::new(3, workspace(&disk));
    for number in (0..1000).rev() {
        push(&mut sorter, &format!("{number:04}"), &number.to_string());
    }
    assert!(sorter.entries.len() <= 128);
    assert_eq!(sorter.total(), 1000);
    assert_eq!(drain(sorter, false)[..3], ["0", "1", "2"]);
}

/// Keys that make every partition of a sort by medians of three as uneven as can be.
fn killer(count: u32) -> Vec<u32> {
    let half = count / 2;
    (0..count)
        .map(|at| match (at < half, at % 2) {
            (true, 0) => at + 1,
            (true, _) => at + half,
            (false, _) => 2 * (at - half + 1),
        })
        .collect()
}

#[test]
fn few_rows_come_in_the_order_of_their_keys_whatever_sorts_them() {
    let mut seed = 7u32;
    let mut random = |most: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % most
    };
    for round in 0..400 {
        let count = 1 + random(300);
        let keys: Vec<u32> = match round % 4 {
            0 => killer(count),
            1 => (0..count).map(|_| random(3)).collect(),
            _ => (0..count).map(|_| random(1000)).collect(),
        };
        let wanted = 1 + random(count) as usize;
        let size = SortSize {
            expected: f64::from(count),
            room: if round % 7 == 0 { 40 } else { 1000 },
            limited: round % 5 != 0,
            varying: round % 3 == 0,
        };
        let less = |a: u32, b: u32| keys[a as usize] < keys[b as usize];
        let order = ties::in_order(keys.len(), wanted, size, &less);
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        let given: Vec<u32> = order.iter().map(|at| keys[*at as usize]).collect();
        assert!(given.len() >= wanted, "all wanted rows come out");
        assert_eq!(given[..wanted], sorted[..wanted], "round {round}, {count} rows");
        let mut places = order;
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), given.len(), "no row comes twice");
    }
}

#[test]
fn a_row_that_takes_the_place_of_the_greatest_comes_before_its_equals() {
    let keys = [1, 0, 0, 0, 0, 0, 0];
    let less = |a: u32, b: u32| keys[a as usize] < keys[b as usize];
    let size = SortSize { expected: 7.0, room: 1000, limited: true, varying: false };
    assert_eq!(ties::in_order(7, 1, size, &less)[..1], [6]);
    assert_eq!(ties::in_order(7, 7, size, &less), [1, 2, 3, 4, 5, 6, 0]);
}
