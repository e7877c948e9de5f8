//! Variables that go out of use, and the names that take their place.

use inia_base::error::{ErrorCode, SqlError};
use inia_query::context::SessionContext;
use inia_query::sysvar::{VarDef, find};

/// Deprecated variables with their other names, empty where there is none.
const DEPRECATED: [(&str, &str); 42] = [
    ("avoid_temporal_upgrade", ""),
    ("binlog_max_flush_queue_time", ""),
    ("delayed_insert_limit", ""),
    ("delayed_insert_timeout", ""),
    ("delayed_queue_size", ""),
    ("expire_logs_days", "binlog_expire_logs_seconds"),
    ("init_slave", "init_replica"),
    ("log_bin_use_v1_row_events", ""),
    ("log_slow_slave_statements", "log_slow_replica_statements"),
    ("master_info_repository", ""),
    ("master_verify_checksum", "source_verify_checksum"),
    ("max_delayed_threads", ""),
    ("max_insert_delayed_threads", ""),
    ("max_length_for_sort_data", ""),
    ("profiling", ""),
    ("profiling_history_size", ""),
    ("pseudo_slave_mode", "pseudo_replica_mode"),
    ("query_prealloc_size", ""),
    ("relay_log_info_repository", ""),
    ("replica_parallel_type", ""),
    ("rpl_stop_slave_timeout", "rpl_stop_replica_timeout"),
    ("show_old_temporals", ""),
    ("slave_allow_batching", "replica_allow_batching"),
    ("slave_checkpoint_group", "replica_checkpoint_group"),
    ("slave_checkpoint_period", "replica_checkpoint_period"),
    ("slave_compressed_protocol", "replica_compressed_protocol"),
    ("slave_exec_mode", "replica_exec_mode"),
    ("slave_max_allowed_packet", "replica_max_allowed_packet"),
    ("slave_net_timeout", "replica_net_timeout"),
    ("slave_parallel_type", "replica_parallel_type"),
    ("slave_parallel_workers", "replica_parallel_workers"),
    ("slave_pending_jobs_size_max", "replica_pending_jobs_size_max"),
    ("slave_preserve_commit_order", "replica_preserve_commit_order"),
    ("slave_rows_search_algorithms", ""),
    ("slave_sql_verify_checksum", "replica_sql_verify_checksum"),
    ("slave_transaction_retries", "replica_transaction_retries"),
    ("slave_type_conversions", "replica_type_conversions"),
    ("sql_slave_skip_counter", "sql_replica_skip_counter"),
    ("sync_master_info", "sync_source_info"),
    ("terminology_use_previous", ""),
    ("transaction_prealloc_size", ""),
    ("transaction_write_set_extraction", ""),
];

/// Not another name, but another variable.
const OTHER: &str = "binlog_expire_logs_seconds";

/// Warning 1287 of a deprecated variable, whatever it is to be. Gives the variable that it is
/// another name of.
pub(super) fn resolve(
    session: &mut SessionContext,
    def: &'static VarDef,
) -> Result<&'static VarDef, SqlError> {
    let Some((name, other)) = DEPRECATED.iter().find(|(name, _)| *name == def.name) else {
        return Ok(def);
    };
    let mut text = format!("'@@{name}' is deprecated and will be removed in a future release.");
    if !other.is_empty() {
        text.push_str(&format!(" Please use {other} instead."));
    }
    session.push_warning(&SqlError::with_message(ErrorCode::WarnDeprecatedSyntax, text));
    if other.is_empty() || *other == OTHER { Ok(def) } else { find(other) }
}

/// The deprecated name of a variable, which has the same value.
pub(super) fn old_name(name: &str) -> Option<&'static str> {
    let of_it = |(_, other): &&(&str, &str)| *other == name && *other != OTHER;
    DEPRECATED.iter().find(of_it).map(|(old, _)| *old)
}
