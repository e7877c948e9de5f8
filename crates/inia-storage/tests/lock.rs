//! Row and gap locks: grants, waits and deadlocks.

#[path = "../src/lock/gap.rs"]
mod gap;
#[path = "../src/lock/owner.rs"]
mod owner;
#[path = "../src/lock/record.rs"]
mod record;
#[path = "../src/lock/wait.rs"]
mod wait;

use super::{StorageError, explore};
use crate::request::LockMode::{self, Exclusive, Shared};
use crate::sync::{AtomicBool, AtomicU64, Ordering};
use gap::{Edge, Gaps};
use inia_base::ids::{TreeId, TxnId};
use loom::thread;
use owner::Owner;
use record::Grant;
use std::sync::Arc;
use std::time::Duration;
use wait::{LockSystem, RecordRequest};

const TREE: TreeId = TreeId(7);
const LIMIT: Duration = Duration::from_secs(1000);

/// Takes the lock, waiting for it; false when that was a deadlock.
fn take(locks: &LockSystem, owner: &Arc<Owner>, key: &[u8], mode: LockMode) -> bool {
    let request = RecordRequest { tree: TREE, key, mode };
    if locks.try_record(owner, request) != Grant::Conflict {
        return true;
    }
    match locks.wait_record(owner, request, LIMIT) {
        Ok(_) => true,
        Err(StorageError::Deadlock) => false,
        Err(other) => panic!("{other}"),
    }
}

/// Who may use the keys "1" and "2" at the moment: as many as hold the lock, or one alone.
#[derive(Default)]
struct Users([AtomicU64; 2]);

const ALONE: u64 = 100;

impl Users {
    /// Takes the lock, and uses its key until [`Users::leave`]; false when that was a deadlock.
    fn enter(&self, locks: &LockSystem, owner: &Arc<Owner>, key: usize, mode: LockMode) -> bool {
        let name: [&[u8]; 2] = [b"1", b"2"];
        let taken = take(locks, owner, name[key], mode);
        if taken {
            let weight = if mode == Exclusive { ALONE } else { 1 };
            let before = self.0[key].fetch_add(weight, Ordering::Relaxed);
            assert!(if mode == Exclusive { before == 0 } else { before < ALONE }, "{before}");
        }
        taken
    }

    fn leave(&self, key: usize, mode: LockMode) {
        let weight = if mode == Exclusive { ALONE } else { 1 };
        self.0[key].fetch_sub(weight, Ordering::Relaxed);
    }
}

/// How the two ended, over all interleavings: so many of them went on.
struct Endings([bool; 3]);

/// Runs both at the same time, each with an owner of its own, whose locks go at the end, in every
/// interleaving.
fn endings(
    first: impl Fn(&Users, &LockSystem, &Arc<Owner>) -> bool + Copy + Send + Sync + 'static,
    second: impl Fn(&Users, &LockSystem, &Arc<Owner>) -> bool + Copy + Send + Sync + 'static,
) -> Endings {
    let seen = Arc::new(std::sync::Mutex::new([false; 3]));
    let noted = Arc::clone(&seen);
    explore(2, move || {
        let (locks, users) = (Arc::new(LockSystem::new()), Arc::new(Users::default()));
        let run = |index, work: Box<dyn Fn(&Users, &LockSystem, &Arc<Owner>) -> bool>| {
            let (locks, users) = (Arc::clone(&locks), Arc::clone(&users));
            let owner = Arc::new(Owner::new(index));
            move || {
                let result = work(&users, &locks, &owner);
                locks.release_all(&owner);
                result
            }
        };
        let first = thread::spawn(run(1, Box::new(first)));
        let second = run(2, Box::new(second))();
        let went_on = usize::from(first.join().unwrap()) + usize::from(second);
        noted.lock().unwrap()[went_on] = true;
    });
    let seen = *seen.lock().unwrap();
    Endings(seen)
}

/// Locks both keys exclusively, in this order.
fn lock_both(users: &Users, locks: &LockSystem, owner: &Arc<Owner>, keys: [usize; 2]) -> bool {
    if !users.enter(locks, owner, keys[0], Exclusive) {
        return false;
    }
    let both = users.enter(locks, owner, keys[1], Exclusive);
    if both {
        users.leave(keys[1], Exclusive);
    }
    users.leave(keys[0], Exclusive);
    both
}

#[test]
fn of_two_that_lock_the_other_way_round_at_most_one_is_a_victim() {
    let Endings(seen) = endings(
        |users, locks, owner| lock_both(users, locks, owner, [0, 1]),
        |users, locks, owner| lock_both(users, locks, owner, [1, 0]),
    );
    assert_eq!(seen, [false, true, true]);
}

#[test]
fn two_that_lock_in_the_same_order_both_go_on() {
    let both = |users: &Users, locks: &LockSystem, owner: &Arc<Owner>| {
        lock_both(users, locks, owner, [0, 1])
    };
    let Endings(seen) = endings(both, both);
    assert_eq!(seen, [false, false, true]);
}

#[test]
fn of_two_that_want_more_than_they_share_exactly_one_may_go_on() {
    let upgrade = |users: &Users, locks: &LockSystem, owner: &Arc<Owner>| {
        if !users.enter(locks, owner, 0, Shared) {
            return false;
        }
        // What is shared is not used while the rest is waited for.
        users.leave(0, Shared);
        let alone = users.enter(locks, owner, 0, Exclusive);
        if alone {
            users.leave(0, Exclusive);
        }
        alone
    };
    let Endings(seen) = endings(upgrade, upgrade);
    // Both, where the one began only when the other had ended.
    assert_eq!(seen, [false, true, true]);
}

#[test]
fn inserts_into_each_others_gaps_are_a_deadlock_and_no_wait_is_for_ever() {
    let seen = Arc::new(std::sync::Mutex::new([false; 3]));
    let noted = Arc::clone(&seen);
    explore(2, move || {
        let (locks, gaps) = (Arc::new(LockSystem::new()), Arc::<Gaps>::default());
        let gone: Arc<[AtomicBool; 2]> = Arc::default();
        let insert = |at: usize, key: &'static [u8]| {
            let (locks, gaps, gone) = (Arc::clone(&locks), Arc::clone(&gaps), Arc::clone(&gone));
            move || {
                let owner = Arc::new(Owner::new(at as u32));
                gaps.lock(&owner, Edge::Key(b"10"), Edge::Key(b"20"));
                let waited = gaps
                    .forbid_insert(&owner, key)
                    .then(|| locks.wait_insert(&owner, TREE, &gaps, key, LIMIT));
                let inserts = match waited {
                    None => true,
                    Some(Ok(())) => {
                        let other_gone = gone[1 - at].load(Ordering::Relaxed);
                        assert!(other_gone, "its gap is locked yet");
                        true
                    }
                    Some(Err(StorageError::Deadlock)) => false,
                    Some(Err(other)) => panic!("{other}"),
                };
                gone[at].store(true, Ordering::Relaxed);
                locks.release_all(&owner);
                inserts
            }
        };
        let first = thread::spawn(insert(0, b"15"));
        let second = insert(1, b"16")();
        let inserts = usize::from(first.join().unwrap()) + usize::from(second);
        noted.lock().unwrap()[inserts] = true;
    });
    assert_eq!(*seen.lock().unwrap(), [false, true, true]);
}

/// How two others end that lock both keys, beside one that has "1" and releases it.
fn endings_beside_a_release(waiter: [usize; 2], other: [usize; 2]) -> Endings {
    let seen = Arc::new(std::sync::Mutex::new([false; 3]));
    let noted = Arc::clone(&seen);
    explore(2, move || {
        let (locks, users) = (Arc::new(LockSystem::new()), Arc::new(Users::default()));
        let holder = Arc::new(Owner::new(1));
        take(&locks, &holder, b"1", Exclusive);
        let run = |index, keys| {
            let (locks, users) = (Arc::clone(&locks), Arc::clone(&users));
            let owner = Arc::new(Owner::new(index));
            move || {
                let both = lock_both(&users, &locks, &owner, keys);
                locks.release_all(&owner);
                both
            }
        };
        let waiter = thread::spawn(run(2, waiter));
        locks.release_all(&holder);
        let went_on = usize::from(run(3, other)()) + usize::from(waiter.join().unwrap());
        noted.lock().unwrap()[went_on] = true;
    });
    let seen = *seen.lock().unwrap();
    Endings(seen)
}

#[test]
fn a_waiter_that_is_overtaken_has_its_key_for_itself_and_goes_on() {
    let Endings(seen) = endings_beside_a_release([0, 1], [0, 1]);
    assert_eq!(seen, [false, false, true]);
}

/// The waiter has the key that the one who overtakes it wants next.
#[test]
fn a_waiter_that_is_overtaken_is_found_in_a_deadlock() {
    let Endings(seen) = endings_beside_a_release([1, 0], [0, 1]);
    assert_eq!(seen, [false, true, true]);
}

/// The writer of "1" wants "2"; who has "2" wants "1", and got into the queue of "1" before anybody
/// knew of the writer. A third one names the writer at any moment.
#[test]
fn a_writer_found_out_late_leaves_nobody_waiting_for_ever() {
    let seen = Arc::new(std::sync::Mutex::new([false; 3]));
    let noted = Arc::clone(&seen);
    explore(2, move || {
        let locks = Arc::new(LockSystem::new());
        let [writer, other, early] = [1, 2, 3].map(|index| Arc::new(Owner::new(index)));
        writer.set_txn(TxnId(5));
        take(&locks, &other, b"2", Exclusive);
        take(&locks, &early, b"1", Shared);
        let run = |owner: &Arc<Owner>, key: &'static [u8]| {
            let (locks, owner) = (Arc::clone(&locks), Arc::clone(owner));
            thread::spawn(move || {
                let went_on = take(&locks, &owner, key, Exclusive);
                locks.release_all(&owner);
                went_on
            })
        };
        let threads = [run(&writer, b"2"), run(&other, b"1")];
        locks.make_explicit(&writer, TxnId(5), TREE, b"1");
        locks.release_all(&early);
        let went_on = threads.map(|thread| usize::from(thread.join().unwrap()));
        noted.lock().unwrap()[went_on.iter().sum::<usize>()] = true;
    });
    assert_eq!(*seen.lock().unwrap(), [false, true, false], "one of the two is the victim");
}
