//! Statements about stored programs, of which there are none: whichever they name is missing.

use super::unsupported::unsupported;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{ObjectName, RoutineKind, Statement};
use inia_query::context::SessionContext;
use inia_query::context::StatementOutcome;

/// What is said of a program that is not there; `full` is its name as errors of routines print it.
pub(super) fn missing(kind: RoutineKind, name: &str, full: &str) -> SqlError {
    match kind {
        RoutineKind::Procedure => SqlError::new(ErrorCode::SpDoesNotExist, &[&"PROCEDURE", &full]),
        RoutineKind::Function => SqlError::new(ErrorCode::SpDoesNotExist, &[&"FUNCTION", &full]),
        RoutineKind::Trigger => SqlError::new(ErrorCode::TrgDoesNotExist, &[]),
        RoutineKind::Event => SqlError::new(ErrorCode::EventDoesNotExist, &[&name]),
    }
}

/// CALL, ALTER and DROP of stored programs.
pub(super) fn execute(
    session: &mut SessionContext,
    statement: &Statement,
) -> Result<StatementOutcome, SqlError> {
    let (kind, name, if_exists) = match statement {
        Statement::Call(call) => {
            return Err(not_there(session, RoutineKind::Procedure, &call.name)?);
        }
        Statement::AlterRoutine(alter) => (alter.kind, &alter.name, false),
        Statement::DropRoutine(drop) => (drop.kind, &drop.name, drop.if_exists),
        other => return Err(unsupported(other)),
    };
    session.commit()?;
    session.check_writable()?;
    let error = not_there(session, kind, name)?;
    if !if_exists {
        return Err(error);
    }
    match kind {
        RoutineKind::Event => session.note(ErrorCode::SpDoesNotExist, &[&"Event", &name.name]),
        _ => session.note_error(&error),
    }
    Ok(StatementOutcome::default())
}

/// The error for a program of that name; errors 1046 and 1049 where its database is none.
fn not_there(
    session: &SessionContext,
    kind: RoutineKind,
    name: &ObjectName,
) -> Result<SqlError, SqlError> {
    let schema = match &name.db {
        Some(schema) => schema,
        None => session.database()?,
    };
    if kind == RoutineKind::Trigger && !session.db.catalog().current().schemas.contains_key(schema)
    {
        return Ok(SqlError::new(ErrorCode::UnknownDatabase, &[&schema]));
    }
    Ok(missing(kind, &name.name, &format!("{schema}.{}", name.name)))
}
