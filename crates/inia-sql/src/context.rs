//! What a session keeps between statements, and what one statement works with.
//!
//! [`SessionContext`] holds the session's transaction, settings, locks and diagnostics. Code that
//! runs a statement receives it. The session itself, which takes statements in, is a layer above.

mod actor;
mod diagnostics;
mod exec;
mod host;
mod names;
mod read_only;
pub(crate) mod session;
pub(crate) mod statement_txn;
pub(crate) mod table_locks;

pub(crate) use exec::ExecContext;
pub(crate) use names::{existing, full_name};
pub(crate) use session::{NamedSavepoint, SessionContext};

/// What a statement reports.
#[derive(Clone, Debug, Default)]
pub(crate) struct StatementOutcome {
    pub(crate) affected_rows: u64,
    pub(crate) last_insert_id: u64,
    /// The first AUTO_INCREMENT value that the statement made: LAST_INSERT_ID() from now on.
    pub(crate) generated_id: Option<u64>,
    pub(crate) info: String,
    /// Rows of a result set, which the statement has sent already.
    pub(crate) rows: Option<u64>,
    /// The statement reports the conditions of the one before it, and has none of its own.
    pub(crate) reports: bool,
}
