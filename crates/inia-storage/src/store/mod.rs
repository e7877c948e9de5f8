//! The page-level store: buffer pool, log and space map as one. No trees, no transactions.

pub(crate) mod mtr;

use crate::Result;
use crate::buffer::{OptimisticPage, PageVersion, SharedPage};
use crate::wal::Wal;
use crate::wal::record::LogRecord;
use inia_base::ids::{Lsn, PageId};
use inia_base::io::Disk;
use std::sync::Arc;

pub(crate) use mtr::{Latched, Mtr};

/// First page that trees may use; the engine's first tree is made right after the store is created.
pub(crate) const FIRST_FREE_PAGE: PageId = PageId(2);

/// How a store is opened.
#[derive(Clone, Debug)]
pub(crate) struct StoreOptions {
    /// Bytes of page frames.
    pub(crate) buffer_pool_size: u64,
    /// Bytes of log after which pages are written back in a hurry, and writers wait for it.
    pub(crate) log_capacity: u64,
    /// Whether a background thread writes pages and checkpoints (else [`Store::background_step`]).
    pub(crate) background: bool,
}

/// Takes what recovery finds in the log apart from page changes.
pub(crate) trait LogObserver {
    /// The state that [`CheckpointSource::state`] gave at the checkpoint recovery starts from. Called
    /// once, first, unless the store is new.
    fn checkpoint(&mut self, state: &[u8]) -> Result<()>;
    /// A record, in log order; `lsn` is the end of its group.
    fn record(&mut self, lsn: Lsn, record: &LogRecord<'_>) -> Result<()>;
}

/// What the transactions tell a checkpoint.
pub(crate) trait CheckpointSource: Send + Sync {
    /// The log from here on must be kept for rollback: a value of [`Wal::closed_lsn`] read before the
    /// first record needed was appended. `None` when nothing is needed.
    fn hold_lsn(&self) -> Option<Lsn>;
    /// At most [`CHECKPOINT_STATE_MAX`] bytes kept with the checkpoint, taken after its position is
    /// fixed, so that it reflects at least everything below that position.
    fn state(&self) -> Vec<u8>;
}

/// Most bytes of [`CheckpointSource::state`].
pub(crate) const CHECKPOINT_STATE_MAX: usize = 512;

/// Pool, log and space of one open data directory.
pub(crate) struct Store {}

impl Store {
    /// Opens the store, creating it in an empty disk, recovering it where it was not closed. Records
    /// that are not page changes go to `observer` in log order.
    pub(crate) fn open(
        _disk: Arc<dyn Disk>,
        _options: StoreOptions,
        _observer: &mut dyn LogObserver,
    ) -> Result<Arc<Store>> {
        todo!()
    }

    /// Whether the store was created by this `open`.
    pub(crate) fn is_new(&self) -> bool {
        todo!()
    }

    /// Names what checkpoints must ask; until then they keep the log from the recovery's start on.
    pub(crate) fn set_checkpoint_source(&self, _source: Arc<dyn CheckpointSource>) {
        todo!()
    }

    /// Starts a racing read, reading the page in when it is absent.
    pub(crate) fn optimistic(&self, _id: PageId) -> Result<OptimisticPage<'_>> {
        todo!()
    }

    /// As [`Store::optimistic`], for scans: a page that this reads in is the first to be evicted.
    pub(crate) fn optimistic_scan(&self, _id: PageId) -> Result<OptimisticPage<'_>> {
        todo!()
    }

    /// Latches the page for reading.
    pub(crate) fn shared(&self, _id: PageId) -> Result<SharedPage<'_>> {
        todo!()
    }

    /// Whether the page is still in the state of `version`.
    pub(crate) fn is_current(&self, _id: PageId, _version: PageVersion) -> bool {
        todo!()
    }

    /// Starts a mini-transaction. May wait for log space: hold no latch and no other `Mtr`.
    pub(crate) fn mtr(&self) -> Result<Mtr<'_>> {
        todo!()
    }

    /// The log.
    pub(crate) fn wal(&self) -> &Wal {
        todo!()
    }

    /// One step of background work (page writing, checkpoint, log segments); true when there was some.
    pub(crate) fn background_step(&self) -> Result<bool> {
        todo!()
    }

    /// Writes every page back and takes a last checkpoint. Nothing may be changed afterwards.
    pub(crate) fn close(&self) -> Result<()> {
        todo!()
    }
}
