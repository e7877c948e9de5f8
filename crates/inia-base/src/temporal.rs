//! Dates and times as MySQL knows them: zero and partly-zero dates, signed times, microseconds.
//!
//! The types are plain fields so that impossible dates can exist where a session's SQL mode allows
//! them; [`DateRules`] says which. Day numbers, weeks and date arithmetic are in [`calendar`] and
//! [`interval`], reading texts and numbers in [`parse`], time zones in [`zone`].
//!
//! Every type has a packed form: an unsigned integer that orders like the value.
//!
//! ```text
//! Date      year:14 | month:4 | day:5                      2024-01-31 → 0x0FD03F
//! DateTime  Date | hour:5 | minute:6 | second:6 | micros:24
//! ```
//!
//! and a stored form of the fewest big-endian bytes for its `fsp` (digits after the second), which
//! `memcmp` orders too: DATE 3, DATETIME 5 + (fsp+1)/2, TIMESTAMP 4 + (fsp+1)/2, TIME 3 to 6.

pub mod calendar;
mod format;
pub mod interval;
pub mod parse;
mod storage;
#[cfg(test)]
mod tests;
pub mod zone;

pub use interval::{Interval, IntervalUnit};
pub use parse::{Deprecated, ParsedDateTime, ParsedTime};
pub use storage::{datetime_storage_size, time_storage_size, timestamp_storage_size};
pub use zone::TimeZone;

/// Microseconds of a second, and of a day.
const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// A calendar date. Month and day may be zero, as MySQL's permissive modes allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// 0 to 9999.
    pub year: u16,
    /// 0 to 12.
    pub month: u8,
    /// 0 to 31.
    pub day: u8,
}

/// A date with a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime {
    /// The calendar date.
    pub date: Date,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// 0 to 999,999.
    pub micros: u32,
}

/// A signed duration in microseconds, within ±838:59:59.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    /// Microseconds, negative for negative times.
    pub micros: i64,
}

/// Which unusual dates are accepted, by `sql_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateRules {
    /// Refuses 0000-00-00 (NO_ZERO_DATE).
    pub no_zero_date: bool,
    /// Refuses dates whose month or day is zero (NO_ZERO_IN_DATE).
    pub no_zero_in_date: bool,
    /// Accepts days up to 31 in every month (ALLOW_INVALID_DATES).
    pub allow_invalid_dates: bool,
}

impl DateRules {
    /// Only real dates.
    pub const STRICT: DateRules =
        DateRules { no_zero_date: true, no_zero_in_date: true, allow_invalid_dates: false };
    /// Zero dates and zero parts are welcome.
    pub const ZEROS: DateRules =
        DateRules { no_zero_date: false, no_zero_in_date: false, allow_invalid_dates: false };
}

/// Why a text or number is no date or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemporalError {
    /// It does not look like one, or a part is out of its range.
    Invalid,
    /// It is 0000-00-00 and the rules refuse that.
    ZeroDate,
    /// It is beyond the type's range.
    OutOfRange,
}

impl Date {
    /// 0000-00-00.
    pub const ZERO: Date = Date { year: 0, month: 0, day: 0 };
    /// 9999-12-31.
    pub const MAX: Date = Date { year: 9999, month: 12, day: 31 };

    /// A date of its parts, unchecked.
    pub const fn new(year: u16, month: u8, day: u8) -> Date {
        Date { year, month, day }
    }

    /// Whether this is 0000-00-00.
    pub fn is_zero(self) -> bool {
        self == Date::ZERO
    }

    /// Checks the date against the rules.
    pub fn check(self, rules: DateRules) -> Result<(), TemporalError> {
        if self.is_zero() {
            return if rules.no_zero_date { Err(TemporalError::ZeroDate) } else { Ok(()) };
        }
        let zero_part = self.month == 0 || self.day == 0;
        if self.year > 9999 || self.month > 12 || self.day > 31 {
            return Err(TemporalError::Invalid);
        }
        if rules.no_zero_in_date && zero_part {
            return Err(TemporalError::Invalid);
        }
        let last = calendar::days_in_month(self.year, self.month);
        if !rules.allow_invalid_dates && self.month > 0 && self.day > last {
            return Err(TemporalError::Invalid);
        }
        Ok(())
    }

    /// The date at midnight.
    pub fn at_midnight(self) -> DateTime {
        DateTime { date: self, hour: 0, minute: 0, second: 0, micros: 0 }
    }
}

impl DateTime {
    /// 0000-00-00 00:00:00.
    pub const ZERO: DateTime =
        DateTime { date: Date::ZERO, hour: 0, minute: 0, second: 0, micros: 0 };

    /// Whether everything is zero.
    pub fn is_zero(self) -> bool {
        self == DateTime::ZERO
    }

    /// The time of day.
    pub fn time(self) -> Time {
        Time { micros: self.micros_of_day() }
    }

    fn micros_of_day(self) -> i64 {
        let minutes = i64::from(self.hour) * 60 + i64::from(self.minute);
        (minutes * 60 + i64::from(self.second)) * SECOND + i64::from(self.micros)
    }

    /// A date and a time of day in microseconds, below one day.
    fn from_day_and_micros(date: Date, micros: i64) -> DateTime {
        let seconds = micros / SECOND;
        DateTime {
            date,
            hour: (seconds / 3600) as u8,
            minute: (seconds / 60 % 60) as u8,
            second: (seconds % 60) as u8,
            micros: (micros % SECOND) as u32,
        }
    }

    /// Rounds half up to `fsp` digits; `None` past the end of year 9999.
    pub fn round_to(self, fsp: u8) -> Option<DateTime> {
        let unit = micros_per_unit(fsp);
        let rest = i64::from(self.micros) % unit;
        if rest == 0 {
            return Some(self);
        }
        let down = DateTime { micros: self.micros - rest as u32, ..self };
        if rest * 2 < unit { Some(down) } else { down.add_micros(unit) }
    }

    /// Cuts digits after `fsp` (TIME_TRUNCATE_FRACTIONAL).
    pub fn truncate_to(self, fsp: u8) -> DateTime {
        let rest = i64::from(self.micros) % micros_per_unit(fsp);
        DateTime { micros: self.micros - rest as u32, ..self }
    }

    /// Adds a signed duration; `None` outside years 0 to 9999. A zero day counts as such, so that
    /// partly-zero dates stay near where they were.
    pub fn add_micros(self, micros: i64) -> Option<DateTime> {
        let total = self.micros_of_day() + micros % DAY;
        let days = micros / DAY + total.div_euclid(DAY);
        if days == 0 {
            return Some(DateTime::from_day_and_micros(self.date, total));
        }
        let date = self.date.add_days(days)?;
        Some(DateTime::from_day_and_micros(date, total.rem_euclid(DAY)))
    }

    /// Microseconds from `other` to `self`, by day numbers.
    pub fn micros_since(self, other: DateTime) -> i64 {
        let days = self.date.to_days() - other.date.to_days();
        days * DAY + self.micros_of_day() - other.micros_of_day()
    }
}

/// Microseconds of the last of `fsp` digits.
fn micros_per_unit(fsp: u8) -> i64 {
    const UNITS: [i64; 7] = [1_000_000, 100_000, 10_000, 1_000, 100, 10, 1];
    UNITS[usize::from(fsp.min(6))]
}

impl Time {
    /// 00:00:00.
    pub const ZERO: Time = Time { micros: 0 };
    /// 838:59:59, the bound in both directions.
    pub const MAX: Time = Time { micros: (838 * 3600 + 59 * 60 + 59) * SECOND };
    /// -838:59:59.
    pub const MIN: Time = Time { micros: -Time::MAX.micros };

    /// A time of its parts; `None` beyond 838:59:59.
    pub fn new(negative: bool, hour: u32, minute: u8, second: u8, micros: u32) -> Option<Time> {
        let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
        let micros = seconds * SECOND + i64::from(micros);
        (micros <= Time::MAX.micros)
            .then_some(Time { micros: if negative { -micros } else { micros } })
    }

    /// The nearest time in range, and whether it had to be changed.
    pub fn clamped(micros: i64) -> (Time, bool) {
        let inside = micros.clamp(Time::MIN.micros, Time::MAX.micros);
        (Time { micros: inside }, inside != micros)
    }

    /// Whether the time is below zero.
    pub fn is_negative(self) -> bool {
        self.micros < 0
    }

    /// Whole hours of the absolute value, up to 838.
    pub fn hour(self) -> u32 {
        (self.micros.unsigned_abs() / (3600 * SECOND as u64)) as u32
    }

    /// Minutes of the hour.
    pub fn minute(self) -> u8 {
        (self.micros.unsigned_abs() / (60 * SECOND as u64) % 60) as u8
    }

    /// Seconds of the minute.
    pub fn second(self) -> u8 {
        (self.micros.unsigned_abs() / SECOND as u64 % 60) as u8
    }

    /// Microseconds of the second.
    pub fn fraction(self) -> u32 {
        (self.micros.unsigned_abs() % SECOND as u64) as u32
    }

    /// Rounds half away from zero to `fsp` digits, staying in range.
    pub fn round_to(self, fsp: u8) -> Time {
        let unit = micros_per_unit(fsp);
        let magnitude = (self.micros.abs() + unit / 2) / unit * unit;
        Time::clamped(magnitude * self.micros.signum()).0
    }

    /// Cuts digits after `fsp`.
    pub fn truncate_to(self, fsp: u8) -> Time {
        Time { micros: self.micros - self.micros % micros_per_unit(fsp) }
    }

    /// The moment that is this time after midnight of `today`, as MySQL turns TIME to DATETIME.
    pub fn on(self, today: Date) -> Option<DateTime> {
        today.at_midnight().add_micros(self.micros)
    }
}
