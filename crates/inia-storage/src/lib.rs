//! Inia's storage engine: a transactional, durable, ordered store of byte keys.
//!
//! It knows no SQL, no collation and no network. See [`Engine`], [`Txn`] and [`Cursor`].

mod engine;
mod error;

pub use engine::{
    Cursor, Direction, Engine, EngineOptions, Interrupter, Isolation, KeyBound, LockMode,
    LockRequest, ReadMode, RecordRef, Savepoint, Tree, Txn, WaitPolicy,
};
pub use error::StorageError;
