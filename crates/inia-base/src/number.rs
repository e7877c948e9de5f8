//! Numbers at the start of texts, and the texts of floating-point numbers.
//!
//! MySQL reads the longest number that a text starts with and warns about the rest. Three readings
//! differ: a CAST to an integer stops at the point ([`integer_prefix`]), storing into an integer
//! column rounds ([`rounded_integer`]), and any other numeric context reads a DOUBLE
//! ([`double_prefix`]). Exact decimals are read by [`Decimal::parse_prefix`].

mod print;
#[cfg(test)]
mod tests;

use crate::decimal::Decimal;

pub use print::{write_double, write_fixed, write_float, write_i64, write_u64};

/// A number read from the start of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prefix<T> {
    /// The number: 0 when there is none, the nearest bound when it is out of range.
    pub value: T,
    /// Bytes read, leading blanks included; 0 when there is no number.
    pub consumed: usize,
    /// Something other than blanks follows, or there is no number.
    pub truncated: bool,
    /// The number is out of range.
    pub overflow: bool,
}

impl<T> Prefix<T> {
    fn new(value: T, text: &[u8], consumed: usize, overflow: bool) -> Prefix<T> {
        let rest = &text[consumed..];
        let blank = rest.iter().all(u8::is_ascii_whitespace);
        Prefix { value, consumed, truncated: consumed == 0 || !blank, overflow }
    }
}

/// Blanks and a sign: where the digits start, and whether they are negative.
fn sign(text: &[u8]) -> (usize, bool) {
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    match text.get(blanks) {
        Some(b'-') => (blanks + 1, true),
        Some(b'+') => (blanks + 1, false),
        _ => (blanks, false),
    }
}

/// Least and greatest integer of any width, signed and unsigned.
fn clamp(value: i128) -> (i128, bool) {
    let inside = value.clamp(i64::MIN.into(), u64::MAX.into());
    (inside, inside != value)
}

/// Reads digits, as CAST(… AS SIGNED) does: '12abc' is 12, '1e3' is 1, '1.9' is 1. The value is
/// within the ranges of i64 and u64 together.
pub fn integer_prefix(text: &[u8]) -> Prefix<i128> {
    let (start, negative) = sign(text);
    let digits = text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return Prefix::new(0, text, 0, false);
    }
    let magnitude = text[start..start + digits].iter().fold(0i128, |value, byte| {
        value.saturating_mul(10).saturating_add(i128::from(byte - b'0'))
    });
    let (value, overflow) = clamp(if negative { -magnitude } else { magnitude });
    Prefix::new(value, text, start + digits, overflow)
}

/// Reads a number with point and exponent and rounds it half away from zero, as storing into an
/// integer column does: '1.9' is 2, '1e3' is 1000.
pub fn rounded_integer(text: &[u8]) -> Prefix<i128> {
    let parsed = Decimal::parse_prefix(text);
    let (value, overflow) = round_decimal(parsed.value);
    Prefix::new(value, text, parsed.consumed, overflow || parsed.overflow)
}

/// The nearest integer within the ranges of i64 and u64, and whether it had to be clamped.
fn round_decimal(value: Decimal) -> (i128, bool) {
    if value.is_negative() {
        match value.to_i64() {
            Ok(value) => (value.into(), false),
            Err(bound) => (bound.into(), true),
        }
    } else {
        match value.to_u64() {
            Ok(value) => (value.into(), false),
            Err(bound) => (bound.into(), true),
        }
    }
}

/// Reads a floating-point number: '1.9.1' is 1.9, '1e400' the largest one.
pub fn double_prefix(text: &[u8]) -> Prefix<f64> {
    let consumed = float_length(text);
    let (start, _) = sign(text);
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    if consumed <= start {
        return Prefix::new(0.0, text, 0, false);
    }
    let digits = std::str::from_utf8(&text[blanks..consumed]).unwrap_or("0");
    let value: f64 = digits.parse().unwrap_or(0.0);
    if value.is_infinite() {
        return Prefix::new(f64::MAX.copysign(value), text, consumed, true);
    }
    Prefix::new(value, text, consumed, false)
}

/// Position after the floating-point number that `text` starts with.
fn float_length(text: &[u8]) -> usize {
    let (start, _) = sign(text);
    let digits_from = |at: usize| {
        text[at.min(text.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let whole = digits_from(start);
    let mut at = start + whole;
    let mut fraction = 0;
    if text.get(at) == Some(&b'.') {
        fraction = digits_from(at + 1);
        if whole + fraction > 0 {
            at += 1 + fraction;
        }
    }
    if whole + fraction == 0 {
        return 0;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits_from(at + 1 + signed);
        if exponent > 0 {
            at += 1 + signed + exponent;
        }
    }
    at
}
