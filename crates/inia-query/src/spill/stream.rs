//! Streams of records in a scratch file.
//!
//! A record is `[length u32][bytes]`. A stream gathers records in memory and appends them to the
//! file it shares with others as one extent of whole records whenever a block is full, so that
//! reading takes one extent into memory at a time. What was appended last stays in memory.

use super::{Purpose, Result, Workspace, damaged, read_failed};
use inia_base::io::DiskFile;
use parking_lot::Mutex;
use std::sync::Arc;

/// A stream writes when it has gathered so many bytes.
pub(super) const BLOCK: usize = 32 << 10;

/// A file that streams share, of one thread or several. It is made when the first of them writes.
pub(crate) struct Scratch<'w> {
    workspace: Workspace<'w>,
    purpose: Purpose,
    file: Mutex<Option<(Arc<dyn DiskFile>, u64)>>,
}

impl<'w> Scratch<'w> {
    pub(crate) fn new(workspace: Workspace<'w>, purpose: Purpose) -> Arc<Scratch<'w>> {
        Arc::new(Scratch { workspace, purpose, file: Mutex::new(None) })
    }

    /// Appends bytes and returns where they are.
    fn append(&self, bytes: &[u8]) -> Result<u64> {
        self.workspace.check()?;
        let mut file = self.file.lock();
        let failed = |error| self.purpose.write_failed(&error);
        if file.is_none() {
            *file = Some((self.workspace.disk.scratch().map_err(failed)?, 0));
            if let Some(memory) = self.workspace.memory {
                memory.note_file(self.purpose == Purpose::Table);
            }
        }
        let Some((file, end)) = file.as_mut() else { return Err(damaged()) };
        let at = *end;
        file.write_at(bytes, at).map_err(failed)?;
        *end += bytes.len() as u64;
        Ok(at)
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.workspace.check()?;
        let file = self.file.lock();
        let (file, _) = file.as_ref().ok_or_else(damaged)?;
        file.read_at(into, at).map_err(|error| read_failed(&error))
    }
}

/// A sequence of records.
pub(crate) struct Stream<'w> {
    scratch: Arc<Scratch<'w>>,
    /// Where the parts in the file begin, and their lengths.
    extents: Vec<(u64, usize)>,
    /// The last records.
    tail: Vec<u8>,
    records: u64,
}

impl<'w> Stream<'w> {
    /// An empty stream with a file of its own.
    pub(crate) fn new(workspace: Workspace<'w>, purpose: Purpose) -> Stream<'w> {
        Stream::within(&Scratch::new(workspace, purpose))
    }

    /// An empty stream in a file that others use too.
    pub(crate) fn within(scratch: &Arc<Scratch<'w>>) -> Stream<'w> {
        Stream { scratch: scratch.clone(), extents: Vec::new(), tail: Vec::new(), records: 0 }
    }

    /// How many records there are.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Appends the record that `write` appends; true where a new extent begins with it.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<bool> {
        self.scratch.workspace.check()?;
        let first = self.tail.is_empty();
        let start = self.tail.len();
        self.tail.extend_from_slice(&[0; 4]);
        write(&mut self.tail);
        let length = (self.tail.len() - start - 4) as u32;
        self.tail[start..start + 4].copy_from_slice(&length.to_le_bytes());
        self.records += 1;
        if self.tail.len() >= BLOCK {
            self.flush()?;
        }
        Ok(first)
    }

    /// Writes all records to the file.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if !self.tail.is_empty() {
            let at = self.scratch.append(&self.tail)?;
            self.extents.push((at, self.tail.len()));
            self.tail.clear();
        }
        Ok(())
    }

    /// Writes all records to the file and frees the memory.
    pub(crate) fn rest(&mut self) -> Result<()> {
        self.flush()?;
        self.tail = Vec::new();
        Ok(())
    }

    /// Reads from the beginning.
    pub(crate) fn reader(&self) -> StreamReader<'_, 'w> {
        StreamReader { stream: self, next: 0, block: Vec::new(), at: 0 }
    }

    /// Takes an extent's records into `block`.
    pub(crate) fn load(&self, extent: usize, block: &mut Vec<u8>) -> Result<()> {
        block.clear();
        match self.extents.get(extent) {
            Some(&(at, length)) => {
                block.resize(length, 0);
                self.scratch.read(at, block)
            }
            None => {
                block.extend_from_slice(&self.tail);
                Ok(())
            }
        }
    }
}

/// The record at the beginning of `bytes`, and what follows it.
pub(crate) fn split_record(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

/// Reads a stream's records in order.
pub(crate) struct StreamReader<'r, 'w> {
    stream: &'r Stream<'w>,
    /// The extent to load next.
    next: usize,
    block: Vec<u8>,
    at: usize,
}

impl StreamReader<'_, '_> {
    /// The next record.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>> {
        self.stream.scratch.workspace.check()?;
        while self.at == self.block.len() {
            if self.next > self.stream.extents.len() {
                return Ok(None);
            }
            self.stream.load(self.next, &mut self.block)?;
            self.next += 1;
            self.at = 0;
        }
        let (record, rest) = split_record(&self.block[self.at..]).ok_or_else(damaged)?;
        self.at = self.block.len() - rest.len();
        Ok(Some(record))
    }
}
