//! Statements whose rows are shown to a visitor as they are received: nothing is collected, and
//! buffers are used again, so that a client under measurement spends little of its own.

use super::local::LOCAL_FILE;
use super::{Client, ClientError, Result, Rows};
use crate::caps::Capabilities;
use crate::codec::Reader;
use crate::column::type_code as ty;
use crate::command::code;
use crate::error::WireError;
use crate::params::decode_value;
use crate::reply::{EOF, ERR, OK, decode_err, decode_ok};
use inia_base::column::{flags, status};
use inia_base::value::Value;
use std::io::{Read, Write};

/// Sees the cells of a result.
pub trait Visitor {
    /// A result with so many columns begins.
    fn columns(&mut self, count: usize);
    /// NULL.
    fn null(&mut self);
    /// An integer.
    fn int(&mut self, value: i64);
    /// A double.
    fn double(&mut self, value: f64);
    /// Anything else, as text.
    fn bytes(&mut self, text: &[u8]);
}

/// How a visited statement ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Rows changed or found.
    pub affected_rows: u64,
    /// First key counted by an INSERT.
    pub last_insert_id: u64,
}

/// Bytes of a column definition behind its names: length, collation, display length, type, flags,
/// decimals, filler.
const TAIL: usize = 13;

impl<S: Read + Write> Client<S> {
    /// Runs one statement as text. Of several results the last one's outcome is returned.
    pub fn query_visit(&mut self, sql: &str, visitor: &mut dyn Visitor) -> Result<Outcome> {
        self.start_request();
        let attributes = self.caps.has(Capabilities::QUERY_ATTRIBUTES);
        let payload = self.writer.begin();
        payload.push(code::QUERY);
        if attributes {
            payload.extend_from_slice(&[0, 1]);
        }
        payload.extend_from_slice(sql.as_bytes());
        self.finish_request()?;
        self.visit_results(Rows::Text, visitor)
    }

    /// Runs a prepared statement; `body` appends the parameters as
    /// [`crate::params::encode_execute`] does.
    pub fn execute_visit(
        &mut self,
        id: u32,
        body: impl FnOnce(&mut Vec<u8>),
        visitor: &mut dyn Visitor,
    ) -> Result<Outcome> {
        self.start_request();
        let payload = self.writer.begin();
        payload.push(code::STMT_EXECUTE);
        payload.extend_from_slice(&id.to_le_bytes());
        payload.extend_from_slice(&[0, 1, 0, 0, 0]);
        body(payload);
        self.finish_request()?;
        self.visit_results(Rows::Binary, visitor)
    }

    fn finish_request(&mut self) -> Result<()> {
        self.writer.end();
        self.reader.expect_sequence(self.writer.sequence());
        self.send()
    }

    fn visit_results(&mut self, rows: Rows, visitor: &mut dyn Visitor) -> Result<Outcome> {
        loop {
            let packet = self.read_checked()?;
            let payload = self.reader.payload(packet);
            let (outcome, flags) = match payload.first() {
                Some(&OK) => {
                    let done = decode_ok(payload, self.caps)?;
                    let outcome = Outcome {
                        affected_rows: done.affected_rows,
                        last_insert_id: done.last_insert_id,
                    };
                    (outcome, done.status)
                }
                Some(&LOCAL_FILE) => {
                    return Err(ClientError::Unsupported("LOAD DATA LOCAL".to_owned()));
                }
                _ => {
                    let count = Reader::new(payload).lenenc()? as usize;
                    (Outcome::default(), self.visit_rows(count, rows, visitor)?)
                }
            };
            if flags & status::MORE_RESULTS_EXISTS == 0 {
                return Ok(outcome);
            }
        }
    }

    /// Returns the status flags behind the rows.
    fn visit_rows(&mut self, count: usize, rows: Rows, visitor: &mut dyn Visitor) -> Result<u16> {
        let mut kinds = std::mem::take(&mut self.kinds);
        kinds.clear();
        for _ in 0..count {
            let packet = self.read_checked()?;
            kinds.push(kind_of(self.reader.payload(packet))?);
        }
        let deprecate_eof = self.caps.has(Capabilities::DEPRECATE_EOF);
        if !deprecate_eof {
            self.read_checked()?;
        }
        visitor.columns(count);
        let flags = loop {
            // Most rows have been received with the one before.
            let packet = match self.reader.next_packet()? {
                Some(packet) if self.reader.payload(packet).first() != Some(&ERR) => packet,
                Some(packet) => {
                    return Err(ClientError::Server(decode_err(self.reader.payload(packet))?));
                }
                None => self.read_checked()?,
            };
            let payload = self.reader.payload(packet);
            // A row cannot begin so: it would hold a cell of 16 MB or more.
            if payload.first() == Some(&EOF) && payload.len() < 0xff_ffff {
                break end_flags(payload, deprecate_eof)?;
            }
            match rows {
                Rows::Text => visit_text(payload, count, visitor)?,
                Rows::Binary => visit_binary(payload, &kinds, visitor)?,
            }
        };
        self.kinds = kinds;
        Ok(flags)
    }
}

fn end_flags(payload: &[u8], deprecate_eof: bool) -> Result<u16> {
    let mut from = Reader::new(payload);
    from.u8()?;
    if deprecate_eof {
        from.lenenc()?;
        from.lenenc()?;
    } else {
        from.u16()?;
    }
    Ok(from.u16()?)
}

/// A column's type code, with bit 15 set if it is unsigned. Only the definition's end is looked at.
fn kind_of(definition: &[u8]) -> std::result::Result<u16, WireError> {
    let bad = WireError::Malformed("a column definition");
    let at = definition.len().checked_sub(TAIL).ok_or(bad.clone())?;
    let &[_, collation, high, _, _, _, _, kind, low_flags, high_flags, _, _, _] =
        definition[at..].first_chunk::<TAIL>().ok_or(bad)?;
    let column_flags = u16::from_le_bytes([low_flags, high_flags]);
    let kind = match (kind, u16::from_le_bytes([collation, high])) {
        (ty::TINY_BLOB..=ty::BLOB, collation) if collation != 63 => ty::VAR_STRING,
        (kind, _) => kind,
    };
    let unsigned = if u32::from(column_flags) & flags::UNSIGNED != 0 { 0x8000 } else { 0 };
    Ok(u16::from(kind) | unsigned)
}

fn visit_text(payload: &[u8], count: usize, visitor: &mut dyn Visitor) -> Result<()> {
    let mut from = Reader::new(payload);
    for _ in 0..count {
        match from.lenenc_or_null()? {
            None => visitor.null(),
            Some(text) => visitor.bytes(text),
        }
    }
    Ok(from.finish()?)
}

fn visit_binary(payload: &[u8], kinds: &[u16], visitor: &mut dyn Visitor) -> Result<()> {
    let mut from = Reader::new(payload);
    from.u8()?;
    let nulls = from.bytes((kinds.len() + 9) / 8)?;
    for (i, &kind) in kinds.iter().enumerate() {
        if nulls[(i + 2) / 8] >> ((i + 2) % 8) & 1 != 0 {
            visitor.null();
            continue;
        }
        match (kind & 0xff) as u8 {
            ty::VAR_STRING
            | ty::STRING
            | ty::VARCHAR
            | ty::TINY_BLOB..=ty::BLOB
            | ty::NEWDECIMAL
            | ty::DECIMAL => {
                visitor.bytes(from.lenenc_bytes()?);
            }
            _ => match integer(&mut from, kind)? {
                Some(number) => visitor.int(number),
                None => visit_value(&mut from, kind, visitor)?,
            },
        }
    }
    Ok(from.finish()?)
}

/// The integer of an integer column; unsigned ones as their bits.
#[inline]
fn integer(from: &mut Reader<'_>, kind: u16) -> std::result::Result<Option<i64>, WireError> {
    let unsigned = kind & 0x8000 != 0;
    Ok(Some(match kind as u8 {
        ty::LONGLONG => i64::from_le_bytes(from.array()?),
        ty::LONG | ty::INT24 => match i32::from_le_bytes(from.array()?) {
            number if unsigned => i64::from(number as u32),
            number => i64::from(number),
        },
        ty::SHORT | ty::YEAR => match i16::from_le_bytes(from.array()?) {
            number if unsigned => i64::from(number as u16),
            number => i64::from(number),
        },
        ty::TINY => match i8::from_le_bytes(from.array()?) {
            number if unsigned => i64::from(number as u8),
            number => i64::from(number),
        },
        _ => return Ok(None),
    }))
}

fn visit_value(from: &mut Reader<'_>, kind: u16, visitor: &mut dyn Visitor) -> Result<()> {
    let mut value = Value::Null;
    decode_value(from, kind, &mut value)?;
    match value {
        Value::Null => visitor.null(),
        Value::Int(number) => visitor.int(number),
        Value::UInt(number) => visitor.int(number as i64),
        Value::Double(number) => visitor.double(number),
        other => {
            let mut text = Vec::new();
            other.write_text(&mut text);
            visitor.bytes(&text);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
