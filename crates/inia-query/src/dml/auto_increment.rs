//! AUTO_INCREMENT and hidden row id counters.
//!
//! A counter is one atomic per table, taken without a lock that outlives the row (MySQL's
//! `innodb_autoinc_lock_mode = 2`): numbers are unique and ascending, gaps are allowed. At its
//! first use after the start it continues behind the greatest key, the definition's floor, and
//! what the storage has kept of it: that is done before a row goes whose number may be the
//! greatest ([`leaving`]), so that no number comes again after a restart.

use crate::catalog::Table;
use crate::context::SessionContext;
use crate::error::{Damaged, StorageResult};
use crate::row::Cell;
use crate::sysvar::Series;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_storage::{Direction, Isolation, KeyBound, ReadMode, Txn};
use std::sync::atomic::Ordering;

/// Makes sure that the table's counters have been read.
pub(crate) fn prepare(table: &Table) -> Result<(), SqlError> {
    let shared = &table.shared;
    let hidden = table.def.clustered_index().is_none();
    if hidden && table.united().is_some() {
        return prepare_united(table);
    }
    if hidden && shared.next_row_id.load(Ordering::Acquire) == 0 {
        let next = last_row_id(table)?.checked_add(1).ok_or(Damaged)?;
        let _ = shared.next_row_id.compare_exchange(0, next, Ordering::AcqRel, Ordering::Acquire);
    }
    prepare_counter(table)
}

/// The same of the children of a merged table. Its own counter goes on behind the greatest number
/// that they have now.
#[cold]
fn prepare_united(table: &Table) -> Result<(), SqlError> {
    table.stored().into_iter().try_for_each(prepare)?;
    let Some(column) = table.def.auto_increment_column() else { return Ok(()) };
    let limit = limit(&table.def.columns[column].data_type);
    let next = greatest(table)?.saturating_add(1).min(limit);
    table.clustered.counter().take(|_| next);
    Ok(())
}

/// Makes sure that the AUTO_INCREMENT counter has been read, if there is one.
pub(crate) fn prepare_counter(table: &Table) -> Result<(), SqlError> {
    let Some(column) = table.def.auto_increment_column() else { return Ok(()) };
    if table.clustered.counter().next() == 0 {
        let limit = limit(&table.def.columns[column].data_type);
        let behind = greatest(table)?.saturating_add(1).min(limit);
        let kept = table.store.kept_counter(&table.clustered).sql()?;
        table.clustered.counter().begin(behind.max(kept).max(table.def.auto_increment).max(1));
    }
    Ok(())
}

/// Prepares for a row with these bytes to be deleted, or to lose its number: records the counter if
/// no row may show it after that.
#[inline]
pub(super) fn leaving(txn: &mut Txn, table: &Table, bytes: &[u8]) -> Result<(), SqlError> {
    let Some(column) = table.numbered else { return Ok(()) };
    let number = cell_number(&table.layout.cell(bytes, column)?);
    if number == 0 || table.clustered.counter().keeps(number) {
        return Ok(());
    }
    let least = number.saturating_add(1).min(limit(&table.def.columns[column].data_type));
    txn.keep_counter(&table.clustered, least).sql()
}

fn cell_number(cell: &Cell<'_>) -> u64 {
    match cell {
        Cell::Int(v) => (*v).max(0) as u64,
        Cell::UInt(v) => *v,
        Cell::Double(v) => v.max(0.0) as u64,
        Cell::Float(v) => v.max(0.0) as u64,
        _ => 0,
    }
}

/// The counter's present value, as SHOW CREATE TABLE and information_schema report it.
pub fn current(table: &Table) -> Result<u64, SqlError> {
    if table.def.auto_increment_column().is_none() || table.def.is_merged() {
        return Ok(0);
    }
    prepare(table)?;
    Ok(table.clustered.counter().next())
}

/// The greatest hidden id, of rows that a running transaction has deleted as well: its rollback
/// brings them back.
fn last_row_id(table: &Table) -> Result<u64, SqlError> {
    let mut greatest = 0;
    for stored in table.stored() {
        let last = stored.store.greatest_key(&stored.clustered).sql()?;
        let Some(key) = last else { continue };
        let id = key.as_slice().try_into().map_err(|_| Damaged)?;
        greatest = u64::from_be_bytes(id).max(greatest);
    }
    Ok(greatest)
}

/// The greatest value of the AUTO_INCREMENT column, by an index that starts with it.
fn greatest(table: &Table) -> Result<u64, SqlError> {
    let Some(column) = table.def.auto_increment_column() else { return Ok(0) };
    let first = |index: &crate::catalog::IndexDef| index.parts[0].column == column;
    let Some(at) = table.def.indexes.iter().position(first) else { return Ok(0) };
    let of_one = |stored: &Table| greatest_of(stored, column, at);
    table.stored().into_iter().map(of_one).try_fold(0, |most, next| Ok(next?.max(most)))
}

fn greatest_of(table: &Table, column: usize, at: usize) -> Result<u64, SqlError> {
    let primary = table.def.indexes[at].clustered;
    let tree = if primary { &table.clustered } else { &table.indexes[at].tree };
    let direction = match table.def.indexes[at].parts[0].descending {
        true => Direction::Forward,
        false => Direction::Backward,
    };
    let mut txn = table.store.attach();
    txn.begin(Isolation::ReadUncommitted);
    let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
    let mut cursor = txn.cursor(tree, low, high, direction, ReadMode::Snapshot);
    let mut greatest = 0;
    if let Some(record) = cursor.next(&mut txn).sql()? {
        let cell = match primary {
            true => table.layout.cell(record.value, column)?,
            false => table.indexes[at].codec.cell(record.key, record.value, column)?,
        };
        greatest = cell_number(&cell);
    }
    drop(cursor);
    txn.commit().sql()?;
    Ok(greatest)
}

/// The greatest number the column takes.
fn limit(data_type: &DataType) -> u64 {
    let DataType::Int { width, unsigned } = data_type else { return 1 << 53 };
    let bits = width.bits() - u32::from(!*unsigned);
    if bits == 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The numbers that one statement gives to its rows.
///
/// As MySQL does, the statement reserves as many numbers as it expects rows (an unknown number of
/// rows: 1, 2, 4, …) and leaves behind a gap for those it does not use. A row that brings its own
/// number, greater than the next one, moves the next one behind it. Where the statement has the
/// table alone, the counter follows the rows that are written.
///
/// Example: the counter stands at 5. `VALUES (NULL), (9), (NULL)` reserves 5-7 and gives 5; 9 moves
/// the next number to 10, which is not reserved, so the third row gets 10; the counter is 11.
pub(crate) struct Numbers {
    series: Series,
    /// The greatest number that the column takes.
    limit: u64,
    /// No other statement numbers rows meanwhile: nothing is reserved.
    is_nontransactional: bool,
    /// How many rows the statement has by its text; 0 where that is not known.
    expected: u64,
    /// SET insert_id: the first number, whatever the counter says.
    forced: Option<u64>,
    /// The next number to give, and the end of those that are reserved.
    next: u64,
    end: u64,
    reservations: u32,
    /// Rows of the first reservation that are still to be written.
    rows_left: u64,
    /// Where the counter was left by the last reservation.
    reserved_to: u64,
}

impl Numbers {
    /// For a statement on `table` that has `expected` rows.
    pub(crate) fn new(session: &SessionContext, table: &Table, expected: u64) -> Numbers {
        let mut numbers = Numbers {
            series: Series::default(),
            limit: u64::MAX,
            is_nontransactional: !table.def.is_transactional(),
            expected,
            forced: None,
            next: 0,
            end: 0,
            reservations: 0,
            rows_left: 0,
            reserved_to: 0,
        };
        if let Some(column) = table.def.auto_increment_column() {
            let mut vars = session.host.vars.borrow_mut();
            numbers.series = vars.series;
            numbers.limit = limit(&table.def.columns[column].data_type);
            let forced = vars.values.remove("insert_id");
            numbers.forced = forced.and_then(|text| text.parse().ok()).filter(|id| *id > 0);
        }
        numbers
    }

    /// The next number; error 1467 where the counter has run out, or where the statement has given
    /// the column's greatest value already. A column that was full before gets its greatest value
    /// again, which then is a duplicate.
    pub(crate) fn take(&mut self, table: &Table) -> Result<u64, SqlError> {
        let mut number = self.next;
        if number >= self.end {
            match self.forced.take() {
                Some(forced) => (number, self.end) = (forced, u64::MAX),
                None => number = self.reserve(table),
            }
            self.reservations += 1;
        }
        if number == u64::MAX || (number > self.limit && self.next > self.limit) {
            return Err(SqlError::new(ErrorCode::AutoincReadFailed, &[]));
        }
        debug_assert!(number >= self.next, "numbers ascend within a statement");
        let number = number.min(self.limit);
        self.next = self.after(number);
        Ok(number)
    }

    /// Takes a block from the counter; its first number.
    fn reserve(&mut self, table: &Table) -> u64 {
        const LARGEST: u64 = 65_535;
        if self.is_nontransactional {
            self.end = u64::MAX;
            let next = table.clustered.counter().next().max(self.next);
            return aligned(next, self.series);
        }
        if self.rows_left == 0 {
            self.rows_left = match self.reservations {
                0 if self.expected > 0 => self.expected,
                count => (1 << count.min(16)).min(LARGEST),
            };
        }
        let mut first = 0;
        table.clustered.counter().take(|next| {
            first = aligned(next.max(self.next), self.series);
            next.max(self.following(first, self.rows_left))
        });
        self.end = first.saturating_add(self.rows_left.saturating_mul(self.series.increment));
        self.reserved_to = self.following(first, self.rows_left);
        debug_assert!(self.end > first || first == u64::MAX, "a reservation has a number");
        first
    }

    /// The counter behind `count` numbers from `number` on.
    fn following(&self, number: u64, count: u64) -> u64 {
        if number >= self.limit {
            return self.limit;
        }
        let Series { increment, offset } = self.series;
        let offset = if offset > increment { 0 } else { offset };
        let steps = (number.abs_diff(offset) / increment).saturating_add(count);
        steps.saturating_mul(increment).saturating_add(offset).min(self.limit)
    }

    /// The number after `number` in the series.
    fn after(&self, number: u64) -> u64 {
        aligned(number.saturating_add(1), self.series)
    }

    /// The number taken last was not used after all.
    pub(crate) fn go_back(&mut self, taken: u64) {
        self.next = taken;
    }

    /// Whether the first number is one that the session has set.
    pub(crate) fn is_forced(&self) -> bool {
        self.forced.is_some()
    }

    /// A row brings its own number.
    pub(crate) fn given(&mut self, value: &Value) {
        if let Some(number) = number(value)
            && self.next > 0
            && number >= self.next
        {
            self.next = self.after(number);
        }
    }

    /// A row was tried.
    pub(crate) fn tried(&mut self) {
        self.rows_left = self.rows_left.saturating_sub(1);
    }

    /// The table has a row with this number now.
    pub(crate) fn stored(&self, table: &Table, value: &Value) {
        if let Some(number) = number(value)
            && number >= self.reserved_to
            && number <= self.limit
        {
            let after = self.following(number, 1);
            table.clustered.counter().raise(after);
        }
    }
}

/// The counter goes behind a number that UPDATE gave a row; where it was not read yet it will find
/// the number itself.
pub(crate) fn updated(table: &Table, column: usize, value: &Value) {
    let counter = table.clustered.counter();
    if let Some(number) = number(value)
        && counter.next() != 0
    {
        let limit = limit(&table.def.columns[column].data_type);
        counter.raise(number.saturating_add(1).min(limit));
    }
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Int(v) if *v > 0 => Some(*v as u64),
        Value::UInt(v) => Some(*v),
        Value::Double(v) if *v > 0.0 => Some(v.round_ties_even() as u64),
        _ => None,
    }
}

/// The least number ≥ `next` of a series.
fn aligned(next: u64, Series { increment, offset }: Series) -> u64 {
    if increment <= 1 {
        return next;
    }
    let offset = if offset > increment { 0 } else { offset };
    if next <= offset {
        return offset;
    }
    debug_assert!(offset < next && offset <= increment, "a series starts within its first step");
    let steps = (next - offset).div_ceil(increment);
    offset.saturating_add(steps.saturating_mul(increment))
}

/// A number as a value of the column.
pub fn value_of(data_type: &DataType, number: u64) -> Value {
    match data_type {
        DataType::Int { unsigned: false, .. } => Value::Int(number as i64),
        DataType::Int { .. } => Value::UInt(number),
        _ => Value::Double(number as f64),
    }
}
