//! Metadata locks: a table's definition does not change while a transaction uses it.
//!
//! Statements take a table's lock shared and keep it to the end of their transaction; DDL takes it
//! exclusively. Reads must not write memory that other sessions write, so a shared lock lives in
//! the session's own [`MdlSlot`], and DDL pays: it raises the name's flag, then looks through all
//! slots until no other session holds the name.
//!
//! Example: session 1 has read `t` (its slot holds `t`). Session 2 runs ALTER TABLE t: it raises
//! `t`'s flag, finds `t` in slot 1 and sleeps. Session 3 wants to read `t`: it puts `t` into its
//! slot, sees the flag, takes `t` out again and sleeps. Session 1 commits, clears its slot and
//! wakes the sleepers; session 2 finds no holder and goes on; it lowers the flag and session 3
//! goes on.
//!
//! Why no lock is missed: a reader adds the name to its slot under the slot's mutex and only then
//! looks at the flag; DDL raises the flag and only then takes each slot's mutex. Whoever comes
//! second at that mutex sees the other.
//!
//! LOCK TABLES … READ keeps writers out and lets readers in: it counts itself in the name and waits
//! until no other session's slot holds the name *for writing*; a writer marks its entry in its own
//! slot and only then looks at the count. LOCK TABLES … WRITE is an exclusive lock.
//!
//! FLUSH TABLES WITH READ LOCK keeps all changes out, commits, too. The same turned to all tables:
//! who changes something raises a flag in its own slot for the length of the statement, or of the
//! commit, and only then looks at the count of those who want to read everything; who wants that
//! counts itself and then waits until no other slot's flag is up.
//!
//! A reader that would wait for DDL which itself waits for this reader gets a deadlock at once;
//! two DDL statements take their names in sorted order and cannot wait for each other in a circle.

use inia_base::error::{ErrorCode, SqlError};
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A lockable name. Compared by identity: there is one per schema and table name.
#[derive(Debug, Default)]
pub struct MdlName {
    /// Owner of the exclusive lock, granted or wanted; 0 = none.
    exclusive: AtomicU64,
    /// How many sessions have, or want, the table for reading alone.
    read_locks: AtomicU64,
}

/// A name in a slot.
struct Held {
    name: Arc<MdlName>,
    /// The transaction changes the table's rows.
    writes: bool,
    /// LOCK TABLES … READ keeps it beyond the transaction's end.
    kept: bool,
}

/// One session's shared locks.
#[derive(Default)]
pub struct MdlSlot {
    held: Mutex<Vec<Held>>,
    /// A statement changes something, or a transaction that did so commits.
    changing: AtomicBool,
}

/// All names and slots.
#[derive(Default)]
pub struct MdlManager {
    names: Mutex<HashMap<(String, String), Arc<MdlName>>>,
    slots: Mutex<HashMap<u64, Arc<MdlSlot>>>,
    next_owner: AtomicU64,
    /// Sessions asleep; releasing sessions wake only when there are some.
    sleepers: AtomicUsize,
    /// Guards sleeping; holds what each waiting owner waits for.
    waiting: Mutex<HashMap<u64, (Arc<MdlName>, Want)>>,
    /// Who has or wants a table for reading alone.
    readers: Mutex<Vec<(u64, Arc<MdlName>)>>,
    /// Stands for everything there is; only for reading.
    everything: Arc<MdlName>,
    changed: Condvar,
}

/// What a sleeper waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    /// That no DDL has or wants the name.
    Use,
    /// To be the one DDL that has or wants the name.
    Claim,
    /// That no other session uses the name it has claimed.
    Unused,
    /// That no other session has the table for reading alone.
    Write,
    /// That no other session's transaction changes the table.
    Unwritten,
    /// That no other session changes or commits anything.
    Unchanged,
}

/// How a sleep ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slept {
    Free,
    TooLong,
    Killed,
}

impl Slept {
    fn to_result(self) -> Result<(), SqlError> {
        match self {
            Slept::Free => Ok(()),
            Slept::TooLong => Err(SqlError::new(ErrorCode::LockWaitTimeout, &[])),
            Slept::Killed => Err(SqlError::new(ErrorCode::QueryInterrupted, &[])),
        }
    }
}

/// Other threads' view of a session's waits.
#[derive(Clone)]
pub struct MdlWatch {
    manager: Arc<MdlManager>,
    owner: u64,
}

impl MdlWatch {
    /// Whether the session waits for a lock that it cannot have yet.
    pub fn is_waiting(&self) -> bool {
        let waiting = self.manager.waiting.lock();
        waiting.get(&self.owner).is_some_and(|(name, want)| {
            let exclusive = name.exclusive.load(Ordering::SeqCst);
            match want {
                Want::Use => exclusive != 0 && exclusive != self.owner,
                Want::Claim => exclusive != 0,
                Want::Unused => self.manager.held_by_others(self.owner, name),
                Want::Write => !self.manager.readers_of(self.owner, name).is_empty(),
                Want::Unwritten => self.manager.written_by_others(self.owner, name),
                Want::Unchanged => self.manager.changed_by_others(self.owner),
            }
        })
    }

    /// Lets the session look whether it was killed.
    pub fn wake(&self) {
        self.manager.wake();
    }
}

/// A session's handle on the metadata locks. Dropping it releases everything.
pub struct MdlSession {
    manager: Arc<MdlManager>,
    owner: u64,
    slot: Arc<MdlSlot>,
    /// Not zero once the session's statement is to end.
    killed: Arc<AtomicU8>,
}

/// Exclusive locks of one DDL statement, released when dropped.
pub struct MdlExclusive {
    manager: Arc<MdlManager>,
    owner: u64,
    names: Vec<Arc<MdlName>>,
}

/// A table that LOCK TABLES … READ has locked, or everything; released when dropped.
pub struct MdlReadLock {
    manager: Arc<MdlManager>,
    owner: u64,
    slot: Arc<MdlSlot>,
    name: Arc<MdlName>,
}

impl MdlManager {
    /// The lockable name of a table.
    pub fn name(&self, schema: &str, table: &str) -> Arc<MdlName> {
        let mut names = self.names.lock();
        names.entry((schema.to_owned(), table.to_owned())).or_default().clone()
    }

    /// Registers a session. Its waits end when `killed` is set and [`MdlWatch::wake`] called.
    pub fn session(self: &Arc<MdlManager>, killed: Arc<AtomicU8>) -> MdlSession {
        let owner = self.next_owner.fetch_add(1, Ordering::Relaxed) + 1;
        let slot = Arc::new(MdlSlot::default());
        self.slots.lock().insert(owner, slot.clone());
        MdlSession { manager: self.clone(), owner, slot, killed }
    }

    fn wake(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            drop(self.waiting.lock());
            self.changed.notify_all();
        }
    }

    fn held_by_others(&self, owner: u64, name: &Arc<MdlName>) -> bool {
        self.others(owner, |held| Arc::ptr_eq(&held.name, name))
    }

    fn written_by_others(&self, owner: u64, name: &Arc<MdlName>) -> bool {
        self.others(owner, |held| held.writes && Arc::ptr_eq(&held.name, name))
    }

    fn changed_by_others(&self, owner: u64) -> bool {
        self.other_slots(owner).iter().any(|slot| slot.changing.load(Ordering::SeqCst))
    }

    /// Whether another session holds something that fulfils `test`.
    fn others(&self, owner: u64, test: impl Fn(&Held) -> bool) -> bool {
        self.other_slots(owner).iter().any(|slot| slot.held.lock().iter().any(&test))
    }

    fn other_slots(&self, owner: u64) -> Vec<Arc<MdlSlot>> {
        let slots = self.slots.lock();
        slots.iter().filter(|(other, _)| **other != owner).map(|(_, s)| s.clone()).collect()
    }

    /// The sessions other than `owner` that have or want the table for reading alone.
    fn readers_of(&self, owner: u64, name: &Arc<MdlName>) -> Vec<u64> {
        let readers = self.readers.lock();
        let others = readers.iter().filter(|(o, n)| *o != owner && Arc::ptr_eq(n, name));
        others.map(|(other, _)| *other).collect()
    }
}

impl MdlSlot {
    fn holds(&self, name: &Arc<MdlName>) -> bool {
        self.held.lock().iter().any(|held| Arc::ptr_eq(&held.name, name))
    }
}

impl MdlSession {
    /// A view of this session's waits for other threads.
    pub fn watch(&self) -> MdlWatch {
        MdlWatch { manager: self.manager.clone(), owner: self.owner }
    }

    /// Sleeps until `free` is true, or until `deadline` has passed.
    fn sleep_until(
        &self,
        name: &Arc<MdlName>,
        want: Want,
        deadline: Instant,
        free: impl Fn() -> bool,
    ) -> Result<(), SqlError> {
        let manager = &self.manager;
        manager.sleepers.fetch_add(1, Ordering::SeqCst);
        let mut waiting = manager.waiting.lock();
        waiting.insert(self.owner, (name.clone(), want));
        let slept = loop {
            if free() {
                break Slept::Free;
            }
            if self.killed.load(Ordering::SeqCst) != 0 {
                break Slept::Killed;
            }
            if manager.changed.wait_until(&mut waiting, deadline).timed_out() {
                break if free() { Slept::Free } else { Slept::TooLong };
            }
        };
        waiting.remove(&self.owner);
        drop(waiting);
        manager.sleepers.fetch_sub(1, Ordering::SeqCst);
        slept.to_result()
    }

    /// Takes the shared lock until [`MdlSession::release_all`]. Cheap when nobody alters the
    /// table: one uncontended mutex of this session.
    pub fn lock_shared(&self, name: &Arc<MdlName>, limit: Duration) -> Result<(), SqlError> {
        let mut deadline = None;
        loop {
            {
                let mut held = self.slot.held.lock();
                if held.iter().any(|other| Arc::ptr_eq(&other.name, name)) {
                    return Ok(());
                }
                held.push(Held { name: name.clone(), writes: false, kept: false });
            }
            let blocker = name.exclusive.load(Ordering::SeqCst);
            if blocker == 0 || blocker == self.owner {
                return Ok(());
            }
            self.slot.held.lock().retain(|other| !Arc::ptr_eq(&other.name, name));
            self.manager.wake();
            if self.blocks(blocker) {
                return Err(SqlError::new(ErrorCode::Deadlock, &[]));
            }
            let deadline = *deadline.get_or_insert_with(|| Instant::now() + limit);
            let free = || {
                let blocker = name.exclusive.load(Ordering::SeqCst);
                blocker == 0 || blocker == self.owner
            };
            self.sleep_until(name, Want::Use, deadline, free)?;
        }
    }

    /// Marks a table that the session holds as one whose rows its transaction changes, and waits
    /// while another session has it for reading alone.
    pub fn lock_write(&self, name: &Arc<MdlName>, limit: Duration) -> Result<(), SqlError> {
        let mut deadline = None;
        loop {
            if self.mark(name, true) || name.read_locks.load(Ordering::SeqCst) == 0 {
                return Ok(());
            }
            let readers = self.manager.readers_of(self.owner, name);
            if readers.is_empty() {
                return Ok(());
            }
            self.mark(name, false);
            self.manager.wake();
            if readers.iter().any(|reader| self.blocks(*reader)) {
                return Err(SqlError::new(ErrorCode::Deadlock, &[]));
            }
            let deadline = *deadline.get_or_insert_with(|| Instant::now() + limit);
            let free = || self.manager.readers_of(self.owner, name).is_empty();
            self.sleep_until(name, Want::Write, deadline, free)?;
        }
    }

    /// Sets the mark of a held table; true where it was so already.
    fn mark(&self, name: &Arc<MdlName>, writes: bool) -> bool {
        let mut held = self.slot.held.lock();
        let entry = held.iter_mut().find(|held| Arc::ptr_eq(&held.name, name));
        entry.is_some_and(|entry| std::mem::replace(&mut entry.writes, writes) == writes)
    }

    /// LOCK TABLES … READ: waits for transactions that change the table, and keeps others out. The
    /// caller has ended its own transaction.
    pub fn lock_read(&self, name: &Arc<MdlName>, limit: Duration) -> Result<MdlReadLock, SqlError> {
        let deadline = Instant::now() + limit;
        self.lock_shared(name, limit)?;
        let mut held = self.slot.held.lock();
        held.iter_mut().filter(|h| Arc::ptr_eq(&h.name, name)).for_each(|h| h.kept = true);
        drop(held);
        let lock = MdlReadLock {
            manager: self.manager.clone(),
            owner: self.owner,
            slot: self.slot.clone(),
            name: name.clone(),
        };
        self.manager.readers.lock().push((self.owner, name.clone()));
        name.read_locks.fetch_add(1, Ordering::SeqCst);
        let unwritten = || !self.manager.written_by_others(self.owner, name);
        if !unwritten() {
            self.sleep_until(name, Want::Unwritten, deadline, unwritten)?;
        }
        Ok(lock)
    }

    /// A change begins that ends with [`MdlSession::end_change`]: waits while another session reads
    /// everything alone; error 1223 where this one does. Where nobody does, that costs one look at
    /// a flag that stands still.
    pub fn begin_change(&self, limit: Duration) -> Result<(), SqlError> {
        if self.slot.changing.load(Ordering::Relaxed) {
            return Ok(());
        }
        let everything = &self.manager.everything;
        let mut deadline = None;
        loop {
            self.slot.changing.store(true, Ordering::SeqCst);
            if everything.read_locks.load(Ordering::SeqCst) == 0 {
                return Ok(());
            }
            self.end_change();
            if self.reads_everything() {
                return Err(SqlError::new(ErrorCode::CantUpdateWithReadlock, &[]));
            }
            let deadline = *deadline.get_or_insert_with(|| Instant::now() + limit);
            let free = || everything.read_locks.load(Ordering::SeqCst) == 0;
            self.sleep_until(everything, Want::Write, deadline, free)?;
        }
    }

    /// The change is over, if there is one.
    pub fn end_change(&self) {
        if self.slot.changing.load(Ordering::Relaxed) {
            self.slot.changing.store(false, Ordering::SeqCst);
            self.manager.wake();
        }
    }

    /// Whether this session reads everything alone.
    pub fn reads_everything(&self) -> bool {
        let everything = &self.manager.everything;
        let mine = |(o, n): &(u64, Arc<MdlName>)| *o == self.owner && Arc::ptr_eq(n, everything);
        everything.read_locks.load(Ordering::SeqCst) > 0
            && self.manager.readers.lock().iter().any(mine)
    }

    /// FLUSH TABLES WITH READ LOCK: waits for changes and commits under way, and keeps further ones
    /// out. The caller has ended its own transaction.
    pub fn read_everything(&self, limit: Duration) -> Result<MdlReadLock, SqlError> {
        let deadline = Instant::now() + limit;
        let everything = &self.manager.everything;
        let lock = MdlReadLock {
            manager: self.manager.clone(),
            owner: self.owner,
            slot: self.slot.clone(),
            name: everything.clone(),
        };
        self.manager.readers.lock().push((self.owner, everything.clone()));
        everything.read_locks.fetch_add(1, Ordering::SeqCst);
        let unchanged = || !self.manager.changed_by_others(self.owner);
        if !unchanged() {
            self.sleep_until(everything, Want::Unchanged, deadline, unchanged)?;
        }
        Ok(lock)
    }

    /// Whether the DDL statement `owner` waits for a name that this session holds.
    fn blocks(&self, owner: u64) -> bool {
        let wanted = self.manager.waiting.lock().get(&owner).cloned();
        wanted.is_some_and(|(name, _)| self.slot.holds(&name))
    }

    /// Takes exclusive locks on `names` for one DDL statement, waiting for transactions that use
    /// them. The caller has ended its own transaction and holds no shared lock.
    pub fn lock_exclusive(
        &self,
        mut names: Vec<Arc<MdlName>>,
        limit: Duration,
    ) -> Result<MdlExclusive, SqlError> {
        names.sort_by_key(|name| Arc::as_ptr(name) as usize);
        names.dedup_by(|a, b| Arc::ptr_eq(a, b));
        let deadline = Instant::now() + limit;
        let mut lock =
            MdlExclusive { manager: self.manager.clone(), owner: self.owner, names: Vec::new() };
        for name in names {
            let owner = self.owner;
            if name.exclusive.load(Ordering::SeqCst) == owner {
                // LOCK TABLES holds it already, and goes on holding it.
                continue;
            }
            let claim = || {
                name.exclusive
                    .compare_exchange(0, owner, Ordering::SeqCst, Ordering::SeqCst)
                    .is_ok_and(|_| true)
            };
            if !claim() {
                self.sleep_until(&name, Want::Claim, deadline, claim)?;
            }
            lock.names.push(name.clone());
            let unused = || !self.manager.held_by_others(owner, &name);
            if !unused() {
                self.sleep_until(&name, Want::Unused, deadline, unused)?;
            }
        }
        Ok(lock)
    }

    /// Releases all shared locks, at the end of the transaction.
    pub fn release_all(&self) {
        let mut held = self.slot.held.lock();
        if held.is_empty() {
            return;
        }
        held.retain(|held| held.kept);
        held.iter_mut().for_each(|held| held.writes = false);
        drop(held);
        self.manager.wake();
    }
}

impl Drop for MdlSession {
    fn drop(&mut self) {
        self.release_all();
        self.end_change();
        self.manager.slots.lock().remove(&self.owner);
    }
}

impl Drop for MdlExclusive {
    fn drop(&mut self) {
        for name in &self.names {
            debug_assert_eq!(name.exclusive.load(Ordering::SeqCst), self.owner);
            name.exclusive.store(0, Ordering::SeqCst);
        }
        self.manager.wake();
    }
}

impl Drop for MdlReadLock {
    fn drop(&mut self) {
        let mut readers = self.manager.readers.lock();
        let same = |(owner, name): &(u64, Arc<MdlName>)| {
            *owner == self.owner && Arc::ptr_eq(name, &self.name)
        };
        if let Some(at) = readers.iter().position(same) {
            readers.swap_remove(at);
        }
        drop(readers);
        self.name.read_locks.fetch_sub(1, Ordering::SeqCst);
        self.slot.held.lock().retain(|held| !Arc::ptr_eq(&held.name, &self.name));
        self.manager.wake();
    }
}

#[cfg(test)]
mod tests;
