//! EXPLAIN FOR CONNECTION: how what another connection runs would be executed here.
//!
//! The statement is planned anew from its text, in the other connection's database and by this
//! one's settings: its plan is the same as long as both see the same statistics.

use super::explained;
use inia_base::column::RowSink;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{Explain, ExplainTarget, Statement};
use inia_query::account::Privileges;
use inia_query::context::{SessionContext, StatementOutcome};

/// EXPLAIN FOR CONNECTION; errors 1094, 1045 and 3012.
pub(super) fn of_connection(
    session: &mut SessionContext,
    explain: &Explain,
    id: u64,
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    if explain.analyze {
        let what = "EXPLAIN ANALYZE FOR CONNECTION";
        return Err(SqlError::new(ErrorCode::NotSupportedYet, &[&what]));
    }
    let list = session.db.process_list();
    let Some(other) = list.iter().find(|entry| entry.id == id) else {
        // The protocol numbers connections by four bytes.
        let id = u32::try_from(id).unwrap_or(u32::MAX);
        return Err(SqlError::new(ErrorCode::NoSuchThread, &[&id]));
    };
    let access = session.access();
    let own = other.user == session.client.user;
    if !own && !access.global.has(Privileges::PROCESS) {
        return Err(access.denied());
    }
    let refused = || SqlError::new(ErrorCode::ExplainNotSupported, &[]);
    if id == session.env.connection_id {
        return Err(refused());
    }
    let text = other.info.as_deref().ok_or_else(refused)?;
    let statement = inia_parser::parse(text, session.env.sql_mode.parsing());
    let statement = match statement.map_err(|_| refused())? {
        statement @ (Statement::Select(_)
        | Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)) => statement,
        _ => return Err(refused()),
    };
    let target = ExplainTarget::Statement(Box::new(statement));
    let of_other = Explain { analyze: false, format: explain.format, target };
    let database = std::mem::replace(&mut session.env.database, other.db.clone());
    let outcome = explained(session, &of_other, (&[], false), sink);
    session.env.database = database;
    outcome
}
