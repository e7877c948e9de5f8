//! Before-images in the log: those of a group of changes are one record, in which each stores only
//! what differs from the one before it.
//!
//! ```text
//!   delete "row17", was by 5             txn 31, from place 100, tree 4:
//!   delete "row18", was by 5       →       "row17" by 5, marked
//!   delete "row20", was by 5               4 letters the same, "8", same version, marked
//!                                          3 letters the same, "20", same version, marked
//! ```
//!
//! The undo records follow one another, so that the position of the first gives those of all. The
//! body is `txn u64 │ position of the first undo record u64 │ tree u32`, then for each change:
//!
//! ```text
//!  what u8: 0 nothing, 1 a version, 2 a version that was marked as deleted and stays there,
//!           + 4 where the version before has the same writer as that of the change before
//!  bytes that the key shares with the key before u8 │ length of the rest, varint │ rest
//!  not for 0:  writer u64, not for + 4 │ undo: twice the distance from that of the change before,
//!              less 1 where it is smaller, varint
//!  for 1:      length of the payload, varint │ payload
//! ```

use super::log::{Before, MARKED, NOTHING, VERSION};
use super::undo::{UndoRef, record_words};
use crate::codec::{ByteReader, ByteWriter};
use crate::node::RecordHeader;
use crate::wal::record::LogRecord;
use inia_base::ids::{TreeId, TxnId};

/// Tag of the log record.
pub(super) const UNDO_RUN: u8 = 48;
const SAME_WRITER: u8 = 4;

/// What a change needs to be undone, and where its undo record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UndoStep<'a> {
    pub(crate) txn: TxnId,
    pub(crate) at: UndoRef,
    pub(crate) tree: TreeId,
    pub(crate) key: &'a [u8],
    pub(crate) before: Before<'a>,
}

impl UndoStep<'_> {
    /// Where the next undo record is if it follows this one.
    fn end(&self) -> UndoRef {
        let payload = match self.before {
            Before::Version(_, payload) => payload,
            Before::Nothing | Before::Marked(_) => &[],
        };
        UndoRef(self.at.0.saturating_add(record_words(self.key, payload) as u64))
    }
}

/// A record for the log, as far as it goes.
#[derive(Default)]
pub(super) struct UndoRun {
    body: Vec<u8>,
    /// Whose it is, where the next undo record must be, and in which tree.
    next: (TxnId, UndoRef, TreeId),
    last: Last,
}

/// The change before.
#[derive(Default)]
struct Last {
    key: Vec<u8>,
    header: RecordHeader,
}

impl UndoRun {
    /// Adds a step; false where the steps so far are to be logged first.
    pub(super) fn push(&mut self, step: &UndoStep<'_>) -> bool {
        if self.body.is_empty() {
            self.body.put_u64(step.txn.0);
            self.body.put_u64(step.at.0);
            self.body.put_u32(step.tree.0);
            self.last.key.clear();
            self.last.header = RecordHeader::default();
        } else if self.next != (step.txn, step.at, step.tree) {
            return false;
        }
        let last = &mut self.last;
        let (what, header, payload) = match step.before {
            Before::Nothing => (NOTHING, None, &[][..]),
            Before::Version(header, payload) => (VERSION, Some(header), payload),
            Before::Marked(header) => (MARKED, Some(header), &[][..]),
        };
        let same = header.is_some_and(|header| header.txn == last.header.txn);
        self.body.put_u8(what | if same { SAME_WRITER } else { 0 });
        let shared = step.key.iter().zip(&last.key).take(255).take_while(|(a, b)| a == b).count();
        self.body.put_u8(shared as u8);
        self.body.put_varint((step.key.len() - shared) as u64);
        self.body.put_bytes(&step.key[shared..]);
        last.key.truncate(shared);
        last.key.extend_from_slice(&step.key[shared..]);
        if let Some(header) = header {
            if !same {
                self.body.put_u64(header.txn);
            }
            self.body.put_varint(zigzag(header.undo.wrapping_sub(last.header.undo)));
            last.header = header;
        }
        if what == VERSION {
            self.body.put_varint(payload.len() as u64);
            self.body.put_bytes(payload);
        }
        self.next = (step.txn, step.end(), step.tree);
        true
    }

    /// The steps as a record for the log, if there are any.
    pub(super) fn record(&self) -> Option<LogRecord<'_>> {
        let some = !self.body.is_empty();
        some.then_some(LogRecord::Other { tag: UNDO_RUN, body: &self.body })
    }

    /// Begins anew.
    pub(super) fn clear(&mut self) {
        self.body.clear();
    }
}

/// Small numbers for small distances in both directions.
fn zigzag(distance: u64) -> u64 {
    distance << 1 ^ if distance >> 63 == 0 { 0 } else { u64::MAX }
}

fn unzigzag(number: u64) -> u64 {
    number >> 1 ^ if number & 1 == 0 { 0 } else { u64::MAX }
}

/// Calls back for each step that a record's body has; `None` when the body makes no sense.
pub(super) fn each_step<E>(
    body: &[u8],
    mut each: impl FnMut(&UndoStep<'_>) -> Result<(), E>,
) -> Option<Result<(), E>> {
    let mut from = ByteReader::new(body);
    let (txn, mut at) = (TxnId(from.u64()?), UndoRef(from.u64()?));
    let tree = TreeId(from.u32()?);
    let mut last = Last::default();
    while !from.is_empty() {
        let before = next_step(&mut from, &mut last)?;
        let step = UndoStep { txn, at, tree, key: &last.key, before };
        if let Err(error) = each(&step) {
            return Some(Err(error));
        }
        at = step.end();
    }
    Some(Ok(()))
}

/// Reads a step: its key and the version before into `last`.
fn next_step<'a>(from: &mut ByteReader<'a>, last: &mut Last) -> Option<Before<'a>> {
    let what = from.u8()?;
    let shared = usize::from(from.u8()?);
    let rest = usize::try_from(from.varint()?).ok()?;
    let rest = from.bytes(rest)?;
    // Undo records have room for so much.
    if shared > last.key.len() || shared + rest.len() > usize::from(u16::MAX) {
        return None;
    }
    last.key.truncate(shared);
    last.key.extend_from_slice(rest);
    if what == NOTHING {
        return Some(Before::Nothing);
    }
    if what & SAME_WRITER == 0 {
        last.header.txn = from.u64()?;
    }
    last.header.undo = last.header.undo.wrapping_add(unzigzag(from.varint()?));
    match what & !SAME_WRITER {
        VERSION => {
            let len = usize::try_from(from.varint()?).ok()?;
            Some(Before::Version(last.header, from.bytes(len)?))
        }
        MARKED => Some(Before::Marked(last.header)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
