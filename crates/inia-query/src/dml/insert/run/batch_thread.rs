//! A thread that writes batches of rows while the statement reads and converts the next.
//!
//! ```text
//! statement   read 1 │ read 2  │ read 3  │ wait
//! thread             │ write 1 │ write 2 │ write 3
//! ```
//!
//! The thread has the transaction until the statement has given its last row: nothing else may use
//! it meanwhile. What became of a batch comes back with its memory, in the order of batches, so the
//! statement's warnings and errors are those of rows written where they are read.
//!
//! Invariants: `sent` has the numbers of each batch whose outcome has not come back, at most
//! [`DEPTH`] of them while the statement reads; no batch is written behind one that failed.

use super::together::{Together, WrittenBatch};
use crate::dml::write_batch::{BatchWriter, PendingRows};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_storage::Txn;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{Builder, Scope};

/// Batches that wait for the thread or are written by it, before the statement waits for it.
const DEPTH: usize = 3;

/// For each row of a batch, the number that it brings for the AUTO_INCREMENT column.
pub(super) type GivenNumbers = Vec<Option<Value>>;

/// A batch on its way to the thread; whether it is the last.
type Job = (PendingRows, bool);

/// The thread as the statement sees it; it ends when this is dropped.
pub(super) struct BatchThread {
    jobs: Sender<Job>,
    done: Receiver<(PendingRows, WrittenBatch)>,
    sent: VecDeque<GivenNumbers>,
    /// Memory of batches that came back.
    spare: Vec<PendingRows>,
    failed: bool,
}

impl BatchThread {
    /// Starts the thread, which takes the transaction then; `None` where the system has no thread
    /// left: the transaction is not taken.
    pub(super) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        writer: BatchWriter<'scope>,
        together: Together,
        take: impl FnOnce() -> &'scope mut Txn,
    ) -> Option<Box<BatchThread>> {
        let (jobs, waiting) = channel();
        let (outcomes, done) = channel();
        let (give, given) = channel();
        let work = move || {
            if let Ok(txn) = given.recv() {
                write_batches(&waiting, &outcomes, writer, txn, together);
            }
        };
        Builder::new().name("writer".to_owned()).spawn_scoped(scope, work).ok()?;
        give.send(take()).ok()?;
        let (sent, spare) = (VecDeque::new(), Vec::new());
        Some(Box::new(BatchThread { jobs, done, sent, spare, failed: false }))
    }

    /// Gives the thread a batch, and leaves empty memory in its place. After a failure nothing is
    /// written any more.
    pub(super) fn send(&mut self, rows: &mut PendingRows, given: &mut GivenNumbers, last: bool) {
        debug_assert_eq!(rows.len(), given.len(), "each row says which number it brings");
        if self.failed {
            return;
        }
        let batch = std::mem::replace(rows, self.spare.pop().unwrap_or_default());
        self.sent.push_back(std::mem::take(given));
        // A thread that has ended says why in what comes back.
        let _ = self.jobs.send((batch, last));
    }

    /// What became of the next batch: where the statement is to `wait` of each that was sent, else
    /// of those that are written and of those beyond the depth.
    pub(super) fn next(&mut self, wait: bool) -> Option<(WrittenBatch, GivenNumbers)> {
        let waits = wait || self.sent.len() > DEPTH;
        let given = self.sent.pop_front()?;
        let outcome = match waits {
            true => self.done.recv().map_err(|_| TryRecvError::Disconnected),
            false => self.done.try_recv(),
        };
        let written = match outcome {
            Ok((memory, written)) => {
                self.spare.push(memory);
                written
            }
            Err(TryRecvError::Empty) => {
                self.sent.push_front(given);
                return None;
            }
            Err(TryRecvError::Disconnected) => {
                let panicked = &"the thread that writes rows has panicked";
                let error = SqlError::new(ErrorCode::InternalError, &[panicked]);
                WrittenBatch { count: 0, refused: Vec::new(), outcome: Err(error) }
            }
        };
        if written.outcome.is_err() {
            self.failed = true;
            self.sent.clear();
        }
        Some((written, given))
    }
}

/// Writes the batches that come, up to the last or one that fails.
fn write_batches(
    waiting: &Receiver<Job>,
    outcomes: &Sender<(PendingRows, WrittenBatch)>,
    writer: BatchWriter<'_>,
    txn: &mut Txn,
    together: Together,
) {
    let mut pending = PendingRows::default();
    for (mut rows, last) in waiting {
        pending.take_from(&mut rows);
        let written = together.write(writer, txn, &mut pending, last);
        let failed = written.outcome.is_err();
        if outcomes.send((rows, written)).is_err() || failed || last {
            return;
        }
    }
}
