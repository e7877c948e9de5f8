//! Snapshots: which versions a reader sees.
//!
//! A snapshot is two loads: first the low-water mark, then the horizon, a durable log position. A
//! version is visible when its writer's id is below the mark, or is the reader's own, or committed
//! at or below the horizon. The order of the loads matters: every id below the mark was durable
//! when the mark was read, so its commit LSN is at or below a horizon that is read later.

use super::status::{StatusTable, TxnState};
use inia_base::ids::{Lsn, TxnId};

/// A point in the history of commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Every id below is visible.
    pub(crate) low_water: TxnId,
    /// Commits at or below are visible.
    pub(crate) horizon: Lsn,
}

impl Snapshot {
    /// Whether the snapshot shows what `writer` wrote to a reader whose own id is `own`.
    #[inline]
    pub(crate) fn sees(&self, writer: TxnId, own: TxnId, status: &StatusTable) -> bool {
        writer < self.low_water || writer == own || self.sees_recent(writer, status)
    }

    fn sees_recent(&self, writer: TxnId, status: &StatusTable) -> bool {
        match status.state(writer) {
            TxnState::Active(_) | TxnState::RolledBack => false,
            TxnState::Committed(commit_lsn) => commit_lsn <= self.horizon,
            TxnState::Finished => true,
        }
    }
}
