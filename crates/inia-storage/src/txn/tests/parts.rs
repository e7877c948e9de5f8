//! Undo by itself.

use crate::node::RecordHeader;
use crate::sync::Mutex;
use crate::txn::undo::{History, NewUndo, UndoKind, UndoLog, UndoRecord, UndoRef, UndoStore};
use inia_base::ids::{Lsn, TreeId, TxnId};
use std::sync::Arc;

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

#[test]
fn a_log_that_has_let_go_frees_no_chunk_of_the_next_one() {
    let mut undo = Undo::new();
    undo.push(UndoKind::Insert, b"key", b"");
    undo.log.finish(TxnId(7), Lsn(70));
    undo.log.let_go();
    let next = UndoLog::new(Arc::clone(&undo.store), Arc::clone(&undo.history));
    let before = std::mem::replace(&mut undo.log, next);
    let place = undo.push(UndoKind::Change, b"key", b"old");
    drop(before);
    assert!(undo.store.read(place, &mut UndoRecord::default()).unwrap());
}
