//! Executing INSERT and REPLACE: each row is numbered, computed, checked and written.

mod batch_thread;
mod duplicate;
mod together;
mod triggers;

use super::{InsertPlan, Literals};
use crate::context::SessionContext;
use crate::context::StatementOutcome;
use crate::dml::auto_increment::{self, Numbers};
use crate::dml::foreign::Foreign;
use crate::dml::returning::Returned;
use crate::dml::write::{RowWriter, Written, duplicate_error};
use crate::dml::{is_forgiven, is_unplaced};
use crate::error::StorageResult;
use crate::status::Executed;
use batch_thread::{BatchThread, GivenNumbers};
use inia_base::error::SqlError;
use inia_base::sql_mode::SqlMode;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_storage::{LockMode, Savepoint};
use together::{Settle, Together};

pub(super) type Done = Result<(), SqlError>;

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
    /// A row with a number that it was given, which waited with others, is written.
    numbered_written: bool,
    last_value: u64,
}

/// One execution.
///
/// Wide: one flag for each way in which rows are written and followed up.
pub(super) struct InsertRun<'r> {
    plan: &'r InsertPlan,
    writer: RowWriter<'r>,
    numbers: Numbers,
    keep_zero: bool,
    tally: Tally,
    foreign: Option<Foreign>,
    together: Together,
    /// The table has triggers of INSERT, UPDATE or DELETE.
    fires: bool,
    /// It has such triggers, or is a merged one.
    notes_rows: bool,
    /// For each row that waits, the number that it brings for the AUTO_INCREMENT column.
    given: GivenNumbers,
    /// A row that waits, or is with the thread, brings one.
    brings_number: bool,
    /// The thread that writes the rows that wait.
    thread: Option<Box<BatchThread>>,
    /// What RETURNING gives.
    pub(super) returned: Option<Returned<'r>>,
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
        let unique = plan.table.def.indexes.iter().any(|index| index.refuses());
        let nontransactional = !plan.table.def.is_transactional();
        let fires = !plan.table.triggers.is_empty();
        let single = unique || plan.table.has_several() || foreign.is_some() || fires;
        let single = single || plan.table.partitions.is_some();
        let batched = several && !single && !nontransactional;
        let together = if batched && !settles { Together::All } else { Together::None };
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
            fires,
            notes_rows: fires || plan.table.united().is_some(),
            given,
            brings_number: false,
            thread: None,
            returned: None,
        };
        Ok(run)
    }

    /// Leaves a failed statement's first number to LAST_INSERT_ID(), if its row was written.
    pub(super) fn keep_number(&self, session: &SessionContext) {
        let written = self.together == Together::None || self.tally.numbered_written;
        if let Some(number) = self.tally.first_generated.filter(|_| written) {
            session.host.last_insert_id.set(Some(number));
        }
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
        if self.fires {
            self.before_insert(session, ctx, row)?;
        }
        if self.brings_number && self.wants_number(row) {
            self.settle(session, ctx, Settle::Written)?;
        }
        if let Err(error) = self.compute(ctx, row) {
            return self.settle_forgiven(session, ctx).and_then(|()| self.unfit(ctx, error));
        }
        let generated = self.number(row)?;
        if self.together.takes(generated.is_some()) {
            return self.buffer(session, ctx, generated, row);
        }
        self.settle_forgiven(session, ctx)?;
        if self.plan.table.def.discards_rows() {
            return self.discard(session, ctx, generated, row);
        }
        session.check_room(&self.plan.table)?;
        let mut txn = session.txn_of(&self.plan.table).borrow_mut();
        let (start, mut grown) = (txn.savepoint(), 1);
        loop {
            // Of this try alone: rows that were replaced before it stay deleted.
            let attempt = txn.savepoint();
            let written = self.writer.insert(&mut txn, row);
            self.numbers.tried();
            let at = match written {
                Ok(Written::Done) => break,
                Ok(Written::Duplicate(at)) => at,
                Err(error) => return self.unplaced(ctx, error),
            };
            let settles = self.plan.replace || !self.plan.on_duplicate.is_empty();
            if !settles && !self.plan.ignore {
                return Err(self.refused(session, at, row));
            }
            self.writer.take_back(&mut txn, attempt)?;
            if self.plan.replace {
                drop(txn);
                let same = self.replace(session, at, (row, generated.is_some()))?;
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
        session.row_done(self.writer.stored(), grown);
        self.written(session, ctx, generated, row)
    }

    /// Counts a row that its table takes and does not keep.
    fn discard(
        &mut self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        generated: Option<u64>,
        row: &[Value],
    ) -> Done {
        let known = self.tally.last_value;
        self.count(generated, row);
        if self.plan.selects {
            // As in MySQL, the rows of a query are not looked at.
            self.tally.last_value = known;
        }
        self.give_back(row, ctx)?;
        if self.fires { self.after_insert(session, row) } else { Ok(()) }
    }

    /// The error of a row whose key exists, which was counted as written.
    fn refused(&self, session: &SessionContext, at: usize, row: &[Value]) -> SqlError {
        session.host.counters.count_executed(Executed::Write, self.tally.records);
        duplicate_error(&self.plan.table.def, at, row)
    }

    /// A row that no partition takes is left out with a warning under IGNORE; other errors stay.
    fn unplaced(&self, ctx: &mut EvalContext<'_>, error: SqlError) -> Done {
        match self.plan.ignore && is_unplaced(&error) {
            true => ctx.raise(inia_expr::Level::Warning, error),
            false => Err(error),
        }
    }

    /// Adds what RETURNING gives of a row.
    #[inline]
    fn give_back(&mut self, row: &[Value], ctx: &mut EvalContext<'_>) -> Done {
        self.returned.as_mut().map_or(Ok(()), |returned| returned.push(row, ctx))
    }

    /// Notes a row that was written by itself.
    fn written(
        &mut self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        generated: Option<u64>,
        row: &[Value],
    ) -> Done {
        self.count(generated, row);
        if let Some(column) = self.plan.table.def.auto_increment_column() {
            self.numbers.stored(&self.plan.table, &row[column]);
        }
        self.give_back(row, ctx)?;
        if self.notes_rows { self.note_row(session, row) } else { Ok(()) }
    }

    /// The child of a merged table that took the row goes on behind its number; triggers run.
    fn note_row(&mut self, session: &SessionContext, row: &[Value]) -> Done {
        self.number_child(row);
        if self.fires { self.after_insert(session, row) } else { Ok(()) }
    }

    fn number_child(&self, row: &[Value]) {
        let numbered = self.plan.table.numbered.filter(|_| self.plan.table.united().is_some());
        if let Some(column) = numbered {
            auto_increment::updated(self.writer.counted, column, &row[column]);
        }
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

    /// Computes generated columns and checks constraints. None of them may read the AUTO_INCREMENT
    /// column, and a row that they refuse takes no number: they come before it.
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
        let counters = &session.host.counters;
        counters.count_executed(Executed::Write, tally.records);
        counters.count_executed(Executed::Update, tally.updated + tally.deleted);
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
