//! Interval arithmetic: `date + INTERVAL expr unit`.

use super::{Date, DateTime, SECOND, Time, calendar};
use crate::decimal::Decimal;

/// The units of INTERVAL, simple and composite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntervalUnit {
    /// MICROSECOND.
    Microsecond,
    /// SECOND.
    Second,
    /// MINUTE.
    Minute,
    /// HOUR.
    Hour,
    /// DAY.
    Day,
    /// WEEK.
    Week,
    /// MONTH.
    Month,
    /// QUARTER.
    Quarter,
    /// YEAR.
    Year,
    /// 'seconds.microseconds'.
    SecondMicrosecond,
    /// 'minutes:seconds.microseconds'.
    MinuteMicrosecond,
    /// 'minutes:seconds'.
    MinuteSecond,
    /// 'hours:minutes:seconds.microseconds'.
    HourMicrosecond,
    /// 'hours:minutes:seconds'.
    HourSecond,
    /// 'hours:minutes'.
    HourMinute,
    /// 'days hours:minutes:seconds.microseconds'.
    DayMicrosecond,
    /// 'days hours:minutes:seconds'.
    DaySecond,
    /// 'days hours:minutes'.
    DayMinute,
    /// 'days hours'.
    DayHour,
    /// 'years-months'.
    YearMonth,
}

impl IntervalUnit {
    /// Every unit with its keyword.
    pub const ALL: [(&'static str, IntervalUnit); 20] = [
        ("MICROSECOND", IntervalUnit::Microsecond),
        ("SECOND", IntervalUnit::Second),
        ("MINUTE", IntervalUnit::Minute),
        ("HOUR", IntervalUnit::Hour),
        ("DAY", IntervalUnit::Day),
        ("WEEK", IntervalUnit::Week),
        ("MONTH", IntervalUnit::Month),
        ("QUARTER", IntervalUnit::Quarter),
        ("YEAR", IntervalUnit::Year),
        ("SECOND_MICROSECOND", IntervalUnit::SecondMicrosecond),
        ("MINUTE_MICROSECOND", IntervalUnit::MinuteMicrosecond),
        ("MINUTE_SECOND", IntervalUnit::MinuteSecond),
        ("HOUR_MICROSECOND", IntervalUnit::HourMicrosecond),
        ("HOUR_SECOND", IntervalUnit::HourSecond),
        ("HOUR_MINUTE", IntervalUnit::HourMinute),
        ("DAY_MICROSECOND", IntervalUnit::DayMicrosecond),
        ("DAY_SECOND", IntervalUnit::DaySecond),
        ("DAY_MINUTE", IntervalUnit::DayMinute),
        ("DAY_HOUR", IntervalUnit::DayHour),
        ("YEAR_MONTH", IntervalUnit::YearMonth),
    ];

    /// The unit of a keyword in any case.
    pub fn from_name(name: &str) -> Option<IntervalUnit> {
        let found = IntervalUnit::ALL.iter().find(|(word, _)| word.eq_ignore_ascii_case(name));
        found.map(|&(_, unit)| unit)
    }

    /// The keyword.
    pub fn name(self) -> &'static str {
        let found = IntervalUnit::ALL.iter().find(|&&(_, unit)| unit == self);
        found.map_or("", |&(word, _)| word)
    }

    /// Whether the unit's value is a text of several parts.
    pub fn is_composite(self) -> bool {
        !self.parts().1.is_empty()
    }

    /// Whether adding the unit to a DATE gives a DATETIME.
    pub fn has_time(self) -> bool {
        !matches!(
            self,
            IntervalUnit::Day
                | IntervalUnit::Week
                | IntervalUnit::Month
                | IntervalUnit::Quarter
                | IntervalUnit::Year
                | IntervalUnit::YearMonth
        )
    }

    /// Whether the unit reaches below the second.
    pub fn has_micros(self) -> bool {
        self == IntervalUnit::Microsecond || self.parts().1.last() == Some(&Unit::Micros)
    }

    /// A simple unit's part and factor, or a composite unit's parts from the left.
    fn parts(self) -> ((Unit, u64), &'static [Unit]) {
        use Unit::{Days, Hours, Micros, Minutes, Months, Seconds, Years};
        const ALL: &[Unit] = &[Days, Hours, Minutes, Seconds, Micros];
        let none: &[Unit] = &[];
        match self {
            IntervalUnit::Microsecond => ((Micros, 1), none),
            IntervalUnit::Second => ((Seconds, 1), none),
            IntervalUnit::Minute => ((Minutes, 1), none),
            IntervalUnit::Hour => ((Hours, 1), none),
            IntervalUnit::Day => ((Days, 1), none),
            IntervalUnit::Week => ((Days, 7), none),
            IntervalUnit::Month => ((Months, 1), none),
            IntervalUnit::Quarter => ((Months, 3), none),
            IntervalUnit::Year => ((Years, 1), none),
            IntervalUnit::SecondMicrosecond => ((Micros, 1), &ALL[3..5]),
            IntervalUnit::MinuteMicrosecond => ((Micros, 1), &ALL[2..5]),
            IntervalUnit::MinuteSecond => ((Seconds, 1), &ALL[2..4]),
            IntervalUnit::HourMicrosecond => ((Micros, 1), &ALL[1..5]),
            IntervalUnit::HourSecond => ((Seconds, 1), &ALL[1..4]),
            IntervalUnit::HourMinute => ((Minutes, 1), &ALL[1..3]),
            IntervalUnit::DayMicrosecond => ((Micros, 1), ALL),
            IntervalUnit::DaySecond => ((Seconds, 1), &ALL[..4]),
            IntervalUnit::DayMinute => ((Minutes, 1), &ALL[..3]),
            IntervalUnit::DayHour => ((Hours, 1), &ALL[..2]),
            IntervalUnit::YearMonth => ((Months, 1), &[Years, Months]),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Years,
    Months,
    Days,
    Hours,
    Minutes,
    Seconds,
    Micros,
}

/// A signed span: months that depend on the calendar, and days and microseconds that do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Calendar months (12 to the year).
    pub months: i64,
    /// Whole days.
    pub days: i64,
    /// Microseconds.
    pub micros: i128,
}

impl Interval {
    fn add_part(&mut self, part: Unit, amount: i64) {
        let wide = i128::from(amount);
        let second = i128::from(SECOND);
        match part {
            Unit::Years => self.months = self.months.saturating_add(amount.saturating_mul(12)),
            Unit::Months => self.months = self.months.saturating_add(amount),
            Unit::Days => self.days = self.days.saturating_add(amount),
            Unit::Hours => self.micros += wide * 3600 * second,
            Unit::Minutes => self.micros += wide * 60 * second,
            Unit::Seconds => self.micros += wide * second,
            Unit::Micros => self.micros += wide,
        }
    }

    /// `amount` of a simple unit (of the smallest part for a composite one).
    pub fn of(unit: IntervalUnit, amount: i64) -> Interval {
        let ((part, factor), _) = unit.parts();
        let mut interval = Interval::default();
        interval.add_part(part, amount.saturating_mul(factor as i64));
        interval
    }

    /// Seconds with a fraction, cut at microseconds.
    pub fn of_seconds(seconds: Decimal) -> Interval {
        let micros = Decimal::from(SECOND).mul(seconds.truncate(6));
        let bound = if seconds.is_negative() { i64::MIN } else { i64::MAX };
        let micros = micros.map_or(bound, |micros| micros.to_i64().unwrap_or(bound));
        Interval { micros: micros.into(), ..Interval::default() }
    }

    /// Reads a composite unit's text such as '1 10:30' (DAY_MINUTE). Any characters that are not
    /// digits separate; a leading minus counts for the whole; fewer numbers than parts mean the
    /// rightmost parts; more are an error.
    pub fn parse(unit: IntervalUnit, text: &str) -> Option<Interval> {
        let (_, parts) = unit.parts();
        let bytes = text.trim_start().as_bytes();
        let negative = bytes.first() == Some(&b'-');
        let mut numbers: Vec<(i64, usize)> = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                at += 1;
                continue;
            }
            if numbers.len() == parts.len() {
                return None;
            }
            let value = bytes[at..at + digits].iter().fold(0i64, |value, byte| {
                value.saturating_mul(10).saturating_add(i64::from(byte - b'0'))
            });
            numbers.push((value, digits));
            at += digits;
        }
        let mut interval = Interval::default();
        let used = &parts[parts.len() - numbers.len()..];
        for (&part, &(value, digits)) in used.iter().zip(&numbers) {
            // The digits after the point are a fraction: '1.5' is half a second.
            let scale = if part == Unit::Micros { 6usize.saturating_sub(digits) } else { 0 };
            interval.add_part(part, value.saturating_mul(10i64.pow(scale as u32)));
        }
        Some(if negative { interval.neg() } else { interval })
    }

    /// The span in the other direction.
    #[allow(clippy::should_implement_trait)]
    pub fn neg(self) -> Interval {
        Interval {
            months: self.months.saturating_neg(),
            days: self.days.saturating_neg(),
            micros: self.micros.saturating_neg(),
        }
    }
}

/// The date `months` later, on the month's last day where it has too few.
fn add_months(date: Date, months: i64) -> Option<Date> {
    if months == 0 {
        return Some(date);
    }
    let number = date.month_number().checked_add(months)?;
    if !(0..120_000).contains(&number) {
        return None;
    }
    let (year, month) = ((number / 12) as u16, (number % 12 + 1) as u8);
    let day = date.day.min(calendar::days_in_month(year, month));
    Some(Date { year, month, day })
}

impl DateTime {
    /// Adds a span; `None` where the result leaves years 0 to 9999 (a warning 1441 in MySQL).
    pub fn add_interval(self, interval: Interval) -> Option<DateTime> {
        let date = add_months(self.date, interval.months)?;
        // Days and the rest of one sign: nothing on the way is beyond what the sum is.
        let day = i128::from(super::DAY);
        let micros = (i128::from(interval.days) * day).checked_add(interval.micros)?;
        let days = i64::try_from(micros / day).ok()?;
        let moment = DateTime { date, ..self }.add_micros((micros % day) as i64)?;
        let moment = match days {
            0 => moment,
            days => DateTime { date: moment.date.add_days(days)?, ..moment },
        };
        // Of days and shorter units MySQL counts days, and knows none of the year 0.
        match interval.months == 0 && moment.date.year == 0 {
            true => Some(DateTime { date: Date::ZERO, ..moment }),
            false => Some(moment),
        }
    }
}

impl Date {
    /// Adds a span without a time part, as [`DateTime::add_interval`].
    pub fn add_interval(self, interval: Interval) -> Option<Date> {
        self.at_midnight().add_interval(interval).map(|moment| moment.date)
    }
}

impl Time {
    /// Adds a span of days and less; `None` beyond 838:59:59 or for months.
    pub fn add_interval(self, interval: Interval) -> Option<Time> {
        let days = i128::from(interval.days) * i128::from(super::DAY);
        let micros = i64::try_from(i128::from(self.micros) + days + interval.micros).ok()?;
        let (time, changed) = Time::clamped(micros);
        (interval.months == 0 && !changed).then_some(time)
    }
}
