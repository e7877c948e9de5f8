//! Direct execution of queries of one table: cells go from stored bytes to the client, to a sort
//! key or into an aggregate without becoming values.
//!
//! The plan chooses one of three shapes:
//! - columns in the order of the access path ([`rows`]);
//! - columns sorted by some of them, DISTINCT where those are all of them ([`sorted`]);
//! - COUNT, SUM, MIN, MAX over all rows found ([`totals`]).
//!
//! A condition that the access path does not answer is evaluated over the columns that it reads.
//! Example: `SELECT c FROM t WHERE id BETWEEN 5 AND 9 AND x > 3 ORDER BY c`: for each row of the
//! range `x` is decoded and checked; then `c`'s sort key and the row's bytes go into the sorter;
//! in the end `c` is sent from there.

mod rows;
mod sorted;
mod totals;

pub(super) use totals::{Total, integer};

use super::checks::Checks;
use super::select::holds;
use super::{Result, Runner};
use crate::access::{FoundRow, TableScan};
use crate::error::StorageResult;
use crate::plan::{Body, Direct, DirectShape, QueryPlan, RowSource, SelectPlan, TableSource};
use inia_base::column::RowSink;
use inia_base::value::Value;
use inia_expr::{EvalContext, Expr};
use inia_storage::ReadMode;
use std::borrow::Cow;

/// Takes rows as they are stored; returns whether it wants more.
type FoundVisitor<'v> = dyn FnMut(&mut EvalContext<'_>, &FoundRow<'_>) -> Result<bool> + 'v;

/// A query of one table that is executed from stored cells.
#[derive(Clone, Copy)]
struct DirectQuery<'q> {
    query: &'q QueryPlan,
    select: &'q SelectPlan,
    source: &'q TableSource,
    plan: &'q Direct,
}

impl Runner<'_> {
    /// Runs the outermost query the direct way, if it is of a shape that can; returns how many
    /// rows were sent.
    pub(super) fn send_direct(
        &self,
        ctx: &mut EvalContext<'_>,
        sink: &mut dyn RowSink,
    ) -> Result<Option<u64>> {
        let query = &self.plan.root;
        let Some(plan) = &self.plan.direct else { return Ok(None) };
        let Body::Select(select) = &query.body else { return Ok(None) };
        let RowSource::Table(source) = &select.source else { return Ok(None) };
        let direct = DirectQuery { query, select, source, plan };
        match &plan.shape {
            DirectShape::Totals(totals) => {
                let calls = select.aggregation.as_ref().map_or(&[][..], |all| &all.calls);
                let calls = totals.iter().zip(calls);
                let calls = calls.map(|(total, call)| Total::start(*total, call)).collect();
                self.send_totals(direct, calls, ctx, sink).map(Some)
            }
            DirectShape::Rows(columns) => self.send_rows(direct, columns, ctx, sink).map(Some),
            DirectShape::Sorted(columns) => self.send_sorted(direct, columns, ctx, sink).map(Some),
        }
    }

    /// The scan whose runs are taken whole, where the plan takes them so and the bounds of the
    /// path are exact. It is inlined, as a scan is large to be moved for one row.
    #[inline]
    fn whole_runs(
        &self,
        DirectQuery { source, plan, .. }: DirectQuery<'_>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Option<TableScan>> {
        if !plan.whole_runs {
            return Ok(None);
        }
        let scan = TableScan::open(&source.table, &source.access, ReadMode::Snapshot, ctx, &[])?;
        if scan.is_exact() || source.bound_filter.is_empty() { Ok(Some(scan)) } else { Ok(None) }
    }

    /// Gives each row that fulfils the conditions to `visit`, which must not ask for its key.
    fn each_found(
        &self,
        DirectQuery { select, source, plan, .. }: DirectQuery<'_>,
        ctx: &mut EvalContext<'_>,
        visit: &mut FoundVisitor<'_>,
    ) -> Result<()> {
        let mode = source.lock.map_or(ReadMode::Snapshot, ReadMode::Lock);
        let mut scan = TableScan::open(&source.table, &source.access, mode, ctx, &[])?;
        let bound_filter = if scan.is_exact() { &[] } else { &source.bound_filter[..] };
        let checks = [&source.filter[..], &select.filter, bound_filter];
        if checks.iter().all(|filter| filter.is_empty()) {
            return self.each_untested(scan, source, ctx, visit);
        }
        let mut row = vec![Value::Null; select.width];
        let mut read = Cow::Borrowed(&plan.tested[..]);
        if !bound_filter.is_empty() {
            read.to_mut().extend(&plan.bounded);
        }
        let slots = source.base..source.base + source.needed.len();
        let mut cells = Checks::of(source, ctx);
        loop {
            loop {
                // A condition may read other tables in the same transaction.
                let run = scan.run(&mut self.txn_of(&source.table).borrow_mut())?;
                let Some(mut run) = run else { break };
                self.check_killed()?;
                let checked = cells.choose(&run, source)?;
                let left = if checked { &checks[1..] } else { &checks[..] };
                let left = if left.iter().all(|filter| filter.is_empty()) { &[] } else { left };
                for &i in &cells.chosen {
                    let found = FoundRow { clustered_key: &[], data: run.data(i) };
                    if !left.is_empty() {
                        self.check_killed()?;
                        let zone = &ctx.env.time_zone;
                        found.fill(&source.table, &read, zone, &mut row[slots.clone()])?;
                    }
                    if all_hold(left, ctx, &row)? && !visit(ctx, &found)? {
                        let rest = run.len() - i - 1;
                        scan.stop_before(rest);
                        return Ok(());
                    }
                }
            }
            {
                let mut txn = self.txn_of(&source.table).borrow_mut();
                let Some(found) = scan.next(&mut txn)? else { return Ok(()) };
                let zone = &ctx.env.time_zone;
                found.fill(&source.table, &read, zone, &mut row[slots.clone()])?;
            }
            self.check_killed()?;
            if !all_hold(&checks, ctx, &row)? {
                if source.lock.is_some() {
                    scan.unlock_selected(&mut self.txn_of(&source.table).borrow_mut());
                }
                continue;
            }
            if source.lock.is_some() {
                self.txn_of(&source.table).borrow_mut().settle().sql()?;
            }
            let Some(found) = scan.current_row()? else { return Ok(()) };
            if !visit(ctx, &found)? {
                return Ok(());
            }
        }
    }

    /// Gives each row of a scan to `visit`.
    fn each_untested(
        &self,
        mut scan: TableScan,
        source: &TableSource,
        ctx: &mut EvalContext<'_>,
        visit: &mut FoundVisitor<'_>,
    ) -> Result<()> {
        let mut txn = self.txn_of(&source.table).borrow_mut();
        loop {
            while let Some(mut run) = scan.run(&mut txn)? {
                self.check_killed()?;
                for i in 0..run.len() {
                    let found = FoundRow { clustered_key: &[], data: run.data(i) };
                    if !visit(ctx, &found)? {
                        let rest = run.len() - i - 1;
                        scan.stop_before(rest);
                        return Ok(());
                    }
                }
            }
            let Some(found) = scan.next(&mut txn)? else { return Ok(()) };
            self.check_killed()?;
            if source.lock.is_some() {
                txn.settle().sql()?;
            }
            if !visit(ctx, &found)? {
                return Ok(());
            }
        }
    }
}

fn all_hold(filters: &[&[Expr]], ctx: &mut EvalContext<'_>, row: &[Value]) -> Result<bool> {
    filters.iter().try_fold(true, |all, filter| Ok(all && holds(filter, ctx, row)?))
}
