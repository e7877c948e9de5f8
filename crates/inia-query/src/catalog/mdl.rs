//! Metadata locks: a table's definition does not change while a transaction uses it.
//!
//! Kinds of locks on a table, the weakest first ([`MdlKind`]):
//!
//! | kind        | who takes it                               | until                  |
//! |-------------|--------------------------------------------|------------------------|
//! | `Describe`  | SHOW CREATE TABLE                          | end of the transaction |
//! | `Read`      | who reads rows                             | end of the transaction |
//! | `Write`     | who changes rows                           | end of the transaction |
//! | `ReadOnly`  | LOCK TABLES … READ; DDL, of a parent       | its guard is dropped   |
//! | `Freeze`    | FLUSH TABLES WITH READ LOCK, on everything | its guard is dropped   |
//! | `WriteLock` | LOCK TABLES … WRITE                        | its guard is dropped   |
//! | `Exclusive` | DDL                                        | its guard is dropped   |
//!
//! The tables in `mdl/kind.rs` hold MySQL's rules: which kinds are compatible, and which requests
//! wait behind other waiting requests.
//!
//! **Fast path.** A read must not write memory that other sessions write. The three weak kinds are
//! therefore kept in the session's own [`MdlSlot`], and a strong request pays instead: it raises
//! the name's `guarded` counter, then looks through all slots. A session puts the name into its
//! slot under the slot's mutex before it reads the counter, so the later of the two sees the
//! earlier. If the counter is not zero, a weak request goes through the queue (`mdl/queue.rs`), as
//! strong ones always do. The queue holds the strong locks and the waiting requests in order of
//! arrival. A session that releases a lock grants the requests that it blocked; a sleeper wakes
//! with its lock granted.
//!
//! Example: session 1 has read `t` (`Read` in its slot). Session 2 runs ALTER TABLE t: it raises
//! `t`'s counter, finds `t` in slot 1 and waits. Session 3 wants to read `t`: it puts `t` into its
//! slot, sees the counter, takes `t` out again, and queues behind session 2, for `Read` waits
//! behind a waiting `Exclusive`. Session 1 reads `t` once more: it holds `t` already, so session 2
//! waits for it anyway, and it goes on. It commits, clears its slot and, as `t`'s counter is not
//! zero, looks at `t`'s queue: session 2 gets its lock, and session 3 its own when that is dropped.
//!
//! **Cycles.** A session that begins to wait looks for a cycle of waiters. The waiter with the
//! least weight gets a deadlock error; a transaction's statement weighs less than DDL. A statement
//! that holds no lock from before it backs off and retries (`SessionContext::back_off_and_retry`).
//!
//! **Everything.** Two names stand for all there is. *Changes*: each statement that changes
//! something has it for `Write` while it runs, LOCK TABLES … WRITE until UNLOCK TABLES. *Commits*:
//! the commit of what was changed has it for `Write`. Both are flags in the slot. FLUSH TABLES WITH
//! READ LOCK takes `Freeze` of the first and then of the second: statements under way end first,
//! and those may wait for a row that some other transaction's commit sets free.

mod kind;
mod queue;

use inia_base::error::{ErrorCode, SqlError};
pub use kind::MdlKind;
use parking_lot::{Condvar, Mutex};
use queue::Queues;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many names there are before unused ones are removed.
const SWEEP_THRESHOLD: usize = 4096;

/// A lockable name. Compared by identity: there is one per schema and table name.
#[derive(Debug, Default)]
pub struct MdlName {
    schema: String,
    table: String,
    /// How many locks of strong kinds are held or wanted.
    guarded: AtomicUsize,
    /// It stands for rows of a table, not for its definition.
    of_rows: bool,
}

impl MdlName {
    /// What the name stands for, and how that is called.
    pub(crate) fn object(&self) -> (&'static str, &str) {
        let words = [
            ("\0FUNCTION", "FUNCTION"),
            ("\0PROCEDURE", "PROCEDURE"),
            ("\0TRIGGER", "TRIGGER"),
            ("\0EVENT", "EVENT"),
        ];
        let program = words
            .iter()
            .find_map(|(prefix, word)| self.table.strip_prefix(prefix).map(|name| (*word, name)));
        program.unwrap_or(match (self.schema.as_str(), self.table.as_str()) {
            ("", "") => ("GLOBAL", ""),
            (_, "") => ("SCHEMA", ""),
            ("", space) => ("TABLESPACE", space),
            (_, table) => ("TABLE", table),
        })
    }

    /// What MySQL calls a lock of that kind on it.
    fn kind_name(&self, kind: MdlKind) -> &'static str {
        match (kind, self.object().0) {
            (MdlKind::Read, "SCHEMA") => "INTENTION_EXCLUSIVE",
            (MdlKind::Read, "FUNCTION" | "PROCEDURE") => "SHARED",
            _ => kind.mysql_name(),
        }
    }

    fn shown(&self, kind: MdlKind, duration: &'static str) -> ShownLock<'_> {
        let (what, name) = self.object();
        ShownLock { what, schema: &self.schema, name, kind: self.kind_name(kind), duration }
    }
}

/// A name in a slot.
struct Held {
    name: Arc<MdlName>,
    kind: MdlKind,
}

/// One session's locks of weak kinds, in the order in which it got them.
#[derive(Default)]
pub(crate) struct MdlSlot {
    held: Mutex<Vec<Held>>,
    /// A statement changes something.
    changing: AtomicBool,
    /// A transaction that has changed something commits.
    committing: AtomicBool,
    /// Wakes the session when its request is decided.
    bell: Condvar,
    /// The connection that the session belongs to.
    label: AtomicU64,
}

/// A lock as it is shown.
pub(crate) struct ShownLock<'n> {
    /// What is locked: `TABLE`, `FUNCTION` and so on.
    pub(crate) what: &'static str,
    /// Its database, or nothing.
    pub(crate) schema: &'n str,
    /// Its name, or nothing.
    pub(crate) name: &'n str,
    /// Its kind.
    pub(crate) kind: &'static str,
    /// How long it is held.
    pub(crate) duration: &'static str,
}

/// Shows a lock: its connection, the lock, and whether it is granted.
pub(crate) type ShowLock<'s> = dyn FnMut(u64, ShownLock<'_>, bool) + 's;

/// All names and slots.
#[derive(Default)]
pub struct MdlManager {
    names: Mutex<Names>,
    slots: Mutex<HashMap<u64, Arc<MdlSlot>>>,
    next_owner: AtomicU64,
    queues: Mutex<Queues>,
    /// Stands for all changes there are.
    changes: Arc<MdlName>,
    /// Stands for all commits there are.
    commits: Arc<MdlName>,
}

#[derive(Default)]
struct Names {
    known: HashMap<(String, String), Arc<MdlName>>,
    /// How many there may be before unused ones are looked for again.
    sweep_at: usize,
}

/// Other threads' view of a session's waits.
#[derive(Clone)]
pub struct MdlWatch {
    manager: Arc<MdlManager>,
    owner: u64,
    slot: Arc<MdlSlot>,
}

impl MdlWatch {
    /// What lock the session waits for, if for any, as the process list names it.
    pub fn waits_for(&self) -> Option<&'static str> {
        let name = self.manager.queues.lock().waits_for(self.owner)?;
        Some(match () {
            () if Arc::ptr_eq(&name, &self.manager.changes) => "Waiting for global read lock",
            () if Arc::ptr_eq(&name, &self.manager.commits) => "Waiting for commit lock",
            () if name.of_rows => "Waiting for table level lock",
            () => match name.object().0 {
                "FUNCTION" => "Waiting for stored function metadata lock",
                "PROCEDURE" => "Waiting for stored procedure metadata lock",
                "TRIGGER" => "Waiting for trigger metadata lock",
                "EVENT" => "Waiting for event metadata lock",
                "SCHEMA" => "Waiting for schema metadata lock",
                _ => "Waiting for table metadata lock",
            },
        })
    }

    /// Lets the session look whether it was killed.
    pub fn wake(&self) {
        drop(self.manager.queues.lock());
        self.slot.bell.notify_all();
    }
}

/// A session's handle on the metadata locks. Dropping it releases everything in its slot.
pub struct MdlSession {
    manager: Arc<MdlManager>,
    owner: u64,
    slot: Arc<MdlSlot>,
    /// Not zero once the session's statement is to end.
    killed: Arc<AtomicU8>,
    /// Another handle of the same session keeps what this one locks.
    shares: bool,
}

/// A lock that outlives transactions, released when dropped.
pub struct MdlGuard {
    manager: Arc<MdlManager>,
    owner: u64,
    name: Arc<MdlName>,
    kind: MdlKind,
}

impl MdlManager {
    /// The lockable name of a table.
    pub fn name(&self, schema: &str, table: &str) -> Arc<MdlName> {
        let mut names = self.names.lock();
        let key = (schema.to_owned(), table.to_owned());
        if let Some(name) = names.known.get(&key) {
            return name.clone();
        }
        if names.known.len() >= names.sweep_at.max(SWEEP_THRESHOLD) {
            names.known.retain(|_, name| Arc::strong_count(name) > 1);
            names.sweep_at = 2 * names.known.len();
        }
        let (schema, table) = key.clone();
        let name = Arc::new(MdlName { schema, table, ..MdlName::default() });
        names.known.insert(key, name.clone());
        name
    }

    /// Registers a session. Its waits end when `killed` is set and [`MdlWatch::wake`] called.
    pub(crate) fn session(self: &Arc<MdlManager>, killed: Arc<AtomicU8>) -> MdlSession {
        let owner = self.next_owner.fetch_add(1, Ordering::Relaxed) + 1;
        let slot = Arc::new(MdlSlot::default());
        self.slots.lock().insert(owner, slot.clone());
        MdlSession { manager: self.clone(), owner, slot, killed, shares: false }
    }

    /// The owners of slots that hold `name` in a way that `kind` does not go together with.
    fn in_the_way(&self, owner: u64, name: &Arc<MdlName>, kind: MdlKind) -> Vec<u64> {
        let slots = self.slots.lock();
        let others = slots.iter().filter(|(other, _)| **other != owner);
        let holds =
            |slot: &MdlSlot| self.held_in(slot, name).is_some_and(|held| !kind.goes_with(held));
        others.filter(|(_, slot)| holds(slot)).map(|(other, _)| *other).collect()
    }

    /// What a slot holds of `name`.
    fn held_in(&self, slot: &MdlSlot, name: &Arc<MdlName>) -> Option<MdlKind> {
        if let Some(flag) = self.flag(slot, name) {
            return flag.load(Ordering::SeqCst).then_some(MdlKind::Write);
        }
        slot.held.lock().iter().find(|held| Arc::ptr_eq(&held.name, name)).map(|held| held.kind)
    }

    /// The flag that stands for a name of everything.
    fn flag<'s>(&self, slot: &'s MdlSlot, name: &Arc<MdlName>) -> Option<&'s AtomicBool> {
        match () {
            () if Arc::ptr_eq(name, &self.changes) => Some(&slot.changing),
            () if Arc::ptr_eq(name, &self.commits) => Some(&slot.committing),
            () => None,
        }
    }

    /// Puts a name into a slot; what the slot held of it before.
    fn put(&self, slot: &MdlSlot, name: &Arc<MdlName>, kind: MdlKind) -> Option<MdlKind> {
        if let Some(flag) = self.flag(slot, name) {
            return flag.swap(true, Ordering::SeqCst).then_some(MdlKind::Write);
        }
        let mut held = slot.held.lock();
        if let Some(held) = held.iter_mut().find(|held| Arc::ptr_eq(&held.name, name)) {
            let before = held.kind;
            held.kind = before.max(kind);
            return Some(before);
        }
        held.push(Held { name: name.clone(), kind });
        None
    }

    /// Undoes [`MdlManager::put`].
    fn put_back(&self, slot: &MdlSlot, name: &Arc<MdlName>, before: Option<MdlKind>) {
        if let Some(flag) = self.flag(slot, name) {
            return flag.store(before.is_some(), Ordering::SeqCst);
        }
        let mut held = slot.held.lock();
        match (before, held.iter().position(|held| Arc::ptr_eq(&held.name, name))) {
            (Some(kind), Some(at)) => held[at].kind = kind,
            (None, Some(at)) => drop(held.remove(at)),
            (_, None) => {}
        }
    }

    /// Lets in who waited for what was given up, if anybody may have.
    fn given_up(&self, name: &Arc<MdlName>) {
        if name.guarded.load(Ordering::SeqCst) > 0 {
            self.queues.lock().let_in(self, name);
        }
    }

    /// Shows all locks on tables, and the requests that wait.
    pub(crate) fn for_each_lock(&self, show: &mut ShowLock<'_>) {
        let slots: Vec<(u64, Arc<MdlSlot>)> =
            self.slots.lock().iter().map(|(owner, slot)| (*owner, slot.clone())).collect();
        let label = |owner: u64| {
            let slot = slots.iter().find(|(other, _)| *other == owner);
            slot.map_or(0, |(_, slot)| slot.label.load(Ordering::Relaxed))
        };
        for (_, slot) in &slots {
            let owner = slot.label.load(Ordering::Relaxed);
            for held in slot.held.lock().iter().filter(|held| !held.name.of_rows) {
                show(owner, held.name.shown(held.kind, "TRANSACTION"), true);
            }
        }
        let names: Vec<Arc<MdlName>> = self.names.lock().known.values().cloned().collect();
        let queues = self.queues.lock();
        for name in names.iter().filter(|name| name.guarded.load(Ordering::Relaxed) > 0) {
            for (owner, kind) in queues.granted(name) {
                show(label(owner), name.shown(kind, "EXPLICIT"), true);
            }
        }
        for (owner, name, kind) in queues.requests().filter(|(_, name, _)| !name.of_rows) {
            show(label(owner), name.shown(kind, "TRANSACTION"), false);
        }
    }

    /// How many sessions wait.
    #[cfg(test)]
    fn waiting(&self) -> usize {
        self.queues.lock().waiting()
    }
}

impl MdlSession {
    /// Says whose session it is.
    pub(crate) fn set_label(&self, label: u64) {
        self.slot.label.store(label, Ordering::Relaxed);
    }

    /// A second handle of the same session. Locks that it takes are released by the first one.
    pub(crate) fn share(&self) -> MdlSession {
        MdlSession {
            manager: self.manager.clone(),
            owner: self.owner,
            slot: self.slot.clone(),
            killed: self.killed.clone(),
            shares: true,
        }
    }

    /// A view of this session's waits for other threads.
    pub fn watch(&self) -> MdlWatch {
        let (manager, slot) = (self.manager.clone(), self.slot.clone());
        MdlWatch { manager, owner: self.owner, slot }
    }

    /// Takes the lock of a reader until [`MdlSession::release_all`]. Cheap while no session alters
    /// the table: one uncontended mutex of this session.
    pub fn lock_shared(&self, name: &Arc<MdlName>, limit: Duration) -> Result<(), SqlError> {
        self.lock_weak(name, MdlKind::Read, limit)
    }

    /// The same for one that changes rows.
    pub(crate) fn lock_write(&self, name: &Arc<MdlName>, limit: Duration) -> Result<(), SqlError> {
        self.lock_weak(name, MdlKind::Write, limit)
    }

    /// The same for one that only looks at the definition.
    pub(crate) fn lock_definition(
        &self,
        name: &Arc<MdlName>,
        limit: Duration,
    ) -> Result<(), SqlError> {
        self.lock_weak(name, MdlKind::Describe, limit)
    }

    /// A lock of a weak kind until [`MdlSession::give_back`].
    pub(crate) fn lock_for_statement(
        &self,
        name: &Arc<MdlName>,
        kind: MdlKind,
        limit: Duration,
    ) -> Result<(), SqlError> {
        self.lock_weak(name, kind, limit)
    }

    /// Releases what the slot holds of a name, if anything.
    pub(crate) fn give_back(&self, name: &Arc<MdlName>) {
        self.slot.held.lock().retain(|held| !Arc::ptr_eq(&held.name, name));
        self.manager.given_up(name);
    }

    fn lock_weak(
        &self,
        name: &Arc<MdlName>,
        kind: MdlKind,
        limit: Duration,
    ) -> Result<(), SqlError> {
        let before = self.manager.put(&self.slot, name, kind);
        if before.is_some_and(|before| before >= kind) || name.guarded.load(Ordering::SeqCst) == 0 {
            return Ok(());
        }
        self.queue_for(name, kind, Some(before), limit)
    }

    /// A lock that its guard keeps. The caller has ended its own transaction.
    pub(crate) fn lock_strong(
        &self,
        name: &Arc<MdlName>,
        kind: MdlKind,
        limit: Duration,
    ) -> Result<MdlGuard, SqlError> {
        self.queue_for(name, kind, None, limit)?;
        let (manager, name) = (self.manager.clone(), name.clone());
        Ok(MdlGuard { manager, owner: self.owner, name, kind })
    }

    /// Takes exclusive locks on `names` for one DDL statement. The caller has ended its own
    /// transaction.
    pub fn lock_exclusive(
        &self,
        names: Vec<Arc<MdlName>>,
        limit: Duration,
    ) -> Result<Vec<MdlGuard>, SqlError> {
        let wanted = names.into_iter().map(|name| (name, MdlKind::Exclusive)).collect();
        self.lock_all(wanted, limit)
    }

    /// Takes strong locks, in the order of the names, the strongest where a name comes twice.
    pub fn lock_all(
        &self,
        mut wanted: Vec<(Arc<MdlName>, MdlKind)>,
        limit: Duration,
    ) -> Result<Vec<MdlGuard>, SqlError> {
        wanted.sort_by(|(a, x), (b, y)| a.order().cmp(&b.order()).then(y.cmp(x)));
        wanted.dedup_by(|(a, _), (b, _)| Arc::ptr_eq(a, b));
        wanted.iter().map(|(name, kind)| self.lock_strong(name, *kind, limit)).collect()
    }

    /// Requests a lock that may conflict with others, and waits for it. `put` means that the
    /// session's slot shows the name already, and gives what it held of it before.
    fn queue_for(
        &self,
        name: &Arc<MdlName>,
        kind: MdlKind,
        put: Option<Option<MdlKind>>,
        limit: Duration,
    ) -> Result<(), SqlError> {
        let manager = &*self.manager;
        let mut queues = manager.queues.lock();
        if let Some(before) = put {
            manager.put_back(&self.slot, name, before);
            queues.let_in(manager, name);
        }
        let slot = put.is_some().then(|| self.slot.clone());
        if queues.ask(manager, self.owner, (name, kind), slot, &self.slot) {
            return Ok(());
        }
        let deadline = Instant::now() + limit;
        queues.break_cycles(manager, self.owner);
        loop {
            if let Some(decided) = queues.decided(self.owner) {
                return decided;
            }
            let killed = self.killed.load(Ordering::SeqCst) != 0;
            if killed || self.slot.bell.wait_until(&mut queues, deadline).timed_out() {
                if let Some(decided) = queues.decided(self.owner) {
                    return decided;
                }
                queues.give_up(manager, self.owner);
                let code =
                    if killed { ErrorCode::QueryInterrupted } else { ErrorCode::LockWaitTimeout };
                return Err(SqlError::new(code, &[]));
            }
        }
    }

    /// A change begins that ends with [`MdlSession::end_change`]: waits while another session has
    /// frozen everything; error 1223 where this one has. Without a freeze, that costs one look at
    /// a counter that stands still.
    pub(crate) fn begin_change(&self, limit: Duration) -> Result<(), SqlError> {
        if self.slot.changing.load(Ordering::Relaxed) {
            return Ok(());
        }
        let changes = &self.manager.changes;
        if changes.guarded.load(Ordering::Relaxed) > 0 && self.reads_everything() {
            return Err(SqlError::new(ErrorCode::CantUpdateWithReadlock, &[]));
        }
        self.lock_weak(changes, MdlKind::Write, limit)
    }

    /// The change is over, if there is one.
    #[inline]
    pub fn end_change(&self) {
        if self.slot.changing.load(Ordering::Relaxed) {
            self.slot.changing.store(false, Ordering::SeqCst);
            self.manager.given_up(&self.manager.changes);
        }
    }

    /// The commit of what was changed begins: waits while another session has frozen everything.
    /// It ends with [`MdlSession::end_commit`].
    pub(crate) fn begin_commit(&self, limit: Duration) -> Result<(), SqlError> {
        self.lock_weak(&self.manager.commits, MdlKind::Write, limit)
    }

    /// The commit is over, if there is one.
    pub(crate) fn end_commit(&self) {
        if self.slot.committing.load(Ordering::Relaxed) {
            self.slot.committing.store(false, Ordering::SeqCst);
            self.manager.given_up(&self.manager.commits);
        }
    }

    /// Keeps others from freezing everything, for longer than a statement.
    pub(crate) fn hold_changes(&self, limit: Duration) -> Result<MdlGuard, SqlError> {
        self.lock_strong(&self.manager.changes.clone(), MdlKind::Write, limit)
    }

    /// Whether this session has frozen everything.
    pub fn reads_everything(&self) -> bool {
        let changes = &self.manager.changes;
        changes.guarded.load(Ordering::SeqCst) > 0
            && self.manager.queues.lock().has(self.owner, changes, MdlKind::Freeze)
    }

    /// FLUSH TABLES WITH READ LOCK: waits for changes under way, then for commits, and keeps
    /// further ones out. The caller has ended its own transaction.
    pub(crate) fn read_everything(&self, limit: Duration) -> Result<[MdlGuard; 2], SqlError> {
        let (changes, commits) = (self.manager.changes.clone(), self.manager.commits.clone());
        let changes = self.lock_strong(&changes, MdlKind::Freeze, limit)?;
        Ok([changes, self.lock_strong(&commits, MdlKind::Freeze, limit)?])
    }

    /// Gives the locks of the session's transaction to an owner of their own, who keeps them until
    /// it is dropped.
    pub(crate) fn hand_over(&self) -> MdlSession {
        let heir = self.manager.session(Arc::default());
        // Who looks for what is in its way holds the queues: it finds the locks once.
        let _queues = self.manager.queues.lock();
        let mut held = self.slot.held.lock();
        let mut new = heir.slot.held.lock();
        new.extend(held.iter().map(|one| Held { name: one.name.clone(), kind: one.kind }));
        drop(new);
        held.clear();
        drop(held);
        heir
    }

    /// Shows the schema, name and kind of each lock that the session's transaction holds.
    pub(crate) fn for_each_held(&self, show: &mut dyn FnMut(&str, &str, MdlKind)) {
        let held = self.slot.held.lock();
        held.iter().for_each(|one| show(&one.name.schema, &one.name.table, one.kind));
    }

    /// Whether the session holds nothing for its transaction.
    #[inline]
    pub(crate) fn holds_nothing(&self) -> bool {
        self.slot.held.lock().is_empty()
    }

    /// Whether the session's transaction may have changed a table that others see.
    pub(crate) fn holds_to_write(&self) -> bool {
        self.slot.held.lock().iter().any(|held| held.kind == MdlKind::Write)
    }

    /// How many locks the session holds for its transaction.
    pub fn held_count(&self) -> usize {
        self.slot.held.lock().len()
    }

    /// Releases all locks of the transaction, at its end.
    pub fn release_all(&self) {
        self.release_from(0);
    }

    /// Releases all locks of the transaction but its first ones.
    pub fn release_from(&self, first: usize) {
        let mut held = self.slot.held.lock();
        if held.len() <= first {
            return;
        }
        // A request that is counted after this check finds the slot without them.
        let minds = |held: &&Held| held.name.guarded.load(Ordering::SeqCst) > 0;
        let minded: Vec<Arc<MdlName>> =
            held[first..].iter().filter(minds).map(|held| held.name.clone()).collect();
        held.truncate(first);
        drop(held);
        minded.iter().for_each(|name| self.manager.given_up(name));
    }
}

impl MdlName {
    /// A name that stands for rows of a table.
    pub(crate) fn of_rows() -> Arc<MdlName> {
        Arc::new(MdlName { of_rows: true, ..MdlName::default() })
    }

    fn order(&self) -> (&str, &str) {
        (&self.schema, &self.table)
    }
}

impl Drop for MdlSession {
    fn drop(&mut self) {
        if self.shares {
            return;
        }
        self.release_all();
        self.end_change();
        self.end_commit();
        self.manager.slots.lock().remove(&self.owner);
    }
}

impl Drop for MdlGuard {
    fn drop(&mut self) {
        self.manager.queues.lock().give_back(&self.manager, self.owner, &self.name, self.kind);
    }
}

#[cfg(test)]
mod tests;
