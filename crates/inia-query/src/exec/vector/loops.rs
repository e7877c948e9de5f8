//! Nested loops over batches: the right side is read for each row of the left side.
//!
//! Where the right side is a table, all rows that its access path finds for the rows of a batch
//! become one batch, whose conditions are then checked together.

use super::batch::{Batch, BatchBuilder, Rows, pairs_at_once};
use super::column::NO_ROW;
use super::conditions::Filters;
use super::leaf::{LeafRows, LeafSource};
use super::operators::Operators;
use super::pairs::{Pairs, gathered};
use super::sideways::KeyFilters;
use super::source::{BatchVisitor, Flow, visit_chosen, visit_these};
use crate::access::{Lookups, TableScan};
use crate::exec::Result;
use crate::exec::select::holds;
use crate::plan::batches::{BatchSlot, LoopBatches, LoopRight};
use crate::plan::trace::{Node, Stage};
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
    /// The left row at `begun` has matched rows that were given already.
    matched: bool,
    /// Look-ups of all rows of a batch, where the right side is looked up by values.
    lookups: Option<Lookups>,
    /// Left rows one after the other whose rows could not be looked up so.
    failed: u32,
}

impl Operators<'_> {
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
        let mut found = Found {
            join,
            plan,
            out,
            filters,
            lefts,
            rights,
            begun: 0,
            matched: false,
            lookups,
            failed: 0,
        };
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
            self.rows(&join.right, ctx, own, &mut |ctx, own| {
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
                match self.read_for((table, found), (batch, left), ctx, (row, own), visit)? {
                    Flow::More => {}
                    flow => return Ok(flow),
                }
            }
            if found.is_full() {
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
        LeafRows::load(LeafSource::Run(&mut rows), source, zone, (&nothing, &[]))?
            .add_to(&mut found.rights, None)?;
        if let Some(trace) = self.trace {
            trace.examined(source, lefts.len() as u64);
            let runs = (lookups.runs(), lefts.len() as u64);
            trace.looked_up(Node::Source(&found.join.right), runs);
        }
        found.lefts.extend(lefts);
        lookups.clear();
        Ok(())
    }

    /// Adds the rows that the table's path finds for the left row in `own`, by a scan of its own.
    /// They are given in between where they are many.
    fn read_for(
        &self,
        (source, found): (&TableSource, &mut Found<'_>),
        (batch, left): (&Batch, usize),
        ctx: &mut EvalContext<'_>,
        (row, own): (&mut Vec<Value>, &mut Vec<Value>),
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let mut reading = Stage::new(self.trace, Node::Source(&found.join.right));
        let mut scan =
            TableScan::open(&source.table, &source.access, ReadMode::Snapshot, ctx, own)?;
        let slots = found.rights.columns.iter().map(|(slot, _)| slot.slot - source.base);
        let columns: Vec<usize> = slots.collect();
        scan.narrow_to(columns.iter().copied());
        let (zone, txn, nothing) =
            (&ctx.env.time_zone, self.txn_of(&source.table), Program::default());
        loop {
            let mut moving = txn.borrow_mut();
            if let Some(mut run) = scan.run(&mut moving)? {
                let mut rows =
                    LeafRows::load(LeafSource::Run(&mut run), source, zone, (&nothing, &[]))?;
                rows.add_to(&mut found.rights, None)?;
            } else {
                let Some(next) = scan.next(&mut moving)? else { break };
                let slots = &mut own[source.base..source.base + source.needed.len()];
                next.fill(&source.table, &columns, zone, slots)?;
                found.rights.push_row(own)?;
            }
            drop(moving);
            let read = found.rights.rows() - found.lefts.len();
            found.lefts.resize(found.rights.rows(), left as u32);
            if let Some(trace) = self.trace {
                trace.examined(source, read as u64);
            }
            let flow = reading.visit_rows(read as u64, || match found.is_full() {
                true => found.give(batch, left, ctx, row, visit),
                false => Ok(Flow::More),
            });
            match flow? {
                Flow::More => self.check_killed()?,
                flow => return Ok(flow),
            }
        }
        Ok(Flow::More)
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
            self.rows(&join.right, ctx, own, &mut |ctx, own| {
                if holds(&join.on, ctx, own)? {
                    found.rights.push_row(own)?;
                    found.lefts.push(left as u32);
                }
                if found.is_full() {
                    flow = found.give(batch, left, ctx, row, visit)?;
                }
                Ok(flow == Flow::More)
            })?;
            if flow != Flow::More {
                return Ok(flow);
            }
        }
        found.give(batch, batch.rows(), ctx, row, visit)
    }
}

impl Found<'_> {
    /// Whether what was read or is looked up is to be given before more is.
    fn is_full(&self) -> bool {
        let looked_up = self.lookups.as_ref().map_or(0, Lookups::pending);
        let large = self.lookups.as_ref().is_some_and(Lookups::is_large);
        large || self.rights.is_large() || self.lefts.len() + looked_up >= MAX_PAIRS
    }

    /// Gives the pairs of the left rows up to `end` to `visit`, and those of the row at `end` that
    /// are there.
    fn give(
        &mut self,
        batch: &Batch,
        end: usize,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let rights = self.rights.take();
        let left = std::mem::take(&mut self.lefts);
        let mut pairs = Pairs { right: (0..left.len() as u32).collect(), left };
        let most = pairs_at_once(batch.longest() + rights.longest(), MAX_PAIRS);
        let sides = (batch, &rights, &self.plan.on_slots[..]);
        pairs.check(&mut self.filters, (sides, most), ctx, row)?;
        if self.join.kind != JoinType::Inner {
            self.complete(&mut pairs, batch.rows(), end);
        }
        self.begun = end;
        for pair in pairs.chunks(most) {
            match visit(ctx, row, &mut gathered((batch, &rights, self.out), pair))? {
                Flow::More => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::More)
    }

    /// Makes of the pairs that match what comes out of an outer, a semi or an anti join.
    fn complete(&mut self, pairs: &mut Pairs, rows: usize, end: usize) {
        let mut matched = vec![false; rows];
        if self.matched {
            matched[self.begun] = true;
        }
        pairs.left.iter().for_each(|&left| matched[left as usize] = true);
        self.matched = matched.get(end).copied().unwrap_or_default();
        if self.join.kind == JoinType::Left {
            return pairs.add_unmatched(&matched, self.begun..end);
        }
        pairs.clear();
        let semi = self.join.kind == JoinType::Semi;
        let come_out = (self.begun..end).filter(|&left| matched[left] == semi);
        come_out.for_each(|left| pairs.push(left as u32, NO_ROW));
    }
}
