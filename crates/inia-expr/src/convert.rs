//! Values as values of another kind, with MySQL's warnings for what is lost.
//!
//! A value alone does not say what it is: `UInt(2)` may be a number, a YEAR, or an ENUM's second
//! member. So every conversion takes the value with its type.

use crate::cast;
use crate::charset;
use crate::context::{Environment, EvalContext, Level};
use crate::json::{self, Json};
use crate::number;
use crate::ty::ExprType;
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::decimal::{Decimal, MAX_DIGITS};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::json::printed;
use inia_base::temporal::{Date, DateRules, DateTime, Deprecated, Time};
use inia_base::value::Value;
use std::borrow::Cow;

type Result<T> = std::result::Result<T, SqlError>;

fn truncated(ctx: &mut EvalContext<'_>, kind: &str, text: &[u8]) -> Result<()> {
    ctx.warn(ErrorCode::TruncatedWrongValue, &[&kind, &error_text(text)])
}

/// Bytes as error texts show them: at most 128 bytes of characters, or 64 bytes with those that are
/// no characters in hexadecimal.
pub fn error_text(bytes: &[u8]) -> String {
    const MAX: usize = 128;
    match std::str::from_utf8(bytes) {
        Ok(text) if text.contains('\0') => text.replace('\0', "\\x00"),
        Ok(text) => text[..text.floor_char_boundary(MAX)].to_owned(),
        Err(_) => error_bytes(bytes),
    }
}

/// A binary string as error texts show it.
pub(crate) fn error_bytes(bytes: &[u8]) -> String {
    let shown = bytes.iter().take(64).map(|byte| match byte.is_ascii_graphic() {
        true => char::from(*byte).to_string(),
        false => format!("\\x{byte:02X}"),
    });
    shown.collect()
}

/// Truth: not zero. `None` for NULL.
pub(crate) fn to_bool(
    value: &Value,
    ty: &ExprType,
    ctx: &mut EvalContext<'_>,
) -> Result<Option<bool>> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Int(v) => *v != 0,
        Value::UInt(v) if ty.of_group => of_member(*v, ty) != 0.0,
        Value::UInt(v) => *v != 0,
        Value::Double(v) => *v != 0.0,
        Value::Decimal(v) => !v.is_zero(),
        _ => to_real(value, ty, ctx)? != 0.0,
    }))
}

/// The value as an integer wide enough for signed and unsigned ones.
pub fn to_wide(value: &Value, ty: &ExprType, ctx: &mut EvalContext<'_>) -> Result<i128> {
    Ok(match value {
        Value::Null => 0,
        Value::Int(v) => i128::from(*v),
        Value::UInt(v) if ty.of_group => i128::from(of_member(*v, ty) as i64),
        Value::UInt(v) => i128::from(*v),
        Value::Double(v) => i128::from(round_even(*v)),
        Value::Decimal(v) if ty.of_group => i128::from(round_even(v.to_f64())),
        Value::Decimal(v) => match v.to_i64() {
            Ok(v) => i128::from(v),
            Err(bound) => match v.to_u64() {
                Ok(v) => i128::from(v),
                Err(unsigned) => {
                    truncated(ctx, "DECIMAL", v.to_string().as_bytes())?;
                    if ty.is_unsigned() { i128::from(unsigned) } else { i128::from(bound) }
                }
            },
        },
        Value::Text(text) => int_of_text(text.as_bytes(), ty, ctx)?,
        Value::Bytes(bytes) if ty.hex => i128::from(number::of_hex(bytes)),
        Value::Bytes(bytes) => int_of_text(bytes, ty, ctx)?,
        Value::Date(date) => i128::from(date.to_number()),
        Value::Time(time) => i128::from(cast::round_time(*time, 0, ctx).to_number()),
        Value::DateTime(moment) => match cast::round_datetime(*moment, 0, ctx) {
            Some(moment) => i128::from(moment.to_number()),
            None => {
                ctx.warn(ErrorCode::DatetimeFunctionOverflow, &[&"datetime"])?;
                i128::from(moment.date.at_midnight().to_number())
            }
        },
        Value::Json(text) => json::to_number::wide(text, ctx)?,
    })
}

/// What is reported of a text that is not wholly a number, by where it comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TruncationReport {
    /// Computed values, CHAR and BINARY columns: whatever is lost.
    All,
    /// VARCHAR and VARBINARY columns: whatever is lost, shown up to a zero byte. MySQL counts the
    /// bytes of the stored length with the number, so that twice as many others go unreported.
    Varying { unreported: usize },
    /// TEXT and BLOB columns, MIN and MAX: nothing.
    Nothing,
}

impl TruncationReport {
    fn of(ty: &ExprType) -> TruncationReport {
        match ty.data_type {
            _ if ty.of_group => TruncationReport::Nothing,
            _ if !ty.stored => TruncationReport::All,
            DataType::VarChar { chars, collation } => {
                TruncationReport::varying(chars.saturating_mul(charset::max_bytes(collation)))
            }
            DataType::VarBinary(bytes) => TruncationReport::varying(bytes),
            DataType::Text { .. } | DataType::Blob(_) => TruncationReport::Nothing,
            _ => TruncationReport::All,
        }
    }

    fn varying(bytes: u32) -> TruncationReport {
        TruncationReport::Varying { unreported: if bytes > u32::from(u8::MAX) { 4 } else { 2 } }
    }

    fn covers<T>(self, parsed: &number::Prefix<T>) -> bool {
        match self {
            TruncationReport::All => parsed.truncated,
            TruncationReport::Varying { unreported } => {
                parsed.truncated && (parsed.overflow || parsed.rest != unreported)
            }
            TruncationReport::Nothing => false,
        }
    }

    /// The text as it is shown: of VARBINARY columns up to a zero byte.
    fn shown(self, text: &[u8]) -> &[u8] {
        match self {
            TruncationReport::Varying { .. } => {
                text.split(|byte| *byte == 0).next().unwrap_or_default()
            }
            _ => text,
        }
    }
}

fn int_of_text(text: &[u8], ty: &ExprType, ctx: &mut EvalContext<'_>) -> Result<i128> {
    let (parsed, report) = (number::parse_int(text), TruncationReport::of(ty));
    if report.covers(&parsed) {
        truncated(ctx, "INTEGER", report.shown(text))?;
    }
    Ok(if ty.stored { parsed.value.min(i128::from(i64::MAX)) } else { parsed.value })
}

/// Rounds half to even and clamps to 64 bits, as `rint` and MySQL do.
pub(crate) fn round_even(value: f64) -> i64 {
    value.round_ties_even() as i64
}

/// The value as a signed integer; larger unsigned ones wrap, as MySQL's `val_int` does.
pub(crate) fn to_int(value: &Value, ty: &ExprType, ctx: &mut EvalContext<'_>) -> Result<i64> {
    let wide = to_wide(value, ty, ctx)?;
    Ok(i64::try_from(wide).unwrap_or(wide as u64 as i64))
}

/// The value as a double.
pub fn to_real(value: &Value, ty: &ExprType, ctx: &mut EvalContext<'_>) -> Result<f64> {
    Ok(match value {
        Value::Null => 0.0,
        Value::Int(v) => *v as f64,
        Value::UInt(v) if ty.of_group => of_member(*v, ty),
        Value::UInt(v) => *v as f64,
        Value::Double(v) => *v,
        Value::Decimal(v) => v.to_f64(),
        Value::Text(text) => real_of_text(text.as_bytes(), ty, ctx)?,
        Value::Bytes(bytes) if ty.hex => number::of_hex(bytes) as f64,
        Value::Bytes(bytes) => real_of_text(bytes, ty, ctx)?,
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) => temporal_number(value, ty).to_f64(),
        Value::Json(text) => json::to_number::real(text, ctx)?,
    })
}

/// The number that the text of an ENUM or SET is; nothing is said of what is no number.
fn of_member(value: u64, ty: &ExprType) -> f64 {
    number::parse_real(plain_text(&Value::UInt(value), ty).as_bytes()).value
}

fn real_of_text(text: &[u8], ty: &ExprType, ctx: &mut EvalContext<'_>) -> Result<f64> {
    let (parsed, report) = (number::parse_real(text), TruncationReport::of(ty));
    if report.covers(&parsed) {
        truncated(ctx, "DOUBLE", report.shown(text))?;
    }
    Ok(parsed.value)
}

/// The value as an exact decimal.
pub fn to_decimal(value: &Value, ty: &ExprType, ctx: &mut EvalContext<'_>) -> Result<Decimal> {
    Ok(match value {
        Value::Null => Decimal::ZERO,
        Value::Int(v) => Decimal::from_i128(i128::from(*v), 0),
        Value::UInt(v) if ty.of_group => {
            return to_decimal(&Value::Double(of_member(*v, ty)), ty, ctx);
        }
        Value::UInt(v) => Decimal::from_i128(i128::from(*v), 0),
        Value::Double(v) => {
            Decimal::from_f64(*v).unwrap_or_else(|_| Decimal::bound(MAX_DIGITS, 0, *v < 0.0))
        }
        Value::Decimal(v) => *v,
        Value::Text(text) => decimal_of_text(text.as_bytes(), ty, ctx)?,
        Value::Bytes(bytes) if ty.hex => Decimal::from(number::of_hex(bytes)),
        Value::Bytes(bytes) => decimal_of_text(bytes, ty, ctx)?,
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) => temporal_number(value, ty),
        Value::Json(text) => json::to_number::decimal(text, ctx)?,
    })
}

fn decimal_of_text(text: &[u8], ty: &ExprType, ctx: &mut EvalContext<'_>) -> Result<Decimal> {
    let parsed = Decimal::parse_prefix(text);
    let rest = text.get(parsed.consumed..).unwrap_or_default();
    let junk = parsed.consumed == 0 || !rest.iter().all(u8::is_ascii_whitespace);
    if ty.stored && parsed.consumed == 0 {
        let error = "Incorrect DECIMAL value: '0' for column '' at row -1".to_owned();
        let error = SqlError::with_message(ErrorCode::TruncatedWrongValueForField, error);
        ctx.raise(Level::Warning, error)?;
    }
    if (junk || parsed.overflow) && TruncationReport::of(ty) != TruncationReport::Nothing {
        truncated(ctx, "DECIMAL", text)?;
    }
    Ok(parsed.value)
}

/// A date or time as the number that MySQL makes of it: 20240131, 20240131101112.5, 101112.
fn temporal_number(value: &Value, ty: &ExprType) -> Decimal {
    let with_micros = |whole: i128, micros: u32, negative: bool| {
        let fsp = ty.fsp();
        let scaled = whole * 1_000_000 + i128::from(micros);
        let exact = Decimal::from_i128(if negative { -scaled } else { scaled }, 6);
        exact.truncate(i32::from(fsp)).with_scale(fsp).unwrap_or(exact)
    };
    match value {
        Value::Date(date) => Decimal::from_i128(i128::from(date.to_number()), 0),
        Value::DateTime(moment) => {
            with_micros(i128::from(moment.to_number()), moment.micros, false)
        }
        Value::Time(time) => {
            let whole = i128::from(time.to_number().unsigned_abs());
            with_micros(whole, time.fraction(), time.is_negative())
        }
        _ => Decimal::ZERO,
    }
}

/// The value as characters. Binary strings show as Latin characters where they are not UTF-8.
pub fn to_text<'v>(value: &'v Value, ty: &ExprType) -> Cow<'v, str> {
    match value {
        Value::Text(text) => Cow::Borrowed(text),
        Value::Json(text) => printed(text),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes),
        _ => Cow::Owned(plain_text(value, ty)),
    }
}

/// The value as text where it meets text of a collation: bytes are taken for text of its
/// character set.
pub(crate) fn to_text_of<'v>(
    value: &'v Value,
    ty: &ExprType,
    collation: Collation,
) -> Cow<'v, str> {
    match value {
        Value::Bytes(bytes) => {
            collation.charset().decode(bytes).unwrap_or_else(|_| String::from_utf8_lossy(bytes))
        }
        _ => to_text(value, ty),
    }
}

/// The value as the bytes of a string: text as those of its character set.
pub fn to_bytes<'v>(value: &'v Value, ty: &ExprType) -> Cow<'v, [u8]> {
    match value {
        Value::Text(text) if ty.is_text() => ty.collation().charset().encode(text),
        Value::Text(text) => Cow::Borrowed(text.as_bytes()),
        Value::Json(text) => match printed(text) {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        },
        Value::Bytes(bytes) => Cow::Borrowed(bytes),
        Value::UInt(bits) if let DataType::Bit(width) = ty.data_type => {
            let bytes = bits.to_be_bytes();
            Cow::Owned(bytes[8 - usize::from(width).div_ceil(8)..].to_vec())
        }
        _ => Cow::Owned(plain_text(value, ty).into_bytes()),
    }
}

/// Characters that a DOUBLE column's value may have as a string, and a computed one.
const STORED_DOUBLE: usize = 24;
const COMPUTED_DOUBLE: usize = 22;

fn plain_text(value: &Value, ty: &ExprType) -> String {
    match value {
        Value::Double(_) | Value::Decimal(_) if ty.zerofill => {
            let plain = ExprType { zerofill: false, ..ty.clone() };
            format!("{:0>width$}", plain_text(value, &plain), width = ty.length as usize)
        }
        Value::Null => String::new(),
        Value::Int(v) if ty.zerofill => format!("{v:0>width$}", width = ty.length as usize),
        Value::Int(v) => v.to_string(),
        // Several types are carried as numbers and show what the number stands for.
        Value::UInt(v) => match &ty.data_type {
            DataType::Year => format!("{v:04}"),
            DataType::Enum { members, .. } => {
                let member = (*v as usize).checked_sub(1).and_then(|at| members.get(at));
                member.cloned().unwrap_or_default()
            }
            DataType::Set { members, .. } => {
                let chosen = members.iter().enumerate().filter(|(i, _)| v >> i & 1 == 1);
                chosen.map(|(_, member)| member.as_str()).collect::<Vec<&str>>().join(",")
            }
            DataType::Bit(_) => String::from_utf8_lossy(&to_bytes(value, ty)).into_owned(),
            _ if ty.zerofill => format!("{v:0>width$}", width = ty.length as usize),
            _ => v.to_string(),
        },
        Value::Double(v) => match ty.data_type {
            DataType::Float { decimals: Some(digits), .. }
            | DataType::Double { decimals: Some(digits), .. } => number::fixed_text(*v, digits),
            // A stored FLOAT shows a single's digits, a computed one those of a DOUBLE.
            DataType::Float { .. } if ty.stored => number::float_text(*v),
            _ if ty.stored => number::double_in(*v, STORED_DOUBLE),
            _ => number::double_in(*v, COMPUTED_DOUBLE),
        },
        Value::Decimal(v) => match ty.data_type {
            // A quotient may carry more digits than its type shows.
            DataType::Decimal { scale, .. } if v.scale() > scale => {
                v.round(i32::from(scale)).unwrap_or(*v).to_string()
            }
            _ => v.to_string(),
        },
        Value::Date(date) => {
            let mut out = Vec::with_capacity(10);
            date.write_text(&mut out);
            String::from_utf8(out).unwrap_or_default()
        }
        Value::Time(time) => time.text(shown_fsp(ty, time.fraction())),
        Value::DateTime(moment) => moment.text(shown_fsp(ty, moment.micros)),
        Value::Text(text) => text.clone(),
        Value::Json(text) => printed(text).into_owned(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Digits of a second's fraction. A parameter's type is no temporal one: it shows what it has.
fn shown_fsp(ty: &ExprType, micros: u32) -> u8 {
    match ty.data_type {
        DataType::Time { .. } | DataType::DateTime { .. } | DataType::Timestamp { .. } => ty.fsp(),
        _ if micros == 0 => 0,
        _ => 6,
    }
}

/// The value inside a value that converts to a date or time: an ENUM's or SET's text, a BIT's
/// bytes, a JSON scalar. Other JSON is NULL with warning 3156, as are JSON strings that are not
/// `wanted`.
fn carried_value(
    value: &Value,
    ty: &ExprType,
    wanted: fn(&str) -> bool,
    ctx: &mut EvalContext<'_>,
) -> Result<Option<Value>> {
    let listed = matches!(ty.data_type, DataType::Enum { .. } | DataType::Set { .. });
    Ok(match value {
        Value::UInt(_) if listed => Some(Value::Text(plain_text(value, ty))),
        Value::UInt(_) if matches!(ty.data_type, DataType::Bit(_)) => {
            Some(Value::Bytes(to_bytes(value, ty).into_owned()))
        }
        Value::Json(text) => Some(match json::stored(text) {
            Json::String(text) if wanted(&text) => Value::Text(text),
            Json::Date(date) => Value::Date(date),
            Json::Time(time) => Value::Time(time),
            Json::DateTime(moment) => Value::DateTime(moment),
            _ => {
                json::to_number::wrong("DATE/TIME/DATETIME/TIMESTAMP", ctx)?;
                Value::Null
            }
        }),
        _ => None,
    })
}

/// Warning 1292 "Incorrect datetime value".
pub(crate) fn incorrect(kind: &str, text: &str) -> SqlError {
    let message = format!("Incorrect {kind} value: '{}'", error_text(text.as_bytes()));
    SqlError::with_message(ErrorCode::TruncatedWrongValue, message)
}

/// The value as a date and time under `rules`; `None` with a warning where it is none.
pub(crate) fn to_datetime_with(
    value: &Value,
    ty: &ExprType,
    rules: DateRules,
    ctx: &mut EvalContext<'_>,
) -> Result<Option<DateTime>> {
    // ENUM, SET, BIT and JSON values convert as what they carry.
    let whole = |text: &str| DateTime::parse(text, DateRules::ZEROS).is_ok_and(|p| !p.truncated);
    let carried = carried_value(value, ty, whole, ctx)?;
    let value = carried.as_ref().unwrap_or(value);
    let mut deprecated = None;
    let found = match value {
        Value::Null => return Ok(None),
        Value::Date(date) => Ok((date.at_midnight(), false)),
        Value::DateTime(moment) => Ok((*moment, false)),
        Value::Time(time) => return Ok(time.on(ctx.env.now().date)),
        Value::Int(_) | Value::UInt(_) => {
            let number = to_int(value, ty, ctx)?;
            DateTime::from_number(number, rules).map(|(moment, _)| (moment, false))
        }
        Value::Double(_) | Value::Decimal(_) => {
            let number = to_decimal(value, ty, ctx)?;
            let whole = number.truncate(0).to_i64().unwrap_or(i64::MAX);
            let fraction = fraction_micros(number);
            if whole == 0 && fraction < 0 {
                return wrong_datetime(value, ty, ctx);
            }
            DateTime::from_number(whole, rules).map(|(moment, has_time)| {
                // The fraction is one of seconds: a number that is only a date drops it.
                let micros = if has_time { fraction } else { 0 };
                (moment.add_micros(micros).unwrap_or(moment), false)
            })
        }
        Value::Text(_) | Value::Bytes(_) | Value::Json(_) => {
            let text = to_text(value, ty);
            DateTime::parse(&text, rules).map(|parsed| {
                deprecated = parsed.deprecated;
                (in_session_zone(parsed.value, parsed.offset_minutes, ctx.env), parsed.truncated)
            })
        }
    };
    match found {
        Ok((moment, false)) => {
            // The rules have been applied to texts and numbers only: typed dates come unchecked.
            let typed = matches!(value, Value::Date(_) | Value::DateTime(_));
            if typed && rules.no_zero_in_date && moment.date.check(rules).is_err() {
                return wrong_datetime(value, ty, ctx);
            }
            if deprecated.is_some() {
                warn_of_delimiter(deprecated, &to_text(value, ty), ctx)?;
            }
            Ok(Some(moment))
        }
        Ok((moment, true)) => {
            ctx.warn(ErrorCode::TruncatedWrongValue, &[&"datetime", &to_text(value, ty)])?;
            warn_of_delimiter(deprecated, &to_text(value, ty), ctx)?;
            Ok(Some(moment))
        }
        Err(_) => wrong_datetime(value, ty, ctx),
    }
}

/// Warnings 4095 and 4096 of a text that was a date and time.
pub(crate) fn warn_of_delimiter(
    deprecated: Option<Deprecated>,
    text: &str,
    ctx: &mut EvalContext<'_>,
) -> Result<()> {
    let row = ctx.row_number;
    match deprecated {
        Some(Deprecated { delimiter, position, prefer: Some(prefer) }) => {
            let args: [&dyn std::fmt::Display; 5] = [&delimiter, &position, &text, &row, &prefer];
            ctx.raise(
                Level::Warning,
                SqlError::new(ErrorCode::WarnDeprecatedDatetimeDelimiter, &args),
            )
        }
        Some(Deprecated { delimiter, position, prefer: None }) => {
            let args: [&dyn std::fmt::Display; 4] = [&delimiter, &position, &text, &row];
            let code = ErrorCode::WarnDeprecatedSuperfluousDelimiter;
            ctx.raise(Level::Warning, SqlError::new(code, &args))
        }
        None => Ok(()),
    }
}

/// The same of a text that was a time: it may be one with its date.
pub(crate) fn warn_of_time_delimiter(text: &str, ctx: &mut EvalContext<'_>) -> Result<()> {
    // MySQL looks for a date in texts of so many bytes.
    const WITH_DATE: usize = 12;
    if text.len() >= WITH_DATE
        && let Ok(parsed) = DateTime::parse(text, DateRules::ZEROS)
        && parsed.value.date != DateTime::ZERO.date
    {
        return warn_of_delimiter(parsed.deprecated, text, ctx);
    }
    Ok(())
}

fn wrong_datetime(
    value: &Value,
    ty: &ExprType,
    ctx: &mut EvalContext<'_>,
) -> Result<Option<DateTime>> {
    let text = match value {
        Value::UInt(number) if *number > i64::MAX as u64 => {
            Cow::Owned((*number as i64).to_string())
        }
        Value::Bytes(bytes) => Cow::Owned(error_bytes(bytes)),
        _ => to_text(value, ty),
    };
    ctx.raise(Level::Warning, incorrect("datetime", &text))?;
    Ok(None)
}

/// Microseconds of a decimal's fraction, rounded.
pub(crate) fn fraction_micros(number: Decimal) -> i64 {
    let fraction = number.sub(number.truncate(0)).unwrap_or(Decimal::ZERO);
    let micros = fraction.mul(Decimal::from_i128(1_000_000, 0)).unwrap_or(Decimal::ZERO);
    micros.to_i64().unwrap_or(0)
}

/// The value as a date and time; zero parts are allowed.
pub fn to_datetime(
    value: &Value,
    ty: &ExprType,
    ctx: &mut EvalContext<'_>,
) -> Result<Option<DateTime>> {
    to_datetime_with(value, ty, DateRules::ZEROS, ctx)
}

/// The value as an operand of a date comparison; what is no date counts as zero, with a warning.
pub(crate) fn to_datetime_for_compare(
    value: &Value,
    ty: &ExprType,
    ctx: &mut EvalContext<'_>,
) -> Result<DateTime> {
    match value {
        Value::Date(date) => Ok(date.at_midnight()),
        Value::DateTime(moment) => Ok(*moment),
        _ => Ok(to_datetime(value, ty, ctx)?.unwrap_or(DateTime::ZERO)),
    }
}

/// Error 1525 where a constant beside a date is no date.
pub(crate) fn check_date_constant(text: &str, beside: &ExprType) -> Result<()> {
    match DateTime::parse(text, DateRules::ZEROS) {
        Ok(_) => Ok(()),
        Err(_) => {
            let kind = match beside.data_type {
                DataType::Date => "DATE",
                DataType::Timestamp { .. } => "TIMESTAMP",
                _ => "DATETIME",
            };
            Err(SqlError::new(ErrorCode::WrongValue, &[&kind, &text]))
        }
    }
}

/// The value as a time of day or duration; `None` with a warning where it is none.
pub fn to_time(value: &Value, ty: &ExprType, ctx: &mut EvalContext<'_>) -> Result<Option<Time>> {
    let whole = |text: &str| Time::parse(text).is_ok_and(|p| !p.truncated && !p.out_of_range);
    let carried = carried_value(value, ty, whole, ctx)?;
    let value = carried.as_ref().unwrap_or(value);
    let parsed = match value {
        Value::Null => return Ok(None),
        Value::Time(time) => return Ok(Some(*time)),
        Value::DateTime(moment) => return Ok(Some(moment.time())),
        Value::Date(_) => return Ok(Some(Time::ZERO)),
        Value::Int(_) | Value::UInt(_) => {
            let number = to_int(value, ty, ctx)?;
            time_of_number(number, 0)
        }
        Value::Double(_) | Value::Decimal(_) => {
            let number = to_decimal(value, ty, ctx)?;
            let whole = number.truncate(0).to_i64().unwrap_or(i64::MAX);
            time_of_number(whole, fraction_micros(number))
        }
        Value::Text(_) | Value::Bytes(_) | Value::Json(_) => {
            let text = to_text(value, ty);
            Time::parse(&text).ok().map(|p| (p.value, p.truncated || p.out_of_range))
        }
    };
    match parsed {
        Some((time, false)) => {
            if let Value::Text(text) = value {
                warn_of_time_delimiter(text, ctx)?;
            }
            Ok(Some(time))
        }
        Some((time, true)) => {
            truncated(ctx, "time", to_text(value, ty).as_bytes())?;
            Ok(Some(time))
        }
        None => {
            match value {
                Value::Bytes(bytes) => truncated(ctx, "time", error_bytes(bytes).as_bytes())?,
                _ => truncated(ctx, "time", to_text(value, ty).as_bytes())?,
            }
            Ok(None)
        }
    }
}

fn time_of_number(number: i64, micros: i64) -> Option<(Time, bool)> {
    match Time::from_number(number) {
        Ok(time) => {
            let (time, clamped) = Time::clamped(time.micros + micros);
            Some((time, clamped))
        }
        Err(_) => None,
    }
}

/// A moment that was written with an offset, in the session's time zone.
fn in_session_zone(written: DateTime, offset_minutes: Option<i32>, env: &Environment) -> DateTime {
    let Some(minutes) = offset_minutes else { return written };
    let utc = written.add_micros(-i64::from(minutes) * 60_000_000);
    utc.and_then(|utc| env.time_zone.from_utc(utc)).unwrap_or(written)
}

/// `DATE '…'`, `TIME '…'`, `TIMESTAMP '…'`; error 1525 for anything else.
pub(crate) fn temporal_literal(
    text: &str,
    target: &DataType,
    env: &Environment,
) -> Result<(Value, DataType)> {
    let wrong = |kind: &str| SqlError::new(ErrorCode::WrongValue, &[&kind, &text]);
    match target {
        DataType::Date => match DateTime::parse(text, env.date_rules()) {
            Ok(parsed) if !parsed.truncated && !parsed.has_time => {
                Ok((Value::Date(parsed.value.date), DataType::Date))
            }
            _ => Err(wrong("DATE")),
        },
        DataType::Time { .. } => match Time::parse(text) {
            Ok(parsed) if !parsed.truncated && !parsed.out_of_range => {
                let fsp = parsed.fraction_digits;
                Ok((Value::Time(parsed.value), DataType::Time { fsp }))
            }
            _ => Err(wrong("TIME")),
        },
        _ => match DateTime::parse(text, env.date_rules()) {
            Ok(parsed) if !parsed.truncated && parsed.has_time => {
                let fsp = parsed.fraction_digits;
                let moment = in_session_zone(parsed.value, parsed.offset_minutes, env);
                Ok((Value::DateTime(moment), DataType::DateTime { fsp }))
            }
            _ => Err(wrong("DATETIME")),
        },
    }
}

/// The date of a value; zero parts are allowed.
pub(crate) fn to_date(
    value: &Value,
    ty: &ExprType,
    ctx: &mut EvalContext<'_>,
) -> Result<Option<Date>> {
    Ok(to_datetime(value, ty, ctx)?.map(|moment| moment.date))
}
