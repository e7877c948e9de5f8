//! Arithmetic and rounding. Results are checked, so these are methods and not operators.

#![allow(clippy::should_implement_trait)]

use super::wide::{POW10_U128, Wide};
use super::{Decimal, DecimalError, MAX_PRECISION, MAX_SCALE, Rescaled};
use std::cmp::Ordering;

type Result<T> = std::result::Result<T, DecimalError>;

/// How digits that go away change the ones that stay.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rounding {
    HalfAwayFromZero,
    TowardsZero,
    Up,
    Down,
}

impl Decimal {
    /// `self + other`, with the larger scale.
    #[inline]
    pub fn add(self, other: Decimal) -> Result<Decimal> {
        if self.scale == other.scale
            && self.negative == other.negative
            && let (Some(a), Some(b)) = (self.small(), other.small())
            && let Some(sum) = a.checked_add(b)
        {
            return Ok(Decimal::from_small(sum, self.scale, self.negative));
        }
        self.add_slow(other)
    }

    /// `self - other`, with the larger scale.
    #[inline]
    pub fn sub(self, other: Decimal) -> Result<Decimal> {
        self.add(other.neg())
    }

    fn add_slow(self, other: Decimal) -> Result<Decimal> {
        let scale = self.scale.max(other.scale);
        let a = self.wide().mul_pow10((scale - self.scale).into());
        let b = other.wide().mul_pow10((scale - other.scale).into());
        if self.negative == other.negative {
            return Decimal::from_wide(a.add(&b), scale.into(), self.negative);
        }
        match a.cmp(&b) {
            Ordering::Less => Decimal::from_wide(b.sub(&a), scale.into(), other.negative),
            Ordering::Equal | Ordering::Greater => {
                Decimal::from_wide(a.sub(&b), scale.into(), self.negative)
            }
        }
    }

    /// `self × other`; the scales add up, to 30 at most.
    pub fn mul(self, other: Decimal) -> Result<Decimal> {
        let scale = self.scale + other.scale;
        let negative = self.negative != other.negative;
        if scale <= MAX_SCALE
            && let (Some(a), Some(b)) = (self.small(), other.small())
            && let Some(product) = a.checked_mul(b)
        {
            return Ok(Decimal::from_small(product, scale, negative));
        }
        Decimal::from_wide(self.wide().mul(&other.wide()), scale.into(), negative)
    }

    /// `self ÷ other` with the dividend's scale plus `increment` (30 at most), rounded half away
    /// from zero.
    pub fn div(self, other: Decimal, increment: u8) -> Result<Decimal> {
        if other.is_zero() {
            return Err(DecimalError::DivideByZero);
        }
        let scale = (self.scale.saturating_add(increment)).min(MAX_SCALE);
        let negative = self.negative != other.negative;
        let up = u32::from(other.scale) + u32::from(scale) - u32::from(self.scale.min(scale));
        let down = u32::from(self.scale - self.scale.min(scale));
        if down == 0
            && up < 39
            && let (Some(a), Some(b)) = (self.small(), other.small())
            && let Some(a) = a.checked_mul(POW10_U128[up as usize])
        {
            let rest = a % b;
            let quotient = a / b + u128::from(rest >= b - rest);
            return Ok(Decimal::from_small(quotient, scale, negative));
        }
        let divisor = other.wide();
        let (quotient, rest) = self.wide().mul_pow10(up).div(&divisor.mul_pow10(down));
        let rounds_up = rest.add(&rest) >= divisor.mul_pow10(down);
        let quotient = quotient.add(&Wide::from_u128(rounds_up.into()));
        Decimal::from_wide(quotient, scale.into(), negative)
    }

    /// The integer part of `self ÷ other` (DIV), with scale 0.
    pub fn div_integer(self, other: Decimal) -> Result<Decimal> {
        if other.is_zero() {
            return Err(DecimalError::DivideByZero);
        }
        let scale = self.scale.max(other.scale);
        let a = self.wide().mul_pow10((scale - self.scale).into());
        let b = other.wide().mul_pow10((scale - other.scale).into());
        Decimal::from_wide(a.div(&b).0, 0, self.negative != other.negative)
    }

    /// The remainder of `self ÷ other`, with the dividend's sign and the larger scale.
    pub fn rem(self, other: Decimal) -> Result<Decimal> {
        if other.is_zero() {
            return Err(DecimalError::DivideByZero);
        }
        let scale = self.scale.max(other.scale);
        let a = self.wide().mul_pow10((scale - self.scale).into());
        let b = other.wide().mul_pow10((scale - other.scale).into());
        Decimal::from_wide(a.div(&b).1, scale.into(), self.negative)
    }

    /// `-self`.
    #[inline]
    pub fn neg(self) -> Decimal {
        Decimal { negative: !self.negative && !self.is_zero(), ..self }
    }

    /// `self` without its sign.
    #[inline]
    pub fn abs(self) -> Decimal {
        Decimal { negative: false, ..self }
    }

    /// Rounds half away from zero to `places` digits after the point; negative places round whole
    /// digits. The scale never grows. Rounding 65 nines up overflows.
    pub fn round(self, places: i32) -> Result<Decimal> {
        self.reduce(places, Rounding::HalfAwayFromZero)
    }

    /// As [`Decimal::round`], towards zero.
    pub fn truncate(self, places: i32) -> Decimal {
        self.reduce(places, Rounding::TowardsZero).expect("cutting digits does not add any")
    }

    /// The smallest integer not below `self`.
    pub fn ceil(self) -> Result<Decimal> {
        self.reduce(0, Rounding::Up)
    }

    /// The largest integer not above `self`.
    pub fn floor(self) -> Result<Decimal> {
        self.reduce(0, Rounding::Down)
    }

    fn reduce(self, places: i32, rounding: Rounding) -> Result<Decimal> {
        let drop = i32::from(self.scale).saturating_sub(places);
        if drop <= 0 {
            return Ok(self);
        }
        let scale = places.max(0) as u8;
        if drop > i32::from(MAX_PRECISION) {
            return Ok(Decimal::from_small(0, scale, false));
        }
        let drop = drop as u32;
        let (mut value, lost) = match rounding {
            Rounding::HalfAwayFromZero => self.wide().div_pow10_rounding(drop),
            Rounding::TowardsZero | Rounding::Up | Rounding::Down => self.wide().div_pow10(drop),
        };
        let away = match rounding {
            Rounding::Up => lost && !self.negative,
            Rounding::Down => lost && self.negative,
            Rounding::HalfAwayFromZero | Rounding::TowardsZero => false,
        };
        if away {
            value = value.add(&Wide::from_u128(1));
        }
        if places < 0 {
            value = value.mul_pow10((-places) as u32);
        }
        Decimal::from_wide(value, scale.into(), self.negative)
    }

    /// The same worth (rounded half away from zero where digits go) with exactly this scale.
    /// Added zeros that do not fit 65 digits overflow.
    pub fn with_scale(self, scale: u8) -> Result<Decimal> {
        if scale <= self.scale {
            return self.round(scale.into());
        }
        let up = scale - self.scale;
        if let Some(small) = self.small()
            && let Some(scaled) = small.checked_mul(POW10_U128[up as usize])
        {
            return Ok(Decimal::from_small(scaled, scale, self.negative));
        }
        let value = self.wide().mul_pow10(up.into());
        if value >= Wide::pow10(MAX_PRECISION.into()) {
            return Err(DecimalError::Overflow);
        }
        Ok(Decimal::from_parts(value, scale, self.negative))
    }

    /// Fits the value into a DECIMAL(precision, scale): rounds, and clamps what is too large.
    pub fn rescale(self, precision: u8, scale: u8) -> Rescaled {
        let bound = Decimal::bound(precision, scale, self.negative);
        let rounded = match self.with_scale(scale) {
            Ok(value) => value,
            Err(_) => return Rescaled { value: bound, rounded: false, overflow: true },
        };
        if compare_coefficients(&rounded, &bound) == Ordering::Greater {
            return Rescaled { value: bound, rounded: false, overflow: true };
        }
        let lost = scale < self.scale && rounded != self;
        Rescaled { value: rounded, rounded: lost, overflow: false }
    }
}

/// Orders two decimals of one scale by magnitude.
fn compare_coefficients(a: &Decimal, b: &Decimal) -> Ordering {
    (a.top, a.high, a.middle, a.low).cmp(&(b.top, b.high, b.middle, b.low))
}
