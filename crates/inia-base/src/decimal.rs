//! Exact decimal numbers of up to 65 digits, 30 of them after the point.
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
//! Invariants:
//! - coefficient < 10^65
//! - scale ≤ 30
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

/// Most digits of a decimal.
pub const MAX_PRECISION: u8 = 65;
/// Most digits after the point.
pub const MAX_SCALE: u8 = 30;
/// How many digits a division adds to the dividend's scale (`div_precision_increment`).
pub const DIV_PRECISION_INCREMENT: u8 = 4;

/// An exact decimal number.
#[derive(Clone, Copy)]
pub struct Decimal {
    /// The coefficient's bits 0 to 63, 64 to 127, 128 to 191 and 192 to 223.
    low: u64,
    middle: u64,
    high: u64,
    top: u32,
    scale: u8,
    negative: bool,
}

const _: () = assert!(size_of::<Decimal>() == 32);

/// Why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecimalError {
    /// More than 65 digits: MySQL's error 1690 or a clamped value, by context.
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

    /// A decimal of a coefficient that fits 38 digits; `scale` ≤ 30.
    #[inline]
    const fn from_small(coefficient: u128, scale: u8, negative: bool) -> Decimal {
        Decimal {
            low: coefficient as u64,
            middle: (coefficient >> 64) as u64,
            high: 0,
            top: 0,
            scale,
            negative: negative && coefficient != 0,
        }
    }

    /// A decimal of any coefficient; `Overflow` when it has more than 65 digits. A scale above 30
    /// is rounded to 30, and digits after the point that do not fit are cut, as MySQL does.
    fn from_wide(coefficient: Wide, scale: u32, negative: bool) -> Result<Decimal, DecimalError> {
        let (mut coefficient, mut scale) = (coefficient, scale);
        if scale > u32::from(MAX_SCALE) {
            coefficient = coefficient.div_pow10_rounding(scale - u32::from(MAX_SCALE)).0;
            scale = u32::from(MAX_SCALE);
        }
        let limit = Wide::pow10(u32::from(MAX_PRECISION));
        while coefficient >= limit {
            if scale == 0 {
                return Err(DecimalError::Overflow);
            }
            coefficient = coefficient.div_pow10(1).0;
            scale -= 1;
        }
        Ok(Decimal::from_parts(coefficient, scale as u8, negative))
    }

    /// A decimal of a coefficient known to have at most 65 digits.
    fn from_parts(coefficient: Wide, scale: u8, negative: bool) -> Decimal {
        let [low, middle, high, top, ..] = coefficient.0;
        let negative = negative && !coefficient.is_zero();
        Decimal { low, middle, high, top: top as u32, scale, negative }
    }

    /// The coefficient when it fits 128 bits.
    #[inline]
    fn small(&self) -> Option<u128> {
        if self.high == 0 && self.top == 0 {
            Some(u128::from(self.low) | (u128::from(self.middle) << 64))
        } else {
            None
        }
    }

    fn wide(&self) -> Wide {
        Wide([self.low, self.middle, self.high, u64::from(self.top), 0, 0, 0, 0])
    }

    /// The largest DECIMAL(precision, scale), or the smallest when `negative`.
    pub fn bound(precision: u8, scale: u8, negative: bool) -> Decimal {
        let nines = Wide::pow10(u32::from(precision)).sub(&Wide::from_u128(1));
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
            None => {
                let value = self.wide();
                (38..=65).find(|&n| value < Wide::pow10(n)).unwrap_or(65)
            }
        };
        (digits as u8).max(self.scale).max(1)
    }

    /// Whether the value is 0.
    #[inline]
    pub fn is_zero(&self) -> bool {
        self.low == 0 && self.middle == 0 && self.high == 0 && self.top == 0
    }

    /// Whether the value is below 0.
    #[inline]
    pub fn is_negative(&self) -> bool {
        self.negative
    }
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
        let scaled_a = small_a.checked_mul(POW10_U128[up_a as usize]);
        let scaled_b = small_b.checked_mul(POW10_U128[up_b as usize]);
        if let (Some(scaled_a), Some(scaled_b)) = (scaled_a, scaled_b) {
            return scaled_a.cmp(&scaled_b);
        }
    }
    a.wide().mul_pow10(up_a.into()).cmp(&b.wide().mul_pow10(up_b.into()))
}

impl Hash for Decimal {
    /// Equal worth hashes equally, whatever the scale.
    fn hash<H: Hasher>(&self, state: &mut H) {
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
        self.negative.hash(state);
        scale.hash(state);
        value.0[..4].hash(state);
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Decimal({self})")
    }
}
