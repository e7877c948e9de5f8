//! SIGNAL and GET DIAGNOSTICS outside of stored programs.

use super::super::evaluate::value_of;
use super::condition::signal_error;
use super::diagnostics::{self, Area};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{Level, UserVar, Warning, convert};
use inia_parser::ast::{GetDiagnostics, IntoTarget, Signal, SignalCondition};
use inia_query::context::{SessionContext, StatementOutcome};

type Done = Result<StatementOutcome, SqlError>;

/// SIGNAL: error 1319 for a name, as nothing declares one.
pub(in super::super) fn signal(
    session: &mut SessionContext,
    signal: &Signal,
    params: &[Value],
) -> Done {
    let state = match &signal.condition {
        Some(SignalCondition::SqlState(state)) => Some(state.as_str()),
        Some(SignalCondition::Name(name)) => {
            return Err(SqlError::new(ErrorCode::SpCondMismatch, &[name]));
        }
        None => None,
    };
    let mut items = Vec::with_capacity(signal.items.len());
    for (item, value) in &signal.items {
        let UserVar { value, ty } = value_of(session, value, params)?;
        let text = (value != Value::Null).then(|| convert::to_text(&value, &ty).into_owned());
        items.push((item.clone(), text));
    }
    let error = signal_error(None, state, &items, session.env.sql_mode.is_strict())?;
    if error.sqlstate().starts_with("01") {
        session.raise(Warning::of(Level::Warning, error));
        return Ok(StatementOutcome::default());
    }
    Err(error)
}

/// GET DIAGNOSTICS: error 1887 for STACKED, as no handler runs.
pub(in super::super) fn get_diagnostics(
    session: &mut SessionContext,
    get: &GetDiagnostics,
    params: &[Value],
) -> Done {
    if get.stacked {
        return Err(SqlError::new(ErrorCode::GetStackedDaWithoutActiveHandler, &[]));
    }
    let condition = match &get.condition {
        Some(number) => Some(value_of(session, number, params)?.value),
        None => None,
    };
    let items: Vec<&str> = get.items.iter().map(|(_, item)| item.as_str()).collect();
    let area = Area { list: &session.diagnostics.list, row_count: session.env.row_count };
    let values = match diagnostics::get_diagnostics(&area, condition.as_ref(), &items) {
        Ok(values) => values,
        Err(error) => {
            session.raise(Warning::of(Level::Error, error));
            return Ok(StatementOutcome::default());
        }
    };
    for ((target, _), value) in get.items.iter().zip(values) {
        match target {
            IntoTarget::UserVar(name) => session.host.keep_user_var(name.to_lowercase(), value)?,
            IntoTarget::Local(name) => {
                return Err(SqlError::new(ErrorCode::SpUndeclaredVar, &[name]));
            }
            IntoTarget::Slot(_) => {}
        }
    }
    Ok(StatementOutcome::default())
}
