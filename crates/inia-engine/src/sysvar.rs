//! System variables: one table from which reading, setting and SHOW VARIABLES come.
//!
//! A session keeps only the values it has set; everything else is read from the globals, and
//! those from the table. What setting a variable changes in the session is in
//! [`session::variables`](crate::session).

use crate::expr::{ExprType, VarScope};
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use parking_lot::RwLock;
use std::collections::HashMap;

/// What VERSION() says.
pub(crate) const VERSION: &str = concat!("8.0.31-inia-", env!("CARGO_PKG_VERSION"));

/// Where a variable lives and whether it can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
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
pub(crate) enum Kind {
    /// ON or OFF.
    Bool,
    /// An integer of a range.
    Int(i64, u64),
    /// Seconds with a fraction.
    Double,
    /// A string.
    Text,
    /// One of a list of words; also settable by position.
    Word(&'static [&'static str]),
}

/// One line of the table.
pub(crate) struct VarDef {
    pub(crate) name: &'static str,
    pub(crate) home: Home,
    pub(crate) kind: Kind,
    /// The default as SHOW VARIABLES prints it.
    pub(crate) default: &'static str,
}

const fn var(name: &'static str, home: Home, kind: Kind, default: &'static str) -> VarDef {
    VarDef { name, home, kind, default }
}

const BIG: u64 = u64::MAX;
const LEVELS: &[&str] = &["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"];

/// All variables, by name.
pub(crate) const VARS: &[VarDef] = &[
    var("auto_increment_increment", Home::Both, Kind::Int(1, 65_535), "1"),
    var("auto_increment_offset", Home::Both, Kind::Int(1, 65_535), "1"),
    var("autocommit", Home::Both, Kind::Bool, "ON"),
    var("big_tables", Home::Both, Kind::Bool, "OFF"),
    var("character_set_client", Home::Both, Kind::Text, "utf8mb4"),
    var("character_set_connection", Home::Both, Kind::Text, "utf8mb4"),
    var("character_set_database", Home::Both, Kind::Text, "utf8mb4"),
    var("character_set_filesystem", Home::Both, Kind::Text, "binary"),
    var("character_set_results", Home::Both, Kind::Text, "utf8mb4"),
    var("character_set_server", Home::Both, Kind::Text, "utf8mb4"),
    var("character_set_system", Home::ReadOnly, Kind::Text, "utf8mb3"),
    var("collation_connection", Home::Both, Kind::Text, "utf8mb4_0900_ai_ci"),
    var("collation_database", Home::Both, Kind::Text, "utf8mb4_0900_ai_ci"),
    var("collation_server", Home::Both, Kind::Text, "utf8mb4_0900_ai_ci"),
    var("completion_type", Home::Both, Kind::Word(&["NO_CHAIN", "CHAIN", "RELEASE"]), "NO_CHAIN"),
    var("datadir", Home::ReadOnly, Kind::Text, "./"),
    var("default_storage_engine", Home::Both, Kind::Text, "InnoDB"),
    var("default_week_format", Home::Both, Kind::Int(0, 7), "0"),
    var("div_precision_increment", Home::Both, Kind::Int(0, 30), "4"),
    var("foreign_key_checks", Home::Both, Kind::Bool, "ON"),
    var("group_concat_max_len", Home::Both, Kind::Int(4, BIG), "1024"),
    var("have_profiling", Home::ReadOnly, Kind::Text, "NO"),
    var("hostname", Home::ReadOnly, Kind::Text, "localhost"),
    var("init_connect", Home::Global, Kind::Text, ""),
    var("innodb_lock_wait_timeout", Home::Both, Kind::Int(1, 1_073_741_824), "50"),
    var("innodb_autoinc_lock_mode", Home::ReadOnly, Kind::Int(0, 2), "2"),
    var("innodb_read_only", Home::ReadOnly, Kind::Bool, "OFF"),
    var("insert_id", Home::Session, Kind::Int(0, BIG), "0"),
    var("interactive_timeout", Home::Both, Kind::Int(1, 31_536_000), "28800"),
    var("last_insert_id", Home::Session, Kind::Int(0, BIG), "0"),
    var("license", Home::ReadOnly, Kind::Text, "MIT OR Apache-2.0"),
    var("local_infile", Home::Global, Kind::Bool, "OFF"),
    var("lock_wait_timeout", Home::Both, Kind::Int(1, 31_536_000), "31536000"),
    var("lower_case_file_system", Home::ReadOnly, Kind::Bool, "OFF"),
    var("lower_case_table_names", Home::ReadOnly, Kind::Int(0, 2), "0"),
    var("max_allowed_packet", Home::Both, Kind::Int(1024, 1_073_741_824), "67108864"),
    var("max_connections", Home::Global, Kind::Int(1, 100_000), "151"),
    var("max_error_count", Home::Both, Kind::Int(0, 65_535), "1024"),
    var("net_buffer_length", Home::Both, Kind::Int(1024, 1_048_576), "16384"),
    var("net_read_timeout", Home::Both, Kind::Int(1, 31_536_000), "30"),
    var("net_write_timeout", Home::Both, Kind::Int(1, 31_536_000), "60"),
    var("performance_schema", Home::ReadOnly, Kind::Bool, "OFF"),
    var("port", Home::ReadOnly, Kind::Int(0, 65_535), "3306"),
    var("protocol_version", Home::ReadOnly, Kind::Int(0, 255), "10"),
    var("read_only", Home::Global, Kind::Bool, "OFF"),
    var("sql_auto_is_null", Home::Both, Kind::Bool, "OFF"),
    var("sql_big_selects", Home::Both, Kind::Bool, "ON"),
    var("sql_log_bin", Home::Session, Kind::Bool, "ON"),
    var("sql_mode", Home::Both, Kind::Text, crate::session::DEFAULT_SQL_MODE),
    var("sql_notes", Home::Both, Kind::Bool, "ON"),
    var("sql_quote_show_create", Home::Both, Kind::Bool, "ON"),
    var("sql_require_primary_key", Home::Both, Kind::Bool, "OFF"),
    var("sql_safe_updates", Home::Both, Kind::Bool, "OFF"),
    var("sql_select_limit", Home::Both, Kind::Int(0, BIG), "18446744073709551615"),
    var("sql_warnings", Home::Both, Kind::Bool, "OFF"),
    var("super_read_only", Home::Global, Kind::Bool, "OFF"),
    var("system_time_zone", Home::ReadOnly, Kind::Text, "UTC"),
    var("time_zone", Home::Both, Kind::Text, "SYSTEM"),
    var("timestamp", Home::Session, Kind::Double, "0"),
    var("transaction_isolation", Home::Both, Kind::Word(LEVELS), "REPEATABLE-READ"),
    var("transaction_read_only", Home::Both, Kind::Bool, "OFF"),
    var("unique_checks", Home::Both, Kind::Bool, "ON"),
    var("version", Home::ReadOnly, Kind::Text, VERSION),
    var("version_comment", Home::ReadOnly, Kind::Text, "Inia"),
    var("version_compile_machine", Home::ReadOnly, Kind::Text, std::env::consts::ARCH),
    var("version_compile_os", Home::ReadOnly, Kind::Text, std::env::consts::OS),
    var("wait_timeout", Home::Both, Kind::Int(1, 31_536_000), "28800"),
];

/// The global values that differ from the table.
#[derive(Default)]
pub(crate) struct GlobalVars(pub(crate) RwLock<HashMap<&'static str, String>>);

/// The session's own values.
#[derive(Default)]
pub(crate) struct SessionVars {
    pub(crate) values: HashMap<&'static str, String>,
    /// SET timestamp, in microseconds.
    pub(crate) timestamp_micros: Option<i64>,
}

/// A variable's line; error 1193. `tx_isolation` and its like are gone in 8.0.
pub(crate) fn find(name: &str) -> Result<&'static VarDef, SqlError> {
    let name = name.to_ascii_lowercase();
    VARS.binary_search_by(|def| def.name.cmp(&name))
        .map(|at| &VARS[at])
        .or_else(|_| VARS.iter().find(|def| def.name == name).ok_or(()))
        .map_err(|()| SqlError::new(ErrorCode::UnknownSystemVariable, &[&name]))
}

/// A variable's text as SHOW VARIABLES prints it.
pub(crate) fn text(
    globals: &GlobalVars,
    session: &SessionVars,
    scope: VarScope,
    def: &VarDef,
) -> String {
    let own = match scope {
        VarScope::Global => None,
        VarScope::Any | VarScope::Session => session.values.get(def.name).cloned(),
    };
    own.or_else(|| globals.0.read().get(def.name).cloned())
        .unwrap_or_else(|| def.default.to_owned())
}

/// Value and type of `@@name`; errors 1193 and 1238.
pub(crate) fn read(
    globals: &GlobalVars,
    session: &SessionVars,
    scope: VarScope,
    name: &str,
) -> Result<(Value, ExprType), SqlError> {
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
        Kind::Bool => (Value::Int(i64::from(text == "ON")), ExprType::int(1, false)),
        Kind::Int(..) => (Value::UInt(text.parse().unwrap_or_default()), ExprType::uint(21, false)),
        Kind::Double => (Value::Double(text.parse().unwrap_or_default()), ExprType::double(false)),
        Kind::Text | Kind::Word(_) => {
            let length = text.chars().count() as u64;
            let ty = ExprType::text(length, Collation(33), true);
            let null = def.name == "character_set_results" && text.is_empty();
            (if null { Value::Null } else { Value::Text(text) }, ty)
        }
    })
}
