//! A file that is locked for as long as a directory is owned, and removed with the ownership.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A locked file; unlocked and removed when dropped.
pub struct LockFile {
    path: PathBuf,
    file: File,
}

/// Why a lock file cannot be had.
#[derive(Debug)]
pub enum LockError {
    /// Another process, or another part of this one, holds it; this is what the file says.
    Held(String),
    /// The file cannot be made or locked.
    Io(io::Error),
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> LockError {
        LockError::Io(error)
    }
}

impl LockFile {
    /// Makes the file if it is missing, locks it and writes a text into it.
    pub fn take(path: &Path, text: &str) -> Result<LockFile, LockError> {
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).mode(super::FILE_MODE);
            let mut file = options.open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let mut owner = String::new();
                    // The owner may be writing; without its text the message is shorter.
                    let _ = file.read_to_string(&mut owner);
                    return Err(LockError::Held(owner.trim().to_owned()));
                }
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
            // An owner that ended between the two calls took the name away.
            if !is_named(&file, path) {
                continue;
            }
            file.set_permissions(std::fs::Permissions::from_mode(super::FILE_MODE))?;
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(text.as_bytes())?;
            return Ok(LockFile { path: path.to_owned(), file });
        }
    }
}

/// Whether the path still names this file.
fn is_named(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // The name goes before the lock, so that nobody locks a file that is about to vanish. A
        // file that stays does no harm: the lock is what counts.
        let _ = std::fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}
