//! DATE_FORMAT, TIME_FORMAT and STR_TO_DATE.

use super::types::{any_null, string_of};
use super::{Function, f};
use crate::context::Environment;
use crate::convert;
use crate::eval::{Args, FnResult, Stop};
use crate::locale::Locale;
use crate::tree::Expr;
use crate::ty::ExprType;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::calendar::WeekMode;
use inia_base::temporal::{Date, DateRules, DateTime, Time};
use inia_base::value::Value;
use std::fmt::Write;

/// Names of days, Monday first.
pub(super) const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
/// Names of months.
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(super) const TABLE: &[Function] = &[
    f("date_format", 2, 2, format_type, date_format),
    f("time_format", 2, 2, format_type, time_format),
    f("str_to_date", 2, 2, parse_type, str_to_date),
    f("get_format", 2, 2, super::types::text_null::<17>, get_format),
];

/// The longest text that a constant format can give.
fn format_type(args: &mut [Expr], env: &Environment) -> Result<ExprType, SqlError> {
    let length = match args[1].as_literal() {
        Some(Value::Text(format)) => format_length(format),
        _ => u64::from(args[1].ty.length) * 10,
    };
    string_of(&args[1..2], length.min(250), true, env, "date_format").map(|mut ty| {
        ty.nullable = true;
        let _ = any_null(args);
        ty
    })
}

pub(super) fn format_length(format: &str) -> u64 {
    let mut length = 0;
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        length += match c {
            '%' => match chars.next() {
                Some('M' | 'W') => 64,
                Some('D' | 'Y' | 'x' | 'X') => 4,
                Some('a' | 'b') => 32,
                Some('j') => 3,
                Some('H' | 'k') => 7,
                Some('h' | 'I' | 'l') => 2,
                Some('r') => 11,
                Some('T') => 8,
                Some('f') => 6,
                Some('w' | '%') => 1,
                Some(
                    'm' | 'c' | 'd' | 'e' | 'i' | 's' | 'S' | 'p' | 'u' | 'U' | 'v' | 'V' | 'y',
                ) => 2,
                Some(_) => 1,
                None => 1,
            },
            _ => 1,
        };
    }
    length
}

fn date_format(a: &mut Args<'_, '_>) -> FnResult {
    let moment = a.datetime(0)?;
    let format = a.text(1)?;
    format_moment(moment, &format, a.ctx.env.locale)
}

/// A moment as a format says.
pub(super) fn format_moment(moment: DateTime, format: &str, locale: Option<&Locale>) -> FnResult {
    if format.is_empty() {
        return Err(Stop::Null);
    }
    let mut out = String::new();
    let hour = u32::from(moment.hour);
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let Some(spec) = chars.next() else {
            out.push('%');
            break;
        };
        if !date_part(spec, moment, locale, &mut out)?
            && !clock_part(spec, hour, moment.time(), &mut out)
        {
            out.push(spec);
        }
    }
    Ok(Value::Text(out))
}

/// Writes a part that needs a date; NULL where the date has no such part.
fn date_part(
    spec: char,
    moment: DateTime,
    locale: Option<&Locale>,
    out: &mut String,
) -> Result<bool, Stop> {
    let date = moment.date;
    // A zero month has no name and a zero date no weekday: the whole result is then NULL.
    let month_name = |short: bool| {
        let at = usize::from(date.month).checked_sub(1).ok_or(Stop::Null)?;
        Ok::<&str, Stop>(match (locale, short) {
            (None, false) => MONTHS[at],
            (None, true) => &MONTHS[at][..3],
            (Some(locale), false) => locale.months[at],
            (Some(locale), true) => locale.short_months[at],
        })
    };
    let day_name = |short: bool| {
        if date.month == 0 && date.day == 0 && date.year == 0 {
            return Err(Stop::Null);
        }
        let at = usize::from(date.weekday());
        Ok::<&str, Stop>(match (locale, short) {
            (None, false) => DAYS[at],
            (None, true) => &DAYS[at][..3],
            (Some(locale), false) => locale.days[at],
            (Some(locale), true) => locale.short_days[at],
        })
    };
    // %U and %u count weeks from 0 within the year; the weeks of %V and %v belong to the year that
    // %X and %x give, which may be the one before or after.
    let week = |number: i64| date.week(WeekMode::from_number(number));
    let with_year = |number: i64| date.week(WeekMode::from_number(number).with_year());
    let written = match spec {
        'a' => write!(out, "{}", day_name(true)?),
        'W' => write!(out, "{}", day_name(false)?),
        'b' => write!(out, "{}", month_name(true)?),
        'M' => write!(out, "{}", month_name(false)?),
        'c' => write!(out, "{}", date.month),
        'm' => write!(out, "{:02}", date.month),
        'd' => write!(out, "{:02}", date.day),
        'e' => write!(out, "{}", date.day),
        'D' => write!(out, "{}{}", date.day, ordinal(date.day)),
        'j' => write!(out, "{:0>3}", date.day_of_year().to_string()),
        'U' => write!(out, "{:02}", week(0).1),
        'u' => write!(out, "{:02}", week(1).1),
        'V' => write!(out, "{:02}", with_year(2).1),
        'v' => write!(out, "{:02}", with_year(3).1),
        'X' => write!(out, "{:04}", with_year(2).0),
        'x' => write!(out, "{:04}", with_year(3).0),
        'w' => write!(out, "{}", (date.weekday() + 1) % 7),
        'Y' => write!(out, "{:04}", date.year),
        'y' => write!(out, "{:02}", date.year % 100),
        _ => return Ok(false),
    };
    Ok(written.is_ok())
}

fn ordinal(day: u8) -> &'static str {
    match (day % 10, day / 10) {
        (_, 1) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

/// Writes a part of the clock; `hour` may go beyond 23.
fn clock_part(spec: char, hour: u32, time: Time, out: &mut String) -> bool {
    let twelve = (hour + 11) % 12 + 1;
    let half = if hour % 24 < 12 { "AM" } else { "PM" };
    let (m, s) = (time.minute(), time.second());
    let written = match spec {
        'f' => write!(out, "{:06}", time.fraction()),
        'H' => write!(out, "{hour:02}"),
        'h' | 'I' => write!(out, "{twelve:02}"),
        'i' => write!(out, "{m:02}"),
        'k' => write!(out, "{hour}"),
        'l' => write!(out, "{twelve}"),
        'p' => write!(out, "{half}"),
        'r' => write!(out, "{twelve:02}:{m:02}:{s:02} {half}"),
        'S' | 's' => write!(out, "{s:02}"),
        'T' => write!(out, "{hour:02}:{m:02}:{s:02}"),
        _ => return false,
    };
    written.is_ok()
}

fn time_format(a: &mut Args<'_, '_>) -> FnResult {
    let time = a.time(0)?;
    let format = a.text(1)?;
    let mut out = String::new();
    if time.is_negative() {
        out.push('-');
    }
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let Some(spec) = chars.next() else {
            out.push('%');
            break;
        };
        let zero = match spec {
            'c' | 'e' => "0",
            'd' | 'm' | 'y' => "00",
            'Y' => "0000",
            'a' | 'b' | 'D' | 'j' | 'M' | 'u' | 'U' | 'v' | 'V' | 'w' | 'W' | 'x' | 'X' => {
                return Err(Stop::Null);
            }
            _ => "",
        };
        out.push_str(zero);
        if zero.is_empty() && !clock_part(spec, time.hour(), time, &mut out) {
            out.push(spec);
        }
    }
    Ok(Value::Text(out))
}

/// DATE, TIME or DATETIME by what a constant format asks for.
fn parse_type(args: &mut [Expr], _: &Environment) -> Result<ExprType, SqlError> {
    let format = match args[1].as_literal() {
        Some(Value::Text(format)) => format.as_str(),
        _ => return Ok(ExprType::computed(DataType::DateTime { fsp: 6 }, true)),
    };
    Ok(ExprType::computed(parsed_type(format), true))
}

fn parsed_type(format: &str) -> DataType {
    let specs = specifiers(format);
    let dated = specs.iter().any(|c| "MVUXYWabcjmvuxyw".contains(*c) || "dDe".contains(*c));
    let timed = specs.iter().any(|c| "HISThfiklprs".contains(*c));
    let fsp = if specs.contains(&'f') { 6 } else { 0 };
    match (dated, timed) {
        (true, true) => DataType::DateTime { fsp },
        (false, true) => DataType::Time { fsp },
        _ => DataType::Date,
    }
}

fn specifiers(format: &str) -> Vec<char> {
    let chars: Vec<char> = format.chars().collect();
    chars.windows(2).filter(|pair| pair[0] == '%').map(|pair| pair[1]).collect()
}

/// What STR_TO_DATE has read so far.
///
/// Wide: one field for each specifier of a format.
#[derive(Default)]
struct Read {
    year: Option<i64>,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
    day_of_year: Option<i64>,
    weekday: Option<i64>,
    week: Option<(i64, char)>,
    week_year: Option<i64>,
    afternoon: Option<bool>,
    twelve_hours: bool,
}

fn str_to_date(a: &mut Args<'_, '_>) -> FnResult {
    let text = a.text(0)?;
    let format = a.text(1)?;
    let mut rest = text.as_ref();
    let mut read = Read::default();
    let parsed = read.run(&mut rest, &format).and_then(|()| read.assemble());
    let Some((date, time)) = parsed else { return wrong(a, &text) };
    if !rest.trim_start().is_empty() {
        let kind = match parsed_type(&format) {
            DataType::Date => "date",
            DataType::Time { .. } => "time",
            _ => "datetime",
        };
        a.warn(ErrorCode::TruncatedWrongValue, &[&kind, &text])?;
    }
    let wants_date = !matches!(a.ty.data_type, DataType::Time { .. });
    let rules = DateRules { allow_invalid_dates: true, ..a.ctx.env.date_rules() };
    if wants_date && date.check(rules).is_err() {
        return wrong(a, &text);
    }
    Ok(match a.ty.data_type {
        DataType::Date => Value::Date(date),
        DataType::Time { .. } => Value::Time(time),
        _ => Value::DateTime(
            DateTime { date, ..date.at_midnight() }.add_micros(time.micros).ok_or(Stop::Null)?,
        ),
    })
}

fn wrong(a: &mut Args<'_, '_>, text: &str) -> FnResult {
    let shown = convert::error_text(text.as_bytes());
    a.warn(ErrorCode::WrongValueForType, &[&"datetime", &shown, &"str_to_date"])?;
    Err(Stop::Null)
}

fn number(rest: &mut &str, most: usize) -> Option<(i64, usize)> {
    let digits = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let value = rest[..digits].parse().ok()?;
    *rest = &rest[digits..];
    Some((value, digits))
}

fn name(rest: &mut &str, names: &[&str], short: bool) -> Option<i64> {
    let at = names.iter().position(|name| {
        let name = if short { &name[..3] } else { name };
        rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name))
    })?;
    *rest = &rest[if short { 3 } else { names[at].len() }..];
    Some(at as i64 + 1)
}

impl Read {
    fn run(&mut self, rest: &mut &str, format: &str) -> Option<()> {
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if rest.is_empty() {
                break;
            }
            if c.is_whitespace() {
                *rest = rest.trim_start();
            } else if c != '%' {
                *rest = rest.trim_start().strip_prefix(c)?;
            } else if let Some(spec) = chars.next() {
                *rest = rest.trim_start();
                self.part(spec, rest)?;
            }
        }
        Some(())
    }

    fn part(&mut self, spec: char, rest: &mut &str) -> Option<()> {
        match spec {
            'Y' => {
                let (value, digits) = number(rest, 4)?;
                self.year = Some(if digits <= 2 { short_year(value) } else { value });
            }
            'y' => self.year = Some(short_year(number(rest, 2)?.0)),
            'm' | 'c' => self.month = number(rest, 2)?.0,
            'M' => self.month = name(rest, &MONTHS, false)?,
            'b' => self.month = name(rest, &MONTHS, true)?,
            'd' | 'e' => self.day = number(rest, 2)?.0,
            'D' => {
                self.day = number(rest, 2)?.0;
                *rest = rest.get(2..)?;
            }
            'h' | 'I' | 'l' => {
                self.twelve_hours = true;
                self.hour = number(rest, 2)?.0;
            }
            'H' | 'k' => self.hour = number(rest, 2)?.0,
            'i' => self.minute = number(rest, 2)?.0,
            's' | 'S' => self.second = number(rest, 2)?.0,
            'f' => {
                let (value, digits) = number(rest, 6)?;
                self.micros = value * 10i64.pow(6 - digits as u32);
            }
            // Only an hour of twelve has halves of the day, and it comes before them.
            'p' if !self.twelve_hours => return None,
            'p' => {
                let half = rest.get(..2)?.to_ascii_uppercase();
                self.afternoon = Some(match half.as_str() {
                    "PM" => true,
                    "AM" => false,
                    _ => return None,
                });
                *rest = &rest[2..];
            }
            'W' => self.weekday = Some(name(rest, &DAYS, false)?),
            'a' => self.weekday = Some(name(rest, &DAYS, true)?),
            'w' => {
                let day = number(rest, 1)?.0;
                self.weekday = Some(if day == 0 { 7 } else { day }).filter(|d| *d <= 7);
                self.weekday?;
            }
            'j' => self.day_of_year = Some(number(rest, 3)?.0).filter(|d| (1..=366).contains(d)),
            'U' | 'u' | 'V' | 'v' => {
                self.week = Some((number(rest, 2)?.0, spec));
            }
            'X' | 'x' => self.week_year = Some(number(rest, 4)?.0),
            'r' => return self.run(rest, "%I:%i:%S %p"),
            'T' => return self.run(rest, "%H:%i:%S"),
            '.' => skip(rest, |c| c.is_ascii_punctuation()),
            '@' => skip(rest, char::is_alphabetic),
            '#' => skip(rest, |c| c.is_ascii_digit()),
            '%' => *rest = rest.strip_prefix('%')?,
            _ => return None,
        }
        Some(())
    }

    fn assemble(&mut self) -> Option<(Date, Time)> {
        if self.twelve_hours {
            if !(1..=12).contains(&self.hour) {
                return None;
            }
            if let Some(afternoon) = self.afternoon {
                self.hour = self.hour % 12 + if afternoon { 12 } else { 0 };
            } else {
                self.hour %= 12;
            }
        }
        if self.hour > 23
            || self.minute > 59
            || self.second > 59
            || self.month > 12
            || self.day > 31
        {
            return None;
        }
        let seconds = (self.hour * 60 + self.minute) * 60 + self.second;
        let time = Time { micros: seconds * 1_000_000 + self.micros };
        let mut date = Date::new(self.year.unwrap_or(0) as u16, self.month as u8, self.day as u8);
        if let Some(day) = self.day_of_year {
            let first = Date::new(self.year.unwrap_or(0) as u16, 1, 1);
            date = first.add_days(day - 1)?;
        } else if let Some((week, spec)) = self.week {
            date = self.date_of_week(week, spec)?;
        }
        Some((date, time))
    }

    fn date_of_week(&self, week: i64, spec: char) -> Option<Date> {
        let weekday = self.weekday?;
        let sunday_first = matches!(spec, 'U' | 'V');
        let strict = matches!(spec, 'V' | 'v');
        let year = if strict { self.week_year? } else { self.year? };
        if week > 53 || (strict && week == 0) {
            return None;
        }
        let first = Date::new(year as u16, 1, 1);
        let mut days = first.to_days();
        if sunday_first {
            let start = (i64::from(first.weekday()) + 1) % 7;
            days += if start == 0 { 0 } else { 7 } - start + (week - 1) * 7 + weekday % 7;
        } else {
            let start = i64::from(first.weekday());
            days += if start <= 3 { 0 } else { 7 } - start + (week - 1) * 7 + (weekday - 1);
        }
        Date::from_days(days)
    }
}

fn short_year(value: i64) -> i64 {
    if value < 70 { value + 2000 } else { value + 1900 }
}

fn skip(rest: &mut &str, which: fn(char) -> bool) {
    *rest = rest.trim_start_matches(which);
}

fn get_format(a: &mut Args<'_, '_>) -> FnResult {
    let kind = a.text(0)?.to_lowercase();
    let place = a.text(1)?.to_uppercase();
    let formats = match kind.as_str() {
        "date" => ["%m.%d.%Y", "%Y-%m-%d", "%Y-%m-%d", "%d.%m.%Y", "%Y%m%d"],
        "time" => ["%h:%i:%s %p", "%H:%i:%s", "%H:%i:%s", "%H.%i.%s", "%H%i%s"],
        _ => [
            "%Y-%m-%d %H.%i.%s",
            "%Y-%m-%d %H:%i:%s",
            "%Y-%m-%d %H:%i:%s",
            "%Y-%m-%d %H.%i.%s",
            "%Y%m%d%H%i%s",
        ],
    };
    let at = ["USA", "JIS", "ISO", "EUR", "INTERNAL"].iter().position(|name| *name == place);
    Ok(Value::Text(formats[at.ok_or(Stop::Null)?].to_owned()))
}
