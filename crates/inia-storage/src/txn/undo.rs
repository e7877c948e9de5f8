//! Undo: the versions that were current before.
//!
//! Every change first writes an undo record: which key of which tree, and the version it had. Two
//! chains run through the records: `previous` links all records of one transaction, newest first,
//! for rollback and purge; the undo reference in a record's header leads from a version to the one
//! before it, for readers.
//!
//! ```text
//!  leaf:      k → {txn 9, undo ●}  "new"
//!                             │
//!  undo of 9:                 └▶ Change k, before {txn 5, ●} "old"
//!                                                         │
//!  undo of 5:                                             └▶ Change k, before {txn 2, 0} "older"
//! ```
//!
//! Records are written one after the other into chunks that belong to a session. A chunk is freed
//! when every transaction with records in it has been purged, which is when no snapshot needs their
//! versions. References are numbers, (chunk, word), and are never followed for a visible version.
//! Chunks are words of atomics: the owner appends while others read older records. Old chunks move
//! to a temporary file when they take too much memory ([`chunk`]); references stay good.
//!
//! ```text
//!  record:  word 0   kind u8 | zero u8 | key length u16 | payload length u32
//!           word 1   tree u32 | length of the new value u32
//!           word 2   previous record of the transaction
//!           word 3-4 header of the version before
//!           then     key, padded to words; payload, padded to words
//! ```

mod chunk;
mod log;
pub(super) mod recovered;
mod spill;

#[cfg(test)]
mod tests;

use crate::Result;
use crate::error::StorageError;
use crate::node::RecordHeader;
use crate::reserve::{Need, Reserve};
use chunk::{Chunk, Chunks};
use inia_base::ids::TreeId;
use inia_base::io::Disk;
use std::io;
use std::sync::{Arc, OnceLock};

pub(crate) use log::{Finished, History, UndoLog};

const HEADER_WORDS: usize = 5;
/// Where in a record the previous one's place is.
const PREVIOUS_WORD: usize = 2;
const OFFSET_BITS: u32 = 20;

/// Where an undo record is; 0 is nowhere. `chunk << 20 | word`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UndoRef(pub(crate) u64);

impl UndoRef {
    /// No record.
    pub(crate) const NONE: UndoRef = UndoRef(0);

    fn new(chunk: u64, word: usize) -> UndoRef {
        debug_assert!(word >> OFFSET_BITS == 0, "a chunk's records begin in its first words");
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
    /// There was one, and it was marked as deleted. Its value stayed in the record, and is not kept
    /// here.
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
    pub(crate) after: usize,
}

impl UndoRecord {
    /// What its rollback may need.
    fn need(&self) -> Need {
        let log = 8 * record_words(&self.key, &self.payload) as u64;
        Need::of(log, self.key.len(), self.payload.len(), self.after)
    }
}

/// A change to be written.
#[derive(Clone, Copy)]
pub(crate) struct NewUndo<'a> {
    pub(crate) kind: UndoKind,
    pub(crate) tree: TreeId,
    pub(crate) key: &'a [u8],
    pub(crate) before: RecordHeader,
    pub(crate) payload: &'a [u8],
    /// Length of the value that replaces the payload; as long as that where nothing is known.
    pub(crate) after: usize,
}

impl NewUndo<'_> {
    /// Words that the record takes.
    fn words(&self) -> usize {
        record_words(self.key, self.payload)
    }

    /// What its rollback may need.
    fn need(&self) -> Need {
        let log = 8 * self.words() as u64;
        Need::of(log, self.key.len(), self.payload.len(), self.after)
    }

    /// Writes the record; the word after it.
    fn write(&self, chunk: &Chunk, at: usize, previous: UndoRef) -> usize {
        chunk.put(at, pack_lengths(self.kind, self.key.len(), self.payload.len()));
        chunk.put(at + 1, u64::from(self.tree.0) | (self.after as u64) << 32);
        chunk.put(at + PREVIOUS_WORD, previous.0);
        chunk.put(at + 3, self.before.txn);
        chunk.put(at + 4, self.before.undo);
        let end = chunk.put_bytes(at + HEADER_WORDS, self.key);
        chunk.put_bytes(end, self.payload)
    }
}

/// Words of a record.
pub(super) fn record_words(key: &[u8], payload: &[u8]) -> usize {
    HEADER_WORDS + key.len().div_ceil(8) + payload.len().div_ceil(8)
}

/// All undo records of an engine.
pub(crate) struct UndoStore {
    chunks: Chunks,
    reserve: OnceLock<Arc<Reserve>>,
}

impl UndoStore {
    /// A store that keeps about `budget` bytes in memory and the rest in a temporary file of
    /// `disk`.
    pub(crate) fn new(disk: Arc<dyn Disk>, budget: u64) -> UndoStore {
        UndoStore { chunks: Chunks::new(Some(disk), budget), reserve: OnceLock::new() }
    }

    /// A store that keeps everything in memory.
    #[cfg(test)]
    pub(crate) fn in_memory() -> UndoStore {
        UndoStore { chunks: Chunks::new(None, u64::MAX), reserve: OnceLock::new() }
    }

    /// Sets the reserve that transactions claim from. It is called before the first transaction.
    pub(crate) fn set_reserve(&self, reserve: &Arc<Reserve>) {
        let _ = self.reserve.set(Arc::clone(reserve));
    }

    /// Bytes of memory that undo takes.
    pub(crate) fn bytes(&self) -> u64 {
        self.chunks.bytes()
    }

    /// Bytes of undo in the temporary file.
    pub(crate) fn spilled_bytes(&self) -> u64 {
        self.chunks.spilled_bytes()
    }

    /// Moves undo to the file when it takes more memory than its budget. It is called before a
    /// change, without latches.
    #[inline]
    pub(crate) fn make_room(&self) -> Result<()> {
        self.chunks.make_room()
    }

    /// Goes from a version, whose value is in `payload`, to the one that it replaced: gives that
    /// one's header and puts its value into `payload`, where it is already if all that was done is
    /// a deletion. `None` when there was no record before, or when the record at `at` is gone.
    pub(crate) fn version_before(
        &self,
        at: UndoRef,
        payload: &mut Vec<u8>,
    ) -> Result<Option<RecordHeader>> {
        let Some(chunk) = self.chunks.find(at.chunk())? else { return Ok(None) };
        let (kind, key_len, payload_len) = lengths_at(&chunk, at)?;
        if kind == UndoKind::Insert {
            return Ok(None);
        }
        if kind != UndoKind::Delete {
            let payload_at = at.word() + HEADER_WORDS + key_len.div_ceil(8);
            chunk.get_bytes(payload_at, payload_len, payload);
        }
        Ok(Some(header_at(&chunk, at.word())))
    }

    /// Reads a whole record; false when it is gone.
    pub(crate) fn read(&self, at: UndoRef, out: &mut UndoRecord) -> Result<bool> {
        self.reader().read(at, out)
    }

    /// A reader of records that lie close together.
    pub(crate) fn reader(&self) -> UndoReader<'_> {
        UndoReader { chunks: &self.chunks, chunk: None }
    }
}

/// Reads records, and keeps hold of the chunk that it has read from last.
pub(crate) struct UndoReader<'u> {
    chunks: &'u Chunks,
    chunk: Option<Arc<Chunk>>,
}

impl UndoReader<'_> {
    /// Reads a whole record; false when it is gone.
    pub(crate) fn read(&mut self, at: UndoRef, out: &mut UndoRecord) -> Result<bool> {
        if self.chunk.as_ref().is_none_or(|chunk| chunk.id() != at.chunk()) {
            self.chunk = self.chunks.find(at.chunk())?;
        }
        let Some(chunk) = &self.chunk else { return Ok(false) };
        let (kind, key_len, payload_len) = lengths_at(chunk, at)?;
        out.kind = kind;
        let tree = chunk.get(at.word() + 1);
        out.tree = TreeId(tree as u32);
        out.after = (tree >> 32) as usize;
        out.previous = UndoRef(chunk.get(at.word() + PREVIOUS_WORD));
        if out.previous >= at {
            return Err(senseless());
        }
        out.before = header_at(chunk, at.word());
        let key_at = at.word() + HEADER_WORDS;
        chunk.get_bytes(key_at, key_len, &mut out.key);
        chunk.get_bytes(key_at + key_len.div_ceil(8), payload_len, &mut out.payload);
        Ok(true)
    }
}

/// What the record at a place says of itself, if all of it lies in the chunk: recovery puts records
/// where a log says that may be damaged.
fn lengths_at(chunk: &Chunk, at: UndoRef) -> Result<(UndoKind, usize, usize)> {
    let word = at.word();
    if word + HEADER_WORDS > chunk.len() {
        return Err(senseless());
    }
    let (kind, key, payload) = unpack_lengths(chunk.get(word));
    let end = word + HEADER_WORDS + key.div_ceil(8) + payload.div_ceil(8);
    if end <= chunk.len() { Ok((kind, key, payload)) } else { Err(senseless()) }
}

/// The error of an old version that is not what it should be.
pub(crate) fn senseless() -> StorageError {
    io::Error::new(io::ErrorKind::InvalidData, "an old row version is damaged").into()
}

fn header_at(chunk: &Chunk, word: usize) -> RecordHeader {
    RecordHeader { txn: chunk.get(word + 3), undo: chunk.get(word + 4) }
}

fn pack_lengths(kind: UndoKind, key: usize, payload: usize) -> u64 {
    debug_assert!(key <= usize::from(u16::MAX) && u32::try_from(payload).is_ok(), "lengths fit");
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
