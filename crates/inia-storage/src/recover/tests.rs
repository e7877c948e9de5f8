//! Redo repeats what normal running did, bit by bit; doublewrite heals torn pages; damage is
//! reported.

use super::*;
use crate::files::DATA_FILE;
use crate::files::DOUBLEWRITE_FILE;
use crate::store::tests::{Idle, overwrite};
use crate::store::{Latched, Mtr, Store, StoreOptions};
use inia_base::io::Disk;
use inia_testkit::random::Random;
use inia_testkit::sim_disk::{Fault, SimDisk, When};
use std::sync::Arc;

struct Nothing;

impl LogObserver for Nothing {
    fn checkpoint(&mut self, _state: &[u8]) -> Result<()> {
        Ok(())
    }

    fn record(&mut self, _lsn: Lsn, _record: &LogRecord<'_>) -> Result<()> {
        Ok(())
    }
}

/// Notes which transactions have committed.
#[derive(Default)]
struct Commits(Vec<u64>);

impl LogObserver for Commits {
    fn checkpoint(&mut self, _state: &[u8]) -> Result<()> {
        Ok(())
    }

    fn record(&mut self, _lsn: Lsn, record: &LogRecord<'_>) -> Result<()> {
        if let LogRecord::Commit { txn } = record {
            self.0.push(txn.0);
        }
        Ok(())
    }
}

fn open(disk: &SimDisk) -> Result<Arc<Store>> {
    open_observed(disk, &mut Nothing)
}

fn open_observed(disk: &SimDisk, observer: &mut dyn LogObserver) -> Result<Arc<Store>> {
    let options = StoreOptions {
        buffer_pool_size: 256 * PAGE_SIZE as u64,
        log_capacity: 64 << 20,
        segment_size: 1 << 20,
        undo_memory: 1 << 20,
        background: false,
    };
    let store = Store::open(Arc::new(disk.clone()), options, observer)?;
    store.set_checkpoint_source(Arc::new(Idle));
    Ok(store)
}

/// Any operation, on a page of at least 2,000 bytes of room.
fn change(mtr: &mut Mtr<'_>, page: Latched, random: &mut Random) {
    let bytes: Vec<u8> = (0..random.below(900)).map(|_| random.next_u64() as u8).collect();
    let offset = 32 + random.below(15_000) as u16;
    match random.below(5) {
        0 => mtr.apply(page, &PageOp::Init { page_type: 20 + random.below(9) as u8 }),
        1 => {
            let mut copy = PageBuf::new();
            copy.bytes = *mtr.page(page);
            let gap = 100 + random.below(7000) as usize;
            mtr.apply(page, &PageOp::image(&copy.bytes, gap, gap + 5000));
        }
        _ => mtr.apply(page, &PageOp::SetBytes { offset, bytes: &bytes }),
    }
}

/// A page without its checksum, which is filled in only on the way to the disk.
fn contents(store: &Store, id: PageId) -> Vec<u8> {
    store.shared(id).unwrap()[4..].to_vec()
}

#[test]
fn replaying_the_log_gives_the_same_pages_bit_by_bit() {
    for seed in 1..10 {
        let disk = SimDisk::new();
        let mut random = Random::new(seed);
        let store = open(&disk).unwrap();
        let mut pages: Vec<PageId> = Vec::new();
        for _ in 0..80 {
            let mut mtr = store.mtr().unwrap();
            if pages.len() < 20 {
                let page = mtr.allocate(PageId(0), 20).unwrap();
                pages.push(mtr.id(page));
                change(&mut mtr, page, &mut random);
            }
            for _ in 0..random.below(4) {
                let id = pages[random.below(pages.len() as u64) as usize];
                if !mtr.holds(id) {
                    let page = mtr.latch(id).unwrap();
                    change(&mut mtr, page, &mut random);
                    change(&mut mtr, page, &mut random);
                }
            }
            mtr.commit();
        }
        store.wal().wait_durable(store.wal().closed_lsn()).unwrap();
        // No page was written: everything comes from the log.
        let replayed = open(&disk.kill()).unwrap();
        pages.extend([PageId(0), PageId(1)]);
        for &id in &pages {
            assert!(contents(&replayed, id) == contents(&store, id), "page {id}, seed {seed}");
        }
        assert_eq!(replayed.used_pages(), store.used_pages());
    }
}

/// A store with one page, written back, whose text is `text`.
fn store_with_page(disk: &SimDisk, text: &[u8]) -> PageId {
    let store = open(disk).unwrap();
    let mut mtr = store.mtr().unwrap();
    let page = mtr.allocate(PageId(0), 20).unwrap();
    mtr.apply(page, &PageOp::SetBytes { offset: 40, bytes: text });
    let id = mtr.id(page);
    mtr.commit();
    store.close().unwrap();
    // Once more, as a page that existed before the checkpoint: this time through the doublewrite
    // file.
    let mut mtr = store.mtr().unwrap();
    let page = mtr.latch(id).unwrap();
    mtr.apply(page, &PageOp::SetBytes { offset: 60, bytes: text });
    mtr.commit();
    store.close().unwrap();
    id
}

#[test]
fn a_page_torn_in_its_place_is_restored_from_its_copy() {
    let disk = SimDisk::new();
    let id = store_with_page(&disk, b"copied");
    let store = open(&disk).unwrap();
    set_text(&store, id, b"copied");
    let dirty = store.pool_for_tests().dirty_frames(Lsn(u64::MAX), 10);
    assert_eq!(store.pool_for_tests().write_back(&dirty).unwrap(), 1);
    drop(store);
    let disk = disk.kill();
    overwrite(&disk, DATA_FILE, page_offset(id) + 512, &[0xee; 2048]);
    let store = open(&disk).unwrap();
    assert_eq!(&store.shared(id).unwrap()[40..46], b"copied");
    assert_eq!(&store.shared(id).unwrap()[60..66], b"copied");
}

#[test]
fn damage_that_nothing_can_repair_is_reported_and_does_not_touch_other_pages() {
    let disk = SimDisk::new();
    let first = store_with_page(&disk, b"first");
    let second = store_with_page(&disk, b"second");
    overwrite(&disk, DATA_FILE, page_offset(first) + 512, &[0xee; 512]);
    overwrite(&disk, DOUBLEWRITE_FILE, 0, &vec![0; WRITE_BATCH * PAGE_SIZE]);
    let store = open(&disk).unwrap();
    assert!(matches!(store.shared(first), Err(StorageError::Corrupt(..))));
    assert_eq!(&store.shared(second).unwrap()[40..46], b"second");
}

#[test]
fn both_control_blocks_lost_is_not_taken_for_a_new_store() {
    let disk = SimDisk::new();
    store_with_page(&disk, b"here");
    overwrite(&disk, "inia.control", 0, &[0; 8192]);
    assert!(matches!(open(&disk), Err(StorageError::Unopenable(_))));
}

#[test]
fn one_control_block_lost_costs_nothing() {
    for block in 0..2 {
        let disk = SimDisk::new();
        let id = store_with_page(&disk, b"here");
        let store = open(&disk).unwrap();
        store.close().unwrap();
        store.checkpoint().unwrap();
        drop(store);
        overwrite(&disk, "inia.control", block * 4096, &[0; 4096]);
        assert_eq!(&open(&disk).unwrap().shared(id).unwrap()[40..44], b"here");
    }
}

#[test]
fn a_log_whose_durable_end_is_gone_is_refused() {
    let disk = SimDisk::new();
    store_with_page(&disk, b"here");
    let mut logs: Vec<String> =
        disk.list().unwrap().into_iter().filter(|name| name.starts_with("wal-")).collect();
    logs.sort();
    let len = disk.file_len(&logs[0]).unwrap();
    overwrite(&disk, &logs[0], 4096, &vec![0; len as usize - 4096]);
    assert!(matches!(open(&disk), Err(StorageError::Unopenable(_))));
}

fn file(disk: &SimDisk, name: &str) -> Vec<u8> {
    let file = disk.open(name, false).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

/// Few frames, so that pages are written back while the log is still being read.
#[test]
fn a_page_that_a_change_does_not_fit_is_left_as_it_was() {
    let disk = SimDisk::new();
    let id = store_with_page(&disk, b"here");
    let store = open(&disk).unwrap();
    let before = page_lsn(&store.shared(id).unwrap());
    let mut mtr = store.mtr().unwrap();
    let page = mtr.latch(id).unwrap();
    mtr.apply(page, &PageOp::SetBytes { offset: 100, bytes: b"first" });
    mtr.apply(page, &PageOp::SetBytes { offset: 16_380, bytes: b"too long" });
    mtr.commit();
    for _ in 0..60 {
        let mut mtr = store.mtr().unwrap();
        mtr.allocate(PageId(0), 20).unwrap();
        mtr.log(&LogRecord::Commit { txn: inia_base::ids::TxnId(1) });
        mtr.commit();
    }
    store.wal().wait_durable(store.wal().closed_lsn()).unwrap();
    let disk = disk.kill();
    let options = StoreOptions { buffer_pool_size: 0, ..StoreOptions::new(0, false) };
    let error = Store::open(Arc::new(disk.clone()), options, &mut Nothing).err().unwrap();
    assert!(matches!(error, StorageError::Corrupt(damaged, _) if damaged == id), "{error}");
    let data = file(&disk, DATA_FILE);
    let page: &[u8; PAGE_SIZE] = data[page_offset(id) as usize..].first_chunk().unwrap();
    assert_eq!(page_lsn(page), before);
    assert_eq!(page[100..105], [0; 5]);
}

/// Changes the page and makes that durable in the log.
fn set_text(store: &Store, id: PageId, text: &[u8]) {
    let mut mtr = store.mtr().unwrap();
    let page = mtr.latch(id).unwrap();
    mtr.apply(page, &PageOp::SetBytes { offset: 40, bytes: text });
    let end = mtr.commit();
    store.wal().wait_durable(end).unwrap();
}

#[test]
fn a_data_file_from_before_the_last_checkpoint_is_refused() {
    let disk = SimDisk::new();
    let id = store_with_page(&disk, b"older");
    let old = file(&disk, DATA_FILE);
    let store = open(&disk).unwrap();
    set_text(&store, id, b"newer");
    store.close().unwrap();
    drop(store);
    overwrite(&disk, DATA_FILE, 0, &old);
    let error = open(&disk).err().unwrap();
    assert!(error.to_string().starts_with("inia.data is from earlier"), "{error}");
}

#[test]
fn a_data_file_from_after_the_last_checkpoint_is_as_good_as_any() {
    let disk = SimDisk::new();
    let id = store_with_page(&disk, b"older");
    let store = open(&disk).unwrap();
    let old = file(&disk, DATA_FILE);
    set_text(&store, id, b"newer");
    drop(store);
    overwrite(&disk, DATA_FILE, 0, &old);
    assert_eq!(&open(&disk).unwrap().shared(id).unwrap()[40..45], b"newer");
}

/// The header has the checkpoint's number, the control file has not: the next one needs another.
#[test]
fn no_two_checkpoints_have_the_same_number() {
    let disk = SimDisk::new();
    let id = store_with_page(&disk, b"older");
    let store = open(&disk).unwrap();
    store.pool_for_tests().number_header().unwrap();
    let old = file(&disk, DATA_FILE);
    drop(store);
    let disk = disk.kill();
    let store = open(&disk).unwrap();
    set_text(&store, id, b"newer");
    store.close().unwrap();
    drop(store);
    overwrite(&disk, DATA_FILE, 0, &old);
    assert!(matches!(open(&disk), Err(StorageError::Unopenable(_))));
}

/// Pages that are there before the checkpoint, all with the same text.
fn store_with_pages(disk: &SimDisk, count: usize, text: &[u8]) -> Vec<PageId> {
    let pages: Vec<PageId> = (0..count).map(|_| store_with_page(disk, text)).collect();
    let store = open(disk).unwrap();
    for &id in &pages {
        set_text(&store, id, text);
    }
    store.close().unwrap();
    pages
}

/// Of the last page, the file of copies has the version of a larger batch before the checkpoint.
#[test]
fn a_copy_that_lacks_what_the_log_has_no_longer_replaces_no_damaged_page() {
    let disk = SimDisk::new();
    let pages = store_with_pages(&disk, 5, b"older");
    let last = pages[4];
    let store = open(&disk).unwrap();
    set_text(&store, last, b"newer");
    store.close().unwrap();
    drop(store);
    let copies = file(&disk, DOUBLEWRITE_FILE);
    let is_old = |copy: &&[u8]| copy[4..8] == last.0.to_le_bytes() && copy[40..45] == *b"older";
    assert!(copies.chunks(PAGE_SIZE).any(|copy| is_old(&copy)), "no old copy is left");
    overwrite(&disk, DATA_FILE, page_offset(last) + 512, &[0xee; 512]);
    let store = open(&disk).unwrap();
    assert!(matches!(store.shared(last), Err(StorageError::Corrupt(..))));
    assert_eq!(&store.shared(pages[0]).unwrap()[40..45], b"older");
}

/// Appends a group with one page operation, as no mini-transaction makes it.
fn append_change(store: &Store, id: PageId, op: &PageOp<'_>) {
    let mut group = Vec::new();
    crate::wal::begin_group(&mut group);
    op.encode(id, &mut group);
    crate::wal::finish_group(&mut group);
    let end = store.wal().append_group(&group, |_| ());
    store.wal().wait_durable(end).unwrap();
}

#[test]
fn a_page_in_no_group_does_not_make_the_file_longer() {
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    let far = PageId(3 * GROUP_PAGES + 7);
    append_change(&store, far, &PageOp::Init { page_type: 20 });
    drop(store);
    let disk = disk.kill();
    let before = disk.file_len(DATA_FILE);
    let error = open(&disk).err().unwrap();
    assert!(matches!(error, StorageError::Corrupt(page, _) if page == far), "{error}");
    assert_eq!(disk.file_len(DATA_FILE), before);
}

/// Nothing could be written back any more: the log never becomes as long as the page says it was.
#[test]
fn a_page_newer_than_the_log_is_refused_whether_the_log_has_changes_of_it_or_not() {
    for changed in [false, true] {
        let disk = SimDisk::new();
        let id = store_with_page(&disk, b"older");
        let store = open(&disk).unwrap();
        if changed {
            set_text(&store, id, b"newer");
        }
        drop(store);
        let disk = disk.kill();
        let data = file(&disk, DATA_FILE);
        let mut page = PageBuf::new();
        page.bytes.copy_from_slice(&data[page_offset(id) as usize..][..PAGE_SIZE]);
        set_page_lsn(&mut page.bytes, Lsn(1 << 50));
        crate::page::seal(&mut page.bytes);
        overwrite(&disk, DATA_FILE, page_offset(id), &page.bytes);
        let read = open(&disk).and_then(|store| store.shared(id).map(|_| ()));
        let error = read.err().unwrap();
        assert!(matches!(error, StorageError::Corrupt(page, _) if page == id), "{error}");
    }
}

fn reseal(block: &mut [u8]) {
    let crc = crc32c::crc32c(&block[4..]);
    block[..4].copy_from_slice(&crc.to_le_bytes());
}

/// A group that seems to go on to the log's end must not swallow what was committed after it.
#[test]
fn a_group_that_ends_beyond_what_was_durable_is_damage() {
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    let starts: Vec<u64> = (0..4)
        .map(|_| {
            let start = store.wal().closed_lsn();
            let mut mtr = store.mtr().unwrap();
            mtr.allocate(PageId(0), 20).unwrap();
            mtr.log(&LogRecord::Commit { txn: inia_base::ids::TxnId(1) });
            let end = mtr.commit();
            store.wal().wait_durable(end).unwrap();
            start.0
        })
        .collect();
    drop(store);
    let disk = disk.kill();
    let name = crate::wal::segment::segment_name(1);
    let mut log = file(&disk, &name);
    let block = log.chunks_mut(4096).find(|b| b[8..16] == starts[1].to_le_bytes()).unwrap();
    block[32..36].copy_from_slice(&100_000_u32.to_le_bytes());
    reseal(block);
    overwrite(&disk, &name, 0, &log);
    let error = open(&disk).err().unwrap();
    assert!(error.to_string().contains("is not whole"), "{error}");
}

#[test]
fn a_checkpoint_beyond_the_log_is_refused() {
    // The position alone, and with what was durable.
    for fields in [32..40, 32..48] {
        let disk = SimDisk::new();
        store_with_page(&disk, b"here");
        let mut control = file(&disk, "inia.control");
        for block in control.chunks_mut(4096) {
            for field in fields.clone().step_by(8) {
                block[field..field + 8].copy_from_slice(&(1_u64 << 50).to_le_bytes());
            }
            reseal(block);
        }
        overwrite(&disk, "inia.control", 0, &control);
        assert!(matches!(open(&disk), Err(StorageError::Unopenable(_))));
    }
}

/// A sync fails; the program ends and starts again on what the system still shows; then the
/// machine stops. `until_then` runs in the second life.
fn shows_the_same_after_a_crash(failing: When, until_then: impl Fn(&SimDisk, &Store)) {
    for seed in 1..30 {
        let disk = SimDisk::new();
        let id = store_with_page(&disk, b"older");
        // What a failed sync loses depends on how many calls there were before.
        let other = disk.open("other", true).unwrap();
        (0..seed).for_each(|len| other.set_len(len).unwrap());
        let store = open(&disk).unwrap();
        let mut mtr = store.mtr().unwrap();
        let page = mtr.latch(id).unwrap();
        mtr.apply(page, &PageOp::SetBytes { offset: 40, bytes: b"newer" });
        // In another sector, so that the page can be torn.
        mtr.apply(page, &PageOp::SetBytes { offset: 9000, bytes: b"newer" });
        let end = mtr.commit();
        disk.inject(failing, Fault::Io);
        let dirty = store.pool_for_tests().dirty_frames(Lsn(u64::MAX), 10);
        let written = store
            .wal()
            .wait_durable(end)
            .and_then(|()| store.pool_for_tests().write_back(&dirty).map(|_| ()));
        assert!(written.is_err(), "{failing:?} has met nothing");
        drop(store);
        let disk = disk.kill();
        let store = open(&disk).unwrap();
        let shown = store.shared(id).unwrap()[40..45].to_vec();
        assert_eq!(shown, b"newer");
        until_then(&disk, &store);
        drop(store);
        let store = open(&disk.crash(seed)).unwrap();
        assert_eq!(store.shared(id).unwrap()[40..45], shown, "seed {seed}");
    }
}

#[test]
fn what_was_read_of_the_log_after_a_failed_sync_is_durable_afterwards() {
    shows_the_same_after_a_crash(When::Sync(1), |_, _| ());
}

#[test]
fn a_page_that_was_read_after_a_failed_sync_is_written_again_before_its_log_goes() {
    shows_the_same_after_a_crash(When::Sync(3), |_, store| {
        store.background_step().unwrap();
        store.checkpoint().unwrap();
        store.checkpoint().unwrap();
    });
}

/// The page is whole as long as the system has it in memory. Its copy is the only thing that says
/// what a crash has torn.
#[test]
fn a_page_that_was_read_after_a_failed_sync_is_written_again_before_its_copy_goes() {
    shows_the_same_after_a_crash(When::Sync(3), |disk, _| {
        overwrite(disk, DOUBLEWRITE_FILE, 0, &vec![0; WRITE_BATCH * PAGE_SIZE]);
    });
}

/// A record of a transaction changes no page: all pages are clean up to the log's very end.
#[test]
fn a_checkpoint_is_not_ahead_of_what_the_log_has_on_disk() {
    for seed in 1..6 {
        let disk = SimDisk::new();
        let id = store_with_page(&disk, b"kept");
        let store = open(&disk).unwrap();
        for _ in 0..2 {
            store.wal().append(&LogRecord::Commit { txn: inia_base::ids::TxnId(7) });
            store.checkpoint().unwrap();
        }
        drop(store);
        let store = open(&disk.crash(seed)).unwrap();
        assert_eq!(&store.shared(id).unwrap()[40..44], b"kept");
    }
}

/// What the disk has of the pages is not known then, and memory no longer says what it lacks.
#[test]
fn a_failed_write_back_ends_all_writing_until_the_next_start() {
    // The copies, their sync, the places, their sync.
    for call in 1..=4 {
        let disk = SimDisk::new();
        let id = store_with_page(&disk, b"older");
        let store = open(&disk).unwrap();
        set_text(&store, id, b"newer");
        disk.inject(When::Change(call), Fault::Io);
        let dirty = store.pool_for_tests().dirty_frames(Lsn(u64::MAX), 10);
        assert!(store.pool_for_tests().write_back(&dirty).is_err(), "call {call}");
        assert!(store.mtr().is_err() && store.checkpoint().is_err(), "call {call}");
        drop(store);
        let store = open(&disk.crash(call)).unwrap();
        assert_eq!(&store.shared(id).unwrap()[40..45], b"newer", "call {call}");
    }
}

/// Two blocks were written at once, and only the second has come through. What is written in place
/// of the first after the crash ends just where the second begins.
#[test]
fn what_a_torn_write_has_left_does_not_continue_what_is_written_there_later() {
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    let start = store.wal().closed_lsn();
    store.wal().wait_durable(start).unwrap();
    let body = vec![7; crate::wal::block::BLOCK_PAYLOAD - GROUP_HEADER - 5];
    let one_block = LogRecord::Other { tag: 100, body: &body };
    store.wal().append(&one_block);
    let end = store.wal().append(&LogRecord::Commit { txn: inia_base::ids::TxnId(9) });
    store.wal().wait_durable(end).unwrap();
    drop(store);
    let disk = disk.kill();
    let name = crate::wal::segment::segment_name(1);
    let is_first = |block: &[u8]| block[8..16] == start.0.to_le_bytes();
    let first = file(&disk, &name).chunks(4096).position(is_first).unwrap();
    overwrite(&disk, &name, first as u64 * 4096, &[0; 4096]);

    let store = open(&disk).unwrap();
    let end = store.wal().append(&one_block);
    store.wal().wait_durable(end).unwrap();
    drop(store);
    let mut found = Commits::default();
    open_observed(&disk.kill(), &mut found).unwrap();
    assert_eq!(found.0, [], "its commit was not acknowledged");
}
