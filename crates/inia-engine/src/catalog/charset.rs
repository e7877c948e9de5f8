//! Character set and collation names as DDL needs them.

use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};

struct Entry {
    id: u16,
    name: &'static str,
    charset: &'static str,
    primary: bool,
}

const fn entry(id: u16, name: &'static str, charset: &'static str, primary: bool) -> Entry {
    Entry { id, name, charset, primary }
}

const COLLATIONS: &[Entry] = &[
    entry(255, "utf8mb4_0900_ai_ci", "utf8mb4", true),
    entry(45, "utf8mb4_general_ci", "utf8mb4", false),
    entry(46, "utf8mb4_bin", "utf8mb4", false),
    entry(224, "utf8mb4_unicode_ci", "utf8mb4", false),
    entry(246, "utf8mb4_unicode_520_ci", "utf8mb4", false),
    entry(278, "utf8mb4_0900_as_cs", "utf8mb4", false),
    entry(305, "utf8mb4_0900_as_ci", "utf8mb4", false),
    entry(309, "utf8mb4_0900_bin", "utf8mb4", false),
    entry(33, "utf8mb3_general_ci", "utf8mb3", true),
    entry(83, "utf8mb3_bin", "utf8mb3", false),
    entry(192, "utf8mb3_unicode_ci", "utf8mb3", false),
    entry(8, "latin1_swedish_ci", "latin1", true),
    entry(47, "latin1_bin", "latin1", false),
    entry(48, "latin1_general_ci", "latin1", false),
    entry(49, "latin1_general_cs", "latin1", false),
    entry(11, "ascii_general_ci", "ascii", true),
    entry(65, "ascii_bin", "ascii", false),
    entry(63, "binary", "binary", true),
];

fn entry_of(collation: Collation) -> &'static Entry {
    COLLATIONS.iter().find(|entry| entry.id == collation.0).unwrap_or(&COLLATIONS[0])
}

/// Lower case, with `utf8` read as `utf8mb3`.
fn normal(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    if name == "utf8" {
        return String::from("utf8mb3");
    }
    match name.strip_prefix("utf8_") {
        Some(rest) => format!("utf8mb3_{rest}"),
        None => name,
    }
}

/// A collation by name; error 1273.
pub fn collation(name: &str) -> Result<Collation, SqlError> {
    let normal = normal(name);
    COLLATIONS
        .iter()
        .find(|entry| entry.name == normal)
        .map(|entry| Collation(entry.id))
        .ok_or_else(|| SqlError::new(ErrorCode::UnknownCollation, &[&name]))
}

/// The default collation of a character set; error 1115.
pub fn charset_default(charset: &str) -> Result<Collation, SqlError> {
    let normal = normal(charset);
    COLLATIONS
        .iter()
        .find(|entry| entry.primary && entry.charset == normal)
        .map(|entry| Collation(entry.id))
        .ok_or_else(|| SqlError::new(ErrorCode::UnknownCharacterSet, &[&charset]))
}

/// The `_bin` collation of a collation's character set.
pub fn binary_collation(of: Collation) -> Collation {
    let charset = entry_of(of).charset;
    COLLATIONS
        .iter()
        .find(|entry| entry.charset == charset && entry.name.ends_with("_bin"))
        .map_or(of, |entry| Collation(entry.id))
}

/// What `CHARACTER SET charset COLLATE collation` mean together; `None` when neither is written.
pub fn resolve(
    charset: Option<&str>,
    collation_name: Option<&str>,
) -> Result<Option<Collation>, SqlError> {
    let default = charset.map(charset_default).transpose()?;
    let Some(name) = collation_name else { return Ok(default) };
    let found = collation(name)?;
    if let Some(default) = default
        && charset_name(default) != charset_name(found)
    {
        let args: [&dyn std::fmt::Display; 2] = [&self::name(found), &charset_name(default)];
        return Err(SqlError::new(ErrorCode::CollationCharsetMismatch, &args));
    }
    Ok(Some(found))
}

/// A collation's name.
pub fn name(collation: Collation) -> &'static str {
    entry_of(collation).name
}

/// The name of a collation's character set.
pub fn charset_name(collation: Collation) -> &'static str {
    entry_of(collation).charset
}

/// Whether a collation is its character set's default.
pub fn is_primary(collation: Collation) -> bool {
    entry_of(collation).primary
}

/// The most bytes one character takes in a collation's character set.
pub fn max_bytes(collation: Collation) -> u32 {
    match charset_name(collation) {
        "utf8mb4" => 4,
        "utf8mb3" => 3,
        _ => 1,
    }
}
