//! Scans that leave out the rows of leaves that their caller knows, see [`crate::columns`].

use super::{FoundRun, Result, State, TableScan};
use crate::error::StorageResult;
use inia_storage::{KnownLeaf, KnownLeaves, LeafRun, ReadMode, Txn};

/// What a scan shows of a leaf at once.
pub(crate) enum FoundLeaf<'s> {
    /// These rows; the leaf where they are all that it has.
    Rows(FoundRun<'s>, Option<KnownLeaf>),
    /// All rows of the first ones of the leaves that the caller named last.
    Known(usize),
}

impl TableScan {
    /// As [`TableScan::run`], without the rows of leaves that the caller knows.
    pub(crate) fn run_unknown<'s>(
        &'s mut self,
        txn: &mut Txn,
        known: &mut dyn KnownLeaves,
    ) -> Result<Option<FoundLeaf<'s>>> {
        let State::Ranges { cursor: Some(cursor), .. } = &mut self.state else { return Ok(None) };
        Ok(match cursor.run_unknown(txn, known).sql()? {
            None => None,
            Some(LeafRun::Known(leaves)) => Some(FoundLeaf::Known(leaves)),
            Some(LeafRun::Records(records)) => {
                let leaf = records.whole_leaf();
                Some(FoundLeaf::Rows(FoundRun::of_records(records, None, &mut self.key), leaf))
            }
        })
    }

    /// Whether whole rows are read by ranges of the clustered tree of one table, in ascending
    /// order, and nothing is locked: then the scan may leave out leaves that the caller knows.
    pub(crate) fn shows_leaves(&self) -> bool {
        let ranges = matches!(self.state, State::Ranges { .. });
        let plain = self.secondary().is_none() && self.parts.is_none();
        let reads = self.mode == ReadMode::Snapshot && !self.path.is_backward();
        ranges && plain && reads && self.table.partitions.is_none()
    }
}
