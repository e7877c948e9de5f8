//! Small files that exist whole or not at all, however the machine stops.
//!
//! A file is written under a temporary name, synced, renamed, and the directory is synced: a crash
//! before the rename leaves the old file, one after it the new file.

use super::Disk;
use std::io;

/// Ends the temporary name. A file of such a name is left by a crash and is written over.
const TEMPORARY: &str = ".new";

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The server's user and group.
    Group,
    /// The server's user alone.
    Owner,
}

/// Replaces a file as a whole; durable when this returns.
pub fn write_whole(disk: &dyn Disk, name: &str, bytes: &[u8], access: Access) -> io::Result<()> {
    let temporary = format!("{name}{TEMPORARY}");
    let file = disk.open(&temporary, true)?;
    if access == Access::Owner {
        disk.restrict(&temporary)?;
    }
    file.set_len(0)?;
    file.write_at(bytes, 0)?;
    file.sync()?;
    disk.rename(&temporary, name)?;
    disk.sync_names()
}

/// The bytes of a file; `None` when there is no such file.
pub fn read_whole(disk: &dyn Disk, name: &str) -> io::Result<Option<Vec<u8>>> {
    let file = match disk.open(name, false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let len = usize::try_from(file.len()?).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut bytes = vec![0; len];
    file.read_at(&mut bytes, 0)?;
    Ok(Some(bytes))
}
