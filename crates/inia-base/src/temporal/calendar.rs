//! Day numbers, weekdays and week numbers of the proleptic Gregorian calendar.
//!
//! Day 1 is 0000-01-01 and 0000-00-00 is day 0, as TO_DAYS counts. Day numbers up to 365 turn back
//! into 0000-00-00, as FROM_DAYS does.

use super::Date;

/// Days from day 0 to 1970-01-01.
pub const UNIX_EPOCH_DAYS: i64 = 719_528;
/// TO_DAYS('9999-12-31').
pub const MAX_DAYS: i64 = 3_652_424;

/// Whether `year` has a 29 February. Year 0 counts as a common year, as in MySQL.
fn is_leap_year(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || (year.is_multiple_of(400) && year > 0))
}

/// Days of the month; 31 for month 0.
pub fn days_in_month(year: u16, month: u8) -> u8 {
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// How a week is numbered: the eight modes of WEEK().
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeekMode {
    monday_first: bool,
    /// Days before week 1 belong to the last week of the year before, not to week 0.
    year_of_week: bool,
    /// Week 1 starts on the year's first first-weekday; otherwise it is the first week with four
    /// days in the year.
    whole_first_week: bool,
}

impl WeekMode {
    /// ISO 8601: weeks start on Monday, week 1 has at least four days (mode 3).
    pub const ISO: WeekMode =
        WeekMode { monday_first: true, year_of_week: true, whole_first_week: false };

    /// The mode WEEK(date, `number`) means; only the lowest three bits count.
    pub fn from_number(number: i64) -> WeekMode {
        let monday_first = number & 1 != 0;
        let whole_first_week = (number & 4 != 0) == monday_first;
        WeekMode { monday_first, year_of_week: number & 2 != 0, whole_first_week }
    }

    /// The same mode with every day in some week 1 to 53, as YEARWEEK counts.
    pub fn with_year(self) -> WeekMode {
        WeekMode { year_of_week: true, ..self }
    }

    /// Day number on which week 1 of `year` starts.
    fn first_day(self, year: i64) -> i64 {
        let new_year = day_number(year, 1, 1);
        let weekday = weekday_of(new_year, !self.monday_first);
        let belongs = if self.whole_first_week { weekday == 0 } else { weekday <= 3 };
        if belongs { new_year - weekday } else { new_year + 7 - weekday }
    }
}

/// 0 for the week's first day: Monday, or Sunday when `sunday_first`.
fn weekday_of(day: i64, sunday_first: bool) -> i64 {
    (day + 5 + i64::from(sunday_first)).rem_euclid(7)
}

/// The day number of a date whose parts may be zero.
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    if year == 0 && month == 0 {
        return 0;
    }
    let mut days = 365 * year + 31 * (month - 1) + day;
    let mut leaps_until = year;
    if month <= 2 {
        leaps_until -= 1;
    } else {
        days -= (month * 4 + 23) / 10;
    }
    // Truncating division, with no leap day in year 0: the count of leap years before.
    let skipped = (leaps_until / 100 + 1) * 3 / 4;
    days + leaps_until / 4 - skipped
}

impl Date {
    /// TO_DAYS: days since day 0; 0000-00-00 gives 0.
    pub fn to_days(self) -> i64 {
        day_number(self.year.into(), self.month.into(), self.day.into())
    }

    /// FROM_DAYS: the date with this day number; 0000-00-00 up to day 365, `None` past 9999.
    pub fn from_days(days: i64) -> Option<Date> {
        if !(0..=MAX_DAYS).contains(&days) {
            return None;
        }
        if days <= 365 {
            return Some(Date::ZERO);
        }
        // Years start in March here, so that the leap day is a year's last.
        let since_march = days - 60;
        let century = (4 * since_march + 3) / 146_097;
        let in_century = since_march - century * 146_097 / 4;
        let year_in_century = (4 * in_century + 3) / 1461;
        let in_year = in_century - year_in_century * 1461 / 4;
        let shifted_month = (5 * in_year + 2) / 153;
        let day = in_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = century * 100 + year_in_century + i64::from(month <= 2);
        Some(Date::new(year as u16, month as u8, day as u8))
    }

    /// The date `days` later; `None` outside years 0 to 9999.
    pub fn add_days(self, days: i64) -> Option<Date> {
        Date::from_days(self.to_days().checked_add(days)?)
    }

    /// WEEKDAY: 0 for Monday to 6 for Sunday.
    pub fn weekday(self) -> u8 {
        weekday_of(self.to_days(), false) as u8
    }

    /// DAYOFYEAR: 1 to 366; less than 1 where the month or the day is zero.
    pub fn day_of_year(self) -> i32 {
        (self.to_days() - day_number(self.year.into(), 1, 1) + 1) as i32
    }

    /// LAST_DAY; `None` for a zero month.
    pub fn last_day(self) -> Option<Date> {
        let last = days_in_month(self.year, self.month);
        (1..=12).contains(&self.month).then_some(Date { day: last, ..self })
    }

    /// The year and number of the date's week. The year differs from the date's own only in modes
    /// that count so. Days in month zero are counted as MySQL counts them, by unsigned numbers.
    pub fn week(self, mode: WeekMode) -> (u16, u32) {
        let year = i64::from(self.year);
        let day = self.to_days();
        let start = mode.first_day(year);
        if day < start && self.month == 0 {
            // Without the sign the day is long after the year's last week.
            let into_next = mode.first_day(year + 1) <= day_number(year + 1, 1, 1);
            return match mode.year_of_week && into_next {
                true => (self.year + 1, 1),
                false => (self.year, (day - start) as u32 / 7 + 1),
            };
        }
        if day < start {
            // Day zero of a January that begins with week 1 is in the last week before.
            if !mode.year_of_week && start > day_number(year, 1, 1) {
                return (self.year, 0);
            }
            let number = (day - mode.first_day(year - 1)) / 7 + 1;
            return (self.year.saturating_sub(1), number as u32);
        }
        if mode.year_of_week && day >= mode.first_day(year + 1) {
            return (self.year + 1, 1);
        }
        (self.year, ((day - start) / 7 + 1) as u32)
    }

    /// The number of a month counted from year 0 (PERIOD arithmetic): year × 12 + month - 1.
    pub fn month_number(self) -> i64 {
        i64::from(self.year) * 12 + i64::from(self.month) - 1
    }
}
