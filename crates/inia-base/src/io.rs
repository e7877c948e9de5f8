//! The disk seam: every byte that Inia keeps goes through these two traits.
//!
//! [`FileDisk`] is a directory of real files, [`MemDisk`] one in memory. Fast paths of [`FileDisk`]
//! want memory, offset and length to be multiples of [`DIRECT_ALIGN`]: see [`AlignedBuf`].

mod aligned;
mod counts;
mod file;
mod lock_file;
mod mem;
mod socket;
mod whole;

#[cfg(test)]
mod tests;

pub use aligned::{AlignedBuf, DIRECT_ALIGN};
pub use counts::{CountedFile, FileCounter, FileRequests, RequestSums};
pub use file::{FileDisk, create_directory, create_file};
pub use lock_file::{LockError, LockFile};
pub use mem::MemDisk;
pub use socket::{lengthen_queue, send_now};
pub use whole::{Access, read_whole, write_whole};

use std::io;
use std::sync::Arc;

/// Mode of every file that the server makes, whatever the umask: other users read nothing.
pub const FILE_MODE: u32 = 0o640;

/// A directory of files. Names are plain file names; sub-directories are not used.
///
/// `remove` and `rename` are durable only after [`Disk::sync_names`], as is the creation of a file.
pub trait Disk: Send + Sync {
    /// Opens `name` for reading and writing; creates it when `create` is set and it is missing.
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>>;
    /// Names of all files, in no order.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Renames a file, replacing any file called `to`.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Makes creations, removals and renames durable.
    fn sync_names(&self) -> io::Result<()>;
    /// Lets nobody but the server's user read a file. Disks without users have nothing to do.
    fn restrict(&self, _name: &str) -> io::Result<()> {
        Ok(())
    }
    /// A new empty file without a name, for what a statement cannot keep in memory. Its space is
    /// free again once its last handle is gone, however the program ends; it is never durable.
    fn scratch(&self) -> io::Result<Arc<dyn DiskFile>>;
    /// Whether its files are in memory, so that nobody waits for what is read.
    fn is_memory(&self) -> bool {
        false
    }
    /// What was asked of its files; nothing where nobody counts.
    fn requests(&self) -> Vec<CountedFile> {
        Vec::new()
    }
    /// Counts requests anew.
    fn clear_requests(&self) {}
    /// A disk with the same files, which goes its own way from here on; `None` where that costs
    /// much.
    fn fork(&self) -> Option<Arc<dyn Disk>> {
        None
    }
}

/// One open file. Writes are durable only after [`DiskFile::sync`].
pub trait DiskFile: Send + Sync {
    /// Fills `buf` from `offset`; reading past the end is an `UnexpectedEof` error.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()>;
    /// Writes all of `buf` at `offset`, growing the file as needed.
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()>;
    /// Makes all earlier writes of this file durable, its length included.
    fn sync(&self) -> io::Result<()>;
    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Grows (with zeros, for which space is set aside) or cuts the file.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Whether the file has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// A file for [`Disk::fork`].
    fn fork(&self) -> Option<Arc<dyn DiskFile>> {
        None
    }
}
