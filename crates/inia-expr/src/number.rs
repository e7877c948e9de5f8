//! Numbers as text and back, the way MySQL prints and reads them.

use inia_base::number::write_fixed;

/// A double with the fewest digits that read back the same: `0.1`, `1e15`, `1.5e-20`.
pub(crate) fn double_text(value: f64) -> String {
    shortest(format!("{value:e}"), value)
}

/// A double as a string of at most `width` characters: where that is too short for the plain
/// notation, exponential, and digits are left out where it is too short for that.
pub(crate) fn double_in(value: f64, width: usize) -> String {
    let text = double_text(value);
    match text.len() <= width {
        true => text,
        false => double_within(value, width).0,
    }
}

/// A FLOAT column's value as a string: the six digits that single precision always keeps, in no
/// more than twelve characters.
pub(crate) fn float_text(value: f64) -> String {
    let text = format!("{value:.5e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let digits = mantissa.trim_end_matches('0').trim_end_matches('.');
    let exponential = format!("{digits}e{exponent}");
    let text = shortest(exponential.clone(), value);
    if text.len() <= 12 { text } else { exponential }
}

/// A double with a fixed number of digits after the point.
pub(crate) fn fixed_text(value: f64, decimals: u8) -> String {
    let mut out = Vec::new();
    write_fixed(value, decimals, &mut out);
    String::from_utf8(out).expect("digits are ASCII")
}

/// Plain notation where the point is within 15 digits of the first, or the plain form of all 17
/// digits is the shorter one; else exponential.
fn shortest(exponential: String, value: f64) -> String {
    if value == 0.0 {
        return String::from(if value.is_sign_negative() { "-0" } else { "0" });
    }
    let Some((mantissa, exponent)) = exponential.split_once('e') else { return exponential };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let point = exponent + 1;
    let seventeen = point == 16 && mantissa.chars().filter(char::is_ascii_digit).count() == 17;
    if !(-14..=15).contains(&point) && !seventeen {
        return exponential;
    }
    let negative = mantissa.starts_with('-');
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let mut text = String::new();
    if negative {
        text.push('-');
    }
    if point <= 0 {
        text.push_str("0.");
        (0..-point).for_each(|_| text.push('0'));
        text.push_str(&digits);
        return text;
    }
    let point = point as usize;
    if digits.len() <= point {
        text.push_str(&digits);
        (digits.len()..point).for_each(|_| text.push('0'));
    } else {
        text.push_str(&digits[..point]);
        text.push('.');
        text.push_str(&digits[point..]);
    }
    text
}

/// The significant digits of a number, at most so many, and where the point is among them.
fn digits_of(value: f64, most: usize, shortest: bool) -> (String, i32) {
    let rounded = || format!("{:.*e}", most.max(1) - 1, value.abs());
    let own = format!("{:e}", value.abs());
    let fits = own.bytes().take_while(|b| *b != b'e').filter(u8::is_ascii_digit).count() <= most;
    let text = if shortest && fits { own } else { rounded() };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_end_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    (digits.to_owned(), exponent.parse::<i32>().unwrap_or(0) + 1)
}

/// A double in at most `width` characters, with as many digits as that has room for. Plain where
/// all digits fit, else in the notation that shows more of them. False where not even one fits,
/// and the text was cut.
///
/// `-7.998` is `-8` in four characters, `123456789` is `1.2e8` in five, and `1.5e-7` does not fit
/// into four.
pub(crate) fn double_within(value: f64, width: usize) -> (String, bool) {
    if width == 0 {
        return (String::new(), false);
    }
    let negative = value < 0.0;
    let room = width as i32 - i32::from(negative);
    let (digits, point) = digits_of(value, room.max(0) as usize, true);
    let count = digits.len() as i32;
    let exponent =
        1 + i32::from(!(-98..=100).contains(&point)) + i32::from(!(-8..=10).contains(&point));
    let plain = match point {
        i32::MIN..=0 => count - point + 2,
        _ if point < count => count + 1,
        _ => point,
    };
    let whole = plain <= room;
    // Zeros would leave no room for a digit that the other notation shows.
    let only_zeros = point <= 0 && room <= 2 - point && room >= 3 + exponent;
    let near = point <= room && (point >= -1 || (point == -2 && count > 1)) && !only_zeros;
    let moderate = point >= -14 && (point <= 15 || count > point);
    let (text, fits) = match (whole || near) && (!whole || moderate) {
        true => plain_within(value, (digits, point), room),
        false => exponential_within(value, (digits, point), room - 1 - exponent),
    };
    let text = if negative { format!("-{text}") } else { text };
    (text.chars().take(width).collect(), fits)
}

fn plain_within(value: f64, (digits, point): (String, i32), room: i32) -> (String, bool) {
    let count = digits.len() as i32;
    let zeros = if point <= 0 { 1 - point } else { 0 };
    let room = room - i32::from(point < count) - zeros;
    let fits = room >= count || room >= point;
    let (digits, point) = match room < count {
        true => digits_of(value, room.max(point).max(0) as usize, false),
        false => (digits, point),
    };
    let count = digits.len() as i32;
    let text = match point {
        i32::MIN..=0 => format!("0.{}{digits}", "0".repeat(-point as usize)),
        _ if point < count => {
            let (before, after) = digits.split_at(point as usize);
            format!("{before}.{after}")
        }
        _ => format!("{digits}{}", "0".repeat((point - count) as usize)),
    };
    (text, fits)
}

fn exponential_within(value: f64, (digits, point): (String, i32), room: i32) -> (String, bool) {
    let room = room - i32::from(point < 1) - i32::from(digits.len() > 1);
    let fits = room > 0;
    let (digits, point) = match room < digits.len() as i32 {
        true => digits_of(value, room.max(0) as usize, false),
        false => (digits, point),
    };
    let (first, rest) = digits.split_at(1);
    let separator = if rest.is_empty() { "" } else { "." };
    (format!("{first}{separator}{rest}e{}", point - 1), fits)
}

/// The number that a hexadecimal or bit literal is: its last eight bytes.
pub(crate) fn of_hex(bytes: &[u8]) -> u64 {
    let tail = &bytes[bytes.len().saturating_sub(8)..];
    tail.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// A number read from the start of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prefix<T> {
    /// Its value, 0 where there is none.
    pub value: T,
    /// Something other than blanks follows, or there is no number.
    pub truncated: bool,
    /// There is a number.
    pub found: bool,
    /// The number is beyond the type's range and was clamped.
    pub overflow: bool,
    /// Bytes behind what was read of a double; none where there is no integer.
    pub rest: usize,
}

fn only_blanks(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_whitespace)
}

/// Reads a double: blanks, sign, digits, point, exponent. Blanks alone are 0.
pub(crate) fn parse_real(text: &[u8]) -> Prefix<f64> {
    let start = text.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let mut at = start + usize::from(matches!(text.get(start), Some(b'+' | b'-')));
    let digits = |from: usize| text[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(at);
    at += whole;
    let mut seen = whole;
    if text.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if whole + fraction > 0 {
            at += 1 + fraction;
            seen += fraction;
        }
    }
    if seen == 0 {
        let truncated = !only_blanks(text);
        let (found, rest) = (!truncated, text.len());
        return Prefix { value: 0.0, truncated, found, overflow: false, rest };
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let exponent = if at + 1 + sign <= text.len() { digits(at + 1 + sign) } else { 0 };
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    let rest = text.len() - at;
    let number = std::str::from_utf8(&text[start..at]).unwrap_or("0");
    let value: f64 = number.parse().unwrap_or(0.0);
    if value.is_infinite() {
        let value = value.signum() * f64::MAX;
        return Prefix { value, truncated: true, found: true, overflow: true, rest };
    }
    Prefix { value, truncated: !only_blanks(&text[at..]), found: true, overflow: false, rest }
}

/// Reads an integer: spaces and tabs, sign, digits. Positive values reach to 2^64 - 1.
pub(crate) fn parse_int(text: &[u8]) -> Prefix<i128> {
    let start = text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let negative = text.get(start) == Some(&b'-');
    let from = start + usize::from(matches!(text.get(start), Some(b'+' | b'-')));
    let mut value: i128 = 0;
    let mut at = from;
    while let Some(digit @ b'0'..=b'9') = text.get(at) {
        value = value.saturating_mul(10).saturating_add(i128::from(digit - b'0'));
        at += 1;
    }
    if at == from {
        return Prefix { value: 0, truncated: true, found: false, overflow: false, rest: 0 };
    }
    let value = if negative { -value } else { value };
    let fitted = value.clamp(i128::from(i64::MIN), i128::from(u64::MAX));
    let overflow = fitted != value;
    let (truncated, rest) = (overflow || !only_blanks(&text[at..]), text.len() - at);
    Prefix { value: fitted, truncated, found: true, overflow, rest }
}
