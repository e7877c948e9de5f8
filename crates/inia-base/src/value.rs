//! A single SQL value in memory.

use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};
use crate::{json, number};

/// One SQL value. The declared type, collation and charset live beside it in a
/// [`DataType`](crate::datatype::DataType), never in the value.
///
/// ENUM and SET values are `UInt` (member index from 1, or bit mask) and YEAR and BIT are `UInt`;
/// binding inserts the conversions that a context needs. FLOAT is carried as `Double`.
/// Character strings are UTF-8 whatever charset the column declares.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// A signed integer.
    Int(i64),
    /// An unsigned integer; also ENUM, SET, YEAR and BIT.
    UInt(u64),
    /// FLOAT and DOUBLE.
    Double(f64),
    /// An exact number of up to 65 digits.
    Decimal(Decimal),
    /// A character string.
    Text(String),
    /// A binary string.
    Bytes(Vec<u8>),
    /// A calendar date; zero dates are allowed.
    Date(Date),
    /// A duration or time of day, up to ±838:59:59.
    Time(Time),
    /// DATETIME, or TIMESTAMP already in the session's time zone.
    DateTime(DateTime),
    /// A JSON document, normalised, as [`crate::json`] carries it.
    Json(String),
}

impl Value {
    /// Whether this is NULL.
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The bytes of a text, binary string or JSON document.
    #[inline]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Text(text) | Value::Json(text) => Some(text.as_bytes()),
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The text of a character string or JSON document, and of binary bytes that are UTF-8.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) | Value::Json(text) => Some(text),
            Value::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// Appends the value as text, with as many digits as the value itself has: microseconds only
    /// where there are any, DOUBLE in its shortest form. NULL appends nothing. A caller that knows
    /// the declared type writes times and FLOATs itself.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        match self {
            Value::Null => {}
            Value::Int(value) => number::write_i64(*value, out),
            Value::UInt(value) => number::write_u64(*value, out),
            Value::Double(value) => number::write_double(*value, out),
            Value::Decimal(value) => value.write_text(out),
            Value::Text(text) => out.extend_from_slice(text.as_bytes()),
            Value::Json(text) => out.extend_from_slice(json::printed(text).as_bytes()),
            Value::Bytes(bytes) => out.extend_from_slice(bytes),
            Value::Date(date) => date.write_text(out),
            Value::Time(time) => time.write_text(if time.fraction() == 0 { 0 } else { 6 }, out),
            Value::DateTime(moment) => {
                moment.write_text(if moment.micros == 0 { 0 } else { 6 }, out);
            }
        }
    }
}

macro_rules! value_from {
    ($($from:ty => $variant:ident),* $(,)?) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Value {
                Value::$variant(value.into())
            }
        })*
    };
}

value_from! {
    i64 => Int,
    i32 => Int,
    bool => Int,
    u64 => UInt,
    u32 => UInt,
    f64 => Double,
    Decimal => Decimal,
    String => Text,
    &str => Text,
    Vec<u8> => Bytes,
    &[u8] => Bytes,
    Date => Date,
    Time => Time,
    DateTime => DateTime,
}
