//! Each session's present and last transactions, and sums over them.

use super::{by_level, visible_sessions};
use crate::clock::clock_micros;
use crate::information_schema::{Information, Rows, or_null, row};
use crate::observe::{
    Account, BranchEvent, Levels, PICOS, TransactionEvent, TransactionState, TransactionSums,
};
use crate::status::SessionCounters;
use inia_base::value::Value;

const NAME: &str = "transaction";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn branch_columns(branch: Option<&BranchEvent>) -> [Value; 4] {
    let Some(BranchEvent { name: (format, global, qualifier), stage }) = branch else {
        return [Value::Null, Value::Null, Value::Null, Value::Null];
    };
    let format = Value::from(format.cast_signed());
    [format, text(global).into(), text(qualifier).into(), Value::from(*stage)]
}

fn event(info: &Information<'_>, thread: u64, one: &TransactionEvent) -> Vec<Value> {
    let started = info.db.started() as i64 * 1_000_000;
    let picos = |micros: u64| micros.saturating_mul(PICOS);
    let timer = |at: i64| picos(u64::try_from(at - started).unwrap_or(0));
    let state = match one.state {
        TransactionState::Active => "ACTIVE",
        TransactionState::Committed => "COMMITTED",
        TransactionState::RolledBack => "ROLLED BACK",
    };
    let now = clock_micros();
    let mut row = row![
        thread,
        one.number,
        or_null(one.ended.map(|_| one.number)),
        NAME,
        state,
        Value::Null,
        "AUTOMATIC",
    ];
    row.extend(branch_columns(one.branch.as_ref()));
    row.extend(row![
        "",
        timer(one.began),
        timer(one.ended.unwrap_or(now)),
        picos(one.wait(now)),
        if one.read_only { "READ ONLY" } else { "READ WRITE" },
        one.isolation,
        super::super::yes_no(one.autocommit),
    ]);
    row.extend(one.savepoints.map(Value::UInt));
    row.extend(row![Value::Null, one.statement, "STATEMENT"]);
    row
}

pub(in super::super) fn current(info: &Information<'_>, rows: &mut Rows) {
    for session in visible_sessions(info) {
        if let Some(one) = session.transactions.current() {
            rows.push(event(info, session.connection.id, &one));
        }
    }
}

pub(in super::super) fn history(info: &Information<'_>, rows: &mut Rows) {
    for session in visible_sessions(info) {
        let ended = session.transactions.ended();
        rows.extend(ended.iter().map(|one| event(info, session.connection.id, one)));
    }
}

/// The columns from EVENT_NAME on.
fn summed(sums: &TransactionSums) -> Vec<Value> {
    let mut all = sums.read_write;
    all.add(&sums.read_only);
    let mut row = row![NAME];
    for sums in [all, sums.read_write, sums.read_only] {
        row.push(Value::UInt(sums.count));
        let times = [sums.sum, sums.min, sums.mean(), sums.max];
        row.extend(times.map(|micros| Value::UInt(micros.saturating_mul(PICOS))));
    }
    row
}

fn push(rows: &mut Rows, prefix: &[Value], sums: &TransactionSums) {
    rows.push([prefix, &summed(sums)].concat());
}

/// Reads sums by one of their levels.
fn read<R>(
    info: &Information<'_>,
    read: impl FnOnce(
        &Levels<TransactionSums>,
        &mut dyn Iterator<Item = (Account, TransactionSums)>,
    ) -> R,
) -> R {
    let own = |session: &SessionCounters| session.transactions.sums();
    by_level(info, &info.db.observer.transactions, own, read)
}

pub(in super::super) fn global(info: &Information<'_>, rows: &mut Rows) {
    push(rows, &[], &read(info, |levels, live| levels.global(live)));
}

pub(in super::super) fn by_thread(info: &Information<'_>, rows: &mut Rows) {
    for session in visible_sessions(info) {
        push(rows, &[Value::UInt(session.connection.id)], &session.transactions.sums());
    }
}

pub(in super::super) fn by_account(info: &Information<'_>, rows: &mut Rows) {
    for (account, sums) in read(info, |levels, live| levels.accounts(live)) {
        let (user, host) = account.unzip();
        push(rows, &[or_null(user), or_null(host)], &sums);
    }
}

pub(in super::super) fn by_user(info: &Information<'_>, rows: &mut Rows) {
    for (user, sums) in read(info, |levels, live| levels.users(live)) {
        push(rows, &[or_null(user)], &sums);
    }
}

pub(in super::super) fn by_host(info: &Information<'_>, rows: &mut Rows) {
    for (host, sums) in read(info, |levels, live| levels.hosts(live)) {
        push(rows, &[or_null(host)], &sums);
    }
}
