//! One column of many rows: what kind of column it is gets asked once, not for each row.
//!
//! Numbers are columns whose values are whole numbers or are ordered as such: integers, YEAR and
//! DATE (as [`pack_date`](super::pack_date) gives it). Bytes are columns of variable size.
//!
//! The key of an index entry comes in two pieces: what all keys of a leaf begin with, and what
//! follows. A part of the key may begin in the one and end in the other:
//!
//! ```text
//!   prefix 80 00 01 | suffix 07 80 00 00 05      INT part at 0: 80 00 01 07, the next: 80 00 00 05
//! ```

use super::fixed::{FixedKind, sound_date, unpack_date};
use super::index::{ColumnSource, IndexCodec};
use super::layout::{CellPosition, RowLayout};
use super::part::{NULL, PartCodec};
use crate::error::Damaged;
use crate::table_def::IndexKind;
use inia_base::datatype::DataType;

/// An index entry's key and value.
#[derive(Clone, Copy)]
pub(crate) struct IndexEntry<'a> {
    /// What all keys of its leaf begin with.
    pub(crate) prefix: &'a [u8],
    /// What follows.
    pub(crate) suffix: &'a [u8],
    pub(crate) value: &'a [u8],
}

/// Whether a column's values are numbers here.
pub(crate) fn is_number(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Int { .. } | DataType::Year | DataType::Date)
}

/// The number in a column's little-endian bytes.
#[inline]
fn number<const N: usize>(kind: FixedKind, bytes: &[u8; N]) -> Result<u64, Damaged> {
    let mut word = [0; 8];
    word[..N].copy_from_slice(bytes);
    sound(kind, N, u64::from_le_bytes(word))
}

/// The number in a word's lowest `len` bytes, extended by its sign where it has one.
#[inline]
fn sound(kind: FixedKind, len: usize, word: u64) -> Result<u64, Damaged> {
    match kind {
        FixedKind::Int(_) => {
            let shift = 64 - 8 * len as u32;
            Ok(((word << shift) as i64 >> shift) as u64)
        }
        FixedKind::Date => sound_date(unpack_date(word as u32)).map(|_| word),
        _ => Ok(word),
    }
}

impl RowLayout {
    /// Gives the number that `column` holds in each row to `take`, `None` for NULL. False, with
    /// nothing given, where the column has no numbers.
    #[inline]
    pub(crate) fn numbers<'a>(
        &self,
        column: usize,
        rows: impl Iterator<Item = &'a [u8]>,
        take: impl FnMut(Option<u64>),
    ) -> Result<bool, Damaged> {
        let slot = &self.slots[column];
        let CellPosition::Fixed { offset, kind } = slot.place else { return Ok(false) };
        if !is_number(&slot.data_type) {
            return Ok(false);
        }
        let at = (offset, kind, slot.null_bit);
        match kind.len() {
            1 => fixed_numbers::<1>(at, rows, take)?,
            2 => fixed_numbers::<2>(at, rows, take)?,
            3 => fixed_numbers::<3>(at, rows, take)?,
            4 => fixed_numbers::<4>(at, rows, take)?,
            8 => fixed_numbers::<8>(at, rows, take)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// As [`RowLayout::numbers`], for the bytes of a column of variable size that is not JSON.
    #[inline]
    pub(crate) fn bytes<'a>(
        &self,
        column: usize,
        mut rows: impl Iterator<Item = Result<&'a [u8], Damaged>>,
        mut take: impl FnMut(Option<&'a [u8]>),
    ) -> Result<bool, Damaged> {
        let slot = &self.slots[column];
        let CellPosition::Variable { index, .. } = slot.place else { return Ok(false) };
        if matches!(slot.data_type, DataType::Json) {
            return Ok(false);
        }
        // A loop of its own for columns without NULLs: it runs once for each row of a result.
        match slot.null_bit {
            None => rows.try_for_each(|row| {
                take(Some(self.variable_bytes(row?, index)?));
                Ok(())
            })?,
            Some(bit) => rows.try_for_each(|row| {
                let row = row?;
                take(if is_set(row, bit)? { None } else { Some(self.variable_bytes(row, index)?) });
                Ok(())
            })?,
        }
        Ok(true)
    }
}

#[inline]
fn is_set(row: &[u8], bit: usize) -> Result<bool, Damaged> {
    Ok(row.get(bit / 8).ok_or(Damaged)? >> (bit % 8) & 1 == 1)
}

#[inline]
fn fixed_numbers<'a, const N: usize>(
    (offset, kind, null_bit): (usize, FixedKind, Option<usize>),
    mut rows: impl Iterator<Item = &'a [u8]>,
    mut take: impl FnMut(Option<u64>),
) -> Result<(), Damaged> {
    rows.try_for_each(|row| {
        let bytes = row.get(offset..).and_then(<[u8]>::first_chunk::<N>).ok_or(Damaged)?;
        take(match null_bit {
            Some(bit) if is_set(row, bit)? => None,
            _ => Some(number(kind, bytes)?),
        });
        Ok(())
    })
}

/// Where a number stands in an entry.
#[derive(Clone, Copy)]
enum Stand {
    /// So many bytes behind the key's beginning.
    Key(usize),
    /// So many bytes before the key's end.
    KeyEnd(usize),
    /// So many bytes behind the value's beginning.
    Value(usize),
}

impl IndexCodec {
    /// As [`RowLayout::numbers`], for a column that the index covers.
    #[inline]
    pub(crate) fn numbers<'a>(
        &self,
        column: usize,
        mut entries: impl Iterator<Item = IndexEntry<'a>>,
        mut take: impl FnMut(Option<u64>),
    ) -> Result<bool, Damaged> {
        let Some((part, stand)) = self.stand(column) else { return Ok(false) };
        let Some(kind) = part.number() else { return Ok(false) };
        let flip = if part.descending { 0xff } else { 0 };
        let len = kind.len();
        entries.try_for_each(|entry| {
            let key = (entry.prefix, entry.suffix);
            let (source, mut at) = match stand {
                Stand::Key(at) => (key, at),
                Stand::KeyEnd(back) => {
                    let len = entry.prefix.len() + entry.suffix.len();
                    (key, len.checked_sub(back).ok_or(Damaged)?)
                }
                Stand::Value(at) => ((&[][..], entry.value), at),
            };
            if part.nullable {
                at += 1;
                if big_endian(source, at - 1, 1)? ^ flip == u64::from(NULL) {
                    take(None);
                    return Ok(());
                }
            }
            let mask = if flip == 0 { 0 } else { u64::MAX >> (64 - 8 * len) };
            let word = big_endian(source, at, len)? ^ mask;
            // The sign stands flipped in the key.
            let sign = if matches!(kind, FixedKind::Int(_)) { 1 << (8 * len - 1) } else { 0 };
            take(Some(sound(kind, len, word ^ sign)?));
            Ok(())
        })?;
        Ok(true)
    }

    /// As [`RowLayout::bytes`], for a column that the index covers.
    #[inline]
    pub(crate) fn bytes<'a>(
        &self,
        column: usize,
        entries: impl Iterator<Item = IndexEntry<'a>>,
        take: impl FnMut(Option<&'a [u8]>),
    ) -> Result<bool, Damaged> {
        let (ColumnSource::Kept(index), Some(primary)) = (self.sources[column], self.primary_len)
        else {
            return Ok(false);
        };
        let skip = if self.kind == IndexKind::Unique { primary } else { 0 };
        let rows = entries.map(|entry| entry.value.get(skip..).ok_or(Damaged));
        self.kept_layout.bytes(index, rows, take)
    }

    /// Where a column's part is, if that is the same for all entries.
    fn stand(&self, column: usize) -> Option<(&PartCodec, Stand)> {
        match self.sources[column] {
            ColumnSource::Key(part) => Some((&self.parts[part], Stand::Key(self.starts[part]?))),
            ColumnSource::Primary(part) => {
                let before: Option<usize> =
                    self.primary[..part].iter().map(PartCodec::constant_len).sum();
                let (len, before) = (self.primary_len?, before?);
                let stand = match self.kind {
                    IndexKind::Unique => Stand::Value(before),
                    _ => Stand::KeyEnd(len.checked_sub(before)?),
                };
                Some((&self.primary[part], stand))
            }
            ColumnSource::Absent | ColumnSource::Kept(_) => None,
        }
    }
}

/// The `len` bytes from `at` on of what two slices are together, as a number: the first byte is the
/// highest.
#[inline]
fn big_endian((first, rest): (&[u8], &[u8]), at: usize, len: usize) -> Result<u64, Damaged> {
    if let Some(start) = at.checked_sub(first.len()) {
        return leading(rest.get(start..).ok_or(Damaged)?, len);
    }
    // The keys of a leaf share their first bytes, so this is the usual case for numbers that are
    // close to each other: few bytes are in the prefix, and the others are read together.
    let head = &first[at..first.len().min(at + len)];
    let high = head.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    match len - head.len() {
        0 => Ok(high),
        left => Ok(high << (8 * left) | leading(rest, left)?),
    }
}

/// The first `len` bytes, 1 to 8, as a number. They are read together where 8 bytes are there.
#[inline]
fn leading(bytes: &[u8], len: usize) -> Result<u64, Damaged> {
    debug_assert!((1..=8).contains(&len), "a number has 1 to 8 bytes");
    if let Some(word) = bytes.first_chunk::<8>() {
        return Ok(u64::from_be_bytes(*word) >> (64 - 8 * len as u32));
    }
    let bytes = bytes.get(..len).ok_or(Damaged)?;
    Ok(bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests;
