//! FIELDS and LINES: rows of fields as text.
//!
//! With `FIELDS TERMINATED BY ',' ENCLOSED BY '"'` the line `1,"a ""b"", c",\N` has three fields:
//! `1`, `a "b", c` and NULL. Outside of enclosed fields the line's end wins over the field's; a
//! backslash (ESCAPED BY) takes the character behind it as it is, or as the control character it
//! names.

use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::FileFormat;

/// One field of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) bytes: Vec<u8>,
    pub(crate) null: bool,
}

/// How rows are written as text.
#[derive(Clone, Debug)]
pub(crate) struct Format {
    field_end: Vec<u8>,
    enclosure: Option<u8>,
    /// Only texts are enclosed.
    optional: bool,
    escape: Option<u8>,
    line_start: Vec<u8>,
    line_end: Vec<u8>,
}

/// What the text at hand begins with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A row and how many bytes it takes.
    Row(Vec<Field>, usize),
    /// Part of a row.
    More,
    /// Nothing more.
    End,
}

/// How one field went on.
enum Step {
    FieldEnd,
    LineEnd,
    TextEnd,
    More,
}

impl Format {
    /// The format of a statement's clauses; error 1083 for more than one character where only one
    /// may be, 1235 for fields of fixed width.
    pub(crate) fn new(format: &FileFormat) -> Result<Format, SqlError> {
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
        let made = Format {
            field_end: bytes(&format.fields_terminated, "\t"),
            enclosure: single(&format.fields_enclosed, "")?,
            optional: format.optionally_enclosed,
            escape: single(&format.fields_escaped, "\\")?,
            line_start: bytes(&format.lines_starting, ""),
            line_end: bytes(&format.lines_terminated, "\n"),
        };
        if made.field_end.is_empty() && made.enclosure.is_none() {
            return Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"fields of fixed width"]));
        }
        Ok(made)
    }

    /// The row at the beginning of `text`; `whole` tells that no more text will come.
    pub(crate) fn read(&self, text: &[u8], whole: bool) -> Line {
        let Some(mut at) = find(text, &self.line_start) else {
            return if whole { Line::End } else { Line::More };
        };
        at += self.line_start.len();
        if whole && at >= text.len() {
            return Line::End;
        }
        let mut fields = Vec::new();
        loop {
            let mut field = Field::default();
            let step = self.field(text, &mut at, whole, &mut field);
            if let Step::More = step {
                return Line::More;
            }
            fields.push(field);
            if !matches!(step, Step::FieldEnd) {
                return Line::Row(fields, at);
            }
        }
    }

    fn field(&self, text: &[u8], at: &mut usize, whole: bool, field: &mut Field) -> Step {
        let ahead = self.field_end.len().max(self.line_end.len()).max(1) + 1;
        let short = |at: usize| !whole && text.len() < at + ahead;
        if short(*at) {
            return Step::More;
        }
        let enclosed = self.enclosure.is_some() && text.get(*at).copied() == self.enclosure;
        *at += usize::from(enclosed);
        let (mut open, mut escapes) = (enclosed, 0);
        loop {
            if short(*at) {
                return Step::More;
            }
            let rest = text.get(*at..).unwrap_or_default();
            let Some(&byte) = rest.first() else {
                self.note_null(field, enclosed, escapes);
                return Step::TextEnd;
            };
            if !open {
                let (line, end) = (starts(rest, &self.line_end), starts(rest, &self.field_end));
                if line || end {
                    self.note_null(field, enclosed, escapes);
                    *at += if line { self.line_end.len() } else { self.field_end.len() };
                    return if line { Step::LineEnd } else { Step::FieldEnd };
                }
            }
            if Some(byte) == self.escape && rest.len() > 1 {
                field.bytes.push(unescaped(rest[1]));
                escapes += 1;
                *at += 2;
            } else if open && Some(byte) == self.enclosure {
                let after = &rest[1..];
                if after.first() == Some(&byte) {
                    field.bytes.push(byte);
                    *at += 2;
                } else if after.is_empty()
                    || starts(after, &self.field_end)
                    || starts(after, &self.line_end)
                {
                    open = false;
                    *at += 1;
                } else {
                    field.bytes.push(byte);
                    *at += 1;
                }
            } else {
                field.bytes.push(byte);
                *at += 1;
            }
        }
    }

    /// `\N`, and the bare word NULL where fields are enclosed.
    fn note_null(&self, field: &mut Field, enclosed: bool, escapes: usize) {
        let marked = escapes == 1 && field.bytes == b"N";
        let word = self.enclosure.is_some() && escapes == 0 && field.bytes == b"NULL";
        field.null = !enclosed && (marked || word);
    }

    /// Appends a row; of each field whether it is a text.
    pub(crate) fn write<'f>(
        &self,
        fields: impl Iterator<Item = (Option<&'f [u8]>, bool)>,
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(&self.line_start);
        for (number, (field, is_text)) in fields.enumerate() {
            if number > 0 {
                out.extend_from_slice(&self.field_end);
            }
            let Some(bytes) = field else {
                match self.escape {
                    Some(escape) => out.extend_from_slice(&[escape, b'N']),
                    None => out.extend_from_slice(b"NULL"),
                }
                continue;
            };
            let enclosure = self.enclosure.filter(|_| is_text || !self.optional);
            out.extend(enclosure);
            for &byte in bytes {
                self.write_byte(byte, enclosure, out);
            }
            out.extend(enclosure);
        }
        out.extend_from_slice(&self.line_end);
    }

    fn write_byte(&self, byte: u8, enclosure: Option<u8>, out: &mut Vec<u8>) {
        let special = match enclosure {
            Some(enclosure) => byte == enclosure,
            None => [&self.field_end, &self.line_end].iter().any(|end| end.first() == Some(&byte)),
        };
        match self.escape {
            Some(escape) if byte == 0 => out.extend_from_slice(&[escape, b'0']),
            Some(escape) if special || byte == escape => out.extend_from_slice(&[escape, byte]),
            _ => out.push(byte),
        }
    }
}

/// The character that an escaped one stands for.
fn unescaped(byte: u8) -> u8 {
    match byte {
        b'0' => 0,
        b'b' => 8,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'Z' => 26,
        other => other,
    }
}

fn starts(text: &[u8], end: &[u8]) -> bool {
    !end.is_empty() && text.starts_with(end)
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    match what.len() {
        0 => Some(0),
        length => text.windows(length).position(|window| window == what),
    }
}
