//! Rows out of a text that comes in pieces.
//!
//! Outside of enclosed fields the line's end wins over the field's; an escape character takes the
//! character behind it as it is, or as the control character it names. A line has as many fields as
//! are wanted; what comes behind them is skipped up to the line's end.
//!
//! What has been read of a row is kept while the next piece is awaited, so each byte is looked at
//! once, and nothing is kept but the row and the few bytes that may begin an end: with
//! `LINES STARTING BY 'x'` a file without any x passes through.
//!
//! Invariants: `at ≤ text.len()`; `row` has the row's fields so far, and behind them the bytes of
//! the next.

use super::format::Format;
use inia_base::collation::Charset;
use inia_base::error::{ErrorCode, SqlError};

/// The most bytes of a row: no packet may be longer either.
const MAX: usize = 1 << 30;

/// One line: the bytes of its fields one behind the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileRow {
    bytes: Vec<u8>,
    /// No more fields than are wanted.
    ends: Vec<FieldEnd>,
    /// The line had more.
    pub(crate) extra: bool,
}

/// Where a field ends among the bytes of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FieldEnd {
    end: usize,
    null: bool,
}

impl FileRow {
    /// The fields; `None` is NULL.
    pub(crate) fn fields(&self) -> impl ExactSizeIterator<Item = Option<&[u8]>> {
        let mut start = 0;
        self.ends.iter().map(move |field| {
            let bytes = &self.bytes[std::mem::replace(&mut start, field.end)..field.end];
            (!field.null).then_some(bytes)
        })
    }

    /// Adds a field.
    pub(super) fn push(&mut self, field: Option<&[u8]>) {
        debug_assert_eq!(self.bytes.len(), self.start(), "no field is open");
        self.bytes.extend_from_slice(field.unwrap_or_default());
        self.end_field(field.is_none());
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.extra = false;
    }

    /// Where the next field starts.
    fn start(&self) -> usize {
        self.ends.last().map_or(0, |field| field.end)
    }

    /// The bytes of the next field so far.
    fn open(&self) -> &[u8] {
        &self.bytes[self.start()..]
    }

    /// The bytes of the next field are there.
    fn end_field(&mut self, null: bool) {
        self.ends.push(FieldEnd { end: self.bytes.len(), null });
    }

    /// Divides the bytes of the next field into fields of these widths, as far as there are bytes.
    fn end_fields(&mut self, widths: &[usize]) {
        for width in widths {
            let end = self.bytes.len().min(self.start() + width);
            if self.start() < end {
                self.ends.push(FieldEnd { end, null: false });
            }
        }
    }
}

/// How far the row at hand has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReaderState {
    /// So many lines are skipped first.
    Skipped(u64),
    /// What lines start with is looked for.
    Start,
    /// A field begins.
    Between,
    /// In a field.
    Inside { enclosed: bool },
    /// The fields are there; the rest of the line is skipped.
    Rest,
    /// There are no more rows.
    End,
}

/// What a field ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    Field,
    Line,
    Text,
}

/// Takes pieces of a text and gives rows.
///
/// Wide: the format's parts are taken out of it once, since each byte asks for them.
pub(crate) struct FileReader {
    format: Format,
    charset: Charset,
    wanted: usize,
    /// The bytes of each field, where fields have fixed widths.
    widths: Option<Vec<usize>>,
    /// Rows that are skipped because lines have no ends to skip to.
    skipped_rows: u64,
    /// Bytes that need a closer look inside of fields.
    special: [bool; 256],
    /// So many bytes decide what a special byte means.
    ahead: usize,
    text: Vec<u8>,
    at: usize,
    /// No more text will come.
    whole: bool,
    part: ReaderState,
    row: FileRow,
    /// The row was given: the next begins anew.
    given: bool,
    /// The field has an escaped N.
    marked: bool,
    /// The most bytes of a row.
    pub(super) most: usize,
    /// Something of the line has been skipped.
    cut: bool,
}

impl FileReader {
    /// A reader of rows with so many fields, or with fields of these widths.
    pub(crate) fn new(
        mut format: Format,
        charset: Charset,
        wanted: usize,
        widths: Option<Vec<usize>>,
        skip: u64,
    ) -> FileReader {
        if format.line_end == format.field_end {
            format.line_end.clear();
        }
        let no_ends = format.line_end.is_empty();
        let part =
            if skip > 0 && !no_ends { ReaderState::Skipped(skip) } else { ReaderState::Start };
        // Widths are in bytes.
        let charset = if widths.is_some() { Charset::Binary } else { charset };
        let wide = matches!(charset, Charset::Utf8mb3 | Charset::Utf8mb4);
        let mut special = [false; 256];
        special[0x80..].fill(wide);
        let ends = [format.field_end.first(), format.line_end.first()];
        let singles = [format.escape.as_ref(), format.enclosure.as_ref()];
        for byte in ends.into_iter().chain(singles).flatten() {
            special[usize::from(*byte)] = true;
        }
        let ahead = format.field_end.len().max(format.line_end.len()).max(4) + 2;
        FileReader {
            format,
            charset,
            wanted,
            widths,
            skipped_rows: if no_ends { skip } else { 0 },
            special,
            ahead,
            text: Vec::new(),
            at: 0,
            whole: false,
            part,
            row: FileRow::default(),
            given: false,
            marked: false,
            most: MAX,
            cut: false,
        }
    }

    /// Takes the next piece of the text.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        debug_assert!(self.at <= self.text.len(), "what was read is of the text");
        debug_assert!(!self.whole, "no text follows the last");
        self.text.drain(..self.at);
        self.at = 0;
        self.text.extend_from_slice(piece);
    }

    /// No more text will come.
    pub(crate) fn finish(&mut self) {
        self.whole = true;
    }

    /// How many bytes it holds: of the row so far, and of text that waits to be read.
    pub(super) fn holds(&self) -> usize {
        let held = if self.given { 0 } else { self.row.bytes.len() };
        held + self.text.len() - self.at
    }

    /// How many bytes wait to be read.
    #[cfg(test)]
    pub(super) fn pending(&self) -> usize {
        self.rest().len()
    }

    /// The next row, or `None` where more text is needed or there is none. Errors 1300 for a byte
    /// that no character begins with and 1153 for a row that is too long.
    pub(crate) fn next(&mut self) -> Result<Option<&FileRow>, SqlError> {
        loop {
            if std::mem::take(&mut self.given) {
                self.row.clear();
                self.cut = false;
            }
            self.given = self.next_row()?;
            if !self.given || self.skipped_rows == 0 {
                return Ok(self.given.then_some(&self.row));
            }
            self.skipped_rows -= 1;
        }
    }

    /// Reads on in the row at hand; whether it is whole.
    fn next_row(&mut self) -> Result<bool, SqlError> {
        loop {
            let next = match self.part {
                ReaderState::Skipped(0) => Some(ReaderState::Start),
                ReaderState::Skipped(left) => self.skip_line().map(|ends| match ends {
                    Ends::Text => ReaderState::End,
                    _ => ReaderState::Skipped(left - 1),
                }),
                ReaderState::Start => self.start(),
                ReaderState::Between if self.is_short() => None,
                ReaderState::Between if self.at < self.text.len() => Some(self.begin_field()),
                ReaderState::Between | ReaderState::End => {
                    self.part = ReaderState::End;
                    return Ok(!self.row.ends.is_empty());
                }
                ReaderState::Inside { enclosed } => match self.inside(enclosed)? {
                    None => None,
                    Some((ends, closed)) => match self.end_field(ends, closed) {
                        ReaderState::Start => {
                            self.part = ReaderState::Start;
                            return Ok(true);
                        }
                        part => Some(part),
                    },
                },
                ReaderState::Rest => {
                    let Some(ends) = self.skip_line() else { return Ok(false) };
                    self.row.extra = self.cut && ends != Ends::Text;
                    self.part =
                        if ends == Ends::Text { ReaderState::End } else { ReaderState::Start };
                    return Ok(true);
                }
            };
            let Some(next) = next else { return Ok(false) };
            self.part = next;
        }
    }

    /// Whether more text is needed to decide what the next byte means.
    fn is_short(&self) -> bool {
        !self.whole && self.text.len() - self.at < self.ahead
    }

    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    /// Goes behind what lines start with.
    fn start(&mut self) -> Option<ReaderState> {
        let start = &self.format.line_start;
        if start.is_empty() {
            return Some(ReaderState::Between);
        }
        match self.rest().windows(start.len()).position(|window| window == start) {
            Some(at) => {
                self.at += at + start.len();
                Some(ReaderState::Between)
            }
            None if self.whole => Some(ReaderState::End),
            None => {
                self.at += (self.rest().len() + 1).saturating_sub(start.len());
                None
            }
        }
    }

    /// Skips to behind the line's end, or to that of the text.
    fn skip_line(&mut self) -> Option<Ends> {
        if self.format.line_end.is_empty() {
            return Some(Ends::Line);
        }
        loop {
            if self.is_short() {
                return None;
            }
            let rest = &self.text[self.at..];
            let escaped = rest.first().copied() == self.format.escape && !rest.is_empty();
            match rest.len() {
                0 => return Some(Ends::Text),
                1 if escaped => self.at += 1,
                _ if escaped => self.at += 2,
                _ if rest.starts_with(&self.format.line_end) => {
                    self.at += self.format.line_end.len();
                    return Some(Ends::Line);
                }
                _ => self.at += 1,
            }
            self.cut = true;
        }
    }

    fn begin_field(&mut self) -> ReaderState {
        let first = self.rest().first().copied();
        let enclosed = self.format.enclosure.is_some() && first == self.format.enclosure;
        self.at += usize::from(enclosed);
        ReaderState::Inside { enclosed }
    }

    /// The part that follows a field's end. Where that ends the row, it is the next row's start.
    fn end_field(&mut self, ends: Ends, closed: bool) -> ReaderState {
        let marked = std::mem::take(&mut self.marked);
        if let Some(widths) = &self.widths {
            self.row.end_fields(widths);
        } else {
            let bytes = self.row.open();
            let word = self.format.enclosure.is_some() && !closed && bytes == b"NULL";
            let null = word || (marked && bytes.len() == 1);
            self.row.end_field(null);
        }
        match ends {
            Ends::Line => ReaderState::Start,
            Ends::Text => ReaderState::End,
            Ends::Field if self.widths.is_some() || self.row.ends.len() >= self.wanted => {
                ReaderState::Rest
            }
            Ends::Field => ReaderState::Between,
        }
    }

    /// Reads on in a field: what it ends with, and whether its enclosure was closed.
    fn inside(&mut self, enclosed: bool) -> Result<Option<(Ends, bool)>, SqlError> {
        let width = self.widths.as_ref().map(|widths| widths.iter().sum::<usize>());
        loop {
            let most = width.map_or(usize::MAX, |width| width - self.row.bytes.len());
            self.plain(most)?;
            if width == Some(self.row.bytes.len()) {
                return Ok(Some((Ends::Field, false)));
            }
            if self.is_short() {
                return Ok(None);
            }
            let rest = &self.text[self.at..];
            let Some(&byte) = rest.first() else {
                if enclosed {
                    let start = self.row.start();
                    self.row.bytes.insert(start, self.format.enclosure.unwrap_or_default());
                }
                return Ok(Some((Ends::Text, false)));
            };
            let escapes = Some(byte) == self.format.escape;
            let doubles = self.format.escape == self.format.enclosure;
            if escapes && (!doubles || rest.len() == 1 || rest[1] == byte) {
                self.escaped(enclosed)?;
            } else if !enclosed && starts(rest, &self.format.line_end) {
                self.at += self.format.line_end.len();
                return Ok(Some((Ends::Line, false)));
            } else if enclosed && Some(byte) == self.format.enclosure {
                if let Some(ends) = self.enclosure(byte) {
                    return Ok(Some((ends, true)));
                }
            } else if !enclosed && starts(rest, &self.format.field_end) {
                self.at += self.format.field_end.len();
                return Ok(Some((Ends::Field, false)));
            } else {
                self.character(enclosed)?;
            }
        }
    }

    /// Takes the bytes, so many at most, that are nothing but themselves.
    fn plain(&mut self, most: usize) -> Result<(), SqlError> {
        let rest = &self.text[self.at..];
        let rest = &rest[..rest.len().min(most)];
        let special = |byte: &u8| self.special[usize::from(*byte)];
        let run = rest.iter().position(special).unwrap_or(rest.len());
        self.row.bytes.extend_from_slice(&rest[..run]);
        self.at += run;
        if self.row.bytes.len() > self.most {
            return Err(SqlError::new(ErrorCode::NetPacketTooLarge, &[]));
        }
        Ok(())
    }

    fn take(&mut self, byte: u8) {
        self.row.bytes.push(byte);
    }

    /// An escape character and what is behind it.
    fn escaped(&mut self, enclosed: bool) -> Result<(), SqlError> {
        let rest = &self.text[self.at..];
        let (escape, behind) = (rest[0], rest.get(1).copied());
        self.at += 1;
        match behind {
            None => self.take(escape),
            Some(byte) if byte >= 0x80 && self.special[0x80] => self.character(enclosed)?,
            Some(byte) => {
                self.at += 1;
                self.marked |= byte == b'N';
                self.take(unescaped(byte));
            }
        }
        Ok(())
    }

    /// An enclosure within an enclosed field: what the field ends with, if it ends here.
    fn enclosure(&mut self, byte: u8) -> Option<Ends> {
        let after = &self.text[self.at + 1..];
        let (ends, length) = match after.first() {
            None => (Ends::Line, 0),
            Some(&next) if next == byte => {
                self.at += 2;
                self.take(byte);
                return None;
            }
            Some(_) if starts(after, &self.format.line_end) => {
                (Ends::Line, self.format.line_end.len())
            }
            Some(_) if starts(after, &self.format.field_end) => {
                (Ends::Field, self.format.field_end.len())
            }
            Some(_) => {
                self.at += 1;
                self.take(byte);
                return None;
            }
        };
        self.at += 1 + length;
        Some(ends)
    }

    /// One character, of several bytes perhaps; half a one at the text's end is dropped.
    fn character(&mut self, enclosed: bool) -> Result<(), SqlError> {
        let rest = &self.text[self.at..];
        let length = match (self.charset, rest[0]) {
            (Charset::Utf8mb3 | Charset::Utf8mb4, 0xc2..=0xdf) => 2,
            (Charset::Utf8mb3 | Charset::Utf8mb4, 0xe0..=0xef) => 3,
            (Charset::Utf8mb4, 0xf0..=0xf7) => 4,
            (Charset::Utf8mb3 | Charset::Utf8mb4, 0x80..) => {
                let opened = self.format.enclosure.filter(|_| enclosed);
                let bytes: Vec<u8> =
                    opened.into_iter().chain(self.row.open().iter().copied()).collect();
                let text = String::from_utf8_lossy(&bytes);
                let name = self.charset.name();
                return Err(SqlError::new(ErrorCode::InvalidCharacterString, &[&name, &text]));
            }
            _ => 1,
        };
        if rest.len() < length {
            self.at = self.text.len();
            return Ok(());
        }
        let length = if std::str::from_utf8(&rest[..length]).is_ok() { length } else { 1 };
        self.row.bytes.extend_from_slice(&rest[..length]);
        self.at += length;
        Ok(())
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
