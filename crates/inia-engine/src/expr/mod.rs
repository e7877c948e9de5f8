//! Expressions.
pub mod zone;
pub use zone::TimeZone;
