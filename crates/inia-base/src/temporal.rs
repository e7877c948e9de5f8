//! Dates and times as MySQL knows them: zero and partly-zero dates, signed times, microseconds.

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
