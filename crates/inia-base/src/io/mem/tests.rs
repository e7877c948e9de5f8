//! What no other disk has: pieces, and files of several sorts.

use super::{MemDisk, MemFile, PIECE};
use crate::io::{Disk, DiskFile};

#[test]
fn bytes_come_back_across_pieces() {
    let file = MemDisk::file();
    let at = PIECE as u64 - 3;
    file.write_at(b"abcdefgh", at).unwrap();
    assert_eq!(file.len().unwrap(), at + 8);
    let mut bytes = [1; 10];
    file.read_at(&mut bytes, at - 2).unwrap();
    assert_eq!(&bytes, b"\0\0abcdefgh");
    assert!(file.read_at(&mut bytes, at).is_err(), "behind the end");
    file.set_len(at + 1).unwrap();
    file.set_len(at + 20).unwrap();
    file.read_at(&mut bytes, at).unwrap();
    assert_eq!(&bytes, b"a\0\0\0\0\0\0\0\0\0", "what was cut off is gone");
}

#[test]
fn pieces_that_were_never_written_to_are_zeros() {
    let file = MemDisk::file();
    file.write_at(b"x", 3 * PIECE as u64).unwrap();
    let mut bytes = vec![1; PIECE + 10];
    file.read_at(&mut bytes, PIECE as u64 - 5).unwrap();
    assert!(bytes.iter().all(|byte| *byte == 0));
}

#[test]
fn zeros_take_no_memory_and_replace_what_was_there() {
    let file = MemFile::default();
    file.write_at(&vec![0; 2 * PIECE], 0).unwrap();
    assert_eq!(file.len().unwrap(), 2 * PIECE as u64);
    let taken = |file: &MemFile| file.pieces.read().pieces.iter().flatten().count();
    assert_eq!(taken(&file), 0);
    file.write_at(b"abc", 5).unwrap();
    file.write_at(&[0; 2], 5).unwrap();
    let mut bytes = [1; 4];
    file.read_at(&mut bytes, 5).unwrap();
    assert_eq!((&bytes, taken(&file)), (b"\0\0c\0", 1));
}

#[test]
fn what_a_file_is_may_hang_on_its_name() {
    let disk = MemDisk::of(|name| {
        let file = MemDisk::file();
        file.set_len(name.len() as u64).unwrap();
        file
    });
    assert_eq!(disk.open("four", true).unwrap().len().unwrap(), 4);
    disk.rename("four", "to").unwrap();
    assert_eq!(disk.clone().open("to", false).unwrap().len().unwrap(), 4, "it stays what it is");
    assert_eq!(disk.scratch().unwrap().len().unwrap(), 0);
}

#[test]
fn a_fork_goes_its_own_way() {
    let disk = MemDisk::new();
    let file = disk.open("a", true).unwrap();
    file.write_at(b"before", PIECE as u64 - 3).unwrap();
    let fork = disk.fork().unwrap();
    let forked = fork.open("a", false).unwrap();
    file.write_at(b"B", PIECE as u64 - 3).unwrap();
    forked.write_at(b"E", PIECE as u64 + 2).unwrap();
    fork.open("b", true).unwrap();
    let read = |file: &dyn crate::io::DiskFile| {
        let mut bytes = [0; 6];
        file.read_at(&mut bytes, PIECE as u64 - 3).unwrap();
        bytes
    };
    assert_eq!((&read(&*file), &read(&*forked)), (b"Before", b"beforE"));
    assert!(disk.open("b", false).is_err(), "names, too");
    file.set_len(PIECE as u64 + 1).unwrap();
    assert_eq!(read(&*forked), *b"beforE");
}
