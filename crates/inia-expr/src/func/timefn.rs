//! The clock, time zones, and times that are added, taken apart and put together.

use super::datetime::{add, moment_in};
use super::types::{any_null, int_null};
use super::{Function, f, ft, v};
use crate::bind::num_class;
use crate::context::{Environment, utc_datetime};
use crate::convert;
use crate::eval::{Args, FnResult, Stop};
use crate::tree::{Expr, ExprKind, NumClass};
use crate::ty::{ExprType, TypeClass};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::decimal::Decimal;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::{Date, DateRules, DateTime, Interval, Time, TimeZone};
use inia_base::value::Value;

type Ty = Result<ExprType, SqlError>;

pub(super) const TABLE: &[Function] = &[
    v("now", 0, 1, now_type, |a| Ok(Value::DateTime(a.ctx.env.now().truncate_to(a.ty.fsp())))),
    v("sysdate", 0, 1, now_type, |a| {
        let now = a.ctx.env.local(a.ctx.host.clock_micros());
        Ok(Value::DateTime(now.truncate_to(a.ty.fsp())))
    }),
    v(
        "curdate",
        0,
        0,
        |_, _| Ok(ExprType::computed(DataType::Date, false)),
        |a| Ok(Value::Date(a.ctx.env.now().date)),
    ),
    v("curtime", 0, 1, clock_type, |a| {
        Ok(Value::Time(a.ctx.env.now().time().truncate_to(a.ty.fsp())))
    }),
    v(
        "utc_date",
        0,
        0,
        |_, _| Ok(ExprType::computed(DataType::Date, false)),
        |a| Ok(Value::Date(utc_datetime(a.ctx.env.now_micros).date)),
    ),
    v("utc_time", 0, 1, clock_type, |a| {
        Ok(Value::Time(utc_datetime(a.ctx.env.now_micros).time().truncate_to(a.ty.fsp())))
    }),
    v("utc_timestamp", 0, 1, now_type, |a| {
        Ok(Value::DateTime(utc_datetime(a.ctx.env.now_micros).truncate_to(a.ty.fsp())))
    }),
    v("unix_timestamp", 0, 1, unix_type, unix_timestamp),
    v("from_unixtime", 1, 2, from_unix_type, from_unixtime),
    f(
        "convert_tz",
        3,
        3,
        |args, _| {
            let fsp = literal_fsp(&args[0], false);
            Ok(ExprType::computed(DataType::DateTime { fsp }, true))
        },
        convert_tz,
    ),
    f(
        "time",
        1,
        1,
        |args, _| Ok(ExprType::computed(DataType::Time { fsp: literal_fsp(&args[0], true) }, true)),
        |a| Ok(Value::Time(a.time(0)?)),
    ),
    f(
        "timestamp",
        1,
        2,
        |args, _| {
            let fsp_of = |(at, arg)| literal_fsp(arg, at == 1);
            let fsp = args.iter().enumerate().map(fsp_of).max().unwrap_or(0);
            Ok(ExprType::computed(DataType::DateTime { fsp }, true))
        },
        |a| {
            let value = a.value(0)?;
            let rules = match a.len() {
                1 if !matches!(*value, Value::Date(_) | Value::DateTime(_)) => {
                    a.ctx.env.date_rules()
                }
                _ => DateRules::ZEROS,
            };
            let moment = convert::to_datetime_with(&value, a.arg_type(0), rules, a.ctx)?;
            let moment = moment.ok_or(Stop::Null)?;
            if a.len() == 1 {
                return Ok(Value::DateTime(moment));
            }
            let time = a.time(1)?;
            // A sum is a real date: zero parts count backwards.
            let date = Date::from_days(moment.date.to_days());
            let date = date.filter(|date| !date.is_zero()).ok_or(Stop::Null)?;
            let moment = DateTime { date, ..moment };
            let span = Interval { micros: time.micros.into(), ..Interval::default() };
            Ok(Value::DateTime(add(a, moment, span)?))
        },
    ),
    ft("addtime", 2, 2, added_type, add_time, 1),
    ft("subtime", 2, 2, added_type, add_time, -1),
    f(
        "timediff",
        2,
        2,
        |args, _| {
            let fsp = args.iter().map(|arg| literal_fsp(arg, true)).max().unwrap_or(0);
            Ok(ExprType::computed(DataType::Time { fsp }, true))
        },
        time_diff,
    ),
    f(
        "maketime",
        3,
        3,
        |args, _| {
            let fsp =
                if args[2].ty.class() == TypeClass::Int { 0 } else { args[2].ty.decimals.min(6) };
            Ok(ExprType::computed(DataType::Time { fsp }, true))
        },
        make_time,
    ),
    f(
        "sec_to_time",
        1,
        1,
        |args, _| {
            let fsp =
                if args[0].ty.class() == TypeClass::Int { 0 } else { args[0].ty.decimals.min(6) };
            Ok(ExprType::computed(DataType::Time { fsp }, true))
        },
        sec_to_time,
    ),
    f("time_to_sec", 1, 1, int_null::<10>, |a| {
        let time = a.time(0)?;
        Ok(Value::Int(time.micros / 1_000_000))
    }),
];

/// The constant digits that NOW(n) asks for; error 1426 beyond six.
fn asked_fsp(args: &[Expr]) -> Result<u8, SqlError> {
    let Some(arg) = args.first() else { return Ok(0) };
    match super::types::constant_int(arg) {
        Some(fsp @ 0..=6) => Ok(fsp as u8),
        Some(fsp) => Err(SqlError::new(ErrorCode::TooBigPrecision, &[&fsp, &"now", &6])),
        None => Ok(0),
    }
}

fn now_type(args: &mut [Expr], _: &Environment) -> Ty {
    Ok(ExprType::computed(DataType::DateTime { fsp: asked_fsp(args)? }, false))
}

fn clock_type(args: &mut [Expr], _: &Environment) -> Ty {
    let fsp = asked_fsp(args)?;
    let ty = ExprType::computed(DataType::Time { fsp }, false);
    Ok(ExprType { length: ty.length - 2, ..ty })
}

/// Fractional digits of a temporal argument: those written, where it is a literal string.
fn literal_fsp(arg: &Expr, time: bool) -> u8 {
    if arg.ty.class() != TypeClass::String {
        return arg.ty.fsp();
    }
    let Some(Value::Text(text)) = arg.as_literal() else { return 6 };
    let parsed = match time {
        true => Time::parse(text).ok().map(|parsed| parsed.fraction_digits),
        false => DateTime::parse(text, DateRules::ZEROS).ok().map(|p| p.fraction_digits),
    };
    parsed.unwrap_or(6)
}

fn unix_type(args: &mut [Expr], _: &Environment) -> Ty {
    let fsp = args.first().map_or(0, |arg| match arg.ty.class() {
        TypeClass::Null => 0,
        // Another execution's value may have a fraction.
        TypeClass::Dated if matches!(arg.kind, ExprKind::Param(_)) => 6,
        _ => literal_fsp(arg, false),
    });
    let nullable = any_null(args);
    Ok(match fsp {
        0 => ExprType::int(21, nullable),
        _ => ExprType::decimal(11 + u32::from(fsp), fsp.into(), false, nullable),
    })
}

/// 3001-01-18 23:59:59, the last second that is a Unix timestamp.
const LAST_UNIX_SECOND: i64 = 32_536_771_199;

fn unix_timestamp(a: &mut Args<'_, '_>) -> FnResult {
    if a.len() == 0 {
        return Ok(Value::Int(a.ctx.env.now_micros.div_euclid(1_000_000)));
    }
    let micros = match a.value(0) {
        Ok(_) => match a.real_datetime(0) {
            Ok(local) => a.ctx.env.time_zone.to_utc(local).map_or(0, |utc| {
                let seconds = utc.to_unix();
                match (1..=LAST_UNIX_SECOND).contains(&seconds) {
                    true => seconds * 1_000_000 + i64::from(utc.micros),
                    false => 0,
                }
            }),
            Err(Stop::Null) => 0,
            Err(error) => return Err(error),
        },
        Err(error) => return Err(error),
    };
    match a.ty.data_type {
        DataType::Decimal { scale, .. } => {
            let exact = Decimal::from_i128(i128::from(micros), 6);
            Ok(Value::Decimal(exact.with_scale(scale).unwrap_or(exact)))
        }
        _ => Ok(Value::Int(micros / 1_000_000)),
    }
}

fn from_unix_type(args: &mut [Expr], env: &Environment) -> Ty {
    if args.len() == 2 {
        let length = match args[1].as_literal() {
            Some(Value::Text(format)) => super::datefmt::format_length(format),
            _ => u64::from(args[1].ty.length) * 10,
        };
        return Ok(ExprType::text(length, env.collation, true));
    }
    let fsp = match args[0].ty.class() {
        TypeClass::Int => 0,
        _ => args[0].ty.decimals.min(6),
    };
    Ok(ExprType::computed(DataType::DateTime { fsp }, true))
}

fn from_unixtime(a: &mut Args<'_, '_>) -> FnResult {
    let seconds = a.decimal(0)?;
    let micros = seconds
        .mul(Decimal::from_i128(1_000_000, 0))
        .ok()
        .and_then(|micros| micros.to_i64().ok())
        .filter(|micros| (0..(LAST_UNIX_SECOND + 1) * 1_000_000).contains(micros))
        .ok_or(Stop::Null)?;
    let local = a.ctx.env.local(micros);
    if a.len() == 1 {
        return Ok(Value::DateTime(local.round_to(a.ty.fsp()).ok_or(Stop::Null)?));
    }
    let format = a.text(1)?;
    super::datefmt::format_moment(local, &format, a.ctx.env.locale)
}

fn convert_tz(a: &mut Args<'_, '_>) -> FnResult {
    let moment = a.real_datetime(0)?;
    let from = TimeZone::parse(&a.text(1)?).ok_or(Stop::Null)?;
    let to = TimeZone::parse(&a.text(2)?).ok_or(Stop::Null)?;
    let utc = from.to_utc(moment).ok_or(Stop::Null)?;
    if !utc.is_timestamp() {
        return Ok(Value::DateTime(moment));
    }
    Ok(Value::DateTime(to.from_utc(utc).ok_or(Stop::Null)?))
}

fn added_type(args: &mut [Expr], _: &Environment) -> Ty {
    let fsp = args.iter().map(|arg| literal_fsp(arg, true)).max().unwrap_or(0);
    let data_type = match args[0].ty.data_type {
        DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. } => {
            DataType::DateTime { fsp }
        }
        DataType::Time { .. } => DataType::Time { fsp },
        _ => DataType::Char { chars: 29, collation: Collation::DEFAULT },
    };
    Ok(ExprType::computed(data_type, true))
}

/// ADDTIME, and SUBTIME with tag -1.
fn add_time(a: &mut Args<'_, '_>) -> FnResult {
    let sign = a.call.tag;
    let value = a.value(0)?;
    let moment = match (&*value, &a.ty.data_type) {
        (_, DataType::DateTime { .. }) => Some(a.datetime(0)?),
        (Value::Text(_) | Value::Bytes(_), DataType::Char { .. }) => {
            let text = convert::to_text(&value, a.arg_type(0));
            let parsed = DateTime::parse(&text, DateRules::ZEROS).ok();
            parsed
                .filter(|p| p.has_time && !p.truncated && text.contains(['-', 'T', ' ']))
                .map(|p| p.value)
        }
        (number, _) => moment_in(number, a.arg_type(0)),
    };
    let text = matches!(a.ty.data_type, DataType::Char { .. });
    if let Some(moment) = moment {
        let added = added_time(a)?;
        let span = Interval { micros: i128::from(added.micros * sign), ..Interval::default() };
        let moment = match moment.date.month > 0 && moment.date.day > 0 {
            true => add(a, moment, span)?,
            false => beside_zeros(moment, added.micros * sign).ok_or(Stop::Null)?,
        };
        // The calendar begins with the year 1.
        if moment.date.year == 0 {
            return Err(Stop::Null);
        }
        return Ok(match text {
            true => Value::Text(moment.text(if moment.micros > 0 { 6 } else { 0 })),
            false => Value::DateTime(moment),
        });
    }
    let (time, added) = (a.time(0)?, added_time(a)?);
    let (sum, clamped) = Time::clamped(time.micros + added.micros * sign);
    if clamped {
        let shown = Time { micros: time.micros + added.micros * sign };
        a.warn(ErrorCode::TruncatedWrongValue, &[&"time", &shown])?;
    }
    Ok(match text {
        true => Value::Text(sum.text(if sum.fraction() > 0 { 6 } else { 0 })),
        false => Value::Time(sum),
    })
}

/// A sum whose date has no month or no day, which count as the last ones of the year or month
/// before.
fn beside_zeros(moment: DateTime, micros: i64) -> Option<DateTime> {
    const DAY: i64 = 86_400_000_000;
    let clock = moment.micros_since(DateTime { date: moment.date, ..DateTime::ZERO });
    let (days, rest) = ((clock + micros).div_euclid(DAY), (clock + micros).rem_euclid(DAY));
    let date = Date::from_days(moment.date.to_days() + days)?;
    let (seconds, micros) = (rest / 1_000_000, (rest % 1_000_000) as u32);
    let (hour, minute) = ((seconds / 3600) as u8, (seconds / 60 % 60) as u8);
    Some(DateTime { date, hour, minute, second: (seconds % 60) as u8, micros })
}

/// What ADDTIME adds: a whole date and time is none.
fn added_time(a: &mut Args<'_, '_>) -> Result<Time, Stop> {
    let value = a.value(1)?;
    let added = convert::to_time(&value, a.arg_type(1), a.ctx)?.ok_or(Stop::Null)?;
    let ty = a.arg_type(1);
    let text = matches!(&*value, Value::Text(_) | Value::Bytes(_))
        && convert::to_text(&value, ty).contains(' ')
        && is_dated(&value, ty);
    match moment_in(&value, a.arg_type(1)) {
        Some(_) => Err(Stop::Null),
        None if text => Err(Stop::Null),
        None => Ok(added),
    }
}

/// Whether a value is a date with a time, or only a time.
fn is_dated(value: &Value, ty: &ExprType) -> bool {
    match value {
        Value::DateTime(_) | Value::Date(_) => true,
        Value::Text(_) | Value::Bytes(_) => {
            let text = convert::to_text(value, ty);
            let parsed = DateTime::parse(&text, DateRules::ZEROS);
            text.contains('-')
                && !text.starts_with('-')
                && parsed.is_ok_and(|parsed| parsed.has_time)
        }
        // A number of more digits than a time has.
        Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_) => {
            let whole = convert::to_text(value, ty).split('.').next().and_then(|n| n.parse().ok());
            whole.is_some_and(|number: i64| {
                number >= 10_000_000_000 && Time::from_number(number).is_ok()
            })
        }
        _ => false,
    }
}

/// Whether a value is a date, or a text that reads as one without a time.
fn is_day(value: &Value, ty: &ExprType) -> bool {
    match value {
        Value::Date(_) => true,
        Value::Text(_) | Value::Bytes(_) => {
            let parsed = DateTime::parse(&convert::to_text(value, ty), DateRules::ZEROS);
            parsed.is_ok_and(|parsed| !parsed.has_time)
        }
        _ => false,
    }
}

/// Microseconds between two arguments that are days.
fn days_apart(a: &mut Args<'_, '_>) -> Result<i64, Stop> {
    Ok(a.datetime(0)?.micros_since(a.datetime(1)?))
}

fn time_diff(a: &mut Args<'_, '_>) -> FnResult {
    let (left, right) = (a.value(0)?, a.value(1)?);
    let dated = (is_dated(&left, a.arg_type(0)), is_dated(&right, a.arg_type(1)));
    // A DATE has a difference to a text that is a date alone, and none to a moment.
    let one_date = matches!(*left, Value::Date(_)) != matches!(*right, Value::Date(_));
    let (types, values) = ([a.arg_type(0), a.arg_type(1)], [&*left, &*right]);
    let dates = one_date && values.iter().zip(types).all(|(value, ty)| is_day(value, ty));
    if one_date && !dates {
        warn_of_no_moment(a, (&left, &right))?;
        return Err(Stop::Null);
    }
    let micros = match dated {
        _ if dates => days_apart(a)?,
        (true, true) => {
            let moment = |a: &mut Args<'_, '_>, i: usize, value: &Value| {
                let ty = a.arg_type(i);
                let moment = convert::to_datetime_with(value, ty, DateRules::ZEROS, a.ctx)?;
                moment.ok_or(Stop::Null)
            };
            let (left, right) = (moment(a, 0, &left)?, moment(a, 1, &right)?);
            left.micros_since(right)
        }
        (false, false) => a.time(0)?.micros - a.time(1)?.micros,
        _ => {
            warn_of_no_moment(a, (&left, &right))?;
            return Err(Stop::Null);
        }
    };
    let (time, clamped) = Time::clamped(micros);
    if clamped {
        let shown = Time { micros };
        a.warn(ErrorCode::TruncatedWrongValue, &[&"time", &shown])?;
    }
    Ok(Value::Time(time))
}

/// Warns of a text that is no moment beside a date or moment.
fn warn_of_no_moment(a: &mut Args<'_, '_>, values: (&Value, &Value)) -> Result<(), SqlError> {
    for (at, value, other) in [(0, values.0, values.1), (1, values.1, values.0)] {
        let beside_moment = matches!(other, Value::Date(_) | Value::DateTime(_));
        if beside_moment && matches!(value, Value::Text(_)) {
            match a.datetime(at) {
                Ok(_) | Err(Stop::Null) => {}
                Err(Stop::Error(error)) => return Err(error),
            }
        }
    }
    Ok(())
}

fn make_time(a: &mut Args<'_, '_>) -> FnResult {
    let (hour, minute, second) = (a.clamped(0)?, a.clamped(1)?, a.decimal(2)?);
    let whole = second.truncate(0).to_i64().unwrap_or(-1);
    if !(0..=59).contains(&minute) || !(0..=59).contains(&whole) || second.is_negative() {
        return Err(Stop::Null);
    }
    let micros = convert::fraction_micros(second);
    let clock =
        (i128::from(hour.unsigned_abs()) * 60 + i128::from(minute)) * 60 + i128::from(whole);
    let total = clock * 1_000_000 + i128::from(micros);
    let total = if hour < 0 { -total } else { total };
    let wide = i64::try_from(total).unwrap_or(if hour < 0 { i64::MIN } else { i64::MAX });
    let (time, clamped) = Time::clamped(wide);
    if clamped {
        let shown = format!("{hour:02}:{minute:02}:{whole:02}");
        a.warn(ErrorCode::TruncatedWrongValue, &[&"time", &shown])?;
    }
    Ok(Value::Time(time.round_to(a.ty.fsp())))
}

fn sec_to_time(a: &mut Args<'_, '_>) -> FnResult {
    let seconds = a.decimal(0)?;
    let micros = seconds.mul(Decimal::from_i128(1_000_000, 0)).ok().and_then(|m| m.to_i64().ok());
    let bound = if seconds.is_negative() { i64::MIN } else { i64::MAX };
    let (time, clamped) = Time::clamped(micros.unwrap_or(bound));
    if clamped {
        let shown = match num_class(a.arg_type(0)) {
            NumClass::Int => seconds.to_string(),
            _ => a.text(0)?.into_owned(),
        };
        a.warn(ErrorCode::TruncatedWrongValue, &[&"time", &shown])?;
    }
    Ok(Value::Time(time.round_to(a.ty.fsp())))
}
