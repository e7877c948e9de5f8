//! Rows of a file on their way into a table.

use super::run::InsertRun;
use super::{InsertPlan, beside, bind_plain, deep, not_default};
use crate::bind::BesideSource;
use crate::bind::table_scope::TableScope;
use crate::catalog::ColumnDefault;
use crate::catalog::Table;
use crate::context::SessionContext;
use crate::context::StatementOutcome;
use crate::dml::assign::assign;
use crate::dml::auto_increment;
use crate::dml::fill::{Given, stored};
use crate::dml::target_reads::check_load;
use crate::plan::StatementPlan;
use crate::planner::plan_insert_queries;
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{EvalContext, Expr, ExprType, Strictness};
use inia_parser::ast;
use std::sync::Arc;

/// LOAD DATA under way.
pub struct LoadRun<'r> {
    run: InsertRun<'r>,
    plan: &'r InsertPlan,
    row: Vec<Value>,
    types: FieldTypes,
}

/// The types of fields.
struct FieldTypes {
    text: ExprType,
    /// Of bytes that are no text of the file's character set.
    binary: ExprType,
}

/// What SET assigns, where `None` is DEFAULT.
type Assignments = Vec<(usize, Option<Expr>)>;

impl InsertPlan {
    /// A plan for the rows of a file, what SET assigns, and the plan of the subqueries there. The
    /// fields of a line go to `places`.
    pub fn of_file(
        session: &SessionContext,
        load: &ast::LoadData,
        table: &Arc<Table>,
        places: Vec<usize>,
        ignore: bool,
    ) -> Result<(InsertPlan, Assignments, Option<StatementPlan>), SqlError> {
        let mut scope = TableScope::new(table, None);
        let given = load.assignments.iter().map(|assignment| &assignment.value);
        let given: Vec<&ast::Expr> = given.filter(not_default).collect();
        let (source, bound) = match deep(&given) {
            false => {
                let bind = |expr| bind_plain(session, &mut scope, expr);
                (None, given.into_iter().map(bind).collect::<Result<Vec<_>, _>>()?)
            }
            true => {
                check_load(session, load, table)?;
                let lists = vec![beside(&load.table, given)];
                let values = lists.len();
                let beside = BesideSource { values, lists, sets_variables: true, returning: None };
                let bound = plan_insert_queries(session, None, &beside, &|_| Default::default())?;
                (Some(bound.plan), bound.beside.into_iter().flatten().collect())
            }
        };
        let mut bound = bound.into_iter();
        let mut assignments = Vec::with_capacity(load.assignments.len());
        for assignment in &load.assignments {
            let value = if not_default(&&assignment.value) { bound.next() } else { None };
            assignments.push((scope.position(&assignment.column)?, value));
        }
        let set = assignments.iter().map(|(target, _)| *target);
        let targets = places.into_iter().chain(set).collect();
        let replace = load.on_duplicate == ast::LoadDuplicate::Replace;
        let mut plan = InsertPlan::of_rows(session, table, targets, None, replace, ignore)?;
        plan.views.extend(source.iter().flat_map(|source| source.views.clone()));
        Ok((plan, assignments, source))
    }

    /// Begins to load rows.
    pub fn start_load<'r>(
        &'r self,
        session: &'r SessionContext,
        ctx: &mut EvalContext<'_>,
    ) -> Result<LoadRun<'r>, SqlError> {
        let strict = session.env.sql_mode.is_strict() && !self.ignore;
        ctx.strictness = if strict { Strictness::Strict } else { Strictness::Lenient };
        auto_increment::prepare(&self.table)?;
        let mut run = InsertRun::new(self, session)?;
        run.forgive_together();
        let types = FieldTypes {
            text: ExprType::text(16_383, Collation::DEFAULT, true),
            binary: ExprType::binary(65_532, true),
        };
        Ok(LoadRun { run, plan: self, row: Vec::new(), types })
    }
}

/// What a line gives.
pub struct Loaded {
    /// Values by column, in the line's order.
    pub values: Vec<(usize, Value)>,
    /// Columns that the line has no field for.
    pub lacking: Vec<usize>,
    /// The line has fields that go nowhere.
    pub extra: bool,
}

impl LoadRun<'_> {
    /// Puts one row: the line's values, then SET. Fields that lack or are too many are an error in
    /// strict mode, else warnings.
    pub fn put(
        &mut self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        loaded: Loaded,
        assignments: &[(usize, Option<Expr>)],
    ) -> Result<(), SqlError> {
        let number = self.run.records() + 1;
        ctx.row_number = number;
        let Loaded { values, lacking, extra } = loaded;
        let types = &self.types;
        let (listed, raised) = (ctx.warnings.list.len(), ctx.warnings.count);
        self.plan.complete(&mut self.row, ctx, |plan, row, ctx| {
            for (column, _) in assignments {
                row[*column] = plan.initial(*column, ctx)?;
            }
            for (column, value) in values {
                if !plan.fills.is_generated(column) {
                    row[column] = plan.loaded(column, (value, types), ctx)?;
                }
            }
            for column in lacking {
                row[column] = plan.lacking(column);
                misfit(ctx, ErrorCode::WarnTooFewRecords)?;
            }
            assign((&plan.table, &plan.fills), assignments, None, row, ctx)
        })?;
        if ctx.warnings.count > raised {
            // Rows that wait may have warnings of their own, which come first.
            let later = ctx.warnings.list.split_off(listed);
            let unlisted = ctx.warnings.count - raised - later.len() as u64;
            ctx.warnings.count = raised;
            self.run.settle_forgiven(session, ctx)?;
            later.into_iter().for_each(|warning| ctx.warnings.push(warning));
            ctx.warnings.count += unlisted;
        }
        self.run.row(session, ctx, &mut self.row, &[])?;
        if extra {
            self.run.settle_forgiven(session, ctx)?;
            ctx.row_number = number;
            misfit(ctx, ErrorCode::WarnTooManyRecords)?;
        }
        Ok(())
    }

    /// Writes the rows that still wait after the file has been `read` or reading it has failed;
    /// returns the outcome as LOAD DATA reports it.
    pub fn finish(
        mut self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        read: Result<(), SqlError>,
    ) -> Result<StatementOutcome, SqlError> {
        self.run.write_last(session, ctx, read)?;
        let (records, copied, deleted) = self.run.counts();
        let skipped = records - copied;
        let outcome = self.run.outcome(session, ctx, false);
        let warnings = session.diagnostics.count + ctx.warnings.count;
        let info = format!(
            "Records: {records}  Deleted: {deleted}  Skipped: {skipped}  Warnings: {warnings}"
        );
        Ok(StatementOutcome { info, ..outcome })
    }
}

/// A line that does not have the fields that are wanted.
fn misfit(ctx: &mut EvalContext<'_>, code: ErrorCode) -> Result<(), SqlError> {
    let row = ctx.row_number;
    match ctx.strictness {
        Strictness::Strict => Err(SqlError::new(code, &[&row])),
        _ => ctx.warn(code, &[&row]),
    }
}

impl InsertPlan {
    /// What a column has before SET assigns to it.
    fn initial(&self, column: usize, ctx: &mut EvalContext<'_>) -> Result<Value, SqlError> {
        let def = &self.table.def.columns[column];
        match self.fills.is_late(column) || def.auto_increment {
            true => Ok(Value::Null),
            false => self.fills.default(column, Given::Added, &[], ctx),
        }
    }

    /// What a column gets that a line has no field for: NULL where that is its default, else the
    /// type's zero.
    fn lacking(&self, column: usize) -> Value {
        let def = &self.table.def.columns[column];
        match def.auto_increment || (def.nullable && def.default == ColumnDefault::None) {
            true => Value::Null,
            false => inia_expr::store::implicit_default(&def.data_type),
        }
    }

    /// A field as its column takes it. NULL in a NOT NULL column is error 1263, or the type's zero
    /// and a warning.
    fn loaded(
        &self,
        column: usize,
        (value, types): (Value, &FieldTypes),
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
            return Ok(inia_expr::store::instead_of_null(&def.data_type));
        }
        let ty = match value {
            Value::Bytes(_) => &types.binary,
            _ => &types.text,
        };
        stored(&self.table.def, column, (value, ty), ctx)
    }
}
