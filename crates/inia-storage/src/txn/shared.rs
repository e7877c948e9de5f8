//! What the transactions, trees and background work of an engine share.

use super::horizon::Roots;
use super::relog::Relogging;
use super::rollback::Unfinished;
use super::session::Sessions;
use super::status::StatusTable;
use super::trees::Trees;
use super::undo::UndoStore;
use crate::lock::LockSystem;
use crate::store::Store;
use crate::sync::{AtomicBool, AtomicU64, Mutex};
use inia_base::ids::{TreeId, TxnId};
use inia_base::rt::WaitCell;
use std::collections::VecDeque;
use std::sync::Arc;

/// What transactions, trees and background work share: the parts of the transaction layer, side by
/// side. (They are many fields, which nothing but the engine's life holds together.)
///
/// Wide: one field for each subsystem that transactions use.
pub(crate) struct EngineShared {
    pub(crate) store: Arc<Store>,
    pub(crate) status: Arc<StatusTable>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) locks: LockSystem,
    pub(crate) undo: Arc<UndoStore>,
    /// Transactions that the background rolls back.
    pub(crate) unfinished: Mutex<VecDeque<Unfinished>>,
    /// How many of them have not come to their end, the one being worked on included, and how many
    /// of an earlier run are prepared. Until then no dropped tree is freed: its pages would be
    /// another tree's while before-images still go there.
    pub(crate) rollbacks_left: AtomicU64,
    pub(crate) trees: Trees,
    pub(crate) roots: Roots,
    /// Ids below belong to earlier runs: all are finished, and none has a history.
    pub(crate) boundary: TxnId,
    /// The purge horizon as last computed.
    pub(crate) horizon: AtomicU64,
    /// No snapshot, now or later, has a smaller end.
    pub(crate) least_end: AtomicU64,
    /// Records that scans found marked as deleted by earlier runs.
    pub(crate) dead: Mutex<Vec<(TreeId, Vec<u8>)>>,
    /// A running transaction's steps are logged again when the log since them is longer.
    pub(crate) relog_age: u64,
    /// The transaction whose steps are being logged again.
    pub(crate) relogging: Mutex<Option<Relogging>>,
    /// Whether the garbage tree may have something in it.
    pub(crate) garbage_waits: AtomicBool,
    pub(crate) collecting: Mutex<()>,
    /// Where background purge waits when it has nothing to do.
    pub(crate) purger: WaitCell,
    /// The failure of the background that was last written to the error log.
    pub(crate) reported_failure: Mutex<String>,
}
