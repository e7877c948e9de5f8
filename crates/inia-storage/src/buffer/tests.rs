//! The latch protocol with real threads, eviction, and damaged pages.

use super::*;
use crate::page::{PAGE_SIZE, PageBuf, PageRead, initialize, put_u64, seal};
use crate::wal::FIRST_LSN;
use crate::wal::segment::Segments;
use inia_base::io::{Disk, MemDisk};
use std::sync::atomic::AtomicUsize;

/// A pool of `frames` over `pages` pages that say their number at byte 64.
fn pool(frames: u64, pages: u32) -> (BufferPool, MemDisk) {
    let disk = MemDisk::new();
    let data = disk.open("data", true).unwrap();
    let mut page = PageBuf::new();
    for id in 0..pages {
        initialize(&mut page.bytes, PageId(id), 20);
        put_u64(&mut page.bytes, 64, id.into());
        seal(&mut page.bytes);
        data.write_at(&page.bytes, page_offset(PageId(id))).unwrap();
    }
    let (segments, _) = Segments::open(Arc::new(disk.clone()), 1 << 20, 4 << 20).unwrap();
    let wal = Arc::new(Wal::new(segments, FIRST_LSN));
    let doublewrite = disk.open("doublewrite", true).unwrap();
    let pool = BufferPool::new(frames * PAGE_SIZE as u64, data, doublewrite, wal).unwrap();
    (pool, disk)
}

/// Reads two fields that writers always keep equal.
fn read_pair(pool: &BufferPool, id: PageId) -> u64 {
    loop {
        let page = pool.optimistic(id, false).unwrap();
        let (first, second) = (page.u64_at(64), page.u64_at(PAGE_SIZE - 8));
        if page.validate().is_ok() {
            assert_eq!(first, second);
            return first;
        }
    }
}

fn write_pair(page: &mut ExclusivePage<'_>, value: u64) {
    let lsn = crate::page::page_lsn(page);
    crate::page::set_page_lsn(page, Lsn(lsn.0 + 1));
    put_u64(page, 64, value);
    std::hint::black_box(&mut **page);
    put_u64(page, PAGE_SIZE - 8, value);
}

#[test]
fn an_optimistic_read_fails_exactly_when_the_page_changed() {
    let (pool, _) = pool(16, 20);
    let id = PageId(5);
    let read = pool.optimistic(id, false).unwrap();
    assert_eq!(read.u64_at(64), 5);
    drop(pool.exclusive(id).unwrap());
    assert!(read.validate().is_ok(), "a latch without change is no change");
    assert!(pool.is_current(id, read.version()));

    let mut page = pool.exclusive(id).unwrap();
    assert_eq!(read.validate(), Err(Restart), "a writer is at it");
    write_pair(&mut page, 7);
    drop(page);
    assert_eq!(read.validate(), Err(Restart));
    assert!(!pool.is_current(id, read.version()));
    assert!(pool.upgrade(read).is_err());
    let read = pool.optimistic(id, false).unwrap();
    assert!(pool.upgrade(read).is_ok());
}

#[test]
fn who_fails_to_latch_a_page_does_not_touch_the_latch_of_its_holder() {
    let (pool, _) = pool(16, 20);
    let id = PageId(5);
    let watcher = pool.optimistic(id, false).unwrap();
    let entry = pool.frames.entry(id).unwrap();
    let seen = entry::Word(entry.load(Ordering::Relaxed));
    // Somebody comes in between the look at the entry and its change.
    let mut page = pool.exclusive(id).unwrap();
    assert!(pool.frames.lock(entry, id, seen).is_none());
    assert_eq!(watcher.validate(), Err(Restart), "it is still latched");
    write_pair(&mut page, 7);
    drop(page);
    assert_eq!(watcher.validate(), Err(Restart));
    assert_eq!(read_pair(&pool, id), 7);
}

#[test]
fn shared_latches_keep_writers_out_and_readers_in() {
    let (pool, _) = pool(16, 20);
    let id = PageId(3);
    let first = pool.shared(id).unwrap();
    let second = pool.shared(id).unwrap();
    assert_eq!((first.u64_at(64), second.u64_at(64)), (3, 3));
    let read = pool.optimistic(id, false).unwrap();
    assert!(read.validate().is_ok());
    assert!(pool.upgrade(read).is_err());
    assert!(pool.try_exclusive_blank(id).unwrap().is_none());
    drop(first);
    assert!(pool.try_exclusive_blank(id).unwrap().is_none());
    drop(second);
    assert!(pool.try_exclusive_blank(id).unwrap().is_some());
}

#[test]
fn a_page_that_left_and_came_back_is_read_anew_but_unchanged() {
    let (pool, _) = pool(16, 100);
    let read = pool.optimistic(PageId(2), false).unwrap();
    let version = read.version();
    for round in 0..3 {
        for id in 10..60 {
            pool.optimistic(PageId(id), false).unwrap();
        }
        assert_eq!(read.validate(), Err(Restart), "its frame has another page");
        if round > 0 {
            assert!(pool.is_current(PageId(2), version));
        }
        assert_eq!(pool.optimistic(PageId(2), false).unwrap().u64_at(64), 2);
        assert!(pool.is_current(PageId(2), version));
    }
    write_pair(&mut pool.exclusive(PageId(2)).unwrap(), 3);
    assert!(!pool.is_current(PageId(2), version));
}

#[test]
fn racing_readers_see_no_mixture() {
    let (pool, _) = pool(16, 20);
    for id in 0..4 {
        write_pair(&mut pool.exclusive(PageId(id)).unwrap(), 0);
    }
    let writing = AtomicUsize::new(2);
    std::thread::scope(|scope| {
        for thread in 0..2u64 {
            let (pool, writing) = (&pool, &writing);
            scope.spawn(move || {
                for i in 0..3000u64 {
                    let id = PageId((i % 4) as u32);
                    let mut page = if i % 3 == 0 {
                        pool.exclusive(id).unwrap()
                    } else {
                        match pool.upgrade(pool.optimistic(id, false).unwrap()) {
                            Ok(page) => page,
                            Err(Restart) => continue,
                        }
                    };
                    write_pair(&mut page, i * 2 + thread);
                }
                writing.fetch_sub(1, Ordering::Relaxed);
            });
        }
        for _ in 0..2 {
            let (pool, writing) = (&pool, &writing);
            scope.spawn(move || {
                while writing.load(Ordering::Relaxed) > 0 {
                    for id in 0..4 {
                        read_pair(pool, PageId(id));
                        let page = pool.shared(PageId(id)).unwrap();
                        assert_eq!(page.u64_at(64), page.u64_at(PAGE_SIZE - 8));
                    }
                }
            });
        }
    });
}

#[test]
fn many_threads_on_one_latch_all_get_their_turn() {
    let (pool, _) = pool(16, 20);
    let id = PageId(1);
    write_pair(&mut pool.exclusive(id).unwrap(), 0);
    std::thread::scope(|scope| {
        for thread in 0..32 {
            let pool = &pool;
            scope.spawn(move || {
                for _ in 0..100 {
                    if thread % 4 == 0 {
                        read_pair(pool, id);
                        drop(pool.shared(id).unwrap());
                        continue;
                    }
                    let mut page = pool.exclusive(id).unwrap();
                    let value = page.u64_at(64);
                    // Lets others pile up behind the latch.
                    std::thread::yield_now();
                    write_pair(&mut page, value + 1);
                }
            });
        }
    });
    assert_eq!(read_pair(&pool, id), 24 * 100);
}

#[test]
fn threads_share_a_pool_smaller_than_what_they_read() {
    let (pool, _) = pool(16, 200);
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let pool = &pool;
            scope.spawn(move || {
                for i in 0..2000u32 {
                    let id = PageId((i * 7 + thread * 31) % 200);
                    let scan = thread % 2 == 0;
                    let page = pool.optimistic(id, scan).unwrap();
                    let value = page.u64_at(64);
                    if page.validate().is_ok() {
                        assert_eq!(value, id.0.into());
                    }
                    assert_eq!(pool.shared(id).unwrap().u64_at(64), id.0.into());
                }
            });
        }
    });
}

#[test]
fn threads_that_miss_the_same_page_share_one_frame() {
    for _ in 0..50 {
        let (pool, _) = pool(16, 64);
        let barrier = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for id in 0..64 {
                        if id % 8 == 0 {
                            barrier.wait();
                        }
                        let mut page = pool.exclusive(PageId(id)).unwrap();
                        let value = page.u64_at(96);
                        pool.note_change(&page, Lsn(100), false);
                        put_u64(&mut page, 96, value + 1);
                    }
                });
            }
        });
        for id in 0..64 {
            assert_eq!(pool.shared(PageId(id)).unwrap().u64_at(96), 4, "page {id}");
        }
    }
}

#[test]
fn a_scan_leaves_the_pages_in_use_where_they_are() {
    let (pool, _) = pool(32, 1000);
    let hot: Vec<PageId> = (2..12).map(PageId).collect();
    let reads: Vec<OptimisticPage<'_>> =
        hot.iter().map(|&id| pool.optimistic(id, false).unwrap()).collect();
    for id in 20..1000 {
        pool.optimistic(PageId(id), true).unwrap();
        // Hot pages are used now and then.
        pool.optimistic(hot[id as usize % hot.len()], false).unwrap();
    }
    assert!(reads.iter().all(|read| read.validate().is_ok()), "none was evicted");
}

#[test]
fn a_damaged_page_is_an_error_each_time_and_nothing_else() {
    let (pool, disk) = pool(16, 20);
    disk.open("data", false).unwrap().write_at(b"!", page_offset(PageId(4)) + 900).unwrap();
    for _ in 0..3 {
        let error = pool.shared(PageId(4)).err().unwrap();
        assert!(matches!(error, StorageError::Corrupt(PageId(4), "wrong checksum")), "{error}");
    }
    for id in [20, 1 << 27, u32::MAX] {
        assert!(matches!(pool.shared(PageId(id)), Err(StorageError::Corrupt(..))));
    }
    assert_eq!(read_pair_of_one(&pool, PageId(5)), 5);
}

fn read_pair_of_one(pool: &BufferPool, id: PageId) -> u64 {
    pool.shared(id).unwrap().u64_at(64)
}

#[test]
fn a_misplaced_page_is_noticed() {
    let (pool, disk) = pool(16, 20);
    let data = disk.open("data", false).unwrap();
    let mut page = PageBuf::new();
    data.read_at(&mut page.bytes, page_offset(PageId(6))).unwrap();
    data.write_at(&page.bytes, page_offset(PageId(7))).unwrap();
    assert!(matches!(
        pool.shared(PageId(7)),
        Err(StorageError::Corrupt(PageId(7), "another page's contents"))
    ));
}

#[test]
fn racing_reads_at_any_offset_agree_with_the_bytes() {
    let (pool, _) = pool(16, 20);
    let id = PageId(9);
    let mut page = pool.exclusive(id).unwrap();
    for (i, byte) in page[64..].iter_mut().enumerate() {
        *byte = (i * 7 % 251) as u8;
    }
    drop(page);
    let latched = pool.shared(id).unwrap();
    let racing = pool.optimistic(id, false).unwrap();
    for offset in (0..200).chain(PAGE_SIZE - 40..PAGE_SIZE + 40) {
        assert_eq!(racing.u8_at(offset), latched.u8_at(offset));
        assert_eq!(racing.u16_at(offset), latched.u16_at(offset));
        assert_eq!(racing.u32_at(offset), latched.u32_at(offset));
        assert_eq!(racing.u64_at(offset), latched.u64_at(offset));
        for len in [0, 1, 7, 8, 30, 100] {
            let (mut a, mut b) = ([1; 100], [1; 100]);
            racing.copy_out(offset, &mut a[..len]);
            latched.copy_out(offset, &mut b[..len]);
            assert_eq!(a, b);
        }
    }
    let mut whole = PageBuf::new();
    racing.copy_out(0, &mut whole.bytes);
    assert!(racing.validate().is_ok());
    assert!(whole.bytes == *latched);
}
