//! SET of UPDATE, LOAD DATA and ON DUPLICATE KEY UPDATE: what columns are assigned.

use super::fill::{Fills, Given, now_for, stored};
use crate::catalog::{ColumnDef, Table};
use crate::expr::{self, EvalContext, Expr, Strictness};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;

/// What a column gets by SET, where `None` is DEFAULT; the expression sees `row`.
pub(super) fn assigned(
    table: &Table,
    fills: &Fills,
    (target, value): (usize, Option<&Expr>),
    row: &[Value],
    ctx: &mut EvalContext<'_>,
) -> Result<Value, SqlError> {
    let value = match value {
        Some(expr) => {
            let value = expr.eval(ctx, row)?;
            stored(&table.def, target, (value, &expr.ty), ctx)?
        }
        None => fills.default(target, Given::Nothing, row, ctx)?,
    };
    admitted(&table.def.columns[target], value, ctx)
}

/// NULL assigned to a NOT NULL column is error 1048, or the type's zero and a warning.
pub(super) fn admitted(
    column: &ColumnDef,
    value: Value,
    ctx: &mut EvalContext<'_>,
) -> Result<Value, SqlError> {
    if value != Value::Null || column.nullable {
        return Ok(value);
    }
    if ctx.strictness == Strictness::Strict {
        return Err(SqlError::new(ErrorCode::BadNull, &[&column.name]));
    }
    ctx.warn(ErrorCode::BadNull, &[&column.name])?;
    Ok(expr::store::instead_of_null(&column.data_type))
}

/// Assigns SET's values from left to right, each seeing those before it.
pub(super) fn assign(
    table: &Table,
    fills: &Fills,
    assignments: &[(usize, Option<Expr>)],
    row: &mut [Value],
    ctx: &mut EvalContext<'_>,
) -> Result<(), SqlError> {
    for (target, value) in assignments {
        row[*target] = assigned(table, fills, (*target, value.as_ref()), row, ctx)?;
    }
    fills.compute(row, ctx)
}

/// ON UPDATE CURRENT_TIMESTAMP for a row that changes, except for columns that SET names.
pub(super) fn touch(
    table: &Table,
    assignments: &[(usize, Option<Expr>)],
    row: &mut [Value],
    mut changed: Vec<bool>,
    ctx: &EvalContext<'_>,
) -> Vec<bool> {
    for (i, column) in table.def.columns.iter().enumerate() {
        if column.on_update_now && !assignments.iter().any(|(target, _)| *target == i) {
            row[i] = now_for(&column.data_type, ctx);
            changed[i] = true;
        }
    }
    changed
}
