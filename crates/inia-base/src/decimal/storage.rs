//! The fixed-size, memory-comparable form of a DECIMAL(precision, scale).

use super::wide::Wide;
use super::{Decimal, MAX_DIGITS, MAX_PRECISION};

/// Bytes for a signed coefficient of 0 to 72 digits: the fewest n with 2^(8n-1) ≥ 10^digits.
const SIZES: [u8; MAX_DIGITS as usize + 1] = {
    let mut table = [1u8; MAX_DIGITS as usize + 1];
    let mut digits = 1;
    while digits <= MAX_DIGITS as usize {
        // log2(10) = 3.32192809…, rounded up in the ninth decimal.
        let bits = (digits as u64 * 3_321_928_095).div_ceil(1_000_000_000);
        table[digits] = (bits + 1).div_ceil(8) as u8;
        digits += 1;
    }
    table
};

impl Decimal {
    /// Bytes that [`Decimal::encode`] writes for this precision.
    #[inline]
    pub fn storage_size(precision: u8) -> usize {
        SIZES[usize::from(precision.min(MAX_DIGITS))].into()
    }

    /// Appends the value, fitted into DECIMAL(precision, scale), so that `memcmp` orders it.
    pub fn encode(&self, precision: u8, scale: u8, out: &mut Vec<u8>) {
        let fitted = if self.scale == scale { *self } else { self.rescale(precision, scale).value };
        let size = Decimal::storage_size(precision);
        let mut bytes = [0u8; 32];
        bytes[24..].copy_from_slice(&fitted.low.to_be_bytes());
        bytes[16..24].copy_from_slice(&fitted.middle.to_be_bytes());
        bytes[8..16].copy_from_slice(&fitted.high.to_be_bytes());
        bytes[4..8].copy_from_slice(&fitted.top.to_be_bytes());
        bytes[2..4].copy_from_slice(&fitted.crown.to_be_bytes());
        if fitted.negative {
            let mut carry = true;
            for byte in bytes.iter_mut().rev() {
                let (value, overflow) = (!*byte).overflowing_add(carry.into());
                *byte = value;
                carry = overflow;
            }
        }
        let start = bytes.len() - size;
        bytes[start] ^= 0x80;
        out.extend_from_slice(&bytes[start..]);
    }

    /// The coefficient in what [`Decimal::encode`] wrote, where that is at most 16 bytes long.
    #[inline]
    pub fn coefficient(bytes: &[u8]) -> Option<i128> {
        // The sign bit is flipped; the sign fills the bytes that are not stored.
        if let (1..=8, Some(first)) = (bytes.len(), bytes.first()) {
            let start = if first & 0x80 == 0 { -1i64 } else { 0 };
            let word =
                bytes[1..].iter().fold((start << 8) | i64::from(first ^ 0x80), |word, byte| {
                    (word << 8) | i64::from(*byte)
                });
            return Some(word.into());
        }
        let first = bytes.first().filter(|_| bytes.len() <= 16)?;
        let start = if first & 0x80 == 0 { -1i128 } else { 0 };
        let whole = bytes[1..].iter().fold((start << 8) | i128::from(first ^ 0x80), |all, byte| {
            (all << 8) | i128::from(*byte)
        });
        Some(whole)
    }

    /// Reads what [`Decimal::encode`] wrote; `None` when `bytes` is not of that size.
    pub fn decode(bytes: &[u8], precision: u8, scale: u8) -> Option<Decimal> {
        let size = Decimal::storage_size(precision);
        if bytes.len() != size || size == 0 {
            return None;
        }
        let negative = bytes[0] & 0x80 == 0;
        let mut full = [if negative { 0xFF } else { 0 }; 32];
        let start = full.len() - size;
        full[start..].copy_from_slice(bytes);
        full[start] ^= 0x80;
        if negative {
            let mut carry = true;
            for byte in full.iter_mut().rev() {
                let (value, overflow) = (!*byte).overflowing_add(carry.into());
                *byte = value;
                carry = overflow;
            }
        }
        let mut limbs = [0u64; 8];
        for (limb, chunk) in limbs.iter_mut().zip(full.rchunks_exact(8)) {
            *limb = u64::from_be_bytes(chunk.try_into().ok()?);
        }
        let coefficient = Wide(limbs);
        (coefficient < Wide::pow10(precision.clamp(MAX_PRECISION, MAX_DIGITS).into()))
            .then(|| Decimal::from_parts(coefficient, scale, negative))
    }
}
