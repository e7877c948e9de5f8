//! Unsigned 512-bit integers, for the decimal operations whose operands do not fit 128 bits.

use std::cmp::Ordering;

const LIMBS: usize = 8;

/// Powers of ten that fit 64 bits.
pub(super) const POW10_U64: [u64; 20] = {
    let mut table = [1u64; 20];
    let mut i = 1;
    while i < 20 {
        table[i] = table[i - 1] * 10;
        i += 1;
    }
    table
};

/// Powers of ten that fit 128 bits.
pub(super) const POW10_U128: [u128; 39] = {
    let mut table = [1u128; 39];
    let mut i = 1;
    while i < 39 {
        table[i] = table[i - 1] * 10;
        i += 1;
    }
    table
};

/// An unsigned integer of 512 bits, least significant limb first. Callers keep results in range:
/// the largest one, a product of two 72-digit numbers, has 480 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wide(pub(super) [u64; LIMBS]);

impl Wide {
    pub(super) const ZERO: Wide = Wide([0; LIMBS]);

    pub(super) fn from_u128(value: u128) -> Wide {
        let mut limbs = [0; LIMBS];
        limbs[0] = value as u64;
        limbs[1] = (value >> 64) as u64;
        Wide(limbs)
    }

    /// 10 to the power `n`, n ≤ 153.
    pub(super) fn pow10(n: u32) -> Wide {
        Wide::from_u128(1).mul_pow10(n)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.iter().all(|&limb| limb == 0)
    }

    pub(super) fn add(mut self, other: &Wide) -> Wide {
        let mut carry = false;
        for (a, b) in self.0.iter_mut().zip(other.0) {
            let (sum, first) = a.overflowing_add(b);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            *a = sum;
            carry = first | second;
        }
        self
    }

    /// `self - other`; `other` is not larger.
    pub(super) fn sub(mut self, other: &Wide) -> Wide {
        let mut borrow = false;
        for (a, b) in self.0.iter_mut().zip(other.0) {
            let (rest, first) = a.overflowing_sub(b);
            let (rest, second) = rest.overflowing_sub(u64::from(borrow));
            *a = rest;
            borrow = first | second;
        }
        self
    }

    pub(super) fn mul_small(mut self, factor: u64) -> Wide {
        let mut carry = 0u128;
        for limb in &mut self.0 {
            let product = u128::from(*limb) * u128::from(factor) + carry;
            *limb = product as u64;
            carry = product >> 64;
        }
        self
    }

    pub(super) fn mul_pow10(mut self, mut n: u32) -> Wide {
        while n > 0 {
            let step = n.min(19);
            self = self.mul_small(POW10_U64[step as usize]);
            n -= step;
        }
        self
    }

    pub(super) fn mul(&self, other: &Wide) -> Wide {
        let mut result = [0u64; LIMBS];
        for (i, &a) in self.0.iter().enumerate() {
            if a == 0 {
                continue;
            }
            let mut carry = 0u128;
            for j in 0..LIMBS - i {
                let sum = u128::from(a) * u128::from(other.0[j]) + u128::from(result[i + j]);
                let sum = sum + carry;
                result[i + j] = sum as u64;
                carry = sum >> 64;
            }
        }
        Wide(result)
    }

    /// Quotient and remainder by a 64-bit divisor.
    pub(super) fn div_small(mut self, divisor: u64) -> (Wide, u64) {
        let mut rest = 0u128;
        for limb in self.0.iter_mut().rev() {
            let part = (rest << 64) | u128::from(*limb);
            *limb = (part / u128::from(divisor)) as u64;
            rest = part % u128::from(divisor);
        }
        (self, rest as u64)
    }

    fn bits(&self) -> u32 {
        for (i, limb) in self.0.iter().enumerate().rev() {
            if *limb != 0 {
                return i as u32 * 64 + 64 - limb.leading_zeros();
            }
        }
        0
    }

    /// Decimal digits; 0 has none.
    pub(super) fn digits(&self) -> u32 {
        // log10(2) = 0.30102999…
        let guess = self.bits() * 30_103 / 100_000;
        guess + u32::from(*self >= Wide::pow10(guess))
    }

    fn shift_left(self, bits: u32) -> Wide {
        let (words, bits) = ((bits / 64) as usize, bits % 64);
        let mut result = [0; LIMBS];
        for (i, limb) in result.iter_mut().enumerate().skip(words) {
            *limb = self.0[i - words] << bits;
            if bits > 0 && i > words {
                *limb |= self.0[i - words - 1] >> (64 - bits);
            }
        }
        Wide(result)
    }

    fn half(mut self) -> Wide {
        for i in 0..LIMBS {
            let above = if i + 1 < LIMBS { self.0[i + 1] << 63 } else { 0 };
            self.0[i] = (self.0[i] >> 1) | above;
        }
        self
    }

    /// The integer part of `self` × 10^`up` ÷ `divisor`; `divisor` is not zero.
    pub(super) fn div_scaled(self, up: u32, divisor: &Wide) -> Wide {
        let (mut quotient, mut rest) = self.div(divisor);
        let mut left = up;
        while left > 0 {
            let step = left.min(19);
            let (digits, next) = rest.mul_pow10(step).div(divisor);
            quotient = quotient.mul_pow10(step).add(&digits);
            rest = next;
            left -= step;
        }
        quotient
    }

    /// Quotient and remainder; `divisor` is not zero. One subtraction per quotient bit.
    pub(super) fn div(self, divisor: &Wide) -> (Wide, Wide) {
        if divisor.0[1..].iter().all(|&limb| limb == 0) {
            let (quotient, rest) = self.div_small(divisor.0[0]);
            return (quotient, Wide::from_u128(u128::from(rest)));
        }
        let mut rest = self;
        let mut quotient = Wide::ZERO;
        let Some(distance) = self.bits().checked_sub(divisor.bits()) else {
            return (quotient, rest);
        };
        let mut shifted = divisor.shift_left(distance);
        for bit in (0..=distance).rev() {
            if rest.cmp(&shifted) != Ordering::Less {
                rest = rest.sub(&shifted);
                quotient.0[(bit / 64) as usize] |= 1 << (bit % 64);
            }
            shifted = shifted.half();
        }
        (quotient, rest)
    }

    /// Divides by 10 to the power `n` and rounds halves up; returns whether digits were lost.
    pub(super) fn div_pow10_rounding(self, n: u32) -> (Wide, bool) {
        let (mut quotient, lost, last) = self.drop_digits(n);
        if last >= 5 {
            quotient = quotient.add(&Wide::from_u128(1));
        }
        (quotient, lost)
    }

    /// Divides by 10 to the power `n` towards zero; returns whether digits were lost.
    pub(super) fn div_pow10(self, n: u32) -> (Wide, bool) {
        let (quotient, lost, _) = self.drop_digits(n);
        (quotient, lost)
    }

    /// Drops `n` digits: what remains, whether any was not zero, and the highest dropped digit.
    fn drop_digits(self, n: u32) -> (Wide, bool, u64) {
        if n == 0 {
            return (self, false, 0);
        }
        let mut value = self;
        let mut lost = false;
        let mut left = n - 1;
        while left > 0 {
            let step = left.min(19);
            let (quotient, rest) = value.div_small(POW10_U64[step as usize]);
            value = quotient;
            lost |= rest != 0;
            left -= step;
        }
        let (quotient, last) = value.div_small(10);
        (quotient, lost || last != 0, last)
    }
}

impl Ord for Wide {
    fn cmp(&self, other: &Wide) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl PartialOrd for Wide {
    fn partial_cmp(&self, other: &Wide) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
