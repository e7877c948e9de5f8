//! Cycles through long queues, and random requests: no cycle of waits is ever left standing.

use super::*;
use inia_testkit::Random;
use std::collections::{HashMap, HashSet};

#[test]
fn in_a_long_queue_only_the_two_that_wait_for_each_other_are_considered() {
    let world = World::new(10);
    world.owners[0].set_undo_records(10);
    world.owners[9].set_undo_records(5);
    world.take(0, b"hot", Exclusive);
    world.take(9, b"other", Exclusive);
    let queue: Vec<_> = (1..10).map(|owner| world.wait_for(owner, b"hot", Exclusive)).collect();
    let last = {
        let (locks, me) = (Arc::clone(&world.locks), Arc::clone(&world.owners[0]));
        let request = RecordRequest { tree: TREE, key: b"other", mode: Exclusive };
        std::thread::spawn(move || locks.wait_record(&me, request, LONG))
    };
    let mut results: Vec<_> = queue.into_iter().rev().collect();
    let victim = results.remove(0).join().unwrap();
    assert!(matches!(victim, Err(StorageError::Deadlock)), "9 is the lighter of 0 and 9");
    world.release(9);
    assert!(last.join().unwrap().is_ok());
    world.release(0);
    for (owner, waiting) in (1..9).zip(results.into_iter().rev()) {
        assert!(waiting.join().unwrap().is_ok(), "the others are served in order");
        world.release(owner);
    }
}

#[test]
fn one_that_leaves_a_long_queue_does_not_hide_those_ahead_of_it() {
    // 3 waits behind 2, and 2 behind 1, for 0. When 2 has gone, 3 still waits for 0 and 1.
    let world = World::new(4);
    world.take(0, b"hot", Exclusive);
    world.take(3, b"other", Exclusive);
    let first = world.wait_for(1, b"hot", Exclusive);
    let leaving = world.wait_for(2, b"hot", Exclusive);
    let last = world.wait_for(3, b"hot", Exclusive);
    world.owners[2].interrupt();
    assert!(leaving.join().unwrap().is_err());
    let request = RecordRequest { tree: TREE, key: b"other", mode: Exclusive };
    let closing = world.locks.wait_record(&world.owners[0], request, LONG);
    assert!(matches!(closing, Err(StorageError::Deadlock)), "the newcomer of two equals");
    world.release(0);
    first.join().unwrap().unwrap();
    world.release(1);
    last.join().unwrap().unwrap();
}

#[test]
fn a_gap_taken_while_an_insert_waits_makes_its_owner_awaited() {
    // 1 waits to insert into 0's gap. 2 takes the same gap and then waits for 1's record.
    let world = World::new(3);
    world.gaps.lock(&world.owners[0], Edge::Key(b"10"), Edge::Key(b"20"));
    world.take(1, b"k", Exclusive);
    let insert = world.wait_to_insert(1, b"15");
    world.gaps.lock(&world.owners[2], Edge::Key(b"10"), Edge::Key(b"20"));
    let request = RecordRequest { tree: TREE, key: b"k", mode: Shared };
    let closing = world.locks.wait_record(&world.owners[2], request, LONG);
    assert!(matches!(closing, Err(StorageError::Deadlock)));
    world.release(2);
    world.release(0);
    insert.join().unwrap().unwrap();
}

/// Owners that run, wait, and end at random.
struct Play {
    world: World,
    waits: HashMap<usize, Waiting>,
    deadlocks: usize,
}

impl Play {
    const KEYS: [&'static [u8]; 3] = [b"a", b"b", b"c"];

    /// Has an owner that runs ask for something, or end.
    fn step(&mut self, owner: usize, random: &mut Random) {
        let key = Play::KEYS[random.index(Play::KEYS.len())];
        match random.below(8) {
            0 => self.world.release(owner),
            1 => {
                let low = [random.below(200) as u8];
                self.world.gaps.lock(&self.world.owners[owner], Edge::Key(&low), Edge::Max);
            }
            2 => {
                self.ask(owner, move |locks, me, gaps| locks.wait_insert(me, TREE, gaps, key, LONG))
            }
            3 => {
                let id = TxnId(owner as u64 + 1);
                self.world.owners[owner].set_txn(id);
                self.world.locks.make_explicit(&self.world.owners[owner], id, TREE, key);
            }
            choice => {
                let mode = if choice < 6 { Shared } else { Exclusive };
                self.ask(owner, move |locks, me, _| {
                    locks.wait_record(me, RecordRequest { tree: TREE, key, mode }, LONG).map(|_| ())
                });
            }
        }
    }

    fn ask(
        &mut self,
        owner: usize,
        request: impl FnOnce(&LockSystem, &Arc<Owner>, &Arc<Gaps>) -> Result<(), StorageError>
        + Send
        + 'static,
    ) {
        let (locks, gaps) = (Arc::clone(&self.world.locks), Arc::clone(&self.world.gaps));
        let me = Arc::clone(&self.world.owners[owner]);
        self.waits.insert(owner, std::thread::spawn(move || request(&locks, &me, &gaps)));
        self.settle();
    }

    /// Lets every thread run until it waits or has ended.
    fn settle(&mut self) {
        while let Some(owner) = self.running_thread() {
            if self.waits[&owner].is_finished() {
                let ended = self.waits.remove(&owner).expect("it was found there");
                if matches!(ended.join().unwrap(), Err(StorageError::Deadlock)) {
                    self.deadlocks += 1;
                    self.world.release(owner);
                }
            }
            std::thread::yield_now();
        }
    }

    /// A thread that does not wait. One that has begun to wait may be in its search for a cycle.
    fn running_thread(&self) -> Option<usize> {
        let runs = |owner: &usize| !self.world.owners[*owner].is_waiting();
        self.world.locks.at_rest(|| self.waits.keys().copied().find(runs))
    }

    /// Whether some owners wait for each other in a cycle.
    fn has_cycle(&self) -> bool {
        let blockers = |owner: &Arc<Owner>| {
            let wait = self.world.locks.wait_of(owner);
            wait.map_or(Vec::new(), |wait| wait.blockers)
        };
        self.world.owners.iter().any(|start| {
            let mut open: Vec<u32> = blockers(start).into_iter().map(|(index, _)| index).collect();
            let mut seen = HashSet::new();
            while let Some(next) = open.pop() {
                if next == start.index() {
                    return true;
                }
                if seen.insert(next) {
                    let further = blockers(&self.world.owners[next as usize]);
                    open.extend(further.into_iter().map(|(index, _)| index));
                }
            }
            false
        })
    }
}

/// After each request everybody either runs or waits for somebody who runs, in the end.
#[test]
fn random_requests_leave_no_cycle() {
    let mut deadlocks = 0;
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut play = Play { world: World::new(6), waits: HashMap::new(), deadlocks: 0 };
        for _ in 0..120 {
            let owner = random.index(6);
            if !play.waits.contains_key(&owner) {
                play.step(owner, &mut random);
                play.settle();
                assert!(!play.has_cycle(), "seed {seed}");
            }
        }
        while !play.waits.is_empty() {
            let runs = |owner: &usize| !play.waits.contains_key(owner);
            let running: Vec<usize> = (0..6).filter(runs).collect();
            assert!(!running.is_empty(), "seed {seed}: everybody waits");
            for owner in running {
                play.world.release(owner);
                play.settle();
            }
        }
        deadlocks += play.deadlocks;
    }
    assert!(deadlocks > 100, "the requests are such that deadlocks are common");
}
