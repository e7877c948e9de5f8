//! Values as the texts of variables: what each kind of variable takes, and the texts that must name
//! something.

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
use inia_query::sysvar::{VarDef, VarKind, sql_mode, switches};

type Text = Result<String, SqlError>;

/// Variables of bytes that are kept as whole blocks, by the size of a block.
const BLOCKS: [(&str, i128); 11] = [
    ("join_buffer_size", 128),
    ("max_allowed_packet", 1024),
    ("max_heap_table_size", 1024),
    ("net_buffer_length", 1024),
    ("query_alloc_block_size", 1024),
    ("query_prealloc_size", 1024),
    ("range_alloc_block_size", 1024),
    ("read_buffer_size", 4096),
    ("select_into_buffer_size", 4096),
    ("transaction_alloc_block_size", 1024),
    ("transaction_prealloc_size", 1024),
];

/// A value that a variable is to have.
struct Wanted<'w> {
    def: &'static VarDef,
    value: &'w Value,
    /// Where it is an integer.
    number: Option<i128>,
    /// As messages show it.
    shown: String,
}

impl Wanted<'_> {
    /// Error 1231.
    fn refused(&self) -> SqlError {
        SqlError::new(ErrorCode::WrongValueForVar, &[&self.def.name, &self.shown])
    }

    /// Error 1232.
    fn wrong_type(&self) -> SqlError {
        SqlError::new(ErrorCode::WrongTypeForVar, &[&self.def.name])
    }

    /// Warning 1292.
    fn warn_of_change(&self, session: &mut SessionContext) {
        session.warn(ErrorCode::TruncatedWrongValue, &[&self.def.name, &self.shown]);
    }
}

/// A value as the variable's text; errors 1231, 1232; warning 1292 where it is clipped.
pub(in crate::session) fn checked(
    session: &mut SessionContext,
    def: &'static VarDef,
    global: bool,
    value: &Value,
) -> Text {
    let number = match value {
        Value::Int(v) => Some(i128::from(*v)),
        Value::UInt(v) => Some(i128::from(*v)),
        _ => None,
    };
    let wanted = Wanted { def, value, number, shown: value_text(value, &DataType::Null) };
    let fraction = matches!(value, Value::Double(_) | Value::Decimal(_));
    if fraction && def.kind != VarKind::Double {
        return Err(wanted.wrong_type());
    }
    match def.kind {
        VarKind::Bool => match (number, wanted.shown.to_ascii_uppercase().as_str()) {
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
            at.map(|at| words[at].to_owned()).ok_or_else(|| wanted.refused())
        }
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
    let block =
        BLOCKS.iter().find(|(name, _)| *name == wanted.def.name).map_or(1, |(_, size)| *size);
    let clipped = number.clamp(low, high);
    let clipped = clipped - clipped.rem_euclid(block);
    if clipped != number {
        wanted.warn_of_change(session);
    }
    Ok(clipped.to_string())
}

/// Seconds with six digits of a fraction; `timestamp` takes those that TIMESTAMP has.
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
        _ => f64::MAX,
    };
    let clipped = number.clamp(0.0, most);
    if clipped != number {
        wanted.warn_of_change(session);
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
fn named(session: &SessionContext, wanted: Wanted<'_>) -> Text {
    const ENGINES: [&str; 3] = ["InnoDB", "MyISAM", "MEMORY"];
    let variable = wanted.def.name;
    if matches!(wanted.value, Value::Null) {
        return match variable {
            "character_set_results" | "init_connect" => Ok(String::new()),
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
    match (variable, by_number) {
        (_, Some(Some(collation))) if of_charset => Ok(charset::charset_name(collation).to_owned()),
        (_, Some(Some(collation))) if of_collation => Ok(charset::name(collation).to_owned()),
        _ if of_charset => Ok(charset::charset_name(charset::charset_default(text)?).to_owned()),
        _ if of_collation => Ok(charset::name(charset::collation(text)?).to_owned()),
        ("lc_messages", None) => {
            let unknown = || SqlError::new(ErrorCode::UnknownLocale, &[&text]);
            let found = locale::find(text).ok_or_else(unknown)?;
            // All messages are English.
            match found.name.starts_with("en_") {
                true => Ok(found.name.to_owned()),
                false => Err(wanted.refused()),
            }
        }
        ("default_collation_for_utf8mb4", None) => {
            let known = ["utf8mb4_0900_ai_ci", "utf8mb4_general_ci"];
            let found = known.into_iter().find(|known| known.eq_ignore_ascii_case(text));
            let wrong = || SqlError::new(ErrorCode::InvalidDefaultUtf8mb4Collation, &[&text]);
            Ok(found.ok_or_else(wrong)?.to_owned())
        }
        ("lc_time_names", _) => {
            let unknown = || SqlError::new(ErrorCode::UnknownLocale, &[&text]);
            Ok(locale::find(text).ok_or_else(unknown)?.name.to_owned())
        }
        (_, Some(_)) => Err(wanted.wrong_type()),
        ("default_storage_engine" | "default_tmp_storage_engine", None) => {
            let known = ENGINES.iter().find(|engine| engine.eq_ignore_ascii_case(text));
            let unknown = || SqlError::new(ErrorCode::UnknownStorageEngine, &[&text]);
            Ok((*known.ok_or_else(unknown)?).to_owned())
        }
        ("log_output", None) => log_output(&wanted),
        ("general_log_file" | "slow_query_log_file", None) => {
            let db = &session.db;
            let checked = db.observer.check_path(&db.globals, text);
            checked.map_err(|_| wanted.refused()).map(|()| wanted.shown)
        }
        ("time_zone", None) if text.eq_ignore_ascii_case("SYSTEM") => Ok(String::from("SYSTEM")),
        ("time_zone", None) if TimeZone::parse(text).is_none() => {
            Err(SqlError::new(ErrorCode::UnknownTimeZone, &[&text]))
        }
        _ => Ok(wanted.shown),
    }
}

/// `log_output`: a list of FILE, TABLE and NONE, shown in the order of their names.
fn log_output(wanted: &Wanted<'_>) -> Text {
    const KINDS: [&str; 3] = ["FILE", "NONE", "TABLE"];
    // MySQL keeps the bits of NONE, FILE and TABLE in this order.
    const SHOWN: [&str; 3] = ["NONE", "FILE", "TABLE"];
    let words: Vec<String> =
        wanted.shown.split(',').map(|word| word.trim().to_ascii_uppercase()).collect();
    let unknown = words.iter().position(|word| !KINDS.contains(&word.as_str()));
    if let Some(at) = unknown {
        let written = wanted.shown.split(',').nth(at).unwrap_or_default().trim();
        return Err(SqlError::new(ErrorCode::WrongValueForVar, &[&wanted.def.name, &written]));
    }
    let listed = SHOWN.iter().filter(|kind| words.iter().any(|word| word == *kind));
    Ok(listed.copied().collect::<Vec<_>>().join(","))
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
