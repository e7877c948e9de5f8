//! Batches: some rows of FROM, of each slot that goes on a column.

use super::column::{Column, ColumnBuilder};
use super::conditions::Truth;
use super::numbers::Numbers;
use super::packed::SlotComparison;
use super::texts::CountedTexts;
use crate::exec::Result;
use crate::plan::batches::BatchSlot;
use crate::plan::vector::NumberKind;
use inia_base::value::Value;
use std::sync::Arc;

/// Rows whose columns programs and conditions read.
pub(super) trait Rows {
    /// How many there are.
    fn rows(&self) -> usize;

    /// The numbers of a slot; `None` where it has none of the kind.
    fn numbers(&self, slot: usize, kind: NumberKind) -> Option<&Arc<Numbers>>;

    /// Whether columns that were not asked for are packed.
    fn is_packed(&self) -> bool {
        false
    }

    /// The truth of a comparison for each row, where the slot is packed.
    fn compare(&self, _comparison: SlotComparison) -> Result<Option<Vec<Truth>>> {
        Ok(None)
    }

    /// What `test` says of the text in a slot of each row that is wanted, [`Truth::Null`] of NULL
    /// and of other rows; `None` where the slot has no texts. Rows may share a test.
    fn test_texts(
        &self,
        slot: usize,
        wanted: &[bool],
        test: &mut dyn FnMut(&[u8]) -> Truth,
    ) -> Result<Option<Vec<Truth>>>;

    /// Puts the values of one row into these slots of `values`.
    fn fill(&mut self, row: usize, slots: &[usize], values: &mut [Value]) -> Result<()>;
}

/// A batch has fewer rows where they take about so many bytes.
const MAX_BYTES: usize = 4 << 20;

/// Rows for which a column that grows has room from the beginning, at most.
const MAX_RESERVED: usize = 4096;

/// How many pairs of rows are gathered at once, of which each takes at most so many bytes.
pub(super) fn pairs_at_once(longest: usize, most: usize) -> usize {
    (MAX_BYTES / longest.max(1)).clamp(1, most)
}

/// Some rows.
#[derive(Debug, Default)]
pub(super) struct Batch {
    rows: usize,
    /// Columns by slot.
    columns: Vec<Option<Column>>,
}

impl Batch {
    /// Rows without columns.
    pub(super) fn of_rows(rows: usize) -> Batch {
        Batch { rows, columns: Vec::new() }
    }

    /// Adds a column.
    pub(super) fn put(&mut self, slot: usize, column: Column) {
        if self.columns.len() <= slot {
            self.columns.resize_with(slot + 1, || None);
        }
        self.columns[slot] = Some(column);
    }

    /// The column of a slot.
    pub(super) fn column(&self, slot: usize) -> Option<&Column> {
        self.columns.get(slot)?.as_ref()
    }

    /// Adds the rows at `places` of other rows to this batch: those of the slots that they have.
    pub(super) fn gather(&mut self, from: &Batch, slots: &[BatchSlot], places: &[u32]) {
        debug_assert_eq!(self.rows, places.len(), "a batch has one number of rows");
        for BatchSlot { slot, .. } in slots {
            if let Some(column) = from.column(*slot)
                && self.column(*slot).is_none()
            {
                self.put(*slot, column.gather(places));
            }
        }
    }

    /// About how many bytes the rows take, without texts that were counted already.
    pub(super) fn held(&self, counted: &mut CountedTexts) -> usize {
        self.columns.iter().flatten().map(|column| column.held(counted)).sum()
    }

    /// At most how many bytes a row takes.
    pub(super) fn longest(&self) -> usize {
        self.columns.iter().flatten().map(Column::longest).sum()
    }

    /// The rows that are chosen, with these slots; all of them as they are where all are chosen.
    pub(super) fn chosen(&mut self, chosen: &[bool], slots: &[BatchSlot]) -> Option<Batch> {
        if chosen.iter().all(|chosen| *chosen) {
            return None;
        }
        let places = places(chosen);
        let mut batch = Batch::of_rows(places.len());
        batch.gather(self, slots, &places);
        Some(batch)
    }
}

/// The places of the rows that are chosen.
pub(super) fn places(chosen: &[bool]) -> Vec<u32> {
    let places = chosen.iter().enumerate().filter(|(_, chosen)| **chosen);
    places.map(|(place, _)| place as u32).collect()
}

impl Rows for Batch {
    fn rows(&self) -> usize {
        self.rows
    }

    fn numbers(&self, slot: usize, kind: NumberKind) -> Option<&Arc<Numbers>> {
        match self.column(slot)? {
            Column::Numbers(numbers, of) if *of == kind => Some(numbers),
            _ => None,
        }
    }

    fn test_texts(
        &self,
        slot: usize,
        wanted: &[bool],
        test: &mut dyn FnMut(&[u8]) -> Truth,
    ) -> Result<Option<Vec<Truth>>> {
        let Some(Column::Texts(texts)) = self.column(slot) else { return Ok(None) };
        let mut truth = vec![Truth::Null; self.rows];
        texts.each(
            |row| wanted[row],
            test,
            |row, tested| {
                truth[row] = tested.unwrap_or(Truth::Null);
            },
        );
        Ok(Some(truth))
    }

    fn fill(&mut self, row: usize, slots: &[usize], values: &mut [Value]) -> Result<()> {
        for &slot in slots {
            if let Some(column) = self.column(slot) {
                column.put(row, &mut values[slot])?;
            }
        }
        Ok(())
    }
}

/// Columns that grow until they are a batch.
#[derive(Debug)]
pub(super) struct BatchBuilder {
    rows: usize,
    pub(super) columns: Vec<(BatchSlot, ColumnBuilder)>,
}

impl BatchBuilder {
    pub(super) fn new(slots: &[BatchSlot]) -> BatchBuilder {
        let columns = slots.iter().map(|slot| (*slot, ColumnBuilder::new(slot.form)));
        BatchBuilder { rows: 0, columns: columns.collect() }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// About how many bytes it takes.
    pub(super) fn held(&self) -> usize {
        self.columns.iter().map(|(_, column)| column.held()).sum()
    }

    /// Whether the rows take so many bytes that no more are to be added.
    pub(super) fn is_large(&self) -> bool {
        self.held() >= MAX_BYTES
    }

    /// Notes that so many rows were added to each column.
    pub(super) fn added(&mut self, rows: usize) {
        self.rows += rows;
        let alike = self.columns.iter().all(|(_, column)| column.len() == self.rows);
        debug_assert!(alike, "each column has each row");
    }

    /// Adds a row of slots.
    pub(super) fn push_row(&mut self, row: &[Value]) -> Result<()> {
        for (slot, column) in &mut self.columns {
            column.push(&row[slot.slot])?;
        }
        self.added(1);
        Ok(())
    }

    /// Adds the rows of a batch.
    pub(super) fn append(&mut self, batch: &Batch) -> Result<()> {
        for (slot, column) in &mut self.columns {
            match batch.column(slot.slot) {
                Some(added) => column.append(added)?,
                None => debug_assert!(false, "a batch has the slots that are read above it"),
            }
        }
        self.added(batch.rows);
        Ok(())
    }

    /// The rows so far; none are left here.
    pub(super) fn take(&mut self) -> Batch {
        let rows = std::mem::take(&mut self.rows);
        let mut batch = Batch::of_rows(rows);
        for (slot, column) in &mut self.columns {
            // The next batch has about as many rows.
            let fresh = ColumnBuilder::with_capacity(slot.form, rows.min(MAX_RESERVED));
            batch.put(slot.slot, std::mem::replace(column, fresh).finish());
        }
        batch
    }
}
