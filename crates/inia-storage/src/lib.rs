//! Inia's storage engine: a transactional, durable, ordered store of byte keys.
//!
//! It knows no SQL, no collation and no network. See [`Engine`], [`Txn`] and [`Cursor`].

mod btree;
mod buffer;
mod codec;
mod engine;
mod error;
mod page;
mod recover;
mod space;
mod store;
mod sync;
mod wal;

pub use engine::{
    Cursor, Direction, Engine, EngineOptions, Interrupter, Isolation, KeyBound, LockMode,
    LockRequest, ReadMode, RecordRef, Savepoint, Tree, Txn, WaitPolicy,
};
pub use error::StorageError;

/// What storage functions return.
pub(crate) type Result<T> = std::result::Result<T, StorageError>;
