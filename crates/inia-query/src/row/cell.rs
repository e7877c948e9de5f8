//! One column's value borrowed from stored bytes or from a [`Value`]: the currency of the codecs.

use inia_base::column::RowSink;
use inia_base::datatype::DataType;
use inia_base::decimal::Decimal;
use inia_base::json;
use inia_base::temporal::{Date, DateTime, Time, TimeZone};
use inia_base::value::Value;

/// A stored value: like [`Value`], but borrowed, and TIMESTAMP in UTC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// NULL.
    Null,
    /// A signed integer.
    Int(i64),
    /// An unsigned integer, BIT, YEAR, ENUM's index or SET's mask.
    UInt(u64),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// DECIMAL.
    Decimal(Decimal),
    /// A character string, JSON included.
    Text(&'a str),
    /// A binary string.
    Bytes(&'a [u8]),
    /// DATE.
    Date(Date),
    /// TIME.
    Time(Time),
    /// DATETIME.
    DateTime(DateTime),
    /// TIMESTAMP in UTC.
    Timestamp(DateTime),
}

/// '0000-00-00 00:00:00'.
const ZERO_DATETIME: DateTime =
    DateTime { date: Date { year: 0, month: 0, day: 0 }, hour: 0, minute: 0, second: 0, micros: 0 };

impl<'a> Cell<'a> {
    /// The cell of a value that was converted to `data_type` before.
    pub fn of(value: &'a Value, data_type: &DataType, zone: &TimeZone) -> Cell<'a> {
        match (value, data_type) {
            (Value::Null, _) => Cell::Null,
            (Value::Int(v), DataType::Int { unsigned: true, .. }) => Cell::UInt(*v as u64),
            (Value::UInt(v), DataType::Int { unsigned: false, .. }) => Cell::Int(*v as i64),
            (Value::Int(v), DataType::Int { .. }) => Cell::Int(*v),
            (Value::Int(v), _) => Cell::UInt(*v as u64),
            (Value::UInt(v), _) => Cell::UInt(*v),
            (Value::Double(v), DataType::Float { .. }) => Cell::Float(*v as f32),
            (Value::Double(v), _) => Cell::Double(*v),
            (Value::Decimal(v), _) => Cell::Decimal(*v),
            (Value::Text(v) | Value::Json(v), _) => Cell::Text(v),
            (Value::Bytes(v), _) => Cell::Bytes(v),
            (Value::Date(v), _) => Cell::Date(*v),
            (Value::Time(v), _) => Cell::Time(*v),
            (Value::DateTime(v), DataType::Timestamp { .. }) => {
                Cell::Timestamp(zone.to_utc(*v).unwrap_or(ZERO_DATETIME))
            }
            (Value::DateTime(v), DataType::Date) => Cell::Date(v.date),
            (Value::DateTime(v), _) => Cell::DateTime(*v),
        }
    }

    /// The owned value; TIMESTAMP in the session's zone.
    pub(crate) fn value(self, data_type: &DataType, zone: &TimeZone) -> Value {
        match self {
            Cell::Null => Value::Null,
            Cell::Int(v) => Value::Int(v),
            Cell::UInt(v) => Value::UInt(v),
            Cell::Float(v) => Value::Double(f64::from(v)),
            Cell::Double(v) => Value::Double(v),
            Cell::Decimal(v) => Value::Decimal(v),
            Cell::Text(v) if matches!(data_type, DataType::Json) => Value::Json(v.to_owned()),
            Cell::Text(v) => Value::Text(v.to_owned()),
            Cell::Bytes(v) => Value::Bytes(v.to_owned()),
            Cell::Date(v) => Value::Date(v),
            Cell::Time(v) => Value::Time(v),
            Cell::DateTime(v) => Value::DateTime(v),
            Cell::Timestamp(v) => Value::DateTime(local(v, zone)),
        }
    }

    /// Sends the cell of a column of type `data_type`.
    #[inline]
    pub(crate) fn emit(self, data_type: &DataType, zone: &TimeZone, sink: &mut dyn RowSink) {
        match self {
            Cell::Null => sink.null(),
            Cell::Int(v) => sink.int(v),
            Cell::UInt(v) => emit_uint(v, data_type, sink),
            Cell::Float(v) => sink.float(v),
            Cell::Double(v) => sink.double(v),
            Cell::Decimal(v) => {
                let mut text = Vec::with_capacity(32);
                v.write_text(&mut text);
                sink.bytes(&text);
            }
            Cell::Text(v) if *data_type == DataType::Json => {
                sink.bytes(json::printed(v).as_bytes());
            }
            Cell::Text(v) => sink.bytes(v.as_bytes()),
            Cell::Bytes(v) => sink.bytes(v),
            Cell::Date(v) => sink.date(v),
            Cell::Time(v) => sink.time(v, fsp(data_type)),
            Cell::DateTime(v) => sink.datetime(v, fsp(data_type)),
            Cell::Timestamp(v) => sink.datetime(local(v, zone), fsp(data_type)),
        }
    }
}

/// Sends an unsigned number as a column of type `data_type` shows it.
pub(crate) fn emit_uint(value: u64, data_type: &DataType, sink: &mut dyn RowSink) {
    match data_type {
        DataType::Bit(bits) => {
            let bytes = value.to_be_bytes();
            sink.bytes(&bytes[8 - usize::from(bits.div_ceil(8)).min(8)..]);
        }
        DataType::Enum { members, .. } => match usize::try_from(value) {
            Ok(index) if index > 0 && index <= members.len() => {
                sink.bytes(members[index - 1].as_bytes());
            }
            _ => sink.bytes(b""),
        },
        DataType::Set { members, .. } => {
            let mut text = String::new();
            for (bit, member) in members.iter().enumerate().filter(|(bit, _)| value >> bit & 1 == 1)
            {
                if value & ((1 << bit) - 1) != 0 {
                    text.push(',');
                }
                text.push_str(member);
            }
            sink.bytes(text.as_bytes());
        }
        _ => sink.uint(value),
    }
}

fn fsp(data_type: &DataType) -> u8 {
    match data_type {
        DataType::Time { fsp } | DataType::DateTime { fsp } | DataType::Timestamp { fsp } => *fsp,
        _ => 0,
    }
}

/// A stored TIMESTAMP as the session sees it.
fn local(utc: DateTime, zone: &TimeZone) -> DateTime {
    zone.from_utc(utc).unwrap_or(ZERO_DATETIME)
}
