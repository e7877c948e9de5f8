//! A session's undo log, and what of it waits for purge.

use super::chunk::Chunk;
use super::recovered::Recovered;
use super::{HEADER_WORDS, NewUndo, OFFSET_BITS, UndoKind, UndoRecord, UndoRef, UndoStore};
use crate::node::RecordHeader;
use crate::reserve::{Claim, Need};
use crate::sync::Mutex;
use inia_base::ids::{Lsn, TreeId, TxnId};
use std::collections::VecDeque;
use std::sync::Arc;

/// Finished transactions from which on those without deletions are merged, one entry per chunk.
const MERGE_THRESHOLD: usize = 256;

/// Finished transactions whose undo records wait for purge: one, or several without deletions whose
/// records lie in the same chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    /// The one, or the first.
    pub(crate) txn: TxnId,
    /// Snapshots at or above this position need nothing of it.
    pub(crate) end: Lsn,
    /// The newest record not purged yet.
    pub(crate) tail: UndoRef,
    /// How many deletions are among the records.
    pub(crate) deletes: u64,
    first_chunk: u64,
    transactions: usize,
}

/// A session's chunks and its finished transactions, shared with background purge.
#[derive(Default)]
pub(crate) struct History {
    chunks: VecDeque<u64>,
    finished: VecDeque<Finished>,
    /// How many transactions `finished` stands for.
    transactions: usize,
    /// First chunk of the running transaction, once it has more than one.
    active_first: Option<u64>,
    /// The chunk that is being written to.
    current: Option<u64>,
    busy: bool,
}

impl History {
    /// How many transactions wait for purge.
    pub(crate) fn len(&self) -> usize {
        self.transactions
    }

    /// The end of the transaction that is purged next.
    pub(crate) fn oldest(&self) -> Option<Lsn> {
        self.finished.front().map(|front| front.end)
    }

    /// Begins the purge of the oldest transaction, if no snapshot below `horizon` needs it.
    pub(crate) fn start_purge(&mut self, horizon: Lsn) -> Option<Finished> {
        let front = *self.finished.front()?;
        if self.busy || front.end > horizon {
            return None;
        }
        self.busy = true;
        Some(front)
    }

    /// Pauses the purge that is under way: it has come to `tail`.
    pub(crate) fn pause_purge(&mut self, tail: UndoRef) {
        debug_assert!(self.busy, "a purge is under way");
        self.busy = false;
        if let Some(front) = self.finished.front_mut() {
            debug_assert!(tail <= front.tail, "purge goes from the newest record back");
            front.tail = tail;
        }
    }

    /// Ends the purge that is under way and frees the chunks that nobody needs any more.
    pub(crate) fn end_purge(&mut self, store: &UndoStore) {
        debug_assert!(self.busy, "a purge is under way");
        self.busy = false;
        if let Some(purged) = self.finished.pop_front() {
            self.transactions -= purged.transactions;
        }
        debug_assert_eq!(self.finished.is_empty(), self.transactions == 0, "both count the same");
        self.free_chunks(store);
    }

    fn free_chunks(&mut self, store: &UndoStore) {
        let bound = self.finished.front().map(|next| next.first_chunk);
        let bound = bound.or(self.active_first).or(self.current).unwrap_or(u64::MAX);
        while let Some(&chunk) = self.chunks.front()
            && chunk < bound
        {
            store.chunks.free(chunk);
            self.chunks.pop_front();
        }
    }

    /// Adds a finished transaction whose records end in `last_chunk`.
    fn add(&mut self, new: Finished, last_chunk: u64) {
        self.active_first = None;
        self.transactions += 1;
        let in_hand = self.busy && self.finished.len() == 1;
        let never = Lsn(u64::MAX);
        if self.finished.len() >= MERGE_THRESHOLD
            && !in_hand
            && let Some(last) = self.finished.back_mut()
            && (last.first_chunk, new.first_chunk) == (last_chunk, last_chunk)
            && (last.deletes, new.deletes) == (0, 0)
            && last.end < never
            && new.end < never
        {
            last.end = last.end.max(new.end);
            last.transactions += 1;
            return;
        }
        self.finished.push_back(new);
    }
}

/// The writing end: a session's undo log.
pub(crate) struct UndoLog {
    store: Arc<UndoStore>,
    history: Arc<Mutex<History>>,
    chunk: Option<Arc<Chunk>>,
    at: usize,
    /// Where the running transaction began.
    first: UndoRef,
    tail: UndoRef,
    records: u64,
    /// Their bytes.
    bytes: u64,
    versions: u64,
    deletes: u64,
    /// What its rollback may need.
    claim: Claim,
    /// What of it is for the record pushed last.
    last: Need,
}

impl UndoLog {
    /// An empty log that goes on where `history` ends.
    pub(crate) fn new(store: Arc<UndoStore>, history: Arc<Mutex<History>>) -> UndoLog {
        let claim = Claim::new(store.reserve.get().cloned().unwrap_or_default());
        UndoLog {
            store,
            history,
            claim,
            last: Need::default(),
            chunk: None,
            at: 0,
            first: UndoRef::NONE,
            tail: UndoRef::NONE,
            records: 0,
            bytes: 0,
            versions: 0,
            deletes: 0,
        }
    }

    /// Takes over what recovery found of a transaction that did not end. The log is unused.
    pub(crate) fn adopt(&mut self, found: &Recovered) {
        debug_assert!(self.is_untouched() && self.chunk.is_none());
        self.first = found.first();
        self.tail = found.tail();
        self.records = found.records();
        self.bytes = found.bytes();
        self.versions = found.records();
        self.deletes = found.deletes();
        self.claim.add(Need { log: self.bytes, ..Need::default() });
        let mut history = self.history.lock();
        history.chunks.extend(found.chunks());
        history.active_first = history.chunks.front().copied();
    }

    /// How many changes the running transaction has made (and not undone).
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Bytes of their records, about.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many deletions there are among the changes of the running transaction.
    pub(crate) fn deletes(&self) -> u64 {
        self.deletes
    }

    /// Whether it has made no change at all, not even one that was undone.
    pub(crate) fn is_untouched(&self) -> bool {
        self.first == UndoRef::NONE
    }

    /// Its newest record.
    pub(crate) fn tail(&self) -> UndoRef {
        self.tail
    }

    /// Goes on to a new chunk when the current one has no room for so many words.
    fn make_room(&mut self, words: usize) {
        let at = self.at;
        let fits = |chunk: &Arc<Chunk>| chunk.len() - at >= words && at < 1 << OFFSET_BITS;
        if !self.chunk.as_ref().is_some_and(fits) {
            let chunk = self.store.chunks.allocate(words);
            self.seal();
            let mut history = self.history.lock();
            history.active_first = (self.first != UndoRef::NONE).then_some(self.first.chunk());
            history.chunks.push_back(chunk.id());
            history.current = Some(chunk.id());
            self.chunk = Some(chunk);
            self.at = 0;
        }
    }

    fn seal(&self) {
        if let Some(chunk) = &self.chunk {
            self.store.chunks.seal(chunk);
        }
    }

    /// Writes a record for the running transaction; where it is.
    pub(crate) fn push(&mut self, new: NewUndo<'_>) -> UndoRef {
        let place = self.write(&new);
        self.records += 1;
        self.last = new.need();
        self.bytes += self.last.log;
        self.claim.add(self.last);
        self.versions += u64::from(new.kind != UndoKind::Insert);
        self.deletes += u64::from(new.kind == UndoKind::Delete);
        place
    }

    /// Writes a record of a deletion, to be counted by [`UndoLog::count_deletes`].
    pub(crate) fn push_delete(
        &mut self,
        tree: TreeId,
        key: &[u8],
        before: RecordHeader,
    ) -> UndoRef {
        let kind = UndoKind::Delete;
        self.write(&NewUndo { kind, tree, key, before, payload: &[], after: 0 })
    }

    /// Counts deletions whose records were written, with keys of so many words.
    pub(crate) fn count_deletes(&mut self, count: usize, key_words: usize) {
        let log = 8 * (count * HEADER_WORDS + key_words) as u64;
        self.records += count as u64;
        self.bytes += log;
        self.claim.add(Need { log, ..Need::default() });
        self.versions += count as u64;
        self.deletes += count as u64;
    }

    fn write(&mut self, new: &NewUndo<'_>) -> UndoRef {
        let previous = self.tail;
        self.make_room(new.words());
        let chunk = self.chunk.as_ref().expect("a chunk was made when there was none");
        debug_assert!(!self.store.chunks.is_sealed(chunk.id()), "a sealed chunk is complete");
        let place = UndoRef::new(chunk.id(), self.at);
        debug_assert!(place > previous, "a transaction's records lie in the order of its changes");
        self.at = new.write(chunk, self.at, previous);
        debug_assert!(self.at <= chunk.len(), "a record lies in one chunk");
        if self.first == UndoRef::NONE {
            self.first = place;
        }
        self.tail = place;
        place
    }

    /// Takes back the record just pushed after `previous`: its change was not made.
    pub(crate) fn retract(&mut self, previous: UndoRef) {
        self.take_off(previous, self.last);
    }

    fn take_off(&mut self, previous: UndoRef, need: Need) {
        debug_assert!(self.records > 0 && previous < self.tail, "the newest record is taken off");
        self.tail = previous;
        self.records -= 1;
        self.bytes = self.bytes.saturating_sub(need.log);
        self.claim.take_back(need);
    }

    /// Takes the newest record off the chain after it was undone. Its memory is kept: a reader may
    /// hold a reference to it until the transaction's history is purged.
    pub(crate) fn pop(&mut self, undone: &UndoRecord) {
        self.take_off(undone.previous, undone.need());
    }

    /// Whether the rollback may need more pages than at the last call.
    pub(crate) fn wants_pages(&mut self) -> bool {
        self.claim.take_grown()
    }

    /// Bytes of log that are kept for the rollbacks of other transactions.
    pub(crate) fn log_of_others(&self) -> u64 {
        self.claim.log_of_others()
    }

    /// Ends the running transaction: its records wait until no snapshot is below `end`, or are
    /// dropped at once when no version refers to them.
    pub(crate) fn finish(&mut self, txn: TxnId, end: Lsn) {
        self.claim.clear();
        debug_assert_eq!(
            self.tail == UndoRef::NONE,
            self.records == 0,
            "the chain has all records"
        );
        debug_assert!(self.deletes <= self.versions, "a deletion replaces a version");
        if self.first == UndoRef::NONE {
            return;
        }
        let last_chunk = self.chunk.as_ref().map_or(0, |chunk| chunk.id());
        if self.versions == 0 && last_chunk == self.first.chunk() {
            self.at = self.first.word();
        } else {
            let finished = Finished {
                txn,
                end: if self.versions == 0 { Lsn(0) } else { end },
                tail: self.tail,
                deletes: self.deletes,
                first_chunk: self.first.chunk(),
                transactions: 1,
            };
            self.history.lock().add(finished, last_chunk);
        }
        self.first = UndoRef::NONE;
        self.tail = UndoRef::NONE;
        self.records = 0;
        self.bytes = 0;
        self.versions = 0;
        self.deletes = 0;
        if self.store.chunks.too_many_are_open() {
            self.let_go();
        }
    }

    /// Gives its chunk up: the next transaction takes another. Without a transaction only.
    ///
    /// A handle's log does so before its session is another handle's, whose chunks are none of its
    /// business.
    pub(crate) fn let_go(&mut self) {
        debug_assert!(self.tail == UndoRef::NONE, "no transaction needs the chunk");
        self.seal();
        (self.chunk, self.at) = (None, 0);
        let mut history = self.history.lock();
        (history.active_first, history.current) = (None, None);
        history.free_chunks(&self.store);
    }
}
