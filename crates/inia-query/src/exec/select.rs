//! One SELECT: source, WHERE, grouping, HAVING, select list, DISTINCT.

use super::aggregate::Groups;
use super::keys::TupleKey;
use super::sort::Sorter;
use super::window::Windows;
use super::{Project, Result, RowVisitor, Runner, Tuple, TupleVisitor, damaged_row};
use crate::access::{Given, TableScan};
use crate::catalog::Table;
use crate::plan::trace::{Node, Stage, watched};
use crate::plan::{Aggregation, GroupStrategy, IndexExtremum, RowSource, SelectPlan};
use crate::spill::Distinct;
use crate::spill::{decode_tuple, encode_tuple};
use inia_base::value::Value;
use inia_expr::cast::padded;
use inia_expr::{EvalContext, Expr};
use inia_storage::ReadMode;
use std::sync::Arc;

/// Whether all conditions are true for the row.
pub(super) fn holds(filter: &[Expr], ctx: &mut EvalContext<'_>, row: &[Value]) -> Result<bool> {
    for condition in filter {
        if condition.eval_bool(ctx, row)? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The bytes of a row's number, with which each record that DISTINCT puts aside begins.
const NUMBER: usize = size_of::<u64>();

impl Runner<'_> {
    pub(super) fn select(
        &self,
        select: &SelectPlan,
        ctx: &mut EvalContext<'_>,
        visit: &mut TupleVisitor<'_>,
    ) -> Result<()> {
        let Some(trace) = self.trace else { return self.select_untraced(select, ctx, visit) };
        watched(trace, Node::Select(select), |watch| {
            self.select_untraced(select, ctx, &mut |ctx, row| watch.visit(|| visit(ctx, row)))
        })
    }

    fn select_untraced(
        &self,
        select: &SelectPlan,
        ctx: &mut EvalContext<'_>,
        visit: &mut TupleVisitor<'_>,
    ) -> Result<()> {
        let mut distinct = select.distinct.then(|| Distinct::new(self.exec.workspace));
        let mut number = 0u64;
        let types: Vec<_> = match select.distinct {
            true => select.output[..select.visible].iter().map(|e| e.ty.clone()).collect(),
            false => Vec::new(),
        };
        let mut tuple: Tuple = Vec::with_capacity(select.output.len());
        let mut wanted = true;
        self.produce(select, ctx, &mut |ctx, row| {
            tuple.clear();
            for expr in &select.output {
                let value = expr.eval(ctx, row)?;
                tuple.push(if select.distinct { padded(value, &expr.ty) } else { value });
            }
            debug_assert_eq!(tuple.len(), select.output.len(), "a tuple has all values");
            // DISTINCT compares visible values only. A tuple that memory has no room for is put
            // aside with its number.
            if let Some(distinct) = &mut distinct {
                let key = TupleKey::new(&tuple[..select.visible], &types).into_bytes();
                number += 1;
                let payload = |out: &mut Vec<u8>| {
                    out.extend_from_slice(&number.to_be_bytes());
                    encode_tuple(&tuple, out);
                };
                if !distinct.offer(&key, payload)? {
                    return Ok(true);
                }
            }
            wanted = visit(ctx, &tuple)?;
            Ok(wanted)
        })?;
        // Tuples that were put aside follow, unless the visitor has enough.
        let Some(distinct) = distinct.filter(|_| wanted) else { return Ok(()) };
        let mut give = |bytes: &[u8]| {
            self.check_killed()?;
            decode_tuple(bytes, &mut tuple).ok_or_else(damaged_row)?;
            visit(ctx, &tuple)
        };
        if !select.ordered {
            return distinct.rest(&mut |numbered| give(numbered.get(NUMBER..).unwrap_or_default()));
        }
        // They come partition by partition, so their numbers restore the order. All tuples given
        // before have smaller numbers.
        let mut sorter = Sorter::new(usize::MAX, self.exec.workspace);
        distinct.rest(&mut |numbered| {
            let (number, bytes) = numbered.split_at_checked(NUMBER).ok_or_else(damaged_row)?;
            sorter.push_bytes(number, bytes)?;
            Ok(true)
        })?;
        sorter.finish(false, give)
    }

    /// Gives the rows that the select list is evaluated for to `project`, the results of functions
    /// over windows in the context.
    pub(super) fn produce(
        &self,
        select: &SelectPlan,
        ctx: &mut EvalContext<'_>,
        project: &mut Project<'_>,
    ) -> Result<()> {
        if select.windows.is_empty() {
            return self.rows_of_select(select, ctx, project);
        }
        let mut windows = Windows::new(&select.windows, self.exec.workspace);
        self.rows_of_select(select, ctx, &mut |ctx, row| {
            self.check_killed()?;
            windows.add(ctx, row)?;
            Ok(true)
        })?;
        let enclosing = (std::mem::take(&mut ctx.aggregates), std::mem::take(&mut ctx.windows));
        let outcome = windows.finish(ctx, project);
        (ctx.aggregates, ctx.windows) = enclosing;
        outcome
    }

    /// Source, WHERE, grouping and HAVING: gives each row, its group's aggregates in the context,
    /// to `next`.
    fn rows_of_select(
        &self,
        select: &SelectPlan,
        ctx: &mut EvalContext<'_>,
        next: &mut Project<'_>,
    ) -> Result<()> {
        let mut behind = Stage::new(self.trace, Node::Having(select));
        let project = &mut |ctx: &mut EvalContext<'_>, row: &[Value]| match &select.having {
            Some(having) if having.eval_bool(ctx, row)? != Some(true) => Ok(true),
            _ => behind.visit(|| next(ctx, row)),
        };
        let mut row = vec![Value::Null; select.width];
        let empty = !holds(&select.once, ctx, &row)?;
        match &select.aggregation {
            None if empty => Ok(()),
            None => self.filtered_rows(select, ctx, &mut row, &mut |ctx, row| {
                let wanted = project(ctx, row)?;
                ctx.scanned += 1;
                Ok(wanted)
            }),
            Some(aggregation) => {
                let enclosing = std::mem::take(&mut ctx.aggregates);
                let mut groups = Stage::new(self.trace, Node::Grouped(select));
                let project = &mut |ctx: &mut EvalContext<'_>, row: &[Value]| {
                    groups.visit(|| project(ctx, row))
                };
                let outcome = self.grouped((select, empty), aggregation, ctx, &mut row, project);
                ctx.aggregates = enclosing;
                outcome
            }
        }
    }

    /// The rows of FROM that fulfil WHERE.
    fn filtered_rows(
        &self,
        select: &SelectPlan,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<()> {
        let mut kept = Stage::new(self.trace, Node::Filtered(select));
        let visit =
            &mut |ctx: &mut EvalContext<'_>, row: &mut Vec<Value>| kept.visit(|| visit(ctx, row));
        if let Some(batches) = &select.batches
            && self.rows_of_batches((select, batches), ctx, row, visit)?
        {
            return Ok(());
        }
        self.source(&select.source, ctx, row, &mut |ctx, row| {
            Ok(!holds(&select.filter, ctx, row)? || visit(ctx, row)?)
        })?;
        Ok(())
    }

    fn grouped(
        &self,
        (select, empty): (&SelectPlan, bool),
        aggregation: &Aggregation,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        project: &mut Project<'_>,
    ) -> Result<()> {
        let done = match &aggregation.strategy {
            _ if empty => false,
            GroupStrategy::Hash | GroupStrategy::Sort => false,
            GroupStrategy::InOrder => {
                return self.groups_in_order(select, aggregation, ctx, row, project);
            }
            GroupStrategy::Extrema(extrema) => match self.extrema(select, extrema, ctx)? {
                Some(values) => {
                    let calls = aggregation.calls.len();
                    debug_assert_eq!(values.len(), calls, "each aggregate has a value");
                    for &(number, slot) in &aggregation.shown {
                        row[slot].clone_from(&values[number]);
                    }
                    ctx.aggregates = values;
                    project(ctx, row)?;
                    true
                }
                None => false,
            },
            GroupStrategy::IntGroups(plan) => {
                self.int_groups((select, plan), &aggregation.calls, ctx, row, project)?
            }
            GroupStrategy::Vectors(plan) => {
                self.vector_groups((select, plan), &aggregation.calls, ctx, row, project)?
            }
            GroupStrategy::JoinTotals(plan) => {
                self.join_totals((select, plan), &aggregation.calls, ctx, row, project)?
            }
        };
        if done {
            return Ok(());
        }
        // Nothing was given so far: what the strategy rests on does not hold for this data.
        let mut groups = Groups::new(aggregation, self.exec.workspace);
        if !empty {
            self.filtered_rows(select, ctx, row, &mut |ctx, row| {
                groups.add(ctx, row)?;
                Ok(true)
            })?;
        }
        groups.finish(ctx, select.width, project)
    }

    /// Gives each group once a row of the next one has come.
    fn groups_in_order(
        &self,
        select: &SelectPlan,
        aggregation: &Aggregation,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        project: &mut Project<'_>,
    ) -> Result<()> {
        let mut group = Groups::new(aggregation, self.exec.workspace);
        let mut wanted = true;
        // What is read of a group beside its aggregates is that of its first row; as in MySQL that
        // of its last one where the ends of groups are sought, of which the greatest comes last.
        let shows_last = matches!(&select.source, RowSource::Table(table)
            if table.access.skip().is_some_and(|skip| matches!(skip.given, Given::Ends { .. })));
        self.filtered_rows(select, ctx, row, &mut |ctx, row| {
            if group.is_followed_by(ctx, row)? {
                let next = Groups::new(aggregation, self.exec.workspace);
                let done = std::mem::replace(&mut group, next);
                wanted = done.give(ctx, project)?;
            }
            if wanted {
                group.add(ctx, row)?;
                if shows_last {
                    group.show(row);
                }
            }
            Ok(wanted)
        })?;
        if wanted {
            group.give(ctx, project)?;
        }
        Ok(())
    }

    /// The values at the ends of indexes and the numbers of rows; `None` where a bound turns out
    /// not to be exact, or a number is not kept.
    fn extrema(
        &self,
        select: &SelectPlan,
        extrema: &[IndexExtremum],
        ctx: &mut EvalContext<'_>,
    ) -> Result<Option<Vec<Value>>> {
        let mut values = Vec::with_capacity(extrema.len());
        for extremum in extrema {
            let (path, column) = match extremum {
                IndexExtremum::First { path, column } => (path, *column),
                IndexExtremum::Rows(tables) => {
                    let Some(rows) = self.rows_kept(tables)? else { return Ok(None) };
                    values.push(Value::Int(rows));
                    continue;
                }
            };
            let RowSource::Table(source) = &select.source else { return Ok(None) };
            let mut scan = TableScan::open(&source.table, path, ReadMode::Snapshot, ctx, &[])?;
            if !scan.is_exact() && !source.bound_filter.is_empty() {
                return Ok(None);
            }
            let mut txn = self.txn_of(&source.table).borrow_mut();
            values.push(match scan.next(&mut txn)? {
                Some(found) => found.value(&source.table, column, &ctx.env.time_zone)?,
                None => Value::Null,
            });
        }
        Ok(Some(values))
    }

    /// How many rows the tables have between them; `None` where one does not know its own.
    fn rows_kept(&self, tables: &[Arc<Table>]) -> Result<Option<i64>> {
        let mut all = 1i64;
        for table in tables {
            let Some(rows) = self.exec.row_count(table)? else { return Ok(None) };
            all = all.saturating_mul(i64::try_from(rows).unwrap_or(i64::MAX));
        }
        Ok(Some(all))
    }
}
