//! Everything between a parsed statement and its rows.
//!
//! A statement's way: [`Session::execute`] → parse → bind → plan → optimize → exec → the storage
//! engine's transaction and cursors → the caller's [`RowSink`](inia_base::column::RowSink).

mod access;
mod account;
mod authorize;
mod bind;
mod catalog;
mod check;
mod clock;
mod computed;
mod context;
mod database;
mod ddl;
mod dml;
mod error;
mod exec;
mod files;
mod information;
mod information_schema;
mod interrupt;
mod optimize;
mod plan;
mod planner;
mod referenced;
mod row;
mod session;
mod show;
mod spill;
mod stack;
mod status;
mod sysvar;
mod table_def;
mod user_locks;
mod view;

pub use account::{LoginAccount, LoginBlock, LoginRequirement};
pub use check::check_database;
pub use database::{ClientInfo, Database, DatabaseOptions};
pub use error::OpenError;
pub use inia_storage::{is_store_file as is_database_file, set_error_log};
pub use session::{KillHandle, Prepared, Session};
pub use status::HandleUse;
