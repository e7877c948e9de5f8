//! Reads the rows of an access path.

use super::AccessPath;
use super::bounds::{self, KeyRange, Keys};
use super::run::FoundRun;
use crate::catalog::{IndexKind, Table};
use crate::error::StorageResult;
use crate::row::Cell;
use inia_base::column::RowSink;
use inia_base::error::SqlError;
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_storage::{
    Cursor, Direction, KeyBound, LockMode, LockRequest, LockingCursor, ReadMode, RecordLocator,
    Run, StorageError, Tree, Txn,
};
use std::ops::Range;
use std::sync::Arc;

type Result<T> = std::result::Result<T, SqlError>;

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

enum State {
    Point(Option<Vec<u8>>),
    Ranges { rest: std::vec::IntoIter<KeyRange>, cursor: Option<Cursor> },
}

/// What a scan stands on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// The cursor's record, in the clustered tree.
    Record,
    /// The cursor's record, an entry of an index that covers.
    Entry(usize),
    /// A clustered row in `key` and `row`.
    Row,
    /// An entry of an index that covers, in `key` and `row`.
    PointEntry(usize),
    /// The batch's row at this position.
    Batch(usize),
}

/// Rows that are looked up together, in the index's order.
#[derive(Default)]
struct Batch {
    keys: Vec<u8>,
    rows: Vec<u8>,
    items: Vec<Item>,
    /// Next item to give back.
    next: usize,
    /// How many entries the next batch gathers.
    size: usize,
}

/// Where a batch's clustered key and row are in its bytes; `row` is `None` where there is none.
#[derive(Clone)]
struct Item {
    key: Range<usize>,
    row: Option<Range<usize>>,
}

/// Entries that the first and the largest batch gather.
const FIRST_BATCH: usize = 8;
const MAX_BATCH: usize = 256;

/// A read of one table by an access path.
pub(crate) struct TableScan {
    table: Arc<Table>,
    path: Path,
    mode: ReadMode,
    state: State,
    standing: Standing,
    /// The clustered row found by a secondary entry or a point read.
    row: Vec<u8>,
    key: Vec<u8>,
    batch: Batch,
    /// How much of each row is asked for, where not all of it is.
    narrow: Option<usize>,
    locks: LockPolicy,
    last: LastMove,
}

/// The way to the rows.
struct Path {
    /// `None` for the clustered tree.
    index: Option<usize>,
    /// The index's entries hold all that is asked for.
    covering: bool,
    direction: Direction,
    /// Every row found fulfils the path's conditions.
    exact: bool,
}

/// What is asked of the locks of rows.
#[derive(Default)]
struct LockPolicy {
    /// Rows that others have locked are shown as they were committed last.
    semi_consistent: bool,
    /// Locks of rows that are free are deferred.
    defers: bool,
    /// Rows are left for a later change: the scan stops before it waits for anything, once.
    pauses: bool,
}

/// What the last move has locked, and what it has not.
#[derive(Default)]
struct LastMove {
    /// The row's lock in the clustered tree is this scan's.
    fresh_row: bool,
    /// The entry that a point read has locked.
    fresh_entry: Option<Vec<u8>>,
    /// Where a point read found a row that it did not lock.
    locator: Option<RecordLocator>,
    /// The scan has stopped before a wait.
    paused: bool,
}

/// Whether rows are locked exclusively: then an index entry does not stand for its row.
fn is_exclusive(mode: ReadMode) -> bool {
    matches!(mode, ReadMode::Lock(LockRequest { mode: LockMode::Exclusive, .. }))
}

impl TableScan {
    /// Computes the path's bounds; `row` holds the slots of the tables read before.
    pub(crate) fn open(
        table: &Arc<Table>,
        path: &AccessPath,
        mode: ReadMode,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<TableScan> {
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
        let way = Path {
            index: path.index,
            covering: path.covering && !is_exclusive(mode),
            direction,
            exact: bounds.exact,
        };
        Ok(TableScan {
            table: table.clone(),
            path: way,
            mode,
            state,
            standing: Standing::Record,
            row: Vec::new(),
            key: Vec::new(),
            batch: Batch { size: FIRST_BATCH, ..Batch::default() },
            narrow: None,
            locks: LockPolicy::default(),
            last: LastMove::default(),
        })
    }

    /// Puts off locking rows that are free, where the clustered tree is read: each row found is to
    /// be given to [`TableScan::write_current`] or [`TableScan::secure_current`], or left unlocked,
    /// before the next move. Before the first move.
    pub(crate) fn defer_locks(&mut self) {
        debug_assert!(self.is_unmoved(), "the policy of locks is set before the first move");
        debug_assert!(self.mode != ReadMode::Snapshot, "a snapshot takes no locks");
        self.locks.defers = self.secondary().is_none();
    }

    /// Where the row is that the scan stands on, if it is not locked: it is left for a later
    /// change, before which the scan waits for nothing ([`TableScan::take_pause`]).
    pub(crate) fn leave_current(&mut self) -> Option<RecordLocator> {
        let locator = self.locking()?.locator()?;
        self.pause_before_waits();
        Some(locator)
    }

    /// Deletes rows that follow, up to `most`, where the clustered tree is read and nothing stands
    /// in their way, and moves over them. `None` where [`TableScan::next`] must go on.
    pub(crate) fn delete_run(
        &mut self,
        txn: &mut Txn,
        most: usize,
    ) -> std::result::Result<Option<Run<'_>>, StorageError> {
        match self.locking() {
            Some(cursor) => txn.delete_run(cursor, most),
            None => Ok(None),
        }
    }

    /// Notes that rows are left for a later change: the scan does not wait before it has reported a
    /// pause ([`TableScan::take_pause`]).
    pub(crate) fn pause_before_waits(&mut self) {
        self.locks.pauses = true;
        if let Some(cursor) = self.locking() {
            cursor.pause_before_locks();
        }
    }

    /// Whether the last move found no row since what was left is to be changed first. It is asked
    /// once.
    pub(crate) fn take_pause(&mut self) -> bool {
        std::mem::take(&mut self.last.paused)
    }

    /// Whether rows found are changed by [`TableScan::write_current`].
    pub(crate) fn defers(&self) -> bool {
        self.locks.defers
    }

    /// Replaces the clustered row that the scan stands on, or deletes it where there is no new one.
    /// False, with nothing done, where another transaction came in between: it must be read again.
    pub(crate) fn write_current(
        &mut self,
        txn: &mut Txn,
        row: Option<&[u8]>,
    ) -> std::result::Result<bool, StorageError> {
        if let Some(cursor) = self.locking() {
            return txn.write_current(cursor, row);
        }
        let tree = &self.table.clustered;
        match (&mut self.last.locator, row) {
            (Some(locator), row) => txn.write_at(tree, &self.key, locator, row),
            (None, Some(row)) => txn.update(tree, &self.key, row),
            (None, None) => txn.delete(tree, &self.key),
        }
    }

    /// Locks the clustered row that the scan stands on, where that was deferred. False where it
    /// must be read again.
    pub(crate) fn secure_current(&mut self, txn: &mut Txn) -> Result<bool> {
        match self.locking() {
            Some(cursor) => txn.lock_current(cursor).sql(),
            None => Ok(self.last.locator.is_none()),
        }
    }

    /// Makes an UPDATE's scan of the clustered tree look at rows that others have locked as they
    /// were committed last, instead of waiting for them ([`TableScan::is_unlocked`]).
    pub(crate) fn read_semi_consistently(&mut self) {
        debug_assert!(self.is_unmoved(), "the policy of locks is set before the first move");
        self.locks.semi_consistent = self.secondary().is_none();
    }

    /// Whether the row just found is not locked yet.
    pub(crate) fn is_unlocked(&self) -> bool {
        match &self.state {
            State::Ranges { cursor: Some(Cursor::Locking(cursor)), .. } => cursor.is_unlocked(),
            _ => false,
        }
    }

    /// Waits for the lock of the row just found, which is then what it is now; false when it is
    /// gone.
    pub(crate) fn lock_current(&mut self, txn: &mut Txn) -> Result<bool> {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        key.extend_from_slice(self.current().map_or(&[], |record| record.key));
        self.key = key;
        self.standing = Standing::Row;
        self.lookup(txn)
    }

    /// Asks for these columns of each row only, and for no keys. Where rows are read from the
    /// clustered tree and all of the columns have fixed places, which lie in a row's first bytes,
    /// the rest is left out. Before the first move.
    pub(crate) fn narrow_to(&mut self, columns: impl Iterator<Item = usize>) {
        debug_assert!(self.is_unmoved(), "rows are narrowed before the first move");
        let mut extents = columns.map(|column| self.table.layout.extent(column));
        let bytes = extents.try_fold(0, |most, extent| Some(most.max(extent?)));
        if self.secondary().is_none() {
            self.narrow = bytes;
        }
    }

    /// Moves over rows at hand and gives them all, where that is possible; otherwise
    /// [`TableScan::next`] goes on. Their keys are not known.
    #[inline]
    pub(crate) fn run<'s>(&'s mut self, txn: &mut Txn) -> Result<Option<FoundRun<'s>>> {
        let entries = self.secondary();
        if let Some(index) = entries.filter(|_| !self.path.covering) {
            return self.run_of_batch(index, txn);
        }
        let State::Ranges { cursor: Some(cursor), .. } = &mut self.state else { return Ok(None) };
        let Some(records) = cursor.run(txn).sql()? else { return Ok(None) };
        Ok(Some(FoundRun::of_records(records, entries, &mut self.key)))
    }

    /// The rows of the next batch of look-ups.
    fn run_of_batch(&mut self, index: usize, txn: &mut Txn) -> Result<Option<FoundRun<'_>>> {
        let ranges = matches!(self.state, State::Ranges { cursor: Some(_), .. });
        if self.mode != ReadMode::Snapshot || !ranges {
            return Ok(None);
        }
        loop {
            if self.batch.next >= self.batch.items.len() {
                if !self.gather(index, txn)? {
                    return Ok(None);
                }
                self.look_up_batch(txn)?;
            }
            debug_assert!(self.batch.next <= self.batch.items.len(), "a batch is read once");
            let from = std::mem::replace(&mut self.batch.next, self.batch.items.len());
            if self.batch.items[from..].iter().any(|item| item.row.is_some()) {
                let Batch { rows, items, .. } = &self.batch;
                let found = items[from..].iter().filter_map(|item| item.row.clone());
                let rows = found.map(|row| &rows[row]).collect();
                return Ok(Some(FoundRun::of_rows(rows, &mut self.key)));
            }
        }
    }

    /// The cursor, where it is one that locks.
    fn locking(&mut self) -> Option<&mut LockingCursor> {
        match &mut self.state {
            State::Ranges { cursor: Some(cursor), .. } => cursor.locking(),
            _ => None,
        }
    }

    /// Whether the scan has not moved yet.
    fn is_unmoved(&self) -> bool {
        match &self.state {
            State::Point(key) => key.is_some(),
            State::Ranges { cursor, .. } => cursor.is_none(),
        }
    }

    /// Whether every row fulfils the conditions that the path stands for.
    pub(crate) fn is_exact(&self) -> bool {
        self.path.exact
    }

    /// The index that is read where it is not the clustered tree itself.
    fn secondary(&self) -> Option<usize> {
        self.path.index.filter(|&index| self.table.def.indexes[index].kind != IndexKind::Primary)
    }

    fn tree(&self) -> &Tree {
        match self.secondary() {
            Some(index) => &self.table.indexes[index].tree,
            None => &self.table.clustered,
        }
    }

    /// Moves to the next row.
    #[inline]
    pub(crate) fn next<'s>(&'s mut self, txn: &mut Txn) -> Result<Option<FoundRow<'s>>> {
        if self.step(txn)? { self.current_row() } else { Ok(None) }
    }

    fn step(&mut self, txn: &mut Txn) -> Result<bool> {
        if let State::Point(key) = &mut self.state {
            let Some(key) = key.take() else { return Ok(false) };
            return self.point(key, txn);
        }
        match self.secondary() {
            None => {
                self.standing = Standing::Record;
                self.advance(txn)
            }
            Some(index) if self.path.covering => {
                self.standing = Standing::Entry(index);
                self.advance(txn)
            }
            Some(index) if self.mode == ReadMode::Snapshot => self.next_of_batch(index, txn),
            Some(index) => self.next_by_entry(index, txn),
        }
    }

    /// The row that the last move went to.
    #[inline]
    pub(crate) fn current_row(&self) -> Result<Option<FoundRow<'_>>> {
        Ok(match self.standing {
            Standing::Record => self.current().map(|record| FoundRow {
                clustered_key: record.key,
                data: RowData::Row(record.value),
            }),
            Standing::Entry(index) => match self.current() {
                Some(record) => Some(self.entry(index, record.key, record.value)?),
                None => None,
            },
            Standing::Row => {
                Some(FoundRow { clustered_key: &self.key, data: RowData::Row(&self.row) })
            }
            Standing::PointEntry(index) => Some(self.entry(index, &self.key, &self.row)?),
            Standing::Batch(at) => {
                let Item { key, row } = &self.batch.items[at];
                row.as_ref().map(|row| FoundRow {
                    clustered_key: &self.batch.keys[key.clone()],
                    data: RowData::Row(&self.batch.rows[row.clone()]),
                })
            }
        })
    }

    fn entry<'s>(&'s self, index: usize, key: &'s [u8], value: &'s [u8]) -> Result<FoundRow<'s>> {
        let clustered_key = self.table.indexes[index].codec.primary_key(key, value)?;
        Ok(FoundRow { clustered_key, data: RowData::Entry { index, key, value } })
    }

    fn point(&mut self, key: Vec<u8>, txn: &mut Txn) -> Result<bool> {
        self.standing = Standing::Row;
        let Some(index) = self.secondary() else {
            self.key = key;
            if self.locks.defers {
                let row = &mut self.row;
                let copy = |value: &[u8]| {
                    row.clear();
                    row.extend_from_slice(value);
                };
                self.last.locator = txn.peek(&self.table.clustered, &self.key, copy).sql()?;
                if self.last.locator.is_some() {
                    return Ok(true);
                }
            }
            return self.lookup(txn);
        };
        let value = read(&self.table.indexes[index].tree, &key, self.mode, txn)?;
        let Some(value) = value else { return Ok(false) };
        if self.mode != ReadMode::Snapshot && txn.took_lock() {
            self.last.fresh_entry = Some(key.clone());
        }
        if self.path.covering {
            (self.key, self.row) = (key, value);
            self.standing = Standing::PointEntry(index);
            return Ok(true);
        }
        let primary = self.table.indexes[index].codec.primary_key(&key, &value);
        self.key.clear();
        self.key.extend_from_slice(primary?);
        self.lookup(txn)
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
                let found = txn.lock_get(&self.table.clustered, &self.key, request, copy);
                self.last.fresh_row = txn.took_lock();
                found
            }
        };
        Ok(found.sql()?.is_some())
    }

    /// Opens the cursor of the next range; false when there is none.
    fn open_next_range(&mut self, txn: &mut Txn) -> bool {
        let (tree, secondary) = (self.tree().clone(), self.secondary().is_some());
        let State::Ranges { rest, cursor } = &mut self.state else { return false };
        let Some(range) = rest.next() else { return false };
        let lower = match range.start.as_slice() {
            [] => KeyBound::Unbounded,
            start => KeyBound::Included(start),
        };
        let locks = self.mode != ReadMode::Snapshot;
        let upper = match (&range.end, &range.last) {
            (_, Some(last)) if locks => KeyBound::Included(last),
            (None, _) => KeyBound::Unbounded,
            (Some(end), _) => KeyBound::Excluded(end),
        };
        // The last range's memory serves the next one.
        *cursor = None;
        let mut next = txn.cursor(&tree, lower, upper, self.path.direction, self.mode);
        match &mut next {
            Cursor::Locking(next) => {
                if secondary && !range.is_equality() {
                    next.lock_beyond();
                }
                if self.locks.semi_consistent {
                    next.read_semi_consistently();
                }
                if self.locks.defers {
                    next.defer_locks();
                }
                if self.locks.pauses {
                    next.pause_before_locks();
                }
            }
            Cursor::Snapshot(next) => {
                if let Some(bytes) = self.narrow {
                    next.narrow(bytes);
                }
            }
        }
        *cursor = Some(next);
        true
    }

    /// Moves the cursor to its next record, through all ranges. Afterwards the record is the
    /// cursor's current one.
    #[inline]
    fn advance(&mut self, txn: &mut Txn) -> Result<bool> {
        loop {
            if let State::Ranges { cursor: Some(cursor), .. } = &mut self.state {
                if cursor.advance(txn).sql()? {
                    return Ok(true);
                }
                if cursor.locking().is_some_and(LockingCursor::take_pause) {
                    (self.locks.pauses, self.last.paused) = (false, true);
                    return Ok(false);
                }
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

    fn next_by_entry(&mut self, index: usize, txn: &mut Txn) -> Result<bool> {
        self.standing = Standing::Row;
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
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn next_of_batch(&mut self, index: usize, txn: &mut Txn) -> Result<bool> {
        loop {
            while self.batch.next < self.batch.items.len() {
                self.batch.next += 1;
                if self.batch.items[self.batch.next - 1].row.is_some() {
                    self.standing = Standing::Batch(self.batch.next - 1);
                    return Ok(true);
                }
            }
            if !self.gather(index, txn)? {
                return Ok(false);
            }
            self.look_up_batch(txn)?;
        }
    }

    /// Fills the batch with the clustered keys of the next entries; false when there are none.
    fn gather(&mut self, index: usize, txn: &mut Txn) -> Result<bool> {
        let mut batch = std::mem::take(&mut self.batch);
        batch.keys.clear();
        batch.rows.clear();
        batch.items.clear();
        batch.next = 0;
        while batch.items.len() < batch.size && self.advance(txn)? {
            let Some(record) = self.current() else { break };
            let codec = &self.table.indexes[index].codec;
            let start = batch.keys.len();
            batch.keys.extend_from_slice(codec.primary_key(record.key, record.value)?);
            batch.items.push(Item { key: start..batch.keys.len(), row: None });
        }
        batch.size = (batch.size * 2).min(MAX_BATCH);
        self.batch = batch;
        Ok(!self.batch.items.is_empty())
    }

    fn look_up_batch(&mut self, txn: &mut Txn) -> Result<()> {
        let Batch { keys, rows, items, .. } = &mut self.batch;
        let wanted: Vec<&[u8]> = items.iter().map(|item| &keys[item.key.clone()]).collect();
        debug_assert!(items.iter().all(|item| item.row.is_none()), "rows are looked up once");
        txn.get_batch(&self.table.clustered, &wanted, rows, |i, row| items[i].row = row).sql()
    }

    /// As [`TableScan::unlock_current`], for a SELECT: MySQL keeps the lock of a row that such a
    /// one has found by a whole unique key, whether it matches or not.
    pub(crate) fn unlock_selected(&mut self, txn: &mut Txn) {
        if !matches!(self.state, State::Point(_)) {
            self.unlock_current(txn);
        }
    }

    /// Gives back the locks of the row just found, where it did not match (READ COMMITTED).
    pub(crate) fn unlock_current(&mut self, txn: &mut Txn) {
        let ReadMode::Lock(request) = self.mode else { return };
        if std::mem::take(&mut self.last.fresh_row) {
            txn.unlock_unmatched(&self.table.clustered, &self.key, request.mode);
        }
        if let Some(entry) = self.last.fresh_entry.take() {
            txn.unlock_unmatched(self.tree(), &entry, request.mode);
        }
        if let Some(cursor) = self.locking() {
            cursor.unlock_current(txn);
        }
    }
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
