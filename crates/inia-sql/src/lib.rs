//! Everything between a parsed statement and its rows.
//!
//! A statement's way: [`Session::execute`] → parse → bind → plan → optimize → exec → the storage
//! engine's transaction and cursors → the caller's [`RowSink`](inia_base::column::RowSink).

mod access;
mod account;
mod bind;
pub mod catalog;
mod check;
mod database;
mod ddl;
mod dml;
mod error;
mod exec;
mod files;
mod information_schema;
mod optimize;
mod plan;
mod reads;
pub mod row;
mod session;
mod show;
mod stack;
mod status;
mod sysvar;
mod user_locks;

pub use account::{LoginAccount, LoginBlock, LoginRequirement};
pub use database::{ClientInfo, Database, DatabaseOptions, OpenError};
pub use inia_storage::{is_store_file as is_database_file, set_error_log};
pub use session::{KillHandle, Prepared, Session};
