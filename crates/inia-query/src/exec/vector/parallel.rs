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
//! A pipeline ends in groups ([`groups`]) or in batches that are given on ([`gather`]). Right sides
//! of hash joins are read before, by pipelines of their own, and shared.
//!
//! Helpers know nothing of the session. Where a value turns out to need it, or there is a warning
//! or an error, what the threads have made is dropped and the statement's own thread does it anew,
//! so that conditions and their order are those of one thread.

mod gather;
mod groups;
mod worker;

pub(super) use groups::GroupsOfThreads;

use super::hash::Built;
use super::operators::{BuiltJoin, Operators, Reads};
use crate::access::{MorselScan, TableScan};
use crate::error::StorageResult;
use crate::exec::Result;
use crate::plan::batches::{BatchNode, BatchSource, leftmost};
use crate::plan::trace::Node;
use crate::plan::{JoinMethod, JoinPlan, RowSource, TableSource};
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
    source: &'p RowSource,
    table: &'p TableSource,
    scan: MorselScan,
    /// The joins whose rows are looked up, and their right sides.
    builds: Builds<'p>,
    /// The threads beside the statement's own.
    helpers: Helpers<'p>,
    next: AtomicUsize,
    stopped: AtomicBool,
}

/// Joins and their right sides.
pub(super) type Builds<'p> = Vec<(&'p JoinPlan, BuiltJoin<'p>)>;

/// A pipeline and those who work on it.
struct Division<'p> {
    pipeline: Pipeline<'p>,
    /// A handle for each thread, the statement's own first.
    readers: Vec<Txn>,
}

/// What becomes of a source that several threads may read.
enum Divided<'p> {
    /// They do.
    Ready(Division<'p>),
    /// The statement's own thread does better, with what was read already: the last join's right
    /// side has outgrown memory.
    Undivided(Builds<'p>),
    /// It has no rows.
    Empty,
    /// Its rows do not fit batches.
    Unfit,
}

impl<'p> Pipeline<'p> {
    /// Whether its morsels are those of this table.
    pub(super) fn reads(&self, table: &TableSource) -> bool {
        std::ptr::eq(self.table, table)
    }

    /// Begins to read a morsel.
    pub(super) fn open(&self, morsel: usize) -> TableScan {
        self.scan.open(morsel)
    }

    /// The right side of a join.
    pub(super) fn build_of(&self, join: &JoinPlan) -> Option<&BuiltJoin<'p>> {
        let found = self.builds.iter().find(|(known, _)| std::ptr::eq(*known, join));
        found.map(|(_, build)| build)
    }

    /// How many morsels there are.
    fn morsels(&self) -> usize {
        self.scan.len()
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

    /// The nodes that each morsel runs through once.
    fn nodes(&self) -> Vec<Node> {
        let (mut nodes, mut source) = (vec![Node::Source(self.source)], self.source);
        while let RowSource::Join(join) = source {
            source = &join.left;
            nodes.push(Node::Source(source));
        }
        nodes
    }
}

impl<'e> Operators<'e> {
    /// Divides the rows of a source among threads.
    fn divide<'p>(
        &self,
        (source, plan, threads): (&'p RowSource, &'p BatchSource, usize),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
    ) -> Result<Divided<'p>>
    where
        'e: 'p,
    {
        let (Reads::Statement(statement), Some(table)) = (self.reads, leftmost(source)) else {
            return Ok(Divided::Undivided(Vec::new()));
        };
        if threads < 2 {
            return Ok(Divided::Undivided(Vec::new()));
        }
        let least = MIN_PER_THREAD * threads;
        let wanted = ((table.rows / MORSEL_ROWS) as usize).clamp(least, least.max(MAX_MORSELS));
        let Some(scan) = MorselScan::of(&table.table, &table.access, wanted, ctx, row)? else {
            return Ok(Divided::Undivided(Vec::new()));
        };
        let mut builds = Vec::new();
        match self.build_joins((source, plan), &mut builds, ctx, row)? {
            Built::Ready(()) => {}
            Built::Empty => return Ok(Divided::Empty),
            Built::Unfit => return Ok(Divided::Unfit),
        }
        if let Some((_, BuiltJoin::Spilled(_))) = builds.last() {
            return Ok(Divided::Undivided(builds));
        }
        let helpers = statement.helpers(threads.min(scan.len()));
        let mut txn = statement.txn_of(&table.table).borrow_mut();
        let readers = (0..=helpers.count()).map(|_| txn.reader().sql());
        let readers = readers.collect::<Result<Vec<_>>>()?;
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let pipeline = Pipeline { source, table, scan, builds, helpers, next, stopped };
        Ok(Divided::Ready(Division { pipeline, readers }))
    }

    /// Reads the right sides of the hash joins on the way down to the leftmost table, up to one
    /// that outgrows memory.
    fn build_joins<'p>(
        &self,
        (source, plan): (&'p RowSource, &'p BatchSource),
        builds: &mut Builds<'p>,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
    ) -> Result<Built<()>>
    where
        'e: 'p,
    {
        let RowSource::Join(join) = source else { return Ok(Built::Ready(())) };
        match (&plan.node, &join.method) {
            (BatchNode::Hash(hash), JoinMethod::Hash(keys)) => {
                match self.build_hash((join, keys, hash, &plan.slots), ctx, row)? {
                    Built::Ready(build) => {
                        let spilled = matches!(build, BuiltJoin::Spilled(_));
                        builds.push((join, build));
                        if spilled {
                            return Ok(Built::Ready(()));
                        }
                    }
                    Built::Empty => return Ok(Built::Empty),
                    Built::Unfit => return Ok(Built::Unfit),
                }
                self.build_joins((&join.left, &hash.left), builds, ctx, row)
            }
            (BatchNode::Loop(looped), _) => {
                self.build_joins((&join.left, &looped.left), builds, ctx, row)
            }
            _ => Ok(Built::Ready(())),
        }
    }
}
