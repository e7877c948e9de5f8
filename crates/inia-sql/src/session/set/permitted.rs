//! Which variables can be set in which scope, and by whom.

use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::VarScope;
use inia_query::context::{SessionContext, XaStage};
use inia_query::sysvar::{self, Home};

/// Prefixes of the read-only variables that PERSIST_ONLY refuses, too.
const FIXED: [&str; 10] = [
    "basedir",
    "datadir",
    "hostname",
    "license",
    "lower_case_file_system",
    "pid_file",
    "plugin_dir",
    "protocol_version",
    "server_uuid",
    "version",
];

/// Session variables that only the server sets.
pub(super) const SET_BY_THE_SERVER: [&str; 3] =
    ["max_allowed_packet", "max_user_connections", "net_buffer_length"];

/// Whether the variable can be set in that scope, and by this session.
pub(super) fn check_settable(
    session: &SessionContext,
    def: &sysvar::VarDef,
    scope: Option<VarScope>,
    global: bool,
) -> Result<(), SqlError> {
    let wrong =
        |what: &str| Err(SqlError::new(ErrorCode::IncorrectGlobalLocalVar, &[&def.name, &what]));
    // The scope comes before the privileges: a wrong one has the same error for all accounts.
    match (def.home, global) {
        // PERSIST_ONLY takes effect at the next start, so it may name a read-only variable.
        (Home::ReadOnly, _) if scope == Some(VarScope::PersistOnly) => {
            if FIXED.iter().any(|fixed| def.name.starts_with(fixed)) {
                return wrong("non persistent read only");
            }
        }
        (Home::ReadOnly, _) => return wrong("read only"),
        (Home::Global, false) => {
            return Err(SqlError::new(ErrorCode::GlobalVariable, &[&def.name]));
        }
        (_, false) if SET_BY_THE_SERVER.contains(&def.name) => {
            let what: [&dyn std::fmt::Display; 3] = [&"SESSION", &def.name, &"GLOBAL"];
            return Err(SqlError::new(ErrorCode::VariableIsReadonly, &what));
        }
        (_, true) if def.name == "rbr_exec_mode" => {
            return Err(SqlError::new(ErrorCode::LocalVariable, &[&def.name]));
        }
        (Home::Session, true) => return Err(SqlError::new(ErrorCode::LocalVariable, &[&def.name])),
        _ => {}
    }
    if scope == Some(VarScope::PersistOnly) {
        // SUPER, which `has_dynamic` accepts, is not enough here.
        let needed = ["SYSTEM_VARIABLES_ADMIN", "PERSIST_RO_VARIABLES_ADMIN"];
        if !needed.iter().all(|name| session.access().dynamic.contains_key(*name)) {
            let names = needed.join(" and ");
            return Err(SqlError::new(ErrorCode::PersistOnlyAccessDeniedError, &[&names]));
        }
    }
    if global && !session.access().has_dynamic("SYSTEM_VARIABLES_ADMIN") {
        let names = "SUPER or SYSTEM_VARIABLES_ADMIN";
        return Err(SqlError::new(ErrorCode::SpecificAccessDenied, &[&names]));
    }
    if !global {
        check_restricted(session, def.name)?;
        let within = || session.state.explicit || session.state.branch.stage() != XaStage::None;
        if def.name == "xa_detach_on_prepare" && within() {
            return Err(SqlError::new(ErrorCode::VariableNotSettableInTransaction, &[&def.name]));
        }
    }
    Ok(())
}

/// Error 1227 for session variables that need SESSION_VARIABLES_ADMIN.
pub(in crate::session) fn check_restricted(
    session: &SessionContext,
    name: &str,
) -> Result<(), SqlError> {
    const PLAIN: [&str; 2] = ["internal_tmp_mem_storage_engine", "max_error_count"];
    const OLD: [&str; 11] = [
        "binlog_direct_non_transactional_updates",
        "binlog_format",
        "binlog_row_image",
        "bulk_insert_buffer_size",
        "character_set_database",
        "character_set_filesystem",
        "histogram_generation_max_mem_size",
        "pseudo_slave_mode",
        "pseudo_thread_id",
        "sql_log_bin",
        "sql_log_off",
    ];
    const REPLICATION: [&str; 4] = [
        "gtid_next",
        "immediate_server_version",
        "original_commit_timestamp",
        "original_server_version",
    ];
    let (plain, replication) = (PLAIN.contains(&name), REPLICATION.contains(&name));
    if !plain && !replication && !OLD.contains(&name) {
        return Ok(());
    }
    let access = session.access();
    let admin = ["SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN"];
    if admin.iter().any(|name| access.has_dynamic(name))
        || (replication && access.has_dynamic("REPLICATION_APPLIER"))
    {
        return Ok(());
    }
    Err(access.lacks(match (plain, replication) {
        (true, _) => "SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN",
        (_, true) => {
            "SUPER, SYSTEM_VARIABLES_ADMIN, SESSION_VARIABLES_ADMIN or REPLICATION_APPLIER"
        }
        _ => "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN",
    }))
}
