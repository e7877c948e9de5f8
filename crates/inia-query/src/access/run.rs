//! Rows at hand that are read together: those of one leaf, or of one batch of look-ups.
//!
//! One by one they are [`RowData`]; a column of all of them at once is a [`RunColumn`], or a row of
//! numbers given to a function that adds them up.

use super::scan::RowData;
use crate::catalog::Table;
use crate::row::{IndexEntries, is_number};
use inia_base::column::{CellRun, Cells};
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_storage::Run;
use std::ops::Range;

type Result<T> = std::result::Result<T, SqlError>;

/// Rows to be read without moving from one to the next.
pub(crate) struct FoundRun<'s> {
    rows: Rows<'s>,
    key: &'s mut Vec<u8>,
}

enum Rows<'s> {
    /// Of the clustered tree.
    Clustered(Run<'s>),
    /// Entries of the covering index at this position.
    Entries(usize, Run<'s>),
    /// Looked up.
    LookedUp(Vec<&'s [u8]>),
}

/// One column of some rows of a run.
pub(crate) struct RunColumn<'s> {
    /// Which are NULL; empty where none is.
    nulls: Vec<bool>,
    cells: Owned<'s>,
}

enum Owned<'s> {
    Ints(Vec<i64>),
    UInts(Vec<u64>),
    Bytes(Vec<&'s [u8]>),
}

impl RunColumn<'_> {
    /// The cells as sinks take them.
    pub(crate) fn cells(&self) -> CellRun<'_> {
        let cells = match &self.cells {
            Owned::Ints(values) => Cells::Ints(values),
            Owned::UInts(values) => Cells::UInts(values),
            Owned::Bytes(values) => Cells::Bytes(values),
        };
        CellRun { nulls: &self.nulls, cells }
    }
}

/// Collects cells and which of them are NULL.
struct Collect<T> {
    nulls: Vec<bool>,
    cells: Vec<T>,
}

impl<T: Default> Collect<T> {
    fn new(rows: usize) -> Collect<T> {
        Collect { nulls: Vec::new(), cells: Vec::with_capacity(rows) }
    }

    #[inline]
    fn push(&mut self, value: Option<T>) {
        match value {
            Some(value) => {
                if !self.nulls.is_empty() {
                    self.nulls.push(false);
                }
                self.cells.push(value);
            }
            None => {
                self.nulls.resize(self.cells.len(), false);
                self.nulls.push(true);
                self.cells.push(T::default());
            }
        }
    }
}

impl<'s> FoundRun<'s> {
    /// Records of a table's clustered tree, or entries of an index. `key` is memory for keys.
    #[inline]
    pub(super) fn of_records(
        records: Run<'s>,
        entries: Option<usize>,
        key: &'s mut Vec<u8>,
    ) -> FoundRun<'s> {
        key.clear();
        key.extend_from_slice(records.key_prefix());
        let rows = match entries {
            None => Rows::Clustered(records),
            Some(index) => Rows::Entries(index, records),
        };
        FoundRun { rows, key }
    }

    /// Clustered rows that were looked up.
    pub(crate) fn of_rows(rows: Vec<&'s [u8]>, key: &'s mut Vec<u8>) -> FoundRun<'s> {
        FoundRun { rows: Rows::LookedUp(rows), key }
    }

    /// Number of rows.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match &self.rows {
            Rows::Clustered(records) | Rows::Entries(_, records) => records.len(),
            Rows::LookedUp(rows) => rows.len(),
        }
    }

    /// The stored bytes of row `i`.
    #[inline]
    pub(crate) fn data(&mut self, i: usize) -> RowData<'_> {
        match &self.rows {
            Rows::Clustered(records) => RowData::Row(records.value(i)),
            Rows::LookedUp(rows) => RowData::Row(rows[i]),
            Rows::Entries(index, records) => {
                self.key.truncate(records.key_prefix().len());
                self.key.extend_from_slice(records.key_suffix(i));
                RowData::Entry { index: *index, key: self.key, value: records.value(i) }
            }
        }
    }

    /// Gives the number that `column` holds in each of these rows to `take`, `None` for NULL. False
    /// where the column cannot be read so; nothing was given then.
    #[inline]
    pub(crate) fn numbers(
        &self,
        table: &Table,
        column: usize,
        range: Range<usize>,
        take: impl FnMut(Option<u64>),
    ) -> Result<bool> {
        if !is_number(table.layout.data_type(column)) {
            return Ok(false);
        }
        let given = match &self.rows {
            Rows::Clustered(records) => {
                table.layout.numbers(column, range.map(|i| records.value(i)), take)
            }
            Rows::LookedUp(rows) => table.layout.numbers(column, rows[range].iter().copied(), take),
            Rows::Entries(index, records) => {
                table.indexes[*index].codec.numbers(column, records, range, take)
            }
        };
        Ok(given?)
    }

    /// As [`FoundRun::numbers`], for the coefficients of a DECIMAL column in clustered rows.
    #[inline]
    pub(crate) fn decimals(
        &self,
        table: &Table,
        column: usize,
        range: Range<usize>,
        take: impl FnMut(Option<i128>),
    ) -> Result<bool> {
        let given = match &self.rows {
            Rows::Clustered(records) => {
                table.layout.decimals(column, range.map(|i| records.value(i)), take)
            }
            Rows::LookedUp(rows) => {
                table.layout.decimals(column, rows[range].iter().copied(), take)
            }
            Rows::Entries(..) => return Ok(false),
        };
        Ok(given?)
    }

    /// A column of these rows; `None` where it must be read row by row.
    pub(crate) fn column(
        &self,
        table: &Table,
        column: usize,
        range: Range<usize>,
    ) -> Result<Option<RunColumn<'s>>> {
        let rows = range.len();
        Ok(match table.layout.data_type(column) {
            DataType::Int { unsigned: false, .. } => {
                let mut ints = Collect::new(rows);
                let take = |value: Option<u64>| ints.push(value.map(|bits| bits as i64));
                self.numbers(table, column, range, take)?
                    .then_some(RunColumn { nulls: ints.nulls, cells: Owned::Ints(ints.cells) })
            }
            DataType::Int { .. } | DataType::Year => {
                let mut ints = Collect::new(rows);
                let given = self.numbers(table, column, range, |value| ints.push(value))?;
                given.then_some(RunColumn { nulls: ints.nulls, cells: Owned::UInts(ints.cells) })
            }
            _ => {
                let mut texts = Collect::new(rows);
                let given = self.bytes(table, column, range, |value| texts.push(value));
                given?.then_some(RunColumn { nulls: texts.nulls, cells: Owned::Bytes(texts.cells) })
            }
        })
    }

    /// As [`FoundRun::numbers`], for the bytes of a column of variable size.
    #[inline]
    pub(crate) fn bytes(
        &self,
        table: &Table,
        column: usize,
        range: Range<usize>,
        take: impl FnMut(Option<&'s [u8]>),
    ) -> Result<bool> {
        let given = match &self.rows {
            Rows::Clustered(records) => {
                table.layout.bytes(column, range.map(|i| Ok(records.value(i))), take)
            }
            Rows::LookedUp(rows) => {
                table.layout.bytes(column, rows[range].iter().map(|row| Ok(*row)), take)
            }
            Rows::Entries(index, records) => {
                table.indexes[*index].codec.bytes(column, records, range, take)
            }
        };
        Ok(given?)
    }
}

impl<'s> IndexEntries<'s> for Run<'s> {
    #[inline]
    fn prefix(&self) -> &'s [u8] {
        self.key_prefix()
    }

    #[inline]
    fn suffix(&self, i: usize) -> &'s [u8] {
        self.key_suffix(i)
    }

    #[inline]
    fn value(&self, i: usize) -> &'s [u8] {
        Run::value(self, i)
    }
}
