//! Statements that define databases and tables.
//!
//! A DDL statement commits the session's transaction, takes its tables' metadata locks, then does
//! all its work (trees, rows, catalog records) in one storage transaction: it happens wholly or
//! not at all, also in a crash. The new catalog version is published after the commit.

mod types;
mod work;

pub(crate) use types::{column_type, type_text};
