//! Horizons: what no snapshot needs any more, and what checkpoints must keep.

use super::session::Sessions;
use super::shared::EngineShared;
use super::status::{StatusTable, TxnState};
use crate::codec::{ByteReader, ByteWriter};
use crate::store::{CheckpointSource, Store};
use crate::sync::Ordering;
use inia_base::ids::{Lsn, TreeId, TxnId};
use std::sync::{Arc, Weak};

impl EngineShared {
    /// Every snapshot, now and later, sees all commits at or below. As last computed.
    pub(crate) fn purge_horizon(&self) -> Lsn {
        Lsn(self.horizon.load(Ordering::Acquire))
    }

    /// Computes the purge horizon anew and lets the status table forget.
    pub(crate) fn refresh_horizon(&self) -> Lsn {
        let newest = self.store.wal().durable_lsn();
        self.status.advance(newest);
        let snapshots = self.sessions.live_snapshots(newest, self.status.next_id());
        let least = snapshots.least_horizon();
        let old = self.horizon.fetch_max(least.0, Ordering::AcqRel);
        if let Some(end) = snapshots.least_end() {
            self.least_end.fetch_max(end.0, Ordering::AcqRel);
        }
        self.status.forget(snapshots);
        let horizon = Lsn(least.0.max(old));
        debug_assert!(horizon <= self.store.wal().durable_lsn(), "snapshots see durable commits");
        horizon
    }

    /// Whether every snapshot, now and later, sees what `writer` did. `horizon` is a purge horizon.
    pub(crate) fn is_past(&self, writer: TxnId, horizon: Lsn) -> bool {
        let least_end = TxnId(self.least_end.load(Ordering::Acquire));
        match self.status.state(writer) {
            TxnState::Active(_) => false,
            TxnState::Committed(commit_lsn) => commit_lsn <= horizon,
            TxnState::RolledBack => true,
            TxnState::Finished => writer < least_end,
        }
    }
}

/// What a checkpoint keeps for the transaction layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CheckpointState {
    /// No smaller id will be given out again.
    pub(crate) next_id: TxnId,
    /// The engine's own trees.
    pub(crate) roots: Option<Roots>,
}

/// The trees that the engine makes for itself at first open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Roots {
    /// Keys are the ids of dropped trees whose pages are not free yet.
    pub(crate) garbage: TreeId,
    /// The SQL layer's catalog.
    pub(crate) catalog: TreeId,
}

impl CheckpointState {
    /// The stored form: `next id u64 | garbage u32 | catalog u32`, zeros for trees not made.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.put_u64(self.next_id.0);
        out.put_u32(self.roots.map_or(0, |roots| roots.garbage.0));
        out.put_u32(self.roots.map_or(0, |roots| roots.catalog.0));
        out
    }

    /// Reads what [`CheckpointState::encode`] wrote.
    pub(crate) fn decode(bytes: &[u8]) -> Option<CheckpointState> {
        let mut from = ByteReader::new(bytes);
        let next_id = TxnId(from.u64()?);
        let (garbage, catalog) = (TreeId(from.u32()?), TreeId(from.u32()?));
        let roots = (garbage.0 != 0).then_some(Roots { garbage, catalog });
        Some(CheckpointState { next_id, roots })
    }
}

/// The checkpoint's view of the transactions.
pub(crate) struct CheckpointView {
    pub(crate) store: Weak<Store>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) status: Arc<StatusTable>,
    pub(crate) roots: Roots,
}

impl CheckpointSource for CheckpointView {
    fn hold_lsn(&self) -> Option<Lsn> {
        let durable = self.store.upgrade().map_or(Lsn(0), |store| store.wal().durable_lsn());
        self.sessions.needed_log(durable)
    }

    fn state(&self) -> Vec<u8> {
        CheckpointState { next_id: self.status.next_id(), roots: Some(self.roots) }.encode()
    }
}
