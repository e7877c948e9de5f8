//! A crash at every call to the disk: what was acknowledged is there, and nothing is there by half.
//!
//! A seeded workload commits numbered mini-transactions on a pool far smaller than its pages and a
//! log far smaller than its changes. Each one writes its number into the first page and changes a
//! few others, so the number found after recovery says which state of the model all pages must be
//! in.

use super::*;
use crate::ops::PageOp;
use crate::page::{PageBytes, PageRead};
use crate::wal::record::LogRecord;
use inia_testkit::random::Random;
use inia_testkit::sim_disk::{Fault, SimDisk, When};
use std::collections::BTreeMap;

const COUNTER: PageId = FIRST_FREE_PAGE;
const VALUE_AT: usize = 64;
const PAGES: usize = 40;
const STEPS: u64 = 60;

/// The value that each page in use must have.
type Model = BTreeMap<PageId, u64>;

fn options() -> StoreOptions {
    StoreOptions {
        buffer_pool_size: 16 * PAGE_SIZE as u64,
        log_capacity: 256 << 10,
        segment_size: 64 << 10,
        undo_memory: 1 << 20,
        background: false,
    }
}

fn open(disk: &SimDisk) -> Result<Arc<Store>> {
    let store = Store::open(Arc::new(disk.clone()), options(), &mut Records::default())?;
    store.set_checkpoint_source(Arc::new(Idle));
    Ok(store)
}

/// A value spread over the page, so that a mixture of two states shows.
fn fill(value: u64) -> Vec<u8> {
    (0..16u64).flat_map(|i| (value * 31 + i).to_le_bytes()).collect()
}

fn value_of(page: &PageBytes) -> u64 {
    let value = page.u64_at(VALUE_AT) / 31;
    assert_eq!(page[VALUE_AT..VALUE_AT + 128], fill(value));
    // The last bytes of the page carry it too.
    assert_eq!(page.u64_at(PAGE_SIZE - 8), value);
    value
}

struct Run {
    store: Arc<Store>,
    random: Random,
    /// The model after each number of steps.
    history: Vec<Model>,
    acknowledged: u64,
}

impl Run {
    fn write(mtr: &mut Mtr<'_>, page: Latched, value: u64) {
        let bytes = fill(value);
        mtr.apply(page, &PageOp::SetBytes { offset: VALUE_AT as u16, bytes: &bytes });
        let end = (PAGE_SIZE - 8) as u16;
        mtr.apply(page, &PageOp::SetBytes { offset: end, bytes: &value.to_le_bytes() });
    }

    fn begin(store: Arc<Store>, seed: u64) -> Run {
        let history = vec![Model::new()];
        Run { store, random: Random::new(seed), history, acknowledged: 0 }
    }

    /// One mini-transaction: the counter, and some pages written, made or given back.
    fn step(&mut self) -> Result<()> {
        let number = self.history.len() as u64;
        let mut model = self.history.last().cloned().unwrap_or_default();
        let store = Arc::clone(&self.store);
        let mut mtr = store.mtr()?;
        let counter = if number == 1 { mtr.allocate(PageId(0), 20)? } else { mtr.latch(COUNTER)? };
        let others: Vec<PageId> = model.keys().copied().filter(|&id| id != COUNTER).collect();
        let mut touched = Vec::new();
        for _ in 0..self.random.below(3) {
            if others.len() < PAGES && (others.len() < 4 || self.random.below(2) == 0) {
                let page = mtr.allocate(PageId(self.random.below(60) as u32), 20)?;
                touched.push((page, false));
            } else {
                let id = others[self.random.below(others.len() as u64) as usize];
                if !mtr.holds(id) {
                    touched.push((mtr.latch(id)?, self.random.below(4) == 0));
                }
            }
        }
        Run::write(&mut mtr, counter, number);
        model.insert(COUNTER, number);
        for (page, free) in touched {
            let id = mtr.id(page);
            if free {
                mtr.free(page)?;
                model.remove(&id);
            } else {
                Run::write(&mut mtr, page, number * 1000 + u64::from(id.0));
                model.insert(id, number * 1000 + u64::from(id.0));
            }
        }
        mtr.log(&LogRecord::Commit { txn: inia_base::ids::TxnId(number) });
        let end = mtr.commit();
        self.history.push(model);
        if self.random.below(3) == 0 {
            store.wal().wait_durable(end)?;
            self.acknowledged = number;
        }
        if self.random.below(8) == 0 {
            let _ = store.background_step()?;
            let all = store.pool.dirty_frames(Lsn(u64::MAX), self.random.below(20) as usize);
            store.pool.write_back(&all)?;
            if self.random.below(2) == 0 {
                store.checkpoint()?;
            }
        }
        Ok(())
    }

    /// Steps until the disk fails, or all are done.
    fn go(&mut self, steps: u64) -> Result<()> {
        for _ in 0..steps {
            self.step()?;
        }
        Ok(())
    }

    /// Compares an opened store with the model it must equal, and goes on from it.
    fn check(&mut self, store: Arc<Store>) {
        let found =
            if store.is_page_used(COUNTER) { value_of(&store.shared(COUNTER).unwrap()) } else { 0 };
        assert!(found >= self.acknowledged, "{found} of {} acknowledged", self.acknowledged);
        assert!(found < self.history.len() as u64);
        self.history.truncate(found as usize + 1);
        self.acknowledged = found;
        let model = &self.history[found as usize];
        assert_eq!(store.used_pages(), model.len() as u64 + 2);
        for (&id, &value) in model {
            assert!(store.is_page_used(id));
            assert_eq!(value_of(&store.shared(id).unwrap()), value, "page {id}");
        }
        self.store = store;
    }
}

/// Opens after a crash, crashing `again` times during recovery itself.
fn recover(mut disk: SimDisk, random: &mut Random, again: u64) -> (SimDisk, Arc<Store>) {
    for _ in 0..again {
        disk.inject(When::Change(1 + random.below(12)), Fault::Crash);
        if let Ok(store) = open(&disk) {
            drop(store);
        }
        disk = disk.crash(random.next_u64());
    }
    let store = open(&disk).unwrap();
    (disk, store)
}

fn crash_at(call: u64, seed: u64) -> bool {
    let disk = SimDisk::new();
    disk.inject(When::Change(1 + call), Fault::Crash);
    let mut random = Random::new(seed ^ (call << 20));
    let Ok(store) = open(&disk) else {
        // The store may not exist yet, but what there is must not keep it from being made.
        let (_, store) = recover(disk.crash(random.next_u64()), &mut random, 1);
        assert_eq!(store.used_pages(), 2);
        return true;
    };
    let mut run = Run::begin(store, seed);
    let crashed = run.go(STEPS).is_err();
    let again = random.below(3);
    let (disk, store) = recover(disk.crash(random.next_u64()), &mut random, again);
    run.check(store);
    // Life goes on, and a second crash is survived as well.
    disk.inject(When::Change(1 + random.below(60)), Fault::Crash);
    let _ = run.go(20);
    let (_, store) = recover(disk.crash(random.next_u64()), &mut random, 0);
    run.check(store);
    crashed
}

#[test]
fn a_crash_at_any_call_loses_nothing_acknowledged() {
    for seed in 1..3 {
        let mut call = 0;
        while crash_at(call, seed) {
            call += 1;
        }
        assert!(call > 100, "the workload makes too few calls: {call}");
    }
}

#[test]
fn a_kill_loses_nothing_appended_and_written() {
    for seed in 0..20 {
        let disk = SimDisk::new();
        let mut run = Run::begin(open(&disk).unwrap(), seed);
        run.go(40).unwrap();
        let store = open(&disk.kill()).unwrap();
        run.check(store);
        run.go(10).unwrap();
    }
}

/// Adds one to the counter on each of these pages, as one group.
fn count_up(store: &Store, pages: &[PageId]) -> Result<(u64, Lsn)> {
    let mut mtr = store.mtr()?;
    let latched = pages.iter().map(|&id| mtr.latch(id)).collect::<Result<Vec<Latched>>>()?;
    let mut count = 0;
    for &page in &latched {
        count = mtr.page(page).u64_at(VALUE_AT) / 31 + 1;
        Run::write(&mut mtr, page, count);
    }
    Ok((count, mtr.commit()))
}

#[test]
fn a_crash_among_threads_loses_nothing_acknowledged() {
    const THREADS: usize = 4;
    for seed in 0..40u64 {
        let disk = SimDisk::new();
        let mut random = Random::new(seed);
        let options = StoreOptions { background: true, ..options() };
        let store = Store::open(Arc::new(disk.clone()), options, &mut Records::default()).unwrap();
        store.set_checkpoint_source(Arc::new(Idle));
        let mut mtr = store.mtr().unwrap();
        // Two pages for each thread, which only it changes, always together.
        let pages: Vec<PageId> = (0..2 * THREADS)
            .map(|_| {
                let page = mtr.allocate(PageId(0), 20).unwrap();
                Run::write(&mut mtr, page, 0);
                mtr.id(page)
            })
            .collect();
        let end = mtr.commit();
        store.wal().wait_durable(end).unwrap();
        disk.inject(When::Change(1 + random.below(300)), Fault::Crash);
        let acknowledged: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = pages
                .chunks(2)
                .map(|own| {
                    let store = &store;
                    scope.spawn(move || {
                        let mut acknowledged = 0;
                        while let Ok((count, end)) = count_up(store, own) {
                            if store.wal().wait_durable(end).is_ok() {
                                acknowledged = count;
                            }
                        }
                        acknowledged
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        store.stop_background();
        drop(store);
        let (_, store) = recover(disk.crash(random.next_u64()), &mut random, seed % 3);
        for (own, &acknowledged) in pages.chunks(2).zip(&acknowledged) {
            let first = value_of(&store.shared(own[0]).unwrap());
            let second = value_of(&store.shared(own[1]).unwrap());
            assert_eq!(first, second, "seed {seed}");
            assert!(first >= acknowledged, "seed {seed}: {first} of {acknowledged}");
        }
    }
}
