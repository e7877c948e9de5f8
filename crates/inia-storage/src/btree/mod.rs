//! B+trees over pages.

pub(crate) mod op;
