//! What is noted of each statement: log entries and sums, see `inia_query::observe`.
//!
//! [`begin`] and [`end`] stand around each statement that a client sends. Nothing but one flag is
//! looked at where nothing is noted.

mod transactions;

use self::transactions::Effect;
use super::{Session, optimizer_trace, profile};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::ast::{AlterAction, Statement};
use inia_parser::{hide_secrets, param_places, quote_string, statement_digest};
use inia_query::clock::clock_micros;
use inia_query::context::SessionContext;
use inia_query::observe::{
    Command, Done, Ended, Extra, GENERAL, PROFILE, SLOW, SUMS, Sums, TRACE, Who,
};
use inia_query::status::command_name;
use inia_query::status::{Executed, HandlerReads};
use inia_storage::ThreadCounts;
use std::time::Instant;

/// Bytes of a normal form (`max_digest_length`).
const MAX_FORM: usize = 1024;

/// A statement that is noted.
///
/// Wide: one field for each thing that its end compares with its begin.
pub(super) struct Noted {
    pub(super) started: Instant,
    timestamp: i64,
    pub(super) text: String,
    /// The number of a prepared statement.
    handle: Option<u32>,
    kind: &'static str,
    is_admin: bool,
    is_show: bool,
    reads: ThreadCounts,
    /// What it says of transactions, and the locks of tables until its begin.
    effect: Effect,
    table_locks: u64,
    traffic: (u64, u64),
    /// The optimizer is traced.
    traced: bool,
    /// The statement's stages and its main one, where it is profiled.
    pub(super) stages: Option<(&'static [&'static str], &'static str)>,
}

/// How a statement came.
#[derive(Clone, Copy)]
pub(super) enum Arrival<'s> {
    /// As text.
    Text(&'s str),
    /// By the handle of a prepared statement, with its parameters.
    Handle(u32, &'s str, &'s [Value]),
}

/// A statement begins.
#[inline]
pub(super) fn begin(
    session: &mut SessionContext,
    statement: &Statement,
    arrival: Arrival<'_>,
) -> Option<Box<Noted>> {
    match session.db.observer.wants() & (GENERAL | SLOW | SUMS | TRACE | PROFILE) {
        0 => None,
        _ => Some(note_begin(session, statement, arrival)),
    }
}

/// The statement has ended.
#[inline]
pub(super) fn end(
    session: &mut SessionContext,
    noted: Option<Box<Noted>>,
    result: &Result<(), SqlError>,
) {
    if let Some(noted) = noted {
        profile::keep(session, &noted);
        note_end(session, &noted, result.as_ref().err());
        if noted.traced && optimizer_trace::is_on(session) {
            optimizer_trace::keep(session, &noted.text, result.is_err());
        }
    }
}

#[cold]
fn note_begin(session: &SessionContext, statement: &Statement, arrival: Arrival<'_>) -> Box<Noted> {
    let (text, name, handle) = match arrival {
        Arrival::Text(text) => (text.to_owned(), "Query", None),
        Arrival::Handle(id, text, params) => {
            (with_values(session, text, params), "Execute", Some(id))
        }
    };
    let text = hide_secrets(&text, session.parser_mode()).unwrap_or(text);
    note_command(session, name, &text);
    let now = session.host.fixed_now().unwrap_or_else(clock_micros);
    Box::new(Noted {
        started: Instant::now(),
        timestamp: now.div_euclid(1_000_000),
        text,
        handle,
        kind: command_name(statement),
        is_admin: is_admin(statement),
        is_show: matches!(statement, Statement::Show(_) | Statement::Describe(_)),
        reads: session.host.counters.reads(),
        effect: Effect::of(session, statement),
        table_locks: session.host.counters.executed(Executed::ExternalLock),
        traffic: traffic(session),
        stages: profile::is_on(session, statement).then(|| profile::stages(statement)),
        traced: session.db.observer.wants() & TRACE != 0 && optimizer_trace::is_on(session),
    })
}

/// A line of the general log, unless `sql_log_off` keeps the session out of it.
#[cold]
pub(super) fn note_command(session: &SessionContext, name: &str, argument: &str) {
    if session.db.observer.wants() & GENERAL == 0 || session.flag("sql_log_off") {
        return;
    }
    let command = Command { name, argument, at: clock_micros() };
    with_client(session, |who| session.db.observer.note_command(who, &command));
}

fn with_client<R>(session: &SessionContext, note: impl FnOnce(&Who<'_>) -> R) -> R {
    let client = &session.client;
    let is_address = client.host.parse::<std::net::IpAddr>().is_ok();
    let (host, address) = match is_address {
        true => ("", client.host.as_str()),
        false => (client.host.as_str(), ""),
    };
    note(&Who {
        account: &client.account_user,
        user: &client.user,
        host,
        address,
        id: u64::from(client.connection_id),
    })
}

fn traffic(session: &SessionContext) -> (u64, u64) {
    let id = u64::from(session.client.connection_id);
    session.db.processes().map_or((0, 0), |processes| processes.traffic(id))
}

fn is_admin(statement: &Statement) -> bool {
    match statement {
        Statement::CreateIndex(_) | Statement::DropIndex(_) | Statement::TableMaintenance(_) => {
            true
        }
        Statement::AlterTable(alter) => {
            !alter.actions.iter().all(|action| matches!(action, AlterAction::Partition(_)))
        }
        _ => false,
    }
}

#[cold]
fn note_end(session: &SessionContext, noted: &Noted, error: Option<&SqlError>) {
    let micros = u64::try_from(noted.started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let reads = session.host.counters.reads().since(&noted.reads);
    let wants = session.db.observer.wants();
    let (sent, affected) = match (error, session.env.row_count) {
        (Some(_), _) => (0, 0),
        (None, -1) => (session.env.found_rows, 0),
        (None, count) => (0, u64::try_from(count).unwrap_or(0)),
    };
    let full_scan = reads.first > 0 && reads.scanned > 0;
    if wants & SLOW != 0 && is_slow(session, noted, micros, reads.records(), full_scan) {
        session.host.counters.count_slow();
        if !noted.is_admin || session.flag("log_slow_admin_statements") {
            let (before, after) = (noted.traffic, traffic(session));
            let ended = Ended {
                text: &noted.text,
                database: session.env.database.as_deref().unwrap_or_default(),
                at: clock_micros(),
                timestamp: noted.timestamp,
                micros,
                lock_micros: reads.lock_micros,
                rows_sent: sent,
                rows_examined: reads.records(),
                errno: error.map_or(0, |error| error.code.number()),
                killed: error.is_some_and(|error| error.code == ErrorCode::QueryInterrupted),
                last_insert_id: session.env.last_insert_id,
                extra: Extra {
                    bytes: (after.1 - before.1, after.0 - before.0),
                    reads: handler_reads(&reads),
                    sort_rows: 0,
                },
            };
            with_client(session, |who| session.db.observer.note_slow(who, &ended));
        }
    }
    if wants & SUMS != 0 {
        let sums = Sums {
            count: 1,
            wait: micros,
            min: micros,
            max: micros,
            lock: reads.lock_micros,
            errors: u64::from(error.is_some()),
            warnings: session.diagnostics.count.saturating_sub(u64::from(error.is_some())),
            affected,
            sent,
            examined: reads.records(),
            scans: u64::from(full_scan),
            no_index: u64::from(full_scan),
            ..Sums::default()
        };
        if let Some(id) = noted.handle {
            session.host.counters.history.executed(id, &sums);
        }
        note_sums(session, noted, sums, error);
        transactions::note(session, noted, micros, error);
    }
}

fn note_sums(session: &SessionContext, noted: &Noted, sums: Sums, error: Option<&SqlError>) {
    let done = Done {
        kind: noted.kind,
        database: session.env.database.clone(),
        form: Some(statement_digest(&noted.text, session.parser_mode(), MAX_FORM)),
        text: noted.text.clone(),
        at: clock_micros(),
        sums,
        error: error.map(|error| {
            (error.code.number(), error.code.sqlstate().to_owned(), error.to_string())
        }),
    };
    session.db.observer.statements.note(&session.host.counters.history, done);
}

/// first, last, key, next, prev, rnd, rnd_next.
fn handler_reads(reads: &ThreadCounts) -> [u64; 7] {
    let reads = HandlerReads::of(reads);
    [reads.first, reads.last, reads.key, reads.next, reads.prev, 0, reads.rnd_next]
}

/// Whether the slow query log is about the statement.
fn is_slow(
    session: &SessionContext,
    noted: &Noted,
    micros: u64,
    examined: u64,
    full_scan: bool,
) -> bool {
    let seconds = session.var("long_query_time").and_then(|text| text.parse::<f64>().ok());
    let limit = seconds.map_or(u64::MAX, |seconds| (seconds * 1e6) as u64);
    let unindexed = full_scan
        && !noted.is_show
        && session.db.global_number("log_queries_not_using_indexes") == 1;
    let least = session.var("min_examined_row_limit").and_then(|text| text.parse::<u64>().ok());
    (micros >= limit || unindexed) && examined >= least.unwrap_or(0)
}

/// A prepared statement with values for its parameters.
fn with_values(session: &SessionContext, text: &str, params: &[Value]) -> String {
    let places = param_places(text, session.parser_mode());
    let (mut whole, mut from) = (String::with_capacity(text.len()), 0);
    for (place, value) in places.into_iter().zip(params) {
        whole.push_str(text.get(from..place).unwrap_or_default());
        whole.push_str(&literal(value));
        from = place + 1;
    }
    whole.push_str(text.get(from..).unwrap_or_default());
    whole
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => String::from("NULL"),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Double(number) => number.to_string(),
        Value::Decimal(number) => number.to_string(),
        Value::Text(text) | Value::Json(text) => quote_string(text),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => quote_string(text),
            Err(_) => bytes.iter().fold(String::from("0x"), |all, byte| format!("{all}{byte:02X}")),
        },
        Value::Date(date) => {
            let mut text = Vec::new();
            date.write_text(&mut text);
            quote_string(&String::from_utf8_lossy(&text))
        }
        Value::Time(time) => quote_string(&time.text(fraction(time.micros.unsigned_abs()))),
        Value::DateTime(moment) => quote_string(&moment.text(fraction(u64::from(moment.micros)))),
    }
}

/// Digits of a fraction of a second that is shown.
fn fraction(micros: u64) -> u8 {
    if micros.is_multiple_of(1_000_000) { 0 } else { 6 }
}

/// A statement has been prepared.
#[inline]
pub(super) fn note_prepared(session: &SessionContext, id: u32, text: &str) {
    if session.db.observer.wants() & (GENERAL | SUMS) != 0 {
        let hidden = hide_secrets(text, session.parser_mode());
        let text = hidden.as_deref().unwrap_or(text);
        note_command(session, "Prepare", text);
        if session.db.observer.wants() & SUMS != 0 {
            session.host.counters.history.prepared(id, text.to_owned(), 0);
        }
    }
}

/// PREPARE has given a statement its name.
pub(super) fn note_name(session: &SessionContext, id: u32, name: &str) {
    if session.db.observer.wants() & SUMS != 0 {
        session.host.counters.history.name_prepared(id, name);
    }
}

/// A prepared statement is gone, or all are.
#[inline]
pub(super) fn note_unprepared(session: &SessionContext, id: Option<u32>) {
    if session.db.observer.wants() & SUMS != 0 {
        session.host.counters.history.unprepared(id);
    }
}

impl Session {
    /// Notes a command of the connection that is no statement: Connect, Quit, Init DB and so on.
    #[inline]
    pub fn note_command(&self, name: &str, argument: &str) {
        if self.context.db.observer.wants() & GENERAL != 0 {
            note_command(&self.context, name, argument);
        }
    }
}
