//! The character set that a client names at its login, by the id of a collation.
//!
//! An id that is not known means the server's own character set. One in which no statement can be
//! written is refused.

use inia_base::collation::Collation;
use inia_wire::error::ServerError;

/// Error 1231 where a client cannot be served in its character set.
pub(crate) fn check(id: u16) -> Result<(), ServerError> {
    match Collation::from_id(id).map(Collation::charset) {
        Some(charset) if charset.is_wide() => {
            let name = charset.name();
            let text =
                format!("Variable 'character_set_client' can't be set to the value of '{name}'");
            Err(ServerError::new(1231, "42000", text))
        }
        _ => Ok(()),
    }
}
