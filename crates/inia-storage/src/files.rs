//! The names of a store's files, the log's segments aside.

/// The pages.
pub(crate) const DATA_FILE: &str = "inia.data";
/// Copies of pages that are being written.
pub(crate) const DOUBLEWRITE_FILE: &str = "inia.doublewrite";
/// Where recovery begins.
pub(crate) const CONTROL_FILE: &str = "inia.control";
/// Undo that memory has no room for. It has its name for a moment only.
pub(crate) const UNDO_FILE: &str = "inia.undo";
