//! Character set and collation names as DDL reads and prints them.

use inia_base::collation::{Charset, Collation};
use inia_base::error::{ErrorCode, SqlError};

/// A collation by name; error 1273.
pub fn collation(name: &str) -> Result<Collation, SqlError> {
    Collation::from_name(name).ok_or_else(|| SqlError::new(ErrorCode::UnknownCollation, &[&name]))
}

/// The default collation of a character set; error 1115.
pub fn charset_default(charset: &str) -> Result<Collation, SqlError> {
    let unknown = || SqlError::new(ErrorCode::UnknownCharacterSet, &[&charset]);
    Ok(Charset::from_name(charset).ok_or_else(unknown)?.default_collation())
}

/// The `_bin` collation of a collation's character set.
pub fn binary_collation(of: Collation) -> Collation {
    Collation::binary_of(of.charset())
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
        && default.charset() != found.charset()
    {
        let args: [&dyn std::fmt::Display; 2] = [&found.name(), &default.charset().name()];
        return Err(SqlError::new(ErrorCode::CollationCharsetMismatch, &args));
    }
    Ok(Some(found))
}

/// A collation's name.
pub fn name(collation: Collation) -> &'static str {
    collation.name()
}

/// The name of a collation's character set.
pub fn charset_name(collation: Collation) -> &'static str {
    collation.charset().name()
}

/// Whether a collation is its character set's default.
pub fn is_primary(collation: Collation) -> bool {
    collation.is_default()
}

/// The most bytes one character takes in a collation's character set.
pub fn max_bytes(collation: Collation) -> u32 {
    u32::from(collation.charset().max_bytes())
}
