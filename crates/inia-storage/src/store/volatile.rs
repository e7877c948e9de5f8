//! The disk of a store that does not outlive its process.
//!
//! Pages that leave the pool must be readable again, and so must undo that was spilled: those files
//! are in memory. All else that a store writes is only for the next start, and there is none: the
//! log and the doublewrite file discard their bytes. The store works as any other does, and nothing
//! of it is logged.
//!
//! ```text
//!   inia.data      [piece][piece][ ... ]    read again
//!   inia.log.7     only its length          never read: the store is not opened twice
//! ```

use crate::files::{CONTROL_FILE, DATA_FILE, UNDO_FILE};
use crate::sync::Mutex;
use inia_base::io::{DiskFile, MemDisk};
use std::io;
use std::sync::Arc;

/// A directory whose files are forgotten with it.
pub(crate) fn volatile_disk() -> MemDisk {
    MemDisk::of(|name| match is_read(name) {
        true => MemDisk::file(),
        false => Arc::new(Swallowed::default()),
    })
}

/// Whether the store reads the file again while it is open, or when it is created.
fn is_read(name: &str) -> bool {
    name == DATA_FILE || name == UNDO_FILE || name.starts_with(CONTROL_FILE)
}

/// Bytes that nobody will ask for.
#[derive(Default)]
struct Swallowed {
    len: Mutex<u64>,
}

impl DiskFile for Swallowed {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        if offset.checked_add(buf.len() as u64).is_none_or(|end| end > *self.len.lock()) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buf.fill(0);
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let end = offset.checked_add(buf.len() as u64).ok_or(io::ErrorKind::InvalidInput)?;
        let mut len = self.len.lock();
        *len = (*len).max(end);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(*self.len.lock())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        *self.len.lock() = len;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
