//! Batches of the rows of a table that its conditions leave.

use super::batch::BatchBuilder;
use super::conditions::Filters;
use super::leaf::LeafRows;
use super::operators::Operators;
use super::sideways::{KeyFilter, KeyFilters};
use super::source::{BatchVisitor, Flow};
use crate::access::TableScan;
use crate::exec::Result;
use crate::exec::select::holds;
use crate::plan::TableSource;
use crate::plan::batches::BatchSlot;
use crate::plan::vector::VectorFilters;
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
        flow
    }

    fn scan_batches(
        &self,
        source: &TableSource,
        ((plan, slots, keys), examined): (ScanPlan<'_>, &mut u64),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let morsel = self.morsel_of(source);
        let mut scan = match morsel {
            Some((pipeline, morsel)) => pipeline.open(morsel),
            None => TableScan::open(&source.table, &source.access, ReadMode::Snapshot, ctx, row)?,
        };
        let bounded = scan.is_exact() || source.bound_filter.is_empty();
        let columns = source.needed.iter().enumerate().filter(|(_, needed)| **needed);
        let columns: Vec<usize> = columns.map(|(column, _)| column).collect();
        let all: Vec<usize> = columns.iter().map(|column| source.base + column).collect();
        scan.narrow_to(columns.iter().copied());
        let (env, txn) = (ctx.env, self.txn_of(&source.table));
        let mut filters = Filters::new(plan, &source.filter, ctx);
        let mut collected = Collector::new(slots);
        let own = source.base..source.base + source.table.def.columns.len();
        let keys: Vec<&KeyFilter> =
            keys.iter().copied().filter(|filter| own.contains(&filter.slot)).collect();
        loop {
            self.check_killed()?;
            if morsel.is_some_and(|(pipeline, _)| pipeline.is_stopped()) {
                return Ok(Flow::Enough);
            }
            // A condition may read other tables in the same transaction.
            let run = scan.run(&mut txn.borrow_mut())?;
            if let Some(mut run) = run {
                *examined += run.len() as u64;
                let mut leaf = LeafRows::load(&mut run, source, &env.time_zone, &plan.program)?;
                let mut chosen = filters.choose(&mut leaf, ctx, row)?;
                if !bounded {
                    leaf.keep(&source.bound_filter, &all, &mut chosen, ctx, row)?;
                }
                for filter in keys.iter().filter(|filter| filter.is_worth()) {
                    leaf.keep_keys(filter, &mut chosen)?;
                }
                leaf.add_to(&mut collected.rows, chosen.as_deref())?;
            } else {
                let mut moving = txn.borrow_mut();
                let Some(found) = scan.next(&mut moving)? else { break };
                *examined += 1;
                let own = &mut row[source.base..source.base + source.needed.len()];
                found.fill(&source.table, &columns, &ctx.env.time_zone, own)?;
                drop(moving);
                if holds(&source.filter, ctx, row)?
                    && (bounded || holds(&source.bound_filter, ctx, row)?)
                {
                    collected.rows.push_row(row)?;
                }
            }
            match collected.give(false, ctx, row, visit)? {
                Flow::More => {}
                flow => return Ok(flow),
            }
        }
        collected.give(true, ctx, row, visit)
    }
}
