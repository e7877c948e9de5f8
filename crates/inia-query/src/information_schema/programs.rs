//! ROUTINES, PARAMETERS, TRIGGERS and EVENTS.

use super::columns::type_cells;
use super::{Information, Rows, or_null, row, yes_no};
use crate::account::Privileges;
use crate::catalog::event::{EventHead, EventSchedule, status_word};
use crate::catalog::program::ProgramParam;
use crate::catalog::{ProgramDef, ProgramKind, StoredProgram};
use inia_base::temporal::DateTime;
use inia_base::value::Value;
use inia_parser::ast::{ParamMode, TriggerEvent};
use std::sync::Arc;

/// The routines that the session may see, and whether it may see their bodies.
fn routines_of<'i>(
    info: &'i Information<'_>,
) -> impl Iterator<Item = (&'i Arc<StoredProgram>, bool)> {
    let all = info.catalog.schemas.values().flat_map(|schema| schema.programs.values());
    let is_routine =
        |kind: ProgramKind| matches!(kind, ProgramKind::Function | ProgramKind::Procedure);
    let routines = all.filter(move |program| is_routine(program.def.kind));
    routines.filter_map(|program| {
        let (seen, body) = info.access.sees_routine(&program.def);
        seen.then_some((program, body))
    })
}

/// The position of a word in an ENUM's list.
fn member(words: &[&str], word: &str) -> Value {
    let at = words.iter().position(|known| *known == word);
    Value::UInt(at.map_or(0, |at| at as u64 + 1))
}

fn kind_of(def: &ProgramDef) -> Value {
    member(&["FUNCTION", "PROCEDURE"], def.kind.word())
}

/// RETURNS as a parameter without a name.
fn returned(program: &StoredProgram) -> Option<ProgramParam> {
    let (ty, type_text) = program.parsed().ok()?.returns.clone()?;
    Some(ProgramParam { mode: ParamMode::In, name: String::new(), type_text, ty })
}

pub(super) fn routines(info: &Information<'_>, rows: &mut Rows) {
    const ACCESS: [&str; 4] = ["CONTAINS SQL", "NO SQL", "READS SQL DATA", "MODIFIES SQL DATA"];
    for (program, body) in routines_of(info) {
        let def = &program.def;
        let (schema, name) = (def.schema.as_str(), def.name.as_str());
        let mut row = row![name, "def", schema, name];
        row.push(kind_of(def));
        match returned(program) {
            Some(returned) => {
                row.extend(type_cells(&returned.ty));
                row.push(returned.type_text.into());
            }
            None => {
                row.push("".into());
                row.extend(std::iter::repeat_n(Value::Null, 8));
            }
        }
        row.push("SQL".into());
        row.push(or_null(body.then_some(def.body.as_str())));
        row.extend([Value::Null, "SQL".into(), "SQL".into()]);
        row.push(yes_no(def.deterministic).into());
        row.extend([member(&ACCESS, &def.data_access), Value::Null]);
        row.push(member(&["DEFAULT", "INVOKER", "DEFINER"], security(def)));
        row.push(info.moment(def.created / 1_000_000));
        row.push(info.moment(def.modified / 1_000_000));
        row.push(Value::UInt(def.sql_mode.0));
        row.push(def.comment.as_str().into());
        row.extend(creation(def));
        rows.push(row);
    }
}

fn security(def: &ProgramDef) -> &'static str {
    if def.invoker { "INVOKER" } else { "DEFINER" }
}

/// DEFINER and the three settings after it.
fn creation(def: &ProgramDef) -> Vec<Value> {
    row![
        format!("{}@{}", def.definer.user, def.definer.host),
        def.charset_client.as_str(),
        def.collation_connection.as_str(),
        def.database_collation.name(),
    ]
}

pub(super) fn parameters(info: &Information<'_>, rows: &mut Rows) {
    for (program, _) in routines_of(info) {
        let def = &program.def;
        let Ok(parsed) = program.parsed() else { continue };
        let mut put = |at: u64, mode: Option<&str>, param: &ProgramParam| {
            let named = mode.map(|_| param.name.as_str());
            let mut row = row!["def", def.schema.as_str(), def.name.as_str(), at];
            row.extend([or_null(mode), or_null(named)]);
            row.extend(type_cells(&param.ty));
            row.push(param.type_text.as_str().into());
            row.push(kind_of(def));
            rows.push(row);
        };
        if let Some(returned) = returned(program) {
            put(0, None, &returned);
        }
        for (at, param) in parsed.params.iter().enumerate() {
            let mode = match param.mode {
                ParamMode::In => "IN",
                ParamMode::Out => "OUT",
                ParamMode::InOut => "INOUT",
            };
            put(at as u64 + 1, Some(mode), param);
        }
    }
}

pub(super) fn triggers(info: &Information<'_>, rows: &mut Rows) {
    // Dumps make triggers again in this order, which is that of firing.
    let tables = info.catalog.schemas.values().flat_map(|schema| schema.tables.values());
    for program in tables.flat_map(|table| table.triggers.all()) {
        let def = &program.def;
        let Some(head) = &def.trigger else { continue };
        if !info.access.on_table(&def.schema, &head.table).has(Privileges::TRIGGER) {
            continue;
        }
        let event = match head.event {
            TriggerEvent::Insert => 1,
            TriggerEvent::Update => 2,
            TriggerEvent::Delete => 3,
        };
        let mut row = row!["def", def.schema.as_str(), def.name.as_str()];
        row.push(Value::UInt(event));
        row.extend(row!["def", def.schema.as_str(), head.table.as_str(), head.order]);
        row.extend([Value::Null, def.body.as_str().into(), "ROW".into()]);
        row.push(Value::UInt(if head.before { 1 } else { 2 }));
        row.extend([Value::Null, Value::Null, "OLD".into(), "NEW".into()]);
        row.push(moment(info, def.created));
        row.push(Value::UInt(def.sql_mode.0));
        row.extend(creation(def));
        rows.push(row);
    }
}

pub(super) fn events(info: &Information<'_>, rows: &mut Rows) {
    let all = info.catalog.schemas.values().flat_map(|schema| schema.programs.values());
    for program in all {
        let def = &program.def;
        let Some(head) = &def.event else { continue };
        if !info.access.on_database(&def.schema).has(Privileges::EVENT) {
            continue;
        }
        let local = |seconds: i64| Value::DateTime(head.local(seconds));
        let definer = format!("{}@{}", def.definer.user, def.definer.host);
        let mut row = row!["def", def.schema.as_str(), def.name.as_str(), definer];
        row.extend(row![head.time_zone.as_str(), "SQL", def.body.as_str()]);
        let times = match &head.schedule {
            EventSchedule::At(at) => {
                row.extend(["ONE TIME".into(), local(*at), Value::Null, Value::Null]);
                [Value::Null, Value::Null]
            }
            EventSchedule::Every { amount, unit, starts, ends } => {
                let amount = EventHead::interval_text(*amount, *unit);
                row.extend(["RECURRING".into(), Value::Null, amount.into(), unit.name().into()]);
                [local(*starts), ends.map_or(Value::Null, local)]
            }
        };
        row.push(Value::UInt(def.sql_mode.0));
        row.extend(times);
        row.push(status_word(head.status).into());
        row.push(if head.preserve { "PRESERVE" } else { "NOT PRESERVE" }.into());
        row.push(info.moment(def.created / 1_000_000));
        row.push(info.moment(def.modified / 1_000_000));
        row.push(head.last_executed.map_or(Value::Null, local));
        row.push(def.comment.as_str().into());
        row.push(Value::UInt(info.db.global_number("server_id")));
        row.extend(row![
            def.charset_client.as_str(),
            def.collation_connection.as_str(),
            def.database_collation.name(),
        ]);
        rows.push(row);
    }
}

/// Microseconds since 1970 in the session's time zone, with two digits of the fraction.
pub(crate) fn moment(info: &Information<'_>, micros: u64) -> Value {
    let (seconds, fraction) = (micros / 1_000_000, (micros % 1_000_000) as u32);
    let hundredths = fraction / 10_000 * 10_000;
    let utc = DateTime::from_unix(seconds as i64, hundredths).unwrap_or(DateTime::ZERO);
    Value::DateTime(info.zone.from_utc(utc).unwrap_or(utc))
}
