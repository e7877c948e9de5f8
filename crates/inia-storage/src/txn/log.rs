//! The log records of transactions that are not commits: before-images and created trees.
//!
//! ```text
//!  undo     txn u64 | place of the undo record u64 | tree u32 | key length u16 | key |
//!           what there was u8 | header txn u64 | header undo u64 | payload
//!           (0: nothing, and no more fields; 1: a version; 2: one that was marked as deleted,
//!           without the payload, which stays in the record)
//!  tree     txn u64 | tree u32
//!  relog    txn u64 | at the end u8
//!  prepared    txn u64 | the name that the layer above gave it
//!  unprepared  txn u64
//!  bootstrapped  garbage tree u32 | catalog tree u32
//! ```
//!
//! Between the two relog records of a transaction its steps so far are logged again, with tags of
//! their own ([`relog`](super::relog)).

use super::horizon::Roots;
use super::undo::UndoRef;
use super::undo_run::UndoStep;
use crate::codec::{ByteReader, ByteWriter};
use crate::node::RecordHeader;
use crate::wal::record::LogRecord;
use inia_base::ids::{TreeId, TxnId};

const UNDO: u8 = 16;
const TREE_CREATED: u8 = 17;
const BOOTSTRAPPED: u8 = 18;
const RELOG: u8 = 19;
const PREPARED: u8 = 20;
const UNPREPARED: u8 = 21;
/// What there was.
pub(super) const NOTHING: u8 = 0;
pub(super) const VERSION: u8 = 1;
pub(super) const MARKED: u8 = 2;
/// Added to the tag of a step that is logged again.
const AGAIN: u8 = 16;

/// What there was under a key before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before<'a> {
    /// No record.
    Nothing,
    /// This version.
    Version(RecordHeader, &'a [u8]),
    /// The version that was marked as deleted. Its value stays in the record.
    Marked(RecordHeader),
}

/// A record of the transaction layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TxnRecord<'a> {
    /// What undoes one change. Changes themselves log it together ([`undo_run`](super::undo_run)).
    Undo(UndoStep<'a>),
    /// The transaction made a tree.
    TreeCreated { txn: TxnId, tree: TreeId },
    /// What follows of the transaction's repeated steps makes a whole; or made one.
    Relog { txn: TxnId, end: bool },
    /// The transaction has made all its changes, and waits to be committed or rolled back: a crash
    /// does not end it.
    Prepared { txn: TxnId, name: &'a [u8] },
    /// A prepared transaction is about to be rolled back: after a crash it is a loser again.
    Unprepared { txn: TxnId },
    /// The engine's own trees were made.
    Bootstrapped(Roots),
}

impl<'a> TxnRecord<'a> {
    fn tag(&self) -> u8 {
        match self {
            TxnRecord::Undo(_) => UNDO,
            TxnRecord::TreeCreated { .. } => TREE_CREATED,
            TxnRecord::Relog { .. } => RELOG,
            TxnRecord::Prepared { .. } => PREPARED,
            TxnRecord::Unprepared { .. } => UNPREPARED,
            TxnRecord::Bootstrapped(_) => BOOTSTRAPPED,
        }
    }

    /// The record in the log's form; `body` is scratch memory.
    pub(crate) fn encode<'b>(&self, body: &'b mut Vec<u8>) -> LogRecord<'b> {
        body.clear();
        match *self {
            TxnRecord::Undo(UndoStep { txn, at, tree, key, before }) => {
                body.put_u64(txn.0);
                body.put_u64(at.0);
                body.put_u32(tree.0);
                body.put_bytes16(key);
                let (what, header, payload) = match before {
                    Before::Nothing => (NOTHING, None, &[][..]),
                    Before::Version(header, payload) => (VERSION, Some(header), payload),
                    Before::Marked(header) => (MARKED, Some(header), &[][..]),
                };
                body.put_u8(what);
                if let Some(header) = header {
                    body.put_u64(header.txn);
                    body.put_u64(header.undo);
                    body.put_bytes(payload);
                }
            }
            TxnRecord::TreeCreated { txn, tree } => {
                body.put_u64(txn.0);
                body.put_u32(tree.0);
            }
            TxnRecord::Relog { txn, end } => {
                body.put_u64(txn.0);
                body.put_u8(u8::from(end));
            }
            TxnRecord::Prepared { txn, name } => {
                body.put_u64(txn.0);
                body.put_bytes(name);
            }
            TxnRecord::Unprepared { txn } => body.put_u64(txn.0),
            TxnRecord::Bootstrapped(roots) => {
                body.put_u32(roots.garbage.0);
                body.put_u32(roots.catalog.0);
            }
        }
        LogRecord::Other { tag: self.tag(), body }
    }

    /// As [`TxnRecord::encode`], for a step that is logged again.
    pub(crate) fn encode_again<'b>(&self, body: &'b mut Vec<u8>) -> LogRecord<'b> {
        self.encode(body);
        LogRecord::Other { tag: self.tag() + AGAIN, body }
    }

    /// Reads a record of this layer, and whether it is one logged again; `None` for a record of
    /// another layer or a senseless one.
    pub(crate) fn decode(tag: u8, body: &'a [u8]) -> Option<(TxnRecord<'a>, bool)> {
        match tag {
            UNDO..=UNPREPARED => Some((TxnRecord::decode_once(tag, body)?, false)),
            _ => Some((TxnRecord::decode_once(tag.checked_sub(AGAIN)?, body)?, true)),
        }
    }

    fn decode_once(tag: u8, body: &'a [u8]) -> Option<TxnRecord<'a>> {
        let mut from = ByteReader::new(body);
        match tag {
            UNDO => {
                let txn = TxnId(from.u64()?);
                let at = UndoRef(from.u64()?);
                let tree = TreeId(from.u32()?);
                let key = from.bytes16()?;
                let what = from.u8()?;
                let mut header = || Some(RecordHeader { txn: from.u64()?, undo: from.u64()? });
                let before = match what {
                    NOTHING => Before::Nothing,
                    VERSION => Before::Version(header()?, from.tail()),
                    MARKED => Before::Marked(header()?),
                    _ => return None,
                };
                Some(TxnRecord::Undo(UndoStep { txn, at, tree, key, before }))
            }
            TREE_CREATED => {
                Some(TxnRecord::TreeCreated { txn: TxnId(from.u64()?), tree: TreeId(from.u32()?) })
            }
            RELOG => Some(TxnRecord::Relog { txn: TxnId(from.u64()?), end: from.u8()? != 0 }),
            PREPARED => Some(TxnRecord::Prepared { txn: TxnId(from.u64()?), name: from.tail() }),
            UNPREPARED => Some(TxnRecord::Unprepared { txn: TxnId(from.u64()?) }),
            BOOTSTRAPPED => {
                let (garbage, catalog) = (TreeId(from.u32()?), TreeId(from.u32()?));
                Some(TxnRecord::Bootstrapped(Roots { garbage, catalog }))
            }
            _ => None,
        }
    }
}
