//! Values on their way into numeric columns.

use super::{Result, StoreTarget};
use crate::context::EvalContext;
use crate::convert;
use crate::number;
use crate::ty::{ExprType, TypeClass};
use inia_base::datatype::{DataType, IntWidth};
use inia_base::decimal::Decimal;
use inia_base::value::Value;
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// What a signed integer of this width can hold.
pub fn signed_range(width: IntWidth) -> RangeInclusive<i64> {
    let bits = width.bits();
    (i64::MIN >> (64 - bits))..=(i64::MAX >> (64 - bits))
}

/// The characters of a value that is a string.
fn string_of<'v>(value: &'v Value, from: &ExprType) -> Option<Cow<'v, [u8]>> {
    match value {
        Value::Text(text) => Some(Cow::Borrowed(text.as_bytes())),
        Value::Bytes(bytes) => Some(Cow::Borrowed(bytes)),
        Value::Json(_) => None,
        Value::UInt(_) if from.class() == TypeClass::String => None,
        _ => None,
    }
}

pub(super) fn int(
    value: &Value,
    from: &ExprType,
    width: IntWidth,
    unsigned: bool,
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    let bits = width.bits();
    let (low, high) = match unsigned {
        true => (0, (1i128 << bits) - 1),
        false => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
    };
    let wide = match value {
        Value::Double(v) => v.round_ties_even() as i128,
        Value::Decimal(v) => decimal_to_wide(*v, unsigned),
        _ => match string_of(value, from) {
            Some(text) => int_of_text(&text, &(low..=high), target, ctx)?,
            None => convert::to_wide(value, from, ctx)?,
        },
    };
    let negative_fraction = unsigned
        && match value {
            Value::Decimal(v) => v.is_negative(),
            Value::Double(v) => *v < 0.0,
            _ => false,
        };
    let fitted = wide.clamp(low, high);
    if fitted != wide || negative_fraction {
        target.out_of_range(ctx)?;
        // Once on the way to 64 bits, and once more on the way to fewer.
        if matches!(value, Value::Decimal(_)) && bits < 64 && is_beyond_64(wide, unsigned) {
            target.out_of_range(ctx)?;
        }
    }
    Ok(if unsigned { Value::UInt(fitted as u64) } else { Value::Int(fitted as i64) })
}

/// Whether a number does not fit 64 bits; what is too low is 0 for those without a sign.
fn is_beyond_64(wide: i128, unsigned: bool) -> bool {
    match unsigned {
        true => wide > i128::from(u64::MAX),
        false => i64::try_from(wide).is_err(),
    }
}

fn decimal_to_wide(value: Decimal, unsigned: bool) -> i128 {
    let limit = |negative: bool| if negative { i128::MIN / 2 } else { i128::MAX / 2 };
    match value.to_i64() {
        Ok(v) => i128::from(v),
        Err(_) if unsigned => value.to_u64().map_or(limit(value.is_negative()), i128::from),
        Err(_) => limit(value.is_negative()),
    }
}

/// A hexadecimal literal as the number that a numeric column takes it for.
pub(super) fn of_hex(bytes: &[u8], column: &DataType) -> Option<Value> {
    let numeric = matches!(
        column,
        DataType::Int { .. }
            | DataType::Decimal { .. }
            | DataType::Float { .. }
            | DataType::Double { .. }
            | DataType::Year
    );
    let number = match bytes.len() {
        0..=8 => bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)),
        _ => u64::MAX,
    };
    numeric.then_some(Value::UInt(number))
}

/// An integer from a string that may have a fraction or an exponent.
fn int_of_text(
    text: &[u8],
    fits: &RangeInclusive<i128>,
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<i128> {
    if let Some(number) = plain_digits(text) {
        return Ok(i128::from(number));
    }
    let parsed = Decimal::parse_prefix(text);
    if parsed.consumed == 0 {
        let shown = shown_number(text);
        target.warn(target.incorrect("integer", &shown), ctx)?;
        return Ok(0);
    }
    let wide = decimal_to_wide(parsed.value, true);
    let wide = if parsed.overflow {
        if parsed.value.is_negative() { i128::MIN / 2 } else { i128::MAX / 2 }
    } else {
        wide
    };
    let rest = &text[parsed.consumed..];
    // A value that does not fit has that warning alone.
    if fits.contains(&wide) && !rest.iter().all(u8::is_ascii_whitespace) {
        target.truncated(ctx)?;
    }
    Ok(wide)
}

/// The number that a text is which is nothing but an integer in the range of a column, as most
/// fields of loaded files are; `None` for all other texts.
#[inline]
pub fn plain_integer(text: &[u8], width: IntWidth, unsigned: bool) -> Option<i64> {
    let number = plain_digits(text)?;
    let fits = match unsigned {
        true => u64::try_from(number).is_ok_and(|n| n <= u64::MAX >> (64 - width.bits())),
        false => signed_range(width).contains(&number),
    };
    fits.then_some(number)
}

/// The number that a text of at most 18 digits is, perhaps with a minus before them.
#[inline]
fn plain_digits(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().fold(0i64, |number, digit| number * 10 + i64::from(digit - b'0'));
    Some(if negative { -number } else { number })
}

pub(super) fn bit(
    value: &Value,
    from: &ExprType,
    width: u8,
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    use inia_base::error::ErrorCode;
    let most = u64::MAX >> (64 - u32::from(width));
    let bits = match string_of(value, from) {
        Some(bytes) => {
            let significant = bytes.iter().position(|b| *b != 0).map_or(&[][..], |at| &bytes[at..]);
            match significant.len() {
                0..=8 => Some(significant.iter().fold(0u64, |v, b| v << 8 | u64::from(*b))),
                _ => None,
            }
        }
        None => match value {
            // Cut, where decimals are rounded.
            Value::Double(v) => {
                let whole = v.trunc();
                (0.0..1.8e19).contains(&whole).then_some(whole as u64)
            }
            Value::Decimal(v) if v.is_negative() => {
                target.out_of_range(ctx)?;
                Some(0)
            }
            Value::Decimal(v) => match v.to_u64() {
                Ok(bits) => Some(bits),
                Err(_) => {
                    target.out_of_range(ctx)?;
                    None
                }
            },
            _ => u64::try_from(convert::to_wide(value, from, ctx)?).ok(),
        },
    };
    match bits {
        Some(bits) if bits <= most => Ok(Value::UInt(bits)),
        _ => {
            let too_long = || target.error(ErrorCode::DataTooLong);
            let lenient = match ctx.env.sql_mode.is_strict() {
                true => too_long(),
                false => target.error(ErrorCode::WarnDataOutOfRange),
            };
            target.warn_or(too_long(), lenient, ctx)?;
            Ok(Value::UInt(most))
        }
    }
}

pub(super) fn year(
    value: &Value,
    from: &ExprType,
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    let mut zero_is_2000 = false;
    let year = match value {
        Value::Date(date) => i128::from(date.year),
        Value::DateTime(moment) => i128::from(moment.date.year),
        Value::Time(_) => i128::from(ctx.env.now().date.year),
        _ => match string_of(value, from) {
            Some(text) => {
                zero_is_2000 = text.len() != 4;
                let parsed = Decimal::parse_prefix(&text);
                if parsed.consumed == 0 {
                    let shown = shown_number(&text);
                    target.warn(target.incorrect("integer", &shown), ctx)?;
                    return Ok(Value::UInt(0));
                }
                let short = decimal_to_wide(parsed.value, true) < 100;
                int_of_text(&text, &if short { 0..=99 } else { 1901..=2155 }, target, ctx)?
            }
            None => match value {
                // Cut, where decimals are rounded.
                Value::Double(v) if (0.0..=2155.0).contains(v) => v.trunc() as i128,
                Value::Double(_) => -1,
                Value::Decimal(v) if v.is_negative() => -1,
                Value::Decimal(v) => {
                    let wide = decimal_to_wide(*v, true);
                    if is_beyond_64(wide, true) {
                        target.out_of_range(ctx)?;
                    }
                    wide
                }
                _ => convert::to_wide(value, from, ctx)?,
            },
        },
    };
    Ok(Value::UInt(match year {
        0 if zero_is_2000 => 2000,
        0 => 0,
        1..=69 => year as u64 + 2000,
        70..=99 => year as u64 + 1900,
        1901..=2155 => year as u64,
        _ => {
            target.out_of_range(ctx)?;
            0
        }
    }))
}

pub(super) fn decimal(
    value: &Value,
    from: &ExprType,
    (precision, scale, unsigned): (u8, u8, bool),
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    let mut overflow = false;
    let mut junk = false;
    let exact = match string_of(value, from) {
        Some(text) => {
            let parsed = Decimal::parse_prefix(&text);
            let rest = &text[parsed.consumed..];
            junk = !rest.iter().all(u8::is_ascii_whitespace);
            if parsed.consumed == 0 {
                let shown = shown_number(&text);
                target.warn(target.incorrect("decimal", &shown), ctx)?;
                return Ok(Value::Decimal(Decimal::from_i128(0, scale)));
            }
            // Strict mode refuses trailing text; otherwise the number before it counts.
            let strict = ctx.strictness == crate::context::Strictness::Strict;
            if strict && (junk || parsed.overflow) {
                return Err(target.incorrect("decimal", &shown_number(&text)));
            }
            overflow = parsed.overflow;
            parsed.value
        }
        None => convert::to_decimal(value, from, ctx)?,
    };
    // The sign is checked before rounding: -0.001 does not fit an unsigned column either.
    if unsigned && exact.is_negative() {
        target.out_of_range(ctx)?;
        return Ok(Value::Decimal(Decimal::from_i128(0, scale)));
    }
    let fitted = exact.rescale(precision, scale);
    // Lost digits and trailing text are notes; a number that is too large warns or fails.
    if junk {
        target.note(ctx);
    }
    if fitted.overflow || overflow {
        target.out_of_range(ctx)?;
    } else if fitted.rounded {
        target.note(ctx);
    }
    Ok(Value::Decimal(fitted.value))
}

pub(super) fn real(
    value: &Value,
    from: &ExprType,
    (single, decimals, unsigned): (bool, Option<u8>, bool),
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    let real = match string_of(value, from) {
        Some(text) => {
            let parsed = number::parse_real(&text);
            if parsed.overflow {
                target.out_of_range(ctx)?;
            } else if parsed.truncated || text.trim_ascii().is_empty() {
                target.truncated(ctx)?;
            }
            parsed.value
        }
        None => convert::to_real(value, from, ctx)?,
    };
    if unsigned && real < 0.0 {
        target.out_of_range(ctx)?;
        return Ok(Value::Double(0.0));
    }
    let mut fitted = real;
    if let Some(digits) = decimals {
        let (unit, whole) = (10f64.powi(i32::from(digits)), real.floor());
        let rounded = whole + ((real - whole) * unit).round_ties_even() / unit;
        if rounded.is_finite() {
            fitted = rounded;
        }
    }
    if single {
        let limit = f64::from(f32::MAX);
        fitted = f64::from(fitted.clamp(-limit, limit) as f32);
        // Declared digits have a limit of their own.
        if real.abs() > limit && decimals.is_none() {
            target.out_of_range(ctx)?;
        }
    }
    Ok(Value::Double(fitted))
}

/// A text that is no number, as the errors show it: MySQL's end at a NUL.
fn shown_number(text: &[u8]) -> String {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    match std::str::from_utf8(text) {
        Ok(_) => convert::error_text(&text[..end]),
        Err(_) => convert::error_text(text),
    }
}
