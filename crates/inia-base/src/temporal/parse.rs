//! Reading dates and times from texts and numbers, in all the shapes that MySQL takes.
//!
//! A text is either *packed*, when only digits (and a `T`) come before its end or its point, or
//! *delimited*, when anything else separates the parts:
//!
//! ```text
//! 20240131101112.5     packed: the year has 4 digits when there are 4, 8, 14 or more, else 2
//! 24-1-31 10:11:12.5   delimited: any punctuation separates, parts have any number of digits
//! ```
//!
//! Parts that are missing at the end are zero, but a date has at least three. What follows the
//! last part is either a zone offset or makes the text "truncated", which callers turn into a
//! warning or an error.

use super::zone::parse_offset;
use super::{Date, DateRules, DateTime, SECOND, TemporalError, Time};

/// A date and time read from a text or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedDateTime {
    /// The value, rounded to microseconds.
    pub value: DateTime,
    /// Whether a time of day was given.
    pub has_time: bool,
    /// Digits after the second, 0 to 6.
    pub fraction_digits: u8,
    /// Minutes east of UTC, where the text names an offset.
    pub offset_minutes: Option<i32>,
    /// Something followed that does not belong to it.
    pub truncated: bool,
    /// The first delimiter that MySQL deprecates.
    pub deprecated: Option<Deprecated>,
}

/// A delimiter in an unusual place, for the warnings 4095 and 4096.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deprecated {
    /// The delimiter.
    pub delimiter: char,
    /// Its byte position in the text.
    pub position: usize,
    /// What to write instead (4095), or nothing when it should go away (4096).
    pub prefer: Option<char>,
}

/// A time read from a text or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedTime {
    /// The value, rounded to microseconds and clamped to ±838:59:59.
    pub value: Time,
    /// Digits after the second, 0 to 6.
    pub fraction_digits: u8,
    /// Something followed that does not belong to it.
    pub truncated: bool,
    /// The value was clamped.
    pub out_of_range: bool,
    /// The text was a whole date and time, of which this is the time of day; not for a zero date.
    pub from_datetime: bool,
}

/// The seven numbers of a date and time text, and what was seen on the way.
struct Fields {
    values: [u32; 7],
    digits: [usize; 7],
    count: usize,
    packed: bool,
    /// Position after the last part.
    end: usize,
    saw_delimiter: bool,
    saw_space: bool,
    deprecated: Option<Deprecated>,
}

/// Parts in order.
const DAY: usize = 2;
const SECONDS: usize = 5;
const MICROS: usize = 6;

impl Fields {
    /// Reads the parts; `None` when the text does not start with a digit or a part is absurd.
    fn read(text: &[u8]) -> Option<Fields> {
        let mut at = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if !text.get(at).is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let mut fields = Fields {
            values: [0; 7],
            digits: [0; 7],
            count: 0,
            packed: false,
            end: at,
            saw_delimiter: false,
            saw_space: false,
            deprecated: None,
        };
        // MySQL deprecates blanks before the first part.
        if at > 0 {
            fields.deprecate(text, 0, None);
        }
        // The first run of digits shows the form of the text, and with it the width of the year.
        let run = text[at..].iter().take_while(|b| b.is_ascii_digit() || **b == b'T').count();
        fields.packed = matches!(text.get(at + run), None | Some(b'.'));
        let year_digits = if run == 4 || run == 8 || run >= 14 { 4 } else { 2 };
        let mut width = year_digits;
        for part in 0..7 {
            if !text.get(at).is_some_and(u8::is_ascii_digit) {
                break;
            }
            // Packed parts have fixed widths; a fraction ends after six digits in both forms.
            let limit = if fields.packed || part == MICROS { width } else { usize::MAX };
            at = fields.number(text, at, part, limit)?;
            fields.end = at;
            width = 2;
            match text.get(at) {
                None => break,
                Some(b'T') if part == DAY => at += 1,
                Some(b'.') if part == SECONDS => {
                    at += 1;
                    width = 6;
                }
                _ if part == SECONDS || part == MICROS => break,
                _ => at = fields.delimiters(text, at, part),
            }
            fields.end = at;
        }
        Some(fields)
    }

    fn number(&mut self, text: &[u8], start: usize, part: usize, limit: usize) -> Option<usize> {
        let mut at = start;
        let mut value = 0u32;
        while let Some(byte @ b'0'..=b'9') = text.get(at)
            && at - start < limit
        {
            value = value * 10 + u32::from(byte - b'0');
            if value > 999_999 {
                return None;
            }
            at += 1;
        }
        self.values[part] = value;
        self.digits[part] = at - start;
        self.count = part + 1;
        Some(at)
    }

    /// Skips punctuation, and spaces after the day.
    fn delimiters(&mut self, text: &[u8], start: usize, part: usize) -> usize {
        let mut at = start;
        let standard = [b'-', b'-', b' ', b':', b':'];
        while let Some(&byte) = text.get(at) {
            let space = byte.is_ascii_whitespace() && part == DAY;
            if !byte.is_ascii_punctuation() && !space {
                break;
            }
            let prefer = standard.get(part).copied().unwrap_or(b':');
            // A point behind the digits of a whole date begins a fraction, which is no time.
            if self.packed && part == DAY {
                // Nothing is said of it.
            } else if at > start {
                self.deprecate(text, at, None);
            } else if byte != prefer {
                self.deprecate(text, at, Some(prefer.into()));
            }
            self.saw_space |= space;
            self.saw_delimiter = true;
            at += 1;
        }
        at
    }

    fn deprecate(&mut self, text: &[u8], position: usize, prefer: Option<char>) {
        if self.deprecated.is_none() {
            let delimiter = char::from(text[position]);
            self.deprecated = Some(Deprecated { delimiter, position, prefer });
        }
    }

    /// The date and time of the parts, before any check of the date.
    fn assemble(&self) -> Result<DateTime, TemporalError> {
        let [mut year, month, day, hour, minute, second, fraction] = self.values;
        let nonzero = self.values.iter().any(|&value| value != 0);
        if self.digits[0] == 2 && nonzero {
            year += if year < 70 { 2000 } else { 1900 };
        }
        let in_range = self.count >= 3
            && year <= 9999
            && month <= 12
            && day <= 31
            && hour <= 23
            && minute <= 59
            && second <= 59;
        if !in_range {
            return Err(TemporalError::Invalid);
        }
        let micros = fraction * 10u32.pow(6 - self.digits[MICROS].min(6) as u32);
        Ok(DateTime {
            date: Date::new(year as u16, month as u8, day as u8),
            hour: hour as u8,
            minute: minute as u8,
            second: second as u8,
            micros,
        })
    }
}

impl DateTime {
    /// Reads a date, with or without a time of day.
    pub fn parse(text: &str, rules: DateRules) -> Result<ParsedDateTime, TemporalError> {
        let bytes = text.as_bytes();
        let fields = Fields::read(bytes).ok_or(TemporalError::Invalid)?;
        let mut value = fields.assemble()?;
        value.date.check(rules)?;
        let mut at = fields.end;
        // The seventh digit of a fraction rounds; further digits are skipped and truncate nothing.
        if fields.digits[MICROS] == 6
            && let Some(next @ b'0'..=b'9') = bytes.get(at)
        {
            if *next >= b'5' {
                value = value.add_micros(1).ok_or(TemporalError::OutOfRange)?;
            }
            at += bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        }
        let mut offset_minutes = None;
        // An offset follows a complete time of day and ends the text; MySQL refuses `-00:00`.
        if fields.count > SECONDS
            && matches!(bytes.get(at), Some(b'+' | b'-'))
            && bytes.len() - at == 6
        {
            offset_minutes = parse_offset(&bytes[at..]);
            if offset_minutes.is_none() || &bytes[at..] == b"-00:00" {
                return Err(TemporalError::Invalid);
            }
            at = bytes.len();
        }
        // Blanks at the end are deprecated as well, but only the first delimiter is reported.
        let rest = &bytes[at..];
        let mut deprecated = fields.deprecated;
        if rest.first().is_some_and(u8::is_ascii_whitespace) && deprecated.is_none() {
            let delimiter = char::from(rest[0]);
            deprecated = Some(Deprecated { delimiter, position: at, prefer: None });
        }
        Ok(ParsedDateTime {
            value,
            has_time: fields.count > 3,
            fraction_digits: fields.digits[MICROS] as u8,
            offset_minutes,
            truncated: rest.iter().any(|byte| !byte.is_ascii_whitespace()),
            deprecated,
        })
    }

    /// Reads YYYYMMDD, YYMMDD, YYYYMMDDhhmmss or YYMMDDhhmmss; the flag says whether the number
    /// has a time of day.
    pub fn from_number(number: i64, rules: DateRules) -> Result<(DateTime, bool), TemporalError> {
        const DATE: i64 = 1_000_000;
        let (full, has_time) = match number {
            0 => (0, false),
            101..=691_231 => ((number + 20_000_000) * DATE, false),
            700_101..=991_231 => ((number + 19_000_000) * DATE, false),
            991_232..=99_991_231 => (number * DATE, false),
            101_000_000..=691_231_235_959 => (number + 20_000_000_000_000, true),
            700_101_000_000..=991_231_235_959 => (number + 19_000_000_000_000, true),
            10_000_101_000_000..=99_999_999_999_999 => (number, true),
            _ => return Err(TemporalError::Invalid),
        };
        let (date, clock) = (full / DATE, full % DATE);
        let (hour, minute, second) = (clock / 10_000, clock / 100 % 100, clock % 100);
        let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100);
        if month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 {
            return Err(TemporalError::Invalid);
        }
        let date = Date::new(year as u16, month as u8, day as u8);
        date.check(rules)?;
        let (hour, minute, second) = (hour as u8, minute as u8, second as u8);
        Ok((DateTime { date, hour, minute, second, micros: 0 }, has_time))
    }
}

/// A number being read and the position after it.
fn digits(text: &[u8], start: usize) -> (u64, usize) {
    let mut at = start;
    let mut value = 0u64;
    while let Some(byte @ b'0'..=b'9') = text.get(at) {
        value = value.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
        at += 1;
    }
    (value, at)
}

impl Time {
    /// Reads `hh:mm:ss`, `d hh:mm:ss`, `hhmmss` and shorter forms, or a whole date and time.
    pub fn parse(text: &str) -> Result<ParsedTime, TemporalError> {
        let bytes = text.as_bytes();
        let mut at = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let negative = bytes.get(at) == Some(&b'-');
        at += usize::from(negative);
        if bytes.len() - at >= 12
            && let Some(parsed) = time_of_datetime(&text[at..])
        {
            return parsed;
        }
        if !bytes.get(at).is_some_and(u8::is_ascii_digit) {
            return Err(TemporalError::Invalid);
        }
        let ([days, hours, minutes, seconds], at) = clock(bytes, at);
        let (fraction, fraction_digits, round_up, at) = fraction(bytes, at);
        if matches!(bytes.get(at), Some(b'e' | b'E'))
            && matches!(bytes.get(at + 1), Some(b'0'..=b'9' | b'+' | b'-'))
        {
            return Err(TemporalError::Invalid);
        }
        if minutes > 59 || seconds > 59 || days.max(hours) > u64::from(u32::MAX) {
            return Err(TemporalError::OutOfRange);
        }
        let hours = days as i64 * 24 + hours as i64;
        let whole = (hours * 3600 + minutes as i64 * 60 + seconds as i64).min(i64::from(u32::MAX));
        let micros = whole * SECOND + i64::from(fraction) + i64::from(round_up);
        let (value, out_of_range) = Time::clamped(if negative { -micros } else { micros });
        let truncated = bytes[at..].iter().any(|byte| !byte.is_ascii_whitespace());
        Ok(ParsedTime { value, fraction_digits, truncated, out_of_range, from_datetime: false })
    }

    /// Reads hhmmss, or a longer number as a date and time whose time of day counts.
    pub fn from_number(number: i64) -> Result<Time, TemporalError> {
        let magnitude = number.unsigned_abs();
        if magnitude > 8_385_959 {
            if number >= 10_000_000_000
                && let Ok((moment, _)) = DateTime::from_number(number, DateRules::ZEROS)
                && moment.date.month > 0
                && moment.date.day > 0
            {
                return Ok(moment.time());
            }
            return Err(TemporalError::OutOfRange);
        }
        let (minute, second) = ((magnitude / 100 % 100) as u8, (magnitude % 100) as u8);
        if minute > 59 || second > 59 {
            return Err(TemporalError::Invalid);
        }
        let hour = (magnitude / 10_000) as u32;
        Time::new(number < 0, hour, minute, second, 0).ok_or(TemporalError::OutOfRange)
    }
}

/// The time of day of a text that is packed, or a whole date and time with a space inside; other
/// delimited texts are times. One with parts that no date or time has is
/// [`TemporalError::Invalid`], one with a day that its month does not have out of range.
fn time_of_datetime(text: &str) -> Option<Result<ParsedTime, TemporalError>> {
    let fields = Fields::read(text.as_bytes())?;
    if fields.count <= DAY || fields.saw_delimiter && !fields.saw_space {
        return None;
    }
    if fields.assemble().is_err() {
        return Some(Err(TemporalError::Invalid));
    }
    let parsed = DateTime::parse(text, DateRules::ZEROS).map_err(|_| TemporalError::OutOfRange);
    Some(parsed.map(|parsed| ParsedTime {
        value: parsed.value.time(),
        fraction_digits: parsed.fraction_digits,
        truncated: parsed.truncated,
        out_of_range: false,
        from_datetime: parsed.value.date != Date::ZERO,
    }))
}

/// Days, hours, minutes and seconds, and the position after them.
fn clock(text: &[u8], start: usize) -> ([u64; 4], usize) {
    let (first, end) = digits(text, start);
    let after_spaces =
        end + text[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let mut parts = [0; 4];
    let digit_at = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    let (mut at, mut next) = if after_spaces > end && digit_at(after_spaces) {
        parts[0] = first;
        (after_spaces, 1)
    } else if text.get(after_spaces) == Some(&b':') && digit_at(after_spaces + 1) {
        parts[1] = first;
        (after_spaces + 1, 2)
    } else {
        return ([0, first / 10_000, first / 100 % 100, first % 100], end);
    };
    loop {
        (parts[next], at) = digits(text, at);
        next += 1;
        if next == 4 || text.get(at) != Some(&b':') || !digit_at(at + 1) {
            return (parts, at);
        }
        at += 1;
    }
}

/// Microseconds, digits given, whether a seventh digit rounds up, and the position after.
fn fraction(text: &[u8], start: usize) -> (u32, u8, bool, usize) {
    if text.get(start) != Some(&b'.') {
        return (0, 0, false, start);
    }
    let digits = text[start + 1..].iter().take_while(|byte| byte.is_ascii_digit());
    let (mut micros, mut count) = (0u32, 0usize);
    let mut round_up = false;
    for byte in digits {
        match count {
            0..6 => micros = micros * 10 + u32::from(byte - b'0'),
            6 => round_up = *byte >= b'5',
            _ => {}
        }
        count += 1;
    }
    let used = count.min(6);
    (micros * 10u32.pow(6 - used as u32), used as u8, round_up, start + 1 + count)
}
