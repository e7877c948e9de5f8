//! Results read step by step: what a statement answers, then one row after another.

use super::local::LOCAL_FILE;
use super::{Client, ClientError, Result, ResultSet, Rows, decode_binary_row, decode_text_row};
use crate::caps::Capabilities;
use crate::codec::Reader;
use crate::column::ColumnDef;
use crate::reply::{EOF, OK, decode_eof, decode_ok};
use inia_base::column::{Completion, status};
use inia_base::value::Value;
use std::io::{Read, Write};

/// How a result begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Head {
    /// The statement has no rows, and is done.
    Done(Completion),
    /// Rows of these columns follow; [`Client::next_row`] reads them.
    Rows(Vec<ColumnDef>),
    /// The server asks for the file of this name; [`Client::send_file`] sends it.
    LocalFile(Vec<u8>),
}

/// What follows a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// One more row.
    Row(Vec<Value>),
    /// The end of the rows.
    End(Completion),
}

impl<S: Read + Write> Client<S> {
    /// The next result of the last command, or `None` after the last one.
    pub fn next_result(&mut self) -> Result<Option<ResultSet>> {
        let Some(rows) = self.more else { return Ok(None) };
        match self.next_head()? {
            None => Ok(None),
            Some(Head::Done(completion)) => {
                Ok(Some(ResultSet { completion, ..ResultSet::default() }))
            }
            Some(Head::Rows(columns)) => self.collect(columns, rows).map(Some),
            Some(Head::LocalFile(_)) => {
                let _ = self.send_file(&mut std::io::empty())?;
                self.next_result()?;
                Err(ClientError::Unsupported("LOAD DATA LOCAL".to_owned()))
            }
        }
    }

    /// How the next result of the last command begins, or `None` after the last one. Rows are all
    /// read by [`Client::next_row`] before the next call.
    pub fn next_head(&mut self) -> Result<Option<Head>> {
        let Some(rows) = self.more.take() else { return Ok(None) };
        let packet = self.read_checked()?;
        let payload = self.reader.payload(packet);
        match payload.first() {
            Some(&OK) => {
                let completion = decode_ok(payload, self.caps)?;
                self.note_more(&completion, rows);
                Ok(Some(Head::Done(completion)))
            }
            Some(&LOCAL_FILE) => {
                let name = payload[1..].to_vec();
                self.more = Some(rows);
                Ok(Some(Head::LocalFile(name)))
            }
            _ => {
                let count = Reader::new(payload).lenenc()?;
                Ok(Some(Head::Rows(self.read_columns(count as usize)?)))
            }
        }
    }

    /// The next row of a text result with these columns, or its end.
    pub fn next_row(&mut self, columns: &[ColumnDef]) -> Result<Step> {
        self.step(columns, Rows::Text)
    }

    fn step(&mut self, columns: &[ColumnDef], rows: Rows) -> Result<Step> {
        let packet = self.read_checked()?;
        let payload = self.reader.payload(packet);
        if payload.first() == Some(&EOF) && payload.len() < 0xff_ffff {
            let new = self.caps.has(Capabilities::DEPRECATE_EOF);
            if new || payload.len() <= 5 {
                let end = if new { decode_ok(payload, self.caps)? } else { decode_eof(payload)? };
                self.note_more(&end, rows);
                return Ok(Step::End(end));
            }
        }
        Ok(Step::Row(match rows {
            Rows::Text => decode_text_row(payload, columns.len())?,
            Rows::Binary => decode_binary_row(payload, columns)?,
        }))
    }

    fn note_more(&mut self, completion: &Completion, rows: Rows) {
        let more = completion.status & status::MORE_RESULTS_EXISTS != 0;
        self.more = more.then_some(rows);
    }

    /// Reads all rows behind their columns.
    fn collect(&mut self, columns: Vec<ColumnDef>, kind: Rows) -> Result<ResultSet> {
        let mut rows = Vec::new();
        loop {
            match self.step(&columns, kind)? {
                Step::Row(row) => rows.push(row),
                Step::End(completion) => return Ok(ResultSet { columns, rows, completion }),
            }
        }
    }
}
