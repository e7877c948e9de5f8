//! Nested loops over batches: the right side is read for each row of the left side.
//!
//! Where the right side is a table, all rows that its access path finds for the rows of a batch
//! become one batch, whose conditions are then checked together.

use super::batch::{Batch, BatchBuilder, Rows};
use super::column::NO_ROW;
use super::conditions::Filters;
use super::hash::Pairs;
use super::leaf::LeafRows;
use super::sideways::KeyFilters;
use super::source::{BatchVisitor, Flow, visit_chosen, visit_these};
use crate::access::{Lookups, TableScan};
use crate::exec::select::holds;
use crate::exec::{Result, Runner};
use crate::plan::batches::{BatchSlot, LoopBatches, LoopRight};
use crate::plan::trace::{Node, watched};
use crate::plan::vector::Program;
use crate::plan::{JoinPlan, JoinType, RowSource, TableSource};
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_storage::ReadMode;

/// Pairs whose conditions are checked together.
const MAX_PAIRS: usize = 4096;

/// Rows that are looked up without success before that is given up.
const MAX_FAILED: u32 = 16;

/// The pairs of a batch's rows and those that were read for them.
struct Found<'p> {
    join: &'p JoinPlan,
    plan: &'p LoopBatches,
    out: &'p [BatchSlot],
    filters: Filters<'p>,
    /// For each row that was read the left row that it was read for.
    lefts: Vec<u32>,
    rights: BatchBuilder,
    /// The left rows from this one on have not been given.
    begun: usize,
    /// Look-ups of all rows of a batch, where the right side is looked up by values.
    lookups: Option<Lookups>,
    /// Left rows one after the other whose rows could not be looked up so.
    failed: u32,
}

impl Runner<'_> {
    /// Gives the rows of a nested loop to `visit`.
    pub(super) fn loop_batches(
        &self,
        join: &JoinPlan,
        (plan, out, keys): (&LoopBatches, &[BatchSlot], &KeyFilters<'_>),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let conditions: Vec<_> = match (&join.right, plan.right) {
            (_, LoopRight::Rows) => Vec::new(),
            (RowSource::Table(table), _) => {
                table.filter.iter().chain(&table.bound_filter).chain(&join.on).collect()
            }
            _ => join.on.iter().collect(),
        };
        let mut filters = Filters::new(&plan.on, conditions, ctx);
        let from = (&join.left, &plan.left);
        if plan.right == LoopRight::Nothing {
            return self.batches(from, keys, ctx, row, &mut |ctx, row, batch| {
                visit_chosen(batch, out, &mut filters, ctx, row, visit)
            });
        }
        let (lefts, rights) = (Vec::new(), BatchBuilder::new(&plan.right_slots));
        let lookups = match (&join.right, plan.right) {
            (RowSource::Table(table), LoopRight::Table) => Lookups::of(&table.table, &table.access),
            _ => None,
        };
        let mut found =
            Found { join, plan, out, filters, lefts, rights, begun: 0, lookups, failed: 0 };
        // The visitor uses `row` while the right side goes on with its own.
        let mut own = vec![Value::Null; row.len()];
        self.batches(from, keys, ctx, row, &mut |ctx, row, batch| match (&join.right, plan.right) {
            (RowSource::Table(table), LoopRight::Table) => {
                self.table_loop((table, &mut found), batch, ctx, (row, &mut own), visit)
            }
            _ if !join.kind.gives_right() => {
                let chosen = self.matched(join, plan, batch, ctx, &mut own)?;
                visit_these(batch, out, &chosen, ctx, row, visit)
            }
            _ => self.row_loop(&mut found, batch, ctx, (row, &mut own), visit),
        })
    }

    /// Which left rows of a semi or an anti join come out.
    fn matched(
        &self,
        join: &JoinPlan,
        plan: &LoopBatches,
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        own: &mut Vec<Value>,
    ) -> Result<Vec<bool>> {
        let mut chosen = Vec::with_capacity(batch.rows());
        for left in 0..batch.rows() {
            batch.fill(left, &plan.bound, own)?;
            let mut matched = false;
            // The first match decides; the right side's answer only says that it was left.
            self.source(&join.right, ctx, own, &mut |ctx, own| {
                matched = holds(&join.on, ctx, own)?;
                Ok(!matched)
            })?;
            chosen.push(matched == (join.kind == JoinType::Semi));
        }
        Ok(chosen)
    }

    /// Reads a table for each row of a batch.
    fn table_loop(
        &self,
        (table, found): (&TableSource, &mut Found<'_>),
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        (row, own): (&mut Vec<Value>, &mut Vec<Value>),
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        found.begun = 0;
        let txn = self.txn_of(&table.table);
        for left in 0..batch.rows() {
            self.check_killed()?;
            batch.fill(left, &found.plan.bound, own)?;
            let added = match found.lookups.as_mut().filter(|_| found.failed < MAX_FAILED) {
                Some(lookups) => lookups.add(&table.access, left as u32, ctx, own, txn)?,
                None => false,
            };
            found.failed = if added { 0 } else { found.failed + 1 };
            if !added {
                // Rows come in the order of the left side.
                self.take_lookups(table, found, ctx)?;
                self.read_for(table, (found, left as u32), ctx, own)?;
            }
            if found.pending() >= MAX_PAIRS {
                self.take_lookups(table, found, ctx)?;
                match found.give(batch, left + 1, ctx, row, visit)? {
                    Flow::More => {}
                    flow => return Ok(flow),
                }
            }
        }
        self.take_lookups(table, found, ctx)?;
        found.give(batch, batch.rows(), ctx, row, visit)
    }

    /// Adds the rows that were looked up together.
    fn take_lookups(
        &self,
        source: &TableSource,
        found: &mut Found<'_>,
        ctx: &EvalContext<'_>,
    ) -> Result<()> {
        let Some(lookups) = found.lookups.as_mut().filter(|lookups| lookups.runs() > 0) else {
            return Ok(());
        };
        let lefts = lookups.read(self.txn_of(&source.table))?;
        let mut key = Vec::new();
        let mut rows = lookups.found(&mut key);
        debug_assert_eq!(rows.len(), lefts.len(), "each row is wanted by a left row");
        let (nothing, zone) = (Program::default(), &ctx.env.time_zone);
        LeafRows::load(&mut rows, source, zone, &nothing)?.add_to(&mut found.rights, None)?;
        if let Some(trace) = self.trace {
            trace.examined(source, lefts.len() as u64);
            let runs = (lookups.runs(), lefts.len() as u64);
            trace.looked_up(Node::Source(&found.join.right), runs);
        }
        found.lefts.extend(lefts);
        lookups.clear();
        Ok(())
    }

    /// Adds the rows that the table's path finds for the left row in `own`, one scan for it.
    fn read_for(
        &self,
        table: &TableSource,
        (found, left): (&mut Found<'_>, u32),
        ctx: &mut EvalContext<'_>,
        own: &mut [Value],
    ) -> Result<()> {
        let before = found.rights.rows();
        match self.trace {
            None => _ = self.scan_for(table, &mut found.rights, ctx, own)?,
            Some(trace) => watched(trace, Node::Source(&found.join.right), |watch| {
                let examined = self.scan_for(table, &mut found.rights, ctx, own)?;
                trace.examined(table, examined);
                watch.gave(examined);
                Ok(())
            })?,
        }
        let read = found.rights.rows() - before;
        found.lefts.resize(found.lefts.len() + read, left);
        Ok(())
    }

    /// Adds the rows that the table's path finds for the row in `own`; returns how many.
    fn scan_for(
        &self,
        source: &TableSource,
        rights: &mut BatchBuilder,
        ctx: &mut EvalContext<'_>,
        own: &mut [Value],
    ) -> Result<u64> {
        let mut scan =
            TableScan::open(&source.table, &source.access, ReadMode::Snapshot, ctx, own)?;
        let slots = rights.columns.iter().map(|(slot, _)| slot.slot - source.base);
        let columns: Vec<usize> = slots.collect();
        scan.narrow_to(columns.iter().copied());
        let (env, mut txn) = (ctx.env, self.txn_of(&source.table).borrow_mut());
        let nothing = Program::default();
        let mut examined = 0;
        loop {
            if let Some(mut run) = scan.run(&mut txn)? {
                examined += run.len() as u64;
                LeafRows::load(&mut run, source, &env.time_zone, &nothing)?.add_to(rights, None)?;
                continue;
            }
            let Some(found) = scan.next(&mut txn)? else { return Ok(examined) };
            examined += 1;
            let slots = &mut own[source.base..source.base + source.needed.len()];
            found.fill(&source.table, &columns, &env.time_zone, slots)?;
            rights.push_row(own)?;
        }
    }

    /// Runs the right side row by row for each row of a batch.
    fn row_loop(
        &self,
        found: &mut Found<'_>,
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        (row, own): (&mut Vec<Value>, &mut Vec<Value>),
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        found.begun = 0;
        let join = found.join;
        for left in 0..batch.rows() {
            batch.fill(left, &found.plan.bound, own)?;
            let mut flow = Flow::More;
            self.source(&join.right, ctx, own, &mut |ctx, own| {
                if holds(&join.on, ctx, own)? {
                    found.rights.push_row(own)?;
                    found.lefts.push(left as u32);
                }
                // An outer join's pairs of one left row stay together.
                if found.lefts.len() >= MAX_PAIRS && join.kind == JoinType::Inner {
                    flow = found.give(batch, left, ctx, row, visit)?;
                }
                Ok(flow == Flow::More)
            })?;
            if flow == Flow::More && found.lefts.len() >= MAX_PAIRS {
                flow = found.give(batch, left + 1, ctx, row, visit)?;
            }
            if flow != Flow::More {
                return Ok(flow);
            }
        }
        found.give(batch, batch.rows(), ctx, row, visit)
    }
}

impl Found<'_> {
    /// How many rows were read or are looked up, and not given.
    fn pending(&self) -> usize {
        self.lefts.len() + self.lookups.as_ref().map_or(0, Lookups::pending)
    }

    /// Gives the pairs of the left rows up to `end` to `visit`.
    fn give(
        &mut self,
        batch: &Batch,
        end: usize,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let rights = self.rights.take();
        let mut pairs = Pairs::default();
        pairs.left = std::mem::take(&mut self.lefts);
        pairs.right = (0..pairs.left.len() as u32).collect();
        if !self.filters.is_empty() && !pairs.is_empty() {
            let slots = &self.plan.on_slots;
            let mut checked = Batch::of_rows(pairs.len());
            checked.gather(batch, slots, &pairs.left);
            checked.gather(&rights, slots, &pairs.right);
            if let Some(chosen) = self.filters.choose(&mut checked, ctx, row)? {
                pairs.keep(&chosen);
            }
        }
        if self.join.kind != JoinType::Inner {
            let mut matched = vec![false; batch.rows()];
            pairs.left.iter().for_each(|&left| matched[left as usize] = true);
            match self.join.kind {
                JoinType::Left => pairs.add_unmatched(&matched, self.begun..end),
                kind => {
                    let comes_out = |left: &usize| matched[*left] == (kind == JoinType::Semi);
                    pairs.clear();
                    (self.begun..end)
                        .filter(comes_out)
                        .for_each(|left| pairs.push(left as u32, NO_ROW));
                }
            }
        }
        self.begun = end;
        if pairs.is_empty() {
            return Ok(Flow::More);
        }
        let mut joined = Batch::of_rows(pairs.len());
        joined.gather(batch, self.out, &pairs.left);
        joined.gather(&rights, self.out, &pairs.right);
        visit(ctx, row, &mut joined)
    }
}
