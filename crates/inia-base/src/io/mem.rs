//! A directory in memory: embedded scratch databases, stores that do not outlive their process,
//! and tests.
//!
//! A file takes memory piece by piece as it is written to, and never moves what it has:
//!
//! ```text
//!   written at 600,000    [ none ][ none ][piece]    zeros are read before it
//! ```
//!
//! A fork shares the pieces of its origin until one of the two writes to them.

use super::{Disk, DiskFile};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of memory that a file takes at a time.
const PIECE: usize = 256 << 10;
/// What a piece holds at first.
static ZEROS: [u8; PIECE] = [0; PIECE];

/// Files in memory. A clone is the same disk, so that a store can be opened on it again.
#[derive(Clone)]
pub struct MemDisk {
    files: Arc<Mutex<BTreeMap<String, Arc<dyn DiskFile>>>>,
    make: fn(&str) -> Arc<dyn DiskFile>,
}

/// Bytes in memory.
#[derive(Default)]
struct MemFile {
    pieces: RwLock<Pieces>,
}

#[derive(Clone, Default)]
struct Pieces {
    len: u64,
    /// By position; those that were never written to are zeros.
    pieces: Vec<Option<Arc<[u8]>>>,
}

impl MemDisk {
    /// A disk without files.
    pub fn new() -> MemDisk {
        MemDisk::of(|_| MemDisk::file())
    }

    /// A disk without files; `make` makes each from its name.
    pub fn of(make: fn(&str) -> Arc<dyn DiskFile>) -> MemDisk {
        MemDisk { files: Arc::default(), make }
    }

    /// An empty file in memory, on no disk.
    pub fn file() -> Arc<dyn DiskFile> {
        Arc::new(MemFile::default())
    }
}

impl Default for MemDisk {
    fn default() -> MemDisk {
        MemDisk::new()
    }
}

fn missing(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, name.to_string())
}

impl Disk for MemDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let mut files = self.files.lock();
        if let Some(file) = files.get(name) {
            return Ok(Arc::clone(file));
        }
        if !create {
            return Err(missing(name));
        }
        let file = (self.make)(name);
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
        Ok(MemDisk::file())
    }

    fn is_memory(&self) -> bool {
        true
    }

    fn fork(&self) -> Option<Arc<dyn Disk>> {
        let files = self.files.lock();
        let forked = files.iter().map(|(name, file)| Some((name.clone(), file.fork()?)));
        let files = Arc::new(Mutex::new(forked.collect::<Option<_>>()?));
        Some(Arc::new(MemDisk { files, make: self.make }))
    }
}

/// The pieces that a range touches: each with the range's part in it, and where that lies in the
/// caller's bytes. The range ends within 64 bits.
fn parts(offset: u64, len: usize) -> impl Iterator<Item = (usize, Range<usize>, usize)> {
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

impl DiskFile for MemFile {
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
            let written = &buf[at..at + range.len()];
            // Zeros need no memory where nothing else was written: files are often allocated by
            // writing zeros.
            if file.pieces[piece].is_none() && *written == ZEROS[..written.len()] {
                continue;
            }
            let zeros = || Arc::from(ZEROS.as_slice());
            let bytes = Arc::make_mut(file.pieces[piece].get_or_insert_with(zeros));
            bytes[range].copy_from_slice(written);
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.pieces.read().len)
    }

    fn fork(&self) -> Option<Arc<dyn DiskFile>> {
        let pieces = RwLock::new(self.pieces.read().clone());
        Some(Arc::new(MemFile { pieces }))
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
            Arc::make_mut(last)[inside..].fill(0);
        }
        file.len = len;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
