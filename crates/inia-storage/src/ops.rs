//! Page operations: the only way in which a page changes.
//!
//! An operation is encoded into the log and applied to the page by the same value, in normal
//! running and in recovery alike, so that replaying the log gives the same pages bit by bit.
//!
//! Encoded form: `tag u8, page id u32, length u16, body`. Tree pages are changed by [`NodeOp`]s,
//! whose form belongs to the tree.

pub(crate) mod edit;
pub(crate) mod node;
pub(crate) mod run;

#[cfg(test)]
mod tests;

use crate::codec::{ByteReader, ByteWriter};
use crate::page::file::{SPACE_BITS_OFFSET, SPACE_BITS_PER_PAGE};
use crate::page::{PageBytes, initialize, page_id};
use inia_base::ids::PageId;
use node::NodeOp;

/// Smallest tag of a page operation. Smaller ones are
/// [`LogRecord`](crate::wal::record::LogRecord)s.
pub(crate) const FIRST_PAGE_TAG: u8 = 128;
const INIT: u8 = 128;
const SET_BYTES: u8 = 129;
const IMAGE: u8 = 130;
const SPACE_BITS: u8 = 131;
const NODE: u8 = 132;

/// One change of one page.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PageOp<'a> {
    /// Makes the page an empty one of this type: zeros after the common header.
    Init {
        /// The new type.
        page_type: u8,
    },
    /// Overwrites bytes after the checksum, id and LSN.
    SetBytes {
        /// Where, from 16 on.
        offset: u16,
        /// What.
        bytes: &'a [u8],
    },
    /// The whole page after its id and LSN: `head` from byte 16 on, `tail` up to the end, zeros
    /// between.
    Image {
        /// Bytes 16 up to the free gap.
        head: &'a [u8],
        /// Bytes after the free gap, up to the end.
        tail: &'a [u8],
    },
    /// Sets or clears one bit of a space map.
    SpaceBit {
        /// Which bit.
        bit: u32,
        /// Whether its page is in use.
        used: bool,
    },
    /// A change of a tree node.
    Node(NodeOp<'a>),
}

/// First byte that operations may change: what comes before is kept by the store.
const FIRST_OP_BYTE: usize = 16;

impl<'a> PageOp<'a> {
    /// An image of `page` that leaves out the free bytes `gap_start..gap_end`, which the page must
    /// not need (they become zeros). Pass two equal numbers for a page without a gap.
    pub(crate) fn image(page: &'a PageBytes, gap_start: usize, gap_end: usize) -> PageOp<'a> {
        PageOp::Image { head: &page[FIRST_OP_BYTE..gap_start], tail: &page[gap_end..] }
    }

    /// Changes the page. An operation that does not fit leaves it as it is, and gives false.
    pub(crate) fn apply(&self, page: &mut PageBytes) -> bool {
        match *self {
            PageOp::Init { page_type } => {
                let id = page_id(page);
                initialize(page, id, page_type);
                true
            }
            PageOp::SetBytes { offset, bytes } => {
                let start = usize::from(offset);
                let target = page.get_mut(start..start + bytes.len());
                let target = target.filter(|_| start >= FIRST_OP_BYTE);
                target.map(|target| target.copy_from_slice(bytes)).is_some()
            }
            PageOp::Image { head, tail } => {
                let body = &mut page[FIRST_OP_BYTE..];
                let fits = head.len() + tail.len() <= body.len();
                if fits {
                    let gap_end = body.len() - tail.len();
                    body[..head.len()].copy_from_slice(head);
                    body[head.len()..gap_end].fill(0);
                    body[gap_end..].copy_from_slice(tail);
                }
                fits
            }
            PageOp::SpaceBit { bit, used } => {
                let fits = bit < SPACE_BITS_PER_PAGE;
                if fits {
                    let byte = &mut page[SPACE_BITS_OFFSET + (bit / 8) as usize];
                    let mask = 1 << (bit % 8);
                    *byte = if used { *byte | mask } else { *byte & !mask };
                }
                fits
            }
            PageOp::Node(op) => op.try_apply(page).is_ok(),
        }
    }

    /// Whether the page's earlier contents do not matter, so that redo need not read it.
    pub(crate) fn starts_page(&self) -> bool {
        matches!(self, PageOp::Init { .. } | PageOp::Image { .. })
    }

    /// Appends the encoded form.
    pub(crate) fn encode(&self, page: PageId, out: &mut Vec<u8>) {
        let tag = match self {
            PageOp::Init { .. } => INIT,
            PageOp::SetBytes { .. } => SET_BYTES,
            PageOp::Image { .. } => IMAGE,
            PageOp::SpaceBit { .. } => SPACE_BITS,
            PageOp::Node(_) => NODE,
        };
        let length_at = open_body(tag, page, out);
        match *self {
            PageOp::Init { page_type } => out.put_u8(page_type),
            PageOp::SetBytes { offset, bytes } => {
                out.put_u16(offset);
                out.put_bytes(bytes);
            }
            PageOp::Image { head, tail } => {
                out.put_bytes16(head);
                out.put_bytes(tail);
            }
            PageOp::SpaceBit { bit, used } => {
                out.put_u32(bit);
                out.put_u8(used.into());
            }
            PageOp::Node(op) => op.encode(out),
        }
        close_body(length_at, out);
    }

    /// Reads what [`PageOp::encode`] wrote after the tag.
    pub(crate) fn decode(tag: u8, from: &mut ByteReader<'a>) -> Option<(PageId, PageOp<'a>)> {
        let page = PageId(from.u32()?);
        let mut body = ByteReader::new(from.bytes16()?);
        let op = match tag {
            INIT => PageOp::Init { page_type: body.u8()? },
            SET_BYTES => PageOp::SetBytes { offset: body.u16()?, bytes: body.tail() },
            IMAGE => PageOp::Image { head: body.bytes16()?, tail: body.tail() },
            SPACE_BITS => PageOp::SpaceBit { bit: body.u32()?, used: body.u8()? != 0 },
            NODE => PageOp::Node(NodeOp::decode(&mut body)?),
            _ => return None,
        };
        Some((page, op))
    }
}

fn open_body(tag: u8, page: PageId, out: &mut Vec<u8>) -> usize {
    out.put_u8(tag);
    out.put_u32(page.0);
    out.put_u16(0);
    out.len() - 2
}

/// Appends what comes before the body of a [`NodeOp`]; where the body's length is to be put.
pub(crate) fn open_node(page: PageId, out: &mut Vec<u8>) -> usize {
    open_body(NODE, page, out)
}

/// Puts the length of the body, with which the buffer ends, in its place.
pub(crate) fn close_body(length_at: usize, out: &mut [u8]) {
    let body = out.len() - length_at - 2;
    let body = u16::try_from(body).expect("invariant: page operations stay below 64 KiB");
    out[length_at..length_at + 2].copy_from_slice(&body.to_le_bytes());
}
