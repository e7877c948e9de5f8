//! Where the words come from that FULLTEXT indexes do not have.

use super::{Stopwords, Table};
use crate::error::StorageResult;
use crate::fulltext::DEFAULT_STOPWORDS;
use crate::row::Cell;
use inia_base::error::SqlError;
use inia_storage::{Direction, KeyBound, ReadMode, Txn};

/// The column of a table of stopwords.
const STOPWORD_COLUMN: &str = "value";

impl Stopwords {
    /// The words.
    pub(crate) fn into_words(self) -> Vec<String> {
        match self {
            Stopwords::None => Vec::new(),
            Stopwords::Default => DEFAULT_STOPWORDS.iter().map(|&word| word.to_owned()).collect(),
            Stopwords::Of { words, .. } => words,
        }
    }
}

/// The words that a table of stopwords lists.
pub fn words_listed(table: &Table, txn: &mut Txn) -> Result<Vec<String>, SqlError> {
    let Some(column) = table.def.column(STOPWORD_COLUMN) else { return Ok(Vec::new()) };
    let mut words = Vec::new();
    each_row(table, txn, &mut |row| {
        if let Cell::Text(word) = table.layout.cell(row, column)? {
            words.push(word.to_owned());
        }
        Ok(())
    })?;
    Ok(words)
}

/// Gives each row of a table that a transaction sees, as it is stored, in the order of keys;
/// returns how many there are.
pub(crate) fn each_row(
    table: &Table,
    txn: &mut Txn,
    visit: &mut dyn FnMut(&[u8]) -> Result<(), SqlError>,
) -> Result<u64, SqlError> {
    let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
    let (tree, mode) = (&table.clustered, ReadMode::Snapshot);
    let mut cursor = txn.cursor(tree, low, high, Direction::Forward, mode);
    let mut rows = 0;
    while let Some(record) = cursor.next(txn).sql()? {
        rows += 1;
        visit(record.value)?;
    }
    Ok(rows)
}
