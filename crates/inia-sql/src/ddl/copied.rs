//! Values on their way from a column into one of another type, as ALTER TABLE copies them.
//!
//! INSERT would store some of them otherwise. Here a number goes to strings, members and moments as
//! its text: 7 becomes the member `'7'` of an ENUM, not its seventh. To and from BIT everything
//! is an integer, `'31'` too. A moment becomes a YEAR by its number, which is none for a date.

use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::{EvalContext, ExprType, TypeClass, convert};

/// An upper bound on the characters of a number as text.
const MAX_DIGITS: u64 = 330;

/// The value, and its type, to store in a column of type `to`.
pub(super) fn carried(
    value: Value,
    from: ExprType,
    to: &DataType,
    ctx: &mut EvalContext<'_>,
) -> Result<(Value, ExprType), SqlError> {
    let bits = |data_type: &DataType| matches!(data_type, DataType::Bit(_));
    if value == Value::Null {
        return Ok((value, from));
    }
    if bits(&from.data_type) && !is_large(to) || bits(to) {
        return as_integer(&value, from, ctx);
    }
    // `store_value` converts by the returned type: as a text, 7 is looked up among an ENUM's
    // members.
    let as_text = match from.class() {
        TypeClass::Int | TypeClass::Decimal | TypeClass::Real => {
            !bits(&from.data_type) && !is_number(to)
        }
        TypeClass::Dated | TypeClass::Time => *to == DataType::Json,
        TypeClass::Json => true,
        _ => false,
    };
    if as_text {
        let text = convert::to_text(&value, &from).into_owned();
        return Ok((Value::Text(text), ExprType::text(MAX_DIGITS, Collation::DEFAULT, true)));
    }
    // Only large types are left for a BIT value here. They get its bytes, not its number.
    if bits(&from.data_type) {
        let bytes = convert::to_bytes(&value, &from).into_owned();
        let length = bytes.len() as u64;
        return Ok((Value::Bytes(bytes), ExprType::binary(length, true)));
    }
    let whole = match from.class() {
        TypeClass::Decimal => matches!(to, DataType::Int { .. } | DataType::Year),
        TypeClass::Real | TypeClass::Dated | TypeClass::Time => *to == DataType::Year,
        _ => false,
    };
    if whole {
        return as_integer(&value, from, ctx);
    }
    // ALTER TABLE copies a DATE to an integer without a time, as expressions do.
    let stored = from.stored && from.class() != TypeClass::Dated;
    Ok((value, ExprType { stored, ..from }))
}

/// The value as the nearest integer.
fn as_integer(
    value: &Value,
    mut from: ExprType,
    ctx: &mut EvalContext<'_>,
) -> Result<(Value, ExprType), SqlError> {
    // A short string that loses anything is reported.
    from.stored &= is_large(&from.data_type);
    let whole = convert::to_wide(value, &from, ctx)?;
    Ok(match i64::try_from(whole) {
        Ok(whole) => (Value::Int(whole), ExprType::int(20, true)),
        Err(_) => (Value::UInt(whole as u64), ExprType::uint(20, true)),
    })
}

/// Whether a column of this type may be longer than a row.
fn is_large(data_type: &DataType) -> bool {
    use DataType::{Blob, Geometry, Json, Text};
    matches!(data_type, Text { .. } | Blob(_) | Json | Geometry { .. })
}

fn is_number(data_type: &DataType) -> bool {
    use DataType::{Bit, Decimal, Double, Float, Int, Year};
    matches!(data_type, Int { .. } | Decimal { .. } | Float { .. } | Double { .. } | Bit(_) | Year)
}
