//! The tables that `log_output` fills.

use super::{Information, Rows, row};
use inia_base::temporal::{DateTime, Time};
use inia_base::value::Value;

/// The number of a server without replication.
const SERVER_ID: u64 = 1;

fn number(field: &[u8]) -> u64 {
    std::str::from_utf8(field).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(field).into_owned()
}

/// Microseconds since 1970 in the session's time zone.
pub(super) fn moment(info: &Information<'_>, micros: i64) -> Value {
    let fraction = micros.rem_euclid(1_000_000) as u32;
    let utc = DateTime::from_unix(micros.div_euclid(1_000_000), fraction);
    let utc = utc.unwrap_or(DateTime::ZERO);
    Value::DateTime(info.zone.from_utc(utc).unwrap_or(utc))
}

pub(super) fn general_log(info: &Information<'_>, rows: &mut Rows) {
    for fields in info.db.observer.logged(false) {
        let [at, who, id, command, argument] = &fields[..] else { continue };
        rows.push(row![
            moment(info, number(at) as i64),
            text(who),
            number(id),
            SERVER_ID,
            text(command),
            argument.clone(),
        ]);
    }
}

pub(super) fn slow_log(info: &Information<'_>, rows: &mut Rows) {
    let span = |field: &[u8]| Value::Time(Time { micros: number(field) as i64 });
    for fields in info.db.observer.logged(true) {
        let [at, who, micros, lock, sent, examined, database, last_id, statement, id] = &fields[..]
        else {
            continue;
        };
        rows.push(row![
            moment(info, number(at) as i64),
            text(who),
            span(micros),
            span(lock),
            number(sent) as i64,
            number(examined) as i64,
            text(database),
            number(last_id) as i64,
            0i64,
            SERVER_ID,
            statement.clone(),
            number(id),
        ]);
    }
}
