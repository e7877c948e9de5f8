//! Batches of the rows of a table that its conditions leave.

use super::batch::{BatchBuilder, Rows};
use super::conditions::Filters;
use super::kept::KeptLeaves;
use super::leaf::{LeafRows, LeafSource};
use super::operators::Operators;
use super::sideways::{KeyFilter, KeyFilters};
use super::source::{BatchVisitor, Flow};
use crate::access::{FoundLeaf, TableScan};
use crate::columns::{CachedColumn, Segment};
use crate::exec::Result;
use crate::exec::select::holds;
use crate::plan::TableSource;
use crate::plan::batches::BatchSlot;
use crate::plan::vector::{NumberKind, VectorFilters};
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_storage::ReadMode;

/// Rows of the first batch, and of the largest. The first ones are small for those who want few.
const FIRST_ROWS: usize = 64;
pub(super) const MAX_ROWS: usize = 2048;

/// Rows that are collected until they are worth a visit.
pub(super) struct Collector {
    pub(super) rows: BatchBuilder,
    /// How many make the next batch.
    wanted: usize,
}

impl Collector {
    pub(super) fn new(slots: &[BatchSlot]) -> Collector {
        Collector { rows: BatchBuilder::new(slots), wanted: FIRST_ROWS }
    }

    /// Gives the rows to `visit`, where they are enough or the `last`.
    pub(super) fn give(
        &mut self,
        last: bool,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let enough = self.rows.rows() >= self.wanted || self.rows.is_large();
        if self.rows.rows() == 0 || !(last || enough) {
            return Ok(Flow::More);
        }
        self.wanted = (self.wanted * 2).min(MAX_ROWS);
        visit(ctx, row, &mut self.rows.take())
    }
}

/// The table's conditions, the slots that are read above, and the keys of joins above.
type ScanPlan<'p> = (&'p VectorFilters, &'p [BatchSlot], &'p KeyFilters<'p>);

/// What is done with the rows of a scan.
///
/// Wide: what the plan says of the scan, and what is made of it.
struct ScanWork<'p> {
    source: &'p TableSource,
    plan: &'p VectorFilters,
    zone: &'p TimeZone,
    filters: Filters<'p>,
    /// Keys of joins above.
    keys: Vec<&'p KeyFilter<'p>>,
    /// The access path stands for its conditions.
    bounded: bool,
    /// The slots that are read.
    all: Vec<usize>,
    collected: Collector,
}

impl<'p> ScanWork<'p> {
    fn new(
        source: &'p TableSource,
        (plan, slots, keys): ScanPlan<'p>,
        zone: &'p TimeZone,
        scan: &TableScan,
        ctx: &mut EvalContext<'_>,
    ) -> ScanWork<'p> {
        let own = source.base..source.base + source.table.def.columns.len();
        let needed = source.needed.iter().enumerate().filter(|(_, needed)| **needed);
        let mut filters = Filters::new(plan, &source.filter, ctx);
        filters.leave_packed(&|slot| {
            let column = slot.checked_sub(source.base).filter(|_| own.contains(&slot))?;
            NumberKind::of(source.table.layout.data_type(column))
        });
        ScanWork {
            source,
            plan,
            zone,
            filters,
            keys: keys.iter().copied().filter(|filter| own.contains(&filter.slot)).collect(),
            bounded: scan.is_exact() || source.bound_filter.is_empty(),
            all: needed.map(|(column, _)| source.base + column).collect(),
            collected: Collector::new(slots),
        }
    }

    /// Adds the rows that the conditions leave.
    fn take(
        &mut self,
        from: LeafSource<'_, '_>,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<()> {
        let read = (&self.plan.program, self.filters.packed());
        let mut leaf = LeafRows::load(from, self.source, self.zone, read)?;
        if leaf.rows() == 0 {
            return Ok(());
        }
        let mut chosen = self.filters.choose(&mut leaf, ctx, row)?;
        if !self.bounded {
            leaf.keep(&self.source.bound_filter, &self.all, &mut chosen, ctx, row)?;
        }
        for filter in self.keys.iter().filter(|filter| filter.is_worth()) {
            leaf.keep_keys(filter, &mut chosen)?;
        }
        leaf.add_to(&mut self.collected.rows, chosen.as_deref())
    }

    /// As [`ScanWork::take`], for one row.
    fn take_row(&mut self, ctx: &mut EvalContext<'_>, row: &[Value]) -> Result<()> {
        let bounds = &self.source.bound_filter;
        match holds(&self.source.filter, ctx, row)? && (self.bounded || holds(bounds, ctx, row)?) {
            true => self.collected.rows.push_row(row),
            false => Ok(()),
        }
    }

    /// Whether the bounds of a segment's columns show that no row fulfils the conditions.
    fn excludes(&self, segment: &Segment) -> bool {
        self.filters.exclude(&|slot| {
            let column = slot.checked_sub(self.source.base)?;
            match segment.column(column)? {
                CachedColumn::Numbers(numbers) => Some(numbers.bounds()),
                CachedColumn::Texts(_) => None,
            }
        })
    }
}

impl Operators<'_> {
    /// Gives the rows of a table to `visit`.
    pub(super) fn table_batches(
        &self,
        source: &TableSource,
        plan: ScanPlan<'_>,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let mut examined = 0;
        let flow = self.scan_batches(source, (plan, &mut examined), ctx, row, visit);
        if let Some(trace) = self.trace {
            trace.examined(source, examined);
        }
        let indexes = &source.table.def.indexes;
        let index = source.access.index.map(|at| &indexes[at]);
        if self.columns.is_some() && index.is_some_and(|index| !index.clustered) {
            source.table.columns.note_read(examined);
        }
        flow
    }

    fn scan_batches(
        &self,
        source: &TableSource,
        (plan, examined): (ScanPlan<'_>, &mut u64),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let mut scan = match self.morsel_of(source) {
            Some(scan) => scan,
            None => TableScan::open(&source.table, &source.access, ReadMode::Snapshot, ctx, row)?,
        };
        let columns = source.needed.iter().enumerate().filter(|(_, needed)| **needed);
        let columns: Vec<usize> = columns.map(|(column, _)| column).collect();
        scan.narrow_to(columns.iter().copied());
        let (zone, txn) = (&ctx.env.time_zone, self.txn_of(&source.table));
        let mut work = ScanWork::new(source, plan, zone, &scan, ctx);
        let mut kept = KeptLeaves::of(self.columns, source, &scan, &columns);
        loop {
            self.check_killed()?;
            if self.is_stopped() {
                return Ok(Flow::Enough);
            }
            // A condition may read other tables in the same transaction.
            let shown = match &mut kept {
                None => scan.run(&mut txn.borrow_mut())?.map(|run| FoundLeaf::Rows(run, None)),
                Some(kept) => scan.run_unknown(&mut txn.borrow_mut(), kept)?,
            };
            if let Some(kept) = &mut kept {
                if let Some(FoundLeaf::Known(leaves)) = shown {
                    *examined += kept.wait(leaves, |segment| work.excludes(segment));
                    if kept.waiting() < work.collected.wanted {
                        continue;
                    }
                }
                // Rows that wait come before those at hand.
                work.take(LeafSource::Kept(&kept.take()), ctx, row)?;
            }
            match shown {
                Some(FoundLeaf::Known(_)) => {}
                Some(FoundLeaf::Rows(mut run, leaf)) => {
                    *examined += run.len() as u64;
                    if let (Some(kept), Some(leaf)) = (&mut kept, leaf) {
                        kept.keep(&run, leaf)?;
                    }
                    work.take(LeafSource::Run(&mut run), ctx, row)?;
                }
                None => {
                    let mut moving = txn.borrow_mut();
                    let Some(found) = scan.next(&mut moving)? else { break };
                    *examined += 1;
                    let own = &mut row[source.base..source.base + source.needed.len()];
                    found.fill(&source.table, &columns, zone, own)?;
                    drop(moving);
                    work.take_row(ctx, row)?;
                }
            }
            match work.collected.give(false, ctx, row, visit)? {
                Flow::More => {}
                flow => return Ok(flow),
            }
        }
        work.collected.give(true, ctx, row, visit)
    }
}
