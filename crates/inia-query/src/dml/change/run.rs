//! Executing UPDATE and DELETE of one table.

use super::batch::may_change_together;
use super::rewrite::Rewrite;
use super::{ChangePlan, exclusive_request, refuse_without_key};
use crate::access::{FoundRow, RowData, TableScan};
use crate::context::SessionContext;
use crate::context::{StatementOutcome, update_info};
use crate::dml::auto_increment;
use crate::dml::foreign::Foreign;
use crate::dml::gathered::Gathered;
use crate::dml::write::{RowChange, RowWriter, Written, duplicate_error, values};
use crate::dml::{is_forgiven, is_unplaced};
use crate::error::Damaged;
use crate::error::StorageResult;
use crate::exec::limit_of;
use crate::status::Executed;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{EvalContext, Strictness};
use inia_storage::{ReadMode, Savepoint};
use std::sync::atomic::Ordering;

/// One execution.
pub(super) struct ChangeRun<'r> {
    pub(super) plan: &'r ChangePlan,
    pub(super) session: &'r SessionContext,
    pub(super) writer: RowWriter<'r>,
    /// `None` for DELETE.
    rewrite: Option<Rewrite<'r>>,
    foreign: Option<Foreign>,
    /// Every row that the path finds fulfils the conditions that it covers.
    exact: bool,
    /// Rows may be changed several at a time.
    together: bool,
    /// All rows that the path finds are deleted, and may be several at a time.
    in_runs: bool,
    /// Rows that are, or will be, changed or kept.
    pub(super) matched: u64,
    pub(super) changed: u64,
    /// Values that conditions and ORDER BY read.
    row: Vec<Value>,
}

impl ChangePlan {
    /// Error 1031 where there is a row to be changed.
    fn refuse_found(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
    ) -> Result<(), SqlError> {
        let mut scan = TableScan::open(&self.table, &self.path, ReadMode::Snapshot, ctx, &[])?;
        let mut txn = session.txn_of(&self.table).borrow_mut();
        match scan.next(&mut txn)? {
            Some(_) => Err(SqlError::new(ErrorCode::IllegalHa, &[&self.table.def.name])),
            None => Ok(()),
        }
    }

    /// Executes the plan.
    pub fn run(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
    ) -> Result<StatementOutcome, SqlError> {
        let strict = session.env.sql_mode.is_strict() && !self.ignore;
        ctx.strictness = if strict { Strictness::Strict } else { Strictness::Lenient };
        ctx.ignores = self.ignore;
        let limit = match &self.limit {
            Some(limit) => limit_of(&limit.eval(ctx, &[])?)?,
            None => u64::MAX,
        };
        if self.limit.is_none() && self.path.is_unbounded() {
            refuse_without_key(session)?;
        }
        if self.table.def.is_append_only() {
            self.refuse_found(session, ctx)?;
        }
        // The counter is read before a row goes whose number may be the greatest.
        auto_increment::prepare_counter(&self.table)?;
        let foreign = Foreign::load(session, &self.table)?;
        let mode = ReadMode::Lock(exclusive_request());
        let mut scan = TableScan::open(&self.table, &self.path, mode, ctx, &[])?;
        // As in MySQL, UPDATE alone reads semi-consistently, and DELETE waits for each locked row.
        if !self.deletes() && session.state.releases_unmatched() {
            scan.read_semi_consistently();
        }
        // A deferred lock is taken by the row's change or its batch. Gathered rows are changed
        // after the scan, so they are locked when they are found.
        if !self.gather {
            scan.defer_locks();
        }
        let zone = &session.env.time_zone;
        let rewriting = self.rewriting.as_ref();
        // A batch needs rows whose order and single failures make no difference.
        let together = !self.gather && !self.ignore && foreign.is_none() && self.is_simple();
        let exact = scan.is_exact();
        let all = self.filter.iter().all(|(_, covered)| exact && *covered);
        let mut run = ChangeRun {
            plan: self,
            session,
            writer: RowWriter::new(&self.table, zone),
            rewrite: rewriting.map(|plan| Rewrite::new(plan, &self.table, &self.fills, zone)),
            exact,
            together,
            in_runs: together && all && self.deletes() && scan.defers(),
            foreign,
            matched: 0,
            changed: 0,
            row: vec![
                Value::Null;
                if self.looks_at.is_empty() { 0 } else { self.table.layout.len() }
            ],
        };
        let expected = (!self.deletes()).then(|| self.table.rows() as f64);
        let mut gathered = Gathered::new(session.workspace(), &self.order, limit, expected);
        debug_assert!(self.gather || self.order.is_empty(), "sorted rows are gathered first");
        debug_assert!(!run.in_runs || run.together, "a run of deletes is a batch");
        // Rows of the last batch may turn out not to match: LIMIT then takes more from the scan.
        loop {
            let scanned = run.scan(ctx, &mut scan, limit, &mut gathered);
            if run.flush_last(ctx, scanned)? || run.matched >= limit {
                break;
            }
        }
        debug_assert!(run.writer.changes.is_empty(), "the last batch is written");
        gathered.each(limit, |key, bytes| run.change(ctx, None, (key, bytes)).map(|_| ()))?;
        Ok(run.outcome(ctx))
    }

    /// Whether it deletes rows.
    pub fn deletes(&self) -> bool {
        self.rewriting.is_none()
    }

    /// Whether it deletes all rows, as an engine does that leaves no places behind.
    fn empties(&self) -> bool {
        let all = self.filter.is_empty() && self.limit.is_none();
        all && self.deletes() && self.table.triggers.is_empty()
    }

    /// Whether the outcome is the same when rows are changed together.
    fn is_simple(&self) -> bool {
        if self.deletes() && self.table.has_several() {
            return false;
        }
        let writes = |column| self.rewriting.as_ref().is_some_and(|plan| plan.may_write(column));
        may_change_together(&self.table, writes)
    }
}

impl ChangeRun<'_> {
    /// Scans the path and changes, buffers or gathers the rows that match, up to the limit; whether
    /// the scan has reached its end.
    fn scan(
        &mut self,
        ctx: &mut EvalContext<'_>,
        scan: &mut TableScan,
        limit: u64,
        gathered: &mut Gathered<'_>,
    ) -> Result<bool, SqlError> {
        let (plan, session) = (self.plan, self.session);
        let (mut key, mut old) = (Vec::new(), Vec::new());
        while self.matched < limit {
            if self.in_runs && self.delete_run(ctx, scan, limit)? {
                continue;
            }
            if scan.next(&mut session.txn_of(&plan.table).borrow_mut())?.is_none() {
                // The scan never waits while unlocked rows are buffered: those are written first.
                if scan.take_pause() {
                    self.flush_changes(ctx)?;
                    continue;
                }
                return Ok(true);
            }
            session.check_killed()?;
            // A semi-consistent read waits only for a row whose committed version matches.
            if scan.is_unlocked() {
                self.flush_changes(ctx)?;
                if !self.lock_matching(ctx, scan)? {
                    continue;
                }
            }
            let Some(found) = scan.current_row()? else { continue };
            let RowData::Row(bytes) = found.data else { return Err(Damaged.into()) };
            // The row is copied: its change needs the scan, whose buffers hold it.
            key.clear();
            key.extend_from_slice(found.clustered_key);
            old.clear();
            old.extend_from_slice(bytes);
            let done = if !self.holds(ctx, &old)? {
                self.pass_over(scan)?
            } else if plan.gather {
                self.gather(ctx, gathered, (&key, &old))?;
                // Without ORDER BY the rows found first are those that LIMIT means.
                if plan.order.is_empty() && gathered.found() >= limit {
                    return Ok(true);
                }
                true
            } else {
                let place = Some(&mut *scan).filter(|scan| scan.defers());
                let raised = (ctx.warnings.list.len(), ctx.warnings.count);
                let done = self.change(ctx, place, (&key, &old))?;
                if !done {
                    // What it was warned of is found again.
                    ctx.warnings.list.truncate(raised.0);
                    ctx.warnings.count = raised.1;
                }
                done
            };
            // Another transaction has changed the row since: it is read again under a lock.
            if !done && self.read_again(ctx, &key, &mut old)? {
                self.change(ctx, None, (&key, &old))?;
            }
            self.flush_if_full(ctx)?;
        }
        Ok(false)
    }

    /// Keeps a row that is changed when all have been found.
    fn gather(
        &mut self,
        ctx: &mut EvalContext<'_>,
        gathered: &mut Gathered<'_>,
        (key, bytes): (&[u8], &[u8]),
    ) -> Result<(), SqlError> {
        let order = &self.plan.order;
        if order.is_empty() {
            return gathered.push(key, bytes);
        }
        self.look_at(bytes)?;
        gathered.push_ordered(ctx, order, &self.row, (key, bytes))
    }

    /// Locks and reads a row that another transaction has changed; whether it still matches.
    pub(super) fn read_again(
        &mut self,
        ctx: &mut EvalContext<'_>,
        key: &[u8],
        bytes: &mut Vec<u8>,
    ) -> Result<bool, SqlError> {
        bytes.clear();
        let copy = |value: &[u8]| bytes.extend_from_slice(value);
        let table = &self.plan.table;
        let mut txn = self.session.txn_of(table).borrow_mut();
        let (leaf, key) = table.located(key);
        let found = txn.lock_get(&leaf.clustered, key, exclusive_request(), copy).sql()?;
        drop(txn);
        Ok(found.is_some() && self.holds(ctx, bytes)?)
    }

    /// Locks a row that a semi-consistent read has found, if its committed version fulfils the
    /// conditions; false when it does not, or when the row is gone.
    fn lock_matching(
        &mut self,
        ctx: &mut EvalContext<'_>,
        scan: &mut TableScan,
    ) -> Result<bool, SqlError> {
        let Some(seen) = scan.current_row()? else { return Ok(false) };
        let RowData::Row(bytes) = seen.data else { return Err(Damaged.into()) };
        if !self.holds(ctx, bytes)? {
            return Ok(false);
        }
        scan.lock_current(&mut self.session.txn_of(&self.plan.table).borrow_mut())
    }

    /// Whether a row fulfils the conditions that the path does not make true.
    fn holds(&mut self, ctx: &mut EvalContext<'_>, bytes: &[u8]) -> Result<bool, SqlError> {
        let filter = &self.plan.filter;
        if filter.iter().all(|(_, covered)| self.exact && *covered) {
            return Ok(true);
        }
        self.look_at(bytes)?;
        for (condition, covered) in filter {
            let known = self.exact && *covered;
            if !known && condition.eval_bool(ctx, &self.row)? != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Decodes what conditions and ORDER BY read.
    fn look_at(&mut self, bytes: &[u8]) -> Result<(), SqlError> {
        let found = FoundRow { clustered_key: &[], data: RowData::Row(bytes) };
        let (plan, zone) = (self.plan, &self.session.env.time_zone);
        found.fill(&plan.table, &plan.looks_at, zone, &mut self.row)
    }

    /// Changes a row, the one that `scan` stands on where that is given; false, with nothing done,
    /// where it must be read again.
    pub(super) fn change(
        &mut self,
        ctx: &mut EvalContext<'_>,
        mut scan: Option<&mut TableScan>,
        (key, old): (&[u8], &[u8]),
    ) -> Result<bool, SqlError> {
        let (plan, session) = (self.plan, self.session);
        let Some(rewrite) = &mut self.rewrite else { return self.delete(ctx, scan, (key, old)) };
        ctx.row_number = self.matched + 1;
        if !rewrite.take(old, ctx)? {
            return self.keep_unchanged(scan);
        }
        if let Err(error) = rewrite.check(ctx) {
            if !plan.ignore || !is_forgiven(&error) {
                return Err(error);
            }
            let kept = self.keep_unchanged(scan)?;
            return if kept {
                ctx.raise(inia_expr::Level::Warning, error).map(|()| true)
            } else {
                Ok(false)
            };
        }
        let left = scan.as_mut().filter(|_| self.together).and_then(|scan| scan.leave_current());
        if let Some(locator) = left {
            let mut txn = session.txn_of(&plan.table).borrow_mut();
            self.writer.buffer_update(&mut txn, &locator, (key, old), rewrite)?;
            rewrite.note_number(self.writer.counted);
            self.matched += 1;
            return Ok(true);
        }
        self.update(ctx, scan, (key, old))
    }

    /// Writes the row that was rewritten last, and what that brings about.
    fn update(
        &mut self,
        ctx: &mut EvalContext<'_>,
        scan: Option<&mut TableScan>,
        (key, old): (&[u8], &[u8]),
    ) -> Result<bool, SqlError> {
        let (plan, session) = (self.plan, self.session);
        let Some(rewrite) = &self.rewrite else { return Ok(true) };
        // A duplicate may be found after other records are written: IGNORE rolls back to here.
        let start = session.txn_of(&plan.table).borrow().savepoint();
        let (new, changed) = (rewrite.bytes(), rewrite.changed());
        let change = RowChange { key, old, new, changed };
        let written = {
            let mut txn = session.txn_of(&plan.table).borrow_mut();
            let written = match scan {
                None => self.writer.update_bytes(&mut txn, &change).map(Some),
                Some(scan) => self.writer.update_at(&mut txn, scan, &change),
            };
            match written {
                Ok(None) => return Ok(false),
                Ok(Some(written)) => Ok(written),
                Err(error) if is_unplaced(&error) => Err(error),
                Err(error) => return Err(error),
            }
        };
        self.matched += 1;
        let written = match written {
            Ok(written) => written,
            Err(error) => return self.forgive(ctx, start, error).map(|()| true),
        };
        // Foreign keys are checked after the row is written, since a row may refer to itself.
        let (table, zone) = (&plan.table, &session.env.time_zone);
        let refused = match (written, &self.foreign) {
            (Written::Duplicate(at), _) => {
                Err(duplicate_error(&table.def, at, &values(table, new, zone)?))
            }
            (Written::Done, Some(foreign)) => {
                foreign.updated(session, &values(table, old, zone)?, &values(table, new, zone)?)
            }
            (Written::Done, None) => Ok(()),
        };
        if let Err(error) = refused {
            return self.forgive(ctx, start, error).map(|()| true);
        }
        rewrite.note_number(self.writer.counted);
        self.changed += 1;
        session.row_done(self.writer.stored(), 0);
        Ok(true)
    }

    fn delete(
        &mut self,
        ctx: &mut EvalContext<'_>,
        mut scan: Option<&mut TableScan>,
        (key, bytes): (&[u8], &[u8]),
    ) -> Result<bool, SqlError> {
        let (table, session) = (&self.plan.table, self.session);
        // Where rows are changed together, a row that is not locked yet joins the batch.
        let left = scan.as_mut().filter(|_| self.together).and_then(|scan| scan.leave_current());
        if let Some(locator) = left {
            let mut txn = session.txn_of(table).borrow_mut();
            self.writer.buffer_delete(&mut txn, &locator, (key, bytes))?;
            self.matched += 1;
            ctx.row_number = self.matched;
            return Ok(true);
        }
        let start = session.txn_of(table).borrow().savepoint();
        {
            let mut txn = session.txn_of(table).borrow_mut();
            match scan {
                None => self.writer.delete(&mut txn, key, bytes)?,
                Some(scan) => {
                    if !self.writer.delete_at(&mut txn, scan, key, bytes)? {
                        return Ok(false);
                    }
                }
            }
        }
        self.matched += 1;
        ctx.row_number = self.matched;
        // A cascade must not meet the row that started it: children come after its removal.
        if let Some(foreign) = &self.foreign {
            let old = values(table, bytes, &session.env.time_zone)?;
            if let Err(error) = foreign.deleted(session, &old) {
                self.forgive(ctx, start, error)?;
                return Ok(true);
            }
        }
        self.changed += 1;
        session.row_done(self.writer.stored(), -1);
        Ok(true)
    }

    /// Leaves a row that does not match: its lock is given up or taken, as the isolation level has
    /// it. False where it must be read again.
    fn pass_over(&self, scan: &mut TableScan) -> Result<bool, SqlError> {
        let mut txn = self.session.txn_of(&self.plan.table).borrow_mut();
        if self.session.state.releases_unmatched() {
            scan.unlock_current(&mut txn);
            return Ok(true);
        }
        scan.secure_current(&mut txn)
    }

    /// Locks a row that matches and stays as it is; false where it must be read again.
    fn keep_unchanged(&mut self, scan: Option<&mut TableScan>) -> Result<bool, SqlError> {
        let table = &self.plan.table;
        let kept = match scan {
            Some(scan) => scan.secure_current(&mut self.session.txn_of(table).borrow_mut())?,
            None => true,
        };
        self.matched += u64::from(kept);
        Ok(kept)
    }

    /// IGNORE: undoes the row's change and makes the error a warning.
    fn forgive(
        &self,
        ctx: &mut EvalContext<'_>,
        start: Savepoint,
        error: SqlError,
    ) -> Result<(), SqlError> {
        if !self.plan.ignore || !is_forgiven(&error) {
            return Err(error);
        }
        let mut txn = self.session.txn_of(&self.plan.table).borrow_mut();
        txn.rollback_statement(start).sql()?;
        ctx.raise(inia_expr::Level::Warning, error)
    }

    fn outcome(&self, ctx: &EvalContext<'_>) -> StatementOutcome {
        debug_assert!(self.changed <= self.matched, "a row that is changed has matched");
        let what = if self.plan.deletes() { Executed::Delete } else { Executed::Update };
        self.session.host.counters.count_executed(what, self.changed);
        if self.plan.deletes() {
            if self.plan.empties() {
                self.plan.table.shared.forget_vacated();
            }
            return StatementOutcome { affected_rows: self.changed, ..StatementOutcome::default() };
        }
        self.plan.table.shared.updates.fetch_add(self.changed, Ordering::Relaxed);
        let session = self.session;
        let warnings = session.diagnostics.count + ctx.warnings.count;
        let info = update_info(self.matched, self.changed, warnings);
        let affected_rows = if session.client_found_rows { self.matched } else { self.changed };
        let last_insert_id = session.host.last_insert_id.get().unwrap_or(0);
        StatementOutcome { affected_rows, last_insert_id, info, ..StatementOutcome::default() }
    }
}
