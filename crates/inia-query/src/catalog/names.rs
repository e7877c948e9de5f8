//! What names of databases and tables may be.

use inia_base::error::{ErrorCode, SqlError};

/// Characters in a name.
pub const MAX_NAME: usize = 64;

/// Checks a database's or table's name.
pub fn check_name(name: &str, wrong: ErrorCode) -> Result<(), SqlError> {
    if name.is_empty() || name.ends_with(' ') {
        return Err(SqlError::new(wrong, &[&name]));
    }
    if name.chars().count() > MAX_NAME {
        let shown: String = name.chars().take(100).collect();
        return Err(SqlError::new(ErrorCode::TooLongIdent, &[&shown]));
    }
    Ok(())
}
