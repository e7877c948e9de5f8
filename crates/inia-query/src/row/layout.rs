//! How a row is laid out in bytes: the value of a clustered tree's record.
//!
//! ```text
//! [bits][fixed columns][ends of variable columns][variable bytes]
//! ```
//!
//! - `bits`: bit 0 means wide ends; then one bit per nullable column, set for NULL;
//! - fixed columns stand at constant offsets, little-endian; a NULL one is zero-filled;
//! - ends are u16, or u32 when wide, counted from the start of the variable bytes.
//!
//! Example, `(id INT NOT NULL, k INT, c VARCHAR(9), d VARCHAR(9))` and the row
//! `(7, NULL, 'ab', 'x')`:
//!
//! ```text
//! 02 | 07000000 00000000 | 0200 0300 | 'a' 'b' 'x'
//! ```

use super::cell::Cell;
use super::fixed::{self, FixedKind};
use crate::error::Damaged;
use inia_base::column::RowSink;
use inia_base::datatype::DataType;
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellPosition {
    Fixed { offset: usize, kind: FixedKind },
    Variable { index: usize, text: bool },
}

pub(super) struct Slot {
    pub(super) place: CellPosition,
    /// Bit number in the row's bits; `None` for NOT NULL columns.
    pub(super) null_bit: Option<usize>,
    pub(super) data_type: DataType,
}

/// Where each column of a row is.
pub struct RowLayout {
    pub(super) slots: Vec<Slot>,
    fixed_end: usize,
    variable: usize,
}

impl RowLayout {
    /// The layout of a row of these (type, nullable) columns.
    pub fn new<'t>(columns: impl Iterator<Item = (&'t DataType, bool)>) -> RowLayout {
        let columns: Vec<(&DataType, bool)> = columns.collect();
        let nullable = columns.iter().filter(|(_, nullable)| *nullable).count();
        let bits = (nullable + 1).div_ceil(8);
        let (mut offset, mut variable, mut bit) = (bits, 0, 0);
        let mut slots = Vec::with_capacity(columns.len());
        for (data_type, nullable) in columns {
            let place = match FixedKind::of(data_type) {
                Some(kind) => {
                    offset += kind.len();
                    CellPosition::Fixed { offset: offset - kind.len(), kind }
                }
                None => {
                    variable += 1;
                    CellPosition::Variable { index: variable - 1, text: is_text(data_type) }
                }
            };
            let null_bit = nullable.then(|| {
                bit += 1;
                bit
            });
            slots.push(Slot { place, null_bit, data_type: data_type.clone() });
        }
        debug_assert_eq!(bit, nullable, "each nullable column has a bit");
        debug_assert!(bits * 8 > bit, "bit 0 is for wide ends");
        RowLayout { slots, fixed_end: offset, variable }
    }

    /// Number of columns.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// A column's type.
    pub(crate) fn data_type(&self, column: usize) -> &DataType {
        &self.slots[column].data_type
    }

    /// How many of a row's first bytes hold a column's value; `None` where that depends on the row.
    pub(crate) fn extent(&self, column: usize) -> Option<usize> {
        match self.slots[column].place {
            CellPosition::Fixed { offset, kind } => Some(offset + kind.len()),
            CellPosition::Variable { .. } => None,
        }
    }

    /// Appends the row whose cells `cell` gives by position. The cells are of the columns' types.
    pub fn encode<'v>(
        &self,
        cell: impl Fn(usize) -> Result<Cell<'v>, Damaged>,
        out: &mut Vec<u8>,
    ) -> Result<(), Damaged> {
        let start = out.len();
        // The width of the ends depends on all variable bytes, so those are counted first.
        let mut variable_bytes = 0;
        for (column, slot) in self.slots.iter().enumerate() {
            if matches!(slot.place, CellPosition::Variable { .. }) {
                variable_bytes += variable(&cell(column)?).len();
            }
        }
        let wide = variable_bytes > usize::from(u16::MAX);
        let end_size = if wide { 4 } else { 2 };
        // The bits begin as zeroes, since a NULL only ever sets its own.
        out.resize(start + self.fixed_end + self.variable * end_size, 0);
        out[start] = u8::from(wide);
        let mut ends = start + self.fixed_end;
        let mut end = 0;
        for (column, slot) in self.slots.iter().enumerate() {
            let cell = cell(column)?;
            if cell == Cell::Null {
                let bit = slot.null_bit.ok_or(Damaged)?;
                out[start + bit / 8] |= 1 << (bit % 8);
            }
            match slot.place {
                CellPosition::Fixed { offset, kind } => {
                    let at = start + offset;
                    fixed::put(kind, &cell, &mut out[at..at + kind.len()])?;
                }
                CellPosition::Variable { .. } => {
                    let bytes = variable(&cell);
                    end += bytes.len();
                    out[ends..ends + end_size]
                        .copy_from_slice(&(end as u32).to_le_bytes()[..end_size]);
                    ends += end_size;
                    out.extend_from_slice(bytes);
                }
            }
        }
        debug_assert_eq!(end, variable_bytes, "cells are the same each time they are asked for");
        Ok(())
    }

    /// Appends a row of values, which were converted to the columns' types before.
    pub(crate) fn encode_values(
        &self,
        row: &[Value],
        zone: &TimeZone,
        out: &mut Vec<u8>,
    ) -> Result<(), Damaged> {
        self.encode(|i| Ok(Cell::of(&row[i], &self.slots[i].data_type, zone)), out)
    }

    /// One column of a row.
    #[inline]
    pub fn cell<'a>(&self, row: &'a [u8], column: usize) -> Result<Cell<'a>, Damaged> {
        let slot = &self.slots[column];
        if slot.is_null(row)? {
            return Ok(Cell::Null);
        }
        match slot.place {
            CellPosition::Fixed { offset, kind } => {
                fixed::get(kind, row.get(offset..offset + kind.len()).ok_or(Damaged)?)
            }
            CellPosition::Variable { index, text } => {
                let bytes = self.variable_bytes(row, index)?;
                if text {
                    return Ok(Cell::Text(std::str::from_utf8(bytes).map_err(|_| Damaged)?));
                }
                Ok(Cell::Bytes(bytes))
            }
        }
    }

    #[inline]
    pub(super) fn variable_bytes<'a>(
        &self,
        row: &'a [u8],
        index: usize,
    ) -> Result<&'a [u8], Damaged> {
        Ok(&row[self.variable_range(row, index)?])
    }

    /// Where a variable column's bytes are in a row.
    #[inline]
    fn variable_range(&self, row: &[u8], index: usize) -> Result<Range<usize>, Damaged> {
        let wide = row.first().ok_or(Damaged)? & 1 == 1;
        let size = if wide { 4 } else { 2 };
        let base = self.fixed_end + self.variable * size;
        let end = |index: usize| -> Result<usize, Damaged> {
            let at = self.fixed_end + index * size;
            let bytes = row.get(at..).unwrap_or_default();
            match wide {
                false => bytes.first_chunk().map(|end| usize::from(u16::from_le_bytes(*end))),
                true => bytes.first_chunk().map(|end| u32::from_le_bytes(*end) as usize),
            }
            .ok_or(Damaged)
        };
        let from = if index == 0 { 0 } else { end(index - 1)? };
        let range = base + from..base + end(index)?;
        if range.start > range.end || range.end > row.len() {
            return Err(Damaged);
        }
        Ok(range)
    }

    /// One column as an owned value.
    pub(crate) fn value(
        &self,
        row: &[u8],
        column: usize,
        zone: &TimeZone,
    ) -> Result<Value, Damaged> {
        Ok(self.cell(row, column)?.value(&self.slots[column].data_type, zone))
    }

    /// Replaces `out` by all columns as owned values.
    pub fn decode(&self, row: &[u8], zone: &TimeZone, out: &mut Vec<Value>) -> Result<(), Damaged> {
        out.clear();
        for column in 0..self.slots.len() {
            out.push(self.value(row, column, zone)?);
        }
        Ok(())
    }

    /// Sends one column.
    #[inline]
    pub(crate) fn emit(
        &self,
        row: &[u8],
        column: usize,
        zone: &TimeZone,
        sink: &mut dyn RowSink,
    ) -> Result<(), Damaged> {
        let slot = &self.slots[column];
        if let CellPosition::Variable { index, .. } = slot.place
            && !matches!(slot.data_type, DataType::Json)
        {
            if slot.is_null(row)? {
                sink.null();
            } else {
                sink.bytes(self.variable_bytes(row, index)?);
            }
            return Ok(());
        }
        self.cell(row, column)?.emit(&slot.data_type, zone, sink);
        Ok(())
    }

    /// Whether column `column` of a row holds this cell.
    #[inline]
    pub(crate) fn holds(
        &self,
        row: &[u8],
        column: usize,
        cell: &Cell<'_>,
    ) -> Result<bool, Damaged> {
        let slot = &self.slots[column];
        match slot.place {
            CellPosition::Variable { index, .. } => {
                let null = slot.is_null(row)?;
                let same = null == (*cell == Cell::Null);
                Ok(same && (null || self.variable_bytes(row, index)? == variable(cell)))
            }
            CellPosition::Fixed { .. } => Ok(self.cell(row, column)? == *cell),
        }
    }

    /// Replaces column `column` of an encoded row; all other columns keep their bytes.
    pub(crate) fn put(
        &self,
        row: &mut Vec<u8>,
        column: usize,
        cell: &Cell<'_>,
    ) -> Result<(), Damaged> {
        let slot = &self.slots[column];
        if let CellPosition::Variable { index, .. } = slot.place
            && !self.put_bytes(row, index, variable(cell))?
        {
            let old = std::mem::take(row);
            let cells = |c: usize| if c == column { Ok(*cell) } else { self.cell(&old, c) };
            return self.encode(cells, row);
        }
        if let Some(bit) = slot.null_bit {
            let byte = row.get_mut(bit / 8).ok_or(Damaged)?;
            *byte &= !(1 << (bit % 8));
            *byte |= u8::from(*cell == Cell::Null) << (bit % 8);
        } else if *cell == Cell::Null {
            return Err(Damaged);
        }
        if let CellPosition::Fixed { offset, kind } = slot.place {
            fixed::put(kind, cell, row.get_mut(offset..offset + kind.len()).ok_or(Damaged)?)?;
        }
        Ok(())
    }

    /// Replaces the bytes of a variable column; false, with nothing done, where the ends would have
    /// another width then.
    fn put_bytes(&self, row: &mut Vec<u8>, index: usize, bytes: &[u8]) -> Result<bool, Damaged> {
        let range = self.variable_range(row, index)?;
        if range.len() == bytes.len() {
            row[range].copy_from_slice(bytes);
            return Ok(true);
        }
        let (wide, old) = (row[0] & 1 == 1, row.len());
        let size = if wide { 4 } else { 2 };
        let variable_bytes = old - (self.fixed_end + self.variable * size);
        let most = usize::from(u16::MAX);
        if (variable_bytes - range.len() + bytes.len() > most) != wide {
            return Ok(false);
        }
        let end = range.start + bytes.len();
        row.resize(old.max(old - range.len() + bytes.len()), 0);
        row.copy_within(range.end..old, end);
        row.truncate(old - range.len() + bytes.len());
        row[range.start..end].copy_from_slice(bytes);
        for later in index..self.variable {
            let at = self.fixed_end + later * size;
            let mut word = [0; 4];
            word[..size].copy_from_slice(&row[at..at + size]);
            let moved = u32::from_le_bytes(word) as usize + bytes.len();
            let moved = moved.checked_sub(range.len()).ok_or(Damaged)? as u32;
            row[at..at + size].copy_from_slice(&moved.to_le_bytes()[..size]);
        }
        Ok(true)
    }
}

impl Slot {
    #[inline]
    fn is_null(&self, row: &[u8]) -> Result<bool, Damaged> {
        match self.null_bit {
            Some(bit) => Ok(row.get(bit / 8).ok_or(Damaged)? >> (bit % 8) & 1 == 1),
            None => Ok(false),
        }
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Char { .. } | DataType::VarChar { .. } | DataType::Text { .. } | DataType::Json
    )
}

fn variable<'v>(cell: &Cell<'v>) -> &'v [u8] {
    match cell {
        Cell::Text(text) => text.as_bytes(),
        Cell::Bytes(bytes) => bytes,
        _ => b"",
    }
}
