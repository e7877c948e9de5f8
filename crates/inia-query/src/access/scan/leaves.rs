//! Scans that leave out the rows of leaves that their caller knows, see [`crate::columns`].

use super::{FoundRun, Result, State, TableScan};
use crate::error::StorageResult;
use inia_storage::{LeafRun, LeafState, ReadMode, Txn};

/// What a scan shows of a leaf at once.
pub(crate) enum FoundLeaf<'s> {
    /// These rows; the state of the leaf where they are all that it has.
    Rows(FoundRun<'s>, Option<LeafState>),
    /// All rows of the leaf that the caller said last that it knows.
    Known,
}

impl TableScan {
    /// As [`TableScan::run`], without the rows of leaves that the caller knows.
    pub(crate) fn run_unknown<'s>(
        &'s mut self,
        txn: &mut Txn,
        is_known: &mut dyn FnMut(LeafState) -> bool,
    ) -> Result<Option<FoundLeaf<'s>>> {
        let State::Ranges { cursor: Some(cursor), .. } = &mut self.state else { return Ok(None) };
        Ok(match cursor.run_unknown(txn, is_known).sql()? {
            None => None,
            Some(LeafRun::Known(_)) => Some(FoundLeaf::Known),
            Some(LeafRun::Records(records)) => {
                let state = records.whole_leaf();
                Some(FoundLeaf::Rows(FoundRun::of_records(records, None, &mut self.key), state))
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
