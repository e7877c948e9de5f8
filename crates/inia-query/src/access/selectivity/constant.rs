//! Constants as the bytes in which a column's statistics keep its values.
//!
//! The bytes are for estimates: a constant that the column's type cannot hold is rounded to a value
//! that it can, and a TIMESTAMP's constant is read in UTC.

use crate::catalog::Table;
use crate::catalog::stats::value_codec;
use crate::row::Cell;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::decimal::Decimal;
use inia_base::temporal::{Date, DateRules, DateTime};
use inia_base::value::Value;

/// The bytes of a constant that a column is compared with; `None` where it has no place among the
/// column's values.
pub(super) fn constant_key(value: &Value, table: &Table, column: usize) -> Option<Vec<u8>> {
    let codec = value_codec(table, column)?;
    let data_type = &table.def.columns[column].data_type;
    let cell = match data_type {
        DataType::Int { width, unsigned } => integer(value, *width, *unsigned)?,
        DataType::Bit(_) | DataType::Year | DataType::Set { .. } => {
            Cell::UInt(number(value)?.max(0.0) as u64)
        }
        DataType::Enum { members, .. } => match value {
            Value::Text(text) => {
                let is_it = |member: &String| member.eq_ignore_ascii_case(text);
                Cell::UInt(members.iter().position(is_it)? as u64 + 1)
            }
            _ => Cell::UInt(number(value)?.max(0.0) as u64),
        },
        DataType::Decimal { precision, scale, .. } => {
            Cell::Decimal(decimal(value)?.rescale(*precision, *scale).value)
        }
        DataType::Float { .. } => Cell::Float(number(value)? as f32),
        DataType::Double { .. } => Cell::Double(number(value)?),
        DataType::Date => Cell::Date(moment(value)?.date),
        DataType::DateTime { .. } => Cell::DateTime(moment(value)?),
        DataType::Timestamp { .. } => Cell::Timestamp(moment(value)?),
        DataType::Time { .. } => match value {
            Value::Time(time) => Cell::Time(*time),
            _ => return None,
        },
        DataType::Char { .. } | DataType::VarChar { .. } | DataType::Text { .. } => match value {
            Value::Text(text) => Cell::Text(text),
            _ => return None,
        },
        _ => match value {
            Value::Bytes(bytes) => Cell::Bytes(bytes),
            Value::Text(text) => Cell::Bytes(text.as_bytes()),
            _ => return None,
        },
    };
    let mut key = Vec::new();
    codec.put(&cell, &mut key).ok()?;
    Some(key)
}

fn number(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Int(number) => *number as f64,
        Value::UInt(number) => *number as f64,
        Value::Double(number) => *number,
        Value::Decimal(number) => number.to_f64(),
        Value::Text(text) => text.trim().parse().ok()?,
        _ => return None,
    })
}

fn integer(value: &Value, width: IntWidth, unsigned: bool) -> Option<Cell<'static>> {
    let number = match value {
        Value::Int(number) => i128::from(*number),
        Value::UInt(number) => i128::from(*number),
        other => number(other)?.round() as i128,
    };
    let bits = width.bits();
    Some(match unsigned {
        true => Cell::UInt(number.clamp(0, (1 << bits) - 1) as u64),
        false => {
            let most = 1i128 << (bits - 1);
            Cell::Int(number.clamp(-most, most - 1) as i64)
        }
    })
}

fn decimal(value: &Value) -> Option<Decimal> {
    match value {
        Value::Decimal(number) => Some(*number),
        Value::Int(number) => Some(Decimal::from(*number)),
        Value::UInt(number) => Some(Decimal::from(*number)),
        other => Decimal::from_f64(number(other)?).ok(),
    }
}

fn moment(value: &Value) -> Option<DateTime> {
    let midnight = |date: Date| DateTime { date, hour: 0, minute: 0, second: 0, micros: 0 };
    match value {
        Value::Date(date) => Some(midnight(*date)),
        Value::DateTime(moment) => Some(*moment),
        Value::Text(text) => Some(DateTime::parse(text, DateRules::ZEROS).ok()?.value),
        _ => None,
    }
}
