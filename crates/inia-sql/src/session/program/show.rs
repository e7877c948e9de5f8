//! SHOW CREATE PROCEDURE, FUNCTION, TRIGGER and EVENT.

use crate::ddl::quoting::Quoting;
use inia_base::collation::Collation;
use inia_base::column::{ResultColumn, RowSink, flags};
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_expr::ExprType;
use inia_parser::ast::{EventStatus, ObjectName, RoutineKind};
use inia_query::account::Privileges;
use inia_query::catalog::event::{EventHead, EventSchedule};
use inia_query::catalog::program::event_word;
use inia_query::catalog::{ProgramDef, ProgramKind};
use inia_query::context::{SessionContext, StatementOutcome};
use inia_query::sysvar::sql_mode;

/// The statement that would make the program.
fn create_text(def: &ProgramDef, quoting: Quoting) -> String {
    let quote_name = |name: &str| quoting.name(name);
    let definer = format!("{}@{}", quote_name(&def.definer.user), quote_name(&def.definer.host));
    let name = quote_name(&def.name);
    let mut text = format!("CREATE DEFINER={definer} {} {name}", def.kind.word());
    if let Some(head) = &def.trigger {
        let time = if head.before { "BEFORE" } else { "AFTER" };
        let (event, table) = (event_word(head.event), quote_name(&head.table));
        return format!("{text} {time} {event} ON {table} FOR EACH ROW {}", def.body);
    }
    text.push_str(&format!("({})", def.params));
    if def.kind == ProgramKind::Function {
        text.push_str(&format!(" RETURNS {}", def.returns));
    }
    text.push('\n');
    if def.data_access != "CONTAINS SQL" {
        text.push_str(&format!("    {}\n", def.data_access));
    }
    if def.deterministic {
        text.push_str("    DETERMINISTIC\n");
    }
    if def.invoker {
        text.push_str("    SQL SECURITY INVOKER\n");
    }
    if !def.comment.is_empty() {
        text.push_str(&format!("    COMMENT '{}'\n", def.comment.replace('\'', "''")));
    }
    text + &def.body
}

/// The statement that would make an event, with names quoted as the session quotes them.
fn event_text(def: &ProgramDef, head: &EventHead, quoting: Quoting) -> String {
    let quote_name = |name: &str| quoting.name(name);
    let moment = |seconds: i64| format!("'{}'", head.local(seconds).text(0));
    let (user, host) = (quote_name(&def.definer.user), quote_name(&def.definer.host));
    let mut text = format!("CREATE DEFINER={user}@{host} EVENT {}", quote_name(&def.name));
    text.push_str(" ON SCHEDULE ");
    match &head.schedule {
        EventSchedule::At(at) => text.push_str(&format!("AT {}", moment(*at))),
        EventSchedule::Every { amount, unit, starts, ends } => {
            let amount = EventHead::interval_text(*amount, *unit);
            text.push_str(&format!("EVERY {amount} {} STARTS {}", unit.name(), moment(*starts)));
            if let Some(ends) = ends {
                text.push_str(&format!(" ENDS {}", moment(*ends)));
            }
        }
    }
    text.push_str(if head.preserve {
        " ON COMPLETION PRESERVE"
    } else {
        " ON COMPLETION NOT PRESERVE"
    });
    text.push_str(match head.status {
        EventStatus::Enabled => " ENABLE",
        EventStatus::Disabled => " DISABLE",
        EventStatus::DisabledOnReplica => " DISABLE ON SLAVE",
    });
    if !def.comment.is_empty() {
        text.push_str(&format!(" COMMENT '{}'", def.comment.replace('\'', "''")));
    }
    format!("{text} DO {}", def.body)
}

/// SHOW CREATE EVENT.
fn show_event(
    session: &SessionContext,
    def: &ProgramDef,
    head: &EventHead,
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    let mode = sql_mode::text(def.sql_mode);
    let statement = event_text(def, head, Quoting::of(session));
    let chars = |text: &str| text.chars().count() as u64;
    let cells = [
        ("Event", 64, def.name.as_str()),
        ("sql_mode", chars(&mode), &mode),
        ("time_zone", chars(&head.time_zone), &head.time_zone),
        ("Create Event", chars(&statement), &statement),
        ("character_set_client", 32, &def.charset_client),
        ("collation_connection", 32, &def.collation_connection),
        ("Database Collation", 32, def.database_collation.name()),
    ];
    let column = |(title, chars, _): &(&str, u64, &str)| {
        ExprType::text(*chars, Collation::DEFAULT, false).result_column(title)
    };
    sink.columns(&cells.iter().map(column).collect::<Vec<_>>())?;
    sink.begin_row();
    for (_, _, cell) in cells {
        sink.bytes(cell.as_bytes());
    }
    sink.end_row()?;
    Ok(StatementOutcome { rows: Some(1), ..StatementOutcome::default() })
}

/// Digits of seconds in the moment that SHOW CREATE TRIGGER shows.
const CREATED_DIGITS: u8 = 2;

/// When a trigger was made. MySQL describes it by no digits and as never NULL.
fn created_column(data_type: DataType) -> ResultColumn {
    let column = ExprType::computed(data_type, false).result_column("Created");
    let flags = column.flags & !flags::TIMESTAMP;
    ResultColumn { length: 0, decimals: 0, flags, ..column }
}

/// How the definition of a trigger or routine quotes names: a routine's as it was made.
fn quoting_of(session: &SessionContext, def: &ProgramDef) -> Quoting {
    match def.kind {
        ProgramKind::Trigger => Quoting::of(session),
        _ => Quoting::under(session, def.sql_mode),
    }
}

/// SHOW CREATE PROCEDURE, FUNCTION and TRIGGER.
pub(in super::super) fn show_create(
    session: &mut SessionContext,
    kind: RoutineKind,
    name: &ObjectName,
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    let schema = match &name.db {
        Some(schema) => schema.clone(),
        None => session.database()?.to_owned(),
    };
    let missing = || super::define::missing(kind, &name.name, &name.name);
    let wanted = super::define::kind_of(kind);
    let access = session.access();
    if wanted == ProgramKind::Event && !access.on_database(&schema).has(Privileges::EVENT) {
        return Err(access.no_database(&schema));
    }
    let found = session.show_program(wanted, &schema, &name.name)?.ok_or_else(missing)?;
    let def = &found.def;
    if let Some(head) = &def.event {
        return show_event(session, def, head, sink);
    }
    let (seen, body) = session.access().sees_routine(def);
    if !seen {
        return Err(missing());
    }
    let text = |chars| ExprType::text(chars, Collation::DEFAULT, false);
    let title = match wanted {
        ProgramKind::Procedure => "Procedure",
        ProgramKind::Function => "Function",
        ProgramKind::Trigger => "Trigger",
        ProgramKind::Event => "Event",
    };
    let statement = match wanted {
        ProgramKind::Trigger => "SQL Original Statement".to_owned(),
        _ => format!("Create {title}"),
    };
    let mode = sql_mode::text(def.sql_mode);
    let name_chars = if wanted == ProgramKind::Trigger { 192 } else { 64 };
    let mut columns = vec![
        text(name_chars).result_column(title),
        text(mode.len() as u64).result_column("sql_mode"),
        text(1024).with_nullable(true).result_column(&statement),
        text(32).result_column("character_set_client"),
        text(32).result_column("collation_connection"),
        text(32).result_column("Database Collation"),
    ];
    let row = [
        Some(def.name.clone()),
        Some(mode),
        body.then(|| create_text(def, quoting_of(session, def))),
        Some(def.charset_client.clone()),
        Some(def.collation_connection.clone()),
        Some(def.database_collation.name().to_owned()),
    ];
    let created = DataType::Timestamp { fsp: CREATED_DIGITS };
    if wanted == ProgramKind::Trigger {
        columns.push(created_column(created));
    }
    sink.columns(&columns)?;
    sink.begin_row();
    row.iter().for_each(|cell| match cell {
        Some(text) => sink.bytes(text.as_bytes()),
        None => sink.null(),
    });
    if wanted == ProgramKind::Trigger {
        sink.datetime(session.env.local(def.created as i64), CREATED_DIGITS);
    }
    sink.end_row()?;
    Ok(StatementOutcome { rows: Some(1), ..StatementOutcome::default() })
}
