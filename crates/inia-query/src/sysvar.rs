//! System variables: one table from which reading, setting and SHOW VARIABLES come.
//!
//! A session keeps the values it has set, and for the others the globals as they were at its login:
//! `SET GLOBAL` is for the sessions after it. What neither has is in the table. What setting a
//! variable changes in the session is decided by who carries out SET.

mod innodb;
mod key_cache;
mod replication;
mod server;
pub mod sql_mode;
pub mod switches;

pub use key_cache::KeyCaches;

use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{ExprType, VarScope};
use parking_lot::RwLock;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// What VERSION() says.
pub(crate) const VERSION: &str = concat!("8.0.31-inia-", env!("CARGO_PKG_VERSION"));

/// Where a variable lives and whether it can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// A global default and a value per session.
    Both,
    /// Global only.
    Global,
    /// Per session only.
    Session,
    /// Fixed.
    ReadOnly,
}

/// A variable's type and its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarKind {
    /// ON or OFF.
    Bool,
    /// An integer of a range.
    Int(i64, u64),
    /// Seconds with a fraction.
    Double,
    /// A string.
    Text,
    /// A list of switches, each on or off; also settable by a number whose bits they are.
    Switches,
    /// One of a list of words; also settable by position.
    Word(&'static [&'static str]),
    /// A list of such words; also settable by a number whose bits they are.
    Set(&'static [&'static str]),
}

/// One line of the table.
pub struct VarDef {
    /// Its name in lower case.
    pub name: &'static str,
    /// Where its values are.
    pub home: Home,
    /// Which values it takes.
    pub kind: VarKind,
    /// The default as SHOW VARIABLES prints it.
    pub default: &'static str,
}

const fn var(name: &'static str, home: Home, kind: VarKind, default: &'static str) -> VarDef {
    VarDef { name, home, kind, default }
}

const BIG: u64 = u64::MAX;
const LEVELS: &[&str] = &["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"];

/// All variables, by name.
static VARS: LazyLock<Vec<&'static VarDef>> = LazyLock::new(|| {
    let families = [server::VARS, innodb::VARS, replication::VARS];
    let mut all: Vec<&'static VarDef> = families.into_iter().flatten().collect();
    all.sort_by_key(|def| def.name);
    all
});

/// Values that differ from the table, by name.
type Values = HashMap<&'static str, String>;

/// The global values. Sessions share those of their beginning.
#[derive(Default)]
pub struct GlobalVars {
    values: RwLock<Arc<Values>>,
    /// Key caches by their names.
    pub key_caches: KeyCaches,
}

impl GlobalVars {
    /// All as they are now.
    pub fn all(&self) -> Arc<Values> {
        self.values.read().clone()
    }

    /// Gives a variable a value.
    pub fn set(&self, name: &'static str, text: String) {
        Arc::make_mut(&mut self.values.write()).insert(name, text);
    }

    /// Whether a variable was set to ON.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.values.read().get(name).is_some_and(|text| text == "ON")
    }
}

/// The session's own values.
#[derive(Default)]
pub struct SessionVars {
    /// The globals when the session began.
    pub inherited: Arc<Values>,
    /// Values that were set in the session; others are the globals'.
    pub values: HashMap<&'static str, String>,
    /// SET timestamp, in microseconds.
    pub timestamp_micros: Option<i64>,
    /// Where AUTO_INCREMENT's numbers come from.
    pub series: Series,
}

/// The series offset, offset + increment, …, of which AUTO_INCREMENT's numbers are.
#[derive(Clone, Copy)]
pub struct Series {
    /// `auto_increment_increment`.
    pub increment: u64,
    /// `auto_increment_offset`.
    pub offset: u64,
}

impl Default for Series {
    fn default() -> Series {
        Series { increment: 1, offset: 1 }
    }
}

/// The variables that SHOW VARIABLES lists in a scope.
pub(crate) fn shown(scope: VarScope) -> impl Iterator<Item = &'static VarDef> {
    // They are read only, and of the session.
    const OWN: [&str; 4] = ["error_count", "external_user", "proxy_user", "warning_count"];
    let is_global = |def: &VarDef| def.home != Home::Session && !OWN.contains(&def.name);
    VARS.iter().copied().filter(move |def| scope != VarScope::Global || is_global(def))
}

/// A variable's line; error 1193. `tx_isolation` and other old names are gone in 8.0.
pub fn find(name: &str) -> Result<&'static VarDef, SqlError> {
    let name = match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::from(name.to_ascii_lowercase()),
        false => Cow::from(name),
    };
    VARS.binary_search_by(|def| def.name.cmp(&*name))
        .map(|at| VARS[at])
        .map_err(|_| SqlError::new(ErrorCode::UnknownSystemVariable, &[&name]))
}

/// A variable's text as SHOW VARIABLES prints it.
pub(crate) fn text(
    globals: &GlobalVars,
    session: &SessionVars,
    scope: VarScope,
    def: &VarDef,
) -> String {
    let found = match (scope, def.home) {
        (VarScope::Global, _) | (_, Home::Global | Home::ReadOnly) => {
            globals.values.read().get(def.name).cloned()
        }
        _ => session.values.get(def.name).or_else(|| session.inherited.get(def.name)).cloned(),
    };
    found.unwrap_or_else(|| def.default.to_owned())
}

/// The least and the greatest value of a variable that is an integer; 0 for others.
pub(crate) fn range(name: &str) -> (String, String) {
    match find(name).map(|def| def.kind) {
        Ok(VarKind::Int(least, most)) => (least.to_string(), most.to_string()),
        _ => (String::from("0"), String::from("0")),
    }
}

/// Integers that are read as signed ones, though none of their values is negative.
const SIGNED: [&str; 41] = [
    "binlog_group_commit_sync_delay",
    "caching_sha2_password_digest_rounds",
    "innodb_autoinc_lock_mode",
    "innodb_buffer_pool_size",
    "innodb_fill_factor",
    "innodb_open_files",
    "max_digest_length",
    "ngram_token_size",
    "optimizer_trace_limit",
    "performance_schema_accounts_size",
    "performance_schema_digests_size",
    "performance_schema_error_size",
    "performance_schema_events_stages_history_long_size",
    "performance_schema_events_stages_history_size",
    "performance_schema_events_statements_history_long_size",
    "performance_schema_events_statements_history_size",
    "performance_schema_events_transactions_history_long_size",
    "performance_schema_events_transactions_history_size",
    "performance_schema_events_waits_history_long_size",
    "performance_schema_events_waits_history_size",
    "performance_schema_hosts_size",
    "performance_schema_max_cond_instances",
    "performance_schema_max_digest_length",
    "performance_schema_max_file_instances",
    "performance_schema_max_index_stat",
    "performance_schema_max_metadata_locks",
    "performance_schema_max_mutex_instances",
    "performance_schema_max_prepared_statements_instances",
    "performance_schema_max_program_instances",
    "performance_schema_max_rwlock_instances",
    "performance_schema_max_socket_instances",
    "performance_schema_max_sql_text_length",
    "performance_schema_max_table_handles",
    "performance_schema_max_table_instances",
    "performance_schema_max_table_lock_stat",
    "performance_schema_max_thread_instances",
    "performance_schema_session_connect_attrs_size",
    "performance_schema_setup_actors_size",
    "performance_schema_setup_objects_size",
    "performance_schema_users_size",
    "ssl_session_cache_timeout",
];

/// The type of variables that are seconds with a fraction.
pub(crate) fn seconds() -> ExprType {
    let data_type = DataType::Double { decimals: Some(6), unsigned: false };
    ExprType::computed(data_type, false)
}

/// Characters of the type of a variable that is text, whatever its value is.
const TEXT_CHARS: u64 = 21_845;

/// Whether a variable of text can be NULL, which SHOW VARIABLES prints as an empty text.
pub fn may_be_null(name: &str) -> bool {
    const NULLABLE: [&str; 34] = [
        "admin_address",
        "admin_ssl_ca",
        "admin_ssl_capath",
        "admin_ssl_cert",
        "admin_ssl_cipher",
        "admin_ssl_crl",
        "admin_ssl_crlpath",
        "admin_ssl_key",
        "admin_tls_ciphersuites",
        "character_set_results",
        "init_file",
        "innodb_data_home_dir",
        "innodb_directories",
        "innodb_doublewrite_dir",
        "innodb_ft_aux_table",
        "innodb_ft_server_stopword_table",
        "innodb_ft_user_stopword_table",
        "innodb_monitor_disable",
        "innodb_monitor_enable",
        "innodb_redo_log_archive_dirs",
        "innodb_tmpdir",
        "log_bin_basename",
        "log_bin_index",
        "report_host",
        "report_password",
        "report_user",
        "ssl_ca",
        "ssl_capath",
        "ssl_cert",
        "ssl_cipher",
        "ssl_crl",
        "ssl_crlpath",
        "ssl_key",
        "tls_ciphersuites",
    ];
    NULLABLE.contains(&name)
}

/// Value and type of `@@name`; errors 1193 and 1238.
pub(crate) fn read(
    globals: &GlobalVars,
    session: &SessionVars,
    scope: VarScope,
    name: &str,
) -> Result<(Value, ExprType), SqlError> {
    if let Some((cache, variable)) = key_cache::split(name) {
        if scope == VarScope::Session {
            let code = ErrorCode::IncorrectGlobalLocalVar;
            return Err(SqlError::new(code, &[&variable, &"GLOBAL"]));
        }
        let value = globals.key_caches.read(cache, variable);
        return Ok((Value::UInt(value), ExprType::uint(21, false)));
    }
    let def = find(name)?;
    let wrong =
        |kind: &str| Err(SqlError::new(ErrorCode::IncorrectGlobalLocalVar, &[&def.name, &kind]));
    match (scope, def.home) {
        (VarScope::Session, Home::Global | Home::ReadOnly) => return wrong("GLOBAL"),
        (VarScope::Global, Home::Session) => return wrong("SESSION"),
        _ => {}
    }
    let text = text(globals, session, scope, def);
    Ok(match def.kind {
        VarKind::Bool => (Value::Int(i64::from(text == "ON")), ExprType::int(1, false)),
        VarKind::Int(..0, _) => {
            (Value::Int(text.parse().unwrap_or_default()), ExprType::int(21, false))
        }
        VarKind::Int(..) if SIGNED.contains(&def.name) => {
            (Value::Int(text.parse().unwrap_or_default()), ExprType::int(21, false))
        }
        VarKind::Int(..) => {
            (Value::UInt(text.parse().unwrap_or_default()), ExprType::uint(21, false))
        }
        VarKind::Double => (Value::Double(text.parse().unwrap_or_default()), seconds()),
        VarKind::Text | VarKind::Switches | VarKind::Word(_) | VarKind::Set(_) => {
            let ty = ExprType::text(TEXT_CHARS, Collation(33), true);
            let null = (may_be_null(def.name) && text.is_empty())
                || (def.name == "secure_file_priv" && text == "NULL");
            (if null { Value::Null } else { Value::Text(text) }, ty)
        }
    })
}
