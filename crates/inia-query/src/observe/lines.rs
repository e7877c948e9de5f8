//! The formats of log entries, byte for byte those of MySQL 8.0.

use crate::sysvar::VERSION;
use inia_base::temporal::{DateTime, TimeZone};
use std::fmt::Write;

/// Whose statement it is.
#[derive(Clone, Copy, Debug)]
pub struct Who<'s> {
    /// Name of the account that matched.
    pub account: &'s str,
    /// Name given at login.
    pub user: &'s str,
    /// Host name; empty where only the address is known.
    pub host: &'s str,
    /// Address; empty for a Unix socket.
    pub address: &'s str,
    /// The connection's id.
    pub id: u64,
}

impl Who<'_> {
    /// `root[root] @ localhost [127.0.0.1]`.
    fn text(&self) -> String {
        format!("{}[{}] @ {} [{}]", self.account, self.user, self.host, self.address)
    }
}

/// A command as it begins.
#[derive(Clone, Copy, Debug)]
pub struct Command<'s> {
    /// "Query", "Execute", "Connect" …
    pub name: &'s str,
    /// What it is about.
    pub argument: &'s str,
    /// Microseconds since 1970.
    pub at: i64,
}

/// A statement that has ended.
///
/// Wide: one field for each thing that the slow query log says of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ended<'s> {
    /// Its text; that of a command which is no statement is `administrator command: …`.
    pub text: &'s str,
    /// The default database.
    pub database: &'s str,
    /// Microseconds since 1970 of its end, by the clock.
    pub at: i64,
    /// Seconds since 1970 of its begin, as the statement saw it.
    pub timestamp: i64,
    /// Microseconds that it took, and those of them in which it waited for locks.
    pub micros: u64,
    /// Microseconds that it waited for locks.
    pub lock_micros: u64,
    /// Rows that the client got.
    pub rows_sent: u64,
    /// Rows that were read.
    pub rows_examined: u64,
    /// Number of its error.
    pub errno: u16,
    /// It was killed.
    pub killed: bool,
    /// LAST_INSERT_ID() of the session, and the generated value.
    pub last_insert_id: u64,
    /// Further counts, for `log_slow_extra`.
    pub extra: Extra,
}

/// What `log_slow_extra` adds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra {
    /// Bytes received and sent.
    pub bytes: (u64, u64),
    /// Read_first, Read_last, Read_key, Read_next, Read_prev, Read_rnd, Read_rnd_next.
    pub reads: [u64; 7],
    /// Rows that were sorted.
    pub sort_rows: u64,
}

/// A moment in microseconds since 1970, as `log_timestamps` wants it.
fn moment(micros: i64, local: bool) -> String {
    let (seconds, fraction) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let utc = DateTime::from_unix(seconds, fraction as u32).unwrap_or(DateTime::ZERO);
    if !local {
        return format!("{}Z", utc.text(6).replacen(' ', "T", 1));
    }
    let shown = TimeZone::system().from_utc(utc).unwrap_or(utc);
    let minutes = (shown.to_unix() - seconds) / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    let (hours, rest) = (minutes.abs() / 60, minutes.abs() % 60);
    format!("{}{sign}{hours:02}:{rest:02}", shown.text(6).replacen(' ', "T", 1))
}

/// What a log file begins with. Programs that read logs know the line by `mysqld, Version: `.
pub(super) fn header(port: &str, socket: &str) -> String {
    format!(
        "/usr/sbin/mysqld, Version: {VERSION} (Inia). started with:\n\
         Tcp port: {port}  Unix socket: {socket}\n\
         Time                 Id Command    Argument\n"
    )
}

/// A line of the general log.
pub(super) fn command_line(who: &Who<'_>, command: &Command<'_>, local: bool) -> Vec<u8> {
    let at = moment(command.at, local);
    format!("{at}\t{:5} {}\t{}\n", who.id, command.name, command.argument).into_bytes()
}

/// An entry of the slow query log; `use` where the database is another than before.
pub(super) fn statement_entry(
    who: &Who<'_>,
    ended: &Ended<'_>,
    uses: bool,
    (local, extra): (bool, bool),
) -> Vec<u8> {
    let mut entry = format!("# Time: {}\n", moment(ended.at, local));
    // Writing to a string does not fail.
    let _ = writeln!(entry, "# User@Host: {}  Id: {:5}", who.text(), who.id);
    let _ = write!(
        entry,
        "# Query_time: {:.6}  Lock_time: {:.6} Rows_sent: {}  Rows_examined: {}",
        ended.micros as f64 / 1e6,
        ended.lock_micros as f64 / 1e6,
        ended.rows_sent,
        ended.rows_examined
    );
    if extra {
        put_extra(&mut entry, who, ended, local);
    }
    entry.push('\n');
    if uses && !ended.database.is_empty() {
        let _ = writeln!(entry, "use {};", ended.database);
    }
    let _ = writeln!(entry, "SET timestamp={};\n{};", ended.timestamp, ended.text);
    entry.into_bytes()
}

fn put_extra(entry: &mut String, who: &Who<'_>, ended: &Ended<'_>, local: bool) {
    let Extra { bytes, reads, sort_rows } = ended.extra;
    let _ = write!(
        entry,
        " Thread_id: {} Errno: {} Killed: {} Bytes_received: {} Bytes_sent: {}",
        who.id,
        ended.errno,
        u8::from(ended.killed),
        bytes.0,
        bytes.1
    );
    let names = ["first", "last", "key", "next", "prev", "rnd", "rnd_next"];
    for (name, count) in names.iter().zip(reads) {
        let _ = write!(entry, " Read_{name}: {count}");
    }
    let _ = write!(
        entry,
        " Sort_merge_passes: 0 Sort_range_count: 0 Sort_rows: {sort_rows} Sort_scan_count: 0 \
         Created_tmp_disk_tables: 0 Created_tmp_tables: 0 Start: {} End: {}",
        moment(ended.at - ended.micros as i64, local),
        moment(ended.at, local)
    );
}

/// The fields of a row of `mysql.general_log`; numbers as text.
pub(super) fn command_fields(who: &Who<'_>, command: &Command<'_>) -> Vec<Vec<u8>> {
    let fields = [
        command.at.to_string(),
        who.text(),
        who.id.to_string(),
        command.name.to_owned(),
        command.argument.to_owned(),
    ];
    fields.map(String::into_bytes).into()
}

/// The fields of a row of `mysql.slow_log`; numbers as text.
pub(super) fn statement_fields(who: &Who<'_>, ended: &Ended<'_>) -> Vec<Vec<u8>> {
    let text = ended.text.strip_prefix("# administrator command: ").unwrap_or(ended.text);
    let fields = [
        ended.at.to_string(),
        who.text(),
        ended.micros.to_string(),
        ended.lock_micros.to_string(),
        ended.rows_sent.to_string(),
        ended.rows_examined.to_string(),
        ended.database.to_owned(),
        ended.last_insert_id.to_string(),
        text.to_owned(),
        who.id.to_string(),
    ];
    fields.map(String::into_bytes).into()
}
