//! Both disks keep the contract of the traits.

use super::*;

/// A directory of its own under the system's temporary one, removed at the end.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("inia-io-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn contract(disk: &dyn Disk) {
    assert!(disk.open("a", false).is_err());
    let file = disk.open("a", true).unwrap();
    assert!(file.is_empty().unwrap());
    file.write_at(b"hello", 3).unwrap();
    assert_eq!(file.len().unwrap(), 8);
    let mut buf = [9; 8];
    file.read_at(&mut buf, 0).unwrap();
    assert_eq!(&buf, b"\0\0\0hello");
    assert_eq!(file.read_at(&mut buf, 1).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);

    let mut blocks = AlignedBuf::new(3 * DIRECT_ALIGN);
    blocks.fill(7);
    file.write_at(&blocks, DIRECT_ALIGN as u64).unwrap();
    file.sync().unwrap();
    blocks.fill(0);
    file.read_at(&mut blocks, DIRECT_ALIGN as u64).unwrap();
    assert!(blocks.iter().all(|&byte| byte == 7));

    file.set_len(100_000).unwrap();
    let mut end = [1];
    file.read_at(&mut end, 99_999).unwrap();
    assert_eq!((file.len().unwrap(), end), (100_000, [0]));

    disk.open("b", true).unwrap().write_at(b"old", 0).unwrap();
    disk.rename("a", "b").unwrap();
    disk.sync_names().unwrap();
    assert_eq!(disk.list().unwrap(), ["b"]);
    assert_eq!(disk.open("b", false).unwrap().len().unwrap(), 100_000);
    disk.remove("b").unwrap();
    assert!(disk.remove("b").is_err());
}

#[test]
fn a_disk_in_memory_keeps_the_contract() {
    contract(&MemDisk::new());
}

#[test]
fn a_directory_keeps_the_contract() {
    let scratch = Scratch::new("contract");
    contract(&FileDisk::open(&scratch.0).unwrap());
}

#[test]
fn a_directory_is_open_only_once() {
    let scratch = Scratch::new("lock");
    let first = FileDisk::open(&scratch.0).unwrap();
    let second = FileDisk::open(&scratch.0).err().unwrap();
    assert_eq!(second.kind(), io::ErrorKind::ResourceBusy);
    drop(first);
    FileDisk::open(&scratch.0).unwrap();
}

#[test]
fn scratch_files_have_no_names_and_leftovers_go_at_the_next_start() {
    let dir = Scratch::new("scratch");
    let disk = FileDisk::open(&dir.0).unwrap();
    let names = disk.list().unwrap();
    for disk in [&disk as &dyn Disk, &MemDisk::new()] {
        let file = disk.scratch().unwrap();
        file.write_at(b"abc", 5).unwrap();
        let mut buf = [0; 3];
        file.read_at(&mut buf, 5).unwrap();
        assert_eq!(&buf, b"abc");
    }
    assert_eq!(disk.list().unwrap(), names);
    drop(disk);
    std::fs::write(dir.0.join("inia.scratch-7"), "left by a killed program").unwrap();
    assert_eq!(FileDisk::open(&dir.0).unwrap().list().unwrap(), names);
}
