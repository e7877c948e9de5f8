//! The system's clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// The present moment in microseconds since 1970.
pub fn clock_micros() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as i64)
}

/// Seconds since 1970, UTC, by the wall clock.
pub(crate) fn clock_seconds() -> u64 {
    clock_micros() as u64 / 1_000_000
}
