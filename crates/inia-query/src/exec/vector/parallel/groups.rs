//! Groups that several threads make, each by itself.

use super::{Builds, Divided};
use crate::exec::vector::conditions::Filters;
use crate::exec::vector::grouping::{GroupTask, Grouping};
use crate::exec::vector::source::{Flow, visit_chosen};
use crate::exec::{Result, Runner};
use inia_base::value::Value;
use inia_expr::EvalContext;

/// What several threads have made of the groups of a SELECT.
pub(in crate::exec::vector) enum GroupsOfThreads<'p> {
    /// All of them.
    Merged(Grouping<'p, 'p>),
    /// What each thread has of them: memory has no room for all at once.
    Parts(Vec<Grouping<'p, 'p>>),
    /// Nothing: one thread is to make them, or does it better, with right sides of joins that were
    /// read already.
    Undivided(Builds<'p>),
    /// Nothing: rows do not fit batches.
    Unfit,
}

impl Runner<'_> {
    /// The groups of a SELECT whose rows several threads group.
    pub(in crate::exec::vector) fn groups_of_threads<'p>(
        &'p self,
        task: GroupTask<'p>,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
    ) -> Result<GroupsOfThreads<'p>> {
        let GroupTask { batches, plan, .. } = task;
        if !plan.mergeable || batches.source.threads < 2 {
            return Ok(GroupsOfThreads::Undivided(Vec::new()));
        }
        // The statement's own thread would warn again.
        let warned = ctx.mark_warnings();
        let merged = self.merged_groups(task, ctx, row)?;
        if !matches!(merged, GroupsOfThreads::Merged(_) | GroupsOfThreads::Parts(_)) {
            ctx.forget_warnings(warned);
        }
        Ok(merged)
    }

    fn merged_groups<'p>(
        &'p self,
        task: GroupTask<'p>,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
    ) -> Result<GroupsOfThreads<'p>> {
        let GroupTask { select, batches, plan, .. } = task;
        let (operators, from) = (self.operators(), (&select.source, &batches.source));
        let divided = (from.0, from.1, batches.source.threads);
        let constants = plan.checks.iter().map(|check| &check.constant);
        let division = match operators.divide(divided, constants, ctx, row)? {
            Divided::Ready(division) => division,
            Divided::Undivided(builds) => return Ok(GroupsOfThreads::Undivided(builds)),
            Divided::Unfit => return Ok(GroupsOfThreads::Unfit),
            Divided::Empty => {
                let none = Grouping::new(task, (self.exec.workspace, 0), ctx);
                return Ok(none.map_or(GroupsOfThreads::Unfit, GroupsOfThreads::Merged));
            }
        };
        let all = operators.on_threads(division, ctx, row.len(), |worker, ctx, row| {
            let Some(mut grouping) = Grouping::new(task, (worker.workspace, 0), ctx) else {
                return Ok(None);
            };
            let mut filters = Filters::new(&batches.filters, &select.filter, ctx);
            let slots = &batches.source.slots;
            while let Some(morsel) = worker.take() {
                grouping.begin_morsel(morsel);
                let operators = worker.operators(morsel);
                let flow = operators.batches(from, &[], ctx, row, &mut |ctx, row, batch| {
                    visit_chosen(batch, slots, &mut filters, ctx, row, &mut |ctx, row, batch| {
                        Ok(if grouping.add(batch, ctx, row)? { Flow::More } else { Flow::Unfit })
                    })
                })?;
                if flow != Flow::More {
                    return Ok(None);
                }
            }
            Ok(Some(grouping))
        })?;
        let Some(mut all) = all else { return Ok(GroupsOfThreads::Undivided(Vec::new())) };
        if all.iter().any(Grouping::has_aside) {
            return Ok(GroupsOfThreads::Parts(all));
        }
        // What was merged stays a part where the rest does not fit with it.
        all.reverse();
        let Some(mut merged) = all.pop() else {
            return Ok(GroupsOfThreads::Undivided(Vec::new()));
        };
        while let Some(grouping) = all.pop() {
            self.check_killed()?;
            merged.merge(&grouping, &|_| true);
            if !all.is_empty() && !merged.fits() {
                all.push(merged);
                return Ok(GroupsOfThreads::Parts(all));
            }
        }
        Ok(GroupsOfThreads::Merged(merged))
    }
}
