//! A row that a scan has found, as it is stored.

use super::Result;
use crate::catalog::Table;
use crate::row::Cell;
use inia_base::column::RowSink;
use inia_base::temporal::TimeZone;
use inia_base::value::Value;

/// A row that a scan stands on, borrowed until it moves.
#[derive(Clone, Copy)]
pub(crate) struct FoundRow<'s> {
    /// The row's key in the clustered tree.
    pub(crate) clustered_key: &'s [u8],
    /// Where its columns are.
    pub(crate) data: RowData<'s>,
}

/// A row's stored bytes.
#[derive(Clone, Copy)]
pub(crate) enum RowData<'s> {
    /// The clustered record's value.
    Row(&'s [u8]),
    /// A covering index entry.
    Entry {
        /// The entry's index.
        index: usize,
        /// Its key.
        key: &'s [u8],
        /// Its value.
        value: &'s [u8],
    },
}

impl RowData<'_> {
    /// Appends the row's bytes: 0 and the row, or 1 and an entry's key (after its length) and
    /// value.
    pub(crate) fn pack(&self, out: &mut Vec<u8>) {
        match self {
            RowData::Row(row) => {
                out.push(0);
                out.extend_from_slice(row);
            }
            RowData::Entry { key, value, .. } => {
                out.push(1);
                out.extend_from_slice(&(key.len() as u32).to_le_bytes());
                out.extend_from_slice(key);
                out.extend_from_slice(value);
            }
        }
    }
}

impl FoundRow<'_> {
    /// Decodes these columns into the table's slots; the slot behind the columns gets the row's
    /// key. Strings are put where strings are already.
    pub(crate) fn fill(
        &self,
        table: &Table,
        columns: &[usize],
        zone: &TimeZone,
        slots: &mut [Value],
    ) -> Result<()> {
        for &column in columns {
            if column >= table.def.columns.len() {
                slots[column] = Value::Bytes(self.clustered_key.to_vec());
                continue;
            }
            match (self.cell(table, column)?, &mut slots[column]) {
                (Cell::Text(text), Value::Text(slot)) => {
                    slot.clear();
                    slot.push_str(text);
                }
                (Cell::Bytes(bytes), Value::Bytes(slot)) => {
                    slot.clear();
                    slot.extend_from_slice(bytes);
                }
                (cell, slot) => *slot = cell.value(table.layout.data_type(column), zone),
            }
        }
        Ok(())
    }

    /// One column's value.
    pub(crate) fn value(&self, table: &Table, column: usize, zone: &TimeZone) -> Result<Value> {
        Ok(self.cell(table, column)?.value(table.layout.data_type(column), zone))
    }

    /// Sends one column.
    #[inline]
    pub(crate) fn emit(
        &self,
        table: &Table,
        column: usize,
        zone: &TimeZone,
        sink: &mut dyn RowSink,
    ) -> Result<()> {
        match self.data {
            RowData::Row(row) => table.layout.emit(row, column, zone, sink)?,
            RowData::Entry { .. } => {
                self.cell(table, column)?.emit(table.layout.data_type(column), zone, sink);
            }
        }
        Ok(())
    }

    /// Back from [`RowData::pack`]; an entry is of the index at position `index`.
    pub(crate) fn unpack(bytes: &[u8], index: usize) -> Option<FoundRow<'_>> {
        let data = match bytes.split_first()? {
            (0, row) => RowData::Row(row),
            (_, rest) => {
                let (length, rest) = rest.split_first_chunk::<4>()?;
                let (key, value) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
                RowData::Entry { index, key, value }
            }
        };
        Some(FoundRow { clustered_key: &[], data })
    }

    /// One column as it is stored.
    #[inline]
    pub(crate) fn cell(&self, table: &Table, column: usize) -> Result<Cell<'_>> {
        Ok(match self.data {
            RowData::Row(row) => table.layout.cell(row, column)?,
            RowData::Entry { index, key, value } => {
                table.indexes[index].codec.cell(key, value, column)?
            }
        })
    }
}
