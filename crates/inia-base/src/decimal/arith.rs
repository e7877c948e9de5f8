//! Arithmetic and rounding. Results are checked, so these are methods and not operators.

#![allow(clippy::should_implement_trait)]

use super::wide::{POW10_U128, Wide};
use super::{Decimal, DecimalError, GROUP, MAX_DIGITS, MAX_GROUPS, MAX_SCALE, Rescaled};
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

    /// `self × other`; the scales add up, to four groups at most.
    pub fn mul(self, other: Decimal) -> Result<Decimal> {
        let scale = self.scale + other.scale;
        let negative = self.negative != other.negative;
        if scale <= MAX_SCALE
            && let (Some(a), Some(b)) = (self.small(), other.small())
            && let Some(product) = a.checked_mul(b)
        {
            return Ok(Decimal::from_small(product, scale, negative));
        }
        self.mul_slow(other)
    }

    /// Where the product's groups would be more than a value has, those after the point are taken
    /// from the factors, the longer one first.
    fn mul_slow(self, other: Decimal) -> Result<Decimal> {
        const KEPT: u32 = 4 * GROUP;
        let negative = self.negative != other.negative;
        let groups = |digits: u32| digits.div_ceil(GROUP);
        let whole = groups(self.whole_digits() + other.whole_digits());
        let room = MAX_GROUPS.checked_sub(whole).ok_or(DecimalError::Overflow)?;
        let (mut left, mut right) = (groups(self.scale.into()), groups(other.scale.into()));
        let over = (left + right).saturating_sub(room);
        let (half, rest) = (over / 2, over - over / 2);
        let (of_left, of_right) = if left <= right { (half, rest) } else { (rest, half) };
        left = left.saturating_sub(of_left);
        right = right.saturating_sub(of_right);
        let (a, b) = match over {
            0 => (self, other),
            _ => (self.truncate((left * GROUP) as i32), other.truncate((right * GROUP) as i32)),
        };
        let scale = u32::from(a.scale) + u32::from(b.scale);
        let product = a.wide().mul(&b.wide()).div_pow10(scale.saturating_sub(KEPT)).0;
        Decimal::from_wide(product, scale.min(KEPT), negative)
    }

    /// `self ÷ other` with at least the dividend's scale plus `increment`. The quotient keeps
    /// whole groups, as many as there is room for, and is cut there: `2/3` is 0.666666666.
    pub fn div(self, other: Decimal, increment: u8) -> Result<Decimal> {
        if other.is_zero() {
            return Err(DecimalError::DivideByZero);
        }
        if self.is_zero() {
            return Ok(Decimal::ZERO);
        }
        let negative = self.negative != other.negative;
        let scale = self.quotient_scale(&other, increment.into());
        let up = scale + u32::from(other.scale);
        let (up, down) =
            (up.saturating_sub(self.scale.into()), u32::from(self.scale).saturating_sub(up));
        if down == 0
            && let (Some(a), Some(b)) = (self.small(), other.small())
            && let Some(a) = POW10_U128.get(up as usize).and_then(|power| a.checked_mul(*power))
        {
            return Ok(Decimal::from_small(a / b, scale as u8, negative));
        }
        let divisor = other.wide().mul_pow10(down);
        let digits = (self.wide().digits() + up).saturating_sub(divisor.digits());
        if digits > scale + u32::from(MAX_DIGITS) {
            return Err(DecimalError::Overflow);
        }
        Decimal::from_wide(self.wide().div_scaled(up, &divisor), scale, negative)
    }

    /// Digits after the point of a quotient.
    fn quotient_scale(&self, other: &Decimal, increment: u32) -> u32 {
        let group = |digits: u32| digits.div_ceil(GROUP) * GROUP;
        let (left, right) = (u32::from(self.scale), u32::from(other.scale));
        let spare = group(left) - left + group(right) - right;
        let wanted = group(group(left) + group(right) + increment.saturating_sub(spare));
        if wanted <= 3 * GROUP && self.small().is_some() && other.small().is_some() {
            return wanted;
        }
        let leading = |of: &Decimal| of.wide().digits() as i32 - i32::from(of.scale);
        let whole = (leading(self) - leading(other) + 1).max(0) as u32;
        let room = MAX_GROUPS.saturating_sub(whole.div_ceil(GROUP)) * GROUP;
        wanted.min(room).min(MAX_DIGITS.into())
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
    /// digits. The scale never grows. Rounding 72 nines up overflows.
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
        if drop > i32::from(MAX_DIGITS) {
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
    /// Added zeros that do not fit 72 digits overflow.
    pub fn with_scale(self, scale: u8) -> Result<Decimal> {
        if scale <= self.scale {
            return self.round(scale.into());
        }
        let up = scale - self.scale;
        if let Some(small) = self.small()
            && let Some(power) = POW10_U128.get(usize::from(up))
            && let Some(scaled) = small.checked_mul(*power)
        {
            return Ok(Decimal::from_small(scaled, scale, self.negative));
        }
        let value = self.wide().mul_pow10(up.into());
        if value >= Wide::pow10(MAX_DIGITS.into()) {
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
    (a.fourth(), a.high, a.middle, a.low).cmp(&(b.fourth(), b.high, b.middle, b.low))
}
