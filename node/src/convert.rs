//! Cells as JavaScript's values, and JavaScript's values as parameters. What depends on options of
//! a connection, as dates do, is left to `lib/values.js`.
//!
//! | MySQL | here |
//! |---|---|
//! | integers, YEAR, BIT | number; BigInt beyond 2^53 |
//! | FLOAT, DOUBLE | number |
//! | DECIMAL, character strings, JSON | string |
//! | DATE, TIME, DATETIME | string, as MySQL shows it |
//! | binary strings | Buffer |

use crate::worker::Failure;
use inia::{ColumnKind, Row, Value, ValueRef};
use napi::bindgen_prelude::{BigInt, Buffer, Either5, Either6, Null};

pub(crate) type Cell = Either5<Null, f64, BigInt, String, Buffer>;
pub(crate) type Parameter = Either6<Null, bool, f64, BigInt, Buffer, String>;

/// Integers up to this one are exact in a double.
const SAFE: u64 = (1 << 53) - 1;

/// Appends the cells of a row.
pub(crate) fn append(row: &Row<'_>, cells: &mut Vec<Cell>) -> Result<(), Failure> {
    for column in 0..row.len() {
        let cell = match row.value(column)? {
            ValueRef::Null => Cell::A(Null),
            ValueRef::Int(number) if number.unsigned_abs() <= SAFE => Cell::B(number as f64),
            ValueRef::Int(number) => Cell::C(number.into()),
            ValueRef::UInt(number) => unsigned(number),
            ValueRef::Double(number) => Cell::B(number),
            ValueRef::Decimal(text) | ValueRef::Text(text) | ValueRef::Json(text) => {
                Cell::D(text.to_owned())
            }
            ValueRef::Bytes(bytes) => Cell::E(bytes.to_vec().into()),
            ValueRef::Date(_) | ValueRef::Time(..) | ValueRef::DateTime(..) => {
                Cell::D(row.get::<String>(column)?)
            }
            _ => return Err(Failure::of("a value is of a type that is not known here")),
        };
        cells.push(cell);
    }
    Ok(())
}

/// An integer that is not negative.
pub(crate) fn unsigned(number: u64) -> Cell {
    if number <= SAFE { Cell::B(number as f64) } else { Cell::C(number.into()) }
}

/// The value of a parameter.
pub(crate) fn parameter(value: Parameter) -> Result<Value, Failure> {
    Ok(match value {
        Parameter::A(Null) => Value::Null,
        Parameter::B(flag) => Value::Int(flag.into()),
        Parameter::C(number) if number.fract() == 0.0 && number.abs() <= SAFE as f64 => {
            Value::Int(number as i64)
        }
        Parameter::C(number) if number.is_finite() => Value::Double(number),
        Parameter::C(_) => return Err(Failure::of("a parameter cannot be NaN or infinite")),
        Parameter::D(number) => integer(&number)?,
        Parameter::E(bytes) => Value::Bytes(bytes.to_vec()),
        Parameter::F(text) => Value::Text(text),
    })
}

fn integer(number: &BigInt) -> Result<Value, Failure> {
    if let (number, true) = number.get_i64() {
        return Ok(Value::Int(number));
    }
    match number.get_u64() {
        (false, number, true) => Ok(Value::UInt(number)),
        _ => Err(Failure::of("a BigInt that is a parameter has 64 bits at most")),
    }
}

/// The name of a kind of columns.
pub(crate) fn kind_name(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Null => "null",
        ColumnKind::Integer => "integer",
        ColumnKind::Bit => "bit",
        ColumnKind::Decimal => "decimal",
        ColumnKind::Double => "double",
        ColumnKind::Bytes => "bytes",
        ColumnKind::Date => "date",
        ColumnKind::Time => "time",
        ColumnKind::DateTime => "datetime",
        ColumnKind::Json => "json",
        _ => "text",
    }
}
