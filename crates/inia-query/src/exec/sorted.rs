//! ORDER BY of a whole query: its rows are sorted, and LIMIT passes on those of its window.

use super::keys::encode_key;
use super::sort::{SortSize, Sorter};
use super::{Limiter, Result, Runner, Tuple, TupleVisitor, Window, damaged_row};
use crate::plan::trace::{Node, Stage};
use crate::plan::{QueryPlan, SelectPlan};
use crate::spill::{decode_tuple, encode_tuple};
use inia_base::value::Value;
use inia_expr::EvalContext;

impl Runner<'_> {
    /// Runs a query with ORDER BY.
    pub(super) fn sorted(
        &self,
        query: &QueryPlan,
        limiter: &mut Limiter,
        ctx: &mut EvalContext<'_>,
        visit: &mut TupleVisitor<'_>,
    ) -> Result<()> {
        debug_assert!(!query.order.is_empty(), "rows are sorted by something");
        let visible = query.columns.len();
        let Sort { mut sorter, stage } = self.sort_of(query, limiter);
        let mut extended = Tuple::new();
        self.body(&query.body, ctx, &mut |ctx, tuple| {
            self.check_killed()?;
            // ORDER BY of a set operation may read values over its columns; they follow the
            // columns.
            let mut all = tuple;
            if !query.computed.is_empty() {
                extended.clear();
                extended.extend_from_slice(tuple);
                for expr in &query.computed {
                    extended.push(expr.eval(ctx, tuple)?);
                }
                all = &extended;
            }
            debug_assert!(all.len() >= visible, "a tuple begins with its visible values");
            // Hidden values go into the key only: the sorter keeps the visible ones beside it.
            let key = |out: &mut Vec<u8>| {
                for part in &query.order {
                    encode_key(&all[part.index], &part.ty, part.descending, out);
                }
                Ok(())
            };
            sorter.push(key, |out| {
                encode_tuple(&all[..visible], out);
                Ok(())
            })?;
            Ok(true)
        })?;
        let sort = Sort { sorter, stage };
        sort.pass(limiter, |limiter, tuple| limiter.pass(ctx, tuple, visit))
    }

    /// Runs a query with ORDER BY whose select list is computed for the sorted rows.
    pub(super) fn sorted_before(
        &self,
        query: &QueryPlan,
        select: &SelectPlan,
        limiter: &mut Limiter,
        ctx: &mut EvalContext<'_>,
        visit: &mut TupleVisitor<'_>,
    ) -> Result<()> {
        let visible = query.columns.len();
        let Sort { mut sorter, stage } = self.sort_of(query, limiter);
        let mut keys = Tuple::new();
        self.produce(select, ctx, &mut |ctx, row| {
            self.check_killed()?;
            keys.clear();
            for part in &query.order {
                keys.push(select.output[part.index].eval(ctx, row)?);
            }
            let key = |out: &mut Vec<u8>| {
                for (part, value) in query.order.iter().zip(&keys) {
                    encode_key(value, &part.ty, part.descending, out);
                }
                Ok(())
            };
            sorter.push(key, |out| {
                encode_tuple(row, out);
                Ok(())
            })?;
            Ok(true)
        })?;
        let mut tuple = Tuple::new();
        Sort { sorter, stage }.pass(limiter, |limiter, row| {
            tuple.clear();
            // Nothing is computed for rows that LIMIT leaves out.
            let Window { skip, take } = limiter.window;
            if limiter.seen < skip || limiter.seen - skip >= take {
                limiter.seen += 1;
                return Ok(limiter.seen <= skip);
            }
            for expr in &select.output[..visible] {
                tuple.push(expr.eval(ctx, row)?);
            }
            limiter.pass(ctx, &tuple, visit)
        })
    }

    /// A sort that keeps as many rows as LIMIT can let through.
    fn sort_of(&self, query: &QueryPlan, limiter: &Limiter) -> Sort<'_> {
        let size = SortSize::of(query, self.plan);
        let needed = limiter.window.rows_needed();
        Sort {
            sorter: Sorter::with_ties(needed, size, self.exec.workspace),
            stage: Stage::new(self.trace, Node::Sorted(query)),
        }
    }
}

/// The rows of a query on their way into their order.
struct Sort<'s> {
    sorter: Sorter<'s>,
    stage: Stage<'s>,
}

impl Sort<'_> {
    /// Gives the sorted rows to `pass`, until it wants no more.
    fn pass(
        mut self,
        limiter: &mut Limiter,
        mut pass: impl FnMut(&mut Limiter, &[Value]) -> Result<bool>,
    ) -> Result<()> {
        let total = self.sorter.total();
        let mut row = Tuple::new();
        self.sorter.finish(false, |bytes| {
            decode_tuple(bytes, &mut row).ok_or_else(damaged_row)?;
            self.stage.visit(|| pass(limiter, &row))
        })?;
        // SQL_CALC_FOUND_ROWS counts rows that the sorter dropped, too.
        limiter.seen = total;
        Ok(())
    }
}
