//! Grouping and aggregates over batches.
//!
//! For each batch:
//! 1. the program computes what keys and aggregates read ([`super::program`]);
//! 2. the keys of its rows find their groups ([`super::keys`]);
//! 3. each aggregate takes its vector in, group by group ([`super::totals`]).
//!
//! Groups are given at the end, or behind each batch those that no more rows can come to, where
//! rows come in the order of their groups. Rows of groups that memory has no room for are put aside
//! and grouped in further passes ([`aside`]).

mod aside;

use super::batch::{Batch, Rows};
use super::key_reader::KeyReader;
use super::keys::GroupNumbers;
use super::operators::BuiltJoin;
use super::parallel::GroupsOfThreads;
use super::program::Execution;
use super::source::Flow;
use super::totals::{GroupChecks, Totals};
use crate::exec::{Project, Result, Runner};
use crate::plan::batches::{BatchPlan, BatchSlot};
use crate::plan::vector::VectorGroups;
use crate::plan::{JoinPlan, SelectPlan};
use crate::spill::{Grant, Workspace, held};
use aside::Aside;
use inia_base::value::Value;
use inia_expr::{Aggregate, EvalContext};

/// Groups to be made of the rows of a SELECT.
#[derive(Clone, Copy)]
pub(super) struct GroupTask<'p> {
    pub(super) select: &'p SelectPlan,
    pub(super) batches: &'p BatchPlan,
    pub(super) plan: &'p VectorGroups,
    pub(super) calls: &'p [Aggregate],
}

/// The groups of one execution, of one of its threads, or of one pass over rows that were put
/// aside.
///
/// Wide: what the plan says of groups, and what is kept of them.
pub(super) struct Grouping<'p, 'w> {
    plan: &'p VectorGroups,
    /// The slots of a batch.
    slots: &'p [BatchSlot],
    program: Execution<'p>,
    keys: KeyReader<'p>,
    numbers: GroupNumbers,
    first: FirstRows,
    totals: Totals<'p, 'w>,
    /// What groups that come out have in common.
    checks: GroupChecks,
    workspace: Workspace<'w>,
    memory: Grant<'w>,
    /// Bytes that groups and texts take.
    used: usize,
    /// By which bits of their keys' hashes rows are put aside.
    level: u32,
    /// Rows of other groups. Where there are any, no group begins any more.
    aside: Option<Aside<'w>>,
}

/// What became of the groups of a SELECT.
enum Groups<'p, 'w> {
    /// They are here, the last of them at least.
    Here(Grouping<'p, 'w>),
    /// They were given, as many as are wanted.
    Given,
    /// Rows do not fit; nothing was given.
    Unfit,
}

/// What is kept of the first row of each group.
#[derive(Default)]
struct FirstRows {
    groups: usize,
    /// The values of one group after the other.
    values: Vec<Value>,
    /// Where several threads make groups: the morsel in which each has begun, and how many its
    /// thread had then. That is the order in which one thread would have begun them.
    begun: Vec<(u32, u32)>,
    /// The present morsel, where several threads make groups.
    morsel: Option<u32>,
}

impl FirstRows {
    /// The groups in the order in which they began; `None` for that of their numbers.
    fn order(&self) -> Option<Vec<u32>> {
        if self.begun.is_sorted() {
            return None;
        }
        let mut order: Vec<u32> = (0..self.groups as u32).collect();
        order.sort_unstable_by_key(|&group| self.begun[group as usize]);
        Some(order)
    }
}

impl Runner<'_> {
    /// Gives the groups of a SELECT to `project`; false, with nothing given, where they must be
    /// made in another way.
    pub(in crate::exec) fn vector_groups(
        &self,
        (select, plan): (&SelectPlan, &VectorGroups),
        calls: &[Aggregate],
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        project: &mut Project<'_>,
    ) -> Result<bool> {
        let Some(batches) = &select.batches else { return Ok(false) };
        let task = GroupTask { select, batches, plan, calls };
        let one =
            |builds: &[_], ctx: &mut EvalContext<'_>, row: &mut Vec<Value>, project: &mut _| {
                self.groups_of_one(task, builds, ctx, row, project)
            };
        let groups = match self.groups_of_threads(task, ctx, row)? {
            GroupsOfThreads::Merged(grouping) => Groups::Here(grouping),
            GroupsOfThreads::Parts(all) => {
                self.give_parts(task, all, ctx, row, project)?;
                Groups::Given
            }
            GroupsOfThreads::Unfit => Groups::Unfit,
            GroupsOfThreads::Undivided(builds) => one(&builds, ctx, row, project)?,
        };
        let mut grouping = match groups {
            Groups::Here(grouping) => grouping,
            Groups::Given => return Ok(true),
            Groups::Unfit => return Ok(false),
        };
        if plan.keys.is_empty() && grouping.first.groups == 0 {
            plan.kept.iter().for_each(|&slot| row[slot] = Value::Null);
            grouping.begin(row);
        }
        self.give_all(task, grouping, ctx, row, project)?;
        Ok(true)
    }

    /// The groups that the statement's own thread makes. Those that are complete before are given.
    fn groups_of_one<'p>(
        &'p self,
        task: GroupTask<'p>,
        builds: &[(&JoinPlan, BuiltJoin<'_>)],
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        project: &mut Project<'_>,
    ) -> Result<Groups<'p, 'p>> {
        let Some(mut grouping) = Grouping::new(task, (self.exec.workspace, 0), ctx) else {
            return Ok(Groups::Unfit);
        };
        let (mut stopped, in_order) = (false, task.plan.in_order);
        let from = (task.select, task.batches, builds);
        let done = self.fitting_batches(from, ctx, row, &mut |ctx, row, batch| {
            if !grouping.add(batch, ctx, row)? {
                debug_assert!(!in_order, "what is given cannot be taken back");
                return Ok(Flow::Unfit);
            }
            if in_order && !grouping.give(self, true, ctx, row, project)? {
                stopped = true;
                return Ok(Flow::Enough);
            }
            Ok(Flow::More)
        })?;
        Ok(match (done, stopped) {
            (false, _) => Groups::Unfit,
            (true, true) => Groups::Given,
            (true, false) => Groups::Here(grouping),
        })
    }
}

impl<'p, 'w> Grouping<'p, 'w> {
    /// No groups yet, of a level of partitions; `None` where constants are not what the plan has
    /// taken them for.
    pub(super) fn new(
        task: GroupTask<'p>,
        (workspace, level): (Workspace<'w>, u32),
        ctx: &mut EvalContext<'_>,
    ) -> Option<Grouping<'p, 'w>> {
        let GroupTask { select, batches, plan, calls } = task;
        let group = select.aggregation.as_ref().map_or(&[][..], |all| &all.group);
        let program = Execution::new(&plan.program, ctx)?;
        let totals = Totals::new(&plan.totals, calls, &program, workspace);
        Some(Grouping {
            plan,
            slots: &batches.source.slots,
            program,
            keys: KeyReader::new(&plan.keys, group),
            numbers: GroupNumbers::new(plan.keys.len()),
            first: FirstRows::default(),
            totals,
            checks: GroupChecks::new(&plan.checks, ctx),
            workspace,
            memory: Grant::new(workspace),
            used: 0,
            level,
            aside: None,
        })
    }

    /// The rows to come are those of a morsel, which are later than those of smaller numbers.
    pub(super) fn begin_morsel(&mut self, morsel: usize) {
        self.first.morsel = Some(morsel as u32);
    }

    /// Takes a batch in; false where it does not fit.
    pub(super) fn add(
        &mut self,
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<bool> {
        if batch.rows() == 0 {
            return Ok(true);
        }
        if self.aside.is_some() {
            return self.add_known(batch, ctx, row);
        }
        if !self.program.run(batch, ctx, row)? {
            return Ok(false);
        }
        let Some(groups) = self.groups(batch, ctx, row)? else { return Ok(false) };
        let added = self.totals.add((&self.program, batch), &groups, ctx, row)?;
        self.check_memory();
        Ok(added)
    }

    /// The group of each row; groups that are new begin. `None` where a key does not fit.
    fn groups(
        &mut self,
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<Option<Vec<u32>>> {
        if self.plan.keys.is_empty() {
            if self.first.groups == 0 {
                batch.fill(0, &self.plan.kept, row)?;
                self.begin(row);
            }
            return Ok(Some(Vec::new()));
        }
        let Some(columns) = self.keys.all_words(batch, &self.program, ctx, row)? else {
            return Ok(None);
        };
        let mut groups = Vec::with_capacity(batch.rows());
        for i in 0..batch.rows() {
            let (number, begins) = self.numbers.number(&columns, i);
            if begins {
                batch.fill(i, &self.plan.kept, row)?;
                self.begin(row);
            } else {
                self.see_earlier((batch, i), number, row)?;
            }
            groups.push(number);
        }
        Ok(Some(groups))
    }

    /// Gives the groups to `project`, all or but the last, to which more rows may come; false where
    /// no more are wanted.
    fn give(
        &mut self,
        runner: &Runner<'_>,
        but_last: bool,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
        project: &mut Project<'_>,
    ) -> Result<bool> {
        let complete = self.first.groups - usize::from(but_last && self.first.groups > 0);
        let (order, width) = (self.first.order(), self.plan.kept.len());
        self.totals.complete()?;
        for at in 0..complete {
            runner.check_killed()?;
            let number = order.as_ref().map_or(at, |order| order[at] as usize);
            // What is watched counts all groups.
            if runner.trace.is_none() && !self.totals.may_hold(number, &self.checks, &self.program)
            {
                continue;
            }
            let kept = &mut self.first.values[number * width..][..width];
            for (&slot, value) in self.plan.kept.iter().zip(kept) {
                row[slot] = std::mem::replace(value, Value::Null);
            }
            ctx.aggregates.clear();
            for at in 0..self.plan.totals.len() {
                let value = self.totals.value((at, number), &self.program, ctx)?;
                ctx.aggregates.push(value);
            }
            if !project(ctx, row)? {
                return Ok(false);
            }
        }
        if but_last && complete > 0 {
            self.first.values.drain(..complete * width);
            self.first.groups = 1;
            self.numbers.leave_last();
            self.totals.leave_last();
        }
        Ok(true)
    }

    /// Begins a group with its first row.
    fn begin(&mut self, row: &[Value]) {
        let FirstRows { groups, values, begun, morsel } = &mut self.first;
        begun.extend(morsel.map(|morsel| (morsel, *groups as u32)));
        *groups += 1;
        let from = values.len();
        values.extend(self.plan.kept.iter().map(|&slot| row[slot].clone()));
        self.used += held(&values[from..]) + self.totals.begin();
        let numbered = self.plan.keys.is_empty() || *groups == self.numbers.len();
        debug_assert!(numbered, "each group has its number");
    }
}
