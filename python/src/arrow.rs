//! Rows as columns, in the memory layout of Arrow: a bitmap of the values that are not NULL, and
//! buffers. Each buffer becomes one `bytes` object, which Arrow's libraries read in place.
//!
//! ```text
//! ('tea'), (NULL), ('rice')     bitmap 00000101   ends 0 3 3 7   bytes t e a r i c e
//! ```
//!
//! Dates count days since 1970, moments and times microseconds, decimals units of their last digit.

use crate::convert::micros_of;
use inia::{Column, ColumnKind, Date, DateTime, Error, Result, Rows, ValueRef};
use pyo3::Py;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The day 1970-01-01, by `Date::to_days`.
const EPOCH: i64 = 719_528;
const DAY: i64 = 86_400_000_000;
/// Digits of the widest decimal.
const DIGITS: usize = 76;

/// A column for Python: Arrow's type, scale, bitmap, buffers.
pub(crate) type PyColumn = (&'static str, usize, Option<Py<PyBytes>>, Vec<Py<PyBytes>>);

/// A column.
pub(crate) struct ArrowColumn {
    name: &'static str,
    scale: usize,
    /// None where no value is NULL.
    bitmap: Option<Vec<u8>>,
    buffers: Vec<Vec<u8>>,
}

impl ArrowColumn {
    pub(crate) fn into_python(self, py: Python<'_>) -> PyColumn {
        let bytes = |buffer: &Vec<u8>| PyBytes::new(py, buffer).unbind();
        let bitmap = self.bitmap.as_ref().map(bytes);
        (self.name, self.scale, bitmap, self.buffers.iter().map(bytes).collect())
    }
}

/// The columns of the rows from a number on.
pub(crate) fn columns(rows: &Rows, from: usize) -> Result<Vec<ArrowColumn>> {
    let described = rows.columns().iter().enumerate();
    described.map(|(at, column)| Builder { rows, from, at }.build(column)).collect()
}

/// One column of some rows.
struct Builder<'r> {
    rows: &'r Rows,
    from: usize,
    at: usize,
}

impl Builder<'_> {
    fn build(&self, column: &Column) -> Result<ArrowColumn> {
        match column.kind() {
            ColumnKind::Null => self.fixed("null", |_| Some([])),
            ColumnKind::Integer if column.is_unsigned() => self.fixed("uint64", unsigned),
            ColumnKind::Integer => self.fixed("int64", signed),
            ColumnKind::Bit => self.fixed("uint64", unsigned),
            ColumnKind::Double => self.fixed("double", |value| match value {
                ValueRef::Double(number) => Some(number.to_le_bytes()),
                _ => None,
            }),
            ColumnKind::Date => self.fixed("date32", |value| match value {
                ValueRef::Date(date) => Some((days(date)? as i32).to_le_bytes()),
                _ => None,
            }),
            ColumnKind::DateTime => self.fixed("timestamp", |value| match value {
                ValueRef::DateTime(moment, _) => Some(micros(moment)?.to_le_bytes()),
                _ => None,
            }),
            ColumnKind::Time => self.fixed("duration", |value| match value {
                ValueRef::Time(time, _) => Some(micros_of(time).to_le_bytes()),
                _ => None,
            }),
            ColumnKind::Decimal => self.decimals(),
            ColumnKind::Bytes => self.texts("large_binary"),
            _ => self.texts("large_string"),
        }
    }

    /// Gives each value to `take`, which says whether it is there.
    fn each(&self, mut take: impl FnMut(ValueRef<'_>) -> Result<bool>) -> Result<Option<Vec<u8>>> {
        let count = self.rows.len() - self.from;
        let mut bitmap = vec![0u8; count.div_ceil(8)];
        let mut missing = 0;
        for at in 0..count {
            let row = self.rows.get(self.from + at);
            let value = row.map_or(Ok(ValueRef::Null), |row| row.value(self.at))?;
            match take(value)? {
                true => bitmap[at / 8] |= 1 << (at % 8),
                false => missing += 1,
            }
        }
        Ok((missing > 0).then_some(bitmap))
    }

    /// Values of one size; `read` gives none for what has no place in the type.
    fn fixed<const N: usize>(
        &self,
        name: &'static str,
        read: impl Fn(ValueRef<'_>) -> Option<[u8; N]>,
    ) -> Result<ArrowColumn> {
        let mut buffer = Vec::with_capacity((self.rows.len() - self.from) * N);
        let bitmap = self.each(|value| {
            let bytes = read(value);
            buffer.extend_from_slice(&bytes.unwrap_or([0; N]));
            Ok(bytes.is_some())
        })?;
        Ok(ArrowColumn { name, scale: 0, bitmap, buffers: vec![buffer] })
    }

    fn texts(&self, name: &'static str) -> Result<ArrowColumn> {
        let (mut ends, mut bytes) = (0i64.to_le_bytes().to_vec(), Vec::new());
        let bitmap = self.each(|value| {
            let text = match value {
                ValueRef::Text(text) | ValueRef::Json(text) => Some(text.as_bytes()),
                ValueRef::Bytes(bytes) => Some(bytes),
                _ => None,
            };
            bytes.extend_from_slice(text.unwrap_or_default());
            ends.extend_from_slice(&(bytes.len() as i64).to_le_bytes());
            Ok(text.is_some())
        })?;
        Ok(ArrowColumn { name, scale: 0, bitmap, buffers: vec![ends, bytes] })
    }

    /// Decimals of the column's scale, which its values show.
    fn decimals(&self) -> Result<ArrowColumn> {
        let mut scale = 0;
        self.each(|value| {
            if let ValueRef::Decimal(digits) = value {
                let fraction = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
                scale = scale.max(fraction);
            }
            Ok(true)
        })?;
        let mut buffer = Vec::new();
        let bitmap = self.each(|value| {
            let ValueRef::Decimal(digits) = value else {
                buffer.extend_from_slice(&[0; 32]);
                return Ok(false);
            };
            buffer.extend_from_slice(&decimal(digits, scale)?);
            Ok(true)
        })?;
        Ok(ArrowColumn { name: "decimal256", scale, bitmap, buffers: vec![buffer] })
    }
}

fn signed(value: ValueRef<'_>) -> Option<[u8; 8]> {
    match value {
        ValueRef::Int(number) => Some(number.to_le_bytes()),
        ValueRef::UInt(number) => i64::try_from(number).ok().map(i64::to_le_bytes),
        _ => None,
    }
}

fn unsigned(value: ValueRef<'_>) -> Option<[u8; 8]> {
    match value {
        ValueRef::Int(number) => u64::try_from(number).ok().map(u64::to_le_bytes),
        ValueRef::UInt(number) => Some(number.to_le_bytes()),
        _ => None,
    }
}

/// Days since 1970; none for dates with zero parts.
fn days(date: Date) -> Option<i64> {
    let is_whole = date.month > 0 && date.day > 0;
    is_whole.then(|| date.to_days() - EPOCH)
}

fn micros(moment: DateTime) -> Option<i64> {
    Some(days(moment.date)? * DAY + micros_of(moment.time()))
}

/// A decimal as 256 bits of units of the last of `scale` digits.
fn decimal(digits: &str, scale: usize) -> Result<[u8; 32]> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let negative = whole.starts_with('-');
    let whole = whole.trim_start_matches('-');
    let zeros = std::iter::repeat_n(b'0', scale - fraction.len());
    let mut words = [0u64; 4];
    if whole.len() + scale > DIGITS {
        return Err(Error::conversion(format!("{digits} has too many digits for Arrow")));
    }
    for digit in whole.bytes().chain(fraction.bytes()).chain(zeros) {
        let mut carry = u128::from(digit.wrapping_sub(b'0'));
        for word in &mut words {
            carry += u128::from(*word) * 10;
            *word = carry as u64;
            carry >>= 64;
        }
    }
    if negative {
        let mut carry = true;
        for word in &mut words {
            (*word, carry) = (!*word).overflowing_add(carry.into());
        }
    }
    let mut bytes = [0; 32];
    for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    Ok(bytes)
}
