//! One row's records: the clustered one and an entry in each secondary index, kept in step.

use super::auto_increment;
use super::change::PendingChanges;
use super::write_batch::PendingRows;
use crate::access::TableScan;
use crate::catalog::width::row_bytes;
use crate::catalog::{Table, TableDef, stored_text};
use crate::error::Damaged;
use crate::error::sql_error;
use crate::row::Cell;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_storage::{LockMode, Savepoint, StorageError, Txn};
use std::sync::atomic::Ordering;

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// All records are there.
    Done,
    /// The unique index at this position of the definition holds the key already. Records written
    /// before that was found out are still there: the caller rolls back to a savepoint.
    Duplicate(usize),
}

impl Written {
    /// The clustered key is taken. The counter of hidden row ids is ahead of every row: where one
    /// of them is taken, the tree is damaged.
    pub(super) fn clustered_duplicate(def: &TableDef) -> Result<Written, Damaged> {
        def.clustered_index().map(|_| Written::Duplicate(0)).ok_or(Damaged)
    }
}

/// A change of one row. `V` is `Value` where the new row is one of values, `u8` where it has its
/// stored form.
pub(crate) struct RowChange<'c, V> {
    /// The clustered key that the row is found at.
    pub(crate) key: &'c [u8],
    /// The stored row before the change.
    pub(crate) old: &'c [u8],
    /// The row after it.
    pub(crate) new: &'c [V],
    /// For each column, whether its value changes.
    pub(crate) changed: &'c [bool],
}

impl<V> RowChange<'_, V> {
    /// Checks, in debug builds, that the row stays where it is found: its clustered key does
    /// not change.
    pub(super) fn debug_check_stays(&self, table: &Table) {
        let mut parts = table.def.clustered_index().into_iter().flat_map(|index| &index.parts);
        debug_assert!(parts.all(|part| !self.changed[part.column]), "the row stays at its key");
    }
}

/// Writes rows of one table; its buffers are reused from row to row.
///
/// Wide: one buffer for each part of a change.
pub(crate) struct RowWriter<'t> {
    /// The table, or the partition of the row at hand.
    pub(super) table: &'t Table,
    /// The table.
    pub(super) whole: &'t Table,
    /// Whose AUTO_INCREMENT counter follows the rows: that of the table, or of the child at hand.
    pub(super) counted: &'t Table,
    pub(super) zone: &'t TimeZone,
    /// How existing records of unique indexes are locked.
    pub(crate) existing: LockMode,
    /// The hidden id of a deleted row whose place the next row takes.
    pub(crate) replaced: Option<u64>,
    pub(super) clustered: Vec<u8>,
    pub(super) row: Vec<u8>,
    pub(super) key: Vec<u8>,
    pub(super) value: Vec<u8>,
    pub(super) pending: PendingRows,
    pub(super) changes: PendingChanges,
    pub(super) new_key: Vec<u8>,
    pub(super) new_value: Vec<u8>,
}

impl<'t> RowWriter<'t> {
    pub(crate) fn new(table: &'t Table, zone: &'t TimeZone) -> RowWriter<'t> {
        RowWriter {
            table,
            whole: table,
            counted: table,
            zone,
            existing: LockMode::Shared,
            replaced: None,
            clustered: Vec::new(),
            row: Vec::new(),
            key: Vec::new(),
            value: Vec::new(),
            pending: PendingRows::default(),
            changes: PendingChanges::default(),
            new_key: Vec::new(),
            new_value: Vec::new(),
        }
    }

    pub(crate) fn zone(&self) -> &'t TimeZone {
        self.zone
    }

    fn put_clustered_key(&mut self, row: &[Value]) -> Result<(), SqlError> {
        let (table, zone) = (self.table, self.zone);
        self.clustered.clear();
        if table.def.clustered_index().is_some() {
            let cell = |c: usize| Ok(Cell::of(&row[c], table.layout.data_type(c), zone));
            table.indexes[0].codec.put_clustered_key(cell, &mut self.clustered)?;
        } else {
            let id = self.replaced.take();
            let id = id.unwrap_or_else(|| table.shared.take_row_id(&table.def));
            self.clustered.extend_from_slice(&id.to_be_bytes());
        }
        Ok(())
    }

    /// Encodes a new row's clustered record.
    pub(super) fn encode(&mut self, row: &[Value]) -> Result<(), SqlError> {
        self.table.def.debug_check_row(row);
        self.put_clustered_key(row)?;
        self.row.clear();
        self.table.layout.encode_values(row, self.zone, &mut self.row)?;
        Ok(())
    }

    /// Encodes the entry that a row with the clustered key at hand has in the index `at`.
    pub(super) fn encode_entry(&mut self, at: usize, row: &[Value]) -> Result<(), SqlError> {
        let (table, zone) = (self.table, self.zone);
        debug_assert!(table.def.indexes[at].has_entries(), "an entry is one of a tree");
        debug_assert!(!self.clustered.is_empty(), "an entry leads to its row");
        self.key.clear();
        self.value.clear();
        let cell = |c: usize| Ok(Cell::of(&row[c], table.layout.data_type(c), zone));
        let codec = &table.indexes[at].codec;
        codec.put_entry(cell, &self.clustered, &mut self.key, &mut self.value)?;
        Ok(())
    }

    /// Encodes the entry that a stored row has in the index `at`; false where that has no entries.
    pub(super) fn encode_stored(
        &mut self,
        at: usize,
        key: &[u8],
        bytes: &[u8],
    ) -> Result<bool, SqlError> {
        let table = self.table;
        if !table.def.indexes[at].has_entries() {
            return Ok(false);
        }
        self.key.clear();
        self.value.clear();
        let cell = |c: usize| table.layout.cell(bytes, c);
        table.indexes[at].codec.put_entry(cell, key, &mut self.key, &mut self.value)?;
        Ok(true)
    }

    /// Inserts a row.
    pub(crate) fn insert(&mut self, txn: &mut Txn, row: &[Value]) -> Result<Written, SqlError> {
        self.choose_leaf(row)?;
        let table = self.table;
        self.encode(row)?;
        match txn.insert_or_lock(&table.clustered, &self.clustered, &self.row, self.existing) {
            Ok(()) => {}
            Err(StorageError::DuplicateKey) => {
                // A vacated id may be taken again, where the deletion was rolled back.
                if table.def.clustered_index().is_none() && table.shared.forget_vacated() {
                    return self.insert(txn, row);
                }
                return Ok(Written::clustered_duplicate(&table.def)?);
            }
            Err(error) => return Err(write_error(table, error)),
        }
        for at in 0..table.indexes.len() {
            if !table.def.indexes[at].has_entries() {
                if let Written::Duplicate(at) = self.insert_several(txn, at, row)? {
                    return Ok(Written::Duplicate(at));
                }
                continue;
            }
            self.encode_entry(at, row)?;
            let (key, value) = (&self.key, &self.value);
            if !insert_entry(txn, table, at, key, value, self.existing)? {
                return Ok(Written::Duplicate(at));
            }
        }
        table.shared.row_estimate.fetch_add(1, Ordering::Relaxed);
        Ok(Written::Done)
    }

    /// Takes back what the last insert, of a row that was refused, wrote since `attempt`.
    pub(super) fn take_back(&self, txn: &mut Txn, attempt: Savepoint) -> Result<(), SqlError> {
        txn.rollback_statement(attempt).map_err(sql_error)?;
        self.table.shared.vacate(&self.table.def, &self.clustered);
        Ok(())
    }

    /// Deletes the row with the clustered key `key` and the clustered bytes `bytes`.
    pub(crate) fn delete(
        &mut self,
        txn: &mut Txn,
        key: &[u8],
        bytes: &[u8],
    ) -> Result<(), SqlError> {
        let key = self.go_to(key);
        let table = self.table;
        auto_increment::leaving(txn, self.counted, bytes)?;
        txn.delete(&table.clustered, key).map_err(|error| write_error(table, error))?;
        self.delete_entries(txn, key, bytes)?;
        table.shared.vacate(&table.def, key);
        Ok(())
    }

    /// As [`RowWriter::delete`], for the row that a scan stands on; false, with nothing done, where
    /// it must be read again.
    pub(crate) fn delete_at(
        &mut self,
        txn: &mut Txn,
        scan: &mut TableScan,
        key: &[u8],
        bytes: &[u8],
    ) -> Result<bool, SqlError> {
        let key = self.go_to(key);
        let table = self.table;
        auto_increment::leaving(txn, self.counted, bytes)?;
        if !scan.write_current(txn, None).map_err(|error| write_error(table, error))? {
            return Ok(false);
        }
        self.delete_entries(txn, key, bytes)?;
        table.shared.vacate(&table.def, key);
        Ok(true)
    }

    /// Deletes the entries of a row whose clustered record is deleted already.
    pub(super) fn delete_entries(
        &mut self,
        txn: &mut Txn,
        key: &[u8],
        bytes: &[u8],
    ) -> Result<(), SqlError> {
        let table = self.table;
        for at in 0..table.indexes.len() {
            if self.encode_stored(at, key, bytes)? {
                let tree = &table.indexes[at].tree;
                txn.delete(tree, &self.key).map_err(|error| write_error(table, error))?;
            } else {
                self.delete_several(txn, at, key, bytes)?;
            }
        }
        table.shared.row_estimate.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    /// Replaces a row.
    pub(crate) fn update(
        &mut self,
        txn: &mut Txn,
        change: &RowChange<'_, Value>,
    ) -> Result<Written, SqlError> {
        let RowChange { key, old, new, changed } = *change;
        let layout = &self.table.layout;
        debug_assert_eq!(changed.len(), new.len(), "each column is changed or not");
        self.table.def.debug_check_row(new);
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        row.extend_from_slice(old);
        for (column, value) in new.iter().enumerate().filter(|(column, _)| changed[*column]) {
            let cell = Cell::of(value, layout.data_type(column), self.zone);
            layout.put(&mut row, column, &cell)?;
        }
        let written = self.update_bytes(txn, &RowChange { key, old, new: &row, changed });
        self.row = row;
        written
    }

    /// As [`RowWriter::update_bytes`], for the row that a scan stands on, which keeps its clustered
    /// key; `None`, with nothing done, where it must be read again.
    pub(crate) fn update_at(
        &mut self,
        txn: &mut Txn,
        scan: &mut TableScan,
        change: &RowChange<'_, u8>,
    ) -> Result<Option<Written>, SqlError> {
        let change = &RowChange { key: self.go_to(change.key), ..*change };
        let table = self.table;
        if let Some(leaf) = self.other_leaf(change)? {
            return self.move_at(txn, scan, change, leaf);
        }
        self.leaves_number(txn, change)?;
        if !scan.write_current(txn, Some(change.new)).map_err(|error| write_error(table, error))? {
            return Ok(None);
        }
        self.clustered.clear();
        self.clustered.extend_from_slice(change.key);
        change.debug_check_stays(table);
        self.update_entries(txn, change).map(Some)
    }

    /// Keeps the AUTO_INCREMENT counter behind a number that a row is about to give up.
    pub(super) fn leaves_number(
        &self,
        txn: &mut Txn,
        change: &RowChange<'_, u8>,
    ) -> Result<(), SqlError> {
        match self.table.numbered {
            Some(column) if change.changed[column] => {
                auto_increment::leaving(txn, self.counted, change.old)
            }
            _ => Ok(()),
        }
    }

    /// As [`RowWriter::update`], with the new row already in its stored form.
    pub(crate) fn update_bytes(
        &mut self,
        txn: &mut Txn,
        change: &RowChange<'_, u8>,
    ) -> Result<Written, SqlError> {
        let change = &RowChange { key: self.go_to(change.key), ..*change };
        let table = self.table;
        if let Some(leaf) = self.other_leaf(change)? {
            return self.move_row(txn, change, leaf);
        }
        let RowChange { key, new, changed, .. } = *change;
        self.leaves_number(txn, change)?;
        self.clustered.clear();
        let primary = table.def.clustered_index();
        let moved = primary.is_some_and(|index| index.parts.iter().any(|p| changed[p.column]));
        if moved {
            let cell = |c: usize| table.layout.cell(new, c);
            table.indexes[0].codec.put_clustered_key(cell, &mut self.clustered)?;
        } else {
            self.clustered.extend_from_slice(key);
        }
        if self.clustered == key {
            txn.update(&table.clustered, key, new).map_err(|error| write_error(table, error))?;
        } else {
            txn.delete(&table.clustered, key).map_err(|error| write_error(table, error))?;
            match txn.insert_or_lock(&table.clustered, &self.clustered, new, self.existing) {
                Ok(()) => {}
                Err(StorageError::DuplicateKey) => {
                    return Ok(Written::clustered_duplicate(&table.def)?);
                }
                Err(error) => return Err(write_error(table, error)),
            }
        }
        self.update_entries(txn, change)
    }

    /// Brings the entries of a row up to date whose clustered key is now `self.clustered`.
    fn update_entries(
        &mut self,
        txn: &mut Txn,
        change: &RowChange<'_, u8>,
    ) -> Result<Written, SqlError> {
        let table = self.table;
        for at in 0..table.indexes.len() {
            let moved = self.clustered != change.key;
            if table.indexes[at].several.is_some() {
                if let Written::Duplicate(at) = self.update_several(txn, at, change)? {
                    return Ok(Written::Duplicate(at));
                }
                continue;
            }
            let moved = moved && table.def.indexes[at].has_entries();
            if !moved && !self.touches_entry(at, change.changed) {
                continue;
            }
            if let Written::Duplicate(at) = self.update_entry(txn, at, change)? {
                return Ok(Written::Duplicate(at));
            }
        }
        Ok(Written::Done)
    }

    /// Whether a row's entry in the index `at` changes with these columns.
    fn touches_entry(&self, at: usize, changed: &[bool]) -> bool {
        let (index, def) = (&self.table.indexes[at], &self.table.def.indexes[at]);
        let whole = (0..changed.len()).any(|c| changed[c] && index.codec.covers(c));
        def.has_entries() && (whole || def.parts.iter().any(|part| changed[part.column]))
    }

    /// Encodes the old and the new entry in the index `at` of a row whose clustered key is now
    /// `self.clustered`.
    pub(super) fn encode_both(
        &mut self,
        at: usize,
        change: &RowChange<'_, u8>,
    ) -> Result<(), SqlError> {
        let index = &self.table.indexes[at];
        let layout = &self.table.layout;
        self.key.clear();
        self.value.clear();
        self.new_key.clear();
        self.new_value.clear();
        let cell = |c: usize| layout.cell(change.old, c);
        index.codec.put_entry(cell, change.key, &mut self.key, &mut self.value)?;
        let cell = |c: usize| layout.cell(change.new, c);
        index.codec.put_entry(cell, &self.clustered, &mut self.new_key, &mut self.new_value)?;
        Ok(())
    }

    fn update_entry(
        &mut self,
        txn: &mut Txn,
        at: usize,
        change: &RowChange<'_, u8>,
    ) -> Result<Written, SqlError> {
        self.encode_both(at, change)?;
        let index = &self.table.indexes[at];
        if self.key == self.new_key {
            if self.value != self.new_value {
                txn.update(&index.tree, &self.key, &self.new_value)
                    .map_err(|error| write_error(self.table, error))?;
            }
            return Ok(Written::Done);
        }
        txn.delete(&index.tree, &self.key).map_err(|error| write_error(self.table, error))?;
        let (key, value) = (&self.new_key, &self.new_value);
        match insert_entry(txn, self.table, at, key, value, self.existing)? {
            true => Ok(Written::Done),
            false => Ok(Written::Duplicate(at)),
        }
    }

    /// Finds and locks the row that holds the unique key of `row` in index `at`: its clustered key
    /// and bytes.
    pub(crate) fn holder(
        &mut self,
        txn: &mut Txn,
        at: usize,
        row: &[Value],
    ) -> Result<Option<(Vec<u8>, Vec<u8>)>, SqlError> {
        self.choose_leaf(row)?;
        let (table, zone) = (self.table, self.zone);
        let request = inia_storage::LockRequest {
            mode: LockMode::Exclusive,
            wait: inia_storage::WaitPolicy::Wait,
        };
        let copy = |bytes: &[u8]| bytes.to_vec();
        let mut primary = self.clustered.clone();
        if table.indexes[at].several.is_some() {
            let Some(holder) = self.element_holder(txn, at, row, request)? else { return Ok(None) };
            primary = holder;
        } else if !table.def.indexes[at].clustered {
            let codec = &table.indexes[at].codec;
            let cell = |c: usize| Ok(Cell::of(&row[c], table.layout.data_type(c), zone));
            self.key.clear();
            self.value.clear();
            codec.put_entry(cell, &self.clustered, &mut self.key, &mut self.value)?;
            let found = txn.lock_get(&table.indexes[at].tree, &self.key, request, copy);
            let Some(entry) = found.map_err(sql_error)? else { return Ok(None) };
            primary = codec.primary_key(&self.key, &entry)?.to_vec();
        }
        let found = txn.lock_get(&table.clustered, &primary, request, copy).map_err(sql_error)?;
        Ok(found.map(|bytes| (self.located(primary), bytes)))
    }
}

/// Inserts an entry of a secondary index; false when the index is unique and has the key. Then the
/// gap before the entry is locked, as in MySQL, and both gaps around one that this transaction had
/// deleted.
pub(super) fn insert_entry(
    txn: &mut Txn,
    table: &Table,
    at: usize,
    key: &[u8],
    value: &[u8],
    existing: LockMode,
) -> Result<bool, SqlError> {
    let tree = &table.indexes[at].tree;
    match txn.insert_or_lock(tree, key, value, existing) {
        Ok(()) => {
            if txn.replaced_own_deletion() && table.def.indexes[at].refuses() {
                txn.lock_gaps_at(tree, key, true).map_err(sql_error)?;
            }
            Ok(true)
        }
        Err(StorageError::DuplicateKey) => {
            txn.lock_gaps_at(tree, key, false).map_err(sql_error)?;
            Ok(false)
        }
        Err(error) => Err(write_error(table, error)),
    }
}

/// The client's error for a write that storage refused.
pub(super) fn write_error(table: &Table, error: StorageError) -> SqlError {
    match error {
        StorageError::DiskFull => SqlError::new(ErrorCode::RecordFileFull, &[&table.def.name]),
        other => sql_error(other),
    }
}

/// Error 1062: `Duplicate entry 'x-y' for key 't.k'`.
pub fn duplicate_error(def: &TableDef, index: usize, row: &[Value]) -> SqlError {
    let Some(index) = def.indexes.get(index) else {
        // A child of a merged table has an index that the table itself does not know.
        return SqlError::new(ErrorCode::DuplicateEntry, &[&"", &"*UNKNOWN*"]);
    };
    let part = |(at, part): (usize, &crate::catalog::IndexPart)| {
        let column = &def.columns[part.column];
        let text = match &row[part.column] {
            Value::Bytes(bytes) => inia_expr::convert::error_text(bytes),
            value => stored_text(value, column),
        };
        // Of an array as many characters as an element's key has bytes.
        let element = index.element.as_ref().filter(|_| column.data_type == DataType::Json);
        let shown = element.map(|_| match *def.key_type(index, at) {
            DataType::VarBinary(bytes) => bytes,
            ref other => row_bytes(other) as u32,
        });
        match part.prefix.or(shown) {
            Some(chars) => text.chars().take(chars as usize).collect(),
            None => text,
        }
    };
    let mut entry = index.parts.iter().enumerate().map(part).collect::<Vec<String>>().join("-");
    const MAX_SHOWN: usize = 64 * 3;
    if entry.chars().count() > MAX_SHOWN {
        entry = entry.chars().take(MAX_SHOWN).collect();
    }
    let key = format!("{}.{}", def.name, index.name);
    SqlError::new(ErrorCode::DuplicateEntry, &[&entry, &key])
}

/// All values of a stored row.
pub(crate) fn values(table: &Table, bytes: &[u8], zone: &TimeZone) -> Result<Vec<Value>, Damaged> {
    let mut out = Vec::with_capacity(table.layout.len());
    table.layout.decode(bytes, zone, &mut out)?;
    Ok(out)
}
