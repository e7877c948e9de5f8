//! A directory of real files, by direct I/O where the file system takes it.
//!
//! Each file has up to two descriptors: a direct one for aligned requests and a buffered one for
//! the rest. The kernel keeps the two coherent for requests that do not overlap in time; the
//! storage engine's own files only ever see aligned requests.
#![allow(unsafe_code)]

use super::counts::FileCounters;
use super::{AlignedBuf, CountedFile, DIRECT_ALIGN, Disk, DiskFile, FILE_MODE, FileCounter};
use super::{LockError, LockFile};
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Mode of a directory that is made here.
const DIRECTORY_MODE: u32 = 0o750;
/// Mode of a file that only the server's user may read.
const SECRET_MODE: u32 = 0o600;

/// Locked for as long as the directory is open.
const LOCK_FILE: &str = "inia.lock";
const PROBE_FILE: &str = "inia.probe";
/// Begins the names that scratch files have for a moment, where they need one.
const SCRATCH: &str = "inia.scratch-";

/// A data directory. Only one may be open on a directory at a time, in any process.
pub struct FileDisk {
    path: PathBuf,
    direct: bool,
    /// Numbers the scratch files that need a name.
    scratches: AtomicU64,
    counters: FileCounters,
    _lock: LockFile,
}

impl FileDisk {
    /// Opens a directory, creating it when it is missing. A directory that is open elsewhere is a
    /// `ResourceBusy` error.
    pub fn open(path: &Path) -> io::Result<FileDisk> {
        create_directory(path)?;
        let lock_file = path.join(LOCK_FILE);
        let lock = LockFile::take(&lock_file, "").map_err(|error| match error {
            LockError::Held(_) => io::Error::new(
                io::ErrorKind::ResourceBusy,
                format!("{} is in use by another server", path.display()),
            ),
            LockError::Io(error) => named(&lock_file, &error),
        })?;
        let direct = takes_direct_io(path);
        let disk = FileDisk {
            path: path.to_path_buf(),
            direct,
            scratches: AtomicU64::new(0),
            counters: FileCounters::default(),
            _lock: lock,
        };
        disk.remove_scratch_files();
        Ok(disk)
    }

    /// Removes what a program left that was killed between making a scratch file and unlinking it.
    fn remove_scratch_files(&self) {
        for name in self.list().unwrap_or_default() {
            if name.starts_with(SCRATCH) {
                // Nothing depends on it: a file that cannot be removed takes space, no more.
                let _ = std::fs::remove_file(self.path.join(name));
            }
        }
    }

    /// A file that never has a name, where the file system has such, or that loses it at once.
    fn open_scratch(&self) -> io::Result<File> {
        let nameless = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_TMPFILE)
            .mode(SECRET_MODE)
            .open(&self.path);
        let unsupported = [libc::EOPNOTSUPP, libc::EISDIR, libc::ENOENT, libc::EINVAL];
        match nameless {
            Err(error) if error.raw_os_error().is_some_and(|code| unsupported.contains(&code)) => {}
            other => return other,
        }
        let number = self.scratches.fetch_add(1, Ordering::Relaxed);
        let path = self.path.join(format!("{SCRATCH}{number}"));
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create_new(true).mode(SECRET_MODE);
        let file = options.open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(file)
    }
}

/// Makes a directory that only the server's user and group may enter, whatever the umask. The new
/// name is durable, and so is what is made in the directory later.
pub fn create_directory(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        std::fs::create_dir_all(parent)?;
    }
    DirBuilder::new().mode(DIRECTORY_MODE).create(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(DIRECTORY_MODE))?;
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

/// Writes and reads one block past the page cache; any failure means that the cache must be used.
fn takes_direct_io(path: &Path) -> bool {
    let name = path.join(PROBE_FILE);
    let probe = || -> io::Result<()> {
        let file = open_direct(&name, true)?;
        let mut block = AlignedBuf::new(DIRECT_ALIGN);
        file.write_all_at(&block, 0)?;
        file.read_exact_at(&mut block, 0)
    };
    let direct = probe().is_ok();
    // The probe may not have come as far as creating its file.
    let _ = std::fs::remove_file(&name);
    direct
}

/// An error that says which file it is about.
fn named(path: &Path, error: &io::Error) -> io::Error {
    let name = path.file_name().unwrap_or(path.as_os_str());
    io::Error::new(error.kind(), format!("{}: {error}", Path::new(name).display()))
}

fn open_direct(path: &Path, create: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(create).mode(SECRET_MODE);
    options.custom_flags(libc::O_DIRECT).open(path)
}

/// Opens a file for reading and writing, or makes it with the mode of all files.
fn open_or_create(path: &Path) -> io::Result<File> {
    match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => create_file(path),
        opened => opened,
    }
}

/// Makes a file that other users cannot read, whatever the umask; an error where there is one.
pub fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(SECRET_MODE).open(path)?;
    file.set_permissions(Permissions::from_mode(FILE_MODE))?;
    Ok(file)
}

impl Disk for FileDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let path = self.path.join(name);
        let opened = match create {
            true => open_or_create(&path),
            false => OpenOptions::new().read(true).write(true).open(&path),
        };
        let buffered = opened.map_err(|error| named(&path, &error))?;
        let direct = if self.direct { Some(open_direct(&path, false)?) } else { None };
        let len = AtomicU64::new(buffered.metadata()?.len());
        let (grown, counter) = (AtomicBool::new(false), self.counters.of(name));
        Ok(Arc::new(RealFile { buffered, direct, len, grown, counter }))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        let entries = std::fs::read_dir(&self.path).map_err(|error| named(&self.path, &error))?;
        for entry in entries {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string()
                && name != LOCK_FILE
                && entry.file_type()?.is_file()
            {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.path.join(name))?;
        self.counters.removed(name);
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.path.join(from), self.path.join(to))?;
        self.counters.renamed(from, to);
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }

    fn restrict(&self, name: &str) -> io::Result<()> {
        std::fs::set_permissions(self.path.join(name), Permissions::from_mode(SECRET_MODE))
    }

    fn scratch(&self) -> io::Result<Arc<dyn DiskFile>> {
        let (len, grown) = (AtomicU64::new(0), AtomicBool::new(false));
        // All of them together: none lives long.
        let (buffered, counter) = (self.open_scratch()?, self.counters.of(SCRATCH));
        Ok(Arc::new(RealFile { buffered, direct: None, len, grown, counter }))
    }

    fn requests(&self) -> Vec<CountedFile> {
        self.counters.list()
    }

    fn clear_requests(&self) {
        self.counters.clear();
    }
}

struct RealFile {
    buffered: File,
    direct: Option<File>,
    len: AtomicU64,
    grown: AtomicBool,
    counter: Arc<FileCounter>,
}

impl RealFile {
    /// The descriptor for a request of these bytes at this offset.
    fn descriptor(&self, buf: &[u8], offset: u64) -> &File {
        let aligned = buf.as_ptr().addr().is_multiple_of(DIRECT_ALIGN)
            && buf.len().is_multiple_of(DIRECT_ALIGN)
            && offset.is_multiple_of(DIRECT_ALIGN as u64);
        match &self.direct {
            Some(direct) if aligned => direct,
            _ => &self.buffered,
        }
    }
}

impl DiskFile for RealFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let (len, file) = (buf.len(), self.descriptor(buf, offset));
        match self.counter.read(len, || file.read_exact_at(buf, offset)) {
            // A direct read that meets an unaligned end of file.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                self.buffered.read_exact_at(buf, offset)
            }
            result => result,
        }
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let write = || self.descriptor(buf, offset).write_all_at(buf, offset);
        self.counter.write(buf.len(), write)?;
        let end = offset + buf.len() as u64;
        if end > self.len.load(Ordering::Relaxed) {
            self.len.fetch_max(end, Ordering::Relaxed);
            self.grown.store(true, Ordering::Release);
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let grown = self.grown.swap(false, Ordering::AcqRel);
        self.counter.other(|| match grown {
            true => self.buffered.sync_all(),
            false => self.buffered.sync_data(),
        })
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.buffered.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let old = self.buffered.metadata()?.len();
        self.counter.other(|| match len <= old || !set_aside(&self.buffered, old, len)? {
            true => self.buffered.set_len(len),
            false => Ok(()),
        })?;
        self.len.store(len, Ordering::Relaxed);
        self.grown.store(true, Ordering::Release);
        Ok(())
    }
}

/// Grows the file with space set aside on the device; false when the file system cannot.
fn set_aside(file: &File, from: u64, to: u64) -> io::Result<bool> {
    let (Ok(start), Ok(len)) = (libc::off_t::try_from(from), libc::off_t::try_from(to - from))
    else {
        return Err(io::ErrorKind::FileTooLarge.into());
    };
    // SAFETY: a plain system call on a descriptor that is open for as long as `file` is borrowed.
    if unsafe { libc::fallocate(file.as_raw_fd(), 0, start, len) } == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL) => Ok(false),
        _ => Err(error),
    }
}
