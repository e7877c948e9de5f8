//! Sums over statements, and each session's last ones.

use super::{by_level, visible_sessions};
use crate::account::Privileges;
use crate::information_schema::logs::moment;
use crate::information_schema::{Information, Rows, or_null, row};
use crate::observe::{Account, Current, Kinds, Levels, PICOS, SUMS, Sums};
use crate::status::SessionCounters;
use inia_base::value::Value;
use inia_parser::StatementDigest;

/// The columns from COUNT_STAR to COUNT_SECONDARY.
fn summed(sums: &Sums) -> Vec<Value> {
    let picos = |micros: u64| micros.saturating_mul(PICOS);
    let average = sums.wait.checked_div(sums.count).unwrap_or(0);
    row![
        sums.count,
        picos(sums.wait),
        picos(sums.min),
        picos(average),
        picos(sums.max),
        picos(sums.lock),
        sums.errors,
        sums.warnings,
        sums.affected,
        sums.sent,
        sums.examined,
        0u64,
        0u64,
        sums.joins,
        0u64,
        0u64,
        0u64,
        sums.scans,
        0u64,
        0u64,
        sums.sorted,
        0u64,
        sums.no_index,
        0u64,
        0u64,
        0u64,
        0u64,
        0u64,
    ]
}

/// The prepared statements of sessions, while sums are kept.
pub(in super::super) fn prepared(info: &Information<'_>, rows: &mut Rows) {
    if info.db.observer.wants() & SUMS == 0 {
        return;
    }
    for session in visible_sessions(info) {
        let owner = session.connection.id;
        for (id, instance) in session.history.all_prepared() {
            let text = match &instance.name {
                Some(name) => format!("PREPARE {name} FROM ..."),
                None => instance.text.clone(),
            };
            let mut row = row![
                owner << 32 | u64::from(id),
                u64::from(id),
                or_null(instance.name.clone()),
                text,
                owner,
                0u64,
            ];
            row.extend(row![Value::Null, Value::Null, Value::Null, "PRIMARY"]);
            row.extend(row![instance.prepare.saturating_mul(PICOS), 0u64]);
            row.extend(summed(&instance.sums));
            rows.push(row);
        }
    }
}

pub(in super::super) fn by_digest(info: &Information<'_>, rows: &mut Rows) {
    if !info.access.global.has(Privileges::PROCESS) {
        return;
    }
    let live = info.db.counters.live();
    let groups = info.db.observer.statements.groups(live.iter().map(|session| &session.history));
    for group in groups {
        let mut row = row![
            or_null(group.database.clone()),
            or_null(group.form.as_ref().map(StatementDigest::hex)),
            or_null(group.form.as_ref().map(|form| form.text.clone())),
        ];
        row.extend(summed(&group.sums));
        row.extend(row![moment(info, group.seen.0), moment(info, group.seen.1)]);
        let quantiles = [950, 990, 999].map(|part| group.quantile(part).saturating_mul(PICOS));
        row.extend(quantiles.map(Value::UInt));
        let (text, at, micros) = &group.sample;
        row.extend(row![text.clone(), moment(info, *at), micros.saturating_mul(PICOS)]);
        rows.push(row);
    }
}

/// Sums of all kinds of statements, those too that have not been yet.
fn of_kinds(known: &Kinds, prefix: &[Value], rows: &mut Rows) {
    for kind in crate::status::kinds() {
        let mut row = prefix.to_vec();
        row.push(Value::from(format!("statement/sql/{kind}")));
        row.extend(summed(known.get(kind).unwrap_or(&Sums::default())));
        rows.push(row);
    }
}

/// Reads sums by one of their levels.
fn read<R>(
    info: &Information<'_>,
    read: impl FnOnce(&Levels<Kinds>, &mut dyn Iterator<Item = (Account, Kinds)>) -> R,
) -> R {
    let own = |session: &SessionCounters| session.history.kinds();
    by_level(info, &info.db.observer.statements.kinds, own, read)
}

pub(in super::super) fn global(info: &Information<'_>, rows: &mut Rows) {
    let sessions = info.db.counters.live();
    let live = sessions.iter().map(|session| (session.account(), session.history.kinds()));
    of_kinds(&info.db.observer.statements.kinds.global(live), &[], rows);
}

pub(in super::super) fn by_thread(info: &Information<'_>, rows: &mut Rows) {
    for session in visible_sessions(info) {
        of_kinds(&session.history.kinds(), &[Value::UInt(session.connection.id)], rows);
    }
}

pub(in super::super) fn by_account(info: &Information<'_>, rows: &mut Rows) {
    for (account, kinds) in read(info, |levels, live| levels.accounts(live)) {
        let (user, host) = account.unzip();
        of_kinds(&kinds, &[or_null(user), or_null(host)], rows);
    }
}

pub(in super::super) fn by_user(info: &Information<'_>, rows: &mut Rows) {
    for (user, kinds) in read(info, |levels, live| levels.users(live)) {
        of_kinds(&kinds, &[or_null(user)], rows);
    }
}

pub(in super::super) fn by_host(info: &Information<'_>, rows: &mut Rows) {
    for (host, kinds) in read(info, |levels, live| levels.hosts(live)) {
        of_kinds(&kinds, &[or_null(host)], rows);
    }
}

pub(in super::super) fn current(info: &Information<'_>, rows: &mut Rows) {
    for session in visible_sessions(info) {
        if let Some(last) = session.history.last().last() {
            rows.push(event(info, session.connection.id, last));
        }
    }
}

pub(in super::super) fn history(info: &Information<'_>, rows: &mut Rows) {
    for session in visible_sessions(info) {
        let last = session.history.last();
        rows.extend(last.iter().map(|one| event(info, session.connection.id, one)));
    }
}

fn event(info: &Information<'_>, thread: u64, one: &Current) -> Vec<Value> {
    let (done, sums) = (&one.done, &one.done.sums);
    let started = info.db.started() as i64 * 1_000_000;
    let end = u64::try_from(done.at - started).unwrap_or(0);
    let form = done.form.as_ref();
    let (number, state, message) = match &done.error {
        Some((number, state, message)) => (
            i64::from(*number),
            Value::from(state.clone()),
            Value::from(message.chars().take(128).collect::<String>()),
        ),
        None => (0, Value::Null, Value::Null),
    };
    let mut row = row![
        thread,
        one.number,
        one.number,
        format!("statement/sql/{}", done.kind),
        "",
        end.saturating_sub(sums.wait).saturating_mul(PICOS),
        end.saturating_mul(PICOS),
        sums.wait.saturating_mul(PICOS),
        sums.lock.saturating_mul(PICOS),
        done.text.clone(),
        or_null(form.map(StatementDigest::hex)),
        or_null(form.map(|form| form.text.clone())),
        or_null(done.database.clone()),
        Value::Null,
        Value::Null,
        Value::Null,
        Value::Null,
        number,
        state,
        message,
        sums.errors,
        sums.warnings,
        sums.affected,
        sums.sent,
        sums.examined,
    ];
    row.extend(row![0u64, 0u64, sums.joins, 0u64, 0u64, 0u64, sums.scans, 0u64, 0u64]);
    row.extend(row![sums.sorted, 0u64, sums.no_index, 0u64, Value::Null, Value::Null, 0i64]);
    row.extend(row![one.number, 0u64, 0u64, 0u64, "PRIMARY"]);
    row
}
