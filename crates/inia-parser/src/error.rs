//! Why a text is no statement, with what is needed to print MySQL's message.

use std::fmt;

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// 1064, "You have an error in your SQL syntax; … near '…' at line …".
    Syntax,
    /// 1064 with another text before "near", for example a value out of range for the grammar.
    SyntaxText(String),
    /// 1065, "Query was empty".
    EmptyQuery,
    /// 1059, "Identifier name '…' is too long".
    IdentifierTooLong(String),
    /// 1436-like: nesting beyond the parser's limit.
    TooDeep,
    /// Any other number with its finished message and SQLSTATE.
    Other {
        /// MySQL's error number.
        code: u16,
        /// SQLSTATE.
        state: &'static str,
        /// The finished message.
        message: String,
    },
}

/// A failed parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub kind: ParseErrorKind,
    /// Byte offset of the offending token in the text that was parsed.
    pub offset: usize,
    /// Its line, from 1.
    pub line: u32,
    /// The text from the offending token on, at most 80 characters, empty at the end.
    pub near: String,
}

/// The characters at the start of a text that fit in so many bytes, as messages show it.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

impl ParseError {
    /// MySQL's error number.
    pub fn code(&self) -> u16 {
        match &self.kind {
            ParseErrorKind::Syntax | ParseErrorKind::SyntaxText(_) => 1064,
            ParseErrorKind::EmptyQuery => 1065,
            ParseErrorKind::IdentifierTooLong(_) => 1059,
            ParseErrorKind::TooDeep => 1436,
            ParseErrorKind::Other { code, .. } => *code,
        }
    }

    /// The SQLSTATE.
    pub fn sqlstate(&self) -> &'static str {
        match &self.kind {
            ParseErrorKind::TooDeep => "HY000",
            ParseErrorKind::Other { state, .. } => state,
            _ => "42000",
        }
    }

    /// MySQL's message.
    pub fn message(&self) -> String {
        match &self.kind {
            ParseErrorKind::Syntax => format!(
                "You have an error in your SQL syntax; check the manual that corresponds to your \
                 MySQL server version for the right syntax to use near '{}' at line {}",
                self.near, self.line
            ),
            ParseErrorKind::SyntaxText(text) => {
                format!("{text} near '{}' at line {}", self.near, self.line)
            }
            ParseErrorKind::EmptyQuery => "Query was empty".to_string(),
            ParseErrorKind::IdentifierTooLong(name) => {
                format!("Identifier name '{}' is too long", head(name, 100))
            }
            ParseErrorKind::TooDeep => {
                "Thread stack overrun:  1008776 bytes used of a 1048576 byte stack, and 40000 \
                 bytes needed.  Use 'mysqld --thread_stack=#' to specify a bigger stack."
                    .to_string()
            }
            ParseErrorKind::Other { message, .. } => message.clone(),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.code(), self.sqlstate(), self.message())
    }
}

impl std::error::Error for ParseError {}
