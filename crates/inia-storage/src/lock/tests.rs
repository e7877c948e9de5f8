//! What blocks what, who is served first, and who dies in a deadlock.
//!
//! Threads are used only where one must block; a test never sleeps: it waits until the lock system
//! says that the other side is waiting.

mod cycles;

use super::gap::Intervals;
use super::owner::{MAX_OVERTAKEN, Wait, WaitQueue, WaitTarget};
use super::record::{LockName, RecordLocks};
use super::*;
use crate::error::StorageError;
use crate::request::LockMode::{self, Exclusive, Shared};
use inia_base::ids::{TreeId, TxnId};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

const TREE: TreeId = TreeId(7);
const LONG: Duration = Duration::from_secs(60);

struct World {
    locks: Arc<LockSystem>,
    gaps: Arc<Gaps>,
    owners: Vec<Arc<Owner>>,
}

type Waiting = JoinHandle<Result<(), StorageError>>;

impl World {
    fn new(owners: u32) -> World {
        World {
            locks: Arc::new(LockSystem::new()),
            gaps: Arc::default(),
            owners: (0..owners).map(|index| Arc::new(Owner::new(index))).collect(),
        }
    }

    fn take(&self, owner: usize, key: &[u8], mode: LockMode) -> Grant {
        self.locks.try_record(&self.owners[owner], RecordRequest { tree: TREE, key, mode })
    }

    /// Asks for a lock on a thread and returns once the request waits.
    fn wait_for(&self, owner: usize, key: &'static [u8], mode: LockMode) -> Waiting {
        let (locks, me) = (Arc::clone(&self.locks), Arc::clone(&self.owners[owner]));
        let thread = std::thread::spawn(move || {
            locks.wait_record(&me, RecordRequest { tree: TREE, key, mode }, LONG).map(|_| ())
        });
        self.until_waiting(owner, &thread);
        thread
    }

    /// Lets `owner` wait for what `holder` has, and get it.
    fn wait_for_and_get(&self, owner: usize, holder: usize, key: &'static [u8]) {
        let waiting = self.wait_for(owner, key, Exclusive);
        self.release(holder);
        waiting.join().unwrap().unwrap();
    }

    fn wait_to_insert(&self, owner: usize, key: &'static [u8]) -> Waiting {
        let (locks, me) = (Arc::clone(&self.locks), Arc::clone(&self.owners[owner]));
        let gaps = Arc::clone(&self.gaps);
        let thread = std::thread::spawn(move || locks.wait_insert(&me, TREE, &gaps, key, LONG));
        self.until_waiting(owner, &thread);
        thread
    }

    fn until_waiting(&self, owner: usize, thread: &Waiting) {
        while !self.owners[owner].is_waiting() {
            assert!(!thread.is_finished(), "the request did not wait");
            std::thread::yield_now();
        }
    }

    fn unlock(&self, owner: usize, key: &[u8], mode: LockMode) {
        self.locks.unlock(&self.owners[owner], RecordRequest { tree: TREE, key, mode });
    }

    fn release(&self, owner: usize) {
        self.locks.release_all(&self.owners[owner]);
    }
}

#[test]
fn shared_locks_go_together_and_an_exclusive_one_stands_by_itself() {
    let world = World::new(3);
    assert_eq!(world.take(0, b"k", Shared), Grant::New);
    assert_eq!(world.take(1, b"k", Shared), Grant::New);
    assert_eq!(world.take(1, b"k", Shared), Grant::Held);
    assert_eq!(world.take(2, b"k", Exclusive), Grant::Conflict);
    assert_eq!(world.take(2, b"other", Exclusive), Grant::New);
    assert_eq!(world.take(0, b"other", Shared), Grant::Conflict);
    world.release(0);
    world.release(1);
    assert_eq!(world.take(2, b"k", Exclusive), Grant::New);
    assert_eq!(world.owners[2].lock_count(), 2);
}

#[test]
fn a_reader_does_not_overtake_a_waiting_writer() {
    let world = World::new(3);
    world.take(0, b"k", Shared);
    let writer = world.wait_for(1, b"k", Exclusive);
    assert_eq!(world.take(2, b"k", Shared), Grant::Conflict);
    world.release(0);
    writer.join().unwrap().unwrap();
    assert_eq!(world.take(2, b"k", Shared), Grant::Conflict);
    world.release(1);
    assert_eq!(world.take(2, b"k", Shared), Grant::New);
}

#[test]
fn the_sole_holder_may_strengthen_its_lock_past_the_waiters() {
    let world = World::new(2);
    world.take(0, b"k", Shared);
    let writer = world.wait_for(1, b"k", Exclusive);
    assert_eq!(world.take(0, b"k", Exclusive), Grant::Strengthened);
    assert_eq!(world.take(0, b"k", Exclusive), Grant::Held);
    world.release(0);
    writer.join().unwrap().unwrap();
}

#[test]
fn waiters_are_served_in_order_of_arrival() {
    let world = World::new(4);
    world.take(0, b"k", Exclusive);
    let first = world.wait_for(1, b"k", Exclusive);
    let second = world.wait_for(2, b"k", Shared);
    let third = world.wait_for(3, b"k", Shared);
    world.release(0);
    first.join().unwrap().unwrap();
    assert!(world.owners[2].is_waiting() && world.owners[3].is_waiting());
    world.release(1);
    second.join().unwrap().unwrap();
    third.join().unwrap().unwrap();
}

/// Puts a request in the queue that must wait. Its owner does not run when it gets the lock.
fn queue_without_a_thread(locks: &RecordLocks, owner: &Arc<Owner>, name: LockName, mode: LockMode) {
    let kind = WaitQueue::Record(name, mode);
    let wait = || *owner.wait.lock() = Wait::On(WaitTarget::new(TREE, b"k", kind));
    assert_eq!(locks.enqueue(owner, name, mode, wait), Grant::Conflict);
}

#[test]
fn a_lock_granted_to_a_waiter_that_has_not_run_goes_to_a_few_who_run() {
    let (locks, name) = (RecordLocks::new(), LockName::new(TREE, b"k"));
    let owner = |index| Arc::new(Owner::new(index));
    let [holder, waiter, last] = [1, 2, 3].map(owner);
    locks.request(&holder, name, Exclusive);
    queue_without_a_thread(&locks, &waiter, name, Exclusive);
    queue_without_a_thread(&locks, &last, name, Exclusive);
    locks.release(&holder, name);
    assert!(!waiter.is_waiting() && last.is_waiting());
    let mut overtaking = 0;
    loop {
        let other = owner(9);
        if locks.request(&other, name, Exclusive) == Grant::Conflict {
            break;
        }
        assert!(waiter.is_waiting(), "the lock is no more its own");
        assert_eq!(waiter.lock_count(), 0);
        overtaking += 1;
        locks.release(&other, name);
        assert!(!waiter.is_waiting(), "it is served before all others");
    }
    assert_eq!(overtaking, MAX_OVERTAKEN);
    locks.release(&waiter, name);
    assert!(!last.is_waiting());
}

/// The reader that has waited could share the lock with the other one, which stands behind a
/// writer.
#[test]
fn a_reader_does_not_overtake_a_waiting_writer_by_a_waiter_that_has_not_run() {
    let (locks, name) = (RecordLocks::new(), LockName::new(TREE, b"k"));
    let [holder, reader, writer, other] = [1, 2, 3, 4].map(|index| Arc::new(Owner::new(index)));
    locks.request(&holder, name, Exclusive);
    queue_without_a_thread(&locks, &reader, name, Shared);
    queue_without_a_thread(&locks, &writer, name, Exclusive);
    locks.release(&holder, name);
    assert_eq!(locks.request(&other, name, Shared), Grant::Conflict);
    assert!(!reader.is_waiting() && writer.is_waiting());
}

/// A waiter that has run keeps what it waited for, also when it waits for another record later.
#[test]
fn a_waiter_that_has_run_is_not_overtaken() {
    let world = World::new(4);
    world.take(0, b"k", Exclusive);
    world.wait_for_and_get(1, 0, b"k");
    assert_eq!(world.take(2, b"k", Exclusive), Grant::Conflict);
    world.take(0, b"m", Exclusive);
    let waiting = world.wait_for(1, b"m", Exclusive);
    assert_eq!(world.take(2, b"k", Exclusive), Grant::Conflict);
    world.release(0);
    assert_eq!(world.take(2, b"k", Exclusive), Grant::Conflict);
    waiting.join().unwrap().unwrap();
}

#[test]
fn two_that_wait_for_each_other_are_found_and_the_lighter_one_dies() {
    let world = World::new(2);
    world.owners[0].set_undo_records(10);
    world.take(0, b"a", Exclusive);
    world.take(1, b"b", Exclusive);
    let light = world.wait_for(1, b"a", Exclusive);
    let heavy = {
        let (locks, me) = (Arc::clone(&world.locks), Arc::clone(&world.owners[0]));
        let request = RecordRequest { tree: TREE, key: b"b", mode: Exclusive };
        std::thread::spawn(move || locks.wait_record(&me, request, LONG))
    };
    assert!(matches!(light.join().unwrap(), Err(StorageError::Deadlock)));
    world.release(1);
    assert!(heavy.join().unwrap().is_ok());
}

#[test]
fn between_equals_the_one_that_closes_the_cycle_dies() {
    let world = World::new(3);
    for (owner, key) in [(0, b"a"), (1, b"b"), (2, b"c")] {
        world.take(owner, key, Exclusive);
    }
    let first = world.wait_for(0, b"b", Exclusive);
    let second = world.wait_for(1, b"c", Exclusive);
    let request = RecordRequest { tree: TREE, key: b"a", mode: Exclusive };
    let closing = world.locks.wait_record(&world.owners[2], request, LONG);
    assert!(matches!(closing, Err(StorageError::Deadlock)));
    world.release(2);
    second.join().unwrap().unwrap();
    world.release(1);
    first.join().unwrap().unwrap();
}

#[test]
fn a_cycle_behind_the_second_of_two_holders_is_found() {
    // 0 and 1 share "k"; 2 waits for both. The cycle goes through 1, whichever is looked at first.
    let world = World::new(3);
    world.take(0, b"k", Shared);
    world.take(1, b"k", Shared);
    world.take(2, b"z", Exclusive);
    let both = world.wait_for(2, b"k", Exclusive);
    let request = RecordRequest { tree: TREE, key: b"z", mode: Shared };
    let closing = world.locks.wait_record(&world.owners[1], request, LONG);
    assert!(matches!(closing, Err(StorageError::Deadlock)));
    world.release(1);
    world.release(0);
    both.join().unwrap().unwrap();
}

#[test]
fn two_inserts_into_each_others_gap_are_a_deadlock() {
    let world = World::new(2);
    world.gaps.lock(&world.owners[0], Edge::Key(b"10"), Edge::Key(b"20"));
    world.gaps.lock(&world.owners[1], Edge::Key(b"10"), Edge::Max);
    let first = world.wait_to_insert(0, b"15");
    let closing = world.locks.wait_insert(&world.owners[1], TREE, &world.gaps, b"16", LONG);
    assert!(matches!(closing, Err(StorageError::Deadlock)));
    world.release(1);
    first.join().unwrap().unwrap();
    world.release(0);
    assert!(!world.gaps.forbid_insert(&world.owners[1], b"15"));
}

#[test]
fn an_insert_waits_for_every_gap_that_covers_its_key_and_for_no_other() {
    let world = World::new(3);
    world.gaps.lock(&world.owners[0], Edge::Min, Edge::Key(b"20"));
    world.gaps.lock(&world.owners[1], Edge::Key(b"10"), Edge::Key(b"20"));
    assert!(!world.gaps.forbid_insert(&world.owners[2], b"25"));
    let insert = world.wait_to_insert(2, b"15");
    world.release(0);
    assert!(world.owners[2].is_waiting());
    world.release(1);
    insert.join().unwrap().unwrap();
}

#[test]
fn a_wait_ends_by_timeout_or_interrupt_and_leaves_no_trace() {
    let world = World::new(3);
    world.take(0, b"k", Shared);
    let request = RecordRequest { tree: TREE, key: b"k", mode: Exclusive };
    let timeout = world.locks.wait_record(&world.owners[1], request, Duration::ZERO);
    assert!(matches!(timeout, Err(StorageError::LockWaitTimeout)));
    assert_eq!(world.take(2, b"k", Shared), Grant::New);
    let waiting = world.wait_for(1, b"k", Exclusive);
    world.owners[1].interrupt();
    assert!(matches!(waiting.join().unwrap(), Err(StorageError::Interrupted)));
    assert_eq!(world.take(2, b"k", Shared), Grant::Held);
}

#[test]
fn an_implicit_lock_is_made_explicit_only_while_its_transaction_lives() {
    let world = World::new(2);
    world.owners[0].set_txn(TxnId(5));
    assert!(!world.locks.make_explicit(&world.owners[0], TxnId(4), TREE, b"k"));
    assert!(world.locks.make_explicit(&world.owners[0], TxnId(5), TREE, b"k"));
    let waiting = world.wait_for(1, b"k", Shared);
    let wait = world.locks.wait_of(&world.owners[1]).unwrap();
    assert_eq!((wait.key.as_slice(), wait.blockers), (&b"k"[..], vec![(0, TxnId(5))]));
    world.release(0);
    waiting.join().unwrap().unwrap();
    assert!(!world.locks.make_explicit(&world.owners[0], TxnId(5), TREE, b"k"));
}

/// A record is locked by having been written, and the table does not know it before somebody asks.
/// So those who came to the record too early may stand in its queue, and begin to wait for the
/// writer only when another one finds out who that is.
#[test]
fn a_writer_that_is_found_out_while_it_waits_for_one_in_the_queue_is_in_a_deadlock() {
    let world = World::new(3);
    let [writer, early, second] = [0, 1, 2];
    world.owners[writer].set_txn(TxnId(5));
    world.owners[writer].set_undo_records(10);
    // Both looked at "k" before it was written: they stand in the queue for each other's sake.
    world.take(early, b"k", Shared);
    world.take(second, b"z", Exclusive);
    let lighter = world.wait_for(second, b"k", Exclusive);
    let heavier = world.wait_for(writer, b"z", Exclusive);
    assert!(world.owners[second].is_waiting());
    // A fourth one asks for the record, without waiting: now `second` waits for the writer.
    assert!(world.locks.make_explicit(&world.owners[writer], TxnId(5), TREE, b"k"));
    assert!(!world.owners[second].is_waiting(), "it was found at once");
    assert!(matches!(lighter.join().unwrap(), Err(StorageError::Deadlock)));
    world.release(second);
    heavier.join().unwrap().unwrap();
}

#[test]
fn a_writer_that_is_found_out_before_others_in_its_queue_stops_them_and_may_run_on() {
    let world = World::new(3);
    world.owners[0].set_txn(TxnId(5));
    world.take(1, b"k", Shared);
    let queued = world.wait_for(2, b"k", Exclusive);
    assert!(world.locks.make_explicit(&world.owners[0], TxnId(5), TREE, b"k"));
    world.release(1);
    assert!(world.owners[2].is_waiting(), "the writer is in the way yet");
    world.release(0);
    queued.join().unwrap().unwrap();
}

#[test]
fn a_lock_of_the_next_transaction_is_not_taken_for_one_of_the_last() {
    let world = World::new(2);
    world.owners[0].set_txn(TxnId(5));
    world.release(0);
    world.owners[0].set_txn(TxnId(6));
    world.take(0, b"k", Shared);
    assert!(!world.locks.make_explicit(&world.owners[0], TxnId(5), TREE, b"k"), "it is over");
    assert_eq!(world.take(1, b"k", Shared), Grant::New);
}

#[test]
fn one_lock_can_be_given_back_early() {
    let world = World::new(2);
    world.take(0, b"a", Exclusive);
    world.take(0, b"b", Exclusive);
    world.unlock(0, b"a", Exclusive);
    assert_eq!(world.take(1, b"a", Exclusive), Grant::New);
    assert_eq!(world.take(1, b"b", Exclusive), Grant::Conflict);
    assert_eq!(world.owners[0].lock_count(), 1);
}

#[test]
fn a_lock_given_back_early_falls_back_to_the_mode_held_before() {
    let world = World::new(3);
    world.take(0, b"k", Shared);
    assert!(world.take(0, b"k", Exclusive).is_fresh());
    world.unlock(0, b"k", Exclusive);
    assert_eq!(world.take(1, b"k", Shared), Grant::New, "the record is shared again");
    assert_eq!(world.take(2, b"k", Exclusive), Grant::Conflict);
    world.release(1);
    assert_eq!(world.take(2, b"k", Exclusive), Grant::Conflict, "owner 0 shares it as before");
    assert_eq!(world.owners[0].lock_count(), 1);
    world.release(0);
    assert_eq!(world.take(2, b"k", Exclusive), Grant::New);
}

#[test]
fn a_stronger_lock_that_was_waited_for_falls_back_as_well() {
    let world = World::new(3);
    world.take(0, b"k", Shared);
    world.take(1, b"k", Shared);
    let upgrade = world.wait_for(0, b"k", Exclusive);
    world.release(1);
    upgrade.join().unwrap().unwrap();
    assert_eq!(world.take(1, b"k", Shared), Grant::Conflict);
    world.unlock(0, b"k", Exclusive);
    assert_eq!(world.take(1, b"k", Shared), Grant::New);
    assert_eq!(world.take(2, b"k", Exclusive), Grant::Conflict);
    world.release(1);
    assert_eq!(world.take(2, b"k", Exclusive), Grant::Conflict, "owner 0 shares it as before");
}

#[test]
fn a_shared_lock_given_back_leaves_the_exclusive_one() {
    let world = World::new(2);
    world.take(0, b"k", Shared);
    world.take(0, b"k", Exclusive);
    world.unlock(0, b"k", Shared);
    assert_eq!(world.take(1, b"k", Shared), Grant::Conflict);
    world.unlock(0, b"k", Exclusive);
    assert_eq!(world.take(1, b"k", Shared), Grant::New);
    assert_eq!(world.owners[0].lock_count(), 0);
}

#[test]
fn a_lock_given_back_early_serves_those_whom_the_mode_left_does_not_stop() {
    let world = World::new(3);
    world.take(0, b"k", Shared);
    world.take(0, b"k", Exclusive);
    let reader = world.wait_for(1, b"k", Shared);
    let writer = world.wait_for(2, b"k", Exclusive);
    world.unlock(0, b"k", Exclusive);
    reader.join().unwrap().unwrap();
    assert!(world.owners[2].is_waiting());
    world.release(0);
    world.release(1);
    writer.join().unwrap().unwrap();
}

/// A lock that another thread has made explicit stands beside the shared one its owner took before.
#[test]
fn an_implicit_lock_made_explicit_keeps_the_shared_one() {
    let world = World::new(2);
    world.take(0, b"k", Shared);
    world.owners[0].set_txn(TxnId(5));
    assert!(world.locks.make_explicit(&world.owners[0], TxnId(5), TREE, b"k"));
    world.unlock(0, b"k", Exclusive);
    assert_eq!(world.take(1, b"k", Shared), Grant::New);
    assert_eq!(world.owners[0].lock_count(), 1);
}

/// Merging intervals against the plainest model: a set of covered points.
#[test]
fn merged_intervals_cover_what_was_added() {
    let mut seed = 1u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    for _ in 0..300 {
        let mut set = Intervals::default();
        let mut model = [false; 66];
        for _ in 0..random(12) {
            let (a, b) = (random(66) as u8, random(66) as u8);
            let (low, high) = (a.min(b), a.max(b));
            let (low_key, high_key) = ([low], [high]);
            let low_edge = if low == 0 { Edge::Min } else { Edge::Key(&low_key) };
            let high_edge = if high == 65 { Edge::Max } else { Edge::Key(&high_key) };
            set.add(low_edge, high_edge);
            for point in low + 1..=high {
                model[usize::from(point)] = true;
            }
        }
        for point in 1..66u8 {
            assert_eq!(set.covers(&[point]), model[usize::from(point)], "point {point}");
        }
        let runs = model.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        assert_eq!(set.len(), runs, "touching intervals are merged");
    }
}
