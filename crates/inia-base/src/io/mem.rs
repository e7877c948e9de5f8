//! A directory in memory: embedded scratch databases and tests.

use super::{Disk, DiskFile};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// Files in memory. A clone is the same disk, so that a store can be opened on it again.
#[derive(Clone, Default)]
pub struct MemDisk {
    files: Arc<Mutex<BTreeMap<String, Arc<MemFile>>>>,
}

impl MemDisk {
    /// A disk without files.
    pub fn new() -> MemDisk {
        MemDisk::default()
    }
}

#[derive(Default)]
struct MemFile {
    bytes: RwLock<Vec<u8>>,
}

fn missing(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, name.to_string())
}

impl Disk for MemDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let mut files = self.files.lock();
        if let Some(file) = files.get(name) {
            return Ok(Arc::clone(file) as Arc<dyn DiskFile>);
        }
        if !create {
            return Err(missing(name));
        }
        let file = Arc::new(MemFile::default());
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
        Ok(Arc::new(MemFile::default()))
    }
}

/// The index range of a request, or an error for offsets beyond memory.
fn span(offset: u64, len: usize) -> io::Result<std::ops::Range<usize>> {
    let start = usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
    let end = start.checked_add(len).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(start..end)
}

impl DiskFile for MemFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = self.bytes.read();
        let source = bytes.get(span(offset, buf.len())?).ok_or(io::ErrorKind::UnexpectedEof)?;
        buf.copy_from_slice(source);
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let span = span(offset, buf.len())?;
        let mut bytes = self.bytes.write();
        if bytes.len() < span.end {
            bytes.resize(span.end, 0);
        }
        bytes[span].copy_from_slice(buf);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.read().len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.bytes.write().resize(span(len, 0)?.start, 0);
        Ok(())
    }
}
