//! The data directory: made where it is missing, and owned by one process at a time.

use inia_base::io::{Disk, FileDisk, LockError, LockFile, MemDisk, create_directory};
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Locked, and holds the number of the process that locked it. The disk below has a lock of its
/// own, which also keeps embedded databases out.
const PROCESS_FILE: &str = "inia.pid";
/// Begins the names of the program's own files.
const OWN_PREFIX: &str = "inia.";
/// An entry that file systems make by themselves.
const LOST_AND_FOUND: &str = "lost+found";
/// The certificate for TLS, its key, and the pair of keys for passwords without TLS.
pub(crate) const CERTIFICATE: &str = "server-cert.pem";
pub(crate) const CERTIFICATE_KEY: &str = "server-key.pem";
pub(crate) const RSA_KEY: &str = "private_key.pem";
pub(crate) const RSA_PUBLIC: &str = "public_key.pem";
/// Ends the name of a file that is being made.
const TEMPORARY: &str = ".new";
/// What stands for the path of a database in memory.
const NO_PATH: &str = ":memory:";
/// What other users may do, in a mode.
const OTHERS: u32 = 0o007;

/// An owned data directory; given back when dropped.
pub struct DataDir {
    path: PathBuf,
    disk: Arc<dyn Disk>,
    /// None in memory.
    lock: Option<LockFile>,
    /// What was in it before, where that was no database.
    without_database: Option<Vec<String>>,
    /// Comes last: what is empty again can be removed.
    _made: MadeDirectories,
}

/// Directories that were made by this start, the innermost first; removed when dropped, unless
/// something is in them.
struct MadeDirectories(Vec<PathBuf>);

impl MadeDirectories {
    /// Those that have to be made for this one.
    fn missing(path: &Path) -> MadeDirectories {
        let named = path.ancestors().filter(|path| !path.as_os_str().is_empty());
        MadeDirectories(named.take_while(|path| !path.exists()).map(Path::to_owned).collect())
    }
}

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        // A directory that holds a database is not empty and stays, as do those around it.
        let _ = self.0.iter().try_for_each(std::fs::remove_dir);
    }
}

impl DataDir {
    /// Takes the directory, creating it if needed; the error says who has it, or what else is in
    /// it. A refused directory is left as it was.
    pub(crate) fn take(path: &Path) -> Result<DataDir, String> {
        let fail = |what: &str, error: &io::Error| {
            format!("cannot {what} data directory {}: {error}", path.display())
        };
        if path.exists() && !path.is_dir() {
            return Err(format!("data directory {} is not a directory", path.display()));
        }
        let made = MadeDirectories::missing(path);
        create_directory(path).map_err(|error| fail("create", &error))?;
        if let Some(name) = foreign_entry(path).map_err(|error| fail("read", &error))? {
            return Err(format!(
                "data directory {} is not empty and holds no Inia database (there is {name}); \
                 choose another directory",
                path.display()
            ));
        }
        let text = format!("{}\n", std::process::id());
        let lock =
            LockFile::take(&path.join(PROCESS_FILE), &text).map_err(|error| match error {
                LockError::Held(owner) => format!(
                    "data directory {} is in use by another Inia server (process {owner})",
                    path.display()
                ),
                LockError::Io(error) => fail("write to", &error),
            })?;
        close_to_others(path);
        let disk = FileDisk::open(path)
            .map_err(|error| format!("cannot open the database in {}: {error}", path.display()))?;
        let disk: Arc<dyn Disk> = Arc::new(disk);
        // Nobody else makes a database from here on: both locks are held.
        let before = names(path).map_err(|error| fail("read", &error))?;
        let is_new = !before.iter().any(|name| inia_sql::is_database_file(name));
        let without_database = is_new.then_some(before);
        let lock = Some(lock);
        Ok(DataDir { path: path.to_owned(), disk, lock, without_database, _made: made })
    }

    /// Removes the database that this start has made, if it has made one: the start is refused.
    /// Nobody works on the files any more.
    #[cfg(feature = "server")]
    pub(crate) fn discard(&self) {
        let Some(before) = &self.without_database else { return };
        let made = names(&self.path).unwrap_or_default();
        for name in made.iter().filter(|name| is_own(name) && !before.contains(name)) {
            // The files of locks go with their owners.
            if !name.ends_with(".lock") && name != PROCESS_FILE {
                let _ = self.disk.remove(name);
            }
        }
    }

    /// A directory in memory, which ends with its owner.
    pub(crate) fn in_memory() -> DataDir {
        DataDir::of_memory(Arc::new(MemDisk::new()))
    }

    /// A directory in memory with the same files, which goes its own way; `None` on a disk.
    pub(crate) fn fork(&self) -> Option<DataDir> {
        Some(DataDir::of_memory(self.disk.fork()?))
    }

    fn of_memory(disk: Arc<dyn Disk>) -> DataDir {
        let (path, without_database) = (PathBuf::from(NO_PATH), None);
        DataDir { path, disk, lock: None, without_database, _made: MadeDirectories(Vec::new()) }
    }

    /// Whether it is in memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.lock.is_none()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its files.
    pub fn disk(&self) -> Arc<dyn Disk> {
        self.disk.clone()
    }

    /// Whether other users may enter it. The files in it are closed to them all the same.
    #[cfg(feature = "server")]
    pub(crate) fn is_open_to_others(&self) -> bool {
        let mode = std::fs::metadata(&self.path).map_or(0, |found| found.permissions().mode());
        mode & OTHERS != 0
    }
}

/// Whether a directory holds a database, or the damaged remains of one.
pub(crate) fn holds_database(dir: &Path) -> io::Result<bool> {
    Ok(names(dir)?.iter().any(|name| inia_sql::is_database_file(name)))
}

/// Something in a directory without a database that no start of Inia leaves there.
fn foreign_entry(dir: &Path) -> io::Result<Option<String>> {
    let names = names(dir)?;
    if names.iter().any(|name| inia_sql::is_database_file(name)) {
        return Ok(None);
    }
    let harmless = |name: &str| name.starts_with('.') || name == LOST_AND_FOUND || is_own(name);
    Ok(names.into_iter().find(|name| !harmless(name)))
}

/// Whether a file of this name is one of the keys and certificates, complete or not.
pub(crate) fn is_key_file(name: &str) -> bool {
    let name = name.strip_suffix(TEMPORARY).unwrap_or(name);
    [CERTIFICATE, CERTIFICATE_KEY, RSA_KEY, RSA_PUBLIC].contains(&name)
}

/// Whether a file of this name is made by Inia.
fn is_own(name: &str) -> bool {
    name.starts_with(OWN_PREFIX) || inia_sql::is_database_file(name) || is_key_file(name)
}

/// Takes the rights of other users from the files that an older version made.
fn close_to_others(dir: &Path) {
    for name in names(dir).unwrap_or_default().iter().filter(|name| is_own(name)) {
        let path = dir.join(name);
        let Ok(found) = std::fs::symlink_metadata(&path) else { continue };
        let mode = found.permissions().mode();
        if found.is_file() && mode & OTHERS != 0 {
            // A file that belongs to another user stays as that one wants it.
            let _ = std::fs::set_permissions(&path, Permissions::from_mode(mode & 0o777 & !OTHERS));
        }
    }
}

fn names(dir: &Path) -> io::Result<Vec<String>> {
    let entries = std::fs::read_dir(dir)?;
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}
