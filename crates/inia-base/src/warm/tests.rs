//! Things go from hand to hand and are never in two.

use super::WarmPool;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

#[test]
fn what_was_given_back_is_taken_again() {
    let pool = WarmPool::new(2);
    assert_eq!(pool.take(), None);
    pool.put(7);
    assert_eq!(pool.take(), Some(7));
    assert_eq!(pool.take(), None);
}

#[test]
fn no_list_keeps_more_than_it_may() {
    let pool = WarmPool::new(1);
    (0..1000).for_each(|n| pool.put(n));
    let kept = std::iter::from_fn(|| pool.take()).count();
    assert!((1..=super::LISTS).contains(&kept), "{kept}");
}

/// A thread that is stopped in the middle of a list stops no other one.
#[test]
fn nobody_waits_for_a_list() {
    let pool = WarmPool::new(1);
    pool.put(1);
    let held: Vec<_> = pool.lists().filter_map(Mutex::try_lock).collect();
    pool.put(2);
    assert_eq!(pool.take(), None);
    drop(held);
    assert_eq!((pool.take(), pool.take()), (Some(1), None));
}

#[test]
fn nothing_is_in_two_hands() {
    let pool = WarmPool::new(64);
    for _ in 0..3 {
        pool.put(Box::new(AtomicBool::new(false)));
    }
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    let thing = pool.take().unwrap_or_default();
                    assert!(!thing.swap(true, Ordering::AcqRel), "somebody else has it");
                    thing.store(false, Ordering::Release);
                    pool.put(thing);
                }
            });
        }
    });
}
