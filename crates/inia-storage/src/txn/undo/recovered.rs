//! Undo of transactions from before a crash, put back where it was.
//!
//! Versions on pages that a running transaction wrote refer to its undo records by position.
//! Recovery reads each before-image with its position from the log and writes it there again. These
//! references are therefore good after a crash, too: readers find older versions while the
//! transaction is being rolled back.
//!
//! A transaction's positions grow with time. Its steps come from the log in that order; steps that
//! were logged again ([`relog`](crate::txn::relog)) come in that order, too, and those among them
//! that lie before the first other one are joined to the chain's old end:
//!
//! ```text
//!   again    a ◂ b ◂ c (d)         d is known already
//!   others               d ◂ e
//!   joined   a ◂ b ◂ c ◂ d ◂ e
//! ```
//!
//! Positions that do not grow come from a damaged log and are refused: a chain of them might be a
//! cycle.

use super::chunk::Chunk;
use super::{NewUndo, PREVIOUS_WORD, UndoKind, UndoRef, UndoStore};
use crate::Result;
use crate::error::StorageError;
use std::collections::BTreeSet;
use std::sync::Arc;

/// All chunk numbers are below this.
const MAX_CHUNKS: u64 = 1 << 42;

/// A chain of records that grows at its new end.
#[derive(Default)]
struct Chain {
    first: UndoRef,
    tail: UndoRef,
    /// The newest record's words.
    tail_words: usize,
    records: u64,
    deletes: u64,
    bytes: u64,
}

/// The undo of one transaction that has not ended, as far as the log has been read.
#[derive(Default)]
pub(crate) struct Recovered {
    chain: Chain,
    /// Steps that are being logged again.
    again: Option<Chain>,
    chunks: BTreeSet<u64>,
    /// The chunk written last.
    open: Option<Arc<Chunk>>,
}

impl Recovered {
    pub(crate) fn first(&self) -> UndoRef {
        self.chain.first
    }

    pub(crate) fn tail(&self) -> UndoRef {
        self.chain.tail
    }

    pub(crate) fn records(&self) -> u64 {
        self.chain.records
    }

    /// How many deletions are among them.
    pub(crate) fn deletes(&self) -> u64 {
        self.chain.deletes
    }

    /// Bytes of the records.
    pub(crate) fn bytes(&self) -> u64 {
        self.chain.bytes
    }

    /// The chunks that it has records in, oldest first.
    pub(super) fn chunks(&self) -> impl Iterator<Item = u64> {
        self.chunks.iter().copied()
    }

    /// The chunk of a position, with room for `words` words there.
    fn open(&mut self, store: &UndoStore, at: UndoRef, words: usize) -> Result<&Chunk> {
        let end = at.word() + words;
        let is_open = |chunk: &Arc<Chunk>| chunk.id() == at.chunk() && chunk.len() >= end;
        if !self.open.as_ref().is_some_and(is_open) {
            self.close(store);
            store.chunks.make_room()?;
            let new = self.chunks.insert(at.chunk());
            self.open = Some(store.chunks.reopen(at.chunk(), end, new)?);
        }
        Ok(self.open.as_ref().expect("a chunk was opened when there was none"))
    }

    /// Nothing is written for now.
    pub(crate) fn close(&mut self, store: &UndoStore) {
        if let Some(chunk) = self.open.take() {
            store.chunks.seal(&chunk);
        }
    }

    /// Writes a step's record to its position.
    pub(crate) fn push(&mut self, store: &UndoStore, at: UndoRef, new: &NewUndo<'_>) -> Result<()> {
        let previous = self.chain.tail;
        self.chain.check_next(at)?;
        new.write(self.open(store, at, new.words())?, at.word(), previous);
        self.chain.grow(at, new);
        Ok(())
    }

    /// Writes the record of a step that is logged again to its position.
    pub(crate) fn push_again(
        &mut self,
        store: &UndoStore,
        at: UndoRef,
        new: &NewUndo<'_>,
    ) -> Result<()> {
        let known = self.chain.first != UndoRef::NONE && at >= self.chain.first;
        let Some(again) = self.again.as_ref().filter(|_| !known) else { return Ok(()) };
        let previous = again.tail;
        again.check_next(at)?;
        new.write(self.open(store, at, new.words())?, at.word(), previous);
        if let Some(again) = &mut self.again {
            again.grow(at, new);
        }
        Ok(())
    }

    /// What follows of repeated steps is to be a whole.
    pub(crate) fn begin_again(&mut self) {
        self.again = Some(Chain::default());
    }

    /// The repeated steps are complete.
    pub(crate) fn end_again(&mut self, store: &UndoStore) -> Result<()> {
        let Some(again) = self.again.take().filter(|again| again.records > 0) else {
            return Ok(());
        };
        let Chain { first, tail, tail_words, records, deletes, bytes } =
            std::mem::replace(&mut self.chain, again);
        if records > 0 {
            self.chain.check_next(first)?;
            let oldest = self.chain.tail;
            self.open(store, first, PREVIOUS_WORD + 1)?.put(first.word() + PREVIOUS_WORD, oldest.0);
            (self.chain.tail, self.chain.tail_words) = (tail, tail_words);
            self.chain.records += records;
            self.chain.deletes += deletes;
            self.chain.bytes += bytes;
        }
        Ok(())
    }

    /// The transaction has ended: nothing of it is needed.
    pub(crate) fn forget(mut self, store: &UndoStore) {
        self.open = None;
        for chunk in self.chunks {
            store.chunks.free(chunk);
        }
    }
}

impl Chain {
    /// Refuses a position that is not behind the newest record's.
    fn check_next(&self, at: UndoRef) -> Result<()> {
        let (chunk, word) = (self.tail.chunk(), self.tail.word() + self.tail_words);
        let behind =
            (at.chunk(), at.word()) >= (chunk, word) && (1..MAX_CHUNKS).contains(&at.chunk());
        if behind {
            return Ok(());
        }
        Err(StorageError::Unopenable("the log has a before-image out of its place".to_owned()))
    }

    fn grow(&mut self, at: UndoRef, new: &NewUndo<'_>) {
        let words = new.words();
        if self.first == UndoRef::NONE {
            self.first = at;
        }
        (self.tail, self.tail_words) = (at, words);
        self.records += 1;
        self.deletes += u64::from(new.kind == UndoKind::Delete);
        self.bytes += 8 * words as u64;
    }
}
