//! CREATE, ALTER and DROP of procedures, functions and triggers.

use super::super::unsupported::unsupported;
use crate::ddl::{in_transaction, lock};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{
    self, AlterRoutine, Characteristics, CreateRoutine, DropRoutine, ObjectName, RoutineDetail,
    RoutineKind, Statement,
};
use inia_query::catalog::program::{ParsedProgram, check};
use inia_query::catalog::{AccountName, Change, ProgramDef, ProgramKind, StoredProgram};
use inia_query::clock::clock_micros;
use inia_query::context::{SessionContext, StatementOutcome};
use std::sync::Arc;

type Done = Result<StatementOutcome, SqlError>;

/// What is said of a program that is not there; `full` is its name as errors of routines print it.
pub(in super::super) fn missing(kind: RoutineKind, name: &str, full: &str) -> SqlError {
    match kind {
        RoutineKind::Procedure => SqlError::new(ErrorCode::SpDoesNotExist, &[&"PROCEDURE", &full]),
        RoutineKind::Function => SqlError::new(ErrorCode::SpDoesNotExist, &[&"FUNCTION", &full]),
        RoutineKind::Trigger => SqlError::new(ErrorCode::TrgDoesNotExist, &[]),
        RoutineKind::Event => SqlError::new(ErrorCode::EventDoesNotExist, &[&name]),
    }
}

/// The kind in the catalog; events have none.
pub(in super::super) fn kind_of(kind: RoutineKind) -> Option<ProgramKind> {
    match kind {
        RoutineKind::Procedure => Some(ProgramKind::Procedure),
        RoutineKind::Function => Some(ProgramKind::Function),
        RoutineKind::Trigger => Some(ProgramKind::Trigger),
        RoutineKind::Event => None,
    }
}

/// CREATE, ALTER and DROP of stored programs. What is open has been committed.
pub(in super::super) fn execute(session: &mut SessionContext, statement: &Statement) -> Done {
    match statement {
        Statement::CreateRoutine(create) => match &create.detail {
            RoutineDetail::Procedure { characteristics, .. } => {
                create_routine(session, create, ProgramKind::Procedure, characteristics)
            }
            RoutineDetail::Function { characteristics, .. } => {
                create_routine(session, create, ProgramKind::Function, characteristics)
            }
            _ => Err(unsupported(statement)),
        },
        Statement::AlterRoutine(alter) => alter_routine(session, alter),
        Statement::DropRoutine(drop) => drop_routine(session, drop),
        other => Err(unsupported(other)),
    }
}

fn schema_of<'n>(
    session: &'n SessionContext,
    name: &'n ObjectName,
) -> Result<&'n str, SqlError> {
    match &name.db {
        Some(schema) => Ok(schema),
        None => session.database(),
    }
}

/// The program's definer; error 1227 where the session may not name another account.
fn definer(
    session: &mut SessionContext,
    written: Option<&ast::Account>,
) -> Result<AccountName, SqlError> {
    let access = session.access();
    let named = match written {
        None | Some(ast::Account::Current) => return Ok(access.account.clone()),
        Some(ast::Account::Name { user, host }) => {
            AccountName::new(user, host.as_deref().unwrap_or("%"))
        }
    };
    if named != access.account && !access.has_dynamic("SET_USER_ID") {
        return Err(SqlError::new(ErrorCode::SpecificAccessDenied, &[&"SUPER or SET_USER_ID"]));
    }
    match session.db.accounts.current().get(&named) {
        Some(def) if named != access.account => session.as_actor(|actor| actor.protect(def))?,
        Some(_) => {}
        None => session.note(ErrorCode::NoSuchUser, &[&named.user, &named.host]),
    }
    Ok(named)
}

/// Error 1193: SET of a variable that is not there.
fn check_variables(statement: &ast::ProgramStatement) -> Result<(), SqlError> {
    let mut done = Ok(());
    statement.for_each_sql(&mut |sql| {
        if let Statement::Set(items) = &sql.statement {
            for item in items {
                if let ast::SetItem::SysVar { var, .. } = item
                    && var.component.is_none()
                    && done.is_ok()
                {
                    done = inia_query::sysvar::find(&var.name).map(drop);
                }
            }
        }
    });
    done
}

/// The program as it would be read from the catalog; errors of its types and variables.
fn checked(
    session: &mut SessionContext,
    create: &CreateRoutine,
    schema: &inia_query::catalog::SchemaDef,
) -> Result<ParsedProgram, SqlError> {
    if let Some(program) = &create.program {
        check_variables(&program.body)?;
    }
    let parsed = check(create.clone(), schema.collation, session.env.sql_mode)?;
    parsed.deprecated.iter().for_each(|warning| session.push_warning(warning));
    Ok(parsed)
}

fn create_routine(
    session: &mut SessionContext,
    create: &CreateRoutine,
    kind: ProgramKind,
    characteristics: &Characteristics,
) -> Done {
    let schema = schema_of(session, &create.name)?.to_owned();
    let name = create.name.name.clone();
    if name.is_empty() || name.ends_with(' ') {
        return Err(SqlError::new(ErrorCode::SpWrongName, &[&name]));
    }
    let held = crate::ddl::hold_schema(session, &schema)?;
    let definer = definer(session, create.definer.as_ref())?;
    let _lock = lock(session, &[(schema.clone(), format!("\0{}{name}", kind.word()))])?;
    if session.db.catalog().program(kind, &schema, &name).is_some() {
        if create.if_not_exists {
            session.note(ErrorCode::SpAlreadyExists, &[&kind.word(), &name]);
            return Ok(StatementOutcome::default());
        }
        return Err(SqlError::new(ErrorCode::SpAlreadyExists, &[&kind.word(), &name]));
    }
    let returns = create.program.as_ref().is_some_and(|program| program.returns);
    if kind == ProgramKind::Function && !returns {
        return Err(SqlError::new(ErrorCode::SpNoreturn, &[&format!("{schema}.{name}")]));
    }
    if kind == ProgramKind::Function && inia_expr::is_native_function(&name) {
        session.note(ErrorCode::NativeFctNameCollision, &[&name]);
    }
    let parsed = checked(session, create, &held)?;
    let now = clock_micros() as u64;
    let def = ProgramDef {
        schema,
        name,
        kind,
        params: create.params_text.clone(),
        returns: parsed.returns_text,
        body: create.body.clone(),
        trigger: None,
        definer,
        invoker: characteristics.security_invoker.unwrap_or(false),
        deterministic: characteristics.deterministic.unwrap_or(false),
        data_access: characteristics.data_access.clone().unwrap_or_else(|| "CONTAINS SQL".into()),
        comment: characteristics.comment.clone().unwrap_or_default(),
        sql_mode: session.env.sql_mode,
        charset_client: session.var("character_set_client").unwrap_or_default(),
        collation_connection: session.var("collation_connection").unwrap_or_default(),
        database_collation: held.collation,
        created: now,
        modified: now,
    };
    in_transaction(session, |_, changes| {
        changes.push(Change::PutProgram(Box::new(def)));
        Ok(StatementOutcome::default())
    })
}

/// The program of that name: errors 1046, 1049 and 1305.
fn existing(
    session: &SessionContext,
    kind: RoutineKind,
    name: &ObjectName,
) -> Result<Result<Arc<StoredProgram>, SqlError>, SqlError> {
    let schema = schema_of(session, name)?;
    let found = kind_of(kind)
        .and_then(|kind| session.db.catalog().program(kind, schema, &name.name));
    if let Some(found) = found {
        return Ok(Ok(found));
    }
    if kind == RoutineKind::Trigger && session.db.catalog().schema(schema).is_none() {
        return Ok(Err(SqlError::new(ErrorCode::UnknownDatabase, &[&schema])));
    }
    Ok(Err(missing(kind, &name.name, &format!("{schema}.{}", name.name))))
}

fn alter_routine(session: &mut SessionContext, alter: &AlterRoutine) -> Done {
    let found = existing(session, alter.kind, &alter.name)??;
    protect(session, &found.def)?;
    let _lock = lock(session, &[lock_name(&found.def)])?;
    let mut def = existing(session, alter.kind, &alter.name)??.def.clone();
    let Characteristics { comment, data_access, security_invoker, .. } = &alter.characteristics;
    if let Some(comment) = comment {
        def.comment.clone_from(comment);
    }
    if let Some(access) = data_access {
        def.data_access.clone_from(access);
    }
    def.invoker = security_invoker.unwrap_or(def.invoker);
    def.modified = clock_micros() as u64;
    in_transaction(session, |_, changes| {
        changes.push(Change::PutProgram(Box::new(def)));
        Ok(StatementOutcome::default())
    })
}

/// Error 1227 where the definer is an account that the session may not change.
fn protect(session: &SessionContext, def: &ProgramDef) -> Result<(), SqlError> {
    match session.db.accounts.current().get(&def.definer) {
        Some(account) if def.definer != session.access().account => {
            session.as_actor(|actor| actor.protect(account))
        }
        _ => Ok(()),
    }
}

fn lock_name(def: &ProgramDef) -> (String, String) {
    (def.schema.clone(), format!("\0{}{}", def.kind.word(), def.name))
}

fn drop_routine(session: &mut SessionContext, drop: &DropRoutine) -> Done {
    let found = match existing(session, drop.kind, &drop.name)? {
        Ok(found) => found,
        Err(error) if drop.if_exists => {
            match drop.kind {
                RoutineKind::Event => {
                    let name = &drop.name.name;
                    session.note(ErrorCode::SpDoesNotExist, &[&"Event", name]);
                }
                _ => session.note_error(&error),
            }
            return Ok(StatementOutcome::default());
        }
        Err(error) => return Err(error),
    };
    protect(session, &found.def)?;
    let _lock = lock(session, &[lock_name(&found.def)])?;
    existing(session, drop.kind, &drop.name)??;
    let (kind, schema) = (found.def.kind, found.def.schema.clone());
    let name = found.def.name.clone();
    in_transaction(session, |_, changes| {
        changes.push(Change::DropProgram { kind, schema, name });
        Ok(StatementOutcome::default())
    })
}
