//! Sums over errors, warnings and notes.
//!
//! The table of all has a row for each number that MySQL has, the others have those that occurred.
//! What programs have numbered otherwise is together in the row without a number.

use super::{by_level, visible_sessions};
use crate::information_schema::logs::moment;
use crate::information_schema::{Information, Rows, or_null, row};
use crate::observe::{Account, ErrorCounts, ErrorSums, Levels};
use crate::status::SessionCounters;
use inia_base::value::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Numbers with their SQLSTATEs and names.
const NAMES: &str = include_str!("../errors.txt");

static KNOWN: LazyLock<BTreeMap<u16, (&str, &str)>> = LazyLock::new(|| {
    let line = |line: &'static str| {
        let (number, names) = line.split_once(' ')?;
        Some((number.parse().ok()?, names.split_once(' ')?))
    };
    NAMES.lines().filter_map(line).collect()
});

/// Sums by number, those without a name together.
fn by_number(counts: &ErrorCounts) -> BTreeMap<Option<u16>, ErrorSums> {
    let mut found: BTreeMap<Option<u16>, ErrorSums> = BTreeMap::new();
    for (number, sums) in counts {
        let number = Some(*number).filter(|number| KNOWN.contains_key(number));
        found.entry(number).and_modify(|all| all.add(sums)).or_insert(*sums);
    }
    found
}

fn push(
    info: &Information<'_>,
    rows: &mut Rows,
    prefix: &[Value],
    number: Option<u16>,
    sums: Option<&ErrorSums>,
) {
    let names = number.and_then(|number| KNOWN.get(&number));
    let seen = |at: fn(&ErrorSums) -> i64| {
        let micros = sums.map(at);
        // The columns have whole seconds.
        or_null(micros.map(|micros| moment(info, micros - micros.rem_euclid(1_000_000))))
    };
    let mut row = prefix.to_vec();
    row.extend(row![
        or_null(number.map(i64::from)),
        or_null(names.map(|(_, name)| *name)),
        or_null(names.map(|(state, _)| *state)),
        sums.map_or(0, |sums| sums.raised),
        sums.map_or(0, |sums| sums.handled),
        seen(|sums| sums.seen.0),
        seen(|sums| sums.seen.1),
    ]);
    rows.push(row);
}

/// The rows of those that occurred.
fn push_counts(info: &Information<'_>, rows: &mut Rows, prefix: &[Value], counts: &ErrorCounts) {
    for (number, sums) in by_number(counts) {
        push(info, rows, prefix, number, Some(&sums));
    }
}

/// Reads sums by one of their levels.
fn read<R>(
    info: &Information<'_>,
    read: impl FnOnce(&Levels<ErrorCounts>, &mut dyn Iterator<Item = (Account, ErrorCounts)>) -> R,
) -> R {
    let own = |session: &SessionCounters| session.errors.counts();
    by_level(info, &info.db.observer.raised.levels, own, read)
}

pub(in super::super) fn global(info: &Information<'_>, rows: &mut Rows) {
    let found = by_number(&read(info, |levels, live| levels.global(live)));
    push(info, rows, &[], None, found.get(&None));
    for number in KNOWN.keys() {
        push(info, rows, &[], Some(*number), found.get(&Some(*number)));
    }
}

pub(in super::super) fn by_thread(info: &Information<'_>, rows: &mut Rows) {
    for session in visible_sessions(info) {
        let prefix = row![session.connection.id];
        push_counts(info, rows, &prefix, &session.errors.counts());
    }
}

pub(in super::super) fn by_account(info: &Information<'_>, rows: &mut Rows) {
    for (account, counts) in read(info, |levels, live| levels.accounts(live)) {
        let (user, host) = account.unzip();
        push_counts(info, rows, &[or_null(user), or_null(host)], &counts);
    }
}

pub(in super::super) fn by_user(info: &Information<'_>, rows: &mut Rows) {
    for (user, counts) in read(info, |levels, live| levels.users(live)) {
        push_counts(info, rows, &[or_null(user)], &counts);
    }
}

pub(in super::super) fn by_host(info: &Information<'_>, rows: &mut Rows) {
    for (host, counts) in read(info, |levels, live| levels.hosts(live)) {
        push_counts(info, rows, &[or_null(host)], &counts);
    }
}
