//! Rows of partitioned tables: the partition of a row, and rows that change theirs.

use super::write::{RowChange, RowWriter, Written, insert_entry, write_error};
use crate::access::TableScan;
use crate::catalog::Table;
use crate::row::Cell;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_storage::{StorageError, Txn};
use std::sync::atomic::Ordering;

impl<'t> RowWriter<'t> {
    /// Goes to the partition of a new row; errors 1526 and 1748. A merged table has one child for
    /// all of them; error 1036 where it has none.
    #[inline]
    pub(super) fn choose_leaf(&mut self, row: &[Value]) -> Result<(), SqlError> {
        let Some(partitions) = &self.whole.partitions else { return Ok(()) };
        if let Some(united) = partitions.united() {
            self.table = partitions.leaf(united.insert(self.whole)?);
            self.counted = self.table;
            return Ok(());
        }
        let (whole, zone) = (self.whole, self.zone);
        let cell = |c: usize| Ok(Cell::of(&row[c], whole.layout.data_type(c), zone));
        self.table = partitions.leaf(partitions.route(cell)?);
        Ok(())
    }

    /// Goes to the partition of a row that was found, and gives the row's key there.
    #[inline]
    pub(super) fn go_to<'k>(&mut self, key: &'k [u8]) -> &'k [u8] {
        let Some(partitions) = &self.whole.partitions else { return key };
        let (table, key) = self.whole.located(key);
        self.table = table;
        if partitions.united().is_some() {
            self.counted = table;
        }
        key
    }

    /// The handle whose trees have the row at hand.
    pub(super) fn stored(&self) -> &'t Table {
        self.table
    }

    /// A key as rows are found by: with the number of the partition at hand behind it.
    pub(super) fn located(&self, mut key: Vec<u8>) -> Vec<u8> {
        if self.whole.partitions.is_some() {
            key.extend_from_slice(&(self.table.leaf as u32).to_be_bytes());
        }
        key
    }

    /// The partition that a changed row goes to, where it is another one; errors 1526 and 1748.
    #[inline]
    pub(super) fn other_leaf(
        &self,
        change: &RowChange<'_, u8>,
    ) -> Result<Option<&'t Table>, SqlError> {
        let Some(partitions) = &self.whole.partitions else { return Ok(None) };
        if partitions.united().is_some() {
            return Ok(None);
        }
        let leaf = partitions.route(|c| self.whole.layout.cell(change.new, c))?;
        Ok((leaf != self.table.leaf).then(|| &**partitions.leaf(leaf)))
    }

    /// Deletes a row and inserts it into another partition.
    pub(super) fn move_row(
        &mut self,
        txn: &mut Txn,
        change: &RowChange<'_, u8>,
        leaf: &'t Table,
    ) -> Result<Written, SqlError> {
        let table = self.table;
        self.leaves_number(txn, change)?;
        txn.delete(&table.clustered, change.key).map_err(|error| write_error(table, error))?;
        self.put_moved(txn, change, leaf)
    }

    /// As [`RowWriter::move_row`], for the row that a scan stands on; `None`, with nothing done,
    /// where it must be read again.
    pub(super) fn move_at(
        &mut self,
        txn: &mut Txn,
        scan: &mut TableScan,
        change: &RowChange<'_, u8>,
        leaf: &'t Table,
    ) -> Result<Option<Written>, SqlError> {
        let table = self.table;
        self.leaves_number(txn, change)?;
        if !scan.write_current(txn, None).map_err(|error| write_error(table, error))? {
            return Ok(None);
        }
        self.put_moved(txn, change, leaf).map(Some)
    }

    /// Ends the move of a row whose clustered record is deleted.
    fn put_moved(
        &mut self,
        txn: &mut Txn,
        change: &RowChange<'_, u8>,
        leaf: &'t Table,
    ) -> Result<Written, SqlError> {
        self.delete_entries(txn, change.key, change.old)?;
        self.table = leaf;
        let mut key = Vec::new();
        match leaf.def.clustered_index() {
            Some(_) => {
                let cell = |c: usize| leaf.layout.cell(change.new, c);
                leaf.indexes[0].codec.put_clustered_key(cell, &mut key)?;
            }
            None => {
                let id = leaf.shared.take_row_id(&leaf.def);
                key.extend_from_slice(&id.to_be_bytes());
            }
        }
        match txn.insert_or_lock(&leaf.clustered, &key, change.new, self.existing) {
            Ok(()) => {}
            Err(StorageError::DuplicateKey) => {
                return Ok(Written::clustered_duplicate(&leaf.def)?);
            }
            Err(error) => return Err(write_error(leaf, error)),
        }
        for at in 0..leaf.indexes.len() {
            if self.encode_stored(at, &key, change.new)?
                && !insert_entry(txn, leaf, at, &self.key, &self.value, self.existing)?
            {
                return Ok(Written::Duplicate(at));
            }
        }
        leaf.shared.row_estimate.fetch_add(1, Ordering::Relaxed);
        Ok(Written::Done)
    }
}
