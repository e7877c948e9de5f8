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
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::store::plain_integer;
use inia_expr::{EvalContext, Expr, ExprType, Strictness, collate};
use inia_parser::ast;
use std::sync::Arc;

/// Rows of a file from which on a thread of its own writes them.
const WORTH_THREAD: u64 = 4096;

/// LOAD DATA under way.
pub struct LoadRun<'r, 's> {
    run: InsertRun<'r>,
    plan: &'r InsertPlan,
    row: Vec<Value>,
    types: FieldTypes,
    /// Has a thread write the rows; done at most once.
    start_thread: Option<StartThread<'r, 's>>,
}

type StartThread<'r, 's> = Box<dyn FnOnce(&mut InsertRun<'r>) + 's>;

/// What fields are before they are values of their columns.
struct FieldTypes {
    /// That of the file's text.
    collation: Collation,
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

    /// Loads the rows that `read` puts, of a text in the character set of `collation`. Rows that
    /// wait are written after an error, too: a duplicate among them comes before it.
    pub fn load(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        (collation, assignments): (Collation, &[(usize, Option<Expr>)]),
        read: impl FnOnce(&mut LoadRun<'_, '_>, &mut EvalContext<'_>) -> Result<(), SqlError>,
    ) -> Result<StatementOutcome, SqlError> {
        let strict = session.env.sql_mode.is_strict() && !self.ignore;
        ctx.strictness = if strict { Strictness::Strict } else { Strictness::Lenient };
        auto_increment::prepare(&self.table)?;
        let mut run = InsertRun::new(self, session)?;
        run.forgive_together();
        // What SET calls may use the transaction.
        let may_have_thread = assignments.is_empty() && run.may_have_thread();
        let mut held = None;
        let (slot, context) = (&mut held, &mut *ctx);
        let run = std::thread::scope(move |scope| {
            let start: StartThread<'_, '_> = Box::new(move |run| {
                let helpers = session.host.helpers_for(u64::MAX);
                if helpers.count() > 0 {
                    let txn = || session.txn_of(&self.table).borrow_mut();
                    run.start_thread(scope, || &mut slot.insert((txn(), helpers)).0);
                }
            });
            let start_thread = may_have_thread.then_some(start);
            let types = FieldTypes {
                collation,
                text: ExprType::text(16_383, Collation::DEFAULT, true),
                binary: ExprType::binary(65_532, true),
            };
            let mut load = LoadRun { run, plan: self, row: Vec::new(), types, start_thread };
            let read = read(&mut load, context);
            let given = load.run.write_last(session, context, read);
            given.inspect_err(|_| load.run.keep_number(session))?;
            Ok::<_, SqlError>(load.run)
        })?;
        drop(held);
        Ok(loaded(run, session, ctx))
    }
}

/// The outcome as LOAD DATA reports it.
fn loaded(
    run: InsertRun<'_>,
    session: &SessionContext,
    ctx: &mut EvalContext<'_>,
) -> StatementOutcome {
    let (records, copied, deleted) = run.counts();
    let skipped = records - copied;
    let outcome = run.outcome(session, ctx, false);
    let warnings = session.diagnostics.count + ctx.warnings.count;
    let info =
        format!("Records: {records}  Deleted: {deleted}  Skipped: {skipped}  Warnings: {warnings}");
    // The reply names no number that was given.
    StatementOutcome { info, last_insert_id: 0, ..outcome }
}

/// What a line gives to columns.
pub struct LoadedLine<F, L> {
    /// Fields by column, in the line's order; `None` is NULL.
    pub fields: F,
    /// Columns that the line has no field for.
    pub lacking: L,
    /// The line has fields that go nowhere.
    pub extra: bool,
}

impl LoadRun<'_, '_> {
    /// Puts one row: the line's fields, then SET. Fields that lack or are too many are an error in
    /// strict mode, else warnings.
    pub fn put<'f>(
        &mut self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        line: LoadedLine<
            impl Iterator<Item = (usize, Option<&'f [u8]>)>,
            impl Iterator<Item = usize>,
        >,
        assignments: &[(usize, Option<Expr>)],
    ) -> Result<(), SqlError> {
        let number = self.run.records() + 1;
        ctx.row_number = number;
        if number > WORTH_THREAD
            && let Some(start) = self.start_thread.take()
        {
            start(&mut self.run);
        }
        let LoadedLine { fields, lacking, extra } = line;
        let types = &self.types;
        let (listed, raised) = (ctx.warnings.list.len(), ctx.warnings.count);
        self.plan.complete(&mut self.row, ctx, |plan, row, ctx| {
            for (column, _) in assignments {
                row[*column] = plan.initial(*column, ctx)?;
            }
            for (column, field) in fields {
                if plan.fills.is_generated(column) {
                    continue;
                }
                let data_type = &plan.table.def.columns[column].data_type;
                match field.and_then(|field| types.integer(field, data_type)) {
                    Some((number, true)) => row[column] = Value::UInt(number as u64),
                    Some((number, false)) => row[column] = Value::Int(number),
                    None => row[column] = plan.loaded(column, (field, types), ctx)?,
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
        (field, types): (Option<&[u8]>, &FieldTypes),
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value, SqlError> {
        let def = &self.table.def.columns[column];
        if field.is_none() && !def.nullable && !def.auto_increment {
            let row = ctx.row_number;
            if ctx.strictness == Strictness::Strict {
                let code = ErrorCode::WarnNullToNotnull;
                return Err(SqlError::new(code, &[&def.name, &row]));
            }
            ctx.warn(ErrorCode::WarnNullToNotnull, &[&def.name, &row])?;
            return Ok(inia_expr::store::instead_of_null(&def.data_type));
        }
        let value = field_value(field, types.collation);
        let ty = match value {
            Value::Bytes(_) => &types.binary,
            _ => &types.text,
        };
        stored(&self.table.def, column, (value, ty), ctx)
    }
}

impl FieldTypes {
    /// What an integer column gets of a field that is a plain integer, and whether it is unsigned.
    #[inline]
    fn integer(&self, field: &[u8], data_type: &DataType) -> Option<(i64, bool)> {
        match data_type {
            DataType::Int { width, unsigned } if collate::is_utf8(self.collation) => {
                Some((plain_integer(field, *width, *unsigned)?, *unsigned))
            }
            _ => None,
        }
    }
}

/// A field as text of the file's character set, or as bytes if it is no such text.
pub fn field_value(field: Option<&[u8]>, collation: Collation) -> Value {
    let Some(field) = field else { return Value::Null };
    if collate::is_utf8(collation)
        && let Ok(text) = std::str::from_utf8(field)
    {
        return Value::Text(text.to_owned());
    }
    match collate::decode(collation, field) {
        Some(text) => Value::Text(text),
        None => Value::Bytes(field.to_vec()),
    }
}
