//! Everything between a parsed statement and its rows.

pub mod expr;
