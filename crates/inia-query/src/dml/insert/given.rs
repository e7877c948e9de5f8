//! The rows that INSERT and REPLACE are given, and the values of columns without one.

use super::InsertPlan;
use super::run::{Done, InsertRun};
use super::targets::Targets;
use crate::catalog::{ColumnDefault, StoredProgram, Table, same_name};
use crate::context::{SessionContext, StatementOutcome};
use crate::dml::assign::Nulls;
use crate::dml::auto_increment;
use crate::dml::fill::{Fills, Given, stored};
use crate::dml::returning::Returned;
use crate::exec::Runner;
use crate::plan::StatementPlan;
use crate::spill::TupleList;
use inia_base::column::RowSink;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{EvalContext, Strictness};
use inia_parser::ast::{self, TriggerEvent};
use std::sync::Arc;

impl InsertPlan {
    /// A plan that puts rows into `targets`: a query's, or without one those of a file.
    pub fn of_rows(
        session: &SessionContext,
        table: &Arc<Table>,
        targets: Vec<usize>,
        source: Option<StatementPlan>,
        replace: bool,
        ignore: bool,
    ) -> Result<InsertPlan, SqlError> {
        let views = source.as_ref().map(|source| source.views.clone()).unwrap_or_default();
        let fills = Fills::compile(&table.def, &session.env, &session.host)?;
        Ok(InsertPlan {
            table: table.clone(),
            targets: Targets::new(targets, table),
            rows: Vec::new(),
            literals: None,
            row_is_read: fills.has_late(),
            fills,
            replace,
            ignore,
            on_duplicate: Vec::new(),
            values_calls: 0,
            views,
            reads_target: false,
            source,
            selects: true,
            single: false,
            nulls: Nulls::Warned,
            nulls_on_duplicate: Nulls::Warned,
            returning: None,
        })
    }

    /// Executes the plan.
    pub fn run(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        runner: Option<&Runner<'_>>,
    ) -> Result<StatementOutcome, SqlError> {
        self.begin(session, ctx)?;
        let mut run = InsertRun::new(self, session)?;
        let given = self.give_rows(session, ctx, runner, &mut run);
        given.inspect_err(|_| run.keep_number(session))?;
        Ok(run.outcome(session, ctx, !self.single))
    }

    /// Prepares the context and the table.
    fn begin(&self, session: &SessionContext, ctx: &mut EvalContext<'_>) -> Done {
        let strict = session.env.sql_mode.is_strict() && !self.ignore;
        ctx.strictness = if strict { Strictness::Strict } else { Strictness::Lenient };
        ctx.ignores = self.ignore;
        auto_increment::prepare(&self.table)?;
        for _ in 0..self.values_calls {
            let code = ErrorCode::WarnDeprecatedSyntax;
            let error = SqlError::with_message(code, crate::note::VALUES_DEPRECATED);
            ctx.raise(inia_expr::Level::Warning, error)?;
        }
        Ok(())
    }

    /// Executes the plan, and sends what RETURNING gives.
    pub fn run_returning(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        runner: &Runner<'_>,
        sink: &mut dyn RowSink,
    ) -> Result<StatementOutcome, SqlError> {
        self.begin(session, ctx)?;
        let mut run = InsertRun::new(self, session)?;
        run.returned = self.returning().map(|returning| Returned::new(returning, session));
        let given = self.give_rows(session, ctx, Some(runner), &mut run);
        given.inspect_err(|_| run.keep_number(session))?;
        let returned = run.returned.take();
        let mut outcome = run.outcome(session, ctx, !self.single);
        match returned {
            Some(returned) => returned.send(&mut outcome, sink).map(|()| outcome),
            None => Ok(outcome),
        }
    }

    /// Gives all rows to a run.
    fn give_rows(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        runner: Option<&Runner<'_>>,
        run: &mut InsertRun<'_>,
    ) -> Done {
        let mut row = Vec::with_capacity(self.table.def.columns.len());
        let given = match (runner, &self.source, &self.literals) {
            (Some(runner), Some(source), _) if self.selects => {
                self.run_source(session, ctx, (runner, source), run, &mut row)
            }
            (_, _, Some(literals)) => self.run_literals(session, ctx, literals, run, &mut row),
            _ => self.run_values(session, ctx, run, &mut row),
        };
        run.write_last(session, ctx, given)
    }

    /// The rows of VALUES.
    fn run_values(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        run: &mut InsertRun<'_>,
        row: &mut Vec<Value>,
    ) -> Result<(), SqlError> {
        for (number, given) in self.rows.iter().enumerate() {
            ctx.row_number = number as u64 + 1;
            debug_assert!(given.len() <= self.targets.len(), "each value of a row has a target");
            self.complete(row, ctx, |plan, row, ctx| {
                for (value, target) in given.iter().zip(plan.targets.iter()) {
                    row[*target] = match value {
                        Some(expr) => {
                            let value = expr.eval(ctx, row)?;
                            plan.admit(*target, (value, &expr.ty), ctx)?
                        }
                        None => plan.default(*target, row, ctx)?,
                    };
                }
                Ok(())
            })?;
            run.row(session, ctx, row, &[])?;
        }
        Ok(())
    }

    /// The rows of INSERT … SELECT. They are gathered first where the target is read too.
    fn run_source(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        (runner, source): (&Runner<'_>, &StatementPlan),
        run: &mut InsertRun<'_>,
        row: &mut Vec<Value>,
    ) -> Result<(), SqlError> {
        let types: Vec<&inia_expr::ExprType> = source.root.columns.iter().map(|c| &c.ty).collect();
        debug_assert!(types.len() >= self.targets.len(), "each target has a column of the query");
        self.check_missing(ctx)?;
        let plan_width = self.targets.len();
        let mut put = |ctx: &mut EvalContext<'_>, tuple: &[Value]| {
            ctx.row_number = run.records() + 1;
            self.complete(row, ctx, |plan, row, ctx| {
                for ((value, ty), target) in tuple.iter().zip(&types).zip(plan.targets.iter()) {
                    row[*target] = plan.admit(*target, (value.clone(), ty), ctx)?;
                }
                Ok(())
            })?;
            run.row(session, ctx, row, &tuple[plan_width.min(tuple.len())..])
        };
        if self.reads_target {
            let mut gathered = TupleList::new(session.workspace());
            runner.run(ctx, &mut |_, tuple| {
                gathered.push(tuple)?;
                Ok(true)
            })?;
            return gathered.each(|tuple| put(ctx, tuple).map(|()| true));
        }
        runner.run(ctx, &mut |ctx, tuple| put(ctx, tuple).map(|()| true))
    }

    /// The plan of the query of INSERT … SELECT, and of every subquery.
    pub fn into_source(self) -> Option<StatementPlan> {
        self.source
    }

    /// INSERT … SELECT's query.
    #[inline]
    pub fn source(&self) -> Option<&StatementPlan> {
        self.source.as_ref()
    }

    pub(super) fn default(
        &self,
        column: usize,
        row: &[Value],
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value, SqlError> {
        if self.table.def.columns[column].auto_increment {
            return Ok(Value::Null);
        }
        match self.fills.default(column, Given::Nothing, row, ctx)? {
            Value::Null if !self.table.def.columns[column].nullable => {
                self.nulls.instead(&self.table, column, ctx)
            }
            value => Ok(value),
        }
    }

    /// A value as its column takes it. NULL in a NOT NULL column is error 1048, or the type's
    /// zero and a warning.
    pub(super) fn admit(
        &self,
        target: usize,
        (value, ty): (Value, &inia_expr::ExprType),
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value, SqlError> {
        let column = &self.table.def.columns[target];
        let value = stored(&self.table.def, target, (value, ty), ctx)?;
        let waits = column.auto_increment || self.waits_for_triggers();
        if value != Value::Null || column.nullable || waits {
            return Ok(value);
        }
        self.nulls.instead(&self.table, target, ctx)
    }

    /// Whether triggers run before a row is checked.
    fn waits_for_triggers(&self) -> bool {
        !self.table.triggers.of_event(true, TriggerEvent::Insert).is_empty()
    }

    /// Whether a trigger gives the column a value.
    fn is_set_by_trigger(&self, column: usize) -> bool {
        let name = &self.table.def.columns[column].name;
        let sets = |trigger: &std::sync::Arc<StoredProgram>| {
            let of_new = |slot: &ast::ProgramSlot| {
                slot.kind == ast::SlotKind::New && same_name(&slot.name, name)
            };
            trigger.parsed().is_ok_and(|parsed| parsed.program.slots.iter().any(of_new))
        };
        self.table.triggers.of_event(true, TriggerEvent::Insert).iter().any(sets)
    }

    /// Columns that no row gives and that have no default: error 1364, or a warning each.
    fn check_missing(&self, ctx: &mut EvalContext<'_>) -> Result<(), SqlError> {
        for column in 0..self.table.def.columns.len() {
            let known = self.targets.contains(column) || self.fills.is_late(column);
            let numbered = self.table.def.columns[column].auto_increment;
            if known || self.is_set_by_trigger(column) {
                continue;
            }
            if numbered || !self.fills.left_out(column, ctx)? {
                self.default(column, &[], ctx)?;
            }
        }
        Ok(())
    }

    /// Fills `row` with defaults and then with what `give` gives.
    pub(super) fn complete(
        &self,
        row: &mut Vec<Value>,
        ctx: &mut EvalContext<'_>,
        give: impl FnOnce(&InsertPlan, &mut [Value], &mut EvalContext<'_>) -> Done,
    ) -> Result<(), SqlError> {
        row.clear();
        row.resize(self.table.def.columns.len(), Value::Null);
        for (column, def) in self.table.def.columns.iter().enumerate() {
            let unseen = !self.row_is_read && self.targets.contains(column);
            // A trigger sees NULL where nothing gives a value.
            let none = !def.nullable && def.default == ColumnDefault::None;
            let waits = none && self.waits_for_triggers();
            if def.auto_increment && self.row_is_read {
                row[column] = inia_expr::store::implicit_default(&def.data_type);
            } else if !(unseen || waits || def.auto_increment) {
                row[column] = self.fills.first(column, ctx);
            }
        }
        give(self, row, ctx)?;
        // Values have read 0 of the column whose number comes now.
        if self.row_is_read
            && let Some(column) = self.table.def.auto_increment_column()
            && !self.targets.contains(column)
        {
            row[column] = Value::Null;
        }
        if !self.selects && ctx.row_number == 1 {
            self.check_missing(ctx)?;
        }
        debug_assert_eq!(row.len(), self.table.def.columns.len(), "a row has all columns");
        for column in 0..row.len() {
            if self.fills.is_late(column) && !self.targets.contains(column) {
                row[column] = self.default(column, row, ctx)?;
            }
        }
        Ok(())
    }
}
