//! Decimals to and from text, integers and floating point.

use super::wide::{POW10_U64, Wide};
use super::{Decimal, DecimalError, MAX_DIGITS, MAX_PRECISION, max_scale_for};
use std::fmt;
use std::str::FromStr;

/// What reading a decimal from the start of a text gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedDecimal {
    /// The value; 0 when there is no number, the bound of DECIMAL(65) when it is too large.
    pub value: Decimal,
    /// Bytes that belong to the number, leading blanks included; 0 when there is no number.
    pub consumed: usize,
    /// More than 72 digits before the point.
    pub overflow: bool,
}

/// Coefficient digits being collected: kept in 64 bits, spilled to the wide integer by blocks.
struct Collector {
    value: Wide,
    block: u64,
    block_digits: u32,
    digits: u32,
    dropped_integer_digits: u32,
    /// The first digit that no longer fitted.
    first_dropped: Option<u8>,
}

impl Collector {
    const LIMIT: u32 = 100;

    fn push(&mut self, digit: u8, after_point: bool) -> bool {
        if self.digits == 0 && digit == 0 && !after_point {
            return true;
        }
        if self.digits >= Collector::LIMIT {
            self.first_dropped.get_or_insert(digit);
            if !after_point {
                self.dropped_integer_digits += 1;
            }
            return false;
        }
        self.block = self.block * 10 + u64::from(digit);
        self.block_digits += 1;
        self.digits += 1;
        if self.block_digits == 19 {
            self.spill();
        }
        true
    }

    fn spill(&mut self) {
        let block = Wide::from_u128(u128::from(self.block));
        self.value = self.value.mul_small(POW10_U64[self.block_digits as usize]).add(&block);
        self.block = 0;
        self.block_digits = 0;
    }
}

/// Reads an exponent such as `e-12`: its value and its length, or nothing.
fn read_exponent(text: &[u8]) -> Option<(i32, usize)> {
    if !matches!(text.first(), Some(b'e' | b'E')) {
        return None;
    }
    let negative = text.get(1) == Some(&b'-');
    let signed = matches!(text.get(1), Some(b'-' | b'+'));
    let start = 1 + usize::from(signed);
    let digits = text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    let mut exponent = 0i32;
    for byte in &text[start..start + digits] {
        exponent = exponent.saturating_mul(10).saturating_add(i32::from(byte - b'0'));
    }
    Some((if negative { -exponent } else { exponent }, start + digits))
}

impl Decimal {
    /// Reads the longest number at the start of `text`: blanks, sign, digits, point, exponent.
    pub fn parse_prefix(text: &[u8]) -> ParsedDecimal {
        let nothing = ParsedDecimal { value: Decimal::ZERO, consumed: 0, overflow: false };
        let mut at = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let negative = text.get(at) == Some(&b'-');
        if matches!(text.get(at), Some(b'-' | b'+')) {
            at += 1;
        }
        let mut digits = Collector {
            value: Wide::ZERO,
            block: 0,
            block_digits: 0,
            digits: 0,
            dropped_integer_digits: 0,
            first_dropped: None,
        };
        let mut seen = 0;
        while let Some(byte @ b'0'..=b'9') = text.get(at) {
            digits.push(byte - b'0', false);
            seen += 1;
            at += 1;
        }
        let mut scale = 0i64;
        // A point needs digits on one side: `5.` and `.5` are numbers, a lone point is none.
        let fraction = text.get(at) == Some(&b'.');
        if fraction && (seen > 0 || matches!(text.get(at + 1), Some(b'0'..=b'9'))) {
            at += 1;
            while let Some(byte @ b'0'..=b'9') = text.get(at) {
                scale += i64::from(digits.push(byte - b'0', true));
                seen += 1;
                at += 1;
            }
        }
        if seen == 0 {
            return nothing;
        }
        // Integer digits beyond the collector's limit only raise the power of ten.
        let mut exponent = i64::from(digits.dropped_integer_digits);
        if let Some((value, length)) = read_exponent(&text[at..]) {
            exponent += i64::from(value);
            at += length;
        }
        // The digits since the last full block are not in the wide value yet.
        digits.spill();
        let parsed = assemble(&digits, scale - exponent, negative);
        // A number that is too large reads as the bound of its sign, which lenient callers store.
        let (value, overflow) = match parsed {
            Ok(value) => (value, false),
            Err(_) => (Decimal::bound(MAX_PRECISION, 0, negative), true),
        };
        ParsedDecimal { value, consumed: at, overflow }
    }

    /// A decimal of `value` × 10^-`scale`; scale ≤ 30.
    pub fn from_i128(value: i128, scale: u8) -> Decimal {
        let magnitude = value.unsigned_abs();
        Decimal::from_small(magnitude, scale, value < 0)
    }

    /// The coefficient with its sign, where 128 bits hold it.
    pub fn to_coefficient(self) -> Option<i128> {
        let magnitude = i128::try_from(self.small()?).ok()?;
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// A decimal from a floating-point number, by its shortest decimal text, as MySQL converts.
    /// Out-of-range values overflow; NaN is not a number that SQL knows and counts as such too.
    pub fn from_f64(value: f64) -> Result<Decimal, DecimalError> {
        if !value.is_finite() {
            return Err(DecimalError::Overflow);
        }
        let text = format!("{value:e}");
        let parsed = Decimal::parse_prefix(text.as_bytes());
        if parsed.overflow { Err(DecimalError::Overflow) } else { Ok(parsed.value) }
    }

    /// The nearest floating-point number.
    pub fn to_f64(self) -> f64 {
        const EXACT_POWERS: [f64; 23] = {
            let mut table = [1.0; 23];
            let mut i = 1;
            while i < 23 {
                table[i] = table[i - 1] * 10.0;
                i += 1;
            }
            table
        };
        if let Some(small) = self.small()
            && small < 1 << 53
            && usize::from(self.scale) < EXACT_POWERS.len()
        {
            let magnitude = small as f64 / EXACT_POWERS[usize::from(self.scale)];
            return if self.negative { -magnitude } else { magnitude };
        }
        self.to_string().parse().expect("a decimal's text is a floating-point literal")
    }

    /// The nearest integer, halves away from zero; the nearest bound as the error.
    pub fn to_i64(self) -> Result<i64, i64> {
        let bound = if self.negative { i64::MIN } else { i64::MAX };
        let magnitude = self.integer_magnitude().ok_or(bound)?;
        if self.negative {
            0i64.checked_sub_unsigned(magnitude).ok_or(bound)
        } else {
            i64::try_from(magnitude).map_err(|_| bound)
        }
    }

    /// The nearest unsigned integer, halves away from zero; the nearest bound as the error.
    pub fn to_u64(self) -> Result<u64, u64> {
        let bound = if self.negative { 0 } else { u64::MAX };
        let magnitude = self.integer_magnitude().ok_or(bound)?;
        if self.negative && magnitude != 0 { Err(0) } else { Ok(magnitude) }
    }

    fn integer_magnitude(self) -> Option<u64> {
        let rounded = self.round(0).ok()?;
        u64::try_from(rounded.small()?).ok()
    }

    /// Writes the number's text to the end of `out`.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        let mut digits = [b'0'; 80];
        let start = self.render(&mut digits);
        if self.negative {
            out.push(b'-');
        }
        let point = digits.len() - usize::from(self.scale);
        out.extend_from_slice(&digits[start..point]);
        if self.scale > 0 {
            out.push(b'.');
            out.extend_from_slice(&digits[point..]);
        }
    }

    /// Puts the coefficient's digits at the end of `digits`, with zeros up to one digit before
    /// the point, and returns where they start.
    fn render(&self, digits: &mut [u8; 80]) -> usize {
        let mut at = digits.len();
        let mut block = |mut value: u64, all: bool| {
            let mut written = 0;
            while value > 0 || (all && written < 19) {
                at -= 1;
                digits[at] = b'0' + (value % 10) as u8;
                value /= 10;
                written += 1;
            }
        };
        const BLOCK: u64 = POW10_U64[19];
        if self.middle == 0 && self.high == 0 && self.fourth() == 0 {
            block(self.low, false);
        } else {
            let mut value = self.wide();
            while !value.is_zero() {
                let (quotient, rest) = value.div_small(BLOCK);
                block(rest, !quotient.is_zero());
                value = quotient;
            }
        }
        at.min(digits.len() - usize::from(self.scale) - 1)
    }
}

/// A value of collected digits × 10^-`scale`; digits after the point that do not fit are cut.
fn assemble(digits: &Collector, scale: i64, negative: bool) -> Result<Decimal, DecimalError> {
    let value = digits.value;
    if value.is_zero() {
        let scale = scale.clamp(0, max_scale_for(0).into()) as u8;
        return Ok(Decimal::from_small(0, scale, false));
    }
    let count = i64::from(value.digits());
    let whole = (count - scale).max(0);
    if whole > i64::from(MAX_DIGITS) {
        return Err(DecimalError::Overflow);
    }
    if scale < 0 {
        return Decimal::from_wide(value.mul_pow10((-scale) as u32), 0, negative);
    }
    let kept = scale.min(max_scale_for(whole as u32).into());
    let drop = scale - kept;
    let value = if drop > count { Wide::ZERO } else { value.div_pow10(drop as u32).0 };
    Decimal::from_wide(value, kept as u32, negative)
}

impl FromStr for Decimal {
    type Err = DecimalError;

    /// Reads a whole text; anything that is not a number counts as an overflow.
    fn from_str(text: &str) -> Result<Decimal, DecimalError> {
        let parsed = Decimal::parse_prefix(text.as_bytes());
        if parsed.overflow || parsed.consumed != text.len() || text.is_empty() {
            return Err(DecimalError::Overflow);
        }
        Ok(parsed.value)
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Decimal {
        Decimal::from_small(value.unsigned_abs().into(), 0, value < 0)
    }
}

impl From<u64> for Decimal {
    fn from(value: u64) -> Decimal {
        Decimal::from_small(value.into(), 0, false)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::with_capacity(80);
        self.write_text(&mut text);
        f.pad_integral(true, "", std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}
