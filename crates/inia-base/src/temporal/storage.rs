//! Packed integers and stored bytes; [`super`] draws them.

use super::{Date, DateTime, SECOND, Time, calendar, micros_per_unit};

/// Fraction bytes for `fsp` digits.
const fn fraction_size(fsp: u8) -> usize {
    (fsp as usize).div_ceil(2)
}

/// Bytes of a stored DATETIME(fsp).
pub const fn datetime_storage_size(fsp: u8) -> usize {
    5 + fraction_size(fsp)
}

/// Bytes of a stored TIMESTAMP(fsp).
pub const fn timestamp_storage_size(fsp: u8) -> usize {
    4 + fraction_size(fsp)
}

/// Bytes of a stored TIME(fsp).
pub const fn time_storage_size(fsp: u8) -> usize {
    match fsp {
        0 => 3,
        1 | 2 => 4,
        3..=5 => 5,
        _ => 6,
    }
}

const _: () = assert!(datetime_storage_size(6) == 8 && timestamp_storage_size(6) == 7);

/// Appends the lowest `size` bytes, highest first.
fn put(out: &mut Vec<u8>, value: u64, size: usize) {
    out.extend_from_slice(&value.to_be_bytes()[8 - size..]);
}

/// Reads all of `bytes` as one big-endian number; `None` when there are not exactly `size`.
fn take(bytes: &[u8], size: usize) -> Option<u64> {
    if bytes.len() != size {
        return None;
    }
    Some(bytes.iter().fold(0, |value, &byte| (value << 8) | u64::from(byte)))
}

/// The fraction as a number of `fraction_size` bytes: hundredths, ten-thousandths or millionths.
fn fraction_units(micros: u32, fsp: u8) -> u64 {
    let even = (fsp + fsp % 2).min(6);
    u64::from(micros) / micros_per_unit(even) as u64
}

/// Back from [`fraction_units`].
fn fraction_micros(units: u64, fsp: u8) -> Option<u32> {
    let even = (fsp + fsp % 2).min(6);
    let micros = units * micros_per_unit(even) as u64;
    u32::try_from(micros).ok().filter(|&micros| i64::from(micros) < SECOND)
}

impl Date {
    /// The packed form.
    pub fn pack(self) -> u32 {
        (u32::from(self.year) << 9) | (u32::from(self.month) << 5) | u32::from(self.day)
    }

    /// Back from [`Date::pack`]; `None` for a value that it does not give.
    pub fn unpack(packed: u32) -> Option<Date> {
        let year = u16::try_from(packed >> 9).ok()?;
        let (month, day) = ((packed >> 5 & 15) as u8, (packed & 31) as u8);
        (year <= 9999 && month <= 12).then_some(Date { year, month, day })
    }

    /// Appends the stored form, 3 bytes.
    pub fn encode(self, out: &mut Vec<u8>) {
        put(out, self.pack().into(), 3);
    }

    /// Back from [`Date::encode`].
    pub fn decode(bytes: &[u8]) -> Option<Date> {
        Date::unpack(take(bytes, 3)? as u32)
    }
}

impl DateTime {
    /// The packed form.
    pub fn pack(self) -> u64 {
        (self.pack_seconds() << 24) | u64::from(self.micros)
    }

    fn pack_seconds(self) -> u64 {
        let clock = u64::from(self.hour) << 12 | u64::from(self.minute) << 6;
        (u64::from(self.date.pack()) << 17) | clock | u64::from(self.second)
    }

    /// Back from [`DateTime::pack`]; `None` for a value that it does not give.
    pub fn unpack(packed: u64) -> Option<DateTime> {
        let micros = (packed & 0xFF_FFFF) as u32;
        DateTime::unpack_seconds(packed >> 24, micros)
    }

    fn unpack_seconds(packed: u64, micros: u32) -> Option<DateTime> {
        let date = Date::unpack(u32::try_from(packed >> 17).ok()?)?;
        let hour = (packed >> 12 & 31) as u8;
        let (minute, second) = ((packed >> 6 & 63) as u8, (packed & 63) as u8);
        let sound = hour < 24 && minute < 60 && second < 60 && i64::from(micros) < SECOND;
        sound.then_some(DateTime { date, hour, minute, second, micros })
    }

    /// Appends the stored form of a DATETIME(fsp).
    pub fn encode(self, fsp: u8, out: &mut Vec<u8>) {
        put(out, self.pack_seconds(), 5);
        put(out, fraction_units(self.micros, fsp), fraction_size(fsp));
    }

    /// Back from [`DateTime::encode`].
    pub fn decode(bytes: &[u8], fsp: u8) -> Option<DateTime> {
        let (seconds, fraction) = bytes.split_at_checked(5)?;
        let micros = fraction_micros(take(fraction, fraction_size(fsp))?, fsp)?;
        DateTime::unpack_seconds(take(seconds, 5)?, micros)
    }

    /// Seconds since 1970 of a UTC moment; negative before.
    pub fn to_unix(self) -> i64 {
        let days = self.date.to_days() - calendar::UNIX_EPOCH_DAYS;
        let clock = i64::from(self.hour) * 3600 + i64::from(self.minute) * 60;
        days * 86_400 + clock + i64::from(self.second)
    }

    /// The UTC moment `seconds` after 1970; `None` outside the calendar.
    pub fn from_unix(seconds: i64, micros: u32) -> Option<DateTime> {
        let days = seconds.div_euclid(86_400) + calendar::UNIX_EPOCH_DAYS;
        let date = Date::from_days(days)?;
        let of_day = seconds.rem_euclid(86_400) * SECOND + i64::from(micros);
        Some(DateTime::from_day_and_micros(date, of_day))
    }

    /// Whether a UTC moment can be a TIMESTAMP: zero, or from 1970-01-01 00:00:01 to
    /// 2038-01-19 03:14:07.
    pub fn is_timestamp(self) -> bool {
        self.is_zero() || (1..=i64::from(i32::MAX)).contains(&self.to_unix())
    }
}

impl Time {
    /// Appends the stored form of a TIME(fsp).
    pub fn encode(self, fsp: u8, out: &mut Vec<u8>) {
        let size = time_storage_size(fsp);
        let bias = 1i64 << (8 * size - 1);
        put(out, (self.micros / micros_per_unit(fsp) + bias) as u64, size);
    }

    /// Back from [`Time::encode`].
    pub fn decode(bytes: &[u8], fsp: u8) -> Option<Time> {
        let size = time_storage_size(fsp);
        let bias = 1i64 << (8 * size - 1);
        let units = take(bytes, size)? as i64 - bias;
        let micros = units.checked_mul(micros_per_unit(fsp))?;
        (micros.abs() <= Time::MAX.micros).then_some(Time { micros })
    }
}
