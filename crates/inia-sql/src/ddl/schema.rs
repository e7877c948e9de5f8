//! CREATE, ALTER and DROP DATABASE.

use super::{DdlResult, FullName, check_name, in_transaction, lock};
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::charset;
use inia_parser::ast;
use inia_query::catalog::{Change, ProgramDef, SYSTEM_SCHEMA, Schema, SchemaDef, program_lock};
use inia_query::context::SessionContext;
use inia_query::context::StatementOutcome;
use std::sync::Arc;

/// The metadata lock of a database itself has no table name.
fn lock_name(schema: &str) -> FullName {
    (schema.to_owned(), String::new())
}

fn collation(options: &ast::DatabaseOptions) -> Result<Option<Collation>, SqlError> {
    charset::resolve(options.charset.as_deref(), options.collation.as_deref())
}

/// The collation of databases that name none.
fn server_collation(session: &SessionContext) -> Collation {
    let known = session.var("collation_server").and_then(|name| Collation::from_name(&name));
    known.unwrap_or(Collation::DEFAULT)
}

/// CREATE DATABASE.
pub(crate) fn create_database(
    session: &mut SessionContext,
    create: &ast::CreateDatabase,
) -> DdlResult {
    check_name(&create.name, ErrorCode::WrongDbName)?;
    check_encryption(&create.options)?;
    let collation = match collation(&create.options)? {
        Some(collation) => collation,
        None => server_collation(session),
    };
    let _lock = lock(session, &[lock_name(&create.name)])?;
    if session.db.catalog().schema(&create.name).is_some() {
        if create.if_not_exists {
            session.note(ErrorCode::DbCreateExists, &[&create.name]);
            return Ok(StatementOutcome { affected_rows: 1, ..StatementOutcome::default() });
        }
        not_the_system(&create.name)?;
        return Err(SqlError::new(ErrorCode::DbCreateExists, &[&create.name]));
    }
    let def = SchemaDef { name: create.name.clone(), collation, read_only: false };
    in_transaction(session, |_, changes| {
        changes.push(Change::PutSchema(def));
        Ok(StatementOutcome { affected_rows: 1, ..StatementOutcome::default() })
    })
}

/// Nothing is stored encrypted: error 3185 where it is asked for, 1525 for another word.
fn check_encryption(options: &ast::DatabaseOptions) -> Result<(), SqlError> {
    let Some(word) = &options.encryption else { return Ok(()) };
    match word.to_ascii_uppercase().as_str() {
        "N" => Ok(()),
        "Y" => Err(SqlError::new(ErrorCode::CannotFindKeyInKeyring, &[])),
        _ => Err(SqlError::new(ErrorCode::WrongValue, &[&"argument (should be Y or N)", word])),
    }
}

/// Error 3552: the schema that holds system tables is always there, as it is.
fn not_the_system(schema: &str) -> Result<(), SqlError> {
    match schema {
        SYSTEM_SCHEMA => Err(SqlError::new(ErrorCode::NoSystemSchemaAccess, &[&schema])),
        _ => Ok(()),
    }
}

/// ALTER DATABASE.
pub(crate) fn alter_database(
    session: &mut SessionContext,
    alter: &ast::AlterDatabase,
) -> DdlResult {
    let name = match &alter.name {
        Some(name) => name.clone(),
        None => session.database()?.to_owned(),
    };
    not_the_system(&name)?;
    check_encryption(&alter.options)?;
    let collation = collation(&alter.options)?;
    let _lock = lock(session, &[lock_name(&name)])?;
    let Some(schema) = session.db.catalog().schema(&name) else {
        return Err(SqlError::new(ErrorCode::NoSuchDb, &[&name]));
    };
    let mut def = schema.def.clone();
    def.collation = collation.unwrap_or(def.collation);
    if let Some(read_only) = alter.options.read_only {
        def.read_only = read_only.unwrap_or(false);
    }
    in_transaction(session, |_, changes| {
        changes.push(Change::PutSchema(def));
        Ok(StatementOutcome { affected_rows: 1, ..StatementOutcome::default() })
    })
}

/// DROP DATABASE with all its tables; as many rows affected as there were tables.
pub(crate) fn drop_database(
    session: &mut SessionContext,
    name: &str,
    if_exists: bool,
) -> DdlResult {
    not_the_system(name)?;
    let _schema_lock = lock(session, &[lock_name(name)])?;
    let Some(schema) = session.db.catalog().schema(name) else {
        if if_exists {
            session.note(ErrorCode::DbDropExists, &[&name]);
            return Ok(StatementOutcome::default());
        }
        return Err(SqlError::new(ErrorCode::DbDropExists, &[&name]));
    };
    let names = schema.tables.keys().chain(schema.views.keys()).chain(schema.sequences.keys());
    let names: Vec<FullName> = names.map(|table| (name.to_owned(), table.clone())).collect();
    let programs = schema.programs.values().map(|program| &program.def);
    let programs = programs.map(|def| program_lock(def.kind, &def.schema, &def.name));
    let _locks = lock(session, &names.into_iter().chain(programs).collect::<Vec<_>>())?;
    let schema = session.db.catalog().schema(name);
    let sequences = schema.as_ref().map(|schema| schema.sequences.clone()).unwrap_or_default();
    let parts = |s: Arc<Schema>| (s.tables.clone(), s.views.clone(), s.programs.clone());
    let (tables, views, programs) = schema.map(parts).unwrap_or_default();
    super::table::check_not_referenced(session, &tables.values().cloned().collect::<Vec<_>>())?;
    let affected_rows = (tables.len() + views.len() + sequences.len()) as u64;
    let stopped: Vec<_> = sequences.values().map(|sequence| sequence.stop()).collect();
    super::routine_grants::forget(session, programs.values().map(|program| &program.def))?;
    in_transaction(session, |session, changes| {
        for table in tables.values() {
            super::table::drop_trees(session, table)?;
            let (schema, name) = (name.to_owned(), table.def.name.clone());
            changes.push(Change::DropTable { schema, name });
        }
        for program in programs.values() {
            let ProgramDef { kind, schema, name, .. } = &program.def;
            let (kind, schema, name) = (*kind, schema.clone(), name.clone());
            changes.push(Change::DropProgram { kind, schema, name });
        }
        for sequence in sequences.keys() {
            let (schema, name) = (name.to_owned(), sequence.clone());
            changes.push(Change::DropSequence { schema, name });
        }
        for view in views.into_keys() {
            changes.push(Change::DropView { schema: name.to_owned(), name: view });
        }
        changes.push(Change::DropSchema(name.to_owned()));
        Ok(())
    })?;
    stopped.into_iter().for_each(|sequence| sequence.end());
    tables.values().for_each(|table| session.db.catalog().forget(table.def.id));
    if session.env.database.as_deref() == Some(name) {
        session.env.database = None;
    }
    Ok(StatementOutcome { affected_rows, ..StatementOutcome::default() })
}

/// Makes a CREATE TABLE in `schema` and a DROP DATABASE of it wait for each other; error 1049.
pub(crate) fn hold_schema(session: &SessionContext, schema: &str) -> Result<SchemaDef, SqlError> {
    let name = session.db.catalog().mdl().name(schema, "");
    session.mdl.lock_shared(&name, session.mdl_limit())?;
    let unknown = || SqlError::new(ErrorCode::UnknownDatabase, &[&schema]);
    Ok(session.db.catalog().schema(schema).ok_or_else(unknown)?.def.clone())
}
