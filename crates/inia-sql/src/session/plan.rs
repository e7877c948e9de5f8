//! From a statement to what runs it.
//!
//! Queries and changes of rows are planned. A prepared statement keeps its plan. Every other
//! statement runs from its syntax tree.

use super::evaluate::{evaluate, with};
use super::{admin, control, database, define, evaluate, explain, handler, program, set};
use super::{setup_tables, show, table_io};
use crate::files::load::{PreparedLoad, load_data, prepare_load};
use inia_base::column::{ResultColumn, RowSink};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::narrow::check_params;
use inia_expr::{Expr, ExprType, Strictness};
use inia_parser::ast::{self, Statement};
use inia_query::catalog::Table;
use inia_query::context::StatementOutcome;
use inia_query::context::statement_txn::{Use, uses_of};
use inia_query::context::{Inside, SessionContext};
use inia_query::dml::{self, ChangePlan, InsertPlan, JoinedPlan};
use inia_query::exec::Runner;
use inia_query::observe::SUMS;
use inia_query::plan::{LimitPlan, StatementPlan, ViewUse};
use inia_query::planner::plan_query;
use inia_query::status::Executed;
use inia_storage::without_counting;
use std::sync::Arc;

/// A planned statement.
pub(super) enum PlannedStatement {
    /// A query.
    Query(StatementPlan),
    /// INSERT or REPLACE.
    Insert(Box<InsertPlan>),
    /// UPDATE or DELETE of one table.
    Change(Box<ChangePlan>),
    /// UPDATE or DELETE over joins or with subqueries.
    Joined(Box<JoinedPlan>),
}

impl PlannedStatement {
    pub(super) fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        let (target, read): (Option<&Arc<Table>>, &[Arc<Table>]) = match self {
            PlannedStatement::Query(plan) => (None, &plan.tables),
            PlannedStatement::Insert(plan) => {
                (Some(&plan.table), plan.source().map_or(&[], |source| &source.tables))
            }
            PlannedStatement::Change(plan) => (Some(&plan.table), &[]),
            PlannedStatement::Joined(plan) => (None, &plan.query.tables),
        };
        target.into_iter().chain(read)
    }

    /// The views that the plan was made from.
    pub(super) fn views(&self) -> &[ViewUse] {
        match self {
            PlannedStatement::Query(plan) => &plan.views,
            PlannedStatement::Insert(plan) => &plan.views,
            PlannedStatement::Change(plan) => &plan.views,
            PlannedStatement::Joined(plan) => &plan.query.views,
        }
    }

    /// The tables whose rows the plan changes, or locks as if it did.
    fn targets(&self) -> Vec<&Table> {
        match self {
            PlannedStatement::Query(plan) => plan.updates.iter().map(|table| &**table).collect(),
            PlannedStatement::Insert(plan) => vec![&plan.table],
            PlannedStatement::Change(plan) => vec![&plan.table],
            PlannedStatement::Joined(plan) => plan.targets().collect(),
        }
    }

    /// Counts a run of the plan that has ended, and notes when tables were changed.
    fn count(&self, session: &SessionContext, result: &Result<StatementOutcome, SqlError>) {
        let tables = match self {
            PlannedStatement::Query(plan) => plan.tables.len(),
            PlannedStatement::Insert(plan) => 1 + plan.source().map_or(0, |read| read.tables.len()),
            PlannedStatement::Change(_) => 1,
            PlannedStatement::Joined(plan) => plan.query.tables.len(),
        };
        if tables > 0 {
            let counters = &session.host.counters;
            counters.count_executed(Executed::ExternalLock, 2 * tables as u64);
            let end = if result.is_ok() { Executed::Commit } else { Executed::Rollback };
            counters.count_executed(end, 1);
            if session.db.observer.wants() & SUMS != 0
                && let Ok(outcome) = result
            {
                table_io::note(session, self, outcome);
            }
        }
        if result.as_ref().is_ok_and(|outcome| outcome.affected_rows > 0) {
            let now = (session.env.now_micros / 1_000_000) as u64;
            match self {
                PlannedStatement::Query(_) => {}
                PlannedStatement::Insert(plan) => plan.table.shared.note_update(now),
                PlannedStatement::Change(plan) => plan.table.shared.note_update(now),
                PlannedStatement::Joined(plan) => {
                    plan.targets().for_each(|table| table.shared.note_update(now));
                }
            }
        }
    }

    /// Whether DDL has replaced something the plan was made for.
    pub(super) fn is_stale(&self) -> bool {
        self.tables().any(|table| table.is_stale())
            || self.views().iter().any(|used| used.view.is_stale())
    }

    pub(super) fn columns(&self) -> Vec<ResultColumn> {
        match self {
            PlannedStatement::Query(plan) => {
                plan.root.columns.iter().map(|c| c.result.clone()).collect()
            }
            PlannedStatement::Insert(plan) => plan.returning().map_or(Vec::new(), |r| r.columns()),
            PlannedStatement::Joined(plan) => plan.returning().map_or(Vec::new(), |r| r.columns()),
            PlannedStatement::Change(_) => Vec::new(),
        }
    }
}

/// Whether the statement is one that reports on the statement before it.
pub(super) fn keeps_diagnostics(statement: &Statement) -> bool {
    use ast::ShowKind as K;
    match statement {
        Statement::Show(show) => matches!(show.kind, K::Warnings { .. } | K::Errors { .. }),
        Statement::GetDiagnostics(_) => true,
        _ => false,
    }
}

/// Whether a statement may nest more deeply than usual. One whose text is stored may not.
pub(super) fn may_be_deep(statement: &Statement) -> bool {
    is_planned(statement)
        || matches!(
            statement,
            Statement::Empty | Statement::Explain(_) | Statement::Set(_) | Statement::Do(_)
        )
}

/// Whether PREPARE takes the statement; error 1295.
pub(super) fn is_preparable(statement: &Statement) -> bool {
    use ast::ShowKind as K;
    match statement {
        Statement::Show(show) => !matches!(show.kind, K::Warnings { .. } | K::Errors { .. }),
        Statement::Explain(explain) => !matches!(explain.target, ast::ExplainTarget::Connection(_)),
        Statement::TableMaintenance(work) => work.kind != ast::MaintenanceKind::Check,
        Statement::CreateView(view) => !view.alter,
        Statement::Server(statement) => is_preparable_server(statement),
        Statement::Begin(_)
        | Statement::Savepoint(_)
        | Statement::RollbackTo(_)
        | Statement::ReleaseSavepoint(_)
        | Statement::Use(_)
        | Statement::LockTables(_)
        | Statement::UnlockTables
        | Statement::LockInstance
        | Statement::UnlockInstance
        | Statement::Handler(_)
        | Statement::InstallComponent(_)
        | Statement::UninstallComponent(_)
        | Statement::LoadData(_)
        | Statement::Prepare { .. }
        | Statement::Execute { .. }
        | Statement::Deallocate(_)
        | Statement::AlterDatabase(_)
        | Statement::PurgeLogs(_)
        | Statement::Xa(_)
        | Statement::GetDiagnostics(_)
        | Statement::Help(_)
        | Statement::CreateRoutine(_)
        | Statement::AlterRoutine(_)
        | Statement::DropRoutine(_)
        | Statement::CreateRole { .. }
        | Statement::DropRole { .. }
        | Statement::Signal(_)
        | Statement::Resignal(_)
        | Statement::Shutdown
        | Statement::Restart => false,
        _ => true,
    }
}

fn is_preparable_server(statement: &ast::ServerStatement) -> bool {
    use ast::ServerStatement as S;
    matches!(
        statement,
        S::ReplicationSource(_)
            | S::ReplicationFilter { .. }
            | S::StartReplica { .. }
            | S::StopReplica { .. }
            | S::KeyCache(_)
    ) || matches!(
        statement,
        S::ResourceGroup(group) if matches!(group.action, ast::ResourceGroupAction::Set { .. })
    )
}

fn is_planned(statement: &Statement) -> bool {
    if let Statement::Select(query) = statement {
        return query.into.is_none();
    }
    matches!(statement, Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_))
}

/// The plan of a query or a change of rows. One that calls stored functions is not kept: they may
/// be made anew with other types.
pub(super) fn plan(
    session: &SessionContext,
    statement: &Statement,
) -> Result<PlannedStatement, SqlError> {
    session.host.plans_once.set(false);
    session.host.plans_unshared.set(false);
    session.host.narrow_params.borrow_mut().clear();
    session.host.assigned_vars.borrow_mut().clear();
    without_counting(|| plan_statement(session, statement))
}

fn plan_statement(
    session: &SessionContext,
    statement: &Statement,
) -> Result<PlannedStatement, SqlError> {
    Ok(match statement {
        Statement::Select(query) => {
            let mut plan = plan_query(session, query, session.plain_lock())?;
            limit_rows(session, query, &mut plan);
            PlannedStatement::Query(plan)
        }
        Statement::Insert(insert) => plan_insert(session, insert)?,
        Statement::Update(update) => plan_update(session, update)?,
        Statement::Delete(delete) => plan_delete(session, delete)?,
        other => return Err(super::unsupported::unsupported(other)),
    })
}

/// `sql_select_limit` is the LIMIT of a SELECT that has none.
fn limit_rows(session: &SessionContext, query: &ast::Query, plan: &mut StatementPlan) {
    let limit = session.var("sql_select_limit").and_then(|text| text.parse().ok());
    if let Some(limit) = limit.filter(|limit| *limit < u64::MAX)
        && query.limit.is_none()
        && plan.root.limit.is_none()
    {
        let count = Expr::literal(Value::UInt(limit), ExprType::uint(21, false));
        plan.root.limit = Some(LimitPlan { offset: None, count });
    }
}

fn plan_insert(
    session: &SessionContext,
    insert: &ast::Insert,
) -> Result<PlannedStatement, SqlError> {
    let written = insert;
    let (insert, guard) = dml::insert_through(session, insert)?;
    session.check_view_rights(&guard.views)?;
    let plan = dml::plan_insert(session, &insert, guard)?;
    dml::check_insert(session, written, &plan.table)?;
    Ok(PlannedStatement::Insert(Box::new(plan)))
}

fn plan_update(
    session: &SessionContext,
    update: &ast::Update,
) -> Result<PlannedStatement, SqlError> {
    let written = update;
    let (update, guard) = dml::update_through(session, update)?;
    session.check_view_rights(&guard.views)?;
    // Subqueries in conditions, and RETURNING, need the planner of queries, which joins go through.
    if !guard.has_subqueries()
        && update.returning.is_empty()
        && let Some(mut plan) = dml::plan_update(session, &update)?
    {
        plan.guard(session, guard)?;
        return Ok(PlannedStatement::Change(Box::new(plan)));
    }
    let joined = dml::plan_joined_update(session, &update, guard)?;
    dml::check_update(session, written, &joined)?;
    Ok(PlannedStatement::Joined(Box::new(joined)))
}

fn plan_delete(
    session: &SessionContext,
    delete: &ast::Delete,
) -> Result<PlannedStatement, SqlError> {
    let written = delete;
    let (delete, guard) = dml::delete_through(session, delete)?;
    session.check_view_rights(&guard.views)?;
    if delete.returning.is_empty()
        && let Some(mut plan) = dml::plan_delete(session, &delete)?
    {
        plan.guard(session, guard)?;
        return Ok(PlannedStatement::Change(Box::new(plan)));
    }
    let joined = dml::plan_joined_delete(session, &delete, guard)?;
    dml::check_delete(session, written, &joined)?;
    Ok(PlannedStatement::Joined(Box::new(joined)))
}

/// Plans a statement for PREPARE, where it can be planned, and describes its columns.
pub(super) fn prepare(
    session: &mut SessionContext,
    statement: &Statement,
) -> Result<(Option<PlannedStatement>, Vec<ResultColumn>), SqlError> {
    if let Statement::Call(call) = statement {
        program::call::procedure(session, &call.name)?;
    }
    if !is_planned(statement) || setup_tables::target(session, statement).is_some() {
        return Ok((None, Vec::new()));
    }
    if session.state.open {
        session.enter();
        // Each execution takes the locks on definitions anew.
        let held = session.mdl.held_count();
        let planned = plan(session, statement);
        session.mdl.release_from(held);
        let plan = planned?;
        let columns = plan.columns();
        return Ok((Some(plan), columns));
    }
    // What SET TRANSACTION said is for the next transaction, which this is not.
    let next = (session.state.next_isolation, session.state.next_read_only);
    session.enter();
    let planned = plan(session, statement);
    session.commit()?;
    (session.state.next_isolation, session.state.next_read_only) = next;
    let plan = planned?;
    let columns = plan.columns();
    Ok((Some(plan), columns))
}

/// Plans and runs a statement, and gives the plan back for the next time.
pub(super) fn plan_and_run(
    session: &mut SessionContext,
    statement: &Statement,
    text: &str,
    params: &[Value],
    sink: &mut dyn RowSink,
) -> Result<(StatementOutcome, Option<PlannedStatement>), SqlError> {
    if !is_planned(statement) {
        let done = match statement {
            Statement::Select(_) | Statement::Explain(_) => {
                with_values(session, params, |session| {
                    execute(session, statement, text, params, sink)
                })
            }
            _ => execute(session, statement, text, params, sink),
        };
        return Ok((done?, None));
    }
    if let Some(table) = setup_tables::target(session, statement) {
        return Ok((setup_tables::run(session, table, statement, params)?, None));
    }
    if !matches!(statement, Statement::Select(_)) && session.temporary.is_empty() {
        session.check_writable()?;
    }
    if matches!(statement, Statement::Select(_)) {
        session.begin_query();
    }
    session.enter();
    let start = session.txn.get_mut().savepoint();
    let mut kept = None;
    let make = |session: &SessionContext| {
        let plan = plan(session, statement)?;
        check_targets(session, &plan)?;
        plan.targets().into_iter().try_for_each(|table| session.hold_to_write(table))?;
        Ok(plan)
    };
    let held = with_values(session, params, |session| session.back_off_and_retry(make));
    let result = held.and_then(|plan| {
        let narrow = session.host.narrow_params.borrow().clone();
        check_params(&narrow, params, session.env.collation)?;
        lock_rows(session, &plan)?;
        let before = session.used.len();
        if session.host.plans_once.get() {
            session.use_tables(plan.tables());
        }
        let outcome = run_plan(session, &plan, params, sink);
        session.used.truncate(before);
        kept = Some(plan);
        outcome
    });
    let result = session.timed(result);
    session.leave(start, result.as_ref().err())?;
    kept.iter().for_each(|plan| plan.count(session, &result));
    Ok((result?, kept))
}

/// Runs a plan that was made before.
pub(super) fn run(
    session: &mut SessionContext,
    plan: &PlannedStatement,
    params: &[Value],
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    check_targets(session, plan)?;
    if matches!(plan, PlannedStatement::Query(_)) {
        session.begin_query();
    }
    session.enter();
    let start = session.txn.get_mut().savepoint();
    let held = session.back_off_and_retry(|session| hold_all(session, plan));
    let locked = held.and_then(|()| lock_rows(session, plan));
    let result = locked.and_then(|()| run_plan(session, plan, params, sink));
    let result = session.timed(result);
    session.leave(start, result.as_ref().err())?;
    plan.count(session, &result);
    result
}

/// Makes a plan that may depend on the parameters' values, since it runs at once.
fn with_values<T>(
    session: &mut SessionContext,
    params: &[Value],
    plan: impl FnOnce(&mut SessionContext) -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    session.env.param_values = params.to_vec();
    let planned = plan(session);
    session.env.param_values = Vec::new();
    planned
}

/// Plans a query whose rows stay in the server.
pub(super) fn plan_to_visit(
    session: &mut SessionContext,
    statement: &Statement,
    params: &[Value],
) -> Result<PlannedStatement, SqlError> {
    if session.state.open {
        session.enter();
        return with_values(session, params, |session| plan(session, statement));
    }
    // A look at the definitions is not the transaction that SET TRANSACTION was about.
    let next = (session.state.next_isolation, session.state.next_read_only);
    session.enter();
    let planned = with_values(session, params, |session| plan(session, statement));
    session.commit()?;
    (session.state.next_isolation, session.state.next_read_only) = next;
    planned
}

/// Gives each row of a query to `visit`. In strict mode wrong values are errors where `strict` says
/// so and the select list computes values; conditions alone are only warned of.
pub(super) fn visit_rows(
    session: &mut SessionContext,
    plan: &PlannedStatement,
    (params, strict): (&[Value], bool),
    visit: &mut dyn FnMut(&[Value]) -> Result<bool, SqlError>,
) -> Result<(), SqlError> {
    let PlannedStatement::Query(query) = plan else {
        return Err(SqlError::new(ErrorCode::InternalError, &[&"only queries have rows"]));
    };
    check_targets(session, plan)?;
    session.begin_query();
    session.enter();
    let start = session.txn.get_mut().savepoint();
    let held = session.back_off_and_retry(|session| hold_all(session, plan));
    let locked = held.and_then(|()| lock_rows(session, plan));
    let before = session.use_tables(plan.tables());
    let result = locked.and_then(|()| {
        let (result, warnings) = {
            let shared: &SessionContext = session;
            let runner = Runner::new(query, shared.exec_context());
            let mut ctx = shared.context(params, &runner);
            query.refuse_wrong()?;
            query.warn(&mut ctx);
            if strict && query.computes_items() && shared.env.sql_mode.is_strict() {
                ctx.strictness = Strictness::Strict;
            }
            let result = runner.run(&mut ctx, &mut |_, row| visit(row));
            (result, std::mem::take(&mut ctx.warnings))
        };
        session.take_warnings(warnings);
        result
    });
    session.used.truncate(before);
    let result = session.timed(result);
    session.leave(start, result.as_ref().err())?;
    result
}

/// Locks those of the plan's tables that have no transactions.
fn lock_rows(session: &SessionContext, plan: &PlannedStatement) -> Result<(), SqlError> {
    if plan.tables().all(|table| table.def.is_transactional()) {
        return Ok(());
    }
    let mut uses = match plan {
        PlannedStatement::Query(plan) => uses_of(plan),
        PlannedStatement::Insert(insert) => {
            let how = session.use_of_insert(&insert.table, insert.overwrites());
            let mut uses = insert.source().map_or_else(Vec::new, uses_of);
            uses.push((&*insert.table, how));
            return session.lock_rows(uses);
        }
        PlannedStatement::Change(_) => Vec::new(),
        PlannedStatement::Joined(joined) => uses_of(&joined.query),
    };
    uses.extend(plan.targets().into_iter().map(|table| (table, Use::Changes)));
    session.lock_rows(uses)
}

/// Error 1792 where a READ ONLY transaction would change other than temporary tables, 1442 where a
/// program would change the table of its trigger.
fn check_targets(session: &SessionContext, plan: &PlannedStatement) -> Result<(), SqlError> {
    let temporary = |table: &Arc<Table>| table.def.temporary;
    let locks = matches!(plan, PlannedStatement::Query(plan) if plan.exclusive);
    if (locks && !plan.tables().all(temporary))
        || !plan.targets().iter().all(|table| table.def.temporary)
    {
        session.check_writable()?;
    }
    match session.inside {
        Inside::Nothing => Ok(()),
        _ => plan.targets().into_iter().try_for_each(|table| session.check_unused(table)),
    }
}

/// Error 1615 where DDL came between the look at the plan and its use; the caller plans anew.
fn hold_all(session: &SessionContext, plan: &PlannedStatement) -> Result<(), SqlError> {
    for table in plan.tables() {
        if !session.hold(table)? {
            return Err(SqlError::new(ErrorCode::NeedReprepare, &[]));
        }
    }
    for used in plan.views() {
        if !session.hold_view(&used.view)? {
            return Err(SqlError::new(ErrorCode::NeedReprepare, &[]));
        }
    }
    session.check_view_rights(plan.views())?;
    plan.targets().into_iter().try_for_each(|table| session.hold_to_write(table))
}

/// Counts how a query over stored tables has read them.
#[inline]
fn count_query(session: &SessionContext, query: &StatementPlan, rows: u64) {
    if let Some(counts) = query.counts.as_ref().filter(|_| !query.tables.is_empty()) {
        session.host.counters.count_plan(counts, rows);
    }
}

fn run_plan(
    session: &mut SessionContext,
    plan: &PlannedStatement,
    params: &[Value],
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    // A context borrows the session, which can keep the warnings only when the borrow has ended.
    match plan {
        PlannedStatement::Query(query) => {
            let (result, found) = {
                let shared: &SessionContext = session;
                let runner = Runner::of_select(query, shared.exec_context());
                let mut ctx = shared.context(params, &runner);
                query.refuse_wrong()?;
                query.warn(&mut ctx);
                let result = runner.send(&mut ctx, sink);
                ((result, std::mem::take(&mut ctx.warnings)), runner.found_rows())
            };
            let (result, warnings) = result;
            session.take_warnings(warnings);
            let rows = result?;
            count_query(session, query, rows);
            Ok(StatementOutcome {
                // SQL_CALC_FOUND_ROWS also counts the rows that LIMIT leaves out.
                rows: Some(found.unwrap_or(rows)),
                ..StatementOutcome::default()
            })
        }
        PlannedStatement::Insert(insert) => match insert.source() {
            Some(source) => {
                let before = session.use_tables(plan.tables());
                let shared: &SessionContext = session;
                let runner = Runner::new(source, shared.exec_context());
                let (result, warnings) = with(shared, params, &runner, |ctx| {
                    source.warn(ctx);
                    match insert.returning() {
                        Some(_) => insert.run_returning(shared, ctx, &runner, sink),
                        None => insert.run(shared, ctx, Some(&runner)),
                    }
                });
                drop(runner);
                count_query(shared, source, 0);
                session.used.truncate(before);
                session.take_warnings(warnings);
                result
            }
            None => evaluate(session, params, |session, ctx| insert.run(session, ctx, None)),
        },
        PlannedStatement::Change(change) => {
            evaluate(session, params, |session, ctx| change.run(session, ctx))
        }
        PlannedStatement::Joined(joined) => {
            let before = session.use_tables(plan.tables());
            let shared: &SessionContext = session;
            let runner = Runner::new(&joined.query, shared.exec_context());
            let (result, warnings) = with(shared, params, &runner, |ctx| {
                joined.query.warn(ctx);
                joined.run(shared, ctx, &runner, sink)
            });
            drop(runner);
            count_query(shared, &joined.query, 0);
            session.used.truncate(before);
            session.take_warnings(warnings);
            result
        }
    }
}

/// Executes a statement of any kind.
pub(super) fn execute(
    session: &mut SessionContext,
    statement: &Statement,
    text: &str,
    params: &[Value],
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    if is_planned(statement) {
        return plan_and_run(session, statement, text, params, sink).map(|(outcome, _)| outcome);
    }
    if let Some(result) = define::define(session, statement, params) {
        return result;
    }
    match statement {
        Statement::Empty => Ok(StatementOutcome::default()),
        Statement::Begin(begin) => control::begin(session, begin),
        Statement::Commit(completion) => control::commit(session, completion),
        Statement::Rollback(completion) => control::rollback(session, completion),
        Statement::Savepoint(name) => control::savepoint(session, name),
        Statement::RollbackTo(name) => control::rollback_to(session, name),
        Statement::ReleaseSavepoint(name) => control::release(session, name),
        Statement::Xa(xa) => control::xa(session, xa, sink),
        Statement::SetTransaction(set) => control::set_transaction(session, set),
        Statement::Set(items) => set::set(session, items, params),
        Statement::Use(name) => {
            database::use_database(session, name).map(|()| StatementOutcome::default())
        }
        Statement::Show(show) => show::show(session, show, sink),
        Statement::Explain(explain) => explain::explain(session, explain, params, sink),
        Statement::LoadData(load) => load_file(session, load, params, sink),
        Statement::Do(items) => evaluate::do_items(session, items, params),
        Statement::Handler(statement) => handler::execute(session, statement, params, sink),
        Statement::Select(query) => admin::select_into(session, query, params),
        Statement::Signal(signal) => program::plain::signal(session, signal, params),
        Statement::Resignal(_) => Err(SqlError::new(ErrorCode::ResignalWithoutActiveHandler, &[])),
        Statement::GetDiagnostics(get) => program::plain::get_diagnostics(session, get, params),
        _ => admin::execute(session, statement, params, sink),
    }
}

/// LOAD DATA.
fn load_file(
    session: &mut SessionContext,
    load: &ast::LoadData,
    params: &[Value],
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    session.check_writable()?;
    session.enter();
    let start = session.txn.get_mut().savepoint();
    let prepared = prepare_load(session, load);
    let result = prepared.and_then(|prepared| run_load(session, prepared, params, sink));
    session.leave(start, result.as_ref().err())?;
    result
}

fn run_load(
    session: &mut SessionContext,
    mut prepared: PreparedLoad<'_>,
    params: &[Value],
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    let queries = prepared.take_queries();
    let target = prepared.target().clone();
    // The locks on tables are taken before the client is asked for its file.
    let mut uses = queries.as_ref().map_or_else(Vec::new, uses_of);
    uses.push((&*target, Use::Changes));
    session.lock_rows(uses)?;
    let Some(queries) = queries else {
        return evaluate(session, params, |session, ctx| load_data(session, prepared, ctx, sink));
    };
    let before = session.use_tables(queries.tables.iter().chain([&target]));
    let shared: &SessionContext = session;
    let runner = Runner::new(&queries, shared.exec_context());
    let (result, warnings) = with(shared, params, &runner, |ctx| {
        queries.warn(ctx);
        load_data(shared, prepared, ctx, sink)
    });
    drop(runner);
    session.used.truncate(before);
    session.take_warnings(warnings);
    result
}

/// Plans a query that is only looked at.
pub(super) fn plan_to_explain(
    session: &SessionContext,
    query: &ast::Query,
) -> Result<StatementPlan, SqlError> {
    let plan = plan_query(session, query, None)?;
    plan.refuse_wrong()?;
    Ok(plan)
}
