//! What setting a variable changes in the session or the server.

use super::deprecated;
use crate::session::{optimizer_trace, profile};
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::TimeZone;
use inia_expr::charset;
use inia_expr::locale;
use inia_query::context::SessionContext;
use inia_query::observe;
use inia_query::sysvar::{self, SessionVars, sql_mode};
use inia_storage::Isolation;
use std::time::Duration;

/// Variables that always read as 0.
const WRITE_ONLY: [&str; 2] = ["rand_seed1", "rand_seed2"];

/// Gives a variable a checked value and lets it take effect.
pub(in crate::session) fn assign(
    session: &mut SessionContext,
    global: bool,
    name: &str,
    text: &str,
) -> Result<(), SqlError> {
    let def = sysvar::find(name)?;
    if global {
        let globals = &session.db.globals;
        globals.set(def.name, text.to_owned());
        if let Some(old) = deprecated::old_name(def.name) {
            globals.set(old, text.to_owned());
        }
        // The stricter variable holds the other, and of a pair of names each follows the other.
        match (def.name, text) {
            ("super_read_only", "ON") => globals.set("read_only", text.to_owned()),
            ("read_only", "OFF") => globals.set("super_read_only", text.to_owned()),
            (name, text) => {
                if let Some((other, text)) = paired(name, text)? {
                    globals.set(other, text);
                }
            }
        }
        session.look_at_read_only();
        match (def.name, text) {
            ("event_scheduler", _) => session.db.events.notify(),
            ("inia_column_cache", "OFF") => session.db.columns.clear(),
            _ => {}
        }
        if observe::SETTINGS.contains(&def.name)
            && let Err(error) = session.db.observer.configure(&session.db.globals)
        {
            let said = format!("'{name}': the log cannot be written: {error}");
            session.push_warning(&SqlError::with_message(ErrorCode::UnknownError, said));
        }
        return Ok(());
    }
    take_effect(session, def.name, text)?;
    if let Some((other, text)) = paired(def.name, text)? {
        session.host.vars.borrow_mut().values.insert(other, text);
    }
    if !WRITE_ONLY.contains(&def.name) {
        session.host.vars.borrow_mut().values.insert(def.name, text.to_owned());
    }
    session.settings += 1;
    Ok(())
}

/// Lets a session's value take effect.
pub(in crate::session) fn take_effect(
    session: &mut SessionContext,
    name: &str,
    text: &str,
) -> Result<(), SqlError> {
    let number = || text.parse::<u64>().unwrap_or_default();
    match name {
        "autocommit" => {
            let on = text == "ON";
            if on && !session.state.autocommit {
                session.refuse_in_branch()?;
                session.commit()?;
            }
            session.state.autocommit = on;
        }
        "sql_mode" => session.env.sql_mode = sql_mode::parse(text)?,
        "optimizer_trace" | "optimizer_trace_offset" | "optimizer_trace_limit" => {
            optimizer_trace::set_up(session, name, text);
        }
        "profiling" | "profiling_history_size" => profile::set_up(session, name, text),
        "time_zone" => {
            let unknown = || SqlError::new(ErrorCode::UnknownTimeZone, &[&text]);
            session.env.time_zone = TimeZone::parse(text).ok_or_else(unknown)?;
        }
        "transaction_isolation" => session.state.isolation = isolation(text),
        "transaction_read_only" => session.state.default_read_only = text == "ON",
        "innodb_lock_wait_timeout" => {
            session.txn.get_mut().set_lock_wait_timeout(Duration::from_secs(number()));
        }
        "lock_wait_timeout" => session.state.mdl_timeout = Duration::from_secs(number()),
        "collation_connection" => session.env.collation = charset::collation(text)?,
        "character_set_connection" => session.env.collation = charset::charset_default(text)?,
        "character_set_results" if text.is_empty() => session.results = None,
        "character_set_client" | "character_set_results" if !text.is_empty() => {
            let charset = charset::charset_default(text)?.charset();
            if name == "character_set_client" {
                session.env.client_charset = charset;
            } else {
                session.results = None;
            }
        }
        "max_error_count" => {
            session.env.max_error_count = number() as usize;
            session.diagnostics.limit = number() as usize;
        }
        "div_precision_increment" => session.env.div_precision_increment = number() as u8,
        "sql_auto_is_null" => session.env.auto_is_null = text == "ON",
        "wait_timeout" => session.wait_timeout = number(),
        "max_execution_time" => session.env.max_execution_time = number(),
        "tmp_table_size" => session.env.tmp_table_size = number() as usize,
        "group_concat_max_len" => session.env.group_concat_max_len = number() as usize,
        "lc_time_names" => {
            session.env.locale = locale::find(text).filter(|locale| locale.name != "en_US");
        }
        "pseudo_thread_id" => session.env.connection_id = number(),
        "rand_seed1" | "rand_seed2" => session.host.seed(name == "rand_seed1", number()),
        "default_week_format" => session.env.default_week_format = number() as u8,
        "last_insert_id" | "identity" => session.env.last_insert_id = number(),
        "auto_increment_increment" | "auto_increment_offset" | "timestamp" => {
            keep_parsed(&mut session.host.vars.borrow_mut(), name, text);
        }
        _ => {}
    }
    Ok(())
}

/// Keeps the number that a variable's text says.
fn keep_parsed(vars: &mut SessionVars, name: &str, text: &str) {
    let number = text.parse::<f64>().unwrap_or_default();
    match name {
        "auto_increment_increment" => vars.series.increment = (number as u64).max(1),
        "auto_increment_offset" => vars.series.offset = number as u64,
        _ => vars.timestamp_micros = (number != 0.0).then_some((number * 1e6) as i64),
    }
}

/// The other name of a character set and its collation, and what it becomes: a collation brings its
/// character set, and that its default collation.
fn paired(name: &str, text: &str) -> Result<Option<(&'static str, String)>, SqlError> {
    const PAIRS: [(&str, &str); 3] = [
        ("character_set_connection", "collation_connection"),
        ("character_set_database", "collation_database"),
        ("character_set_server", "collation_server"),
    ];
    for (of_charset, of_collation) in PAIRS {
        if name == of_charset {
            let collation = charset::charset_default(text)?;
            return Ok(Some((of_collation, charset::name(collation).to_owned())));
        }
        if name == of_collation {
            let collation = charset::collation(text)?;
            return Ok(Some((of_charset, charset::charset_name(collation).to_owned())));
        }
    }
    Ok(None)
}

pub(super) fn isolation(text: &str) -> Isolation {
    match text {
        "READ-UNCOMMITTED" => Isolation::ReadUncommitted,
        "READ-COMMITTED" => Isolation::ReadCommitted,
        "SERIALIZABLE" => Isolation::Serializable,
        _ => Isolation::RepeatableRead,
    }
}

/// The collation that results are described with.
pub(in crate::session) fn result_collation(session: &SessionContext) -> Option<Collation> {
    if let Some(collation) = session.results {
        return Some(collation);
    }
    let charset = session.var("character_set_results").filter(|text| !text.is_empty())?;
    charset::charset_default(&charset).ok()
}
