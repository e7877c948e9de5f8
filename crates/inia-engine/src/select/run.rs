//! Executing a [`SelectPlan`].

use super::{Found, SelectPlan, row_count};
use crate::access::{RowView, Scan};
use crate::catalog::Table;
use crate::dml::change::row_key;
use crate::error::StorageResult;
use crate::expr::compare::{natural_class, order};
use crate::expr::{Accumulator, EvalContext, Expr, ExprType};
use crate::row::Cell;
use crate::session::core::Core;
use inia_base::column::RowSink;
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_storage::{Direction, Isolation, ReadMode};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

/// LIMIT in numbers.
#[derive(Clone, Copy)]
struct Window {
    skip: u64,
    count: u64,
}

impl SelectPlan {
    /// Executes the plan; rows go to `sink`, which has not seen the columns yet.
    pub(crate) fn run(
        &self,
        core: &Core,
        ctx: &mut EvalContext<'_>,
        sink: &mut dyn RowSink,
    ) -> Result<Found, SqlError> {
        let mut window = Window { skip: 0, count: u64::MAX };
        if let Some((offset, count)) = &self.limit {
            window.count = row_count(count, ctx)?;
            if let Some(offset) = offset {
                window.skip = row_count(offset, ctx)?;
            }
        }
        let Some(table) = &self.table else { return self.run_without_table(ctx, window, sink) };
        if window.count == 0 && self.aggregates.is_empty() {
            sink.columns(&self.columns)?;
            return Ok(Found { rows: 0 });
        }
        if !self.aggregates.is_empty() {
            return self.run_aggregates(core, ctx, table, window, sink);
        }
        match &self.plain {
            Some(plain) if self.order.is_empty() && !self.distinct => {
                self.run_plain(core, ctx, table, plain, window, sink)
            }
            _ => self.run_evaluated(core, ctx, table, window, sink),
        }
    }

    fn run_without_table(
        &self,
        ctx: &mut EvalContext<'_>,
        window: Window,
        sink: &mut dyn RowSink,
    ) -> Result<Found, SqlError> {
        let mut wanted = window.skip == 0 && window.count > 0;
        if let Some(condition) = &self.condition {
            wanted &= condition.eval_bool(ctx, &[])? == Some(true);
        }
        let mut row = Vec::with_capacity(self.items.len());
        if wanted && self.aggregates.is_empty() {
            for item in &self.items {
                row.push(item.eval(ctx, &[])?);
            }
        }
        if !self.aggregates.is_empty() {
            let mut states = self.start();
            if self.condition.is_none() || wanted {
                self.add(&mut states, ctx, &[])?;
            }
            row = self.finish(states, ctx)?;
            wanted = window.skip == 0 && window.count > 0;
        }
        sink.columns(&self.columns)?;
        if wanted {
            self.emit(&row, sink)?;
        }
        Ok(Found { rows: u64::from(wanted) })
    }

    fn read_mode(&self, core: &Core) -> ReadMode {
        self.lock.map_or_else(|| core.plain_read(), ReadMode::Lock)
    }

    /// Gives each row that fulfils the condition to `visit` until that returns false.
    fn each(
        &self,
        core: &Core,
        ctx: &mut EvalContext<'_>,
        table: &Arc<Table>,
        visit: &mut dyn FnMut(&mut EvalContext<'_>, RowView<'_>) -> Result<bool, SqlError>,
    ) -> Result<(), SqlError> {
        let Some(path) = &self.path else { return Ok(()) };
        let resolved = path.resolve(table, ctx)?;
        let filter = if resolved.exact { &path.residual } else { &path.filter };
        let mode = self.read_mode(core);
        let zone = &core.env.time_zone;
        if resolved.points && path.is_primary(table) && filter.is_none() && mode == ReadMode::Snapshot
        {
            for range in &resolved.ranges {
                let mut txn = core.txn.borrow_mut();
                let read = |bytes: &[u8]| visit(ctx, RowView::Row(table, bytes));
                match txn.get(&table.clustered, &range.start, read).sql()? {
                    Some(more) if !more? => return Ok(()),
                    _ => {}
                }
            }
            return Ok(());
        }
        let direction = if self.backward { Direction::Backward } else { Direction::Forward };
        let mut scan = Scan::new(table, path, resolved, direction, mode);
        let mut row = Vec::new();
        while scan.next(&mut core.txn.borrow_mut())? {
            core.check_killed()?;
            if let Some(filter) = filter {
                scan.view().decode(&self.read, zone, &mut row)?;
                if filter.eval_bool(ctx, &row)? != Some(true) {
                    if core.state.current <= Isolation::ReadCommitted {
                        scan.unlock_current(&mut core.txn.borrow_mut());
                    }
                    continue;
                }
            }
            if !visit(ctx, scan.view())? {
                break;
            }
        }
        Ok(())
    }

    /// Plain columns in the order of the scan: from the stored bytes to the sink.
    fn run_plain(
        &self,
        core: &Core,
        ctx: &mut EvalContext<'_>,
        table: &Arc<Table>,
        plain: &[usize],
        window: Window,
        sink: &mut dyn RowSink,
    ) -> Result<Found, SqlError> {
        sink.columns(&self.columns)?;
        let zone = &core.env.time_zone;
        let (mut skip, mut rows) = (window.skip, 0);
        self.each(core, ctx, table, &mut |_, view| {
            if skip > 0 {
                skip -= 1;
                return Ok(true);
            }
            sink.begin_row();
            for column in plain {
                match view {
                    RowView::Row(table, bytes) => table.layout.emit(bytes, *column, zone, sink)?,
                    RowView::Entry(table, ..) => {
                        let cell = view.cell(*column)?;
                        cell.emit(table.layout.data_type(*column), zone, sink);
                    }
                }
            }
            sink.end_row()?;
            rows += 1;
            Ok(rows < window.count)
        })?;
        Ok(Found { rows })
    }

    /// Everything else: rows are evaluated, then made distinct, sorted, cut.
    fn run_evaluated(
        &self,
        core: &Core,
        ctx: &mut EvalContext<'_>,
        table: &Arc<Table>,
        window: Window,
        sink: &mut dyn RowSink,
    ) -> Result<Found, SqlError> {
        let types: Vec<ExprType> = self.items.iter().map(|item| item.ty.clone()).collect();
        let mut seen = HashSet::new();
        let mut kept: Vec<(Vec<Value>, Vec<Value>)> = Vec::new();
        let zone = &core.env.time_zone;
        let wanted = window.skip.saturating_add(window.count);
        let mut row = Vec::new();
        self.each(core, ctx, table, &mut |ctx, view| {
            view.decode(&self.read, zone, &mut row)?;
            let mut out = Vec::with_capacity(self.items.len());
            for item in &self.items {
                out.push(item.eval(ctx, &row)?);
            }
            if self.distinct && !seen.insert(row_key(&out, &types)) {
                return Ok(true);
            }
            let mut key = Vec::with_capacity(self.order.len());
            for (expr, _) in &self.order {
                key.push(expr.eval(ctx, &row)?);
            }
            kept.push((key, out));
            Ok(!self.order.is_empty() || (kept.len() as u64) < wanted)
        })?;
        self.sort(&mut kept, ctx)?;
        sink.columns(&self.columns)?;
        let skip = usize::try_from(window.skip).unwrap_or(usize::MAX);
        let count = usize::try_from(window.count).unwrap_or(usize::MAX);
        let mut rows = 0;
        for (_, out) in kept.iter().skip(skip).take(count) {
            self.emit(out, sink)?;
            rows += 1;
        }
        Ok(Found { rows })
    }

    fn sort(
        &self,
        rows: &mut [(Vec<Value>, Vec<Value>)],
        ctx: &mut EvalContext<'_>,
    ) -> Result<(), SqlError> {
        if self.order.is_empty() {
            return Ok(());
        }
        let keys: Vec<_> =
            self.order.iter().map(|(e, d)| (natural_class(&e.ty), e.ty.clone(), *d)).collect();
        let mut failed = None;
        rows.sort_by(|(a, _), (b, _)| {
            for (at, (class, ty, descending)) in keys.iter().enumerate() {
                match order(class, ty, &a[at], &b[at], ctx) {
                    Ok(Ordering::Equal) => {}
                    Ok(found) if *descending => return found.reverse(),
                    Ok(found) => return found,
                    Err(error) => {
                        failed.get_or_insert(error);
                        return Ordering::Equal;
                    }
                }
            }
            Ordering::Equal
        });
        failed.map_or(Ok(()), Err)
    }

    fn start(&self) -> Vec<Accumulator> {
        self.aggregates.iter().map(|aggregate| aggregate.start()).collect()
    }

    fn add(
        &self,
        states: &mut [Accumulator],
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<(), SqlError> {
        for (state, aggregate) in states.iter_mut().zip(&self.aggregates) {
            state.add(aggregate, ctx, row)?;
        }
        Ok(())
    }

    fn finish(
        &self,
        states: Vec<Accumulator>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Vec<Value>, SqlError> {
        let mut results = Vec::with_capacity(states.len());
        for (state, aggregate) in states.into_iter().zip(&self.aggregates) {
            results.push(state.finish(aggregate, ctx)?);
        }
        ctx.aggregates = results;
        self.items.iter().map(|item| item.eval(ctx, &[])).collect()
    }

    fn run_aggregates(
        &self,
        core: &Core,
        ctx: &mut EvalContext<'_>,
        table: &Arc<Table>,
        window: Window,
        sink: &mut dyn RowSink,
    ) -> Result<Found, SqlError> {
        let mut states = self.start();
        let zone = &core.env.time_zone;
        let mut row = Vec::new();
        self.each(core, ctx, table, &mut |ctx, view| {
            view.decode(&self.read, zone, &mut row)?;
            self.add(&mut states, ctx, &row)?;
            Ok(true)
        })?;
        let out = self.finish(states, ctx)?;
        sink.columns(&self.columns)?;
        let wanted = window.skip == 0 && window.count > 0;
        if wanted {
            self.emit(&out, sink)?;
        }
        Ok(Found { rows: u64::from(wanted) })
    }

    fn emit(&self, row: &[Value], sink: &mut dyn RowSink) -> Result<(), SqlError> {
        sink.begin_row();
        for (value, item) in row.iter().zip(&self.items) {
            emit_value(value, item, sink);
        }
        sink.end_row()
    }
}

/// Sends an evaluated value.
fn emit_value(value: &Value, item: &Expr, sink: &mut dyn RowSink) {
    let data_type = &item.ty.data_type;
    if let (Value::DateTime(moment), DataType::Timestamp { fsp }) = (value, data_type) {
        return sink.datetime(*moment, *fsp);
    }
    let utc = inia_base::temporal::TimeZone::utc();
    if let (Value::Int(number), DataType::Year) = (value, data_type) {
        return sink.uint(*number as u64);
    }
    if let (Value::Int(number), false) = (value, matches!(data_type, DataType::Int { .. })) {
        return sink.int(*number);
    }
    Cell::of(value, data_type, &utc).emit(data_type, &utc, sink);
}
