//! `optimizer_trace`: what was decided about the statements of a session.
//!
//! Where tracing is on, a statement is planned once more behind its end, and what the plan says is
//! kept for `information_schema.OPTIMIZER_TRACE`. `optimizer_trace_offset` and `_limit` say which
//! statements are kept: with -1 and 1 the last one.

use inia_base::error::SqlError;
use inia_parser::ast::{self, Statement};
use inia_query::context::SessionContext;
use inia_query::explain::{TracedTexts, print_trace};
use inia_query::information::TracedStatement;
use inia_query::note::traced_texts;
use inia_query::plan::StatementPlan;
use inia_query::planner::plan_query;
use inia_query::referenced::ReferencedObjects;

/// Whether the session traces its statements.
pub(super) fn is_on(session: &SessionContext) -> bool {
    session.var("optimizer_trace").is_some_and(|text| text.contains("enabled=on"))
}

/// Takes over a setting of tracing. Traces stay to be read once it is off.
pub(super) fn set_up(session: &SessionContext, name: &str, text: &str) {
    let mut traces = session.host.traces.borrow_mut();
    if name != "optimizer_trace" {
        traces.iter_mut().for_each(|traces| traces.forget());
        return;
    }
    let on = text.contains("enabled=on");
    if on || traces.is_some() {
        traces.get_or_insert_default().set_up(&session.db, on);
    }
}

/// Keeps the trace of a statement that has ended.
pub(super) fn keep(session: &mut SessionContext, text: &str, failed: bool) {
    let Ok(statement) = inia_parser::parse(text, session.parser_mode()) else { return };
    let traced = matches!(
        statement,
        Statement::Select(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Set(_)
            | Statement::Do(_)
    );
    // What sets tracing up is no part of it.
    let sets = matches!(statement, Statement::Set(_))
        && text.to_ascii_lowercase().contains("optimizer_trace");
    if !traced || sets || reads_traces(&statement) {
        return;
    }
    let number = |name: &str| session.var(name).and_then(|text| text.parse::<i64>().ok());
    let offset = number("optimizer_trace_offset").unwrap_or(-1);
    let limit = usize::try_from(number("optimizer_trace_limit").unwrap_or(1)).unwrap_or(1);
    let most = number("optimizer_trace_max_mem_size").unwrap_or(1_048_576);
    let one_line = session.var("optimizer_trace").is_some_and(|v| v.contains("one_line=on"));
    let mut traces = session.host.traces.borrow_mut();
    let kept = traces.as_ref().map_or(0, |traces| traces.list.len());
    let seen = traces.as_ref().map_or(0, |traces| traces.seen);
    if let Ok(offset) = usize::try_from(offset)
        && (seen < offset || kept >= limit)
    {
        traces.get_or_insert_default().seen += 1;
        return;
    }
    drop(traces);
    let empty =
        || print_trace(None, &TracedTexts::default(), (&session.env, &session.host), one_line);
    let (trace, unprivileged) = match failed {
        true => (empty(), false),
        false => match trace_of(session, &statement, one_line) {
            Some(trace) => (trace, false),
            None => (String::new(), true),
        },
    };
    let room = usize::try_from(most).unwrap_or(usize::MAX);
    let query = cut(text, room);
    let kept = cut(&trace, room - query.len());
    let missing = text.len() + trace.len() - query.len() - kept.len();
    let (query, trace) = (query.to_owned(), kept.to_owned());
    let one = TracedStatement { query, trace, missing, unprivileged };
    let mut traces = session.host.traces.borrow_mut();
    let traces = traces.get_or_insert_default();
    traces.seen += 1;
    traces.list.push_back(one);
    // A negative offset counts from the last one.
    if let Ok(last) = usize::try_from(-offset) {
        while traces.list.len() > last.max(1) {
            traces.list.pop_front();
        }
    }
}

/// As much of a text as there is room for.
fn cut(text: &str, room: usize) -> &str {
    let mut end = text.len().min(room);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn reads_traces(statement: &Statement) -> bool {
    let Statement::Select(query) = statement else { return false };
    let mut reads = ReferencedObjects::default();
    reads.query(query);
    reads.tables.iter().any(|table| table.name.eq_ignore_ascii_case("optimizer_trace"))
}

/// The trace of a statement; `None` where the account may not look into a view that it reads.
fn trace_of(session: &mut SessionContext, statement: &Statement, one_line: bool) -> Option<String> {
    session.enter();
    let start = session.txn.get_mut().savepoint();
    let planned = plan_of(session, statement);
    let plan = planned.as_ref().ok().and_then(Option::as_ref);
    let texts = match plan {
        Some(plan) => traced_texts(session, statement, &[plan]),
        None => TracedTexts::default(),
    };
    let allowed = plan.is_none_or(|plan| session.check_explains(&plan.views).is_ok());
    let trace = print_trace(plan, &texts, (&session.env, &session.host), one_line);
    // What planning said has been said by the statement itself.
    let _ = session.leave(start, planned.as_ref().err());
    allowed.then_some(trace)
}

/// The plan of a query, or of the query that finds a change's rows.
fn plan_of(
    session: &SessionContext,
    statement: &Statement,
) -> Result<Option<StatementPlan>, SqlError> {
    let found = |from: &[ast::TableRef], with: &Option<ast::With>, where_: &Option<ast::Expr>| {
        let select = ast::Select {
            items: vec![ast::SelectItem::Wildcard],
            from: from.to_vec(),
            where_: where_.clone(),
            ..ast::Select::default()
        };
        let mut query = ast::Query::new(ast::QueryBody::Select(Box::new(select)));
        query.with.clone_from(with);
        plan_query(session, &query, None).map(Some)
    };
    match statement {
        Statement::Select(query) => plan_query(session, query, None).map(Some),
        Statement::Insert(insert) => match &insert.source {
            ast::InsertSource::Query(query) => plan_query(session, query, None).map(Some),
            _ => Ok(None),
        },
        Statement::Update(update) => found(&update.tables, &update.with, &update.where_),
        Statement::Delete(delete) => match &delete.target {
            ast::DeleteTarget::Single(factor) => {
                let from = [ast::TableRef::Table(factor.clone())];
                found(&from, &delete.with, &delete.where_)
            }
            ast::DeleteTarget::Multi { from, .. } => found(from, &delete.with, &delete.where_),
        },
        _ => Ok(None),
    }
}
