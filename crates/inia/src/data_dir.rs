//! The data directory: made where it is missing, and owned by one server at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Locked, and holds the number of the process that locked it. The disk below has a lock of its own,
/// which also keeps embedded databases out.
const LOCK_FILE: &str = "inia.pid";

/// An owned data directory; given back when dropped.
pub(crate) struct DataDir {
    path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Takes the directory, creating it if needed; the error says who has it.
    pub(crate) fn take(path: &Path) -> Result<DataDir, String> {
        let fail = |what: &str, error: std::io::Error| {
            format!("cannot {what} data directory {}: {error}", path.display())
        };
        if path.exists() && !path.is_dir() {
            return Err(format!("data directory {} is not a directory", path.display()));
        }
        std::fs::create_dir_all(path).map_err(|error| fail("create", error))?;
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path.join(LOCK_FILE))
            .map_err(|error| fail("write to", error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                let _ = lock.read_to_string(&mut owner);
                return Err(format!(
                    "data directory {} is in use by another Inia server (process {})",
                    path.display(),
                    owner.trim()
                ));
            }
            Err(TryLockError::Error(error)) => return Err(fail("lock", error)),
        }
        let written = lock
            .set_len(0)
            .and_then(|()| lock.rewind())
            .and_then(|()| writeln!(lock, "{}", std::process::id()));
        written.map_err(|error| fail("write to", error))?;
        Ok(DataDir { path: path.to_owned(), _lock: lock })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
