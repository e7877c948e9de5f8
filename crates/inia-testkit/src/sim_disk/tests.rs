//! What survives a crash, and what each fault does.

use super::*;
use std::collections::BTreeSet;

fn read(disk: &SimDisk, name: &str) -> Vec<u8> {
    let file = disk.open(name, false).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

/// A disk with a durable file `f` of `len` bytes of 1.
fn with_durable_file(len: usize) -> (SimDisk, Arc<dyn DiskFile>) {
    let disk = SimDisk::new();
    let file = disk.open("f", true).unwrap();
    file.write_at(&vec![1; len], 0).unwrap();
    file.sync().unwrap();
    disk.sync_names().unwrap();
    (disk, file)
}

#[test]
fn what_was_synced_survives_every_crash() {
    for seed in 0..50 {
        let (disk, file) = with_durable_file(2000);
        file.write_at(&[2; 600], 100).unwrap();
        file.sync().unwrap();
        let after = disk.crash(seed);
        let bytes = read(&after, "f");
        assert_eq!(bytes.len(), 2000);
        assert!(bytes[100..700].iter().all(|&byte| byte == 2));
    }
}

#[test]
fn unsynced_sectors_survive_one_by_one() {
    let mut outcomes = BTreeSet::new();
    for seed in 0..200 {
        let (disk, file) = with_durable_file(4 * SECTOR);
        file.write_at(&[2; 4 * SECTOR], 0).unwrap();
        let bytes = read(&disk.crash(seed), "f");
        let sectors: Vec<usize> = bytes
            .chunks(SECTOR)
            .map(|sector| sector.iter().filter(|&&byte| byte == 2).count())
            .collect();
        outcomes.insert(sectors);
    }
    assert!(outcomes.contains(&vec![0; 4]), "all lost");
    assert!(outcomes.contains(&vec![SECTOR; 4]), "all kept");
    assert!(outcomes.iter().any(|sectors| sectors[0] == 0 && sectors[3] == SECTOR), "out of order");
    assert!(outcomes.iter().flatten().any(|&count| count > 0 && count < SECTOR), "torn");
}

#[test]
fn equal_seeds_crash_equally() {
    let run = |seed| {
        let (disk, file) = with_durable_file(5000);
        file.write_at(&[3; 3000], 1000).unwrap();
        file.set_len(9000).unwrap();
        read(&disk.crash(seed), "f")
    };
    for seed in 0..20 {
        assert_eq!(run(seed), run(seed));
    }
}

#[test]
fn names_survive_only_when_synced() {
    let mut outcomes = BTreeSet::new();
    for seed in 0..100 {
        let (disk, _file) = with_durable_file(10);
        disk.open("new", true).unwrap().sync().unwrap();
        disk.rename("f", "g").unwrap();
        let mut names = disk.crash(seed).list().unwrap();
        names.sort();
        outcomes.insert(names.join(" "));
    }
    let all = ["f", "f new", "g", "g new"].map(String::from);
    assert_eq!(outcomes, all.into_iter().collect());
}

#[test]
fn lengths_survive_only_when_synced() {
    let mut lengths = BTreeSet::new();
    for seed in 0..100 {
        let (disk, file) = with_durable_file(1000);
        file.set_len(5000).unwrap();
        file.write_at(&[2; 100], 7000).unwrap();
        file.set_len(200).unwrap();
        lengths.insert(read(&disk.crash(seed), "f").len());
    }
    assert_eq!(lengths, [200, 1000, 5000, 7100].into_iter().collect());
}

#[test]
fn a_killed_program_loses_nothing_it_wrote() {
    let (disk, file) = with_durable_file(10);
    file.write_at(b"abc", 20).unwrap();
    let after = disk.kill();
    assert_eq!(&read(&after, "f")[20..], b"abc");
    assert!(file.write_at(b"x", 0).is_err(), "the old handle is dead");
    assert!(disk.list().is_err());
}

#[test]
fn a_fault_strikes_one_call() {
    let (disk, file) = with_durable_file(10);
    disk.inject(When::Change(2), Fault::Io);
    file.write_at(b"a", 0).unwrap();
    let error = file.write_at(b"b", 0).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(5));
    file.write_at(b"c", 1).unwrap();
    assert_eq!(&read(&disk, "f")[..2], b"ac");
    disk.inject(When::Read(1), Fault::Io);
    assert!(file.read_at(&mut [0], 0).is_err());
    assert!(file.read_at(&mut [0], 0).is_ok());
}

#[test]
fn a_short_write_stores_its_beginning() {
    let (disk, file) = with_durable_file(4);
    disk.inject(When::Change(1), Fault::ShortWrite);
    assert!(file.write_at(&[9; 4], 0).is_err());
    assert_eq!(read(&disk, "f"), [9, 9, 1, 1]);
}

#[test]
fn after_a_failed_sync_a_good_one_does_not_bring_the_changes_back() {
    let mut lost = false;
    for changes in 0..20 {
        let (disk, file) = with_durable_file(10 * SECTOR);
        for _ in 0..changes {
            file.write_at(&[1], 0).unwrap();
        }
        file.write_at(&[2; 10 * SECTOR], 0).unwrap();
        disk.inject(When::Sync(1), Fault::Io);
        assert!(file.sync().is_err());
        file.sync().unwrap();
        assert!(read(&disk, "f").iter().all(|&byte| byte == 2));
        lost |= read(&disk.crash(0), "f").contains(&1);
    }
    assert!(lost);
}

#[test]
fn a_crash_can_strike_every_change() {
    let workload = |disk: &SimDisk| -> io::Result<()> {
        let file = disk.open("f", true)?;
        file.write_at(b"one", 0)?;
        file.sync()?;
        disk.sync_names()?;
        disk.rename("f", "g")?;
        disk.sync_names()
    };
    let whole = SimDisk::new();
    workload(&whole).unwrap();
    let changes = whole.counts().changes;
    assert_eq!(changes, 6);
    for change in 1..=changes {
        for seed in 0..30 {
            let disk = SimDisk::new();
            disk.inject(When::Change(change), Fault::Crash);
            assert!(workload(&disk).is_err());
            assert!(disk.has_crashed());
            let after = disk.crash(seed);
            for name in after.list().unwrap() {
                let bytes = read(&after, &name);
                assert!(change <= 3 || bytes == b"one", "{change} {seed} {name}");
            }
        }
    }
}

#[test]
fn a_full_disk_refuses_growth_only() {
    let (disk, file) = with_durable_file(100);
    disk.set_capacity(Some(120));
    assert!(file.write_at(&[2; 100], 0).is_ok());
    let error = file.write_at(&[2; 100], 50).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert_eq!(file.set_len(121).unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert!(file.set_len(120).is_ok());
    assert_eq!(disk.file_len("f"), Some(120));
}

#[test]
fn a_flipped_bit_stays() {
    let (disk, _file) = with_durable_file(10);
    assert!(disk.flip_bit("f", 3, 4));
    assert_eq!(read(&disk.crash(0), "f")[3], 1 ^ 16);
    assert!(!disk.kill().flip_bit("f", 10, 0));
}
