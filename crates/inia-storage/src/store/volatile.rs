//! The disk of a store that does not outlive its process.
//!
//! Pages that leave the pool must be readable again, and so must undo that was put aside: these
//! files are memory, taken piece by piece as it is written to. All else a store writes is for the
//! next start alone, and there is none: the log and copies of pages under way swallow their bytes.
//! So the store works as any other does, while nothing of it is logged anywhere.
//!
//! ```text
//!   inia.data      [piece][piece][ ... ]    read again
//!   inia.log.7     only its length          never read: the store is not opened twice
//! ```

use super::DATA_FILE;
use super::control::CONTROL_FILE;
use crate::sync::{Mutex, RwLock};
use crate::txn::undo::UNDO_FILE;
use inia_base::io::{Disk, DiskFile};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// Bytes of memory that a file takes at a time.
const PIECE: usize = 256 << 10;

/// A directory whose files are forgotten with it.
#[derive(Default)]
pub(crate) struct VolatileDisk {
    files: Mutex<BTreeMap<String, Arc<dyn DiskFile>>>,
}

/// Bytes in memory.
#[derive(Default)]
struct Kept {
    pieces: RwLock<Pieces>,
}

#[derive(Default)]
struct Pieces {
    len: u64,
    /// By position; those that were never written to are zeros.
    pieces: Vec<Option<Box<[u8]>>>,
}

/// Bytes that nobody will ask for.
#[derive(Default)]
struct Swallowed {
    len: Mutex<u64>,
}

fn missing(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, name.to_string())
}

/// Whether the store reads the file again while it is open, or when it is created.
fn is_read(name: &str) -> bool {
    name == DATA_FILE || name == UNDO_FILE || name.starts_with(CONTROL_FILE)
}

impl Disk for VolatileDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let mut files = self.files.lock();
        if let Some(file) = files.get(name) {
            return Ok(Arc::clone(file));
        }
        if !create {
            return Err(missing(name));
        }
        let file: Arc<dyn DiskFile> = match is_read(name) {
            true => Arc::new(Kept::default()),
            false => Arc::new(Swallowed::default()),
        };
        files.insert(name.to_string(), Arc::clone(&file));
        Ok(file)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.files.lock().keys().cloned().collect())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.files.lock().remove(name).map(drop).ok_or_else(|| missing(name))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut files = self.files.lock();
        let file = files.remove(from).ok_or_else(|| missing(from))?;
        files.insert(to.to_string(), file);
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        Ok(())
    }

    fn scratch(&self) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(Kept::default()))
    }
}

/// The pieces that a range touches: each with the range's part in it, and where that lies in the
/// caller's bytes.
fn parts(offset: u64, len: usize) -> impl Iterator<Item = (usize, std::ops::Range<usize>, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let (piece, start) = ((at / PIECE as u64) as usize, (at % PIECE as u64) as usize);
        let count = (len - done).min(PIECE - start);
        let before = done;
        done += count;
        (count > 0).then_some((piece, start..start + count, before))
    })
}

impl DiskFile for Kept {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let file = self.pieces.read();
        if offset.checked_add(buf.len() as u64).is_none_or(|end| end > file.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for (piece, range, at) in parts(offset, buf.len()) {
            let target = &mut buf[at..at + range.len()];
            match file.pieces.get(piece) {
                Some(Some(bytes)) => target.copy_from_slice(&bytes[range]),
                _ => target.fill(0),
            }
        }
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let mut file = self.pieces.write();
        let end = offset.checked_add(buf.len() as u64).ok_or(io::ErrorKind::InvalidInput)?;
        file.len = file.len.max(end);
        for (piece, range, at) in parts(offset, buf.len()) {
            if file.pieces.len() <= piece {
                file.pieces.resize_with(piece + 1, || None);
            }
            let zeros = || vec![0; PIECE].into_boxed_slice();
            let bytes = file.pieces[piece].get_or_insert_with(zeros);
            let count = range.len();
            bytes[range].copy_from_slice(&buf[at..at + count]);
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.pieces.read().len)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut file = self.pieces.write();
        let kept = usize::try_from(len.div_ceil(PIECE as u64)).unwrap_or(usize::MAX);
        file.pieces.truncate(kept);
        let inside = (len % PIECE as u64) as usize;
        if len < file.len
            && inside > 0
            && let Some(Some(last)) = file.pieces.get_mut(kept - 1)
        {
            last[inside..].fill(0);
        }
        file.len = len;
        Ok(())
    }
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
