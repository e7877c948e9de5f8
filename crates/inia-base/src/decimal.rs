//! Exact decimal numbers of up to 65 digits, 30 of them after the point.

/// An exact decimal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    scale: u8,
    digits: [u32; 9],
}
