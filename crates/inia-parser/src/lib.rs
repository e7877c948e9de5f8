//! Inia's lexer and parser for the MySQL dialect: text in, [`ast`] out; no catalog, no I/O.

pub mod ast;
mod error;
mod mode;

pub use error::{ParseError, ParseErrorKind};
pub use mode::SqlMode;
