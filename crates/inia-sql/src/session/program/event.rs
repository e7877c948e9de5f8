//! CREATE and ALTER EVENT: schedules, and times that are past already.

use super::super::evaluate::value_of;
use super::define::{checked, definer, existing, protect, schema_of};
use crate::ddl::{hold_schema, in_transaction, lock};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::{DateRules, DateTime, Interval, IntervalUnit};
use inia_base::value::Value;
use inia_parser::ast::{
    self, AlterRoutine, CreateRoutine, EventStatus, ObjectName, RoutineKind, Schedule,
};
use inia_query::account::Privileges;
use inia_query::catalog::event::{EventHead, EventSchedule, MAX_INTERVAL};
use inia_query::catalog::program::check;
use inia_query::catalog::{Change, ProgramDef, ProgramKind, SchemaDef, program_lock};
use inia_query::clock::clock_micros;
use inia_query::context::{SessionContext, StatementOutcome};

type Done = Result<StatementOutcome, SqlError>;

/// The last second of 3001-01-18, beyond which MySQL has no moments.
const LAST_MOMENT: i64 = 32_536_771_199;

/// What CREATE EVENT says before the body.
pub(super) struct EventWords<'w> {
    pub(super) schedule: &'w Schedule,
    pub(super) preserve: Option<bool>,
    pub(super) status: Option<EventStatus>,
    pub(super) comment: &'w Option<String>,
}

/// A value as an error prints it.
fn printed(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Text(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Double(number) => number.to_string(),
        Value::Decimal(number) => number.to_string(),
        Value::Date(date) => date.at_midnight().text(0),
        Value::DateTime(moment) => moment.text(0),
        Value::Time(time) => time.text(0),
        _ => String::new(),
    }
}

/// The moment that an expression gives in the session's time zone, in seconds since 1970; `None`
/// where it is none.
fn moment_of(session: &SessionContext, value: &Value) -> Option<i64> {
    let rules = DateRules::STRICT;
    let local = match value {
        Value::DateTime(moment) => *moment,
        Value::Date(date) => date.at_midnight(),
        Value::Text(text) => DateTime::parse(text, rules).ok()?.value,
        Value::Int(number) => DateTime::from_number(*number, rules).ok()?.0,
        Value::Time(time) => time.on(session.env.local(session.env.now_micros).date)?,
        _ => return None,
    };
    local.date.check(rules).ok()?;
    let seconds = session.env.time_zone.to_utc(local)?.to_unix();
    (1..=LAST_MOMENT).contains(&seconds).then_some(seconds)
}

/// The amount of EVERY, in parts of the smallest kind that its unit names: errors 1235, 1525 and
/// 1542.
fn amount_of(
    session: &mut SessionContext,
    expr: &ast::Expr,
    unit: IntervalUnit,
) -> Result<i64, SqlError> {
    if unit.has_micros() {
        return Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"MICROSECOND"]));
    }
    let value = value_of(session, expr, &[])?.value;
    let wrong = || SqlError::new(ErrorCode::EventIntervalNotPositiveOrTooBig, &[]);
    let amount = match &value {
        Value::Null => {
            return Err(SqlError::new(ErrorCode::WrongValue, &[&"INTERVAL", &"NULL"]));
        }
        value if unit.is_composite() => {
            let interval = Interval::parse(unit, &printed(value)).ok_or_else(wrong)?;
            let part = Interval::of(unit, 1);
            let micros = |one: Interval| i128::from(one.days) * 86_400_000_000 + one.micros;
            match part.months {
                0 => i64::try_from(micros(interval) / micros(part)).unwrap_or(i64::MAX),
                months => interval.months / months,
            }
        }
        Value::Int(number) => *number,
        Value::UInt(number) => i64::try_from(*number).unwrap_or(i64::MAX),
        Value::Double(number) => number.round() as i64,
        Value::Decimal(number) => {
            number.round(0).ok().and_then(|whole| whole.to_i64().ok()).unwrap_or(i64::MAX)
        }
        value => {
            let text = printed(value);
            let text = text.trim_start();
            let sign = usize::from(text.starts_with('-'));
            let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
            text[..sign + digits].parse().unwrap_or(0)
        }
    };
    (1..=MAX_INTERVAL).contains(&amount).then_some(amount).ok_or_else(wrong)
}

/// The moment of AT and STARTS: error 1525.
fn checked_moment(
    session: &mut SessionContext,
    expr: &ast::Expr,
    what: &str,
) -> Result<i64, SqlError> {
    let value = value_of(session, expr, &[])?.value;
    moment_of(session, &value)
        .ok_or_else(|| SqlError::new(ErrorCode::WrongValue, &[&what, &printed(&value)]))
}

/// ON SCHEDULE with its expressions evaluated.
fn schedule_of(
    session: &mut SessionContext,
    schedule: &Schedule,
) -> Result<EventSchedule, SqlError> {
    let found = match schedule {
        Schedule::At(expr) => EventSchedule::At(checked_moment(session, expr, "AT")?),
        Schedule::Every { interval, unit, starts, ends } => {
            let amount = amount_of(session, interval, *unit)?;
            let starts = match starts {
                Some(expr) => checked_moment(session, expr, "STARTS")?,
                None => now(session),
            };
            let ends = match ends {
                Some(expr) => {
                    let value = value_of(session, expr, &[])?.value;
                    let ends = moment_of(session, &value).filter(|ends| *ends > starts);
                    let wrong = || SqlError::new(ErrorCode::EventEndsBeforeStarts, &[]);
                    Some(ends.ok_or_else(wrong)?)
                }
                None => None,
            };
            EventSchedule::Every { amount, unit: *unit, starts, ends }
        }
    };
    // Subqueries have read in a transaction, which the definition does not go on with.
    session.commit()?;
    Ok(found)
}

/// The statement's time in seconds.
fn now(session: &SessionContext) -> i64 {
    session.env.now_micros.div_euclid(1_000_000)
}

/// Whether no run is to come.
fn is_past(session: &SessionContext, schedule: &EventSchedule) -> bool {
    match schedule {
        EventSchedule::At(at) => *at < now(session),
        EventSchedule::Every { ends, .. } => ends.is_some_and(|ends| ends < now(session)),
    }
}

fn zone_name(session: &SessionContext) -> String {
    session.var("time_zone").unwrap_or_else(|| String::from("SYSTEM"))
}

/// Puts the settings of the session into a definition.
fn take_settings(session: &SessionContext, def: &mut ProgramDef) {
    def.sql_mode = session.env.sql_mode;
    def.charset_client = session.var("character_set_client").unwrap_or_default();
    def.collation_connection = session.var("collation_connection").unwrap_or_default();
}

pub(super) fn create_event(
    session: &mut SessionContext,
    create: &CreateRoutine,
    words: &EventWords<'_>,
) -> Done {
    let schema = schema_of(session, &create.name)?.to_owned();
    let name = create.name.name.clone();
    if name.is_empty() || name.ends_with(' ') {
        return Err(SqlError::new(ErrorCode::SpWrongName, &[&name]));
    }
    let schedule = schedule_of(session, words.schedule)?;
    let held = hold_stored(session, &schema)?;
    let definer = definer(session, create.definer.as_ref())?;
    let preserve = words.preserve.unwrap_or(false);
    let mut status = words.status.unwrap_or(EventStatus::Enabled);
    if is_past(session, &schedule) {
        if !preserve {
            session.note(ErrorCode::EventCannotCreateInThePast, &[]);
            return Ok(StatementOutcome::default());
        }
        session.note(ErrorCode::EventExecTimeInThePast, &[]);
        status = EventStatus::Disabled;
    }
    let _lock = lock(session, &[program_lock(ProgramKind::Event, &schema, &name)])?;
    if session.db.catalog().program(ProgramKind::Event, &schema, &name).is_some() {
        if create.if_not_exists {
            session.note(ErrorCode::EventAlreadyExists, &[&name]);
            return Ok(StatementOutcome::default());
        }
        return Err(SqlError::new(ErrorCode::EventAlreadyExists, &[&name]));
    }
    checked(session, create, &held)?;
    let time_zone = zone_name(session);
    let created = clock_micros() as u64;
    let mut def = ProgramDef {
        schema,
        name,
        kind: ProgramKind::Event,
        params: String::new(),
        returns: String::new(),
        body: create.body.clone(),
        trigger: None,
        event: Some(EventHead { schedule, status, preserve, time_zone, last_executed: None }),
        definer,
        invoker: false,
        deterministic: false,
        data_access: String::new(),
        comment: words.comment.clone().unwrap_or_default(),
        sql_mode: session.env.sql_mode,
        charset_client: String::new(),
        collation_connection: String::new(),
        database_collation: held.collation,
        created,
        modified: created,
    };
    take_settings(session, &mut def);
    put(session, vec![Change::PutProgram(Box::new(def))])
}

/// Holds a database still; error 1044 of one that the server computes, which keeps no programs.
fn hold_stored(session: &SessionContext, schema: &str) -> Result<SchemaDef, SqlError> {
    match inia_query::computed::is_computed(schema, "") {
        true => Err(session.access().no_database(schema)),
        false => hold_schema(session, schema),
    }
}

fn put(session: &mut SessionContext, all: Vec<Change>) -> Done {
    in_transaction(session, |_, changes| {
        changes.extend(all);
        Ok(StatementOutcome::default())
    })
}

/// The schema and name that RENAME TO gives: errors 1551, 1044 and 1537.
fn new_name(
    session: &SessionContext,
    def: &ProgramDef,
    to: &ObjectName,
) -> Result<(String, String), SqlError> {
    let schema = schema_of(session, to)?.to_owned();
    let name = to.name.clone();
    if schema == def.schema && name.to_lowercase() == def.name.to_lowercase() {
        return Err(SqlError::new(ErrorCode::EventSameName, &[]));
    }
    let access = session.access();
    if !access.on_database(&schema).has(Privileges::EVENT) {
        return Err(access.no_database(&schema));
    }
    hold_stored(session, &schema)?;
    Ok((schema, name))
}

pub(super) fn alter_event(session: &mut SessionContext, alter: &AlterRoutine) -> Done {
    let schedule = match &alter.schedule {
        Some(schedule) => Some(schedule_of(session, schedule)?),
        None => None,
    };
    let found = existing(session, RoutineKind::Event, &alter.name)??;
    protect(session, &found.def)?;
    let own = program_lock(ProgramKind::Event, &found.def.schema, &found.def.name);
    let mut names = vec![own];
    let renamed = match &alter.rename {
        Some(to) => Some(new_name(session, &found.def, to)?),
        None => None,
    };
    names.extend(renamed.iter().map(|(s, n)| program_lock(ProgramKind::Event, s, n)));
    let definer = definer(session, alter.definer.as_ref())?;
    let _lock = lock(session, &names)?;
    let old = existing(session, RoutineKind::Event, &alter.name)??.def.clone();
    if let Some((schema, name)) = &renamed
        && session.db.catalog().program(ProgramKind::Event, schema, name).is_some()
    {
        return Err(SqlError::new(ErrorCode::EventAlreadyExists, &[name]));
    }
    let mut def = ProgramDef { definer, modified: clock_micros() as u64, ..old.clone() };
    take_settings(session, &mut def);
    if let Some(body) = &alter.body {
        def.body.clone_from(body);
        check_body(&def)?;
    }
    if let Some(comment) = &alter.characteristics.comment {
        def.comment.clone_from(comment);
    }
    change_head(session, &mut def, alter, schedule)?;
    let mut changes = Vec::new();
    if let Some((schema, name)) = renamed {
        let (kind, from, old_name) = (ProgramKind::Event, old.schema, old.name);
        changes.push(Change::DropProgram { kind, schema: from, name: old_name });
        (def.schema, def.name) = (schema, name);
    }
    changes.push(Change::PutProgram(Box::new(def)));
    put(session, changes)
}

/// Errors of the types that a new body declares.
fn check_body(def: &ProgramDef) -> Result<(), SqlError> {
    let text = format!("CREATE PROCEDURE p() {}", def.body);
    let parsed = inia_parser::parse(&text, def.sql_mode.parsing());
    match parsed.map_err(inia_query::error::parse_error)? {
        ast::Statement::CreateRoutine(create) => {
            check(*create, def.database_collation, def.sql_mode).map(drop)
        }
        _ => Ok(()),
    }
}

/// Changes when and whether the event runs: error 1589.
fn change_head(
    session: &mut SessionContext,
    def: &mut ProgramDef,
    alter: &AlterRoutine,
    schedule: Option<EventSchedule>,
) -> Result<(), SqlError> {
    let zone = zone_name(session);
    let Some(head) = &mut def.event else { return Ok(()) };
    head.preserve = alter.preserve.unwrap_or(head.preserve);
    head.status = alter.status.unwrap_or(head.status);
    let Some(schedule) = schedule else { return Ok(()) };
    if is_past(session, &schedule) {
        if !head.preserve {
            return Err(SqlError::new(ErrorCode::EventCannotAlterInThePast, &[]));
        }
        session.note(ErrorCode::EventExecTimeInThePast, &[]);
        head.status = EventStatus::Disabled;
    }
    head.schedule = schedule;
    head.time_zone = zone;
    head.last_executed = None;
    Ok(())
}
