//! Parts of dates and times, and distances between them.

use super::types::{any_null, int, int_null, text_null};
use super::{Function, f, ft, node};
use crate::context::Environment;
use crate::convert;
use crate::eval::{Args, FnResult, Stop};
use crate::tree::{Expr, ExprKind};
use crate::ty::{ExprType, TypeClass};
use inia_base::datatype::DataType;
use inia_base::decimal::Decimal;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::calendar::WeekMode;
use inia_base::temporal::{Date, DateRules, DateTime, Interval, IntervalUnit, Time};
use inia_base::value::Value;

const SECOND: i64 = 1_000_000;

pub(super) const TABLE: &[Function] = &[
    f("year", 1, 1, int_null::<5>, |a| Ok(Value::Int(a.datetime(0)?.date.year.into()))),
    f("month", 1, 1, int_null::<3>, |a| Ok(Value::Int(a.datetime(0)?.date.month.into()))),
    f("day", 1, 1, int_null::<3>, day),
    f("dayofmonth", 1, 1, int_null::<3>, day),
    f("quarter", 1, 1, int_null::<2>, |a| {
        Ok(Value::Int((i64::from(a.datetime(0)?.date.month) + 2) / 3))
    }),
    f("hour", 1, 1, int_null::<4>, |a| Ok(Value::Int(a.time(0)?.hour().into()))),
    f("minute", 1, 1, int_null::<3>, |a| Ok(Value::Int(a.time(0)?.minute().into()))),
    f("second", 1, 1, int_null::<3>, |a| Ok(Value::Int(a.time(0)?.second().into()))),
    f("microsecond", 1, 1, int_null::<21>, |a| Ok(Value::Int(a.time(0)?.fraction().into()))),
    f("dayofweek", 1, 1, int_null::<2>, |a| {
        Ok(Value::Int((i64::from(a.real_datetime(0)?.date.weekday()) + 1) % 7 + 1))
    }),
    f("weekday", 1, 1, int_null::<2>, |a| {
        Ok(Value::Int(a.real_datetime(0)?.date.weekday().into()))
    }),
    f("dayofyear", 1, 1, int_null::<4>, |a| {
        Ok(Value::Int(a.real_datetime(0)?.date.day_of_year().into()))
    }),
    f("week", 1, 2, int_null::<3>, week),
    f("weekofyear", 1, 1, int_null::<3>, |a| {
        Ok(Value::Int(a.real_datetime(0)?.date.week(WeekMode::ISO.with_year()).1.into()))
    }),
    f("yearweek", 1, 2, int_null::<7>, yearweek),
    f("dayname", 1, 1, text_null::<9>, |a| {
        let day = usize::from(a.real_datetime(0)?.date.weekday());
        let names = a.ctx.env.locale.map_or(&super::datefmt::DAYS[..], |locale| &locale.days);
        Ok(Value::Text(names[day].to_owned()))
    }),
    f("monthname", 1, 1, text_null::<9>, |a| {
        let month = usize::from(a.datetime(0)?.date.month);
        let names = a.ctx.env.locale.map_or(&super::datefmt::MONTHS[..], |locale| &locale.months);
        let name = month.checked_sub(1).and_then(|at| names.get(at));
        Ok(Value::Text(name.ok_or(Stop::Null)?.to_string()))
    }),
    f("last_day", 1, 1, date_type, |a| {
        let date = a.datetime(0)?.date;
        if date.month == 0 {
            return wrong(a, 0);
        }
        Ok(Value::Date(date.last_day().ok_or(Stop::Null)?))
    }),
    f("to_days", 1, 1, int_null::<8>, |a| {
        let date = a.datetime(0)?.date;
        real(a, date)?;
        Ok(Value::Int(date.to_days()))
    }),
    f("to_seconds", 1, 1, int_null::<21>, |a| {
        let moment = a.datetime(0)?;
        real(a, moment.date)?;
        Ok(Value::Int(moment.date.to_days() * 86_400 + moment.time().micros / SECOND))
    }),
    f(
        "from_days",
        1,
        1,
        |args, _| Ok(ExprType::computed(DataType::Date, any_null(args))),
        |a| {
            let days = a.clamped(0)?;
            Ok(Value::Date(Date::from_days(days.max(0)).unwrap_or(Date::ZERO)))
        },
    ),
    f("datediff", 2, 2, int_null::<9>, |a| {
        // Both are read, and warned of, even where the first is NULL.
        let (left, right) = (a.datetime(0), a.datetime(1));
        let (left, right) = (left?.date, right?.date);
        let reals = (real_at(a, left, 0), real_at(a, right, 1));
        reals.0.and(reals.1)?;
        Ok(Value::Int(left.to_days() - right.to_days()))
    }),
    f("makedate", 2, 2, date_type, |a| {
        let (year, day) = (a.clamped(0)?, a.clamped(1)?);
        if !(0..=9999).contains(&year) || day <= 0 {
            return Err(Stop::Null);
        }
        let year = match year {
            0..=69 => year + 2000,
            70..=99 => year + 1900,
            year => year,
        };
        let first = Date::new(year as u16, 1, 1).to_days();
        let date = first.checked_add(day - 1).and_then(Date::from_days);
        Ok(Value::Date(date.ok_or(Stop::Null)?))
    }),
    f("period_add", 2, 2, int::<21>, |a| {
        let (period, months) = (period(a, 0)?, a.clamped(1)?);
        // MySQL counts without sign and wraps around.
        let total = period.wrapping_add(months) as u64;
        let year = match total / 12 {
            _ if total == 0 => return Ok(Value::Int(0)),
            year @ 0..=69 => year + 2000,
            year @ 70..=99 => year + 1900,
            year => year,
        };
        Ok(Value::Int(year.wrapping_mul(100).wrapping_add(total % 12 + 1) as i64))
    }),
    f("period_diff", 2, 2, int::<21>, |a| Ok(Value::Int(period(a, 0)? - period(a, 1)?))),
    ft("date", 1, 1, date_type, |a| Ok(Value::Date(real_or_null(a, 0)?.date)), 0),
];

fn date_type(_: &mut [Expr], _: &Environment) -> Result<ExprType, SqlError> {
    Ok(ExprType::computed(DataType::Date, true))
}

fn day(a: &mut Args<'_, '_>) -> FnResult {
    Ok(Value::Int(a.datetime(0)?.date.day.into()))
}

/// NULL with the warning that an argument is no real date.
fn wrong(a: &mut Args<'_, '_>, i: usize) -> FnResult {
    let value = a.value(i)?;
    let shown = crate::convert::to_text(&value, a.arg_type(i)).into_owned();
    a.raise(crate::convert::incorrect("datetime", &shown))?;
    Err(Stop::Null)
}

fn real(a: &mut Args<'_, '_>, date: Date) -> Result<(), Stop> {
    real_at(a, date, 0)
}

/// Stops where the date that argument `i` gave has zero parts; only texts and numbers are warned
/// of.
fn real_at(a: &mut Args<'_, '_>, date: Date, i: usize) -> Result<(), Stop> {
    if date.month != 0 && date.day != 0 {
        return Ok(());
    }
    match &*a.value(i)? {
        Value::Date(_) | Value::DateTime(_) => Err(Stop::Null),
        _ => wrong(a, i).map(|_| ()),
    }
}

/// A date and time under the session's rules.
fn real_or_null(a: &mut Args<'_, '_>, i: usize) -> Result<DateTime, Stop> {
    use crate::convert;
    let value = a.value(i)?;
    let rules = match &*value {
        Value::Date(_) | Value::DateTime(_) => DateRules::ZEROS,
        _ => a.ctx.env.date_rules(),
    };
    convert::to_datetime_with(&value, a.arg_type(i), rules, a.ctx)?.ok_or(Stop::Null)
}

fn week_mode(a: &mut Args<'_, '_>, i: usize, default: i64) -> Result<i64, Stop> {
    if a.len() <= i {
        return Ok(default);
    }
    match a.int(i) {
        Err(Stop::Null) => Ok(0),
        mode => mode,
    }
}

fn week(a: &mut Args<'_, '_>) -> FnResult {
    let default = i64::from(a.ctx.env.default_week_format);
    let mode = week_mode(a, 1, default)?;
    let date = a.real_datetime(0)?.date;
    Ok(Value::Int(date.week(WeekMode::from_number(mode)).1.into()))
}

fn yearweek(a: &mut Args<'_, '_>) -> FnResult {
    let mode = week_mode(a, 1, 0)?;
    let date = a.real_datetime(0)?.date;
    let (year, week) = date.week(WeekMode::from_number(mode).with_year());
    Ok(Value::Int(i64::from(year) * 100 + i64::from(week)))
}

/// YYMM or YYYYMM as a number of months.
fn period(a: &mut Args<'_, '_>, i: usize) -> Result<i64, Stop> {
    let period = a.clamped(i)?;
    let (year, month) = (period / 100, period % 100);
    if period <= 0 || !(1..=12).contains(&month) {
        let name = a.call.name;
        return Err(SqlError::new(ErrorCode::WrongArguments, &[&name]).into());
    }
    let year = match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        year => year,
    };
    Ok(year * 12 + month - 1)
}

const UNITS: [IntervalUnit; 20] = [
    IntervalUnit::Microsecond,
    IntervalUnit::Second,
    IntervalUnit::Minute,
    IntervalUnit::Hour,
    IntervalUnit::Day,
    IntervalUnit::Week,
    IntervalUnit::Month,
    IntervalUnit::Quarter,
    IntervalUnit::Year,
    IntervalUnit::SecondMicrosecond,
    IntervalUnit::MinuteMicrosecond,
    IntervalUnit::MinuteSecond,
    IntervalUnit::HourMicrosecond,
    IntervalUnit::HourSecond,
    IntervalUnit::HourMinute,
    IntervalUnit::DayMicrosecond,
    IntervalUnit::DaySecond,
    IntervalUnit::DayMinute,
    IntervalUnit::DayHour,
    IntervalUnit::YearMonth,
];

fn unit_tag(unit: IntervalUnit) -> i64 {
    UNITS.iter().position(|other| *other == unit).unwrap_or(0) as i64
}

/// One of the numbers that a date or a moment consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateField {
    /// The year.
    Year,
    /// The month of the year.
    Month,
    /// The day of the month.
    Day,
    /// The hour of the day; of moments only.
    Hour,
    /// The minute; of moments only.
    Minute,
    /// The second; of moments only.
    Second,
}

/// The operand and the field of YEAR(operand), EXTRACT(MONTH FROM operand) and their like.
pub fn date_field(expr: &Expr) -> Option<(&Expr, DateField)> {
    use IntervalUnit as U;
    let ExprKind::Call(call) = &expr.kind else { return None };
    let field = match (call.name, UNITS.get(call.tag as usize)) {
        ("year", _) | ("extract", Some(U::Year)) => DateField::Year,
        ("month", _) | ("extract", Some(U::Month)) => DateField::Month,
        ("dayofmonth", _) | ("extract", Some(U::Day)) => DateField::Day,
        ("hour", _) | ("extract", Some(U::Hour)) => DateField::Hour,
        ("minute", _) | ("extract", Some(U::Minute)) => DateField::Minute,
        ("second", _) | ("extract", Some(U::Second)) => DateField::Second,
        _ => return None,
    };
    call.args.first().map(|operand| (operand, field))
}

/// EXTRACT(unit FROM operand).
pub(crate) fn extract(unit: IntervalUnit, operand: Expr) -> Expr {
    use IntervalUnit as U;
    let length = match unit {
        U::Quarter => 2,
        U::Month | U::Week | U::Day | U::Minute | U::Second => 3,
        U::Hour => 4,
        U::Year | U::MinuteSecond => 5,
        U::HourMinute => 6,
        U::YearMonth | U::Microsecond => 7,
        U::HourSecond => 8,
        U::DayHour | U::SecondMicrosecond => 9,
        U::DayMinute | U::MinuteMicrosecond => 11,
        U::DaySecond => 13,
        U::HourMicrosecond => 14,
        _ => 20,
    };
    node("extract", ExprType::int(length, true), run_extract, vec![operand], unit_tag(unit))
}

fn run_extract(a: &mut Args<'_, '_>) -> FnResult {
    use IntervalUnit as U;
    let unit = UNITS[a.call.tag as usize];
    let dated = matches!(unit, U::Year | U::YearMonth | U::Quarter | U::Month | U::Week | U::Day);
    // These units read the operand as a date; all others read a time, which may be a duration.
    if dated {
        let date = a.datetime(0)?.date;
        return Ok(Value::Int(match unit {
            U::Year => date.year.into(),
            U::YearMonth => i64::from(date.year) * 100 + i64::from(date.month),
            U::Quarter => (i64::from(date.month) + 2) / 3,
            U::Month => date.month.into(),
            U::Week => {
                let mode = i64::from(a.ctx.env.default_week_format);
                date.week(WeekMode::from_number(mode)).1.into()
            }
            _ => date.day.into(),
        }));
    }
    let (days, time) = days_and_time(a)?;
    // The sign of a negative time applies to the whole number.
    let sign = if time.is_negative() { -1 } else { 1 };
    let (h, m, s) = (i64::from(time.hour()), i64::from(time.minute()), i64::from(time.second()));
    let micros = i64::from(time.fraction());
    let clock = h * 10_000 + m * 100 + s;
    Ok(Value::Int(
        sign * match unit {
            U::Microsecond => micros,
            U::Second => s,
            U::Minute => m,
            U::Hour => h,
            U::SecondMicrosecond => s * SECOND + micros,
            U::MinuteMicrosecond => (m * 100 + s) * SECOND + micros,
            U::MinuteSecond => m * 100 + s,
            U::HourMicrosecond => clock * SECOND + micros,
            U::HourSecond => clock,
            U::HourMinute => h * 100 + m,
            U::DayMicrosecond => (days * 1_000_000 + clock) * SECOND + micros,
            U::DaySecond => days * 1_000_000 + clock,
            U::DayMinute => days * 10_000 + h * 100 + m,
            _ => days * 100 + h,
        },
    ))
}

/// The day of the month, where the operand is a date or a whole date and time, and the time of day;
/// for all others no days and the whole time.
fn days_and_time(a: &mut Args<'_, '_>) -> Result<(i64, Time), Stop> {
    let value = a.value(0)?;
    let operand = a.call.args.first();
    // The sum of a text and an interval is a date, whatever its text looks like.
    if let (Some(ExprKind::DateArith(_)), Value::Text(text)) = (operand.map(|e| &e.kind), &*value)
        && let Ok(sum) = DateTime::parse(text, DateRules::ZEROS)
    {
        return Ok((sum.value.date.day.into(), sum.value.time()));
    }
    let has_day = operand.is_some_and(has_day);
    let date = match &*value {
        Value::DateTime(moment) => has_day.then_some(moment.date),
        Value::Date(date) => has_day.then_some(*date),
        Value::Double(number) => {
            moment_in(&Value::Int(*number as i64), a.arg_type(0)).map(|moment| moment.date)
        }
        other => moment_in(other, a.arg_type(0)).map(|moment| moment.date),
    };
    Ok((date.map_or(0, |date| date.day.into()), a.time(0)?))
}

/// Whether EXTRACT sees the day of an operand that is a date or a moment. In MySQL literals, sets
/// of rows and most functions lose it where a time is asked for; what holds a value keeps it.
fn has_day(operand: &Expr) -> bool {
    match &operand.kind {
        ExprKind::Literal(_) | ExprKind::Aggregate(_) | ExprKind::Cast(..) => false,
        ExprKind::Call(call) if call.name == "if" => call.args.iter().skip(1).all(has_day),
        ExprKind::Call(call) => matches!(call.name, "str_to_date" | "addtime" | "subtime"),
        _ => true,
    }
}

/// The date and time that a text or a number is where a time is asked for; `None` for all others.
pub(super) fn moment_in(value: &Value, ty: &ExprType) -> Option<DateTime> {
    let number = match value {
        Value::Text(_) | Value::Bytes(_) if ty.class() == TypeClass::String => {
            let text = convert::to_text(value, ty);
            let whole = Time::parse(&text).is_ok_and(|time| time.from_datetime);
            let moment = whole.then(|| DateTime::parse(&text, DateRules::ZEROS).ok()).flatten();
            return moment.map(|parsed| parsed.value);
        }
        Value::Int(number) => Decimal::from(*number),
        Value::Decimal(number) => *number,
        _ => return None,
    };
    let whole = number.truncate(0).to_i64().ok()?;
    let (moment, _) = DateTime::from_number(whole, DateRules::ZEROS).ok()?;
    let micros = convert::fraction_micros(number) as u32;
    (whole >= 10_000_000_000).then_some(DateTime { micros, ..moment })
}

/// TIMESTAMPDIFF(unit, from, to).
pub(crate) fn timestamp_diff(unit: IntervalUnit, args: Vec<Expr>) -> Expr {
    node("timestampdiff", ExprType::int(21, true), run_timestamp_diff, args, unit_tag(unit))
}

fn run_timestamp_diff(a: &mut Args<'_, '_>) -> FnResult {
    use IntervalUnit as U;
    let unit = UNITS[a.call.tag as usize];
    let (from, to) = (a.real_datetime(0)?, a.real_datetime(1)?);
    let micros = i128::from(to.micros_since(from));
    let divisor: i128 = match unit {
        U::Microsecond => 1,
        U::Second => 1_000_000,
        U::Minute => 60_000_000,
        U::Hour => 3_600_000_000,
        U::Day => 86_400_000_000,
        U::Week => 7 * 86_400_000_000,
        _ => {
            let months = months_between(from, to);
            return Ok(Value::Int(match unit {
                U::Quarter => months / 3,
                U::Year => months / 12,
                _ => months,
            }));
        }
    };
    Ok(Value::Int((micros / divisor) as i64))
}

/// Whole months from one moment to another.
fn months_between(from: DateTime, to: DateTime) -> i64 {
    if to < from {
        return -months_between(to, from);
    }
    let months = to.date.month_number() - from.date.month_number();
    let rest = |moment: DateTime| (moment.date.day, moment.time().micros);
    if rest(to) < rest(from) { months - 1 } else { months }
}

/// Adds a span to a moment, NULL with a warning beyond the calendar.
pub(super) fn add(
    a: &mut Args<'_, '_>,
    moment: DateTime,
    span: Interval,
) -> Result<DateTime, Stop> {
    match moment.add_interval(span) {
        Some(moment) => Ok(moment),
        None => {
            a.warn(ErrorCode::DatetimeFunctionOverflow, &[&"datetime"])?;
            Err(Stop::Null)
        }
    }
}
