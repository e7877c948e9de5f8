//! Texts and numbers of dates and times.

use super::{Date, DateTime, Time};
use crate::number;
use std::fmt;

/// Two digits.
#[inline]
fn two(out: &mut Vec<u8>, value: u8) {
    out.extend_from_slice(&[b'0' + value / 10, b'0' + value % 10]);
}

/// The point and the first `fsp` digits of `micros`.
fn fraction(out: &mut Vec<u8>, micros: u32, fsp: u8) {
    if fsp == 0 {
        return;
    }
    let mut digits = [b'0'; 6];
    let mut rest = micros;
    for digit in digits.iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    out.push(b'.');
    out.extend_from_slice(&digits[..usize::from(fsp.min(6))]);
}

impl Date {
    /// Appends `YYYY-MM-DD`.
    pub fn write_text(self, out: &mut Vec<u8>) {
        two(out, (self.year / 100) as u8);
        two(out, (self.year % 100) as u8);
        out.push(b'-');
        two(out, self.month);
        out.push(b'-');
        two(out, self.day);
    }

    /// The number YYYYMMDD.
    pub fn to_number(self) -> u32 {
        u32::from(self.year) * 10_000 + u32::from(self.month) * 100 + u32::from(self.day)
    }
}

impl DateTime {
    /// Appends `YYYY-MM-DD hh:mm:ss` with `fsp` digits after the second.
    pub fn write_text(self, fsp: u8, out: &mut Vec<u8>) {
        self.date.write_text(out);
        out.push(b' ');
        two(out, self.hour);
        out.push(b':');
        two(out, self.minute);
        out.push(b':');
        two(out, self.second);
        fraction(out, self.micros, fsp);
    }

    /// The text with `fsp` digits after the second.
    pub fn text(self, fsp: u8) -> String {
        let mut out = Vec::with_capacity(26);
        self.write_text(fsp, &mut out);
        String::from_utf8(out).expect("digits and separators are ASCII")
    }

    /// The number YYYYMMDDhhmmss, without the fraction.
    pub fn to_number(self) -> u64 {
        let clock = u64::from(self.hour) * 10_000 + u64::from(self.minute) * 100;
        u64::from(self.date.to_number()) * 1_000_000 + clock + u64::from(self.second)
    }
}

impl Time {
    /// Appends `[-]hh:mm:ss` with `fsp` digits after the second.
    pub fn write_text(self, fsp: u8, out: &mut Vec<u8>) {
        if self.is_negative() {
            out.push(b'-');
        }
        let hour = self.hour();
        if hour > 99 {
            number::write_u64((hour / 100).into(), out);
        }
        two(out, (hour % 100) as u8);
        out.push(b':');
        two(out, self.minute());
        out.push(b':');
        two(out, self.second());
        fraction(out, self.fraction(), fsp);
    }

    /// The text with `fsp` digits after the second.
    pub fn text(self, fsp: u8) -> String {
        let mut out = Vec::with_capacity(17);
        self.write_text(fsp, &mut out);
        String::from_utf8(out).expect("digits and separators are ASCII")
    }

    /// The number hhmmss with the sign, without the fraction.
    pub fn to_number(self) -> i64 {
        let number = i64::from(self.hour()) * 10_000
            + i64::from(self.minute()) * 100
            + i64::from(self.second());
        if self.is_negative() { -number } else { number }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl fmt::Display for DateTime {
    /// With six digits after the second where any is not zero; [`DateTime::text`] takes a number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(if self.micros == 0 { 0 } else { 6 }))
    }
}

impl fmt::Display for Time {
    /// With six digits after the second where any is not zero; [`Time::text`] takes a number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(if self.fraction() == 0 { 0 } else { 6 }))
    }
}
