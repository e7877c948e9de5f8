//! Reads the rows of an access path.

mod batch;
mod leaves;
mod locks;
mod merge;
mod parts;
mod row;
mod skip;

pub(crate) use row::{FoundRow, RowData};

use super::bounds::{self, KeyRange, Keys};
use super::run::FoundRun;
use super::{AccessPath, FoundBy};
use crate::catalog::Table;
use crate::error::StorageResult;
use batch::{Batch, BatchItem, FIRST_BATCH};
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_expr::tree::Match;
use inia_storage::{
    Cursor, Direction, KeyBound, LockMode, LockRequest, LockingCursor, ReadMode, Tree, Txn,
    uncount_rows_of_entries,
};
pub(crate) use leaves::FoundLeaf;
use locks::{LastMove, LockPolicy};
use merge::KeyStream;
use parts::Parts;
use std::sync::Arc;

type Result<T> = std::result::Result<T, SqlError>;

impl State {
    fn of_ranges(ranges: Vec<KeyRange>) -> State {
        State::Ranges { rest: ranges.into_iter(), cursor: None, once: None }
    }

    fn once(ranges: Vec<KeyRange>) -> State {
        let once = Some(ranges.clone().into());
        State::Ranges { rest: ranges.into_iter(), cursor: None, once }
    }
}

enum State {
    Point(Option<Vec<u8>>),
    /// Keys of the clustered tree.
    Keys(KeyStream),
    Ranges {
        rest: std::vec::IntoIter<KeyRange>,
        cursor: Option<Cursor>,
        /// All ranges, where a row that has several entries in them is given once.
        once: Option<Arc<[KeyRange]>>,
    },
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
    /// How much of each row is read, where not all of it is.
    narrow: Option<usize>,
    locks: LockPolicy,
    last: LastMove,
    /// The other partitions, of a table that has some.
    parts: Option<Box<Parts>>,
}

/// The way to the rows.
#[derive(Clone, Copy)]
pub(super) struct Path {
    /// `None` for the clustered tree.
    index: Option<usize>,
    /// The index's entries hold all that is read.
    covering: bool,
    direction: Direction,
    /// Every row found fulfils the path's conditions.
    exact: bool,
}

impl Path {
    /// Whether keys are read in descending order.
    pub(super) fn is_backward(self) -> bool {
        self.direction == Direction::Backward
    }
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
        if table.partitions.is_some() {
            return parts::open(table, path, mode, ctx, row);
        }
        let found = path.found_by.as_deref();
        if let Some(FoundBy::Search(_) | FoundBy::Merge(_) | FoundBy::Skip(_)) = found {
            return open_found(table, path, mode, ctx, row);
        }
        let direction = if path.backward { Direction::Backward } else { Direction::Forward };
        let bounds = bounds::compute(table, path, ctx, row)?;
        let way = Path {
            index: path.index,
            covering: path.covering && !is_exclusive(mode),
            direction,
            exact: bounds.exact,
        };
        // Each state is made where the scan has it: a state is large, and that of a point is not.
        Ok(match bounds.keys {
            Keys::Point(key) => TableScan::by(table, way, mode, State::Point(Some(key))),
            Keys::Ranges(mut ranges) => {
                if path.backward {
                    ranges.reverse();
                }
                TableScan::by(table, way, mode, State::of_ranges(ranges))
            }
            Keys::Once(ranges) => TableScan::by(table, way, mode, State::once(ranges)),
        })
    }

    /// The rows of a snapshot whose keys in an index, or without one in the clustered tree, begin
    /// at the first bytes and lie before the second ones.
    pub(crate) fn between(
        table: &Arc<Table>,
        index: Option<usize>,
        (start, end): (Vec<u8>, Option<Vec<u8>>),
        backward: bool,
    ) -> Result<TableScan> {
        let direction = if backward { Direction::Backward } else { Direction::Forward };
        let way = Path { index, covering: false, direction, exact: true };
        let range = KeyRange { start, end, last: None };
        if table.partitions.is_some() {
            return parts::merged(table, way, range);
        }
        Ok(TableScan::by(table, way, ReadMode::Snapshot, State::of_ranges(vec![range])))
    }

    #[inline]
    fn by(table: &Arc<Table>, path: Path, mode: ReadMode, state: State) -> TableScan {
        TableScan {
            table: table.clone(),
            path,
            mode,
            state,
            standing: Standing::Record,
            row: Vec::new(),
            key: Vec::new(),
            batch: Batch { size: FIRST_BATCH, ..Batch::default() },
            narrow: None,
            locks: LockPolicy::default(),
            last: LastMove::default(),
            parts: None,
        }
    }

    /// A consistent read of these ranges.
    pub(super) fn of_ranges(table: &Arc<Table>, path: Path, ranges: Vec<KeyRange>) -> TableScan {
        TableScan::by(table, path, ReadMode::Snapshot, State::of_ranges(ranges))
    }

    /// The ranges that are read and the way to their rows, before the first move; `None` where
    /// single keys are read.
    pub(super) fn into_ranges(self) -> Option<(Path, Vec<KeyRange>)> {
        debug_assert!(self.is_unmoved(), "ranges are cut before the first move");
        if self.parts.is_some() {
            return None;
        }
        match self.state {
            State::Point(_) | State::Keys(_) | State::Ranges { once: Some(_), .. } => None,
            State::Ranges { rest, .. } => Some((self.path, rest.collect())),
        }
    }

    /// Reads these columns of each row only, and no keys. Where rows are read from the
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
            if self.merges() {
                return Ok(None);
            }
            return self.run_of_batch(index, txn);
        }
        match self.state {
            State::Ranges { cursor: Some(_), .. } => {}
            State::Keys(KeyStream::Skipping(_)) => return self.run_of_groups(txn),
            State::Keys(_) => return self.run_of_merged(txn),
            _ => return Ok(None),
        }
        let State::Ranges { cursor: Some(cursor), .. } = &mut self.state else { return Ok(None) };
        if self.parts.as_ref().is_some_and(|parts| parts.merges()) {
            return Ok(None);
        }
        let Some(records) = cursor.run(txn).sql()? else { return Ok(None) };
        Ok(Some(FoundRun::of_records(records, entries, &mut self.key)))
    }

    /// The reader of the last run ends the scan before its last `rows`.
    #[cold]
    pub(crate) fn stop_before(&mut self, rows: usize) {
        match &mut self.state {
            State::Ranges { cursor: Some(cursor), .. } => cursor.uncount(rows as u64),
            State::Keys(KeyStream::Skipping(reader)) => reader.stop_before(rows as u64),
            _ => {}
        }
    }

    /// Whether the scan has not moved yet.
    fn is_unmoved(&self) -> bool {
        match &self.state {
            State::Point(key) => key.is_some(),
            State::Keys(keys) => keys.is_unread(self.standing == Standing::Record),
            State::Ranges { cursor, .. } => cursor.is_none(),
        }
    }

    /// Whether every row fulfils the conditions that the path stands for.
    pub(crate) fn is_exact(&self) -> bool {
        self.path.exact
    }

    /// The index that is read where it is not the clustered tree itself.
    fn secondary(&self) -> Option<usize> {
        self.path.index.filter(|&index| !self.table.def.indexes[index].clustered)
    }

    /// The tree whose ranges are read.
    pub(super) fn tree(&self) -> &Tree {
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
        if self.parts.is_some() { self.step_parts(txn) } else { self.step_own(txn) }
    }

    /// Moves to the next row of the partition that is read.
    #[inline(always)]
    fn step_own(&mut self, txn: &mut Txn) -> Result<bool> {
        if let State::Point(key) = &mut self.state {
            let Some(key) = key.take() else { return Ok(false) };
            return self.point(key, txn);
        }
        if matches!(self.state, State::Keys(_)) {
            return self.next_of_keys(txn);
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

    /// The row that the last move went to. The key of a row of a partitioned table has the number
    /// of the row's leaf behind it ([`Table::located`]).
    #[inline]
    pub(crate) fn current_row(&self) -> Result<Option<FoundRow<'_>>> {
        if self.parts.is_some() {
            return self.located_row();
        }
        self.own_row()
    }

    #[inline(always)]
    fn own_row(&self) -> Result<Option<FoundRow<'_>>> {
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
                let BatchItem { key, row } = &self.batch.items[at];
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
        self.lookup_of_entry(txn)
    }

    /// Moves to the row of the next key that has one.
    fn next_of_keys(&mut self, txn: &mut Txn) -> Result<bool> {
        self.standing = Standing::Row;
        while let State::Keys(KeyStream::Found(keys)) = &mut self.state {
            let Some(key) = keys.next() else { return Ok(false) };
            self.key = key;
            if self.lookup(txn)? {
                return Ok(true);
            }
        }
        match self.state {
            State::Keys(KeyStream::Skipping(_)) => self.next_of_groups(txn),
            _ => self.next_merged(txn),
        }
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

    /// As [`TableScan::lookup`], for an entry that was counted itself.
    fn lookup_of_entry(&mut self, txn: &mut Txn) -> Result<bool> {
        uncount_rows_of_entries(1);
        self.lookup(txn)
    }

    /// Opens the cursor of the next range; false when there is none.
    fn open_next_range(&mut self, txn: &mut Txn) -> bool {
        let (tree, secondary) = (self.tree().clone(), self.secondary().is_some());
        let State::Ranges { rest, cursor, .. } = &mut self.state else { return false };
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
        if secondary {
            next.count_as_ordered();
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
            State::Keys(KeyStream::Skipping(reader)) => reader.current(),
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
            if self.lookup_of_entry(txn)? && !self.was_given(index)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the row that was looked up has been given at an earlier entry.
    fn was_given(&self, index: usize) -> Result<bool> {
        let State::Ranges { once: Some(once), .. } = &self.state else { return Ok(false) };
        let Some(record) = self.current() else { return Ok(false) };
        is_later_entry(&self.table, (index, record.key), (&self.key, &self.row), once)
    }
}

/// Whether a row has an entry in the ranges that is before this one of the index.
fn is_later_entry(
    table: &Table,
    (index, entry): (usize, &[u8]),
    (primary, row): (&[u8], &[u8]),
    ranges: &[KeyRange],
) -> Result<bool> {
    let Some(several) = &table.indexes[index].several else { return Ok(false) };
    let entries = several.entries(|column| table.layout.cell(row, column), primary)?;
    let mut found = entries.keys().filter(|key| ranges.iter().any(|range| range.holds(key)));
    Ok(found.next().is_some_and(|first| first.as_slice() < entry))
}

/// Begins to read rows whose keys do not come from ranges of the path's index.
#[cold]
fn open_found(
    table: &Arc<Table>,
    path: &AccessPath,
    mode: ReadMode,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<TableScan> {
    let (state, exact) = match (path.found_by.as_deref(), path.index) {
        (Some(FoundBy::Merge(merge)), _) => (merge::open(table, merge, mode, ctx, row)?, false),
        (Some(FoundBy::Search(path)), _) => {
            let keys = searched(&path.search, ctx, row)?;
            // A row that is locked may be another one than was found.
            let exact = mode == ReadMode::Snapshot;
            (State::Keys(KeyStream::Found(keys.into_iter())), exact)
        }
        (Some(FoundBy::Skip(skip)), Some(index)) => {
            skip::open((table, index), skip, mode, ctx, row)?
        }
        _ => (State::of_ranges(vec![KeyRange::all()]), false),
    };
    let covering = path.covering && !is_exclusive(mode);
    let way = Path { index: path.index, covering, direction: Direction::Forward, exact };
    Ok(TableScan::by(table, way, mode, state))
}

/// The clustered keys of the rows that a search finds.
fn searched(search: &Match, ctx: &mut EvalContext<'_>, row: &[Value]) -> Result<Vec<Vec<u8>>> {
    let words = search.words(ctx, row)?;
    let runner = ctx.subqueries;
    runner.search(search.id, words.as_deref(), ctx)
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
