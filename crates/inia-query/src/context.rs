//! What a session keeps between statements, and what one statement works with.
//!
//! [`SessionContext`] holds the session's transaction, settings, locks and diagnostics. Code that
//! runs a statement receives it. The session itself, which takes statements in, is a layer above.

mod actor;
mod diagnostics;
mod exec;
mod files;
mod handlers;
mod host;
mod names;
mod profiles;
mod programs;
mod read_only;
mod read_only_schemas;
mod reply;
mod sequences;
pub(crate) mod session;
mod settings;
pub mod statement_txn;
pub mod table_locks;
mod traces;
mod xa;

pub(crate) use exec::{ColumnUse, ExecContext};
pub use files::permitted_path;
pub use handlers::{HandlerPlace, Handlers, OpenHandler};
pub use names::{existing, full_name};
pub use profiles::Profiles;
pub use programs::{Inside, ProgramRunner, TriggerRows};
pub use session::{NamedSavepoint, SessionContext};
pub use traces::OptimizerTraces;
pub use xa::{SessionBranch, XaStage};

/// What a statement reports.
#[derive(Clone, Debug, Default)]
pub struct StatementOutcome {
    /// Rows that were changed.
    pub affected_rows: u64,
    /// The generated value that the client receives.
    pub last_insert_id: u64,
    /// The first AUTO_INCREMENT value that the statement made: LAST_INSERT_ID() from now on.
    pub generated_id: Option<u64>,
    /// The text of the OK packet.
    pub info: String,
    /// Rows of a result set, which the statement has sent already.
    pub rows: Option<u64>,
    /// The statement reports the conditions of the one before it, and has none of its own.
    pub reports: bool,
}

/// The text of the OK packet of an UPDATE. Formatting by the library takes several times as long,
/// which shows in updates of one row.
pub fn update_info(matched: u64, changed: u64, warnings: u64) -> String {
    let mut info = String::with_capacity(64);
    for (name, count) in
        [("Rows matched: ", matched), ("  Changed: ", changed), ("  Warnings: ", warnings)]
    {
        info.push_str(name);
        match u8::try_from(count) {
            Ok(digit @ 0..=9) => info.push(char::from(b'0' + digit)),
            _ => info.push_str(&count.to_string()),
        }
    }
    info
}
