//! A row's entries in indexes that have several for it: words of FULLTEXT indexes, elements of
//! multi-valued ones.

use super::write::{RowChange, RowWriter, Written, insert_entry, write_error};
use crate::row::Cell;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_storage::Txn;

impl RowWriter<'_> {
    /// Adds the entries of a new row, whose clustered key is at hand, to the index `at`.
    pub(super) fn insert_several(
        &mut self,
        txn: &mut Txn,
        at: usize,
        row: &[Value],
    ) -> Result<Written, SqlError> {
        let (table, zone) = (self.table, self.zone);
        let Some(several) = &table.indexes[at].several else { return Ok(Written::Done) };
        let cell = |c: usize| Ok(Cell::of(&row[c], table.layout.data_type(c), zone));
        for (key, value) in several.entries(cell, &self.clustered)? {
            if !insert_entry(txn, table, at, &key, &value, self.existing)? {
                return Ok(Written::Duplicate(at));
            }
        }
        Ok(Written::Done)
    }

    /// Removes the entries of a stored row from the index `at`.
    pub(super) fn delete_several(
        &mut self,
        txn: &mut Txn,
        at: usize,
        key: &[u8],
        bytes: &[u8],
    ) -> Result<(), SqlError> {
        let table = self.table;
        let index = &table.indexes[at];
        let Some(several) = &index.several else { return Ok(()) };
        for entry in several.entries(|c| table.layout.cell(bytes, c), key)?.keys() {
            txn.delete(&index.tree, entry).map_err(|error| write_error(table, error))?;
        }
        Ok(())
    }

    /// Brings the entries of a row in the index `at` up to date, whose clustered key is now
    /// `self.clustered`: only entries that differ are written.
    pub(super) fn update_several(
        &mut self,
        txn: &mut Txn,
        at: usize,
        change: &RowChange<'_, u8>,
    ) -> Result<Written, SqlError> {
        let table = self.table;
        let index = &table.indexes[at];
        let Some(several) = &index.several else { return Ok(Written::Done) };
        let touched = several.columns().iter().any(|column| change.changed[*column]);
        if !touched && self.clustered == change.key {
            return Ok(Written::Done);
        }
        let refused = |error| write_error(table, error);
        let old = several.entries(|c| table.layout.cell(change.old, c), change.key)?;
        let new = several.entries(|c| table.layout.cell(change.new, c), &self.clustered)?;
        for key in old.keys().filter(|key| !new.contains_key(*key)) {
            txn.delete(&index.tree, key).map_err(refused)?;
        }
        for (key, value) in &new {
            match old.get(key) {
                Some(same) if same == value => {}
                Some(_) => {
                    txn.update(&index.tree, key, value).map_err(refused)?;
                }
                None => {
                    if !insert_entry(txn, table, at, key, value, self.existing)? {
                        return Ok(Written::Duplicate(at));
                    }
                }
            }
        }
        Ok(Written::Done)
    }

    /// The clustered key of the row that holds an entry of `row` in the unique multi-valued index
    /// `at`, its first one in the index's order.
    pub(super) fn element_holder(
        &mut self,
        txn: &mut Txn,
        at: usize,
        row: &[Value],
        request: inia_storage::LockRequest,
    ) -> Result<Option<Vec<u8>>, SqlError> {
        let (table, zone) = (self.table, self.zone);
        let index = &table.indexes[at];
        let Some(several) = &index.several else { return Ok(None) };
        let cell = |c: usize| Ok(Cell::of(&row[c], table.layout.data_type(c), zone));
        for key in several.entries(cell, &self.clustered)?.keys() {
            let found = txn.lock_get(&index.tree, key, request, |value| value.to_vec());
            if let Some(value) = found.map_err(|error| write_error(table, error))? {
                return Ok(Some(several.primary_key(key, &value)?.to_vec()));
            }
        }
        Ok(None)
    }
}
