//! Functions over windows: the rows of a SELECT wait here, are sorted for each window, cut into
//! partitions, and go on with the functions' results beside them.
//!
//! Example: `SUM(x) OVER (PARTITION BY a ORDER BY b)` over the rows (a, b, x) = (2, 1, 5),
//! (1, 2, 3), (1, 1, 4): sorted by (a, b) they are (1, 1, 4), (1, 2, 3), (2, 1, 5); the partition
//! of `a = 1` has the first two; each row's frame reaches from its partition's start to the row,
//! so the sums are 4, 7 and 5.
//!
//! Calls over the same window make one pass. A pass sorts ([`super::sort`]), gathers one partition
//! at a time as a list of tuples ([`rows`]), and walks over it once: each call gives its result for
//! each row in turn ([`call`]), and the row goes to the next pass's sorter, or on. Sorter and list
//! hold what memory they may and keep the rest in files, so neither many rows nor a large partition
//! are held in memory; of the rows that a frame reaches nothing is kept but the aggregate's state.

mod call;
mod frame;
mod rows;

use super::keys::encode_key;
use super::sort::{SortSize, Sorter};
use super::{Result, Tuple, damaged_row};
use crate::plan::window::WindowPlan;
use crate::spill::{TuplePosition, Workspace, keyed, split_keyed};
use crate::spill::{decode_tuple, encode_tuple};
use call::WindowCall;
use inia_base::value::Value;
use inia_expr::EvalContext;
use rows::{PartitionRows, Peers, WindowShape};

/// Takes a row's values with the results so far; returns whether it wants more.
type Next<'n> = dyn FnMut(&mut EvalContext<'_>, &[Value]) -> Result<bool> + 'n;

/// The rows of one SELECT.
pub(super) struct Windows<'p, 'w> {
    /// Calls over the same window.
    passes: Vec<&'p [WindowPlan]>,
    workspace: Workspace<'w>,
    shape: WindowShape,
    /// The rows for the first pass.
    sorter: Sorter<'w>,
}

impl<'p, 'w> Windows<'p, 'w> {
    pub(super) fn new(plan: &'p [WindowPlan], workspace: Workspace<'w>) -> Windows<'p, 'w> {
        let passes: Vec<&[WindowPlan]> = plan.chunk_by(|_, next| next.ordered).collect();
        let sorter = sorter_of(passes.first().and_then(|pass| pass.first()), workspace);
        Windows { passes, workspace, shape: WindowShape::default(), sorter }
    }

    /// Takes a row with the aggregates that belong to it.
    pub(super) fn add(&mut self, ctx: &mut EvalContext<'_>, row: &[Value]) -> Result<()> {
        self.shape = WindowShape { slots: row.len(), aggregates: ctx.aggregates.len() };
        let Some(pass) = self.passes.first() else { return Ok(()) };
        let aggregates = std::mem::take(&mut ctx.aggregates);
        let outcome = push(&mut self.sorter, &pass[0], ctx, row, &aggregates);
        ctx.aggregates = aggregates;
        outcome
    }

    /// Computes all calls and gives each row, with their results in the context, to `project`.
    pub(super) fn finish(self, ctx: &mut EvalContext<'_>, project: &mut Next<'_>) -> Result<()> {
        let Windows { passes, workspace, shape, mut sorter } = self;
        for (number, calls) in passes.iter().enumerate() {
            let mut pass = Pass { calls, workspace, shape };
            let Some(following) = passes.get(number + 1) else {
                return pass.run(sorter, ctx, &mut |ctx, values| {
                    let (slots, rest) = shape.split(values);
                    let (aggregates, results) = rest.split_at(shape.aggregates);
                    let calls: usize = passes.iter().map(|pass| pass.len()).sum();
                    debug_assert_eq!(slots.len(), shape.slots, "a row keeps its slots");
                    debug_assert_eq!(results.len(), calls, "each call has a result");
                    ctx.aggregates.clear();
                    ctx.aggregates.extend_from_slice(aggregates);
                    ctx.windows.clear();
                    ctx.windows.extend_from_slice(results);
                    project(ctx, slots)
                });
            };
            let mut next = sorter_of(following.first(), workspace);
            pass.run(sorter, ctx, &mut |ctx, values| {
                let (slots, rest) = shape.split(values);
                push(&mut next, &following[0], ctx, slots, rest).map(|()| true)
            })?;
            sorter = next;
        }
        Ok(())
    }
}

/// A sorter for the rows of a window.
fn sorter_of<'w>(window: Option<&WindowPlan>, workspace: Workspace<'w>) -> Sorter<'w> {
    let size = window.map(|window| {
        let order = window.order.iter().map(|(expr, _)| expr);
        SortSize::by(window.partition.iter().chain(order).map(|expr| &expr.ty))
    });
    Sorter::with_ties(usize::MAX, size, workspace)
}

/// Gives a row to a sorter by a window's PARTITION BY and ORDER BY; rows that are equal keep their
/// order. `rest` begins with the row's aggregates.
fn push(
    sorter: &mut Sorter<'_>,
    window: &WindowPlan,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
    rest: &[Value],
) -> Result<()> {
    ctx.aggregates.clear();
    ctx.aggregates.extend_from_slice(rest);
    let (mut partition, mut order) = (Vec::new(), Vec::new());
    for expr in &window.partition {
        encode_key(&*expr.eval_ref(ctx, row)?, &expr.ty, false, &mut partition);
    }
    for (expr, descending) in &window.order {
        encode_key(&*expr.eval_ref(ctx, row)?, &expr.ty, *descending, &mut order);
    }
    let key = |out: &mut Vec<u8>| {
        out.extend_from_slice(&partition);
        out.extend_from_slice(&order);
        Ok(())
    };
    sorter.push(key, |out| {
        // The partition's key is a prefix of the sort key; its copy here marks where it ends.
        keyed(&partition, out);
        encode_tuple(row, out);
        encode_tuple(rest, out);
        Ok(())
    })
}

/// Calls over the same window.
struct Pass<'p, 'w> {
    calls: &'p [WindowPlan],
    workspace: Workspace<'w>,
    shape: WindowShape,
}

impl<'w> Pass<'_, 'w> {
    /// Gives the sorted rows with the calls' results to `next`.
    fn run(
        &mut self,
        sorter: Sorter<'w>,
        ctx: &mut EvalContext<'_>,
        next: &mut Next<'_>,
    ) -> Result<()> {
        let mut rows = PartitionRows::new(self.workspace, self.shape);
        let (mut last, mut peers_from) = (Vec::new(), 0);
        let (mut last_partition, mut wanted) = (Vec::new(), true);
        let (mut values, mut tuple) = (Tuple::new(), Tuple::new());
        sorter.finish_keyed(false, |key, record| {
            let (partition, payload) = split_keyed(record)?;
            // A frame may reach to the end of its partition, so the calls run once the first row of
            // the next partition shows that it is whole.
            if rows.len() > 0 && partition != last_partition {
                let partition =
                    std::mem::replace(&mut rows, PartitionRows::new(self.workspace, self.shape));
                wanted = self.partition(&partition, ctx, next)?;
                if !wanted {
                    return Ok(false);
                }
            }
            // Another sort key begins new peers; each row keeps the number of its first peer.
            if rows.len() == 0 || key != last {
                debug_assert!(rows.len() == 0 || key > &last[..], "a pass reads rows in order");
                debug_assert!(key.starts_with(partition), "a partition is a prefix of the order");
                peers_from = rows.len();
                last.clear();
                last.extend_from_slice(key);
                last_partition.clear();
                last_partition.extend_from_slice(partition);
            }
            decode_tuple(payload, &mut values).ok_or_else(damaged_row)?;
            tuple.clear();
            tuple.push(Value::UInt(peers_from));
            tuple.append(&mut values);
            rows.push(&tuple).map(|()| true)
        })?;
        // No row follows the last partition.
        if wanted && rows.len() > 0 {
            self.partition(&rows, ctx, next)?;
        }
        Ok(())
    }

    /// Gives one partition's rows with the calls' results to `next`; false where that wants no
    /// more.
    fn partition(
        &self,
        rows: &PartitionRows<'w>,
        ctx: &mut EvalContext<'_>,
        next: &mut Next<'_>,
    ) -> Result<bool> {
        let mut calls = Vec::with_capacity(self.calls.len());
        for plan in self.calls {
            calls.push(WindowCall::new(plan, rows, ctx)?);
        }
        let (mut peers, mut place, mut tuple) =
            (Peers::default(), TuplePosition::default(), Tuple::new());
        for at in 0..rows.len() {
            self.workspace.check()?;
            let equal = peers.of(at, rows)?;
            debug_assert!(equal.contains(&at), "a row is its own peer");
            debug_assert!(equal.end <= rows.len(), "peers are in the partition");
            tuple.clear();
            tuple.extend_from_slice(rows.values(at, &mut place)?);
            for call in &mut calls {
                tuple.push(call.result(at, &equal, rows, ctx)?);
            }
            if !next(ctx, &tuple)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
