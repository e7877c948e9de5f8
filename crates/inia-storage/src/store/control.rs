//! The control file: two alternating blocks, each a complete checkpoint.
//!
//! ```text
//!  0       4        8       16         24      32           40            48      56       58
//!  +-------+--------+-------+----------+-------+------------+-------------+-------+--------+-----+
//!  | crc32c| format | magic | sequence | epoch | checkpoint | durable lsn | number| length |state|
//!  +-------+--------+-------+----------+-------+------------+-------------+-------+--------+-----+
//! ```
//! The valid block with the higher sequence number counts; the next checkpoint overwrites the other
//! one, so a torn write loses nothing. The file gets its name only once it is complete: where it
//! exists, the store was created.

use super::CHECKPOINT_STATE_MAX;
use crate::Result;
use crate::codec::{ByteReader, ByteWriter};
use crate::error::StorageError;
use crate::files::CONTROL_FILE;
use crate::page::file::{FORMAT, OLDEST_FORMAT};
use crate::wal::MAX_LSN;
use inia_base::ids::Lsn;
use inia_base::io::{AlignedBuf, Disk, DiskFile};
use std::sync::Arc;

/// The control file's name before it is complete.
const UNFINISHED: &str = "inia.control.new";
const BLOCK: usize = 4096;
const MAGIC: u64 = u64::from_le_bytes(*b"INIACTRL");
/// All sequence numbers are below this.
const MAX_SEQUENCE: u64 = 1 << 62;

const _: () = assert!(CHECKPOINT_STATE_MAX + 58 <= BLOCK);

/// What the control file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// How often the store was opened.
    pub(crate) epoch: u32,
    /// Recovery reads the log from here.
    pub(crate) lsn: Lsn,
    /// The log was durable to here: a shorter one is damaged.
    pub(crate) durable: Lsn,
    /// The checkpoint's number: the data file has the same one, or a greater one.
    pub(crate) number: u64,
    /// The transactions' own data.
    pub(crate) state: Vec<u8>,
}

/// The open control file.
pub(crate) struct Control {
    file: Arc<dyn DiskFile>,
    sequence: u64,
    /// The last checkpoint written.
    pub(crate) last: Checkpoint,
}

impl Control {
    /// Opens the control file; `None` when the store was never created.
    pub(crate) fn open(disk: &dyn Disk) -> Result<Option<Control>> {
        if !disk.list()?.iter().any(|name| name == CONTROL_FILE) {
            return Ok(None);
        }
        let file = disk.open(CONTROL_FILE, false)?;
        let mut newest: Option<(u64, Checkpoint)> = None;
        let mut block = AlignedBuf::new(BLOCK);
        for slot in 0..2 {
            let read = file.read_at(&mut block, slot * BLOCK as u64);
            let Some(found) = read.ok().and_then(|()| decode(&block)) else { continue };
            let (sequence, found) = found.map_err(|format| {
                StorageError::Unopenable(format!(
                    "the files have format {format}; this version reads format {FORMAT}"
                ))
            })?;
            if newest.as_ref().is_none_or(|(known, _)| sequence > *known) {
                newest = Some((sequence, found));
            }
        }
        let Some((sequence, last)) = newest else {
            return Err(StorageError::Unopenable(format!("{CONTROL_FILE} is damaged")));
        };
        let control = Control { file, sequence, last };
        control.put()?;
        Ok(Some(control))
    }

    /// Creates the control file: from then on the store exists.
    pub(crate) fn create(disk: &dyn Disk, first: Checkpoint) -> Result<Control> {
        let file = disk.open(UNFINISHED, true)?;
        file.set_len(2 * BLOCK as u64)?;
        let mut control = Control { file, sequence: 0, last: first.clone() };
        control.write(first)?;
        disk.rename(UNFINISHED, CONTROL_FILE)?;
        disk.sync_names()?;
        Ok(control)
    }

    /// Makes a checkpoint the durable one.
    pub(crate) fn write(&mut self, checkpoint: Checkpoint) -> Result<()> {
        let last = &self.last;
        assert!(checkpoint.lsn <= checkpoint.durable, "a checkpoint lies in the durable log");
        assert!(checkpoint.lsn >= last.lsn, "checkpoints only move forward");
        assert!(checkpoint.durable >= last.durable, "what was durable stays durable");
        assert!(checkpoint.number >= last.number, "checkpoint numbers ascend");
        assert!(checkpoint.epoch >= last.epoch, "epochs ascend");
        let next =
            Control { file: Arc::clone(&self.file), sequence: self.sequence + 1, last: checkpoint };
        next.put()?;
        *self = next;
        Ok(())
    }

    /// Writes the block of the last checkpoint. Of one that was read this makes sure that it is on
    /// disk: after a failed sync it may have been in the system's memory only.
    fn put(&self) -> Result<()> {
        let mut block = AlignedBuf::new(BLOCK);
        encode(&mut block, self.sequence, &self.last);
        self.file.write_at(&block, self.sequence % 2 * BLOCK as u64)?;
        Ok(self.file.sync()?)
    }
}

fn encode(block: &mut [u8], sequence: u64, checkpoint: &Checkpoint) {
    let mut bytes = Vec::with_capacity(BLOCK);
    bytes.put_u32(FORMAT);
    bytes.put_u64(MAGIC);
    bytes.put_u64(sequence);
    bytes.put_u64(checkpoint.epoch.into());
    bytes.put_u64(checkpoint.lsn.0);
    bytes.put_u64(checkpoint.durable.0);
    bytes.put_u64(checkpoint.number);
    bytes.put_bytes16(&checkpoint.state);
    assert!(4 + bytes.len() <= BLOCK, "a checkpoint fits one block");
    block[4..4 + bytes.len()].copy_from_slice(&bytes);
    let crc = crc32c::crc32c(&block[4..]);
    block[..4].copy_from_slice(&crc.to_le_bytes());
}

/// A block's sequence number and checkpoint, or its format where that is another one; `None` for
/// anything that no writer wrote.
fn decode(block: &[u8]) -> Option<std::result::Result<(u64, Checkpoint), u32>> {
    let mut reader = ByteReader::new(block);
    if reader.u32()? != crc32c::crc32c(&block[4..]) {
        return None;
    }
    let format = reader.u32()?;
    let magic = reader.u64()?;
    if magic != MAGIC {
        return None;
    }
    if !(OLDEST_FORMAT..=FORMAT).contains(&format) {
        return Some(Err(format));
    }
    let sequence = reader.u64()?;
    let epoch = u32::try_from(reader.u64()?).ok()?;
    let lsn = Lsn(reader.u64()?);
    let durable = Lsn(reader.u64()?);
    let number = reader.u64()?;
    let state = reader.bytes16()?.to_vec();
    let sound = lsn <= durable && durable < MAX_LSN && sequence < MAX_SEQUENCE;
    if !sound || epoch == u32::MAX {
        return None;
    }
    Some(Ok((sequence, Checkpoint { epoch, lsn, durable, number, state })))
}
