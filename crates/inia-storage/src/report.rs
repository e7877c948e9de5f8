//! The error log: problems that need attention and belong to no statement.

use std::fmt::Arguments;
use std::sync::OnceLock;

static LOG: OnceLock<fn(Arguments<'_>)> = OnceLock::new();

/// Sets the function that takes lines for the error log of all engines of the program. Without one
/// nothing is written; only the first call counts.
pub fn set_error_log(log: fn(Arguments<'_>)) {
    let _ = LOG.set(log);
}

/// A line for the error log.
pub fn error(text: Arguments<'_>) {
    if let Some(log) = LOG.get() {
        log(text);
    }
}
