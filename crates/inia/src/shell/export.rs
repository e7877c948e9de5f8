//! Results as files for other programs: CSV and JSON.
//!
//! CSV is RFC 4180's. A NULL is an empty field without quotes and an empty text one with them,
//! which `inia load` distinguishes. A row that is one NULL is written as `\N`, since a blank line
//! is no row. JSON is an array with an object a line; numbers are written with all their digits.

use super::bits;
use crate::import::distinct_names;
use inia_base::column::flags;
use inia_base::value::Value;
use inia_wire::column::{ColumnDef, type_code as ty};
use std::io::{self, Write};

/// The collation of bytes.
const BINARY: u16 = 63;

/// Writes one result as CSV.
pub(super) struct Csv<'a> {
    out: &'a mut dyn Write,
    columns: &'a [ColumnDef],
    line: Vec<u8>,
}

impl<'a> Csv<'a> {
    /// Writes the line of names.
    pub(super) fn new(out: &'a mut dyn Write, columns: &'a [ColumnDef]) -> io::Result<Csv<'a>> {
        let mut csv = Csv { out, columns, line: Vec::new() };
        for (at, column) in columns.iter().enumerate() {
            csv.separate(at);
            put_field(&mut csv.line, column.name.as_bytes());
        }
        csv.end()?;
        Ok(csv)
    }

    fn separate(&mut self, at: usize) {
        if at > 0 {
            self.line.push(b',');
        }
    }

    fn end(&mut self) -> io::Result<()> {
        self.line.extend_from_slice(b"\r\n");
        self.out.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }

    /// Writes a row.
    pub(super) fn row(&mut self, row: &[Value]) -> io::Result<()> {
        for (at, value) in row.iter().enumerate() {
            self.separate(at);
            match value {
                Value::Null if row.len() == 1 => self.line.extend_from_slice(b"\\N"),
                Value::Null => {}
                value if self.columns[at].type_code == ty::BIT => {
                    put_field(&mut self.line, bits(value).to_string().as_bytes());
                }
                value => put_field(&mut self.line, value.as_bytes().unwrap_or_default()),
            }
        }
        self.end()
    }
}

/// Appends a field, in quotes where it would be read as something else without them.
fn put_field(line: &mut Vec<u8>, field: &[u8]) {
    let special = |byte: &u8| matches!(byte, b',' | b'"' | b'\r' | b'\n');
    if !field.is_empty() && field != b"\\N" && !field.iter().any(special) {
        line.extend_from_slice(field);
        return;
    }
    line.push(b'"');
    for &byte in field {
        line.push(byte);
        if byte == b'"' {
            line.push(byte);
        }
    }
    line.push(b'"');
}

/// What a cell is in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonKind {
    /// Its digits as they are.
    Number,
    /// A document of its own.
    Document,
    /// The number that bits are.
    Bits,
    /// Hexadecimal digits.
    Bytes,
    /// A string.
    Text,
}

impl JsonKind {
    fn of(column: &ColumnDef) -> JsonKind {
        let is_set = column.flags & (flags::ENUM | flags::SET) != 0;
        match column.type_code {
            ty::DECIMAL
            | ty::TINY
            | ty::SHORT
            | ty::LONG
            | ty::FLOAT
            | ty::DOUBLE
            | ty::LONGLONG
            | ty::INT24
            | ty::NEWDECIMAL => JsonKind::Number,
            ty::JSON => JsonKind::Document,
            ty::BIT => JsonKind::Bits,
            ty::TINY_BLOB..=ty::STRING | ty::VARCHAR if column.collation == BINARY && !is_set => {
                JsonKind::Bytes
            }
            _ => JsonKind::Text,
        }
    }
}

/// Writes one result as JSON.
pub(super) struct Json<'a> {
    out: &'a mut dyn Write,
    /// The columns' names as JSON strings, and their kinds.
    columns: Vec<(String, JsonKind)>,
    rows: u64,
    line: String,
}

impl<'a> Json<'a> {
    /// Begins the array.
    pub(super) fn new(out: &'a mut dyn Write, columns: &[ColumnDef]) -> io::Result<Json<'a>> {
        out.write_all(b"[")?;
        let names = distinct_names(columns.iter().map(|column| column.name.as_str()));
        let mut quoted = Vec::new();
        for (name, column) in names.iter().zip(columns) {
            let mut text = String::new();
            put_string(&mut text, name);
            quoted.push((text, JsonKind::of(column)));
        }
        Ok(Json { out, columns: quoted, rows: 0, line: String::new() })
    }

    /// Writes a row.
    pub(super) fn row(&mut self, row: &[Value]) -> io::Result<()> {
        self.line.push_str(if self.rows > 0 { ",\n{" } else { "\n{" });
        self.rows += 1;
        for (at, (value, (name, kind))) in row.iter().zip(&self.columns).enumerate() {
            if at > 0 {
                self.line.push(',');
            }
            self.line.push_str(name);
            self.line.push(':');
            put_value(&mut self.line, value, *kind);
        }
        self.line.push('}');
        self.out.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }

    /// Ends the array.
    pub(super) fn finish(self) -> io::Result<()> {
        self.out.write_all(b"\n]\n")
    }
}

fn put_value(out: &mut String, value: &Value, kind: JsonKind) {
    let bytes = value.as_bytes().unwrap_or_default();
    let hex = |out: &mut String| {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        put_string(out, &digits);
    };
    match (value, kind) {
        (Value::Null, _) => out.push_str("null"),
        (value, JsonKind::Bits) => out.push_str(&bits(value).to_string()),
        (_, JsonKind::Bytes) => hex(out),
        (value, kind) => match value.as_text() {
            // ZEROFILL writes zeros in front, which no number of JSON has.
            Some(text) if kind == JsonKind::Number => out.push_str(without_zeros(text)),
            Some(text) if kind == JsonKind::Document => out.push_str(text),
            Some(text) => put_string(out, text),
            None => hex(out),
        },
    }
}

fn without_zeros(number: &str) -> &str {
    let trimmed = number.trim_start_matches('0');
    match trimmed.as_bytes().first() {
        Some(digit) if digit.is_ascii_digit() => trimmed,
        // `0`, `0.5`, or `1` without zeros in front.
        _ if trimmed.len() < number.len() => &number[number.len() - trimmed.len() - 1..],
        _ => number,
    }
}

fn put_string(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if (control as u32) < 0x20 => {
                out.push_str(&format!("\\u{:04x}", control as u32));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests;
