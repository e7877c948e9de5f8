//! One column of many rows: the kind of the column is determined once, not for each row.
//!
//! Numbers are columns whose values are whole numbers or are ordered as such: integers, YEAR, DATE
//! and DATETIME (as [`pack_date`](super::pack_date) and
//! [`pack_datetime`](super::pack_datetime) give them). Bytes are columns of variable size.
//!
//! The key of an index entry comes in two pieces: what all keys of a leaf begin with, and what
//! follows. A part of the key may begin in the one and end in the other:
//!
//! ```text
//!   prefix 80 00 01 | suffix 07 80 00 00 05      INT part at 0: 80 00 01 07, the next: 80 00 00 05
//! ```

use super::fixed::{FixedKind, sound_date, sound_datetime, unpack_date, unpack_datetime};
use super::index::{ColumnSource, IndexCodec};
use super::layout::{CellPosition, RowLayout};
use super::part::{NULL, PartCodec};
use crate::error::Damaged;
use inia_base::datatype::DataType;
use inia_base::decimal::Decimal;
use std::ops::Range;

/// Index entries of one leaf. Each part is asked for on its own: most columns need one only.
pub(crate) trait IndexEntries<'a> {
    /// What all keys begin with.
    fn prefix(&self) -> &'a [u8];
    /// What follows in the key of entry `i`.
    fn suffix(&self, i: usize) -> &'a [u8];
    /// The value of entry `i`.
    fn value(&self, i: usize) -> &'a [u8];
}

/// Whether a column's values are numbers here.
pub(crate) fn is_number(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Int { .. } | DataType::Year | DataType::Date | DataType::DateTime { .. }
    )
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
        FixedKind::DateTime => sound_datetime(unpack_datetime(word)).map(|_| word),
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

    /// As [`RowLayout::numbers`], for the coefficients of a DECIMAL column of at most 38 digits.
    #[inline]
    pub(crate) fn decimals<'a>(
        &self,
        column: usize,
        mut rows: impl Iterator<Item = &'a [u8]>,
        mut take: impl FnMut(Option<i128>),
    ) -> Result<bool, Damaged> {
        let slot = &self.slots[column];
        let CellPosition::Fixed { offset, kind } = slot.place else { return Ok(false) };
        let (FixedKind::Decimal(..), 1..=16) = (kind, kind.len()) else { return Ok(false) };
        let end = offset + kind.len();
        // Eight bytes at once, where there are so many up to the end of the column: those of the
        // column are the last, with the sign bit flipped.
        let unused = 64 - 8 * kind.len().min(8) as u32;
        let whole_word = kind.len() <= 8 && end >= 8;
        rows.try_for_each(|row| {
            let is_null = match slot.null_bit {
                Some(bit) => is_set(row, bit)?,
                None => false,
            };
            if is_null {
                take(None);
            } else if whole_word {
                let word = row.get(end - 8..end).and_then(<[u8]>::first_chunk).ok_or(Damaged)?;
                let flipped = (u64::from_be_bytes(*word) << unused) ^ 1 << 63;
                take(Some(i128::from(flipped as i64 >> unused)));
            } else {
                take(Decimal::coefficient(row.get(offset..end).ok_or(Damaged)?));
            }
            Ok(())
        })?;
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
    /// As [`RowLayout::numbers`], for a column that the index covers, in entries of one leaf.
    #[inline]
    pub(crate) fn numbers<'a>(
        &self,
        column: usize,
        entries: &impl IndexEntries<'a>,
        mut range: Range<usize>,
        mut take: impl FnMut(Option<u64>),
    ) -> Result<bool, Damaged> {
        let Some((part, stand)) = self.stand(column) else { return Ok(false) };
        let Some(kind) = part.number() else { return Ok(false) };
        let form = NumberForm::of(part, kind);
        let prefix = entries.prefix();
        // Where a number stands in all entries alike its place is worked out once for the leaf.
        match stand {
            Stand::Key(at) => {
                let place = form.place(prefix, at);
                // A short loop of its own for the usual case.
                match place.null {
                    NullPlace::Never => range.try_for_each(|i| {
                        take(Some(form.not_null(&place.number, entries.suffix(i))?));
                        Ok(())
                    })?,
                    _ => range.try_for_each(|i| {
                        take(form.read(&place, entries.suffix(i))?);
                        Ok(())
                    })?,
                }
            }
            Stand::KeyEnd(back) => range.try_for_each(|i| {
                let suffix = entries.suffix(i);
                let at = (prefix.len() + suffix.len()).checked_sub(back).ok_or(Damaged)?;
                take(form.read(&form.place(prefix, at), suffix)?);
                Ok(())
            })?,
            Stand::Value(at) => {
                let place = form.place(&[], at);
                range.try_for_each(|i| {
                    take(form.read(&place, entries.value(i))?);
                    Ok(())
                })?;
            }
        }
        Ok(true)
    }

    /// As [`RowLayout::bytes`], for a column that the index covers.
    #[inline]
    pub(crate) fn bytes<'a>(
        &self,
        column: usize,
        entries: &impl IndexEntries<'a>,
        range: Range<usize>,
        take: impl FnMut(Option<&'a [u8]>),
    ) -> Result<bool, Damaged> {
        let (ColumnSource::Kept(index), Some(primary)) = (self.sources[column], self.primary_len)
        else {
            return Ok(false);
        };
        let skip = if self.unique { primary } else { 0 };
        let rows = range.map(|i| entries.value(i).get(skip..).ok_or(Damaged));
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
                let stand = match self.unique {
                    true => Stand::Value(before),
                    false => Stand::KeyEnd(len.checked_sub(before)?),
                };
                Some((&self.primary[part], stand))
            }
            ColumnSource::Absent | ColumnSource::Kept(_) => None,
        }
    }
}

/// How a key part holds a number.
#[derive(Clone, Copy)]
struct NumberForm {
    kind: FixedKind,
    len: usize,
    /// A byte before the number says whether it is NULL; its value for that.
    null: Option<u8>,
    /// What the stored bits are flipped by: all in descending parts, and the sign.
    flip: u64,
}

/// Where a number stands in keys with a prefix in common.
struct NumberPlace {
    null: NullPlace,
    number: SplitBytes,
}

/// Where the byte stands that says whether a number is NULL.
enum NullPlace {
    /// In the prefix, if there is one: no number is NULL.
    Never,
    /// In the prefix: all numbers are NULL.
    Always,
    /// So many bytes behind the prefix.
    Rest(usize),
}

impl NumberForm {
    fn of(part: &PartCodec, kind: FixedKind) -> NumberForm {
        let len = kind.len();
        let descending = if part.descending { u64::MAX >> (64 - 8 * len) } else { 0 };
        // The sign stands flipped in the key.
        let sign = if matches!(kind, FixedKind::Int(_)) { 1 << (8 * len - 1) } else { 0 };
        let null = if part.descending { NULL ^ 0xff } else { NULL };
        NumberForm { kind, len, null: part.nullable.then_some(null), flip: descending ^ sign }
    }

    /// The place of a part that begins at byte `at`.
    #[inline]
    fn place(self, prefix: &[u8], at: usize) -> NumberPlace {
        let Some(null) = self.null else {
            let number = SplitBytes::new(prefix, at, self.len);
            return NumberPlace { null: NullPlace::Never, number };
        };
        let place = match prefix.get(at) {
            Some(byte) if *byte == null => NullPlace::Always,
            Some(_) => NullPlace::Never,
            None => NullPlace::Rest(at - prefix.len()),
        };
        NumberPlace { null: place, number: SplitBytes::new(prefix, at + 1, self.len) }
    }

    /// The number in the key that goes on with `rest`; `None` for NULL.
    #[inline]
    fn read(self, place: &NumberPlace, rest: &[u8]) -> Result<Option<u64>, Damaged> {
        let is_null = match place.null {
            NullPlace::Never => false,
            NullPlace::Always => true,
            NullPlace::Rest(at) => Some(*rest.get(at).ok_or(Damaged)?) == self.null,
        };
        if is_null { Ok(None) } else { self.not_null(&place.number, rest).map(Some) }
    }

    #[inline]
    fn not_null(self, number: &SplitBytes, rest: &[u8]) -> Result<u64, Damaged> {
        sound(self.kind, self.len, number.read(rest)? ^ self.flip)
    }
}

/// Bytes of a key, of which the first may stand in the prefix that the keys of a leaf have in
/// common. That is the usual case for numbers that are close to each other.
struct SplitBytes {
    /// The number that those in the prefix are.
    high: u64,
    /// Where the others begin behind the prefix, and how many they are.
    start: usize,
    left: usize,
}

impl SplitBytes {
    /// The `len` bytes, 1 to 8, from `at` on of keys that begin with `prefix`.
    #[inline]
    fn new(prefix: &[u8], at: usize, len: usize) -> SplitBytes {
        let head = prefix.get(at..prefix.len().min(at + len)).unwrap_or_default();
        SplitBytes {
            high: head.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
            start: at.saturating_sub(prefix.len()),
            left: len - head.len(),
        }
    }

    /// The bytes as a number, the first one the highest, of the key that goes on with `rest`.
    #[inline]
    fn read(&self, rest: &[u8]) -> Result<u64, Damaged> {
        if self.left == 0 {
            return Ok(self.high);
        }
        let low = leading(rest.get(self.start..).ok_or(Damaged)?, self.left)?;
        // Eight bytes behind the prefix leave nothing of the word.
        Ok(self.high.unbounded_shl(8 * self.left as u32) | low)
    }
}

/// The first `len` bytes, 1 to 8, as a number. They are read together where there are 8 bytes, or
/// 4 for a short number: what is left of a key behind the prefix is often no longer.
#[inline]
fn leading(bytes: &[u8], len: usize) -> Result<u64, Damaged> {
    debug_assert!((1..=8).contains(&len), "a number has 1 to 8 bytes");
    if let Some(word) = bytes.first_chunk::<8>() {
        return Ok(u64::from_be_bytes(*word) >> (64 - 8 * len as u32));
    }
    if let Some(word) = bytes.first_chunk::<4>().filter(|_| len <= 4) {
        return Ok(u64::from(u32::from_be_bytes(*word)) >> (32 - 8 * len as u32));
    }
    let bytes = bytes.get(..len).ok_or(Damaged)?;
    Ok(bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests;
