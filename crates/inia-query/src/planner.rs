//! Plans queries in a session's transaction, and holds what they read still.

use crate::bind::{self, BindContext};
use crate::catalog::CatalogVersion;
use crate::context::SessionContext;
use crate::information_schema::SystemTables;
use crate::plan::{OutputColumn, StatementPlan};
use inia_base::error::SqlError;
use inia_parser::ast;
use inia_storage::{Isolation, LockMode, LockRequest, WaitPolicy};

/// Plans a query in the open transaction and holds its tables still.
pub fn plan_query(
    session: &SessionContext,
    query: &ast::Query,
    plain_lock: Option<LockRequest>,
) -> Result<StatementPlan, SqlError> {
    plan_held(session, plain_lock, |context| bind::bind_query(query, context), |plan| plan)
}

/// Binds something in the open transaction and holds its tables still.
fn plan_held<T>(
    session: &SessionContext,
    plain_lock: Option<LockRequest>,
    bind: impl Fn(&BindContext<'_>) -> Result<T, SqlError>,
    plan_of: impl Fn(&T) -> &StatementPlan,
) -> Result<T, SqlError> {
    loop {
        let stored = session.db.catalog().current();
        let catalog = session.temporary.over(stored.clone());
        let context =
            BindContext { stored: &stored, ..context_over(session, &catalog, plain_lock) };
        let plan = bind(&context)?;
        let mut held = true;
        let (tables, views) = (&plan_of(&plan).tables, &plan_of(&plan).views);
        for table in tables {
            held &= session.hold(table)?;
        }
        for used in views {
            held &= session.hold_view(&used.view)?;
        }
        if held {
            session.check_view_rights(views)?;
            return Ok(plan);
        }
    }
}

fn context_over<'c>(
    session: &'c SessionContext,
    catalog: &'c CatalogVersion,
    plain_lock: Option<LockRequest>,
) -> BindContext<'c> {
    BindContext {
        catalog,
        stored: catalog,
        database: session.env.database.as_deref(),
        env: &session.env,
        host: session,
        virtuals: &SystemTables,
        plain_lock,
    }
}

/// Plans a query over tables of a catalog of the caller's own, which has locked them.
pub fn plan_over(
    session: &SessionContext,
    catalog: &CatalogVersion,
    query: &ast::Query,
) -> Result<StatementPlan, SqlError> {
    bind::bind_query(query, &context_over(session, catalog, None))
}

/// The lock that INSERT … SELECT takes on the rows it reads.
fn source_lock(session: &SessionContext) -> Option<LockRequest> {
    let gaps = matches!(session.state.current, Isolation::RepeatableRead | Isolation::Serializable);
    gaps.then_some(LockRequest { mode: LockMode::Shared, wait: WaitPolicy::Wait })
}

/// Plans a query whose rows are about to be stored.
pub fn plan_source(
    session: &SessionContext,
    query: &ast::Query,
) -> Result<StatementPlan, SqlError> {
    plan_held(
        session,
        source_lock(session),
        |context| bind::bind_source(query, context),
        |plan| plan,
    )
}

/// Plans INSERT's queries, see [`bind::bind_insert`].
pub(crate) fn plan_insert_queries(
    session: &SessionContext,
    source: Option<&bind::InsertSource>,
    beside: &bind::BesideSource,
    names: &dyn Fn(&[OutputColumn]) -> bind::InsertedNames,
) -> Result<bind::BoundInsert, SqlError> {
    let bind = |context: &BindContext<'_>| bind::bind_insert(source, beside, names, context);
    plan_held(session, source_lock(session), bind, |bound| &bound.plan)
}
