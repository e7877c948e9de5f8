//! Grouping and aggregates over batches.
//!
//! For each batch:
//! 1. the program computes what keys and aggregates read ([`super::program`]);
//! 2. the keys of its rows find their groups ([`super::keys`]);
//! 3. each aggregate takes its vector in, group by group ([`super::totals`]).
//!
//! Groups are given at the end, or behind each batch those that no more rows can come to, where
//! rows come in the order of their groups.

use super::batch::{Batch, Rows};
use super::keys::{Dictionary, GroupNumbers, KeyWords};
use super::program::Execution;
use super::source::Flow;
use super::totals::Totals;
use crate::exec::keys::encode_key;
use crate::exec::{Project, Result, Runner};
use crate::plan::SelectPlan;
use crate::plan::vector::{NumberKind, VectorGroups, VectorKey};
use crate::spill::{Grant, held};
use inia_base::value::Value;
use inia_expr::{Aggregate, EvalContext, Expr};

/// The state of one execution.
struct Grouping<'p, 'w> {
    plan: &'p VectorGroups,
    /// The expressions that group.
    group: &'p [Expr],
    program: Execution<'p>,
    /// For each key that is not a number those that have come.
    dictionaries: Vec<Dictionary>,
    numbers: GroupNumbers,
    first: FirstRows,
    totals: Totals<'p>,
    memory: Grant<'w>,
    /// Bytes that groups and texts take.
    used: usize,
}

/// What is kept of the first row of each group.
#[derive(Default)]
struct FirstRows {
    groups: usize,
    /// The values of one group after the other.
    values: Vec<Value>,
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
        let group = select.aggregation.as_ref().map_or(&[][..], |all| &all.group);
        let Some(program) = Execution::new(&plan.program, ctx) else { return Ok(false) };
        let mut grouping = Grouping {
            plan,
            group,
            program,
            dictionaries: plan.keys.iter().map(|_| Dictionary::default()).collect(),
            numbers: GroupNumbers::new(plan.keys.len()),
            first: FirstRows::default(),
            totals: Totals::new(&plan.totals, calls),
            memory: Grant::new(self.exec.workspace),
            used: 0,
        };
        let mut stopped = false;
        let done = self.fitting_batches((select, batches), ctx, row, &mut |ctx, row, batch| {
            if !grouping.add(batch, ctx, row)? {
                debug_assert!(!plan.in_order, "what is given cannot be taken back");
                return Ok(Flow::Unfit);
            }
            if plan.in_order && !grouping.give(self, true, ctx, row, project)? {
                stopped = true;
                return Ok(Flow::Enough);
            }
            Ok(Flow::More)
        })?;
        if !done || stopped {
            return Ok(done);
        }
        if group.is_empty() && grouping.first.groups == 0 {
            plan.kept.iter().for_each(|&slot| row[slot] = Value::Null);
            grouping.begin(row);
        }
        grouping.give(self, false, ctx, row, project)?;
        Ok(true)
    }
}

impl Grouping<'_, '_> {
    /// Takes a batch in; false where it does not fit.
    fn add(
        &mut self,
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<bool> {
        if batch.rows() == 0 {
            return Ok(true);
        }
        if !self.program.run(batch, ctx, row)? {
            return Ok(false);
        }
        let Some(groups) = self.groups(batch, ctx, row)? else { return Ok(false) };
        // Groups in order are those of one batch.
        if !self.plan.in_order && !self.memory.allows(self.used + self.numbers.held()) {
            return Ok(false);
        }
        self.totals.add((&self.program, batch), &groups, ctx, row)
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
        let mut columns = Vec::with_capacity(self.plan.keys.len());
        for at in 0..self.plan.keys.len() {
            let Some(words) = self.words(at, batch, ctx, row)? else { return Ok(None) };
            columns.push(words);
        }
        let mut groups = Vec::with_capacity(batch.rows());
        for i in 0..batch.rows() {
            let (number, begins) = self.numbers.number(&columns, i);
            if begins {
                batch.fill(i, &self.plan.kept, row)?;
                self.begin(row);
            }
            groups.push(number);
        }
        Ok(Some(groups))
    }

    /// The words of a key.
    fn words(
        &mut self,
        at: usize,
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<Option<KeyWords>> {
        let (dictionary, expr) = (&mut self.dictionaries[at], &self.group[at]);
        let mut words = KeyWords::with_capacity(batch.rows());
        let used = &mut self.used;
        match &self.plan.keys[at] {
            VectorKey::Number(step) => {
                let unsigned = self.program.kind(*step) == NumberKind::Int { unsigned: true };
                let numbers = self.program.vector(*step);
                let fits = if unsigned { u64::MAX.into() } else { i64::MAX.into() };
                if !numbers.fits(i64::MIN.into(), fits) {
                    return Ok(None);
                }
                for i in 0..batch.rows() {
                    words.push((!numbers.is_null(i)).then(|| numbers.get(i) as u64));
                }
            }
            VectorKey::Text(slot) => {
                let collation = expr.ty.collation();
                let given = batch.texts(*slot, &mut |text| {
                    words.push(text.map(|text| {
                        dictionary.get(text).unwrap_or_else(|| {
                            let mut key = Vec::with_capacity(2 * text.len());
                            collation.sort_key(text, &mut key);
                            let (word, kept) = dictionary.add(text, key);
                            *used += kept;
                            word
                        })
                    }));
                })?;
                if !given {
                    return Ok(None);
                }
            }
            VectorKey::Value(slots) => {
                let mut key = Vec::new();
                for i in 0..batch.rows() {
                    batch.fill(i, slots, row)?;
                    let value = expr.eval_ref(ctx, row)?;
                    key.clear();
                    encode_key(&value, &expr.ty, false, &mut key);
                    let word = dictionary.of_key(&key);
                    words.push(Some(word.unwrap_or_else(|| {
                        let (word, kept) = dictionary.add_key(key.clone());
                        *used += kept;
                        word
                    })));
                }
            }
        }
        Ok(Some(words))
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
        let mut kept = self.first.values.drain(..complete * self.plan.kept.len());
        for number in 0..complete {
            runner.check_killed()?;
            for (&slot, value) in self.plan.kept.iter().zip(&mut kept) {
                row[slot] = value;
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
        drop(kept);
        if but_last && complete > 0 {
            self.first.groups = 1;
            self.numbers.leave_last();
            self.totals.leave_last();
        }
        Ok(true)
    }

    /// Begins a group with its first row.
    fn begin(&mut self, row: &[Value]) {
        let FirstRows { groups, values } = &mut self.first;
        *groups += 1;
        let from = values.len();
        values.extend(self.plan.kept.iter().map(|&slot| row[slot].clone()));
        self.used += held(&values[from..]) + self.totals.begin();
        let numbered = self.plan.keys.is_empty() || *groups == self.numbers.len();
        debug_assert!(numbered, "each group has its number");
    }
}
