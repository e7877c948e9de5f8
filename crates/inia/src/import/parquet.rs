//! Parquet files: flat columns, each value as the text that MySQL reads.
//!
//! ```text
//! INTEGER(16, signed)  SMALLINT       TIMESTAMP(MICROS)  DATETIME(6)
//! DECIMAL(12, 2)       DECIMAL(12,2)  STRING             VARCHAR or TEXT, as long as needed
//! DATE                 DATE           BYTE_ARRAY         LONGBLOB
//! ```
//!
//! A moment in UTC is written with its offset, and the server converts it to the session's time
//! zone. Nanoseconds are rounded to MySQL's microseconds.

mod cell;

use super::infer::Inference;
use super::row::{CellKind, Row, Source};
use super::table::TableName;
use cell::CellType;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Rows that are decoded at once.
const BATCH: usize = 1024;

/// A file, and how far it has been read.
pub(super) struct ParquetFile {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    names: Vec<String>,
    types: Vec<CellType>,
    rows: u64,
    /// The next row group.
    group: usize,
    /// Readers of the columns of the group at hand.
    columns: Vec<ColumnReader>,
    /// Rows of that group that are not decoded yet.
    rest: usize,
    /// Decoded rows, column by column, and the next of them.
    cells: Vec<Vec<Option<Vec<u8>>>>,
    next: usize,
    number: u64,
}

impl ParquetFile {
    /// Opens a file; an error where it has nested columns.
    pub(super) fn open(path: &Path) -> Result<ParquetFile, String> {
        let failed =
            |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
        let file = File::open(path).map_err(|error| failed(&error))?;
        let reader = SerializedFileReader::new(file).map_err(|error| failed(&error))?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let (mut names, mut types) = (Vec::new(), Vec::new());
        for column in schema.columns() {
            if column.path().parts().len() > 1 || column.max_rep_level() > 0 {
                return Err(failed(&format!("column {} is nested", column.path())));
            }
            let name = column.name();
            types.push(
                CellType::of(column)
                    .ok_or_else(|| failed(&format!("the type of column {name} is not known")))?,
            );
            names.push(name.to_owned());
        }
        let rows = reader.metadata().file_metadata().num_rows().max(0) as u64;
        let mut opened = ParquetFile {
            path: path.to_owned(),
            reader,
            names,
            types,
            rows,
            group: 0,
            columns: Vec::new(),
            rest: 0,
            cells: Vec::new(),
            next: 0,
            number: 0,
        };
        opened.begin_again();
        Ok(opened)
    }

    fn begin_again(&mut self) {
        self.group = 0;
        self.columns.clear();
        self.rest = 0;
        self.cells = vec![Vec::new(); self.names.len()];
        self.next = 0;
        self.number = 0;
    }

    /// Decodes the next rows; false after the last ones.
    fn decode(&mut self) -> Result<bool, ParquetError> {
        while self.rest == 0 {
            if self.group == self.reader.num_row_groups() {
                return Ok(false);
            }
            let group = self.reader.get_row_group(self.group)?;
            self.rest = group.metadata().num_rows().max(0) as usize;
            self.columns = (0..self.names.len())
                .map(|at| group.get_column_reader(at))
                .collect::<Result<_, _>>()?;
            self.group += 1;
        }
        let count = self.rest.min(BATCH);
        let schema = self.reader.metadata().file_metadata().schema_descr();
        for (at, column) in self.columns.iter_mut().enumerate() {
            let optional = schema.column(at).max_def_level() > 0;
            self.cells[at] = decode_column(column, self.types[at], optional, count)?;
            if self.cells[at].len() != count {
                let message = format!("column {} ends before the others", self.names[at]);
                return Err(ParquetError::General(message));
            }
        }
        self.rest -= count;
        self.next = 0;
        Ok(true)
    }
}

/// Decodes `count` values of a column.
fn decode_column(
    column: &mut ColumnReader,
    ty: CellType,
    optional: bool,
    count: usize,
) -> Result<Vec<Option<Vec<u8>>>, ParquetError> {
    let integer = |value: i128| ty.integer(value);
    match column {
        ColumnReader::BoolColumnReader(reader) => {
            values(reader, optional, count, |value: &bool| integer(i128::from(*value)))
        }
        ColumnReader::Int32ColumnReader(reader) => {
            values(reader, optional, count, |value: &i32| {
                integer(ty.widened(i64::from(*value), 32))
            })
        }
        ColumnReader::Int64ColumnReader(reader) => {
            values(reader, optional, count, |value: &i64| integer(ty.widened(*value, 64)))
        }
        ColumnReader::Int96ColumnReader(reader) => {
            values(reader, optional, count, |value: &Int96| integer(i128::from(value.to_micros())))
        }
        ColumnReader::FloatColumnReader(reader) => {
            values(reader, optional, count, |value: &f32| value.to_string().into_bytes())
        }
        ColumnReader::DoubleColumnReader(reader) => {
            values(reader, optional, count, |value: &f64| format!("{value:e}").into_bytes())
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            values(reader, optional, count, |value: &ByteArray| ty.bytes(value.data()))
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            values(reader, optional, count, |value: &FixedLenByteArray| ty.bytes(value.data()))
        }
    }
}

/// Decodes values by `text`, with NULL where the levels say so.
fn values<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    optional: bool,
    count: usize,
    text: impl Fn(&T::T) -> Vec<u8>,
) -> Result<Vec<Option<Vec<u8>>>, ParquetError> {
    let (mut found, mut levels) = (Vec::new(), Vec::new());
    let mut read = 0;
    while read < count {
        let wanted = count - read;
        let levels = optional.then_some(&mut levels);
        let (records, _, _) = reader.read_records(wanted, levels, None, &mut found)?;
        if records == 0 {
            break;
        }
        read += records;
    }
    let mut found = found.iter();
    if !optional {
        return Ok(found.map(|value| Some(text(value))).collect());
    }
    let cell = |level: &i16| if *level > 0 { found.next().map(&text) } else { None };
    Ok(levels.iter().map(cell).collect())
}

impl Source for ParquetFile {
    fn columns(&self) -> &[String] {
        &self.names
    }

    fn definition(&mut self, name: &TableName, key: Option<&str>) -> Result<String, String> {
        let types: Vec<Option<String>> = self.types.iter().map(|ty| ty.sql()).collect();
        let texts = types.iter().any(Option::is_none);
        let mut inference = Inference::of_types(&self.names, types);
        let mut row = Row::default();
        while texts && self.read(&mut row)? {
            inference.note(&row);
        }
        self.begin_again();
        Ok(inference.definition(name, key))
    }

    fn read(&mut self, row: &mut Row) -> Result<bool, String> {
        row.clear();
        if self.cells.first().is_none_or(|cells| self.next == cells.len()) {
            let decoded = self.decode();
            let path = self.path.display();
            if !decoded.map_err(|error| format!("cannot read {path}: {error}"))? {
                return Ok(false);
            }
        }
        self.number += 1;
        row.number = self.number;
        for (at, cells) in self.cells.iter().enumerate() {
            if at > 0 {
                row.raw.push(b',');
            }
            match &cells[self.next] {
                None => row.push(CellKind::Null, b""),
                Some(bytes) => {
                    row.push(CellKind::Bytes, bytes);
                    put_field(&mut row.raw, bytes);
                }
            }
        }
        row.raw.push(b'\n');
        self.next += 1;
        Ok(true)
    }

    fn progress(&self) -> f64 {
        self.number as f64 / self.rows.max(1) as f64
    }

    fn unit(&self) -> &'static str {
        "row"
    }

    fn head(&self) -> Vec<u8> {
        let mut head = Vec::new();
        for (at, name) in self.names.iter().enumerate() {
            if at > 0 {
                head.push(b',');
            }
            put_field(&mut head, name.as_bytes());
        }
        head.push(b'\n');
        head
    }
}

/// Appends a field of a file of rejects, in quotes.
fn put_field(out: &mut Vec<u8>, field: &[u8]) {
    out.push(b'"');
    for &byte in field {
        out.push(byte);
        if byte == b'"' {
            out.push(byte);
        }
    }
    out.push(b'"');
}
