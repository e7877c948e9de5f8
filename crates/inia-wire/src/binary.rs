//! Rows of the binary protocol: `00`, a bitmap of NULLs (from bit 2), then the cells that are not
//! NULL, each in the form its column's type demands.
//!
//! The engine's cells normally match the declared types. Where one does not, it is converted, so
//! that the stream stays readable whatever happens above.

use crate::codec::{SHORT, put_lenenc_bytes};
use crate::column::{Recoding, put_recoded, recoding, type_code as ty, type_code_of};
use crate::packet::HEADER;
use crate::params::{put_datetime, put_time};
use crate::rows::Reply;
use inia_base::column::{CellRun, Cells, Completion, ResultColumn, RowSink, TakeBytes, put_rows};
use inia_base::error::SqlError;
use inia_base::number;
use inia_base::temporal::{Date, DateTime, Time};

/// The form of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Int1,
    Int2,
    Int4,
    Int8,
    Float,
    Double,
    /// DATE, DATETIME, TIMESTAMP.
    DateTime,
    Time,
    Text,
    /// Text that has to be converted to another character set.
    Recoded(Recoding),
}

/// Memory of a [`BinaryRows`] that a connection keeps between statements.
#[derive(Debug, Default)]
pub struct BinaryLayout {
    columns: Vec<Form>,
}

/// Encodes rows for COM_STMT_EXECUTE.
pub struct BinaryRows<'a> {
    reply: Reply<'a>,
    layout: &'a mut BinaryLayout,
    /// Where the row's NULL bitmap starts in the buffer.
    bitmap: usize,
    cell: usize,
}

impl<'a> BinaryRows<'a> {
    /// A sink that appends to `reply`.
    pub fn new(reply: Reply<'a>, layout: &'a mut BinaryLayout) -> BinaryRows<'a> {
        BinaryRows { reply, layout, bitmap: 0, cell: 0 }
    }

    /// Whether sending failed.
    pub fn is_broken(&self) -> bool {
        self.reply.is_broken()
    }

    #[inline]
    fn next(&mut self) -> (Form, &mut Vec<u8>) {
        let form = self.layout.columns.get(self.cell).copied().unwrap_or(Form::Text);
        self.cell += 1;
        (form, self.reply.out.payload())
    }

    #[inline]
    fn integer(&mut self, bits: u64, as_real: f64, print: impl FnOnce(&mut Vec<u8>)) {
        let (form, out) = self.next();
        match form {
            Form::Int8 => out.extend_from_slice(&bits.to_le_bytes()),
            Form::Int4 => out.extend_from_slice(&(bits as u32).to_le_bytes()),
            Form::Int2 => out.extend_from_slice(&(bits as u16).to_le_bytes()),
            Form::Int1 => out.push(bits as u8),
            Form::Float => out.extend_from_slice(&(as_real as f32).to_le_bytes()),
            Form::Double => out.extend_from_slice(&as_real.to_le_bytes()),
            Form::DateTime | Form::Time => out.push(0),
            Form::Text | Form::Recoded(_) => short(out, print),
        }
    }

    /// Puts a row that consists of one text.
    #[inline]
    fn text(&mut self, text: &[u8]) {
        if let Ok(len @ ..=SHORT) = u8::try_from(text.len()) {
            return self.reply.out.put_parts([0, 0, len], text);
        }
        self.begin_row();
        self.bytes(text);
        self.reply.out.end();
    }

    /// Puts rows that consist of integers and nothing else; false, with nothing done, where these
    /// do not.
    fn numbers(&mut self, count: usize, columns: &[CellRun<'_>]) -> bool {
        let forms = &self.layout.columns;
        let plain = |column: &CellRun<'_>| {
            column.nulls.is_empty() && !matches!(column.cells, Cells::Bytes(_))
        };
        if forms.len() != columns.len() || !columns.iter().all(plain) {
            return false;
        }
        let bitmap = 1 + (forms.len() + 9) / 8;
        let Some(sizes) = forms.iter().map(|form| integer_size(*form)).sum::<Option<usize>>()
        else {
            return false;
        };
        let frames = self.reply.out.put_equal(count, bitmap + sizes);
        let mut at = HEADER + bitmap;
        for (form, column) in forms.iter().zip(columns) {
            let rows = frames.chunks_exact_mut(HEADER + bitmap + sizes);
            let size = integer_size(*form).unwrap_or_default();
            match column.cells {
                Cells::Ints(values) => put_sized(size, rows, at, values.iter().map(|v| *v as u64)),
                Cells::UInts(values) => put_sized(size, rows, at, values.iter().copied()),
                Cells::Bytes(_) => {}
            }
            at += size;
        }
        true
    }

    fn temporal(
        &mut self,
        own: Form,
        binary: impl FnOnce(&mut Vec<u8>),
        print: impl FnOnce(&mut Vec<u8>),
    ) {
        let (form, out) = self.next();
        match form {
            Form::Text | Form::Recoded(_) => short(out, print),
            form if form == own => binary(out),
            form => put_zero(out, form),
        }
    }
}

/// Appends a text of at most 250 bytes with its length.
fn short(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.push(0);
    write(out);
    out[at] = (out.len() - at - 1) as u8;
}

/// Bytes of an integer's form.
fn integer_size(form: Form) -> Option<usize> {
    match form {
        Form::Int1 => Some(1),
        Form::Int2 => Some(2),
        Form::Int4 => Some(4),
        Form::Int8 => Some(8),
        _ => None,
    }
}

fn put_sized(
    size: usize,
    rows: std::slice::ChunksExactMut<'_, u8>,
    at: usize,
    numbers: impl Iterator<Item = u64>,
) {
    match size {
        1 => put_column::<1>(rows, at, numbers),
        2 => put_column::<2>(rows, at, numbers),
        4 => put_column::<4>(rows, at, numbers),
        _ => put_column::<8>(rows, at, numbers),
    }
}

/// Puts the lowest `N` bytes of each number `at` so many bytes behind the beginning of its row.
fn put_column<const N: usize>(
    rows: std::slice::ChunksExactMut<'_, u8>,
    at: usize,
    numbers: impl Iterator<Item = u64>,
) {
    for (row, number) in rows.zip(numbers) {
        row[at..at + N].copy_from_slice(&number.to_le_bytes()[..N]);
    }
}

fn put_zero(out: &mut Vec<u8>, form: Form) {
    let len = match form {
        Form::Int8 | Form::Double => 8,
        Form::Int4 | Form::Float => 4,
        Form::Int2 => 2,
        Form::Int1 | Form::DateTime | Form::Time | Form::Text | Form::Recoded(_) => 1,
    };
    out.resize(out.len() + len, 0);
}

fn form_of(column: &ResultColumn, results: u16) -> Form {
    match type_code_of(&column.data_type) {
        ty::TINY => Form::Int1,
        ty::SHORT | ty::YEAR => Form::Int2,
        ty::LONG | ty::INT24 => Form::Int4,
        ty::LONGLONG => Form::Int8,
        ty::FLOAT => Form::Float,
        ty::DOUBLE => Form::Double,
        ty::DATE | ty::DATETIME | ty::TIMESTAMP => Form::DateTime,
        ty::TIME => Form::Time,
        _ => recoding(column, results).map_or(Form::Text, Form::Recoded),
    }
}

impl RowSink for BinaryRows<'_> {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), SqlError> {
        self.layout.columns.clear();
        let results = self.reply.collation;
        self.layout.columns.extend(columns.iter().map(|column| form_of(column, results)));
        self.reply.head(columns);
        Ok(())
    }

    #[inline]
    fn begin_row(&mut self) {
        let bitmap_len = (self.layout.columns.len() + 9) / 8;
        let out = self.reply.out.begin();
        out.push(0);
        self.bitmap = out.len();
        out.resize(self.bitmap + bitmap_len, 0);
        self.cell = 0;
    }

    #[inline]
    fn null(&mut self) {
        let bit = self.cell + 2;
        let at = self.bitmap + bit / 8;
        self.cell += 1;
        if self.cell <= self.layout.columns.len() {
            self.reply.out.payload()[at] |= 1 << (bit % 8);
        }
    }

    #[inline]
    fn int(&mut self, value: i64) {
        self.integer(value as u64, value as f64, |out| number::write_i64(value, out));
    }

    #[inline]
    fn uint(&mut self, value: u64) {
        self.integer(value, value as f64, |out| number::write_u64(value, out));
    }

    fn float(&mut self, value: f32) {
        let (form, out) = self.next();
        match form {
            Form::Float => out.extend_from_slice(&value.to_le_bytes()),
            Form::Double => out.extend_from_slice(&f64::from(value).to_le_bytes()),
            Form::Text | Form::Recoded(_) => short(out, |out| number::write_float(value, out)),
            form => put_zero(out, form),
        }
    }

    fn double(&mut self, value: f64) {
        let (form, out) = self.next();
        match form {
            Form::Double => out.extend_from_slice(&value.to_le_bytes()),
            Form::Float => out.extend_from_slice(&(value as f32).to_le_bytes()),
            Form::Text | Form::Recoded(_) => short(out, |out| number::write_double(value, out)),
            form => put_zero(out, form),
        }
    }

    #[inline]
    fn bytes(&mut self, value: &[u8]) {
        let (form, out) = self.next();
        match form {
            Form::Text => put_lenenc_bytes(out, value),
            Form::Recoded(recoding) => put_recoded(out, value, recoding),
            form => put_zero(out, form),
        }
    }

    fn date(&mut self, value: Date) {
        let at_midnight = DateTime { date: value, hour: 0, minute: 0, second: 0, micros: 0 };
        self.temporal(
            Form::DateTime,
            |out| put_datetime(out, &at_midnight),
            |out| value.write_text(out),
        );
    }

    fn time(&mut self, value: Time, fsp: u8) {
        self.temporal(Form::Time, |out| put_time(out, value), |out| value.write_text(fsp, out));
    }

    fn datetime(&mut self, value: DateTime, fsp: u8) {
        self.temporal(
            Form::DateTime,
            |out| put_datetime(out, &value),
            |out| value.write_text(fsp, out),
        );
    }

    #[inline]
    fn end_row(&mut self) -> Result<(), SqlError> {
        self.reply.end_row()
    }

    fn rows(&mut self, count: usize, columns: &[CellRun<'_>]) -> Result<(), SqlError> {
        if self.numbers(count, columns) {
            return self.reply.end_rows();
        }
        if let ([Form::Text], &[CellRun { nulls: &[], cells: Cells::Bytes(texts) }]) =
            (&self.layout.columns[..], columns)
        {
            texts.iter().take(count).for_each(|text| self.text(text));
            return self.reply.end_rows();
        }
        put_rows(self, count, columns)
    }

    fn flush(&mut self) -> Result<(), SqlError> {
        self.reply.send()
    }

    fn local_file(&mut self, path: &[u8], take: &mut TakeBytes<'_>) -> Result<(), SqlError> {
        self.reply.local_file(path, take)
    }

    fn complete(&mut self, completion: &Completion, more: bool) -> Result<(), SqlError> {
        self.reply.complete(completion, more);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
