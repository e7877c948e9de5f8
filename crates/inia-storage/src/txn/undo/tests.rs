//! Undo that is larger than its budget: what is read from the file is what was written.

use super::chunk::Chunk;
use super::spill::SpillFile;
use super::*;
use crate::sync::Mutex;
use inia_base::ids::{Lsn, TxnId};
use inia_base::io::MemDisk;
use inia_testkit::{Fault, SimDisk, When};

struct Undo {
    store: Arc<UndoStore>,
    history: Arc<Mutex<History>>,
    log: UndoLog,
}

impl Undo {
    fn new(disk: Arc<dyn Disk>, budget: u64) -> Undo {
        let store = Arc::new(UndoStore::new(disk, budget));
        let history: Arc<Mutex<History>> = Arc::default();
        let log = UndoLog::new(Arc::clone(&store), Arc::clone(&history));
        Undo { store, history, log }
    }

    fn push(&mut self, n: u64) -> Result<UndoRef> {
        let before = RecordHeader::new(TxnId(n), n, false);
        let (key, payload) = (n.to_be_bytes(), payload(n));
        self.store.make_room()?;
        let (kind, tree) = (UndoKind::Change, TreeId(5));
        Ok(self.log.push(NewUndo { kind, tree, key: &key, before, payload: &payload, after: 0 }))
    }

    fn check(&self, places: &[UndoRef]) {
        let mut record = UndoRecord::default();
        for (n, &at) in places.iter().enumerate() {
            assert!(self.store.read(at, &mut record).unwrap());
            assert_eq!(record.payload, payload(n as u64));
            assert_eq!(record.key, (n as u64).to_be_bytes());
        }
    }
}

/// Mostly short, sometimes longer than a chunk.
fn payload(n: u64) -> Vec<u8> {
    let len = if n.is_multiple_of(97) { 9000 } else { n % 300 };
    vec![n as u8; len as usize]
}

#[test]
fn records_beyond_the_budget_are_read_back_from_a_file_without_a_name() {
    let disk = MemDisk::new();
    let mut undo = Undo::new(Arc::new(disk.clone()), 32 << 10);
    let places: Vec<UndoRef> = (0..5000).map(|n| undo.push(n).unwrap()).collect();
    assert!(undo.store.bytes() < 80 << 10, "{}", undo.store.bytes());
    assert!(undo.store.spilled_bytes() > 900 << 10);
    assert_eq!(disk.list().unwrap(), Vec::<String>::new());
    undo.check(&places);
    assert!(undo.store.bytes() < 90 << 10);
}

#[test]
fn purged_chunks_give_their_space_in_the_file_back() {
    let mut undo = Undo::new(Arc::new(MemDisk::new()), 16 << 10);
    for round in 0..4 {
        let mut places = Vec::new();
        for n in 0..2000 {
            places.push(undo.push(n).unwrap());
            if n % 10 == 9 {
                undo.log.finish(TxnId(n), Lsn(round * 10_000 + n));
            }
        }
        undo.check(&places);
        let spilled = undo.store.spilled_bytes();
        assert!(spilled > 300 << 10 && spilled < 700 << 10, "{spilled}");
        assert_eq!(undo.history.lock().len(), 200);
        while undo.history.lock().start_purge(Lsn(1 << 40)).is_some() {
            undo.history.lock().end_purge(&undo.store);
        }
        assert_eq!((undo.history.lock().len(), undo.store.spilled_bytes()), (0, 0));
    }
}

#[test]
fn a_full_disk_fails_the_change_and_loses_nothing() {
    let disk = SimDisk::new();
    let mut undo = Undo::new(Arc::new(disk.clone()), 16 << 10);
    let mut places: Vec<UndoRef> = (0..500).map(|n| undo.push(n).unwrap()).collect();
    disk.inject(When::Change(2), Fault::NoSpace);
    let mut failures = 0;
    let mut spilled = undo.store.spilled_bytes();
    while places.len() < 1500 {
        match undo.push(places.len() as u64) {
            Ok(at) => {
                places.push(at);
                spilled = undo.store.spilled_bytes();
            }
            Err(error) => {
                assert_eq!(undo.store.spilled_bytes(), spilled, "its slots are free again");
                assert!(matches!(error, crate::StorageError::DiskFull), "{error}");
                failures += 1;
            }
        }
    }
    assert_eq!(failures, 1);
    undo.check(&places);
}

#[test]
fn a_damaged_slot_is_an_error() {
    let disk = SimDisk::new();
    let mut undo = Undo::new(Arc::new(disk.clone()), 2 << 10);
    let places: Vec<UndoRef> = (0..200).map(|n| undo.push(n).unwrap()).collect();
    disk.inject(When::Read(1), Fault::Io);
    assert!(undo.store.read(places[1], &mut UndoRecord::default()).is_err());
    undo.check(&places);
}

/// A slot may have got a new owner while a reader was on its way to it.
#[test]
fn a_slot_of_another_chunk_or_of_another_part_is_an_error() {
    let file = SpillFile::new(Some(Arc::new(MemDisk::new())), 8);
    let chunk = |id| {
        let chunk = Chunk::new(id, (0..12).map(|_| Default::default()).collect());
        (0..12).for_each(|word| chunk.put(word, 100 * id + word as u64));
        chunk
    };
    let (seven, eight) = (file.write(&chunk(7)).unwrap(), file.write(&chunk(8)).unwrap());
    let read = file.read(7, &seven, 12).unwrap();
    assert_eq!((read.get(0), read.get(11)), (700, 711));
    assert!(file.read(7, &eight, 12).is_err(), "slots of another chunk");
    assert!(file.read(7, &[seven[1], seven[0]], 12).is_err(), "parts in another order");
    file.free(&seven);
    assert_eq!(file.write(&chunk(9)).unwrap().len(), 2);
    assert!(file.read(7, &seven, 12).is_err(), "slots that were given away");
}

#[test]
fn short_transactions_under_a_long_snapshot_cost_little_besides_their_records() {
    let mut undo = Undo::new(Arc::new(MemDisk::new()), 16 << 10);
    for n in 1..20_000 {
        undo.push(n % 50).unwrap();
        undo.log.finish(TxnId(n), Lsn(n));
    }
    assert_eq!(undo.history.lock().len(), 19_999);
    assert_eq!(undo.history.lock().start_purge(Lsn(0)).map(|txn| txn.txn), None);
    while undo.history.lock().start_purge(Lsn(1 << 40)).is_some() {
        undo.history.lock().end_purge(&undo.store);
    }
    assert_eq!(undo.history.lock().len(), 0);
}

fn new_undo(payload: &[u8]) -> NewUndo<'_> {
    let (kind, tree, before) = (UndoKind::Change, TreeId(5), RecordHeader::new(TxnId(3), 0, false));
    NewUndo { kind, tree, key: b"key", before, payload, after: 0 }
}

#[test]
fn recovery_refuses_places_that_do_not_grow() {
    let store = UndoStore::in_memory();
    let mut found = recovered::Recovered::default();
    found.push(&store, UndoRef::new(2, 100), &new_undo(b"first")).unwrap();
    for (chunk, word) in [(2, 100), (2, 104), (2, 10), (1, 500), (0, 7), (1 << 43, 0)] {
        let place = UndoRef::new(chunk, word);
        assert!(found.push(&store, place, &new_undo(b"second")).is_err(), "{chunk}, {word}");
    }
    found.push(&store, UndoRef::new(2, 107), &new_undo(b"second")).unwrap();
    // Steps that are logged again must end before the others begin.
    found.begin_again();
    found.push_again(&store, UndoRef::new(2, 90), &new_undo(&[1; 80])).unwrap();
    assert!(found.end_again(&store).is_err());
}

/// A transaction had made the steps a to d when its log was written again, and went on with e. The
/// log is kept from a place between c and d on:
///
/// ```text
///   d   begin   a b   e   c d   end
/// ```
#[test]
fn steps_logged_again_are_joined_to_those_that_are_there() {
    let store = UndoStore::in_memory();
    let place = |step: usize| UndoRef::new(1 + step as u64 / 3, 100 + 50 * (step % 3));
    let payload = |step: usize| vec![step as u8; 20 + step];
    let mut found = recovered::Recovered::default();
    let first = |found: &mut recovered::Recovered, step| {
        found.push(&store, place(step), &new_undo(&payload(step))).unwrap();
    };
    let again = |found: &mut recovered::Recovered, step| {
        found.push_again(&store, place(step), &new_undo(&payload(step))).unwrap();
    };
    first(&mut found, 3);
    found.begin_again();
    again(&mut found, 0);
    again(&mut found, 1);
    first(&mut found, 4);
    again(&mut found, 2);
    again(&mut found, 3);
    found.end_again(&store).unwrap();
    // A copy that comes without its beginning counts for nothing.
    again(&mut found, 0);
    assert_eq!((found.first(), found.tail(), found.records()), (place(0), place(4), 5));

    let (mut record, mut at) = (UndoRecord::default(), found.tail());
    for step in (0..5).rev() {
        assert_eq!(at, place(step));
        assert!(store.read(at, &mut record).unwrap());
        assert_eq!(record.payload, payload(step));
        at = record.previous;
    }
    assert_eq!(at, UndoRef::NONE);
    let bytes = (0..5).map(|step| 8 * new_undo(&payload(step)).words() as u64).sum::<u64>();
    assert_eq!(found.bytes(), bytes);
}

/// Two transactions' records in the same place, as a damaged log may have them.
#[test]
fn a_record_that_another_has_overwritten_is_an_error() {
    let store = UndoStore::in_memory();
    let (mut one, mut other) = (recovered::Recovered::default(), recovered::Recovered::default());
    let at = UndoRef::new(1, 8100);
    one.push(&store, at, &new_undo(&[0xff; 200])).unwrap();
    other.push(&store, UndoRef::new(1, 8094), &new_undo(&[0xff; 200])).unwrap();
    let (mut record, mut payload) = (UndoRecord::default(), Vec::new());
    assert!(store.read(at, &mut record).is_err());
    assert!(store.version_before(at, &mut payload).is_err());
    assert!(store.read(UndoRef::new(1, (1 << 20) - 1), &mut record).is_err());
    // One that says that it follows itself.
    other.push(&store, UndoRef::new(3, 0), &new_undo(b"")).unwrap();
    let chunk = store.chunks.find(3).unwrap().unwrap();
    chunk.put(PREVIOUS_WORD, UndoRef::new(3, 0).0);
    assert!(store.read(UndoRef::new(3, 0), &mut record).is_err());
}

#[test]
fn idle_sessions_give_their_chunks_back_beyond_the_budget() {
    let budget = 256 << 10;
    let first = Undo::new(Arc::new(MemDisk::new()), budget);
    let mut logs: Vec<UndoLog> =
        (0..200).map(|_| UndoLog::new(Arc::clone(&first.store), Arc::default())).collect();
    for round in 0..3 {
        for (n, log) in logs.iter_mut().enumerate() {
            first.store.make_room().unwrap();
            let (key, before) = ([n as u8], RecordHeader::new(TxnId(1), 1, false));
            let (kind, tree) = (UndoKind::Change, TreeId(5));
            let place =
                log.push(NewUndo { kind, tree, key: &key, before, payload: &key, after: 0 });
            let mut record = UndoRecord::default();
            assert!(first.store.read(place, &mut record).unwrap());
            log.finish(TxnId(n as u64), Lsn(round * 1000 + n as u64));
            assert!(first.store.read(place, &mut record).unwrap(), "it waits for purge");
        }
        assert!(first.store.bytes() < 3 * budget, "{} bytes", first.store.bytes());
    }
}
