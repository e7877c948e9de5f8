//! The log on its own: torn ends, stale bytes, damage, failures, many committers.

use super::block::{BLOCK, BLOCK_PAYLOAD, SegmentHeader};
use super::reader::LogReader;
use super::*;
use crate::store::tests::overwrite;
use inia_base::ids::TxnId;
use inia_base::io::Disk;
use inia_testkit::random::Random;
use inia_testkit::sim_disk::{Fault, SimDisk, When};
use std::sync::Arc;

const SEGMENT: u64 = 8 * BLOCK as u64;

/// Opens the log, checks that it holds exactly these groups, and starts the epoch.
fn open_expecting(disk: &SimDisk, epoch: u32, groups: &[Vec<u8>]) -> Wal {
    let (wal, found) = open(disk, epoch, FIRST_LSN).unwrap();
    assert_eq!(found.len(), groups.len());
    assert!(found == groups);
    wal
}

fn open(disk: &SimDisk, epoch: u32, from: Lsn) -> Result<(Wal, Vec<Vec<u8>>)> {
    let (segments, active) = Segments::open(Arc::new(disk.clone()), SEGMENT, 8 * SEGMENT)?;
    let mut reader = LogReader::new(active, from)?;
    let mut groups = Vec::new();
    while let Some((_, group)) = reader.next_group()? {
        groups.push(group.to_vec());
    }
    let wal = Wal::new(segments, from);
    let end = reader.finish(from, &wal.segments().prepared())?;
    let (used, cut_off) = reader.split_segments();
    wal.segments().settle(used, cut_off)?;
    wal.start(end, epoch);
    Ok((wal, groups))
}

/// A group of `len` bytes in all.
fn group(len: usize, fill: u8) -> Vec<u8> {
    let mut group = vec![fill; len];
    finish_group(&mut group);
    group
}

fn append_durably(wal: &Wal, group: &[u8]) -> Lsn {
    let end = wal.append_group(group, |_| ());
    wal.wait_durable(end).unwrap();
    end
}

/// The file that the log's first segment has on this disk.
fn first_segment(disk: &SimDisk) -> String {
    let mut names = disk.list().unwrap();
    names.sort();
    names[0].clone()
}

fn zero_block(disk: &SimDisk, block: usize) {
    overwrite(disk, &first_segment(disk), (block * BLOCK) as u64, &[0; BLOCK]);
}

#[test]
fn groups_come_back_in_order_across_blocks_and_segments() {
    let disk = SimDisk::new();
    let wal = open_expecting(&disk, 1, &[]);
    let groups: Vec<Vec<u8>> = (0..60u8).map(|i| group(5 + usize::from(i) * 137, i)).collect();
    for (i, bytes) in groups.iter().enumerate() {
        let end = wal.append_group(bytes, |_| ());
        if i % 7 == 0 {
            wal.wait_durable(end).unwrap();
        }
    }
    wal.wait_durable(wal.closed_lsn()).unwrap();
    drop(wal);
    open_expecting(&disk, 2, &groups);
}

#[test]
fn reading_starts_at_any_group() {
    let mut disk = SimDisk::new();
    let wal = open_expecting(&disk, 1, &[]);
    let ends: Vec<Lsn> = (0..40u8).map(|i| append_durably(&wal, &group(1500, i))).collect();
    drop(wal);
    for (i, &from) in ends.iter().enumerate() {
        disk = disk.kill();
        let (_, groups) = open(&disk, i as u32 + 2, from).unwrap();
        assert_eq!(groups.len(), 39 - i);
        assert!(groups.first().is_none_or(|first| first[10] == i as u8 + 1));
    }
}

#[test]
fn a_torn_flush_leaves_its_first_whole_groups() {
    let disk = SimDisk::new();
    let wal = open_expecting(&disk, 1, &[]);
    let synced = group(100, 1);
    append_durably(&wal, &synced);
    let torn: Vec<Vec<u8>> = (2..6).map(|i| group(BLOCK_PAYLOAD - 500, i)).collect();
    for bytes in &torn {
        wal.append_group(bytes, |_| ());
    }
    // All blocks are written, the sync never comes.
    disk.inject(When::Sync(1), Fault::Crash);
    wal.wait_durable(wal.closed_lsn()).unwrap_err();
    drop(wal);
    for seed in 0..200 {
        let after = disk.crash(seed);
        let (wal, found) = open(&after, 2, FIRST_LSN).unwrap();
        assert_eq!(found[0], synced);
        assert!(found[1..].iter().zip(&torn).all(|(found, torn)| found == torn));
        // What is appended now is found behind them, whatever the torn flush left on the disk.
        let mut expected = found;
        for i in 10..14 {
            expected.push(group(BLOCK_PAYLOAD - 500, i));
            append_durably(&wal, &expected[expected.len() - 1]);
        }
        drop(wal);
        open_expecting(&after, 3, &expected);
    }
}

#[test]
fn blocks_of_an_older_epoch_never_continue_a_newer_one() {
    let disk = SimDisk::new();
    let wal = open_expecting(&disk, 1, &[]);
    // One flush of two blocks, of which the first is lost.
    wal.append_group(&group(BLOCK_PAYLOAD, 1), |_| ());
    wal.append_group(&group(100, 2), |_| ());
    wal.wait_durable(wal.closed_lsn()).unwrap();
    drop(wal);
    zero_block(&disk, 1);
    let wal = open_expecting(&disk, 2, &[]);
    // The new block ends where the stale one begins.
    let new = group(BLOCK_PAYLOAD, 3);
    append_durably(&wal, &new);
    drop(wal);
    open_expecting(&disk, 3, &[new]);
}

#[test]
fn a_checkpoint_after_an_unfinished_group_finds_its_way() {
    let disk = SimDisk::new();
    let wal = open_expecting(&disk, 1, &[]);
    let first = group(100, 1);
    wal.append_group(&first, |_| ());
    wal.append_group(&group(3 * BLOCK_PAYLOAD, 2), |_| ());
    wal.wait_durable(wal.closed_lsn()).unwrap();
    drop(wal);
    // The last block of the flush is lost: the second group is unfinished.
    zero_block(&disk, 4);
    let wal = open_expecting(&disk, 2, std::slice::from_ref(&first));
    let checkpoint = append_durably(&wal, &group(50, 3));
    let last = group(60, 4);
    append_durably(&wal, &last);
    drop(wal);
    let disk = disk.kill();
    let (_, found) = open(&disk, 3, checkpoint).unwrap();
    assert!(found == std::slice::from_ref(&last));
    open_expecting(&disk, 4, &[first, group(50, 3), last]);
}

#[test]
fn stale_bytes_of_recycled_segments_never_verify() {
    let disk = SimDisk::new();
    let mut wal = open_expecting(&disk, 1, &[]);
    let mut ends = Vec::new();
    let mut random = Random::new(5);
    let mut checkpoint = FIRST_LSN;
    for round in 0..300u32 {
        let len = 50 + random.below(6000) as usize;
        ends.push(append_durably(&wal, &group(len, round as u8)));
        if random.below(6) == 0 {
            checkpoint = ends[random.below(ends.len() as u64) as usize].max(checkpoint);
            while wal.segments().maintain(checkpoint, 0).unwrap() {}
        }
        if random.below(10) == 0 {
            drop(wal);
            let (opened, found) = open(&disk, round + 2, checkpoint).unwrap();
            wal = opened;
            let newer = ends.iter().filter(|&&end| end > checkpoint).count();
            assert_eq!(found.len(), newer, "round {round}");
        }
    }
    while wal.segments().maintain(wal.closed_lsn(), 0).unwrap() {}
    let files = disk.list().unwrap();
    assert!(files.len() <= 9, "segments are recycled, not piled up: {files:?}");
}

#[test]
fn a_damaged_middle_is_not_taken_for_a_torn_end() {
    for block in 1..4 {
        let disk = SimDisk::new();
        let wal = open_expecting(&disk, 1, &[]);
        for i in 0..5 {
            append_durably(&wal, &group(100, i));
        }
        drop(wal);
        zero_block(&disk, block);
        let error = open(&disk, 2, FIRST_LSN).err().unwrap();
        assert!(matches!(error, StorageError::Unopenable(_)), "{error}");
    }
}

#[test]
fn a_segment_with_a_damaged_header_is_missed() {
    let disk = SimDisk::new();
    let wal = open_expecting(&disk, 1, &[]);
    for i in 0..30 {
        append_durably(&wal, &group(100, i));
    }
    drop(wal);
    let mut names = disk.list().unwrap();
    names.sort();
    assert!(disk.flip_bit(&names[1], 20, 0));
    assert!(matches!(open(&disk, 2, FIRST_LSN), Err(StorageError::Unopenable(_))));
}

#[test]
fn after_a_failed_sync_nothing_is_durable_any_more() {
    let disk = SimDisk::new();
    let wal = open_expecting(&disk, 1, &[]);
    let end = append_durably(&wal, &group(10, 1));
    disk.inject(When::Change(2), Fault::Io);
    for _ in 0..3 {
        let next = wal.append_group(&group(10, 2), |_| ());
        assert!(matches!(wal.wait_durable(next), Err(StorageError::Stopped(_))));
    }
    assert_eq!(wal.durable_lsn(), end);
    wal.wait_durable(end).unwrap();
}

#[test]
fn a_commit_is_published_before_it_is_closed() {
    let wal = open_expecting(&SimDisk::new(), 1, &[]);
    let before = wal.closed_lsn();
    let mut published = Lsn(0);
    let end = wal.append_with(&LogRecord::Commit { txn: TxnId(1) }, |end| {
        assert_eq!(wal.closed_lsn(), before);
        published = end;
    });
    assert_eq!((published, wal.closed_lsn()), (end, end));
}

#[test]
fn many_committers_share_the_syncs() {
    let disk = SimDisk::new();
    let wal = open_expecting(&disk, 1, &[]);
    std::thread::scope(|scope| {
        for txn in 0..16u64 {
            let wal = &wal;
            scope.spawn(move || {
                for i in 0..50 {
                    let end = wal.append(&LogRecord::Commit { txn: TxnId(txn * 100 + i) });
                    wal.wait_durable(end).unwrap();
                    assert!(wal.durable_lsn() >= end);
                }
            });
        }
    });
    assert_eq!(wal.durable_lsn(), wal.closed_lsn());
    drop(wal);
    let (_, groups) = open(&disk, 2, FIRST_LSN).unwrap();
    assert_eq!(groups.len(), 16 * 50);
}

#[test]
fn garbage_is_neither_a_block_nor_a_header() {
    let mut random = Random::new(1);
    let mut block = vec![0; BLOCK];
    assert!(block::read_block(&block).is_none());
    assert!(SegmentHeader::read(&block).is_none());
    for _ in 0..100 {
        block.fill_with(|| random.next_u64() as u8);
        assert!(block::read_block(&block).is_none());
        assert!(SegmentHeader::read(&block).is_none());
        assert!(block::read_block(&block[..random.below(64) as usize]).is_none());
    }
}
