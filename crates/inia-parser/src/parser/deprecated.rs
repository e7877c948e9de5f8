//! System variables that go out of use, and what takes their place.

use crate::ast::VarScope;
use crate::parser::Remark;

/// Where a variable can be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    Global,
    Session,
    Both,
}

/// Deprecated variables, where they can be read, and what is to be used in their place.
const DEPRECATED: &[(&str, Read, &str)] = &[
    ("avoid_temporal_upgrade", Read::Global, ""),
    ("binlog_max_flush_queue_time", Read::Global, ""),
    ("default_authentication_plugin", Read::Global, "authentication_policy"),
    ("delayed_insert_limit", Read::Global, ""),
    ("delayed_insert_timeout", Read::Global, ""),
    ("delayed_queue_size", Read::Global, ""),
    ("expire_logs_days", Read::Global, "binlog_expire_logs_seconds"),
    ("have_openssl", Read::Global, ""),
    ("have_profiling", Read::Global, ""),
    ("have_query_cache", Read::Global, ""),
    ("have_ssl", Read::Global, "performance_schema.tls_channel_status table"),
    ("init_slave", Read::Global, "init_replica"),
    ("log_bin_use_v1_row_events", Read::Global, ""),
    ("log_slave_updates", Read::Global, "log_replica_updates"),
    ("log_slow_slave_statements", Read::Global, "log_slow_replica_statements"),
    ("master_info_repository", Read::Global, ""),
    ("master_verify_checksum", Read::Global, "source_verify_checksum"),
    ("max_delayed_threads", Read::Both, ""),
    ("max_insert_delayed_threads", Read::Both, ""),
    ("max_length_for_sort_data", Read::Both, ""),
    ("profiling", Read::Both, ""),
    ("profiling_history_size", Read::Both, ""),
    ("pseudo_slave_mode", Read::Session, "pseudo_replica_mode"),
    ("query_prealloc_size", Read::Both, ""),
    ("relay_log_info_file", Read::Global, ""),
    ("relay_log_info_repository", Read::Global, ""),
    ("replica_parallel_type", Read::Global, ""),
    ("rpl_stop_slave_timeout", Read::Global, "rpl_stop_replica_timeout"),
    ("show_old_temporals", Read::Both, ""),
    ("skip_slave_start", Read::Global, "skip_replica_start"),
    ("slave_allow_batching", Read::Global, "replica_allow_batching"),
    ("slave_checkpoint_group", Read::Global, "replica_checkpoint_group"),
    ("slave_checkpoint_period", Read::Global, "replica_checkpoint_period"),
    ("slave_compressed_protocol", Read::Global, "replica_compressed_protocol"),
    ("slave_exec_mode", Read::Global, "replica_exec_mode"),
    ("slave_load_tmpdir", Read::Global, "replica_load_tmpdir"),
    ("slave_max_allowed_packet", Read::Global, "replica_max_allowed_packet"),
    ("slave_net_timeout", Read::Global, "replica_net_timeout"),
    ("slave_parallel_type", Read::Global, "replica_parallel_type"),
    ("slave_parallel_workers", Read::Global, "replica_parallel_workers"),
    ("slave_pending_jobs_size_max", Read::Global, "replica_pending_jobs_size_max"),
    ("slave_preserve_commit_order", Read::Global, "replica_preserve_commit_order"),
    ("slave_rows_search_algorithms", Read::Global, ""),
    ("slave_skip_errors", Read::Global, "replica_skip_errors"),
    ("slave_sql_verify_checksum", Read::Global, "replica_sql_verify_checksum"),
    ("slave_transaction_retries", Read::Global, "replica_transaction_retries"),
    ("slave_type_conversions", Read::Global, "replica_type_conversions"),
    ("sql_slave_skip_counter", Read::Global, "sql_replica_skip_counter"),
    ("sync_master_info", Read::Global, "sync_source_info"),
    ("terminology_use_previous", Read::Both, ""),
    ("transaction_prealloc_size", Read::Both, ""),
    ("transaction_write_set_extraction", Read::Both, ""),
];

/// The name that is to be used in place of a deprecated variable's, empty where there is none.
pub fn deprecated_variable(name: &str) -> Option<&'static str> {
    let found = DEPRECATED.binary_search_by_key(&name, |(name, ..)| name).ok()?;
    Some(DEPRECATED[found].2)
}

/// The deprecated variable that another name takes the place of.
pub fn deprecated_name_of(name: &str) -> Option<&'static str> {
    DEPRECATED.iter().find(|(.., other)| *other == name).map(|(old, ..)| *old)
}

/// What MySQL remarks on the name of a variable in SET.
pub fn deprecated_in_set(name: &str) -> Option<Remark> {
    let other = deprecated_variable(name)?;
    let mut text = format!("'@@{name}' is deprecated and will be removed in a future release.");
    if !other.is_empty() {
        text.push_str(&format!(" Please use {other} instead."));
    }
    Some(Remark { code: 1287, message: text.into() })
}

/// What MySQL remarks on `@@name` in an expression. A scope that the variable has not is an error
/// alone.
pub(crate) fn deprecated_in_expression(name: &str, scope: Option<VarScope>) -> Option<Remark> {
    let found = DEPRECATED.binary_search_by_key(&name, |(name, ..)| name).ok()?;
    let readable = match (scope, DEPRECATED[found].1) {
        (Some(VarScope::Global), read) => read != Read::Session,
        (Some(VarScope::Session), read) => read != Read::Global,
        _ => true,
    };
    if readable { deprecated_in_set(name) } else { None }
}
