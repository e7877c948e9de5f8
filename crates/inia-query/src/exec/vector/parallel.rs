//! Pipelines on several threads.
//!
//! The table that a pipeline begins with is cut into morsels, parts of its tree ("Morsel-Driven
//! Parallelism", Leis et al., SIGMOD 2014). The statement's own thread and its helpers take one
//! after the other until none is left, and run all operators up to the pipeline's end on it:
//!
//! ```text
//!   morsels of lineitem   0 1 2 3 4 5 …
//!   own thread            0   2     5      scan ─► conditions ─► groups ─┐
//!   helper                  1   3 4        scan ─► conditions ─► groups ─┴► merged
//! ```
//!
//! A slow thread takes fewer morsels, so all are done at about the same time. All read by the
//! statement's read view. What several threads make is put together in the order of the morsels:
//! the answer is that of one thread.
//!
//! Helpers know nothing of the session. Where a value turns out to need it, or there is a warning
//! or an error, what the threads have made is dropped and the statement's own thread begins anew,
//! so that conditions and their order are those of one thread.

mod groups;
mod worker;

use super::operators::{Operators, Reads};
use crate::access::{MorselScan, TableScan};
use crate::error::StorageResult;
use crate::exec::Result;
use crate::plan::batches::{BatchSource, leftmost};
use crate::plan::{RowSource, TableSource};
use crate::workers::Helpers;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_storage::Txn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Expected rows of a morsel of a large table.
const MORSEL_ROWS: f64 = 65_536.0;
/// Morsels for each thread, at least, and morsels in all, at most.
const MIN_PER_THREAD: usize = 16;
const MAX_MORSELS: usize = 4096;

/// Operators from a table on that several threads run, each on other morsels of the table.
///
/// Invariant: morsels below `next` were taken, each by one thread.
pub(super) struct Pipeline<'p> {
    table: &'p TableSource,
    scan: MorselScan,
    next: AtomicUsize,
    stopped: AtomicBool,
}

/// A pipeline and those who work on it.
struct Division<'p> {
    pipeline: Pipeline<'p>,
    /// A handle for each thread, the statement's own first.
    readers: Vec<Txn>,
    /// The threads beside it.
    helpers: Helpers<'p>,
}

impl Pipeline<'_> {
    /// Whether its morsels are those of this table.
    pub(super) fn reads(&self, table: &TableSource) -> bool {
        std::ptr::eq(self.table, table)
    }

    /// Begins to read a morsel.
    pub(super) fn open(&self, morsel: usize) -> TableScan {
        self.scan.open(morsel)
    }

    /// The next morsel that nobody has taken.
    fn take(&self) -> Option<usize> {
        let morsel = self.next.fetch_add(1, Ordering::Relaxed);
        (morsel < self.scan.len() && !self.is_stopped()).then_some(morsel)
    }

    /// Whether nobody wants the rest.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

impl<'e> Operators<'e> {
    /// Divides the rows of a source among threads; `None` where its statement's own does better.
    fn divide<'p>(
        &self,
        from: (&'p RowSource, &'p BatchSource),
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<Option<Division<'p>>>
    where
        'e: 'p,
    {
        let (source, plan) = from;
        let (Reads::Statement(statement), Some(table)) = (self.reads, leftmost(source)) else {
            return Ok(None);
        };
        if plan.threads < 2 {
            return Ok(None);
        }
        let helpers = statement.helpers(plan.threads);
        if helpers.count() == 0 {
            return Ok(None);
        }
        let threads = helpers.count() + 1;
        let wanted = ((table.rows / MORSEL_ROWS) as usize)
            .clamp(MIN_PER_THREAD * threads, MAX_MORSELS.max(MIN_PER_THREAD * threads));
        let Some(scan) = MorselScan::of(&table.table, &table.access, wanted, ctx, row)? else {
            return Ok(None);
        };
        let mut txn = statement.txn_of(&table.table).borrow_mut();
        let readers = (0..threads.min(scan.len())).map(|_| txn.reader().sql());
        let readers = readers.collect::<Result<Vec<_>>>()?;
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let pipeline = Pipeline { table, scan, next, stopped };
        Ok(Some(Division { pipeline, readers, helpers }))
    }
}
