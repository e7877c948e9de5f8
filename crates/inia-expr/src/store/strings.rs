//! Values on their way into string, ENUM and SET columns.

use super::{Result, StoreTarget};
use crate::collate;
use crate::context::EvalContext;
use crate::convert;
use crate::number;
use crate::ty::{ExprType, TypeClass, lob_bytes};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::ErrorCode;
use inia_base::value::Value;
use std::borrow::Cow;

/// How much fits.
enum Limit {
    Chars(u32),
    Bytes(u32),
}

pub(super) fn string(
    value: Value,
    from: &ExprType,
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    // A DOUBLE is written with as many digits as the column has room for, before it counts as a
    // text. TEXT and BLOB columns have room for all digits.
    let value = match (value, target.column) {
        (
            Value::Double(real),
            DataType::Char { chars: width, .. }
            | DataType::VarChar { chars: width, .. }
            | DataType::Binary(width)
            | DataType::VarBinary(width),
        ) => real_within(real, *width, target, ctx)?,
        (value, _) => value,
    };
    match target.column {
        DataType::Char { chars, collation } => {
            let text = text(value, from, *collation, target, ctx)?;
            // CHAR does not keep spaces at the end, so cutting them is no loss to report.
            let mut text = fit(text, Limit::Chars(*chars), *collation, true, target, ctx)?;
            text.truncate(text.trim_end_matches(' ').len());
            Ok(Value::Text(text))
        }
        DataType::VarChar { chars, collation } => {
            let text = text(value, from, *collation, target, ctx)?;
            fit(text, Limit::Chars(*chars), *collation, false, target, ctx).map(Value::Text)
        }
        DataType::Text { size, collation } => {
            let text = text(value, from, *collation, target, ctx)?;
            let limit = Limit::Bytes(lob_bytes(*size));
            fit(text, limit, *collation, false, target, ctx).map(Value::Text)
        }
        DataType::Binary(length) => {
            let mut bytes = bytes(value, from, *length, target, ctx)?;
            bytes.resize(*length as usize, 0);
            Ok(Value::Bytes(bytes))
        }
        DataType::VarBinary(length) => bytes(value, from, *length, target, ctx).map(Value::Bytes),
        DataType::Blob(size) => bytes(value, from, lob_bytes(*size), target, ctx).map(Value::Bytes),
        _ => Ok(value),
    }
}

/// A number with as many digits as there is room for; what cannot be shortened is cut.
fn real_within(
    real: f64,
    width: u32,
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    let (text, fits) = number::double_within(real, width as usize);
    if !fits {
        let strict = target.error(ErrorCode::DataTooLong);
        target.warn_or(strict, target.error(ErrorCode::WarnDataTruncated), ctx)?;
    }
    Ok(Value::Text(text))
}

/// The value as text that the column's character set can hold.
fn text(
    value: Value,
    from: &ExprType,
    collation: Collation,
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<String> {
    let value = match value {
        Value::UInt(_) if matches!(from.data_type, DataType::Bit(_)) => {
            Value::Bytes(convert::to_bytes(&value, from).into_owned())
        }
        value => value,
    };
    let text = match value {
        Value::Text(text) => text,
        Value::Bytes(bytes) => {
            let bytes = collation.charset().whole_units(&bytes);
            match collation.charset().decode(&bytes) {
                Ok(text) => text.into_owned(),
                Err(at) => {
                    let shown = bad_bytes(&bytes[at..]);
                    target.warn(target.incorrect("string", &shown), ctx)?;
                    String::from_utf8_lossy(&bytes[..at]).into_owned()
                }
            }
        }
        other => convert::to_text(&other, from).into_owned(),
    };
    let charset = collation.charset();
    if let Some(at) = charset.first_missing(&text) {
        let shown = bad_bytes(&text.as_bytes()[at..]);
        target.warn(target.incorrect("string", &shown), ctx)?;
        return Ok(charset.replace_missing(&text).into_owned());
    }
    Ok(text)
}

/// `\xE6\x97…`: six bytes at most, ASCII as it is.
pub fn bad_bytes(bytes: &[u8]) -> String {
    let mut shown: String = bytes
        .iter()
        .take(6)
        .map(|byte| match byte {
            0x20..=0x7E => char::from(*byte).to_string(),
            _ => format!("\\x{byte:02X}"),
        })
        .collect();
    if bytes.len() > 6 {
        shown.push_str("...");
    }
    shown
}

/// Cuts what does not fit: error 1406, but spaces at the end only bring a note.
fn fit(
    mut text: String,
    limit: Limit,
    collation: Collation,
    silent_spaces: bool,
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<String> {
    let end = match limit {
        Limit::Chars(chars) if text.len() <= chars as usize => return Ok(text),
        Limit::Chars(chars) => text.char_indices().nth(chars as usize).map(|(at, _)| at),
        // No character takes more than four times its bytes in memory.
        Limit::Bytes(bytes) if text.len() <= bytes as usize / 4 => return Ok(text),
        Limit::Bytes(bytes) => {
            let charset = collation.charset();
            let units = text.char_indices().scan(0usize, |used, (at, c)| {
                *used += charset.bytes_of(c);
                Some((at, *used))
            });
            units.into_iter().find(|(_, used)| *used > bytes as usize).map(|(at, _)| at)
        }
    };
    let Some(end) = end else { return Ok(text) };
    let spaces = text[end..].chars().all(|c| c == ' ');
    if !spaces {
        let strict = target.error(ErrorCode::DataTooLong);
        target.warn_or(strict, target.error(ErrorCode::WarnDataTruncated), ctx)?;
    } else if !silent_spaces {
        target.note(ctx);
    }
    text.truncate(end);
    Ok(text)
}

fn bytes(
    value: Value,
    from: &ExprType,
    limit: u32,
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<Vec<u8>> {
    let mut bytes = match value {
        Value::Bytes(bytes) => bytes,
        Value::Text(text) if from.is_text() && !collate::is_utf8(from.collation()) => {
            collate::encode(from.collation(), &text)
        }
        Value::Text(text) => text.into_bytes(),
        other => convert::to_bytes(&other, from).into_owned(),
    };
    if bytes.len() > limit as usize {
        let strict = target.error(ErrorCode::DataTooLong);
        target.warn_or(strict, target.error(ErrorCode::WarnDataTruncated), ctx)?;
        bytes.truncate(limit as usize);
    }
    Ok(bytes)
}

/// The characters that name a member; of bytes those before the first that are none.
fn characters<'v>(value: &'v Value, from: &ExprType, collation: Collation) -> Cow<'v, str> {
    match value {
        Value::Bytes(bytes) => {
            let charset = collation.charset();
            let whole = charset.decode(bytes);
            whole.unwrap_or_else(|at| charset.decode(&bytes[..at]).unwrap_or_default())
        }
        _ => convert::to_text(value, from),
    }
}

/// The number of a member: spaces at the end do not count.
fn member(members: &[String], collation: Collation, text: &str) -> Option<u64> {
    let text = text.trim_end_matches(' ');
    let found = members.iter().position(|m| collate::compare(collation, m, text).is_eq());
    found.map(|at| at as u64 + 1)
}

/// A text of so many bytes at most that names members by their number.
fn member_number(text: &str, most: usize) -> Option<u64> {
    let digits = text.trim_start();
    let digits = match digits.strip_prefix(['+', '-']) {
        Some(rest) if digits.starts_with('+') || rest.bytes().all(|b| b == b'0') => rest,
        _ => digits,
    };
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && text.len() <= most;
    plain.then(|| digits.parse().ok()).flatten()
}

fn is_number(value: &Value, from: &ExprType) -> bool {
    !matches!(value, Value::Text(_) | Value::Bytes(_) | Value::Json(_))
        && matches!(from.class(), TypeClass::Int | TypeClass::Decimal | TypeClass::Real)
}

/// The whole part of a number, within 64 bits.
fn whole(value: &Value, from: &ExprType, ctx: &mut EvalContext<'_>) -> Result<i128> {
    Ok(match value {
        Value::Double(_) | Value::Decimal(_) => {
            i128::from(convert::to_real(value, from, ctx)? as i64)
        }
        _ => convert::to_wide(value, from, ctx)?,
    })
}

pub(super) fn enumeration(
    value: &Value,
    from: &ExprType,
    members: &[String],
    collation: Collation,
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    let found = if is_number(value, from) {
        let number = whole(value, from, ctx)?;
        u64::try_from(number).ok().filter(|n| (1..=members.len() as u64).contains(n))
    } else {
        let text = characters(value, from, collation);
        member(members, collation, &text).or_else(|| {
            let number = member_number(text.trim_end_matches(' '), 5)?;
            (number <= members.len() as u64).then_some(number)
        })
    };
    if found.is_none() {
        target.truncated(ctx)?;
    }
    Ok(Value::UInt(found.unwrap_or(0)))
}

pub(super) fn set(
    value: &Value,
    from: &ExprType,
    members: &[String],
    collation: Collation,
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    let all = if members.len() == 64 { u64::MAX } else { (1 << members.len()) - 1 };
    let mut wrong = false;
    let bits = if is_number(value, from) {
        let number = whole(value, from, ctx)?;
        let bits = number as u64;
        wrong = bits & !all != 0 || number < 0;
        bits & all
    } else {
        let text = convert::to_text(value, from);
        let mut bits = 0;
        for part in text.split(',').filter(|_| !text.is_empty()) {
            match member(members, collation, part) {
                Some(number) => bits |= 1 << (number - 1),
                None => wrong = true,
            }
        }
        if bits == 0
            && let Some(number) = member_number(&text, 21)
        {
            wrong = number > all;
            bits = if wrong { 0 } else { number };
        }
        bits
    };
    if wrong {
        target.truncated(ctx)?;
    }
    Ok(Value::UInt(bits))
}
