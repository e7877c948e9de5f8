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
pub(crate) fn binary_collation(of: Collation) -> Collation {
    Collation::binary_of(of.charset())
}

/// What `CHARACTER SET charset COLLATE collation` mean together; `None` when neither is written.
pub fn resolve(
    charset: Option<&str>,
    collation_name: Option<&str>,
) -> Result<Option<Collation>, SqlError> {
    let mut declared = Declared::default();
    charset.map_or(Ok(()), |name| declared.charset(name))?;
    collation_name.map_or(Ok(()), |name| declared.collate(name))?;
    Ok(declared.collation())
}

/// Character set and collation as several options of one definition declare them together.
#[derive(Default)]
pub struct Declared(Option<Collation>);

impl Declared {
    /// CHARACTER SET; errors 1115, and 1302 where another one was declared.
    pub fn charset(&mut self, name: &str) -> Result<(), SqlError> {
        let default = charset_default(name)?;
        match self.0 {
            None => self.0 = Some(default),
            Some(known) if known.charset() != default.charset() => {
                let (known, new) = (charset_name(known), charset_name(default));
                let what = "CHARACTER SET ";
                let args: [&dyn std::fmt::Display; 4] = [&what, &known, &what, &new];
                return Err(SqlError::new(ErrorCode::ConflictingDeclarations, &args));
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// COLLATE; errors 1273, and 1253 where it belongs to another character set.
    pub fn collate(&mut self, name: &str) -> Result<(), SqlError> {
        let found = collation(name)?;
        if let Some(known) = self.0
            && known.charset() != found.charset()
        {
            let args: [&dyn std::fmt::Display; 2] = [&found.name(), &charset_name(known)];
            return Err(SqlError::new(ErrorCode::CollationCharsetMismatch, &args));
        }
        self.0 = Some(found);
        Ok(())
    }

    /// What they mean together; `None` where nothing was declared.
    pub fn collation(self) -> Option<Collation> {
        self.0
    }
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
