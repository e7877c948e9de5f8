//! Indexes in which a row has any number of entries.

use super::cell::Cell;
use super::elements::ElementsCodec;
use super::words::WordsCodec;
use crate::error::Damaged;
use crate::table_def::TableDef;
use std::collections::BTreeMap;

/// Builds and takes apart the entries of an index that has several for a row.
pub enum SeveralCodec {
    /// Words, of a FULLTEXT KEY.
    Words(WordsCodec),
    /// Elements, of a multi-valued index.
    Elements(ElementsCodec),
}

impl SeveralCodec {
    /// The codec of `def.indexes[index]`, where a row has several entries in it.
    pub fn of(def: &TableDef, index: usize) -> Option<SeveralCodec> {
        let words = WordsCodec::of(def, index).map(SeveralCodec::Words);
        words.or_else(|| ElementsCodec::of(def, index).map(SeveralCodec::Elements))
    }

    /// The codec of words.
    pub(crate) fn words(&self) -> Option<&WordsCodec> {
        match self {
            SeveralCodec::Words(words) => Some(words),
            SeveralCodec::Elements(_) => None,
        }
    }

    /// The columns that entries are made of, in the index's order.
    pub fn columns(&self) -> &[usize] {
        match self {
            SeveralCodec::Words(words) => words.columns(),
            SeveralCodec::Elements(elements) => elements.columns(),
        }
    }

    /// The entries of a row in the order of their keys: key and value.
    pub fn entries<'v>(
        &self,
        cell: impl Fn(usize) -> Result<Cell<'v>, Damaged>,
        primary: &[u8],
    ) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, Damaged> {
        match self {
            SeveralCodec::Words(words) => words.entries(cell, primary),
            SeveralCodec::Elements(elements) => elements.entries(cell, primary),
        }
    }

    /// The clustered key that an entry leads to.
    pub fn primary_key<'e>(&self, key: &'e [u8], value: &'e [u8]) -> Result<&'e [u8], Damaged> {
        match self {
            SeveralCodec::Words(words) => words.primary_key(key, value),
            SeveralCodec::Elements(elements) => elements.primary_key(key, value),
        }
    }
}
