//! A disk in memory that crashes, tears, reorders and fails, always the same for one seed.
//!
//! Every file has two contents: what the running program reads (live) and what is surely on the
//! platter (durable), with the list of changes between. A sync moves that list to the durable side.
//! At a crash each 512-byte sector of each pending write is kept, lost, or torn in its middle, on
//! its own; of the lengths the file had since its last sync any one may remain; creations, removals
//! and renames since the last `sync_names` are each kept or lost.
//!
//! ```text
//! write A A A A   sync   write B B B B   crash  →  durable A B A ½   (½: half a sector of B)
//! ```
//!
//! Calls are counted, so a test can run a workload once, see how many changing calls it made, and
//! then run it again for each of them with a [`Fault`] there.
//!
//! Invariants:
//! - live = durable with the pending changes applied in order
//! - after a crash every handle of the old disk fails, and the new disk has nothing pending

use crate::random::Random;
use inia_base::io::{Disk, DiskFile};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::sync::Arc;

/// Sectors reach the platter whole or not, but for a tear at a crash.
pub const SECTOR: usize = 512;

/// What goes wrong at the chosen call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call fails with EIO and does nothing. A failed sync loses a part of the pending changes:
    /// the file reads as before, but a later sync does not make them durable.
    Io,
    /// The call fails with ENOSPC and does nothing.
    NoSpace,
    /// A write stores only its beginning and fails with EIO; any other call just fails.
    ShortWrite,
    /// The machine stops in the call, which may have had any part of its effect; every later
    /// call fails. [`SimDisk::crash`] shows what survived.
    Crash,
}

/// Which call a fault strikes; counted from 1, from the moment the fault is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// The n-th call of any kind.
    Call(u64),
    /// The n-th call that changes something or makes it durable.
    Change(u64),
    /// The n-th sync of a file or of names.
    Sync(u64),
    /// The n-th read.
    Read(u64),
}

/// How many calls of each kind there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Reads.
    pub reads: u64,
    /// Writes, length changes, creations, removals, renames and syncs.
    pub changes: u64,
    /// Syncs, of files and of names.
    pub syncs: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CallKind {
    Read,
    Change,
    Sync,
}

/// A change that is not durable yet.
#[derive(Clone, Debug)]
enum Pending {
    Write { offset: usize, bytes: Vec<u8> },
    SetLen(usize),
}

impl Pending {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Pending::Write { offset, bytes } => put(content, *offset, bytes),
            Pending::SetLen(len) => content.resize(*len, 0),
        }
    }
}

/// Writes into a content, growing it with zeros.
fn put(content: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[offset..end].copy_from_slice(bytes);
}

#[derive(Clone, Debug, Default)]
struct Content {
    live: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<Pending>,
}

type FileId = u64;

/// Sees each changing call: its number, and what a crash in it would leave, by seed.
pub type Tap = Box<dyn FnMut(u64, &dyn Fn(u64) -> SimDisk) + Send>;

/// A name change that is not durable yet.
#[derive(Clone, Debug)]
enum NameChange {
    Create(String, FileId),
    Remove(String),
    Rename(String, String),
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<String, FileId>) {
        match self {
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
}

#[derive(Default)]
struct State {
    contents: HashMap<FileId, Content>,
    names: BTreeMap<String, FileId>,
    durable_names: BTreeMap<String, FileId>,
    pending_names: Vec<NameChange>,
    next_file: FileId,
    /// Files without names; they end with their handles.
    scratch: BTreeSet<FileId>,
    counts: Counts,
    faults: Vec<(When, Counts, Fault)>,
    capacity: Option<u64>,
    dead: bool,
    tap: Option<Tap>,
}

/// The simulated disk. A clone is the same disk.
#[derive(Clone, Default)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
}

fn dead() -> io::Error {
    io::Error::other("the machine has stopped")
}

fn eio() -> io::Error {
    io::Error::from_raw_os_error(5)
}

fn no_space() -> io::Error {
    io::Error::from_raw_os_error(28)
}

fn missing(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, name.to_string())
}

impl State {
    /// Counts a call and returns the fault that strikes it.
    fn enter(&mut self, kind: CallKind) -> io::Result<Option<Fault>> {
        if self.dead {
            return Err(dead());
        }
        match kind {
            CallKind::Read => self.counts.reads += 1,
            CallKind::Change => self.counts.changes += 1,
            CallKind::Sync => {
                self.counts.changes += 1;
                self.counts.syncs += 1;
            }
        }
        let now = self.counts;
        let struck = self.faults.iter().position(|(when, since, _)| match *when {
            When::Call(n) => now.reads + now.changes == since.reads + since.changes + n,
            When::Change(n) => kind != CallKind::Read && now.changes == since.changes + n,
            When::Sync(n) => kind == CallKind::Sync && now.syncs == since.syncs + n,
            When::Read(n) => kind == CallKind::Read && now.reads == since.reads + n,
        });
        let fault = struck.map(|index| self.faults.swap_remove(index).2);
        self.dead = fault == Some(Fault::Crash);
        Ok(fault)
    }

    fn content(&mut self, file: FileId) -> io::Result<&mut Content> {
        self.contents.get_mut(&file).ok_or_else(dead)
    }

    /// Whether the files may grow by `more` bytes.
    fn has_room(&self, more: u64) -> bool {
        let files = self.names.values().chain(&self.scratch);
        let used: u64 = files.map(|id| self.contents[id].live.len() as u64).sum();
        self.capacity.is_none_or(|capacity| used + more <= capacity)
    }

    fn change_name(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.pending_names.push(change);
        self.show_to_tap();
    }

    /// Shows a call that may have had any part of its effect.
    fn show_to_tap(&mut self) {
        if let Some(mut tap) = self.tap.take() {
            tap(self.counts.changes, &|seed| SimDisk::of(self.crashed(seed)));
            self.tap = Some(tap);
        }
    }

    /// What a crash leaves.
    fn crashed(&self, seed: u64) -> State {
        let mut random = Random::new(seed);
        let keep = match seed % 3 {
            0 => 0,
            1 => 100,
            _ => 1 + random.below(99),
        };
        let mut names = self.durable_names.clone();
        for change in &self.pending_names {
            if random.chance(keep, 100) {
                change.apply(&mut names);
            }
        }
        let mut bytes = HashMap::new();
        let mut files: Vec<(&FileId, &Content)> = self.contents.iter().collect();
        files.sort_by_key(|(id, _)| **id);
        for (&id, content) in files {
            bytes.insert(id, survivors(content, keep, &mut random));
        }
        let mut fresh =
            State { next_file: self.next_file, capacity: self.capacity, ..State::default() };
        for &file in names.values() {
            let durable = bytes.remove(&file).unwrap_or_default();
            let content = Content { live: durable.clone(), durable, pending: Vec::new() };
            fresh.contents.insert(file, content);
        }
        fresh.durable_names.clone_from(&names);
        fresh.names = names;
        fresh
    }
}

/// The error of a struck call that had no effect, or nothing when the call may go on. A crash lets
/// the change become pending, so that any part of it may survive.
fn refuse(fault: Option<Fault>) -> io::Result<()> {
    match fault {
        None | Some(Fault::Crash) => Ok(()),
        Some(Fault::Io | Fault::ShortWrite) => Err(eio()),
        Some(Fault::NoSpace) => Err(no_space()),
    }
}

/// What a call returns after it had its effect: an error when the machine stopped in it.
fn outcome(fault: Option<Fault>) -> io::Result<()> {
    if fault == Some(Fault::Crash) { Err(dead()) } else { Ok(()) }
}

impl SimDisk {
    /// An empty disk without faults.
    pub fn new() -> SimDisk {
        SimDisk::default()
    }

    /// Sets a fault. Several can wait at a time.
    pub fn inject(&self, when: When, fault: Fault) {
        let mut state = self.state.lock();
        let since = state.counts;
        state.faults.push((when, since, fault));
    }

    /// Removes the faults that have not struck.
    pub fn clear_faults(&self) {
        self.state.lock().faults.clear();
    }

    /// Limits the files' lengths in all; growing beyond is ENOSPC.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state.lock().capacity = bytes;
    }

    /// The calls so far.
    pub fn counts(&self) -> Counts {
        self.state.lock().counts
    }

    /// Whether a crash fault has struck.
    pub fn has_crashed(&self) -> bool {
        self.state.lock().dead
    }

    /// How many files without names there are.
    pub fn scratch_files(&self) -> usize {
        self.state.lock().scratch.len()
    }

    /// Length of a file as the running program sees it.
    pub fn file_len(&self, name: &str) -> Option<u64> {
        let state = self.state.lock();
        let file = state.names.get(name)?;
        Some(state.contents[file].live.len() as u64)
    }

    /// Flips one bit of a file, silently, live and durable; false when there is no such byte.
    pub fn flip_bit(&self, name: &str, offset: u64, bit: u8) -> bool {
        let mut state = self.state.lock();
        let Some(&file) = state.names.get(name) else { return false };
        let Some(content) = state.contents.get_mut(&file) else { return false };
        let mask = 1 << (bit & 7);
        let Some(byte) = content.live.get_mut(offset as usize) else { return false };
        *byte ^= mask;
        if let Some(byte) = content.durable.get_mut(offset as usize) {
            *byte ^= mask;
        }
        true
    }

    /// Shows every changing call from now on to `tap`, which must not use this disk.
    pub fn set_tap(&self, tap: Option<Tap>) {
        self.state.lock().tap = tap;
    }

    /// Stops the program but not the machine: the new disk has everything that was written, and
    /// what was not durable still is not.
    pub fn kill(&self) -> SimDisk {
        let mut old = self.state.lock();
        old.dead = true;
        let mut contents = old.contents.clone();
        contents.retain(|file, _| !old.scratch.contains(file));
        SimDisk::of(State {
            contents,
            names: old.names.clone(),
            durable_names: old.durable_names.clone(),
            pending_names: old.pending_names.clone(),
            next_file: old.next_file,
            capacity: old.capacity,
            ..State::default()
        })
    }

    /// Stops the machine: the new disk has what was durable and, by `seed`, some of what was not.
    /// Every third seed loses all of it, every third keeps all, the rest mix.
    pub fn crash(&self, seed: u64) -> SimDisk {
        let mut old = self.state.lock();
        let fresh = old.crashed(seed);
        old.dead = true;
        SimDisk::of(fresh)
    }

    fn of(state: State) -> SimDisk {
        SimDisk { state: Arc::new(Mutex::new(state)) }
    }
}

/// A file's bytes after a crash.
fn survivors(content: &Content, keep: u64, random: &mut Random) -> Vec<u8> {
    let mut bytes = content.durable.clone();
    let mut lengths = vec![bytes.len()];
    for change in &content.pending {
        let before = lengths.last().copied().unwrap_or(0);
        match change {
            Pending::Write { offset, bytes: written } => {
                keep_sectors(&mut bytes, *offset, written, keep, random);
                lengths.push(before.max(offset + written.len()));
            }
            Pending::SetLen(len) => {
                if random.chance(keep, 100) {
                    bytes.resize(*len, 0);
                }
                lengths.push(*len);
            }
        }
    }
    let newest = lengths.len() - 1;
    let chosen = if random.chance(keep, 100) { newest } else { random.index(lengths.len()) };
    let chosen = if keep == 0 { 0 } else { chosen };
    bytes.resize(lengths[chosen], 0);
    bytes
}

/// Applies some of the sectors of one write.
fn keep_sectors(
    content: &mut Vec<u8>,
    offset: usize,
    written: &[u8],
    keep: u64,
    random: &mut Random,
) {
    let mut at = 0;
    while at < written.len() {
        let room = SECTOR - (offset + at) % SECTOR;
        let piece = &written[at..written.len().min(at + room)];
        if random.chance(keep, 100) {
            let torn = keep < 100 && random.chance(1, 8);
            let kept = if torn { random.index(piece.len()) } else { piece.len() };
            put(content, offset + at, &piece[..kept]);
        }
        at += piece.len();
    }
}

impl Disk for SimDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state.lock();
        let known = state.names.get(name).copied();
        let kind = if known.is_none() && create { CallKind::Change } else { CallKind::Read };
        let fault = state.enter(kind)?;
        refuse(fault)?;
        let file = match known {
            Some(file) => file,
            None if create => {
                let file = state.next_file;
                state.next_file += 1;
                state.contents.insert(file, Content::default());
                state.change_name(NameChange::Create(name.to_string(), file));
                file
            }
            None => return Err(missing(name)),
        };
        outcome(fault)?;
        Ok(Arc::new(SimFile { disk: self.clone(), file, scratch: false }))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut state = self.state.lock();
        let fault = state.enter(CallKind::Read)?;
        refuse(fault)?;
        outcome(fault)?;
        Ok(state.names.keys().cloned().collect())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.state.lock();
        let fault = state.enter(CallKind::Change)?;
        refuse(fault)?;
        if !state.names.contains_key(name) {
            return Err(missing(name));
        }
        state.change_name(NameChange::Remove(name.to_string()));
        outcome(fault)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.state.lock();
        let fault = state.enter(CallKind::Change)?;
        refuse(fault)?;
        if !state.names.contains_key(from) {
            return Err(missing(from));
        }
        state.change_name(NameChange::Rename(from.to_string(), to.to_string()));
        outcome(fault)
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        let fault = state.enter(CallKind::Sync)?;
        refuse(fault)?;
        outcome(fault)?;
        state.show_to_tap();
        state.durable_names = state.names.clone();
        state.pending_names.clear();
        Ok(())
    }

    fn scratch(&self) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state.lock();
        let fault = state.enter(CallKind::Change)?;
        refuse(fault)?;
        let file = state.next_file;
        state.next_file += 1;
        state.contents.insert(file, Content::default());
        state.scratch.insert(file);
        outcome(fault)?;
        Ok(Arc::new(SimFile { disk: self.clone(), file, scratch: true }))
    }
}

/// A handle on one file of one incarnation of the disk.
struct SimFile {
    disk: SimDisk,
    file: FileId,
    scratch: bool,
}

impl Drop for SimFile {
    fn drop(&mut self) {
        if self.scratch {
            let mut state = self.disk.state.lock();
            state.scratch.remove(&self.file);
            state.contents.remove(&self.file);
        }
    }
}

fn position(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput.into())
}

impl DiskFile for SimFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let mut state = self.disk.state.lock();
        let fault = state.enter(CallKind::Read)?;
        refuse(fault)?;
        outcome(fault)?;
        let start = position(offset)?;
        let end = start.checked_add(buf.len()).ok_or(io::ErrorKind::InvalidInput)?;
        let content = state.content(self.file)?;
        let source = content.live.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?;
        buf.copy_from_slice(source);
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.disk.state.lock();
        let fault = state.enter(CallKind::Change)?;
        let short = fault == Some(Fault::ShortWrite);
        if !short {
            refuse(fault)?;
        }
        let offset = position(offset)?;
        let bytes = if short { &buf[..buf.len() / 2] } else { buf };
        let len = state.content(self.file)?.live.len();
        let grows = (offset + bytes.len()).saturating_sub(len) as u64;
        if grows > 0 && !state.has_room(grows) {
            return Err(no_space());
        }
        let content = state.content(self.file)?;
        put(&mut content.live, offset, bytes);
        content.pending.push(Pending::Write { offset, bytes: bytes.to_vec() });
        state.show_to_tap();
        if short { Err(eio()) } else { outcome(fault) }
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.state.lock();
        let fault = state.enter(CallKind::Sync)?;
        let seed = state.counts.changes;
        state.show_to_tap();
        let content = state.content(self.file)?;
        match fault {
            Some(Fault::Crash) => return Err(dead()),
            Some(Fault::Io | Fault::ShortWrite | Fault::NoSpace) => {
                // The operating system drops its dirty pages after a failed fsync.
                let mut random = Random::new(seed);
                content.durable = survivors(content, 50, &mut random);
                content.pending.clear();
                return Err(refuse(fault).err().unwrap_or_else(eio));
            }
            None => {}
        }
        for change in content.pending.drain(..) {
            change.apply(&mut content.durable);
        }
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        let mut state = self.disk.state.lock();
        if state.dead {
            return Err(dead());
        }
        Ok(state.content(self.file)?.live.len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.disk.state.lock();
        let fault = state.enter(CallKind::Change)?;
        refuse(fault)?;
        let len = position(len)?;
        let grows = len.saturating_sub(state.content(self.file)?.live.len()) as u64;
        if grows > 0 && !state.has_room(grows) {
            return Err(no_space());
        }
        let content = state.content(self.file)?;
        content.live.resize(len, 0);
        content.pending.push(Pending::SetLen(len));
        state.show_to_tap();
        outcome(fault)
    }
}

#[cfg(test)]
mod tests;
