//! Pipelines on several threads.
//!
//! The table that a pipeline begins with is cut into morsels ([`morsels`]), parts of its tree
//! ("Morsel-Driven Parallelism", Leis et al., SIGMOD 2014). The statement's own thread and its
//! helpers take one after the other until none is left, and run all operators up to the pipeline's
//! end on it:
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
mod morsels;
mod scalars;
mod worker;

pub(super) use groups::GroupsOfThreads;

use super::batch::Batch;
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
use inia_expr::{EvalContext, Expr};
use inia_storage::Txn;
use morsels::{Driven, Morsels};
use scalars::ScalarValues;
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
    morsels: Morsels<'p>,
    /// The joins whose rows are looked up, and their right sides.
    builds: Builds<'p>,
    /// The values of subqueries in conditions.
    scalars: ScalarValues,
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

/// What cutting a source came to.
enum Cut<'p> {
    Ready(Morsels<'p>),
    /// It is not cut.
    Whole,
    /// It has no rows.
    Empty,
    /// Its rows do not fit batches.
    Unfit,
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
    /// Begins to read a morsel, where it is one of this table.
    pub(super) fn open(&self, table: &TableSource, morsel: usize) -> Option<TableScan> {
        self.morsels.open(table, morsel)
    }

    /// The rows of a morsel, where they are those of this source.
    pub(super) fn rows_of(&self, source: &RowSource, morsel: usize) -> Option<Batch> {
        self.morsels.rows_of(source, morsel)
    }

    /// The right side of a join.
    pub(super) fn build_of(&self, join: &JoinPlan) -> Option<&BuiltJoin<'p>> {
        let found = self.builds.iter().find(|(known, _)| std::ptr::eq(*known, join));
        found.map(|(_, build)| build)
    }

    /// How many morsels there are.
    fn morsels(&self) -> usize {
        self.morsels.len()
    }

    /// The next morsel that nobody has taken.
    fn take(&self) -> Option<usize> {
        let morsel = self.next.fetch_add(1, Ordering::Relaxed);
        (morsel < self.morsels() && !self.is_stopped()).then_some(morsel)
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
        let driver = self.morsels.driver();
        while let RowSource::Join(join) = source {
            source = &join.left;
            if driver.is_some_and(|driver| std::ptr::eq(driver, source)) {
                break;
            }
            nodes.push(Node::Source(source));
        }
        nodes
    }
}

impl<'e> Operators<'e> {
    /// Divides the rows of a source among threads, which evaluate the expressions `above`, too.
    fn divide<'p>(
        &self,
        (source, plan, threads): (&'p RowSource, &'p BatchSource, usize),
        above: impl Iterator<Item = &'p Expr>,
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
        let mut scalars = ScalarValues::default();
        let mut known = true;
        source.each(&mut |source| source.own_exprs(&mut |expr| known &= scalars.add(expr, ctx)));
        above.for_each(|expr| known &= scalars.add(expr, ctx));
        if !known {
            return Ok(Divided::Undivided(Vec::new()));
        }
        let morsels = match self.morsels((source, plan), (table, threads), ctx, row)? {
            Cut::Ready(morsels) => morsels,
            Cut::Whole => return Ok(Divided::Undivided(Vec::new())),
            Cut::Empty => return Ok(Divided::Empty),
            Cut::Unfit => return Ok(Divided::Unfit),
        };
        let mut builds = Vec::new();
        let ends = morsels.driver();
        match self.build_joins((source, plan), (ends, &mut builds), ctx, row)? {
            Built::Ready(()) => {}
            Built::Empty => return Ok(Divided::Empty),
            Built::Unfit => return Ok(Divided::Unfit),
        }
        if let Some((_, BuiltJoin::Spilled(_))) = builds.last() {
            return Ok(Divided::Undivided(builds));
        }
        let helpers = statement.helpers(threads.min(morsels.len()));
        let mut txn = statement.txn_of(&table.table).borrow_mut();
        let readers = (0..=helpers.count()).map(|_| txn.reader().sql());
        let readers = readers.collect::<Result<Vec<_>>>()?;
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let pipeline = Pipeline { source, morsels, builds, scalars, helpers, next, stopped };
        Ok(Divided::Ready(Division { pipeline, readers }))
    }

    /// Cuts a source that begins with a table.
    fn morsels<'p>(
        &self,
        from: (&'p RowSource, &'p BatchSource),
        (table, threads): (&'p TableSource, usize),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
    ) -> Result<Cut<'p>>
    where
        'e: 'p,
    {
        let least = MIN_PER_THREAD * threads;
        let wanted = ((table.rows / MORSEL_ROWS) as usize).clamp(least, least.max(MAX_MORSELS));
        match self.read_driver(from, threads, ctx, row)? {
            Driven::Ready(driver) => return Ok(Cut::Ready(Morsels::Rows(driver))),
            Driven::None => {}
            Driven::Empty => return Ok(Cut::Empty),
            Driven::Unfit => return Ok(Cut::Unfit),
        }
        let scan = MorselScan::of(&table.table, &table.access, wanted, ctx, row)?;
        Ok(scan.map_or(Cut::Whole, |scan| Cut::Ready(Morsels::Tree(table, scan))))
    }

    /// Reads the right sides of the hash joins on the way down to the leftmost table, or to where
    /// the pipeline begins, up to one that outgrows memory.
    fn build_joins<'p>(
        &self,
        (source, plan): (&'p RowSource, &'p BatchSource),
        (begin, builds): (Option<&'p RowSource>, &mut Builds<'p>),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
    ) -> Result<Built<()>>
    where
        'e: 'p,
    {
        let RowSource::Join(join) = source else { return Ok(Built::Ready(())) };
        if begin.is_some_and(|begin| std::ptr::eq(begin, source)) {
            return Ok(Built::Ready(()));
        }
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
                self.build_joins((&join.left, &hash.left), (begin, builds), ctx, row)
            }
            (BatchNode::Loop(looped), _) => {
                self.build_joins((&join.left, &looped.left), (begin, builds), ctx, row)
            }
            _ => Ok(Built::Ready(())),
        }
    }
}
