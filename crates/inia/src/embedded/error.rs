//! Why a call failed.

use inia_base::error::SqlError;
use std::fmt;

/// The outcome of most calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A statement failed; the error has MySQL's number and SQLSTATE.
    Statement,
    /// The database cannot be opened, served or closed.
    Database,
    /// A cell or a row does not fit the type that was asked for.
    Conversion,
    /// There is no row, where one was asked for.
    NoRow,
    /// The connection cannot take the call now.
    Connection,
}

/// The number of an error that no statement met.
const NO_CODE: u16 = 0;
/// The SQLSTATE of errors without one of their own.
const GENERAL: &str = "HY000";
const DUPLICATES: [u16; 2] = [1062, 1586];
const DEADLOCK: u16 = 1213;
const LOCK_WAIT_TIMEOUT: u16 = 1205;

/// An error: a statement's, with MySQL's number, SQLSTATE and text, or one of this library.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    code: u16,
    sqlstate: String,
    message: String,
}

impl Error {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        let sqlstate = GENERAL.to_owned();
        Error { kind, code: NO_CODE, sqlstate, message: message.into() }
    }

    /// A cell that does not fit its type, for implementations of [`FromValue`](super::FromValue)
    /// and [`FromRow`](super::FromRow).
    pub fn conversion(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Conversion, message)
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// MySQL's number; 0 for an error that no statement met.
    pub fn code(&self) -> u16 {
        self.code
    }

    /// The five characters of the SQLSTATE.
    pub fn sqlstate(&self) -> &str {
        &self.sqlstate
    }

    /// The text.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether a key exists already.
    pub fn is_duplicate_key(&self) -> bool {
        DUPLICATES.contains(&self.code)
    }

    /// Whether the same transaction may succeed when it runs again: a deadlock, which has rolled it
    /// back, or a lock that was not free in time.
    pub fn is_retryable(&self) -> bool {
        matches!(self.code, DEADLOCK | LOCK_WAIT_TIMEOUT)
    }

    /// As an error of a statement: how a sink refuses a row.
    pub(super) fn refusal(&self) -> SqlError {
        let code = inia_base::error::ErrorCode::UnknownError;
        SqlError::with_message(code, self.message.clone())
    }
}

impl From<SqlError> for Error {
    fn from(error: SqlError) -> Error {
        Error {
            kind: ErrorKind::Statement,
            code: error.number(),
            sqlstate: error.sqlstate().to_owned(),
            message: error.message,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            NO_CODE => f.write_str(&self.message),
            code => write!(f, "ERROR {code} ({}): {}", self.sqlstate, self.message),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.kind)
    }
}

impl std::error::Error for Error {}
