//! The default database.

use super::admin;
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::charset;
use inia_parser::ast;
use inia_query::context::SessionContext;

/// USE.
pub(super) fn use_database(session: &mut SessionContext, name: &str) -> Result<(), SqlError> {
    let found = match session.db.catalog().schema(name) {
        Some(schema) => Some((name, schema.def.collation)),
        None => match inia_query::computed::schema(name) {
            Some("information_schema") => Some(("information_schema", Collation::SYSTEM)),
            computed => computed.map(|name| (name, Collation::DEFAULT)),
        },
    };
    if name.is_empty() {
        return Err(SqlError::new(ErrorCode::NoDatabaseSelected, &[]));
    }
    if found.is_none() {
        inia_query::catalog::check_name(name, ErrorCode::WrongDbName)?;
    }
    let used = found.map_or(name, |(name, _)| name);
    admin::authorize_later(session, &ast::Statement::Use(used.to_owned()))?;
    let unknown = || SqlError::new(ErrorCode::UnknownDatabase, &[&name]);
    let (name, collation) = found.ok_or_else(unknown)?;
    session.env.database = Some(name.to_owned());
    let mut vars = session.host.vars.borrow_mut();
    let charset = charset::charset_name(collation).to_owned();
    vars.values.insert("character_set_database", charset);
    vars.values.insert("collation_database", charset::name(collation).to_owned());
    session.settings += 1;
    drop(vars);
    session.changes.push(inia_base::column::SessionChange::Schema(name.to_owned()));
    Ok(())
}

/// Its collation.
pub(super) fn database_collation(session: &SessionContext) -> Collation {
    let schema = session.env.database.as_deref().and_then(|name| session.db.catalog().schema(name));
    schema.map_or(Collation::DEFAULT, |schema| schema.def.collation)
}
