//! Delimited text, such as CSV.
//!
//! The `csv` crate cuts the text into fields. The text of each row is kept beside it, for three
//! things that the crate does not report: the line a row begins at, whether an empty field stood in
//! quotes (`a,,b` has NULL, `a,"",b` an empty text), and the row as it was, for the rejects.

use super::Reading;
use super::columns::distinct_names;
use super::infer::Inference;
use super::row::{CellKind, Row, Source};
use super::table::TableName;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How much of the file's beginning decides the delimiter.
const SAMPLE: usize = 64 << 10;
/// Delimiters to choose from, the likelier ones first.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];
/// Bytes that are read at once.
const PIECE: usize = 256 << 10;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// A delimited file, and how far it has been read.
pub(super) struct Delimited {
    path: PathBuf,
    delimiter: u8,
    header: bool,
    null: Option<Vec<u8>>,
    length: u64,
    columns: Vec<String>,
    /// The first line, where it names the columns.
    head: Vec<u8>,
    rows: Records,
}

impl Delimited {
    /// Opens a file and reads the names of its columns.
    pub(super) fn open(path: &Path, reading: &Reading<'_>) -> Result<Delimited, String> {
        let mut file = open_text(path)?;
        let length = file.metadata().map_err(|error| cannot_read(path, &error))?.len();
        let mut sample = vec![0; SAMPLE];
        let read = fill(&mut file, &mut sample).map_err(|error| cannot_read(path, &error))?;
        sample.truncate(read);
        if sample.starts_with(b"\xff\xfe") || sample.starts_with(b"\xfe\xff") {
            return Err(format!("{}: the text is UTF-16; only UTF-8 is read", path.display()));
        }
        let delimiter = match reading.delimiter {
            Some(text) => one_byte(text)?,
            None => detect(&sample),
        };
        let rows = Records::open(path, delimiter)?;
        let mut opened = Delimited {
            path: path.to_owned(),
            delimiter,
            header: reading.header,
            null: reading.null.map(|text| text.as_bytes().to_vec()),
            length,
            columns: Vec::new(),
            head: Vec::new(),
            rows,
        };
        opened.name_columns()?;
        Ok(opened)
    }

    fn name_columns(&mut self) -> Result<(), String> {
        if !self.rows.next(&self.path)? {
            return Err(format!("{} is empty", self.path.display()));
        }
        let record = &self.rows.record;
        let names: Vec<String> = match self.header {
            true => record.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
            false => vec![String::new(); record.len()],
        };
        self.columns = distinct_names(names.iter().map(String::as_str));
        if self.header {
            self.head = self.rows.raw().to_vec();
            end_line(&mut self.head);
            return Ok(());
        }
        self.rows = Records::open(&self.path, self.delimiter)?;
        Ok(())
    }

    fn begin_again(&mut self) -> Result<(), String> {
        self.rows = Records::open(&self.path, self.delimiter)?;
        if self.header {
            self.rows.next(&self.path)?;
        }
        Ok(())
    }

    /// What a field holds.
    fn kind(&self, field: &[u8], quoted: bool) -> CellKind {
        match (&self.null, field) {
            (Some(null), field) if field == null && !quoted => CellKind::Null,
            (Some(_), _) => CellKind::Bytes,
            (None, b"") if quoted => CellKind::Bytes,
            (None, b"") => CellKind::Empty,
            (None, b"\\N") if !quoted => CellKind::Null,
            (None, _) => CellKind::Bytes,
        }
    }
}

impl Source for Delimited {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn definition(&mut self, name: &TableName, key: Option<&str>) -> Result<String, String> {
        let mut inference = Inference::new(&self.columns);
        let mut row = Row::default();
        while self.read(&mut row)? {
            if row.fault.is_none() {
                inference.note(&row);
            }
        }
        self.begin_again()?;
        Ok(inference.definition(name, key))
    }

    fn read(&mut self, row: &mut Row) -> Result<bool, String> {
        row.clear();
        if !self.rows.next(&self.path)? {
            return Ok(false);
        }
        row.number = self.rows.line;
        let raw = self.rows.raw();
        row.raw.extend_from_slice(raw);
        end_line(&mut row.raw);
        let record = &self.rows.record;
        let (wanted, found) = (self.columns.len(), record.len());
        if wanted != found {
            row.fault = Some(format!("{found} fields instead of {wanted}"));
            return Ok(true);
        }
        let asks = |field: &[u8]| field.is_empty() || field == b"\\N" || self.null.is_some();
        let quoted = match raw.contains(&b'"') && record.iter().any(asks) {
            true => quoted_fields(raw, self.delimiter),
            false => Vec::new(),
        };
        for (at, field) in record.iter().enumerate() {
            let kind = self.kind(field, quoted.get(at).copied().unwrap_or(false));
            row.push(kind, field);
        }
        Ok(true)
    }

    fn progress(&self) -> f64 {
        self.rows.reader.position().byte() as f64 / self.length.max(1) as f64
    }

    fn unit(&self) -> &'static str {
        "line"
    }

    fn head(&self) -> Vec<u8> {
        self.head.clone()
    }
}

fn cannot_read(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("cannot read {}: {error}", path.display())
}

/// A row that ends with the file gets a line end.
fn end_line(line: &mut Vec<u8>) {
    if !line.ends_with(b"\n") && !line.ends_with(b"\r") {
        line.push(b'\n');
    }
}

fn one_byte(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" | b"tab" => Ok(b'\t'),
        [byte] if *byte != b'"' && *byte != b'\n' && *byte != b'\r' => Ok(*byte),
        _ => Err(format!("--delimiter: '{text}' is not one ASCII character")),
    }
}

/// A regular file, behind its byte order mark.
fn open_text(path: &Path) -> Result<File, String> {
    let failed = |error: io::Error| cannot_read(path, &error);
    let mut file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(format!("{} is not a file", path.display()));
    }
    let mut mark = [0; BOM.len()];
    let read = fill(&mut file, &mut mark).map_err(failed)?;
    let behind = if &mark[..read] == BOM { BOM.len() as u64 } else { 0 };
    file.seek(SeekFrom::Start(behind)).map_err(failed)?;
    Ok(file)
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

/// The delimiter that cuts most of the sample's rows into equally many fields, and more than one;
/// of those that do it equally well the one that makes more fields.
pub(super) fn detect(sample: &[u8]) -> u8 {
    // The sample's last row may be cut off.
    let end = match sample.len() < SAMPLE {
        true => sample.len(),
        false => sample.iter().rposition(|byte| *byte == b'\n').map_or(sample.len(), |at| at + 1),
    };
    let score = |delimiter: u8| {
        let mut reader = reader(&sample[..end], delimiter);
        let counts: Vec<usize> =
            reader.byte_records().map_while(Result::ok).map(|record| record.len()).collect();
        let fields = counts.first().copied().unwrap_or(0);
        let alike = counts.iter().filter(|count| **count == fields).count();
        let share = alike * 100 / counts.len().max(1);
        if fields > 1 { (share, fields) } else { (0, 0) }
    };
    let mut best = (b',', (0, 0));
    for delimiter in DELIMITERS {
        let found = score(delimiter);
        if found > best.1 {
            best = (delimiter, found);
        }
    }
    best.0
}

fn reader<R: Read>(text: R, delimiter: u8) -> csv::Reader<R> {
    csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(PIECE)
        .from_reader(text)
}

/// Which fields of a row stand in quotes.
pub(super) fn quoted_fields(raw: &[u8], delimiter: u8) -> Vec<bool> {
    let (mut quoted, mut at) = (Vec::new(), 0);
    loop {
        let opened = raw.get(at) == Some(&b'"');
        quoted.push(opened);
        at += usize::from(opened);
        let mut inside = opened;
        loop {
            match raw.get(at) {
                None => return quoted,
                Some(b'"') if opened => inside = !inside,
                Some(byte) if *byte == delimiter && !inside => break,
                Some(_) => {}
            }
            at += 1;
        }
        at += 1;
    }
}

/// The rows of a file, with the text of the one at hand.
struct Records {
    reader: csv::Reader<Kept>,
    record: csv::ByteRecord,
    /// Where the row at hand begins and ends in the text.
    span: (u64, u64),
    /// The line that it begins at, from 1.
    line: u64,
    /// Line ends before the position of the reader.
    lines: u64,
}

impl Records {
    fn open(path: &Path, delimiter: u8) -> Result<Records, String> {
        let kept = Kept { file: open_text(path)?, bytes: Vec::new(), start: 0 };
        let reader = reader(kept, delimiter);
        let record = csv::ByteRecord::new();
        Ok(Records { reader, record, span: (0, 0), line: 1, lines: 0 })
    }

    /// Reads the next row; false after the last one.
    fn next(&mut self, path: &Path) -> Result<bool, String> {
        let from = self.reader.position().byte();
        self.reader.get_mut().forget_before(from);
        let read = self.reader.read_byte_record(&mut self.record);
        let found = read.map_err(|error| cannot_read(path, &error))?;
        let to = self.reader.position().byte();
        let text = self.reader.get_ref().slice(from, to);
        // Blank lines, and the second half of the line end before, come first.
        let is_end = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        let before = text.iter().take_while(is_end).count();
        let line_ends = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.line = self.lines + line_ends(&text[..before]) + 1;
        self.lines += line_ends(text);
        self.span = (from + before as u64, to);
        Ok(found)
    }

    /// The row's text.
    fn raw(&self) -> &[u8] {
        self.reader.get_ref().slice(self.span.0, self.span.1)
    }
}

/// A file whose text since some position is kept.
struct Kept {
    file: File,
    bytes: Vec<u8>,
    /// Position of the first byte kept.
    start: u64,
}

impl Kept {
    fn forget_before(&mut self, at: u64) {
        let passed = (at - self.start) as usize;
        // Moving the rest down costs little where much goes.
        if passed > PIECE {
            self.bytes.drain(..passed);
            self.start = at;
        }
    }

    fn slice(&self, from: u64, to: u64) -> &[u8] {
        &self.bytes[(from - self.start) as usize..(to - self.start) as usize]
    }
}

impl Read for Kept {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.bytes.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}
