//! Rows of a file on their way into a table.

use super::InsertPlan;
use super::run::{Run, assign};
use crate::catalog::ColumnDefault;
use crate::dml::auto_increment;
use crate::dml::fill::stored;
use crate::expr::{self, EvalContext, Expr, ExprType, Strictness};
use crate::session::Outcome;
use crate::session::core::Core;
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;

/// LOAD DATA under way.
pub(crate) struct LoadRun<'r> {
    run: Run<'r>,
    plan: &'r InsertPlan,
    row: Vec<Value>,
}

impl InsertPlan {
    /// Begins to load rows.
    pub(crate) fn start_load<'r>(
        &'r self,
        core: &'r Core,
        ctx: &mut EvalContext<'_>,
    ) -> Result<LoadRun<'r>, SqlError> {
        let strict = core.env.sql_mode.is_strict() && !self.ignore;
        ctx.strictness = if strict { Strictness::Strict } else { Strictness::Lenient };
        auto_increment::prepare(&core.db, &self.table)?;
        self.check_missing(ctx)?;
        Ok(LoadRun { run: Run::new(self, core)?, plan: self, row: Vec::new() })
    }
}

impl LoadRun<'_> {
    /// Puts one row: values by column, then SET. A line that `lacks` so many fields or has `extra`
    /// ones is an error in strict mode, else a warning.
    pub(crate) fn put(
        &mut self,
        core: &Core,
        ctx: &mut EvalContext<'_>,
        values: Vec<(usize, Value)>,
        assignments: &[(usize, Option<Expr>)],
        (lacks, extra): (usize, bool),
    ) -> Result<(), SqlError> {
        ctx.row_number = self.run.records() + 1;
        let plan = self.plan;
        plan.complete(&mut self.row, ctx, |plan, row, ctx| {
            for (column, def) in plan.table.def.columns.iter().enumerate() {
                let given = values.iter().any(|(at, _)| *at == column);
                let null = def.nullable && def.default == ColumnDefault::None;
                if !given && !null && plan.targets.contains(&column) && !def.auto_increment {
                    row[column] = expr::store::implicit_default(&def.data_type);
                }
            }
            for (column, value) in values {
                if !plan.fills.is_generated(column) {
                    row[column] = plan.loaded(column, value, ctx)?;
                }
            }
            assign(&plan.table, &plan.fills, assignments, row, ctx)
        })?;
        let wrong =
            [(lacks, ErrorCode::WarnTooFewRecords), (extra.into(), ErrorCode::WarnTooManyRecords)];
        for (count, code) in wrong {
            let row = ctx.row_number;
            if count > 0 && ctx.strictness == Strictness::Strict {
                return Err(SqlError::new(code, &[&row]));
            }
            for _ in 0..count {
                ctx.warn(code, &[&row])?;
            }
        }
        self.run.row(core, ctx, &mut self.row, &[])
    }

    /// Writes what still waits after the file has been `read` or reading it has failed: the
    /// outcome, told as LOAD DATA tells it.
    pub(crate) fn finish(
        mut self,
        core: &Core,
        ctx: &EvalContext<'_>,
        read: Result<(), SqlError>,
    ) -> Result<Outcome, SqlError> {
        self.run.write_last(core, read)?;
        let (records, copied, deleted) = self.run.counts();
        let skipped = records - copied;
        let outcome = self.run.outcome(core, ctx, false);
        let warnings = ctx.warnings.count;
        let info = format!(
            "Records: {records}  Deleted: {deleted}  Skipped: {skipped}  Warnings: {warnings}"
        );
        Ok(Outcome { info, ..outcome })
    }
}

impl InsertPlan {
    /// A field as its column takes it. NULL in a NOT NULL column is error 1263, or the type's zero
    /// and a warning.
    fn loaded(
        &self,
        column: usize,
        value: Value,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value, SqlError> {
        let def = &self.table.def.columns[column];
        if value == Value::Null && !def.nullable && !def.auto_increment {
            let row = ctx.row_number;
            if ctx.strictness == Strictness::Strict {
                let code = ErrorCode::WarnNullToNotnull;
                return Err(SqlError::new(code, &[&def.name, &row]));
            }
            ctx.warn(ErrorCode::WarnNullToNotnull, &[&def.name, &row])?;
            return Ok(expr::store::implicit_default(&def.data_type));
        }
        let ty = match value {
            Value::Bytes(_) => ExprType::binary(65_532, true),
            _ => ExprType::text(16_383, Collation::DEFAULT, true),
        };
        stored(&self.table.def, column, (value, &ty), ctx)
    }
}
