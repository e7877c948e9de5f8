//! What the server itself is doing and can do.

use super::performance::locks::{lock_id_of, number};
use super::{Information, Rows, or_null, row};
use crate::account::Privileges;
use crate::fulltext::DEFAULT_STOPWORDS;
use crate::information::{NamedValues, Profile};
use inia_base::process::ProcessEntry;
use inia_base::value::Value;
use inia_expr::VarScope;
use inia_storage::Isolation;
use std::time::{SystemTime, UNIX_EPOCH};

/// The engines that a table may name, in MySQL's order, and those of MySQL's that none may.
pub(super) fn engines(_: &Information<'_>, rows: &mut Rows) {
    const INNODB: &str = "Supports transactions, row-level locking, and foreign keys";
    const MEMORY: &str = "Hash based, stored in memory, useful for temporary tables";
    const BLACKHOLE: &str = "/dev/null storage engine (anything you write to it disappears)";
    let without = |name, comment| row![name, "NO", comment, Value::Null, Value::Null, Value::Null];
    rows.push(without("ndbcluster", "Clustered, fault-tolerant tables"));
    rows.push(without("FEDERATED", "Federated MySQL storage engine"));
    rows.push(row!["MEMORY", "YES", MEMORY, "NO", "NO", "NO"]);
    rows.push(row!["InnoDB", "DEFAULT", INNODB, "YES", "YES", "YES"]);
    rows.push(row!["PERFORMANCE_SCHEMA", "YES", "Performance Schema", "NO", "NO", "NO"]);
    rows.push(row!["MyISAM", "YES", "MyISAM storage engine", "NO", "NO", "NO"]);
    rows.push(without("ndbinfo", "MySQL Cluster system information storage engine"));
    rows.push(row!["MRG_MYISAM", "YES", "Collection of identical MyISAM tables", "NO", "NO", "NO"]);
    rows.push(row!["BLACKHOLE", "YES", BLACKHOLE, "NO", "NO", "NO"]);
    rows.push(row!["CSV", "YES", "CSV storage engine", "NO", "NO", "NO"]);
    rows.push(row!["ARCHIVE", "YES", "Archive storage engine", "NO", "NO", "NO"]);
}

const PLUGINS: [(&str, &str, &str, &str); 7] = [
    ("mysql_native_password", "AUTHENTICATION", "2.1", "Native MySQL authentication"),
    ("sha256_password", "AUTHENTICATION", "2.1", "SHA256 password authentication"),
    ("caching_sha2_password", "AUTHENTICATION", "2.1", "Caching sha2 authentication"),
    ("MEMORY", "STORAGE ENGINE", "80031.0", "Hash based, stored in memory"),
    ("InnoDB", "STORAGE ENGINE", "80031.0", "Transactions, row-level locking, foreign keys"),
    ("MyISAM", "STORAGE ENGINE", "80031.0", "MyISAM storage engine"),
    ("MRG_MYISAM", "STORAGE ENGINE", "80031.0", "Collection of identical MyISAM tables"),
];

/// Whether a plugin of that name is part of the program.
pub fn is_plugin(name: &str) -> bool {
    PLUGINS.iter().any(|(known, ..)| known.eq_ignore_ascii_case(name))
}

pub(super) fn plugins(_: &Information<'_>, rows: &mut Rows) {
    for (name, kind, version, description) in PLUGINS {
        rows.push(row![
            name,
            "1.0",
            "ACTIVE",
            kind,
            version,
            Value::Null,
            Value::Null,
            "Inia",
            description,
            env!("CARGO_PKG_LICENSE"),
            "FORCE",
        ]);
    }
}

pub(super) fn foreign_servers(info: &Information<'_>, rows: &mut Rows) {
    rows.extend(info.db.catalog().foreign_servers().into_iter().map(|def| {
        row![
            def.name.clone(),
            def.host.clone(),
            def.database.clone(),
            def.user.clone(),
            def.password.clone(),
            def.port,
            def.socket.clone(),
            def.wrapper.clone(),
            def.owner.clone(),
        ]
    }));
}

pub(super) fn keywords(_: &Information<'_>, rows: &mut Rows) {
    let mut words: Vec<(&str, bool)> = inia_parser::keyword::all().collect();
    words.sort_unstable();
    rows.extend(words.into_iter().map(|(word, reserved)| row![word, i64::from(reserved)]));
}

/// The connections that the session may see: all with PROCESS, else its account's.
pub(super) fn visible_processes(info: &Information<'_>) -> Vec<ProcessEntry> {
    let all = info.access.global.has(Privileges::PROCESS);
    let mut list = info.db.process_list();
    list.retain(|entry| all || entry.user == info.access.account.user);
    list
}

pub(super) fn optimizer_trace(info: &Information<'_>, rows: &mut Rows) {
    for one in &info.traces {
        rows.push(row![
            one.query.clone(),
            one.trace.clone(),
            one.missing as i64,
            i64::from(one.unprivileged),
        ]);
    }
}

pub(super) fn profiling(info: &Information<'_>, rows: &mut Rows) {
    /// Columns of what is not measured.
    const UNKNOWN: usize = 14;
    for profile in &info.profiles {
        // MySQL counts a statement's stages from 2.
        for (number, (stage, nanos)) in (2_i64..).zip(&profile.stages) {
            let seconds = Profile::seconds(*nanos).parse().map_or(Value::Null, Value::Decimal);
            let mut row = row![profile.id as i64, number, *stage, seconds];
            row.extend((0..UNKNOWN).map(|_| Value::Null));
            rows.push(row);
        }
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
        ]);
    }
}

fn level(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadUncommitted => "READ UNCOMMITTED",
        Isolation::ReadCommitted => "READ COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
}

pub(super) fn default_stopwords(_: &Information<'_>, rows: &mut Rows) {
    rows.extend(DEFAULT_STOPWORDS.iter().map(|word| row![*word]));
}

pub(super) fn transactions(info: &Information<'_>, rows: &mut Rows) {
    if !info.access.global.has(Privileges::PROCESS) {
        return;
    }
    let (processes, waits) = (visible_processes(info), info.db.engine.lock_waits());
    for txn in info.db.engine.active_transactions() {
        let started = txn.started.duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs());
        let process = processes.iter().find(|entry| entry.id == txn.label);
        let query = process.and_then(|entry| entry.info.clone());
        let query = query.map(|text| text.chars().take(1024).collect::<String>());
        let wait = waits.iter().find(|wait| wait.session == txn.session);
        let lock = wait.and_then(|wait| lock_id_of(info, &txn, wait));
        let waiting = txn.waiting && lock.is_some();
        let since =
            process.filter(|_| waiting).map_or(0, |entry| now_secs().saturating_sub(entry.time));
        rows.push(row![
            number(&txn),
            if txn.waiting { "LOCK WAIT" } else { "RUNNING" },
            info.moment(started),
            or_null(lock),
            info.moment(since),
            txn.rows_modified + txn.locks as u64,
            txn.label,
            or_null(query),
            if waiting { Value::from("starting index read") } else { Value::Null },
            0u64,
            0u64,
            txn.locks as u64,
            0u64,
            txn.locks as u64,
            txn.rows_modified,
            0u64,
            level(txn.isolation),
            1i64,
            1i64,
            Value::Null,
            0i64,
            0u64,
            0i64,
            0i64,
            Value::Null,
        ]);
    }
}

/// Seconds since 1970.
fn now_secs() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs())
}

fn named(values: NamedValues, rows: &mut Rows) {
    rows.extend(values.into_iter().map(|(name, value)| row![name, value]));
}

pub(super) fn global_variables(info: &Information<'_>, rows: &mut Rows) {
    named((info.variables)(VarScope::Global), rows);
}

pub(super) fn session_variables(info: &Information<'_>, rows: &mut Rows) {
    named((info.variables)(VarScope::Session), rows);
}

pub(super) fn persisted_variables(info: &Information<'_>, rows: &mut Rows) {
    named(info.db.catalog.persisted(), rows);
}

pub(super) fn global_status(info: &Information<'_>, rows: &mut Rows) {
    named(counters(info, VarScope::Global), rows);
}

pub(super) fn session_status(info: &Information<'_>, rows: &mut Rows) {
    named(counters(info, VarScope::Session), rows);
}

/// Status counters; those of kinds of statements are sums of their own in `performance_schema`.
fn counters(info: &Information<'_>, scope: VarScope) -> NamedValues {
    let mut values = super::status::values(info.db, info.counters, scope);
    let kept = |name: &str| !name.starts_with("Com_") || name == "Com_stmt_reprepare";
    values.retain(|(name, _)| info.focus.for_show || kept(name));
    values
}

/// Connection attributes of all sessions.
pub(super) fn session_connect_attrs(info: &Information<'_>, rows: &mut Rows) {
    connect_attrs(info, rows, |_| true);
}

/// Connection attributes of the own account's sessions.
pub(super) fn session_account_connect_attrs(info: &Information<'_>, rows: &mut Rows) {
    connect_attrs(info, rows, |user| user == info.counters.connection.user);
}

fn connect_attrs(info: &Information<'_>, rows: &mut Rows, is_shown: impl Fn(&str) -> bool) {
    let mut live = info.db.counters.live();
    live.sort_by_key(|session| session.connection.id);
    for session in live.iter().filter(|session| is_shown(&session.connection.user)) {
        let connection = &session.connection;
        for (at, (name, value)) in connection.attributes.iter().enumerate() {
            let value = Some(value.clone()).filter(|value| !value.is_empty());
            rows.push(row![connection.id, name.clone(), or_null(value), at as i64]);
        }
    }
}

pub(super) fn resource_groups(info: &Information<'_>, rows: &mut Rows) {
    if !info.access.has_dynamic("RESOURCE_GROUP_ADMIN")
        && !info.access.has_dynamic("RESOURCE_GROUP_USER")
    {
        return;
    }
    let count = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    rows.extend(info.db.catalog().resource_groups().iter().map(|group| {
        let all: Vec<u64> = (0..count).collect();
        let processors = if group.processors.is_empty() { &all } else { &group.processors };
        row![
            group.name.as_str(),
            if group.system { "SYSTEM" } else { "USER" },
            i64::from(group.enabled),
            ranges(processors).into_bytes(),
            group.priority,
        ]
    }));
}

/// Numbers in ascending order as `0-2,5`.
fn ranges(numbers: &[u64]) -> String {
    let mut parts: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let part = |(first, last): &(u64, u64)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(",")
}
