//! Undo: the versions that were current before, in memory.
//!
//! Every change first writes an undo record: which key of which tree, and the version it had. Two
//! chains run through the records: `previous` links all records of one transaction, newest first, for
//! rollback and purge; the undo reference in a record's header leads from a version to the one before
//! it, for readers.
//!
//! ```text
//!  leaf:      k → {txn 9, undo ●}  "new"
//!                             │
//!  undo of 9:                 └▶ Change k, before {txn 5, undo ●} "old"
//!                                                              │
//!  undo of 5:                                                  └▶ Change k, before {txn 2, 0} "older"
//! ```
//!
//! Records are written one after the other into chunks that belong to a session. A chunk is freed when
//! every transaction with records in it has been purged, which is when no snapshot needs their
//! versions. References are numbers, (chunk, word), and are never followed for a visible version.
//! Chunks are words of atomics: the owner appends while others read older records.
//!
//! ```text
//!  record:  word 0   kind u8 | zero u8 | key length u16 | payload length u32
//!           word 1   tree u32 | zero u32
//!           word 2   previous record of the transaction
//!           word 3-4 header of the version before
//!           then     key, padded to words; payload, padded to words
//! ```

use crate::btree::RecordHeader;
use crate::sync::{AtomicU64, Mutex, Ordering, RwLock};
use inia_base::ids::{Lsn, TreeId, TxnId};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

const CHUNK_WORDS: usize = 8 * 1024;
const HEADER_WORDS: usize = 5;
const OFFSET_BITS: u32 = 20;
const SHARDS: usize = 16;

const _: () = assert!(CHUNK_WORDS <= 1 << OFFSET_BITS);

/// Where an undo record is; 0 is nowhere. `chunk << 20 | word`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UndoRef(pub(crate) u64);

impl UndoRef {
    /// No record.
    pub(crate) const NONE: UndoRef = UndoRef(0);

    fn new(chunk: u64, word: usize) -> UndoRef {
        UndoRef(chunk << OFFSET_BITS | word as u64)
    }

    fn chunk(self) -> u64 {
        self.0 >> OFFSET_BITS
    }

    fn word(self) -> usize {
        (self.0 & ((1 << OFFSET_BITS) - 1)) as usize
    }
}

/// What a change did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum UndoKind {
    /// There was no record with the key.
    #[default]
    Insert,
    /// There was one (perhaps marked as deleted), and it was given a new version.
    Change,
    /// There was one, and it was marked as deleted.
    Delete,
}

/// An undo record, read back. Its buffers are reused from one reading to the next.
#[derive(Debug, Default)]
pub(crate) struct UndoRecord {
    pub(crate) kind: UndoKind,
    pub(crate) tree: TreeId,
    pub(crate) previous: UndoRef,
    pub(crate) before: RecordHeader,
    pub(crate) key: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

/// A change to be written.
#[derive(Clone, Copy)]
pub(crate) struct NewUndo<'a> {
    pub(crate) kind: UndoKind,
    pub(crate) tree: TreeId,
    pub(crate) key: &'a [u8],
    pub(crate) before: RecordHeader,
    pub(crate) payload: &'a [u8],
}

struct Chunk {
    id: u64,
    words: Vec<AtomicU64>,
}

impl Chunk {
    fn put(&self, word: usize, value: u64) {
        self.words[word].store(value, Ordering::Relaxed);
    }

    fn get(&self, word: usize) -> u64 {
        self.words[word].load(Ordering::Relaxed)
    }

    fn put_bytes(&self, mut word: usize, bytes: &[u8]) -> usize {
        let mut whole = bytes.chunks_exact(8);
        for eight in &mut whole {
            self.put(word, u64::from_le_bytes(eight.try_into().expect("chunks of eight bytes")));
            word += 1;
        }
        if !whole.remainder().is_empty() {
            let mut tail = [0; 8];
            tail[..whole.remainder().len()].copy_from_slice(whole.remainder());
            self.put(word, u64::from_le_bytes(tail));
            word += 1;
        }
        word
    }

    fn get_bytes(&self, word: usize, len: usize, out: &mut Vec<u8>) {
        out.clear();
        out.reserve(len.next_multiple_of(8));
        for at in word..word + len.div_ceil(8) {
            out.extend_from_slice(&self.get(at).to_le_bytes());
        }
        out.truncate(len);
    }
}

/// All chunks of an engine, by number.
#[derive(Default)]
pub(crate) struct UndoStore {
    shards: [RwLock<HashMap<u64, Arc<Chunk>>>; SHARDS],
    last_chunk: AtomicU64,
    bytes: AtomicU64,
}

impl UndoStore {
    fn shard(&self, chunk: u64) -> &RwLock<HashMap<u64, Arc<Chunk>>> {
        &self.shards[chunk as usize % SHARDS]
    }

    fn allocate(&self, words: usize) -> Arc<Chunk> {
        let id = self.last_chunk.fetch_add(1, Ordering::Relaxed) + 1;
        let words = (0..words).map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
        self.bytes.fetch_add(words.len() as u64 * 8, Ordering::Relaxed);
        let chunk = Arc::new(Chunk { id, words });
        self.shard(id).write().insert(id, Arc::clone(&chunk));
        chunk
    }

    fn free(&self, chunk: &Chunk) {
        self.bytes.fetch_sub(chunk.words.len() as u64 * 8, Ordering::Relaxed);
        self.shard(chunk.id).write().remove(&chunk.id);
    }

    fn find(&self, at: UndoRef) -> Option<Arc<Chunk>> {
        self.shard(at.chunk()).read().get(&at.chunk()).cloned()
    }

    /// Bytes of memory that undo takes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Reads the version that a change replaced: its header, and its value into `payload`.
    /// `None` when there was no record before, or when the record at `at` is gone.
    pub(crate) fn version_before(
        &self,
        at: UndoRef,
        payload: &mut Vec<u8>,
    ) -> Option<RecordHeader> {
        let chunk = self.find(at)?;
        let (kind, key_len, payload_len) = unpack_lengths(chunk.get(at.word()));
        if kind == UndoKind::Insert {
            return None;
        }
        let payload_at = at.word() + HEADER_WORDS + key_len.div_ceil(8);
        chunk.get_bytes(payload_at, payload_len, payload);
        Some(header_at(&chunk, at.word()))
    }

    /// Reads a whole record; false when it is gone.
    pub(crate) fn read(&self, at: UndoRef, out: &mut UndoRecord) -> bool {
        let Some(chunk) = self.find(at) else { return false };
        let (kind, key_len, payload_len) = unpack_lengths(chunk.get(at.word()));
        out.kind = kind;
        out.tree = TreeId(chunk.get(at.word() + 1) as u32);
        out.previous = UndoRef(chunk.get(at.word() + 2));
        out.before = header_at(&chunk, at.word());
        let key_at = at.word() + HEADER_WORDS;
        chunk.get_bytes(key_at, key_len, &mut out.key);
        chunk.get_bytes(key_at + key_len.div_ceil(8), payload_len, &mut out.payload);
        true
    }
}

fn header_at(chunk: &Chunk, word: usize) -> RecordHeader {
    RecordHeader { txn: chunk.get(word + 3), undo: chunk.get(word + 4) }
}

fn pack_lengths(kind: UndoKind, key: usize, payload: usize) -> u64 {
    debug_assert!(key <= usize::from(u16::MAX) && u32::try_from(payload).is_ok());
    kind as u64 | (key as u64) << 16 | (payload as u64) << 32
}

fn unpack_lengths(word: u64) -> (UndoKind, usize, usize) {
    let kind = match word as u8 {
        0 => UndoKind::Insert,
        1 => UndoKind::Change,
        _ => UndoKind::Delete,
    };
    (kind, usize::from((word >> 16) as u16), (word >> 32) as usize)
}

/// A finished transaction whose undo records wait for purge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub(crate) txn: TxnId,
    /// Snapshots at or above this position need nothing of it.
    pub(crate) stamp: Lsn,
    /// The newest record not purged yet.
    pub(crate) tail: UndoRef,
    /// How many deletions are among the records.
    pub(crate) deletes: u64,
    first_chunk: u64,
}

/// A session's chunks and its finished transactions, shared with background purge.
#[derive(Default)]
pub(crate) struct History {
    chunks: VecDeque<Arc<Chunk>>,
    finished: VecDeque<Finished>,
    /// First chunk of the running transaction, once it has more than one.
    active_first: Option<u64>,
    busy: bool,
}

impl History {
    /// How many transactions wait for purge.
    pub(crate) fn len(&self) -> usize {
        self.finished.len()
    }

    /// The stamp of the transaction that is purged next.
    pub(crate) fn oldest(&self) -> Option<Lsn> {
        self.finished.front().map(|front| front.stamp)
    }

    /// Takes the oldest transaction in hand if no snapshot below `horizon` is left that needs it.
    pub(crate) fn start_purge(&mut self, horizon: Lsn) -> Option<Finished> {
        let front = *self.finished.front()?;
        if self.busy || front.stamp > horizon {
            return None;
        }
        self.busy = true;
        Some(front)
    }

    /// Puts a transaction back whose purge stopped at `tail`.
    pub(crate) fn pause_purge(&mut self, tail: UndoRef) {
        self.busy = false;
        if let Some(front) = self.finished.front_mut() {
            front.tail = tail;
        }
    }

    /// Ends the purge of the transaction in hand and frees the chunks that nobody needs any more.
    pub(crate) fn end_purge(&mut self, store: &UndoStore) {
        self.busy = false;
        self.finished.pop_front();
        let last = self.chunks.back().map_or(0, |chunk| chunk.id);
        let bound = self.finished.front().map(|next| next.first_chunk);
        let bound = bound.or(self.active_first).unwrap_or(last);
        while let Some(chunk) = self.chunks.front()
            && chunk.id < bound
        {
            store.free(chunk);
            self.chunks.pop_front();
        }
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
    versions: u64,
    deletes: u64,
}

impl UndoLog {
    /// An empty log that goes on where `history` ends.
    pub(crate) fn new(store: Arc<UndoStore>, history: Arc<Mutex<History>>) -> UndoLog {
        UndoLog {
            store,
            history,
            chunk: None,
            at: 0,
            first: UndoRef::NONE,
            tail: UndoRef::NONE,
            records: 0,
            versions: 0,
            deletes: 0,
        }
    }

    /// How many changes the running transaction has made (and not undone).
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Whether it has made no change at all, not even one that was undone.
    pub(crate) fn is_untouched(&self) -> bool {
        self.first == UndoRef::NONE
    }

    /// Its newest record.
    pub(crate) fn tail(&self) -> UndoRef {
        self.tail
    }

    fn make_room(&mut self, words: usize) -> &Arc<Chunk> {
        let full = self.chunk.as_ref().is_none_or(|chunk| chunk.words.len() - self.at < words);
        if full {
            let chunk = self.store.allocate(words.max(CHUNK_WORDS));
            let mut history = self.history.lock();
            history.active_first = (self.first != UndoRef::NONE).then_some(self.first.chunk());
            history.chunks.push_back(Arc::clone(&chunk));
            self.chunk = Some(chunk);
            self.at = 0;
        }
        self.chunk.as_ref().expect("a chunk was made when there was none")
    }

    /// Writes a record for the running transaction; where it is.
    pub(crate) fn push(&mut self, new: NewUndo<'_>) -> UndoRef {
        let words = HEADER_WORDS + new.key.len().div_ceil(8) + new.payload.len().div_ceil(8);
        let previous = self.tail;
        let chunk = Arc::clone(self.make_room(words));
        let at = self.at;
        chunk.put(at, pack_lengths(new.kind, new.key.len(), new.payload.len()));
        chunk.put(at + 1, u64::from(new.tree.0));
        chunk.put(at + 2, previous.0);
        chunk.put(at + 3, new.before.txn);
        chunk.put(at + 4, new.before.undo);
        let end = chunk.put_bytes(at + HEADER_WORDS, new.key);
        self.at = chunk.put_bytes(end, new.payload);
        let place = UndoRef::new(chunk.id, at);
        if self.first == UndoRef::NONE {
            self.first = place;
        }
        self.tail = place;
        self.records += 1;
        self.versions += u64::from(new.kind != UndoKind::Insert);
        self.deletes += u64::from(new.kind == UndoKind::Delete);
        place
    }

    /// Takes back the record just pushed after `previous`: its change was not made.
    pub(crate) fn retract(&mut self, previous: UndoRef) {
        self.tail = previous;
        self.records -= 1;
    }

    /// Takes the newest record off the chain after it was undone. Its memory is kept: a reader may
    /// hold a reference to it until the transaction's history is purged.
    pub(crate) fn pop(&mut self, undone: &UndoRecord) {
        self.retract(undone.previous);
    }

    /// Ends the running transaction: its records wait until no snapshot is below `stamp`, or are
    /// dropped at once when no version refers to them.
    pub(crate) fn finish(&mut self, txn: TxnId, stamp: Lsn) {
        if self.first == UndoRef::NONE {
            return;
        }
        let one_chunk = self.chunk.as_ref().is_some_and(|chunk| chunk.id == self.first.chunk());
        if self.versions == 0 && one_chunk {
            self.at = self.first.word();
        } else {
            let mut history = self.history.lock();
            history.active_first = None;
            history.finished.push_back(Finished {
                txn,
                stamp: if self.versions == 0 { Lsn(0) } else { stamp },
                tail: self.tail,
                deletes: self.deletes,
                first_chunk: self.first.chunk(),
            });
        }
        self.first = UndoRef::NONE;
        self.tail = UndoRef::NONE;
        self.records = 0;
        self.versions = 0;
        self.deletes = 0;
    }
}
