//! FIELDS and LINES: how rows of fields are written as text.
//!
//! With `FIELDS TERMINATED BY ',' ENCLOSED BY '"'` the line `"1","a \"b\", c",\N` has three fields:
//! `1`, `a "b", c` and NULL.

use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::FileFormat;

/// The clauses of a statement, completed.
#[derive(Clone, Debug)]
pub(crate) struct Format {
    pub(super) field_end: Vec<u8>,
    pub(super) enclosure: Option<u8>,
    /// Only texts are enclosed.
    pub(super) optional: bool,
    pub(super) escape: Option<u8>,
    pub(super) line_start: Vec<u8>,
    pub(super) line_end: Vec<u8>,
}

impl Format {
    /// The format of a statement's clauses; error 1083 for more than one character where only one
    /// may be. Backslashes escape unless the SQL mode says that they are usual characters.
    pub(crate) fn new(format: &FileFormat, backslashes: bool) -> Result<Format, SqlError> {
        let bytes = |part: &Option<String>, usual: &str| {
            part.as_deref().unwrap_or(usual).as_bytes().to_vec()
        };
        let single = |part: &Option<String>, usual: &str| {
            let bytes = bytes(part, usual);
            match bytes.len() {
                0 | 1 => Ok(bytes.first().copied()),
                _ => Err(SqlError::new(ErrorCode::WrongFieldTerminators, &[])),
            }
        };
        Ok(Format {
            field_end: bytes(&format.fields_terminated, "\t"),
            enclosure: single(&format.fields_enclosed, "")?,
            optional: format.optionally_enclosed,
            escape: single(&format.fields_escaped, if backslashes { "\\" } else { "" })?,
            line_start: bytes(&format.lines_starting, ""),
            line_end: bytes(&format.lines_terminated, "\n"),
        })
    }

    /// Fields have no ends: each takes as many bytes as its column may have.
    pub(crate) fn is_fixed(&self) -> bool {
        self.field_end.is_empty() && self.enclosure.is_none()
    }

    /// Warning 1638 where what separates is not ASCII.
    pub(crate) fn warning(&self) -> Option<ErrorCode> {
        let parts = [&self.field_end, &self.line_start, &self.line_end];
        let plain = parts.iter().all(|part| part.is_ascii());
        (!plain).then_some(ErrorCode::WarnNonAsciiSeparatorNotImplemented)
    }
}
