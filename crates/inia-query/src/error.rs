//! How errors of the layers below become the errors that clients see.

use inia_base::error::{ErrorCode, SqlError};
use inia_storage::StorageError;
use std::fmt;

/// Stored bytes that do not fit the table's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// Why a database cannot be opened.
#[derive(Clone, Debug)]
pub enum OpenError {
    /// The storage engine refused.
    Storage(StorageError),
    /// A catalog record cannot be read, and which.
    Catalog(String),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Storage(error) => error.fmt(f),
            OpenError::Catalog(what) => write!(f, "the catalog is damaged: {what}"),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<StorageError> for OpenError {
    fn from(error: StorageError) -> OpenError {
        OpenError::Storage(error)
    }
}

impl From<Damaged> for SqlError {
    fn from(_: Damaged) -> SqlError {
        let what = "a stored row does not fit its table's definition";
        SqlError::new(ErrorCode::UnknownError, &[&what])
    }
}

/// The client's error for a storage error. A duplicate key's text needs the index and the row, so
/// writers of rows catch that one themselves.
pub(crate) fn sql_error(error: StorageError) -> SqlError {
    match error {
        StorageError::DuplicateKey => SqlError::new(ErrorCode::DupKey, &[&""]),
        StorageError::Deadlock => SqlError::new(ErrorCode::Deadlock, &[]),
        StorageError::LockWaitTimeout => SqlError::new(ErrorCode::LockWaitTimeout, &[]),
        StorageError::LockNotAvailable => SqlError::new(ErrorCode::LockNowait, &[]),
        StorageError::Interrupted => SqlError::new(ErrorCode::QueryInterrupted, &[]),
        StorageError::SnapshotTooOld => SqlError::new(ErrorCode::TableDefChanged, &[]),
        StorageError::TooLarge => SqlError::new(ErrorCode::TooLongKey, &[&3072]),
        StorageError::DiskFull => {
            SqlError::new(ErrorCode::GetErrno, &[&28, &"No space left on device"])
        }
        StorageError::Corrupt(..)
        | StorageError::Unopenable(_)
        | StorageError::Io(_)
        | StorageError::Stopped(_) => SqlError::new(ErrorCode::GetErrno, &[&168, &error]),
    }
}

/// The client's error for a commit that storage refused: no table is to blame for want of space
/// then.
pub fn commit_error(error: StorageError) -> SqlError {
    match error {
        StorageError::DiskFull => {
            SqlError::new(ErrorCode::ErrorDuringCommit, &[&28, &"No space left on device"])
        }
        other => sql_error(other),
    }
}

/// Storage results as SQL results.
pub trait StorageResult<T> {
    /// Maps the error by [`sql_error`].
    fn sql(self) -> Result<T, SqlError>;

    /// As [`StorageResult::sql`], for a write that only this table's growth needs: without space
    /// it is the table that is full.
    fn sql_for(self, table: &str) -> Result<T, SqlError>;
}

impl<T> StorageResult<T> for Result<T, StorageError> {
    fn sql(self) -> Result<T, SqlError> {
        self.map_err(sql_error)
    }

    fn sql_for(self, table: &str) -> Result<T, SqlError> {
        self.map_err(|error| match error {
            StorageError::DiskFull => SqlError::new(ErrorCode::RecordFileFull, &[&table]),
            other => sql_error(other),
        })
    }
}

/// The client's error for a text that is no statement.
pub fn parse_error(error: inia_parser::ParseError) -> SqlError {
    let code = ErrorCode::from_number(error.code()).unwrap_or(ErrorCode::Syntax);
    SqlError::with_message(code, error.message())
}
