//! UPDATE and DELETE of one table.
//!
//! Rows are found by a locking scan. Where the change could move a row ahead of the scan (the
//! Halloween problem: the scanned index or the primary key is assigned), or ORDER BY wants
//! another order, the rows are gathered first and changed afterwards.

use super::auto_increment;
use super::change_many::may_change_together;
use super::fill::Fills;
use super::foreign::Foreign;
use super::gathered::Gathered;
use super::insert::{assign, bind_plain, touch};
use super::is_forgiven;
use super::joined::has_subquery;
use super::scope::TableScope;
use super::view::Guard;
use super::write::{RowWriter, Written, duplicate_error, values};
use crate::access::{self, AccessPath, RowData, Scan};
use crate::bind::read_hidden_columns;
use crate::catalog::Table;
use crate::error::StorageResult;
use crate::expr::{self, EvalContext, Expr, Strictness};
use crate::optimize::{SlotSet, conjuncts};
use crate::plan::ViewUse;
use crate::row::Damaged;
use crate::session::Outcome;
use crate::session::core::Core;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::ast;
use inia_storage::{LockMode, LockRequest, ReadMode, Savepoint, WaitPolicy};
use std::sync::Arc;

/// A planned UPDATE or DELETE.
pub(crate) struct ChangePlan {
    pub(crate) table: Arc<Table>,
    path: AccessPath,
    /// The conditions, and for each whether exact bounds of the path make it true.
    filter: Vec<(Expr, bool)>,
    /// `None` for DELETE.
    assignments: Option<Vec<(usize, Option<Expr>)>>,
    order: Vec<(Expr, bool)>,
    limit: Option<Expr>,
    ignore: bool,
    gather: bool,
    fills: Fills,
    /// The views that rows are changed through.
    pub(crate) views: Vec<ViewUse>,
}

impl ChangePlan {
    /// Takes in what the view that rows are changed through demands.
    pub(crate) fn guard(&mut self, core: &Core, guard: Guard) -> Result<(), SqlError> {
        guard.bind(core, &self.table.def, &mut self.fills)?;
        self.views = guard.views;
        Ok(())
    }
}

struct Clauses<'a> {
    condition: Option<&'a ast::Expr>,
    order_by: &'a [ast::OrderItem],
    limit: Option<&'a ast::Limit>,
}

/// Plans UPDATE of one table; `None` for joins and subqueries.
pub(crate) fn plan_update(
    core: &Core,
    update: &ast::Update,
) -> Result<Option<ChangePlan>, SqlError> {
    let [ast::TableRef::Table(factor)] = update.tables.as_slice() else { return Ok(None) };
    let values = update.assignments.iter().map(|assignment| &assignment.value);
    let order = update.order_by.iter().map(|item| &item.expr);
    let subquery = values.chain(&update.where_).chain(order).any(has_subquery);
    if subquery || update.with.is_some() {
        return Ok(None);
    }
    let table = core.open_table(factor.name.db.as_deref(), &factor.name.name)?;
    let mut scope = TableScope::new(&table, factor.alias.as_deref());
    let fills = Fills::compile(&table.def, &core.env, &core.host)?;
    let mut assignments = Vec::with_capacity(update.assignments.len());
    for assignment in &update.assignments {
        let target = scope.position(&assignment.column)?;
        if fills.is_generated(target) && assignment.value != ast::Expr::Default {
            let args: [&dyn std::fmt::Display; 2] =
                [&table.def.columns[target].name, &table.def.name];
            return Err(SqlError::new(ErrorCode::NonDefaultValueForGeneratedColumn, &args));
        }
        assignments.push(match &assignment.value {
            ast::Expr::Default => (target, None),
            value => (target, Some(bind_plain(core, &mut scope, value)?)),
        });
    }
    let clauses = Clauses {
        condition: update.where_.as_ref(),
        order_by: &update.order_by,
        limit: update.limit.as_ref(),
    };
    let hints = &factor.hints;
    let mut plan = plan(core, &table, &mut scope, clauses, hints, fills)?;
    plan.gather |= moves_rows(&plan, &assignments);
    plan.assignments = Some(assignments);
    plan.ignore = update.ignore;
    Ok(Some(plan))
}

/// Plans DELETE from one table; `None` for joins and subqueries.
pub(crate) fn plan_delete(
    core: &Core,
    delete: &ast::Delete,
) -> Result<Option<ChangePlan>, SqlError> {
    let ast::DeleteTarget::Single(factor) = &delete.target else { return Ok(None) };
    let order = delete.order_by.iter().map(|item| &item.expr);
    if delete.with.is_some() || delete.where_.iter().chain(order).any(has_subquery) {
        return Ok(None);
    }
    let table = core.open_table(factor.name.db.as_deref(), &factor.name.name)?;
    let mut scope = TableScope::new(&table, factor.alias.as_deref());
    let fills = Fills::compile(&table.def, &core.env, &core.host)?;
    let clauses = Clauses {
        condition: delete.where_.as_ref(),
        order_by: &delete.order_by,
        limit: delete.limit.as_ref(),
    };
    let hints = &factor.hints;
    let mut plan = plan(core, &table, &mut scope, clauses, hints, fills)?;
    plan.ignore = delete.ignore;
    Ok(Some(plan))
}

fn plan(
    core: &Core,
    table: &Arc<Table>,
    scope: &mut TableScope<'_>,
    clauses: Clauses<'_>,
    hints: &[ast::IndexHint],
    fills: Fills,
) -> Result<ChangePlan, SqlError> {
    scope.clause = "where clause";
    let condition = clauses.condition.map(|c| bind_plain(core, scope, c)).transpose()?;
    scope.clause = "order clause";
    let mut order = Vec::with_capacity(clauses.order_by.len());
    for item in clauses.order_by {
        order.push((bind_plain(core, scope, &item.expr)?, item.desc));
    }
    if let Some(ast::Expr::Column(name)) = clauses.limit.map(|limit| &limit.count) {
        return Err(SqlError::new(ErrorCode::SpUndeclaredVar, &[&name.name]));
    }
    let limit = clauses.limit.map(|limit| bind_plain(core, scope, &limit.count)).transpose()?;
    let allowed = allowed_indexes(table, hints)?;
    let mut conditions = Vec::new();
    if let Some(condition) = condition {
        conjuncts(condition, &mut conditions);
        read_hidden_columns(&table.def, 0, &mut conditions, &core.env, &core.host);
    }
    let request = access::Request {
        table,
        base: 0,
        needed: vec![true; table.def.columns.len()],
        allowed: allowed.as_deref(),
        measure: None,
    };
    let choice = access::choose(&request, &conditions, &SlotSet::default());
    let filter = conditions.into_iter().zip(choice.covered).collect();
    let path = choice.path;
    let gather = !order.is_empty();
    Ok(ChangePlan {
        table: table.clone(),
        path,
        filter,
        assignments: None,
        order,
        limit,
        ignore: false,
        gather,
        fills,
        views: Vec::new(),
    })
}

/// Whether the assignments change the order of what is scanned.
fn moves_rows(plan: &ChangePlan, assignments: &[(usize, Option<Expr>)]) -> bool {
    let def = &plan.table.def;
    let assigned = |column: usize| {
        assignments.iter().any(|(target, _)| *target == column)
            || plan.fills.is_generated(column)
            || def.columns[column].on_update_now
    };
    let scanned = plan.path.index.map(|at| &def.indexes[at]);
    let indexes = scanned.into_iter().chain(def.primary());
    indexes.flat_map(|index| &index.parts).any(|part| assigned(part.column))
}

#[derive(Default)]
pub(super) struct Tally {
    /// Rows that are, or will be, changed or kept.
    pub(super) matched: u64,
    pub(super) changed: u64,
    foreign: Option<Foreign>,
    /// Rows may be changed several at a time.
    together: bool,
}

impl ChangePlan {
    /// Executes the plan.
    pub(crate) fn run(&self, core: &Core, ctx: &mut EvalContext<'_>) -> Result<Outcome, SqlError> {
        let strict = core.env.sql_mode.is_strict() && !self.ignore;
        ctx.strictness = if strict { Strictness::Strict } else { Strictness::Lenient };
        let limit = match &self.limit {
            Some(limit) => row_count(limit, ctx)?,
            None => u64::MAX,
        };
        if self.limit.is_none() && self.path.is_unbounded() {
            refuse_without_key(core)?;
        }
        auto_increment::prepare_counter(&self.table)?;
        let mut writer = RowWriter::new(&self.table, &core.env.time_zone);
        let mut tally = Tally { foreign: Foreign::load(core, &self.table)?, ..Tally::default() };
        let mode = ReadMode::Lock(exclusive_request());
        let mut scan = Scan::open(&self.table, &self.path, mode, ctx, &[])?;
        if self.assignments.is_some() && core.state.releases_unmatched() {
            scan.look_first();
        }
        if !self.gather {
            scan.defer_locks();
        }
        tally.together =
            !self.gather && !self.ignore && tally.foreign.is_none() && self.is_simple();
        let exact = scan.is_exact();
        let mut gathered = Gathered::new(core.workspace(), !self.order.is_empty());
        loop {
            let to = (limit, &mut gathered);
            let scanned = self.scan(core, ctx, &mut writer, (&mut scan, &mut tally), to);
            let at = (exact, &mut tally);
            let ended = self.change_last(core, ctx, &mut writer, at, scanned)?;
            if ended || tally.matched >= limit {
                break;
            }
        }
        gathered.each(limit, |key, bytes| {
            self.change(core, ctx, &mut writer, None, (key, bytes), &mut tally).map(|_| ())
        })?;
        Ok(self.outcome(core, ctx, &tally))
    }

    /// Goes over the rows that the path finds and changes, puts off or gathers those that match, up
    /// to the limit; whether it came to their end.
    fn scan(
        &self,
        core: &Core,
        ctx: &mut EvalContext<'_>,
        writer: &mut RowWriter<'_>,
        (scan, tally): (&mut Scan, &mut Tally),
        (limit, gathered): (u64, &mut Gathered<'_>),
    ) -> Result<bool, SqlError> {
        let (mut row, mut key, mut old) = (Vec::new(), Vec::new(), Vec::new());
        let exact = scan.is_exact();
        while tally.matched < limit {
            if scan.next(&mut core.txn_of(&self.table).borrow_mut())?.is_none() {
                if scan.take_pause() {
                    self.change_waiting(core, ctx, writer, (exact, tally))?;
                    continue;
                }
                return Ok(true);
            }
            core.check_killed()?;
            if scan.is_unlocked() {
                self.change_waiting(core, ctx, writer, (exact, tally))?;
            }
            if scan.is_unlocked() && !self.lock_matching(core, ctx, scan, &mut row)? {
                continue;
            }
            let Some(found) = scan.current_row()? else { continue };
            let RowData::Row(bytes) = found.data else { return Err(Damaged.into()) };
            key.clear();
            key.extend_from_slice(found.clustered_key);
            old.clear();
            old.extend_from_slice(bytes);
            let done = if !self.holds(core, ctx, &old, exact, &mut row)? {
                pass_over(core, &self.table, scan)?
            } else if self.gather {
                if self.order.is_empty() {
                    gathered.push(&key, &old)?;
                } else {
                    self.table.layout.decode(&old, &core.env.time_zone, &mut row)?;
                    gathered.push_ordered(ctx, &self.order, &row, (&key, &old))?;
                }
                if self.order.is_empty() && gathered.found() >= limit {
                    return Ok(true);
                }
                true
            } else {
                let place = Some(&mut *scan).filter(|scan| scan.defers());
                self.change(core, ctx, writer, place, (&key, &old), tally)?
            };
            if !done && self.read_again(core, ctx, &key, &mut old, (exact, &mut row))? {
                self.change(core, ctx, writer, None, (&key, &old), tally)?;
            }
            self.change_if_full(core, ctx, writer, (exact, tally))?;
        }
        Ok(false)
    }

    /// Whether it deletes rows.
    pub(super) fn deletes(&self) -> bool {
        self.assignments.is_none()
    }

    /// Whether the outcome is the same when rows are changed together.
    fn is_simple(&self) -> bool {
        let columns = &self.table.def.columns;
        let assignments = self.assignments.as_deref().unwrap_or_default();
        let assigned = |column: usize| {
            assignments.iter().any(|(target, _)| *target == column)
                || self.fills.is_generated(column)
                || columns[column].on_update_now
        };
        may_change_together(&self.table, |column| !self.deletes() && assigned(column))
    }

    /// Locks and reads a row that another transaction got at; whether it is to be changed.
    pub(super) fn read_again(
        &self,
        core: &Core,
        ctx: &mut EvalContext<'_>,
        key: &[u8],
        bytes: &mut Vec<u8>,
        (exact, row): (bool, &mut Vec<Value>),
    ) -> Result<bool, SqlError> {
        bytes.clear();
        let copy = |value: &[u8]| bytes.extend_from_slice(value);
        let clustered = &self.table.clustered;
        let found = core.txn_of(&self.table).borrow_mut().lock_get(
            clustered,
            key,
            exclusive_request(),
            copy,
        );
        Ok(found.sql()?.is_some() && self.holds(core, ctx, bytes, exact, row)?)
    }

    /// Locks the row that the scan has only looked at, if what it has seen fulfils the conditions;
    /// false when it does not, or when the row is gone.
    fn lock_matching(
        &self,
        core: &Core,
        ctx: &mut EvalContext<'_>,
        scan: &mut Scan,
        row: &mut Vec<Value>,
    ) -> Result<bool, SqlError> {
        let Some(seen) = scan.current_row()? else { return Ok(false) };
        let RowData::Row(bytes) = seen.data else { return Err(Damaged.into()) };
        let exact = scan.is_exact();
        if !self.holds(core, ctx, bytes, exact, row)? {
            return Ok(false);
        }
        scan.lock_current(&mut core.txn_of(&self.table).borrow_mut())
    }

    /// Whether a row fulfils the conditions that the path does not make true.
    fn holds(
        &self,
        core: &Core,
        ctx: &mut EvalContext<'_>,
        bytes: &[u8],
        exact: bool,
        row: &mut Vec<Value>,
    ) -> Result<bool, SqlError> {
        if self.filter.iter().all(|(_, covered)| exact && *covered) {
            return Ok(true);
        }
        self.table.layout.decode(bytes, &core.env.time_zone, row)?;
        for (condition, covered) in &self.filter {
            if !(exact && *covered) && condition.eval_bool(ctx, row)? != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Changes a row, the one that `scan` stands on where that is given; false, with nothing done,
    /// where it must be read again.
    pub(super) fn change(
        &self,
        core: &Core,
        ctx: &mut EvalContext<'_>,
        writer: &mut RowWriter<'_>,
        mut scan: Option<&mut Scan>,
        (key, bytes): (&[u8], &[u8]),
        tally: &mut Tally,
    ) -> Result<bool, SqlError> {
        let Some(assignments) = &self.assignments else {
            return self.delete(core, ctx, writer, scan, (key, bytes), tally);
        };
        ctx.row_number = tally.matched + 1;
        let old = values(&self.table, bytes, &core.env.time_zone)?;
        let mut new = old.clone();
        assign((&self.table, &self.fills), assignments, None, &mut new, ctx)?;
        let changed: Vec<bool> = old.iter().zip(&new).map(|(a, b)| a != b).collect();
        if !changed.contains(&true) {
            return keep_unchanged(core, &self.table, scan, tally);
        }
        let changed = touch(&self.table, assignments, &mut new, changed, ctx);
        if let Err(error) = self.fills.check(&new, ctx) {
            if !self.ignore || !is_forgiven(&error) {
                return Err(error);
            }
            let kept = keep_unchanged(core, &self.table, scan, tally)?;
            return if kept {
                ctx.raise(expr::Level::Warning, error).map(|()| true)
            } else {
                Ok(false)
            };
        }
        let left = scan.as_mut().filter(|_| tally.together).and_then(|scan| scan.leave_current());
        if let Some(spot) = left {
            let mut txn = core.txn_of(&self.table).borrow_mut();
            writer.put_off_update(&mut txn, &spot, (key, bytes), &new, &changed)?;
            self.note_number(&new, &changed);
            tally.matched += 1;
            return Ok(true);
        }
        let start = core.txn_of(&self.table).borrow().savepoint();
        let written = {
            let mut txn = core.txn_of(&self.table).borrow_mut();
            match scan {
                None => writer.update(&mut txn, key, bytes, &new, &changed)?,
                Some(scan) => {
                    let row = (key, bytes);
                    let written = writer.update_at(&mut txn, scan, row, &new, &changed)?;
                    let Some(written) = written else { return Ok(false) };
                    written
                }
            }
        };
        tally.matched += 1;
        let refused = match (written, &tally.foreign) {
            (Written::Duplicate(at), _) => Err(duplicate_error(&self.table.def, at, &new)),
            (Written::Done, Some(foreign)) => foreign.updated(core, &old, &new),
            (Written::Done, None) => Ok(()),
        };
        if let Err(error) = refused {
            return self.forgive(core, ctx, start, error).map(|()| true);
        }
        self.note_number(&new, &changed);
        tally.changed += 1;
        core.row_done(&self.table, 0);
        Ok(true)
    }

    /// Tells the AUTO_INCREMENT counter of a number that a row has got.
    fn note_number(&self, new: &[Value], changed: &[bool]) {
        if let Some(column) = self.table.def.auto_increment_column()
            && changed[column]
        {
            auto_increment::updated(&self.table, column, &new[column]);
        }
    }

    fn delete(
        &self,
        core: &Core,
        ctx: &mut EvalContext<'_>,
        writer: &mut RowWriter<'_>,
        mut scan: Option<&mut Scan>,
        (key, bytes): (&[u8], &[u8]),
        tally: &mut Tally,
    ) -> Result<bool, SqlError> {
        let left = scan.as_mut().filter(|_| tally.together).and_then(|scan| scan.leave_current());
        if let Some(spot) = left {
            let mut txn = core.txn_of(&self.table).borrow_mut();
            writer.put_off_delete(&mut txn, &spot, (key, bytes))?;
            tally.matched += 1;
            ctx.row_number = tally.matched;
            return Ok(true);
        }
        let start = core.txn_of(&self.table).borrow().savepoint();
        {
            let mut txn = core.txn_of(&self.table).borrow_mut();
            match scan {
                None => writer.delete(&mut txn, key, bytes)?,
                Some(scan) => {
                    if !writer.delete_at(&mut txn, scan, key, bytes)? {
                        return Ok(false);
                    }
                }
            }
        }
        tally.matched += 1;
        ctx.row_number = tally.matched;
        if let Some(foreign) = &tally.foreign {
            let old = values(&self.table, bytes, &core.env.time_zone)?;
            if let Err(error) = foreign.deleted(core, &old) {
                self.forgive(core, ctx, start, error)?;
                return Ok(true);
            }
        }
        tally.changed += 1;
        core.row_done(&self.table, -1);
        Ok(true)
    }

    /// IGNORE: undoes the row's change and makes the error a warning.
    fn forgive(
        &self,
        core: &Core,
        ctx: &mut EvalContext<'_>,
        start: Savepoint,
        error: SqlError,
    ) -> Result<(), SqlError> {
        if !self.ignore || !is_forgiven(&error) {
            return Err(error);
        }
        core.txn_of(&self.table).borrow_mut().rollback_statement(start).sql()?;
        ctx.raise(expr::Level::Warning, error)
    }

    fn outcome(&self, core: &Core, ctx: &EvalContext<'_>, tally: &Tally) -> Outcome {
        if self.assignments.is_none() {
            return Outcome { affected_rows: tally.changed, ..Outcome::default() };
        }
        let found = core.client_found_rows;
        let info = format!(
            "Rows matched: {}  Changed: {}  Warnings: {}",
            tally.matched,
            tally.changed,
            core.diagnostics.count + ctx.warnings.count
        );
        let affected_rows = if found { tally.matched } else { tally.changed };
        let last_insert_id = core.host.last_insert_id.get().unwrap_or(0);
        Outcome { affected_rows, last_insert_id, info, ..Outcome::default() }
    }
}

/// Leaves a row that does not match: its lock is given up or taken, as the isolation level has it.
/// False where it must be read again.
fn pass_over(core: &Core, table: &Table, scan: &mut Scan) -> Result<bool, SqlError> {
    let mut txn = core.txn_of(table).borrow_mut();
    if core.state.releases_unmatched() {
        scan.unlock_current(&mut txn);
        return Ok(true);
    }
    scan.secure_current(&mut txn)
}

/// Locks a row that matches and stays as it is; false where it must be read again.
fn keep_unchanged(
    core: &Core,
    table: &Table,
    scan: Option<&mut Scan>,
    tally: &mut Tally,
) -> Result<bool, SqlError> {
    let kept = match scan {
        Some(scan) => scan.secure_current(&mut core.txn_of(table).borrow_mut())?,
        None => true,
    };
    tally.matched += u64::from(kept);
    Ok(kept)
}

/// The lock request of statements that are about to change rows.
pub(super) fn exclusive_request() -> LockRequest {
    LockRequest { mode: LockMode::Exclusive, wait: WaitPolicy::Wait }
}

/// Error 1175: `sql_safe_updates` refuses statements that no key leads to their rows.
pub(super) fn refuse_without_key(core: &Core) -> Result<(), SqlError> {
    match core.flag("sql_safe_updates") {
        true => Err(SqlError::new(ErrorCode::UpdateWithoutKeyInSafeMode, &[&""])),
        false => Ok(()),
    }
}

/// A number of LIMIT.
fn row_count(limit: &Expr, ctx: &mut EvalContext<'_>) -> Result<u64, SqlError> {
    let wrong = || SqlError::new(ErrorCode::WrongArguments, &[&"LIMIT"]);
    match limit.eval(ctx, &[])? {
        Value::UInt(count) => Ok(count),
        Value::Int(count) if count >= 0 => Ok(count as u64),
        Value::Text(text) => text.parse().map_err(|_| wrong()),
        _ => Err(wrong()),
    }
}

/// Which indexes USE, FORCE and IGNORE INDEX leave, `None` for all; error 1176.
fn allowed_indexes(
    table: &Table,
    hints: &[ast::IndexHint],
) -> Result<Option<Vec<usize>>, SqlError> {
    let mut used: Option<Vec<usize>> = None;
    let mut ignored = Vec::new();
    for hint in hints {
        let mut named = Vec::new();
        for name in &hint.indexes {
            let unknown = || SqlError::new(ErrorCode::KeyDoesNotExist, &[name, &table.def.name]);
            named.push(table.def.index(name).ok_or_else(unknown)?);
        }
        match hint.kind {
            ast::IndexHintKind::Ignore => ignored.extend(named),
            _ => used.get_or_insert_default().extend(named),
        }
    }
    if used.is_none() && ignored.is_empty() {
        return Ok(None);
    }
    let all = used.unwrap_or_else(|| (0..table.def.indexes.len()).collect());
    Ok(Some(all.into_iter().filter(|at| !ignored.contains(at)).collect()))
}
