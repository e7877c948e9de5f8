//! Inia's storage engine: a transactional, durable, ordered store of byte keys.
//!
//! It knows no SQL, no collation and no network. See [`Engine`], [`Txn`] and [`Cursor`].

mod btree;
mod buffer;
mod codec;
mod counts;
mod engine;
mod error;
mod files;
mod lock;
mod node;
mod ops;
mod page;
mod recover;
mod report;
mod request;
mod reserve;
mod space;
mod store;
mod sync;
mod txn;
mod wal;

pub use btree::{KnownLeaf, KnownLeaves, LeafState, SampledLeaf, SampledTree};
pub use buffer::PoolStats;
pub use counts::{
    COUNTED, FileCounts, ThreadCounts, take_thread_counts, uncount_rows_of_entries,
    without_counting,
};
pub use engine::{Engine, EngineOptions, EngineStats};
pub use error::StorageError;
pub use lock::wait::LockWait;
pub use report::{error as report_error, set_error_log};
pub use request::{
    Direction, Isolation, KeyBound, LockMode, LockRequest, ReadMode, RecordRef, WaitPolicy,
};
pub use store::{EngineSizes, is_store_file};
pub use txn::bulk::BulkLoad;
pub use txn::counter::Counter;
pub use txn::cursor::{Cursor, LeafRun, LockingCursor, Run, SnapshotCursor};
pub use txn::handle::{Interrupter, Txn};
pub use txn::held_locks::{HeldLock, HeldLocks, TreeLocks};
pub use txn::in_place::RecordLocator;
pub use txn::prepared::PreparedTxn;
pub use txn::records::Records;
pub use txn::rollback::{Savepoint, StuckRollback};
pub use txn::session::ActiveTxn;
pub use txn::short_range::ShortRanges;
pub use txn::trees::Tree;
pub use wal::commit::OnDurable;

/// What storage functions return.
pub(crate) type Result<T> = std::result::Result<T, StorageError>;
