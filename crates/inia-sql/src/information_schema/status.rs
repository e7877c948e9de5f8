//! Status counters with their values.

use crate::database::Database;
use crate::information::NamedValues;
use crate::status::SessionCounters;
use inia_expr::VarScope;

/// The counters of a scope with their present values, sorted by name.
pub(super) fn values(db: &Database, own: &SessionCounters, scope: VarScope) -> NamedValues {
    let (total, connections) = db.counters.total();
    let counted = if scope == VarScope::Global { &total } else { own };
    let stats = db.engine.stats();
    let processes = db.processes().map(|processes| processes.list()).unwrap_or_default();
    let running = processes.iter().filter(|entry| entry.command != "Sleep").count().max(1);
    let average = stats.lock_wait_micros.checked_div(stats.lock_waits).unwrap_or(0) / 1000;
    let mut values: NamedValues = Vec::new();
    for (name, count) in counted.commands() {
        values.push((format!("Com_{name}"), count.to_string()));
    }
    let mut push = |name: &str, value: String| values.push((name.to_owned(), value));
    push("Connections", connections.to_string());
    push("Innodb_page_size", String::from("16384"));
    push("Innodb_row_lock_time", (stats.lock_wait_micros / 1000).to_string());
    push("Innodb_row_lock_time_avg", average.to_string());
    push("Innodb_row_lock_waits", stats.lock_waits.to_string());
    push("Queries", total.questions().to_string());
    push("Questions", counted.questions().to_string());
    push("Ssl_cipher", String::new());
    push("Ssl_version", String::new());
    push("Threads_connected", processes.len().max(1).to_string());
    push("Threads_running", running.to_string());
    push("Uptime", db.uptime().to_string());
    push("Uptime_since_flush_status", db.uptime().to_string());
    values
}
