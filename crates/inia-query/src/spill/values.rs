//! Values as bytes, for tuples that wait in a sorter's memory or in a temporary file.
//!
//! Each value is a tag byte and its content; texts and bytes carry their length (u32) first. A
//! DECIMAL is its scale and its stored form at full precision.

use inia_base::decimal::{Decimal, MAX_DIGITS};
use inia_base::temporal::{Date, DateTime, Time};
use inia_base::value::Value;

const NULL: u8 = 0;
const INT: u8 = 1;
const UINT: u8 = 2;
const DOUBLE: u8 = 3;
const DECIMAL: u8 = 4;
const TEXT: u8 = 5;
const BYTES: u8 = 6;
const DATE: u8 = 7;
const TIME: u8 = 8;
const DATETIME: u8 = 9;
const JSON: u8 = 10;

/// Appends a tuple.
pub(crate) fn encode_tuple(tuple: &[Value], out: &mut Vec<u8>) {
    for value in tuple {
        encode(value, out);
    }
}

fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(NULL),
        Value::Int(v) => word(INT, *v as u64, out),
        Value::UInt(v) => word(UINT, *v, out),
        Value::Double(v) => word(DOUBLE, v.to_bits(), out),
        Value::Decimal(v) => {
            out.extend_from_slice(&[DECIMAL, v.scale()]);
            v.encode(MAX_DIGITS, v.scale(), out);
        }
        Value::Text(text) => string(TEXT, text.as_bytes(), out),
        Value::Bytes(bytes) => string(BYTES, bytes, out),
        Value::Date(v) => word(DATE, u64::from(v.pack()), out),
        Value::Time(v) => word(TIME, v.micros as u64, out),
        Value::DateTime(v) => word(DATETIME, v.pack(), out),
        Value::Json(text) => string(JSON, text.as_bytes(), out),
    }
}

fn word(tag: u8, content: u64, out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(&content.to_le_bytes());
}

fn string(tag: u8, content: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(&(content.len() as u32).to_le_bytes());
    out.extend_from_slice(content);
}

/// Replaces `tuple` by the values in `bytes`; `None` where those are no tuple.
pub(crate) fn decode_tuple(mut bytes: &[u8], tuple: &mut Vec<Value>) -> Option<()> {
    tuple.clear();
    while let Some((tag, rest)) = bytes.split_first() {
        let (value, rest) = decode(*tag, rest)?;
        tuple.push(value);
        bytes = rest;
    }
    Some(())
}

fn decode(tag: u8, bytes: &[u8]) -> Option<(Value, &[u8])> {
    match tag {
        NULL => Some((Value::Null, bytes)),
        TEXT | BYTES | JSON => {
            let (length, rest) = bytes.split_first_chunk::<4>()?;
            let (content, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            let value = match tag {
                BYTES => Value::Bytes(content.to_vec()),
                TEXT => Value::Text(String::from_utf8(content.to_vec()).ok()?),
                _ => Value::Json(String::from_utf8(content.to_vec()).ok()?),
            };
            Some((value, rest))
        }
        DECIMAL => {
            let (scale, rest) = bytes.split_first()?;
            let (content, rest) = rest.split_at_checked(Decimal::storage_size(MAX_DIGITS))?;
            Some((Value::Decimal(Decimal::decode(content, MAX_DIGITS, *scale)?), rest))
        }
        _ => {
            let (content, rest) = bytes.split_first_chunk::<8>()?;
            let word = u64::from_le_bytes(*content);
            let value = match tag {
                INT => Value::Int(word as i64),
                UINT => Value::UInt(word),
                DOUBLE => Value::Double(f64::from_bits(word)),
                DATE => Value::Date(Date::unpack(u32::try_from(word).ok()?)?),
                TIME => Value::Time(Time { micros: word as i64 }),
                DATETIME => Value::DateTime(DateTime::unpack(word)?),
                _ => return None,
            };
            Some((value, rest))
        }
    }
}
