//! Numbers and times as MySQL prints them, appended to a buffer without allocation.

use inia_base::temporal::{Date, DateTime, Time};
use std::fmt::Write;

/// MySQL's "no fixed number of decimals".
pub(crate) const NOT_FIXED: u8 = 31;

const PAIRS: &[u8; 200] = b"\
0001020304050607080910111213141516171819\
2021222324252627282930313233343536373839\
4041424344454647484950515253545556575859\
6061626364656667686970717273747576777879\
8081828384858687888990919293949596979899";

fn pair(n: u64) -> [u8; 2] {
    let at = 2 * (n % 100) as usize;
    [PAIRS[at], PAIRS[at + 1]]
}

/// Appends an unsigned number's digits.
#[inline]
pub(crate) fn put_u64(out: &mut Vec<u8>, mut n: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    while n >= 100 {
        at -= 2;
        digits[at..at + 2].copy_from_slice(&pair(n));
        n /= 100;
    }
    if n >= 10 {
        at -= 2;
        digits[at..at + 2].copy_from_slice(&pair(n));
    } else {
        at -= 1;
        digits[at] = b'0' + n as u8;
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends a signed number's digits.
#[inline]
pub(crate) fn put_i64(out: &mut Vec<u8>, n: i64) {
    if n < 0 {
        out.push(b'-');
    }
    put_u64(out, n.unsigned_abs());
}

/// Text on the stack, long enough for any number with up to 30 decimals.
struct StackText {
    bytes: [u8; 352],
    len: usize,
}

impl StackText {
    fn new() -> StackText {
        StackText { bytes: [0; 352], len: 0 }
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Write for StackText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.len + text.len();
        let Some(room) = self.bytes.get_mut(self.len..end) else { return Err(std::fmt::Error) };
        room.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// Appends a DOUBLE: with `decimals` digits after the point, or as short as it can be.
pub(crate) fn put_f64(out: &mut Vec<u8>, x: f64, decimals: u8) {
    if decimals < NOT_FIXED {
        return put_fixed(out, x, decimals);
    }
    if x == x.trunc() && x.abs() < 1e15 && !(x == 0.0 && x.is_sign_negative()) {
        return put_i64(out, x as i64);
    }
    let mut text = StackText::new();
    // The shortest digits that read back as the same number: at most 24 characters.
    write!(text, "{x:e}").expect("a number fits the stack text");
    put_general(out, text.text());
}

/// Appends a FLOAT: with `decimals` digits after the point, or six significant digits.
pub(crate) fn put_f32(out: &mut Vec<u8>, x: f32, decimals: u8) {
    if decimals < NOT_FIXED {
        return put_fixed(out, f64::from(x), decimals);
    }
    let mut text = StackText::new();
    write!(text, "{:.5e}", f64::from(x)).expect("a number fits the stack text");
    put_general(out, text.text());
}

fn put_fixed(out: &mut Vec<u8>, x: f64, decimals: u8) {
    let mut text = StackText::new();
    let places = usize::from(decimals);
    write!(text, "{x:.places$}").expect("a number fits the stack text");
    let zero = text.text().iter().all(|b| matches!(b, b'0' | b'-' | b'.'));
    let skip = usize::from(zero && text.text().first() == Some(&b'-'));
    out.extend_from_slice(&text.text()[skip..]);
}

/// Turns `-1.25e-7` into MySQL's form: plain between 1e-15 and 1e15, else with an exponent.
fn put_general(out: &mut Vec<u8>, scientific: &[u8]) {
    let (negative, rest) = match scientific.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, scientific),
    };
    let Some(at) = rest.iter().position(|&b| b == b'e') else {
        // NaN and infinities, which no SQL value holds.
        out.extend_from_slice(scientific);
        return;
    };
    let mut digits = [0u8; 24];
    let mut len = 0;
    for &byte in rest[..at].iter().filter(|b| b.is_ascii_digit()).take(digits.len()) {
        digits[len] = byte;
        len += 1;
    }
    while len > 1 && digits[len - 1] == b'0' {
        len -= 1;
    }
    let digits = &digits[..len];
    let exponent: i32 =
        std::str::from_utf8(&rest[at + 1..]).ok().and_then(|e| e.parse().ok()).unwrap_or(0);
    if negative {
        out.push(b'-');
    }
    if digits == b"0" {
        out.push(b'0');
    } else if (-15..15).contains(&exponent) {
        put_plain(out, digits, exponent + 1);
    } else {
        out.push(digits[0]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        out.push(b'e');
        put_i64(out, i64::from(exponent));
    }
}

/// Appends `0.digits × 10^point` without an exponent.
fn put_plain(out: &mut Vec<u8>, digits: &[u8], point: i32) {
    if point <= 0 {
        out.extend_from_slice(b"0.");
        (0..-point).for_each(|_| out.push(b'0'));
        out.extend_from_slice(digits);
        return;
    }
    let whole = point as usize;
    if whole >= digits.len() {
        out.extend_from_slice(digits);
        (digits.len()..whole).for_each(|_| out.push(b'0'));
    } else {
        out.extend_from_slice(&digits[..whole]);
        out.push(b'.');
        out.extend_from_slice(&digits[whole..]);
    }
}

/// Appends `YYYY-MM-DD`.
pub(crate) fn put_date(out: &mut Vec<u8>, date: Date) {
    let year = u64::from(date.year);
    let [a, b] = pair(year / 100);
    let [c, d] = pair(year);
    let [e, f] = pair(u64::from(date.month));
    let [g, h] = pair(u64::from(date.day));
    out.extend_from_slice(&[a, b, c, d, b'-', e, f, b'-', g, h]);
}

fn put_clock(out: &mut Vec<u8>, minute: u64, second: u64, micros: u32, fsp: u8) {
    let [a, b] = pair(minute);
    let [c, d] = pair(second);
    out.extend_from_slice(&[b':', a, b, b':', c, d]);
    if fsp > 0 {
        let micros = u64::from(micros);
        let [a, b] = pair(micros / 10_000);
        let [c, d] = pair(micros / 100);
        let [e, f] = pair(micros);
        let fraction = [b'.', a, b, c, d, e, f];
        out.extend_from_slice(&fraction[..=usize::from(fsp.min(6))]);
    }
}

/// Appends `YYYY-MM-DD hh:mm:ss[.ffffff]`.
pub(crate) fn put_datetime(out: &mut Vec<u8>, value: &DateTime, fsp: u8) {
    put_date(out, value.date);
    out.push(b' ');
    out.extend_from_slice(&pair(u64::from(value.hour)));
    put_clock(out, u64::from(value.minute), u64::from(value.second), value.micros, fsp);
}

/// Appends `[-]hh:mm:ss[.ffffff]`, with a third digit of hours where needed.
pub(crate) fn put_time(out: &mut Vec<u8>, value: Time, fsp: u8) {
    if value.micros < 0 {
        out.push(b'-');
    }
    let total = value.micros.unsigned_abs();
    let (seconds, micros) = (total / 1_000_000, (total % 1_000_000) as u32);
    let hours = seconds / 3600;
    if hours >= 100 {
        put_u64(out, hours);
    } else {
        out.extend_from_slice(&pair(hours));
    }
    put_clock(out, seconds / 60 % 60, seconds % 60, micros, fsp);
}

#[cfg(test)]
mod tests;
