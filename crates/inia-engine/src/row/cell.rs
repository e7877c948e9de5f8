//! One column's value borrowed from stored bytes or from a [`Value`]: the currency of the codecs.

use crate::expr::TimeZone;
use inia_base::column::RowSink;
use inia_base::datatype::DataType;
use inia_base::decimal::Decimal;
use inia_base::temporal::{Date, DateTime, Time};
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
    /// TIMESTAMP: microseconds since 1970 UTC; 0 is the zero timestamp.
    Timestamp(i64),
}

/// DATETIME '0000-00-00 00:00:00'.
pub const ZERO_DATETIME: DateTime =
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
                Cell::Timestamp(timestamp_micros(*v, zone))
            }
            (Value::DateTime(v), DataType::Date) => Cell::Date(v.date),
            (Value::DateTime(v), _) => Cell::DateTime(*v),
        }
    }

    /// The owned value; TIMESTAMP in the session's zone.
    pub fn value(self, data_type: &DataType, zone: &TimeZone) -> Value {
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
            Cell::Timestamp(v) => Value::DateTime(timestamp_local(v, zone)),
        }
    }

    /// Sends the cell of a column of type `data_type`.
    #[inline]
    pub fn emit(self, data_type: &DataType, zone: &TimeZone, sink: &mut dyn RowSink) {
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
            Cell::Text(v) => sink.bytes(v.as_bytes()),
            Cell::Bytes(v) => sink.bytes(v),
            Cell::Date(v) => sink.date(v),
            Cell::Time(v) => sink.time(v, fsp(data_type)),
            Cell::DateTime(v) => sink.datetime(v, fsp(data_type)),
            Cell::Timestamp(v) => sink.datetime(timestamp_local(v, zone), fsp(data_type)),
        }
    }
}

fn emit_uint(value: u64, data_type: &DataType, sink: &mut dyn RowSink) {
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

/// Microseconds since 1970 UTC of a local time; 0 for the zero timestamp.
fn timestamp_micros(local: DateTime, zone: &TimeZone) -> i64 {
    if local == ZERO_DATETIME {
        return 0;
    }
    let date = local.date;
    let days = days_from_civil(i64::from(date.year), i64::from(date.month), i64::from(date.day));
    let clock = i64::from(local.hour) * 3600 + i64::from(local.minute) * 60;
    let seconds = days * 86_400 + clock + i64::from(local.second);
    zone.to_utc(seconds) * 1_000_000 + i64::from(local.micros)
}

fn timestamp_local(micros: i64, zone: &TimeZone) -> DateTime {
    if micros == 0 {
        return ZERO_DATETIME;
    }
    let utc = micros.div_euclid(1_000_000);
    let local = utc + i64::from(zone.offset_at(utc));
    let clock = local.rem_euclid(86_400);
    DateTime {
        date: civil_from_days(local.div_euclid(86_400)),
        hour: (clock / 3600) as u8,
        minute: (clock / 60 % 60) as u8,
        second: (clock % 60) as u8,
        micros: micros.rem_euclid(1_000_000) as u32,
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar, counting years from March.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil_from_days(days: i64) -> Date {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    Date {
        year: (year + era * 400 + i64::from(month <= 2)) as u16,
        month: month as u8,
        day: (of_year - (153 * from_march + 2) / 5 + 1) as u8,
    }
}
