//! Exact decimal numbers. A column's have up to 65 digits, 30 of them after the point; what
//! expressions compute has up to 72.
//!
//! A number is a coefficient and a scale: 12.50 is coefficient 1250 with scale 2. The scale is
//! part of the value's looks (12.50 prints as such) but not of its worth: 12.5 equals 12.50.
//! Coefficients below 2^128, that is 38 digits, take the fast paths; larger ones go through
//! 512-bit integers.
//!
//! In storage and in keys a DECIMAL(p, s) is its coefficient at scale s as a big-endian two's
//! complement number with the sign bit flipped, in the fewest bytes that hold p digits, so that
//! `memcmp` orders it:
//!
//! ```text
//! DECIMAL(4,2)   -1.50 → -150 → 0x7F6A      0.00 → 0 → 0x8000      12.50 → 1250 → 0x84E2
//! ```
//!
//! MySQL computes in groups of nine digits, counted from the point to both sides, of which a value
//! has nine. Operations here cut digits after the point where nine groups are full; only their
//! digits in all are fewer: 72.
//!
//! Invariants:
//! - coefficient < 10^72
//! - scale ≤ 72
//! - zero is never negative

mod arith;
mod convert;
mod storage;
#[cfg(test)]
mod tests;
mod wide;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use wide::{POW10_U128, Wide};

pub use convert::ParsedDecimal;

/// Most digits of a DECIMAL column.
pub const MAX_PRECISION: u8 = 65;
/// Most digits after the point of a DECIMAL column.
pub const MAX_SCALE: u8 = 30;
/// Most digits of a value.
pub const MAX_DIGITS: u8 = 72;
/// Digits of a group.
const GROUP: u32 = 9;
/// Most groups of a value, those before and after the point together.
const MAX_GROUPS: u32 = 9;

/// An exact decimal number.
#[derive(Clone, Copy)]
pub struct Decimal {
    /// The coefficient's bits 0 to 63, 64 to 127, 128 to 191, 192 to 223 and 224 to 239.
    low: u64,
    middle: u64,
    high: u64,
    top: u32,
    crown: u16,
    scale: u8,
    negative: bool,
}

const _: () = assert!(size_of::<Decimal>() == 32);

/// Why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecimalError {
    /// More than 72 digits before the point: MySQL's error 1690 or a clamped value, by context.
    Overflow,
    /// Division by zero: NULL and perhaps a warning.
    DivideByZero,
}

/// The outcome of fitting a value into a DECIMAL(precision, scale).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rescaled {
    /// The value, rounded half away from zero, or the nearest bound.
    pub value: Decimal,
    /// Digits that are not zero were rounded away (a note 1265 in MySQL).
    pub rounded: bool,
    /// The value did not fit and was clamped (error or warning 1264).
    pub overflow: bool,
}

impl Decimal {
    /// 0, with scale 0.
    pub const ZERO: Decimal = Decimal::from_small(0, 0, false);
    /// 1, with scale 0.
    pub const ONE: Decimal = Decimal::from_small(1, 0, false);

    /// A decimal of a coefficient that fits 38 digits; `scale` ≤ 72.
    #[inline]
    const fn from_small(coefficient: u128, scale: u8, negative: bool) -> Decimal {
        Decimal {
            low: coefficient as u64,
            middle: (coefficient >> 64) as u64,
            high: 0,
            top: 0,
            crown: 0,
            scale,
            negative: negative && coefficient != 0,
        }
    }

    /// A decimal of any coefficient: `Overflow` when it has more digits before the point than a
    /// value has. Digits after the point that do not fit are cut, as MySQL does.
    fn from_wide(coefficient: Wide, scale: u32, negative: bool) -> Result<Decimal, DecimalError> {
        let whole = coefficient.digits().saturating_sub(scale);
        if whole > u32::from(MAX_DIGITS) {
            return Err(DecimalError::Overflow);
        }
        let kept = scale.min(max_scale_for(whole));
        let coefficient = coefficient.div_pow10(scale - kept).0;
        Ok(Decimal::from_parts(coefficient, kept as u8, negative))
    }

    /// A decimal of a coefficient known to have at most 72 digits.
    fn from_parts(coefficient: Wide, scale: u8, negative: bool) -> Decimal {
        let [low, middle, high, top, ..] = coefficient.0;
        let negative = negative && !coefficient.is_zero();
        let (top, crown) = (top as u32, (top >> 32) as u16);
        Decimal { low, middle, high, top, crown, scale, negative }
    }

    /// The coefficient when it fits 128 bits.
    #[inline]
    fn small(&self) -> Option<u128> {
        if self.high == 0 && self.fourth() == 0 {
            Some(u128::from(self.low) | (u128::from(self.middle) << 64))
        } else {
            None
        }
    }

    /// The coefficient's bits from 192 on.
    #[inline]
    fn fourth(&self) -> u64 {
        u64::from(self.top) | (u64::from(self.crown) << 32)
    }

    fn wide(&self) -> Wide {
        Wide([self.low, self.middle, self.high, self.fourth(), 0, 0, 0, 0])
    }

    /// Digits before the point, at least 1.
    fn whole_digits(&self) -> u32 {
        u32::from(self.precision()).saturating_sub(self.scale.into()).max(1)
    }

    /// The largest DECIMAL(precision, scale), or the smallest when `negative`.
    pub fn bound(precision: u8, scale: u8, negative: bool) -> Decimal {
        let nines = Wide::pow10(u32::from(precision.min(MAX_DIGITS))).sub(&Wide::from_u128(1));
        Decimal::from_parts(nines, scale, negative)
    }

    /// Digits after the point.
    #[inline]
    pub fn scale(&self) -> u8 {
        self.scale
    }

    /// Digits in all, at least 1 and at least the scale.
    pub fn precision(&self) -> u8 {
        let digits = match self.small() {
            Some(0) => 1,
            Some(value) => value.ilog10() + 1,
            None => self.wide().digits(),
        };
        (digits as u8).max(self.scale).max(1)
    }

    /// The same worth without zeros at the end of the digits after the point.
    pub fn normalized(self) -> Decimal {
        let mut value = self.wide();
        let mut scale = self.scale;
        while scale > 0 {
            let (quotient, last) = value.div_small(10);
            if last != 0 {
                break;
            }
            value = quotient;
            scale -= 1;
        }
        Decimal::from_parts(value, scale, self.negative)
    }

    /// Whether the value is 0.
    #[inline]
    pub fn is_zero(&self) -> bool {
        self.low == 0 && self.middle == 0 && self.high == 0 && self.fourth() == 0
    }

    /// Whether the value is below 0.
    #[inline]
    pub fn is_negative(&self) -> bool {
        self.negative
    }
}

/// Digits after the point that a value with `whole` digits before it has room for.
fn max_scale_for(whole: u32) -> u32 {
    let groups = MAX_GROUPS.saturating_sub(whole.div_ceil(GROUP).max(1));
    (groups * GROUP).min(u32::from(MAX_DIGITS).saturating_sub(whole))
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Decimal) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    /// Orders by worth: 1.0 equals 1.00.
    fn cmp(&self, other: &Decimal) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => compare_magnitudes(self, other),
            (true, true) => compare_magnitudes(other, self),
        }
    }
}

fn compare_magnitudes(a: &Decimal, b: &Decimal) -> Ordering {
    let scale = a.scale.max(b.scale);
    let (up_a, up_b) = (scale - a.scale, scale - b.scale);
    if let (Some(small_a), Some(small_b)) = (a.small(), b.small()) {
        let power = |up: u8| POW10_U128.get(usize::from(up));
        let scaled_a = power(up_a).and_then(|power| small_a.checked_mul(*power));
        let scaled_b = power(up_b).and_then(|power| small_b.checked_mul(*power));
        if let (Some(scaled_a), Some(scaled_b)) = (scaled_a, scaled_b) {
            return scaled_a.cmp(&scaled_b);
        }
    }
    a.wide().mul_pow10(up_a.into()).cmp(&b.wide().mul_pow10(up_b.into()))
}

impl Hash for Decimal {
    /// Equal worth hashes equally, whatever the scale.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let plain = self.normalized();
        self.negative.hash(state);
        plain.scale.hash(state);
        plain.wide().0[..4].hash(state);
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Decimal({self})")
    }
}
