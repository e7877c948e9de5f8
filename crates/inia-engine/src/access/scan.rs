//! Reads the rows of an access path.

use super::AccessPath;
use super::bounds::{self, KeyRange, Keys};
use crate::catalog::{IndexKind, Table};
use crate::error::StorageResult;
use crate::expr::EvalContext;
use crate::row::Cell;
use inia_base::error::SqlError;
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_storage::{Cursor, Direction, KeyBound, LockRequest, ReadMode, Tree, Txn};
use std::sync::Arc;

type Result<T> = std::result::Result<T, SqlError>;

/// A row that a scan stands on, borrowed until it moves.
#[derive(Clone, Copy)]
pub(crate) struct Found<'s> {
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

enum State {
    Point(Option<Vec<u8>>),
    Ranges { rest: std::vec::IntoIter<KeyRange>, cursor: Option<Cursor> },
}

/// A read of one table by an access path.
pub(crate) struct Scan {
    table: Arc<Table>,
    index: Option<usize>,
    covering: bool,
    direction: Direction,
    mode: ReadMode,
    exact: bool,
    state: State,
    /// The clustered row found by a secondary entry or a point read.
    row: Vec<u8>,
    key: Vec<u8>,
}

impl Scan {
    /// Computes the path's bounds; `row` holds the slots of the tables read before.
    pub(crate) fn open(
        table: &Arc<Table>,
        path: &AccessPath,
        mode: ReadMode,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<Scan> {
        let direction = if path.backward { Direction::Backward } else { Direction::Forward };
        let bounds = bounds::compute(table, path, ctx, row)?;
        let state = match bounds.keys {
            Keys::Point(key) => State::Point(Some(key)),
            Keys::Ranges(mut ranges) => {
                if path.backward {
                    ranges.reverse();
                }
                State::Ranges { rest: ranges.into_iter(), cursor: None }
            }
        };
        Ok(Scan {
            table: table.clone(),
            index: path.index,
            covering: path.covering && mode == ReadMode::Snapshot,
            direction,
            mode,
            exact: bounds.exact,
            state,
            row: Vec::new(),
            key: Vec::new(),
        })
    }

    /// Whether every row fulfils the conditions that the path stands for.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact
    }

    /// The index that is read where it is not the clustered tree itself.
    fn secondary(&self) -> Option<usize> {
        self.index.filter(|&index| self.table.def.indexes[index].kind != IndexKind::Primary)
    }

    fn tree(&self) -> &Tree {
        match self.secondary() {
            Some(index) => &self.table.indexes[index].tree,
            None => &self.table.clustered,
        }
    }

    /// Moves to the next row.
    pub(crate) fn next<'s>(&'s mut self, txn: &mut Txn) -> Result<Option<Found<'s>>> {
        if let State::Point(key) = &mut self.state {
            let Some(key) = key.take() else { return Ok(None) };
            return self.point(key, txn);
        }
        match self.secondary() {
            None => self.next_clustered(txn),
            Some(index) if self.covering => self.next_entry(index, txn),
            Some(index) => self.next_by_entry(index, txn),
        }
    }

    fn point<'s>(&'s mut self, key: Vec<u8>, txn: &mut Txn) -> Result<Option<Found<'s>>> {
        let Some(index) = self.secondary() else {
            self.key = key;
            return Ok(self
                .lookup(txn)?
                .then_some(Found { clustered_key: &self.key, data: RowData::Row(&self.row) }));
        };
        let value = read(&self.table.indexes[index].tree, &key, self.mode, txn)?;
        let Some(value) = value else { return Ok(None) };
        if self.covering {
            (self.key, self.row) = (key, value);
            let codec = &self.table.indexes[index].codec;
            let clustered_key = codec.primary_key(&self.key, &self.row)?;
            let data = RowData::Entry { index, key: &self.key, value: &self.row };
            return Ok(Some(Found { clustered_key, data }));
        }
        let primary = self.table.indexes[index].codec.primary_key(&key, &value);
        self.key.clear();
        self.key.extend_from_slice(primary?);
        Ok(self
            .lookup(txn)?
            .then_some(Found { clustered_key: &self.key, data: RowData::Row(&self.row) }))
    }

    /// Reads the clustered row of `self.key` into `self.row`.
    fn lookup(&mut self, txn: &mut Txn) -> Result<bool> {
        let row = &mut self.row;
        let copy = |value: &[u8]| {
            row.clear();
            row.extend_from_slice(value);
        };
        let found = match self.mode {
            ReadMode::Snapshot => txn.get(&self.table.clustered, &self.key, copy),
            ReadMode::Lock(request) => {
                txn.lock_get(&self.table.clustered, &self.key, request, copy)
            }
        };
        Ok(found.sql()?.is_some())
    }

    /// Opens the cursor of the next range; false when there is none.
    fn open_next_range(&mut self, txn: &mut Txn) -> bool {
        let tree = self.tree().clone();
        let State::Ranges { rest, cursor } = &mut self.state else { return false };
        let Some(range) = rest.next() else { return false };
        let lower = match range.start.as_slice() {
            [] => KeyBound::Unbounded,
            start => KeyBound::Included(start),
        };
        let upper = match &range.end {
            None => KeyBound::Unbounded,
            Some(end) => KeyBound::Excluded(end),
        };
        *cursor = Some(txn.cursor(&tree, lower, upper, self.direction, self.mode));
        true
    }

    /// Moves the cursor to its next record, through all ranges. Afterwards the record is the
    /// cursor's current one.
    fn advance(&mut self, txn: &mut Txn) -> Result<bool> {
        loop {
            if let State::Ranges { cursor: Some(cursor), .. } = &mut self.state
                && cursor.next(txn).sql()?.is_some()
            {
                return Ok(true);
            }
            if !self.open_next_range(txn) {
                return Ok(false);
            }
        }
    }

    fn current(&self) -> Option<inia_storage::RecordRef<'_>> {
        match &self.state {
            State::Ranges { cursor: Some(cursor), .. } => cursor.current(),
            _ => None,
        }
    }

    fn next_clustered<'s>(&'s mut self, txn: &mut Txn) -> Result<Option<Found<'s>>> {
        if !self.advance(txn)? {
            return Ok(None);
        }
        Ok(self
            .current()
            .map(|record| Found { clustered_key: record.key, data: RowData::Row(record.value) }))
    }

    fn next_entry<'s>(&'s mut self, index: usize, txn: &mut Txn) -> Result<Option<Found<'s>>> {
        if !self.advance(txn)? {
            return Ok(None);
        }
        let Some(record) = self.current() else { return Ok(None) };
        let codec = &self.table.indexes[index].codec;
        let clustered_key = codec.primary_key(record.key, record.value)?;
        let data = RowData::Entry { index, key: record.key, value: record.value };
        Ok(Some(Found { clustered_key, data }))
    }

    fn next_by_entry<'s>(&'s mut self, index: usize, txn: &mut Txn) -> Result<Option<Found<'s>>> {
        while self.advance(txn)? {
            let mut key = std::mem::take(&mut self.key);
            key.clear();
            if let Some(record) = self.current() {
                let codec = &self.table.indexes[index].codec;
                let primary = codec.primary_key(record.key, record.value)?;
                key.extend_from_slice(primary);
            }
            self.key = key;
            if self.lookup(txn)? {
                let data = RowData::Row(&self.row);
                return Ok(Some(Found { clustered_key: &self.key, data }));
            }
        }
        Ok(None)
    }

    /// Gives back the lock of the row just found, where it did not match (READ COMMITTED).
    pub(crate) fn unlock_current(&mut self, txn: &mut Txn) {
        if let State::Ranges { cursor: Some(cursor), .. } = &mut self.state {
            cursor.unlock_current(txn);
        }
    }
}

impl Found<'_> {
    /// Decodes the needed columns into the table's slots.
    pub(crate) fn fill(
        &self,
        table: &Table,
        needed: &[bool],
        zone: &TimeZone,
        slots: &mut [Value],
    ) -> Result<()> {
        for (column, slot) in slots.iter_mut().enumerate() {
            if needed[column] {
                *slot = self.value(table, column, zone)?;
            }
        }
        Ok(())
    }

    /// One column's value.
    pub(crate) fn value(&self, table: &Table, column: usize, zone: &TimeZone) -> Result<Value> {
        Ok(self.cell(table, column)?.value(table.layout.data_type(column), zone))
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

/// Reads one key's value.
fn read(tree: &Tree, key: &[u8], mode: ReadMode, txn: &mut Txn) -> Result<Option<Vec<u8>>> {
    let copy = |value: &[u8]| value.to_vec();
    match mode {
        ReadMode::Snapshot => txn.get(tree, key, copy).sql(),
        ReadMode::Lock(LockRequest { mode, wait }) => {
            txn.lock_get(tree, key, LockRequest { mode, wait }, copy).sql()
        }
    }
}
