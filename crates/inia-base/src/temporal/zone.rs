//! Time zones: SYSTEM, UTC offsets such as `+05:30`, and names such as `Europe/Berlin`.

use super::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone as Rules};
use jiff::{Timestamp, civil};
use std::fmt;

/// A session's time zone.
#[derive(Clone, Debug)]
pub struct TimeZone {
    name: String,
    kind: ZoneKind,
}

#[derive(Clone, Debug)]
enum ZoneKind {
    /// Seconds east of UTC.
    Offset(i32),
    Rules(Rules),
}

impl TimeZone {
    /// `+00:00`.
    pub fn utc() -> TimeZone {
        TimeZone { name: "+00:00".to_string(), kind: ZoneKind::Offset(0) }
    }

    /// SYSTEM: the zone of the machine.
    pub fn system() -> TimeZone {
        let rules = Rules::system();
        let kind = match rules.to_fixed_offset() {
            Ok(offset) => ZoneKind::Offset(offset.seconds()),
            Err(_) => ZoneKind::Rules(rules),
        };
        TimeZone { name: "SYSTEM".to_string(), kind }
    }

    /// The zone that `time_zone` names: SYSTEM, an offset from -13:59 to +14:00, or a zone's name
    /// in any case. `None` is MySQL's error 1298.
    pub fn parse(name: &str) -> Option<TimeZone> {
        if name.eq_ignore_ascii_case("SYSTEM") {
            return Some(TimeZone::system());
        }
        if name.starts_with(['+', '-']) {
            let minutes = parse_offset(name.as_bytes())?;
            let sign = if minutes < 0 { '-' } else { '+' };
            let (hours, rest) = (minutes.abs() / 60, minutes.abs() % 60);
            let name = format!("{sign}{hours:02}:{rest:02}");
            return Some(TimeZone { name, kind: ZoneKind::Offset(minutes * 60) });
        }
        let rules = Rules::get(name).ok()?;
        let name = rules.iana_name().unwrap_or(name).to_string();
        let kind = match rules.to_fixed_offset() {
            Ok(offset) => ZoneKind::Offset(offset.seconds()),
            Err(_) => ZoneKind::Rules(rules),
        };
        Some(TimeZone { name, kind })
    }

    /// The name that `@@time_zone` shows.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Local time of a UTC moment; `None` outside the calendar. Zero stays zero.
    pub fn from_utc(&self, utc: DateTime) -> Option<DateTime> {
        if utc.is_zero() {
            return Some(utc);
        }
        let seconds = utc.to_unix();
        let offset = match &self.kind {
            ZoneKind::Offset(0) => return Some(utc),
            ZoneKind::Offset(offset) => *offset,
            ZoneKind::Rules(rules) => {
                rules.to_offset(Timestamp::from_second(seconds).ok()?).seconds()
            }
        };
        DateTime::from_unix(seconds + i64::from(offset), utc.micros)
    }

    /// The UTC moment of a local time; `None` outside the calendar. In a gap the moment the gap
    /// begins, in an overlap the earlier one. Zero stays zero.
    pub fn to_utc(&self, local: DateTime) -> Option<DateTime> {
        if local.is_zero() {
            return Some(local);
        }
        let seconds = local.to_unix();
        let unix = match &self.kind {
            ZoneKind::Offset(0) => return Some(local),
            ZoneKind::Offset(offset) => seconds - i64::from(*offset),
            ZoneKind::Rules(rules) => return resolve(rules, local),
        };
        DateTime::from_unix(unix, local.micros)
    }

    /// Whether the local time does not exist, because clocks were set forward over it (MySQL
    /// refuses it in strict mode and warns 1299 otherwise).
    pub fn in_gap(&self, local: DateTime) -> bool {
        match &self.kind {
            ZoneKind::Offset(_) => false,
            ZoneKind::Rules(rules) => civil_of(local).is_some_and(|civil| {
                let offset = rules.to_ambiguous_timestamp(civil).offset();
                matches!(offset, AmbiguousOffset::Gap { .. })
            }),
        }
    }
}

impl PartialEq for TimeZone {
    fn eq(&self, other: &TimeZone) -> bool {
        self.name == other.name
    }
}

impl fmt::Display for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn civil_of(local: DateTime) -> Option<civil::DateTime> {
    civil::DateTime::new(
        local.date.year as i16,
        local.date.month as i8,
        local.date.day as i8,
        local.hour as i8,
        local.minute as i8,
        local.second as i8,
        0,
    )
    .ok()
}

fn resolve(rules: &Rules, local: DateTime) -> Option<DateTime> {
    let seconds = local.to_unix();
    let at = |offset: jiff::tz::Offset| seconds - i64::from(offset.seconds());
    match rules.to_ambiguous_timestamp(civil_of(local)?).offset() {
        AmbiguousOffset::Unambiguous { offset } => DateTime::from_unix(at(offset), local.micros),
        AmbiguousOffset::Fold { before, .. } => DateTime::from_unix(at(before), local.micros),
        AmbiguousOffset::Gap { before, .. } => {
            let inside = Timestamp::from_second(at(before) + 1).ok()?;
            let gap = rules.preceding(inside).next()?;
            DateTime::from_unix(gap.timestamp().as_second(), 0)
        }
    }
}

/// Minutes of `±h:mm` or `±hh:mm`, from -13:59 to +14:00.
pub(super) fn parse_offset(text: &[u8]) -> Option<i32> {
    let (sign, rest) = text.split_first()?;
    let negative = match sign {
        b'+' => false,
        b'-' => true,
        _ => return None,
    };
    let colon = rest.iter().position(|&byte| byte == b':')?;
    let number = |digits: &[u8]| -> Option<i32> {
        let plain =
            !digits.is_empty() && digits.len() <= 2 && digits.iter().all(u8::is_ascii_digit);
        plain.then(|| digits.iter().fold(0, |value, byte| value * 10 + i32::from(byte - b'0')))
    };
    let (hours, minutes) = (number(&rest[..colon])?, number(&rest[colon + 1..])?);
    let total = hours * 60 + minutes;
    let total = if negative { -total } else { total };
    (minutes < 60 && (-839..=840).contains(&total)).then_some(total)
}
