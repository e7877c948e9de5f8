//! Transactions: versions, snapshots, undo, purge and recovery of losers.
//!
//! The store below is one kind of tree, whose every record carries a header {writer's id, undo
//! reference}. All of multi-version concurrency rests on that header, the status table and undo:
//!
//! ```text
//!   T5 inserts k=old and commits at log position 900. T9 updates it, still running.
//!
//!   leaf   k → {9, ●} new          status table   5: committed 900
//!                  │                              9: active
//!   undo           └▶ before {5, 0} old
//!
//!   reader with horizon 950, own id 0:  9 active → not visible, follow ●;
//!                                       5 committed 900 ≤ 950 → old
//!   reader with horizon 800:            5 committed 900 > 800 → follow 0 → there is no k
//!   T9 itself:                          own id → new
//!   a locking read by T7:               9 active → waits for T9, then looks again
//! ```
//!
//! Life of a change: `Txn::update` → [`write`] finds the record under the leaf's latch, asks the
//! status table and the lock table, pushes an undo record ([`undo`]), replaces the version and logs
//! page change and before-image in one mini-transaction. `Txn::commit` appends the commit record,
//! publishes its position in the status table ([`status`]), gives back locks, waits for the log,
//! and then purges a little of its session's history ([`purge`]). After a crash [`recover`] finds
//! transactions without a commit record and applies their before-images, newest first.

mod aside;
pub(crate) mod bulk;
pub(crate) mod counter;
pub(crate) mod cursor;
mod delete_run;
mod gap_neighbours;
pub(crate) mod handle;
pub(crate) mod held_locks;
pub(crate) mod horizon;
pub(crate) mod in_place;
pub(crate) mod log;
pub(crate) mod prepared;
pub(crate) mod purge;
mod read;
mod reader;
pub(crate) mod records;
pub(crate) mod recover;
pub(crate) mod relog;
pub(crate) mod rollback;
pub(crate) mod session;
pub(crate) mod shared;
pub(crate) mod short_range;
pub(crate) mod snapshot;
pub(crate) mod status;
mod sweep;
pub(crate) mod trees;
pub(crate) mod undo;
mod undo_run;
mod write;
mod write_batch;

#[cfg(test)]
mod tests;
