//! Mini-transactions on a store in memory: what is committed is there again after a reopening.

use super::*;
use crate::page::PageOp;
use inia_base::io::MemDisk;

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

fn options(frames: u64) -> StoreOptions {
    StoreOptions {
        buffer_pool_size: frames * PAGE_SIZE as u64,
        log_capacity: 4 << 20,
        segment_size: 1 << 20,
        background: false,
    }
}

fn open(disk: &MemDisk, frames: u64) -> Arc<Store> {
    Store::open(Arc::new(disk.clone()), options(frames), &mut Records::default()).unwrap()
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
    assert!(store.is_new());
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
    assert!(!store.is_new());
    assert_eq!(text(&store, id, 4), b"kept");
    assert_eq!(store.used_pages(), 3);
    assert_eq!(add_page(&store, b"next"), PageId(3));
}

#[test]
fn a_closed_store_opens_again_from_its_pages() {
    let disk = MemDisk::new();
    let store = open(&disk, 64);
    let id = add_page(&store, b"closed");
    store.close().unwrap();
    drop(store);
    assert_eq!(text(&open(&disk, 64), id, 6), b"closed");
}

#[test]
fn a_data_set_far_larger_than_the_pool_works() {
    let disk = MemDisk::new();
    let store = open(&disk, 16);
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
