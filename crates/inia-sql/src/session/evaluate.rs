//! Single expressions: DO, and the values of SET and similar statements.

use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{
    Binder, EmptyScope, EvalContext, ExprKind, NoSubqueries, Scope, SubqueryRunner, UserVar,
    Warnings,
};
use inia_parser::ast;
use inia_query::catalog::Table;
use inia_query::context::SessionContext;
use inia_query::context::StatementOutcome;
use inia_query::dml::has_subquery;
use inia_query::exec::Runner;
use inia_query::planner::plan_query;
use inia_query::referenced::ReferencedObjects;
use inia_query::view::base_tables;
use std::sync::Arc;

/// Runs work that evaluates expressions, and takes its warnings out.
pub(super) fn with<T>(
    session: &SessionContext,
    params: &[Value],
    subqueries: &dyn SubqueryRunner,
    work: impl FnOnce(&mut EvalContext<'_>) -> T,
) -> (T, Warnings) {
    let mut ctx = session.context(params, subqueries);
    let result = work(&mut ctx);
    (result, std::mem::take(&mut ctx.warnings))
}

/// Runs work that evaluates expressions without subqueries, and keeps its warnings.
pub(super) fn evaluate<T>(
    session: &mut SessionContext,
    params: &[Value],
    work: impl FnOnce(&SessionContext, &mut EvalContext<'_>) -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    let (result, warnings) = with(session, params, &NoSubqueries, |ctx| work(session, ctx));
    session.take_warnings(warnings);
    result
}

/// DO: evaluates and forgets.
pub(super) fn do_items(
    session: &mut SessionContext,
    items: &[ast::SelectItem],
    params: &[Value],
) -> Result<StatementOutcome, SqlError> {
    // No table is there whose columns `*` could be.
    for item in items {
        match item {
            ast::SelectItem::Wildcard => return Err(SqlError::new(ErrorCode::NoTablesUsed, &[])),
            ast::SelectItem::TableWildcard(table) => {
                let db = table.db.iter().map(|db| format!("{db}.")).collect::<String>();
                return Err(SqlError::new(ErrorCode::UnknownTable, &[&(db + &table.name)]));
            }
            ast::SelectItem::Expr { .. } => {}
        }
    }
    let before = use_read(session, ast::item_exprs(items));
    let done = ast::item_exprs(items).try_for_each(|expr| {
        value_of(session, expr, params).map(|_| ()).map_err(|error| of_no_table(expr, error))
    });
    session.used.truncate(before);
    done.map(|()| StatementOutcome::default())
}

/// Notes the tables that any of a statement's expressions reads: functions that the others call may
/// not change them (error 1442). How many there were before, to which `used` is cut at the
/// statement's end.
pub(super) fn use_read<'e>(
    session: &mut SessionContext,
    exprs: impl Iterator<Item = &'e ast::Expr> + Clone,
) -> usize {
    let before = session.used.len();
    // The tables of a single expression are noted where it is evaluated.
    if exprs.clone().nth(1).is_none() || !exprs.clone().any(has_subquery) {
        return before;
    }
    let mut reads = ReferencedObjects::default();
    reads.exprs(exprs);
    let mut names = Vec::new();
    for name in reads.tables {
        let db = name.db.clone().or_else(|| session.env.database.clone());
        base_tables(session, &ast::ObjectName { db, name: name.name.clone() }, &mut names);
    }
    let table = |name: &ast::ObjectName| session.table(name.db.as_deref()?, &name.name);
    let tables: Vec<Arc<Table>> = names.iter().filter_map(table).collect();
    session.use_tables(tables.iter())
}

/// Error 1109 for a column with its table: DO has none.
fn of_no_table(expr: &ast::Expr, error: SqlError) -> SqlError {
    match expr {
        ast::Expr::Column(name) if error.code == ErrorCode::UnknownColumn => match &name.table {
            Some(table) => SqlError::new(ErrorCode::UnknownTableInClause, &[table, &"field list"]),
            None => error,
        },
        _ => error,
    }
}

/// Whether an expression calls a stored function; those beside subqueries are not looked for.
pub(super) fn calls_stored(session: &SessionContext, expr: &ast::Expr) -> bool {
    if has_subquery(expr) {
        return false;
    }
    let mut scope = EmptyScope;
    let scope: &mut dyn Scope = &mut scope;
    let bound = Binder { scope, env: &session.env, host: session }.scalar(expr);
    let mut calls = false;
    match bound {
        Ok(bound) => bound.walk(&mut |node| calls |= matches!(node.kind, ExprKind::Stored(_))),
        // A name that no built-in function has may be a stored function's.
        Err(error) => calls = error.code == ErrorCode::SpDoesNotExist,
    }
    calls
}

pub(super) fn value_of(
    session: &mut SessionContext,
    expr: &ast::Expr,
    params: &[Value],
) -> Result<UserVar, SqlError> {
    if has_subquery(expr) {
        return value_of_query(session, expr, params);
    }
    let mut scope = EmptyScope;
    let scope: &mut dyn Scope = &mut scope;
    let bound = Binder { scope, env: &session.env, host: session }.scalar(expr)?;
    // A stored function reads and writes in the transaction of the statement that calls it.
    let mut calls = false;
    bound.walk(&mut |node| calls |= matches!(node.kind, ExprKind::Stored(_)));
    if calls {
        return value_of_query(session, expr, params);
    }
    let ty = bound.ty.clone();
    let value = evaluate(session, params, |_, ctx| bound.eval_for_variable(ctx, &[]))?;
    Ok(UserVar { value, ty })
}

/// The value of an expression with subqueries or stored functions: that of `SELECT expr`.
fn value_of_query(
    session: &mut SessionContext,
    expr: &ast::Expr,
    params: &[Value],
) -> Result<UserVar, SqlError> {
    let item = ast::SelectItem::Expr { expr: expr.clone(), alias: None, text: String::new() };
    let select = ast::Select { items: vec![item], ..ast::Select::default() };
    let query = ast::Query::new(ast::QueryBody::Select(Box::new(select)));
    session.enter();
    let start = session.txn.get_mut().savepoint();
    let mut value = Value::Null;
    let lock = session.plain_lock();
    let result = plan_query(session, &query, lock).and_then(|plan| {
        session.lock_read(&plan)?;
        let before = session.use_tables(plan.tables.iter());
        let (result, warnings) = {
            let shared: &SessionContext = session;
            let runner = Runner::new(&plan, shared.exec_context());
            let mut ctx = shared.context(params, &runner);
            let result = runner.run(&mut ctx, &mut |_, tuple| {
                value = tuple.first().cloned().unwrap_or(Value::Null);
                Ok(true)
            });
            (result, std::mem::take(&mut ctx.warnings))
        };
        session.used.truncate(before);
        session.take_warnings(warnings);
        result.map(|()| plan.root.columns[0].ty.clone())
    });
    session.leave(start, result.as_ref().err())?;
    Ok(UserVar { value, ty: result? })
}
