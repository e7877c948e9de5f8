//! Rows that are looked up together, by the entries of an index that does not cover.

use super::{Result, Standing, State, TableScan, is_later_entry};
use crate::access::run::FoundRun;
use crate::error::StorageResult;
use inia_storage::{ReadMode, Txn, uncount_rows_of_entries};
use std::ops::Range;

/// Rows that are looked up together, in the index's order.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) keys: Vec<u8>,
    /// The entries' own keys, where a row may have several.
    pub(super) entries: Vec<Vec<u8>>,
    pub(super) rows: Vec<u8>,
    pub(super) items: Vec<BatchItem>,
    /// Next item to give back.
    pub(super) next: usize,
    /// How many entries the next batch gathers.
    pub(super) size: usize,
}

/// Where a batch's clustered key and row are in its bytes; `row` is `None` where there is none.
#[derive(Clone)]
pub(super) struct BatchItem {
    pub(super) key: Range<usize>,
    pub(super) row: Option<Range<usize>>,
}

/// Entries that the first and the largest batch gather.
pub(super) const FIRST_BATCH: usize = 8;
const MAX_BATCH: usize = 256;

impl TableScan {
    /// The rows of the next batch of look-ups.
    pub(super) fn run_of_batch(
        &mut self,
        index: usize,
        txn: &mut Txn,
    ) -> Result<Option<FoundRun<'_>>> {
        let ranges = matches!(self.state, State::Ranges { cursor: Some(_), .. });
        if self.mode != ReadMode::Snapshot || !ranges {
            return Ok(None);
        }
        loop {
            if self.batch.next >= self.batch.items.len() {
                if !self.gather(index, txn)? {
                    return Ok(None);
                }
                self.look_up_batch(index, txn)?;
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

    pub(super) fn next_of_batch(&mut self, index: usize, txn: &mut Txn) -> Result<bool> {
        loop {
            if self.stands_in_batch() {
                return Ok(true);
            }
            if !self.gather(index, txn)? {
                return Ok(false);
            }
            self.look_up_batch(index, txn)?;
        }
    }

    /// Moves to the next row of the batch; false where there is none.
    #[inline]
    pub(super) fn stands_in_batch(&mut self) -> bool {
        while self.batch.next < self.batch.items.len() {
            self.batch.next += 1;
            if self.batch.items[self.batch.next - 1].row.is_some() {
                self.standing = Standing::Batch(self.batch.next - 1);
                return true;
            }
        }
        false
    }

    /// Fills the batch with the clustered keys of the next entries; false when there are none.
    fn gather(&mut self, index: usize, txn: &mut Txn) -> Result<bool> {
        let mut batch = std::mem::take(&mut self.batch);
        batch.keys.clear();
        batch.entries.clear();
        batch.rows.clear();
        batch.items.clear();
        batch.next = 0;
        let once = matches!(self.state, State::Ranges { once: Some(_), .. });
        while batch.items.len() < batch.size && self.advance(txn)? {
            let Some(record) = self.current() else { break };
            let codec = &self.table.indexes[index].codec;
            let start = batch.keys.len();
            batch.keys.extend_from_slice(codec.primary_key(record.key, record.value)?);
            batch.items.push(BatchItem { key: start..batch.keys.len(), row: None });
            if once {
                batch.entries.push(record.key.to_vec());
            }
        }
        batch.size = (batch.size * 2).min(MAX_BATCH);
        self.batch = batch;
        Ok(!self.batch.items.is_empty())
    }

    fn look_up_batch(&mut self, index: usize, txn: &mut Txn) -> Result<()> {
        let Batch { keys, entries, rows, items, .. } = &mut self.batch;
        let wanted: Vec<&[u8]> = items.iter().map(|item| &keys[item.key.clone()]).collect();
        debug_assert!(items.iter().all(|item| item.row.is_none()), "rows are looked up once");
        txn.get_batch(&self.table.clustered, &wanted, rows, |i, row| items[i].row = row).sql()?;
        uncount_rows_of_entries(wanted.len() as u64);
        let State::Ranges { once: Some(once), .. } = &self.state else { return Ok(()) };
        for (item, entry) in items.iter_mut().zip(entries) {
            let Some(row) = &item.row else { continue };
            let found = (&keys[item.key.clone()], &rows[row.clone()]);
            if is_later_entry(&self.table, (index, entry), found, once)? {
                item.row = None;
            }
        }
        Ok(())
    }
}
