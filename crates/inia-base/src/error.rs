//! SQL errors: MySQL's numbers, SQLSTATEs and message texts, declared once in a table.

use std::fmt;

macro_rules! error_codes {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $state:literal, $text:literal;)*) => {
        /// A MySQL error or warning number. The message text is part of MySQL's interface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum ErrorCode {
            $(
                #[doc = concat!("MySQL error ", stringify!($number), ".")]
                $name = $number,
            )*
        }

        impl ErrorCode {
            /// The five-character SQLSTATE.
            pub fn sqlstate(self) -> &'static str {
                match self { $(ErrorCode::$name => $state,)* }
            }

            /// The message with `{}` for each argument.
            pub fn template(self) -> &'static str {
                match self { $(ErrorCode::$name => $text,)* }
            }
        }
    };
}

error_codes! {
    DbCreateExists = 1007, "HY000", "Can't create database '{}'; database exists";
    DbDropExists = 1008, "HY000", "Can't drop database '{}'; database doesn't exist";
    AccessDenied = 1045, "28000", "Access denied for user '{}'@'{}' (using password: {})";
    NoDatabaseSelected = 1046, "3D000", "No database selected";
    UnknownDatabase = 1049, "42000", "Unknown database '{}'";
    TableExists = 1050, "42S01", "Table '{}' already exists";
    UnknownTable = 1051, "42S02", "Unknown table '{}'";
    UnknownColumn = 1054, "42S22", "Unknown column '{}' in '{}'";
    DuplicateEntry = 1062, "23000", "Duplicate entry '{}' for key '{}'";
    Syntax = 1064, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '{}' at line {}";
    NoSuchTable = 1146, "42S02", "Table '{}.{}' doesn't exist";
    LockWaitTimeout = 1205, "HY000", "Lock wait timeout exceeded; try restarting transaction";
    Deadlock = 1213, "40001", "Deadlock found when trying to get lock; try restarting transaction";
    NotSupportedYet = 1235, "42000", "This version of MySQL doesn't yet support '{}'";
    UnknownError = 1105, "HY000", "{}";
}

impl ErrorCode {
    /// The number sent to clients.
    pub fn number(self) -> u16 {
        self as u16
    }
}

/// An error that a client sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlError {
    /// Number and SQLSTATE.
    pub code: ErrorCode,
    /// The finished message.
    pub message: String,
}

impl SqlError {
    /// Fills the code's template with `args` in order.
    pub fn new(code: ErrorCode, args: &[&dyn fmt::Display]) -> SqlError {
        let mut message = String::new();
        let mut pieces = code.template().split("{}");
        message.push_str(pieces.next().unwrap_or_default());
        for (piece, arg) in pieces.zip(args) {
            message.push_str(&arg.to_string());
            message.push_str(piece);
        }
        SqlError { code, message }
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.code.number(), self.code.sqlstate(), self.message)
    }
}

impl std::error::Error for SqlError {}
