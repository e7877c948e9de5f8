//! How reads, scans and locks are asked for.

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
