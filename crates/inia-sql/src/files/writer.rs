//! Rows written as text, byte for byte as MySQL writes them.
//!
//! A text's special bytes have the escape character before them: that itself, zero (as `0`), the
//! first byte of the line's end, and of what ends the field: its enclosure, or the first byte of
//! the field's end where it is not enclosed. Numbers are written as they are, unless the field's
//! end could be part of one.
//!
//! Where fields are not enclosed and end with a letter that names a control character (`n` in
//! `\n`), the escaped letter would be read as that character. Such a field's end is not escaped
//! at all, and the statement warns; an enclosure of that kind is doubled.

use super::format::Format;
use inia_base::error::ErrorCode;

/// Letters that name a character behind an escape character.
const NAMES: &[u8] = b"ntrb0ZN";
/// What numbers are made of.
const NUMERIC: &[u8] = b".0123456789e+-";
/// Columns that may be as long as this cannot have a fixed width.
const LONG: u32 = 1 << 24;

/// A column of the rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// Strings and dates, other than numbers.
    pub(crate) is_text: bool,
    /// The most bytes of a value.
    pub(crate) width: u32,
}

/// Writes rows.
pub(crate) struct Writer {
    format: Format,
    columns: Vec<Column>,
    /// Fields are padded to their columns' widths.
    fixed: bool,
    /// The field's end may be part of a number.
    numeric_end: bool,
    /// The first byte of what ends a field names a character.
    named_end: bool,
    /// What is read back may be something else.
    ambiguous: bool,
}

impl Writer {
    /// A writer of rows of these columns.
    pub(crate) fn new(mut format: Format, columns: Vec<Column>) -> Writer {
        if format.line_end.is_empty() {
            format.line_end.clone_from(&format.field_end);
        }
        let bare = format.field_end.is_empty();
        format.optional = match format.enclosure {
            Some(_) => format.optional && !bare,
            None => true,
        };
        let first = format.field_end.first().copied();
        let end = format.enclosure.or(first);
        let among = |bytes: &[u8], end: Option<u8>| end.is_none_or(|end| bytes.contains(&end));
        let has = |texts: bool| columns.iter().any(|column| column.is_text == texts);
        let named_end = end.is_some() && among(NAMES, end);
        let numeric_end = end.is_some() && among(NUMERIC, end);
        let ambiguous = (named_end && format.enclosure.is_none() && (has(true) || numeric_end))
            || (format.optional && has(false) && !bare && among(NUMERIC, first));
        let fixed = format.is_fixed() && columns.iter().all(|column| column.width < LONG);
        Writer { format, columns, fixed, numeric_end, named_end, ambiguous }
    }

    /// What the statement warns of.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = ErrorCode> {
        let ambiguous = self.ambiguous.then_some(ErrorCode::AmbiguousFieldTerm);
        self.format.warning().into_iter().chain(ambiguous)
    }

    /// Appends a row.
    pub(crate) fn write(&self, fields: &[Option<Vec<u8>>], out: &mut Vec<u8>) {
        let format = &self.format;
        out.extend_from_slice(&format.line_start);
        for (number, (field, column)) in fields.iter().zip(&self.columns).enumerate() {
            if number > 0 {
                out.extend_from_slice(&format.field_end);
            }
            let enclosure = format.enclosure.filter(|_| column.is_text || !format.optional);
            let mut used = 0;
            match field {
                Some(bytes) => {
                    let most = if self.fixed { column.width as usize } else { usize::MAX };
                    let bytes = &bytes[..bytes.len().min(most)];
                    used = bytes.len();
                    out.extend(enclosure);
                    self.field(bytes, enclosure.is_some(), column.is_text, out);
                }
                None if self.fixed => {}
                None => match format.escape {
                    Some(escape) => out.extend_from_slice(&[escape, b'N']),
                    None => out.extend_from_slice(b"NULL"),
                },
            }
            if self.fixed {
                out.resize(out.len() + (column.width as usize).saturating_sub(used), b' ');
            }
            out.extend(enclosure.filter(|_| field.is_some()));
        }
        out.extend_from_slice(&format.line_end);
    }

    fn field(&self, bytes: &[u8], enclosed: bool, is_text: bool, out: &mut Vec<u8>) {
        let Some(escape) = self.format.escape.filter(|_| is_text || self.numeric_end) else {
            return out.extend_from_slice(bytes);
        };
        let field_end = self.format.field_end.first().copied();
        let separator = self.format.enclosure.or(field_end);
        let end = if enclosed { separator } else { field_end };
        let line_end = self.format.line_end.first().copied();
        for &byte in bytes {
            let this = Some(byte);
            let special = byte == escape || this == end || this == line_end || byte == 0;
            if special && (enclosed || !self.ambiguous || this != field_end) {
                let doubled = this == separator && self.named_end;
                out.push(if doubled { byte } else { escape });
                out.push(if byte == 0 { b'0' } else { byte });
            } else {
                out.push(byte);
            }
        }
    }
}
