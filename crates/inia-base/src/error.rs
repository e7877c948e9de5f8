//! SQL errors and warnings: MySQL's numbers, SQLSTATEs and message texts.
//!
//! The table itself is in [`codes`]; this file gives it its type and builds messages from it.

use std::fmt;

macro_rules! error_codes {
    ($($name:ident = $number:literal, $state:literal, $text:literal;)*) => {
        /// A MySQL error or warning number. The message text is part of MySQL's interface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum ErrorCode {
            $(
                #[doc = concat!("MySQL error ", stringify!($number), ": ", $text)]
                $name = $number,
            )*
        }

        impl ErrorCode {
            /// Every code of the table, in ascending order of its number.
            pub const ALL: &[ErrorCode] = &[$(ErrorCode::$name,)*];

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

mod codes;
mod late_codes;
#[cfg(test)]
mod tests;

pub use codes::ErrorCode;

impl ErrorCode {
    /// The number sent to clients.
    pub fn number(self) -> u16 {
        self as u16
    }

    /// The code with this number, if the table has it.
    pub fn from_number(number: u16) -> Option<ErrorCode> {
        let found = ErrorCode::ALL.binary_search_by_key(&number, |code| code.number());
        found.ok().map(|index| ErrorCode::ALL[index])
    }
}

/// Fills the code's template with `args` in order.
fn fill(code: ErrorCode, args: &[&dyn fmt::Display]) -> String {
    use fmt::Write;
    let mut message = String::new();
    let mut pieces = code.template().split("{}");
    message.push_str(pieces.next().unwrap_or_default());
    let mut args = args.iter();
    for piece in pieces {
        if let Some(arg) = args.next() {
            write!(message, "{arg}").expect("writing to a string does not fail");
        }
        message.push_str(piece);
    }
    message
}

/// A number and a SQLSTATE chosen by a program (SIGNAL), in place of the table's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signalled {
    /// MYSQL_ERRNO.
    pub number: u16,
    /// The five-character SQLSTATE.
    pub sqlstate: String,
    /// Other items of the condition, such as TABLE_NAME, that the program set.
    pub items: Vec<(String, String)>,
}

/// An error that a client sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlError {
    /// The table's entry.
    pub code: ErrorCode,
    /// The finished message.
    pub message: String,
    /// Number and SQLSTATE in place of the table's, where a program chose them.
    pub signalled: Option<Box<Signalled>>,
}

impl SqlError {
    /// Fills the code's template with `args` in order.
    pub fn new(code: ErrorCode, args: &[&dyn fmt::Display]) -> SqlError {
        SqlError::with_message(code, fill(code, args))
    }

    /// An error whose message is not the table's.
    pub fn with_message(code: ErrorCode, message: impl Into<String>) -> SqlError {
        SqlError { code, message: message.into(), signalled: None }
    }

    /// The number sent to clients.
    pub fn number(&self) -> u16 {
        self.signalled.as_ref().map_or(self.code.number(), |signalled| signalled.number)
    }

    /// The SQLSTATE sent to clients.
    pub fn sqlstate(&self) -> &str {
        self.signalled.as_ref().map_or(self.code.sqlstate(), |signalled| &signalled.sqlstate)
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.number(), self.sqlstate(), self.message)
    }
}

impl std::error::Error for SqlError {}
