//! Names of tables as a statement writes them.

use super::SessionContext;
use crate::catalog::{FullName, Table, check_name};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::ObjectName;
use std::sync::Arc;

/// The full name of a table: errors 1046, 1102, 1103, 1059.
pub fn full_name(session: &SessionContext, name: &ObjectName) -> Result<FullName, SqlError> {
    let schema = match &name.db {
        Some(db) => db.as_str(),
        None => session.database()?,
    };
    check_name(&name.name, ErrorCode::WrongTableName)?;
    Ok((schema.to_owned(), name.name.clone()))
}

/// A table that must exist: errors 1049 and 1146.
pub fn existing(session: &SessionContext, name: &FullName) -> Result<Arc<Table>, SqlError> {
    let (schema, table) = (&name.0, &name.1);
    if let Some(table) = session.own_table(schema, table) {
        return Ok(table);
    }
    if session.db.catalog().schema(schema).is_none() {
        return Err(SqlError::new(ErrorCode::UnknownDatabase, &[schema]));
    }
    if session.db.catalog().view(schema, table).is_some() {
        return Err(SqlError::new(ErrorCode::WrongObject, &[schema, table, &"BASE TABLE"]));
    }
    let missing = || SqlError::new(ErrorCode::NoSuchTable, &[schema, table]);
    session.db.catalog().table(schema, table).ok_or_else(missing)
}
