//! A disk that crashes: unsynced writes are kept, dropped or garbled sector by sector.
//!
//! The model is harsher than real file systems. At a crash each 512-byte sector written since its file's
//! last sync is on its own kept, dropped or filled with garbage; a changed length is kept or not; and of
//! the creations, renames and removals since the last sync of names only a first part happened.

use inia_base::io::{Disk, DiskFile};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

const SECTOR: usize = 512;

/// Small, seeded, repeatable.
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Every call from here on fails.
    Crash,
    /// This one write or sync fails.
    Error,
    /// Growing files and creating them fails from here on.
    Full,
}

#[derive(Clone, Default)]
struct Content {
    synced: Vec<u8>,
    current: Vec<u8>,
    /// Sectors changed since the last sync.
    dirty: Vec<usize>,
}

#[derive(Clone)]
enum NameChange {
    Create(String, usize),
    Remove(String),
    Rename(String, String),
}

fn change_names(names: &mut BTreeMap<String, usize>, change: &NameChange) {
    match change {
        NameChange::Create(name, file) => {
            names.insert(name.clone(), *file);
        }
        NameChange::Remove(name) => {
            names.remove(name);
        }
        NameChange::Rename(from, to) => {
            if let Some(file) = names.remove(from) {
                names.insert(to.clone(), file);
            }
        }
    }
}

#[derive(Default)]
struct State {
    files: Vec<Content>,
    synced_names: BTreeMap<String, usize>,
    names: BTreeMap<String, usize>,
    name_changes: Vec<NameChange>,
    calls: u64,
    fault: Option<(u64, Fault)>,
}

impl State {
    /// Counts a call that changes the disk.
    fn call(&mut self, grows: bool) -> io::Result<()> {
        let call = self.calls;
        self.calls += 1;
        match self.fault {
            Some((at, Fault::Crash)) if call >= at => Err(io::Error::other("crashed")),
            Some((at, Fault::Error)) if call == at => Err(io::Error::other("injected error")),
            Some((at, Fault::Full)) if call >= at && grows => {
                Err(io::ErrorKind::StorageFull.into())
            }
            _ => Ok(()),
        }
    }
}

/// A disk in memory that can fail. A clone is the same disk.
#[derive(Clone, Default)]
pub(crate) struct FaultDisk(Arc<Mutex<State>>);

struct FaultFile {
    disk: FaultDisk,
    file: usize,
}

impl FaultDisk {
    fn set(&self, after: u64, fault: Fault) {
        let mut state = self.0.lock();
        state.fault = Some((state.calls + after, fault));
    }

    /// Fails every call once `calls` more have been made.
    pub(crate) fn crash_after(&self, calls: u64) {
        self.set(calls, Fault::Crash);
    }

    /// Fails the one call after `calls` more.
    pub(crate) fn fail_once_after(&self, calls: u64) {
        self.set(calls, Fault::Error);
    }

    /// Has no more space after `calls` more.
    pub(crate) fn fill_after(&self, calls: u64) {
        self.set(calls, Fault::Full);
    }

    /// Ends all faults.
    pub(crate) fn heal(&self) {
        self.0.lock().fault = None;
    }

    /// What a crash now would leave, by chance.
    pub(crate) fn after_crash(&self, random: &mut Random) -> FaultDisk {
        let state = self.0.lock();
        let mut names = state.synced_names.clone();
        let happened = random.below(state.name_changes.len() as u64 + 1) as usize;
        for change in &state.name_changes[..happened] {
            change_names(&mut names, change);
        }
        let files = state.files.iter().map(|content| settle(content, random)).collect();
        let after = State { files, synced_names: names.clone(), names, ..State::default() };
        FaultDisk(Arc::new(Mutex::new(after)))
    }

    /// What a kill of the process now would leave: everything written.
    pub(crate) fn after_kill(&self) -> FaultDisk {
        let state = self.0.lock();
        let files = state.files.clone();
        let (synced_names, names) = (state.synced_names.clone(), state.names.clone());
        let name_changes = state.name_changes.clone();
        let after = State { files, synced_names, names, name_changes, ..State::default() };
        FaultDisk(Arc::new(Mutex::new(after)))
    }

    /// Changes bytes behind the store's back.
    pub(crate) fn damage(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.0.lock();
        let file = state.names[name];
        let content = &mut state.files[file];
        change(&mut content.current);
        content.synced = content.current.clone();
    }

    /// A file's bytes.
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        let state = self.0.lock();
        state.files[state.names[name]].current.clone()
    }
}

/// A file after a crash.
fn settle(content: &Content, random: &mut Random) -> Content {
    let mut bytes = content.synced.clone();
    if content.current.len() != bytes.len() && random.below(2) == 0 {
        bytes.resize(content.current.len(), 0);
    }
    let mut dirty = content.dirty.clone();
    dirty.sort_unstable();
    dirty.dedup();
    for sector in dirty {
        let from = sector * SECTOR;
        let to = (from + SECTOR).min(bytes.len()).min(content.current.len());
        if from >= to {
            continue;
        }
        match random.below(8) {
            0..4 => bytes[from..to].copy_from_slice(&content.current[from..to]),
            4..7 => {}
            _ => bytes[from..to].fill_with(|| random.next() as u8),
        }
    }
    Content { synced: bytes.clone(), current: bytes, dirty: Vec::new() }
}

impl Disk for FaultDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.0.lock();
        let file = match state.names.get(name) {
            Some(&file) => file,
            None if !create => return Err(io::ErrorKind::NotFound.into()),
            None => {
                state.call(true)?;
                state.files.push(Content::default());
                let change = NameChange::Create(name.to_string(), state.files.len() - 1);
                change_names(&mut state.names, &change);
                state.name_changes.push(change);
                state.files.len() - 1
            }
        };
        Ok(Arc::new(FaultFile { disk: self.clone(), file }))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.0.lock().names.keys().cloned().collect())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.0.lock();
        state.call(false)?;
        let change = NameChange::Remove(name.to_string());
        change_names(&mut state.names, &change);
        state.name_changes.push(change);
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.0.lock();
        state.call(false)?;
        let change = NameChange::Rename(from.to_string(), to.to_string());
        change_names(&mut state.names, &change);
        state.name_changes.push(change);
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut state = self.0.lock();
        state.call(false)?;
        state.synced_names = state.names.clone();
        state.name_changes.clear();
        Ok(())
    }
}

impl DiskFile for FaultFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let state = self.disk.0.lock();
        let offset = offset as usize;
        let bytes = state.files[self.file].current.get(offset..offset + buf.len());
        buf.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        let (from, to) = (offset as usize, offset as usize + buf.len());
        let grows = to > state.files[self.file].current.len();
        state.call(grows)?;
        let content = &mut state.files[self.file];
        if grows {
            content.current.resize(to, 0);
        }
        content.current[from..to].copy_from_slice(buf);
        content.dirty.extend(from / SECTOR..to.div_ceil(SECTOR));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        state.call(false)?;
        let content = &mut state.files[self.file];
        let mut dirty = std::mem::take(&mut content.dirty);
        dirty.sort_unstable();
        dirty.dedup();
        content.synced.resize(content.current.len(), 0);
        for sector in dirty {
            let from = (sector * SECTOR).min(content.current.len());
            let to = (from + SECTOR).min(content.current.len());
            content.synced[from..to].copy_from_slice(&content.current[from..to]);
        }
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.0.lock().files[self.file].current.len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        let grows = len > state.files[self.file].current.len() as u64;
        state.call(grows)?;
        state.files[self.file].current.resize(len as usize, 0);
        Ok(())
    }
}
