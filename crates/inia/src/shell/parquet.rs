//! Results as Parquet files, with the types of their columns.
//!
//! ```text
//! SMALLINT UNSIGNED  INT32 INTEGER(16, unsigned)   DATETIME, TIMESTAMP  INT64 TIMESTAMP(MICROS)
//! DECIMAL(12,2)      INT64 DECIMAL(12, 2)          TIME                 STRING
//! DATE               INT32 DATE                    JSON, ENUM           JSON, ENUM
//! ```
//!
//! A decimal takes 4, 8 or as many bytes as its digits need. Moments have no time zone. TIME is a
//! string, since it may be negative or longer than a day. A date that no calendar has, such as
//! 0000-00-00, is an error: no value of Parquet stands for it.

mod column;

use column::{ColumnBuffer, Stored};
use inia_base::value::Value;
use inia_wire::column::ColumnDef;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a row group, and bytes of their values.
const GROUP_ROWS: usize = 100_000;
const GROUP_BYTES: usize = 64 << 20;

/// Writes one result.
pub(super) struct ParquetWriter<'a> {
    writer: SerializedFileWriter<&'a mut (dyn Write + Send)>,
    columns: Vec<ColumnBuffer>,
    rows: usize,
    bytes: usize,
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error.to_string())
}

impl<'a> ParquetWriter<'a> {
    /// Begins a file with these columns.
    pub(super) fn new(
        out: &'a mut (dyn Write + Send),
        columns: &[ColumnDef],
    ) -> io::Result<ParquetWriter<'a>> {
        let names = crate::import::distinct_names(columns.iter().map(|c| c.name.as_str()));
        let mut fields = Vec::new();
        let mut buffers = Vec::new();
        for (name, column) in names.iter().zip(columns) {
            let stored = Stored::of(column);
            fields.push(Arc::new(stored.field(name).map_err(failed)?));
            buffers.push(ColumnBuffer::new(name.clone(), stored));
        }
        let schema = Type::group_type_builder("result").with_fields(fields).build();
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let schema = Arc::new(schema.map_err(failed)?);
        let writer = SerializedFileWriter::new(out, schema, Arc::new(properties));
        let writer = writer.map_err(failed)?;
        Ok(ParquetWriter { writer, columns: buffers, rows: 0, bytes: 0 })
    }

    /// Takes a row.
    pub(super) fn row(&mut self, row: &[Value]) -> io::Result<()> {
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.push(value).map_err(io::Error::other)?;
            self.bytes += value.as_bytes().map_or(0, <[u8]>::len);
        }
        self.rows += 1;
        if self.rows == GROUP_ROWS || self.bytes >= GROUP_BYTES {
            self.end_group()?;
        }
        Ok(())
    }

    fn end_group(&mut self) -> io::Result<()> {
        let mut group = self.writer.next_row_group().map_err(failed)?;
        for column in &mut self.columns {
            let Some(mut writer) = group.next_column().map_err(failed)? else { break };
            column.write(&mut writer).map_err(failed)?;
            writer.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }

    /// Writes what waits, and the file's end.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if self.rows > 0 {
            self.end_group()?;
        }
        self.writer.close().map(drop).map_err(failed)
    }
}
