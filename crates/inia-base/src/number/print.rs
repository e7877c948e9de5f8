//! Numbers as MySQL prints them, appended to a buffer without allocation.

use std::fmt::Write;

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
pub fn write_u64(mut n: u64, out: &mut Vec<u8>) {
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
pub fn write_i64(n: i64, out: &mut Vec<u8>) {
    if n < 0 {
        out.push(b'-');
    }
    write_u64(n.unsigned_abs(), out);
}

/// Text on the stack, long enough for any number with up to 30 decimals.
#[derive(Clone, Copy)]
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

/// Appends a DOUBLE as MySQL prints it: the shortest digits that read back as the same number,
/// plain from 1e-15 up to below 1e15 and with an exponent outside.
pub fn write_double(value: f64, out: &mut Vec<u8>) {
    let negative_zero = value == 0.0 && value.is_sign_negative();
    if value == value.trunc() && value.abs() < 1e15 && !negative_zero {
        return write_i64(value as i64, out);
    }
    let mut text = StackText::new();
    write!(text, "{value:e}").expect("a number fits the stack text");
    if value.abs() >= MIN_HALFWAY {
        halfway_to_even(value, &mut text);
    }
    write_general(text.text(), out);
}

/// Below this a double is never halfway between two of its shortest forms.
const MIN_HALFWAY: f64 = 1e14;

/// Where a number lies exactly between two shortest forms, the one whose last digit is even is
/// MySQL's: 1000000000000000.25 is printed as 1000000000000000.2. `text` has the upper one.
fn halfway_to_even(value: f64, text: &mut StackText) {
    let shortest = text.text();
    let Some(end) = shortest.iter().position(|&byte| byte == b'e') else { return };
    if shortest[end - 1].is_multiple_of(2) {
        return;
    }
    let digits = shortest[..end].iter().filter(|byte| byte.is_ascii_digit()).count();
    let mut lower = *text;
    lower.bytes[end - 1] -= 1;
    // One digit more than the lower form has must be a 5, and nothing behind it.
    let (mut exact, mut further) = (StackText::new(), StackText::new());
    let behind = digits + 3;
    write!(exact, "{value:.digits$e}").expect("a number fits the stack text");
    write!(further, "{value:.behind$e}").expect("a number fits the stack text");
    let fives = |text: &StackText, zeros: &[u8]| {
        let halfway = text.text().strip_prefix(&lower.bytes[..end]);
        let halfway = halfway.and_then(|rest| rest.strip_prefix(b"5"));
        halfway.is_some_and(|rest| rest.starts_with(zeros))
    };
    let reads_back = std::str::from_utf8(lower.text()).ok().and_then(|t| t.parse().ok());
    if fives(&exact, b"e") && fives(&further, b"000e") && reads_back == Some(value) {
        *text = lower;
    }
}

/// Appends a FLOAT as MySQL prints it: six significant digits at most.
pub fn write_float(value: f32, out: &mut Vec<u8>) {
    let mut text = StackText::new();
    write!(text, "{:.5e}", f64::from(value)).expect("a number fits the stack text");
    write_general(text.text(), out);
}

/// Appends a FLOAT or DOUBLE declared with `decimals` digits after the point, at most 30. Zero has
/// no sign. Zeros follow the digits that identify the number.
pub fn write_fixed(value: f64, decimals: u8, out: &mut Vec<u8>) {
    let mut text = StackText::new();
    let places = usize::from(decimals.min(30));
    write!(text, "{value}").expect("a number fits the stack text");
    let point = text.text().iter().position(|byte| *byte == b'.');
    let fraction = point.map_or(0, |at| text.text().len() - at - 1);
    if fraction <= places {
        out.extend_from_slice(text.text());
        if places > 0 && (point.is_none() || value == 0.0) {
            out.push(b'.');
        }
        out.resize(out.len() + places - fraction, b'0');
        return;
    }
    text = StackText::new();
    write!(text, "{value:.places$}").expect("a number fits the stack text");
    let zero = text.text().iter().all(|b| matches!(b, b'0' | b'-' | b'.'));
    let skip = usize::from(zero && text.text().first() == Some(&b'-'));
    out.extend_from_slice(&text.text()[skip..]);
}

/// Turns `-1.25e-7` into MySQL's form: plain between 1e-15 and 1e15, else with an exponent.
fn write_general(scientific: &[u8], out: &mut Vec<u8>) {
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
    } else if (-15..15).contains(&exponent) || (exponent == 15 && digits.len() == 17) {
        write_plain(digits, exponent + 1, out);
    } else {
        out.push(digits[0]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        out.push(b'e');
        write_i64(i64::from(exponent), out);
    }
}

/// Appends `0.digits × 10^point` without an exponent.
fn write_plain(digits: &[u8], point: i32, out: &mut Vec<u8>) {
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
