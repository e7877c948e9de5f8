//! Status counters with their values.
//!
//! Every name that MySQL has is listed. A counter that has no meaning here, or is not counted, is
//! 0; the file of names gives other constants.

use crate::database::Database;
use crate::information::NamedValues;
use crate::status::{Executed, HandlerReads, SessionCounters};
use inia_base::temporal::{DateTime, TimeZone};
use inia_expr::VarScope;
use std::collections::BTreeMap;

/// Names, each with its value where that is not 0.
const NAMES: &str = include_str!("status.txt");

/// Values by the names of their counters.
struct Values(BTreeMap<String, String>);

impl Values {
    fn set(&mut self, name: &str, value: impl ToString) {
        self.0.insert(name.to_owned(), value.to_string());
    }
}

/// The counters of a scope with their present values, sorted by name.
pub(super) fn values(db: &Database, own: &SessionCounters, scope: VarScope) -> NamedValues {
    let names = NAMES.lines().filter(|line| !line.starts_with('#'));
    let fixed = names.map(|line| match line.split_once(' ') {
        Some((name, value)) => (name.to_owned(), value.trim().to_owned()),
        None => (line.to_owned(), String::from("0")),
    });
    // The file gives every name a value: counters that nothing sets below are listed as well.
    let mut values = Values(fixed.collect());
    // Counters of statements follow the scope; those of connections and of InnoDB are the server's
    // in both.
    let (total, connections) = db.counters.total();
    let counted = if scope == VarScope::Global { &total } else { own };
    for (name, count) in counted.commands() {
        values.set(&format!("Com_{name}"), count);
        // Names of earlier versions have the same counts.
        match name {
            "show_replicas" => values.set("Com_show_slave_hosts", count),
            "show_replica_status" => values.set("Com_show_slave_status", count),
            _ => {}
        }
    }
    for (name, count) in counted.handles() {
        values.set(&format!("Com_stmt_{name}"), count);
    }
    for (name, count) in of_session(counted) {
        values.set(name, count);
    }
    let reads = total.reads();
    values.set("Innodb_rows_read", reads.records());
    // Descents from the roots of trees: what they pass on their way is not counted.
    let descents = reads.keys + reads.seeks + reads.first + reads.last;
    let all_rows = total.changed_rows();
    values.set("Innodb_rows_inserted", all_rows.inserted);
    values.set("Innodb_rows_updated", all_rows.updated);
    values.set("Innodb_rows_deleted", all_rows.deleted);
    values.set("Connections", connections);
    values.set("Queries", total.questions());
    // TLS is about the connection that asks, also in the global scope.
    let (version, cipher) = own.connection.tls.clone().unwrap_or_default();
    values.set("Ssl_version", version);
    values.set("Ssl_cipher", cipher);
    if scope != VarScope::Global {
        let (algorithm, level) = own.connection.compression.unwrap_or_default();
        values.set("Compression", if algorithm.is_empty() { "OFF" } else { "ON" });
        values.set("Compression_algorithm", algorithm);
        values.set("Compression_level", level);
        values.set("Last_query_cost", "0.000000");
        values.set("Last_query_partial_plans", 0);
    }
    values.set("Uptime", db.uptime());
    values.set("Uptime_since_flush_status", db.uptime_since_flush_status());
    values.set("Prepared_stmt_count", db.prepared.load(std::sync::atomic::Ordering::Relaxed));
    // Only intermediate tables that were spilled are counted, so both counters are the same.
    let (tables, files) = db.memory().files();
    values.set("Created_tmp_disk_tables", tables);
    values.set("Created_tmp_tables", tables);
    values.set("Created_tmp_files", files);
    of_server(db, own, scope, &mut values);
    of_engine(db, descents, &mut values);
    of_catalog(db, scope, &mut values);
    values.0.into_iter().collect()
}

/// What a session counts beside the kinds of its statements.
pub(super) fn of_session(counted: &SessionCounters) -> [(&'static str, u64); 27] {
    let (done, reads) = (|what| counted.executed(what), HandlerReads::of(&counted.reads()));
    [
        ("Handler_commit", done(Executed::Commit)),
        ("Handler_delete", done(Executed::Delete)),
        ("Handler_external_lock", done(Executed::ExternalLock)),
        ("Handler_prepare", done(Executed::Prepare)),
        ("Handler_read_first", reads.first),
        ("Handler_read_key", reads.key),
        ("Handler_read_last", reads.last),
        ("Handler_read_next", reads.next),
        ("Handler_read_prev", reads.prev),
        ("Handler_read_rnd_next", reads.rnd_next),
        ("Handler_rollback", done(Executed::Rollback)),
        ("Handler_savepoint", done(Executed::Savepoint)),
        ("Handler_savepoint_rollback", done(Executed::SavepointRollback)),
        ("Handler_update", done(Executed::Update)),
        ("Handler_write", done(Executed::Write)),
        ("Max_execution_time_exceeded", done(Executed::TimeExceeded)),
        ("Max_execution_time_set", done(Executed::TimeSet)),
        ("Questions", counted.questions()),
        ("Select_full_join", done(Executed::SelectFullJoin)),
        ("Select_full_range_join", done(Executed::SelectFullRangeJoin)),
        ("Select_range", done(Executed::SelectRange)),
        ("Select_scan", done(Executed::SelectScan)),
        ("Slow_queries", counted.slow()),
        ("Sort_range", done(Executed::SortRange)),
        ("Sort_rows", done(Executed::SortRows)),
        ("Sort_scan", done(Executed::SortScan)),
        // Each use of a table takes a lock and gives it back, and finds the table in memory.
        ("Table_open_cache_hits", done(Executed::ExternalLock) / 2),
    ]
}

/// What the server counts of its connections.
fn of_server(db: &Database, own: &SessionCounters, scope: VarScope, values: &mut Values) {
    let Some(processes) = db.processes() else {
        values.set("Threads_connected", 1);
        values.set("Threads_running", 1);
        return;
    };
    let list = processes.list();
    let running = processes.running().max(1);
    let counts = processes.counts();
    let (sent, received) = match scope {
        VarScope::Global => counts.traffic,
        _ => processes.traffic(own.connection.id),
    };
    values.set("Threads_connected", list.len().max(1));
    values.set("Threads_running", running);
    values.set("Threads_created", counts.threads_created);
    values.set("Max_used_connections", counts.most_connections);
    let at = DateTime::from_unix(counts.most_connections_at as i64, 0);
    let at = at.and_then(|at| TimeZone::system().from_utc(at));
    values.set("Max_used_connections_time", at.map_or(String::new(), |at| at.text(0)));
    values.set("Aborted_clients", counts.aborted_clients);
    values.set("Aborted_connects", counts.aborted_connects);
    values.set("Connection_errors_max_connections", counts.refused);
    values.set("Connection_errors_accept", counts.accept_errors);
    values.set("Connection_errors_internal", counts.internal_errors);
    values.set("Locked_connects", counts.locked);
    values.set("Ssl_accepts", counts.tls_accepts);
    values.set("Ssl_finished_accepts", counts.tls_accepts);
    values.set("Bytes_sent", sent);
    values.set("Bytes_received", received);
    let key = processes.password_key().unwrap_or_default();
    values.set("Caching_sha2_password_rsa_public_key", &key);
    values.set("Rsa_public_key", key);
}

/// Bytes of a page.
const PAGE: u64 = 16 << 10;

/// What the storage engine counts.
fn of_engine(db: &Database, descents: u64, values: &mut Values) {
    let stats = db.engine.stats();
    let average = stats.lock_wait_micros.checked_div(stats.lock_waits).unwrap_or(0) / 1000;
    values.set("Innodb_row_lock_time", stats.lock_wait_micros / 1000);
    values.set("Innodb_row_lock_time_avg", average);
    values.set("Innodb_row_lock_time_max", stats.lock_wait_max_micros / 1000);
    values.set("Innodb_row_lock_waits", stats.lock_waits);
    values.set("Innodb_row_lock_current_waits", stats.lock_waiters);
    let (durable, clean) = (stats.durable_lsn.0, stats.clean_lsn.0);
    values.set("Innodb_redo_log_checkpoint_lsn", clean);
    values.set("Innodb_redo_log_logical_size", durable.saturating_sub(clean));
    values.set("Innodb_redo_log_current_lsn", stats.durable_lsn.0);
    values.set("Innodb_redo_log_flushed_to_disk_lsn", stats.durable_lsn.0);
    let log = stats.log_written;
    values.set("Innodb_log_writes", log.requests);
    values.set("Innodb_os_log_fsyncs", log.syncs);
    values.set("Innodb_os_log_written", log.bytes);
    let pool = db.engine.pool_stats();
    values.set("Innodb_buffer_pool_pages_total", pool.total);
    values.set("Innodb_buffer_pool_pages_data", pool.data);
    values.set("Innodb_buffer_pool_pages_dirty", pool.dirty);
    values.set("Innodb_buffer_pool_pages_free", pool.total.saturating_sub(pool.data));
    values.set("Innodb_buffer_pool_bytes_data", pool.data * PAGE);
    values.set("Innodb_buffer_pool_bytes_dirty", pool.dirty * PAGE);
    let (written, copies) = (pool.written, pool.doublewritten);
    let requests = written.requests + copies.requests + log.requests;
    values.set("Innodb_data_writes", requests);
    values.set("Innodb_data_written", written.bytes + copies.bytes + log.bytes);
    values.set("Innodb_data_fsyncs", written.syncs + copies.syncs + log.syncs);
    values.set("Innodb_data_reads", pool.read.requests);
    values.set("Innodb_data_read", pool.read.bytes);
    values.set("Innodb_buffer_pool_reads", pool.read.requests);
    values.set("Innodb_buffer_pool_read_requests", descents + pool.read.requests);
    values.set("Innodb_pages_read", pool.read.requests);
    values.set("Innodb_pages_written", written.bytes / PAGE);
    values.set("Innodb_buffer_pool_pages_flushed", written.bytes / PAGE);
    values.set("Innodb_dblwr_writes", copies.requests);
    values.set("Innodb_dblwr_pages_written", copies.bytes / PAGE);
    let columns = db.columns.counts();
    values.set("Inia_column_cache_bytes", columns.bytes);
    values.set("Inia_column_cache_hits", columns.hits);
    values.set("Inia_column_cache_fills", columns.fills);
}

/// What is open and kept: all definitions are in memory.
fn of_catalog(db: &Database, scope: VarScope, values: &mut Values) {
    let tables: usize = db.catalog.current().schemas.values().map(|s| s.tables.len()).sum();
    values.set("Open_tables", tables);
    values.set("Open_table_definitions", tables);
    if scope == VarScope::Global {
        values.set("Opened_tables", tables);
        values.set("Opened_table_definitions", tables);
    }
    // Nothing is in the cache of MyISAM's indexes. A block of 1 KiB takes 228 bytes more.
    values.set("Key_blocks_unused", (db.global_number("key_buffer_size") * 6698) >> 23);
    let files = db.scratch.requests();
    values.set("Innodb_num_open_files", files.iter().filter(|file| file.open > 0).count());
    let spaces = db.catalog.tablespaces();
    let undo = || spaces.iter().filter(|space| space.undo);
    let explicit = undo().filter(|space| !space.name.starts_with("innodb_")).count();
    values.set("Innodb_undo_tablespaces_total", undo().count());
    values.set("Innodb_undo_tablespaces_explicit", explicit);
    values.set("Innodb_undo_tablespaces_implicit", undo().count() - explicit);
    values.set("Innodb_undo_tablespaces_active", undo().filter(|space| space.active).count());
    let (lines, bytes, latest) = db.observer.error_sums();
    values.set("Error_log_buffered_events", lines);
    values.set("Error_log_buffered_bytes", bytes);
    values.set("Error_log_latest_write", latest);
}
