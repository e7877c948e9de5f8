//! The page operations of the tree: what the log holds of a node's change, and its application.
//!
//! In running, an operation is logged and applied; in recovery, it is decoded and applied. Both
//! go through [`NodeOp::apply`], so that a replayed page equals the original bit by bit.
//!
//! ```text
//!   tag u8 │ fields, little-endian; byte strings carry a u16 length, the last one takes the rest
//! ```

use super::edit::{self, Damaged, Value};
use super::run;
use crate::codec::{ByteReader, ByteWriter};
use crate::node::*;
use crate::page::{PageBytes, put_u16, put_u32};
use inia_base::ids::PageId;

/// One change of one node or overflow page. Whole nodes are made by the page image operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeOp<'a> {
    /// Inserts a record before a slot; the key comes without the node's prefix.
    Insert { slot: u16, flags: u16, suffix: &'a [u8], value: Value<'a> },
    /// Replaces a record's value.
    Replace { slot: u16, flags: u16, value: Value<'a> },
    /// Overwrites a leaf record's version header, and with it the delete mark.
    SetHeader { slot: u16, header: RecordHeader },
    /// Removes a record.
    Remove { slot: u16 },
    /// Removes ranges of records: first slot and number of each (u16 both), ascending.
    RemoveRuns { runs: &'a [u8] },
    /// Changes that a transaction makes to several records, as [`run`] says.
    Run { kind: u8, txn: u64, changes: &'a [u8] },
    /// Drops the records from a slot on and ends the node at a new upper fence.
    SplitLeft { at: u16, right: PageId, upper: &'a [u8] },
    /// Fills a page of an overflow chain.
    Overflow { tree: PageId, next: Option<PageId>, data: &'a [u8] },
}

const INSERT: u8 = 1;
const REPLACE: u8 = 2;
const SET_HEADER: u8 = 3;
const REMOVE: u8 = 4;
const SPLIT_LEFT: u8 = 5;
const OVERFLOW: u8 = 6;
const REMOVE_RUNS: u8 = 7;
const RUN: u8 = 8;

impl<'a> NodeOp<'a> {
    /// Appends the operation's log form: its kind, and its fields in their order here. What has no
    /// length of its own ends the form.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        // The two pieces of a value follow each other without lengths: `decode` reads them as one.
        match *self {
            NodeOp::Insert { slot, flags, suffix, value } => {
                out.put_u8(INSERT);
                out.put_u16(slot);
                out.put_u16(flags);
                out.put_bytes16(suffix);
                out.put_bytes(value[0]);
                out.put_bytes(value[1]);
            }
            NodeOp::Replace { slot, flags, value } => {
                out.put_u8(REPLACE);
                out.put_u16(slot);
                out.put_u16(flags);
                out.put_bytes(value[0]);
                out.put_bytes(value[1]);
            }
            NodeOp::SetHeader { slot, header } => {
                out.put_u8(SET_HEADER);
                out.put_u16(slot);
                out.put_u64(header.txn);
                out.put_u64(header.undo);
            }
            NodeOp::Remove { slot } => {
                out.put_u8(REMOVE);
                out.put_u16(slot);
            }
            NodeOp::RemoveRuns { runs } => {
                out.put_u8(REMOVE_RUNS);
                out.put_bytes(runs);
            }
            NodeOp::Run { kind, txn, changes } => {
                put_run(kind, txn, out);
                out.put_bytes(changes);
            }
            NodeOp::SplitLeft { at, right, upper } => {
                out.put_u8(SPLIT_LEFT);
                out.put_u16(at);
                out.put_u32(right.0);
                out.put_bytes(upper);
            }
            NodeOp::Overflow { tree, next, data } => {
                out.put_u8(OVERFLOW);
                out.put_u32(tree.0);
                out.put_u32(next.map_or(0, |id| id.0));
                out.put_bytes(data);
            }
        }
    }

    /// Reads the log form, all of it; `None` when it is not one.
    pub(crate) fn decode(from: &mut ByteReader<'a>) -> Option<NodeOp<'a>> {
        let op = match from.u8()? {
            INSERT => NodeOp::Insert {
                slot: from.u16()?,
                flags: from.u16()?,
                suffix: from.bytes16()?,
                value: [from.tail(), &[]],
            },
            REPLACE => {
                NodeOp::Replace { slot: from.u16()?, flags: from.u16()?, value: [from.tail(), &[]] }
            }
            SET_HEADER => NodeOp::SetHeader {
                slot: from.u16()?,
                header: RecordHeader { txn: from.u64()?, undo: from.u64()? },
            },
            REMOVE => NodeOp::Remove { slot: from.u16()? },
            REMOVE_RUNS => NodeOp::RemoveRuns { runs: from.tail() },
            RUN => NodeOp::Run { kind: from.u8()?, txn: from.u64()?, changes: from.tail() },
            SPLIT_LEFT => NodeOp::SplitLeft {
                at: from.u16()?,
                right: PageId(from.u32()?),
                upper: from.tail(),
            },
            OVERFLOW => NodeOp::Overflow {
                tree: PageId(from.u32()?),
                next: Some(PageId(from.u32()?)).filter(|id| id.0 != 0),
                data: from.tail(),
            },
            _ => return None,
        };
        from.is_empty().then_some(op)
    }

    /// Changes `page`, or leaves it as it was and says why the operation does not fit it.
    pub(crate) fn try_apply(&self, page: &mut PageBytes) -> Result<(), Damaged> {
        match *self {
            NodeOp::Insert { slot, flags, suffix, value } => {
                edit::insert(page, slot.into(), flags, suffix, &value)
            }
            NodeOp::Replace { slot, flags, value } => {
                edit::replace(page, slot.into(), flags, &value)
            }
            NodeOp::SetHeader { slot, header } => edit::set_header(page, slot.into(), header),
            NodeOp::Remove { slot } => edit::remove(page, slot.into()),
            NodeOp::RemoveRuns { runs } => edit::remove_runs(page, runs),
            NodeOp::Run { kind, txn, changes } => run::apply_run(page, kind, txn, changes),
            NodeOp::SplitLeft { at, right, upper } => {
                edit::split_left(page, at.into(), upper, right)
            }
            NodeOp::Overflow { tree, next, data } => fill_overflow(page, tree, next, data),
        }
    }
}

/// Appends the beginning of a run, whose changes follow.
pub(super) fn put_run(kind: u8, txn: u64, out: &mut Vec<u8>) {
    out.put_u8(RUN);
    out.put_u8(kind);
    out.put_u64(txn);
}

fn fill_overflow(
    page: &mut PageBytes,
    tree: PageId,
    next: Option<PageId>,
    data: &[u8],
) -> Result<(), Damaged> {
    if data.len() > OVERFLOW_CAPACITY {
        return Err(Damaged("overflow data larger than a page"));
    }
    page[NODE_START..].fill(0);
    put_u32(page, TREE, tree.0);
    put_u32(page, OVERFLOW_NEXT, next.map_or(0, |id| id.0));
    put_u16(page, OVERFLOW_LEN, data.len() as u16);
    page[OVERFLOW_DATA..OVERFLOW_DATA + data.len()].copy_from_slice(data);
    Ok(())
}
