//! Grouping and aggregates of one table over column vectors ([`crate::plan::vector`]).
//!
//! For each batch, which is the rows of one leaf or of one batch of look-ups:
//! 1. conditions choose rows, for the whole batch each where they can ([`conditions`]);
//! 2. the key columns of chosen rows find their groups ([`keys`]);
//! 3. the program computes what aggregates read, for chosen rows alone ([`program`], [`numbers`]);
//! 4. each aggregate takes its vector in, group by group ([`totals`]).
//!
//! No group has been given when a number or a group turns out not to fit: general execution starts
//! from the beginning then, and gives MySQL's errors where there are any.

mod conditions;
mod keys;
mod numbers;
mod program;
#[cfg(test)]
mod tests;
mod totals;

use super::keys::encode_key;
use super::{Project, Result, Runner};
use crate::access::{FoundRow, FoundRun, RowData, TableScan};
use crate::plan::trace::{Node, watched};
use crate::plan::vector::{VectorFilter, VectorGroups};
use crate::plan::{RowSource, SelectPlan, TableSource};
use crate::spill::{Grant, held};
use conditions::{Batch, TextConstants, Truth};
use inia_base::value::Value;
use inia_expr::{Aggregate, EvalContext, Expr};
use inia_storage::ReadMode;
use keys::{GroupNumbers, Words};
use program::Program;
use totals::Totals;

/// The state of one execution.
struct Grouping<'p, 'w> {
    source: &'p TableSource,
    plan: &'p VectorGroups,
    /// The expressions that group.
    group: &'p [Expr],
    tested: Tested<'p>,
    computed: Program<'p>,
    numbers: GroupNumbers,
    first: FirstRows,
    totals: Totals<'p>,
    memory: Grant<'w>,
    /// Bytes that groups and texts take.
    used: usize,
    /// Which rows of the batch fulfil the conditions.
    chosen: Vec<bool>,
    seen: Seen,
}

/// What is kept of the first row of each group.
#[derive(Default)]
struct FirstRows {
    groups: usize,
    /// The values of one group after the other.
    values: Vec<Value>,
}

/// What conditions need.
struct Tested<'p> {
    program: Program<'p>,
    /// The texts of each condition.
    texts: Vec<Option<TextConstants>>,
}

/// Rows that were read, and those of them that fulfil the conditions.
#[derive(Default)]
struct Seen {
    examined: u64,
    found: u64,
}

impl Runner<'_> {
    /// Gives the groups of one table to `project`; false, with nothing given, where they must be
    /// made in another way.
    pub(super) fn vector_groups(
        &self,
        (select, plan): (&SelectPlan, &VectorGroups),
        calls: &[Aggregate],
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
        project: &mut Project<'_>,
    ) -> Result<bool> {
        let RowSource::Table(source) = &select.source else { return Ok(false) };
        let group = select.aggregation.as_ref().map_or(&[][..], |all| &all.group);
        let Some(mut grouping) = self.grouping(source, (plan, group, calls), ctx) else {
            return Ok(false);
        };
        // A second run would warn again.
        let warned = (ctx.warnings.count, ctx.warnings.list.len());
        let done = match self.trace {
            None => self.all_batches(&mut grouping, ctx, row)?,
            Some(trace) => watched(trace, Node::Source(&select.source), |watch| {
                let done = self.all_batches(&mut grouping, ctx, row)?;
                if done {
                    trace.examined(source, grouping.seen.examined);
                    watch.gave(grouping.seen.found);
                }
                Ok(done)
            })?,
        };
        if !done {
            ctx.warnings.count = warned.0;
            ctx.warnings.list.truncate(warned.1);
            return Ok(false);
        }
        if group.is_empty() && grouping.first.groups == 0 {
            row[source.base..source.base + source.needed.len()].fill(Value::Null);
            grouping.begin(row);
        }
        let Grouping { first, totals, computed, .. } = grouping;
        let mut kept = first.values.into_iter();
        for number in 0..first.groups {
            self.check_killed()?;
            for (&slot, value) in plan.kept.iter().zip(&mut kept) {
                row[slot] = value;
            }
            ctx.aggregates.clear();
            for (at, call) in calls.iter().enumerate() {
                let value = totals.value((at, number), call, &computed, ctx)?;
                ctx.aggregates.push(value);
            }
            if !project(ctx, row)? {
                break;
            }
        }
        Ok(true)
    }

    /// The beginning; `None` where constants are not what the plan has taken them for.
    fn grouping<'p>(
        &self,
        source: &'p TableSource,
        (plan, group, calls): (&'p VectorGroups, &'p [Expr], &[Aggregate]),
        ctx: &mut EvalContext<'_>,
    ) -> Option<Grouping<'p, '_>> {
        debug_assert_eq!(plan.totals.len(), calls.len(), "each call has a total");
        debug_assert_eq!(plan.keys.len(), group.len(), "each key has a column");
        let texts = plan.conditions.iter().map(|filter| match filter {
            VectorFilter::Vector(condition) => TextConstants::of(condition, ctx).map(Some),
            VectorFilter::Row(_) => Some(None),
        });
        let texts = texts.collect::<Option<_>>()?;
        Some(Grouping {
            source,
            plan,
            group,
            tested: Tested { program: Program::new(&plan.tested, ctx)?, texts },
            computed: Program::new(&plan.computed, ctx)?,
            numbers: GroupNumbers::new(plan.keys.len()),
            first: FirstRows::default(),
            totals: Totals::new(&plan.totals),
            memory: Grant::new(self.exec.workspace),
            used: 0,
            chosen: Vec::new(),
            seen: Seen::default(),
        })
    }

    fn all_batches(
        &self,
        grouping: &mut Grouping<'_, '_>,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<bool> {
        let source = grouping.source;
        let mut scan =
            TableScan::open(&source.table, &source.access, ReadMode::Snapshot, ctx, row)?;
        if !scan.is_exact() && !source.bound_filter.is_empty() {
            return Ok(false);
        }
        let read = source.read_order.tested.iter().chain(&source.read_order.rest);
        scan.narrow_to(read.copied());
        let txn = self.txn_of(&source.table);
        let mut key = Vec::new();
        loop {
            self.check_killed()?;
            // A condition may read other tables in the same transaction.
            let run = scan.run(&mut txn.borrow_mut())?;
            if let Some(mut run) = run {
                if !grouping.add(&mut run, ctx, row)? {
                    return Ok(false);
                }
                continue;
            }
            let mut moving = txn.borrow_mut();
            let Some(found) = scan.next(&mut moving)? else { return Ok(true) };
            let RowData::Row(bytes) = found.data else { return Ok(false) };
            drop(moving);
            let mut run = FoundRun::of_rows(vec![bytes], &mut key);
            if !grouping.add(&mut run, ctx, row)? {
                return Ok(false);
            }
        }
    }
}

impl Grouping<'_, '_> {
    /// Takes a batch in; false where it does not fit.
    fn add(
        &mut self,
        run: &mut FoundRun<'_>,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<bool> {
        self.seen.examined += run.len() as u64;
        if !self.choose(run, ctx, row)? {
            return Ok(false);
        }
        let chosen = self.chosen.iter().filter(|chosen| **chosen).count();
        if chosen == 0 {
            return Ok(true);
        }
        self.seen.found += chosen as u64;
        let all = chosen == run.len();
        let of_chosen = (!all).then_some(&self.chosen[..]);
        if !self.computed.run(run, self.source, of_chosen)? {
            return Ok(false);
        }
        let Some(groups) = self.groups(run, chosen, ctx, row)? else { return Ok(false) };
        Ok(self.totals.add(&self.computed, &groups, chosen))
    }

    /// Finds the rows that fulfil the conditions.
    fn choose(
        &mut self,
        run: &mut FoundRun<'_>,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<bool> {
        self.chosen.clear();
        self.chosen.resize(run.len(), true);
        if !self.tested.program.run(run, self.source, None)? {
            return Ok(false);
        }
        for (filter, texts) in self.plan.conditions.iter().zip(&self.tested.texts) {
            match (filter, texts) {
                (VectorFilter::Vector(condition), Some(texts)) => {
                    let batch = Batch { run, source: self.source, program: &self.tested.program };
                    let Some(truth) = batch.truth(condition, &mut texts.iter())? else {
                        return Ok(false);
                    };
                    let chosen = self.chosen.iter_mut().zip(truth);
                    chosen.for_each(|(chosen, truth)| *chosen &= truth == Truth::True);
                }
                (VectorFilter::Row(place), _) => {
                    for i in 0..run.len() {
                        if self.chosen[i] {
                            fill(run, i, self.source, ctx, row)?;
                            let holds = self.source.filter[*place].eval_bool(ctx, row)?;
                            self.chosen[i] = holds == Some(true);
                        }
                    }
                }
                (VectorFilter::Vector(_), None) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The group of each chosen row; groups that are new begin. `None` where memory has no room.
    fn groups(
        &mut self,
        run: &mut FoundRun<'_>,
        chosen: usize,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<Option<Vec<usize>>> {
        if self.plan.keys.is_empty() {
            let first = self.chosen.iter().position(|chosen| *chosen);
            if let (0, Some(first)) = (self.first.groups, first) {
                fill(run, first, self.source, ctx, row)?;
                self.begin(row);
            }
            return Ok(Some(Vec::new()));
        }
        let mut columns = Vec::with_capacity(self.plan.keys.len());
        for key in &self.plan.keys {
            let Some(words) = Words::read(run, self.source, *key, &self.chosen)? else {
                return Ok(None);
            };
            columns.push(words);
        }
        let rows = self.chosen.iter().enumerate().filter(|(_, chosen)| **chosen);
        let rows: Vec<usize> = rows.map(|(row, _)| row).collect();
        let mut groups = Vec::with_capacity(chosen);
        let mut words = vec![None; columns.len()];
        for (at, &i) in rows.iter().enumerate() {
            for (place, (column, word)) in columns.iter().zip(&mut words).enumerate() {
                let text = match column {
                    Words::Numbers(numbers) => {
                        *word = numbers[at];
                        continue;
                    }
                    Words::Texts(texts) => texts[at],
                };
                let known = text.map(|text| self.numbers.dictionaries[place].get(text));
                *word = match (text, known.flatten()) {
                    (Some(text), None) => {
                        fill(run, i, self.source, ctx, row)?;
                        Some(self.new_word(place, text, ctx, row)?)
                    }
                    (_, known) => known,
                };
            }
            let (number, begins) = self.numbers.number(&words);
            if begins {
                fill(run, i, self.source, ctx, row)?;
                self.begin(row);
            }
            groups.push(number);
        }
        Ok(self.memory.allows(self.used + self.numbers.held()).then_some(groups))
    }

    /// The word of a text that has not come yet, which is in `row` at its key's column.
    fn new_word(
        &mut self,
        place: usize,
        text: &[u8],
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<u64> {
        let (group, mut key) = (&self.group[place], Vec::new());
        encode_key(&*group.eval_ref(ctx, row)?, &group.ty, false, &mut key);
        let (word, kept) = self.numbers.dictionaries[place].add(text, key);
        self.used += kept;
        Ok(word)
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

/// Decodes a row of the run into its slots.
fn fill(
    run: &mut FoundRun<'_>,
    i: usize,
    source: &TableSource,
    ctx: &EvalContext<'_>,
    row: &mut [Value],
) -> Result<()> {
    let found = FoundRow { clustered_key: &[], data: run.data(i) };
    let slots = &mut row[source.base..source.base + source.needed.len()];
    for columns in [&source.read_order.tested, &source.read_order.rest] {
        found.fill(&source.table, columns, &ctx.env.time_zone, slots)?;
    }
    Ok(())
}
