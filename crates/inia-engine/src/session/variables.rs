//! SET, DO, and what setting a variable changes in the session.

use super::Outcome;
use super::core::Core;
use super::plan::{evaluate, plan_query};
use crate::account::AccountName;
use crate::catalog::charset;
use crate::dml::has_subquery;
use crate::exec::Runner;
use crate::expr::{self, Binder, EmptyScope, Scope, SqlMode, UserVar, locale};
use crate::sysvar::{self, Home, Kind};
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_parser::ast::{self, SetItem, VarScope};
use inia_storage::Isolation;
use std::time::Duration;

/// The flags of `sql_mode` by name.
const MODES: &[(&str, SqlMode)] = &[
    ("REAL_AS_FLOAT", SqlMode::REAL_AS_FLOAT),
    ("PIPES_AS_CONCAT", SqlMode::PIPES_AS_CONCAT),
    ("ANSI_QUOTES", SqlMode::ANSI_QUOTES),
    ("IGNORE_SPACE", SqlMode::IGNORE_SPACE),
    ("ONLY_FULL_GROUP_BY", SqlMode::ONLY_FULL_GROUP_BY),
    ("NO_UNSIGNED_SUBTRACTION", SqlMode::NO_UNSIGNED_SUBTRACTION),
    ("NO_DIR_IN_CREATE", SqlMode::NO_DIR_IN_CREATE),
    ("ANSI", SqlMode(0x40000)),
    ("NO_AUTO_VALUE_ON_ZERO", SqlMode::NO_AUTO_VALUE_ON_ZERO),
    ("NO_BACKSLASH_ESCAPES", SqlMode::NO_BACKSLASH_ESCAPES),
    ("STRICT_TRANS_TABLES", SqlMode::STRICT_TRANS_TABLES),
    ("STRICT_ALL_TABLES", SqlMode::STRICT_ALL_TABLES),
    ("NO_ZERO_IN_DATE", SqlMode::NO_ZERO_IN_DATE),
    ("NO_ZERO_DATE", SqlMode::NO_ZERO_DATE),
    ("ALLOW_INVALID_DATES", SqlMode::ALLOW_INVALID_DATES),
    ("ERROR_FOR_DIVISION_BY_ZERO", SqlMode::ERROR_FOR_DIVISION_BY_ZERO),
    ("TRADITIONAL", SqlMode(0x800_0000)),
    ("HIGH_NOT_PRECEDENCE", SqlMode::HIGH_NOT_PRECEDENCE),
    ("NO_ENGINE_SUBSTITUTION", SqlMode::NO_ENGINE_SUBSTITUTION),
    ("PAD_CHAR_TO_FULL_LENGTH", SqlMode::PAD_CHAR_TO_FULL_LENGTH),
    ("TIME_TRUNCATE_FRACTIONAL", SqlMode::TIME_TRUNCATE_FRACTIONAL),
];
const ANSI: u64 = 0x40000 | 1 | 2 | 4 | 8 | 32;
const TRADITIONAL: u64 =
    0x800_0000 | 0x20_0000 | 0x40_0000 | 0x80_0000 | 0x100_0000 | 0x400_0000 | 0x4000_0000;

/// What one item of SET does once all items are known to be right.
enum Setting {
    User(String, UserVar),
    System {
        global: bool,
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

/// SET: all items are evaluated before the first takes effect; where one is wrong, none does.
pub(super) fn set(
    core: &mut Core,
    items: &[SetItem],
    params: &[Value],
) -> Result<Outcome, SqlError> {
    let mut settings = Vec::with_capacity(items.len());
    for item in items {
        prepare_item(core, item, params, &mut settings)?;
    }
    settings.into_iter().try_for_each(|setting| carry_out(core, setting))?;
    Ok(Outcome::default())
}

fn prepare_item(
    core: &mut Core,
    item: &SetItem,
    params: &[Value],
    settings: &mut Vec<Setting>,
) -> Result<(), SqlError> {
    let own = |name, text: &str| Setting::System { global: false, name, text: text.to_owned() };
    match item {
        SetItem::UserVar { name, value } => {
            let var = value_of(core, value, params)?;
            settings.push(Setting::User(name.to_lowercase(), var));
        }
        SetItem::SysVar { var, value, explicit } => {
            let once = *explicit && var.scope.is_none();
            prepare_system(core, var, value.as_ref(), params, once, settings)?;
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
            let database = charset::name(core.database_collation());
            settings.push(own("collation_connection", database));
        }
        SetItem::NewColumn { .. } => {
            return Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"SET NEW here"]));
        }
    }
    Ok(())
}

fn carry_out(core: &mut Core, setting: Setting) -> Result<(), SqlError> {
    match setting {
        Setting::User(name, var) => drop(core.host.user_vars.borrow_mut().insert(name, var)),
        Setting::System { global, name, text } => assign(core, global, name, &text)?,
        Setting::Persist(name, text) => core.db.catalog().persist(name, &text)?,
        Setting::NextIsolation(level) => core.state.next_isolation = Some(level),
        Setting::NextReadOnly(on) => core.state.next_read_only = Some(on),
        Setting::Results(collation) => core.results = Some(collation),
    }
    Ok(())
}

/// DO: evaluates and forgets.
pub(super) fn do_exprs(
    core: &mut Core,
    exprs: &[ast::Expr],
    params: &[Value],
) -> Result<Outcome, SqlError> {
    for expr in exprs {
        value_of(core, expr, params)?;
    }
    Ok(Outcome::default())
}

pub(super) fn value_of(
    core: &mut Core,
    expr: &ast::Expr,
    params: &[Value],
) -> Result<UserVar, SqlError> {
    if has_subquery(expr) {
        return value_of_query(core, expr, params);
    }
    let mut scope = EmptyScope;
    let scope: &mut dyn Scope = &mut scope;
    let bound = Binder { scope, env: &core.env, host: &core.host }.scalar(expr)?;
    let ty = bound.ty.clone();
    let value = evaluate(core, params, |_, ctx| bound.eval(ctx, &[]))?;
    Ok(UserVar { value, ty })
}

/// The value of an expression with subqueries: that of `SELECT expr`.
fn value_of_query(
    core: &mut Core,
    expr: &ast::Expr,
    params: &[Value],
) -> Result<UserVar, SqlError> {
    let item = ast::SelectItem::Expr { expr: expr.clone(), alias: None, text: String::new() };
    let select = ast::Select { items: vec![item], ..ast::Select::default() };
    let query = ast::Query::new(ast::QueryBody::Select(Box::new(select)));
    core.enter();
    let start = core.txn.get_mut().savepoint();
    let mut value = Value::Null;
    let lock = core.plain_lock();
    let result = plan_query(core, &query, lock).and_then(|plan| {
        core.lock_read(&plan)?;
        let (result, warnings) = {
            let shared: &Core = core;
            let runner = Runner::new(&plan, shared);
            let mut ctx = shared.context(params, &runner);
            let result = runner.run(&mut ctx, &mut |_, tuple| {
                value = tuple.first().cloned().unwrap_or(Value::Null);
                Ok(true)
            });
            (result, std::mem::take(&mut ctx.warnings))
        };
        core.take_warnings(warnings);
        result.map(|()| plan.root.columns[0].ty.clone())
    });
    core.leave(start, result.as_ref().err())?;
    Ok(UserVar { value, ty: result? })
}

/// RESET PERSIST: error 3615, a warning with IF EXISTS.
pub(super) fn reset_persist(
    core: &mut Core,
    name: Option<&str>,
    if_exists: bool,
) -> Result<Outcome, SqlError> {
    let lower = name.map(str::to_ascii_lowercase);
    let found = core.db.catalog().forget_persisted(lower.as_deref())?;
    match name {
        Some(name) if !found && if_exists => core.warn(ErrorCode::VarDoesNotExist, &[&name]),
        Some(name) if !found => {
            return Err(SqlError::new(ErrorCode::VarDoesNotExist, &[&name]));
        }
        _ => {}
    }
    Ok(Outcome::default())
}

/// How the names of read-only variables begin that cannot be kept either.
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

/// A system variable; `once` where it was written as `@@name`, without a scope.
fn prepare_system(
    core: &mut Core,
    var: &ast::SysVar,
    value: Option<&ast::Expr>,
    params: &[Value],
    once: bool,
    settings: &mut Vec<Setting>,
) -> Result<(), SqlError> {
    let def = match &var.component {
        // Only key caches have such names.
        Some(component) if !var.name.starts_with("key_") => {
            sysvar::find(&format!("{component}.{}", var.name))?
        }
        _ => sysvar::find(&var.name)?,
    };
    let global =
        matches!(var.scope, Some(VarScope::Global | VarScope::Persist | VarScope::PersistOnly));
    check_settable(core, def, var.scope, global)?;
    if let Some(scope @ (VarScope::Persist | VarScope::PersistOnly)) = var.scope {
        let text = match value {
            Some(value) => {
                let value = value_of(core, value, params)?.value;
                checked(core, def, &value)?
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
            let value = value_of(core, value, params)?.value;
            checked(core, def, &value)?
        }
        None if WRITE_ONLY.contains(&def.name) => {
            return Err(SqlError::new(ErrorCode::NoDefault, &[&def.name]));
        }
        None => {
            let text = core.db.globals.0.read().get(def.name).cloned().filter(|_| !global);
            text.unwrap_or_else(|| def.default.to_owned())
        }
    };
    let closes = def.name == "read_only" || (def.name == "super_read_only" && text == "ON");
    if global && closes && core.is_engaged() {
        return Err(SqlError::new(ErrorCode::LockOrActiveTransaction, &[]));
    }
    settings.push(match def.name {
        "transaction_isolation" | "transaction_read_only" if once => {
            if core.state.explicit || (core.state.open && !core.state.autocommit) {
                return Err(SqlError::new(ErrorCode::CantChangeTxCharacteristics, &[]));
            }
            match def.name {
                "transaction_isolation" => Setting::NextIsolation(isolation(&text)),
                _ => Setting::NextReadOnly(text == "ON"),
            }
        }
        name => Setting::System { global, name, text },
    });
    Ok(())
}

/// Whether the variable can be set in that scope, and by this session.
fn check_settable(
    core: &Core,
    def: &sysvar::VarDef,
    scope: Option<VarScope>,
    global: bool,
) -> Result<(), SqlError> {
    let wrong =
        |what: &str| Err(SqlError::new(ErrorCode::IncorrectGlobalLocalVar, &[&def.name, &what]));
    match (def.home, global) {
        (Home::ReadOnly, _) if scope == Some(VarScope::PersistOnly) => {
            if FIXED.iter().any(|fixed| def.name.starts_with(fixed)) {
                return wrong("non persistent read only");
            }
        }
        (Home::ReadOnly, _) => return wrong("read only"),
        (Home::Global, false) => {
            return Err(SqlError::new(ErrorCode::GlobalVariable, &[&def.name]));
        }
        (_, false) if def.name == "max_user_connections" => {
            let what: [&dyn std::fmt::Display; 3] = [&"SESSION", &def.name, &"GLOBAL"];
            return Err(SqlError::new(ErrorCode::VariableIsReadonly, &what));
        }
        (Home::Session, true) => return Err(SqlError::new(ErrorCode::LocalVariable, &[&def.name])),
        _ => {}
    }
    if scope == Some(VarScope::PersistOnly) {
        let needed = ["SYSTEM_VARIABLES_ADMIN", "PERSIST_RO_VARIABLES_ADMIN"];
        if !needed.iter().all(|name| core.access().dynamic.contains_key(*name)) {
            let names = needed.join(" and ");
            return Err(SqlError::new(ErrorCode::PersistOnlyAccessDeniedError, &[&names]));
        }
    }
    if global && !core.access().has_dynamic("SYSTEM_VARIABLES_ADMIN") {
        let names = "SUPER or SYSTEM_VARIABLES_ADMIN";
        return Err(SqlError::new(ErrorCode::SpecificAccessDenied, &[&names]));
    }
    if !global {
        check_restricted(core, def.name)?;
    }
    Ok(())
}

/// Error 1227: session variables that SESSION_VARIABLES_ADMIN is needed for.
pub(super) fn check_restricted(core: &Core, name: &str) -> Result<(), SqlError> {
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
    let access = core.access();
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

/// A value as the variable's text; errors 1231, 1232; warning 1292 where it is clipped.
pub(super) fn checked(
    core: &mut Core,
    def: &sysvar::VarDef,
    value: &Value,
) -> Result<String, SqlError> {
    let shown = crate::catalog::value_text(value, &inia_base::datatype::DataType::Null);
    let refused = || SqlError::new(ErrorCode::WrongValueForVar, &[&def.name, &shown]);
    let wrong_type = || SqlError::new(ErrorCode::WrongTypeForVar, &[&def.name]);
    let number = match value {
        Value::Int(v) => Some(i128::from(*v)),
        Value::UInt(v) => Some(i128::from(*v)),
        _ => None,
    };
    match def.kind {
        Kind::Bool => match (number, shown.to_ascii_uppercase().as_str()) {
            (Some(1), _) | (None, "ON" | "TRUE") => Ok(String::from("ON")),
            (Some(0), _) | (None, "OFF" | "FALSE") => Ok(String::from("OFF")),
            _ => Err(refused()),
        },
        Kind::Int(low, high) => {
            let number = number.ok_or_else(wrong_type)?;
            let clipped = number.clamp(i128::from(low), i128::from(high));
            if clipped != number {
                core.warn(ErrorCode::TruncatedWrongValue, &[&def.name, &number]);
            }
            Ok(clipped.to_string())
        }
        Kind::Double => match value {
            Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_) => {
                if !shown.starts_with('-') {
                    return Ok(shown);
                }
                core.warn(ErrorCode::TruncatedWrongValue, &[&def.name, &shown]);
                Ok(String::from("0"))
            }
            _ => Err(wrong_type()),
        },
        Kind::Word(words) => {
            let at = match number {
                Some(number) => usize::try_from(number).ok().filter(|at| *at < words.len()),
                None => words.iter().position(|word| word.eq_ignore_ascii_case(&shown)),
            };
            at.map(|at| words[at].to_owned()).ok_or_else(refused)
        }
        Kind::Text if def.name == "sql_mode" => {
            let bits = match (number, value) {
                (Some(number), _) => mode_of(u64::try_from(number).map_err(|_| refused())?)?,
                (None, Value::Decimal(_) | Value::Double(_)) => return Err(wrong_type()),
                (None, _) => parse_mode(&shown)?,
            };
            warn_of_mode(core, bits);
            Ok(mode_text(bits))
        }
        Kind::Text => match value {
            Value::Null if def.name == "character_set_results" => Ok(String::new()),
            Value::Null => Err(refused()),
            _ => named(def.name, shown),
        },
    }
}

/// Warnings 3090 and 3135: modes that go out of use, and zero dates apart from strict mode.
fn warn_of_mode(core: &mut Core, mode: SqlMode) {
    if mode.has(SqlMode::PAD_CHAR_TO_FULL_LENGTH) {
        core.warn(ErrorCode::WarnDeprecatedSqlmode, &[&"PAD_CHAR_TO_FULL_LENGTH"]);
    }
    let zeros =
        [SqlMode::NO_ZERO_DATE, SqlMode::NO_ZERO_IN_DATE, SqlMode::ERROR_FOR_DIVISION_BY_ZERO];
    let on = zeros.iter().filter(|flag| mode.has(**flag)).count();
    if (on > 0 && !mode.is_strict()) || (on < zeros.len() && mode.is_strict()) {
        core.warn(ErrorCode::SqlModeMerged, &[]);
    }
}

/// The texts that must name something: errors 1115, 1273, 1286, 1298.
fn named(variable: &str, text: String) -> Result<String, SqlError> {
    const ENGINES: [&str; 3] = ["InnoDB", "MyISAM", "MEMORY"];
    if variable == "character_set_client" {
        check_client(&text)?;
    }
    if variable.starts_with("character_set_") && !variable.ends_with("_dir") {
        let collation = charset::charset_default(&text)?;
        return Ok(charset::charset_name(collation).to_owned());
    }
    if variable.starts_with("collation_") {
        return Ok(charset::name(charset::collation(&text)?).to_owned());
    }
    match variable {
        "default_storage_engine" | "default_tmp_storage_engine" => {
            let known = ENGINES.iter().find(|engine| engine.eq_ignore_ascii_case(&text));
            let unknown = || SqlError::new(ErrorCode::UnknownStorageEngine, &[&text]);
            Ok((*known.ok_or_else(unknown)?).to_owned())
        }
        "lc_time_names" => {
            let unknown = || SqlError::new(ErrorCode::UnknownLocale, &[&text]);
            Ok(locale::find(&text).ok_or_else(unknown)?.name.to_owned())
        }
        "time_zone" if TimeZone::parse(&text).is_none() => {
            Err(SqlError::new(ErrorCode::UnknownTimeZone, &[&text]))
        }
        _ => Ok(text),
    }
}

/// Error 1231 for character sets that no client can write statements in.
fn check_client(charset: &str) -> Result<(), SqlError> {
    const WIDE: [&str; 4] = ["ucs2", "utf16", "utf16le", "utf32"];
    match WIDE.iter().any(|wide| wide.eq_ignore_ascii_case(charset)) {
        true => {
            let what: [&dyn std::fmt::Display; 2] = [&"character_set_client", &charset];
            Err(SqlError::new(ErrorCode::WrongValueForVar, &what))
        }
        false => Ok(()),
    }
}

/// Reads `sql_mode`'s number; errors 1231 and 3899.
fn mode_of(number: u64) -> Result<SqlMode, SqlError> {
    /// What modes have come to mean that are no more.
    const NOT_USED: u64 = 16;
    let known = MODES.iter().fold(NOT_USED, |all, (_, flag)| all | flag.0);
    let most = SqlMode::TIME_TRUNCATE_FRACTIONAL.0;
    if number >= 2 * most {
        return Err(SqlError::new(ErrorCode::WrongValueForVar, &[&"sql_mode", &number]));
    }
    if number & !known != 0 {
        let unknown = format!("{:08x}", number & !known);
        return Err(SqlError::new(ErrorCode::UnsupportedSqlMode, &[&unknown]));
    }
    let several = [ANSI, TRADITIONAL].into_iter().zip(["ANSI", "TRADITIONAL"]);
    let named = |name: &str| MODES.iter().any(|(n, flag)| *n == name && number & flag.0 != 0);
    let meant = several.filter(|(_, name)| named(name)).fold(number, |all, (bits, _)| all | bits);
    Ok(SqlMode(meant & !NOT_USED))
}

/// Reads `sql_mode`'s text; error 1231.
pub(super) fn parse_mode(text: &str) -> Result<SqlMode, SqlError> {
    let mut bits = 0;
    for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let known = MODES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let Some((known, flag)) = known else {
            return Err(SqlError::new(ErrorCode::WrongValueForVar, &[&"sql_mode", &name]));
        };
        bits |= match *known {
            "ANSI" => ANSI,
            "TRADITIONAL" => TRADITIONAL,
            _ => flag.0,
        };
    }
    Ok(SqlMode(bits))
}

fn mode_text(mode: SqlMode) -> String {
    let on = MODES.iter().filter(|(_, flag)| mode.0 & flag.0 != 0);
    on.map(|(name, _)| *name).collect::<Vec<_>>().join(",")
}

/// Variables that always read as 0.
const WRITE_ONLY: [&str; 2] = ["rand_seed1", "rand_seed2"];

/// Gives a variable a checked value and lets it take effect.
pub(super) fn assign(
    core: &mut Core,
    global: bool,
    name: &str,
    text: &str,
) -> Result<(), SqlError> {
    let def = sysvar::find(name)?;
    if global {
        let mut globals = core.db.globals.0.write();
        globals.insert(def.name, text.to_owned());
        // The stricter variable holds the other.
        match (def.name, text) {
            ("super_read_only", "ON") => drop(globals.insert("read_only", text.to_owned())),
            ("read_only", "OFF") => drop(globals.insert("super_read_only", text.to_owned())),
            _ => {}
        }
        drop(globals);
        core.look_at_read_only();
        return Ok(());
    }
    take_effect(core, def.name, text)?;
    if !WRITE_ONLY.contains(&def.name) {
        core.host.vars.borrow_mut().values.insert(def.name, text.to_owned());
    }
    core.settings += 1;
    Ok(())
}

pub(super) fn take_effect(core: &mut Core, name: &str, text: &str) -> Result<(), SqlError> {
    let number = || text.parse::<u64>().unwrap_or_default();
    match name {
        "autocommit" => {
            let on = text == "ON";
            if on && !core.state.autocommit {
                core.commit()?;
            }
            core.state.autocommit = on;
        }
        "sql_mode" => core.env.sql_mode = parse_mode(text)?,
        "time_zone" => {
            let unknown = || SqlError::new(ErrorCode::UnknownTimeZone, &[&text]);
            core.env.time_zone = TimeZone::parse(text).ok_or_else(unknown)?;
        }
        "transaction_isolation" => core.state.isolation = isolation(text),
        "transaction_read_only" => core.state.default_read_only = text == "ON",
        "innodb_lock_wait_timeout" => {
            core.txn.get_mut().set_lock_wait_timeout(Duration::from_secs(number()));
        }
        "lock_wait_timeout" => core.state.mdl_timeout = Duration::from_secs(number()),
        "collation_connection" => {
            core.env.collation = charset::collation(text)?;
            let charset = charset::charset_name(core.env.collation);
            let mut vars = core.host.vars.borrow_mut();
            vars.values.insert("character_set_connection", charset.to_owned());
        }
        "character_set_connection" => {
            core.env.collation = charset::charset_default(text)?;
            let name = charset::name(core.env.collation);
            core.host.vars.borrow_mut().values.insert("collation_connection", name.to_owned());
        }
        "character_set_results" if text.is_empty() => core.results = None,
        "character_set_client" | "character_set_results" if !text.is_empty() => {
            let charset = charset::charset_default(text)?.charset();
            if name == "character_set_client" {
                core.env.client_charset = charset;
            } else {
                core.results = None;
            }
        }
        "max_error_count" => {
            core.env.max_error_count = number() as usize;
            core.diagnostics.limit = number() as usize;
        }
        "div_precision_increment" => core.env.div_precision_increment = number() as u8,
        "sql_auto_is_null" => core.env.auto_is_null = text == "ON",
        "wait_timeout" => core.wait_timeout = number(),
        "max_execution_time" => core.env.max_execution_time = number(),
        "tmp_table_size" => core.env.tmp_table_size = number() as usize,
        "group_concat_max_len" => core.env.group_concat_max_len = number() as usize,
        "lc_time_names" => {
            core.env.locale = locale::find(text).filter(|locale| locale.name != "en_US");
        }
        "pseudo_thread_id" => core.env.connection_id = number(),
        "rand_seed1" | "rand_seed2" => core.host.seed(name == "rand_seed1", number()),
        "default_week_format" => core.env.default_week_format = number() as u8,
        "last_insert_id" | "identity" => core.env.last_insert_id = number(),
        "timestamp" => {
            let seconds: f64 = text.parse().unwrap_or_default();
            let micros = (seconds != 0.0).then_some((seconds * 1e6) as i64);
            core.host.vars.borrow_mut().timestamp_micros = micros;
        }
        _ => {}
    }
    Ok(())
}

fn isolation(text: &str) -> Isolation {
    match text {
        "READ-UNCOMMITTED" => Isolation::ReadUncommitted,
        "READ-COMMITTED" => Isolation::ReadCommitted,
        "SERIALIZABLE" => Isolation::Serializable,
        _ => Isolation::RepeatableRead,
    }
}

impl Core {
    /// Lets global settings and the client's wishes at login take effect.
    pub(super) fn apply_login(&mut self) {
        let globals: Vec<(&'static str, String)> =
            self.db.globals.0.read().iter().map(|(name, text)| (*name, text.clone())).collect();
        for (name, text) in globals {
            let _ = take_effect(self, name, &text);
        }
        let idle = if self.client.interactive { "interactive_timeout" } else { "wait_timeout" };
        let _ = assign(self, false, "wait_timeout", &self.db.global_number(idle).to_string());
        let name = AccountName::new(&self.client.account_user, &self.client.account_host);
        let accounts = self.db.accounts.current();
        if let Some(most) = accounts.get(&name).map(|own| own.max_connections())
            && most > 0
        {
            let _ = assign(self, false, "max_user_connections", &most.to_string());
        }
        if let Some(collation) = Collation::from_id(self.client.collation) {
            let names = (charset::charset_name(collation), charset::name(collation));
            for var in ["character_set_client", "character_set_results"] {
                let _ = assign(self, false, var, names.0);
            }
            let _ = assign(self, false, "collation_connection", names.1);
            self.results = Some(collation);
        }
        if self.client.ignore_space {
            let mode = SqlMode(self.env.sql_mode.0 | SqlMode::IGNORE_SPACE.0);
            let _ = assign(self, false, "sql_mode", &mode_text(mode));
        }
    }

    /// USE.
    pub(super) fn use_database(&mut self, name: &str) -> Result<(), SqlError> {
        let found = match self.db.catalog().schema(name) {
            Some(schema) => Some((name, schema.def.collation)),
            None => match crate::information_schema::schema(name) {
                Some("information_schema") => Some(("information_schema", Collation::SYSTEM)),
                computed => computed.map(|name| (name, Collation::DEFAULT)),
            },
        };
        if found.is_none() {
            crate::ddl::check_name(name, ErrorCode::WrongDbName)?;
        }
        let used = found.map_or(name, |(name, _)| name);
        self.authorize_later(&ast::Statement::Use(used.to_owned()))?;
        let unknown = || SqlError::new(ErrorCode::UnknownDatabase, &[&name]);
        let (name, collation) = found.ok_or_else(unknown)?;
        self.env.database = Some(name.to_owned());
        let mut vars = self.host.vars.borrow_mut();
        let charset = charset::charset_name(collation).to_owned();
        vars.values.insert("character_set_database", charset);
        vars.values.insert("collation_database", charset::name(collation).to_owned());
        self.settings += 1;
        drop(vars);
        self.changes.push(inia_base::column::SessionChange::Schema(name.to_owned()));
        Ok(())
    }

    fn database_collation(&self) -> Collation {
        let schema = self.env.database.as_deref().and_then(|name| self.db.catalog().schema(name));
        schema.map_or(Collation::DEFAULT, |schema| schema.def.collation)
    }

    /// The collation that results are described with.
    pub(super) fn result_collation(&self) -> Option<Collation> {
        if let Some(collation) = self.results {
            return Some(collation);
        }
        let charset = self.var("character_set_results").filter(|text| !text.is_empty())?;
        charset::charset_default(&charset).ok()
    }

    /// A user variable's value.
    pub(super) fn user_value(&self, name: &str) -> Value {
        let vars = self.host.user_vars.borrow();
        vars.get(&name.to_lowercase()).map_or(Value::Null, |var| var.value.clone())
    }

    /// A user variable as text.
    pub(super) fn user_text(&self, name: &str) -> String {
        let vars = self.host.user_vars.borrow();
        let var = vars.get(&name.to_lowercase());
        var.map_or_else(String::new, |var| expr::convert::to_text(&var.value, &var.ty).into_owned())
    }

    /// Keeps the warnings of an evaluation.
    pub(crate) fn take_warnings(&mut self, warnings: expr::Warnings) {
        let kept = warnings.list.len() as u64;
        let notes =
            warnings.list.iter().all(|w| w.level != expr::Level::Note) || self.flag("sql_notes");
        for warning in warnings.list {
            if notes || warning.level != expr::Level::Note {
                self.diagnostics.push(warning);
            }
        }
        self.diagnostics.count += warnings.count - kept;
    }
}
