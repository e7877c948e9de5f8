//! The status table by itself: what it remembers of a transaction, for how long, and for whom.

use crate::txn::snapshot::{Announced, LiveSnapshots, Snapshot};
use crate::txn::status::{StatusTable, TxnState};
use inia_base::ids::{Lsn, TxnId};
use inia_testkit::Random;
use std::collections::HashMap;

#[test]
fn the_low_water_mark_stops_at_what_runs_or_is_not_durable() {
    let status = StatusTable::new(TxnId(10), 8);
    let ids: Vec<TxnId> = (0..4).map(|owner| status.begin(owner)).collect();
    assert_eq!(ids, [10, 11, 12, 13].map(TxnId));
    assert_eq!(status.state(TxnId(9)), TxnState::Finished);
    assert_eq!(status.state(TxnId(12)), TxnState::Active(2));
    status.commit(TxnId(11), 1, Lsn(500));
    status.roll_back(TxnId(10), 0, Lsn(400));
    status.commit(TxnId(12), 2, Lsn(600));
    status.advance(Lsn(550));
    assert_eq!(status.low_water(), TxnId(12));
    status.advance(Lsn(600));
    assert_eq!(status.low_water(), TxnId(13));
    assert_eq!(status.state(TxnId(11)), TxnState::Committed(Lsn(500)));
}

/// An id is given a moment before its entry is made.
#[test]
fn the_low_water_mark_does_not_pass_one_that_is_just_beginning() {
    let status = StatusTable::new(TxnId(1), 4);
    // In the ring's first round and in later ones, where the slot has an older entry.
    for n in 0..10 {
        let id = status.give_id();
        status.advance(Lsn(1000));
        assert_eq!(status.low_water(), id);
        status.enter(id, 0);
        status.advance(Lsn(1000));
        assert_eq!((status.low_water(), status.state(id)), (id, TxnState::Active(0)));
        status.commit(id, 0, Lsn(n));
        status.advance(Lsn(1000));
        assert_eq!(status.low_water(), status.next_id());
    }
}

#[test]
fn a_snapshot_sees_commits_up_to_its_horizon_and_its_own_changes() {
    let status = StatusTable::new(TxnId(1), 8);
    for owner in 0..4 {
        status.begin(owner);
    }
    status.commit(TxnId(1), 0, Lsn(100));
    status.commit(TxnId(2), 1, Lsn(300));
    status.roll_back(TxnId(4), 3, Lsn(150));
    let end = status.next_id();
    let snapshot = Snapshot { low_water: status.low_water(), horizon: Lsn(200), end };
    let sees = |id| snapshot.sees(TxnId(id), TxnId(3), &status);
    assert_eq!([1, 2, 3, 4].map(sees), [true, false, true, false]);
}

/// A snapshot taken now, with everything up to `horizon` durable.
fn take(status: &StatusTable, horizon: Lsn) -> Snapshot {
    Snapshot { low_water: status.low_water(), horizon, end: status.next_id() }
}

/// Registers the open snapshots with the table.
fn forget(status: &StatusTable, durable: Lsn, open: &[Snapshot]) {
    let announced = open.iter().map(|of| Announced { horizon: of.horizon, end: Some(of.end) });
    status.forget(LiveSnapshots::new(durable, status.next_id(), announced));
}

#[test]
fn entries_that_somebody_may_ask_for_survive_the_rings_next_round() {
    let status = StatusTable::new(TxnId(1), 4);
    let slow = status.begin(7);
    let old = status.begin(1);
    status.commit(old, 1, Lsn(100));
    let recent = status.begin(1);
    let snapshot = take(&status, Lsn(150));
    status.commit(recent, 1, Lsn(200));
    forget(&status, Lsn(150), &[snapshot]);
    for n in 0..20 {
        let id = status.begin(2);
        status.commit(id, 2, Lsn(300 + n));
    }
    assert_eq!(status.state(slow), TxnState::Active(7));
    assert_eq!(status.state(old), TxnState::Finished);
    assert_eq!(status.state(recent), TxnState::Committed(Lsn(200)));
    assert!(!snapshot.sees(recent, TxnId(0), &status));
    status.advance(Lsn(1000));
    assert_eq!(status.low_water(), slow);
    status.commit(slow, 7, Lsn(400));
    assert_eq!(status.state(slow), TxnState::Committed(Lsn(400)));
    status.advance(Lsn(1000));
    assert_eq!(status.low_water(), status.next_id());
    forget(&status, Lsn(1000), &[]);
    assert_eq!(status.aside_len(), 0);
}

#[test]
fn an_open_snapshot_keeps_no_transaction_that_began_after_it() {
    let status = StatusTable::new(TxnId(1), 4);
    let running = status.begin(1);
    let snapshot = take(&status, Lsn(50));
    status.commit(running, 1, Lsn(60));
    let mut durable = 100;
    for _ in 0..1000 {
        let id = status.begin(2);
        status.commit(id, 2, Lsn(durable + 5));
        durable += 10;
        forget(&status, Lsn(durable), &[snapshot]);
        assert!(status.aside_len() <= 1, "only the one that was running");
        assert!(!snapshot.sees(id, TxnId(0), &status));
    }
    assert!(!snapshot.sees(running, TxnId(0), &status));
    assert!(!snapshot.sees(TxnId(10), TxnId(0), &status), "forgotten, and still invisible");
    assert!(take(&status, Lsn(durable)).sees(TxnId(10), TxnId(0), &status));
}

#[test]
fn a_snapshot_that_is_being_taken_keeps_what_it_may_turn_out_to_need() {
    let status = StatusTable::new(TxnId(1), 4);
    let early = Announced { horizon: Lsn(50), end: None };
    let live =
        |durable: u64| LiveSnapshots::new(Lsn(durable), status.next_id(), std::iter::once(early));
    assert_eq!(live(100).least_end(), None);
    let id = status.begin(1);
    status.commit(id, 1, Lsn(60));
    status.forget(live(100));
    for n in 0..8 {
        let id = status.begin(2);
        status.commit(id, 2, Lsn(40 + n));
    }
    assert_eq!(status.state(id), TxnState::Committed(Lsn(60)));
}

/// A run of transactions and snapshots in random order, with everything that ever was written down
/// beside the table. Each open snapshot must at each moment agree with the notes.
struct History {
    random: Random,
    status: StatusTable,
    log: u64,
    durable: u64,
    running: Vec<(TxnId, u32)>,
    /// Where each finished transaction's last record ends, and whether it committed.
    finished: HashMap<TxnId, (Lsn, bool)>,
    /// The open snapshots, and the log's end when each was taken.
    open: Vec<(Snapshot, Lsn)>,
}

impl History {
    fn step(&mut self) {
        match self.random.below(100) {
            0..35 if self.running.len() < 6 => {
                let free = |owner: &u32| self.running.iter().all(|(_, taken)| taken != owner);
                let owner = (0..).find(free).unwrap();
                self.running.push((self.status.begin(owner), owner));
            }
            // The oldest one is left alone mostly, and so becomes old.
            35..75 if self.running.len() > 1 => {
                let young = u64::from(self.random.chance(99, 100));
                let at = (young + self.random.below(self.running.len() as u64 - young)) as usize;
                let (id, owner) = self.running.remove(at);
                self.log += 1 + self.random.below(20);
                let (end, commits) = (Lsn(self.log), self.random.chance(4, 5));
                if commits {
                    self.status.commit(id, owner, end);
                } else {
                    self.status.roll_back(id, owner, end);
                }
                self.finished.insert(id, (end, commits));
            }
            75..85 => self.durable = self.log,
            85..88 if self.open.len() < 5 => {
                self.open.push((take(&self.status, Lsn(self.durable)), Lsn(self.log)));
            }
            88..90 if !self.open.is_empty() => {
                let at = self.random.index(self.open.len());
                self.open.remove(at);
            }
            90..95 => {
                let open: Vec<Snapshot> = self.open.iter().map(|(of, _)| *of).collect();
                forget(&self.status, Lsn(self.durable), &open);
            }
            _ => self.status.advance(Lsn(self.durable)),
        }
    }

    fn check(&self) {
        for (snapshot, taken) in &self.open {
            let from = snapshot.end.0.saturating_sub(40).max(1);
            for id in (from..self.status.next_id().0).map(TxnId) {
                let expected = match self.finished.get(&id) {
                    // Its versions were gone from the trees before the snapshot was taken.
                    Some((end, false)) if end <= taken => continue,
                    Some((end, true)) => *end <= snapshot.horizon,
                    Some((_, false)) | None => false,
                };
                let sees = snapshot.sees(id, TxnId(0), &self.status);
                assert_eq!(sees, expected, "transaction {id} in {snapshot:?}");
            }
        }
    }
}

#[test]
fn snapshots_of_every_age_agree_with_a_complete_history() {
    for seed in 0..40 {
        let mut history = History {
            random: Random::new(seed),
            status: StatusTable::new(TxnId(1), 8),
            log: 10,
            durable: 10,
            running: Vec::new(),
            finished: HashMap::new(),
            open: Vec::new(),
        };
        for _ in 0..1500 {
            history.step();
            history.check();
        }
    }
}
