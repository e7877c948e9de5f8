//! Snapshots: which versions a reader sees, and what all of them together may still ask for.
//!
//! A snapshot is three loads, in this order: the low-water mark, the horizon (a durable log
//! position), and the end (the next transaction id).
//!
//! ```text
//!   ids    … 95  96  97  98  99 100 101 102 103          horizon = LSN 700
//!   state    c   c   c   A  c600 c800 A  c900 A
//!            visible │◀─ by its commit LSN ─▶│ invisible
//!              low_water = 98            end = 102
//! ```
//!
//! A version is visible when its writer's id is below the low-water mark, or is the reader's own,
//! or is below the end and committed at or below the horizon. The order of the loads matters:
//! - every id below the mark was durable when the mark was read, so its commit LSN is at or below a
//!   horizon that is read later;
//! - an id at or above the end was given after the horizon was durable, so its commit LSN is above
//!   the horizon.
//!
//! So a snapshot asks for commit LSNs only of the transactions between its low-water mark and its
//! end. However long it stays open, transactions that begin later are nothing to it, and the status
//! table forgets them.

use super::status::{StatusTable, TxnState};
use inia_base::ids::{Lsn, TxnId};

/// A point in the history of commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Every id below is visible.
    pub(crate) low_water: TxnId,
    /// Commits at or below are visible.
    pub(crate) horizon: Lsn,
    /// No id at or above is visible.
    pub(crate) end: TxnId,
}

impl Snapshot {
    /// Whether the snapshot shows what `writer` wrote to a reader whose own id is `own`.
    #[inline]
    pub(crate) fn sees(&self, writer: TxnId, own: TxnId, status: &StatusTable) -> bool {
        writer < self.low_water || writer == own || self.sees_recent(writer, status)
    }

    fn sees_recent(&self, writer: TxnId, status: &StatusTable) -> bool {
        writer < self.end
            && match status.state(writer) {
                TxnState::Active(_) | TxnState::RolledBack => false,
                TxnState::Committed(commit_lsn) => commit_lsn <= self.horizon,
                TxnState::Finished => true,
            }
    }
}

/// What a session has announced of its snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Announced {
    /// The snapshot's horizon, or an earlier one.
    pub(crate) horizon: Lsn,
    /// The snapshot's end, or a later one; `None` while the snapshot is being taken.
    pub(crate) end: Option<TxnId>,
}

/// The snapshots that were open at one moment, and with them all that are taken later.
#[derive(Debug)]
pub(crate) struct LiveSnapshots {
    /// A log position that was durable at that moment: later snapshots have it as their horizon,
    /// or a later one.
    newest: Lsn,
    /// Each horizon, ascending, with the greatest end of the snapshots up to it.
    ends: Vec<(Lsn, TxnId)>,
    /// No snapshot has a smaller end; `None` when one was just being taken.
    least_end: Option<TxnId>,
}

impl LiveSnapshots {
    /// Those in `announced`. `newest` was durable, and `next_id` was not given yet,
    /// before the first of them was looked at.
    pub(crate) fn new(
        newest: Lsn,
        next_id: TxnId,
        announced: impl Iterator<Item = Announced>,
    ) -> LiveSnapshots {
        let mut least_end = Some(next_id);
        let mut ends: Vec<(Lsn, TxnId)> = Vec::new();
        for Announced { horizon, end } in announced {
            least_end = least_end.zip(end).map(|(least, end)| least.min(end));
            ends.push((horizon, end.unwrap_or(TxnId(u64::MAX))));
        }
        ends.sort_unstable();
        let mut greatest = TxnId(0);
        for (_, end) in &mut ends {
            greatest = greatest.max(*end);
            *end = greatest;
        }
        LiveSnapshots { newest, ends, least_end }
    }

    /// The least horizon: every snapshot sees all commits at or below.
    pub(crate) fn least_horizon(&self) -> Lsn {
        self.ends.first().map_or(self.newest, |&(horizon, _)| horizon.min(self.newest))
    }

    /// Every snapshot takes ids below for earlier than its end; `None` when that is not known.
    pub(crate) fn least_end(&self) -> Option<TxnId> {
        self.least_end
    }

    /// Whether one of them may ask what became of the transaction `id`, which finished at `lsn`,
    /// and must not take it for visible.
    pub(crate) fn may_ask_for(&self, id: TxnId, lsn: Lsn) -> bool {
        let older = self.ends.partition_point(|&(horizon, _)| horizon < lsn);
        lsn > self.newest || (older > 0 && id < self.ends[older - 1].1)
    }
}
