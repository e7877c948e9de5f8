//! What a dump of all databases says to the system tables of schema `mysql`.
//!
//! These tables are computed: they cannot be created, filled or dropped. A dump does that with each
//! of them, and the databases that follow are to be restored all the same. So these statements are
//! passed over with a warning where the account may do such things everywhere; others are refused.
//! Accounts are not among what a dump restores.

use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{ObjectName, RoutineDetail, Statement};
use inia_query::account::Privileges;
use inia_query::catalog::SYSTEM_SCHEMA;
use inia_query::computed::is_computed;
use inia_query::context::{SessionContext, StatementOutcome};

/// Passes over a statement that was refused with this error; `None` where the error stands.
pub(super) fn pass_over(
    session: &mut SessionContext,
    statement: &Statement,
    refusal: &SqlError,
) -> Option<StatementOutcome> {
    let refused = refusal.code == ErrorCode::TableAccessDenied;
    let all = Privileges::CREATE | Privileges::DROP | Privileges::INSERT | Privileges::ALTER;
    if !refused || !session.access().global.has(all) {
        return None;
    }
    let said = match statement {
        Statement::CreateTable(create) => kept(session, &create.name)?,
        Statement::AlterTable(alter) => kept(session, &alter.name)?,
        Statement::Insert(insert) => kept(session, &insert.table)?,
        Statement::DropTable(drop) if drop.if_exists => {
            let mut kept = drop.names.iter().map(|name| kept(session, name));
            let first = kept.next()??;
            kept.all(|other| other.is_some()).then_some(first)?
        }
        _ => return None,
    };
    session.diagnostics.clear();
    session.push_warning(&said);
    Some(StatementOutcome::default())
}

/// A dump of all databases makes the views and routines of the schema `sys` anew: they stay as they
/// are, with a warning. Other changes of that schema are errors.
pub(super) fn keep_builtin(
    session: &mut SessionContext,
    statement: &Statement,
    error: SqlError,
) -> Result<StatementOutcome, SqlError> {
    let name = match statement {
        Statement::CreateView(create) => Some(&create.name),
        Statement::DropView(drop) => drop.names.first(),
        Statement::CreateRoutine(create) => Some(&create.name),
        Statement::DropRoutine(drop) => Some(&drop.name),
        _ => None,
    };
    let schema = name.and_then(|name| name.db.as_deref().or(session.env.database.as_deref()));
    let is_kept = schema.is_some_and(|schema| session.db.catalog().is_builtin(schema));
    let is_there = matches!(
        error.code,
        ErrorCode::SchemaReadOnly | ErrorCode::TableExists | ErrorCode::SpAlreadyExists
    );
    if !is_kept || !is_there {
        return Err(error);
    }
    session.push_warning(&error);
    Ok(StatementOutcome::default())
}

/// A dump of a MySQL server makes the table `sys.sys_config` anew, which is a view here: what it
/// says of the table is passed over with a warning.
#[cold]
pub(super) fn keep_settings(
    session: &mut SessionContext,
    statement: &Statement,
    error: &SqlError,
) -> Option<StatementOutcome> {
    let name = match statement {
        Statement::CreateTable(create) => &create.name,
        Statement::AlterTable(alter) => &alter.name,
        Statement::Insert(insert) => &insert.table,
        Statement::CreateRoutine(create) => match &create.detail {
            RoutineDetail::Trigger { table, .. } => table,
            _ => return None,
        },
        _ => return None,
    };
    let schema = name.db.as_deref().or(session.env.database.as_deref());
    let is_kept = schema.is_some_and(|schema| session.db.catalog().is_builtin(schema));
    let is_no_table = matches!(
        error.code,
        ErrorCode::TableExists | ErrorCode::WrongObject | ErrorCode::NonInsertableTable
    );
    if !is_kept || !is_no_table || !name.name.eq_ignore_ascii_case("sys_config") {
        return None;
    }
    session.push_warning(error);
    Some(StatementOutcome::default())
}

/// TRUNCATE, of a table that the server computes or of another.
pub(super) fn truncate(
    session: &mut SessionContext,
    name: &ObjectName,
) -> Result<StatementOutcome, SqlError> {
    empty(session, name).unwrap_or_else(|| crate::ddl::truncate(session, name))
}

/// TRUNCATE of a computed table; `None` where the name is none that can be emptied. The privilege
/// has been asked for.
fn empty(
    session: &SessionContext,
    name: &ObjectName,
) -> Option<Result<StatementOutcome, SqlError>> {
    let schema = name.db.as_deref().or(session.env.database.as_deref())?;
    match session.db.empty_computed(schema, &name.name) {
        Ok(true) => Some(Ok(StatementOutcome::default())),
        Ok(false) => None,
        Err(error) => Some(Err(SqlError::with_message(ErrorCode::UnknownError, error.to_string()))),
    }
}

/// The warning for a system table; `None` where the name is none.
fn kept(session: &SessionContext, name: &ObjectName) -> Option<SqlError> {
    let schema = name.db.as_deref().or(session.env.database.as_deref())?;
    let kept = schema == SYSTEM_SCHEMA && is_computed(schema, &name.name);
    kept.then(|| {
        let text = format!("System table '{schema}.{}' is kept as it is.", name.name);
        SqlError::with_message(ErrorCode::UnknownError, text)
    })
}
