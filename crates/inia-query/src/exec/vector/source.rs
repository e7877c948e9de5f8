//! FROM over batches: each member gives batches to a visitor.
//!
//! A batch that does not fit (a number outgrows its type) ends the execution before anything has
//! been given; the rows are then executed one by one.

use super::batch::{Batch, Rows};
use super::conditions::Filters;
use super::operators::{BuiltJoin, Operators};
use super::scan::Collector;
use super::sideways::KeyFilters;
use crate::exec::{Result, RowVisitor, Runner};
use crate::plan::batches::{BatchNode, BatchPlan, BatchSlot, BatchSource};
use crate::plan::trace::{Node, watched};
use crate::plan::{GroupStrategy, JoinMethod, JoinPlan, RowSource, SelectPlan};
use inia_base::value::Value;
use inia_expr::EvalContext;

/// How execution goes on behind a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// More batches are wanted.
    More,
    /// No more are wanted.
    Enough,
    /// The rows do not fit batches; nothing was given.
    Unfit,
}

/// Takes a batch; the vector of values is memory for single rows.
pub(super) type BatchVisitor<'v> =
    dyn FnMut(&mut EvalContext<'_>, &mut Vec<Value>, &mut Batch) -> Result<Flow> + 'v;

impl Runner<'_> {
    /// Gives the rows of FROM that fulfil WHERE to `visit`, one by one. False, with nothing given,
    /// where they do not fit batches.
    pub(in crate::exec) fn rows_of_batches(
        &self,
        (select, plan): (&SelectPlan, &BatchPlan),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        let slots: Vec<usize> = plan.source.slots.iter().map(|slot| slot.slot).collect();
        self.fitting_batches((select, plan, &[]), ctx, row, &mut |ctx, row, batch| {
            for at in 0..batch.rows() {
                batch.fill(at, &slots, row)?;
                if !visit(ctx, row)? {
                    return Ok(Flow::Enough);
                }
            }
            Ok(Flow::More)
        })
    }

    /// Gives the rows of FROM that fulfil WHERE to `visit`; `builds` are right sides of its joins
    /// that were read already. False where they do not fit batches.
    pub(super) fn fitting_batches(
        &self,
        (select, plan, builds): (&SelectPlan, &BatchPlan, &[(&JoinPlan, BuiltJoin<'_>)]),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<bool> {
        // A second run would warn again.
        let warned = ctx.mark_warnings();
        let mut filters = Filters::new(&plan.filters, &select.filter, ctx);
        let slots = &plan.source.slots[..];
        let from = (&select.source, &plan.source);
        let strategy = select.aggregation.as_ref().map(|aggregation| &aggregation.strategy);
        let ordered = matches!(strategy, Some(GroupStrategy::Vectors(groups)) if groups.in_order);
        let operators = Operators { ordered, ..self.operators() };
        let operators = operators.with_builds(builds, plan.source.threads);
        let flow = operators.batches(from, &[], ctx, row, &mut |ctx, row, batch| {
            visit_chosen(batch, slots, &mut filters, ctx, row, visit)
        })?;
        if flow == Flow::Unfit {
            ctx.forget_warnings(warned);
        }
        Ok(flow != Flow::Unfit)
    }
}

impl Operators<'_> {
    /// Gives the rows of a member of FROM to `visit`; those that `keys` leave out may be missing.
    pub(super) fn batches(
        &self,
        (source, plan): (&RowSource, &BatchSource),
        keys: &KeyFilters<'_>,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        if let Some(mut batch) = self.rows_of_morsel(source) {
            return visit(ctx, row, &mut batch);
        }
        if plan.threads > 1
            && self.builds.is_empty()
            && let Some(flow) =
                self.batches_of_threads((source, plan, plan.threads), ctx, row, visit)?
        {
            debug_assert!(keys.is_empty(), "no join is above a source that is divided");
            return Ok(flow);
        }
        let (Some(trace), false) = (self.trace, matches!(plan.node, BatchNode::Rows)) else {
            return self.batches_untraced((source, plan), keys, ctx, row, visit);
        };
        watched(trace, Node::Source(source), |watch| {
            self.batches_untraced((source, plan), keys, ctx, row, &mut |ctx, row, batch| {
                watch.visit_rows(batch.rows() as u64, || visit(ctx, row, batch))
            })
        })
    }

    fn batches_untraced(
        &self,
        (source, plan): (&RowSource, &BatchSource),
        keys: &KeyFilters<'_>,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        match (&plan.node, source) {
            (BatchNode::Table(filters), RowSource::Table(table)) => {
                self.table_batches(table, (filters, &plan.slots, keys), ctx, row, visit)
            }
            (BatchNode::Hash(hash), RowSource::Join(join)) => {
                let JoinMethod::Hash(equal) = &join.method else { return Ok(Flow::Unfit) };
                self.hash_batches((join, equal, hash, &plan.slots), keys, ctx, row, visit)
            }
            (BatchNode::Loop(looped), RowSource::Join(join)) => {
                self.loop_batches(join, (looped, &plan.slots, keys), ctx, row, visit)
            }
            _ => self.collected_rows(source, &plan.slots, ctx, row, visit),
        }
    }

    /// Collects the rows of a source that gives them one by one.
    fn collected_rows(
        &self,
        source: &RowSource,
        slots: &[BatchSlot],
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let mut collected = Collector::new(slots);
        let mut flow = Flow::More;
        // The visitor uses `row` while the source goes on with its own.
        let mut own = vec![Value::Null; row.len()];
        self.rows(source, ctx, &mut own, &mut |ctx, own| {
            collected.rows.push_row(own)?;
            flow = collected.give(false, ctx, row, visit)?;
            Ok(flow == Flow::More)
        })?;
        match flow {
            Flow::More => collected.give(true, ctx, row, visit),
            flow => Ok(flow),
        }
    }
}

/// Gives the rows of a batch for which the conditions are true to `visit`.
pub(super) fn visit_chosen(
    batch: &mut Batch,
    slots: &[BatchSlot],
    filters: &mut Filters<'_>,
    ctx: &mut EvalContext<'_>,
    row: &mut Vec<Value>,
    visit: &mut BatchVisitor<'_>,
) -> Result<Flow> {
    match filters.choose(batch, ctx, row)? {
        None => visit(ctx, row, batch),
        Some(chosen) => visit_these(batch, slots, &chosen, ctx, row, visit),
    }
}

/// Gives the rows that are chosen to `visit`.
pub(super) fn visit_these(
    batch: &mut Batch,
    slots: &[BatchSlot],
    chosen: &[bool],
    ctx: &mut EvalContext<'_>,
    row: &mut Vec<Value>,
    visit: &mut BatchVisitor<'_>,
) -> Result<Flow> {
    match batch.chosen(chosen, slots) {
        None => visit(ctx, row, batch),
        Some(batch) if batch.rows() == 0 => Ok(Flow::More),
        Some(mut batch) => visit(ctx, row, &mut batch),
    }
}
