//! Sends a query's rows to the client.

use super::{Result, Runner};
use inia_base::column::RowSink;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::json;
use inia_base::value::Value;
use inia_expr::{EvalContext, ExprType, Level, Warning};

/// The warning that a client gets for SQL_CALC_FOUND_ROWS.
const FOUND_ROWS_DEPRECATED: &str = "SQL_CALC_FOUND_ROWS is deprecated and will be removed in a \
    future release. Consider using two separate queries instead.";

impl Runner<'_> {
    /// Runs the outermost query into `sink`: columns, then rows. Returns how many rows were sent.
    pub fn send(&self, ctx: &mut EvalContext<'_>, sink: &mut dyn RowSink) -> Result<u64> {
        let root = &self.plan.root;
        sink.columns(&self.plan.columns)?;
        if root.count_found_rows {
            let code = ErrorCode::WarnDeprecatedSyntax;
            let error = SqlError::with_message(code, FOUND_ROWS_DEPRECATED);
            ctx.warnings.push(Warning::of(Level::Warning, error));
        }
        if let Some(rows) = self.send_direct(ctx, sink)? {
            return Ok(rows);
        }
        let mut rows = 0;
        self.run(ctx, &mut |_, tuple| {
            // The sink may send rows before the statement's end.
            self.exec.settle()?;
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
}

/// Sends one value of type `ty`.
pub fn emit(value: &Value, ty: &ExprType, sink: &mut dyn RowSink) {
    match value {
        Value::Null => sink.null(),
        Value::Int(v) => sink.int(*v),
        Value::UInt(v) => crate::row::emit_uint(*v, &ty.data_type, sink),
        Value::Double(v) if matches!(ty.data_type, DataType::Float { .. }) => {
            sink.float(*v as f32);
        }
        Value::Double(v) => sink.double(*v),
        Value::Decimal(v) => {
            let shown = match v.scale() > ty.decimals {
                true => v.round(ty.decimals.into()).unwrap_or(*v),
                false => *v,
            };
            let mut text = Vec::with_capacity(32);
            shown.write_text(&mut text);
            sink.bytes(&text);
        }
        Value::Text(text) => sink.bytes(text.as_bytes()),
        Value::Json(text) => sink.bytes(json::printed(text).as_bytes()),
        Value::Bytes(bytes) => sink.bytes(bytes),
        Value::Date(v) => sink.date(*v),
        Value::Time(v) => sink.time(*v, ty.fsp()),
        Value::DateTime(v) => sink.datetime(*v, ty.fsp()),
    }
}
