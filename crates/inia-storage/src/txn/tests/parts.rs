//! The parts by themselves: status table and undo.

use crate::node::RecordHeader;
use crate::sync::Mutex;
use crate::txn::snapshot::Snapshot;
use crate::txn::status::{StatusTable, TxnState};
use crate::txn::undo::{History, NewUndo, UndoKind, UndoLog, UndoRecord, UndoRef, UndoStore};
use inia_base::ids::{Lsn, TreeId, TxnId};
use std::sync::Arc;

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
    let snapshot = Snapshot { low_water: status.low_water(), horizon: Lsn(200) };
    let sees = |id| snapshot.sees(TxnId(id), TxnId(3), &status);
    assert_eq!([1, 2, 3, 4].map(sees), [true, false, true, false]);
}

#[test]
fn entries_that_somebody_may_ask_for_survive_the_rings_next_round() {
    let status = StatusTable::new(TxnId(1), 4);
    let slow = status.begin(7);
    let old = status.begin(1);
    status.commit(old, 1, Lsn(100));
    status.forget(Lsn(150));
    let recent = status.begin(1);
    status.commit(recent, 1, Lsn(200));
    for n in 0..20 {
        let id = status.begin(2);
        status.commit(id, 2, Lsn(300 + n));
    }
    assert_eq!(status.state(slow), TxnState::Active(7));
    assert_eq!(status.state(old), TxnState::Finished);
    assert_eq!(status.state(recent), TxnState::Committed(Lsn(200)));
    status.advance(Lsn(1000));
    assert_eq!(status.low_water(), slow);
    status.commit(slow, 7, Lsn(400));
    assert_eq!(status.state(slow), TxnState::Committed(Lsn(400)));
    status.advance(Lsn(1000));
    assert_eq!(status.low_water(), status.next_id());
    status.forget(Lsn(1000));
    assert_eq!(status.aside_len(), 0);
}

struct Undo {
    store: Arc<UndoStore>,
    history: Arc<Mutex<History>>,
    log: UndoLog,
}

impl Undo {
    fn new() -> Undo {
        let store = Arc::new(UndoStore::in_memory());
        let history: Arc<Mutex<History>> = Arc::default();
        let log = UndoLog::new(Arc::clone(&store), Arc::clone(&history));
        Undo { store, history, log }
    }

    fn push(&mut self, kind: UndoKind, key: &[u8], payload: &[u8]) -> UndoRef {
        let before = RecordHeader::new(TxnId(3), 9, false);
        self.log.push(NewUndo { kind, tree: TreeId(5), key, before, payload, after: 0 })
    }
}

#[test]
fn an_undo_record_is_read_back_as_it_was_written() {
    let mut undo = Undo::new();
    let payloads = [vec![], b"seven b".to_vec(), vec![8; 8], vec![9; 200_000]];
    let mut places = Vec::new();
    for payload in &payloads {
        places.push(undo.push(UndoKind::Change, b"some key", payload));
    }
    let mut record = UndoRecord::default();
    let mut version = Vec::new();
    for (i, payload) in payloads.iter().enumerate() {
        assert!(undo.store.read(places[i], &mut record).unwrap());
        assert_eq!((record.kind, record.tree), (UndoKind::Change, TreeId(5)));
        assert_eq!((&record.key[..], &record.payload), (&b"some key"[..], payload));
        assert_eq!(record.previous, if i == 0 { UndoRef::NONE } else { places[i - 1] });
        let header = undo.store.version_before(places[i], &mut version).unwrap().unwrap();
        assert_eq!((header, &version), (RecordHeader::new(TxnId(3), 9, false), payload));
    }
}

#[test]
fn chunks_are_freed_when_the_oldest_transactions_in_them_are_purged() {
    let mut undo = Undo::new();
    for txn in 1..=40u64 {
        undo.push(UndoKind::Change, b"key", &[0; 10_000]);
        undo.log.finish(TxnId(txn), Lsn(txn * 100));
    }
    let full = undo.store.bytes();
    assert!(full >= 400_000);
    let mut purged = 0;
    loop {
        let Some(oldest) = undo.history.lock().start_purge(Lsn(2_000)) else { break };
        assert!(oldest.end <= Lsn(2_000));
        undo.history.lock().end_purge(&undo.store);
        purged += 1;
    }
    assert_eq!(purged, 20);
    let half = undo.store.bytes();
    assert!(half < full * 2 / 3 && half > full / 3, "{half} of {full}");
}

#[test]
fn inserts_leave_no_history() {
    let mut undo = Undo::new();
    for txn in 1..=1000 {
        undo.push(UndoKind::Insert, b"key", &[0; 100]);
        undo.log.finish(TxnId(txn), Lsn(txn));
    }
    assert_eq!(undo.history.lock().len(), 0);
    assert!(undo.store.bytes() <= 1 << 16);
}
