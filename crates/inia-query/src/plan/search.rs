//! Full-text searches of a statement.

use crate::catalog::Table;
use std::sync::Arc;

/// How a search is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMode {
    /// IN NATURAL LANGUAGE MODE.
    Natural,
    /// WITH QUERY EXPANSION.
    Expanded,
    /// IN BOOLEAN MODE.
    Boolean,
}

/// What MATCH … AGAINST searches, and how.
#[derive(Debug)]
pub struct SearchPlan {
    /// The table.
    pub table: Arc<Table>,
    /// Its FULLTEXT index of the columns; `None` where there is none, and each row's texts are
    /// searched.
    pub index: Option<usize>,
    /// The columns that are searched.
    pub columns: Vec<usize>,
    /// How the search is read.
    pub mode: SearchMode,
}
