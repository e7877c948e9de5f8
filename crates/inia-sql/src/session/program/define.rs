//! CREATE, ALTER and DROP of procedures, functions and triggers.

use super::super::unsupported::unsupported;
use super::event::{EventWords, alter_event, create_event};
use crate::ddl::{in_transaction, lock, routine_grants};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{
    self, AlterRoutine, Characteristics, CreateRoutine, DropRoutine, ObjectName, RoutineDetail,
    RoutineKind, Statement, TriggerEvent,
};
use inia_query::account::Privileges;
use inia_query::catalog::program::{ParsedProgram, TriggerHead, check};
use inia_query::catalog::{
    AccountName, Change, ProgramDef, ProgramKind, StoredProgram, Table, program_lock,
};
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

/// The kind in the catalog.
pub(in super::super) fn kind_of(kind: RoutineKind) -> ProgramKind {
    match kind {
        RoutineKind::Procedure => ProgramKind::Procedure,
        RoutineKind::Function => ProgramKind::Function,
        RoutineKind::Trigger => ProgramKind::Trigger,
        RoutineKind::Event => ProgramKind::Event,
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
            RoutineDetail::Trigger { before, event, table, order } => {
                let head = TriggerWords { before: *before, event: *event, table, order };
                create_trigger(session, create, &head)
            }
            RoutineDetail::Event { schedule, preserve, status, comment } => {
                let (preserve, status) = (*preserve, *status);
                let words = EventWords { schedule, preserve, status, comment };
                create_event(session, create, &words)
            }
        },
        Statement::AlterRoutine(alter) if alter.kind == RoutineKind::Event => {
            alter_event(session, alter)
        }
        Statement::AlterRoutine(alter) => alter_routine(session, alter),
        Statement::DropRoutine(drop) => drop_routine(session, drop),
        other => Err(unsupported(other)),
    }
}

pub(super) fn schema_of<'n>(
    session: &'n SessionContext,
    name: &'n ObjectName,
) -> Result<&'n str, SqlError> {
    match &name.db {
        Some(schema) => Ok(schema),
        None => session.database(),
    }
}

/// The program's definer; error 1227 where the session may not name another account.
pub(super) fn definer(
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
pub(super) fn checked(
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
    if inia_query::computed::is_computed(&schema, "") {
        return Err(session.access().no_database(&schema));
    }
    let held = crate::ddl::hold_schema(session, &schema)?;
    let definer = definer(session, create.definer.as_ref())?;
    let _lock = lock(session, &[program_lock(kind, &schema, &name)])?;
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
    if kind == ProgramKind::Function && is_native(&name) {
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
        event: None,
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
    let (schema, name) = (def.schema.clone(), def.name.clone());
    let done = in_transaction(session, |_, changes| {
        changes.push(Change::PutProgram(Box::new(def)));
        Ok(StatementOutcome::default())
    })?;
    routine_grants::give(session, (kind, &schema, &name))?;
    Ok(done)
}

/// What CREATE TRIGGER says before the body.
struct TriggerWords<'w> {
    before: bool,
    event: TriggerEvent,
    table: &'w ObjectName,
    order: &'w Option<(bool, String)>,
}

/// Whether MySQL has a function of that name, of one row's values or of many.
fn is_native(name: &str) -> bool {
    const OF_ROWS: [&str; 19] = [
        "avg",
        "bit_and",
        "bit_or",
        "bit_xor",
        "count",
        "group_concat",
        "json_arrayagg",
        "json_objectagg",
        "max",
        "min",
        "st_collect",
        "std",
        "stddev",
        "stddev_pop",
        "stddev_samp",
        "sum",
        "var_pop",
        "var_samp",
        "variance",
    ];
    inia_expr::is_native_function(name)
        || OF_ROWS.iter().any(|other| other.eq_ignore_ascii_case(name))
}

/// The table of a trigger: errors 1146, 1347, 1361, 1435 and 1465.
fn trigger_table(
    session: &SessionContext,
    create: &CreateRoutine,
    written: &ObjectName,
) -> Result<Arc<Table>, SqlError> {
    let schema = match (&written.db, &create.name.db) {
        (Some(schema), _) => schema.clone(),
        (None, Some(schema)) => schema.clone(),
        (None, None) => session.database()?.to_owned(),
    };
    if create.name.db.as_ref().is_some_and(|own| *own != schema) {
        return Err(SqlError::new(ErrorCode::TrgInWrongSchema, &[]));
    }
    if schema.eq_ignore_ascii_case("information_schema") {
        return Err(session.access().no_database("information_schema"));
    }
    if inia_query::computed::schema(&schema).is_some() {
        return Err(SqlError::new(ErrorCode::NoTriggersOnSystemSchema, &[]));
    }
    if session.db.catalog().schema(&schema).is_none() {
        return Err(SqlError::new(ErrorCode::UnknownDatabase, &[&schema]));
    }
    if session.temporary.get(&schema, &written.name).is_some() {
        return Err(SqlError::new(ErrorCode::TrgOnViewOrTempTable, &[&written.name]));
    }
    let catalog = session.db.catalog();
    if catalog.view(&schema, &written.name).is_some() {
        let args: [&dyn std::fmt::Display; 3] = [&schema, &written.name, &"BASE TABLE"];
        return Err(SqlError::new(ErrorCode::WrongObject, &args));
    }
    let missing = || SqlError::new(ErrorCode::NoSuchTable, &[&schema, &written.name]);
    catalog.table(&schema, &written.name).ok_or_else(missing)
}

/// Errors 1054 and 3105: columns that are not there, and generated ones that get a value.
fn check_columns(program: &ast::Program, table: &Table) -> Result<(), SqlError> {
    for slot in &program.slots {
        let word = match slot.kind {
            ast::SlotKind::New => "NEW",
            ast::SlotKind::Old => "OLD",
            _ => continue,
        };
        if table.def.column(&slot.name).is_none() {
            return Err(SqlError::new(ErrorCode::UnknownColumn, &[&slot.name, &word]));
        }
    }
    Ok(())
}

fn create_trigger(
    session: &mut SessionContext,
    create: &CreateRoutine,
    words: &TriggerWords<'_>,
) -> Done {
    let table = trigger_table(session, create, words.table)?;
    let (schema, name) = (table.def.schema.clone(), create.name.name.clone());
    let held = crate::ddl::hold_schema(session, &schema)?;
    let definer = definer(session, create.definer.as_ref())?;
    let own = program_lock(ProgramKind::Trigger, &schema, &name);
    let _lock = lock(session, &[(schema.clone(), table.def.name.clone()), own])?;
    let table = trigger_table(session, create, words.table)?;
    if is_there(session, create, &table)? {
        return Ok(StatementOutcome::default());
    }
    checked(session, create, &held)?;
    if let Some(program) = &create.program {
        check_columns(program, &table)?;
    }
    let before = table.triggers.of_event(words.before, words.event);
    let place = match words.order {
        None => before.len(),
        Some((follows, other)) => {
            let missing = || SqlError::new(ErrorCode::ReferencedTrgDoesNotExist, &[other]);
            let at = before.iter().position(|trigger| trigger.def.name == *other);
            at.ok_or_else(missing)? + usize::from(*follows)
        }
    };
    let now = clock_micros() as u64;
    let head = TriggerHead {
        table: table.def.name.clone(),
        before: words.before,
        event: words.event,
        order: place as u64 + 1,
    };
    let def = ProgramDef {
        schema,
        name,
        kind: ProgramKind::Trigger,
        params: String::new(),
        returns: String::new(),
        body: create.body.clone(),
        trigger: Some(head),
        event: None,
        definer,
        invoker: false,
        deterministic: false,
        data_access: String::new(),
        comment: String::new(),
        sql_mode: session.env.sql_mode,
        charset_client: session.var("character_set_client").unwrap_or_default(),
        collation_connection: session.var("collation_connection").unwrap_or_default(),
        database_collation: held.collation,
        created: now,
        modified: now,
    };
    // Those behind it move up by one.
    let later: Vec<ProgramDef> =
        before[place..].iter().map(|trigger| trigger.def.clone()).collect();
    in_transaction(session, |_, changes| {
        for mut def in later {
            if let Some(head) = &mut def.trigger {
                head.order += 1;
            }
            changes.push(Change::PutProgram(Box::new(def)));
        }
        changes.push(Change::PutProgram(Box::new(def)));
        Ok(StatementOutcome::default())
    })
}

/// Whether IF NOT EXISTS finds the trigger: errors 1359 and 4100.
fn is_there(
    session: &mut SessionContext,
    create: &CreateRoutine,
    table: &Table,
) -> Result<bool, SqlError> {
    let (schema, name) = (&table.def.schema, &create.name.name);
    let found = session.db.catalog().program(ProgramKind::Trigger, schema, name);
    let Some(other) = found else { return Ok(false) };
    if !create.if_not_exists {
        return Err(SqlError::new(ErrorCode::TrgAlreadyExists, &[]));
    }
    if other.def.trigger.as_ref().is_none_or(|head| head.table != table.def.name) {
        let code = ErrorCode::IfNotExistsUnsupportedTrgExistsOnDifferentTable;
        return Err(SqlError::new(code, &[schema, name]));
    }
    session.note(ErrorCode::WarnTrgAlreadyExists, &[name, schema, &table.def.name]);
    Ok(true)
}

/// Error 1142 where the session may not change triggers of the table.
fn check_trigger_privilege(session: &SessionContext, def: &ProgramDef) -> Result<(), SqlError> {
    let Some(head) = &def.trigger else { return Ok(()) };
    let access = session.access();
    match access.on_table(&def.schema, &head.table).has(Privileges::TRIGGER) {
        true => Ok(()),
        false => Err(access.no_table("TRIGGER", &head.table)),
    }
}

/// The program of that name: errors 1046, 1049 and 1305.
pub(super) fn existing(
    session: &SessionContext,
    kind: RoutineKind,
    name: &ObjectName,
) -> Result<Result<Arc<StoredProgram>, SqlError>, SqlError> {
    let schema = schema_of(session, name)?;
    let found = session.db.catalog().program(kind_of(kind), schema, &name.name);
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
    let _lock = lock(session, &[program_lock(found.def.kind, &found.def.schema, &found.def.name)])?;
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
pub(super) fn protect(session: &SessionContext, def: &ProgramDef) -> Result<(), SqlError> {
    match session.db.accounts.current().get(&def.definer) {
        Some(account) if def.definer != session.access().account => {
            session.as_actor(|actor| actor.protect(account))
        }
        _ => Ok(()),
    }
}

/// The triggers that fire after another one, of the same table, time and event.
fn behind(session: &SessionContext, def: &ProgramDef) -> Vec<ProgramDef> {
    let Some(head) = &def.trigger else { return Vec::new() };
    let Some(table) = session.db.catalog().table(&def.schema, &head.table) else {
        return Vec::new();
    };
    let all = table.triggers.of_event(head.before, head.event).iter();
    let at = all.clone().position(|trigger| trigger.def.name == def.name);
    at.map_or_else(Vec::new, |at| all.skip(at + 1).map(|trigger| trigger.def.clone()).collect())
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
    check_trigger_privilege(session, &found.def)?;
    protect(session, &found.def)?;
    let mut names = vec![program_lock(found.def.kind, &found.def.schema, &found.def.name)];
    let table = found.def.trigger.as_ref().map(|head| head.table.clone());
    names.extend(table.map(|table| (found.def.schema.clone(), table)));
    let _lock = lock(session, &names)?;
    existing(session, drop.kind, &drop.name)??;
    let (kind, schema) = (found.def.kind, found.def.schema.clone());
    let name = found.def.name.clone();
    let later = behind(session, &found.def);
    routine_grants::forget(session, std::iter::once(&found.def))?;
    in_transaction(session, |_, changes| {
        for mut def in later {
            if let Some(head) = &mut def.trigger {
                head.order -= 1;
            }
            changes.push(Change::PutProgram(Box::new(def)));
        }
        changes.push(Change::DropProgram { kind, schema, name });
        Ok(StatementOutcome::default())
    })
}
