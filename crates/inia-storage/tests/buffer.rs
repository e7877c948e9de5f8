//! A page's word: optimistic readers, exclusive writers, and those who sleep for it.

#[path = "../src/buffer/entry.rs"]
mod entry;
#[path = "../src/buffer/wait.rs"]
mod wait;

use super::explore;
use crate::sync::{AtomicU64, Ordering};
use entry::{State, Word};
use inia_base::ids::PageId;
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
        if word.state() == State::Locked {
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
