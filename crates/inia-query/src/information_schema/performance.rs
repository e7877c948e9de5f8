//! `performance_schema`: sessions, accounts, settings and what the server does at the moment.
//!
//! All of MySQL 8.0.31's tables are there. Those that are about what Inia does not have
//! (replication, stages, waits for single mutexes) are empty. A thread's number is that of its
//! connection.

pub(super) mod errors;
pub(super) mod files;
mod lock_data;
pub(super) mod lock_history;
pub(super) mod locks;
pub(super) mod statements;
pub(super) mod table_io;
pub(super) mod transactions;

use super::logs::moment;
use super::server::visible_processes;
use super::{Information, Rows, or_null, row};
use crate::account::Privileges;
use crate::catalog::DEFAULT_GROUPS;
use crate::observe::{Account, Levels, SUMS, Sum};
use crate::status::SessionCounters;
use inia_base::process::ProcessEntry;
use inia_base::value::Value;
use inia_expr::VarScope;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The sessions that the asking one may see.
pub(super) fn visible_sessions(info: &Information<'_>) -> Vec<Arc<SessionCounters>> {
    let all = info.access.global.has(Privileges::PROCESS);
    let mut live = info.db.counters.live();
    live.retain(|session| all || session.connection.user == info.access.account.user);
    live.sort_by_key(|session| session.connection.id);
    live
}

/// Reads sums over sessions by one of their levels: those of all sessions that there have been, or
/// of those that the asking one may see.
fn by_level<T: Sum, R>(
    info: &Information<'_>,
    all: &Levels<T>,
    own: impl Fn(&SessionCounters) -> T,
    read: impl FnOnce(&Levels<T>, &mut dyn Iterator<Item = (Account, T)>) -> R,
) -> R {
    let sessions = visible_sessions(info);
    let mut live = sessions.iter().map(|session| (session.account(), own(session)));
    match info.access.global.has(Privileges::PROCESS) {
        true => read(all, &mut live),
        false => read(&Levels::default(), &mut live),
    }
}

/// A name and its address without the port.
fn host_of(entry: &ProcessEntry) -> String {
    match entry.host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host.to_owned(),
        _ => entry.host.clone(),
    }
}

pub(super) fn processlist(info: &Information<'_>, rows: &mut Rows) {
    for entry in visible_processes(info) {
        rows.push(row![
            entry.id,
            entry.user,
            entry.host,
            or_null(entry.db),
            entry.command,
            entry.time as i64,
            entry.state,
            or_null(entry.info),
            "PRIMARY",
        ]);
    }
}

/// A session's number and its resource group.
fn group_of(session: &Arc<SessionCounters>) -> (u64, String) {
    let group = session.resource_group.lock().clone();
    (session.connection.id, group.unwrap_or_else(|| DEFAULT_GROUPS[0].0.to_owned()))
}

pub(super) fn threads(info: &Information<'_>, rows: &mut Rows) {
    if info.access.global.has(Privileges::PROCESS) {
        let mut main = row![0u64, "thread/sql/main", "BACKGROUND"];
        main.resize(23, Value::Null);
        (main[13], main[14]) = (Value::from("YES"), Value::from("YES"));
        (main[18], main[10]) = (Value::from("PRIMARY"), Value::Null);
        main[19..].fill(Value::UInt(0));
        rows.push(main);
    }
    let groups: HashMap<u64, String> = info.db.counters.live().iter().map(group_of).collect();
    for entry in visible_processes(info) {
        let group = groups.get(&entry.id).map_or(DEFAULT_GROUPS[0].0, String::as_str).to_owned();
        let way = if entry.host == "localhost" { "Socket" } else { "TCP/IP" };
        let (id, host) = (entry.id, host_of(&entry));
        rows.push(row![
            id,
            "thread/sql/one_connection",
            "FOREGROUND",
            id,
            entry.user,
            host,
            or_null(entry.db),
            entry.command,
            entry.time as i64,
            Some(entry.state).filter(|state| !state.is_empty()).map_or(Value::Null, Value::from),
            or_null(entry.info),
            0u64,
            Value::Null,
            "YES",
            "YES",
            way,
            Value::Null,
            group,
            "PRIMARY",
            0u64,
            0u64,
            0u64,
            0u64,
        ]);
    }
}

/// Present and all connections by a name made of the account.
fn connections<K: Ord>(
    info: &Information<'_>,
    key: impl Fn(&str, &str) -> K,
) -> BTreeMap<K, (u64, u64)> {
    let mut found = BTreeMap::new();
    for ((user, host), (current, total)) in info.db.counters.accounts() {
        let sums: &mut (u64, u64) = found.entry(key(&user, &host)).or_default();
        sums.0 += current;
        sums.1 += total;
    }
    found
}

pub(super) fn accounts(info: &Information<'_>, rows: &mut Rows) {
    let found = connections(info, |user, host| (user.to_owned(), host.to_owned()));
    for ((user, host), (current, total)) in found {
        rows.push(row![user, host, current as i64, total as i64, 0u64, 0u64]);
    }
}

pub(super) fn users(info: &Information<'_>, rows: &mut Rows) {
    for (user, (current, total)) in connections(info, |user, _| user.to_owned()) {
        rows.push(row![user, current as i64, total as i64, 0u64, 0u64]);
    }
}

pub(super) fn hosts(info: &Information<'_>, rows: &mut Rows) {
    for (host, (current, total)) in connections(info, |_, host| host.to_owned()) {
        rows.push(row![host, current as i64, total as i64, 0u64, 0u64]);
    }
}

/// What is noted: all that is about statements follows `inia_statement_sums`.
pub(super) fn setup_consumers(info: &Information<'_>, rows: &mut Rows) {
    const NAMES: [&str; 16] = [
        "events_stages_current",
        "events_stages_history",
        "events_stages_history_long",
        "events_statements_cpu",
        "events_statements_current",
        "events_statements_history",
        "events_statements_history_long",
        "events_transactions_current",
        "events_transactions_history",
        "events_transactions_history_long",
        "events_waits_current",
        "events_waits_history",
        "events_waits_history_long",
        "global_instrumentation",
        "thread_instrumentation",
        "statements_digest",
    ];
    let sums = info.db.observer.wants() & SUMS != 0;
    for name in NAMES {
        let noted = match name {
            "global_instrumentation" | "thread_instrumentation" => true,
            "events_statements_current" | "events_statements_history" | "statements_digest" => sums,
            "events_transactions_current" | "events_transactions_history" => sums,
            _ => false,
        };
        rows.push(row![name, super::yes_no(noted)]);
    }
}

pub(super) fn setup_instruments(info: &Information<'_>, rows: &mut Rows) {
    let on = super::yes_no(info.db.observer.wants() & SUMS != 0);
    for kind in crate::status::kinds() {
        let name = format!("statement/sql/{kind}");
        rows.push(row![name, on, on, "", Value::Null, 0i64, Value::Null]);
    }
    rows.push(row!["transaction", on, on, "", Value::Null, 0i64, Value::Null]);
    rows.push(row!["error", "YES", Value::Null, "", Value::Null, 0i64, Value::Null]);
}

pub(super) fn setup_actors(_: &Information<'_>, rows: &mut Rows) {
    rows.push(row!["%", "%", "%", "YES", "YES"]);
}

pub(super) fn setup_objects(_: &Information<'_>, rows: &mut Rows) {
    for kind in ["EVENT", "FUNCTION", "PROCEDURE", "TABLE", "TRIGGER"] {
        for schema in ["mysql", "performance_schema", "information_schema"] {
            rows.push(row![kind, schema, "%", "NO", "NO"]);
        }
        rows.push(row![kind, "%", "%", "YES", "YES"]);
    }
}

pub(super) fn setup_threads(_: &Information<'_>, rows: &mut Rows) {
    for name in ["thread/sql/main", "thread/sql/one_connection"] {
        let property = if name.ends_with("main") { "singleton" } else { "user" };
        rows.push(row![name, "YES", "YES", property, 0i64, Value::Null]);
    }
}

pub(super) fn performance_timers(_: &Information<'_>, rows: &mut Rows) {
    rows.push(row!["NANOSECOND", 1_000_000_000i64, 1i64, 0i64]);
    rows.push(row!["MICROSECOND", 1_000_000i64, 1i64, 0i64]);
}

pub(super) fn log_status(info: &Information<'_>, rows: &mut Rows) {
    let lsn = info.db.engine.stats().durable_lsn.0;
    let variables = (info.variables)(VarScope::Global);
    let uuid = variables.into_iter().find(|(name, _)| name == "server_uuid");
    let document = |text: String| Value::Json(text);
    rows.push(row![
        uuid.map(|(_, value)| value).unwrap_or_default(),
        document(String::from("{\"gtid_executed\": \"\"}")),
        document(String::from("{\"channels\": []}")),
        document(format!("{{\"InnoDB\": {{\"LSN\": {lsn}, \"LSN_checkpoint\": {lsn}}}}}")),
    ]);
}

pub(super) fn variables_info(info: &Information<'_>, rows: &mut Rows) {
    let persisted = info.db.catalog.persisted();
    let set = info.db.globals.all();
    for (name, _) in (info.variables)(VarScope::Session) {
        let source = match (persisted.iter().any(|(own, _)| *own == name), set.contains_key(&*name))
        {
            (true, _) => "PERSISTED",
            (false, true) => "DYNAMIC",
            (false, false) => "COMPILED",
        };
        let (least, most) = crate::sysvar::range(&name);
        let none = Value::Null;
        rows.push(row![name, source, "", least, most, none.clone(), none.clone(), none]);
    }
}

/// The counters of status_by_thread that are sums of an account, too.
const SUMMED: [&str; 43] = [
    "Bytes_received",
    "Bytes_sent",
    "Com_stmt_reprepare",
    "Created_tmp_disk_tables",
    "Created_tmp_tables",
    "Handler_commit",
    "Handler_delete",
    "Handler_discover",
    "Handler_external_lock",
    "Handler_mrr_init",
    "Handler_prepare",
    "Handler_read_first",
    "Handler_read_key",
    "Handler_read_last",
    "Handler_read_next",
    "Handler_read_prev",
    "Handler_read_rnd",
    "Handler_read_rnd_next",
    "Handler_rollback",
    "Handler_savepoint",
    "Handler_savepoint_rollback",
    "Handler_update",
    "Handler_write",
    "Max_execution_time_exceeded",
    "Max_execution_time_set",
    "Max_execution_time_set_failed",
    "Opened_table_definitions",
    "Opened_tables",
    "Questions",
    "Secondary_engine_execution_count",
    "Select_full_join",
    "Select_full_range_join",
    "Select_range",
    "Select_range_check",
    "Select_scan",
    "Slow_queries",
    "Sort_merge_passes",
    "Sort_range",
    "Sort_rows",
    "Sort_scan",
    "Table_open_cache_hits",
    "Table_open_cache_misses",
    "Table_open_cache_overflows",
];

/// Those of a thread alone.
const OF_THREAD: [&str; 17] = [
    "Compression",
    "Compression_algorithm",
    "Compression_level",
    "Last_query_cost",
    "Last_query_partial_plans",
    "Open_tables",
    "Queries",
    "Slow_launch_threads",
    "Ssl_cipher",
    "Ssl_cipher_list",
    "Ssl_default_timeout",
    "Ssl_server_not_after",
    "Ssl_server_not_before",
    "Ssl_sessions_reused",
    "Ssl_verify_depth",
    "Ssl_verify_mode",
    "Ssl_version",
];

pub(super) fn status_by_thread(info: &Information<'_>, rows: &mut Rows) {
    for session in visible_sessions(info) {
        let id = session.connection.id;
        for (name, value) in super::status::values(info.db, &session, VarScope::Session) {
            if SUMMED.contains(&name.as_str()) || OF_THREAD.contains(&name.as_str()) {
                rows.push(row![id, name, value]);
            }
        }
    }
}

/// Sums of the counters of live sessions, by what `key` makes of user and host.
fn status_by<K: Ord>(
    info: &Information<'_>,
    key: impl Fn(&str, &str) -> K,
) -> BTreeMap<K, BTreeMap<&'static str, u64>> {
    let mut sums: BTreeMap<K, BTreeMap<&str, u64>> = BTreeMap::new();
    for (user, host) in info.db.counters.accounts().into_keys() {
        let zeros = || SUMMED.into_iter().map(|name| (name, 0)).collect();
        sums.entry(key(&user, &host)).or_insert_with(zeros);
    }
    for session in visible_sessions(info) {
        let own = sums.get_mut(&key(&session.connection.user, &session.connection.host));
        let Some(own) = own else { continue };
        for (name, value) in super::status::values(info.db, &session, VarScope::Session) {
            if let Some(sum) = own.get_mut(name.as_str()) {
                *sum += value.parse::<u64>().unwrap_or_default();
            }
        }
    }
    sums
}

pub(super) fn status_by_account(info: &Information<'_>, rows: &mut Rows) {
    for ((user, host), sums) in status_by(info, |user, host| (user.to_owned(), host.to_owned())) {
        for (name, sum) in sums {
            rows.push(row![user.as_str(), host.as_str(), name, sum.to_string()]);
        }
    }
}

pub(super) fn status_by_host(info: &Information<'_>, rows: &mut Rows) {
    for (host, sums) in status_by(info, |_, host| host.to_owned()) {
        rows.extend(sums.into_iter().map(|(name, sum)| row![host.as_str(), name, sum.to_string()]));
    }
}

pub(super) fn status_by_user(info: &Information<'_>, rows: &mut Rows) {
    for (user, sums) in status_by(info, |user, _| user.to_owned()) {
        rows.extend(sums.into_iter().map(|(name, sum)| row![user.as_str(), name, sum.to_string()]));
    }
}

/// The variables of the asking session.
pub(super) fn variables_by_thread(info: &Information<'_>, rows: &mut Rows) {
    let id = info.counters.connection.id;
    for (name, value) in (info.variables)(VarScope::Session) {
        rows.push(row![id, name, value]);
    }
}

/// Bytes of a page.
const PAGE: u64 = 16 << 10;

/// What is counted of the server's memory.
pub(super) fn memory_global(info: &Information<'_>, rows: &mut Rows) {
    let pool = info.db.engine.pool_stats();
    let statements = info.db.memory().taken();
    let volatile = info.db.catalog.volatile_store();
    let of_tables = volatile.map_or(0, |store| store.pool_stats().data);
    let parts = [
        ("memory/innodb/buf_buf_pool", pool.data * PAGE),
        ("memory/memory/HP_PTRS", of_tables * PAGE),
        ("memory/sql/column_cache", info.db.columns.counts().bytes),
        ("memory/innodb/undo", info.db.engine.stats().undo_bytes),
        ("memory/sql/statements", statements),
    ];
    for (name, bytes) in parts {
        let now = bytes as i64;
        rows.push(row![name, 1u64, 0u64, bytes, 0u64, 0i64, 1i64, 1i64, 0i64, now, now]);
    }
}

pub(super) fn error_log(info: &Information<'_>, rows: &mut Rows) {
    for line in info.db.observer.errors() {
        rows.push(row![moment(info, line.at), 0u64, line.level, "MY-000000", "Server", line.text,]);
    }
}
