//! The temporary file that undo chunks go to when memory is short.
//!
//! The file is divided into slots of one size; a chunk takes as many as it needs, anywhere. It has
//! no name while it is in use, so it goes with its handle, however the process ends: after a crash
//! the before-images come from the log. A name left over by a crash between making and unnaming it
//! is removed at the next open.
//!
//! ```text
//!  slot:  crc32c u32 of what follows | part number u32 | chunk u64 | words
//! ```
//!
//! Invariants:
//! - a slot belongs to at most one chunk; it is written before its number is published;
//! - the check words show whether a slot was damaged, or has got a new owner meanwhile.

use super::chunk::Chunk;
use crate::Result;
use crate::error::StorageError;
use crate::files::UNDO_FILE;
use crate::sync::{AtomicU64, Mutex};
use inia_base::io::{Disk, DiskFile};
use std::io;
use std::sync::{Arc, OnceLock};

/// Bytes before the words of a slot. They also keep slots off the multiples that direct I/O wants:
/// what comes and goes so fast had better stay in the system's cache.
const SLOT_HEADER: usize = 16;

/// The file and who has which slot of it.
pub(super) struct SpillFile {
    disk: Option<Arc<dyn Disk>>,
    slot_words: usize,
    file: OnceLock<Arc<dyn DiskFile>>,
    slots: Mutex<Slots>,
}

#[derive(Default)]
struct Slots {
    free: Vec<u32>,
    /// Slots of the file so far.
    count: u32,
    buffer: Vec<u8>,
}

impl SpillFile {
    /// A file that is made when it is needed first; without a disk nothing can be written.
    pub(super) fn new(disk: Option<Arc<dyn Disk>>, slot_words: usize) -> SpillFile {
        SpillFile { disk, slot_words, file: OnceLock::new(), slots: Mutex::default() }
    }

    fn slot_bytes(&self) -> usize {
        SLOT_HEADER + 8 * self.slot_words
    }

    fn offset(&self, slot: u32) -> u64 {
        u64::from(slot) * self.slot_bytes() as u64
    }

    /// Bytes of the file that are in use.
    pub(super) fn bytes(&self) -> u64 {
        let slots = self.slots.lock();
        u64::from(slots.count) * self.slot_bytes() as u64
            - slots.free.len() as u64 * self.slot_bytes() as u64
    }

    /// Whether there is a disk to write to.
    pub(super) fn is_there(&self) -> bool {
        self.disk.is_some()
    }

    fn file(&self) -> Result<&dyn DiskFile> {
        if let Some(file) = self.file.get() {
            return Ok(&**file);
        }
        let nowhere = || StorageError::from(io::Error::from(io::ErrorKind::NotFound));
        let disk = self.disk.as_ref().ok_or_else(nowhere)?;
        let file = disk.open(UNDO_FILE, true)?;
        disk.remove(UNDO_FILE)?;
        file.set_len(0)?;
        Ok(&**self.file.get_or_init(|| file))
    }

    /// Writes a chunk; where it is.
    pub(super) fn write(&self, chunk: &Chunk) -> Result<Vec<u32>> {
        let mut slots = self.slots.lock();
        let slots = &mut *slots;
        let mut taken = Vec::new();
        for part in 0..chunk.len().div_ceil(self.slot_words) {
            let (slot, known) = match slots.free.pop() {
                Some(slot) => (slot, slots.count),
                None => (slots.count, slots.count + 1),
            };
            taken.push(slot);
            slots.count = known;
            self.encode(chunk, part, &mut slots.buffer);
            let written =
                self.file().and_then(|file| Ok(file.write_at(&slots.buffer, self.offset(slot))?));
            if let Err(error) = written {
                slots.free.append(&mut taken);
                return Err(error);
            }
        }
        Ok(taken)
    }

    fn encode(&self, chunk: &Chunk, part: usize, buffer: &mut Vec<u8>) {
        buffer.clear();
        buffer.extend_from_slice(&[0; 4]);
        buffer.extend_from_slice(&(part as u32).to_le_bytes());
        buffer.extend_from_slice(&chunk.id().to_le_bytes());
        let start = part * self.slot_words;
        for word in start..chunk.len().min(start + self.slot_words) {
            buffer.extend_from_slice(&chunk.get(word).to_le_bytes());
        }
        buffer.resize(self.slot_bytes(), 0);
        let crc = crc32c::crc32c(&buffer[4..]);
        buffer[..4].copy_from_slice(&crc.to_le_bytes());
    }

    /// Reads the chunk of `len` words that was written to these slots.
    pub(super) fn read(&self, id: u64, slots: &[u32], len: usize) -> Result<Chunk> {
        let file = self.file()?;
        let mut words = Vec::with_capacity(len);
        let mut buffer = vec![0; self.slot_bytes()];
        for (part, &slot) in slots.iter().enumerate() {
            file.read_at(&mut buffer, self.offset(slot))?;
            let (check, rest) = buffer.split_at(4);
            let (owner, content) = rest.split_at(SLOT_HEADER - 4);
            let intact = check == crc32c::crc32c(rest).to_le_bytes()
                && owner[..4] == (part as u32).to_le_bytes()
                && owner[4..] == id.to_le_bytes();
            if !intact {
                let what = "the temporary file of old row versions is damaged";
                return Err(io::Error::new(io::ErrorKind::InvalidData, what).into());
            }
            let eights = content.chunks_exact(8).take(len - words.len());
            words.extend(eights.map(|eight| {
                let bytes = eight.try_into().expect("chunks of eight bytes");
                AtomicU64::new(u64::from_le_bytes(bytes))
            }));
        }
        Ok(Chunk::new(id, words))
    }

    /// Gives slots back; the last of all gives back the file's space.
    pub(super) fn free(&self, taken: &[u32]) {
        let mut slots = self.slots.lock();
        slots.free.extend_from_slice(taken);
        if slots.free.len() == slots.count as usize {
            slots.free = Vec::new();
            slots.count = 0;
            if let Some(file) = self.file.get() {
                // The space is merely not given back then.
                let _ = file.set_len(0);
            }
        }
    }
}
