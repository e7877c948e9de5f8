//! Members of FROM: each fills its slots of the row and hands the row on.

use super::select::holds;
use super::trace::{Node, watched};
use super::{Result, RowVisitor, Runner};
use crate::access::{Found, Scan};
use crate::expr::EvalContext;
use crate::plan::{Source, TableSource, VirtualSource};
use inia_base::value::Value;
use inia_storage::ReadMode;

impl Runner<'_> {
    /// Runs a source; false when the visitor wanted no more.
    pub(super) fn source(
        &self,
        source: &Source,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        let Some(trace) = self.trace else { return self.source_alone(source, ctx, row, visit) };
        watched(trace, Node::Source(source), |watch| {
            self.source_alone(source, ctx, row, &mut |ctx, row| watch.visit(|| visit(ctx, row)))
        })
    }

    fn source_alone(
        &self,
        source: &Source,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        match source {
            Source::One => visit(ctx, row),
            Source::Nothing => Ok(true),
            Source::Table(table) => {
                let mut examined = 0;
                let result = self.table(table, ctx, (row, &mut examined), visit);
                if let Some(trace) = self.trace {
                    trace.examined(table, examined);
                }
                result
            }
            Source::Part { id, base, level, filter, .. } => {
                let mut wanted = true;
                let mut each =
                    |ctx: &mut EvalContext<'_>, row: &mut Vec<Value>, tuple: &[Value]| {
                        self.check_killed()?;
                        row[*base..base + tuple.len()].clone_from_slice(tuple);
                        if holds(filter, ctx, row)? {
                            wanted = visit(ctx, row)?;
                        }
                        Ok(wanted)
                    };
                if self.part_depends_on_rows(*id) {
                    self.dependent_part(*id, *level, ctx, row, &mut each)?;
                } else {
                    let tuples = self.kept_part(*id, *level, ctx)?;
                    tuples.each(|tuple| each(ctx, row, tuple))?;
                }
                Ok(wanted)
            }
            Source::Virtual(table) => self.virtual_table(table, ctx, row, visit),
            Source::JsonTable(table) => self.json_table(table, ctx, row, visit),
            Source::Join(join) => self.join(join, ctx, row, visit),
        }
    }

    fn virtual_table(
        &self,
        source: &VirtualSource,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        for values in source.table.rows(ctx.host) {
            self.check_killed()?;
            for (slot, value) in row[source.base..].iter_mut().zip(values) {
                *slot = value;
            }
            if holds(&source.filter, ctx, row)? && !visit(ctx, row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn table(
        &self,
        source: &TableSource,
        ctx: &mut EvalContext<'_>,
        (row, examined): (&mut Vec<Value>, &mut u64),
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        let mode = source.lock.map_or(ReadMode::Snapshot, ReadMode::Lock);
        let mut scan = Scan::open(&source.table, &source.access, mode, ctx, row)?;
        let txn = self.txn_of(&source.table);
        let slots = source.base..source.base + source.needed.len();
        let bounded = scan.is_exact() || source.bound_filter.is_empty();
        loop {
            self.check_killed()?;
            let run = scan.run(&mut txn.borrow_mut())?;
            if let Some(mut run) = run {
                for i in 0..run.len() {
                    *examined += 1;
                    let found = Found { clustered_key: &[], data: run.data(i) };
                    let zone = &ctx.env.time_zone;
                    found.fill(&source.table, &source.needed, zone, &mut row[slots.clone()])?;
                    if holds(&source.filter, ctx, row)?
                        && (bounded || holds(&source.bound_filter, ctx, row)?)
                        && !visit(ctx, row)?
                    {
                        return Ok(false);
                    }
                }
                continue;
            }
            {
                let mut txn = txn.borrow_mut();
                let Some(found) = scan.next(&mut txn)? else { break };
                *examined += 1;
                let zone = &ctx.env.time_zone;
                found.fill(&source.table, &source.needed, zone, &mut row[slots.clone()])?;
            }
            if holds(&source.filter, ctx, row)?
                && (bounded || holds(&source.bound_filter, ctx, row)?)
            {
                if !visit(ctx, row)? {
                    return Ok(false);
                }
            } else if source.lock.is_some() {
                scan.unlock_selected(&mut txn.borrow_mut());
            }
        }
        Ok(true)
    }
}

/// NULL in each of the slots.
pub(super) fn clear(slots: &mut [Value]) {
    slots.fill(Value::Null);
}
