//! Reading keys: values of the reversible parts, and skipping any part.

use super::{KeyPart, PRESENT, upright};
use crate::datatype::DataType;
use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};
use crate::value::Value;

/// Walks over the parts of a key. Each call returns `None` when the bytes are no key of that part
/// (or, for [`KeyReader::value`], when the part cannot be decoded).
#[derive(Clone, Copy, Debug)]
pub struct KeyReader<'a> {
    rest: &'a [u8],
}

impl<'a> KeyReader<'a> {
    /// A reader at the start of `key`.
    pub fn new(key: &'a [u8]) -> KeyReader<'a> {
        KeyReader { rest: key }
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Moves past one part and returns its bytes, marker included.
    pub fn skip(&mut self, part: &KeyPart) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(self.part_len(part)?)?;
        self.rest = rest;
        Some(bytes)
    }

    /// Whether the next part is NULL; the reader does not move.
    pub fn is_null(&self, part: &KeyPart) -> Option<bool> {
        if !part.nullable {
            return Some(false);
        }
        let marker = *self.rest.first()?;
        match if part.descending { !marker } else { marker } {
            0 => Some(true),
            PRESENT => Some(false),
            _ => None,
        }
    }

    /// Length of the next part, marker included.
    fn part_len(&self, part: &KeyPart) -> Option<usize> {
        if self.is_null(part)? {
            return Some(1);
        }
        let marker = usize::from(part.nullable);
        if let Some(size) = part.fixed_size() {
            return Some(marker + size);
        }
        let body = self.rest.get(marker..)?;
        let zero = if part.descending { 0xFF } else { 0 };
        let binary = matches!(part.data_type, DataType::VarBinary(_) | DataType::Blob(_));
        let mut at = 0;
        loop {
            at += body.get(at..)?.iter().position(|&byte| byte == zero)? + 1;
            if !binary {
                return Some(marker + at);
            }
            let escaped = *body.get(at)? != zero;
            at += 1;
            if !escaped {
                return Some(marker + at);
            }
        }
    }

    /// Decodes the next part and moves past it.
    pub fn value(&mut self, part: &KeyPart) -> Option<Value> {
        if !part.is_reversible() {
            return None;
        }
        let null = self.is_null(part)?;
        let bytes = self.skip(part)?;
        if null {
            return Some(Value::Null);
        }
        let bytes = upright(&bytes[usize::from(part.nullable)..], part.descending);
        decode(&bytes, &part.data_type)
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, &byte| (value << 8) | u64::from(byte))
}

fn decode(bytes: &[u8], data_type: &DataType) -> Option<Value> {
    Some(match data_type {
        DataType::Int { unsigned: true, .. } => Value::UInt(number(bytes)),
        DataType::Int { unsigned: false, .. } => {
            let bias = 1i128 << (8 * bytes.len() - 1);
            Value::Int((i128::from(number(bytes)) - bias) as i64)
        }
        DataType::Bit(_) | DataType::Enum { .. } | DataType::Set { .. } => {
            Value::UInt(number(bytes))
        }
        DataType::Decimal { precision, scale, .. } => {
            Value::Decimal(Decimal::decode(bytes, *precision, *scale)?)
        }
        DataType::Float { .. } => {
            let bits = u32::from_be_bytes(bytes.try_into().ok()?);
            let flip = if bits >> 31 == 1 { 1 << 31 } else { u32::MAX };
            Value::Double(f32::from_bits(bits ^ flip).into())
        }
        DataType::Double { .. } => {
            let bits = u64::from_be_bytes(bytes.try_into().ok()?);
            let flip = if bits >> 63 == 1 { 1 << 63 } else { u64::MAX };
            Value::Double(f64::from_bits(bits ^ flip))
        }
        DataType::Date => Value::Date(Date::decode(bytes)?),
        DataType::Time { fsp } => Value::Time(Time::decode(bytes, *fsp)?),
        DataType::DateTime { fsp } => Value::DateTime(DateTime::decode(bytes, *fsp)?),
        DataType::Timestamp { fsp } => Value::DateTime(DateTime::decode_timestamp(bytes, *fsp)?),
        DataType::Year => match bytes {
            [0] => Value::UInt(0),
            [year] => Value::UInt(1900 + u64::from(*year)),
            _ => return None,
        },
        DataType::Binary(_) => Value::Bytes(bytes.to_vec()),
        DataType::VarBinary(_) | DataType::Blob(_) => Value::Bytes(unescape(bytes)?),
        DataType::Null
        | DataType::Char { .. }
        | DataType::VarChar { .. }
        | DataType::Text { .. }
        | DataType::Json => return None,
    })
}

/// Takes the escapes and the end out of a binary string.
fn unescape(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let at = rest.iter().position(|&byte| byte == 0)?;
        out.extend_from_slice(&rest[..at]);
        match rest.get(at + 1)? {
            0 => return Some(out),
            _ => out.push(0),
        }
        rest = &rest[at + 2..];
    }
}
