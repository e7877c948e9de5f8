//! A page's word: optimistic readers, exclusive writers, and those who sleep for it; and what each
//! ordering of its transitions is for.
//!
//! The latter are programs of a few steps, played with every interleaving *and* every value that a
//! load may return: one is wrong without the fence in `lock`, `is_still` or `attach`, or with a
//! weaker ordering in `load`, `lock`, `unlock`, `share` or `unshare`. (The bounded ones above them
//! are too long for that, and show only what goes wrong with the newest values.)

#[path = "../src/buffer/entry.rs"]
mod entry;
#[path = "../src/buffer/wait.rs"]
mod wait;

use super::explore;
use crate::sync::{AtomicU64, Mutex, Ordering};
use entry::{EntryState, Word};
use inia_base::ids::PageId;
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;
use wait::{Intent, WaitTable};

const PAGE: PageId = PageId(1);

/// A page of two words that are always equal, when nobody is changing them.
struct Page {
    entry: AtomicU64,
    waits: WaitTable,
    words: [AtomicU64; 2],
}

impl Page {
    fn new() -> Arc<Page> {
        let word = Word(0).loading_into(1).unlocked();
        Arc::new(Page {
            entry: AtomicU64::new(word.0),
            waits: WaitTable::new(),
            words: [AtomicU64::new(0), AtomicU64::new(0)],
        })
    }

    /// Adds one to both words under the exclusive latch.
    fn change(&self) {
        loop {
            let word = Word(self.entry.load(Ordering::Relaxed));
            if word.is_latched() {
                self.waits.wait(PAGE, &self.entry, Intent::Write);
            } else if word.lock(&self.entry) {
                for word in &self.words {
                    word.store(word.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                }
                let next = word.next_version().unlocked().without_waiters();
                if next.unlock(&self.entry).has_waiters() {
                    self.waits.wake(PAGE, &self.entry);
                }
                return;
            }
        }
    }

    /// One optimistic try; what it has seen, if that is known to be true.
    fn try_read(&self) -> Option<[u64; 2]> {
        let word = Word(self.entry.load(Ordering::Acquire));
        if word.state() == EntryState::Locked {
            self.waits.wait(PAGE, &self.entry, Intent::Read);
            return None;
        }
        let seen = [0, 1].map(|at| self.words[at].load(Ordering::Relaxed));
        word.is_still(&self.entry).then_some(seen)
    }
}

#[test]
fn what_an_optimistic_read_has_validated_is_one_state() {
    explore(3, || {
        let page = Page::new();
        let writer = {
            let page = Arc::clone(&page);
            thread::spawn(move || {
                page.change();
                page.change();
            })
        };
        for _ in 0..2 {
            if let Some([first, second]) = page.try_read() {
                assert_eq!(first, second);
            }
        }
        writer.join().unwrap();
        assert_eq!(page.try_read(), Some([2, 2]));
    });
}

#[test]
fn writers_exclude_each_other_and_none_sleeps_for_ever() {
    explore(2, || {
        let page = Page::new();
        let writers = [0, 1].map(|_| {
            let page = Arc::clone(&page);
            thread::spawn(move || page.change())
        });
        page.change();
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(page.try_read(), Some([3, 3]));
    });
}

/// One byte of a page and its entry. The byte counts the page's changes, as its version does.
struct Small {
    entry: AtomicU64,
    byte: AtomicU64,
}

/// The word of a page in memory that nobody has changed: 1 << 8 names its frame, 1 says "unlocked".
/// Those who change it first do not look at it before: the checker would then take every look of
/// others for one that comes earlier.
const FRESH: Word = Word(1 << 8 | 1);

fn small() -> Arc<Small> {
    assert_eq!(FRESH.0, Word(0).loading_into(1).unlocked().0);
    Arc::new(Small { entry: AtomicU64::new(FRESH.0), byte: AtomicU64::new(0) })
}

#[test]
fn a_validated_read_is_of_the_version_that_it_began_with() {
    loom::model(|| {
        let page = small();
        let writer = {
            let page = Arc::clone(&page);
            thread::spawn(move || {
                assert!(FRESH.lock(&page.entry));
                page.byte.store(1, Ordering::Relaxed);
                FRESH.next_version().unlocked().unlock(&page.entry);
            })
        };
        let word = Word::load(&page.entry);
        if !word.is_locked() {
            let seen = page.byte.load(Ordering::Relaxed);
            if word.is_still(&page.entry) {
                assert_eq!(seen, u64::from(word.version()));
            }
        }
        writer.join().unwrap();
    });
}

/// One thread throws a page out of its frame, another brings a second one into it. A reader of the
/// first page may see the second one's bytes.
#[test]
fn a_read_of_a_frame_that_has_another_page_now_is_not_validated() {
    loom::model(|| {
        let first = small();
        let free = Arc::new(Mutex::new(false));
        let evictor = {
            let (first, free) = (Arc::clone(&first), Arc::clone(&free));
            thread::spawn(move || {
                assert!(FRESH.lock(&first.entry));
                FRESH.next_version().evicted().unlock(&first.entry);
                *free.lock() = true;
            })
        };
        let loader = {
            let (first, free) = (Arc::clone(&first), Arc::clone(&free));
            thread::spawn(move || {
                if *free.lock() {
                    let (second, absent) = (AtomicU64::new(0), Word(0));
                    assert!(absent.claim(&second));
                    absent.attach(&second, 1);
                    first.byte.store(7, Ordering::Relaxed);
                }
            })
        };
        let word = Word::load(&first.entry);
        if word.state() == EntryState::Unlocked {
            let seen = first.byte.load(Ordering::Relaxed);
            if word.is_still(&first.entry) {
                assert_eq!(seen, 0);
            }
        }
        evictor.join().unwrap();
        loader.join().unwrap();
    });
}

/// Plain memory under a latch: the model checker reports accesses that nothing orders, and runs
/// all threads on one.
struct Plain {
    entry: AtomicU64,
    bytes: UnsafeCell<u64>,
}

impl Plain {
    fn write(&self) {
        let word = Word(self.entry.load(Ordering::Relaxed));
        if !word.is_latched() && word.lock(&self.entry) {
            self.bytes.with_mut(|_| ());
            word.next_version().unlocked().unlock(&self.entry);
        }
    }

    fn read(&self) {
        let word = Word(self.entry.load(Ordering::Relaxed));
        if !word.refuses_shared() && word.share(&self.entry) {
            self.bytes.with(|_| ());
            Word::unshare(&self.entry, false);
        }
    }
}

#[test]
#[expect(clippy::arc_with_non_send_sync, reason = "the checker's threads are one thread")]
fn the_holder_of_a_latch_comes_after_those_before_it() {
    for reads in [false, true] {
        loom::model(move || {
            let page =
                Arc::new(Plain { entry: AtomicU64::new(FRESH.0), bytes: UnsafeCell::new(0) });
            let other = {
                let page = Arc::clone(&page);
                thread::spawn(move || if reads { page.read() } else { page.write() })
            };
            page.write();
            if reads {
                page.read();
            }
            other.join().unwrap();
        });
    }
}
