//! What needs somebody's attention and belongs to no statement: the server's error log hears of it.

use std::fmt::Arguments;
use std::sync::OnceLock;

static LOG: OnceLock<fn(Arguments<'_>)> = OnceLock::new();

/// Names the function that takes lines for the error log, for all engines of the program. Without
/// one nothing is written; the first one stays.
pub fn set_error_log(log: fn(Arguments<'_>)) {
    let _ = LOG.set(log);
}

/// A line for the error log.
pub(crate) fn error(text: Arguments<'_>) {
    if let Some(log) = LOG.get() {
        log(text);
    }
}
