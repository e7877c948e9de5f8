//! What InnoDB takes of a table's ROW_FORMAT, KEY_BLOCK_SIZE, COMPRESSION and directories.
//!
//! Rows are stored in one way here, whatever these options say. They are checked and shown as in
//! MySQL, since programs read them back. `innodb_strict_mode` decides about options that do not go
//! together: ON refuses the statement after a warning for each cause, OFF warns and leaves the
//! option out.

use super::table_builder::TableBuilder;
use super::{fulltext, record_size};
use inia_base::error::{ErrorCode, SqlError};
use inia_query::catalog::{IMPLIED_FORMAT, TRANSACTIONAL, TableDef, TableId};
use inia_query::context::SessionContext;

/// The compression of pages, as a table option.
const COMPRESSION: &str = "COMPRESSION";
const ROW_FORMAT: &str = "ROW_FORMAT";
const KEY_BLOCK_SIZE: &str = "KEY_BLOCK_SIZE";

/// The statement that brings a definition.
#[derive(Clone, Copy)]
pub(super) enum Definer<'d> {
    Create,
    Alter {
        /// MySQL copies the rows.
        copies: bool,
        /// The statement asks for rows that are written anew.
        rebuilds: bool,
        /// The definition before.
        old: &'d TableDef,
    },
}

/// What a check has found.
struct Findings<'s> {
    session: &'s mut SessionContext,
    strict: bool,
    /// The option that ALTER TABLE's error names.
    refused: Option<&'static str>,
}

impl Findings<'_> {
    fn warn(&mut self, code: ErrorCode, text: String) {
        self.session.push_warning(&SqlError::with_message(code, text));
    }

    /// Warns of an option that does not go with others: with `why` where the statement is refused
    /// for it, with `instead` where it is left out.
    fn pass_over(&mut self, option: &'static str, why: String, instead: String) {
        let text = if self.strict { why } else { instead };
        self.warn(ErrorCode::IllegalHaCreateOption, format!("InnoDB: {text}"));
        if self.strict {
            self.refused = Some(option);
        }
    }
}

/// Checks the options of a table of InnoDB and leaves out those that are passed over; errors 1031,
/// 1478, 3500 and 1118.
pub(super) fn check(
    session: &mut SessionContext,
    def: &mut TableDef,
    definer: Definer<'_>,
) -> Result<(), SqlError> {
    if def.engine != TRANSACTIONAL {
        return Ok(());
    }
    let strict = session.flag("innodb_strict_mode");
    let packed =
        def.option(KEY_BLOCK_SIZE).is_some() || def.option(ROW_FORMAT) == Some("COMPRESSED");
    if def.temporary && strict && packed {
        return Err(SqlError::new(ErrorCode::UnsupportCompressedTemporaryTable, &[]));
    }
    imply_format(session, def, definer);
    let old = match definer {
        Definer::Alter { old, .. } => Some(old),
        Definer::Create => None,
    };
    fulltext::keep_stopwords(session, def, old)?;
    let mut findings = Findings { session, strict, refused: None };
    let format = def.option(ROW_FORMAT).map(str::to_owned);
    check_block_size(&mut findings, def, format.as_deref());
    check_format(&mut findings, def, format.as_deref());
    check_compression(&mut findings, def);
    match (findings.refused, definer) {
        (None, _) => record_size::check(findings.session, def, definer),
        (Some(option), Definer::Alter { copies: false, .. }) => {
            let code = ErrorCode::IllegalHaCreateOption;
            Err(SqlError::new(code, &[&TRANSACTIONAL, &option]))
        }
        _ => Err(SqlError::new(ErrorCode::IllegalHa, &[&def.name])),
    }
}

/// Lists what MySQL says behind the error of a CREATE TABLE whose options or columns its engine
/// refuses.
pub(super) fn list_refusal(session: &mut SessionContext, table: &str, error: &SqlError) {
    let behind = match error.code {
        ErrorCode::UnsupportCompressedTemporaryTable
        | ErrorCode::WrongFileName
        | ErrorCode::InvalidAutoextendSize
        | ErrorCode::AutoextendSizeOutOfRange
        | ErrorCode::InvalidEncryptionOption
        | ErrorCode::IllegalHaCreateOption => SqlError::new(ErrorCode::IllegalHa, &[&table]),
        ErrorCode::TooBigRowsize if record_size::is_of_record(error) => {
            SqlError::new(ErrorCode::GetErrno, &[&139, &"Too big row"])
        }
        _ => return,
    };
    session.list_behind(error.code, behind);
}

/// KEY_BLOCK_SIZE: a power of two, of rows that are compressed.
fn check_block_size(findings: &mut Findings<'_>, def: &mut TableDef, format: Option<&str>) {
    let Some(size) = def.option(KEY_BLOCK_SIZE).map(str::to_owned) else { return };
    if def.temporary {
        let text = "KEY_BLOCK_SIZE is ignored for TEMPORARY TABLE.";
        return findings.pass_over(KEY_BLOCK_SIZE, String::new(), text.to_owned());
    }
    let mut fits = true;
    if !matches!(size.as_str(), "1" | "2" | "4" | "8" | "16") {
        fits = false;
        let why = format!("invalid KEY_BLOCK_SIZE = {size}. Valid values are [1, 2, 4, 8, 16]");
        findings.pass_over(KEY_BLOCK_SIZE, why, format!("ignoring KEY_BLOCK_SIZE={size}."));
    }
    // A size that is left out is beside no format.
    let other = format.filter(|format| *format != "COMPRESSED");
    if let Some(format) = other.filter(|_| fits || findings.strict) {
        fits = false;
        let known = matches!(format, "DYNAMIC" | "COMPACT" | "REDUNDANT");
        if known || !findings.strict {
            findings.pass_over(
                KEY_BLOCK_SIZE,
                format!("cannot specify ROW_FORMAT={format} with KEY_BLOCK_SIZE."),
                format!("ignoring KEY_BLOCK_SIZE={size} as ROW_FORMAT is not COMPRESSED."),
            );
        }
    }
    if !fits && !findings.strict {
        match format {
            // Compressed rows have a size.
            Some("COMPRESSED") => set(def, KEY_BLOCK_SIZE, Some("8")),
            _ => set(def, KEY_BLOCK_SIZE, None),
        }
    }
}

/// ROW_FORMAT: one that InnoDB has.
fn check_format(findings: &mut Findings<'_>, def: &mut TableDef, format: Option<&str>) {
    let assumed = "assuming ROW_FORMAT=DYNAMIC.";
    match format {
        Some("COMPRESSED") if def.temporary => {
            let text = "ROW_FORMAT=COMPRESSED is ignored for TEMPORARY TABLE.";
            findings.pass_over(ROW_FORMAT, String::new(), text.to_owned());
            findings.pass_over(ROW_FORMAT, String::new(), assumed.to_owned());
        }
        None | Some("DYNAMIC" | "COMPACT" | "REDUNDANT" | "COMPRESSED") => {}
        Some(_) => {
            let why = "invalid ROW_FORMAT specifier.";
            findings.pass_over("ROW_TYPE", why.to_owned(), assumed.to_owned());
            if !findings.strict && !def.temporary {
                set(def, ROW_FORMAT, Some("DYNAMIC"));
            }
        }
    }
}

/// COMPRESSION: a known algorithm, of pages that are not compressed otherwise.
fn check_compression(findings: &mut Findings<'_>, def: &TableDef) {
    let Some(algorithm) = def.option(COMPRESSION) else { return };
    let packed =
        def.option(KEY_BLOCK_SIZE).is_some() || def.option(ROW_FORMAT) == Some("COMPRESSED");
    let (code, text) = match algorithm.to_ascii_lowercase().as_str() {
        "none" => return,
        "zlib" | "lz4" if def.temporary => (
            ErrorCode::EngineUnsupported,
            String::from("Page Compression is not supported for temporary tables"),
        ),
        "zlib" | "lz4" if packed => (
            ErrorCode::UnsupportedExtension,
            String::from(
                "Page Compression is not supported with row_format=compressed or \
                 key_block_size > 0",
            ),
        ),
        "zlib" | "lz4" => return,
        _ => (
            ErrorCode::UnsupportedExtension,
            format!("Unsupported compression algorithm '{algorithm}'"),
        ),
    };
    findings.warn(code, format!("InnoDB: {text}"));
    if findings.strict {
        findings.refused = Some(COMPRESSION);
    }
}

/// Remembers `innodb_default_row_format`, where the table takes its row format from there.
fn imply_format(session: &SessionContext, def: &mut TableDef, definer: Definer<'_>) {
    let named = def.option(ROW_FORMAT).is_some() || def.option(KEY_BLOCK_SIZE).is_some();
    if named {
        return set(def, IMPLIED_FORMAT, None);
    }
    if matches!(definer, Definer::Create | Definer::Alter { copies: true, .. }) {
        let default = session.var("innodb_default_row_format").unwrap_or_default();
        let other = Some(default.to_ascii_uppercase()).filter(|format| format != "DYNAMIC");
        set(def, IMPLIED_FORMAT, other.as_deref());
    }
}

/// DATA DIRECTORY and INDEX DIRECTORY of a table that is defined or changed; errors 1525, 3121 and
/// 1031.
pub(super) fn check_directory(
    session: &mut SessionContext,
    builder: &TableBuilder,
    option: &str,
    path: &str,
) -> Result<(), SqlError> {
    if builder.engine != TRANSACTIONAL {
        return Ok(());
    }
    if !path.starts_with('/') {
        return Err(SqlError::new(ErrorCode::WrongValue, &[&"path", &path]));
    }
    let known = "The DATA DIRECTORY location must be in a known directory.";
    let strict = session.flag("innodb_strict_mode");
    let is_new = builder.id == TableId(0);
    let mut warn = |code, text: String| session.push_warning(&SqlError::with_message(code, text));
    if is_new && option == "DATA DIRECTORY" {
        if builder.temporary {
            let text = "InnoDB: DATA DIRECTORY cannot be used for TEMPORARY tables.";
            warn(ErrorCode::IllegalHaCreateOption, text.to_owned());
        }
        if strict {
            return Err(SqlError::with_message(ErrorCode::WrongFileName, known));
        }
        let text = format!(
            "{known} The DATA DIRECTORY location will be ignored and the file will be put into \
             the default datadir location."
        );
        warn(ErrorCode::WrongFileName, text);
    } else if is_new && strict {
        let text = "InnoDB: INDEX DIRECTORY is not supported";
        warn(ErrorCode::IllegalHaCreateOption, text.to_owned());
        return Err(SqlError::new(ErrorCode::IllegalHa, &[&builder.name]));
    }
    session.warn(ErrorCode::WarnOptionIgnored, &[&option]);
    Ok(())
}

/// Changes an option in its place, or leaves it out; one that is new comes last.
fn set(def: &mut TableDef, wanted: &str, value: Option<&str>) {
    let at = def.options.iter().position(|(name, _)| name == wanted);
    match (at, value) {
        (Some(at), Some(value)) => def.options[at].1 = value.to_owned(),
        (Some(at), None) => drop(def.options.remove(at)),
        (None, Some(value)) => def.options.push((wanted.to_owned(), value.to_owned())),
        (None, None) => {}
    }
}
