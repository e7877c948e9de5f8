//! Everything between a parsed statement and its rows.
//!
//! A statement's way: [`Session::execute`] → parse → bind → plan → optimize → exec → the storage
//! engine's transaction and cursors → the caller's [`RowSink`](inia_base::column::RowSink).

pub mod access;
pub mod catalog;
mod database;
mod ddl;
mod dml;
mod error;
pub mod expr;
pub mod row;
mod select;
mod session;
mod sysvar;
mod user_locks;

pub use database::{ClientInfo, Database, DatabaseOptions, OpenError};
pub use session::{KillHandle, Prepared, Session};
