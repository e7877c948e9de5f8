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
use gap::{Edge, Gaps};
use inia_base::ids::TreeId;
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

/// Runs both at the same time, each with an owner of its own, whose locks go at the end.
fn both<R: 'static>(
    first: impl Fn(&LockSystem, &Arc<Owner>) -> R + 'static,
    second: impl Fn(&LockSystem, &Arc<Owner>) -> R + 'static,
) -> (R, R) {
    let locks = Arc::new(LockSystem::new());
    let run = |index, work: Box<dyn Fn(&LockSystem, &Arc<Owner>) -> R>| {
        let (locks, owner) = (Arc::clone(&locks), Arc::new(Owner::new(index)));
        move || {
            let result = work(&locks, &owner);
            locks.release_all(&owner);
            result
        }
    };
    let first = thread::spawn(run(1, Box::new(first)));
    let second = run(2, Box::new(second))();
    (first.join().unwrap(), second)
}

#[test]
fn of_two_that_lock_the_other_way_round_at_most_one_is_a_victim() {
    explore(2, || {
        let (a, b) = both(
            |locks, owner| {
                take(locks, owner, b"1", Exclusive) && take(locks, owner, b"2", Exclusive)
            },
            |locks, owner| {
                take(locks, owner, b"2", Exclusive) && take(locks, owner, b"1", Exclusive)
            },
        );
        assert!(a || b);
    });
}

#[test]
fn of_two_that_want_more_than_they_share_exactly_one_may_go_on() {
    explore(2, || {
        let upgrade = |locks: &LockSystem, owner: &Arc<Owner>| {
            take(locks, owner, b"1", Shared) && take(locks, owner, b"1", Exclusive)
        };
        let (a, b) = both(upgrade, upgrade);
        assert!(a || b);
    });
}

#[test]
fn inserts_into_each_others_gaps_are_a_deadlock_and_no_wait_is_for_ever() {
    explore(2, || {
        let gaps: Arc<Gaps> = Arc::default();
        let insert = |gaps: Arc<Gaps>, key: &'static [u8]| {
            move |locks: &LockSystem, owner: &Arc<Owner>| {
                gaps.lock(owner, Edge::Key(b"10"), Edge::Key(b"20"));
                if !gaps.forbid_insert(owner, key) {
                    return true;
                }
                match locks.wait_insert(owner, TREE, &gaps, key, LIMIT) {
                    Ok(()) => true,
                    Err(StorageError::Deadlock) => false,
                    Err(other) => panic!("{other}"),
                }
            }
        };
        let (a, b) = both(insert(Arc::clone(&gaps), b"15"), insert(gaps, b"16"));
        assert!(a || b);
    });
}
