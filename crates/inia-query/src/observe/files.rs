//! Log files: where they may be, and lines that are appended to them.
//!
//! A file is opened for appending with the mode of all files. Only plain files in the data
//! directory and in the directory of `secure_file_priv` may be logs, under names that no file of
//! the database and no key has: SET GLOBAL must not be a way to write elsewhere.

use super::lines::{self, Command, Ended, Who};
use inia_base::io::{FILE_MODE, FileCounter, FileRequests};
use parking_lot::Mutex;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The file may not be a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRefused;

/// A log's file.
#[derive(Default)]
pub(super) struct LogFile {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    path: Option<PathBuf>,
    file: Option<File>,
    header: String,
    /// Times are local ones.
    local: bool,
    /// More members of each statement (`log_slow_extra`).
    extra: bool,
    /// The default database of the statement before.
    database: String,
    counter: FileCounter,
}

impl LogFile {
    /// Where the log is to be; whether that is where it is.
    pub(super) fn set(&self, path: Option<PathBuf>, header: &str, local: bool) -> bool {
        let mut state = self.state.lock();
        if state.path != path {
            state.file = None;
        }
        (state.path, state.local) = (path, local);
        header.clone_into(&mut state.header);
        state.file.is_some()
    }

    /// Its path, where it is one, and what was asked of it.
    pub(super) fn requests(&self) -> (Option<PathBuf>, FileRequests) {
        let state = self.state.lock();
        (state.path.clone(), state.counter.requests())
    }

    /// Counts requests anew.
    pub(super) fn clear_requests(&self) {
        self.state.lock().counter.clear();
    }

    pub(super) fn set_extra(&self, extra: bool) {
        self.state.lock().extra = extra;
    }

    /// Closes the file, and opens what now has its name.
    pub(super) fn reopen(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        state.file = None;
        state.database.clear();
        let Some(path) = &state.path else { return Ok(()) };
        let mut file = open(path)?;
        let header = state.header.as_bytes();
        state.counter.write(header.len(), || file.write_all(header))?;
        state.file = Some(file);
        Ok(())
    }

    pub(super) fn write_command(&self, who: &Who<'_>, command: &Command<'_>) {
        let mut state = self.state.lock();
        let line = lines::command_line(who, command, state.local);
        state.append(&line);
    }

    pub(super) fn write_statement(&self, who: &Who<'_>, ended: &Ended<'_>) {
        let mut state = self.state.lock();
        let (local, extra) = (state.local, state.extra);
        let changed = state.database != ended.database;
        let entry = lines::statement_entry(who, ended, changed, (local, extra));
        if changed {
            ended.database.clone_into(&mut state.database);
        }
        state.append(&entry);
    }
}

impl State {
    /// A line that cannot be written is lost: the statement has been carried out.
    fn append(&mut self, bytes: &[u8]) {
        if let Some(file) = &mut self.file {
            let _ = self.counter.write(bytes.len(), || file.write_all(bytes));
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let refused = || io::Error::new(io::ErrorKind::InvalidInput, "not a plain file");
    match std::fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return Err(refused()),
        _ => {}
    }
    let file = OpenOptions::new().append(true).create(true).mode(FILE_MODE).open(path)?;
    // The umask may have taken the group's right, and an older file may be open to others.
    file.set_permissions(Permissions::from_mode(FILE_MODE))?;
    Ok(file)
}

/// A path as it stands, or in the data directory.
pub(super) fn absolute(directory: &str, path: &str) -> PathBuf {
    Path::new(directory).join(path)
}

/// Whether a log may have this path.
pub(super) fn check(directory: &str, secure: &str, path: &str) -> Result<(), PathRefused> {
    if path.is_empty() {
        return Ok(());
    }
    let full = absolute(directory, path);
    let name = full.file_name().and_then(|name| name.to_str()).ok_or(PathRefused)?;
    let reserved = name.starts_with("inia.")
        || name.starts_with('.')
        || [".cnf", ".ini", ".pem", ".pid", ".new"].iter().any(|end| name.ends_with(end))
        || path.ends_with('/')
        || path.chars().any(char::is_control);
    let parent = full.parent().and_then(|parent| parent.canonicalize().ok()).ok_or(PathRefused)?;
    let is_in = |place: &str| {
        !place.is_empty()
            && place != "NULL"
            && Path::new(place).canonicalize().is_ok_and(|place| place == parent)
    };
    let plain = match std::fs::symlink_metadata(&full) {
        Ok(found) => found.is_file(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    match !reserved && plain && (is_in(directory) || is_in(secure)) {
        true => Ok(()),
        false => Err(PathRefused),
    }
}
