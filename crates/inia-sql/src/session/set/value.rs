//! Values as the texts of variables: what each kind of variable takes, and the texts that must name
//! something.

use super::texts;
use crate::ddl::engine;
use crate::session::incoming::note_remarks;
use inia_base::collation::{Charset, Collation};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_expr::charset;
use inia_expr::locale;
use inia_query::catalog::value_text;
use inia_query::context::SessionContext;
use inia_query::sysvar::{VarDef, VarKind, may_be_null, sql_mode, switches};

type Text = Result<String, SqlError>;

/// Variables that are kept as whole blocks, by the size of a block.
const BLOCKS: [(&str, i128); 30] = [
    ("binlog_cache_size", 4096),
    ("binlog_stmt_cache_size", 4096),
    ("innodb_fsync_threshold", 16384),
    ("innodb_log_write_ahead_size", 512),
    ("join_buffer_size", 128),
    ("key_buffer_size", 4096),
    ("key_cache_age_threshold", 100),
    ("key_cache_block_size", 512),
    ("max_allowed_packet", 1024),
    ("max_binlog_cache_size", 4096),
    ("max_binlog_size", 4096),
    ("max_binlog_stmt_cache_size", 4096),
    ("max_heap_table_size", 1024),
    ("max_relay_log_size", 4096),
    ("myisam_max_sort_file_size", 1048576),
    ("net_buffer_length", 1024),
    ("query_alloc_block_size", 1024),
    ("query_prealloc_size", 1024),
    ("range_alloc_block_size", 1024),
    ("read_buffer_size", 4096),
    ("replica_checkpoint_group", 8),
    ("replica_max_allowed_packet", 1024),
    ("replica_pending_jobs_size_max", 1024),
    ("rpl_read_size", 4096),
    ("select_into_buffer_size", 4096),
    ("slave_checkpoint_group", 8),
    ("slave_max_allowed_packet", 1024),
    ("slave_pending_jobs_size_max", 1024),
    ("transaction_alloc_block_size", 1024),
    ("transaction_prealloc_size", 1024),
];

/// Switches that stay off: those that need a keyring, and those that start something.
const NEVER_ON: [&str; 5] = [
    "innodb_buffer_pool_dump_now",
    "innodb_buffer_pool_load_abort",
    "innodb_buffer_pool_load_now",
    "innodb_redo_log_encrypt",
    "innodb_undo_log_encrypt",
];

/// A value that a variable is to have.
struct Wanted<'w> {
    def: &'static VarDef,
    /// The name that errors have; a deprecated one is that of `def` otherwise.
    written: &'w str,
    value: &'w Value,
    /// Where it is an integer.
    number: Option<i128>,
    /// As messages show it.
    shown: String,
}

impl Wanted<'_> {
    /// Error 1231.
    fn refused(&self) -> SqlError {
        SqlError::new(ErrorCode::WrongValueForVar, &[&self.written, &self.shown])
    }

    /// Error 1232.
    fn wrong_type(&self) -> SqlError {
        SqlError::new(ErrorCode::WrongTypeForVar, &[&self.written])
    }

    /// Warning 1292.
    fn warn_of_change(&self, session: &mut SessionContext) {
        session.warn(ErrorCode::TruncatedWrongValue, &[&self.def.name, &self.shown]);
    }
}

/// A value as the variable's text; errors 1231, 1232; warning 1292 where it is clipped.
pub(in crate::session) fn checked(
    session: &mut SessionContext,
    (def, written): (&'static VarDef, &str),
    global: bool,
    value: &Value,
) -> Text {
    let number = match value {
        Value::Int(v) => Some(i128::from(*v)),
        Value::UInt(v) => Some(i128::from(*v)),
        _ => None,
    };
    let wanted = Wanted { def, written, value, number, shown: value_text(value, &DataType::Null) };
    let fraction = matches!(value, Value::Double(_) | Value::Decimal(_));
    if fraction && def.kind != VarKind::Double {
        return Err(wanted.wrong_type());
    }
    match def.kind {
        VarKind::Bool => match (number, wanted.shown.to_ascii_uppercase().as_str()) {
            (Some(1), _) | (None, "ON") if NEVER_ON.contains(&def.name) => Ok(String::from("OFF")),
            (Some(1), _) | (None, "ON") => Ok(String::from("ON")),
            (Some(0), _) | (None, "OFF") => Ok(String::from("OFF")),
            _ => Err(wanted.refused()),
        },
        VarKind::Int(low, high) => integer(session, &wanted, i128::from(low), i128::from(high)),
        VarKind::Double => seconds(session, &wanted),
        VarKind::Word(words) => {
            let at = match number {
                Some(number) => usize::try_from(number).ok().filter(|at| *at < words.len()),
                None => words.iter().position(|word| word.eq_ignore_ascii_case(&wanted.shown)),
            };
            let word = at.map(|at| words[at]).ok_or_else(|| wanted.refused())?;
            if def.name == "gtid_mode" {
                texts::check_gtid_mode(session, words, word)?;
            }
            Ok(word.to_owned())
        }
        VarKind::Set(words) => listed(&wanted, words),
        VarKind::Switches => switched(session, &wanted, global),
        VarKind::Text if def.name == "sql_mode" => {
            let mode = match number {
                Some(number) => {
                    let number = u64::try_from(number).map_err(|_| wanted.refused())?;
                    sql_mode::of_number(number)?
                }
                None => sql_mode::parse(&wanted.shown)?,
            };
            warn_of_mode(session, mode);
            Ok(sql_mode::text(mode))
        }
        VarKind::Text => {
            let written = number.is_none().then(|| wanted.shown.clone());
            let text = named(session, wanted)?;
            warn_of_charset(session, def.name, written.as_deref().unwrap_or(&text));
            Ok(text)
        }
    }
}

fn integer(session: &mut SessionContext, wanted: &Wanted<'_>, low: i128, high: i128) -> Text {
    let number = wanted.number.ok_or_else(|| wanted.wrong_type())?;
    // A server that starts without a limit gets none later.
    if wanted.def.name == "innodb_commit_concurrency" && number != 0 {
        return Err(wanted.refused());
    }
    let block =
        BLOCKS.iter().find(|(name, _)| *name == wanted.def.name).map_or(1, |(_, size)| *size);
    let clipped = number.clamp(low, high);
    let clipped = (clipped - clipped.rem_euclid(block)).max(low);
    if clipped != number {
        wanted.warn_of_change(session);
    }
    Ok(clipped.to_string())
}

/// A number with six digits of a fraction; `timestamp` takes those that TIMESTAMP has.
fn seconds(session: &mut SessionContext, wanted: &Wanted<'_>) -> Text {
    /// A year.
    const MAX: f64 = 31_536_000.0;
    /// 2038-01-19.
    const LAST_TIMESTAMP: f64 = 2_147_483_647.0;
    let number = match wanted.value {
        Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_) => {
            wanted.shown.parse::<f64>().map_err(|_| wanted.wrong_type())?
        }
        _ => return Err(wanted.wrong_type()),
    };
    let most = match wanted.def.name {
        "timestamp" if number > 0.0 && !(1.0..=LAST_TIMESTAMP).contains(&number) => {
            return Err(wanted.refused());
        }
        "long_query_time" => MAX,
        "innodb_max_dirty_pages_pct" | "innodb_max_dirty_pages_pct_lwm" => 99.999,
        "innodb_segment_reserve_factor" => 40.0,
        _ => f64::MAX,
    };
    let least = if wanted.def.name == "innodb_segment_reserve_factor" { 0.03 } else { 0.0 };
    let clipped = number.clamp(least, most);
    if clipped != number {
        let shown = value_text(&Value::Double(number), &DataType::Null);
        session.warn(ErrorCode::TruncatedWrongValue, &[&wanted.def.name, &shown]);
    }
    Ok(format!("{clipped:.6}"))
}

fn switched(session: &SessionContext, wanted: &Wanted<'_>, global: bool) -> Text {
    let default = wanted.def.default;
    if let Some(number) = wanted.number {
        let number = u64::try_from(number).ok();
        let text = number.and_then(|number| switches::of_number(default, number));
        return text.ok_or_else(|| wanted.refused());
    }
    if matches!(wanted.value, Value::Null) {
        return Err(wanted.refused());
    }
    let now = match global {
        true => session.db.globals.all().get(wanted.def.name).cloned(),
        false => session.var(wanted.def.name),
    };
    let now = now.unwrap_or_else(|| default.to_owned());
    switches::changed(&now, default, &wanted.shown)
        .map_err(|rest| SqlError::new(ErrorCode::WrongValueForVar, &[&wanted.def.name, &rest]))
}

/// Warnings 1287, 3719, 3778 and 4079: character sets that go out of use, and their collations.
fn warn_of_charset(session: &mut SessionContext, variable: &str, name: &str) {
    let remark = match variable {
        "character_sets_dir" => None,
        _ if variable.starts_with("character_set_") => inia_parser::deprecated_charset(name),
        _ if variable.starts_with("collation_") => inia_parser::deprecated_collation(name),
        _ => None,
    };
    note_remarks(session, remark.as_slice());
}

/// Warnings 3090 and 3135: modes that go out of use, and zero dates apart from strict mode.
fn warn_of_mode(session: &mut SessionContext, mode: SqlMode) {
    if mode.has(SqlMode::PAD_CHAR_TO_FULL_LENGTH) {
        session.warn(ErrorCode::WarnDeprecatedSqlmode, &[&"PAD_CHAR_TO_FULL_LENGTH"]);
    }
    let zeros =
        [SqlMode::NO_ZERO_DATE, SqlMode::NO_ZERO_IN_DATE, SqlMode::ERROR_FOR_DIVISION_BY_ZERO];
    let on = zeros.iter().filter(|flag| mode.has(**flag)).count();
    if (on > 0 && !mode.is_strict()) || (on < zeros.len() && mode.is_strict()) {
        session.warn(ErrorCode::SqlModeMerged, &[]);
    }
}

/// PlanCache, of which some must name something: errors 1115, 1273, 1286, 1298 and 1649. Character
/// sets and collations have numbers too, and so have locales.
fn named(session: &mut SessionContext, wanted: Wanted<'_>) -> Text {
    let variable = wanted.def.name;
    if matches!(wanted.value, Value::Null) {
        return match variable {
            "init_connect" | "init_replica" | "session_track_system_variables" => Ok(String::new()),
            _ if may_be_null(variable) && !variable.starts_with("innodb_monitor_") => {
                Ok(String::new())
            }
            _ => Err(wanted.refused()),
        };
    }
    let of_charset = variable.starts_with("character_set_") && !variable.ends_with("_dir");
    let of_collation = variable.starts_with("collation_");
    let by_number = wanted.number.map(|id| u16::try_from(id).ok().and_then(Collation::from_id));
    let text = wanted.shown.as_str();
    if variable == "character_set_client" {
        check_client(text)?;
    }
    // MySQL keeps the 32 low bits of a number.
    let own = wanted.number.map_or_else(|| text.to_owned(), |number| (number as i32).to_string());
    match (variable, by_number) {
        (_, Some(Some(collation))) if of_charset => Ok(charset::charset_name(collation).to_owned()),
        (_, Some(Some(collation))) if of_collation => Ok(charset::name(collation).to_owned()),
        _ if of_charset => Ok(charset::charset_name(charset::charset_default(&own)?).to_owned()),
        _ if of_collation => Ok(charset::name(charset::collation(&own)?).to_owned()),
        ("lc_messages" | "lc_time_names", None) if own.parse::<usize>().is_ok() => {
            Err(SqlError::new(ErrorCode::UnknownLocale, &[&own]))
        }
        ("lc_messages", _) => {
            let unknown = || SqlError::new(ErrorCode::UnknownLocale, &[&own]);
            let found = locale::find(&own).ok_or_else(unknown)?;
            // All messages are English.
            match found.name.starts_with("en_") {
                true => Ok(found.name.to_owned()),
                false => Err(wanted.refused()),
            }
        }
        ("default_collation_for_utf8mb4", _) => {
            let number = wanted.number.map(|id| u16::try_from(id).unwrap_or_default());
            texts::default_collation(text, number)
        }
        ("lc_time_names", _) => {
            let unknown = || SqlError::new(ErrorCode::UnknownLocale, &[&own]);
            Ok(locale::find(&own).ok_or_else(unknown)?.name.to_owned())
        }
        (_, Some(_)) => Err(wanted.wrong_type()),
        ("default_storage_engine" | "default_tmp_storage_engine", None) => {
            let known = engine::known(text);
            let unknown = || SqlError::new(ErrorCode::UnknownStorageEngine, &[&text]);
            known.map(str::to_owned).ok_or_else(unknown)
        }
        ("general_log_file" | "slow_query_log_file", None) if text.is_empty() => {
            Err(wanted.refused())
        }
        ("general_log_file" | "slow_query_log_file", None) => {
            let db = &session.db;
            let checked = db.observer.check_path(&db.globals, text);
            checked.map_err(|_| wanted.refused()).map(|()| wanted.shown)
        }
        ("time_zone", None) if text.eq_ignore_ascii_case("SYSTEM") => Ok(String::from("SYSTEM")),
        ("time_zone", None) if TimeZone::parse(text).is_none() => {
            Err(SqlError::new(ErrorCode::UnknownTimeZone, &[&text]))
        }
        _ => match texts::takes(session, variable, text)? {
            true => Ok(wanted.shown),
            false => Err(wanted.refused()),
        },
    }
}

/// A list of words, shown in their own order, or the number whose bits they are.
fn listed(wanted: &Wanted<'_>, known: &[&str]) -> Text {
    let never_empty = matches!(wanted.def.name, "log_output" | "slave_rows_search_algorithms");
    if matches!(wanted.value, Value::Null) || wanted.shown.is_empty() && never_empty {
        return Err(wanted.refused());
    }
    let chosen: Vec<bool> = match wanted.number {
        Some(number) if !(i128::from(never_empty)..1 << known.len()).contains(&number) => {
            return Err(wanted.refused());
        }
        Some(number) => (0..known.len()).map(|bit| number >> bit & 1 == 1).collect(),
        None => {
            let words = || wanted.shown.split(',').filter(|word| !word.is_empty());
            let is = |word: &str, other: &&str| other.eq_ignore_ascii_case(word);
            let mut unknown = words().filter(|word| !known.iter().any(|other| is(word, other)));
            if let Some(word) = unknown.next() {
                return Err(SqlError::new(ErrorCode::WrongValueForVar, &[&wanted.def.name, &word]));
            }
            known.iter().map(|other| words().any(|word| is(word, other))).collect()
        }
    };
    let words = known.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(word, _)| *word);
    Ok(words.collect::<Vec<_>>().join(","))
}

/// Error 1231 for character sets that no client can write statements in.
pub(super) fn check_client(charset: &str) -> Result<(), SqlError> {
    match Charset::from_name(charset).is_some_and(Charset::is_wide) {
        true => {
            let what: [&dyn std::fmt::Display; 2] = [&"character_set_client", &charset];
            Err(SqlError::new(ErrorCode::WrongValueForVar, &what))
        }
        false => Ok(()),
    }
}
