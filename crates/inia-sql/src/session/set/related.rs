//! Values that are bounded by another variable, or that the server cannot take up as it runs.

use inia_base::error::{ErrorCode, SqlError};
use inia_query::context::SessionContext;
use inia_query::sysvar::{self, VarDef};

/// A checked value as it may be beside those of other variables: errors 1231, 3683, 3794, 4073 and
/// 4113, warnings where another value is taken.
pub(super) fn settled(
    session: &mut SessionContext,
    def: &VarDef,
    global: bool,
    text: String,
) -> Result<String, SqlError> {
    let fails = |code| Err(SqlError::new(code, &[]));
    match (def.name, text.as_str()) {
        ("binlog_encryption", "ON") => fails(ErrorCode::BinlogMasterKeyRecoveryFailed),
        ("ssl_fips_mode", "ON" | "STRICT") => {
            let why = "Openssl is not fips enabled. Error: error:0F06D065:common libcrypto \
                       routines:FIPS_mode_set:fips mode not supported";
            Err(SqlError::new(ErrorCode::SslFipsModeError, &[&why]))
        }
        ("expire_logs_days", days)
            if days != "0" && is_set(session, "binlog_expire_logs_seconds") =>
        {
            fails(ErrorCode::BinlogExpireLogDaysAndSecsUsedTogether)
        }
        ("binlog_expire_logs_seconds", seconds)
            if seconds != "0" && is_set(session, "expire_logs_days") =>
        {
            fails(ErrorCode::ExpireLogsDaysUsedTogether)
        }
        ("binlog_row_value_options", "PARTIAL_JSON") => {
            let why = "the binary log is closed";
            session.warn(ErrorCode::WarnBinlogPartialUpdatesDisabled, &[&why, &text]);
            Ok(text)
        }
        ("replica_parallel_workers", "0") => {
            let text = "'0' is deprecated and will be removed in a future release. Please use 1 \
                        instead";
            let code = ErrorCode::WarnDeprecatedSyntax;
            session.push_warning(&SqlError::with_message(code, text.to_owned()));
            Ok(String::from("0"))
        }
        // Threads of a session's own are those of the server, or none.
        ("max_delayed_threads" | "max_insert_delayed_threads", threads)
            if !global
                && threads != "0"
                && threads != global_text(session, "max_delayed_threads") =>
        {
            Err(SqlError::new(ErrorCode::WrongValueForVar, &[&def.name, &text]))
        }
        // It has no effect any more.
        ("innodb_undo_tablespaces", _) => Ok(String::from("2")),
        _ => Ok(bounded(session, def.name, text)),
    }
}

/// What DEFAULT sets a variable to. A server that starts computes this one from another; MySQL's
/// own default for it is the greatest value.
pub(super) fn default_of(def: &VarDef) -> &'static str {
    match def.name {
        "innodb_io_capacity_max" => "4294967295",
        _ => def.default,
    }
}

/// A value within a bound that is another variable, or that takes this one along.
fn bounded(session: &mut SessionContext, name: &str, text: String) -> String {
    match name {
        "innodb_io_capacity" => at_most(session, name, "innodb_io_capacity_max", text),
        "innodb_io_capacity_max" => at_least(session, name, "innodb_io_capacity", text),
        "innodb_max_dirty_pages_pct_lwm" => {
            at_most(session, name, "innodb_max_dirty_pages_pct", text)
        }
        "innodb_max_dirty_pages_pct" => {
            const LOW: &str = "innodb_max_dirty_pages_pct_lwm";
            if number(&text) < number(&global_text(session, LOW)) {
                warn(session, format!("{name} cannot be set lower than {LOW}."));
                warn(session, format!("Lowering innodb_max_dirty_page_pct_lwm to {text}"));
                session.db.globals.set(LOW, text.clone());
            }
            text
        }
        "max_binlog_cache_size" | "max_binlog_stmt_cache_size" => {
            let held = match name {
                "max_binlog_cache_size" => "binlog_cache_size",
                _ => "binlog_stmt_cache_size",
            };
            let now = global_text(session, held);
            let left = cache(session, held, now.clone(), &text);
            if left != now {
                session.db.globals.set(held, left);
            }
            text
        }
        "binlog_cache_size" | "binlog_stmt_cache_size" => {
            let most = global_text(session, &format!("max_{name}"));
            cache(session, name, text, &most)
        }
        _ => text,
    }
}

/// A cache of the binary log, at most as large as it may be: warnings 1738 and 1745.
fn cache(session: &mut SessionContext, name: &str, text: String, most: &str) -> String {
    if number(&text) <= number(most) {
        return text;
    }
    let code = match name {
        "binlog_cache_size" => ErrorCode::BinlogCacheSizeGreaterThanMax,
        _ => ErrorCode::BinlogStmtCacheSizeGreaterThanMax,
    };
    session.warn(code, &[&text, &most]);
    most.to_owned()
}

fn at_most(session: &mut SessionContext, name: &str, bound: &str, text: String) -> String {
    let most = global_text(session, bound);
    if number(&text) <= number(&most) {
        return text;
    }
    warn(session, format!("{name} cannot be set higher than {bound}."));
    // MySQL writes this name without its `s`.
    let shown = name.replace("_pages_pct_lwm", "_page_pct_lwm");
    warn(session, format!("Setting {shown} to {most}"));
    most
}

fn at_least(session: &mut SessionContext, name: &str, bound: &str, text: String) -> String {
    let least = global_text(session, bound);
    if number(&text) >= number(&least) {
        return text;
    }
    warn(session, format!("{name} cannot be set lower than {bound}."));
    warn(session, format!("Setting {name} to {least}"));
    least
}

/// Warning 1210 of a text of its own.
fn warn(session: &mut SessionContext, text: String) {
    session.push_warning(&SqlError::with_message(ErrorCode::WrongArguments, text));
}

fn is_set(session: &SessionContext, name: &str) -> bool {
    global_text(session, name) != "0"
}

/// The global value of a variable.
fn global_text(session: &SessionContext, name: &str) -> String {
    let changed = session.db.globals.all().get(name).cloned();
    let default = || sysvar::find(name).map(|def| def.default.to_owned()).unwrap_or_default();
    changed.unwrap_or_else(default)
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_default()
}
