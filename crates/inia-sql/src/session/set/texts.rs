//! Texts that must name something, or be written by rules of their own.

use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::charset;
use inia_query::catalog::{IndexKind, Table};
use inia_query::context::SessionContext;
use inia_query::information_schema::metric_names;
use inia_query::sysvar;

/// Whether a variable takes a text that is not looked up elsewhere; errors of its own, or `false`
/// for error 1231.
pub(super) fn takes(
    session: &mut SessionContext,
    variable: &str,
    text: &str,
) -> Result<bool, SqlError> {
    let among = |known: &[&str]| {
        text.split(',').all(|word| known.iter().any(|known| known.eq_ignore_ascii_case(word)))
    };
    Ok(match variable {
        "tls_version" | "admin_tls_version" => text.is_empty() || among(&["TLSv1.2", "TLSv1.3"]),
        "protocol_compression_algorithms" => among(&["zlib", "zstd", "uncompressed"]),
        "log_error_services" => services(session, text)?,
        "log_error_suppression_list" => {
            let mut written = text.split(',').map(str::trim);
            let wrong = written.find(|code| !is_message(code)).filter(|_| !text.trim().is_empty());
            if let Some(code) = wrong {
                session.warn(ErrorCode::CantSetErrorSuppressionList, &[&variable, &code]);
            }
            wrong.is_none()
        }
        "innodb_monitor_enable"
        | "innodb_monitor_disable"
        | "innodb_monitor_reset"
        | "innodb_monitor_reset_all" => is_counter(text),
        "authentication_policy" => is_policy(text),
        "ft_boolean_syntax" => is_boolean_syntax(text),
        "innodb_tmpdir" => {
            let path = std::path::Path::new(text);
            let wrong = match (path.exists(), path.is_dir()) {
                (false, _) => Some("InnoDB: Path doesn't exist."),
                (true, false) => Some("Given path is not a directory. "),
                (true, true) => None,
            };
            if let Some(wrong) = wrong {
                let code = ErrorCode::WrongArguments;
                session.push_warning(&SqlError::with_message(code, wrong.to_owned()));
            }
            wrong.is_none()
        }
        "innodb_ft_user_stopword_table" | "innodb_ft_server_stopword_table" => {
            let table = table_of(session, text);
            table.is_some_and(|table| lists_words(&table))
        }
        "innodb_ft_aux_table" => {
            let table = table_of(session, text);
            table.is_some_and(|table| {
                let mut indexes = table.def.indexes.iter();
                table.def.is_transactional()
                    && indexes.any(|index| index.kind == IndexKind::FullText)
            })
        }
        "innodb_redo_log_archive_dirs" => text.is_empty() || text.contains(':'),
        "gtid_next" => gtid_next(session, text)?,
        "gtid_purged" => is_gtid_set(text),
        "session_track_system_variables" => {
            for name in text.split(',').map(str::trim).filter(|name| !matches!(*name, "" | "*")) {
                if sysvar::find(name).is_err() {
                    let text =
                        format!("{name} is not a valid system variable and will be ignored.");
                    let code = ErrorCode::WrongValueForVar;
                    session.push_warning(&SqlError::with_message(code, text));
                }
            }
            true
        }
        _ => true,
    })
}

/// `log_error_services`: the last one must write the log. Others are in libraries (1126).
fn services(session: &mut SessionContext, text: &str) -> Result<bool, SqlError> {
    const SINK: &str = "log_sink_internal";
    if text.is_empty() {
        session.warn(ErrorCode::EmptyPipelineForErrorLoggingService, &[]);
        return Ok(true);
    }
    let names = || text.split([';', ',']).map(str::trim).filter(|name| !name.is_empty());
    let known = |name: &str| [SINK, "log_filter_internal"].contains(&name.to_lowercase().as_str());
    let confusing = |session: &mut SessionContext, at: &str| {
        session.warn(ErrorCode::CantSetErrorLogService, &[&"log_error_services", &at]);
    };
    if let Some(name) = names().find(|name| !known(name)) {
        confusing(session, name);
        let library = format!("component_{name}.so");
        let why = "No such file or directory";
        return Err(SqlError::new(ErrorCode::CantOpenLibrary, &[&library, &2, &why]));
    }
    let writes = names().next_back().is_some_and(|last| last.eq_ignore_ascii_case(SINK));
    if !writes {
        confusing(session, if names().next().is_some() { "" } else { text });
    }
    Ok(writes)
}

/// A counter, a pattern of counters' names, or one of the modules that they are of.
fn is_counter(text: &str) -> bool {
    const MODULES: [&str; 19] = [
        "adaptive_hash",
        "buffer",
        "buffer_page",
        "compress",
        "cpu",
        "dblwr",
        "ddl",
        "dml",
        "file",
        "ibuf_system",
        "icp",
        "index",
        "lock",
        "log",
        "metadata",
        "os",
        "page_track",
        "purge",
        "trx",
    ];
    let lower = text.to_ascii_lowercase();
    match lower.strip_prefix("module_") {
        Some(module) => MODULES.contains(&module) || matches!(module, "srv" | "undo"),
        None if lower == "all" => true,
        None => {
            // `%` stands for any characters.
            let parts: Vec<&str> = lower.split('%').collect();
            metric_names().any(|name| fits(name, &parts))
        }
    }
}

/// Whether a name has the parts of a pattern in their order, the first at its start and the last at
/// its end.
fn fits(name: &str, parts: &[&str]) -> bool {
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return false };
    if parts.len() == 1 {
        return name == *first;
    }
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    for part in &parts[1..parts.len() - 1] {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Servers with intervals of numbers, parted by commas.
fn is_gtid_set(text: &str) -> bool {
    let is_server = |server: &str| {
        let hex = server.bytes().filter(|byte| *byte != b'-').collect::<Vec<u8>>();
        hex.len() == 32 && hex.iter().all(u8::is_ascii_hexdigit)
    };
    let is_interval =
        |interval: &str| interval.split('-').all(|end| end.trim().parse::<u64>().is_ok());
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).all(|part| {
        let mut words = part.split(':');
        words.next().is_some_and(|server| is_server(server.trim())) && words.all(is_interval)
    })
}

/// `MY-010914`, a number, or the name of an error.
fn is_message(written: &str) -> bool {
    let written = written.trim();
    let upper = written.to_ascii_uppercase();
    let digits = upper.strip_prefix("MY-").unwrap_or(&upper);
    let number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // Names are not known here, but what none can be.
    number || (upper.starts_with("ER_") && upper.len() > 8)
}

/// `authentication_policy`: up to three factors, the first one not empty.
fn is_policy(text: &str) -> bool {
    const FIRST: [&str; 4] =
        ["*", "caching_sha2_password", "mysql_native_password", "sha256_password"];
    let factors: Vec<&str> = text.split(',').map(str::trim).collect();
    let (first, rest) = (factors[0], &factors[1..]);
    factors.len() <= 3
        && FIRST.contains(&first)
        && rest.iter().all(|factor| matches!(*factor, "" | "*"))
}

/// `ft_boolean_syntax`: 14 signs, the first or second of them a space, none of them twice but the
/// quotes.
fn is_boolean_syntax(text: &str) -> bool {
    const QUOTES: (usize, usize) = (10, 11);
    let signs = text.as_bytes();
    let once = |at: usize| {
        let twin = signs[..at].iter().position(|sign| *sign == signs[at]);
        twin.is_none_or(|first| (first, at) == QUOTES)
    };
    signs.len() == 14
        && signs.iter().all(|sign| sign.is_ascii() && !sign.is_ascii_alphanumeric())
        && signs[..2].contains(&b' ')
        && (0..signs.len()).all(once)
}

/// The InnoDB table that `database/table` names.
fn table_of(session: &SessionContext, text: &str) -> Option<std::sync::Arc<Table>> {
    let (schema, table) = text.split_once('/')?;
    session.table(schema, table)
}

/// Whether a table's first column can hold stopwords.
fn lists_words(table: &Table) -> bool {
    let first = table.def.columns.first();
    let is_innodb = table.def.engine.eq_ignore_ascii_case("InnoDB");
    is_innodb
        && first.is_some_and(|column| {
            column.name == "value" && matches!(column.data_type, DataType::VarChar { .. })
        })
}

/// `gtid_next` while there are no GTIDs.
fn gtid_next(session: &SessionContext, text: &str) -> Result<bool, SqlError> {
    let trimmed = text.trim();
    if trimmed.eq_ignore_ascii_case("AUTOMATIC") || trimmed.eq_ignore_ascii_case("ANONYMOUS") {
        return Ok(true);
    }
    let is_gtid = trimmed.rsplit_once(':').is_some_and(|(server, number)| {
        let hex = server.bytes().filter(|byte| *byte != b'-').collect::<Vec<u8>>();
        hex.len() == 32
            && hex.iter().all(u8::is_ascii_hexdigit)
            && number.trim().parse::<i64>().is_ok_and(|number| number > 0)
    });
    if !is_gtid {
        return Err(SqlError::new(ErrorCode::MalformedGtidSpecification, &[&text]));
    }
    match session.db.globals.all().get("gtid_mode").is_none_or(|mode| mode == "OFF") {
        true => Err(SqlError::new(ErrorCode::CantSetGtidNextToGtidWhenGtidModeIsOff, &[])),
        false => Ok(true),
    }
}

/// Errors 1788 and 3111: `gtid_mode` goes step by step, the last one with consistency enforced.
pub(super) fn check_gtid_mode(
    session: &SessionContext,
    words: &[&str],
    text: &str,
) -> Result<(), SqlError> {
    let globals = session.db.globals.all();
    let now = globals.get("gtid_mode").map_or(words[0], String::as_str);
    let at = |wanted: &str| words.iter().position(|word| *word == wanted).unwrap_or(0);
    if at(now).abs_diff(at(text)) > 1 {
        return Err(SqlError::new(ErrorCode::GtidModeCanOnlyChangeOneStepAtATime, &[]));
    }
    let enforced = globals.get("enforce_gtid_consistency").is_some_and(|text| text == "ON");
    if text == "ON" && !enforced {
        let why = "ENFORCE_GTID_CONSISTENCY is not ON";
        return Err(SqlError::new(ErrorCode::CantSetGtidMode, &[&"ON", &why]));
    }
    Ok(())
}

/// `default_collation_for_utf8mb4`: errors 1273 and 3721.
pub(super) fn default_collation(text: &str, number: Option<u16>) -> Result<String, SqlError> {
    const KNOWN: [&str; 2] = ["utf8mb4_0900_ai_ci", "utf8mb4_general_ci"];
    let collation = match number.and_then(Collation::from_id) {
        Some(collation) => collation,
        None => charset::collation(text)?,
    };
    let name = charset::name(collation);
    let wrong = || SqlError::new(ErrorCode::InvalidDefaultUtf8mb4Collation, &[&name]);
    KNOWN.contains(&name).then(|| name.to_owned()).ok_or_else(wrong)
}
