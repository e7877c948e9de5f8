//! Rows of the text protocol: every cell a length-encoded text, NULL the byte 0xfb.

use crate::codec::{SHORT, put_lenenc_bytes};
use crate::column::{Recoding, put_recoded, recoding, type_flags};
use crate::rows::{NOT_FIXED, Reply};
use inia_base::column::{
    CellRun, Cells, Completion, ResultColumn, RowSink, TakeBytes, flags, put_rows,
};
use inia_base::error::SqlError;
use inia_base::number;
use inia_base::temporal::{Date, DateTime, Time};

/// How numbers of one column are printed.
#[derive(Clone, Copy, Debug)]
struct Print {
    /// Digits after the point of FLOAT and DOUBLE.
    decimals: u8,
    /// Width for ZEROFILL, or 0.
    fill: u8,
    /// What strings have to be converted to.
    recoding: Option<Recoding>,
}

/// Memory of a [`TextRows`] that a connection keeps between statements.
#[derive(Debug, Default)]
pub struct TextLayout {
    columns: Vec<Print>,
}

/// Encodes rows for COM_QUERY.
pub struct TextRows<'a> {
    reply: Reply<'a>,
    layout: &'a mut TextLayout,
    cell: usize,
}

impl<'a> TextRows<'a> {
    /// A sink that appends to `reply`.
    pub fn new(reply: Reply<'a>, layout: &'a mut TextLayout) -> TextRows<'a> {
        TextRows { reply, layout, cell: 0 }
    }

    /// Whether sending failed.
    pub fn is_broken(&self) -> bool {
        self.reply.is_broken()
    }

    /// Appends a short cell: `write` appends at most 250 bytes.
    #[inline]
    fn short(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let out = self.reply.out.payload();
        let at = out.len();
        out.push(0);
        write(out);
        out[at] = (out.len() - at - 1) as u8;
        self.cell += 1;
    }

    /// Puts a row that consists of one text.
    #[inline]
    fn text(&mut self, text: &[u8]) {
        if let Ok(len @ ..=SHORT) = u8::try_from(text.len()) {
            return self.reply.out.put_parts([len], text);
        }
        put_lenenc_bytes(self.reply.out.begin(), text);
        self.reply.out.end();
    }

    fn print(&self) -> Print {
        let default = Print { decimals: NOT_FIXED, fill: 0, recoding: None };
        self.layout.columns.get(self.cell).copied().unwrap_or(default)
    }

    fn real(&mut self, write: impl FnOnce(&mut Vec<u8>, u8)) {
        let Print { decimals, fill, .. } = self.print();
        let out = self.reply.out.payload();
        let at = out.len();
        out.push(0);
        write(out, decimals);
        let zeros = usize::from(fill).saturating_sub(out.len() - at - 1);
        if zeros > 0 {
            out.splice(at + 1..at + 1, std::iter::repeat_n(b'0', zeros));
        }
        let len = out.len() - at - 1;
        if len <= 250 {
            out[at] = len as u8;
        } else {
            out.splice(at..=at, [0xfc, len as u8, (len >> 8) as u8]);
        }
        self.cell += 1;
    }
}

impl RowSink for TextRows<'_> {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), SqlError> {
        let results = self.reply.collation;
        self.layout.columns.clear();
        self.layout.columns.extend(columns.iter().map(|column| Print {
            decimals: column.decimals,
            fill: match (column.flags | type_flags(column)) & flags::ZEROFILL {
                0 => 0,
                _ => column.length.min(250) as u8,
            },
            recoding: recoding(column, results),
        }));
        self.reply.head(columns);
        Ok(())
    }

    #[inline]
    fn begin_row(&mut self) {
        self.reply.out.begin();
        self.cell = 0;
    }

    #[inline]
    fn null(&mut self) {
        self.reply.out.payload().push(0xfb);
        self.cell += 1;
    }

    #[inline]
    fn int(&mut self, value: i64) {
        self.short(|out| number::write_i64(value, out));
    }

    #[inline]
    fn uint(&mut self, value: u64) {
        let fill = usize::from(self.print().fill);
        self.short(|out| {
            let digits = value.checked_ilog10().unwrap_or(0) as usize + 1;
            (digits..fill).for_each(|_| out.push(b'0'));
            number::write_u64(value, out);
        });
    }

    fn float(&mut self, value: f32) {
        self.real(|out, decimals| match decimals {
            0..NOT_FIXED => number::write_fixed(f64::from(value), decimals, out),
            _ => number::write_float(value, out),
        });
    }

    fn double(&mut self, value: f64) {
        self.real(|out, decimals| match decimals {
            0..NOT_FIXED => number::write_fixed(value, decimals, out),
            _ => number::write_double(value, out),
        });
    }

    #[inline]
    fn bytes(&mut self, value: &[u8]) {
        match self.print().recoding {
            None => put_lenenc_bytes(self.reply.out.payload(), value),
            Some(recoding) => put_recoded(self.reply.out.payload(), value, recoding),
        }
        self.cell += 1;
    }

    fn date(&mut self, value: Date) {
        self.short(|out| value.write_text(out));
    }

    fn time(&mut self, value: Time, fsp: u8) {
        self.short(|out| value.write_text(fsp, out));
    }

    fn datetime(&mut self, value: DateTime, fsp: u8) {
        self.short(|out| value.write_text(fsp, out));
    }

    #[inline]
    fn end_row(&mut self) -> Result<(), SqlError> {
        self.reply.end_row()
    }

    fn rows(&mut self, count: usize, columns: &[CellRun<'_>]) -> Result<(), SqlError> {
        if let (
            [Print { recoding: None, .. }],
            &[CellRun { nulls: &[], cells: Cells::Bytes(texts) }],
        ) = (&self.layout.columns[..], columns)
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
