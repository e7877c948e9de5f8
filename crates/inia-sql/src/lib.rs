//! One client's statements, from their text to their reply.
//!
//! A statement's way: [`Session::execute`] → parse → bind → plan → optimize → exec → the storage
//! engine's transaction and cursors → the caller's [`RowSink`](inia_base::column::RowSink). What is
//! between the syntax tree and the storage engine is in `inia-query`; here are data definition,
//! files, privileges of a statement, SHOW and the session.

mod authorize;
mod check;
mod ddl;
mod files;
mod scheduler;
mod session;
mod show;

pub use check::check_database;
pub use inia_expr::Level;
pub use inia_query::account::{LoginAccount, LoginBlock, LoginRequirement};
pub use inia_query::database::{ClientInfo, Database, DatabaseOptions};
pub use inia_query::error::{OpenError, commit_error};
pub use inia_query::observe::ErrorLine;
pub use inia_query::status::HandleUse;
pub use inia_storage::{OnDurable, StorageError, is_store_file as is_database_file, set_error_log};
pub use scheduler::{EventClock, EventLog, EventScheduler, SystemEventClock};
pub use session::{KillHandle, Prepared, Session, make_sys};
pub use session::{StartOutcome, is_start_variable, set_at_start};
