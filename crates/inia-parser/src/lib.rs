//! Inia's lexer and parser for the MySQL dialect: text in, [`ast`] out; no catalog, no I/O.

pub mod ast;
mod error;
pub mod keyword;
mod lexer;
mod mode;
mod parser;

pub use error::{ParseError, ParseErrorKind};
pub use mode::SqlMode;
pub use parser::{Parser, Span, parse, parse_bytes, parse_expr};
