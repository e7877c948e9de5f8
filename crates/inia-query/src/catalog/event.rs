//! Events: when a stored program of the kind EVENT runs.
//!
//! Moments are seconds since 1970. Intervals are added in the event's own time zone, as MySQL does:
//! an event of every day at 02:30 runs at 02:30 of the local clock whatever the time of the year.
//!
//! ```text
//!   EVERY 2 HOUR STARTS 10:00      now 13:20      runs of the past 10:00, 12:00; next 14:00
//! ```
//!
//! Runs that were due while nobody could run them are not made up for, but for a run AT a moment:
//! it is made as soon as the scheduler sees it.

use super::codec::{RecordReader, Writer};
use inia_base::temporal::{DateTime, Interval, IntervalUnit, TimeZone};
use inia_parser::ast::EventStatus;

/// The greatest interval, in its smallest part.
pub const MAX_INTERVAL: i64 = 1_000_000_000;

/// When an event runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventSchedule {
    /// Once, at this moment.
    At(i64),
    /// Again and again.
    Every {
        /// In parts of the smallest kind that the unit names.
        amount: i64,
        /// The unit.
        unit: IntervalUnit,
        /// The first run.
        starts: i64,
        /// No run is later.
        ends: Option<i64>,
    },
}

/// What an event has besides what all programs have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventHead {
    /// When it runs.
    pub schedule: EventSchedule,
    /// Whether it runs.
    pub status: EventStatus,
    /// ON COMPLETION PRESERVE.
    pub preserve: bool,
    /// The time zone of the session that made the schedule.
    pub time_zone: String,
    /// When it ran last.
    pub last_executed: Option<i64>,
}

/// A moment of a time zone's clock, and back.
fn local(zone: &TimeZone, seconds: i64) -> Option<DateTime> {
    zone.from_utc(DateTime::from_unix(seconds, 0)?)
}

fn moment(zone: &TimeZone, local: DateTime) -> Option<i64> {
    zone.to_utc(local).map(DateTime::to_unix)
}

/// An interval as a span of months, or of seconds.
enum Span {
    Months(i64),
    Seconds(i64),
}

fn span(unit: IntervalUnit, amount: i64) -> Span {
    let interval = Interval::of(unit, amount);
    match interval.months {
        0 => Span::Seconds(interval.days * 86_400 + (interval.micros / 1_000_000) as i64),
        months => Span::Months(months),
    }
}

/// The first moment after `now` that is whole intervals after `starts`, which is not after `now`.
/// `None` where the calendar ends.
fn next_of(
    zone: &TimeZone,
    starts: i64,
    now: i64,
    (unit, amount): (IntervalUnit, i64),
) -> Option<i64> {
    let (mut at, today) = (local(zone, starts)?, local(zone, now)?);
    let (first, step) = match span(unit, amount) {
        Span::Seconds(seconds) => {
            let past = today.micros_since(at) / 1_000_000;
            let step = Interval::of(IntervalUnit::Second, seconds);
            // Where clocks were set back, the local start may be ahead of the local now.
            let first = match past >= 0 {
                true => Interval::of(IntervalUnit::Second, past - past % seconds + seconds),
                false => step,
            };
            (first, step)
        }
        Span::Months(months) => {
            let past = today.date.month_number() - at.date.month_number();
            let first = past - past % months;
            (Interval::of(IntervalUnit::Month, first), Interval::of(IntervalUnit::Month, months))
        }
    };
    at = at.add_interval(first)?;
    loop {
        match moment(zone, at)? {
            next if next > now => return Some(next),
            _ => at = at.add_interval(step)?,
        }
    }
}

impl EventHead {
    /// When the event runs next as seen at `now`; `None` when it has had its last run.
    pub fn next_run(&self, now: i64) -> Option<i64> {
        match &self.schedule {
            EventSchedule::At(at) => self.last_executed.is_none().then_some(*at),
            EventSchedule::Every { amount, unit, starts, ends } => {
                if ends.is_some_and(|ends| ends < now) {
                    return None;
                }
                // A run at the start itself is made once.
                if now < *starts || (now == *starts && self.last_executed != Some(*starts)) {
                    return Some(*starts);
                }
                let zone = TimeZone::parse(&self.time_zone).unwrap_or_else(TimeZone::utc);
                let next = next_of(&zone, *starts, now, (*unit, *amount))?;
                ends.is_none_or(|ends| next <= ends).then_some(next)
            }
        }
    }

    /// A moment as the clock of the event's time zone shows it.
    pub fn local(&self, seconds: i64) -> DateTime {
        let zone = TimeZone::parse(&self.time_zone).unwrap_or_else(TimeZone::utc);
        local(&zone, seconds).unwrap_or(DateTime::ZERO)
    }

    /// The interval's amount as SHOW EVENTS prints it: a number, or parts between quotes.
    pub fn interval_text(amount: i64, unit: IntervalUnit) -> String {
        use IntervalUnit as U;
        let (m, h, d) = (60, 3600, 86_400);
        match unit {
            U::YearMonth => format!("'{}-{}'", amount / 12, amount % 12),
            U::DayHour => format!("'{} {}'", amount / 24, amount % 24),
            U::DayMinute => {
                format!("'{} {}:{}'", amount / 1440, amount % 1440 / 60, amount % 60)
            }
            U::DaySecond => {
                format!("'{} {}:{}:{}'", amount / d, amount % d / h, amount % h / m, amount % m)
            }
            U::HourMinute => format!("'{}:{}'", amount / 60, amount % 60),
            U::HourSecond => format!("'{}:{}:{}'", amount / h, amount % h / m, amount % m),
            U::MinuteSecond => format!("'{}:{}'", amount / m, amount % m),
            _ => amount.to_string(),
        }
    }
}

/// ENABLED and so on, as the tables of the server name it.
pub fn status_word(status: EventStatus) -> &'static str {
    match status {
        EventStatus::Enabled => "ENABLED",
        EventStatus::Disabled => "DISABLED",
        EventStatus::DisabledOnReplica => "SLAVESIDE_DISABLED",
    }
}

pub(super) fn put_head(w: &mut Writer, head: &EventHead) {
    match &head.schedule {
        EventSchedule::At(at) => {
            w.int(0);
            w.int(*at as u64);
        }
        EventSchedule::Every { amount, unit, starts, ends } => {
            w.int(1);
            w.int(*amount as u64);
            w.text(unit.name());
            w.int(*starts as u64);
            w.option(*ends, |w, ends| w.int(ends as u64));
        }
    }
    w.int(head.status as u64);
    w.bool(head.preserve);
    w.text(&head.time_zone);
    w.option(head.last_executed, |w, at| w.int(at as u64));
}

pub(super) fn head(r: &mut RecordReader<'_>) -> Option<EventHead> {
    let seconds = |r: &mut RecordReader<'_>| Some(r.int()? as i64);
    let schedule = match r.int()? {
        0 => EventSchedule::At(seconds(r)?),
        1 => {
            let amount = seconds(r)?;
            let unit = IntervalUnit::from_name(&r.text()?)?;
            let (starts, ends) = (seconds(r)?, r.option(seconds)?);
            if !(1..=MAX_INTERVAL).contains(&amount) {
                return None;
            }
            EventSchedule::Every { amount, unit, starts, ends }
        }
        _ => return None,
    };
    let status = match r.int()? {
        0 => EventStatus::Enabled,
        1 => EventStatus::Disabled,
        2 => EventStatus::DisabledOnReplica,
        _ => return None,
    };
    let (preserve, time_zone) = (r.bool()?, r.text()?);
    Some(EventHead { schedule, status, preserve, time_zone, last_executed: r.option(seconds)? })
}

#[cfg(test)]
mod tests;
