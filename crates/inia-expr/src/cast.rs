//! CAST and the conversions that binding adds.

use crate::bind::year_meant;
use crate::collate;
use crate::context::{EvalContext, Level};
use crate::convert;
use crate::eval::Stop;
use crate::json;
use crate::number;
use crate::print;
use crate::tree::{CastKind, Expr};
use crate::ty::{ExprType, TypeClass};
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, GeometryKind};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_base::temporal::{DateRules, DateTime, Time};
use inia_base::value::Value;

type Result<T> = std::result::Result<T, SqlError>;

/// The value of a `Cast` node: `value` of `inner` as the node's type.
pub(crate) fn cast(
    whole: &Expr,
    inner: &Expr,
    kind: &CastKind,
    value: &Value,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    let (from, to) = (&inner.ty, &whole.ty);
    if *value == Value::Null {
        return Ok(Value::Null);
    }
    if *kind == CastKind::Year {
        return Ok(year_meant(value));
    }
    let explicit = matches!(kind, CastKind::Explicit | CastKind::Item(_));
    match &to.data_type {
        DataType::Int { unsigned, .. } => to_integer(value, from, *unsigned, ctx),
        DataType::Decimal { precision, scale, .. } => {
            let exact = convert::to_decimal(value, from, ctx)?;
            // A conversion that binding adds sets the digits after the point only: the types of
            // some functions have fewer digits than their values.
            if *kind == CastKind::Implicit {
                return Ok(Value::Decimal(exact.with_scale(*scale).unwrap_or(exact)));
            }
            let fitted = exact.rescale(*precision, *scale);
            if fitted.overflow {
                let name = match kind {
                    CastKind::Item(name) => name.to_string(),
                    _ => print::print(whole),
                };
                let row = ctx.row_number;
                ctx.warn(ErrorCode::WarnDataOutOfRange, &[&name, &row])?;
            }
            Ok(Value::Decimal(fitted.value))
        }
        DataType::Float { .. } => {
            // The value keeps its digits; only what is shown is a FLOAT.
            let real = convert::to_real(value, from, ctx)?;
            if (real as f32).is_infinite() {
                return Err(crate::arith::out_of_range("DOUBLE", whole));
            }
            Ok(Value::Double(real))
        }
        DataType::Double { .. } => Ok(Value::Double(convert::to_real(value, from, ctx)?)),
        DataType::Year => to_year(value, from, ctx),
        DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. } => {
            // The mode applies to texts and numbers only: a column's zero date stays.
            let rules = match value {
                Value::Date(_) | Value::DateTime(_) => DateRules::ZEROS,
                _ => ctx.env.date_rules(),
            };
            let moment = convert::to_datetime_with(value, from, rules, ctx)?;
            let Some(moment) = moment else { return Ok(Value::Null) };
            if to.data_type == DataType::Date {
                return Ok(Value::Date(moment.date));
            }
            Ok(round_datetime(moment, to.fsp(), ctx).map_or(Value::Null, Value::DateTime))
        }
        DataType::Time { fsp } => {
            let time = convert::to_time(value, from, ctx)?;
            Ok(time.map_or(Value::Null, |time| Value::Time(round_time(time, *fsp, ctx))))
        }
        DataType::Geometry { kind, .. } if explicit => to_geometry(value, from, *kind),
        DataType::Geometry { .. } => Ok(value.clone()),
        DataType::Json => json::cast(value, from).map(|document| Value::Json(document.carried())),
        _ => to_string(value, from, to, kind, ctx),
    }
}

fn to_geometry(value: &Value, from: &ExprType, kind: GeometryKind) -> Result<Value> {
    match crate::func::geometry::cast(&convert::to_bytes(value, from), kind) {
        Ok(value) => Ok(value),
        Err(Stop::Null) => Ok(Value::Null),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// Rounds to `fsp` digits, or cuts where the mode says so.
pub(crate) fn round_datetime(moment: DateTime, fsp: u8, ctx: &EvalContext<'_>) -> Option<DateTime> {
    if ctx.mode().has(SqlMode::TIME_TRUNCATE_FRACTIONAL) {
        return Some(moment.truncate_to(fsp));
    }
    moment.round_to(fsp)
}

/// Rounds to `fsp` digits, or cuts where the mode says so.
pub(crate) fn round_time(time: Time, fsp: u8, ctx: &EvalContext<'_>) -> Time {
    if ctx.mode().has(SqlMode::TIME_TRUNCATE_FRACTIONAL) {
        return time.truncate_to(fsp);
    }
    time.round_to(fsp)
}

fn to_integer(
    value: &Value,
    from: &ExprType,
    unsigned: bool,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    let wide = match value {
        Value::Decimal(v) if unsigned && !v.is_negative() => match v.to_u64() {
            Ok(v) => i128::from(v),
            Err(bound) => {
                let text = v.to_string();
                ctx.warn(ErrorCode::TruncatedWrongValue, &[&"DECIMAL", &text])?;
                i128::from(bound)
            }
        },
        Value::Decimal(v) => match v.to_i64() {
            Ok(v) => i128::from(v),
            Err(bound) => {
                let text = v.to_string();
                ctx.warn(ErrorCode::TruncatedWrongValue, &[&"DECIMAL", &text])?;
                i128::from(bound)
            }
        },
        Value::Text(text) => text_to_integer(text.as_bytes(), unsigned, ctx)?,
        Value::Bytes(bytes) => text_to_integer(bytes, unsigned, ctx)?,
        _ => convert::to_wide(value, from, ctx)?,
    };
    let bits = if wide < 0 { wide as i64 as u64 } else { wide as u64 };
    Ok(if unsigned { Value::UInt(bits) } else { Value::Int(bits as i64) })
}

fn text_to_integer(text: &[u8], unsigned: bool, ctx: &mut EvalContext<'_>) -> Result<i128> {
    let parsed = number::parse_int(text);
    if parsed.truncated {
        let shown = convert::error_text(text);
        ctx.warn(ErrorCode::TruncatedWrongValue, &[&"INTEGER", &shown])?;
    } else if unsigned && parsed.value < 0 {
        let text = "Cast to unsigned converted negative integer to its positive complement";
        ctx.warn(ErrorCode::UnknownError, &[&text])?;
    } else if !unsigned && parsed.value > i128::from(i64::MAX) {
        let text =
            "Cast to signed converted positive out-of-range integer to its negative complement";
        ctx.warn(ErrorCode::UnknownError, &[&text])?;
    }
    Ok(parsed.value)
}

fn to_year(value: &Value, from: &ExprType, ctx: &mut EvalContext<'_>) -> Result<Value> {
    let shown = convert::to_text(value, from);
    let year = match (from.class(), value) {
        (TypeClass::Dated, _) => match convert::to_date(value, from, ctx)? {
            Some(date) => i64::from(date.year),
            None => return Ok(Value::Null),
        },
        (TypeClass::Time, _) => i64::from(ctx.env.now().date.year),
        (_, Value::Text(_) | Value::Bytes(_)) if !from.hex => {
            let (text, bytes) = (&shown, convert::to_bytes(value, from));
            let parsed = number::parse_int(&bytes);
            let shown = match value {
                Value::Bytes(bytes) => convert::error_bytes(bytes).into(),
                _ => shown.clone(),
            };
            if !parsed.found {
                let error = SqlError::new(ErrorCode::WrongValue, &[&"YEAR", &shown]);
                ctx.raise(Level::Warning, error)?;
                return Ok(Value::Null);
            }
            if parsed.truncated {
                ctx.warn(ErrorCode::TruncatedWrongValue, &[&"YEAR", &shown])?;
            }
            if parsed.value == 0 && text.trim().len() != 4 {
                return Ok(Value::UInt(2000));
            }
            i64::try_from(parsed.value).unwrap_or(i64::MAX)
        }
        _ => convert::to_int(value, from, ctx)?,
    };
    Ok(match year {
        0 | 1901..=2155 => Value::UInt(year as u64),
        1..=69 => Value::UInt(year as u64 + 2000),
        70..=99 => Value::UInt(year as u64 + 1900),
        _ => {
            let shown = match from.class() {
                TypeClass::Decimal | TypeClass::Real => year.to_string().into(),
                _ => shown,
            };
            ctx.warn(ErrorCode::TruncatedWrongValue, &[&"YEAR", &shown])?;
            Value::Null
        }
    })
}

fn to_string(
    value: &Value,
    from: &ExprType,
    to: &ExprType,
    kind: &CastKind,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    // A binary result has the bytes of the operand's own character set, and BINARY(n) has exactly
    // n of them: longer values are cut with a warning, shorter ones padded with zeros.
    if to.collation() == Collation::BINARY {
        let mut bytes = match from.is_text() {
            true => collate::encode(from.collation(), &convert::to_text(value, from)),
            false => convert::to_bytes(value, from).into_owned(),
        };
        if let CastKind::Limited(limit) = kind {
            if bytes.len() > *limit as usize {
                let name = format!("BINARY({limit})");
                let shown = convert::error_text(&bytes);
                ctx.warn(ErrorCode::TruncatedWrongValue, &[&name, &shown])?;
            }
            bytes.resize(*limit as usize, 0);
        }
        return Ok(Value::Bytes(bytes));
    }
    // Bytes are read in the target's character set; MySQL gives NULL where they are no such text.
    let bits = match from.data_type {
        DataType::Bit(_) => Some(Value::Bytes(convert::to_bytes(value, from).into_owned())),
        _ => None,
    };
    let text = match bits.as_ref().unwrap_or(value) {
        Value::Bytes(bytes) => match read_bytes(to.collation(), bytes) {
            Some(text) => text,
            None => {
                let name = collate::charset_name(to.collation());
                let hex: String = bytes.iter().take(3).map(|b| format!("{b:02X}")).collect();
                let error = SqlError::new(ErrorCode::InvalidCharacterString, &[&name, &hex]);
                ctx.raise(Level::Warning, error)?;
                return Ok(Value::Null);
            }
        },
        _ => collate::into_repertoire(to.collation(), convert::to_text(value, from)),
    };
    if let CastKind::Limited(limit) = kind
        && text.chars().count() > *limit as usize
    {
        let name = format!("CHAR({limit})");
        ctx.warn(ErrorCode::TruncatedWrongValue, &[&name, &text])?;
        return Ok(Value::Text(text.chars().take(*limit as usize).collect()));
    }
    Ok(Value::Text(text))
}

/// Binary bytes as text of a character set.
fn read_bytes(to: Collation, bytes: &[u8]) -> Option<String> {
    collate::decode(to, &to.charset().whole_units(bytes))
}

/// A decimal with all the digits after the point that its type shows: `coalesce(1, 2.50)` is 1.00.
pub fn padded(value: Value, ty: &ExprType) -> Value {
    match (value, &ty.data_type) {
        (Value::Decimal(value), DataType::Decimal { scale, .. }) if value.scale() < *scale => {
            Value::Decimal(value.with_scale(*scale).unwrap_or(value))
        }
        (value, _) => value,
    }
}

/// A decimal with just the digits after the point that its type shows.
pub fn rounded(value: Value, ty: &ExprType) -> Value {
    match (value, &ty.data_type) {
        (Value::Decimal(value), DataType::Decimal { scale, .. }) => {
            Value::Decimal(value.with_scale(*scale).unwrap_or(value))
        }
        (value, _) => value,
    }
}

/// Bytes as a binary string's type has them: BINARY has zeros at the end.
fn filled(mut bytes: Vec<u8>, ty: &ExprType) -> Value {
    if let DataType::Binary(length) = ty.data_type {
        bytes.resize(bytes.len().max(length as usize), 0);
    }
    Value::Bytes(bytes)
}

/// `value` as one of the values that CASE, IF, COALESCE or a set operation yields.
pub fn unify(
    value: Value,
    from: &ExprType,
    to: &ExprType,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    if value == Value::Null {
        return Ok(Value::Null);
    }
    Ok(match to.class() {
        TypeClass::Null => value,
        TypeClass::Int => {
            let wide = convert::to_wide(&value, from, ctx)?;
            if to.is_unsigned() { Value::UInt(wide as u64) } else { Value::Int(wide as i64) }
        }
        TypeClass::Decimal => Value::Decimal(convert::to_decimal(&value, from, ctx)?),
        TypeClass::Real => Value::Double(convert::to_real(&value, from, ctx)?),
        TypeClass::Dated => {
            let moment = convert::to_datetime(&value, from, ctx)?;
            let date = to.data_type == DataType::Date;
            moment.map_or(Value::Null, |moment| match date {
                true => Value::Date(moment.date),
                false => Value::DateTime(moment),
            })
        }
        TypeClass::Time => convert::to_time(&value, from, ctx)?.map_or(Value::Null, Value::Time),
        TypeClass::Json => json::value(json::scalar_or_document(&value, from)?.carried())?,
        TypeClass::String if to.is_text() => match value {
            Value::Text(text) => Value::Text(text),
            other => Value::Text(convert::to_text(&other, from).into_owned()),
        },
        TypeClass::String => match value {
            Value::Bytes(bytes) => filled(bytes, to),
            other => filled(convert::to_bytes(&other, from).into_owned(), to),
        },
    })
}
