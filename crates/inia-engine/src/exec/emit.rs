//! Sends a query's rows to the client.
//!
//! A query that only selects columns of one table by an exact access path takes the direct way:
//! cells go from stored bytes to the sink without becoming values.

use super::select::holds;
use super::{Result, Runner};
use crate::access::{Found, Scan};
use crate::expr::{EvalContext, ExprKind, ExprType};
use crate::plan::{Body, QueryPlan, SelectPlan, Source, TableSource};
use inia_base::column::RowSink;
use inia_base::datatype::DataType;
use inia_base::value::Value;
use inia_storage::ReadMode;

impl Runner<'_> {
    /// Runs the outermost query into `sink`: columns, then rows. Returns how many rows were sent.
    pub(crate) fn send(&self, ctx: &mut EvalContext<'_>, sink: &mut dyn RowSink) -> Result<u64> {
        let root = &self.plan.root;
        sink.columns(&self.plan.columns)?;
        if let Some((select, source)) = direct(root) {
            return self.send_direct(root, select, source, ctx, sink);
        }
        let mut rows = 0;
        self.run(ctx, &mut |_, tuple| {
            sink.begin_row();
            for (value, column) in tuple.iter().zip(&root.columns) {
                emit(value, &column.ty, sink);
            }
            sink.end_row()?;
            rows += 1;
            Ok(true)
        })?;
        Ok(rows)
    }

    fn send_direct(
        &self,
        query: &QueryPlan,
        select: &SelectPlan,
        source: &TableSource,
        ctx: &mut EvalContext<'_>,
        sink: &mut dyn RowSink,
    ) -> Result<u64> {
        let (mut skip, take) = super::window(query.limit.as_ref(), ctx)?;
        let mode = source.lock.map_or(ReadMode::Snapshot, ReadMode::Lock);
        let mut scan = Scan::open(&source.table, &source.access, mode, ctx, &[])?;
        let mut sent = 0;
        while sent < take {
            let mut txn = self.txn.borrow_mut();
            let exact = scan.is_exact();
            let Some(found) = scan.next(&mut txn)? else { break };
            if !exact && !self.direct_row_holds(&found, source, ctx)? {
                scan.unlock_current(&mut txn);
                continue;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            sink.begin_row();
            for expr in &select.output {
                let ExprKind::Column { index, .. } = expr.kind else { continue };
                let column = index - source.base;
                let cell = found.cell(&source.table, column)?;
                let zone = &ctx.env.time_zone;
                cell.emit(source.table.layout.data_type(column), zone, sink);
            }
            sink.end_row()?;
            sent += 1;
        }
        Ok(sent)
    }

    /// Checks the conditions that the path stands for, where its bounds were not exact.
    fn direct_row_holds(
        &self,
        found: &Found<'_>,
        source: &TableSource,
        ctx: &mut EvalContext<'_>,
    ) -> Result<bool> {
        self.check_killed()?;
        let mut row = vec![Value::Null; source.base + source.needed.len()];
        let slots = &mut row[source.base..];
        found.fill(&source.table, &source.needed, &ctx.env.time_zone, slots)?;
        holds(&source.bound_filter, ctx, &row)
    }
}

/// The table that the query only reads columns of, in the order of its access path.
fn direct(query: &QueryPlan) -> Option<(&SelectPlan, &TableSource)> {
    let Body::Select(select) = &query.body else { return None };
    let Source::Table(source) = &select.source else { return None };
    let plain = query.order.is_empty()
        && !query.count_found_rows
        && select.filter.is_empty()
        && select.once.is_empty()
        && select.aggregation.is_none()
        && select.having.is_none()
        && !select.distinct
        && source.filter.is_empty()
        && select.output.iter().all(|expr| matches!(expr.kind, ExprKind::Column { .. }));
    plain.then_some((select, source))
}

/// Sends one value of type `ty`.
pub(crate) fn emit(value: &Value, ty: &ExprType, sink: &mut dyn RowSink) {
    match value {
        Value::Null => sink.null(),
        Value::Int(v) => sink.int(*v),
        Value::UInt(v) => crate::row::emit_uint(*v, &ty.data_type, sink),
        Value::Double(v) if matches!(ty.data_type, DataType::Float { .. }) => {
            sink.float(*v as f32);
        }
        Value::Double(v) => sink.double(*v),
        Value::Decimal(v) => {
            let mut text = Vec::with_capacity(32);
            v.write_text(&mut text);
            sink.bytes(&text);
        }
        Value::Text(text) | Value::Json(text) => sink.bytes(text.as_bytes()),
        Value::Bytes(bytes) => sink.bytes(bytes),
        Value::Date(v) => sink.date(*v),
        Value::Time(v) => sink.time(*v, ty.fsp()),
        Value::DateTime(v) => sink.datetime(*v, ty.fsp()),
    }
}
