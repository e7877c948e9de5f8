//! JSON scalars as SQL numbers.

use super::Json;
use crate::context::EvalContext;
use crate::convert;
use crate::number;
use inia_base::decimal::{Decimal, MAX_DIGITS};
use inia_base::error::{ErrorCode, SqlError};

/// Warning 3156.
pub(crate) fn wrong(target: &str, ctx: &mut EvalContext<'_>) -> Result<(), SqlError> {
    let row = ctx.row_number;
    let args: [&dyn std::fmt::Display; 4] = [&target, &"", &"", &row];
    let error = SqlError::new(ErrorCode::InvalidJsonValueForCast, &args);
    ctx.raise(crate::context::Level::Warning, error)
}

/// As an integer.
pub(crate) fn wide(text: &str, ctx: &mut EvalContext<'_>) -> Result<i128, SqlError> {
    Ok(match super::stored(text) {
        Json::Int(v) => i128::from(v),
        Json::UInt(v) => i128::from(v),
        Json::Bool(v) => i128::from(v),
        Json::Double(v) => i128::from(convert::round_even(v)),
        Json::Decimal(v) => i128::from(v.to_i64().unwrap_or_else(|bound| bound)),
        Json::String(inner) => {
            let parsed = number::parse_int(inner.as_bytes());
            if parsed.truncated {
                wrong("INTEGER", ctx)?;
            }
            parsed.value
        }
        _ => {
            wrong("INTEGER", ctx)?;
            0
        }
    })
}

/// As a double.
pub(crate) fn real(text: &str, ctx: &mut EvalContext<'_>) -> Result<f64, SqlError> {
    Ok(match super::stored(text) {
        Json::Int(v) => v as f64,
        Json::UInt(v) => v as f64,
        Json::Bool(v) => f64::from(u8::from(v)),
        Json::Double(v) => v,
        Json::Decimal(v) => v.to_f64(),
        Json::String(inner) => {
            let parsed = number::parse_real(inner.as_bytes());
            if parsed.truncated {
                wrong("DOUBLE", ctx)?;
            }
            parsed.value
        }
        _ => {
            wrong("DOUBLE", ctx)?;
            0.0
        }
    })
}

/// As an exact decimal.
pub(crate) fn decimal(text: &str, ctx: &mut EvalContext<'_>) -> Result<Decimal, SqlError> {
    Ok(match super::stored(text) {
        Json::Int(v) => Decimal::from_i128(i128::from(v), 0),
        Json::UInt(v) => Decimal::from_i128(i128::from(v), 0),
        Json::Bool(v) => Decimal::from_i128(i128::from(v), 0),
        Json::Double(v) => {
            Decimal::from_f64(v).unwrap_or_else(|_| Decimal::bound(MAX_DIGITS, 0, v < 0.0))
        }
        Json::Decimal(v) => v,
        Json::String(inner) => {
            let parsed = Decimal::parse_prefix(inner.as_bytes());
            if parsed.consumed < inner.len() || parsed.consumed == 0 {
                wrong("DECIMAL", ctx)?;
            }
            parsed.value
        }
        _ => {
            wrong("DECIMAL", ctx)?;
            Decimal::ZERO
        }
    })
}
