//! AUTO_INCREMENT and hidden row id counters.
//!
//! A counter is one atomic per table, taken without a lock that outlives the row (MySQL's
//! `innodb_autoinc_lock_mode = 2`): numbers are unique and ascending, gaps are allowed. At its
//! first use after the start it continues behind the greatest key and the definition's floor.

use crate::catalog::Table;
use crate::database::Database;
use crate::error::StorageResult;
use crate::row::Cell;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_storage::{Direction, Isolation, KeyBound, ReadMode};
use std::sync::atomic::Ordering;

/// Makes sure that the table's counters have been read.
pub(crate) fn prepare(db: &Database, table: &Table) -> Result<(), SqlError> {
    let shared = &table.shared;
    if table.def.primary().is_none() && shared.next_row_id.load(Ordering::Acquire) == 0 {
        let next = last_row_id(db, table)? + 1;
        let _ = shared.next_row_id.compare_exchange(0, next, Ordering::AcqRel, Ordering::Acquire);
    }
    if table.def.auto_increment_column().is_some()
        && shared.next_auto_increment.load(Ordering::Acquire) == 0
    {
        let next = (greatest(db, table)? + 1).max(table.def.auto_increment).max(1);
        let counter = &shared.next_auto_increment;
        let _ = counter.compare_exchange(0, next, Ordering::AcqRel, Ordering::Acquire);
    }
    Ok(())
}

/// The counter's present value, as SHOW CREATE TABLE and information_schema tell it.
pub(crate) fn current(db: &Database, table: &Table) -> Result<u64, SqlError> {
    if table.def.auto_increment_column().is_none() {
        return Ok(0);
    }
    prepare(db, table)?;
    Ok(table.shared.next_auto_increment.load(Ordering::Acquire))
}

fn last_row_id(db: &Database, table: &Table) -> Result<u64, SqlError> {
    let mut txn = db.engine.attach();
    txn.begin(Isolation::ReadUncommitted);
    let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
    let mut cursor =
        txn.cursor(&table.clustered, low, high, Direction::Backward, ReadMode::Snapshot);
    let last = cursor.next(&mut txn).sql()?.and_then(|record| record.key.try_into().ok());
    drop(cursor);
    txn.commit().sql()?;
    Ok(last.map_or(0, u64::from_be_bytes))
}

/// The greatest value of the AUTO_INCREMENT column, by an index that starts with it.
fn greatest(db: &Database, table: &Table) -> Result<u64, SqlError> {
    let Some(column) = table.def.auto_increment_column() else { return Ok(0) };
    let first = |index: &crate::catalog::IndexDef| index.parts[0].column == column;
    let Some(at) = table.def.indexes.iter().position(first) else { return Ok(0) };
    let primary = table.def.indexes[at].kind == crate::catalog::IndexKind::Primary;
    let tree = if primary { &table.clustered } else { &table.indexes[at].tree };
    let direction = match table.def.indexes[at].parts[0].descending {
        true => Direction::Forward,
        false => Direction::Backward,
    };
    let mut txn = db.engine.attach();
    txn.begin(Isolation::ReadUncommitted);
    let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
    let mut cursor = txn.cursor(tree, low, high, direction, ReadMode::Snapshot);
    let mut greatest = 0;
    if let Some(record) = cursor.next(&mut txn).sql()? {
        let cell = match primary {
            true => table.layout.cell(record.value, column)?,
            false => table.indexes[at].codec.cell(record.key, record.value, column)?,
        };
        greatest = match cell {
            Cell::Int(v) => v.max(0) as u64,
            Cell::UInt(v) => v,
            Cell::Double(v) => v.max(0.0) as u64,
            Cell::Float(v) => v.max(0.0) as u64,
            _ => 0,
        };
    }
    drop(cursor);
    txn.commit().sql()?;
    Ok(greatest)
}

/// The greatest number the column takes.
fn limit(data_type: &DataType) -> u64 {
    let DataType::Int { width, unsigned } = data_type else { return 1 << 53 };
    let bits = match width {
        IntWidth::Tiny => 8,
        IntWidth::Small => 16,
        IntWidth::Medium => 24,
        IntWidth::Int => 32,
        IntWidth::Big => 64,
    };
    let bits = if *unsigned { bits } else { bits - 1 };
    if bits == 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The numbers that one statement has reserved.
#[derive(Default)]
pub(crate) struct Reserved {
    next: u64,
    left: u64,
    increment: u64,
}

impl Reserved {
    /// The next number, of a block of `rows` where none is left; error 1467 where the counter has
    /// run out. A column that is full gets its greatest value again, which then is a duplicate.
    pub(crate) fn take(
        &mut self,
        table: &Table,
        rows: u64,
        (increment, offset): (u64, u64),
    ) -> Result<u64, SqlError> {
        if self.left == 0 {
            let counter = &table.shared.next_auto_increment;
            let reserve = |next: u64| {
                let first = aligned(next, increment, offset);
                first.checked_add(rows.max(1).checked_mul(increment)?)
            };
            let order = Ordering::AcqRel;
            let before = counter
                .fetch_update(order, Ordering::Acquire, reserve)
                .map_err(|_| SqlError::new(ErrorCode::AutoincReadFailed, &[]))?;
            self.next = aligned(before, increment, offset);
            self.left = rows.max(1);
            self.increment = increment;
        }
        let number = self.next;
        self.next += self.increment;
        self.left -= 1;
        let column = table.def.auto_increment_column().unwrap_or_default();
        Ok(number.min(limit(&table.def.columns[column].data_type)))
    }

    /// The number taken last was not used after all.
    pub(crate) fn give_back(&mut self) {
        self.next -= self.increment;
        self.left += 1;
    }

    /// A row was given its number by the statement.
    pub(crate) fn passed(&mut self, table: &Table, value: &Value) {
        let number = match value {
            Value::Int(v) if *v > 0 => *v as u64,
            Value::UInt(v) => *v,
            Value::Double(v) if *v > 0.0 => *v as u64,
            _ => return,
        };
        let after = number.saturating_add(1);
        table.shared.next_auto_increment.fetch_max(after, Ordering::AcqRel);
        if number >= self.next {
            self.left = 0;
        }
    }
}

/// The least number ≥ `next` of the series offset, offset + increment, …
fn aligned(next: u64, increment: u64, offset: u64) -> u64 {
    if increment <= 1 {
        return next;
    }
    let offset = if offset > increment { 0 } else { offset };
    if next <= offset {
        return offset;
    }
    let steps = (next - offset).div_ceil(increment);
    offset.saturating_add(steps.saturating_mul(increment))
}

/// A number as a value of the column.
pub(crate) fn value_of(data_type: &DataType, number: u64) -> Value {
    match data_type {
        DataType::Int { unsigned: false, .. } => Value::Int(number as i64),
        DataType::Int { .. } => Value::UInt(number),
        _ => Value::Double(number as f64),
    }
}
