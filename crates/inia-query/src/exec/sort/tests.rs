//! What a sorter gives back, from memory and from runs.

use super::Sorter;
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
