//! What can go wrong in storage, by what the caller must do.

use inia_base::ids::PageId;
use std::fmt;
use std::sync::Arc;

/// An error of the storage engine.
#[derive(Clone, Debug)]
pub enum StorageError {
    /// The key is there already (and visible to a current read). The statement must be undone.
    DuplicateKey,
    /// This transaction was chosen as a deadlock's victim. The transaction must be rolled back.
    Deadlock,
    /// A lock was not granted in time. The statement must be undone.
    LockWaitTimeout,
    /// NOWAIT met a lock. The statement must be undone.
    LockNotAvailable,
    /// The wait was interrupted by KILL. The statement must be undone.
    Interrupted,
    /// The transaction's snapshot is older than the tree. The statement must be undone.
    SnapshotTooOld,
    /// No space is left on the device. The statement must be undone.
    DiskFull,
    /// A key or a record is larger than the engine takes.
    TooLarge,
    /// A page failed its checks; the page and what was found.
    Corrupt(PageId, &'static str),
    /// The file set is not one this version can open, and why.
    Unopenable(String),
    /// The disk failed in a call.
    Io(Arc<std::io::Error>),
    /// The disk failed where that leaves open what is on it, and how: the engine refuses all
    /// further writes until it is opened again.
    Stopped(Arc<str>),
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StorageError::DuplicateKey => f.write_str("duplicate key"),
            StorageError::Deadlock => f.write_str("deadlock"),
            StorageError::LockWaitTimeout => f.write_str("lock wait timeout"),
            StorageError::LockNotAvailable => f.write_str("lock not available"),
            StorageError::Interrupted => f.write_str("interrupted"),
            StorageError::SnapshotTooOld => f.write_str("the snapshot is older than the tree"),
            StorageError::DiskFull => f.write_str("no space left on device"),
            StorageError::TooLarge => f.write_str("record too large"),
            StorageError::Corrupt(page, what) => write!(f, "page {page} is damaged: {what}"),
            StorageError::Unopenable(why) => f.write_str(why),
            StorageError::Io(error) => write!(f, "disk error: {error}"),
            StorageError::Stopped(why) => {
                write!(f, "no writes until the next start, because of a failed one: {why}")
            }
        }
    }
}

impl std::error::Error for StorageError {}

impl From<std::io::Error> for StorageError {
    fn from(error: std::io::Error) -> StorageError {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match error.kind() {
            // A limit that somebody has set is as good as a full disk.
            StorageFull | QuotaExceeded | FileTooLarge => StorageError::DiskFull,
            _ => StorageError::Io(Arc::new(error)),
        }
    }
}
