//! A single SQL value in memory.

use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};

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
    /// A JSON document as MySQL prints it (normalised keys and spacing).
    Json(String),
}
