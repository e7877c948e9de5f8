//! Mini-transactions on a store in memory: what is committed is there again after a reopening.

mod crash;

use super::*;
use crate::ops::PageOp;
use crate::wal::record::LogRecord;
use inia_base::io::MemDisk;
use inia_testkit::sim_disk::{Fault, SimDisk, When};

/// A page type of these tests.
const TEST_PAGE: u8 = 99;

/// Remembers the records that recovery found.
#[derive(Default)]
struct Records(Vec<(Lsn, u64)>);

impl LogObserver for Records {
    fn checkpoint(&mut self, _state: &[u8]) -> Result<()> {
        Ok(())
    }

    fn record(&mut self, lsn: Lsn, record: &LogRecord<'_>) -> Result<()> {
        if let LogRecord::Commit { txn } = record {
            self.0.push((lsn, txn.0));
        }
        Ok(())
    }
}

/// Transactions that need no log for rollback.
pub(crate) struct Idle;

impl CheckpointSource for Idle {
    fn hold_lsn(&self) -> Option<Lsn> {
        None
    }

    fn state(&self) -> Vec<u8> {
        b"idle".to_vec()
    }
}

/// Changes bytes behind the store's back.
pub(crate) fn overwrite(disk: &dyn Disk, name: &str, offset: u64, bytes: &[u8]) {
    let file = disk.open(name, false).unwrap();
    file.write_at(bytes, offset).unwrap();
    file.sync().unwrap();
}

fn options(frames: u64) -> StoreOptions {
    StoreOptions {
        buffer_pool_size: frames * PAGE_SIZE as u64,
        log_capacity: 4 << 20,
        segment_size: 1 << 20,
        undo_memory: 1 << 20,
        background: false,
    }
}

fn open(disk: &MemDisk, frames: u64) -> Arc<Store> {
    Store::open(Arc::new(disk.clone()), options(frames), &mut Records::default()).unwrap()
}

fn open_idle(disk: &MemDisk, frames: u64) -> Arc<Store> {
    let store = open(disk, frames);
    store.set_checkpoint_source(Arc::new(Idle));
    store
}

/// Allocates a page and writes `text` into it.
fn add_page(store: &Store, text: &[u8]) -> PageId {
    let mut mtr = store.mtr().unwrap();
    let page = mtr.allocate(PageId(0), TEST_PAGE).unwrap();
    mtr.apply(page, &PageOp::SetBytes { offset: 40, bytes: text });
    let id = mtr.id(page);
    mtr.commit();
    id
}

fn text(store: &Store, id: PageId, len: usize) -> Vec<u8> {
    store.shared(id).unwrap()[40..40 + len].to_vec()
}

#[test]
fn a_new_store_gives_out_its_first_free_page_first() {
    let store = open(&MemDisk::new(), 64);
    assert_eq!(add_page(&store, b"x"), FIRST_FREE_PAGE);
}

#[test]
fn durable_changes_survive_without_any_page_written() {
    let disk = MemDisk::new();
    let store = open(&disk, 64);
    let id = add_page(&store, b"kept");
    store.wal().wait_durable(store.wal().closed_lsn()).unwrap();
    add_page(&store, b"lost");
    drop(store);
    let store = open(&disk, 64);
    assert_eq!(text(&store, id, 4), b"kept");
    assert_eq!(store.used_pages(), 3);
    assert_eq!(add_page(&store, b"next"), PageId(3));
}

#[test]
fn a_closed_store_opens_again_from_its_pages() {
    let disk = MemDisk::new();
    let store = open_idle(&disk, 64);
    let id = add_page(&store, b"closed");
    store.close().unwrap();
    drop(store);
    assert_eq!(text(&open(&disk, 64), id, 6), b"closed");
}

#[test]
fn a_data_set_far_larger_than_the_pool_works() {
    let disk = MemDisk::new();
    let store = open_idle(&disk, 16);
    let pages: Vec<PageId> = (0..300u32).map(|i| add_page(&store, &i.to_le_bytes())).collect();
    for round in 0..3 {
        for (i, &id) in pages.iter().enumerate() {
            assert_eq!(text(&store, id, 4), (i as u32).to_le_bytes(), "round {round}");
        }
    }
    store.wal().wait_durable(store.wal().closed_lsn()).unwrap();
    drop(store);
    let store = open(&disk, 16);
    for (i, &id) in pages.iter().enumerate() {
        assert_eq!(text(&store, id, 4), (i as u32).to_le_bytes());
    }
}

#[test]
fn a_full_disk_is_an_error_before_anything_is_changed() {
    let disk = SimDisk::new();
    let store = Store::open(Arc::new(disk.clone()), options(64), &mut Records::default()).unwrap();
    let first = add_page(&store, b"first");
    disk.set_capacity(Some(0));
    let mut full = 0;
    for _ in 0..200 {
        let mtr = store.mtr();
        match mtr.and_then(|mut mtr| mtr.allocate(first, TEST_PAGE).map(|page| (mtr, page))) {
            Ok((mut mtr, page)) => {
                mtr.apply(page, &PageOp::SetBytes { offset: 40, bytes: b"fits" });
                mtr.commit();
            }
            Err(StorageError::DiskFull) => full += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(full > 0);
    // What is there can still be changed for the better, and space helps.
    let mut mtr = store.mtr_for_rollback().unwrap();
    let page = mtr.latch(first).unwrap();
    mtr.free(page).unwrap();
    let end = mtr.commit();
    store.wal().wait_durable(end).unwrap();
    disk.set_capacity(None);
    let id = add_page(&store, b"again");
    assert_eq!(text(&store, id, 5), b"again");
    store.close().unwrap();
}

#[test]
fn a_failed_write_stops_the_store_but_not_its_readers() {
    let disk = SimDisk::new();
    let store = Store::open(Arc::new(disk.clone()), options(64), &mut Records::default()).unwrap();
    let id = add_page(&store, b"kept");
    store.wal().wait_durable(store.wal().closed_lsn()).unwrap();
    add_page(&store, b"lost");
    disk.inject(When::Change(1), Fault::Io);
    assert!(matches!(
        store.wal().wait_durable(store.wal().closed_lsn()),
        Err(StorageError::Stopped(_))
    ));
    assert!(matches!(store.mtr().err(), Some(StorageError::Stopped(_))));
    assert!(store.close().is_err());
    assert_eq!(text(&store, id, 4), b"kept");
    drop(store);
    let store = Store::open(Arc::new(disk.kill()), options(64), &mut Records::default()).unwrap();
    assert_eq!(text(&store, id, 4), b"kept");
}

#[test]
fn an_allocation_not_committed_is_given_back() {
    let store = open(&MemDisk::new(), 64);
    let used = store.used_pages();
    let mut mtr = store.mtr().unwrap();
    let first = mtr.allocate(PageId(0), TEST_PAGE).unwrap();
    let first = mtr.id(first);
    mtr.allocate(PageId(0), TEST_PAGE).unwrap();
    drop(mtr);
    assert_eq!(store.used_pages(), used);
    assert_eq!(add_page(&store, b"x"), first);
}

#[test]
fn a_page_freed_is_free_only_after_the_commit() {
    let store = open(&MemDisk::new(), 64);
    let (first, second) = (add_page(&store, b"a"), add_page(&store, b"b"));
    let mut mtr = store.mtr().unwrap();
    let page = mtr.latch(first).unwrap();
    mtr.free(page).unwrap();
    let new = mtr.allocate(PageId(0), TEST_PAGE).unwrap();
    assert!(mtr.id(new) > second);
    mtr.commit();
    assert_eq!(add_page(&store, b"c"), first);
    let mut mtr = store.mtr().unwrap();
    let page = mtr.latch(PageId(9)).err();
    assert!(page.is_some(), "page 9 was never made");
    let made = mtr.allocate(PageId(0), TEST_PAGE).unwrap();
    mtr.free(made).unwrap();
    assert!(mtr.free(made).is_err());
    mtr.commit();
}

#[test]
fn checkpoints_keep_the_log_short_while_a_holder_keeps_it_long() {
    struct Holder(AtomicU64);
    impl CheckpointSource for Holder {
        fn hold_lsn(&self) -> Option<Lsn> {
            Some(Lsn(self.0.load(crate::sync::Ordering::Relaxed)))
        }
        fn state(&self) -> Vec<u8> {
            b"state".to_vec()
        }
    }
    let disk = MemDisk::new();
    let store = open(&disk, 64);
    let holder = Arc::new(Holder(AtomicU64::new(store.wal().closed_lsn().0)));
    let source: Arc<dyn CheckpointSource> = Arc::clone(&holder) as Arc<dyn CheckpointSource>;
    store.set_checkpoint_source(source);
    let id = add_page(&store, b"x");
    let work = || {
        for round in 0..800u32 {
            let mut mtr = store.mtr().unwrap();
            let page = mtr.latch(id).unwrap();
            let bytes = [round as u8; 12_000];
            mtr.apply(page, &PageOp::SetBytes { offset: 100, bytes: &bytes });
            mtr.commit();
        }
    };
    let logs = || disk.list().unwrap().iter().filter(|name| name.starts_with("wal-")).count();
    work();
    assert!(logs() >= 9, "everything is kept: {}", logs());
    holder.0.store(u64::MAX, crate::sync::Ordering::Relaxed);
    work();
    while store.background_step().unwrap() {}
    assert!(logs() <= 8, "the log is as long as it may be: {}", logs());
}

#[test]
fn writers_and_the_background_share_a_small_pool() {
    let disk = MemDisk::new();
    let options = StoreOptions { background: true, log_capacity: 1 << 20, ..options(24) };
    let store = Store::open(Arc::new(disk.clone()), options, &mut Records::default()).unwrap();
    store.set_checkpoint_source(Arc::new(Idle));
    let pages: Vec<PageId> = (0..80).map(|_| add_page(&store, &[0; 8])).collect();
    std::thread::scope(|scope| {
        for thread in 0..4usize {
            let (store, pages) = (&store, &pages);
            scope.spawn(move || {
                for i in 0..400usize {
                    let mut mtr = store.mtr().unwrap();
                    let mut chosen = [i % 80, (i * 3 + thread) % 80];
                    chosen.sort_unstable();
                    for index in chosen.into_iter().collect::<std::collections::BTreeSet<_>>() {
                        let page = mtr.latch(pages[index]).unwrap();
                        let count = u64::from_le_bytes(mtr.page(page)[40..48].try_into().unwrap());
                        let bytes = (count + 1).to_le_bytes();
                        mtr.apply(page, &PageOp::SetBytes { offset: 40, bytes: &bytes });
                        let ballast = [i as u8; 1500];
                        mtr.apply(page, &PageOp::SetBytes { offset: 200, bytes: &ballast });
                    }
                    let end = mtr.commit();
                    if i % 10 == 0 {
                        store.wal().wait_durable(end).unwrap();
                    }
                }
            });
        }
    });
    let total = |store: &Store| -> u64 {
        pages.iter().map(|&id| u64::from_le_bytes(text(store, id, 8).try_into().unwrap())).sum()
    };
    let before = total(&store);
    assert!(before > 4 * 400);
    store.close().unwrap();
    drop(store);
    assert_eq!(total(&open_small(&disk)), before);
}

fn open_small(disk: &MemDisk) -> Arc<Store> {
    open(disk, 24)
}

#[test]
fn a_directory_serves_as_well_as_memory() {
    let path = std::env::temp_dir().join(format!("inia-store-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    let open = || {
        let disk = Arc::new(inia_base::io::FileDisk::open(&path).unwrap());
        let options = StoreOptions::new(32 * PAGE_SIZE as u64, true);
        let store = Store::open(disk, options, &mut Records::default()).unwrap();
        store.set_checkpoint_source(Arc::new(Idle));
        store
    };
    let store = open();
    let pages: Vec<PageId> = (0..100u32).map(|i| add_page(&store, &i.to_le_bytes())).collect();
    store.wal().wait_durable(store.wal().closed_lsn()).unwrap();
    store.stop_background();
    drop(store);
    for clean in [false, true] {
        let store = open();
        for (i, &id) in pages.iter().enumerate() {
            assert_eq!(text(&store, id, 4), (i as u32).to_le_bytes(), "clean: {clean}");
        }
        store.close().unwrap();
    }
    std::fs::remove_dir_all(&path).unwrap();
}
