//! The log's blocks and segment headers as bytes.
//!
//! ```text
//! block, 4096 bytes:
//!  0        4        8           16            24      26       32
//!  +--------+--------+-----------+-------------+-------+--------+---------------- ... -------+
//!  | crc32c | epoch  | first lsn | durable lsn | len   | zero   | payload (len), then zeros  |
//!  +--------+--------+-----------+-------------+-------+--------+---------------- ... -------+
//!
//! segment header, the first block of a segment:
//!  0        4        8           16            24          32       40
//!  +--------+--------+-----------+-------------+-----------+--------+-- zeros
//!  | crc32c | epoch  | magic     | number      | start lsn | blocks |
//!  +--------+--------+-----------+-------------+-----------+--------+--
//! ```
//! The checksum covers the block from byte 4 on. `epoch` counts the times the store was opened;
//! `durable lsn` is what was durable when the block was written. By it recovery distinguishes a
//! torn end (nothing durable is missing) from a damaged middle. A segment's number equals the one
//! in its file name while it is in use; a recycled one has the number of its former life.

use super::MAX_LSN;
use crate::codec::ByteReader;
use inia_base::ids::Lsn;

/// Bytes of a block.
pub(crate) const BLOCK: usize = 4096;
/// Bytes of a block's header.
const BLOCK_HEADER: usize = 32;
/// Most payload of a block.
pub(crate) const BLOCK_PAYLOAD: usize = BLOCK - BLOCK_HEADER;

const MAGIC: u64 = u64::from_le_bytes(*b"INIAWAL1");

/// A block's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockHeader {
    /// The opening of the store that wrote it.
    pub(crate) epoch: u32,
    /// Position of the first payload byte.
    pub(crate) first_lsn: Lsn,
    /// What was durable before it was written.
    pub(crate) durable_lsn: Lsn,
    /// Payload bytes.
    pub(crate) len: usize,
}

/// Writes one block into `block`.
pub(crate) fn write_block(block: &mut [u8], header: &BlockHeader, payload: &[u8]) {
    assert!(payload.len() == header.len && header.len <= BLOCK_PAYLOAD, "a payload fits its block");
    debug_assert!(header.durable_lsn <= header.first_lsn, "a durable block is not written again");
    let (head, body) = block.split_at_mut(BLOCK_HEADER);
    head.fill(0);
    head[4..8].copy_from_slice(&header.epoch.to_le_bytes());
    head[8..16].copy_from_slice(&header.first_lsn.0.to_le_bytes());
    head[16..24].copy_from_slice(&header.durable_lsn.0.to_le_bytes());
    head[24..26].copy_from_slice(&(payload.len() as u16).to_le_bytes());
    body[..payload.len()].copy_from_slice(payload);
    body[payload.len()..].fill(0);
    seal(block);
}

/// Reads one block; `None` for anything that no writer wrote.
pub(crate) fn read_block(block: &[u8]) -> Option<(BlockHeader, &[u8])> {
    let mut reader = ByteReader::new(checked(block)?);
    let epoch = reader.u32()?;
    let first_lsn = Lsn(reader.u64()?);
    let durable_lsn = Lsn(reader.u64()?);
    let len = usize::from(reader.u16()?);
    reader.bytes(6)?;
    let payload = reader.bytes(len)?;
    Some((BlockHeader { epoch, first_lsn, durable_lsn, len }, payload))
}

/// The header of a segment in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    /// The opening of the store that put the segment to use.
    pub(crate) epoch: u32,
    /// The number in its name.
    pub(crate) number: u64,
    /// Position of its first payload byte.
    pub(crate) start_lsn: Lsn,
    /// Blocks of its file: a shorter one was cut.
    pub(crate) blocks: u64,
}

impl SegmentHeader {
    /// Writes the header's block.
    pub(crate) fn write(&self, block: &mut [u8]) {
        block.fill(0);
        block[4..8].copy_from_slice(&self.epoch.to_le_bytes());
        block[8..16].copy_from_slice(&MAGIC.to_le_bytes());
        block[16..24].copy_from_slice(&self.number.to_le_bytes());
        block[24..32].copy_from_slice(&self.start_lsn.0.to_le_bytes());
        block[32..40].copy_from_slice(&self.blocks.to_le_bytes());
        seal(block);
    }

    /// Reads a header's block; `None` for anything else.
    pub(crate) fn read(block: &[u8]) -> Option<SegmentHeader> {
        let mut reader = ByteReader::new(checked(block)?);
        let epoch = reader.u32()?;
        let magic = reader.u64()?;
        let number = reader.u64()?;
        let start_lsn = Lsn(reader.u64()?);
        let blocks = reader.u64()?;
        let sound = magic == MAGIC && start_lsn < MAX_LSN;
        sound.then_some(SegmentHeader { epoch, number, start_lsn, blocks })
    }
}

fn seal(block: &mut [u8]) {
    let crc = crc32c::crc32c(&block[4..]);
    block[..4].copy_from_slice(&crc.to_le_bytes());
}

/// The bytes after the checksum, if it is right.
fn checked(block: &[u8]) -> Option<&[u8]> {
    let (crc, rest) = block.split_first_chunk::<4>()?;
    let written = u32::from_le_bytes(*crc);
    // A block of zeros is unwritten space.
    (written != 0 && written == crc32c::crc32c(rest)).then_some(rest)
}
