//! Memory-comparable keys: values encoded so that `memcmp` orders them as SQL does.
//!
//! A key is the encodings of its parts, one after the other. A nullable part starts with a marker,
//! 0 for NULL and 1 for a value, so NULLs come first. Then, by type:
//!
//! ```text
//! integers        big-endian in the type's width, sign bit flipped when signed
//! DECIMAL         its stored form, FLOAT and DOUBLE their bits made to ascend
//! DATE, TIME …    their stored forms; TIMESTAMP as UTC seconds; YEAR one byte
//! ENUM, SET, BIT  the number in the fewest bytes that hold all members
//! BINARY(n)       n bytes
//! VARBINARY, BLOB bytes with 00 written as 00 FF, then 00 00
//! texts           the collation's sort key (no 00 in it), then 00
//! ```
//!
//! A descending part has all its bytes inverted, marker included. A prefix part encodes only the
//! first characters (texts) or bytes (binary strings).
//!
//! ```text
//! (INT NULL, VARCHAR utf8mb4_bin) = (-1, "ab")  →  01 7FFFFFFF  65 66 23 00
//! (INT NULL DESC)                 = (-1)        →  FE 80000000
//! ```
//!
//! All parts but texts (and prefixes) can be decoded again, so an index read can serve them; every
//! part can be skipped without knowing its collation.

mod reader;
#[cfg(test)]
mod tests;

pub use reader::KeyReader;

use crate::datatype::{DataType, IntWidth};
use crate::decimal::Decimal;
use crate::number;
use crate::temporal::{
    Date, DateTime, Time, datetime_storage_size, time_storage_size, timestamp_storage_size,
};
use crate::value::Value;
use std::borrow::Cow;

/// One part of a key: a column with what the index says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// The column's type.
    pub data_type: DataType,
    /// Whether the column can be NULL.
    pub nullable: bool,
    /// DESC.
    pub descending: bool,
    /// Length of a prefix part: characters of a text, bytes of a binary string.
    pub prefix: Option<u32>,
}

impl KeyPart {
    /// A whole ascending part.
    pub fn new(data_type: DataType, nullable: bool) -> KeyPart {
        KeyPart { data_type, nullable, descending: false, prefix: None }
    }

    /// Bytes of a value of this part without the marker, where all have the same.
    pub fn fixed_size(&self) -> Option<usize> {
        let size = match &self.data_type {
            DataType::Int { width, .. } => int_size(*width),
            DataType::Bit(bits) => usize::from(*bits).div_ceil(8),
            DataType::Decimal { precision, .. } => Decimal::storage_size(*precision),
            DataType::Float { .. } => 4,
            DataType::Double { .. } => 8,
            DataType::Binary(size) => self.prefix.unwrap_or(*size).min(*size) as usize,
            DataType::Date => 3,
            DataType::Time { fsp } => time_storage_size(*fsp),
            DataType::DateTime { fsp } => datetime_storage_size(*fsp),
            DataType::Timestamp { fsp } => timestamp_storage_size(*fsp),
            DataType::Year => 1,
            DataType::Enum { members, .. } => enum_size(members.len()),
            DataType::Set { members, .. } => set_size(members.len()),
            DataType::Null => 0,
            DataType::Char { .. }
            | DataType::VarChar { .. }
            | DataType::Text { .. }
            | DataType::VarBinary(_)
            | DataType::Blob(_)
            | DataType::Json => return None,
        };
        Some(size)
    }

    /// Whether [`KeyReader::value`] gives the value back.
    pub fn is_reversible(&self) -> bool {
        match &self.data_type {
            DataType::Char { .. }
            | DataType::VarChar { .. }
            | DataType::Text { .. }
            | DataType::Json => false,
            DataType::Binary(_) | DataType::VarBinary(_) | DataType::Blob(_) => {
                self.prefix.is_none()
            }
            _ => true,
        }
    }
}

/// Bytes of an integer type.
pub fn int_size(width: IntWidth) -> usize {
    match width {
        IntWidth::Tiny => 1,
        IntWidth::Small => 2,
        IntWidth::Medium => 3,
        IntWidth::Int => 4,
        IntWidth::Big => 8,
    }
}

/// Bytes of an ENUM's number.
fn enum_size(members: usize) -> usize {
    if members < 256 { 1 } else { 2 }
}

/// Bytes of a SET's mask.
fn set_size(members: usize) -> usize {
    match members.div_ceil(8) {
        0 | 1 => 1,
        size @ 2..=4 => size,
        _ => 8,
    }
}

/// A value that is not of the part's type. Keys hold values already converted to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongKind;

impl std::fmt::Display for WrongKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("value is not of the key part's type")
    }
}

impl std::error::Error for WrongKind {}

/// The marker of a value that is there.
const PRESENT: u8 = 1;

/// Builds keys in a buffer that is kept for the next one.
#[derive(Clone, Debug, Default)]
pub struct KeyWriter {
    bytes: Vec<u8>,
}

impl KeyWriter {
    /// A writer with nothing in it.
    pub fn new() -> KeyWriter {
        KeyWriter::default()
    }

    /// Starts the next key.
    #[inline]
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// The key so far.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// The key as its own vector.
    pub fn into_vec(self) -> Vec<u8> {
        self.bytes
    }

    /// Length of the key so far.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing is written yet.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Cuts the key back to an earlier length.
    pub fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    /// Appends bytes that are a key part already.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Inverts everything from `start` on: a part that was written ascending becomes descending.
    pub fn invert_from(&mut self, start: usize) {
        for byte in &mut self.bytes[start..] {
            *byte = !*byte;
        }
    }

    /// A nullable part's NULL, ascending.
    #[inline]
    pub fn null(&mut self) {
        self.bytes.push(0);
    }

    /// The marker before a nullable part's value, ascending.
    #[inline]
    pub fn present(&mut self) {
        self.bytes.push(PRESENT);
    }

    /// A signed INT, not nullable, ascending.
    #[inline]
    pub fn i32(&mut self, value: i32) {
        self.bytes.extend_from_slice(&((value as u32) ^ (1 << 31)).to_be_bytes());
    }

    /// A signed BIGINT, not nullable, ascending.
    #[inline]
    pub fn i64(&mut self, value: i64) {
        self.bytes.extend_from_slice(&((value as u64) ^ (1 << 63)).to_be_bytes());
    }

    /// An unsigned INT, not nullable, ascending.
    #[inline]
    pub fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    /// An unsigned BIGINT, not nullable, ascending.
    #[inline]
    pub fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    /// A signed integer of any width; what does not fit is clamped.
    #[inline]
    pub fn int(&mut self, width: IntWidth, value: i64) {
        let size = int_size(width);
        let bias = 1i128 << (8 * size - 1);
        let shifted = (i128::from(value) + bias).clamp(0, 2 * bias - 1);
        self.number(shifted as u64, size);
    }

    /// An unsigned integer of any width; what does not fit is clamped.
    #[inline]
    pub fn uint(&mut self, width: IntWidth, value: u64) {
        let size = int_size(width);
        self.number(value.min(u64::MAX >> (64 - 8 * size)), size);
    }

    /// The lowest `size` bytes of a number.
    #[inline]
    fn number(&mut self, value: u64, size: usize) {
        self.bytes.extend_from_slice(&value.to_be_bytes()[8 - size..]);
    }

    /// A DOUBLE; both zeros are one.
    pub fn double(&mut self, value: f64) {
        let bits = (value + 0.0).to_bits();
        let flip = if bits >> 63 == 0 { 1 << 63 } else { u64::MAX };
        self.u64(bits ^ flip);
    }

    /// A FLOAT; both zeros are one.
    pub fn float(&mut self, value: f32) {
        let bits = (value + 0.0).to_bits();
        let flip = if bits >> 31 == 0 { 1 << 31 } else { u32::MAX };
        self.u32(bits ^ flip);
    }

    /// A binary string of any length.
    pub fn bytes(&mut self, value: &[u8]) {
        let mut rest = value;
        while let Some(at) = rest.iter().position(|&byte| byte == 0) {
            self.bytes.extend_from_slice(&rest[..=at]);
            self.bytes.push(0xFF);
            rest = &rest[at + 1..];
        }
        self.bytes.extend_from_slice(rest);
        self.bytes.extend_from_slice(&[0, 0]);
    }

    /// A binary string of a fixed length: cut, or padded with zeros.
    pub fn fixed_bytes(&mut self, value: &[u8], size: usize) {
        let used = value.len().min(size);
        self.bytes.extend_from_slice(&value[..used]);
        self.bytes.resize(self.bytes.len() + size - used, 0);
    }

    /// Appends a value that is of the part's type already (ENUM, SET, BIT and YEAR as numbers,
    /// TIMESTAMP in UTC), with marker, prefix and direction as the part has them.
    pub fn encode(&mut self, value: &Value, part: &KeyPart) -> Result<(), WrongKind> {
        let start = self.bytes.len();
        if value.is_null() {
            if !part.nullable {
                return Err(WrongKind);
            }
            self.null();
        } else {
            if part.nullable {
                self.present();
            }
            let written = self.encode_value(value, part);
            if written.is_err() {
                self.bytes.truncate(start);
                return written;
            }
        }
        if part.descending {
            self.invert_from(start);
        }
        Ok(())
    }

    fn encode_value(&mut self, value: &Value, part: &KeyPart) -> Result<(), WrongKind> {
        match &part.data_type {
            DataType::Int { width, unsigned: false } => self.int(*width, signed(value)?),
            DataType::Int { width, unsigned: true } => self.uint(*width, unsigned(value)?),
            DataType::Decimal { precision, scale, .. } => {
                decimal(value)?.encode(*precision, *scale, &mut self.bytes);
            }
            DataType::Float { .. } => self.float(double(value)? as f32),
            DataType::Double { .. } => self.double(double(value)?),
            DataType::Date => date(value)?.encode(&mut self.bytes),
            DataType::Time { fsp } => time(value)?.encode(*fsp, &mut self.bytes),
            DataType::DateTime { fsp } => datetime(value)?.encode(*fsp, &mut self.bytes),
            DataType::Timestamp { fsp } => {
                datetime(value)?.encode_timestamp(*fsp, &mut self.bytes);
            }
            DataType::Year => {
                let year = unsigned(value)?;
                self.bytes.push(year.saturating_sub(1900).min(255) as u8);
            }
            DataType::Bit(_) | DataType::Enum { .. } | DataType::Set { .. } => {
                self.number(unsigned(value)?, part.fixed_size().unwrap_or(8));
            }
            DataType::Binary(size) => {
                let size = part.prefix.unwrap_or(*size).min(*size) as usize;
                self.fixed_bytes(string(value)?, size);
            }
            DataType::VarBinary(_) | DataType::Blob(_) => {
                let bytes = string(value)?;
                let cut = part.prefix.map_or(bytes.len(), |size| bytes.len().min(size as usize));
                self.bytes(&bytes[..cut]);
            }
            DataType::Char { collation, .. }
            | DataType::VarChar { collation, .. }
            | DataType::Text { collation, .. } => {
                let text = string(value)?;
                let text = part.prefix.map_or(text, |chars| first_chars(text, chars as usize));
                collation.sort_key(text, &mut self.bytes);
                self.bytes.push(0);
            }
            DataType::Null | DataType::Json => return Err(WrongKind),
        }
        Ok(())
    }
}

/// The first `chars` characters of a UTF-8 text.
fn first_chars(text: &[u8], chars: usize) -> &[u8] {
    if text.len() <= chars {
        return text;
    }
    let starts = text.iter().enumerate().filter(|(_, byte)| **byte & 0xC0 != 0x80);
    let end = starts.map(|(at, _)| at).nth(chars);
    &text[..end.unwrap_or(text.len())]
}

fn signed(value: &Value) -> Result<i64, WrongKind> {
    match value {
        Value::Int(value) => Ok(*value),
        Value::UInt(value) => Ok(i64::try_from(*value).unwrap_or(i64::MAX)),
        Value::Decimal(value) => Ok(value.to_i64().unwrap_or_else(|bound| bound)),
        Value::Double(value) => Ok(number::round_double(*value).0.min(i64::MAX.into()) as i64),
        _ => Err(WrongKind),
    }
}

fn unsigned(value: &Value) -> Result<u64, WrongKind> {
    match value {
        Value::UInt(value) => Ok(*value),
        Value::Int(value) => Ok(u64::try_from(*value).unwrap_or(0)),
        Value::Decimal(value) => Ok(value.to_u64().unwrap_or_else(|bound| bound)),
        Value::Double(value) => Ok(number::round_double(*value).0.max(0) as u64),
        _ => Err(WrongKind),
    }
}

fn decimal(value: &Value) -> Result<Decimal, WrongKind> {
    match value {
        Value::Decimal(value) => Ok(*value),
        Value::Int(value) => Ok(Decimal::from(*value)),
        Value::UInt(value) => Ok(Decimal::from(*value)),
        _ => Err(WrongKind),
    }
}

fn double(value: &Value) -> Result<f64, WrongKind> {
    match value {
        Value::Double(value) => Ok(*value),
        Value::Int(value) => Ok(*value as f64),
        Value::UInt(value) => Ok(*value as f64),
        Value::Decimal(value) => Ok(value.to_f64()),
        _ => Err(WrongKind),
    }
}

fn date(value: &Value) -> Result<Date, WrongKind> {
    match value {
        Value::Date(value) => Ok(*value),
        Value::DateTime(value) => Ok(value.date),
        _ => Err(WrongKind),
    }
}

fn time(value: &Value) -> Result<Time, WrongKind> {
    match value {
        Value::Time(value) => Ok(*value),
        _ => Err(WrongKind),
    }
}

fn datetime(value: &Value) -> Result<DateTime, WrongKind> {
    match value {
        Value::DateTime(value) => Ok(*value),
        Value::Date(value) => Ok(value.at_midnight()),
        _ => Err(WrongKind),
    }
}

fn string(value: &Value) -> Result<&[u8], WrongKind> {
    value.as_bytes().ok_or(WrongKind)
}

/// Inverts bytes back where the part is descending.
fn upright(bytes: &[u8], descending: bool) -> Cow<'_, [u8]> {
    if descending {
        Cow::Owned(bytes.iter().map(|byte| !byte).collect())
    } else {
        Cow::Borrowed(bytes)
    }
}
