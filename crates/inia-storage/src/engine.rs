//! The facade of the storage engine.

use crate::Result;
use inia_base::ids::{Lsn, TreeId};
use inia_base::io::Disk;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How an engine is opened.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Bytes of page frames; memory is taken as pages are used.
    pub buffer_pool_size: u64,
    /// Whether background threads run; without them the caller drives [`Engine::background_step`]
    /// (deterministic tests).
    pub background: bool,
}

/// An open store. Shared by all sessions; dropped after the last one.
pub struct Engine {}

impl Engine {
    /// Opens the store in `disk`, creating it when the disk is empty, recovering it when it was
    /// not closed.
    pub fn open(_disk: Arc<dyn Disk>, _options: EngineOptions) -> Result<Arc<Engine>> {
        todo!()
    }

    /// Writes everything back and closes cleanly. Later writes fail.
    pub fn close(&self) -> Result<()> {
        todo!()
    }

    /// A session's transaction handle, idle. One per connection, reused for all its transactions.
    pub fn attach(self: &Arc<Engine>) -> Txn {
        todo!()
    }

    /// The tree that the SQL layer keeps its catalog in; it is there from the first open.
    pub fn catalog_tree(&self) -> Tree {
        todo!()
    }

    /// A handle on the tree with this id.
    pub fn tree(&self, _id: TreeId) -> Tree {
        todo!()
    }

    /// Waits until the log is durable up to `lsn`.
    pub fn wait_durable(&self, _lsn: Lsn) -> Result<()> {
        todo!()
    }

    /// One step of background work (page writing, checkpoint, purge); true when there was some.
    pub fn background_step(&self) -> Result<bool> {
        todo!()
    }
}

/// A tree's runtime handle; cheap to clone.
#[derive(Clone)]
pub struct Tree {}

impl Tree {
    /// The tree's durable name.
    pub fn id(&self) -> TreeId {
        todo!()
    }
}

/// The four isolation levels, with MySQL's meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Reads see uncommitted rows.
    ReadUncommitted,
    /// A snapshot per statement, no gap locks.
    ReadCommitted,
    /// A snapshot per transaction, next-key locks: the default.
    RepeatableRead,
    /// As REPEATABLE READ; the session turns plain reads into shared locking reads.
    Serializable,
}

/// Row lock modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// FOR SHARE.
    Shared,
    /// FOR UPDATE, UPDATE, DELETE.
    Exclusive,
}

/// What to do when a lock is held by another transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Wait up to the lock wait timeout.
    Wait,
    /// Fail at once with [`StorageError::LockNotAvailable`].
    NoWait,
    /// Leave the row out.
    SkipLocked,
}

/// A locking read's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockRequest {
    /// Shared or exclusive.
    pub mode: LockMode,
    /// What to do when another transaction holds a conflicting lock.
    pub wait: WaitPolicy,
}

/// How a read sees the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMode {
    /// Consistent read by the transaction's snapshot and its own changes.
    Snapshot,
    /// Current read of the newest committed version that locks what it passes: next-key locks at
    /// REPEATABLE READ and above, record locks below.
    Lock(LockRequest),
}

/// Scan direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Ascending keys.
    Forward,
    /// Descending keys.
    Backward,
}

/// One end of a key range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyBound<'a> {
    /// No bound.
    Unbounded,
    /// The key belongs to the range.
    Included(&'a [u8]),
    /// The key does not.
    Excluded(&'a [u8]),
}

/// A key and its value, borrowed from the cursor until its next move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordRef<'a> {
    /// The whole key.
    pub key: &'a [u8],
    /// The whole value.
    pub value: &'a [u8],
}

/// A point in a transaction to roll back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint(pub u64);

/// One session's transaction: idle, or open since [`Txn::begin`].
///
/// Dropping an open transaction rolls it back.
pub struct Txn {}

impl Txn {
    /// Opens a transaction. Nothing shared is written before the first write or lock.
    pub fn begin(&mut self, _isolation: Isolation) {
        todo!()
    }

    /// Marks the start of a statement: READ COMMITTED takes its next snapshot here.
    pub fn begin_statement(&mut self) {
        todo!()
    }

    /// Takes the snapshot now (START TRANSACTION WITH CONSISTENT SNAPSHOT).
    pub fn take_snapshot(&mut self) {
        todo!()
    }

    /// Whether the transaction has changed anything.
    pub fn has_written(&self) -> bool {
        todo!()
    }

    /// How long a lock wait may last (`innodb_lock_wait_timeout`).
    pub fn set_lock_wait_timeout(&mut self, _limit: Duration) {
        todo!()
    }

    /// The flag that KILL sets; waits look at it when [`Txn::interrupter`]'s wake reaches them.
    pub fn interrupter(&self) -> Interrupter {
        todo!()
    }

    /// Reads one key by the snapshot and hands its value to `read`.
    pub fn get<R>(
        &mut self,
        _tree: &Tree,
        _key: &[u8],
        _read: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>> {
        todo!()
    }

    /// Locks one key and reads its current value. At REPEATABLE READ an absent key locks its gap;
    /// a present one is locked without its gap (full unique-key equality, as in MySQL).
    pub fn lock_get<R>(
        &mut self,
        _tree: &Tree,
        _key: &[u8],
        _request: LockRequest,
        _read: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>> {
        todo!()
    }

    /// Opens a cursor before the first record of the range (in the scan's direction).
    pub fn cursor(
        &mut self,
        _tree: &Tree,
        _lower: KeyBound<'_>,
        _upper: KeyBound<'_>,
        _direction: Direction,
        _mode: ReadMode,
    ) -> Cursor {
        todo!()
    }

    /// Inserts a new key. An existing one is [`StorageError::DuplicateKey`], after a shared lock on
    /// it was taken, as MySQL does.
    pub fn insert(&mut self, _tree: &Tree, _key: &[u8], _value: &[u8]) -> Result<()> {
        todo!()
    }

    /// Replaces the value of a key that is there, locking it exclusively; false when it is not.
    pub fn update(&mut self, _tree: &Tree, _key: &[u8], _value: &[u8]) -> Result<bool> {
        todo!()
    }

    /// Deletes a key, locking it exclusively; false when it is not there.
    pub fn delete(&mut self, _tree: &Tree, _key: &[u8]) -> Result<bool> {
        todo!()
    }

    /// Creates an empty tree that exists from commit on.
    pub fn create_tree(&mut self) -> Result<Tree> {
        todo!()
    }

    /// Drops a tree at commit; its pages are freed in the background.
    pub fn drop_tree(&mut self, _tree: &Tree) -> Result<()> {
        todo!()
    }

    /// A point to roll back to.
    pub fn savepoint(&self) -> Savepoint {
        todo!()
    }

    /// Undoes everything since the savepoint; locks are kept, as in MySQL.
    pub fn rollback_to(&mut self, _savepoint: Savepoint) -> Result<()> {
        todo!()
    }

    /// Commits and waits until the commit is durable. The handle is idle afterwards.
    pub fn commit(&mut self) -> Result<()> {
        todo!()
    }

    /// Rolls everything back. The handle is idle afterwards.
    pub fn rollback(&mut self) -> Result<()> {
        todo!()
    }
}

/// Interrupts a transaction's waits from another thread (KILL).
#[derive(Clone)]
pub struct Interrupter {
    _flag: Arc<AtomicBool>,
}

/// A position in a range scan. It owns a copy of the leaf it is on, holds no latch, and may be
/// kept while its transaction writes to the same tree.
pub struct Cursor {}

impl Cursor {
    /// Moves to the next record and returns it, or `None` at the end of the range.
    pub fn next<'c>(&'c mut self, _txn: &mut Txn) -> Result<Option<RecordRef<'c>>> {
        todo!()
    }

    /// Gives back the lock of the record last returned (READ COMMITTED, row did not match).
    pub fn unlock_current(&mut self, _txn: &mut Txn) {
        todo!()
    }
}
