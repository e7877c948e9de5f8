//! SET and RESET PERSIST.
//!
//! Each item is evaluated ([`value`]) and looked at by its scope and the session's privileges
//! ([`permitted`]); once all are known to be right, they take effect one after the other
//! ([`effect`]). `SET a = 1, b = a + 1` so gives `b` what follows from the old `a`.

mod deprecated;
pub(super) mod effect;
pub(super) mod permitted;
mod related;
mod startup;
mod texts;
pub(super) mod value;

pub use startup::{StartOutcome, is_start_variable, set_at_start};

use super::evaluate::{use_read, value_of};
use effect::{assign, isolation};
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::charset;
use inia_expr::{SessionHost, UserVar};
use inia_parser::ast::{self, SetItem, VarScope};
use inia_query::context::SessionContext;
use inia_query::context::StatementOutcome;
use inia_query::referenced::values_set;
use inia_query::sysvar::{self, VarDef};
use inia_storage::Isolation;
use permitted::{SET_BY_THE_SERVER, check_settable};
use value::{check_client, checked};

/// What one item of SET does once all items are known to be right.
enum Setting {
    User(String, UserVar),
    System {
        global: bool,
        name: &'static str,
        text: String,
    },
    /// A variable of a key cache.
    KeyCache {
        cache: String,
        name: &'static str,
        text: String,
    },
    /// Kept for the next start of the server.
    Persist(&'static str, String),
    /// Of the next transaction only.
    NextIsolation(Isolation),
    NextReadOnly(bool),
    /// The collation that results are described with.
    Results(Collation),
}

/// Variables that cannot be set to DEFAULT.
const NO_DEFAULT: [&str; 6] =
    ["gtid_purged", "identity", "insert_id", "last_insert_id", "rand_seed1", "rand_seed2"];

/// SET: all items are evaluated before the first takes effect; where one is wrong, none does.
pub(super) fn set(
    session: &mut SessionContext,
    items: &[SetItem],
    params: &[Value],
) -> Result<StatementOutcome, SqlError> {
    let mut settings = Vec::with_capacity(items.len());
    let before = use_read(session, values_set(items));
    session.host.assigned_vars.borrow_mut().clear();
    let prepared =
        items.iter().try_for_each(|item| prepare_item(session, item, params, &mut settings));
    session.used.truncate(before);
    prepared?;
    settings.into_iter().try_for_each(|setting| carry_out(session, setting))?;
    Ok(StatementOutcome::default())
}

fn prepare_item(
    session: &mut SessionContext,
    item: &SetItem,
    params: &[Value],
    settings: &mut Vec<Setting>,
) -> Result<(), SqlError> {
    let own = |name, text: &str| Setting::System { global: false, name, text: text.to_owned() };
    match item {
        SetItem::UserVar { name, value } => {
            let (name, var) = (name.to_lowercase(), value_of(session, value, params)?);
            session.note_assignment(&name);
            settings.push(Setting::User(name, var));
        }
        SetItem::SysVar { var, value, explicit } => {
            // `@@name` without a scope means the next transaction for transaction_isolation and
            // transaction_read_only.
            let once = *explicit && var.scope.is_none();
            prepare_system(session, var, value.as_ref(), params, once, settings)?;
        }
        SetItem::Names { charset, collation } => {
            charset.as_deref().map_or(Ok(()), check_client)?;
            let collation = charset::resolve(charset.as_deref(), collation.as_deref())?
                .unwrap_or(Collation::DEFAULT);
            let name = charset::charset_name(collation);
            settings.push(own("character_set_client", name));
            settings.push(own("character_set_results", name));
            settings.push(own("collation_connection", charset::name(collation)));
            settings.push(Setting::Results(collation));
        }
        SetItem::Charset(charset) => {
            charset.as_deref().map_or(Ok(()), check_client)?;
            let collation = charset::charset_default(charset.as_deref().unwrap_or("utf8mb4"))?;
            let name = charset::charset_name(collation);
            settings.push(own("character_set_client", name));
            settings.push(own("character_set_results", name));
            // Unlike SET NAMES, this takes the connection's collation from the database.
            let database = charset::name(super::database::database_collation(session));
            settings.push(own("collation_connection", database));
        }
    }
    Ok(())
}

fn carry_out(session: &mut SessionContext, setting: Setting) -> Result<(), SqlError> {
    match setting {
        Setting::User(name, var) => session.host.keep_user_var(name, var)?,
        Setting::System { global, name, text } => assign(session, global, name, &text)?,
        Setting::KeyCache { cache, name, text } => {
            session.db.globals.key_caches.set(&cache, name, text.parse().unwrap_or_default());
        }
        Setting::Persist(name, text) => session.db.catalog().persist(name, &text)?,
        Setting::NextIsolation(level) => session.state.next_isolation = Some(level),
        Setting::NextReadOnly(on) => session.state.next_read_only = Some(on),
        Setting::Results(collation) => session.results = Some(collation),
    }
    Ok(())
}

/// Warnings 1287 and 1681 of deprecated variables and values, once the value is found good.
fn warn_of_value(session: &mut SessionContext, name: &str, value: &str) {
    let (code, text) = match name {
        "explicit_defaults_for_timestamp" if value == "OFF" => {
            let end = "is deprecated and will be removed in a future release.";
            (ErrorCode::WarnDeprecatedSyntax, format!("'{name}' {end}"))
        }
        "temptable_use_mmap" => {
            let end = "is deprecated and will be removed in a future release.";
            (ErrorCode::WarnDeprecatedSyntax, format!("'{name}' {end}"))
        }
        "collation_database" | "character_set_database" | "default_collation_for_utf8mb4" => {
            let later = "is deprecated. It will be made read-only in a future release.";
            let code = ErrorCode::WarnDeprecatedSyntaxNoReplacement;
            (code, format!("Updating '{name}' {later}"))
        }
        _ => return,
    };
    session.push_warning(&SqlError::with_message(code, text));
}

/// Warning 1230 of variables that have no default and take what stands for one.
fn warn_of_default(session: &mut SessionContext, name: &str) {
    const NO_COUNTER: &str = "Default value is not defined for this set option. Please specify \
                              correct counter or module name.";
    if name.starts_with("innodb_monitor_") {
        session.push_warning(&SqlError::with_message(ErrorCode::NoDefault, NO_COUNTER.to_owned()));
    }
}

/// The variable that a statement names.
fn named(var: &ast::SysVar) -> Result<&'static VarDef, SqlError> {
    match &var.component {
        // Only key caches have such names.
        Some(component) if !var.name.starts_with("key_") => {
            sysvar::find(&format!("{component}.{}", var.name))
        }
        _ => sysvar::find(&var.name),
    }
}

/// A system variable; `once` where it was written as `@@name`, without a scope.
fn prepare_system(
    session: &mut SessionContext,
    var: &ast::SysVar,
    value: Option<&ast::Expr>,
    params: &[Value],
    once: bool,
    settings: &mut Vec<Setting>,
) -> Result<(), SqlError> {
    let def = named(var)?;
    let global =
        matches!(var.scope, Some(VarScope::Global | VarScope::Persist | VarScope::PersistOnly));
    if !global && SET_BY_THE_SERVER.contains(&def.name) {
        // A value of a wrong type is reported first.
        if let Some(value) = value {
            let value = value_of(session, value, params)?.value;
            checked(session, (def, def.name), global, &value)?;
        }
    }
    let written = def.name;
    let meant = deprecated::resolve(session, def)?;
    check_settable(session, def, var.scope, global)?;
    let def = meant;
    if let Some(scope @ (VarScope::Persist | VarScope::PersistOnly)) = var.scope {
        let text = match value {
            Some(value) => {
                let value = value_of(session, value, params)?.value;
                checked(session, (def, written), true, &value)?
            }
            None => def.default.to_owned(),
        };
        if scope == VarScope::Persist {
            settings.push(Setting::System { global: true, name: def.name, text: text.clone() });
        }
        settings.push(Setting::Persist(def.name, text));
        return Ok(());
    }
    let text = match value {
        Some(value) => {
            let value = value_of(session, value, params)?.value;
            let text = checked(session, (def, written), global, &value)?;
            related::settled(session, def, global, text)?
        }
        None if NO_DEFAULT.contains(&def.name) => {
            return Err(SqlError::new(ErrorCode::NoDefault, &[&def.name]));
        }
        None => {
            warn_of_default(session, def.name);
            let text = session.db.globals.all().get(def.name).cloned().filter(|_| !global);
            text.unwrap_or_else(|| related::default_of(def).to_owned())
        }
    };
    warn_of_value(session, def.name, &text);
    let cache = match &var.component {
        Some(cache) if def.name.starts_with("key_") => named_cache(session, cache, def),
        _ => None,
    };
    if def.name == "key_buffer_size" && cache.is_none() && text == "0" {
        return Err(SqlError::new(ErrorCode::WarnCantDropDefaultKeycache, &[]));
    }
    settings.push(match cache {
        Some(cache) => Setting::KeyCache { cache, name: def.name, text },
        None => chosen(session, def, (global, once), text)?,
    });
    Ok(())
}

/// The key cache of that name, `None` for the default one; warning 1287 of the syntax.
fn named_cache(session: &mut SessionContext, cache: &str, def: &VarDef) -> Option<String> {
    let end = "syntax is deprecated and will be removed in a future release";
    let text = format!("{cache}.{} {end}", def.name);
    session.push_warning(&SqlError::with_message(ErrorCode::WarnDeprecatedSyntax, text));
    (!cache.eq_ignore_ascii_case("default")).then(|| cache.to_owned())
}

/// What a variable's value is to do; errors 1192 and 1568 where it may not do so now.
fn chosen(
    session: &SessionContext,
    def: &'static VarDef,
    (global, once): (bool, bool),
    text: String,
) -> Result<Setting, SqlError> {
    let closes = def.name == "read_only" || (def.name == "super_read_only" && text == "ON");
    if global && closes && session.is_engaged() {
        return Err(SqlError::new(ErrorCode::LockOrActiveTransaction, &[]));
    }
    Ok(match def.name {
        "transaction_isolation" | "transaction_read_only" if once => {
            if session.state.explicit || (session.state.open && !session.state.autocommit) {
                return Err(SqlError::new(ErrorCode::CantChangeTxCharacteristics, &[]));
            }
            match def.name {
                "transaction_isolation" => Setting::NextIsolation(isolation(&text)),
                _ => Setting::NextReadOnly(text == "ON"),
            }
        }
        name => Setting::System { global, name, text },
    })
}

/// RESET PERSIST: error 3615, a warning with IF EXISTS.
pub(super) fn reset_persist(
    session: &mut SessionContext,
    name: Option<&str>,
    if_exists: bool,
) -> Result<StatementOutcome, SqlError> {
    let lower = name.map(str::to_ascii_lowercase);
    let found = session.db.catalog().forget_persisted(lower.as_deref())?;
    match name {
        Some(name) if !found && if_exists => session.warn(ErrorCode::VarDoesNotExist, &[&name]),
        Some(name) if !found => {
            return Err(SqlError::new(ErrorCode::VarDoesNotExist, &[&name]));
        }
        _ => {}
    }
    Ok(StatementOutcome::default())
}
