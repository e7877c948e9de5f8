//! Runs: changes that one transaction makes to several records of a leaf, as one operation of the
//! log.
//!
//! A statement that writes many rows changes record after record of a leaf. Each change is applied
//! by itself; in the log it joins the operation before it if that is of the same kind, and stores
//! only what differs from the change before:
//!
//! ```text
//!   insert at 7 "g" by 31                  inserts by 31:    7 "g", +1 "h", +1 "i"
//!   insert at 8 "h" by 31            →
//!   insert at 9 "i" by 31
//!   delete 3 by 31, undo at 100      →     deletions by 31:  3 undo 100, +1 undo +7
//!   delete 4 by 31, undo at 107
//! ```
//!
//! The operation's body is `kind u8 │ txn u64`, then for each change: by how much its slot and its
//! undo position exceed the ones before (at first, 0), the length of the key's suffix (inserts
//! only) and of the payload (not deletions), all varints, and the bytes of both.

use super::edit::{self, Damaged};
use super::node::put_run;
use super::{close_body, open_node};
use crate::codec::{ByteReader, ByteWriter};
use crate::node::RecordHeader;
use crate::page::PageBytes;
use inia_base::ids::{PageId, TxnId};

/// Bytes after which an operation takes no further change.
const MAX_BYTES: usize = 32 << 10;

/// What happens to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change<'a> {
    /// It is put there, its payload in the leaf; the key comes without the node's prefix.
    Insert { suffix: &'a [u8], payload: &'a [u8] },
    /// It gets this payload, in the leaf.
    Replace { payload: &'a [u8] },
    /// It is marked as deleted.
    Delete,
}

const INSERT: u8 = 1;
const REPLACE: u8 = 2;
const DELETE: u8 = 3;

impl Change<'_> {
    fn kind(&self) -> u8 {
        match self {
            Change::Insert { .. } => INSERT,
            Change::Replace { .. } => REPLACE,
            Change::Delete => DELETE,
        }
    }

    fn len(&self) -> usize {
        match self {
            Change::Insert { suffix, payload } => suffix.len() + payload.len(),
            Change::Replace { payload } => payload.len(),
            Change::Delete => 0,
        }
    }
}

/// A record of a leaf that is marked as deleted, and where its version before is in the undo log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) slot: u16,
    pub(crate) undo: u64,
}

/// Appends the deletions of several records as one operation. Slots and places in the undo log
/// ascend.
pub(crate) fn put_marks(page: PageId, txn: TxnId, marks: &[Mark], out: &mut Vec<u8>) {
    let length_at = open_node(page, out);
    put_run(DELETE, RecordHeader::new(txn, 0, true).txn, out);
    let (mut slot, mut undo) = (0, 0);
    for mark in marks {
        out.put_varint(u64::from(mark.slot - slot));
        out.put_varint(mark.undo - undo);
        (slot, undo) = (mark.slot, mark.undo);
    }
    close_body(length_at, out);
}

/// Makes these deletions. As with `PageOp::apply`, a damaged page stays as it was, here and when
/// the log is replayed.
pub(crate) fn apply_marks(page: &mut PageBytes, txn: TxnId, marks: &[Mark]) {
    let _ = edit::mark(page, txn, marks);
}

/// The change of one record of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordChange<'a> {
    pub(crate) slot: usize,
    /// The new version, with the mark where it is a deletion.
    pub(crate) header: RecordHeader,
    pub(crate) change: Change<'a>,
}

impl RecordChange<'_> {
    /// Changes `page`, or leaves it as it was and says why the change does not fit it.
    pub(crate) fn try_apply(&self, page: &mut PageBytes) -> Result<(), Damaged> {
        let header = self.header.to_bytes();
        match self.change {
            Change::Insert { suffix, payload } => {
                edit::insert(page, self.slot, 0, suffix, &[&header, payload])
            }
            Change::Replace { payload } => edit::replace(page, self.slot, 0, &[&header, payload]),
            Change::Delete => edit::set_header(page, self.slot, self.header),
        }
    }

    /// Appends what differs from the change before, which was at `slot` and has `undo`.
    fn encode(&self, (slot, undo): (usize, u64), out: &mut Vec<u8>) {
        out.put_varint((self.slot - slot) as u64);
        out.put_varint(self.header.undo - undo);
        match self.change {
            Change::Insert { suffix, payload } => {
                out.put_varint(suffix.len() as u64);
                out.put_varint(payload.len() as u64);
                out.put_bytes(suffix);
                out.put_bytes(payload);
            }
            Change::Replace { payload } => {
                out.put_varint(payload.len() as u64);
                out.put_bytes(payload);
            }
            Change::Delete => {}
        }
    }
}

/// The operation at the end of a log buffer, while changes may join it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenRun {
    page: PageId,
    kind: u8,
    txn: u64,
    slot: usize,
    undo: u64,
    length_at: usize,
}

impl OpenRun {
    /// Appends the operation of one change.
    pub(crate) fn begin(page: PageId, change: &RecordChange<'_>, out: &mut Vec<u8>) -> OpenRun {
        let length_at = open_node(page, out);
        let (kind, txn) = (change.change.kind(), change.header.txn);
        put_run(kind, txn, out);
        change.encode((0, 0), out);
        close_body(length_at, out);
        OpenRun { page, kind, txn, slot: change.slot, undo: change.header.undo, length_at }
    }

    /// Adds a change to the operation, with which the buffer ends; false if it does not fit to it.
    pub(crate) fn extend(
        &mut self,
        page: PageId,
        change: &RecordChange<'_>,
        out: &mut Vec<u8>,
    ) -> bool {
        let goes_on = (page, change.change.kind(), change.header.txn)
            == (self.page, self.kind, self.txn)
            && change.slot >= self.slot
            && change.header.undo >= self.undo
            && out.len() - self.length_at + change.change.len() <= MAX_BYTES;
        if goes_on {
            change.encode((self.slot, self.undo), out);
            close_body(self.length_at, out);
            (self.slot, self.undo) = (change.slot, change.header.undo);
        }
        goes_on
    }
}

/// The changes of a run, one after the other.
struct Changes<'a> {
    kind: u8,
    txn: u64,
    slot: usize,
    undo: u64,
    from: ByteReader<'a>,
}

impl<'a> Changes<'a> {
    /// The next change; `None` when the bytes are none.
    fn next(&mut self) -> Option<RecordChange<'a>> {
        let slot = self.from.varint()?.checked_add(self.slot as u64)?;
        self.slot = u16::try_from(slot).ok()?.into();
        self.undo = self.undo.checked_add(self.from.varint()?)?;
        let mut length = || self.from.varint().and_then(|len| usize::try_from(len).ok());
        let change = match self.kind {
            INSERT => {
                let (suffix, payload) = (length()?, length()?);
                let suffix = self.from.bytes(suffix)?;
                Change::Insert { suffix, payload: self.from.bytes(payload)? }
            }
            REPLACE => {
                let payload = length()?;
                Change::Replace { payload: self.from.bytes(payload)? }
            }
            DELETE => Change::Delete,
            _ => return None,
        };
        let header = RecordHeader { txn: self.txn, undo: self.undo };
        Some(RecordChange { slot: self.slot, header, change })
    }
}

/// Makes all changes of a run, or leaves the page as it was and says why they do not fit it.
pub(super) fn apply_run(
    page: &mut PageBytes,
    kind: u8,
    txn: u64,
    changes: &[u8],
) -> Result<(), Damaged> {
    let before = *page;
    let mut changes = Changes { kind, txn, slot: 0, undo: 0, from: ByteReader::new(changes) };
    while !changes.from.is_empty() {
        let change = changes.next().ok_or(Damaged("a run of changes that ends within one"));
        if let Err(damaged) = change.and_then(|change| change.try_apply(page)) {
            *page = before;
            return Err(damaged);
        }
    }
    Ok(())
}
