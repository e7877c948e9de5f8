//! Variables that go out of use, and the names that take their place.

use inia_base::error::{ErrorCode, SqlError};
use inia_parser::{deprecated_in_set, deprecated_name_of, deprecated_variable};
use inia_query::context::SessionContext;
use inia_query::sysvar::{Home, VarDef, find};

/// Not another name, but another variable.
const OTHER: &str = "binlog_expire_logs_seconds";

/// Warning 1287 of a deprecated variable, whatever it is to be. Gives the variable that it is
/// another name of.
pub(super) fn resolve(
    session: &mut SessionContext,
    def: &'static VarDef,
) -> Result<&'static VarDef, SqlError> {
    let Some(remark) = deprecated_in_set(def.name) else { return Ok(def) };
    let warning = SqlError::with_message(ErrorCode::WarnDeprecatedSyntax, remark.message.as_ref());
    session.push_warning(&warning);
    match deprecated_variable(def.name) {
        None | Some("" | OTHER) => Ok(def),
        Some(_) if def.home == Home::ReadOnly => Ok(def),
        Some(other) => find(other),
    }
}

/// The deprecated name of a variable, which has the same value.
pub(super) fn old_name(name: &str) -> Option<&'static str> {
    if name == OTHER { None } else { deprecated_name_of(name) }
}
