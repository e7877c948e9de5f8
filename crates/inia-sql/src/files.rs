//! Files of rows: what LOAD DATA reads and SELECT … INTO OUTFILE writes.
//!
//! The server's own files can be reached where the option `secure-file-priv` names a directory:
//! only those in it, or all where the name is empty. LOAD DATA LOCAL reads the client's files
//! instead, where both sides allow it.

mod format;
pub(crate) mod load;
pub(crate) mod outfile;
mod reader;
#[cfg(test)]
mod tests;
mod writer;
mod xml;

use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_expr::{ExprType, lob_bytes};
use inia_query::context::{SessionContext, permitted_path};
use std::path::{Path, PathBuf};

/// Whether backslashes escape where a statement does not say what does.
fn backslashes_escape(session: &SessionContext) -> bool {
    !session.env.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES)
}

/// The most bytes that a value takes as text.
fn width(ty: &ExprType) -> u32 {
    let characters = match ty.data_type {
        DataType::Double { decimals: None, .. } => return 22,
        DataType::Text { size, .. } => lob_bytes(size),
        _ if ty.is_text() => ty.length,
        _ => return ty.length,
    };
    characters.saturating_mul(u32::from(ty.collation().charset().max_bytes()))
}

/// The place of a server's file; error 1290 where `secure_file_priv` does not allow it.
fn server_path(session: &SessionContext, path: &str) -> Result<PathBuf, SqlError> {
    let refused = || SqlError::new(ErrorCode::OptionPreventsStatement, &[&"--secure-file-priv"]);
    let allowed = session.var("secure_file_priv").unwrap_or_default();
    let mut full = PathBuf::from(path);
    if full.is_relative() {
        let data = session.var("datadir").unwrap_or_default();
        full =
            Path::new(&data).join(session.env.database.as_deref().unwrap_or_default()).join(full);
    }
    permitted_path(&allowed, full).ok_or_else(refused)
}

/// The error of a file that cannot be read or written.
fn file_error(code: ErrorCode, path: &Path, error: &std::io::Error) -> SqlError {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let number = error.raw_os_error().unwrap_or(0);
    SqlError::new(code, &[&path.display(), &number, &text])
}
