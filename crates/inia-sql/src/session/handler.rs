//! HANDLER: one table read record by record, from where the last READ has stopped.

use super::admin::authorize_later;
use super::evaluate::{evaluate, with};
use inia_base::column::RowSink;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{Binder, EmptyScope, ExprType};
use inia_parser::ast::{self, BinaryOp, Expr, Handler, HandlerAction, HandlerPosition, ObjectName};
use inia_query::context::{OpenHandler, SessionContext, StatementOutcome, existing, full_name};
use inia_query::exec::{HandlerRead, HandlerStart, KeySide, Runner, handler_key};
use inia_query::planner::plan_query;
use std::sync::Arc;

type Done = Result<StatementOutcome, SqlError>;

/// HANDLER … OPEN, READ and CLOSE.
pub(super) fn execute(
    session: &mut SessionContext,
    handler: &Handler,
    params: &[Value],
    sink: &mut dyn RowSink,
) -> Done {
    if session.has_locked_tables() {
        return Err(SqlError::new(ErrorCode::LockOrActiveTransaction, &[]));
    }
    match &handler.action {
        HandlerAction::Open(alias) => open(session, &handler.table, alias.as_deref()),
        HandlerAction::Close => {
            session.handlers.take(&handler.table.name)?;
            Ok(StatementOutcome::default())
        }
        HandlerAction::Read { .. } => {
            let mut open = session.handlers.take(&handler.table.name)?;
            let done = read(session, (handler, &mut open), params, sink);
            session.handlers.put_back(open);
            done
        }
    }
}

fn open(session: &mut SessionContext, name: &ObjectName, alias: Option<&str>) -> Done {
    let full = full_name(session, name)?;
    if full.0.eq_ignore_ascii_case("information_schema") {
        let args: [&dyn std::fmt::Display; 3] =
            [&"information_schema", &full.1.to_uppercase(), &"BASE TABLE"];
        return Err(SqlError::new(ErrorCode::WrongObject, &args));
    }
    let table = existing(session, &full)?;
    table.check_children()?;
    if table.def.is_merged() {
        return Err(SqlError::new(ErrorCode::IllegalHa, &[&alias.unwrap_or(&name.name)]));
    }
    session.handlers.open(table, alias.unwrap_or(&name.name))?;
    Ok(StatementOutcome::default())
}

fn read(
    session: &mut SessionContext,
    (handler, open): (&Handler, &mut OpenHandler),
    params: &[Value],
    sink: &mut dyn RowSink,
) -> Done {
    let HandlerAction::Read { index, position, where_, limit } = &handler.action else {
        return Ok(StatementOutcome::default());
    };
    let query = query_of(open, where_.as_ref(), limit.as_ref());
    authorize_later(session, &ast::Statement::Select(Box::new(query.clone())))?;
    session.begin_query();
    session.enter();
    let start = session.txn.get_mut().savepoint();
    let planned = plan_query(session, &query, session.plain_lock());
    let result = planned.and_then(|plan| {
        // The name may stand for another table by now.
        if !plan.tables.iter().any(|table| Arc::ptr_eq(table, &open.table)) {
            let args: [&dyn std::fmt::Display; 2] = [&open.alias, &"HANDLER"];
            return Err(SqlError::new(ErrorCode::UnknownTableInClause, &args));
        }
        session.lock_read(&plan)?;
        let index = index.as_ref().map(|name| index_named(open, name)).transpose()?;
        let start = start_of(session, (open, index), position, params)?;
        let read = HandlerRead { index, start, filtered: where_.is_some() };
        let (result, warnings) = {
            let shared: &SessionContext = session;
            let runner = Runner::new(&plan, shared.exec_context());
            with(shared, params, &runner, |ctx| {
                runner.read_handler(&read, &mut open.place, ctx, sink)
            })
        };
        session.take_warnings(warnings);
        result
    });
    let result = session.timed(result);
    session.leave(start, result.as_ref().err())?;
    Ok(StatementOutcome { rows: Some(result?), ..StatementOutcome::default() })
}

/// Error 1176 where the table has no such index, or one that has no order.
fn index_named(open: &OpenHandler, name: &str) -> Result<usize, SqlError> {
    let indexes = &open.table.def.indexes;
    let known = indexes.iter().position(|index| {
        let ordered = index.kind.has_keys();
        index.name.eq_ignore_ascii_case(name) && ordered
    });
    known.ok_or_else(|| SqlError::new(ErrorCode::KeyDoesNotExist, &[&name, &open.alias]))
}

/// Where reading begins; the values of a key are those that the index's columns would store.
fn start_of(
    session: &mut SessionContext,
    (open, index): (&OpenHandler, Option<usize>),
    position: &HandlerPosition,
    params: &[Value],
) -> Result<HandlerStart, SqlError> {
    let (op, values) = match (position, index) {
        (HandlerPosition::First, _) => return Ok(HandlerStart::First),
        (HandlerPosition::Last, _) => return Ok(HandlerStart::Last),
        (HandlerPosition::Prev, _) => return Ok(HandlerStart::Prev),
        (HandlerPosition::Next, _) | (_, None) => return Ok(HandlerStart::Next),
        (HandlerPosition::Key(op, values), Some(index)) => {
            let parts = open.table.def.indexes[index].parts.len();
            if values.len() > parts {
                return Err(SqlError::new(ErrorCode::TooManyKeyParts, &[&parts]));
            }
            (op, (index, values))
        }
    };
    let (index, values) = values;
    let values = values.iter().map(|value| constant(session, value, params));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    let key = evaluate(session, params, |_, ctx| handler_key(&open.table, index, values, ctx))?;
    let side = match op {
        BinaryOp::Ge => KeySide::AtLeast,
        BinaryOp::Gt => KeySide::Greater,
        BinaryOp::Le => KeySide::AtMost,
        BinaryOp::Lt => KeySide::Less,
        _ => KeySide::Equal,
    };
    Ok(HandlerStart::Key(side, key))
}

/// The value of an expression without columns; error 1210 for any other.
fn constant(
    session: &mut SessionContext,
    expr: &Expr,
    params: &[Value],
) -> Result<(Value, ExprType), SqlError> {
    let mut scope = EmptyScope;
    let bound = Binder { scope: &mut scope, env: &session.env, host: &session.host }.scalar(expr);
    let bound = bound.map_err(|error| match error.code {
        ErrorCode::UnknownColumn => {
            SqlError::new(ErrorCode::WrongArguments, &[&"HANDLER ... READ"])
        }
        _ => error,
    })?;
    let value = evaluate(session, params, |_, ctx| bound.eval(ctx, &[]))?;
    Ok((value, bound.ty))
}

/// `SELECT alias.*, condition FROM table AS alias LIMIT …`.
fn query_of(
    open: &OpenHandler,
    condition: Option<&Expr>,
    limit: Option<&ast::Limit>,
) -> ast::Query {
    let def = &open.table.def;
    let name = ObjectName { db: Some(def.schema.clone()), name: def.name.clone() };
    let all = ast::SelectItem::TableWildcard(ObjectName { db: None, name: open.alias.clone() });
    let condition = condition.map(|expr| ast::SelectItem::Expr {
        expr: expr.clone(),
        alias: None,
        text: String::new(),
    });
    let factor = ast::TableFactor {
        name,
        partitions: Vec::new(),
        alias: Some(open.alias.clone()),
        hints: Vec::new(),
    };
    let select = ast::Select {
        items: std::iter::once(all).chain(condition).collect(),
        from: vec![ast::TableRef::Table(Box::new(factor))],
        ..ast::Select::default()
    };
    let body = ast::QueryBody::Select(Box::new(select));
    ast::Query { limit: limit.cloned(), ..ast::Query::new(body) }
}
