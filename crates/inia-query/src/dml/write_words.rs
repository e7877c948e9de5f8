//! A row's entries in FULLTEXT indexes: one for each of its words.

use super::write::{RowChange, RowWriter, write_error};
use crate::row::Cell;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_storage::Txn;

impl RowWriter<'_> {
    /// Adds the words of a new row, whose clustered key is at hand, to the index `at`.
    pub(super) fn insert_words(
        &mut self,
        txn: &mut Txn,
        at: usize,
        row: &[Value],
    ) -> Result<(), SqlError> {
        let (table, zone) = (self.table, self.zone);
        let index = &table.indexes[at];
        let Some(words) = &index.words else { return Ok(()) };
        let cell = |c: usize| Ok(Cell::of(&row[c], table.layout.data_type(c), zone));
        for (key, value) in words.entries(cell, &self.clustered)? {
            let written = txn.insert_or_lock(&index.tree, &key, &value, self.existing);
            written.map_err(|error| write_error(table, error))?;
        }
        Ok(())
    }

    /// Removes the words of a stored row from the index `at`.
    pub(super) fn delete_words(
        &mut self,
        txn: &mut Txn,
        at: usize,
        key: &[u8],
        bytes: &[u8],
    ) -> Result<(), SqlError> {
        let table = self.table;
        let index = &table.indexes[at];
        let Some(words) = &index.words else { return Ok(()) };
        for entry in words.entries(|c| table.layout.cell(bytes, c), key)?.keys() {
            txn.delete(&index.tree, entry).map_err(|error| write_error(table, error))?;
        }
        Ok(())
    }

    /// Brings the words of a row in the index `at` up to date, whose clustered key is now
    /// `self.clustered`: only entries that differ are written.
    pub(super) fn update_words(
        &mut self,
        txn: &mut Txn,
        at: usize,
        change: &RowChange<'_, u8>,
    ) -> Result<(), SqlError> {
        let table = self.table;
        let index = &table.indexes[at];
        let Some(words) = &index.words else { return Ok(()) };
        let touched = words.columns().iter().any(|column| change.changed[*column]);
        if !touched && self.clustered == change.key {
            return Ok(());
        }
        let refused = |error| write_error(table, error);
        let old = words.entries(|c| table.layout.cell(change.old, c), change.key)?;
        let new = words.entries(|c| table.layout.cell(change.new, c), &self.clustered)?;
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
                    let written = txn.insert_or_lock(&index.tree, key, value, self.existing);
                    written.map_err(refused)?;
                }
            }
        }
        Ok(())
    }
}
