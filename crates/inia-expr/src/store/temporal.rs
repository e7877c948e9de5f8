//! Values on their way into DATE, TIME, DATETIME and TIMESTAMP columns.

use super::{Result, StoreTarget};
use crate::cast::{round_datetime, round_time};
use crate::context::{EvalContext, Strictness};
use crate::convert;
use crate::json;
use crate::ty::{ExprType, TypeClass};
use inia_base::datatype::DataType;
use inia_base::decimal::Decimal;
use inia_base::error::ErrorCode;
use inia_base::temporal::{DateRules, DateTime, Deprecated, TemporalError, Time};
use inia_base::value::Value;
use std::borrow::Cow;

/// The bytes of the shortest text that names all digits of a date.
const SHORTEST_DATE: usize = 8;

/// What a value gave, before the column's own rules.
struct Found {
    moment: DateTime,
    truncated: bool,
    deprecated: Option<Deprecated>,
}

fn find(
    value: &Value,
    from: &ExprType,
    rules: DateRules,
    ctx: &mut EvalContext<'_>,
) -> Result<std::result::Result<Found, TemporalError>> {
    let plain = |moment: DateTime| Found { moment, truncated: false, deprecated: None };
    Ok(match value {
        // A typed date may hold zero parts or days that the SQL mode of this statement refuses.
        Value::Date(date) => date.check(rules).map(|()| plain(date.at_midnight())),
        Value::DateTime(moment) => moment.date.check(rules).map(|()| plain(*moment)),
        Value::Time(time) => {
            time.on(ctx.env.now().date).map(plain).ok_or(TemporalError::OutOfRange)
        }
        Value::Int(_) | Value::UInt(_) if from.class() == TypeClass::Int => {
            let number = i64::try_from(convert::to_wide(value, from, ctx)?).unwrap_or(i64::MAX);
            DateTime::from_number(number, rules).map(|(moment, _)| plain(moment))
        }
        // Negative numbers are out of range, whatever digits they have.
        Value::Double(v) if *v < 0.0 => Err(TemporalError::OutOfRange),
        Value::Decimal(v) if v.is_negative() => Err(TemporalError::OutOfRange),
        Value::Double(_) | Value::Decimal(_) => {
            let number = convert::to_decimal(value, from, ctx)?;
            let whole = number.truncate(0).to_i64().unwrap_or(i64::MAX);
            DateTime::from_number(whole, rules).map(|(moment, has_time)| {
                let micros = if has_time { convert::fraction_micros(number) } else { 0 };
                plain(moment.add_micros(micros).unwrap_or(moment))
            })
        }
        _ => {
            let text = text_of(value, from);
            DateTime::parse(&text, rules).map(|parsed| {
                // A text with an offset is a moment, which is stored as the session's local time.
                let moment = match parsed.offset_minutes {
                    Some(minutes) => {
                        let utc = parsed.value.add_micros(-i64::from(minutes) * 60_000_000);
                        let local = utc.and_then(|utc| ctx.env.time_zone.from_utc(utc));
                        local.unwrap_or(parsed.value)
                    }
                    None => parsed.value,
                };
                Found { moment, truncated: parsed.truncated, deprecated: parsed.deprecated }
            })
        }
    })
}

/// The characters of a value; a JSON string's without its quotes.
fn text_of<'v>(value: &'v Value, from: &ExprType) -> Cow<'v, str> {
    match value {
        Value::Json(text) => Cow::Owned(json::unquote(text)),
        _ => convert::to_text(value, from),
    }
}

/// How a zero date that the mode refuses, and a day that its month does not have, show.
fn lenient_code(value: &Value, from: &ExprType) -> ErrorCode {
    // Numbers that do not fit 64 bits are out of range, too.
    const MAX: i64 = i64::MAX - 1;
    let number = match value {
        Value::Int(v) => Some(*v),
        Value::UInt(v) if from.class() == TypeClass::Int => Some((*v).min(i64::MAX as u64) as i64),
        Value::Double(v) => Some(*v as i64),
        Value::Decimal(v) if v.is_negative() => Some(-1),
        Value::Decimal(v) if *v > Decimal::ZERO => {
            Some(v.truncate(0).to_i64().unwrap_or(i64::MAX).max(1))
        }
        _ => None,
    };
    match number {
        Some(1..=MAX) => return ErrorCode::WarnDataTruncated,
        Some(i64::MIN..0 | i64::MAX) => return ErrorCode::WarnDataOutOfRange,
        Some(0) | None => {}
    }
    let text = convert::to_text(value, from);
    let loose = DateRules { allow_invalid_dates: true, ..DateRules::ZEROS };
    match DateTime::parse(&text, loose) {
        Ok(_) => ErrorCode::WarnDataOutOfRange,
        Err(_) if is_short_zero(&text) => ErrorCode::WarnDataOutOfRange,
        Err(_) => ErrorCode::WarnDataTruncated,
    }
}

/// Whether a text that is no date is at least zero: `0`, `0.00`, `0:0`.
fn is_short_zero(text: &str) -> bool {
    let text = text.trim_start().as_bytes();
    text.first() == Some(&b'0') && text.iter().all(|b| *b == b'0' || b.is_ascii_punctuation())
}

/// The value as error texts show it.
fn shown(value: &Value, from: &ExprType) -> String {
    match value {
        Value::Bytes(bytes) if !bytes.is_ascii() => convert::error_bytes(bytes),
        _ => convert::error_text(convert::to_text(value, from).as_bytes()),
    }
}

/// Warnings 4095 and 4096 of a text that becomes a date.
fn warn_of_delimiter(
    (value, from): (&Value, &ExprType),
    found: &Found,
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<()> {
    let text = convert::to_text(value, from);
    let keeps = match target.column {
        DataType::Timestamp { .. } => fits_timestamp(found.moment, ctx),
        // MySQL takes short texts of zeros for the zero date before it looks at delimiters.
        _ => found.moment.date != DateTime::ZERO.date || text.len() >= SHORTEST_DATE,
    };
    match keeps {
        true => convert::warn_of_delimiter(found.deprecated, &text, ctx),
        false => Ok(()),
    }
}

pub(super) fn datetime(
    value: &Value,
    from: &ExprType,
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    let date = *target.column == DataType::Date;
    let kind = if date { "date" } else { "datetime" };
    let shown = || shown(value, from);
    let zero =
        if date { Value::Date(DateTime::ZERO.date) } else { Value::DateTime(DateTime::ZERO) };
    let rules = ctx.env.date_rules();
    let found = match find(value, from, rules, ctx)? {
        Ok(found) => found,
        Err(_) => {
            // The error names the value; the warning only says what has become of it.
            let lenient = target.error(lenient_code(value, from));
            target.warn_or(target.incorrect_temporal(kind, &shown()), lenient, ctx)?;
            return Ok(zero);
        }
    };
    if found.deprecated.is_some() {
        warn_of_delimiter((value, from), &found, target, ctx)?;
    }
    if found.truncated {
        let strict = target.incorrect_temporal(kind, &shown());
        target.warn_or(strict, target.error(ErrorCode::WarnDataTruncated), ctx)?;
    }
    // A DATE column drops the time of day with a note only, in strict mode, too.
    if date {
        if found.moment.time() != Time::ZERO && !found.truncated {
            let shown = match value {
                Value::Time(time) => time.text(0),
                _ => shown(),
            };
            note_lost_part("date", &shown, target, ctx);
        }
        return Ok(Value::Date(found.moment.date));
    }
    let fsp = match target.column {
        DataType::DateTime { fsp } | DataType::Timestamp { fsp } => *fsp,
        _ => 0,
    };
    let Some(moment) = round_datetime(found.moment, fsp, ctx) else {
        target.out_of_range(ctx)?;
        return Ok(zero);
    };
    // The range is checked after rounding, which may leave it.
    if let DataType::Timestamp { .. } = target.column
        && !fits_timestamp(moment, ctx)
    {
        let strict = target.incorrect_temporal(kind, &shown());
        target.warn_or(strict, target.error(ErrorCode::WarnDataOutOfRange), ctx)?;
        return Ok(zero);
    }
    if let DataType::Timestamp { .. } = target.column
        && let Some(end) = end_of_gap(moment, ctx)
    {
        let strict = target.incorrect_temporal(kind, &shown());
        target.warn_or(strict, target.error(ErrorCode::WarnInvalidTimestamp), ctx)?;
        return Ok(Value::DateTime(end));
    }
    Ok(Value::DateTime(moment))
}

/// When clocks go on that were set forward over a local time; `None` for times that exist.
fn end_of_gap(moment: DateTime, ctx: &EvalContext<'_>) -> Option<DateTime> {
    let zone = &ctx.env.time_zone;
    let utc = if zone.in_gap(moment) { zone.to_utc(moment) } else { None };
    zone.from_utc(utc?)
}

/// A time of day that a DATE column drops, or a date that a TIME column does.
fn note_lost_part(kind: &str, shown: &str, target: &StoreTarget<'_>, ctx: &mut EvalContext<'_>) {
    use crate::context::{Level, Warning};
    let error = match ctx.strictness {
        Strictness::Strict => target.incorrect_temporal(kind, shown),
        _ => target.error(ErrorCode::WarnDataTruncated),
    };
    ctx.warnings.push(Warning::of(Level::Note, error));
}

/// Whether a local time is a TIMESTAMP: after 1970 and before 2038 in UTC, or zero.
fn fits_timestamp(moment: DateTime, ctx: &EvalContext<'_>) -> bool {
    if moment.is_zero() {
        return true;
    }
    let real = moment.date.month > 0 && moment.date.day > 0;
    real && ctx.env.time_zone.to_utc(moment).is_some_and(DateTime::is_timestamp)
}

/// Whether a text is a number with an exponent, which is no time and no error.
fn has_exponent(text: &str) -> bool {
    let text = text.trim_start();
    let text = text.strip_prefix('-').unwrap_or(text);
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == text.len() {
        return false;
    }
    let fraction = rest.strip_prefix('.').unwrap_or(rest);
    let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.strip_prefix(['e', 'E']);
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// A greater number is a date and time.
const MAX_CLOCK: i64 = 8_385_959;

pub(super) fn time(
    value: &Value,
    from: &ExprType,
    fsp: u8,
    target: &StoreTarget<'_>,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    let shown = || shown(value, from);
    let wrong = |code: ErrorCode, ctx: &mut EvalContext<'_>| {
        let strict = target.incorrect_temporal("time", &shown());
        target.warn_or(strict, target.error(code), ctx)
    };
    let (time, problem) = match value {
        Value::Time(time) => (*time, None),
        Value::DateTime(moment) => (moment.time(), None),
        Value::Date(_) => (Time::ZERO, None),
        Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_) => {
            let number = convert::to_decimal(value, from, ctx)?;
            let whole = number.truncate(0).to_i64().unwrap_or(i64::MAX);
            match Time::from_number(whole) {
                Ok(time) => {
                    // The number is a date and time, whose date is lost.
                    if whole > MAX_CLOCK {
                        note_lost_part("time", &shown(), target, ctx);
                    }
                    (Time::clamped(time.micros + convert::fraction_micros(number)).0, None)
                }
                Err(TemporalError::OutOfRange) => {
                    let bound = if whole < 0 { Time::MIN } else { Time::MAX };
                    (bound, Some(ErrorCode::WarnDataOutOfRange))
                }
                Err(_) => (Time::ZERO, Some(ErrorCode::WarnDataOutOfRange)),
            }
        }
        _ => {
            let text = text_of(value, from);
            // MySQL stores zero for these texts without a warning.
            if matches!(text.trim_start(), "" | "-") || has_exponent(&text) {
                return Ok(Value::Time(Time::ZERO));
            }
            match Time::parse(&text) {
                Ok(parsed) if parsed.out_of_range => {
                    (parsed.value, Some(ErrorCode::WarnDataOutOfRange))
                }
                Ok(parsed) if parsed.truncated => {
                    (parsed.value, Some(ErrorCode::WarnDataTruncated))
                }
                Ok(parsed) => {
                    convert::warn_of_time_delimiter(&text, ctx)?;
                    if parsed.from_datetime {
                        note_lost_part("time", &shown(), target, ctx);
                    }
                    (parsed.value, None)
                }
                Err(TemporalError::OutOfRange) => (Time::ZERO, Some(ErrorCode::WarnDataOutOfRange)),
                Err(_) => (Time::ZERO, Some(ErrorCode::WarnDataTruncated)),
            }
        }
    };
    // Outside strict mode, the nearest time is stored with the warning.
    if let Some(code) = problem {
        wrong(code, ctx)?;
    }
    Ok(Value::Time(round_time(time, fsp, ctx)))
}
