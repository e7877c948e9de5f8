//! Status counters, as SHOW STATUS lists them.

use crate::database::Database;
use crate::expr::VarScope;
use crate::information_schema::NamedValues;

/// The counters of a scope with their present values, sorted by name.
pub(crate) fn values(db: &Database, _scope: VarScope) -> NamedValues {
    let stats = db.engine.stats();
    let processes = db.processes().map(|processes| processes.list()).unwrap_or_default();
    let running = processes.iter().filter(|entry| entry.command != "Sleep").count().max(1);
    let average = stats.lock_wait_micros.checked_div(stats.lock_waits).unwrap_or(0) / 1000;
    let uptime = db.uptime().to_string();
    let mut values: NamedValues = Vec::new();
    let mut push = |name: &str, value: String| values.push((name.to_owned(), value));
    push("Innodb_page_size", String::from("16384"));
    push("Innodb_row_lock_time", (stats.lock_wait_micros / 1000).to_string());
    push("Innodb_row_lock_time_avg", average.to_string());
    push("Innodb_row_lock_waits", stats.lock_waits.to_string());
    push("Ssl_cipher", String::new());
    push("Ssl_version", String::new());
    push("Threads_connected", processes.len().max(1).to_string());
    push("Threads_running", running.to_string());
    push("Uptime", uptime.clone());
    push("Uptime_since_flush_status", uptime);
    values
}
