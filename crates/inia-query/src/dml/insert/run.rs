//! Executing INSERT and REPLACE.

use super::{InsertPlan, Literals};
use crate::catalog::{IndexKind, Table};
use crate::context::SessionContext;
use crate::context::StatementOutcome;
use crate::dml::assign::{Nulls, assign, touch};
use crate::dml::auto_increment::{self, Numbers};
use crate::dml::fill::{Fills, Given, stored};
use crate::dml::foreign::Foreign;
use crate::dml::is_forgiven;
use crate::dml::write::{RowChange, RowWriter, Written, duplicate_error, values};
use crate::error::StorageResult;
use crate::exec::Runner;
use crate::plan::StatementPlan;
use crate::spill::TupleList;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_base::value::Value;
use inia_expr::{EvalContext, Strictness};
use inia_storage::{LockMode, Savepoint};
use std::sync::Arc;

type Done = Result<(), SqlError>;

/// A statement's progress.
#[derive(Default)]
struct Tally {
    records: u64,
    copied: u64,
    updated: u64,
    deleted: u64,
    /// Rows that ON DUPLICATE KEY UPDATE left as they were, those of forgiven errors included.
    untouched: u64,
    first_generated: Option<u64>,
    last_value: u64,
}

/// One execution.
pub(super) struct InsertRun<'r> {
    plan: &'r InsertPlan,
    writer: RowWriter<'r>,
    numbers: Numbers,
    keep_zero: bool,
    tally: Tally,
    foreign: Option<Foreign>,
    /// Rows are written together: each either goes in or ends the statement.
    together: bool,
    /// Rows that are written together are left out with a warning where their key exists.
    forgiving: bool,
    /// For each row that waits, the number that it brings for the AUTO_INCREMENT column.
    given: Vec<Option<Value>>,
}

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
            targets,
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
        })
    }

    /// Executes the plan.
    pub fn run(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        runner: Option<&Runner<'_>>,
    ) -> Result<StatementOutcome, SqlError> {
        let strict = session.env.sql_mode.is_strict() && !self.ignore;
        ctx.strictness = if strict { Strictness::Strict } else { Strictness::Lenient };
        ctx.ignores = self.ignore;
        auto_increment::prepare(&self.table)?;
        for _ in 0..self.values_calls {
            let text = "'VALUES function' is deprecated and will be removed in a future release. \
                        Please use an alias (INSERT INTO ... VALUES (...) AS alias) and replace \
                        VALUES(col) in the ON DUPLICATE KEY UPDATE clause with alias.col instead";
            let error = SqlError::with_message(ErrorCode::WarnDeprecatedSyntax, text);
            ctx.raise(inia_expr::Level::Warning, error)?;
        }
        let mut run = InsertRun::new(self, session)?;
        let mut row = Vec::with_capacity(self.table.def.columns.len());
        let given = match (runner, &self.source, &self.literals) {
            (Some(runner), Some(source), _) if self.selects => {
                self.run_source(session, ctx, (runner, source), &mut run, &mut row)
            }
            (_, _, Some(literals)) => self.run_literals(session, ctx, literals, &mut run, &mut row),
            _ => self.run_values(session, ctx, &mut run, &mut row),
        };
        run.write_last(session, ctx, given)?;
        Ok(run.outcome(session, ctx, !self.single))
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
                for (value, target) in given.iter().zip(&plan.targets) {
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
            ctx.row_number = run.tally.records + 1;
            self.complete(row, ctx, |plan, row, ctx| {
                for ((value, ty), target) in tuple.iter().zip(&types).zip(&plan.targets) {
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
        if value != Value::Null || column.nullable || column.auto_increment {
            return Ok(value);
        }
        self.nulls.instead(&self.table, target, ctx)
    }

    /// Columns that no row gives and that have no default: error 1364, or a warning each.
    pub(super) fn check_missing(&self, ctx: &mut EvalContext<'_>) -> Result<(), SqlError> {
        for column in 0..self.table.def.columns.len() {
            if !self.targets.contains(&column) && !self.fills.is_late(column) {
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
        for column in 0..self.table.def.columns.len() {
            let unseen = !self.row_is_read && self.targets.contains(&column);
            row.push(match unseen || self.table.def.columns[column].auto_increment {
                true => Value::Null,
                false => self.fills.first(column, ctx),
            });
        }
        give(self, row, ctx)?;
        if !self.selects && ctx.row_number == 1 {
            self.check_missing(ctx)?;
        }
        debug_assert_eq!(row.len(), self.table.def.columns.len(), "a row has all columns");
        for column in 0..row.len() {
            if self.fills.is_late(column) && !self.targets.contains(&column) {
                row[column] = self.default(column, row, ctx)?;
            }
        }
        Ok(())
    }
}

impl<'r> InsertRun<'r> {
    pub(super) fn new(
        plan: &'r InsertPlan,
        session: &'r SessionContext,
    ) -> Result<InsertRun<'r>, SqlError> {
        let mut writer = RowWriter::new(&plan.table, &session.env.time_zone);
        if plan.replace || !plan.on_duplicate.is_empty() {
            writer.existing = LockMode::Exclusive;
        }
        let written = plan.literals.as_ref().map_or(plan.rows.len(), Literals::len);
        let expected = if plan.selects { 0 } else { written as u64 };
        let numbers = Numbers::new(session, &plan.table, expected);
        let keep_zero = session.env.sql_mode.has(SqlMode::NO_AUTO_VALUE_ON_ZERO);
        let tally = Tally::default();
        let foreign = Foreign::load(session, &plan.table)?;
        let several = written > 1 || plan.selects;
        let settles = plan.replace || plan.ignore || !plan.on_duplicate.is_empty();
        let unique = plan.table.def.indexes.iter().any(|index| index.kind == IndexKind::Unique);
        let nontransactional = !plan.table.def.is_transactional();
        let batched = several && !unique && !nontransactional && foreign.is_none();
        let (together, forgiving) = (batched && !settles, false);
        let given = Vec::new();
        let width = plan.table.def.columns.len();
        debug_assert!(plan.targets.iter().all(|target| *target < width), "a target is a column");
        let run = InsertRun {
            plan,
            writer,
            numbers,
            keep_zero,
            tally,
            foreign,
            together,
            forgiving,
            given,
        };
        Ok(run)
    }

    /// Rows of LOAD DATA with IGNORE are written together, too: those whose key exists are left out.
    pub(super) fn forgive_together(&mut self) {
        let plan = self.plan;
        let unique = plan.table.def.indexes.iter().any(|index| index.kind == IndexKind::Unique);
        let batched = !unique && plan.table.def.is_transactional() && self.foreign.is_none();
        self.forgiving = plan.ignore && !plan.replace && batched;
        self.together |= self.forgiving;
    }

    /// How many rows were given.
    pub(super) fn records(&self) -> u64 {
        self.tally.records
    }

    /// How many rows were given, were written, and were deleted for them.
    pub(super) fn counts(&self) -> (u64, u64, u64) {
        (self.tally.records, self.tally.copied, self.tally.deleted)
    }

    /// Completes and writes one row. `beside` is what the source gives ON DUPLICATE KEY UPDATE.
    pub(super) fn row(
        &mut self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
        beside: &[Value],
    ) -> Result<(), SqlError> {
        self.tally.records += 1;
        if self.wants_number(row) && self.given.iter().any(Option::is_some) {
            self.settle(session, ctx, false)?;
        }
        let generated = self.number(row)?;
        if let Err(error) = self.compute(ctx, row) {
            self.settle_forgiven(session, ctx)?;
            return self.unfit(ctx, error);
        }
        if self.together && !(self.forgiving && generated.is_some()) {
            return self.buffer(session, ctx, generated, row);
        }
        self.settle_forgiven(session, ctx)?;
        session.check_room(&self.plan.table)?;
        let mut txn = session.txn_of(&self.plan.table).borrow_mut();
        let start = txn.savepoint();
        let mut grown = 1;
        loop {
            // Of this try alone: rows that were replaced before it stay deleted.
            let attempt = txn.savepoint();
            let written = self.writer.insert(&mut txn, row)?;
            self.numbers.tried();
            let at = match written {
                Written::Done => break,
                Written::Duplicate(at) => at,
            };
            let settles = self.plan.replace || !self.plan.on_duplicate.is_empty();
            if !settles && !self.plan.ignore {
                return Err(duplicate_error(&self.plan.table.def, at, row));
            }
            txn.rollback_statement(attempt).sql()?;
            if self.plan.replace {
                drop(txn);
                let same = self.replace(session, at, row, generated.is_some())?;
                txn = session.txn_of(&self.plan.table).borrow_mut();
                if !same {
                    continue;
                }
                grown = 0;
                break;
            }
            if let Some(number) = generated {
                self.numbers.go_back(number);
            }
            if settles {
                drop(txn);
                return self.update_existing(session, ctx, at, (row, beside));
            }
            let error = duplicate_error(&self.plan.table.def, at, row);
            return ctx.raise(inia_expr::Level::Warning, error);
        }
        drop(txn);
        if !self.has_parents(session, ctx, start, row)? {
            return Ok(());
        }
        session.row_done(&self.plan.table, grown);
        self.count(generated, row);
        if let Some(column) = self.plan.table.def.auto_increment_column() {
            self.numbers.stored(&self.plan.table, &row[column]);
        }
        Ok(())
    }

    /// Whether the index is the one that AUTO_INCREMENT numbers are for. A number that is taken,
    /// where there are no more, must not replace the row that has it.
    fn is_numbered(&self, at: usize) -> bool {
        let def = &self.plan.table.def;
        let first = def.indexes[at].parts.first().map(|part| part.column);
        first.is_some() && first == def.auto_increment_column()
    }

    /// Whether a row that was written has its parents; else IGNORE takes it back with a warning.
    fn has_parents(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        start: Savepoint,
        row: &[Value],
    ) -> Result<bool, SqlError> {
        let checked =
            self.foreign.as_ref().map_or(Ok(()), |foreign| foreign.inserted(session, row));
        let Err(error) = checked else { return Ok(true) };
        if !self.plan.ignore || !is_forgiven(&error) {
            return Err(error);
        }
        session.txn_of(&self.plan.table).borrow_mut().rollback_statement(start).sql()?;
        ctx.raise(inia_expr::Level::Warning, error).map(|()| false)
    }

    /// Counts a row that is in.
    fn count(&mut self, generated: Option<u64>, row: &[Value]) {
        self.tally.copied += 1;
        self.tally.first_generated = self.tally.first_generated.or(generated);
        if let Some(column) = self.plan.table.def.auto_increment_column() {
            self.tally.last_value = number_of(&row[column]);
        }
    }

    /// Leaves a row for later, when several are written together.
    fn buffer(
        &mut self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        generated: Option<u64>,
        row: &[Value],
    ) -> Done {
        self.writer.buffer_row(row)?;
        self.numbers.tried();
        let column = self.plan.table.def.auto_increment_column();
        match column.filter(|_| generated.is_none()) {
            Some(column) => self.given.push(Some(row[column].clone())),
            None => self.given.push(None),
        }
        if let Some(column) = column.filter(|_| generated.is_some()) {
            self.numbers.stored(&self.plan.table, &row[column]);
        }
        self.count(generated, row);
        if self.writer.is_full() { self.settle(session, ctx, false) } else { Ok(()) }
    }

    /// Writes the rows that wait; all of their entries, too, when they are the `last`. A row whose
    /// key exists ends the statement, or is left out with a warning.
    fn settle(&mut self, session: &SessionContext, ctx: &mut EvalContext<'_>, last: bool) -> Done {
        if !self.forgiving {
            return self.flush(session, last);
        }
        let mut txn = session.txn_of(&self.plan.table).borrow_mut();
        let refused = self.writer.flush_ignoring(&mut txn, last)?;
        self.tally.copied -= refused.len() as u64;
        let is_refused = |at: usize| refused.binary_search_by_key(&at, |(at, _)| *at).is_ok();
        for (at, value) in self.given.drain(..).enumerate() {
            if let Some(value) = value.filter(|_| !is_refused(at)) {
                self.numbers.stored(&self.plan.table, &value);
            }
        }
        for (_, error) in refused {
            ctx.raise(inia_expr::Level::Warning, error)?;
        }
        Ok(())
    }

    /// Writes forgiven rows that wait, so that their warnings come before those of a later row.
    pub(super) fn settle_forgiven(
        &mut self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
    ) -> Done {
        match self.forgiving && !self.given.is_empty() {
            true => self.settle(session, ctx, false),
            false => Ok(()),
        }
    }

    /// Writes the rows that wait; all of their entries, too, when they are the `last`.
    fn flush(&mut self, session: &SessionContext, last: bool) -> Done {
        let (count, written) =
            self.writer.flush(&mut session.txn_of(&self.plan.table).borrow_mut(), last);
        for value in self.given.drain(..).take(count).flatten() {
            self.numbers.stored(&self.plan.table, &value);
        }
        written
    }

    /// Writes the rows still buffered; `given` is the outcome so far. A duplicate among them
    /// comes before an error of a later row, unless that error ended more than the statement.
    pub(super) fn write_last(
        &mut self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        given: Done,
    ) -> Done {
        let fatal = |error: &SqlError| {
            use ErrorCode as E;
            matches!(error.code, E::Deadlock | E::LockWaitTimeout | E::QueryInterrupted)
        };
        if !given.as_ref().is_err_and(fatal) {
            self.settle(session, ctx, true)?;
        }
        given
    }

    /// Whether the AUTO_INCREMENT column is to get a number.
    fn wants_number(&self, row: &[Value]) -> bool {
        let Some(column) = self.plan.table.def.auto_increment_column() else { return false };
        let zero = matches!(row[column], Value::Int(0) | Value::UInt(0));
        let zero = zero || row[column] == Value::Double(0.0);
        row[column] == Value::Null || (zero && !self.keep_zero)
    }

    /// Takes an error of generated columns or constraints: with IGNORE it becomes a warning, and
    /// the row is not counted.
    fn unfit(&mut self, ctx: &mut EvalContext<'_>, error: SqlError) -> Result<(), SqlError> {
        if !self.plan.ignore || !is_forgiven(&error) {
            return Err(error);
        }
        self.tally.records -= 1;
        ctx.raise(inia_expr::Level::Warning, error)
    }

    /// Computes generated columns and checks constraints.
    fn compute(&self, ctx: &mut EvalContext<'_>, row: &mut [Value]) -> Result<(), SqlError> {
        if self.plan.fills.plain() {
            return Ok(());
        }
        self.plan.fills.compute(row, ctx)?;
        self.plan.fills.check(row, ctx)
    }

    /// Gives the AUTO_INCREMENT column its number where the row has none.
    fn number(&mut self, row: &mut [Value]) -> Result<Option<u64>, SqlError> {
        let table = &self.plan.table;
        let Some(column) = table.def.auto_increment_column() else { return Ok(None) };
        if self.wants_number(row) {
            let number = self.numbers.take(table)?;
            row[column] = auto_increment::value_of(&table.def.columns[column].data_type, number);
            return Ok(Some(number));
        }
        self.numbers.given(&row[column]);
        Ok(None)
    }

    /// REPLACE: removes the row that holds the key; true where it is equal to the new row, which
    /// then need not be written.
    fn replace(
        &mut self,
        session: &SessionContext,
        at: usize,
        row: &[Value],
        generated: bool,
    ) -> Result<bool, SqlError> {
        if generated && self.is_numbered(at) {
            return Err(duplicate_error(&self.plan.table.def, at, row));
        }
        let found =
            self.writer.holder(&mut session.txn_of(&self.plan.table).borrow_mut(), at, row)?;
        let Some((key, bytes)) = found else { return Ok(false) };
        let mut new = Vec::with_capacity(bytes.len());
        let zone = self.writer.zone();
        self.plan.table.layout.encode_values(row, zone, &mut new)?;
        // What refers to the row is reached even where it stays the same.
        let reached = self.foreign.as_ref().is_some_and(Foreign::has_children);
        if new == bytes && !reached {
            // What MySQL would delete and insert counts, though it makes no difference.
            let def = &self.plan.table.def;
            let later = def.indexes[at + 1..].iter().any(|index| index.kind == IndexKind::Unique);
            self.tally.deleted += u64::from(later || !def.is_transactional());
            return Ok(true);
        }
        self.writer.delete(&mut session.txn_of(&self.plan.table).borrow_mut(), &key, &bytes)?;
        self.tally.deleted += 1;
        session.row_done(&self.plan.table, -1);
        if let Some(foreign) = &self.foreign {
            foreign.deleted(session, &values(&self.plan.table, &bytes, zone)?)?;
        }
        Ok(false)
    }

    /// ON DUPLICATE KEY UPDATE on the row that holds the key of index `at`.
    fn update_existing(
        &mut self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        at: usize,
        (tried, beside): (&[Value], &[Value]),
    ) -> Result<(), SqlError> {
        let table = &self.plan.table;
        let found =
            self.writer.holder(&mut session.txn_of(&self.plan.table).borrow_mut(), at, tried)?;
        let Some((key, bytes)) = found else { return Ok(()) };
        let old = values(table, &bytes, &session.env.time_zone)?;
        // VALUES(), the row alias and the source's columns read this; other names read `new`.
        ctx.inserting = tried.iter().chain(beside).cloned().collect();
        let mut new = old.clone();
        let (parts, nulls) = ((&**table, &self.plan.fills), self.plan.nulls_on_duplicate);
        assign(parts, &self.plan.on_duplicate, Some(nulls), &mut new, ctx)?;
        let changed: Vec<bool> = old.iter().zip(&new).map(|(a, b)| a != b).collect();
        // A row that keeps its values is not touched: its ON UPDATE timestamps stay, too.
        if !changed.contains(&true) {
            self.tally.untouched += 1;
            return Ok(());
        }
        let changed = touch(parts, &self.plan.on_duplicate, &mut new, changed, ctx)?;
        if let Err(error) = self.plan.fills.check(&new, ctx) {
            if !self.plan.ignore || !is_forgiven(&error) {
                return Err(error);
            }
            self.tally.untouched += 1;
            return ctx.raise(inia_expr::Level::Warning, error);
        }
        // The new values may meet another unique key or a foreign key: IGNORE rolls back to here.
        let start = session.txn_of(&self.plan.table).borrow().savepoint();
        let written = {
            let mut txn = session.txn_of(&self.plan.table).borrow_mut();
            let change = RowChange { key: &key, old: &bytes, new: &new, changed: &changed };
            self.writer.update(&mut txn, &change)?
        };
        let refused = match (written, &self.foreign) {
            (Written::Duplicate(at), _) => Err(duplicate_error(&table.def, at, &new)),
            (Written::Done, Some(foreign)) => foreign.updated(session, &old, &new),
            (Written::Done, None) => Ok(()),
        };
        if let Err(error) = refused {
            if !self.plan.ignore || !is_forgiven(&error) {
                return Err(error);
            }
            session.txn_of(&self.plan.table).borrow_mut().rollback_statement(start).sql()?;
            self.tally.untouched += 1;
            return ctx.raise(inia_expr::Level::Warning, error);
        }
        if let Some(column) = table.def.auto_increment_column() {
            self.numbers.stored(table, &new[column]);
            if !self.plan.selects {
                self.tally.last_value = number_of(&new[column]);
            }
        }
        self.tally.updated += 1;
        session.row_done(table, 0);
        Ok(())
    }

    pub(super) fn outcome(
        self,
        session: &SessionContext,
        ctx: &EvalContext<'_>,
        multiple: bool,
    ) -> StatementOutcome {
        let tally = self.tally;
        let said = session.host.last_insert_id.get();
        let info_id = tally.first_generated.or(said).unwrap_or(tally.last_value);
        let untouched = if session.client_found_rows { tally.untouched } else { 0 };
        let affected_rows = tally.copied + tally.deleted + 2 * tally.updated + untouched;
        let duplicates = match () {
            () if self.plan.replace => tally.deleted,
            () if self.plan.ignore => tally.records - tally.copied - tally.updated,
            () if !self.plan.on_duplicate.is_empty() => tally.updated,
            () => tally.records - tally.copied,
        };
        let info = match multiple {
            true => format!(
                "Records: {}  Duplicates: {duplicates}  Warnings: {}",
                tally.records,
                session.diagnostics.count + ctx.warnings.count
            ),
            false => String::new(),
        };
        StatementOutcome {
            affected_rows,
            last_insert_id: info_id,
            generated_id: tally.first_generated,
            info,
            rows: None,
            reports: false,
        }
    }
}

/// An AUTO_INCREMENT column's value.
fn number_of(value: &Value) -> u64 {
    match *value {
        Value::Int(v) => v as u64,
        Value::UInt(v) => v,
        Value::Double(v) => v as u64,
        _ => 0,
    }
}
