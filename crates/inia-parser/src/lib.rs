//! Inia's lexer and parser for the MySQL dialect: text in, [`ast`] out; no catalog, no I/O.

pub mod ast;
mod digest;
mod error;
pub mod keyword;
mod lexer;
mod parser;
mod secrets;
mod statement_digest;
mod unparse;

pub use digest::{Digest, LiteralKind, LiteralSpan, digest};
pub use error::{ParseError, ParseErrorKind};
pub use inia_base::sql_mode::SqlMode;
pub use parser::{
    DEEP_STACK, HintValue, Hints, Parser, Remark, Room, Span, deprecated_charset,
    deprecated_collation, deprecated_in_set, deprecated_name_of, deprecated_variable, parse,
    parse_bytes, parse_expr,
};
pub use secrets::{hide_secrets, param_places};
pub use statement_digest::{StatementDigest, statement_digest};
pub use unparse::{
    MULTIPLE_EQUAL, TWIN, quote_name, quote_string, unparse, unparse_explained, unparse_query,
    unparse_query_explicit, unparse_traced, unparse_traced_condition,
};

/// Whether a word is a name only in backquotes.
pub fn is_reserved(word: &str) -> bool {
    keyword::lookup(word.to_ascii_lowercase().as_bytes()).is_reserved()
}

/// Whether a word is a keyword, reserved or not.
pub fn is_keyword(word: &str) -> bool {
    keyword::lookup(word.to_ascii_lowercase().as_bytes()) != keyword::Kw::NotKeyword
}
