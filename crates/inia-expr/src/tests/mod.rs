//! Expressions checked against the answers of MySQL 8.0.31.
//!
//! Each document under `data/` holds one expression a line, then its value, then (where given) the
//! result column's type, length, decimals and nullability, and below it the warnings:
//!
//! ```text
//! 'a'+1 => '1' : DOUBLE 23 31 not-null
//!   Warning 1292 Truncated incorrect DOUBLE value: 'a'
//! 1 + => ERROR 1064 …
//! ```
//!
//! The session's time zone is UTC and its clock stands at 1700000000.

mod aggregates;
mod documents;
mod session;
mod stores;

use super::context::Environment;

/// The session that the answers were taken from.
fn environment() -> Environment {
    Environment {
        now_micros: 1_700_000_000_000_000,
        database: Some(String::from("oracle_expr")),
        ..Environment::default()
    }
}
