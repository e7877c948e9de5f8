//! Rows that are held whole, in three allocations for all of them.

use super::row::{Cell, Column, Row};
use std::sync::Arc;

/// Rows of one result. Texts lie one after another in one vector, each with a zero byte behind it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    columns: Arc<[Column]>,
    /// Row after row.
    cells: Vec<Cell>,
    bytes: Vec<u8>,
    count: usize,
}

impl Rows {
    pub(super) fn of(columns: Arc<[Column]>) -> Rows {
        Rows { columns, ..Rows::default() }
    }

    /// The columns of the result.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A row by its number from 0.
    #[inline]
    pub fn get(&self, row: usize) -> Option<Row<'_>> {
        let width = self.columns.len();
        let cells = (row < self.count).then(|| &self.cells[row * width..(row + 1) * width])?;
        Some(Row::new(&self.columns, cells, &self.bytes))
    }

    /// The rows in their order.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.count).filter_map(|row| self.get(row))
    }

    /// Bytes that the rows take.
    pub(super) fn size(&self) -> usize {
        self.cells.len() * size_of::<Cell>() + self.bytes.len()
    }

    #[inline]
    pub(super) fn push(&mut self, cell: Cell) {
        self.cells.push(cell);
    }

    #[inline]
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.cells.push(Cell::Bytes { from, to: self.bytes.len() });
        self.bytes.push(0);
    }

    /// Drops the cells of a row that did not come to its end.
    #[inline]
    pub(super) fn begin_row(&mut self) {
        self.cells.truncate(self.count * self.columns.len());
    }

    #[inline]
    pub(super) fn end_row(&mut self) {
        debug_assert_eq!(self.cells.len(), (self.count + 1) * self.columns.len());
        self.count += 1;
    }

    /// The rows, which leave none behind. What comes next is expected to be as large.
    pub(super) fn take(&mut self) -> Rows {
        let next = Rows {
            columns: self.columns.clone(),
            cells: Vec::with_capacity(self.cells.len()),
            bytes: Vec::with_capacity(self.bytes.len()),
            count: 0,
        };
        std::mem::replace(self, next)
    }
}

impl Rows {
    /// The rows behind the first `count`.
    pub(super) fn without_first(mut self, count: usize) -> Rows {
        let count = count.min(self.count);
        self.cells.drain(..count * self.columns.len());
        self.count -= count;
        self
    }
}
