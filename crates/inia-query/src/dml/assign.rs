//! SET of UPDATE, LOAD DATA and ON DUPLICATE KEY UPDATE: what columns are assigned.

use super::fill::{Fills, Given, now_for, stored};
use crate::catalog::Table;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{EvalContext, Expr, Strictness};

/// What becomes of NULL for a NOT NULL column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nulls {
    /// Error 1048 or, where the SQL mode is not strict, the type's zero and a warning.
    Warned,
    /// The same, with one warning of each column per statement.
    WarnedOnce,
    /// Error 1048 in every mode.
    Refused,
    /// A trigger may still put a value in its place.
    Deferred,
}

impl Nulls {
    /// The value instead of NULL.
    pub(super) fn instead(
        self,
        table: &Table,
        column: usize,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value, SqlError> {
        let def = &table.def.columns[column];
        if ctx.strictness != Strictness::Lenient || self == Nulls::Refused {
            let code = match def.data_type {
                DataType::Geometry { .. } => ErrorCode::BadNullErrorNotIgnored,
                _ => ErrorCode::BadNull,
            };
            return Err(SqlError::new(code, &[&def.name]));
        }
        if self == Nulls::Warned || !ctx.null_columns.contains(&column) {
            if self == Nulls::WarnedOnce {
                ctx.null_columns.push(column);
            }
            ctx.warn(ErrorCode::BadNull, &[&def.name])?;
        }
        Ok(inia_expr::store::instead_of_null(&def.data_type))
    }

    /// The value that the column takes.
    pub(super) fn admit(
        self,
        table: &Table,
        column: usize,
        value: Value,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value, SqlError> {
        match value {
            Value::Null if self == Nulls::Deferred => Ok(Value::Null),
            Value::Null if !table.def.columns[column].nullable => self.instead(table, column, ctx),
            value => Ok(value),
        }
    }
}

impl Nulls {
    /// What a whole row becomes after triggers.
    pub(super) fn admit_row(
        self,
        table: &Table,
        row: &mut [Value],
        ctx: &mut EvalContext<'_>,
    ) -> Result<(), SqlError> {
        for (at, column) in table.def.columns.iter().enumerate() {
            if row[at] == Value::Null && !column.nullable && column.generated.is_none() {
                row[at] = self.instead(table, at, ctx)?;
            }
        }
        Ok(())
    }
}

/// What a column gets by SET, where `None` is DEFAULT; the expression sees `row`.
pub(super) fn assigned(
    (table, fills): (&Table, &Fills),
    (target, value): (usize, Option<&Expr>),
    row: &[Value],
    ctx: &mut EvalContext<'_>,
) -> Result<Value, SqlError> {
    match value {
        Some(expr) => {
            let value = expr.eval(ctx, row)?;
            stored(&table.def, target, (value, &expr.ty), ctx)
        }
        None => fills.default(target, Given::Nothing, row, ctx),
    }
}

/// Assigns SET's values from left to right, each seeing those before it. ON DUPLICATE KEY UPDATE
/// says what becomes of NULL; it makes NULL and DEFAULT of an AUTO_INCREMENT column 0.
pub(super) fn assign(
    parts: (&Table, &Fills),
    assignments: &[(usize, Option<Expr>)],
    on_duplicate: Option<Nulls>,
    row: &mut [Value],
    ctx: &mut EvalContext<'_>,
) -> Result<(), SqlError> {
    let (table, fills) = parts;
    for (target, value) in assignments {
        let column = &table.def.columns[*target];
        let numbered = column.auto_increment && on_duplicate.is_some();
        let value = match value {
            None if numbered => Value::Null,
            value => assigned(parts, (*target, value.as_ref()), row, ctx)?,
        };
        row[*target] = match value {
            Value::Null if numbered => inia_expr::store::instead_of_null(&column.data_type),
            value => on_duplicate.unwrap_or(Nulls::Warned).admit(table, *target, value, ctx)?,
        };
    }
    fills.compute(row, ctx)
}

/// ON UPDATE CURRENT_TIMESTAMP for a row that changes, except for columns that SET names, and what
/// is computed from it.
pub(super) fn touch(
    (table, fills): (&Table, &Fills),
    assignments: &[(usize, Option<Expr>)],
    row: &mut [Value],
    mut changed: Vec<bool>,
    ctx: &mut EvalContext<'_>,
) -> Result<Vec<bool>, SqlError> {
    debug_assert_eq!(changed.len(), row.len(), "each column is changed or not");
    let mut touched = false;
    for (i, column) in table.def.columns.iter().enumerate() {
        if column.on_update_now && !assignments.iter().any(|(target, _)| *target == i) {
            row[i] = now_for(&column.data_type, ctx);
            changed[i] = true;
            touched = true;
        }
    }
    if touched && fills.reads_update_time(table) {
        let before: Vec<Value> = fills.generated().map(|(column, _)| row[column].clone()).collect();
        fills.compute(row, ctx)?;
        for ((column, _), before) in fills.generated().zip(before) {
            changed[column] |= row[column] != before;
        }
    }
    Ok(changed)
}
