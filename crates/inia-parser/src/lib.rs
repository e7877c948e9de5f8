//! Inia's lexer and parser for the MySQL dialect: text in, [`ast`] out; no catalog, no I/O.

pub mod ast;
mod digest;
mod error;
pub mod keyword;
mod lexer;
mod parser;
mod unparse;

pub use digest::{Digest, LiteralKind, LiteralSpan, digest};
pub use error::{ParseError, ParseErrorKind};
pub use inia_base::sql_mode::SqlMode;
pub use parser::{
    DEEP_STACK, HintValue, Hints, Parser, Remark, Room, Span, parse, parse_bytes, parse_expr,
};
pub use unparse::{quote_name, quote_string, unparse, unparse_query, unparse_query_explicit};
