//! Statements that change rows: INSERT, REPLACE, UPDATE and DELETE.

mod assign;
pub mod auto_increment;
pub(crate) mod change;
pub mod fill;
pub(crate) mod foreign;
mod gathered;
pub mod insert;
pub(crate) mod joined;
pub mod returning;
mod target_reads;
mod text_keys;
mod view;
pub mod write;
mod write_batch;
mod write_parts;
mod write_several;

use inia_base::error::{ErrorCode, SqlError};

pub use change::{ChangePlan, plan_delete, plan_update};
pub use insert::{InsertPlan, plan_insert};
pub use joined::{JoinedPlan, has_subquery, plan_joined_delete, plan_joined_update};
pub use target_reads::{check_delete, check_insert, check_update};
pub use view::{
    Guard, delete_through, insert_through, load_through, needed_to_insert, needed_to_load,
    update_through,
};

/// Whether IGNORE makes a warning of an error; others end the statement all the same.
fn is_forgiven(error: &SqlError) -> bool {
    use ErrorCode as E;
    matches!(
        error.code,
        E::DuplicateEntry
            | E::BadNull
            | E::NoReferencedRow
            | E::NoReferencedRow2
            | E::RowIsReferenced
            | E::RowIsReferenced2
            | E::ViewCheckFailed
            | E::CheckConstraintViolated
            | E::NoPartitionForGivenValue
            | E::RowDoesNotMatchGivenPartitionSet
    )
}

/// Keeps the error of a row that no partition takes, which IGNORE may forgive, from others.
fn placed<T>(written: Result<T, SqlError>) -> Result<Result<T, SqlError>, SqlError> {
    match written {
        Err(error) if !is_unplaced(&error) => Err(error),
        written => Ok(written),
    }
}

/// Whether a row was refused since no partition takes it, before anything was written.
fn is_unplaced(error: &SqlError) -> bool {
    use ErrorCode as E;
    matches!(error.code, E::NoPartitionForGivenValue | E::RowDoesNotMatchGivenPartitionSet)
}
