//! Groups that several threads make, each by itself.

use crate::exec::vector::conditions::Filters;
use crate::exec::vector::grouping::{GroupTask, Grouping};
use crate::exec::vector::source::{Flow, visit_chosen};
use crate::exec::{Result, Runner};
use inia_base::value::Value;
use inia_expr::EvalContext;

impl<'s> Runner<'s> {
    /// The groups of a SELECT whose rows several threads group; `None` where one thread is to do
    /// it, or does it better.
    pub(in crate::exec::vector) fn groups_of_threads<'p>(
        &'p self,
        task: GroupTask<'p>,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<Option<Grouping<'p, 'p>>> {
        let GroupTask { select, batches, plan, .. } = task;
        if !plan.mergeable {
            return Ok(None);
        }
        let (operators, from) = (self.operators(), (&select.source, &batches.source));
        let Some(division) = operators.divide(from, ctx, row)? else { return Ok(None) };
        let all = operators.on_threads(division, ctx, row.len(), |worker, ctx, row| {
            let Some(mut grouping) = Grouping::new(task, worker.workspace, ctx) else {
                return Ok(None);
            };
            let mut filters = Filters::new(&batches.filters, &select.filter, ctx);
            let flow = worker.each_morsel(ctx, row, &mut |morsel, operators, ctx, row| {
                grouping.begin_morsel(morsel);
                let (from, slots) = ((&select.source, &batches.source), &batches.source.slots);
                operators.batches(from, &[], ctx, row, &mut |ctx, row, batch| {
                    visit_chosen(batch, slots, &mut filters, ctx, row, &mut |ctx, row, batch| {
                        Ok(if grouping.add(batch, ctx, row)? { Flow::More } else { Flow::Unfit })
                    })
                })
            })?;
            Ok((flow == Flow::More).then_some(grouping))
        })?;
        let Some(all) = all else { return Ok(None) };
        let mut all = all.into_iter();
        let Some(mut merged) = all.next() else { return Ok(None) };
        for grouping in all {
            self.check_killed()?;
            if !merged.merge(&grouping) {
                return Ok(None);
            }
        }
        Ok(Some(merged))
    }
}
